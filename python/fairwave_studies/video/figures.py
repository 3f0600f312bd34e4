"""Figures 3 and 6 to 20 of paper 002, but for those of many flows against their number, which are in `sweeps`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave_report import style
from fairwave_report.figures import Panel, draw_panel
from fairwave_studies.video import points as p
from fairwave_studies.video import quantities as q
from fairwave_studies.video.systems import DVRC, LITERAL, TFRC, UDP
from fairwave_study.study import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from fairwave.measuring.measured import Measured
    from fairwave_study.study import Data

PUBLISHED_COV = {DVRC: 0.1854, LITERAL: 0.1854, TFRC: 0.2229}
"""§5.1."""

WINDOW_S = (20.0, 80.0)
"""What part of a run is drawn as a trace, seconds."""


def first_seed(measured: Measured) -> pl.DataFrame:
    """The first replication."""
    return measured.frame.filter(pl.col("seed") == measured.frame["seed"].min())


def during(frame: pl.DataFrame, window: tuple[float, float] = WINDOW_S) -> pl.DataFrame:
    """Only that part of a trace."""
    return frame.filter(pl.col("time").is_between(*window)).sort("time")


def traced(name: str, what: str, frame: pl.DataFrame) -> pl.DataFrame:
    """A trace as rows of a figure's numbers."""
    none = pl.lit(None, pl.Float64)
    return frame.select(
        pl.lit(name).alias("what"),
        pl.lit(what).alias("of"),
        pl.col("time").cast(pl.Float64),
        pl.col("value").cast(pl.Float64).alias("mean"),
        none.alias("low"),
        none.alias("high"),
    )


def summed(name: str, summary: pl.DataFrame, of: str) -> pl.DataFrame:
    """Means with intervals as rows of a figure's numbers."""
    return summary.select(
        pl.lit(name).alias("what"),
        pl.col(of).cast(pl.String).alias("of"),
        pl.lit(None, pl.Float64).alias("time"),
        pl.col("mean").cast(pl.Float64),
        pl.col("low").cast(pl.Float64),
        pl.col("high").cast(pl.Float64),
    )


def _judging(canvas: Canvas, data: Data) -> pl.DataFrame:
    """Figure 3: the receiving rate and the bound over time; what became of losses."""
    traces = {
        one.title: during(first_seed(data.measured(one, p.BOUND).at(reading=p.TEXT)))
        for one in (q.RECEIVING, q.BOUND)
    }
    left, right = canvas.subplots(1, 2, width_ratios=(1.9, 1))
    looks = style.looks([DVRC, "bound"])
    for (title, trace), look in zip(traces.items(), looks.values(), strict=True):
        width, shape = (1.0, "-") if title == q.RECEIVING.title else (1.8, "-")
        left.plot(
            trace["time"], trace["value"], color=look.colour, linestyle=shape, linewidth=width, label=title
        )
    left.set_xlabel("time (s)")
    left.set_ylabel("kb/s")
    left.set_title("one replication")
    left.set_ylim(0, 1200)
    left.legend(loc="upper right", ncols=2)
    causes = data.measured(q.CAUSES, p.BOUND).at(reading=p.TEXT).without("reading").summary(["losses"])
    _lying_bars(right, causes, "losses")
    right.set_xlabel("packets in 200 s")
    right.set_title("losses by cause and judgement")
    return pl.concat(
        [*(traced("trace", title, one) for title, one in traces.items()), summed("losses", causes, "losses")]
    )


def _lying_bars(axes: Axes, summary: pl.DataFrame, of: str) -> None:
    """Bars from left to right, so that long words stand beside them."""
    names = [str(one).replace(", ", ",\n") for one in summary[of]]
    mean = summary["mean"].to_numpy()
    reach = np.abs(np.stack([mean - summary["low"].to_numpy(), summary["high"].to_numpy() - mean]))
    looks = list(style.looks(names).values())
    axes.barh(
        names,
        mean,
        xerr=np.nan_to_num(reach),
        color=[look.colour for look in looks],
        ecolor=style.INK,
        capsize=3,
    )
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")


def _rates(canvas: Canvas, data: Data) -> pl.DataFrame:
    """Figure 6: the rates of DVRC and two TCP flows over time; CoV beside the published."""
    names = {"video[0]": DVRC, "ftp[0]": "TCP 1", "ftp[1]": "TCP 2"}
    traces = {
        words: during(first_seed(data.measured(q.RATE[name], p.SINGLE).at(transport=DVRC)), (20.0, 60.0))
        for name, words in names.items()
    }
    looks = style.looks([DVRC, "reno", "tcp 2"])
    left, right = canvas.subplots(1, 2, width_ratios=(1.8, 1.2))
    for (words, trace), look in zip(traces.items(), looks.values(), strict=True):
        left.plot(
            trace["time"], trace["value"], color=look.colour, label=words,
            linewidth=1.7 if words == DVRC else 0.9, zorder=3 if words == DVRC else 2,
        )  # fmt: skip
    left.set_xlabel("time (s)")
    left.set_ylabel("rate (kb/s)")
    left.set_ylim(0, 1200)
    left.legend(loc="upper right", ncols=3)
    left.set_title("one replication, bins of 150 ms")
    video, bulk = (
        data.measured(q.COV, grid).at(transport=[DVRC, LITERAL, TFRC]).summary(["transport"])
        for grid in (p.SINGLE, p.BULK)
    )
    _bars_beside(right, {"video": video, "endless data": bulk}, PUBLISHED_COV)
    right.set_title("coefficient of variation")
    return pl.concat(
        [
            *(traced("rate (kb/s)", words, one) for words, one in traces.items()),
            summed("CoV, video", video, "transport"),
            summed("CoV, endless data", bulk, "transport"),
        ]
    )


def _bars_beside(axes: Axes, parts: dict[str, pl.DataFrame], published: dict[str, float]) -> None:
    """A group of bars per system: measured ones, then the published."""
    names = list(published)
    looks = style.looks(names)
    width = 0.8 / (len(parts) + 1)
    hatches = ("", "///", "...")
    for i, (words, summary) in enumerate(parts.items()):
        rows = {row["transport"]: row for row in summary.iter_rows(named=True)}
        for place, name in enumerate(names):
            row = rows[name]
            at = place - 0.4 + width * (i + 0.5)
            axes.bar(
                at,
                row["mean"],
                width * 0.9,
                color=looks[name].colour,
                hatch=hatches[i],
                edgecolor=style.PAPER,
            )
            low, high = row["low"], row["high"]
            if low is not None and np.isfinite([low, high]).all():
                axes.errorbar(
                    at,
                    row["mean"],
                    yerr=[[row["mean"] - low], [high - row["mean"]]],
                    ecolor=style.INK,
                    capsize=3,
                )
            axes.annotate(words, (at, 0), (0, 4), textcoords="offset points", rotation=90, fontsize=8.5,
                          ha="center", va="bottom", color=style.PAPER)  # fmt: skip
    for place, name in enumerate(names):
        at = place - 0.4 + width * (len(parts) + 0.5)
        axes.bar(at, published[name], width * 0.9, color=style.PAPER, edgecolor=style.INK)
        axes.annotate("published", (at, 0), (0, 4), textcoords="offset points", rotation=90, fontsize=8.5,
                      ha="center", va="bottom")  # fmt: skip
    axes.set_xticks(range(len(names)), names)
    axes.grid(visible=False, axis="x")


def _jitter(canvas: Canvas, data: Data) -> pl.DataFrame:
    """Figure 7: Eqs. (12) and (13) over time; how many gaps are how long."""
    results = data.results[p.SINGLE]
    runs = (
        results.to_polars("runs")
        .filter(pl.col("transport").cast(pl.String) == DVRC)
        .sort("seed")["run"]
        .to_list()
    )
    one = q.arrivals(results, runs[0])
    part = during(one.with_columns(pl.col("jitter_s").alias("value")))
    look = style.looks([DVRC, "reno"])
    left, right = canvas.subplots(1, 2, width_ratios=(1.7, 1))
    left.plot(
        part["time"],
        part["difference_s"] * 1e3,
        ".",
        color=look["reno"].colour,
        markersize=2.0,
        label="|D(i, j)|, Eq. (12)",
    )
    left.plot(
        part["time"], part["jitter_s"] * 1e3, color=look[DVRC].colour, linewidth=1.6, label="jitter, Eq. (13)"
    )
    for line in (q.NOTICEABLE_S, q.THRESHOLD_S):
        left.axhline(line * 1e3, color=style.INK, linewidth=0.9, linestyle=(0, (1, 2)))
    left.set_xlabel("time (s)")
    left.set_ylabel("ms")
    left.set_ylim(0, 160)
    left.set_title("one replication")
    left.legend(loc="upper right", ncols=2)
    edges = np.linspace(0, 0.2, 81)
    shares = {}
    for column, words, name in (
        ("gap_s", "gap between arrivals", DVRC),
        ("difference_s", "|D(i, j)|", "reno"),
    ):
        every = np.concatenate(
            [q.arrivals(results, run).filter(pl.col("time") >= 2)[column].to_numpy() for run in runs]
        )
        below = np.array([(every <= edge).mean() * 100 for edge in edges])
        right.plot(edges * 1e3, below, color=look[name].colour, linestyle=look[name].line, label=words)
        shares[words] = pl.DataFrame({"time": edges, "value": below})
    for line in (q.NOTICEABLE_S, q.THRESHOLD_S):
        right.axvline(line * 1e3, color=style.INK, linewidth=0.9, linestyle=(0, (1, 2)))
    right.set_xlabel("ms")
    right.set_ylabel("% of units up to so long")
    right.set_ylim(0, 101)
    right.set_title("all replications")
    right.legend(loc="lower right")
    return pl.concat(
        [
            traced("jitter (s), over time (s)", "J", part),
            traced(
                "difference (s), over time (s)", "D", part.with_columns(pl.col("difference_s").alias("value"))
            ),
            *(traced("share (%), up to (s)", words, one) for words, one in shares.items()),
        ]
    )


def _queues(canvas: Canvas, data: Data, *, capacity: float) -> pl.DataFrame:
    """Figure 11: R2's queue over time under DVRC and UDP; how long how full under all systems."""
    queue = data.measured(q.QUEUE, p.QUEUE)
    names = queue.labels("transport")
    looks = style.looks(names)
    top, bottom, right = canvas.subplot_mosaic([["a", "c"], ["b", "c"]], width_ratios=(1.8, 1)).values()
    right, bottom = bottom, right
    rows = []
    for axes, name, letter in ((top, DVRC, "a"), (bottom, UDP, "b")):
        trace = during(first_seed(queue.at(transport=name)), (20.0, 50.0))
        axes.plot(trace["time"], trace["value"], color=looks[name].colour, linewidth=1.0)
        axes.set_ylim(0, capacity * 1.05)
        axes.set_title(f"({letter}) {name}, one replication")
        axes.set_ylabel("packets")
        rows.append(traced("queue (packets)", name, trace))
    bottom.set_xlabel("time (s)")
    levels = np.linspace(0, capacity, 51)
    for name in names:
        values = queue.at(transport=name).frame.filter(pl.col("time") >= 2)["value"].to_numpy()
        share = np.array([(values <= level).mean() * 100 for level in levels])
        right.plot(levels, share, color=looks[name].colour, linestyle=looks[name].line, label=name)
        rows.append(
            traced(
                "time with at most so many packets (%)", name, pl.DataFrame({"time": levels, "value": share})
            )
        )
    right.set_xlabel("packets in the queue")
    right.set_ylabel("% of the time at most so many")
    right.set_ylim(0, 101)
    right.set_title("all replications")
    right.legend(loc="upper left")
    return pl.concat(rows)


def _hops(canvas: Canvas, data: Data) -> pl.DataFrame:
    """Figure 17: throughput over the length of the chain."""
    rows, numbers = canvas.subplots(1, 2, sharey=True), []
    for axes, group, title in zip(
        rows, (q.VIDEO, q.TCP), ("the flow through all hops", "mean of the forward TCP flows"), strict=True
    ):
        summary = data.measured(q.per_flow(group), p.HOPS).summary(["hops", "transport"])
        draw_panel(
            axes,
            Panel(summary, "hops", "transport", "goodput (kb/s)", "hops", title,
                  lines={"fair share": 1e3 * q.PAYLOAD_SHARE / 2}),
        )  # fmt: skip
        numbers.append(summary.select(pl.lit(group).alias("of"), pl.all()))
    room_above(rows, numbers)
    one_legend(canvas, rows[0])
    return pl.concat(numbers)


def room_above(rows: Sequence[Axes], numbers: Sequence[pl.DataFrame]) -> None:
    """Lets panels that share their vertical axis reach above the largest of their numbers."""
    highest = max(float(one["mean"].max()) for one in numbers)  # type: ignore[arg-type]
    for axes in rows:
        axes.set_ylim(0, 1.08 * highest)


def one_legend(canvas: Canvas, axes: Any) -> None:
    """A legend for all panels, above them."""
    handles, labels = axes.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside upper left", ncols=max(len(labels), 1))


def alone() -> list[Figure]:
    """Figures 3, 6 and 7: one DVRC flow."""
    return [
        Figure(
            id="002-3",
            title="Receiving rate and R̄ − n·D̄ with 3 % of packet errors, beside one TCP flow",
            grids=(p.BOUND,),
            draw=_judging,
            source="paper 002, Figure 3",
            caption="A loss while the rate is above the bound is taken for random. Right: what the losses really were, "
            "which the simulator knows.",
            size=(10.6, 3.9),
        ),
        Figure(
            id="002-6",
            title="Rates of one DVRC and two TCP flows, 1 Mb/s",
            grids=(p.SINGLE, p.BULK),
            draw=_rates,
            source="paper 002, Figure 6 and §5.1",
            caption="Right: CoV of DVRC (by text and by equation) and TFRC, as video and with data that never ends "
            "(the rate control alone), beside the published numbers.",
            size=(10.6, 3.9),
        ),
        Figure(
            id="002-7",
            title="Jitter of one DVRC flow beside two TCP flows",
            grids=(p.SINGLE,),
            draw=_jitter,
            source="paper 002, Figure 7",
            caption="Units of video in order of arrival. Dotted: 50 and 75 ms.",
            size=(10.6, 3.9),
        ),
    ]


def queues(capacity: float = q.CAPACITY) -> Figure:
    """Figure 11."""
    return Figure(
        id="002-11",
        title="Queue of router R2 with 40 videos",
        grids=(p.QUEUE,),
        draw=partial(_queues, capacity=capacity),
        source="paper 002, Figure 11a–b",
        caption=f"Means over 50 ms. The buffer holds {capacity:g} packets.",
        size=(10.6, 4.6),
    )


def hops() -> Figure:
    """Figure 17."""
    return Figure(
        id="002-17",
        title="One flow through 1 to 10 hops of 1 Mb/s, each with a TCP flow either way",
        grids=(p.HOPS,),
        draw=_hops,
        source="paper 002, Figure 17",
        caption="From 10 s, when it joins, to 200 s. The paper has DVRC alone; TFRC and a Reno flow in its place tell "
        "what is the protocol's and what the path's.",
        size=(9.6, 3.9),
    )
