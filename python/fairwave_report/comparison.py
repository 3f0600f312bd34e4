"""A comparison of a few alternatives, most often transports: the measures worth showing, as text and as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from fairwave.answers.labels import spelled
from fairwave.answers.lines import STARRED, MeasureLine, footnotes, lines, write_comparison
from fairwave.answers.verdict import of_comparison
from fairwave.staging import staging
from fairwave_report import figures as drawing
from fairwave_report.call import draw_units, write_audio
from fairwave_report.page import Card, Page, TableView

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.results import Results
    from fairwave_report.figures import Drawing
    from fairwave_report.heard import RecordedCall
    from fairwave_report.listening import Clip


def table_view(found: Sequence[MeasureLine]) -> TableView:
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
        ["measure", *(spelled(label) for label in labels)],
        rows,
        ("comparison.csv",),
        caption=f"{STARRED} {footnotes(found)}".rstrip(),
    )


def draw(results: Results, found: Sequence[MeasureLine], axis: str, folder: Path) -> list[Drawing]:
    """Bars for what decides about a call and for what it does to the others."""
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
                    caption=f"One bar per {axis}. Bars start at the measure's minimum. Error bars are 95 % intervals, "
                    "cut at the ends of the measure. Panels of the same measure share their axis.",
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
    found: Sequence[MeasureLine] | None = None,
    heard: RecordedCall | None = None,
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
        write_comparison(chosen, axis, partial, results)
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
