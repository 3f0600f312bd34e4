"""A comparison of a few alternatives, line by line: each measure across them, and which of them are best."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.answers import shown
from fairwave.answers.shown import GroupMeasure
from fairwave.measuring.remarks import MARK, NOT_DEFINED, told, undefined
from fairwave.measuring.statistics import Interval, against_the_best, paired
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
        group: Flow group it is about.
        measured: The measure in every run.
        cells: Label to interval.
        best: The best label and all that are not significantly worse, when the measure has a good direction and some
            are worse.
        undefined: Why the measure is defined nowhere; empty when it is somewhere.
        remarks: What has to be said beside it.
        usual: Whether people see it; programs see all lines.
    """

    group: str
    measured: Measured
    cells: dict[Any, Interval]
    best: frozenset[Any]
    undefined: str = ""
    remarks: tuple[Remark, ...] = ()
    usual: bool = True

    @property
    def measure(self) -> Measure:
        """What is measured."""
        return self.measured.measure

    @property
    def label(self) -> str:
        """Title with unit, the group left out; marked when there are remarks."""
        return f"{self.measure.label.removeprefix(f'{self.group} ')}{self.mark}"

    @property
    def mark(self) -> str:
        """A dagger when there are remarks."""
        return f" {MARK}" if self.remarks else ""

    def cell(self, label: Any) -> str:
        """A cell's text."""
        return str(self.cells[label]) if self.cells[label].n else NOT_DEFINED


def lines(
    results: Results,
    axis: str,
    group: str,
    wanted: Sequence[Measure] | None = None,
    names: Sequence[str] = (),
) -> list[MeasureLine]:
    """Every measure that is defined for some run, for the group that is compared and then for the others.

    A rating that no call has is there too, with the reason.

    Args:
        results: Runs with one axis.
        axis: Its name.
        group: The flow group that is compared.
        wanted: Measures instead of the usual.
        names: Measures that people are to see instead of the usual: `mos`, `loss.voice`, `all`.

    Raises:
        KeyError: No measure has such a name.
    """
    present = results.rows("flows")["group"].unique()
    if wanted is not None:
        chosen = [GroupMeasure(group, one) for one in wanted]
    else:
        owners = [group, *(other for other in present if other != group)]
        chosen = [one for owner in owners for one in shown.of_group(results, owner, brief=owner != group)]
        if names:
            asked = [one for owner in owners for one in shown.asked(results, names, owner)]
            named = {(one.group, one.measure.id) for one in asked}
            rest = [one for one in chosen if (one.group, one.measure.id) not in named]
            chosen = [*asked, *(replace(one, usual=False) for one in rest)]
    found = []
    for one in chosen:
        measured = one.measure.over(results)
        labels = measured.labels(axis)
        cells = {label: measured.interval(**{axis: label}) for label in labels}
        why = undefined(results, one.measure.id, one.group)
        if not why and all(np.isnan(cell.mean) for cell in cells.values()):
            continue
        usual = one.usual and (
            bool(names) or one.measure.applies.is_worth_a_row(cell.mean for cell in cells.values())
        )
        said = tuple(told(results, one.measure.id, one.group))
        found.append(MeasureLine(one.group, measured, cells, _best(measured, axis, labels), why, said, usual))
    return found


def footnotes(found: Sequence[MeasureLine]) -> str:
    """The remarks on marked lines that people see, each once; empty when there are none."""
    each = dict.fromkeys(f"{line.group}: {said}" for line in found if line.usual for said in line.remarks)
    return f"{MARK} {'. '.join(each)}." if each else ""


STARRED = (
    "A star (*) marks the best value and every value that is not significantly worse (95 %, paired by seed). Rows "
    "without a significant difference have no star."
)
"""What a star beside a number says."""


def _best(measured: Measured, axis: str, labels: Sequence[Any]) -> frozenset[Any]:
    """The best and all that are not significantly worse, by paired differences; none when that is true of all."""
    sign = {"higher": 1.0, "lower": -1.0}.get(measured.measure.better or "")
    if sign is None:
        return frozenset()
    samples = {label: sign * measured.samples(**{axis: label}) for label in labels}
    rated = [label for label in labels if not np.isnan(samples[label]).all()]
    if not rated:
        return frozenset()
    first = max(rated, key=lambda label: float(np.nanmean(samples[label])))
    level = against_the_best(len(rated))
    best = frozenset(label for label in rated if paired(samples[first], samples[label], level).low <= 0)
    best |= {first}
    return frozenset() if len(best) == len(rated) else best


def as_data(found: Sequence[MeasureLine], axis: str) -> list[dict[str, Any]]:
    """The comparison as plain data, with the paired difference of each alternative to the first."""
    rows = []
    for line in found:
        labels = list(line.cells)
        first = line.measured.samples(**{axis: labels[0]})
        for label, cell in line.cells.items():
            difference = paired(line.measured.samples(**{axis: label}), first)
            rows.append(
                {
                    "group": line.group,
                    "measure": line.measure.id,
                    "title": line.measure.title,
                    "unit": line.measure.unit,
                    axis: label,
                    "mean": cell.mean,
                    "interval": [cell.low, cell.high],
                    "replications": cell.n,
                    "undefined": cell.undefined,
                    "remarks": [str(said) for said in line.remarks],
                    f"difference_to_{labels[0]}": difference.mean,
                    "difference_interval": [difference.low, difference.high],
                    "best": label in line.best,
                }
            )
    return rows


def write_comparison(found: Sequence[MeasureLine], axis: str, folder: Path, results: Results) -> None:
    """Writes the comparison's numbers as `comparison.csv` and `.parquet`."""
    from fairwave.results import can_write_parquet, write_table

    rows = []
    for row in as_data(found, axis):
        kept = {key: value for key, value in row.items() if not isinstance(value, list)}
        kept[axis] = str(row[axis])
        kept["low"], kept["high"] = row["interval"]
        kept["difference_low"], kept["difference_high"] = row["difference_interval"]
        rows.append(kept)
    # What does not exist is null; an interval of a single run has no ends.
    columns = {name: [_finite(row.get(name)) for row in rows] for name in rows[0]} if rows else {}
    table = Table.of(columns)
    write_table(table.to_arrow() if can_write_parquet() else table, folder / "comparison", results.provenance)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
