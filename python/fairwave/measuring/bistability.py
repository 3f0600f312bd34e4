"""Bistable runs: a mean over two kinds of runs describes neither of them.

Some scenarios are bistable. A rate controller starves in some runs and thrives in the others; an upload begins in three
runs of ten. The mean is then far from every run. Samples are called bistable if one gap divides them into two clusters,
and

- there are 6 runs or more, with 2 or more, and a fifth of all, in the smaller cluster;
- the gap is much wider than both clusters: `WIDE` times the wider one, or `WIDE_OF_FEW` times for fewer than 10 runs;
- the same holds for the logarithms of positive samples, so that a long tail is no cluster;
- the gap is twice the smallest difference that counts, or more.

`tests/test_bistability.py` bounds the rate of false positives for samples of one kind (normal, uniform, exponential,
lognormal, Pareto).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LEAST_RUNS = 6
"""Fewer runs do not show two kinds."""

WIDE = 2.0
"""Smallest gap in widths of the wider cluster, for 10 runs or more."""

WIDE_OF_FEW = 4.0
"""The same for fewer than 10 runs, which leave such gaps by chance more often."""


@dataclass(frozen=True)
class Split:
    """Two clusters of samples.

    Attributes:
        low: Smallest and largest sample of the lower cluster.
        high: The same of the upper cluster.
        n_low: Number of samples in the lower cluster.
        n_high: Number of samples in the upper cluster.
    """

    low: tuple[float, float]
    high: tuple[float, float]
    n_low: int
    n_high: int

    @property
    def fewer(self) -> int:
        """Number of samples in the smaller cluster."""
        return min(self.n_low, self.n_high)

    def __str__(self) -> str:
        few, many = (self.low, self.high) if self.n_low <= self.n_high else (self.high, self.low)
        return (
            f"{self.fewer} of {self.n_low + self.n_high} runs differ in kind: {_span(few)}, the others {_span(many)}; "
            "no run is near the mean"
        )


def find_split(samples: ArrayLike, counts: float = 0.0) -> Split | None:
    """The two clusters of bistable samples; None for samples of one kind.

    Args:
        samples: One number per run; NaN is left out.
        counts: The smallest difference that counts, in the unit of the samples.
    """
    values = np.asarray(samples, dtype=float).ravel()
    values = np.sort(values[np.isfinite(values)])
    n = len(values)
    if n < LEAST_RUNS:
        return None
    least = max(2, -(-n // 5))
    gaps = np.diff(values)
    at = least - 1 + int(gaps[least - 1 : n - least].argmax())
    wide = WIDE if n >= 10 else WIDE_OF_FEW
    if gaps[at] < 2 * counts or not _is_wide(values, at, wide):
        return None
    if values[0] > 0 and not _is_wide(np.log(values), at, wide):
        return None
    low, high = values[: at + 1], values[at + 1 :]
    return Split((float(low[0]), float(low[-1])), (float(high[0]), float(high[-1])), len(low), len(high))


def _is_wide(values: NDArray[np.float64], at: int, wide: float) -> bool:
    gap = values[at + 1] - values[at]
    return bool(gap > 0 and gap >= wide * max(values[at] - values[0], values[-1] - values[at + 1]))


def _span(ends: tuple[float, float]) -> str:
    low, high = (f"{one:.0f}" if 1000 <= abs(one) < 1e6 else f"{one:.3g}" for one in ends)
    return low if low == high else f"{low} to {high}"
