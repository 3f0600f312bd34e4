"""Means, confidence intervals and paired differences over independent replications.

Every replication of a run has its own seed, so the numbers that they leave are independent and the
mean's uncertainty is Student's t with n − 1 degrees of freedom. Systems that are compared run under the same seeds
(common random numbers): what they share cancels in the difference seed by seed, and the interval of the *difference*
says whether they differ. It is usually far narrower than the two separate intervals suggest.

Assumptions:
    The mean of a measure over replications is near enough to normal for a t interval: measures here are
    themselves averages over many packets or flows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairwave.extras import need
from fairwave.measuring.student import quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import ArrayLike, NDArray

LEVEL = 0.95
"""Confidence level wherever none is named."""

ROUNDING = 1e-12
"""Samples that differ by less than this share of the largest are equal but for rounding."""


@dataclass(frozen=True)
class Interval:
    """A mean and the interval in which it lies with confidence `level`.

    Attributes:
        mean: The estimate.
        low: Lower end; minus infinity when fewer than two samples were at hand.
        high: Upper end; infinity when fewer than two samples were at hand.
        n: Number of samples, those that are not defined left out.
        level: Confidence level, in (0, 1).
        undefined: Number of samples that were left out because they are not defined.
    """

    mean: float
    low: float
    high: float
    n: int
    level: float = LEVEL
    undefined: int = 0

    @property
    def half_width(self) -> float:
        """Half of the interval's length, in the unit of the mean."""
        return (self.high - self.low) / 2

    @property
    def is_cut(self) -> bool:
        """Whether the mean does not lie in the middle, because the interval ends where its scale ends."""
        above, below = self.high - self.mean, self.mean - self.low
        return self.n > 1 and not math.isclose(above, below, rel_tol=1e-6, abs_tol=1e-12)

    def within(self, limits: tuple[float, float]) -> Interval:
        """The same interval, cut at the least and the most that the measured quantity can be.

        A t interval is symmetric and does not know that a share ends at 1. The mean certainly lies within the limits,
        so what is cut off cannot hold it, and the confidence stays the same.
        """
        if self.n < 2:
            return self
        least, most = limits
        low, high = min(max(self.low, least), self.mean), max(min(self.high, most), self.mean)
        return replace(self, low=low, high=high)

    def __str__(self) -> str:
        if math.isnan(self.mean):
            return "n/a"
        left_out = f" ({self.n} of {self.n + self.undefined})" if self.undefined else ""
        if self.n < 2:
            return f"{self.mean:.4g}{left_out}"
        half = self.half_width
        if half == 0:
            return f"{self.mean:.4g} ± 0{left_out}"
        # As many decimals as show two digits of the half width; what is smaller than 0.0001 is nothing to people.
        return self.text(min(max(1 - math.floor(math.log10(half)), 0), 4)) + left_out

    def text(self, decimals: int) -> str:
        """Mean and interval: `26 ± 3`; `26 (0 to 64)` where the interval ends at the end of its scale.

        An interval that these decimals do not show has a half width like any other: `1.00 ± 0.00`.
        """
        mean, low, high = (f"{edge:.{decimals}f}" for edge in (self.mean, self.low, self.high))
        if self.is_cut and low != high:
            return f"{mean} ({low} to {high})"
        return f"{mean} ± {self.half_width:.{decimals}f}"


def t_quantile(level: float, n: float) -> float:
    """Student's t for a two-sided interval of confidence `level` from `n` samples; infinity below two."""
    if n < 2:
        return math.inf
    return quantile((1 + level) / 2, n - 1)


def interval(samples: ArrayLike, level: float = LEVEL, spread: tuple[float, float] | None = None) -> Interval:
    """The mean of independent samples with its t interval.

    Args:
        samples: One number per replication. Those that are NaN or None (a measure that is not defined for that
            run, as MOS where nothing was said) are left out and counted.
        level: Confidence level in (0, 1).
        spread: The samples' standard deviation and its degrees of freedom, where more is known of it than they tell.

    Raises:
        ValueError: `level` is outside (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies in (0, 1), not {level}; usual is 0.95")
    values = np.asarray(samples, dtype=float).ravel()
    given = len(values)
    values = values[~np.isnan(values)]
    n = len(values)
    if n == 0:
        return Interval(math.nan, -math.inf, math.inf, 0, level, given)
    mean = float(values.mean())
    if spread is not None:
        deviation, freedom = spread
        half = t_quantile(level, freedom + 1) * deviation / math.sqrt(n)
        return Interval(mean, mean - half, mean + half, n, level, given - n)
    if n == 1:
        return Interval(mean, -math.inf, math.inf, 1, level, given - n)
    half = t_quantile(level, n) * float(values.std(ddof=1)) / math.sqrt(n)
    if half < ROUNDING * float(np.abs(values).max()):
        half = 0.0
    return Interval(mean, mean - half, mean + half, n, level, given - n)


def paired(ours: ArrayLike, theirs: ArrayLike, level: float = LEVEL) -> Interval:
    """The mean of `ours` − `theirs` with its interval, sample by sample.

    Args:
        ours: One number per seed.
        theirs: One number per seed, in the same order of seeds.
        level: Confidence level in (0, 1).

    Raises:
        ValueError: The two differ in length, so they cannot be pairs.
    """
    left: NDArray[np.float64] = np.asarray(ours, dtype=float).ravel()
    right: NDArray[np.float64] = np.asarray(theirs, dtype=float).ravel()
    if len(left) != len(right):
        raise ValueError(
            f"paired samples need the same seeds on both sides, here {len(left)} and {len(right)}"
        )
    return interval(left - right, level)


def against_the_best(count: int) -> float:
    """The level at which the best of `count` alternatives is compared with each other one, so that all hold together.

    Bonferroni: with twenty alternatives that do not differ, the best of them would look significantly better than some
    other in most experiments.
    """
    return 1 - (1 - LEVEL) / max(count - 1, 1)


def summarise(
    frame: pl.DataFrame, by: Sequence[str], value: str = "value", level: float = LEVEL
) -> pl.DataFrame:
    """Mean and t interval of `value` for each combination of the columns `by`.

    Returns:
        Columns `by`, then `mean`, `low`, `high`, `sd`, `n`, and `undefined` (values left out because they are null or
        NaN), in order of first appearance. The interval of a single replication is unbounded, and is left empty (null)
        here so that nothing draws it.
    """
    need("polars", "tables")
    import polars as pl

    defined = pl.col(value).fill_nan(None)
    grouped = frame.group_by(list(by), maintain_order=True).agg(
        defined.mean().alias("mean"),
        defined.std(ddof=1).alias("sd"),
        defined.count().alias("n"),
        defined.null_count().alias("undefined"),
    )
    quantiles = [t_quantile(level, n) if n > 1 else None for n in grouped["n"].to_list()]
    return (
        grouped.with_columns(pl.Series("t", quantiles, dtype=pl.Float64))
        .with_columns((pl.col("t") * pl.col("sd") / pl.col("n").sqrt()).alias("half"))
        .select(
            *by,
            "mean",
            (pl.col("mean") - pl.col("half")).alias("low"),
            (pl.col("mean") + pl.col("half")).alias("high"),
            "sd",
            "n",
            "undefined",
        )
    )
