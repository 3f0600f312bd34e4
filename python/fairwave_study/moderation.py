"""The spread of a few samples, estimated with the help of the other readings.

Three seeds give a standard deviation with two degrees of freedom, and an interval twice as wide as necessary. But every
reading of a paper makes the same comparison, with a similar spread. So each reading's variance is moved towards a
common one, by as much as the variances among readings agree with each other. This is the empirical Bayes estimate of
Smyth (2004), *Linear models and empirical Bayes methods for assessing differential expression*, §§ 5–6. The d₀ degrees
of freedom of a common s₀² join the d of the reading's s²:

    s̃² = (d₀ s₀² + d s²) / (d₀ + d),  d₀ + d degrees of freedom.

d₀ and s₀² are found from mean and variance of log s². Where variances differ among readings by more than chance,
d₀ is small and little is borrowed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LEAST = 10
"""Variances that must be at hand before anything is borrowed."""


def prior(variances: Sequence[float], freedom: float) -> tuple[float, float]:
    """Degrees of freedom d₀ and the common variance s₀² behind variances with `freedom` degrees each.

    Variances of zero (equal samples under all seeds) carry no information about the others and are left out. d₀ is 0 if
    fewer than `LEAST` remain, and infinite if they differ by no more than chance.
    """
    from scipy.special import digamma, polygamma

    positive = np.asarray([one for one in variances if math.isfinite(one) and one > 0])
    if len(positive) < LEAST:
        return 0.0, 0.0
    shifted = np.log(positive) - digamma(freedom / 2) + math.log(freedom / 2)
    excess = float(shifted.var(ddof=1)) - float(polygamma(1, freedom / 2))
    if excess <= 0:
        return math.inf, float(np.exp(shifted.mean()))
    borrowed = 2 * _inverse_trigamma(excess)
    common = float(np.exp(shifted.mean() + digamma(borrowed / 2) - math.log(borrowed / 2)))
    return borrowed, common


def moderated(samples: NDArray[np.float64], borrowed: float, common: float) -> tuple[float, float] | None:
    """Standard deviation and degrees of freedom of these samples, moderated.

    None if there is no common variance, or if all samples are equal.
    """
    defined = samples[~np.isnan(samples)]
    own = len(defined) - 1
    if own < 1 or borrowed == 0:
        return None
    variance = float(defined.var(ddof=1))
    if variance == 0:
        return None
    if math.isinf(borrowed):
        return math.sqrt(common), math.inf
    return math.sqrt((borrowed * common + own * variance) / (borrowed + own)), borrowed + own


def _inverse_trigamma(value: float) -> float:
    """Where trigamma takes this value, by Newton's method on its reciprocal, which is nearly straight."""
    from scipy.special import polygamma

    x = 0.5 + 1 / value
    for _ in range(50):
        found = float(polygamma(1, x))
        step = found * (1 - found / value) / float(polygamma(2, x))
        x += step
        if abs(step) < 1e-10 * x:
            break
    return x
