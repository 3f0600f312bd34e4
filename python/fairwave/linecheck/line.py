"""What a measurement saw of a line: probes of each direction, round trips, load; and numbers of each phase.

**Clocks.** The two ends have clocks of their own, and nobody sets them. Round trips are exact: each is a difference of
times of one clock, less the wait at the other end, which is one of the other's. One-way delays are known only as
differences from the least of their direction. Where a delay from end to end is needed, half of the least round trip
is added: the way there is taken to be as long as the way back †.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

DIRECTIONS = ("up", "down")
"""From the measuring end to the other, and back."""


@dataclass
class Probes:
    """Probes of one direction, in the order in which they were sent.

    Attributes:
        sent_s: When each was sent, in seconds from the beginning of the measurement.
        raised_s: Its delay above the least of the direction; NaN for lost ones.
        arrived: Place of each in the order of arrival; -1 for lost ones.
        duplicates: Copies that arrived, too.
    """

    sent_s: Numbers
    raised_s: Numbers
    arrived: NDArray[np.int64]
    duplicates: int = 0


@dataclass
class Load:
    """What load came through, above TCP.

    Attributes:
        at_s: Begin of each bin.
        bytes: What arrived in it.
        bin_s: Width of a bin, in seconds.
        segment: Bytes of a full segment above TCP; 0 where the system does not say it.
        again: Share of segments that were sent again; NaN where the system does not say it.
        connections: How many carried something.
        control: Congestion controls of the senders.
        ended_early: Whether the allowance was used before the phase ended.
        segments: Of each connection: times, and how many segments had arrived by then; empty where no end says it.
    """

    at_s: Numbers
    bytes: Numbers
    bin_s: float
    segment: int = 0
    again: float = float("nan")
    connections: int = 0
    control: tuple[str, ...] = ()
    ended_early: bool = False
    segments: tuple[tuple[Numbers, Numbers], ...] = ()

    def arrived(self, edges_s: Numbers, segment: int) -> Numbers:
        """Bytes above TCP that arrived between these times, with what had to wait for a lost segment."""
        if not self.segments:
            total = np.concatenate([[0.0], np.cumsum(self.bytes)])
            return np.diff(np.interp(edges_s, np.append(self.at_s, self.at_s[-1] + self.bin_s), total))
        found = np.zeros(len(edges_s) - 1)
        for at, count in self.segments:
            found += segment * np.diff(np.interp(edges_s, at, count))
        return found

    @property
    def carried(self) -> int:
        """Bytes in all."""
        return int(self.bytes.sum())


@dataclass(frozen=True)
class Span:
    """A phase.

    Attributes:
        name: `idle`, `down`, `up`; `recorded` in files of other programs.
        from_s: Begin.
        to_s: End.
    """

    name: str
    from_s: float
    to_s: float


@dataclass
class Line:
    """A line, as measured.

    Attributes:
        source: The other end, or the file.
        interval_s: From one probe to the next.
        size: Bytes of a probe with UDP and IP.
        spans: Phases in order.
        probes: Of each direction; a direction that a file says nothing about is missing.
        trip_at_s: When the probe was sent whose round trip each is.
        trip_s: Round trips.
        loads: Direction to load.
        notes: What a reader of the numbers must know, a sentence each.
    """

    source: str
    interval_s: float
    size: int
    spans: list[Span]
    probes: dict[str, Probes]
    trip_at_s: Numbers
    trip_s: Numbers
    loads: dict[str, Load] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def least_trip_s(self) -> float:
        """The least round trip; NaN for none."""
        return float(self.trip_s.min()) if len(self.trip_s) else float("nan")

    def span(self, name: str) -> Span | None:
        """A phase by its name."""
        return next((one for one in self.spans if one.name == name), None)

    def delays_during(self, span: Span, direction: str) -> Numbers:
        """Delays above the least of the probes that were sent within a phase; NaN for lost ones."""
        probes = self.probes[direction]
        return probes.raised_s[_inside(probes.sent_s, span)]

    def trips(self, span: Span) -> Numbers:
        """Round trips of probes that were sent within a phase."""
        return self.trip_s[_inside(self.trip_at_s, span)]

    def numbers(self) -> list[PhaseNumbers]:
        """Each phase in each direction."""
        return [
            _numbers(self, span, direction)
            for span in self.spans
            for direction in DIRECTIONS
            if direction in self.probes
        ]


@dataclass(frozen=True)
class PhaseNumbers:
    """A phase in one direction, in numbers.

    Attributes:
        phase: Its name.
        direction: `up` or `down`.
        sent: Probes that were sent.
        lost: Of these, how many never arrived.
        longest_run: Most lost in a row.
        reordered: How many arrived behind one that was sent later (RFC 4737 §3).
        p50_s: Delay above the least, median.
        p95_s: 95th percentile.
        p99_s: 99th percentile.
        most_s: The largest.
        jitter_s: Interarrival jitter (RFC 3550 §6.4.1), mean over the probes that arrived, as in a simulated call.
        trip_p50_s: Round trip, median; that of both directions.
        trip_p95_s: 95th percentile.
    """

    phase: str
    direction: str
    sent: int
    lost: int
    longest_run: int
    reordered: int
    p50_s: float
    p95_s: float
    p99_s: float
    most_s: float
    jitter_s: float
    trip_p50_s: float
    trip_p95_s: float

    @property
    def loss(self) -> float:
        """Share of lost probes; NaN for no probes."""
        return self.lost / self.sent if self.sent else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**vars(self), "loss": self.loss}


def _inside(at_s: Numbers, span: Span) -> NDArray[np.bool_]:
    return (at_s >= span.from_s) & (at_s < span.to_s)


def _quantiles(values: Numbers, parts: Sequence[float]) -> list[float]:
    return (
        [float(np.quantile(values, part)) for part in parts] if len(values) else [float("nan")] * len(parts)
    )


def _numbers(line: Line, span: Span, direction: str) -> PhaseNumbers:
    probes = line.probes[direction]
    chosen = _inside(probes.sent_s, span)
    raised, place = probes.raised_s[chosen], probes.arrived[chosen]
    lost = np.isnan(raised)
    came = raised[~lost]
    p50, p95, p99, most = _quantiles(came, (0.5, 0.95, 0.99, 1.0))
    trips = _quantiles(line.trips(span), (0.5, 0.95))
    order = np.argsort(place[~lost], kind="stable")  # numbers in the order of arrival
    behind = int((order < np.maximum.accumulate(order)).sum()) if len(order) else 0
    return PhaseNumbers(
        span.name, direction, len(raised), int(lost.sum()), longest_run(lost), behind, p50, p95, p99, most,
        jitter(came[order]), *trips,
    )  # fmt: skip


def longest_run(lost: NDArray[np.bool_]) -> int:
    """Most lost in a row."""
    edges = np.diff(np.concatenate([[False], lost, [False]]).astype(np.int8))
    runs = np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
    return int(runs.max()) if len(runs) else 0


def jitter(delay_s: Numbers) -> float:
    """Interarrival jitter (RFC 3550 §6.4.1): the mean of the estimates after each delay but the first.

    Args:
        delay_s: Delays in order of arrival, in seconds.

    Returns:
        Seconds; NaN for fewer than two delays.
    """
    if len(delay_s) < 2:
        return float("nan")
    estimate, total = 0.0, 0.0
    for step in np.abs(np.diff(delay_s)).tolist():
        estimate += (step - estimate) / 16
        total += estimate
    return total / (len(delay_s) - 1)


def arrival_places(arrived_s: Numbers) -> NDArray[np.int64]:
    """Place of each packet in the order of arrival; -1 for NaN."""
    place = np.full(len(arrived_s), -1, dtype=np.int64)
    known = np.flatnonzero(~np.isnan(arrived_s))
    place[known[np.argsort(arrived_s[known], kind="stable")]] = np.arange(len(known))
    return place
