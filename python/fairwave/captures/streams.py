"""Streams of RTP: the packets of one source in one flow, with one clock.

The identity of a stream is its five-tuple, which has a direction, its SSRC, and the clock of its payload types. So a
bundle falls apart into its streams, and a new SSRC begins a new stream. Sequence numbers follow RFC 3550 §A.1
(`numbering`). Losses, duplicates and jitter are those before the place of the capture.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairwave.captures.flow import Flow
    from fairwave.captures.payload_types import PayloadFormat

    Numbers = NDArray[np.integer]

Role = Literal["media", "rtx", "fec"]
"""Contents of a stream: speech or video, retransmissions (RFC 4588), or forward error correction."""


class Pause(NamedTuple):
    """A time without a packet.

    Attributes:
        begin_s: Arrival of the packet before it, in seconds since the capture began.
        end_s: Arrival of the packet after it.
        lost: Packets missing in between.
    """

    begin_s: float
    end_s: float
    lost: int


@dataclass(eq=False)
class Stream:
    """The packets of one stream, in order of arrival.

    Attributes:
        flow: Five-tuple of the packets.
        ssrc: Synchronisation source.
        place: Number of the stream among those of this flow and SSRC, from 1: a new clock begins a new stream.
        formats: Meaning of each payload type that occurs.
        role: Contents of the packets.
        repairs: SSRC of the stream that this one repairs; None for media.
        begin_ns: Capture time at which the capture begins, in ns since 1970.
        at_ns: Arrival times in ns since 1970.
        sizes: Bytes of IP.
        payload: Bytes of payload of RTP, padding included.
        types: Payload types.
        markers: Whether the marker bit is set.
        padding: Whether the packet carries padding alone, as probes for bandwidth do.
        repaired: First two bytes of the payload: of a retransmission the repaired sequence number (OSN).
        numbers: Extended sequence numbers, from 0; -1 for a packet that belongs nowhere (RFC 3550 §A.1).
        stamps: Extended timestamps.
        part: Number of restarts of the sequence numbers before each packet.
    """

    flow: Flow
    ssrc: int
    place: int
    formats: dict[int, PayloadFormat]
    role: Role
    repairs: int | None
    begin_ns: int
    at_ns: Numbers
    sizes: Numbers
    payload: Numbers
    types: Numbers
    markers: NDArray[np.bool_]
    padding: NDArray[np.bool_]
    repaired: Numbers
    numbers: Numbers
    stamps: Numbers
    part: Numbers

    @property
    def name(self) -> str:
        """Name of the stream in lists, such as `udp 10.0.0.1:5004 > 10.0.0.2:6000 ssrc 0x0000002a`."""
        place = f" part {self.place}" if self.place > 1 else ""
        return f"{self.flow.name} ssrc 0x{self.ssrc:08x}{place}"

    @property
    def packets(self) -> int:
        """Packets that arrived, duplicates included."""
        return len(self.at_ns)

    @property
    def restarts(self) -> int:
        """How often the sequence numbers began anew."""
        return int(self.part.max(initial=0) - self.part.min(initial=0)) if len(self.part) else 0

    @cached_property
    def payload_type(self) -> int:
        """Payload type of most packets."""
        values, counts = np.unique(self.types, return_counts=True)
        return int(values[counts.argmax()])

    @property
    def format(self) -> PayloadFormat | None:
        """Meaning of the most frequent payload type; None if unknown."""
        return self.formats.get(self.payload_type)

    @property
    def clock(self) -> int | None:
        """Clock rate of the timestamps, Hz; None if unknown."""
        return (self.format.clock or None) if self.format else None

    @cached_property
    def lost_packets(self) -> NDArray[np.bool_]:
        """For each number from the first packet to the last that arrived: whether it is missing."""
        numbers = self.numbers[self.numbers >= 0]
        lost = np.ones(int(numbers.max(initial=-1)) + 1, bool)
        lost[numbers] = False
        return lost

    @property
    def expected(self) -> int:
        """Packets that were sent, from the first to the last that arrived."""
        return len(self.lost_packets)

    @property
    def lost(self) -> int:
        """Packets that never arrived."""
        return int(self.lost_packets.sum())

    @cached_property
    def is_first(self) -> NDArray[np.bool_]:
        """For each packet, whether it is the first one with its number."""
        first = np.zeros(len(self.numbers), bool)
        known = np.flatnonzero(self.numbers >= 0)
        first[known[np.unique(self.numbers[known], return_index=True)[1]]] = True
        return first

    @property
    def duplicates(self) -> int:
        """Packets that arrived again."""
        return int(((self.numbers >= 0) & ~self.is_first).sum())

    @property
    def reordered(self) -> int:
        """Packets that arrived after one with a larger number (RFC 4737 §3.3)."""
        numbers = self.numbers[self.is_first]
        return int((numbers < np.maximum.accumulate(numbers)).sum()) if len(numbers) else 0

    @property
    def ignored(self) -> int:
        """Packets out of any order (RFC 3550 §A.1)."""
        return int((self.numbers < 0).sum())

    @cached_property
    def jitter(self) -> NDArray[np.float64]:
        """Interarrival jitter after each packet but the first, in seconds (RFC 3550 §6.4.1); empty without a clock.

        It is the smoothed change of transit time between packets. Tones do not count, because their timestamps do not
        advance, and neither does the change at a restart.
        """
        if self.clock is None or len(self.at_ns) < 2:
            return np.empty(0)
        same = np.isin(self.types, [one for one, what in self.formats.items() if what.clock == self.clock])
        chosen = np.flatnonzero(same & (self.numbers >= 0) & ~self._is_event)
        transit = (self.at_ns[chosen] - self.begin_ns) / 1e9 - (
            self.stamps[chosen] - self.stamps[0]
        ) / self.clock
        changes = np.abs(np.diff(transit))[np.diff(self.part[chosen]) == 0]
        values = accumulate(changes.tolist(), lambda last, change: last + (change - last) / 16, initial=0.0)
        return np.fromiter(values, float)[1:]

    @property
    def _is_event(self) -> NDArray[np.bool_]:
        events = [one for one, what in self.formats.items() if what.codec.lower() == "telephone-event"]
        return np.isin(self.types, events)

    @property
    def mean_jitter_s(self) -> float | None:
        """Mean of the jitter over all packets, in seconds; None without a clock."""
        return float(self.jitter.mean()) if len(self.jitter) else None

    @property
    def largest_jitter_s(self) -> float | None:
        """Largest jitter, in seconds; None without a clock."""
        return float(self.jitter.max()) if len(self.jitter) else None

    @property
    def first_s(self) -> float:
        """Arrival of the first packet, in seconds since the capture began."""
        return (int(self.at_ns[0]) - self.begin_ns) / 1e9

    @property
    def last_s(self) -> float:
        """Arrival of the last packet, in seconds since the capture began."""
        return (int(self.at_ns[-1]) - self.begin_ns) / 1e9

    @property
    def rate_bps(self) -> float:
        """Bits of IP per second, from the first packet to the last; NaN for a single time."""
        lasts = self.last_s - self.first_s
        return 8 * int(self.sizes.sum()) / lasts if lasts > 0 else float("nan")

    def find_pauses(self, least_s: float = 0.2) -> list[Pause]:
        """Returns the times of at least `least_s` seconds without a packet, with the packets missing in each."""
        at = (self.at_ns - self.begin_ns) / 1e9
        found = []
        for place in np.flatnonzero(np.diff(at) >= least_s).tolist():
            before, after = self.numbers[place], self.numbers[place + 1]
            missing = self.lost_packets[max(before, 0) : max(after, 0)].sum() if after > before else 0
            found.append(Pause(float(at[place]), float(at[place + 1]), int(missing)))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Returns the identity and the counts as plain data."""
        return {
            "ssrc": f"0x{self.ssrc:08x}", "payload_types": sorted({int(one) for one in np.unique(self.types)}),
            "codec": self.format.codec if self.format else None, "clock_hz": self.clock,
            "clock_from": self.format.origin if self.format else None, "role": self.role,
            "repairs": None if self.repairs is None else f"0x{self.repairs:08x}",
            "expected": self.expected, "lost": self.lost, "duplicates": self.duplicates,
            "reordered": self.reordered, "ignored": self.ignored, "restarts": self.restarts,
            "padding": int(self.padding.sum()), "jitter_s": self.mean_jitter_s,
            "largest_jitter_s": self.largest_jitter_s, "first_s": self.first_s, "last_s": self.last_s,
        }  # fmt: skip
