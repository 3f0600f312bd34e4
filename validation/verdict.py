"""Do two simulators agree? Means, intervals and a verdict, by a margin that was fixed in advance.

A measure agrees if the means differ by at most the margin (3 % of ns-2's mean), or if each mean is inside the other's
95 % interval. It also agrees if they differ by less than the resolution of the measure: drop rates of 0.0002 and
0.0003 are no finding. Intervals are Student's over independent seeds.

Otherwise the measure is *undecided* if the 95 % interval of the difference (Welch) includes 0: these seeds cannot
distinguish the simulators. This category was added after a first look at results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy import stats

MARGIN = 0.03

#: Differences below these are not looked at: about one packet in a run (drop and loss rates), half a packet
#: of queue.
RESOLUTION = {"drop_rate": 2e-4, "loss_rate": 2e-4, "mean_queue": 0.5, "jain": 0.005, "cov": 0.005}

#: The same for the measures of the third and fourth opinions: a packet in a run, half a packet of queue at 20 Mb/s,
#: half a segment.
MORE_RESOLUTION = {
    "mark_rate": 2e-4,
    "retransmissions": 2e-4,
    "wait_ms": 0.3,
    "rtt_ms": 0.3,
    "rtt_p95_ms": 0.3,
    "window": 0.5,
}


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds and the half-width of its 95 % interval (infinite for a single seed)."""

    mean: float
    half: float
    count: int

    @classmethod
    def from_values(cls, values: Sequence[float]) -> Estimate:
        """The estimate from one value per seed; values that are not numbers are left out."""
        kept = [value for value in values if not math.isnan(value)]
        count = len(kept)
        if count == 0:
            return cls(math.nan, math.nan, 0)
        mean = math.fsum(kept) / count
        if count == 1:
            return cls(mean, math.inf, 1)
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in kept) / (count - 1))
        factor = float(stats.t.ppf(0.975, count - 1))
        return cls(mean, factor * deviation / math.sqrt(count), count)

    @classmethod
    def from_plain(cls, numbers: Sequence[float | int | None]) -> Estimate:
        """Reads an estimate from a data file."""
        mean, half, count = numbers
        without = math.inf if count else math.nan
        return cls(math.nan if mean is None else mean, without if half is None else half, int(count or 0))

    def to_plain(self) -> list[float | int | None]:
        """An estimate for a data file: mean, half of its interval, count. Null for numbers that are not finite."""
        return [*(value if math.isfinite(value) else None for value in (self.mean, self.half)), self.count]

    @property
    def error(self) -> float:
        """Standard error of the mean; infinite for a single seed."""
        return self.half / float(stats.t.ppf(0.975, self.count - 1)) if self.count > 1 else math.inf


def undecided(ours: Estimate, theirs: Estimate) -> bool:
    """True if the 95 % interval of the difference of both means includes 0 (Welch). False for single seeds."""
    if min(ours.count, theirs.count) < 2:
        return False
    errors = [one.error**2 for one in (ours, theirs)]
    if sum(errors) == 0.0:
        return False
    freedom = sum(errors) ** 2 / sum(
        error**2 / (one.count - 1) for error, one in zip(errors, (ours, theirs), strict=True)
    )
    reach = float(stats.t.ppf(0.975, freedom)) * math.sqrt(sum(errors))
    return abs(ours.mean - theirs.mean) <= reach


@dataclass(frozen=True)
class Comparison:
    """One measure in both simulators. ``margin`` is the allowed difference as a part of the other's mean."""

    measure: str
    ours: Estimate
    theirs: Estimate
    margin: float = MARGIN

    @property
    def difference(self) -> float:
        """Relative difference of the means: (fairwave's − the other's) / the other's; NaN if the other's is 0."""
        return (self.ours.mean - self.theirs.mean) / self.theirs.mean if self.theirs.mean else math.nan

    @property
    def undecided(self) -> bool:
        """True if the two do not agree and the 95 % interval of their difference includes 0 (Welch)."""
        if self.agrees:
            return False
        return undecided(self.ours, self.theirs)

    @property
    def agrees(self) -> bool:
        """True by the margin, the intervals, or the resolution."""
        return bool(self.reason)

    @property
    def verdict(self) -> str:
        """``agrees``, ``undecided``, ``differs``, or ``not defined`` where neither simulator has the measure."""
        if self.agrees:
            return "agrees"
        if math.isnan(self.ours.mean) and math.isnan(self.theirs.mean):
            return "not defined"
        return "undecided" if self.undecided else "differs"

    @property
    def reason(self) -> str:
        """The reason of an agreement: ``margin``, ``intervals`` or ``resolution``. Empty without an agreement."""
        gap = abs(self.ours.mean - self.theirs.mean)
        if gap <= self.margin * abs(self.theirs.mean):
            return "margin"
        if gap <= min(self.ours.half, self.theirs.half) and min(self.ours.count, self.theirs.count) > 1:
            return "intervals"
        if gap <= (RESOLUTION | MORE_RESOLUTION).get(self.measure.split("/")[0].removesuffix("_steady"), 0.0):
            return "resolution"
        return ""


def compare(
    ours: Sequence[dict[str, float]],
    theirs: Sequence[dict[str, float]],
    margins: Mapping[str, float] | None = None,
) -> list[Comparison]:
    """One comparison per measure that both have, in the order of theirs; ``margins`` by the name before the slash."""
    allowed = margins or {}
    names = [name for name in theirs[0] if name in ours[0]] if ours and theirs else []
    return [
        Comparison(
            name,
            Estimate.from_values([run.get(name, math.nan) for run in ours]),
            Estimate.from_values([run.get(name, math.nan) for run in theirs]),
            allowed.get(name.split("/")[0].removesuffix("_steady"), MARGIN),
        )
        for name in names
    ]
