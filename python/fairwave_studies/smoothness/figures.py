"""Figures 2 to 20 of paper 003; its equations' are in `equations`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave.measuring.statistics import interval
from fairwave_report import style
from fairwave_report.figures import Panel, draw_panel
from fairwave_studies.smoothness import names as n
from fairwave_studies.smoothness import points as p
from fairwave_studies.smoothness import quantities as q
from fairwave_studies.smoothness.claims import CLOSE, PUBLISHED, calibrated, calmest, level_of, predicted
from fairwave_studies.smoothness.equations import EQUATIONS
from fairwave_study import texts
from fairwave_study.parts import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure as Canvas

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave_study.folder import Case
    from fairwave_study.parts import Data
    from fairwave_study.readings import Reading

CAPTIONS = texts.notes(__file__, "figures")
"""Long captions, in `figures.toml`."""

FLOWS, ERRORS = "flows", "packet error rate on the links to the sinks"


def _figure(
    number: int, title: str, grid: str, measures: Sequence[Measure], x: str, x_label: str, **more: Any
) -> Figure:
    return Figure(
        id=f"003-{number}",
        title=title,
        grid=grid,
        measures=measures,
        x=x,
        x_label=x_label,
        source=f"paper 003, Figure {number}",
        **more,
    )


def _wired(reading: Reading) -> list[Figure]:
    return [
        _figure(
            2,
            "Goodput on wires, 10 Mb/s bottleneck",
            n.WIRED_10,
            [q.GOODPUT],
            "flows",
            FLOWS,
            y_from_zero=False,
            caption="The paper's caption has 100 Mb/s, its text 10. Note the scale.",
        ),
        _figure(
            3,
            "Goodput on wires, 100 Mb/s bottleneck",
            n.WIRED_100,
            [q.GOODPUT],
            "flows",
            FLOWS,
            caption=CAPTIONS.fill("3"),
        ),
        _figure(
            4,
            "Overhead on wires, 10 Mb/s bottleneck",
            n.WIRED_10,
            [q.OVERHEAD],
            "flows",
            FLOWS,
            y_from_zero=False,
            caption="Headers alone are 3.8 % of overhead. The table On wires has the bottleneck's drops.",
        ),
        _figure(
            5,
            "Overhead on wires, 100 Mb/s bottleneck",
            n.WIRED_100,
            [q.OVERHEAD],
            "flows",
            FLOWS,
            y_from_zero=False,
            caption="Headers alone are 3.8 %.",
        ),
        _figure(
            6,
            "90 % application success on wires, 1 Mb/s per flow",
            n.CONSTANT,
            [q.reads(0.9, reading["success"])],
            "flows",
            "flows, and Mb/s of the bottleneck",
            caption="With headers the applications ask for 1.04 Mb/s each, 4 % more than there is.",
        ),
    ]


def _changing() -> list[Figure]:
    return [
        Figure(
            id="003-7",
            title="Allotted fairness while flows double at 15, 20 and 25 s",
            grids=(n.GROWING,),
            draw=partial(_draw_course, measure=q.ALLOTTED_FAIRNESS, grid=n.GROWING),
            source="paper 003, Figure 7",
            caption="Mean and 95 % interval. A flow counts from its first whole bin. The paper's text has 100 Mb/s,"
            " its caption 10: both are shown.",
            size=(9.6, 3.9),
        ),
        Figure(
            id="003-8",
            title="Allotted system goodput while flows halve at 15, 20 and 25 s",
            grids=(n.SHRINKING,),
            draw=partial(_draw_course, measure=q.ALLOTTED_GOODPUT, grid=n.SHRINKING),
            source="paper 003, Figure 8",
            caption="Mean and 95 % interval.",
            size=(9.6, 3.9),
        ),
    ]


def _draw_course(canvas: Canvas, data: Data, *, measure: Measure, grid: str) -> pl.DataFrame:
    """A panel per rate of the bottleneck."""
    measured = data.measured(measure, grid)
    # Without the first second, in which flows begin.
    later = measured.select(time=[time for time in measured.labels("time") if time > 1])
    rates = later.labels("bottleneck")
    numbers = []
    axes = canvas.subplots(1, len(rates), squeeze=False)[0]
    for panel, rate in zip(axes, rates, strict=True):
        summary = later.select(bottleneck=rate).drop_axes("bottleneck").summary(["time", "transport"])
        draw_panel(
            panel,
            Panel(
                summary,
                "time",
                "transport",
                measure.label,
                "time (s)",
                f"bottleneck {rate}",
                y_from_zero=False,
            ),
        )
        for line in panel.lines:
            line.set_markersize(3)
        for at in (15, 20, 25):
            panel.axvline(at, color=style.INK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
        numbers.append(
            summary.select(pl.lit(rate).alias("bottleneck"), pl.lit(measure.unit).alias("unit"), pl.all())
        )
    _draw_legend(canvas, axes[0])
    return pl.concat(numbers)


def _draw_legend(canvas: Canvas, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside upper left", ncols=len(labels))


def _bursts() -> Figure:
    return Figure(
        id="003-markov",
        title="Goodput with packet errors at random and in bursts, 10 flows at 10 Mb/s",
        grids=(n.ERRORS_10, n.MARKOV),
        draw=_random_and_bursts,
        source="paper 003, §II",
        caption=CAPTIONS.fill("003-markov", burst_ms=p.BURST_MS),
        size=(6.4, 3.9),
    )


def _random_and_bursts(canvas: Canvas, data: Data) -> pl.DataFrame:
    parts = []
    for kind, grid in (("at random", n.ERRORS_10), ("in bursts", n.MARKOV)):
        measured = data.measured(q.GOODPUT, grid)
        dense = measured.select(per=max(measured.labels("per"))).drop_axes("per")
        parts.append(dense.summary(["transport"]).with_columns(pl.lit(kind).alias("errors")))
    summary = pl.concat(parts)
    draw_panel(
        canvas.subplots(),
        Panel(summary, "transport", "errors", q.GOODPUT.label, "", kind="bar"),
    )
    return summary


def _with_errors() -> list[Figure]:
    note = "The paper gives the wireless links 100 Mb/s in one caption and 10 in the other: both are shown."
    return [
        _figure(
            9, "Goodput under packet errors, 10 flows at 10 Mb/s", n.ERRORS_10, [q.GOODPUT], "per", ERRORS
        ),
        _crowd(10, "Goodput under packet errors, 100 flows at 100 Mb/s", q.GOODPUT, note),
        _figure(
            11,
            "Overhead under packet errors, 10 flows at 10 Mb/s",
            n.ERRORS_10,
            [q.OVERHEAD],
            "per",
            ERRORS,
            y_from_zero=False,
            caption="The paper's caption has goodput, its text overhead.",
        ),
        _crowd(12, "Overhead under packet errors, 100 flows at 100 Mb/s", q.OVERHEAD, note),
    ]


def _crowd(number: int, title: str, measure: Measure, caption: str) -> Figure:
    def draw(canvas: Canvas, data: Data) -> pl.DataFrame:
        measured = data.measured(measure, n.ERRORS_100)
        numbers = []
        rates = measured.labels("wireless")
        axes = canvas.subplots(1, len(rates), squeeze=False)[0]
        for panel, rate in zip(axes, rates, strict=True):
            summary = measured.select(wireless=rate).drop_axes("wireless").summary(["per", "transport"])
            draw_panel(
                panel,
                Panel(
                    summary,
                    "per",
                    "transport",
                    measure.label,
                    ERRORS,
                    f"wireless links {rate}",
                    y_from_zero=measure is q.GOODPUT,
                ),
            )
            numbers.append(
                summary.select(pl.lit(rate).alias("wireless"), pl.lit(measure.unit).alias("unit"), pl.all())
            )
        _draw_legend(canvas, axes[0])
        return pl.concat(numbers)

    return Figure(
        id=f"003-{number}",
        title=title,
        grids=(n.ERRORS_100,),
        draw=draw,
        source=f"paper 003, Figure {number}",
        caption=caption,
        size=(9.6, 3.9),
    )


def _handoffs() -> list[Figure]:
    return [
        Figure(
            id=f"003-{number}",
            title=f"Allotted throughput of one flow with handoffs of {words} on average",
            grids=(n.HANDOFFS,),
            draw=partial(_interrupted, down=down),
            source=f"paper 003, Figure {number}",
            caption=f"The first {TRACED_S} s of one replication (seed 1). All four meet the same handoffs. "
            "Bins of 1 s." + more,
            size=(9.6, 3.9),
        )
        for number, down, words, more in (
            (
                13,
                "500 ms",
                "500 ms",
                " Shaded: the stretch in the paper's text; its run was another one.",
            ),
            (14, "1 s", "1 s", ""),
        )
    ] + [
        Figure(
            id="003-handoffs",
            title="Goodput with handoffs, and while they are short",
            grids=(n.HANDOFFS,),
            draw=_handed_off,
            source="paper 003, Figures 13 and 14",
            caption="Means over replications from 5 s on. 'While short': the 20 s with the highest total rate in a "
            "run with handoffs of 500 ms on average.",
            size=(7.2, 3.9),
        )
    ]


TRACED_S = 100
"""How much of a run with handoffs is drawn, seconds."""


def _interrupted(canvas: Canvas, data: Data, *, down: str) -> pl.DataFrame:
    """One replication, the four systems over each other."""
    traces = data.measured(q.ALLOTTED_THROUGHPUT, n.HANDOFFS).select(down=down).drop_axes("down")
    rows = _seed(traces).filter(pl.col("time") <= TRACED_S)
    axes = canvas.subplots()
    for name, look in style.looks(traces.labels("transport")).items():
        one = rows.filter(pl.col("transport") == name)
        axes.plot(
            one["time"], one["value"], color=look.colour, linestyle=look.line, label=name, linewidth=1.3
        )
    if down == "500 ms":
        axes.axvspan(40, 60, color=style.INK, alpha=0.08, linewidth=0)
    axes.set_xlim(0, TRACED_S)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(q.ALLOTTED_THROUGHPUT.label)
    _draw_legend(canvas, axes)
    return rows.select("transport", "time", "value")


def _handed_off(canvas: Canvas, data: Data) -> pl.DataFrame:
    """Goodput over whole runs, and in the stretch that short handoffs leave alone."""
    goodput = data.measured(q.STEADY_GOODPUT, n.HANDOFFS)
    short = calmest(data.measured(q.ALLOTTED_THROUGHPUT, n.HANDOFFS).select(down="500 ms").drop_axes("down"))
    names = goodput.labels("transport")
    rows = [
        {"when": words, "transport": name, "mean": found.mean, "low": found.low, "high": found.high}
        for name in names
        for words, found in (
            ("1 s", goodput.interval(down="1 s", transport=name)),
            ("500 ms", goodput.interval(down="500 ms", transport=name)),
            ("500 ms, while short", interval(short[name])),
        )
    ]
    summary = pl.DataFrame(rows)
    panel = Panel(summary, "when", "transport", q.STEADY_GOODPUT.label, "handoffs on average", kind="bar")
    axes = canvas.subplots()
    draw_panel(axes, panel)
    _draw_legend(canvas, axes)
    return summary


def _applications(reading: Reading) -> list[Figure]:
    return [
        _figure(
            15,
            "70 % application success under packet errors, 100 flows",
            n.CONSTANT_ERRORS,
            [q.reads(0.7, reading["success"])],
            "per",
            ERRORS,
            caption="100 Mb/s bottleneck, 10 Mb/s wireless links, 1 Mb/s applications.",
        ),
    ]


def _round_trips() -> list[Figure]:
    return [
        _figure(
            number,
            f"Fairness among round trips from 30 ms up, {queue}",
            n.SPREAD,
            [q.FAIRNESS],
            "largest",
            "largest round trip (ms)",
            fix={"queue": queue},
            y_from_zero=False,
            caption="20 flows at 10 Mb/s, round trips evenly spread; buffers hold the product of the "
            "rate and 30 ms.",
        )
        for number, queue in ((16, "drop-tail"), (17, "RED"))
    ]


def _avoidance() -> list[Figure]:
    x = "flows, and Mb/s of all links"
    return [
        _figure(
            18,
            "Short-term fairness, 1 Mb/s per flow",
            n.AVOIDANCE,
            [q.SHORT_TERM_FAIRNESS],
            "flows",
            x,
            y_from_zero=False,
            caption="Mean of Jain's index over bins from 15 s on.",
        ),
        _figure(
            19,
            "Coefficient of variation, 1 Mb/s per flow",
            n.AVOIDANCE,
            [q.COV],
            "flows",
            x,
            caption="Mean over flows, bins from 15 s on.",
        ),
        Figure(
            id="003-alike",
            title="Goodput and long-term fairness of the same systems",
            grid=n.AVOIDANCE,
            measures=[q.GOODPUT, q.FAIRNESS],
            x="flows",
            x_label=x,
            source="paper 003, §IV",
            caption="By §IV the systems are alike in both (claims S16 and S21).",
        ),
    ]


def _blackout(reading: Reading) -> list[Figure]:
    level = level_of(reading)
    return [
        Figure(
            id="003-20",
            title="Throughput of one flow around a blackout of 1 s",
            grids=(n.RECOVERY,),
            draw=partial(_recovering, level=level),
            source="paper 003, Figure 20",
            caption=CAPTIONS.fill("003-20"),
            size=(9.6, 4.2),
        ),
        Figure(
            id="003-20-round-trips",
            title="Recovery times over the round trip",
            grids=(n.RECOVERY,),
            draw=partial(_recovery_times, level=level),
            source="paper 003, Figure 20",
            caption=f"To {100 * level:g} % of the goodput before the blackout; dotted what the paper publishes, and "
            "the round trip of the reading.",
            size=(7.2, 3.9),
        ),
        Figure(
            id="003-20-distance",
            title="How far recovery times are from the published ones",
            grids=(n.RECOVERY,),
            draw=partial(_distance, level=level),
            source="paper 003, Figure 20",
            caption="Ours over the published, less one, for each share of full speed that may count "
            "as recovered. Where the "
            f"round trip is calibrated Reno's is 0 by construction. Shaded: {100 * CLOSE:g} %, within "
            f"which claim S15 asks it.",
            size=(7.2, 3.9),
        ),
    ]


def _distance(canvas: Canvas, data: Data, *, level: float) -> pl.DataFrame:
    axes = canvas.subplots()
    rows = []
    for place, one in enumerate(p.LEVELS):
        for step, (name, published) in enumerate(PUBLISHED.items()):
            found = interval(100 * (predicted(data, name, one) / published - 1))
            rows.append(
                {"system": name, "level": one, "mean": found.mean, "low": found.low, "high": found.high}
            )
            look = style.looks(list(PUBLISHED))[name]
            axes.bar(
                place + 0.2 * (step - 1.5),
                found.mean,
                0.18,
                color=look.colour,
                label=name if place == 0 else None,
                zorder=2,
            )
    axes.axhspan(-100 * CLOSE, 100 * CLOSE, color=style.INK, alpha=0.08, linewidth=0)
    axes.axhline(0, color=style.INK, linewidth=0.8)
    words = [f"to {100 * one:g} %{' (judged)' if one == level else ''}" for one in p.LEVELS]
    axes.set_xticks(range(len(words)), words)
    axes.set_ylabel("distance to the published time (%)")
    _draw_legend(canvas, axes)
    return pl.DataFrame(rows)


def _recovering(canvas: Canvas, data: Data, *, level: float) -> pl.DataFrame:
    times = data.measured(q.recovery(level), n.RECOVERY)
    at = calibrated(data, level)
    nearest = min(times.labels("round trip"), key=lambda trip: abs(trip - at))
    traces = _seed(
        data.measured(q.ALLOTTED_THROUGHPUT, n.RECOVERY)
        .select(**{"round trip": nearest})
        .drop_axes("round trip")
    )
    axes = canvas.subplots()
    for name, look in style.looks(times.labels("transport")).items():
        one = traces.filter((pl.col("transport") == name) & (pl.col("time") >= 10))
        axes.plot(
            one["time"], one["value"], color=look.colour, linestyle=look.line, label=name, linewidth=1.5
        )
    ends = float(p.INTERRUPTION[1].split()[0])
    for published in sorted(set(PUBLISHED.values())):
        axes.axvline(ends + published, color=style.INK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
        axes.annotate(
            f"{published:g} s",
            (ends + published, 0.02),
            xycoords=("data", "axes fraction"),
            ha="left",
            va="bottom",
            fontsize=8.5,
        )
    axes.set_xlabel("time (s)")
    axes.set_ylabel(q.ALLOTTED_THROUGHPUT.label)
    axes.set_title(f"round trip {nearest:g} ms")
    axes.set_ylim(bottom=0)
    _draw_legend(canvas, axes)
    return traces.select(pl.lit(float(nearest)).alias("round trip"), "transport", "time", "value")


def _recovery_times(canvas: Canvas, data: Data, *, level: float) -> pl.DataFrame:
    summary = data.measured(q.recovery(level), n.RECOVERY).summary(["round trip", "transport"])
    axes = canvas.subplots()
    draw_panel(
        axes,
        Panel(
            summary,
            "round trip",
            "transport",
            "recovery time (s)",
            "round trip (ms)",
            f"to {100 * level:g} %",
        ),
    )
    for published in sorted(set(PUBLISHED.values())):
        axes.axhline(published, color=style.INK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
        axes.annotate(
            f"{published:g} s",
            (1, published),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize=8.5,
        )
    axes.axvline(calibrated(data, level), color=style.INK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    _draw_legend(canvas, axes)
    return summary


def _seed(measured: Measured) -> pl.DataFrame:
    """The first replication."""
    return measured.frame.filter(pl.col("seed") == measured.frame["seed"].min())


def _extra_figures() -> list[Figure]:
    """Smooth systems of the time that the paper leaves out, asked its questions."""
    return [
        Figure(
            id="003-beyond",
            title="Beyond the paper: SQRT, IIAD and RAP next to its systems, 20 flows at 20 Mb/s",
            grids=(n.BEYOND,),
            draw=_abreast,
            caption=CAPTIONS.fill("003-beyond"),
            size=(9.6, 3.9),
        ),
        Figure(
            id="003-beyond-readers",
            title="Beyond the paper: does it carry a stream better? 20 applications of 1 Mb/s",
            grid=n.BEYOND_READERS,
            measures=[q.SUCCESS[0.9], q.SUCCESS[0.7]],
            x="per",
            x_label=ERRORS,
            kind="bar",
            caption=CAPTIONS.fill("003-beyond-readers"),
        ),
        Figure(
            id="003-beyond-friendly",
            title="Beyond the paper: ten flows of a system next to ten of Reno, 20 Mb/s",
            grids=(n.BESIDE,),
            draw=_friendly,
            caption="Goodput of the system's flows over that of Reno's: 1 is friendly. Reno next to itself shows "
            "the effect of chance.",
            size=(7.2, 3.9),
        ),
    ]


def _abreast(canvas: Canvas, data: Data) -> pl.DataFrame:
    """A panel per measure, a bar per system."""
    rows = []
    measures = (q.GOODPUT, q.COV, q.SHORT_TERM_FAIRNESS)
    for axes, measure in zip(canvas.subplots(1, len(measures)), measures, strict=True):
        measured = data.measured(measure, n.BEYOND)
        looks = style.looks(measured.labels("transport"))
        for place, (name, look) in enumerate(looks.items()):
            found = measured.interval(transport=name)
            axes.bar(place, found.mean, 0.65, color=look.colour, zorder=2)
            ends = [max(found.low, measure.limits[0]), min(found.high, measure.limits[1])]
            axes.plot([place, place], ends, color=style.INK, linewidth=1.2, zorder=3)
            rows.append(
                {
                    "measure": measure.id,
                    "unit": measure.unit,
                    "transport": name,
                    "mean": found.mean,
                    "low": found.low,
                    "high": found.high,
                }
            )
        axes.set_xticks(range(len(looks)), list(looks))
        axes.tick_params(axis="x", rotation=60)
        axes.set_ylim(bottom=0)
        axes.set_title(measure.label, fontsize=9.5)
    return pl.DataFrame(rows)


def _friendly(canvas: Canvas, data: Data) -> pl.DataFrame:
    ours, theirs = (data.measured(one, n.BESIDE) for one in (q.MAIN_GOODPUT, q.RENO_GOODPUT))
    rows = []
    axes = canvas.subplots()
    looks = style.looks(ours.labels("transport"))
    for place, (name, look) in enumerate(looks.items()):
        found = interval(ours.samples(transport=name) / theirs.samples(transport=name))
        rows.append({"transport": name, "mean": found.mean, "low": found.low, "high": found.high})
        axes.bar(place, found.mean, 0.6, color=look.colour, zorder=2)
        axes.plot([place, place], [found.low, found.high], color=style.INK, linewidth=1.2, zorder=3)
    axes.axhline(1, color=style.INK, linewidth=0.8, linestyle=(0, (1, 2)))
    axes.set_xticks(range(len(looks)), list(looks))
    axes.tick_params(axis="x", rotation=30)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("goodput over Reno's beside it")
    return pl.DataFrame(rows)


def figures(case: Case) -> list[Figure]:
    """The figures of the paper in order, figures beyond it, and one per equation."""
    reading = case.reading
    return [
        *_wired(reading),
        *_changing(),
        *_with_errors(),
        _bursts(),
        *_handoffs(),
        *_applications(reading),
        *_round_trips(),
        *_avoidance(),
        *_blackout(reading),
        *_extra_figures(),
        *EQUATIONS,
    ]
