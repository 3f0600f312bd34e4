"""Means, confidence intervals and paired differences over independent replications.

Every replication has a different seed, so their numbers are independent. Compared systems run under the same seeds
(common random numbers): shared effects cancel in the difference seed by seed, and the interval of the *difference*
shows whether they differ. It is usually far narrower than the two separate intervals suggest.

An interval is Student's t, with n − 1 degrees of freedom, and reaches further on the side of the longer tail. Student's
t assumes normal samples. With few runs of a skewed measure it covers the true mean far less often than its level,
because most samples miss the long tail. So that side follows the exponential transformation of the t statistic: if the
sample's skewness is γ, the end is (exp(k t) − 1)/k standard errors from the mean, with k = (2/3) γ/√n, which removes
the first-order effect of the skewness (Johnson 1978, *Modified t tests and confidence intervals for asymmetrical
populations*; Hall 1992, *On the removal of skewness by transformation*; DiCiccio and Tibshirani 1987, *Bootstrap
confidence intervals and bootstrap approximations*). Two rules are fairwave's:

- few samples show less skewness than their population has, so γ counts 1 + 15/n times. Measures with a known long tail,
  in which few runs exceed the others by far (times of transfers), add 8/n;
- the longer side is at most three times Student's t, and the shorter side at least 95 % of it.

`docs/intervals.md` has the coverage by measure and number of runs, `tests/test_intervals.py` enforces it.
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
"""Default confidence level."""

ROUNDING = 1e-12
"""Samples that differ by less than this share of the largest are equal apart from rounding."""


@dataclass(frozen=True)
class Interval:
    """A mean with its interval at confidence `level`.

    Attributes:
        mean: The estimate.
        low: Lower end; minus infinity for fewer than two samples.
        high: Upper end; infinity for fewer than two samples.
        n: Number of defined samples.
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
        """Distance from the mean to the farther end, in the unit of the mean."""
        return max(self.high - self.mean, self.mean - self.low)

    @property
    def is_identical(self) -> bool:
        """Whether several samples are all equal, so that their spread is unknown: there is no interval."""
        return self.n > 1 and self.low == self.high

    @property
    def ends(self) -> list[float | None]:
        """Lower and upper end as plain data; None for both without an interval."""
        exist = self.n > 1 and not self.is_identical
        return [one if exist and math.isfinite(one) else None for one in (self.low, self.high)]

    def clip(self, limits: tuple[float, float]) -> Interval:
        """Cuts the interval at the least and greatest value of the measured quantity.

        An interval does not know that a share ends at 1. The mean is certainly within the limits, so the part that is
        cut off cannot contain it, and the confidence stays the same.
        """
        if self.n < 2:
            return self
        least, most = limits
        low, high = min(max(self.low, least), self.mean), max(min(self.high, most), self.mean)
        return replace(self, low=low, high=high)

    def __str__(self) -> str:
        return self.text()

    def text(self, decimals: int | None = None, sign: str = "", unit: str = "") -> str:
        """Mean and interval: `26 ± 3`; `26 [21, 64]` if the ends differ in their distance from the mean.

        Ends that look almost symmetric in these decimals get the distance of the farther one: `1.00 ± 0.01`. Equal
        samples have no interval: `1.00 (same in all 5)`.

        Args:
            decimals: Number of decimals; as many as the interval needs, if left out.
            sign: `+` for numbers that show their sign, such as differences.
            unit: Unit after the numbers.
        """
        if math.isnan(self.mean):
            return "n/a"
        unit = f" {unit}" if unit else ""
        left_out = f" ({self.n} of {self.n + self.undefined})" if self.undefined else ""
        if self.n < 2 or self.is_identical:
            form = f"{sign}.4g" if decimals is None else f"{sign}.{decimals}f"
            same = f" (same in all {self.n})" if self.is_identical else ""
            return f"{self.mean:{form}}{unit}{same}{left_out}"
        if decimals is None:
            # Two digits of the nearer end are shown; values below 0.0001 are too small to matter.
            near = min(side for side in (self.high - self.mean, self.mean - self.low) if side > 0)
            decimals = min(max(1 - math.floor(math.log10(near)), 0), 4)
        mean, low, high = (f"{edge:{sign}.{decimals}f}" for edge in (self.mean, self.low, self.high))
        below, above = (f"{side:.{decimals}f}" for side in (self.mean - self.low, self.high - self.mean))
        far = f"{self.half_width:.{decimals}f}"
        is_even = above == below or float(far) <= 1.5 * 10**-decimals
        ends = f"± {far}" if is_even else f"[{low}, {high}]"
        return f"{mean} {ends}{unit}{left_out}"


def t_quantile(level: float, n: float) -> float:
    """Student's t for a two-sided interval of confidence `level` from `n` samples; infinity below two."""
    if n < 2:
        return math.inf
    return quantile((1 + level) / 2, n - 1)


FEW = 15
"""A sample of n shows less skewness than its population has: it counts 1 + FEW/n times."""

LONG_TAIL = 8
"""A sample of n from a population with a long tail counts as more skewed by LONG_TAIL/n than it is."""

TINY = 1e-12
"""Below it (exp(x) − 1)/x is 1 to all digits."""

MOST_EXTENDED = 3.0
"""Largest length of the longer side of an interval, in lengths of Student's t."""

MOST_SHORTENED = 0.05
"""The shorter side loses up to this share of Student's t, all of it if the longer side is twice as long."""


def means_with_ends(
    samples: NDArray[np.float64],
    level: float = LEVEL,
    spread: tuple[float, float] | None = None,
    *,
    has_long_tail: bool = False,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Returns the means of many samples of one size, with the lower and upper ends of their intervals.

    Args:
        samples: A sample in each row: shape (count, n), with n of 2 or more and every number defined. With `spread`
            n may be 1.
        level: Confidence level in (0, 1).
        spread: The standard deviation of all samples and its degrees of freedom, if it is known better than from these
            samples. Then a tail that they miss is in the deviation, and both sides are Student's. Otherwise equal
            numbers in a row have both ends at their mean.
        has_long_tail: Whether populations of this kind usually have a long upper tail, which few runs do not show.

    Returns:
        Three arrays of shape (count,).
    """
    n = samples.shape[1]
    means = samples.mean(axis=1)
    if spread is not None:
        deviation, freedom = spread
        half = t_quantile(level, freedom + 1) * deviation / math.sqrt(n)
        return means, means - half, means + half
    apart = samples - means[:, np.newaxis]
    largest = np.abs(apart).max(axis=1)
    # Scaled, so that powers neither overflow nor vanish.
    apart = apart / np.where(largest > 0, largest, 1.0)[:, np.newaxis]
    square = (apart**2).mean(axis=1)
    skewness = (apart**3).mean(axis=1) / np.where(square > 0, square, 1.0) ** 1.5
    error = largest * np.sqrt(square / (n - 1))
    t = t_quantile(level, n)
    error[t * error < ROUNDING * np.abs(samples).max(axis=1)] = 0.0
    skewness = (1 + FEW / n) * skewness + (LONG_TAIL / n if has_long_tail else 0.0)
    kt = 2 / 3 * np.abs(skewness) / math.sqrt(n) * t
    curved = kt > TINY
    # Beyond e^50 the limit applies anyway.
    grown = np.where(curved, np.expm1(np.minimum(kt, 50.0)) / np.where(curved, kt, 1.0), 1.0)
    longer = np.minimum(grown, MOST_EXTENDED) * t * error
    shorter = (1 - MOST_SHORTENED * np.minimum(grown - 1, 1.0)) * t * error
    return (
        means,
        means - np.where(skewness < 0, longer, shorter),
        means + np.where(skewness > 0, longer, shorter),
    )


def interval(
    samples: ArrayLike,
    level: float = LEVEL,
    spread: tuple[float, float] | None = None,
    *,
    has_long_tail: bool = False,
) -> Interval:
    """Returns the mean of independent samples with its interval: Student's t, extended on the side of the longer tail.

    Args:
        samples: One number per replication. NaN and None (a measure that is not defined for that run, such as MOS
            without speech) are left out and counted.
        level: Confidence level in (0, 1).
        spread: The samples' standard deviation and its degrees of freedom, if it is known better than from them.
        has_long_tail: Whether the measure usually has a long upper tail (`fairwave.measuring.measures.Measure`).

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
    if n == 1 and spread is None:
        return Interval(float(values[0]), -math.inf, math.inf, 1, level, given - n)
    mean, low, high = (
        float(each[0])
        for each in means_with_ends(values[np.newaxis], level, spread, has_long_tail=has_long_tail)
    )
    return Interval(mean, low, high, n, level, given - n)


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


def best_level(count: int) -> float:
    """The level at which the best of `count` alternatives is compared with each other one, so that all hold together.

    Bonferroni: with twenty alternatives that do not differ, the best of them would look significantly better than some
    other in most experiments.
    """
    return 1 - (1 - LEVEL) / max(count - 1, 1)


def summarise(
    frame: pl.DataFrame,
    by: Sequence[str],
    value: str = "value",
    level: float = LEVEL,
    *,
    has_long_tail: bool = False,
) -> pl.DataFrame:
    """Mean and interval of `value` for each combination of the columns `by`.

    Returns:
        Columns `by`, then `mean`, `low`, `high`, `sd`, `n`, and `undefined` (values left out because they are null or
        NaN), in order of first appearance. The interval of a single replication is unbounded, and is left empty (null)
        here so that nothing draws it.
    """
    need("polars", "tables")
    import polars as pl

    defined = pl.col(value).fill_nan(None)
    grouped = frame.group_by(list(by), maintain_order=True).agg(
        defined.std(ddof=1).alias("sd"), defined.cast(pl.Float64).alias("samples")
    )
    found = [
        interval(samples.to_numpy(), level, has_long_tail=has_long_tail) for samples in grouped["samples"]
    ]
    columns = {
        "mean": [one.mean if one.n else None for one in found],
        "low": [one.low if one.n > 1 else None for one in found],
        "high": [one.high if one.n > 1 else None for one in found],
    }
    counts = {"n": [one.n for one in found], "undefined": [one.undefined for one in found]}
    return grouped.with_columns(
        *(pl.Series(name, values, pl.Float64) for name, values in columns.items()),
        *(pl.Series(name, values, pl.UInt32) for name, values in counts.items()),
    ).select(*by, "mean", "low", "high", "sd", "n", "undefined")
