"""The measures: opinions of calls, pairs with good calls, times of files."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.answers.bands import scale_of
from fairwave.measuring import measures
from fairwave.measuring.measures import PERCENT, POSITIVE, Measure

if TYPE_CHECKING:
    from fairwave.results import Results

MOS = measures.mos()
"""Mean opinion of all calls."""


def _pairs(results: Results) -> dict[str, list[Any]]:
    """Share of the pairs with rated calls whose mean is good, %."""
    scale = scale_of("mos")
    assert scale is not None
    runs: list[int] = []
    values: list[float] = []
    for part in results.rows("flows").parted("run"):
        mos = part.numbers("mos")
        there = np.isfinite(mos)
        groups = np.array(part["group"].to_list())[there]
        names, at = np.unique(groups, return_inverse=True)
        means = np.bincount(at, mos[there]) / np.bincount(at)
        good = [scale.band(float(one)) == "good" for one in means]
        runs.append(int(part["run"].values[0]))
        values.append(100.0 * sum(good) / len(names) if len(names) else float("nan"))
    return {"run": runs, "value": values}


GOOD = Measure("good_pairs", "pairs with good calls", "%", _pairs, "higher", limits=PERCENT)
"""In % of the pairs with a rated call."""


def _files(results: Results) -> dict[str, list[Any]]:
    """Mean over completed files, s."""
    runs: list[int] = []
    values: list[float] = []
    for part in results.rows("completions").parted("run"):
        count, mean = part.numbers("completed"), part.numbers("mean_s")
        there = np.isfinite(mean) & (count > 0)
        runs.append(int(part["run"].values[0]))
        total = float(count[there].sum())
        values.append(float((count[there] * mean[there]).sum()) / total if total else float("nan"))
    return {"run": runs, "value": values}


FILES = Measure(
    "file_time", "completion time of files", "s", _files, "lower", table="completions", limits=POSITIVE
)
"""Mean over all completed files."""


@cache
def list_measures() -> tuple[Measure, ...]:
    """The measures in tables and figures."""
    return MOS, GOOD, FILES
