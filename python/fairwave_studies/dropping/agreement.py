"""How far the measured tables are from the paper's: distances, rank correlation, and the order of the victims."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import polars as pl

from fairwave_studies.dropping import points as p
from fairwave_studies.dropping import published
from fairwave_studies.dropping import quantities as q
from fairwave_studies.dropping.published import QUEUE, TOTAL, USER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data

ALIKE = 0.1
"""Losses count as equal up to this many percentage points, since printed zeros need room for noise."""

PARTS: Mapping[str, Measure] = {
    QUEUE: q.QUEUE_LOSS,
    published.FIRST: q.FIRST_LOSS,
    published.SECOND: q.SECOND_LOSS,
    USER: q.LATE_LOSS,
    TOTAL: q.TOTAL_LOSS,
}
"""Rows of Tables 6 and 7 as measures."""

PUBLISHED = {p.ON_OFF: published.LOSS_S2, p.ROUTERS: published.LOSS_S3}


_means: WeakKeyDictionary[Any, dict[tuple[str, str], dict[frozenset[tuple[str, str]], float]]] = (
    WeakKeyDictionary()
)


def mean(data: Data, measure: Measure, grid: str, **labels: str) -> float:
    """Mean over replications at one point; NaN if it was not simulated or does not apply."""
    known = _means.setdefault(data, {})
    key = (measure.id, grid)
    if key not in known:
        try:
            measured = data.measured(measure, grid)
        except KeyError:
            return math.nan
        value = pl.col("value").mean().fill_null(math.nan)
        rows = measured.frame.group_by(list(measured.axes)).agg(value)
        known[key] = {
            frozenset(zip(measured.axes, point, strict=True)): number for *point, number in rows.iter_rows()
        }
    return known[key].get(frozenset(labels.items()), math.nan)


@dataclass(frozen=True)
class LossCell:
    """One cell of a table of losses: a case, a queue and a quantity, with its three victims.

    Attributes:
        case: CA5 to CA10.
        queue: RED, AVQ or REM.
        part: Row of the table: queue, final user, total.
        ours: Measured, by victim, %.
        theirs: Printed, by victim, %.
        swapped: Pairs of victims in reverse order here.
    """

    case: str
    queue: str
    part: str
    ours: Mapping[str, float]
    theirs: Mapping[str, float]
    swapped: Sequence[tuple[str, str]]

    @property
    def agrees(self) -> bool:
        """Whether all victims have the paper's order."""
        return not self.swapped


def orders(data: Data, grid: str, part: str = TOTAL) -> list[LossCell]:
    """The order of the victims within each queue, ours and the paper's, for one row of Table 6 (`s2`) or 7 (`s3`)."""
    found = []
    for case, rows in PUBLISHED[grid].items():
        for queue in p.QUEUES:
            theirs = {victim: rows[part][queue, victim] for victim in p.PAPERS_VICTIMS}
            ours = {
                victim: mean(data, PARTS[part], grid, case=case, queue=queue, victim=victim)
                for victim in p.PAPERS_VICTIMS
            }
            pairs = itertools.combinations(p.PAPERS_VICTIMS, 2)
            swapped = [(a, b) for a, b in pairs if _way(ours[a], ours[b]) * _way(theirs[a], theirs[b]) < 0]
            found.append(LossCell(case, queue, part, ours, theirs, swapped))
    return found


def _way(a: float, b: float) -> int:
    """Which is larger: 1, −1, or 0 when they are alike."""
    return 0 if math.isnan(a - b) or abs(a - b) <= ALIKE else (1 if a > b else -1)


def explain_swaps(data: Data, grid: str, order: LossCell) -> str:
    """Measured reasons why two victims have the reverse order."""
    words = []
    for pair in order.swapped:
        parts = []
        for victim in pair:
            place = {"case": order.case, "queue": order.queue, "victim": victim}
            dropped, late = (mean(data, one, grid, **place) for one in (q.QUEUE_LOSS, q.LATE_LOSS))
            wait = mean(data, q.QUEUEING, grid, **place)
            theirs = PUBLISHED[grid][order.case]
            printed = (
                theirs[TOTAL][order.queue, victim] - theirs[USER][order.queue, victim],
                theirs[USER][order.queue, victim],
            )
            parts.append(
                f"{victim} drops {dropped:.1f} % and is late with {late:.1f} %, waiting {wait:.0f} ms "
                f"(paper: {printed[0]:.1f} and {printed[1]:.1f} %)"
            )
        words.append("; ".join(parts))
    return ". ".join(words)


DELAYS: Sequence[tuple[str, Measure, Mapping[str, Mapping[str, float]]]] = (
    ("queueing delay", q.QUEUEING, published.QUEUEING_MS),
    ("end-to-end delay", q.END_TO_END, published.END_TO_END_MS),
)
"""Rows of Table 5 that have a unit."""


def compared(data: Data) -> pl.DataFrame:
    """Every number of Tables 5 to 7 next to ours.

    Columns `table`, `quantity`, `case`, `queue`, `victim`, `here`, `paper`, `unit`; `here` is NaN if nothing was
    simulated.
    """
    rows: list[tuple[str, str, str, str, str, float, float, str]] = []
    for what, measure, theirs in DELAYS:
        for case, row in theirs.items():
            for victim, paper in row.items():
                ours = mean(data, measure, p.ALWAYS_ON, case=case, queue="RED", victim=victim)
                rows.append(("Table 5", what, case, "RED", victim, ours, paper, "ms"))
    for name, grid in (("Table 6", p.ON_OFF), ("Table 7", p.ROUTERS)):
        for case, parts in PUBLISHED[grid].items():
            for part, cells in parts.items():
                for (queue, victim), paper in cells.items():
                    ours = mean(data, PARTS[part], grid, case=case, queue=queue, victim=victim)
                    rows.append((name, part, case, queue, victim, ours, paper, "%"))
    names = ["table", "quantity", "case", "queue", "victim", "here", "paper", "unit"]
    return pl.DataFrame(rows, schema=names, orient="row")


def spearman(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, int]:
    """Spearman's rank correlation, and over how many cells; not a number for fewer than three."""
    from scipy.stats import spearmanr

    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if not (math.isnan(a) or math.isnan(b))]
    if len(pairs) < 3 or len({a for a, _ in pairs}) < 2 or len({b for _, b in pairs}) < 2:
        return math.nan, len(pairs)
    return float(spearmanr([a for a, _ in pairs], [b for _, b in pairs]).statistic), len(pairs)
