"""Statistics of a run's flows that all comparisons share."""

from __future__ import annotations

import math
from collections.abc import Sequence


def jain(values: Sequence[float]) -> float:
    """Jain's fairness index, (Σx)² / (n·Σx²), between 1/n and 1. NaN without deliveries."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares > 0.0 else math.nan


def shares(found: dict[str, float]) -> dict[str, float]:
    """``share/G``: each group's part of the total goodput, from a run's measures. NaN without deliveries."""
    goodputs = {
        name.partition("/")[2]: value for name, value in found.items() if name.startswith("goodput_mbps/")
    }
    total = math.fsum(goodputs.values())
    return {f"share/{group}": value / total if total else math.nan for group, value in goodputs.items()}


def variation(values: Sequence[float]) -> float:
    """Coefficient of variation: population standard deviation over mean. NaN if the mean is 0."""
    mean = sum(values) / len(values) if values else 0.0
    if mean == 0.0:
        return math.nan
    return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)) / mean
