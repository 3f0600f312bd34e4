"""A comparison of a few alternatives, most often transports: the measures worth showing, as text and as a page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave.report import figures as drawing
from fairwave.report import shown, style
from fairwave.report.call import draw_units, write_audio
from fairwave.report.page import Card, Page, TableView
from fairwave.report.shown import Shown
from fairwave.report.verdict import of_comparison
from fairwave.staging import staging
from fairwave.study.remarks import MARK, NOT_DEFINED, told, undefined
from fairwave.study.statistics import Interval, against_the_best, paired

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.report.figures import Drawing
    from fairwave.report.heard import Heard
    from fairwave.results import Results
    from fairwave.study.measured import Measured
    from fairwave.study.measures import Measure
    from fairwave.study.remarks import Remark
    from fairwave.study.study import Clip


@dataclass(frozen=True)
class Line:
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
) -> list[Line]:
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
    present = results.to_polars("flows")["group"].cast(pl.String).unique(maintain_order=True).to_list()
    if wanted is not None:
        chosen = [Shown(group, one) for one in wanted]
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
        usual = one.usual and (bool(names) or is_worth_a_row(one.measure, list(cells.values())))
        said = tuple(told(results, one.measure.id, one.group))
        found.append(Line(one.group, measured, cells, _best(measured, axis, labels), why, said, usual))
    return found


def is_worth_a_row(measure: Measure, cells: Sequence[Interval]) -> bool:
    """Whether people need to see a measure: what waits in a sender, or is refused, only where there is any."""
    return measure.id not in {"waiting", "sender_wait", "refused"} or any(cell.mean > 0 for cell in cells)


def footnotes(found: Sequence[Line]) -> str:
    """What has to be said beside marked lines that people see, each thing once; empty when there are none."""
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


def as_data(found: Sequence[Line], axis: str) -> list[dict[str, Any]]:
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


def table_view(found: Sequence[Line]) -> TableView:
    """The comparison as a table: measures down, alternatives across."""
    labels = list(found[0].cells) if found else []
    rows = [
        [
            f"{line.measure.label}{line.mark}",
            *(f"{line.cell(label)}{' *' if label in line.best else ''}" for label in line.cells),
        ]
        for line in found
        if line.usual
    ]
    return TableView(
        "comparison",
        "Mean ± half width of the 95 % interval",
        ["measure", *(style.title(label) for label in labels)],
        rows,
        ("comparison.csv",),
        caption=f"{STARRED} {footnotes(found)}".rstrip(),
    )


def draw(results: Results, found: Sequence[Line], axis: str, folder: Path) -> list[Drawing]:
    """Bars for what decides about a call and for what it does to the others."""
    wanted = {
        "call": (
            "What the users get",
            ("conversation_mos", "mos", "decodable", "missed", "mouth_to_ear", "delay_p95", "completion"),
        ),
        "others": ("What it does to everyone else", ("goodput",)),
    }
    drawings = []
    for name, (title, ids) in wanted.items():
        chosen = [line for line in found if line.measure.id in ids and not line.undefined and line.usual]
        if not chosen:
            continue
        panels, numbers = [], []
        for line in chosen:
            summary = line.measured.summary([axis])
            heading = line.measure.title.removeprefix(f"{line.group} ")
            heading = heading[:1].upper() + heading[1:]
            if name == "others":
                heading = line.measure.title
            # Ratings and indices are seen on their whole scale; a loss of 2 % out of 100 could not be seen.
            panels.append(
                drawing.Panel(
                    summary, axis, None, line.measure.unit, "", heading, "bar",
                    limits=line.measure.limits, scale=line.measure.scale or line.measure.id,
                    whole=line.measure.unit != "%",
                )
            )  # fmt: skip
            numbers.append(
                summary.select(
                    pl.lit(line.measure.id).alias("measure"), pl.lit(line.group).alias("group"), pl.all()
                )
            )
        with drawing.canvas(name, drawing.size_for(len(panels))) as canvas:
            drawing.draw_panels(canvas, panels)
            drawings.append(
                drawing.save(
                    canvas, folder, name, pl.concat(numbers, how="vertical_relaxed"), results.provenance,
                    title=title,
                    caption=f"One bar per {axis}, from the least that the measure can be; error bars are 95 % "
                    "confidence intervals, cut where the measure ends. Panels of the same measure share their axis.",
                    alt=f"{title}. {drawing.told(panels)}",
                )
            )  # fmt: skip
    return drawings


def write(
    results: Results,
    axis: str,
    group: str,
    out: Path,
    *,
    title: str,
    lead: str = "",
    clips: Sequence[Clip] = (),
    notes: Sequence[str] = (),
    scenario: str = "",
    found: Sequence[Line] | None = None,
    heard: Heard | None = None,
    seed: int = 1,
    key: str = "",
) -> Path:
    """Leaves page, tables and figures in the folder `out`, all or nothing.

    Args:
        results: Runs with one axis.
        axis: Its name.
        group: The flow group that is compared.
        out: The folder.
        title: The page's heading.
        lead: The paragraph beneath it.
        clips: Audio.
        notes: Remarks.
        scenario: The scenario's text.
        found: The comparison, where it has been made already.
        heard: The call that is heard, which is then drawn unit by unit.
        seed: Seed of the run in which it is heard.
        key: The scenario's key that is varied; empty for several keys, or where nobody knows.

    Returns:
        The page.
    """
    counted = heard.whole(results) if heard is not None else results
    chosen = list(found) if found is not None else lines(counted, axis, group)
    replications = len(results.provenance.seeds)
    with staging(out) as partial:
        results.write_into(partial)
        drawings = draw(results, chosen, axis, partial / "figures")
        if heard is not None:
            labels = results.to_polars("runs")[axis].unique(maintain_order=True).to_list()
            drawings.append(draw_units(heard, results, axis, labels, seed, partial / "figures"))
        write_audio(clips, partial)
        (partial / "scenario.toml").write_text(scenario, encoding="utf-8")
        _write_comparison(chosen, axis, partial, results)
        page = Page(
            title=title,
            kicker="Comparison",
            lead=lead,
            answer=of_comparison(chosen, axis, group, counted, key),
            cards=[
                Card(str(len(next(iter(chosen)).cells) if chosen else 0), f"{axis}s compared"),
                Card(str(replications), "replications each"),
                Card(str(results.runs.num_rows), "runs"),
            ],
            drawings=drawings,
            tables=[table_view(chosen)],
            clips=clips,
            heard=notes if clips else (),
            notes=() if clips else notes,
            scenario=scenario,
            provenance=results.provenance,
            tables_first=True,
        )
        (partial / "index.html").write_text(page.html(partial), encoding="utf-8")
    return out / "index.html"


def _write_comparison(found: Sequence[Line], axis: str, folder: Path, results: Results) -> None:
    """The comparison's numbers as `comparison.csv` and `.parquet`."""
    from fairwave.results import write_table

    rows = []
    for row in as_data(found, axis):
        kept = {key: value for key, value in row.items() if not isinstance(value, list)}
        kept[axis] = str(row[axis])
        kept["low"], kept["high"] = row["interval"]
        kept["difference_low"], kept["difference_high"] = row["difference_interval"]
        rows.append(kept)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    # What does not exist is null; an interval of a single run has no ends.
    numbers = [name for name, kind in frame.schema.items() if kind.is_float()]
    frame = frame.with_columns(pl.when(pl.col(numbers).is_finite()).then(pl.col(numbers)))
    write_table(frame.to_arrow(), folder / "comparison", results.provenance)
