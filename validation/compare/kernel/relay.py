"""Delays packets of a TUN device and reports its lateness: a separate program without fairwave.

``python relay.py DEVICE MICROSECONDS`` creates the device, writes ``ready``, and returns each packet to the kernel
after the delay, in order, until standard input ends. Then it writes JSON: the number of packets, and their lateness in
microseconds (mean, 99th percentile, maximum).
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import struct
import sys
import time
from collections import deque
from collections.abc import Callable

TUNSETIFF, TUN, NO_HEADER = 0x400454CA, 0x0001, 0x1000
LONGEST = 65536


class DelayLine:
    """Packets in order, each released a fixed time after it came. Times are nanoseconds of any one clock."""

    def __init__(self, delay: int) -> None:
        self.delay = delay
        self.waiting: deque[tuple[int, bytes]] = deque()
        #: By how much each packet left later than it should have, nanoseconds.
        self.late: list[int] = []

    def put(self, now: int, packet: bytes) -> None:
        """A packet comes."""
        self.waiting.append((now + self.delay, packet))

    def next_wait(self, now: int) -> int | None:
        """Nanoseconds until a packet is due, 0 if one is; None if none waits."""
        return max(0, self.waiting[0][0] - now) if self.waiting else None

    def release(self, clock: Callable[[], int], send: Callable[[bytes], object]) -> None:
        """Sends due packets in order and reads the clock before each."""
        while self.waiting:
            late = clock() - self.waiting[0][0]
            if late < 0:
                return
            send(self.waiting.popleft()[1])
            self.late.append(late)

    def summary(self) -> dict[str, float]:
        """Packets sent, and their lateness in microseconds."""
        late = sorted(self.late)
        if not late:
            return {"packets": 0}
        return {
            "packets": len(late),
            "mean_us": sum(late) / len(late) / 1e3,
            "p99_us": late[min(len(late) - 1, len(late) * 99 // 100)] / 1e3,
            "most_us": late[-1] / 1e3,
        }


def urgent() -> None:
    """Requests real-time scheduling. Without the privilege, nothing changes."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
    except OSError:
        sys.stderr.write("not run before others: no right to\n")


def main() -> None:
    """Relays until standard input ends."""
    name, delay = sys.argv[1], int(sys.argv[2]) * 1000
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), TUN | NO_HEADER))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    urgent()
    line, clock = DelayLine(delay), time.monotonic_ns
    while True:
        wait = line.next_wait(clock())
        ready, _, _ = select.select([device, 0], [], [], None if wait is None else wait / 1e9)
        if device in ready:
            try:
                while True:
                    line.put(clock(), os.read(device, LONGEST))
            except BlockingIOError:
                pass
        line.release(clock, lambda packet: os.write(device, packet))
        if 0 in ready and not os.read(0, 1):
            break
    json.dump(line.summary(), sys.stdout)


if __name__ == "__main__":
    main()
