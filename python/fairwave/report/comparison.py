"""A comparison of a few alternatives, most often transports: the measures worth showing, as text and as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave.report import figures as drawing
from fairwave.report import style
from fairwave.report.answer import of_comparison
from fairwave.report.call import draw_units, write_audio
from fairwave.report.page import Card, Page, TableView
from fairwave.staging import staging
from fairwave.study import measures, watched
from fairwave.study.remarks import MARK, NOT_DEFINED, told, undefined
from fairwave.study.statistics import Interval, paired

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
        best: Labels that no other is significantly better than, when the measure has a good direction and some are
            worse.
        undefined: Why the measure is defined nowhere; empty when it is somewhere.
        remarks: What has to be said beside it.
    """

    group: str
    measured: Measured
    cells: dict[Any, Interval]
    best: frozenset[Any]
    undefined: str = ""
    remarks: tuple[Remark, ...] = ()

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


def call_measures(group: str) -> list[Measure]:
    """What is shown of the flows that are compared."""
    return [
        measures.mos(group),
        measures.worst_mos(group),
        measures.r_factor(group),
        measures.late_for_playout(group),
        measures.mouth_to_ear(group),
        *watched.of_viewers(group),
        measures.loss(group),
        measures.worst_loss(group),
        measures.delay(group),
        measures.delay_p95(group),
        measures.jitter(group),
        *(measures.index(group, reading) for reading in measures.READINGS),
        measures.conversation_mos(group),
        measures.round_trip(group),
        measures.double_talk(group),
        measures.double_talk_heard(group),
        *completion_measures(group),
        measures.refused(group),
        measures.goodput_per_flow(group),
        measures.fairness(group),
        *measures.own(group),
    ]


def completion_measures(group: str) -> list[Measure]:
    """What is shown of files and pages."""
    return [
        measures.completion(group),
        measures.completion_median(group),
        measures.completion_p95(group),
        measures.unfinished(group),
    ]


def other_measures(group: str) -> list[Measure]:
    """What is shown of everybody else."""
    return [
        measures.goodput(group),
        measures.worst_goodput(group),
        measures.fairness(group),
        measures.retransmitted(group),
        *completion_measures(group),
        *measures.own(group),
    ]


def lines(results: Results, axis: str, group: str, wanted: Sequence[Measure] | None = None) -> list[Line]:
    """Every measure that is defined for some run, for the group that is compared and then for the others.

    A rating that no call has is there too, with the reason.

    Args:
        results: Runs with one axis.
        axis: Its name.
        group: The flow group that is compared.
        wanted: Measures instead of the usual.
    """
    present = results.to_polars("flows")["group"].cast(pl.String).unique(maintain_order=True).to_list()
    chosen = [(group, one) for one in (wanted if wanted is not None else call_measures(group))]
    if wanted is None:
        chosen += [(other, one) for other in present if other != group for one in other_measures(other)]
    found = []
    for owner, measure in chosen:
        measured = measure.over(results)
        labels = measured.labels(axis)
        cells = {label: measured.interval(**{axis: label}) for label in labels}
        why = undefined(results, measure.id, owner)
        if not why and all(np.isnan(cell.mean) for cell in cells.values()):
            continue
        said = tuple(told(results, measure.id, owner))
        found.append(Line(owner, measured, cells, _best(measured, axis, labels), why, said))
    return found


def footnotes(found: Sequence[Line]) -> str:
    """What has to be said beside marked lines, each thing once; empty when there are none."""
    each = dict.fromkeys(f"{line.group}: {said}" for line in found for said in line.remarks)
    return f"{MARK} {'. '.join(each)}." if each else ""


def starred(axis: str) -> str:
    """What a star beside a number says, and what it says that there is none."""
    return (
        f"A star (*) marks the means than which no other {axis} has a significantly better one, in rows in which some "
        f"{axis} is significantly worse than another: the 95 % interval of their differences, paired by seed, leaves "
        "zero out. A row without a star shows no such difference, or its measure has no better direction."
    )


def _best(measured: Measured, axis: str, labels: Sequence[Any]) -> frozenset[Any]:
    """Those that no other beats significantly, by paired differences; none when that is true of all."""
    sign = {"higher": 1.0, "lower": -1.0}.get(measured.measure.better or "")
    if sign is None:
        return frozenset()
    samples = {label: sign * measured.samples(**{axis: label}) for label in labels}
    rated = [label for label in labels if not np.isnan(samples[label]).all()]

    def beaten(label: Any) -> bool:
        return any(paired(samples[other], samples[label]).low > 0 for other in rated if other != label)

    best = frozenset(label for label in rated if not beaten(label))
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


def table_view(found: Sequence[Line], axis: str) -> TableView:
    """The comparison as a table: measures down, alternatives across."""
    labels = list(found[0].cells) if found else []
    rows = [
        [
            f"{line.measure.label}{line.mark}",
            *(f"{line.cell(label)}{' *' if label in line.best else ''}" for label in line.cells),
        ]
        for line in found
    ]
    return TableView(
        "comparison",
        "Mean ± half width of the 95 % interval",
        ["measure", *(style.title(label) for label in labels)],
        rows,
        ("comparison.csv",),
        caption=f"{starred(axis)} {footnotes(found)}".rstrip(),
    )


def draw(results: Results, found: Sequence[Line], axis: str, folder: Path) -> list[Drawing]:
    """Bars for what decides about a call and for what it does to the others."""
    wanted = {
        "call": (
            "What the callers get",
            ("mos", "loss", "delay_p95", "index_gap", "index_excess-gap", "index_delay"),
        ),
        "others": ("What it does to everyone else", ("goodput",)),
    }
    drawings = []
    for name, (title, ids) in wanted.items():
        chosen = [line for line in found if line.measure.id in ids and not line.undefined]
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
            answer=of_comparison(chosen, axis, group, counted),
            cards=[
                Card(str(len(next(iter(chosen)).cells) if chosen else 0), f"{axis}s compared"),
                Card(str(replications), "replications each"),
                Card(str(results.runs.num_rows), "runs"),
            ],
            drawings=drawings,
            tables=[table_view(chosen, axis)],
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
