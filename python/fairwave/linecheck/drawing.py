"""A figure of a measurement: queueing delay of each direction over time, losses, and what load came through."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairwave.extras import need
from fairwave.linecheck.network import SEGMENT

if TYPE_CHECKING:
    from fairwave.linecheck.line import Line

COLOURS = {"up": "tab:orange", "down": "tab:blue"}
TITLES = {"idle": "idle", "down": "loaded downward", "up": "loaded upward", "recorded": "recorded"}
WIDTH_S = 0.25
"""Rates are drawn as means over so many seconds."""


def draw(line: Line, path: str | Path) -> Path:
    """Draws a measurement.

    Args:
        line: The measurement.
        path: Where the figure goes; the ending chooses its format.
    """
    need("matplotlib", "report")
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6 if line.loads else 3.5), layout="constrained")
    axes = figure.subplots(2 if line.loads else 1, 1, sharex=True, squeeze=False)[:, 0]
    above = axes[0]
    for direction, probes in line.probes.items():
        above.plot(
            probes.sent_s,
            1e3 * probes.raised_s,
            ".",
            markersize=2,
            color=COLOURS[direction],
            label=f"{direction}ward",
        )
        lost = probes.sent_s[np.isnan(probes.raised_s)]
        if len(lost):
            height = np.zeros(len(lost))
            above.plot(
                lost, height, "x", color=COLOURS[direction], markersize=5, label=f"lost {direction}ward"
            )
    above.set_ylabel("delay above the least, ms")
    top = 1.1 * max(above.get_ylim()[1], 10.0)
    above.set_ylim(-top / 50, top)
    for span in line.spans:
        for one in axes:
            one.axvspan(span.from_s, span.to_s, color="0.95", zorder=0)
        above.text(
            (span.from_s + span.to_s) / 2, 0.93 * top, TITLES.get(span.name, span.name), ha="center", va="top"
        )
    above.legend(loc="center left", markerscale=2)
    for direction, load in line.loads.items():
        if not load.carried:
            continue
        edges = np.arange(load.at_s[0], load.at_s[-1] + WIDTH_S, WIDTH_S)
        if len(edges) < 2:
            continue
        arrived = load.arrived(edges, load.segment or SEGMENT)
        axes[1].stairs(
            8e-6 * arrived / WIDTH_S, edges, color=COLOURS[direction], label=f"load {direction}ward"
        )
    if line.loads:
        axes[1].set_ylabel("load above TCP, Mb/s")
        axes[1].set_ylim(bottom=0)
        axes[1].legend(loc="upper left")
    axes[-1].set_xlabel("time, s")
    where = Path(path)
    where.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(where, dpi=120)
    return where
