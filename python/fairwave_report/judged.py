"""Page of a recorded call: the verdict, each stream over time with limits and events, and the tables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from fairwave.answers.answer import Answer, Mark, Picture
from fairwave.answers.bands import scale_of
from fairwave.judging.courses import TITLES
from fairwave.provenance import Provenance
from fairwave.scenario import load
from fairwave_report import figures as drawing
from fairwave_report import style
from fairwave_report.chart import MOST_POINTS, Chart, ChartPanel, ChartSeries, Shade
from fairwave_report.page import Page, TableView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from fairwave.judging import Judgement, WhatIf
    from fairwave.judging.courses import Course

Table = tuple["Sequence[str]", "Sequence[Sequence[str]]"]
"""Header and rows of a table."""

GREEN, ORANGE, GREY = style.LOOKS[2], style.LOOKS[5], style.LOOKS[6]
FACTORS = {
    "bandwidth": ("limited by bandwidth", style.LOOKS[1]),
    "cpu": ("limited by the CPU", style.LOOKS[3]),
    "other end": ("limited by the other end", GREEN),
    "other": ("limited by another factor", style.LOOKS[7]),
}
"""Limiting factor to its label and colour."""

BREAKS = ("freeze", "gap", "pause", "no statistics")
"""Events without picture or sound: a strip marks each."""

EMPTY = "–"
"""Cell without a value."""

HEADROOM = 1.4
"""The first panel has this much room, for the labels of stretches."""

MOST_SHADES = 60
"""Largest number of stretches of a kind in a figure."""

LEAST_SPAN = {"loss": 1.0, "made up": 1.0, "jitter": 5.0, "delay": 20.0, "round trip": 20.0}
"""Least height of an axis, so that tiny changes look tiny."""


def write_judgement(
    found: Judgement,
    folder: Path,
    *,
    streams: Table,
    events: Table,
    unknown: Sequence[str] = (),
    explored: WhatIf | None = None,
    effects: Table | None = None,
) -> None:
    """Writes page and figures of a judged call into a folder that already has the tables.

    Args:
        found: The verdict.
        folder: Folder of the page.
        streams: Header and rows of the table of streams.
        events: The same of events, at most as many as people read.
        unknown: Values that the file does not show, and the assumptions that replace them.
        explored: What would have helped; None if nobody asked.
        effects: Header and rows of its table.
    """
    provenance = _collect_provenance(explored)
    names = list(dict.fromkeys(one.stream for one in found.courses))
    ranks = {one.name: place for place, one in enumerate(found.streams)}
    ordered = sorted(names, key=lambda one: ranks.get(one, len(ranks)))
    drawings = [
        _draw(found, one, place, folder / "figures", provenance) for place, one in enumerate(ordered, 1)
    ]
    tables = [TableView("streams", "Streams", *_drop_empty(streams), ("streams.csv",))]
    notes, sentences = list(found.notes), list(found.sentences)
    if explored is not None:
        sentences.append(explored.sentences[0])
        if effects is not None and effects[1]:
            caption = " ".join(explored.sentences[1:])
            tables.insert(
                0, TableView("what-if", "What would have helped", *effects, ("what-if.csv",), caption=caption)
            )
    if events[1]:
        more = len(found.incidents) - len(events[1])
        caption = f"and {more} more events, in events.csv" if more > 0 else ""
        # The first column of a page's table is for text.
        turned = ([*events[0][1:], events[0][0]], [[*one[1:], one[0]] for one in events[1]])
        tables.append(TableView("events", "Events", *turned, ("events.csv",), caption=caption))
    if found.limits:
        rows = [[one.evidence, one.factor, f"{one.start_s:.1f} to {one.end_s:.1f}"] for one in found.limits]
        tables.append(
            TableView(
                "limits", "Limiting factor", ["evidence", "factor", "seconds"], rows[:MOST_SHADES], ("limits.csv",),
                caption=f"and {len(rows) - MOST_SHADES} more, in limits.csv" if len(rows) > MOST_SHADES else "",
            )
        )  # fmt: skip
    if unknown:
        tables.append(
            TableView(
                "unknown",
                "What the file does not show",
                ["limits of this verdict"],
                [[one] for one in unknown],
            )
        )
    left_out = len(found.streams) - len([one for one in names if one])
    if left_out > 0:
        notes.append(
            f"Figures show the {len(found.streams) - left_out} worst streams; the table lists all of them."
        )
    page = Page(
        title=Path(found.source).name, kicker="Recorded call",
        lead=f"{_count(len(found.streams))}, {found.lasts_s:.4g} s. Fairwave sent nothing.",
        answer=Answer(tuple(sentences), pictures=_pictures(found)), notes=notes,
        leading=drawings[:1], drawings=drawings[1:],
        drawn="The other streams, and the connection, over time.",
        tables=tables, provenance=provenance, scenario=explored.scenario if explored is not None else "",
    )  # fmt: skip
    (folder / "index.html").write_text(page.html(folder), encoding="utf-8")


def _collect_provenance(explored: WhatIf | None) -> Provenance:
    """Collects the origin of the numbers: the fitted network and the seeds of its changes, if any ran."""
    if explored is None or not explored.scenario:
        return Provenance.collect({}, [])
    scenario = load(explored.scenario)
    return Provenance.collect({scenario.hash: scenario.name}, list(range(1, explored.seeds + 1)))


def _count(streams: int) -> str:
    return "1 stream" if streams == 1 else f"{streams} streams"


def _drop_empty(table: Table) -> Table:
    """Returns a table without the columns that have no value."""
    heads, rows = table
    kept = [place for place in range(len(heads)) if any(row[place] != EMPTY for row in rows)]
    return [heads[place] for place in kept], [[row[place] for place in kept] for row in rows]


def _pictures(found: Judgement) -> list[Picture]:
    """Returns the ratings in front of their bands, a picture for each measure."""
    marks: dict[str, list[Mark]] = {}
    for one in found.streams:
        if one.rating is None:
            continue
        scale = scale_of(one.rating.measure)
        assert scale is not None
        low, high = (scale.locate(value) for value in (min(one.rating.values), max(one.rating.values)))
        text = " to ".join(dict.fromkeys(f"{value:.3g}" for value in sorted(one.rating.values)))
        marks.setdefault(one.rating.measure, []).append(
            Mark(one.name, text, one.rating.bands, (low + high) / 2, min(low, high), max(low, high))
        )
    return [
        Picture(scale, several[:MOST_MARKS])
        for measure, several in marks.items()
        if (scale := scale_of(measure)) is not None
    ]


MOST_MARKS = 8
"""Largest number of streams in a picture of bands."""


def _list_shades(found: Judgement, stream: str) -> list[Shade]:
    """Returns the worst part, the limits, and the breaks of a stream; only the first of a kind has a label."""
    shades = []
    if found.worst is not None:
        start, end = found.worst.start_s, found.worst.end_s
        shades.append(Shade(f"worst {end - start:.0f} s", ORANGE, start, end))
    row = 1
    for factor, (label, look) in FACTORS.items():
        spans = sorted({(one.start_s, one.end_s) for one in found.limits if one.factor == factor})
        for place, (start, end) in enumerate(spans[:MOST_SHADES]):
            shades.append(Shade("" if place else label, look, start, end, row))
        row += bool(spans)
    breaks = [one for one in found.incidents if one.kind in BREAKS and one.stream in {stream, ""}]
    strips = [Shade("", GREY, one.start_s, one.end_s, is_strip=True) for one in breaks[:MOST_SHADES]]
    return [*shades, *strips]


def _draw(found: Judgement, stream: str, place: int, folder: Path, provenance: Provenance) -> drawing.Drawing:
    """Draws a stream, or the connection, over time: a panel for each measure."""
    panels: dict[str, Course] = {}
    for one in found.courses:
        if one.stream == stream:
            panels.setdefault(one.measure, one)
    shades = _list_shades(found, stream)
    title = f"{stream} over time" if stream else "The connection over time"
    stem = f"stream-{place}" if stream else "connection"
    end = max(found.lasts_s, *(float(one.time_s[-1]) for one in panels.values()))
    begin = min(0.0, *(float(one.time_s[0]) for one in panels.values()))
    with drawing.canvas(stem, (9.2, 0.8 + 1.5 * len(panels))) as canvas:
        grid = canvas.subplots(len(panels), 1, sharex=True, squeeze=False)
        charts = []
        for axes, (measure, course) in zip(grid.flat, panels.items(), strict=True):
            name, unit = TITLES[measure]
            values = course.values.tolist()
            look = style.LOOKS[1] if measure in {"rate", "estimate"} else style.LOOKS[0]
            is_first = axes is grid.flat[0]
            most = max([LEAST_SPAN.get(measure, 0.0), *(1.08 * one for one in values if math.isfinite(one))])
            most = (most or 1.0) * (HEADROOM if is_first else 1.0)
            axes.plot(course.time_s, values, color=look.colour, linestyle="-")
            axes.set_title(name)
            axes.set_ylabel(unit)
            axes.set_ylim(0, most)
            axes.set_xlim(begin, end)
            _shade(axes, shades, labels=is_first)
            line = ChartSeries(name, style.SeriesStyle(look.name, look.colour, look.dark, look.marker, "-"),
                               course.time_s.tolist(), values, has_points=False)  # fmt: skip
            charts.append(
                ChartPanel(
                    name, "time (s)", unit, [line], ends=(0.0, most), x_ends=(begin, end),
                    shades=shades if is_first else [
                        Shade("", one.look, one.start, one.end, one.row, one.is_strip) for one in shades
                    ],
                )
            )  # fmt: skip
        grid.flat[-1].set_xlabel("time (s)")
        data = pl.concat([
            pl.DataFrame({
                "stream": [stream] * len(one.time_s), "measure": [TITLES[measure][0]] * len(one.time_s),
                "unit": [TITLES[measure][1]] * len(one.time_s), "time_s": one.time_s,
                "value": pl.Series(one.values).fill_nan(None),
            })
            for measure, one in panels.items()
        ])  # fmt: skip
        points = sum(len(one.time_s) for one in panels.values())
        return drawing.save(
            canvas, folder, stem, data, provenance,
            title=title[:1].upper() + title[1:],
            caption=_describe_shades(shades),
            alt=f"{title}, in the mean: " + ", ".join(
                f"{TITLES[measure][0]} {drawing.format_value(pl.Series(one.values).fill_nan(None).mean())} "
                f"{TITLES[measure][1]}"
                for measure, one in panels.items()
            ),
            chart=Chart(charts, is_linked=True) if points <= MOST_POINTS else None,
        )  # fmt: skip


def _shade(axes: Axes, shades: Sequence[Shade], *, labels: bool) -> None:
    for one in shades:
        high = 0.05 if one.is_strip else 1.0
        axes.axvspan(
            one.start, one.end, 0, high, color=one.look.colour, alpha=1.0 if one.is_strip else 0.18, linewidth=0.5,
            zorder=0.4,
        )  # fmt: skip
        if labels and one.label:
            axes.annotate(
                one.label, (one.start, 1.0), xycoords=("data", "axes fraction"), xytext=(3, -10 - 10 * one.row),
                textcoords="offset points", fontsize=style.points(7.5), color=style.INK,
            )  # fmt: skip


def _describe_shades(shades: Sequence[Shade]) -> str:
    parts = [f"{one.look.name}, {one.label}" for one in shades if one.label]
    if any(one.is_strip for one in shades):
        parts.append("grey strips at the foot, freezes, gaps and pauses")
    return f"Shaded: {'; '.join(parts)}." if parts else "No limits, freezes or gaps."
