"""Paper 003's equations compared with measurement: (1) with (2) and (3), (4), (13), (16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave import theory
from fairwave_report import style
from fairwave_studies.smoothness import names as n
from fairwave_studies.smoothness import points as p
from fairwave_studies.smoothness import quantities as q
from fairwave_studies.smoothness.names import STANDARD
from fairwave_studies.smoothness.systems import PAIRS
from fairwave_study.parts import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure as Canvas

    from fairwave_study.parts import Data

LEAST_TIMEOUT_S = 0.2
"""ns-2.35's shortest timeout, which a round trip of 100 ms without queueing does not exceed."""


def modelled(loss: float, name: str) -> float:
    """Eq. (1), segments per second, on the path of the grid `model`."""
    alpha, kept = PAIRS[name]
    return theory.aimd_rate(loss, p.ROUND_TRIP_S, LEAST_TIMEOUT_S, alpha=alpha, kept=kept)


def _throughput(canvas: Canvas, data: Data) -> pl.DataFrame:
    measured = data.measured(q.SENT, n.MODEL)
    losses = measured.labels("loss")
    smooth = np.geomspace(min(losses), max(losses), 60)
    left, right = canvas.subplots(1, 2)
    rows = []
    for name, look in style.looks(measured.labels("transport")).items():
        found = measured.select(transport=name).drop_axes("transport").summary(["loss"])
        model = [modelled(loss, name) for loss in losses]
        reno = np.array([measured.interval(transport=STANDARD, loss=loss).mean for loss in losses])
        _points(left, found, look, name)
        left.plot(smooth, [modelled(loss, name) for loss in smooth], color=look.colour, linewidth=1.2)
        right.plot(
            losses, found["mean"].to_numpy() / reno, color=look.colour, marker=look.marker, linestyle="none"
        )
        right.plot(
            smooth,
            [modelled(x, name) / modelled(x, STANDARD) for x in smooth],
            color=look.colour,
            linewidth=1.2,
        )
        rows += [
            {
                "transport": name,
                "loss": loss,
                "mean": mean,
                "low": low,
                "high": high,
                "model": one,
                "over TCP(1, 0.5)": mean / base,
            }
            for loss, mean, low, high, one, base in zip(
                losses, found["mean"], found["low"], found["high"], model, reno, strict=True
            )
        ]
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xlabel("packet error rate p")
    left.set_yscale("log")
    left.set_ylabel(q.SENT.label)
    left.set_title("Eq. (1)")
    right.axhline(1, color=style.INK, linewidth=0.8, linestyle=(0, (1, 2)))
    right.set_ylabel("relative to TCP(1, 0.5)")
    right.set_title("Eq. (2): friendly would be 1")
    _legend(canvas, left)
    return pl.DataFrame(rows)


def _points(axes: Any, summary: pl.DataFrame, look: style.SeriesStyle, label: str) -> None:
    x, mean = summary[summary.columns[0]].to_numpy(), summary["mean"].to_numpy()
    low, high = (summary[end].fill_null(summary["mean"]).to_numpy() for end in ("low", "high"))
    axes.errorbar(
        x,
        mean,
        yerr=[mean - low, high - mean],
        color=look.colour,
        marker=look.marker,
        linestyle="none",
        capsize=2.5,
        label=label,
    )


def _legend(canvas: Canvas, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside upper left", ncols=len(labels))


def _epoch(canvas: Canvas, data: Data) -> pl.DataFrame:
    rounds, peak, mean = (data.measured(one, n.SAWTOOTH) for one in (q.ROUNDS, q.PEAK, q.MEAN_WINDOW))
    names = rounds.labels("transport")
    looks = style.looks(names)
    left, right = canvas.subplots(1, 2)
    rows = []
    for place, name in enumerate(names):
        alpha, kept = PAIRS[name]
        window = peak.interval(transport=name).mean
        expected = (
            theory.epoch_rounds(window, alpha=alpha, kept=kept),
            theory.sawtooth_mean(window, kept=kept),
        )
        for axes, measured, model in ((left, rounds, expected[0]), (right, mean, expected[1])):
            found = measured.interval(transport=name)
            axes.bar(place, found.mean, 0.55, color=looks[name].colour, zorder=2)
            axes.plot([place - 0.36, place + 0.36], [model, model], color=style.INK, linewidth=2, zorder=3)
            rows.append(
                {
                    "what": measured.measure.title,
                    "transport": name,
                    "W": window,
                    "mean": found.mean,
                    "low": found.low,
                    "high": found.high,
                    "model": model,
                }
            )
    for axes, label, title in (
        (left, q.ROUNDS.label, "Eq. (4): (1 − β)·W/α + 1"),
        (right, q.MEAN_WINDOW.label, "(1 + β)·W/2"),
    ):
        axes.set_xticks(range(len(names)), [name.removeprefix("TCP") for name in names])
        axes.grid(visible=False, axis="x")
        axes.set_ylabel(label)
        axes.set_title(title)
    return pl.DataFrame(rows)


def _draw_buffers(
    axes: Any, ks: Sequence[float], model: Callable[[float], float], look: style.SeriesStyle, label: str = ""
) -> None:
    smooth = np.linspace(0, max(ks) * 1.03, 120)
    axes.plot(smooth, [model(k) for k in smooth], color=look.colour, linewidth=1.2, label=label or None)


def _use(canvas: Canvas, data: Data) -> pl.DataFrame:
    measured = data.measured(q.USE, n.USE)
    ks = measured.labels("k")
    axes = canvas.subplots()
    rows = []
    for name, look in style.looks(measured.labels("transport")).items():
        _, kept = PAIRS[name]
        found = measured.select(transport=name).drop_axes("transport").summary(["k"])
        _points(axes, found, look, name)
        _draw_buffers(axes, ks, lambda k, kept=kept: 100 * theory.sawtooth_use(k, kept=kept), look)  # type: ignore[misc]
        rows += [
            {
                "transport": name,
                "k": k,
                "mean": mean,
                "low": low,
                "high": high,
                "model": 100 * theory.sawtooth_use(k, kept=kept),
            }
            for k, mean, low, high in zip(ks, found["mean"], found["low"], found["high"], strict=True)
        ]
    axes.set_xlabel("k: buffer over bandwidth-delay product")
    axes.set_ylabel(q.USE.label)
    _legend(canvas, axes)
    return pl.DataFrame(rows)


def _knee(canvas: Canvas, data: Data) -> pl.DataFrame:
    measured = data.measured(q.LAST_GAMMA, n.KNEE)
    ks = measured.labels("k")
    axes = canvas.subplots()
    look = style.looks(["Reno+γ"])["Reno+γ"]
    found = measured.summary(["k"])
    _points(axes, found, look, "measured")
    _draw_buffers(axes, ks, theory.gamma, look, "Eq. (16): 1/(1 + k/2)")
    axes.axhline(2 / 3, color=style.INK, linewidth=0.8, linestyle=(0, (1, 2)))
    axes.annotate(
        "2/3", (1, 2 / 3), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8.5
    )
    axes.set_xlabel("k: buffer over bandwidth-delay product")
    axes.set_ylabel("γ of the last decrease")
    axes.legend()
    return found.with_columns(pl.Series("model", [theory.gamma(k) for k in ks]))


EQUATIONS = (
    Figure(
        id="003-eq1",
        title="The throughput equation against measurement",
        grids=(n.MODEL,),
        draw=_throughput,
        source="paper 003, Eqs. (1)–(3)",
        caption="One flow that meets independent packet errors on an idle path; lines are Eq. (1) with the path's "
        "80 ms and the least timeout, 200 ms. By Eq. (3) the pairs are friendly if timeouts decide. If "
        "timeouts are rare, Eq. (1) gives the pairs (1 + β)/1.5 of the standard TCP's rate.",
        size=(9.6, 3.9),
    ),
    Figure(
        id="003-eq4",
        title="Length of a congestion epoch and mean window, one flow",
        grids=(n.SAWTOOTH,),
        draw=_epoch,
        source="paper 003, Eq. (4)",
        caption="Bars are measured from samples of the sender every 20 ms, black lines computed from the "
        "window at which epochs end.",
        size=(9.6, 3.9),
    ),
    Figure(
        id="003-eq13",
        title="Use of the bottleneck by one flow over the size of the buffer",
        grids=(n.USE,),
        draw=_use,
        source="paper 003, Eqs. (7)–(13)",
        caption="Lines follow from the paper's knee and cliff: the link is always busy from k = 1/β − 1 "
        "on. Vertical bars: 95 % intervals.",
    ),
    Figure(
        id="003-eq16",
        title="γ over the size of the buffer, one flow",
        grids=(n.KNEE,),
        draw=_knee,
        source="paper 003, Eq. (16)",
        caption="The sender finds the knee from its round trips.",
    ),
)
"""One figure per equation."""
