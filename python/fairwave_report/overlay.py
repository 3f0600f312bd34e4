"""Overlay of saved runs: the page of a comparison, with the differences between their scenarios.

If the runs vary a number, like those of a sweep, the page begins with a curve for each folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave import ScenarioError
from fairwave.answers.differences import differences
from fairwave.answers.labels import spelled
from fairwave.answers.naming import short_key
from fairwave.scenario import load
from fairwave_report import chart, comparison
from fairwave_report import figures as drawing
from fairwave_report.axes import GridAxis, axis, least_span, scale_label
from fairwave_report.page import TableView

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fairwave.answers.lines import MeasureLine
    from fairwave.results import Results

Points = dict[str, tuple[str, tuple[Any, ...]]]
"""Alternative to its folder and to its point's labels in that folder."""

MOST_DIFFERENCES = 40
"""Number of differing keys that are listed."""


def write_overlay(
    results: Results,
    points: Points,
    group: str,
    out: Path,
    *,
    title: str,
    found: Sequence[MeasureLine],
    notes: Sequence[str],
    name: str,
    varied: Sequence[str],
    scenarios: Mapping[str, str],
) -> Path:
    """Writes the page of saved runs, or of scenarios that were run, all or nothing.

    Args:
        results: All runs, with one axis.
        points: Origin of each alternative.
        group: The flow group that is compared.
        out: The folder.
        title: The page's heading.
        found: The comparison.
        notes: Remarks.
        name: Name of the axis that distinguishes folders.
        varied: The axes of the saved runs.
        scenarios: Name of each folder to the text of its scenario, if it has one.

    Returns:
        The page.
    """
    table = _differences(scenarios)
    lead = "Saved runs, laid over each other." if name == "folder" else "Scenarios, run under the same seeds."
    if not table and len(scenarios) > 1:
        lead += " Their scenarios are the same."
    along = _curve_axis(varied, points)

    def more(folder: Path) -> list[drawing.Drawing]:
        drawn = _curves(results, points, found, name, along, folder) if along is not None else None
        return [drawn] if drawn is not None else []

    return comparison.write(
        results, name, group, out,
        title=title, lead=lead, notes=notes, found=found, setups=scenarios, more=more,
        bars=along is None,
        counted_as="points" if any(point for _, point in points.values()) else None,
        tables=[table] if table else [],
    )  # fmt: skip


def _curve_axis(varied: Sequence[str], points: Points) -> GridAxis | None:
    """Returns the axis for curves: the only axis of the saved runs, if its labels are numbers."""
    labels = list(dict.fromkeys(point for _, point in points.values()))
    if len(labels) < 3 or len(varied) != 1:
        return None
    found = axis(varied[0], [one[0] for one in labels])
    return found if found.is_number else None


def _curves(
    results: Results, points: Points, found: Sequence[MeasureLine], name: str, along: GridAxis, folder: Path
) -> drawing.Drawing | None:
    """Draws call quality along the axis that the folders vary, a curve for each folder."""
    panels, numbers = [], []
    for line in found:
        if line.measure.applies.figure != "call" or line.undefined or not line.usual:
            continue
        rows = [
            {
                "x": along.values[along.labels.index(points[label][1][0])], "series": points[label][0],
                "mean": cell.mean if cell.n else None, "low": cell.low if cell.n else None,
                "high": cell.high if cell.n else None,
            }
            for label, cell in line.cells.items()
        ]  # fmt: skip
        if not any(one["mean"] for one in rows):
            continue
        data = pl.DataFrame(rows, schema_overrides=dict.fromkeys(("mean", "low", "high"), pl.Float64))
        foot = max(line.measure.limits[0], 0.0)
        panels.append(
            drawing.Panel(
                data.sort("x", maintain_order=True), "x", "series", scale_label(line.measure), along.title,
                line.measure.title, limits=line.measure.limits, log_x=along.is_log, unit=line.measure.unit,
                y_from_zero=drawing.choose_kind(data, foot) != "dot",
                span=least_span(line.measure, data["mean"], line.relevance),
            )
        )  # fmt: skip
        numbers.append(data.select(pl.lit(line.measure.id).alias("measure"), pl.all()))
    if not panels:
        return None
    with drawing.canvas("overlay", drawing.size_for(len(panels))) as canvas:
        drawing.draw_panels(canvas, panels)
        return drawing.save(
            canvas, folder, "overlay", pl.concat(numbers, how="vertical_relaxed"), results.provenance,
            title="Laid over each other",
            caption=f"One curve per {name}: means over runs with 95 % intervals.",
            alt=drawing.describe_panels(panels),
            chart=chart.chart_panels(panels),
        )  # fmt: skip


def _differences(scenarios: Mapping[str, str]) -> TableView | None:
    """Returns the keys in which the scenarios differ; None without differences or if a scenario is unreadable."""
    if len(scenarios) < 2:
        return None
    try:
        found = differences({name: load(text) for name, text in scenarios.items()})
    except (ScenarioError, OSError, ValueError):
        return None
    if not found:
        return None
    rows = [[short_key(key), *values] for key, values in found.items()][:MOST_DIFFERENCES]
    left = len(found) - len(rows)
    return TableView(
        "differences", "What differs in the scenarios", ["key", *map(spelled, scenarios)], rows,
        caption=f"And {left} further keys." if left else "",
    )  # fmt: skip
