"""Student's t: its distribution function and quantiles.

The distribution function is the regularised incomplete beta function, by its continued fraction (Press et al.,
Numerical Recipes, 3rd edition, section 6.4, with Lentz's method). Newton's method within a bracket finds the quantile.
`tests/test_statistics.py` compares both with SciPy's, to 1 part in 10^10.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

TINY = 1e-300
CLOSE = 1e-15


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d if abs(d) > TINY else TINY)
    found = d
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > TINY else TINY)
            c = 1.0 + term / c
            c = c if abs(c) > TINY else TINY
            found *= c * d
        if abs(c * d - 1.0) < CLOSE:
            break
    return found


def upper_tail(t: float, freedom: float) -> float:
    """The probability of a value above `t`, which is 0 or more."""
    square = t * t
    x, y = freedom / (freedom + square), square / (freedom + square)
    a, b = freedom / 2, 0.5
    if y == 0:
        return 0.5
    logarithm = a * math.log(x) + b * math.log(y)
    logarithm += math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(logarithm)
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a / 2
    return (1 - front * _beta_fraction(b, a, y) / b) / 2


def _density(t: float, freedom: float) -> float:
    half = freedom / 2
    front = math.lgamma(half + 0.5) - math.lgamma(half) - 0.5 * math.log(freedom * math.pi)
    return math.exp(front - (half + 0.5) * math.log1p(t * t / freedom))


@cache
def quantile(probability: float, freedom: float) -> float:
    """The value that Student's t with `freedom` degrees of freedom stays below with a probability of 0.5 to 1.

    With infinitely many degrees of freedom it is the normal distribution's.
    """
    if math.isinf(freedom):
        return NormalDist().inv_cdf(probability)
    wanted = 1 - probability
    if wanted <= 0:
        return math.inf
    low, high = 0.0, 1.0
    while upper_tail(high, freedom) > wanted:
        low, high = high, 2 * high
    t = (low + high) / 2
    for _ in range(200):
        error = upper_tail(t, freedom) - wanted
        low, high = (t, high) if error > 0 else (low, t)
        # Newton's step on the tail's logarithm, which bends less; bisection if it leaves the bracket.
        tail, slope = wanted + error, _density(t, freedom)
        step = tail / slope * math.log(tail / wanted) if slope > 0 and tail > 0 else math.inf
        after = t + step
        if not low < after < high:
            after = (low + high) / 2
        if abs(after - t) <= 4e-16 * abs(t):
            break
        t = after
    return t
