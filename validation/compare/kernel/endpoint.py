"""Sends or receives by the kernel's TCP and reads its ``TCP_INFO``: a separate program without fairwave.

``python endpoint.py receive PORT COUNT`` accepts COUNT connections and discards their data. ``python endpoint.py send
JSON`` opens a connection per flow, keeps each busy from its start to the end, reads ``TCP_INFO`` every 100 ms and
writes all of it as JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

#: Offsets in the kernel's ``struct tcp_info`` (``include/uapi/linux/tcp.h``), little-endian.
FIELDS = {
    "rtt_us": ("<I", 68),
    "window": ("<I", 80),
    "sent_again": ("<I", 100),
    "acknowledged": ("<Q", 120),
    "least_rtt_us": ("<I", 148),
    "sent": ("<I", 156),
    "receiver_limited_us": ("<Q", 176),
    "buffer_limited_us": ("<Q", 184),
}
LENGTH = 192


@dataclass(frozen=True)
class TcpInfo:
    """A part of ``TCP_INFO``: microseconds, windows and counts in segments, ``acknowledged`` in bytes."""

    rtt_us: int
    window: int
    sent_again: int
    acknowledged: int
    least_rtt_us: int
    sent: int
    receiver_limited_us: int
    buffer_limited_us: int

    @classmethod
    def from_bytes(cls, data: bytes) -> TcpInfo:
        """Reads the kernel's structure. Raises ValueError if the kernel is too old for all fields."""
        if len(data) < LENGTH:
            raise ValueError(f"TCP_INFO has {len(data)} bytes; {LENGTH} are needed (Linux 4.10 or newer)")
        return cls(**{name: struct.unpack_from(form, data, at)[0] for name, (form, at) in FIELDS.items()})


def receive(port: int, count: int) -> None:
    """Takes ``count`` connections and reads them to their end."""
    listening = socket.create_server(("0.0.0.0", port), backlog=count)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    open_, taken, room = [listening], 0, bytearray(1 << 20)
    while taken < count or len(open_) > 1:
        for one in select.select(open_, [], [])[0]:
            if one is listening:
                open_.append(listening.accept()[0])
                taken += 1
            elif not one.recv_into(room):
                open_.remove(one)
                one.close()


def send(job: dict) -> list[list[dict]]:  # type: ignore[type-arg]
    """Samples of each flow: ``{"at": seconds since the start, …}``, one every ``spacing`` seconds to ``duration``."""
    payload, flows = bytes(1 << 16), []
    begin = time.monotonic()
    waiting = sorted(enumerate(job["flows"]), key=lambda one: one[1]["start"])
    samples: list[list[dict]] = [[] for _ in waiting]  # type: ignore[type-arg]
    tick = 1
    while (now := time.monotonic() - begin) < job["duration"] + job["spacing"] / 2:
        while waiting and waiting[0][1]["start"] <= now:
            place, flow = waiting.pop(0)
            one = socket.socket()
            one.setsockopt(socket.IPPROTO_TCP, 13, flow["control"].encode())  # TCP_CONGESTION
            one.setblocking(False)
            one.connect_ex((job["to"], job["port"]))
            flows.append((place, one))
        if now >= tick * job["spacing"]:
            tick += 1
            for place, one in flows:
                info = TcpInfo.from_bytes(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256))
                samples[place].append({"at": now, **asdict(info)})
        events = [tick * job["spacing"]] + [flow["start"] for _, flow in waiting[:1]]
        rest = max(0.0, min(events) - (time.monotonic() - begin))
        for one in select.select([], [one for _, one in flows], [], rest)[1]:
            with contextlib.suppress(BlockingIOError):
                one.send(payload)
    for _, one in flows:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.close()
    return samples


def main() -> None:
    """Receives or sends, depending on the arguments."""
    from relay import urgent  # type: ignore[import-not-found]

    urgent()
    if sys.argv[1] == "receive":
        try:
            receive(int(sys.argv[2]), int(sys.argv[3]))
        except ConnectionResetError:  # how a sender ends that does not wait for its last data
            os._exit(0)
    else:
        json.dump(send(json.loads(sys.argv[2])), sys.stdout)


if __name__ == "__main__":
    main()
