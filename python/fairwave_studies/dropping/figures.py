"""Figures 4 to 9 of paper 004, and Voice-Guard's."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave_studies.dropping import points as p
from fairwave_studies.dropping import published
from fairwave_studies.dropping import quantities as q
from fairwave_studies.dropping.agreement import compared
from fairwave_study import texts
from fairwave_study.parts import Figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure as Canvas

    from fairwave.measuring.measures import Measure
    from fairwave_study.folder import Case
    from fairwave_study.parts import Data

CAPTIONS = texts.notes(__file__, "figures")
"""Long captions, in `figures.toml`."""


def _workload(case: str) -> str:
    voice, other, tcp = p.CASES[case]
    return f"{case}: {voice} % voice, {other} % other UDP, {tcp} % TCP"


def _bars(
    canvas: Canvas,
    data: Data,
    grid: str,
    axis: str,
    labels: Sequence[str],
    place: Mapping[str, str],
    printed: Mapping[str, Sequence[float]],
) -> pl.DataFrame:
    """One panel as in the paper: per label and class the input of the queue (outline) and its output.

    Args:
        canvas: The canvas.
        data: The data.
        grid: Id of the grid.
        axis: The horizontal axis: victims or schemes.
        labels: Its labels, in order.
        place: Where: axes to labels.
        printed: The printed shares of the throughput in %, by label.
    """
    from fairwave_report import style

    panel = canvas.subplots()
    into, out = (data.measured(one, grid) for one in (q.IN, q.OUT))
    whole = data.measured(q.OUT, grid)
    rows: list[tuple[str, str, str, float, float, float]] = []
    looks = style.looks(list(q.CLASSES))
    width = 0.8 / len(q.CLASSES)
    for i, name in enumerate(q.CLASSES):
        at = [j - 0.4 + width * (i + 0.5) for j in range(len(labels))]
        arrive, leave = (
            [one.interval(**place, **{axis: label, "class": name}) for label in labels] for one in (into, out)
        )
        panel.bar(
            at, [one.mean for one in arrive], width * 0.9, fill=False, edgecolor=looks[name].colour, zorder=2
        )
        panel.bar(
            at,
            [one.mean for one in leave],
            width * 0.9,
            color=looks[name].colour,
            label=f"{q.CLASS_TITLES[name]}: in (outline) and out",
            zorder=3,
        )
        panel.errorbar(
            at, [one.mean for one in leave],
            [[one.mean - one.low for one in leave], [one.high - one.mean for one in leave]],
            fmt="none", ecolor=style.INK, elinewidth=1.2, capsize=3, zorder=4,
        )  # fmt: skip
        for what, several in (("in", arrive), ("out", leave)):
            rows += [
                (label, q.CLASS_TITLES[name], what, one.mean, one.low, one.high)
                for label, one in zip(labels, several, strict=True)
            ]
        for j, label in enumerate(labels):
            if label in printed:
                carried = sum(
                    whole.interval(**place, **{axis: label, "class": one}).mean for one in q.CLASSES
                )
                theirs = printed[label][i] / 100 * carried
                first = "printed" if not rows or all(row[2] != "printed" for row in rows) else None
                panel.plot([at[j]], [theirs], "D", color=style.INK, markersize=5, zorder=5, label=first)
                rows.append((label, q.CLASS_TITLES[name], "printed", theirs, theirs, theirs))
    panel.axhline(p.RATE_BPS / 3e6, color=style.INK, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
    panel.set_xticks(range(len(labels)), list(labels))
    panel.grid(visible=False, axis="x")
    panel.set_ylabel("throughput (Mb/s)")
    panel.set_ylim(bottom=0)
    canvas.legend(*panel.get_legend_handles_labels(), loc="outside upper left", ncols=4, fontsize=8.5)
    return pl.DataFrame(rows, schema=[axis, "class", "of", "mean", "low", "high"], orient="row")


MARKED = "Diamonds: the paper's shares of the traffic carried here."


def _throughput(number: str, case: str, grid: str, victims: tuple[str, ...], queue: str = "RED") -> Figure:
    printed = {
        victim: shares
        for (its_case, its_queue, victim), shares in published.SHARES.items()
        if (its_case, its_queue) == (case, queue)
    }
    return Figure(
        id=f"004-{number}",
        title=f"Throughput by class under {queue}, {_workload(case)}",
        grid=grid,
        fix={"case": case, "queue": queue, "victim": list(victims)},
        draw=partial(
            _bars,
            grid=grid,
            axis="victim",
            labels=victims,
            place={"case": case, "queue": queue},
            printed=printed,
        ),
        source=f"paper 004, Figure {number}",
        caption=f"Dotted: a third of the link. {MARKED if printed else ''}".strip(),
        size=(7.6, 4.0),
    )


def _random(case: str, grid: str) -> Figure:
    """Drop-Random, which the paper names and does not measure, next to its victims."""
    return replace(
        _throughput("", case, grid, (*p.PAPERS_VICTIMS, p.RANDOM)),
        id=f"random-{case}",
        source="beyond the paper; §2 names Drop-Random",
        caption="Dotted: a third of the link.",
    )


def _delays(number: str, case: str, victims: tuple[str, ...]) -> Figure:
    return Figure(
        id=f"004-{number}",
        title=f"End-to-end delay of voice under RED, {_workload(case)}",
        grid=p.ALWAYS_ON,
        measures=[q.CDF],
        x="delay",
        series="victim",
        x_label="delay (ms)",
        fix={"case": case, "queue": "RED", "victim": list(victims)},
        source=f"paper 004, Figure {number}",
        caption="Share of the voice packets received that took no longer; 39 ms is the way without queues.",
    )


def _opinion(number: str, case: str, grid: str, printed: Measure) -> Figure:
    return Figure(
        id=f"004-{number}",
        title=f"Mean opinion score of voice, {_workload(case)}",
        grid=grid,
        measures=[printed],
        x="queue",
        series="victim",
        x_label="queue",
        fix={"case": case, "victim": list(p.PAPERS_VICTIMS)},
        source=f"paper 004, Figure {number}",
        caption="The paper's Eq. (1)–(2) on mean delay and total loss of all voice.",
        kind="bar",
    )


def _full_opinion(case: str, grid: str) -> Figure:
    return Figure(
        id=f"g107-{case}",
        title=f"Mean opinion score of voice by full G.107, {_workload(case)}",
        grid=grid,
        measures=[q.FULL_MOS],
        x="queue",
        series="victim",
        x_label="queue",
        fix={"case": case, "victim": list(p.PAPERS_VICTIMS)},
        source="beyond the paper; its §4.4.1",
        caption="Per call, with its loss, bursts and concealment, played 300 ms after it was spoken.",
        kind="bar",
    )


def _punsi(number: str, workload: str, words: str, schemes: tuple[str, ...]) -> Figure:
    return Figure(
        id=f"004-{number}",
        title=f"Throughput by class under PUNSI and RED, {words}",
        grid=p.PUNSI,
        fix={"case": workload, "scheme": list(schemes)},
        draw=partial(
            _bars, grid=p.PUNSI, axis="scheme", labels=schemes, place={"case": workload}, printed={}
        ),
        source=f"paper 004, Figure {number}",
        size=(7.6, 4.0),
        caption="Dotted: a third of the link. PUNSI knows UDP and TCP only, and is built from its abstract: its "
        "paper prints no algorithm that is at hand. Its fellow of an arrival is any UDP packet, or, the "
        "other way, one of "
        "the same flow.",
    )


def _guard() -> list[Figure]:
    common: dict[str, Any] = {"grid": p.ON_OFF, "kind": "bar", "source": "beyond the paper; its §4.4.1"}
    chosen = [*p.PAPERS_VICTIMS, p.GUARD]
    return [
        Figure(
            id=f"guard-{case}",
            title=f"Voice-Guard where voice dominates, {_workload(case)}",
            measures=[q.MOS, q.TOTAL_LOSS, q.CLASS_FAIRNESS],
            x="queue",
            series="victim",
            x_label="queue",
            fix={"case": case, "victim": chosen},
            caption="Gain of voice (left, middle) and cost in fairness among the three classes (right).",
            **common,
        )
        for case in p.VOICE_DOMINATES
    ]


def _scatter(canvas: Canvas, data: Data) -> pl.DataFrame:
    """Each printed cell against ours, a panel per table; on the diagonal they are equal."""
    cells = compared(data)
    names = cells["table"].unique(maintain_order=True).to_list()
    axes = canvas.subplots(1, len(names), squeeze=False)[0]
    for axis, name in zip(axes, names, strict=True):
        part = cells.filter(pl.col("table") == name).drop_nans("here")
        for row in part["quantity"].unique(maintain_order=True):
            one = part.filter(pl.col("quantity") == row)
            axis.plot(one["paper"], one["here"], "o", markersize=4, alpha=0.7, label=row)
        most = 1.05 * max(1.0, *part["paper"].to_list(), *part["here"].to_list())
        axis.plot([0, most], [0, most], color="0.5", linewidth=0.8, linestyle=":")
        unit = part["unit"][0] if len(part) else ""
        axis.set(
            xlim=(0, most), ylim=(0, most), title=name, xlabel=f"printed ({unit})", ylabel=f"here ({unit})"
        )
        axis.legend(fontsize="x-small", frameon=False)
    return cells


def _distance() -> Figure:
    return Figure(
        id="distance",
        title="Every printed number and ours",
        draw=_scatter,
        grids=(p.ALWAYS_ON, p.ON_OFF, p.ROUTERS),
        size=(12.4, 4.2),
        source="paper 004, Tables 5 to 7",
        caption=CAPTIONS.fill("distance"),
    )


RELATED = (q.TOTAL_LOSS, q.LATE_LOSS, q.MOS, q.CLASS_FAIRNESS)


def _related(canvas: Canvas, data: Data, case: str) -> pl.DataFrame:
    """A panel per measure, a bar per queue and victim, with 95 % intervals."""
    axes = canvas.subplots(1, len(RELATED), sharey=True)
    names = list(p.BEYOND_SCHEMES)
    rows = []
    for axis, measure in zip(axes, RELATED, strict=True):
        measured = data.measured(measure, p.BEYOND)
        found = [measured.interval(case=case, scheme=name) for name in names]
        least = measure.limits[0] if measure.scale == "mos" else 0.0
        widths = [one.mean - least for one in found]
        # Clip whiskers to the measure's limits.
        low, high = measure.limits
        below = [max(one.mean - max(one.low, low), 0.0) for one in found]
        above = [max(min(one.high, high) - one.mean, 0.0) for one in found]
        colours = [_colour(name) for name in names]
        axis.barh(names, widths, left=least, xerr=[below, above], color=colours, capsize=2, ecolor="0.2")
        axis.set_xlabel(measure.label)
        rows += [
            (measure.id, name, one.mean, one.low, one.high) for name, one in zip(names, found, strict=True)
        ]
    axes[0].invert_yaxis()
    return pl.DataFrame(rows, schema=["measure", "scheme", "mean", "low", "high"], orient="row")


def _colour(scheme: str) -> str:
    return "#d55e00" if scheme.startswith(("FRED", "GREEN")) else "#0072b2"


def _extra_figures() -> list[Figure]:
    return [
        Figure(
            id=f"related-{case}",
            title=f"Queues of the related work, {_workload(case)}",
            draw=partial(_related, case=case),
            grids=(p.BEYOND,),
            source="beyond the paper; its §2",
            size=(12.4, 3.9),
            caption="FRED (Lin & Morris 1997) counts packets per flow, and calls send many small ones; GREEN "
            "(Wydrowski & Zukerman 2002) uses the rate of arrivals, or of admitted packets.",
        )
        for case in p.BEYOND_CASES
    ]


def figures(case: Case) -> list[Figure]:
    """All figures."""
    extent, reading = case.extent, case.reading
    victims = p.PAPERS_VICTIMS
    found = [
        _throughput(f"4{letter}", case, p.ALWAYS_ON, victims)
        for letter, case in zip("abcd", p.S1_CASES, strict=True)
    ]
    found += [
        _throughput(f"5{letter}", case, p.ON_OFF, victims)
        for letter, case in zip("abcd", p.S2_CASES, strict=True)
    ]
    schemes: tuple[str, ...] = (f"RED, {p.TAIL}", f"RED, {p.DROP_SEL}", p.PUNSI_SCHEME)
    if extent.beyond:
        schemes = (*schemes, p.OTHER_PUNSI)
    found += [
        _throughput("6a", "CA6", p.ON_OFF, p.PAPERS_VICTIMS, "AVQ"),
        _throughput("6b", "CA7", p.ON_OFF, p.PAPERS_VICTIMS, "REM"),
        _punsi("7a", "CA2", "CA2: 50 % voice, 25 % other UDP, 25 % TCP", schemes),
        _punsi("7b", p.MOSTLY_UDP, "66 % of unresponsive UDP", schemes),
    ]
    found += [_delays(f"8{letter}", case, victims) for letter, case in zip("abcd", p.S1_CASES, strict=True)]
    cases = [*((case, p.ON_OFF) for case in p.S2_CASES), *((case, p.ROUTERS) for case in p.S3_CASES)]
    found += [
        _opinion(f"9{letter}", case, grid, q.opinion(reading))
        for letter, (case, grid) in zip("abcdef", cases, strict=True)
    ]
    if extent.random:
        found += [_random("CA1", p.ALWAYS_ON), _random("CA5", p.ON_OFF)]
    if not extent.beyond:
        return found
    return [*found, *(_full_opinion(*case) for case in cases), _distance(), *_guard(), *_extra_figures()]
