"""Figures of many flows against their number: 8 to 10, 12 to 16 and 18 to 20 of paper 002."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave_report.figures import Panel, draw_panel
from fairwave_studies.video import points as p
from fairwave_studies.video import quantities as q
from fairwave_studies.video.claims import TCP_SHARE, VIDEO_SHARE, MeasuredTerms
from fairwave_studies.video.systems import DVRC, TFRC
from fairwave_studies.video.traces import draw_legend, fullness, hops_of_others, room_above
from fairwave_study.parts import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure as Canvas

    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data

X = "videos"


def _figure(
    number: int, parts: str, title: str, grid: str, measures: Sequence[Measure], **more: Any
) -> Figure:
    letters = "abc"[: len(measures)] if parts else ""
    titles = [f"({letter}) {one.title}" for letter, one in zip(letters, measures, strict=False)]
    return Figure(
        id=f"002-{number}",
        title=title,
        grid=grid,
        measures=measures,
        x="flows",
        x_label=X,
        source=f"paper 002, Figure {number}{parts}",
        panel_titles=titles,
        **more,
    )


def _fairness(canvas: Canvas, data: Data) -> pl.DataFrame:
    """Figure 10: a and b with cross traffic, c without it and with spread round trips."""
    panels = (
        ("(a) fairness index", q.FAIRNESS, p.CROSS),
        ("(b) worst-case fairness", q.WORST_CASE, p.CROSS),
        ("(c) fairness index, round trips spread", q.FAIRNESS, p.SPREAD),
    )
    rows = canvas.subplots(1, 3)
    numbers = []
    for axes, (title, measure, grid) in zip(rows, panels, strict=True):
        summary = data.measured(measure, grid).summary(["flows", "transport"])
        draw_panel(axes, Panel(summary, "flows", "transport", measure.label, X, title))
        numbers.append(summary.select(pl.lit(title).alias("panel"), pl.all()))
    draw_legend(canvas, rows[0])
    return pl.concat(numbers)


def _friendliness(canvas: Canvas, data: Data, *, name: str) -> pl.DataFrame:
    """Figures 15 and 16: normalised throughput of the videos and of TCP."""
    crowds = data.measured(TCP_SHARE, p.FRIENDLY).labels("tcp")
    rows = canvas.subplots(1, len(crowds), sharey=True, squeeze=False)[0]
    numbers = []
    for axes, crowd, letter in zip(rows, crowds, "ab", strict=False):
        parts = [
            data.measured(measure, p.FRIENDLY)
            .select(transport=name, tcp=crowd)
            .drop_axes("transport", "tcp")
            .summary(["flows"])
            .with_columns(pl.lit(words).alias("of"))
            for measure, words in ((VIDEO_SHARE, name), (TCP_SHARE, "Reno"))
        ]
        summary = pl.concat(parts)
        draw_panel(
            axes,
            Panel(summary, "flows", "of", "normalised throughput", X, f"({letter}) {crowd} TCP flows",
                  lines={"fair share": 1.0}),
        )  # fmt: skip
        numbers.append(summary.select(pl.lit(crowd).alias("tcp"), pl.all()))
    room_above(rows, numbers)
    draw_legend(canvas, rows[0])
    return pl.concat(numbers)


def cross(words: MeasuredTerms) -> list[Figure]:
    """Figures 8 to 10."""
    return [
        _figure(
            8, "a–b", "With cross traffic: goodput and smoothness", p.CROSS, [q.GOODPUT, q.COV],
            caption="All videos together; ten file transfers over Reno share the link out of R2.",
        ),
        _figure(
            9, "a–c", "With cross traffic: performance on video delivery", p.CROSS,
            [words.index, q.DROPS, words.delayed],
            caption="The meaning of sent is a reading of the paper; the next figure has the others.",
        ),
        Figure(
            id="002-9-readings",
            title="With cross traffic: the video delivery index by each reading",
            grid=p.CROSS,
            measures=[q.INDEX_OF_SENT, q.INDEX_OF_SENT_EXCESS, q.INDEX],
            x="flows",
            x_label=X,
            source="paper 002, Figure 9a, other readings",
            caption="Of the packets that left the sender, with gaps as printed and in excess of the sender's; and "
                    "of all packets of the application. The last one counts packets that the sender holds back as "
                    "sent and lost.",
        ),
        Figure(
            id="002-10",
            title="With cross traffic: fairness",
            grids=(p.CROSS, p.SPREAD),
            draw=_fairness,
            source="paper 002, Figure 10a–c",
            caption="(c): no cross traffic, no packet errors, round trips of 60 to 360 ms.",
            size=(11.4, 3.9),
        ),
    ]  # fmt: skip


def reverse(words: MeasuredTerms) -> list[Figure]:
    """Figures 12 to 14, after how full Figure 11's queue is under every system."""
    return [
        fullness(words.capacity),
        _figure(
            12, "", "With reverse and bursty traffic: goodput", p.REVERSE, [q.GOODPUT],
            caption="5 file transfers forward, 10 in reverse, 10 sources of Pareto bursts.",
        ),
        _figure(
            13, "a–b", "With reverse and bursty traffic: performance on video delivery", p.REVERSE,
            [words.index, q.DROPS],
        ),
        _figure(
            14, "a–b", "With reverse and bursty traffic: fairness", p.REVERSE, [q.FAIRNESS, q.WORST_CASE]
        ),
    ]  # fmt: skip


def friendliness() -> list[Figure]:
    """Figures 15 and 16."""
    return [
        Figure(
            id=f"002-{number}",
            title=f"Normalised throughput of {name} and TCP, 10 Mb/s",
            grids=(p.FRIENDLY,),
            draw=partial(_friendliness, name=name),
            source=f"paper 002, Figure {number}a–b",
            caption="A flow's mean goodput over the link's payload divided by the number of flows. A video that "
            "wants less than its share leaves the rest.",
            size=(9.6, 3.9),
        )
        for number, name in ((15, DVRC), (16, TFRC))
    ]


def chain(words: MeasuredTerms) -> list[Figure]:
    """Figures 18 to 20, after Figure 17 with other protocols in DVRC's place."""
    return [
        hops_of_others(),
        _figure(
            18, "", "Over five hops: goodput", p.CHAIN, [q.GOODPUT],
            caption="10 Mb/s; each hop has one TCP flow forward and one backward.",
        ),
        _figure(19, "a–b", "Over five hops: performance on video delivery", p.CHAIN, [words.index, q.DROPS]),
        _figure(20, "a–b", "Over five hops: fairness", p.CHAIN, [q.FAIRNESS, q.WORST_CASE]),
    ]  # fmt: skip
