"""Interactive figures: the numbers of a line figure, as a page's script reads them.

The still picture stays in the page, for printing and for readers without JavaScript. When the page opens, uPlot draws
the interactive figure on canvases. `templates/uplot` contains uPlot 1.6.32 (MIT licence), because pages are made
without Node and without a network. Its bytes equal those of the npm package with the checksum in
`lab/package-lock.json`.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairwave.answers.labels import spelled
from fairwave_report import style

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairwave_report.figures import Panel

DASHES = {"-": [], "--": [6, 4], ":": [2, 3], "-.": [6, 3, 2, 3]}
"""Matplotlib's line styles to the dashes of a canvas, in pixels."""

FEW = 40
"""Lines with at most this many values have a mark for each value."""

MOST_POINTS = 40_000
"""A figure with more points stays still, because its page would be large and slow."""


@dataclass(frozen=True)
class ChartSeries:
    """One line, or the marks of one kind.

    Attributes:
        label: Its name.
        look: How it is drawn.
        x: Horizontal positions, ascending.
        y: Heights; None or NaN for gaps.
        low: Lower ends of the band; empty without a band.
        high: Upper ends of the band.
        is_marks: Marks without a line.
        has_points: Whether the line marks its values, because they are few.
    """

    label: str
    look: style.SeriesStyle
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    is_marks: bool = False
    has_points: bool = True


@dataclass(frozen=True)
class Shade:
    """A stretch of the horizontal axis.

    Attributes:
        label: Its name; empty without one.
        look: Its colour.
        start: Where it begins.
        end: Where it ends.
        row: Row of the label, from the top.
        is_strip: A strip along the foot of the panel, instead of the whole height.
    """

    label: str
    look: style.SeriesStyle
    start: float
    end: float
    row: int = 0
    is_strip: bool = False


@dataclass(frozen=True)
class ChartPanel:
    """One pair of axes.

    Attributes:
        title: Title above the panel.
        x_label: Label of the horizontal axis, with unit.
        y_label: Label of the vertical axis, with unit.
        series: Lines and marks.
        log_x: Whether the horizontal axis is logarithmic.
        log_y: Whether the vertical axis is logarithmic.
        ends: Ends of the vertical axis; None fits the data.
        lines: Reference heights, by label.
        marks: Positions of events, with their names.
        span: Label and ends of a shaded stretch.
        x_ends: Ends of the horizontal axis; None takes the ends of the series.
        shades: Further stretches, each with a colour.
    """

    title: str
    x_label: str
    y_label: str
    series: Sequence[ChartSeries]
    log_x: bool = False
    log_y: bool = False
    ends: tuple[float | None, float | None] = (None, None)
    lines: dict[str, float] = field(default_factory=dict)
    marks: Sequence[tuple[float, str]] = ()
    span: tuple[str, float, float] | None = None
    x_ends: tuple[float, float] | None = None
    shades: Sequence[Shade] = ()


@dataclass(frozen=True)
class Chart:
    """A figure for a page's script.

    Attributes:
        panels: Its panels.
        columns: Number of panels side by side.
        is_linked: Whether panels share the horizontal axis, so that pointing and zooming act on all of them.
    """

    panels: Sequence[ChartPanel]
    columns: int = 1
    is_linked: bool = False

    def to_json(self) -> str:
        """Returns the figure as JSON, escaped for a `script` element."""
        data = {
            "columns": self.columns,
            "linked": self.is_linked,
            "panels": [_panel(one) for one in self.panels],
        }
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _clip(
    ends: tuple[float | None, float | None], limits: tuple[float, float]
) -> tuple[float | None, float | None]:
    """Clips the ends to the limits of the measure."""
    low, high = ends
    return None if low is None else max(low, limits[0]), None if high is None else min(high, limits[1])


def _panel(panel: ChartPanel) -> dict[str, Any]:
    return {
        "title": panel.title,
        "x": {
            "label": panel.x_label,
            "log": panel.log_x,
            "ends": [_number(one) for one in panel.x_ends] if panel.x_ends else None,
        },
        "y": {"label": panel.y_label, "log": panel.log_y, "ends": [_number(one) for one in panel.ends]},
        "lines": [[label, _number(value)] for label, value in panel.lines.items()],
        "marks": [[_number(at), label] for at, label in panel.marks],
        "span": list(panel.span) if panel.span else None,
        "shades": [
            {
                "label": one.label,
                "colour": one.look.name,
                "fixed": one.look.colour,
                "from": _number(one.start),
                "to": _number(one.end),
                "row": one.row,
                "strip": one.is_strip,
            }
            for one in panel.shades
        ],
        "series": [
            {
                "label": one.label,
                "colour": one.look.name,
                "fixed": one.look.colour,
                "dash": _dash(one.look.line),
                "marks": one.is_marks,
                "points": one.is_marks or (one.has_points and len(one.x) <= FEW),
                "x": _numbers(one.x),
                "y": _numbers(one.y),
                "low": _numbers(one.low),
                "high": _numbers(one.high),
            }
            for one in panel.series
        ],
    }


def _dash(line: Any) -> list[float]:
    """Converts a line style to the dashes of a canvas."""
    if isinstance(line, str):
        return [float(one) for one in DASHES.get(line, [])]
    return [2.0 * float(one) for one in line[1]]


def _numbers(values: Iterable[float | None]) -> list[float | None]:
    return [_number(one) for one in values]


def _number(value: float | None) -> float | None:
    """Rounds to six digits. Returns None for NaN, infinity and None."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")


def chart_panels(panels: Sequence[Panel]) -> Chart | None:
    """Returns the chart of line panels over numbers, or None for other panels and for more than `MOST_POINTS`."""
    import polars as pl

    from fairwave_report.figures import fit_ends

    found = []
    for panel in panels:
        ticks = panel.data[panel.x].to_list()
        if panel.kind != "line" or not all(isinstance(one, (int, float)) for one in ticks):
            return None
        names = panel.data[panel.series].unique(maintain_order=True).to_list() if panel.series else [None]
        looks = style.looks(names)
        series = []
        for name in names:
            rows = panel.data.filter(pl.col(panel.series) == name) if panel.series else panel.data
            rows = rows.sort(panel.x)
            low, high = (
                [
                    None
                    if one is None or not math.isfinite(one)
                    else min(max(one, panel.limits[0]), panel.limits[1])
                    for one in rows[end].to_list()
                ]
                for end in ("low", "high")
            )
            label = spelled(name) if name is not None else panel.title or panel.y_label
            series.append(
                ChartSeries(label, looks[name], rows[panel.x].to_list(), rows["mean"].to_list(), low, high)
            )
        whole: tuple[float | None, float | None] = (panel.foot if panel.y_from_zero else None, None)
        if panel.whole and all(map(math.isfinite, panel.limits)):
            whole = panel.limits
        elif panel.span and not panel.y_from_zero:
            whole = _clip(fit_ends(panel), panel.limits)
        found.append(
            ChartPanel(
                panel.title, panel.x_label, panel.y_label, series, panel.log_x, False, whole, panel.lines
            )
        )
    if sum(len(one.x) for panel in found for one in panel.series) > MOST_POINTS:
        return None
    return Chart(found, min(2 if len(found) == 4 else len(found), 3))
