"""Media sessions of the drawn run: the rate controller compared with the path's capacity, and the received media."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave_report import figures as drawing
from fairwave_report import style
from fairwave_report.chart import MOST_POINTS, Chart, ChartPanel, ChartSeries
from fairwave_report.ways import ways

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.results import Results
    from fairwave_report.single import DrawnRun

SESSIONS = 3
"""Number of sessions that are drawn: the first of each group."""


RECEIVED = ("time_s", "bytes_received", "frames_rendered", "frame_height", "concealed_samples")
"""Columns of receivers that are drawn."""


@dataclass(frozen=True)
class _Line:
    """One line of a panel.

    Attributes:
        label: Its name.
        rows: Columns `time_s` and `value`.
        is_bound: Whether it only bounds the other lines, as a capacity does.
    """

    label: str
    rows: pl.DataFrame
    is_bound: bool = False

    @property
    def values(self) -> list[float]:
        """Its finite values."""
        return [float(one) for one in self.rows["value"].drop_nulls() if math.isfinite(one)]


def first_sessions(results: Results) -> list[tuple[str, int]]:
    """Returns group and index of the sessions to draw."""
    if "media_transport" not in results.tables:
        return []
    rows = results.to_polars("media_transport").with_columns(pl.col("group").cast(pl.String))
    first = rows.group_by("group", maintain_order=True).agg(pl.col("flow").min())
    return list(first.iter_rows())[:SESSIONS]


def draw_sessions(run: DrawnRun, folder: Path) -> list[drawing.Drawing]:
    """Draws a figure per session; none without sessions."""
    return [_draw(run, folder, group, flow) for group, flow in first_sessions(run.results)]


def draw_rates(run: DrawnRun, folder: Path) -> drawing.Drawing | None:
    """Draws the estimate of each session and its path's capacity; nothing without sessions."""
    panels = []
    for group, flow in first_sessions(run.results):
        _, unit, lines = _panels(run, group, flow)[0]
        if lines:
            panels.append((f"{group}[{flow}]", unit, lines))
    if not panels:
        return None
    caption = (
        "The rate that the controller believes the path to carry, next to what its narrowest link on the way does "
        f"carry; what encoders were given, and the payload that arrived. Seed {run.seed}."
    )
    return _figure(run, folder, "rates", panels, "Estimate and capacity", caption)


def _select_rows(run: DrawnRun, table: str, group: str, flow: int) -> pl.DataFrame:
    """Returns a session's rows. There are none if no packet arrived, because then no receiver has a report."""
    if table not in run.results.tables:
        return pl.DataFrame(schema=dict.fromkeys(RECEIVED, pl.Float64) | {"stream": pl.String})
    rows = run.results.to_polars(table).with_columns(pl.col("group").cast(pl.String))
    return rows.filter((pl.col("group") == group) & (pl.col("flow") == flow))


def _compute_rate(rows: pl.DataFrame, column: str, scale: float) -> pl.DataFrame:
    """Computes the growth rate of a counter between samples, summed over streams.

    Streams begin and end at different times, so each counter's growth is taken before the sum.
    """
    keys = [one for one in ("stream", "encoding") if one in rows.columns]
    before = pl.col(column).forward_fill().shift(1).over(keys).fill_null(0)
    grown = rows.sort("time_s").with_columns(grown=(pl.col(column) - before).cast(pl.Float64))
    summed = grown.group_by("time_s", maintain_order=True).agg(pl.col("grown").sum())
    return summed.select("time_s", value=(pl.col("grown") / pl.col("time_s").diff() * scale))[1:]


def _capacity(run: DrawnRun, group: str, flow: int) -> pl.DataFrame | None:
    """Returns the capacity over time of the narrowest recorded link on the session's path; None without any."""
    rows = run.series("capacity_bps")
    taken = [way for way in ways(run.scenario, run.seed) if way.flow == f"{group}[{flow}]"]
    parts = []
    for way, until_s in zip(taken, [*(one.since_s for one in taken[1:]), math.inf], strict=True):
        meanwhile = (pl.col("time_s") >= way.since_s) & (pl.col("time_s") < until_s)
        parts.append(rows.filter(pl.col("name").is_in(way.links) & meanwhile))
    rows = pl.concat(parts) if parts else rows.clear()
    if not rows.height:
        return None
    return rows.group_by("time_s", maintain_order=True).agg(value=pl.col("value").min() / 1e6).sort("time_s")


OFF = 3.0
"""A capacity of more than this many times the rates is off the axis; otherwise the rates would be unreadable."""


def _readable(lines: Sequence[_Line], unit: str) -> tuple[list[_Line], float | None]:
    """Returns the lines and the end of their axis. A capacity that would flatten them is named and left out."""
    most = max((value for line in lines if not line.is_bound for value in line.values), default=0.0)
    found, is_off = [], False
    for line in lines:
        if not line.is_bound or not most or max(line.values, default=0.0) <= OFF * most:
            found.append(line)
            continue
        words = " to ".join(dict.fromkeys(map(drawing.format_value, (min(line.values), max(line.values)))))
        found.append(replace(line, label=f"{line.label}: {words} {unit}, off the axis"))
        is_off = True
    return found, 1.1 * most if is_off else None


def _panels(run: DrawnRun, group: str, flow: int) -> list[tuple[str, str, list[_Line]]]:
    transport = _select_rows(run, "media_transport", group, flow)
    inbound = _select_rows(run, "media_inbound", group, flow)
    pictures = inbound.filter(pl.col("stream").cast(pl.String) != "audio")
    speech = inbound.filter(pl.col("stream").cast(pl.String) == "audio")
    rates = [
        _Line("estimate", transport.select("time_s", value=pl.col("available_bps") / 1e6)),
        _Line("target", transport.select("time_s", value=pl.col("target_bps") / 1e6)),
        _Line("received", _compute_rate(inbound, "bytes_received", 8e-6)),
    ]
    if (capacity := _capacity(run, group, flow)) is not None:
        rates.insert(0, _Line("capacity of the path", capacity, is_bound=True))
    delays = [
        _Line("round trip", transport.select("time_s", value=pl.col("round_trip_s") * 1e3)),
        _Line("waits in the pacer", transport.select("time_s", value=pl.col("pacer_s") * 1e3)),
    ]
    panels = [("Rates", "Mb/s", rates), ("Delays", "ms", delays)]
    if pictures.height:
        shown = _compute_rate(pictures, "frames_rendered", 1.0)
        panels.append(("Pictures", "shown/s", [_Line("pictures shown", shown)]))
        height = pictures.group_by("time_s", maintain_order=True).agg(value=pl.col("frame_height").max())
        panels.append(("Size of the picture", "pixels down", [_Line("height", height)]))
    if speech.height:
        made_up = _compute_rate(speech, "concealed_samples", 100 / 48_000)
        panels.append(("Speech made up by the receiver", "%", [_Line("concealed", made_up)]))
    return [(title, unit, [line for line in lines if line.rows.height]) for title, unit, lines in panels]


def _draw(run: DrawnRun, folder: Path, group: str, flow: int) -> drawing.Drawing:
    panels = [one for one in _panels(run, group, flow) if one[2]]
    caption = (
        "What the rate controller estimates and gives to the streams, beside what the narrowest link on "
        f"the way carries; whole IP packets, and payload for what is received. Seed {run.seed}."
    )
    title = f"The session {group}[{flow}] over time"
    return _figure(run, folder, f"session-{group}-{flow}", panels, title, caption)


def _figure(
    run: DrawnRun,
    folder: Path,
    name: str,
    panels: Sequence[tuple[str, str, list[_Line]]],
    said: str,
    caption: str,
) -> drawing.Drawing:
    """Draws panels one below the other, over the time of the run."""
    marks = run.scenario.plan(run.seed)["marks"]
    with drawing.canvas(name, (11.4, 0.6 + 2.1 * len(panels) + 0.14 * drawing.mark_rows(marks))) as canvas:
        grid = canvas.subplots(len(panels), 1, sharex=True, squeeze=False)
        charts = []
        for axes, (title, unit, lines) in zip(grid.flat, panels, strict=True):
            drawn = []
            shown, most = _readable(lines, unit)
            for line, look in zip(shown, style.looks([one.label for one in shown]).values(), strict=True):
                rows = drawing.with_gaps(line.rows.with_columns(line=pl.lit(line.label)), "line", "time_s")
                values = [math.nan if one is None else one for one in rows["value"].to_list()]
                axes.plot(rows["time_s"], values, label=line.label, color=look.colour, linestyle=look.line)
                drawn.append(ChartSeries(line.label, look, rows["time_s"].to_list(), values))
            axes.set_title(title)
            axes.set_ylabel(unit)
            axes.set_ylim(0, most)
            if len(lines) > 1:
                axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
            drawing.mark(axes, marks, labels=axes is grid.flat[0])
            charts.append(
                ChartPanel(
                    title, "time (s)", unit, drawn, ends=(0.0, most),
                    marks=[(one["at_s"], one["label"]) for one in marks],
                )
            )  # fmt: skip
        grid.flat[-1].set_xlabel("time (s)")
        data = pl.concat(
            [
                line.rows.select(
                    pl.lit(title).alias("panel"), pl.lit(unit).alias("unit"), pl.lit(line.label).alias("name"),
                    "time_s", pl.col("value").cast(pl.Float64),
                )
                for title, unit, lines in panels
                for line in lines
            ]
        )  # fmt: skip
        points = sum(len(one.x) for panel in charts for one in panel.series)
        return drawing.save(
            canvas, folder, name, data, run.results.provenance,
            title=said,
            caption=caption,
            alt=f"Over time, one below the other: {_describe(panels)}",
            chart=Chart(charts, is_linked=True) if points <= MOST_POINTS else None,
        )  # fmt: skip


def _describe(panels: Sequence[tuple[str, str, list[_Line]]]) -> str:
    parts = []
    for title, unit, lines in panels:
        each = ", ".join(f"{one.label} {drawing.format_value(_mean(one.rows))}" for one in lines)
        parts.append(f"{title} (mean, {unit}): {each}")
    return ". ".join(parts)


def _mean(rows: pl.DataFrame) -> Any:
    return rows["value"].drop_nulls().mean()
