"""Measurement of a line: probes of each direction, round trips and load, with summary numbers of each phase.

**Clocks.** The two ends have separate clocks, which are not synchronised. Round trips are exact: each is a difference
of times of one clock, minus the wait at the other end by the other clock. One-way delays are known only as
differences from the least of their direction. For delays from end to end, half of the least round trip is added. This
assumes equal propagation delay in both directions †.
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
"""From the measuring end to the other end, and back."""


@dataclass
class Probes:
    """Probes of one direction in sending order.

    Attributes:
        sent_s: Sending time of each probe, in seconds from the beginning of the measurement.
        raised_s: Delay of each probe above the least of the direction, in seconds; NaN for lost probes.
        arrived: Place of each probe in the order of arrival; -1 for lost probes.
        duplicates: Number of additional copies that arrived.
    """

    sent_s: Numbers
    raised_s: Numbers
    arrived: NDArray[np.int64]
    duplicates: int = 0


@dataclass
class Load:
    """Load that came through in one direction, in bytes above TCP.

    Attributes:
        at_s: Begin of each bin, in seconds.
        bytes: Bytes that arrived in each bin.
        bin_s: Width of a bin, in seconds.
        segment: Payload bytes of a full TCP segment; 0 if the system does not report it.
        again: Share of retransmitted segments; NaN if the system does not report it.
        connections: Number of connections that carried data.
        control: Congestion controls of the senders.
        ended_early: Whether the allowance was used up before the phase ended.
        segments: Per connection: times, and cumulative arrived segments; empty if neither end reports them.
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
        """Returns bytes above TCP that arrived between these times, including bytes that wait for a lost segment."""
        if not self.segments:
            total = np.concatenate([[0.0], np.cumsum(self.bytes)])
            return np.diff(np.interp(edges_s, np.append(self.at_s, self.at_s[-1] + self.bin_s), total))
        found = np.zeros(len(edges_s) - 1)
        for at, count in self.segments:
            found += segment * np.diff(np.interp(edges_s, at, count))
        return found

    @property
    def carried(self) -> int:
        """Total bytes."""
        return int(self.bytes.sum())


@dataclass(frozen=True)
class Span:
    """A phase of the measurement.

    Attributes:
        name: `idle`, `down` or `up`; `recorded` in files of other programs.
        from_s: Begin, in seconds.
        to_s: End, in seconds.
    """

    name: str
    from_s: float
    to_s: float


@dataclass
class Line:
    """A measured line.

    Attributes:
        source: Name of the other end, or of the file.
        interval_s: Time between probes, in seconds.
        size: Bytes of a probe with UDP and IP.
        spans: Phases in order.
        probes: Probes by direction; a direction that a file does not cover is missing.
        trip_at_s: Sending time of the probe of each round trip, in seconds.
        trip_s: Round trips, in seconds.
        loads: Load by direction.
        notes: Caveats for readers of the numbers, one sentence each.
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
        """The least round trip, in seconds; NaN without round trips."""
        return float(self.trip_s.min()) if len(self.trip_s) else float("nan")

    def span(self, name: str) -> Span | None:
        """Returns a phase by its name, or None."""
        return next((one for one in self.spans if one.name == name), None)

    def delays_during(self, span: Span, direction: str) -> Numbers:
        """Returns delays above the least, for probes sent within a phase; NaN for lost probes."""
        probes = self.probes[direction]
        return probes.raised_s[_inside(probes.sent_s, span)]

    def trips(self, span: Span) -> Numbers:
        """Returns the round trips of probes that were sent within a phase."""
        return self.trip_s[_inside(self.trip_at_s, span)]

    def numbers(self) -> list[PhaseNumbers]:
        """Summarises each phase in each direction."""
        return [
            _numbers(self, span, direction)
            for span in self.spans
            for direction in DIRECTIONS
            if direction in self.probes
        ]


@dataclass(frozen=True)
class PhaseNumbers:
    """Summary of a phase in one direction.

    Attributes:
        phase: Name of the phase.
        direction: `up` or `down`.
        sent: Number of probes sent.
        lost: Number of probes that never arrived.
        longest_run: Largest number of consecutive losses.
        reordered: Number of probes that arrived after a later one (RFC 4737 §3).
        p50_s: Delay above the least, median.
        p95_s: 95th percentile of that delay.
        p99_s: 99th percentile of that delay.
        most_s: Largest value of that delay.
        jitter_s: Interarrival jitter (RFC 3550 §6.4.1), mean over the probes that arrived, as in a simulated call.
        trip_p50_s: Median round trip, the same for both directions.
        trip_p95_s: 95th percentile of the round trip.
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
        """Share of lost probes; NaN without probes."""
        return self.lost / self.sent if self.sent else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as plain data."""
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
    order = np.argsort(place[~lost], kind="stable")  # probe numbers in order of arrival
    behind = int((order < np.maximum.accumulate(order)).sum()) if len(order) else 0
    return PhaseNumbers(
        span.name, direction, len(raised), int(lost.sum()), longest_run(lost), behind, p50, p95, p99, most,
        jitter(came[order]), *trips,
    )  # fmt: skip


def longest_run(lost: NDArray[np.bool_]) -> int:
    """Returns the largest number of consecutive losses."""
    edges = np.diff(np.concatenate([[False], lost, [False]]).astype(np.int8))
    runs = np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
    return int(runs.max()) if len(runs) else 0


def jitter(delay_s: Numbers) -> float:
    """Computes interarrival jitter (RFC 3550 §6.4.1): the mean of the estimates after each delay but the first.

    Args:
        delay_s: Delays in order of arrival, in seconds.

    Returns:
        Jitter in seconds; NaN for fewer than two delays.
    """
    if len(delay_s) < 2:
        return float("nan")
    estimate, total = 0.0, 0.0
    for step in np.abs(np.diff(delay_s)).tolist():
        estimate += (step - estimate) / 16
        total += estimate
    return total / (len(delay_s) - 1)


def arrival_places(arrived_s: Numbers) -> NDArray[np.int64]:
    """Returns the place of each packet in the order of arrival; -1 for NaN."""
    place = np.full(len(arrived_s), -1, dtype=np.int64)
    known = np.flatnonzero(~np.isnan(arrived_s))
    place[known[np.argsort(arrived_s[known], kind="stable")]] = np.arange(len(known))
    return place
