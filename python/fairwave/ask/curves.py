"""Monotone curves through noisy means: the zero crossing of a curve that rises or falls throughout.

Two estimates serve a search. *Isotonic regression* (Barlow et al. 1972, by pooling adjacent violators) is the monotone
curve nearest to the means; it assumes no shape. The *crossing* is estimated with a family of logistic curves with free
place, width, height and asymmetry, which includes lines, saturation on either side, steps and exponential growth. All
curves of the family count by their likelihood (a grid over place, width and asymmetry; flat priors; the noise and
the height are integrated out), so the result is a distribution of the place. Unlike an interval from a test, a
distribution stays right if a search looks at it after each run.

Values far from zero show the side and nothing about the place. They are cut at `CUT` standard deviations of the noise,
so that a curve that explodes at one end looks like one that saturates.

NumPy alone: a plain installation has no SciPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

CUT = 4.0
"""Standard deviations of the noise at which values are cut."""

WIDTHS, SKEWS = 9, 9
"""Numbers of widths and asymmetries of the grid."""

PARTS = 4
"""Places of the grid in each unit."""


def isotonic(means: Numbers, weights: Numbers) -> Numbers:
    """The non-increasing curve nearest to the means, by weighted squares."""
    levels: list[list[float]] = []  # mean, weight, number of means
    for mean, weight in zip(means.tolist(), weights.tolist(), strict=True):
        levels.append([mean, weight, 1])
        while len(levels) > 1 and levels[-2][0] <= levels[-1][0]:
            (one, first, some), (other, second, more) = levels[-2:]
            both = first + second
            levels[-2:] = [[(one * first + other * second) / both, both, some + more]]
    return np.concatenate([np.full(int(number), level) for level, _, number in levels] or [np.zeros(0)])


def crossing(
    places: Sequence[float],
    values: Sequence[Numbers],
    deviation: float,
    first: float,
    last: float,
    unit: float,
) -> tuple[Numbers, Numbers]:
    """Estimates the zero crossing of a falling curve, as a distribution.

    Args:
        places: Places of the measurements, in order.
        values: The values at each place, one or more.
        deviation: Standard deviation of the noise, above 0.
        first: The least place of the crossing.
        last: The largest one.
        unit: Width of a bin.

    Returns:
        Left edges of bins of the place, and the probability of each.
    """
    bins = max(round((last - first) / unit), 1)
    crossings = first + unit * (np.arange(bins * PARTS) + 0.5) / PARTS
    cut = [np.clip(one, -CUT * deviation, CUT * deviation) for one in values]
    count = np.array([len(one) for one in cut], dtype=float)
    means = np.array([one.mean() for one in cut])
    within = sum(float(((one - one.mean()) ** 2).sum()) for one in cut)
    span = max(places[-1] - places[0], 2 * unit)
    shapes = _logistic(np.array(places, dtype=float), crossings, span, unit)
    # Heights are compared at the same places for every shape.
    heights = _logistic(np.linspace(places[0], places[-1], 9), crossings, span, unit)
    shapes /= np.sqrt((heights**2).mean(axis=-1, keepdims=True) + 1e-12)
    square = (count * shapes**2).sum(axis=-1) + 1e-12
    product = (count * means * shapes).sum(axis=-1)
    total = float(count.sum())
    rest = np.maximum(within + float((count * means**2).sum()) - product**2 / square, 1e-300)
    # A curve falls: only the part of the height's distribution above 0 counts (logistic for the normal distribution).
    height = 1.702 * product / np.sqrt(square * rest / (total - 1))
    likelihood = -(total - 1) / 2 * np.log(rest) - np.log(square) / 2 - np.logaddexp(0.0, -height)
    weights = np.exp(likelihood - likelihood.max()).sum(axis=(1, 2)).reshape(bins, PARTS).sum(axis=1)
    chances: Numbers = weights / weights.sum()
    return (first + unit * np.arange(bins)).astype(float), chances


def _logistic(places: Numbers, crossings: Numbers, span: float, unit: float) -> Numbers:
    """Falling logistic curves that are 0 at `crossings`: axes are crossing, width, asymmetry and place."""
    widths, skews = np.geomspace(unit / 4, 2 * span, WIDTHS), np.linspace(-4.0, 4.0, SKEWS)
    away = (places[None, None, None, :] - crossings[:, None, None, None]) / widths[None, :, None, None]
    skew = skews[None, None, :, None]
    found: Numbers = _sigmoid(-(away + skew)) - _sigmoid(-skew)
    return found


def _sigmoid(at: Numbers) -> Numbers:
    found: Numbers = 1 / (1 + np.exp(-np.clip(at, -40.0, 40.0)))
    return found


def narrowest(chances: Numbers, share: float, least: int) -> tuple[int, int]:
    """The narrowest range of at least `least` bins that contains this share of the probability: first, and end."""
    whole = np.concatenate([[0.0], np.cumsum(chances)])
    for width in range(min(least, len(chances)), len(chances)):
        held = whole[width:] - whole[:-width]
        at = int(held.argmax())
        if held[at] >= share:
            return at, at + width
    return 0, len(chances)
