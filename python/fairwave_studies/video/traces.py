"""Figures 3 and 6 to 20 of paper 002, except sweeps over the number of flows, which are in `sweeps`."""

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
from fairwave_study.parts import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from fairwave.measuring.measured import Measured
    from fairwave_study.parts import Data

PUBLISHED_COV = {DVRC: 0.1854, LITERAL: 0.1854, TFRC: 0.2229}
"""§5.1."""

WINDOW_S = (20.0, 80.0)
"""The drawn part of a run, seconds."""


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
    """Figure 3: the receiving rate and the bound over time."""
    traces = {
        one.title: during(first_seed(data.measured(one, p.BOUND).select(reading=p.TEXT)))
        for one in (q.RECEIVING, q.BOUND)
    }
    panel = canvas.subplots()
    looks = style.looks([DVRC, "bound"])
    for (title, trace), look in zip(traces.items(), looks.values(), strict=True):
        width = 1.0 if title == q.RECEIVING.title else 1.8
        panel.plot(trace["time"], trace["value"], color=look.colour, linewidth=width, label=title)
    panel.set_xlabel("time (s)")
    panel.set_ylabel("kb/s")
    panel.set_ylim(0, 1200)
    panel.legend(loc="upper right", ncols=2)
    return pl.concat([traced("trace", title, one) for title, one in traces.items()])


def _causes(canvas: Canvas, data: Data) -> pl.DataFrame:
    """True and judged causes of the losses in Figure 3's runs."""
    causes = data.measured(q.CAUSES, p.BOUND).select(reading=p.TEXT).drop_axes("reading").summary(["losses"])
    panel = canvas.subplots()
    _lying_bars(panel, causes, "losses")
    panel.set_xlabel("packets in a run")
    return summed("losses", causes, "losses")


def _lying_bars(axes: Axes, summary: pl.DataFrame, of: str) -> None:
    """Horizontal bars, so that long labels fit."""
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
    """Figure 6: the rates of DVRC and two TCP flows over the whole run."""
    names = {"video[0]": DVRC, "ftp[0]": "TCP 1", "ftp[1]": "TCP 2"}
    traces = {
        words: first_seed(data.measured(q.RATE[name], p.SINGLE).select(transport=DVRC)).sort("time")
        for name, words in names.items()
    }
    looks = style.looks([DVRC, "reno", "tcp 2"])
    panel = canvas.subplots()
    for (words, trace), look in zip(traces.items(), looks.values(), strict=True):
        panel.plot(
            trace["time"], trace["value"], color=look.colour, label=words,
            linewidth=1.3 if words == DVRC else 0.6, zorder=3 if words == DVRC else 2,
        )  # fmt: skip
    panel.set_xlabel("time (s)")
    panel.set_ylabel("rate (kb/s)")
    panel.set_ylim(0, 1200)
    panel.legend(loc="upper right", ncols=3)
    return pl.concat([traced("rate (kb/s)", words, one) for words, one in traces.items()])


def _cov(canvas: Canvas, data: Data) -> pl.DataFrame:
    """§5.1's coefficients of variation, next to the printed ones."""
    video, bulk = (
        data.measured(q.COV, grid).select(transport=[DVRC, LITERAL, TFRC]).summary(["transport"])
        for grid in (p.SINGLE, p.BULK)
    )
    panel = canvas.subplots()
    _bars_beside(panel, {"video": video, "endless data": bulk}, PUBLISHED_COV)
    panel.set_ylabel("coefficient of variation")
    return pl.concat(
        [summed("CoV, video", video, "transport"), summed("CoV, endless data", bulk, "transport")]
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


def _runs_of(data: Data) -> list[int]:
    """The runs of one DVRC flow next to two TCP flows, in order of their seeds."""
    rows = data.results[p.SINGLE].to_polars("runs").filter(pl.col("transport").cast(pl.String) == DVRC)
    found: list[int] = rows.sort("seed")["run"].to_list()
    return found


def _jitter(canvas: Canvas, data: Data) -> pl.DataFrame:
    """Figure 7: Eqs. (12) and (13) over time."""
    one = q.arrivals(data.results[p.SINGLE], _runs_of(data)[0])
    part = one.with_columns(pl.col("jitter_s").alias("value")).sort("time")
    look = style.looks([DVRC, "reno"])
    panel = canvas.subplots()
    panel.plot(
        part["time"],
        part["difference_s"] * 1e3,
        ".",
        color=look["reno"].colour,
        markersize=1.5,
        label="|D(i, j)|, Eq. (12)",
    )
    panel.plot(
        part["time"], part["jitter_s"] * 1e3, color=look[DVRC].colour, linewidth=1.3, label="jitter, Eq. (13)"
    )
    for line in (q.NOTICEABLE_S, q.THRESHOLD_S):
        panel.axhline(line * 1e3, color=style.INK, linewidth=0.9, linestyle=(0, (1, 2)))
    panel.set_xlabel("time (s)")
    panel.set_ylabel("ms")
    panel.set_ylim(0, 160)
    panel.legend(loc="upper right", ncols=2)
    return pl.concat(
        [
            traced("jitter (s), over time (s)", "J", part),
            traced(
                "difference (s), over time (s)", "D", part.with_columns(pl.col("difference_s").alias("value"))
            ),
        ]
    )


def _gaps(canvas: Canvas, data: Data) -> pl.DataFrame:
    """How many of Figure 7's gaps are how long, over all replications."""
    runs = _runs_of(data)
    look = style.looks([DVRC, "reno"])
    panel = canvas.subplots()
    edges = np.linspace(0, 0.2, 81)
    shares = {}
    for column, words, name in (
        ("gap_s", "gap between arrivals", DVRC),
        ("difference_s", "|D(i, j)|", "reno"),
    ):
        several = [
            q.arrivals(data.results[p.SINGLE], run).filter(pl.col("time") >= 2)[column].to_numpy()
            for run in runs
        ]
        every = np.concatenate(several)
        below = np.array([(every <= edge).mean() * 100 for edge in edges])
        panel.plot(edges * 1e3, below, color=look[name].colour, linestyle=look[name].line, label=words)
        shares[words] = pl.DataFrame({"time": edges, "value": below})
    for line in (q.NOTICEABLE_S, q.THRESHOLD_S):
        panel.axvline(line * 1e3, color=style.INK, linewidth=0.9, linestyle=(0, (1, 2)))
    panel.set_xlabel("ms")
    panel.set_ylabel("% of units up to so long")
    panel.set_ylim(0, 101)
    panel.legend(loc="lower right")
    return pl.concat([traced("share (%), up to (s)", words, one) for words, one in shares.items()])


def _queues(canvas: Canvas, data: Data, *, capacity: float) -> pl.DataFrame:
    """Figure 11: R2's queue over time, (a) under DVRC and (b) under UDP."""
    queue = data.measured(q.QUEUE, p.QUEUE)
    looks = style.looks(queue.labels("transport"))
    several, rows = canvas.subplots(1, 2, sharey=True), []
    for axes, name, letter in zip(several, (DVRC, UDP), "ab", strict=True):
        trace = first_seed(queue.select(transport=name)).sort("time")
        axes.plot(trace["time"], trace["value"], color=looks[name].colour, linewidth=0.8)
        axes.set_ylim(0, capacity * 1.05)
        axes.set_title(f"({letter}) {name}")
        axes.set_xlabel("time (s)")
        rows.append(traced("queue (packets)", name, trace))
    several[0].set_ylabel("packets in R2's queue")
    return pl.concat(rows)


def _fullness(canvas: Canvas, data: Data, *, capacity: float) -> pl.DataFrame:
    """How long R2's queue is how full, under all systems and over all replications."""
    queue = data.measured(q.QUEUE, p.QUEUE)
    names = queue.labels("transport")
    looks = style.looks(names)
    panel, rows = canvas.subplots(), []
    levels = np.linspace(0, capacity, 51)
    for name in names:
        values = queue.select(transport=name).frame.filter(pl.col("time") >= 2)["value"].to_numpy()
        share = np.array([(values <= level).mean() * 100 for level in levels])
        panel.plot(levels, share, color=looks[name].colour, linestyle=looks[name].line, label=name)
        found = pl.DataFrame({"time": levels, "value": share})
        rows.append(traced("time with at most so many packets (%)", name, found))
    panel.set_xlabel("packets in the queue")
    panel.set_ylabel("% of the time at most so many")
    panel.set_ylim(0, 101)
    panel.legend(loc="upper left")
    return pl.concat(rows)


FAIR_SHARE_KBPS = 1e3 * q.PAYLOAD_SHARE / 2
"""Of a link of 1 Mb/s that one video and one TCP flow share, in kb/s of payload."""


def _hops(canvas: Canvas, data: Data) -> pl.DataFrame:
    """Figure 17: the throughput of the DVRC flow, and the mean of the forward TCP flows, over the number of hops."""
    parts = [
        data.measured(q.flow_goodput(group), p.HOPS)
        .select(transport=DVRC)
        .drop_axes("transport")
        .summary(["hops"])
        .with_columns(pl.lit(words).alias("of"))
        for group, words in ((q.VIDEO, DVRC), (q.TCP, "TCP, mean of the forward flows"))
    ]
    summary = pl.concat(parts)
    panel = canvas.subplots()
    draw_panel(
        panel,
        Panel(summary, "hops", "of", "throughput (kb/s)", "hops", lines={"fair share": FAIR_SHARE_KBPS}),
    )
    room_above([panel], [summary])
    draw_legend(canvas, panel)
    return summary


def _hops_of_others(canvas: Canvas, data: Data) -> pl.DataFrame:
    """The same with other protocols in DVRC's place."""
    rows, numbers = canvas.subplots(1, 2, sharey=True), []
    for axes, group, title in zip(
        rows, (q.VIDEO, q.TCP), ("the flow through all hops", "mean of the forward TCP flows"), strict=True
    ):
        summary = data.measured(q.flow_goodput(group), p.HOPS).summary(["hops", "transport"])
        draw_panel(
            axes,
            Panel(summary, "hops", "transport", "goodput (kb/s)", "hops", title,
                  lines={"fair share": FAIR_SHARE_KBPS}),
        )  # fmt: skip
        numbers.append(summary.select(pl.lit(group).alias("of"), pl.all()))
    room_above(rows, numbers)
    draw_legend(canvas, rows[0])
    return pl.concat(numbers)


def room_above(rows: Sequence[Axes], numbers: Sequence[pl.DataFrame]) -> None:
    """Lets panels that share their vertical axis reach above the largest of their numbers."""
    highest = max(float(one["mean"].max()) for one in numbers)  # type: ignore[arg-type]
    for axes in rows:
        axes.set_ylim(0, 1.08 * highest)


def draw_legend(canvas: Canvas, axes: Any) -> None:
    """A legend for all panels, above them."""
    handles, labels = axes.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside upper left", ncols=max(len(labels), 1))


ONE_RUN = "One replication."


def alone() -> list[Figure]:
    """Figures 3, 6 and 7 of one DVRC flow as in the paper, then further details."""
    wide, narrow = (8.2, 3.9), (6.0, 3.9)
    return [
        Figure(
            id="002-3",
            title="Receiving rate and R̄ − n·D̄ with 3 % of packet errors, next to one TCP flow",
            grids=(p.BOUND,),
            draw=_judging,
            source="paper 002, Figure 3",
            caption=f"A loss while the rate is above the bound is taken for random. {ONE_RUN}",
            size=wide,
        ),
        Figure(
            id="002-3-causes",
            title="True and judged causes of the losses",
            grids=(p.BOUND,),
            draw=_causes,
            source="paper 002, Figure 3, against the truth",
            caption="The simulator knows the cause of each loss.",
            size=narrow,
        ),
        Figure(
            id="002-6",
            title="Sending rates of one DVRC and two TCP flows, 1 Mb/s",
            grids=(p.SINGLE,),
            draw=_rates,
            source="paper 002, Figure 6",
            caption=f"Averaged over 150 ms. {ONE_RUN}",
            size=wide,
        ),
        Figure(
            id="002-6-cov",
            title="Coefficient of variation of DVRC and TFRC next to two TCP flows",
            grids=(p.SINGLE, p.BULK),
            draw=_cov,
            source="paper 002, §5.1",
            caption="DVRC by text and by equation, and TFRC, as video and with data that never ends (the rate control "
            "alone), next to the printed numbers.",
            size=narrow,
        ),
        Figure(
            id="002-7",
            title="Delay jitter of one DVRC flow next to two TCP flows",
            grids=(p.SINGLE,),
            draw=_jitter,
            source="paper 002, Figure 7",
            caption=f"Units of video in order of arrival. Dotted: 50 and 75 ms. {ONE_RUN}",
            size=wide,
        ),
        Figure(
            id="002-7-gaps",
            title="Lengths of the gaps between arrivals, one DVRC flow next to two TCP flows",
            grids=(p.SINGLE,),
            draw=_gaps,
            source="paper 002, §5.1: most gaps are below 50 ms",
            caption="All replications, from 2 s on. Dotted: 50 and 75 ms.",
            size=narrow,
        ),
    ]


def queues(capacity: float = q.CAPACITY) -> Figure:
    """Figure 11."""
    return Figure(
        id="002-11",
        title="Queue length of router R2 with 40 videos",
        grids=(p.QUEUE,),
        draw=partial(_queues, capacity=capacity),
        source="paper 002, Figure 11a–b",
        caption=f"Means over 50 ms. The buffer holds {capacity:g} packets. {ONE_RUN}",
        size=(9.6, 3.9),
    )


def fullness(capacity: float = q.CAPACITY) -> Figure:
    """How full Figure 11's queue is under every system."""
    return Figure(
        id="002-11-fullness",
        title="How long the queue of R2 is how full, with 40 videos",
        grids=(p.QUEUE,),
        draw=partial(_fullness, capacity=capacity),
        source="paper 002, Figure 11, over all replications",
        caption=f"Means over 50 ms, from 2 s on. The buffer holds {capacity:g} packets.",
        size=(6.0, 3.9),
    )


def hops() -> Figure:
    """Figure 17."""
    return Figure(
        id="002-17",
        title="DVRC throughput and average throughput of forward TCP flows, 1 to 10 hops of 1 Mb/s",
        grids=(p.HOPS,),
        draw=_hops,
        source="paper 002, Figure 17",
        caption="Each hop has a TCP flow either way. From 10 s, when DVRC joins, to 200 s.",
        size=(6.0, 3.9),
    )


def hops_of_others() -> Figure:
    """Figure 17 with other protocols in DVRC's place."""
    return Figure(
        id="002-17-others",
        title="Other protocols in DVRC's place through 1 to 10 hops of 1 Mb/s",
        grids=(p.HOPS,),
        draw=_hops_of_others,
        source="paper 002, Figure 17, with TFRC and Reno",
        caption="The paper has DVRC alone. TFRC and a Reno flow in its place separate the protocol's effect from "
        "the path's.",
        size=(9.6, 3.9),
    )
