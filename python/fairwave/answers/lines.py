"""A comparison of a few alternatives, line by line: each measure for all of them, and the best ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairwave.answers import group_measures
from fairwave.answers.group_measures import GroupMeasure
from fairwave.measuring.relevance import USUAL, Contrast, Relevance, contrast
from fairwave.measuring.relevance import note as relevance_note
from fairwave.measuring.remarks import NOT_DEFINED, bistable, list_notes, mark_of, marks, undefined
from fairwave.measuring.statistics import LEVEL, Interval, best_level
from fairwave.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave.measuring.remarks import Remark
    from fairwave.results import Results


@dataclass(frozen=True)
class MeasureLine:
    """One measure across the alternatives.

    Attributes:
        group: Flow group of the measure.
        measured: The measure in every run.
        cells: Label to interval.
        best: The best label and all that are not worse by a difference that counts. Empty unless the measure has a good
            direction and some alternatives are worse.
        undefined: Reason if the measure is defined for no alternative; empty otherwise.
        remarks: Remarks on the measure.
        usual: Whether people see it; programs see all lines.
        relevance: The smallest differences that count.
    """

    group: str
    measured: Measured
    cells: dict[Any, Interval]
    best: frozenset[Any]
    undefined: str = ""
    remarks: tuple[Remark, ...] = ()
    usual: bool = True
    relevance: Relevance = USUAL

    @property
    def measure(self) -> Measure:
        """The measure."""
        return self.measured.measure

    @property
    def label(self) -> str:
        """Title with unit, the group left out; marked when there are remarks."""
        return f"{self.measure.label.removeprefix(f'{self.group} ')}{self.mark}"

    @property
    def mark(self) -> str:
        """The marks of its remarks."""
        return marks(self.remarks)

    def contrast(self, axis: str, one: Any, other: Any, level: float = LEVEL) -> Contrast:
        """Compares two alternatives, given by their labels."""
        ours, theirs = (self.measured.samples(**{axis: label}) for label in (one, other))
        return contrast(ours, theirs, self.relevance.find(self.measure), level)

    def cell(self, label: Any) -> str:
        """A cell's text."""
        return str(self.cells[label]) if self.cells[label].n else NOT_DEFINED


def lines(
    results: Results,
    axis: str,
    group: str,
    wanted: Sequence[Measure] | None = None,
    names: Sequence[str] = (),
    relevance: Relevance = USUAL,
) -> list[MeasureLine]:
    """Returns every measure that is defined for some run, first for the compared group and then for the others.

    An undefined rating of calls is included, with the reason.

    Args:
        results: Runs with one axis.
        axis: Its name.
        group: The flow group that is compared.
        wanted: Measures instead of the usual.
        names: Measures that people are to see instead of the usual: `mos`, `loss.voice`, `all`.
        relevance: The smallest differences that count.

    Raises:
        KeyError: No measure has such a name.
    """
    present = results.rows("flows")["group"].unique()
    if wanted is not None:
        chosen = [GroupMeasure(group, one) for one in wanted]
    else:
        owners = [group, *(other for other in present if other != group)]
        chosen = [
            one
            for owner in owners
            for one in group_measures.list_measures(results, owner, brief=owner != group)
        ]
        if names:
            asked = [one for owner in owners for one in group_measures.asked(results, names, owner)]
            named = {(one.group, one.measure.id) for one in asked}
            rest = [one for one in chosen if (one.group, one.measure.id) not in named]
            chosen = [*asked, *(replace(one, usual=False) for one in rest)]
    found = []
    for one in chosen:
        measured = one.measure.compute(results)
        labels = measured.labels(axis)
        cells = {label: measured.interval(**{axis: label}) for label in labels}
        why = undefined(results, one.measure.id, one.group)
        if not why and not any(cell.n for cell in cells.values()):
            continue
        usual = one.usual and (
            bool(names) or one.measure.applies.is_worth_a_row(cell.mean for cell in cells.values())
        )
        said = (
            *list_notes(results, one.measure.id, one.group),
            *(
                replace(note, text=f"{label}: {note.text}")
                for label in labels
                for note in bistable(measured, relevance, **{axis: label})
            ),
        )
        line = MeasureLine(one.group, measured, cells, frozenset(), why, said, usual, relevance)
        found.append(replace(line, best=_best(line, axis)))
    return found


def footnotes(found: Sequence[MeasureLine]) -> str:
    """The remarks on marked lines that people see, each once; empty without remarks."""
    each: dict[str, dict[str, None]] = {}
    for line in found:
        for said in line.remarks if line.usual else ():
            each.setdefault(mark_of(str(said)), {})[f"{line.group}: {said}"] = None
    return " ".join(f"{mark} {'. '.join(each[mark])}." for mark in sorted(each))


STARRED = (
    "A star (*) marks the best value and every value that is not worse by a difference that counts (95 %, paired by "
    "seed). Rows where no value is worse have no star."
)
"""Explanation of the stars."""


def caption(found: Sequence[MeasureLine]) -> str:
    """Returns the caption of the table: stars, the smallest differences that count, remarks."""
    named: dict[str, str] = {}
    for line in found:
        if line.usual and line.measure.better:
            named |= line.relevance.named([line.measure])
    return " ".join(filter(None, [STARRED, relevance_note(named), footnotes(found)]))


def _best(line: MeasureLine, axis: str) -> frozenset[Any]:
    """Returns the best label and all that are not worse by a difference that counts; empty if this includes all."""
    better = {"higher": max, "lower": min}.get(line.measure.better or "")
    rated = [label for label, cell in line.cells.items() if cell.n]
    if better is None or not rated:
        return frozenset()
    first = better(rated, key=lambda label: line.cells[label].mean)
    level = best_level(len(rated))
    rest = [label for label in rated if label != first]
    ahead = {label: line.contrast(axis, first, label, level).outcome for label in rest}
    best = {first, *(label for label in rest if ahead[label] != line.measure.better)}
    return frozenset() if len(best) == len(rated) else frozenset(best)


def as_data(found: Sequence[MeasureLine], axis: str) -> list[dict[str, Any]]:
    """The comparison as plain data, with the paired difference of each alternative to the first."""
    rows = []
    for line in found:
        labels = list(line.cells)
        for label, cell in line.cells.items():
            compared = line.contrast(axis, label, labels[0])
            difference = compared.difference
            rows.append(
                {
                    "group": line.group,
                    "measure": line.measure.id,
                    "title": line.measure.title,
                    "unit": line.measure.unit,
                    axis: label,
                    "mean": cell.mean,
                    "interval": cell.ends,
                    "identical": cell.is_identical,
                    "replications": cell.n,
                    "undefined": cell.undefined,
                    "remarks": [str(said) for said in line.remarks],
                    f"difference_to_{labels[0]}": difference.mean,
                    "difference_interval": difference.ends,
                    "difference_is_identical": difference.is_identical,
                    "relevant_difference": compared.counts,
                    "difference_is": compared.outcome,
                    "best": label in line.best,
                }
            )
    return rows


def write_comparison(found: Sequence[MeasureLine], axis: str, folder: Path, results: Results) -> None:
    """Writes the comparison's numbers as `comparison.csv` and `.parquet`."""
    from fairwave.table_files import can_write_parquet, write_table

    rows = []
    for row in as_data(found, axis):
        kept = {key: value for key, value in row.items() if not isinstance(value, list)}
        kept[axis] = str(row[axis])
        kept["low"], kept["high"] = row["interval"]
        kept["difference_low"], kept["difference_high"] = row["difference_interval"]
        rows.append(kept)
    # Missing values are null. An interval of a single run has no ends.
    columns = {name: [_finite(row.get(name)) for row in rows] for name in rows[0]} if rows else {}
    table = Table.from_columns(columns)
    write_table(table.to_arrow() if can_write_parquet() else table, folder / "comparison", results.provenance)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
