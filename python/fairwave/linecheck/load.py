"""Load: TCP connections that send as fast as the line allows, and the bytes that arrived over time.

The kernel's TCP sends, with CUBIC if the system allows it and otherwise Reno. Bytes are counted at the receiver,
above TCP, in bins of 10 ms. A lost segment delays later segments until its retransmission arrives, so these bytes
arrive in bursts. If the kernel reports the number of received segments (TCP_INFO), this number is recorded too.
"""

from __future__ import annotations

import contextlib
import hashlib
import socket
import struct
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

BIN_NS = 10_000_000
BLOCK = hashlib.shake_256(b"load").digest(1 << 16)
"""Data to send repeatedly. It does not compress within the window of TLS or of a modem."""

WAIT_S = 0.25
"""Interval in seconds at which a thread that waits for the network checks for a stop request."""


@dataclass
class Allowance:
    """Remaining bytes of a session in one direction, shared by its connections."""

    left: int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, wanted: int) -> int:
        """Reserves up to `wanted` bytes and returns the number reserved."""
        with self._lock:
            taken = min(wanted, self.left)
            self.left -= taken
            return taken

    def give_back(self, unused: int) -> None:
        """Returns reserved bytes that were not carried."""
        with self._lock:
            self.left += unused


@dataclass
class Carried:
    """Data of one connection, as its end records it.

    Attributes:
        bins: Bin of 10 ms (monotonic clock, divided) to bytes that arrived.
        segments: Times (monotonic clock, nanoseconds), at most one per bin, with the number of data segments that had
            arrived by then, in order or not.
        tcp: TCP statistics from the sender's kernel; empty at the receiver and on systems without them.
    """

    bins: dict[int, int] = field(default_factory=dict)
    segments: list[tuple[int, int]] = field(default_factory=list)
    tcp: dict[str, Any] = field(default_factory=dict)


CONTROLS = (b"cubic", b"reno")
"""Congestion controls for the load: the first that the system allows. Both fill a queue; others keep it short."""


def prepare(connection: socket.socket) -> None:
    """Sets the congestion control, and makes closing discard unsent data."""
    for control in CONTROLS if hasattr(socket, "TCP_CONGESTION") else ():
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control)
            break
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.settimeout(WAIT_S)


def send_load(
    connection: socket.socket, until: Callable[[], bool], allowance: Allowance, carried: Carried
) -> None:
    """Sends until `until()` is true, the allowance is used up, or the peer closes."""
    while not until():
        wanted = allowance.take(len(BLOCK))
        if not wanted:
            break
        try:
            sent = connection.send(memoryview(BLOCK)[:wanted])
        except TimeoutError:
            sent = 0
        except OSError:
            allowance.give_back(wanted)
            break
        allowance.give_back(wanted - sent)
    carried.tcp = tcp_state(connection)
    # Closing would discard data that the kernel still holds, so wait until the peer closes.
    while not until():
        try:
            if not connection.recv(1):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    carried.tcp = tcp_state(connection) or carried.tcp


def receive_load(
    connection: socket.socket, until: Callable[[], bool], allowance: Allowance, carried: Carried
) -> None:
    """Receives until `until()` is true, the allowance is used up, or the peer closes."""
    buffer = bytearray(1 << 18)
    while not until():
        try:
            count = connection.recv_into(buffer)
        except TimeoutError:
            continue
        except OSError:
            return
        if not count or allowance.take(count) < count:
            return
        now = time.monotonic_ns()
        bin_ = now // BIN_NS
        if bin_ not in carried.bins and (segments := segments_in(connection)):
            carried.segments.append((now, segments))
        carried.bins[bin_] = carried.bins.get(bin_, 0) + count


def segments_in(connection: socket.socket) -> int:
    """Returns the number of received data segments (Linux's TCP_INFO); 0 if the system does not report it."""
    told = _tcp_info(connection)
    return int(struct.unpack_from("=I", told, 152)[0]) if len(told) >= 160 else 0


def _tcp_info(connection: socket.socket) -> bytes:
    if not sys.platform.startswith("linux"):
        return b""
    try:
        return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    except OSError:
        return b""


def tcp_state(connection: socket.socket) -> dict[str, Any]:
    """Returns segments, retransmissions, segment size and congestion control (Linux's TCP_INFO); empty elsewhere."""
    told = _tcp_info(connection)
    if len(told) < 160:
        return {}
    try:
        name = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    except OSError:
        return {}
    (segment,) = struct.unpack_from("=I", told, 16)
    (again,) = struct.unpack_from("=I", told, 100)
    (sent,) = struct.unpack_from("=I", told, 156)
    control = name.split(b"\0")[0].decode("ascii", "replace")
    return {"segment": segment, "again": again, "sent": sent, "control": control}
