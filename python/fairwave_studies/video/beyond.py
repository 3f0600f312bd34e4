"""Figures beyond paper 002: judgements scored, layers over time and in number, and differing round trips.

The last figure is the paper's future work (§3.2): AIAMD with different round trips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairwave_report import style
from fairwave_report.figures import Panel, draw_panel
from fairwave_studies.video import points as p
from fairwave_studies.video import quantities as q
from fairwave_studies.video.systems import DVRC, RTCP
from fairwave_studies.video.traces import draw_legend, during, first_seed, traced
from fairwave_study import texts
from fairwave_study.parts import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from fairwave_study.parts import Data

CAPTIONS = texts.notes(__file__, "figures")
"""Long captions, in `figures.toml`."""

SHORT = {p.TEXT: "receiving rate", p.EQUATION: "requested rate"}


def _scores(
    rows: list[Axes], data: Data, grid: str, x: str, x_label: str, held: dict[str, object]
) -> pl.DataFrame:
    """Precision and recall of either cause, by both comparisons."""
    numbers = []
    for axes, cause, pair in (
        (rows[0], "congestion", (q.PRECISION_CONGESTION, q.RECALL_CONGESTION)),
        (rows[1], "random loss", (q.PRECISION_RANDOM, q.RECALL_RANDOM)),
    ):
        parts = []
        for reading in (p.TEXT, p.EQUATION):
            for measure, word in zip(pair, ("precision", "recall"), strict=True):
                summary = (
                    data.measured(measure, grid)
                    .select(reading=reading, **held)
                    .drop_axes("reading", *held)
                    .summary([x])
                )
                parts.append(summary.with_columns(pl.lit(f"{word}, {SHORT[reading]}").alias("score")))
        summary = pl.concat(parts).filter(pl.col("mean").is_finite())
        draw_panel(axes, Panel(summary, x, "score", "%", x_label, cause))
        axes.set_ylim(0, 102)
        where = (pl.lit(cause).alias("cause"), pl.lit(x).alias("over"), pl.col(x).cast(pl.Float64).alias("x"))
        numbers.append(summary.select(*where, "score", "mean", "low", "high"))
    return pl.concat(numbers)


def _judged(canvas: Canvas, data: Data) -> pl.DataFrame:
    top, middle, bottom = canvas.subplots(3, 2)
    load = data.measured(q.RECALL_RANDOM, p.JUDGED).labels("tcp")
    per = data.measured(q.RECALL_RANDOM, p.JUDGED).labels("per")
    beside = 2 if 2 in load else load[-1]
    rate = 0.03 if 0.03 in per else per[-1]
    numbers = pl.concat(
        [
            _scores(
                list(top),
                data,
                p.JUDGED,
                "per",
                f"packet error rate, {beside} TCP flows at 1 Mb/s",
                {"tcp": beside},
            ),
            _scores(
                list(middle),
                data,
                p.JUDGED,
                "tcp",
                f"TCP flows at 1 Mb/s, packet error rate {rate:g}",
                {"per": rate},
            ),
            _scores(list(bottom), data, p.JUDGED_LOAD, "flows", "videos in the cross-traffic topology", {}),
        ]
    )
    draw_legend(canvas, top[1])
    return numbers


def _layers_over_time(canvas: Canvas, data: Data) -> pl.DataFrame:
    layers = data.measured(q.LAYERS, p.ADAPTATION)
    flows = layers.labels("flows")
    looks = style.looks([DVRC, RTCP])
    rows, numbers = canvas.subplots(len(flows), 2, width_ratios=(1.8, 1), squeeze=False), []
    for (left, right), n in zip(rows, flows, strict=True):
        for name in (DVRC, RTCP):
            trace = during(first_seed(layers.select(flows=n, transport=name)), (2.0, 60.0))
            left.step(trace["time"], trace["value"], where="post", color=looks[name].colour, linestyle=looks[name].line,
                      linewidth=1.2, label=name)  # fmt: skip
            numbers.append(traced(f"layers, {n} videos", name, trace))
        left.set_ylim(0.7, 5.3)
        left.set_yticks(range(1, 6))
        left.set_ylabel("layers")
        left.set_title(f"{n} videos: the first of them, one replication")
        time = (
            data.measured(q.TIME_AT_LAYERS, p.ADAPTATION)
            .select(flows=n)
            .drop_axes("flows")
            .summary(["layers", "transport"])
        )
        shown = time.with_columns(pl.col("layers").cast(pl.String))
        draw_panel(
            right, Panel(shown, "layers", "transport", "% of the time", "", "time at so many layers", "bar")
        )
        numbers.append(
            shown.select(pl.format("% of the time at {} layers, {} videos", "layers", pl.lit(n)).alias("what"),
                         pl.col("transport").alias("of"), pl.lit(None, pl.Float64).alias("time"), "mean", "low", "high")
        )  # fmt: skip
    rows[-1][0].set_xlabel("time (s)")
    rows[-1][1].set_xlabel("layers")
    draw_legend(canvas, rows[0][0])
    return pl.concat(numbers)


def _ablation(canvas: Canvas, data: Data) -> pl.DataFrame:
    measures = (q.GOODPUT, q.INDEX, q.DROPS, q.COV)
    splits = data.measured(q.GOODPUT, p.LAYERS).labels("split")
    grid, numbers = canvas.subplots(len(splits), len(measures), squeeze=False), []
    for row, split in zip(grid, splits, strict=True):
        for axes, measure in zip(row, measures, strict=True):
            summary = (
                data.measured(measure, p.LAYERS)
                .select(split=split)
                .drop_axes("split")
                .summary(["layers", "flows"])
            )
            named = summary.with_columns(pl.format("{} videos", "flows").alias("flows"))
            draw_panel(
                axes, Panel(named, "layers", "flows", measure.label.removeprefix("video "), "layers", split)
            )
            numbers.append(
                named.select(pl.lit(split).alias("split"), pl.lit(measure.id).alias("measure"), pl.all())
            )
    draw_legend(canvas, grid[0][0])
    return pl.concat(numbers)


def _round_trips(canvas: Canvas, data: Data) -> pl.DataFrame:
    rates = data.measured(q.BY_ROUND_TRIP, p.ROUND_TRIPS).summary(["round trip", "system"])
    exponents = data.measured(q.EXPONENT, p.ROUND_TRIPS).summary(["system"])
    left, right = canvas.subplots(1, 2, width_ratios=(1.5, 1))
    fair = {"fair share": p.MEGABITS * 1e3 * q.PAYLOAD_SHARE / p.SHARING}
    x_label = "round trip without queueing (ms)"
    draw_panel(
        left, Panel(rates, "round trip", "system", q.BY_ROUND_TRIP.label, x_label, lines=fair, log_x=True)
    )
    left.set_yscale("log")
    left.set_ylim(bottom=max(rates["mean"].min() * 0.7, 1.0))  # type: ignore[operator]
    trips = np.array([20.0, 50.0, 100.0, 200.0])
    left.set_xticks(trips, [f"{one:g}" for one in trips])
    rates_shown = [250, 500, 1000, 2000]
    left.set_yticks(rates_shown, [str(one) for one in rates_shown])
    left.minorticks_off()
    draw_panel(
        right,
        Panel(
            exponents,
            "system",
            None,
            "exponent",
            "",
            "goodput ∝ (round trip)^exponent",
            "bar",
            y_from_zero=False,
        ),
    )
    for bar, look in zip(right.patches, style.looks(exponents["system"].to_list()).values(), strict=False):
        bar.set_facecolor(look.colour)
    right.tick_params(axis="x", rotation=30)
    right.axhline(-1, color=style.INK, linewidth=0.9, linestyle=(0, (1, 2)))
    draw_legend(canvas, left)
    none = pl.lit(None, pl.Float64)
    return pl.concat(
        [
            rates.select(
                pl.lit("goodput (kb/s)").alias("what"), "system", "round trip", "mean", "low", "high"
            ),
            exponents.select(
                pl.lit("exponent").alias("what"), "system", none.alias("round trip"), "mean", "low", "high"
            ),
        ]
    )


MECHANISM_MEASURES = {
    "frames decoded": q.DECODABLE,
    "index (of what left, excess gaps)": q.INDEX_OF_SENT_EXCESS,
    "goodput": q.GOODPUT,
    "packets lost": q.DROPS,
}
"""Panel's title to its measure."""


def _mechanisms(canvas: Canvas, data: Data) -> pl.DataFrame:
    rows, numbers = canvas.subplots(1, len(MECHANISM_MEASURES)), []
    for axes, (title, measure) in zip(rows, MECHANISM_MEASURES.items(), strict=True):
        summary = data.measured(measure, p.MECHANISMS).summary(["flows", "mechanism"])
        draw_panel(axes, Panel(summary, "flows", "mechanism", measure.unit or "index", "videos", title))
        numbers.append(summary.select(pl.lit(measure.id).alias("measure"), pl.all()))
    draw_legend(canvas, rows[0])
    return pl.concat(numbers)


def _decodable(name: str, grid: str, words: str) -> Figure:
    return Figure(
        id=name,
        title=f"Visible video: decodable frames, {words}",
        grid=grid,
        measures=[q.DECODABLE, q.DECODABLE_LAYERS],
        x="flows",
        x_label="videos",
        source="paper 002 §1, beyond its figures",
        caption="A frame is decodable if it and all frames that it refers to came in time, at least in their base "
        "layer. TFRC and Westwood+ let frames wait in the sender until they are useless.",
    )


def figures() -> list[Figure]:
    """All of them."""
    return [
        _decodable("decodable", p.CROSS, "with cross traffic"),
        _decodable("decodable-reverse", p.REVERSE, "with reverse and bursty traffic"),
        Figure(
            id="judgements",
            title="Telling random loss from congestion: precision and recall against the truth",
            grids=(p.JUDGED, p.JUDGED_LOAD),
            draw=_judged,
            source="paper 002 §3.2, beyond its Figure 3",
            caption=CAPTIONS.fill("judgements"),
            size=(10.6, 10.2),
        ),
        Figure(
            id="layers",
            title="Layers over time, reverse-traffic topology",
            grids=(p.ADAPTATION,),
            draw=_layers_over_time,
            source="paper 002 §3.3, beyond its Figure 4",
            caption="Left: the first video's sending, sampled every 150 ms. Right: five videos, all replications.",
            size=(10.6, 7.6),
        ),
        Figure(
            id="ablation",
            title="How many layers? One to eight for the same video",
            grids=(p.LAYERS,),
            draw=_ablation,
            source="paper 002 §5.2 ('not presented here')",
            caption="DVRC in the cross-traffic topology. Above: layers alike; below: the base layer stays and the "
            "rest is cut. With one layer nothing can be adapted.",
            size=(12.6, 6.6),
        ),
        Figure(
            id="round-trips",
            title="AIAMD where round trips differ",
            grids=(p.ROUND_TRIPS,),
            draw=_round_trips,
            source="future work of paper 002 §3.2",
            caption=CAPTIONS.fill("round-trips", sharing=p.SHARING),
            size=(10.6, 4.2),
        ),
        Figure(
            id="mechanisms",
            title="Other ways to send a video at several rates, reverse-traffic topology",
            grids=(p.MECHANISMS,),
            draw=_mechanisms,
            source="paper 002 §1 and §3.3, beyond its figures",
            caption=CAPTIONS.fill("mechanisms"),
            size=(13.2, 3.9),
        ),
    ]
