"""Probes on a socket: a thread sends one every 20 ms; the kernel notes arrival times.

Times are CLOCK_MONOTONIC in nanoseconds, which no adjustment of the time of day moves. If the kernel notes
the arrival (SO_TIMESTAMPNS, Linux), that time counts; otherwise the time at which the program received the datagram.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairwave.linecheck import wire

if TYPE_CHECKING:
    from collections.abc import Callable

INTERVAL_NS = round(wire.INTERVAL_S * 1e9)
ARRIVED = getattr(socket, "SO_TIMESTAMPNS", 35)
"""Linux's socket option, and the type of its message."""

RECEIVE_BUFFER = 1 << 20


def datagrams(family: int, address: tuple[Any, ...] | None = None) -> socket.socket:
    """Opens a UDP socket that notes arrivals, bound to an address if one is given."""
    made = socket.socket(family, socket.SOCK_DGRAM)
    try:
        if address is not None:
            if family == socket.AF_INET6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            made.bind(address)
        with contextlib.suppress(OSError):
            made.setsockopt(socket.SOL_SOCKET, ARRIVED, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    except OSError:
        made.close()
        raise
    return made


def receive(made: socket.socket) -> tuple[bytes, tuple[Any, ...], int]:
    """Returns the next datagram, its source address, and its arrival time in nanoseconds.

    Raises:
        OSError: The socket is closed, or nothing came within its timeout.
    """
    data, told, _, address = made.recvmsg(2048, 128)
    now, today = _read_clocks()
    for level, kind, content in told:
        if level == socket.SOL_SOCKET and kind == ARRIVED and len(content) == 16:
            seconds, nanos = struct.unpack("@qq", content)
            waited = today - (seconds * 1_000_000_000 + nanos)
            # A wait outside this range is a step of the time of day.
            if 0 <= waited < 1_000_000_000:
                return data, address, now - waited
    return data, address, now


AT_ONCE_NS = 20_000
"""Two clocks count as read at once if both readings took less than this, in nanoseconds."""


def _read_clocks() -> tuple[int, int]:
    """Reads CLOCK_MONOTONIC and the time of day at one moment. Repeats if the process was interrupted in between."""
    for _ in range(20):
        before, today, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        if after - before < AT_ONCE_NS:
            break
    return before, today


@dataclass
class Log:
    """Log of one end: its probes and its peer's.

    Attributes:
        sent_ns: Sending time of each probe of this end.
        late_ns: Lateness of each of these probes.
        skipped: Number of probes that this end did not send because it was too late.
        came: Probes of the peer: number, sending time (peer's clock), arrival time (this end's clock), last probe that
            the peer had received, and its arrival time there.
        last: Number and arrival time of the peer's newest probe.
    """

    sent_ns: list[int] = field(default_factory=list)
    late_ns: list[int] = field(default_factory=list)
    skipped: int = 0
    came: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    last: tuple[int, int] = (wire.NONE, 0)

    def note(self, probe: wire.Probe, arrived_ns: int) -> None:
        """Logs a probe of the peer."""
        self.came.append((probe.number, probe.sent_ns, arrived_ns, probe.last, probe.came_ns))
        if self.last[0] == wire.NONE or probe.number > self.last[0]:
            self.last = (probe.number, arrived_ns)


def send_probes(
    send: Callable[[bytes], object],
    secrets: wire.Secrets,
    kind: int,
    count: int,
    log: Log,
    stopped: threading.Event,
) -> None:
    """Sends probes at a steady pace until all are sent or the session stops.

    A probe that is late by more than an interval is skipped: two probes at once would measure this computer.
    """
    begun = time.monotonic_ns()
    slot = 0
    while slot < count and not stopped.is_set():
        due = begun + slot * INTERVAL_NS
        wait = due - time.monotonic_ns()
        if wait > 0:
            time.sleep(wait / 1e9)
        elif wait < -INTERVAL_NS:
            log.skipped += 1
            slot += 1
            continue
        last, came = log.last
        now = time.monotonic_ns()
        probe = wire.Probe(kind, secrets.session, len(log.sent_ns), now, last, came)
        try:
            send(wire.datagram(secrets, probe))
        except OSError as error:
            # A full local queue loses a probe like any other queue; a lost network ends the session.
            if error.errno is None or isinstance(error, (ConnectionRefusedError, TimeoutError)):
                pass
        log.sent_ns.append(now)
        log.late_ns.append(now - due)
        slot += 1
