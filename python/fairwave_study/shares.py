"""Shares of readings: how many reproduce a claim, how certain that is, and the verdict in words.

The drawn readings are a sample of all readings, so a share has an interval, from counts alone. It is Wilson's score
interval at 95 % (Wilson 1927, *Probable inference, the law of succession, and statistical inference*). It takes
readings for independent draws; a quasi-random sequence spreads them more evenly, so the interval is rather too wide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from fairwave.measuring.statistics import LEVEL
from fairwave_study.claims import Verdict

if TYPE_CHECKING:
    from fairwave_study.readings import Reading, Readings

HALF = 0.5
"""The interval of a share must exclude this value for the word 'most'."""

NEARLY_ALL = 0.95
"""Share of readings from which a claim counts as reproduced in all readings; the rest may be chance."""


def wilson(share: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """The interval of a share of `n` readings; from 0 to 1 if `n` is 0.

    Args:
        share: In [0, 1].
        n: Number of readings, or their effective number if they are weighted.
        level: Confidence level in (0, 1).
    """
    if n <= 0 or math.isnan(share):
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    scale = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Shares:
    """The shares of readings by verdict on a claim.

    Attributes:
        n: Number of readings, or their effective number if they are weighted.
        reproduced: Share of readings that reproduce it.
        undecided: Share of undecided readings.
        contradicted: Share of contradicting readings.
        points: Share of readings with all means on the claimed side, whatever their intervals; NaN if unknown.
        alike: Share of readings in which it is alike; NaN if unknown.
    """

    n: float
    reproduced: float
    undecided: float
    contradicted: float
    points: float = math.nan
    alike: float = 0.0

    def interval(self, name: str) -> tuple[float, float]:
        """The interval of one of the shares, by its attribute's name."""
        return wilson(getattr(self, name), self.n)

    @property
    def verdict(self) -> str:
        """The verdict over all readings, in words."""
        rarely = self.reproduced <= 1 - NEARLY_ALL
        alike = 0.0 if math.isnan(self.alike) else self.alike
        both = sorted((self.reproduced, self.contradicted, alike))[1]
        ranked = (
            (self.reproduced >= NEARLY_ALL, "reproduced"),
            (self.contradicted == 1, "contradicted in every reading"),
            (self.interval("reproduced")[0] > HALF, "reproduced in most readings"),
            (rarely and self.interval("contradicted")[0] > HALF, "contradicted in most readings"),
            (rarely and self.interval("alike")[0] > HALF, "alike in most readings"),
            (both > 1 - NEARLY_ALL, "hangs on the reading"),
        )
        return next((words for is_so, words in ranked if is_so), "undecided")

    def to_dict(self) -> dict[str, Any]:
        """As plain data: shares and their intervals."""
        names = ("reproduced", "alike", "undecided", "contradicted", "points")
        return {
            "n": self.n,
            **{name: getattr(self, name) for name in names},
            "intervals": {
                name: list(self.interval(name)) for name in names if not math.isnan(getattr(self, name))
            },
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Shares:
        """Reads a ledger's entry of any release; missing values are unknown."""
        points = told.get("points")
        return cls(
            told["n"],
            told["reproduced"],
            told["undecided"],
            told["contradicted"],
            math.nan if points is None else points,
            told.get("alike", math.nan),
        )

    @classmethod
    def from_verdicts(
        cls, verdicts: Sequence[str], points: Sequence[bool] = (), weights: Sequence[float] | None = None
    ) -> Shares:
        """From the verdicts of readings, whether their means point the claimed way, and their weights (1 each)."""
        given = [1.0] * len(verdicts) if weights is None else list(weights)
        total = sum(given)
        if not total:
            return cls(0, math.nan, math.nan, math.nan, alike=math.nan)

        def share(verdict: Verdict) -> float:
            found = zip(verdicts, given, strict=True)
            return sum(weight for one, weight in found if one == str(verdict)) / total

        told = (
            sum(weight for one, weight in zip(points, given, strict=True) if one) / total
            if points
            else math.nan
        )
        n = len(given) if weights is None else total**2 / sum(one * one for one in given)
        return cls(
            n,
            share(Verdict.REPRODUCED),
            share(Verdict.UNDECIDED),
            share(Verdict.NOT_REPRODUCED),
            told,
            share(Verdict.ALIKE),
        )


def weights(readings: Readings, drawn: Sequence[Reading], factors: Sequence[str]) -> list[float]:
    """The weight of each reading by the stated plausibility of its values, over these factors.

    Values are drawn equally often, so a value's weight is its plausibility over the mean of its factor's. Only factors
    that decide a claim are asked for: the others do not move its verdict, and would only make the effective number of
    readings smaller.
    """
    scales: dict[str, dict[str, float]] = {}
    for name in factors:
        values = readings.factor(name).values
        mean = sum(one.plausibility for one in values) / len(values)
        scales[name] = {one.name: one.plausibility / mean for one in values}
    return [math.prod(scale[one[name]] for name, scale in scales.items()) for one in drawn]


def percent(share: float, interval: tuple[float, float] | None = None) -> str:
    """A share in whole per cent, with its interval: "51 % (43 to 59)"; "–" if it is unknown."""
    if math.isnan(share):
        return "–"
    told = f"{100 * share:.0f} %"
    return f"{told} ({100 * interval[0]:.0f} to {100 * interval[1]:.0f})" if interval else told
