"""Sends or receives datagrams at given times: a separate program without fairwave.

``python datagrams.py receive PORT`` writes ``ready``, takes datagrams until its standard input is closed, and writes
when the kernel received each one. ``python datagrams.py send`` reads a job as JSON from its standard input, sends each
datagram at its time, and writes when it did. Times are nanoseconds of the real-time clock. A datagram begins with its
number.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import sys
import time
from typing import Any

SO_TIMESTAMPNS = 35
NUMBER = struct.Struct("!I")

#: The sender does not sleep in the last nanoseconds before a datagram's time.
AWAKE_NS = 300_000


def send(job: dict[str, Any]) -> list[int]:
    """Sends the job's packets: of each microseconds since the beginning, payload in bytes and priority.

    Returns:
        When each was sent: the middle of the call that did.
    """
    sockets: dict[int, socket.socket] = {}
    for _, _, priority in job["packets"]:
        if priority not in sockets:
            one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
            if priority:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, priority)
            one.connect((job["to"], job["port"]))
            sockets[priority] = one
    zeros = bytes(65_535)
    sent = []
    begin = time.time_ns() + 50_000_000
    for number, (at_us, payload, priority) in enumerate(job["packets"]):
        due = begin + at_us * 1000
        while (left := due - time.time_ns()) > 0:
            if left > AWAKE_NS:
                time.sleep((left - AWAKE_NS) / 1e9)
        before = time.time_ns()
        sockets[priority].send(NUMBER.pack(number) + zeros[: payload - NUMBER.size])
        sent.append((before + time.time_ns()) // 2)
    return sent


def receive(port: int) -> list[tuple[int, int]]:
    """Number and time of each datagram that came, until standard input is closed."""
    taken = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        one.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        one.bind(("0.0.0.0", port))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            readable, _, _ = select.select([one, sys.stdin], [], [])
            if one in readable:
                data, extra, _, _ = one.recvmsg(2048, 256)
                (stamp,) = [data for _, kind, data in extra if kind == SO_TIMESTAMPNS]
                seconds, rest = struct.unpack("@ll", stamp[:16])
                taken.append((NUMBER.unpack(data[:4])[0], seconds * 10**9 + rest))
            elif readable:
                return taken


if __name__ == "__main__":
    if sys.argv[1] == "send":
        sys.stdout.write(json.dumps(send(json.load(sys.stdin))))
    else:
        sys.stdout.write(json.dumps(receive(int(sys.argv[2]))))
