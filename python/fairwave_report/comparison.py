"""Comparison of a few alternatives, usually transports: its decisive measures as text and as a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from fairwave.answers.answer import OF_FOLDERS, SAVED
from fairwave.answers.labels import spelled
from fairwave.answers.lines import MeasureLine, lines, write_comparison
from fairwave.answers.lines import caption as caption_of
from fairwave.answers.verdict import judge_comparison
from fairwave.measuring.measures import MOS, R
from fairwave.staging import staging
from fairwave_report import figures as drawing
from fairwave_report.axes import least_span, scale_label
from fairwave_report.call import draw_units, write_audio
from fairwave_report.distributions import draw_distributions
from fairwave_report.page import Card, Page, TableView

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from fairwave.results import Results
    from fairwave_report.figures import Drawing
    from fairwave_report.listening import Clip
    from fairwave_report.recorded_call import RecordedCall


def table_view(found: Sequence[MeasureLine]) -> TableView:
    """Returns the comparison as a table: measures down, alternatives across."""
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
        "Mean and 95 % interval",
        ["measure", *(spelled(label) for label in labels)],
        rows,
        ("comparison.csv",),
        caption=caption_of(found),
    )


def draw(results: Results, found: Sequence[MeasureLine], axis: str, folder: Path) -> list[Drawing]:
    """Draws bars of the measures that decide about a call and of its effect on other traffic."""
    wanted = {"call": "What the users get", "others": "What it does to everyone else"}
    drawings = []
    for name, title in wanted.items():
        chosen = [
            line
            for line in found
            if line.measure.applies.figure == name and not line.undefined and line.usual
        ]
        if not chosen:
            continue
        panels, numbers, none = [], [], []
        several = len({line.group for line in chosen}) > 1
        for line in chosen:
            summary = line.measured.summary([axis])
            heading = line.measure.title.removeprefix(f"{line.group} ")
            heading = heading[:1].upper() + heading[1:]
            if name == "others" or several:
                heading = line.measure.title
            if all(one == 0 for one in summary["mean"].drop_nulls().drop_nans()):
                none.append(line.measure.title)
            else:
                panels.append(_panel(line, summary, axis, heading))
            numbers.append(
                summary.select(
                    pl.lit(line.measure.id).alias("measure"), pl.lit(line.group).alias("group"), pl.all()
                )
            )
        if not panels:
            continue
        panels = _scaled(panels)
        fits = (
            " Dots, where bars would be equally high: the axis fits the values."
            if any(one.kind == "dot" for one in panels)
            else ""
        )
        with drawing.canvas(name, drawing.size_for(len(panels))) as canvas:
            drawing.draw_panels(canvas, panels)
            drawings.append(
                drawing.save(
                    canvas, folder, name, pl.concat(numbers, how="vertical_relaxed"), results.provenance,
                    title=title,
                    caption=f"One bar per {axis}. Bars start at the measure's minimum. Error bars are 95 % intervals, "
                    f"cut at the ends of the measure. Panels of the same measure and size share their axis.{fits}"
                    + (f" Zero in every run, and left out: {', '.join(none)}." if none else ""),
                    alt=f"{title}. {drawing.describe_panels(panels)}",
                )
            )  # fmt: skip
    return drawings


def _panel(line: MeasureLine, summary: pl.DataFrame, axis: str, heading: str) -> drawing.Panel:
    """Returns a panel of bars for one measure, or dots if all bars would be equally high."""
    measure = line.measure
    # Ratings get their whole scale: readers know its bounds. A loss of 2 % on a scale of 100 would be invisible.
    rated = measure.unit != "%" and measure.limits in {MOS, R}
    foot = max(measure.limits[0], 0.0)
    numbers = all(isinstance(label, (int, float)) for label in line.cells)
    return drawing.Panel(
        summary, axis, None, scale_label(measure), axis if numbers else "", heading,
        "bar" if rated else drawing.choose_kind(summary, foot),
        limits=measure.limits, scale=measure.scale or measure.id, whole=rated, unit=measure.unit,
        span=least_span(measure, summary["mean"], line.relevance),
    )  # fmt: skip


SMALLER = {"Mb/s": ("kb/s", 1e3, 0.5)}
"""Unit to a smaller unit, its factor, and the value below which a whole panel uses the smaller unit."""

APART = 10.0
"""Panels of one measure get separate axes if their highest bars differ by a larger ratio."""


def _scaled(panels: Sequence[drawing.Panel]) -> list[drawing.Panel]:
    """Lets panels share an axis if their heights are comparable on it, and gives small values a small unit."""
    tops = [
        max((one for one in panel.data["mean"].to_list() if one is not None), default=0.0) for panel in panels
    ]
    found = []
    for panel, top in zip(panels, tops, strict=True):
        alike = [
            other for one, other in zip(panels, tops, strict=True) if one.scale == panel.scale and other > 0
        ]
        apart = top > 0 and max(alike, default=top) > APART * min(alike, default=top)
        if panel.kind == "dot" or (apart and panel.scale):
            panel = replace(panel, scale="")  # noqa: PLW2901
        if not panel.scale and panel.unit in SMALLER and top < SMALLER[panel.unit][2]:
            unit, factor, _ = SMALLER[panel.unit]
            data = panel.data.with_columns(pl.col("mean", "low", "high") * factor)
            panel = replace(panel, data=data, unit=unit, y_label=unit, span=panel.span * factor)  # noqa: PLW2901
        found.append(panel)
    return found


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
    found: Sequence[MeasureLine] | None = None,
    heard: RecordedCall | None = None,
    seed: int = 1,
    key: str = "",
    tables: Sequence[TableView] = (),
    more: Callable[[Path], list[Drawing]] | None = None,
    setups: Mapping[str, str] | None = None,
    bars: bool = True,
    counted_as: str | None = None,
) -> Path:
    """Writes page, tables and figures into the folder `out`, all or nothing.

    Args:
        results: Runs with one axis.
        axis: Its name.
        group: The flow group that is compared.
        out: The folder.
        title: The page's heading.
        lead: The paragraph below the heading.
        clips: Audio.
        notes: Remarks.
        scenario: The scenario's text.
        found: The comparison, if the caller has computed it.
        heard: The audible call, which the page draws unit by unit.
        seed: Seed of the run of the audible call.
        key: The scenario's varied key; empty for several keys or an unknown one.
        tables: Further tables, below the comparison.
        more: Draws further figures into a folder. The page shows them first.
        bars: Whether to draw the means of alternatives as bars.
        counted_as: Plural noun for the alternatives; by default `axis` with an s.
        setups: Name of each alternative to its scenario's text, if alternatives have different scenarios.

    Returns:
        The page.
    """
    counted = heard.merge_group(results) if heard is not None else results
    chosen = list(found) if found is not None else lines(counted, axis, group)
    answer = judge_comparison(chosen, axis, group, counted, key)
    replications = len(results.provenance.seeds)
    with staging(out) as partial:
        results.write_into(partial)
        drawings = more(partial / "figures") if more else []
        drawings += draw(results, chosen, axis, partial / "figures") if bars else []
        spread = draw_distributions(chosen, axis, partial / "figures", results.provenance)
        if heard is not None:
            labels = results.to_polars("runs")[axis].unique(maintain_order=True).to_list()
            drawings.append(draw_units(heard, results, axis, labels, seed, partial / "figures"))
        write_audio(clips, partial)
        if scenario:
            (partial / "scenario.toml").write_text(scenario, encoding="utf-8")
        write_comparison(chosen, axis, partial, results)
        page = Page(
            title=title,
            kicker="Comparison",
            lead=lead,
            answer=answer.with_more_runs_by(SAVED) if axis == OF_FOLDERS else answer,
            cards=[
                Card(
                    str(len(next(iter(chosen)).cells) if chosen else 0),
                    f"{counted_as or f'{axis}s'} compared",
                ),
                Card(str(replications), "replications each"),
                Card(str(results.runs.num_rows), "runs"),
            ],
            drawings=drawings,
            folded=spread,
            folded_are="How the runs are spread: cumulative shares, boxes, violins, differences",
            tables=[table_view(chosen), *tables],
            setups=setups or {},
            clips=clips,
            heard=notes if clips else (),
            notes=() if clips else notes,
            scenario=scenario,
            provenance=results.provenance,
            tables_first=True,
        )
        (partial / "index.html").write_text(page.html(partial), encoding="utf-8")
    return out / "index.html"
