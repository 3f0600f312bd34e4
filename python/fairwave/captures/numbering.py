"""Extended sequence numbers of a source of RTP, with the restarts of RFC 3550 §A.1.

A receiver extends the 16 bits of the sequence number. A step of at least `MAX_DROPOUT` forward, or more than
`MAX_MISORDER` backward, is no loss and no reordering: if the next packet continues there, the sender has begun to count
anew; a single packet out of place is ignored.

Two kinds of packets that §A.1 would take for a restart are none. Their timestamps show it:

- the end of a long outage: the timestamp advanced in proportion, and the number of packets fits the time;
- packets that were held back: their numbers are missing, and their timestamps fit between their neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_DROPOUT = 3000
"""Largest loss in a row (RFC 3550 §A.1): a minute at 50 packets per second."""

MAX_MISORDER = 100
"""Largest lateness of a packet, in packets (RFC 3550 §A.1)."""


MOST_KNOWN = 65_536
"""Number of packets to remember, to distinguish late packets from a restart."""

_IGNORED = -(1 << 62)
"""Stands for the number of an ignored packet while parts are numbered."""


@dataclass(frozen=True)
class Numbering:
    """Extended numbers of the packets of a source, in order of arrival.

    Attributes:
        numbers: Sequence number of each packet; the first of a restart follows the largest before it. -1: ignored.
        stamps: Timestamp of each packet, extended; after a restart as if the source had gone on.
        part: For each packet, the number of restarts before it.
    """

    numbers: NDArray[np.int64]
    stamps: NDArray[np.int64]
    part: NDArray[np.int64]

    @property
    def restarts(self) -> int:
        """How often the sender began to count anew."""
        return int(self.part.max(initial=0))


def unwrap(values: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Extends numbers of `bits` bits: each step is the shortest one. The first number is 0."""
    half = 1 << (bits - 1)
    steps = (np.diff(values) + half) % (1 << bits) - half
    return np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)


def number_packets(
    sequence: NDArray[np.int64], stamp: NDArray[np.int64], at_ns: NDArray[np.int64]
) -> Numbering:
    """Extends the sequence numbers and timestamps of a source.

    Args:
        sequence: Sequence numbers of 16 bits, in order of arrival.
        stamp: Timestamps of 32 bits.
        at_ns: Arrival times in ns.
    """
    steps = (np.diff(sequence) + 32768) % 65536 - 32768
    if not ((steps >= MAX_DROPOUT) | (steps < -MAX_MISORDER)).any():
        numbers = np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)
        return Numbering(numbers - numbers.min(), unwrap(stamp, 32), np.zeros(len(numbers), np.int64))
    return _number_with_jumps(sequence, stamp, at_ns)


def _step(after: int, before: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (after - before + half) % (1 << bits) - half


class _Part:
    """The numbers since the last restart."""

    def __init__(self, sequence: int, stamp: int, extended: int, at_ns: int) -> None:
        self.first, self.highest = 0, 0
        self.sequence, self.stamp, self.extended = sequence, stamp, extended
        self.begin_ns = self.at_ns = at_ns
        self.begin_stamp = extended
        self.known = {0: extended}

    def extend(self, sequence: int, stamp: int, at_ns: int) -> tuple[int, int] | None:
        """Returns the extended number and timestamp of a packet that continues; None after a jump."""
        step = _step(sequence, self.sequence, 16)
        number = self.highest + step
        extended = self.extended + _step(stamp, self.stamp, 32)
        if step >= MAX_DROPOUT:
            return (number, extended) if self._is_outage(step, extended, at_ns) else None
        if step < -MAX_MISORDER and not self._is_late(number, extended):
            return None
        return number, extended

    def _is_outage(self, step: int, extended: int, at_ns: int) -> bool:
        """Whether about `step` packets were due since the last one, by the time and by the timestamp."""
        if self.highest < 10 or self.at_ns == self.begin_ns or self.extended <= self.begin_stamp:
            return False
        by_time = (at_ns - self.at_ns) * self.highest / (self.at_ns - self.begin_ns)
        by_stamp = (extended - self.extended) * self.highest / (self.extended - self.begin_stamp)
        return 0.5 < step / max(by_time, 1) < 2 and 0.5 < step / max(by_stamp, 1) < 2

    def _is_late(self, number: int, extended: int) -> bool:
        """Whether the packet has arrived before, or fills a hole between neighbours of its time."""
        if number in self.known:
            return self.known[number] == extended
        if number < self.first:
            return False
        below = next((self.known[one] for one in range(number, number - 200, -1) if one in self.known), None)
        above = next((self.known[one] for one in range(number, number + 200) if one in self.known), None)
        return below is not None and above is not None and below <= extended <= above

    def accept(self, number: int, sequence: int, stamp: int, extended: int, at_ns: int) -> None:
        self.known.setdefault(number, extended)
        if len(self.known) > 2 * MOST_KNOWN:
            self.known = {one: when for one, when in self.known.items() if one > self.highest - MOST_KNOWN}
        self.first = min(self.first, number)
        if number > self.highest:
            self.highest, self.sequence, self.stamp, self.extended = number, sequence, stamp, extended
            self.at_ns = at_ns


def _number_with_jumps(
    sequence: NDArray[np.int64], stamp: NDArray[np.int64], at_ns: NDArray[np.int64]
) -> Numbering:
    numbers, stamps, parts = [], [], []
    counted, stamped, timed = sequence.tolist(), stamp.tolist(), at_ns.tolist()
    part = _Part(counted[0], stamped[0], 0, timed[0])
    restarts, lowest = 0, [0]
    for place, (one, when, at) in enumerate(zip(counted, stamped, timed, strict=True)):
        found = part.extend(one, when, at)
        if found is None:
            follows = place + 1 < len(counted) and _step(counted[place + 1], one, 16) == 1
            if not follows:
                numbers.append(_IGNORED)
                stamps.append(part.extended)
                parts.append(restarts)
                continue
            # The source goes on as if its timestamps had followed the clock.
            ticks = (part.extended - part.begin_stamp) / max(part.at_ns - part.begin_ns, 1)
            extended = part.extended + round(ticks * (at - part.at_ns))
            part = _Part(one, when, extended, at)
            restarts += 1
            lowest.append(0)
            found = 0, extended
        part.accept(found[0], one, when, found[1], at)
        lowest[-1] = min(lowest[-1], found[0])
        numbers.append(found[0])
        stamps.append(found[1])
        parts.append(restarts)
    return _join(np.asarray(numbers), np.asarray(stamps), np.asarray(parts), lowest)


def _join(
    numbers: NDArray[np.int64], stamps: NDArray[np.int64], parts: NDArray[np.int64], lowest: list[int]
) -> Numbering:
    """Numbers the parts one after another, so that no packet is missing between them."""
    joined, base = np.full(len(numbers), -1, np.int64), 0
    for part, least in enumerate(lowest):
        known = np.flatnonzero((parts == part) & (numbers != _IGNORED))
        joined[known] = numbers[known] - least + base
        base = int(joined[known].max(initial=base - 1)) + 1
    return Numbering(joined, stamps, parts)
