"""The picture of RFC 7928 §2.7: queueing delay across, goodput up, a point per run, an ellipse for all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave_report import style

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from numpy.typing import NDArray

    from fairwave.measuring.measures import Measure
    from fairwave_study.parts import Data

EPSILON = 0.5
"""Half of the runs are within an ellipse, if they are normally distributed."""


def trade_off(
    grid: str, wait: Measure, goodput: Measure, series: str, along: str
) -> Callable[[Canvas, Data], pl.DataFrame]:
    """Returns a function that draws goodput over queueing delay: a panel per label of `along`, a colour per `series`.

    The ellipse is the contour that contains a share of 1 − ε of the best-fitting normal distribution (Winstein, 2014).
    The ring marks the medians. Delay grows to the left, so that better is to the upper right.
    """

    def draw(canvas: Canvas, data: Data) -> pl.DataFrame:
        waited, got = data.measured(wait, grid), data.measured(goodput, grid)
        panels = waited.labels(along) if along else [None]
        axes = canvas.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        names = [str(name) for name in waited.labels(series)]
        looks = style.looks(names)
        rows = []
        for axis, panel in zip(axes, panels, strict=True):
            for name in waited.labels(series):
                at = {series: name, **({along: panel} if along else {})}
                x, y = waited.samples(**at), got.samples(**at)
                known = np.isfinite(x) & np.isfinite(y)
                _draw_one(axis, x[known], y[known], str(name), looks[str(name)])
                rows += [
                    {series: str(name), along or "point": str(panel or ""), "wait": a, "goodput": b}
                    for a, b in zip(x, y, strict=True)
                ]
            if panel is not None:
                axis.set_title(f"{along} {panel}")
            axis.invert_xaxis()
        canvas.supxlabel(wait.label)
        axes[0].set_ylabel(goodput.label)
        handles, labels = axes[0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside upper left", ncols=4)
        return pl.DataFrame(rows).fill_nan(None)

    return draw


def _draw_one(axis: Axes, x: NDArray[Any], y: NDArray[Any], name: str, look: style.SeriesStyle) -> None:
    from matplotlib.patches import Ellipse

    axis.plot(x, y, linestyle="", marker=look.marker, markersize=3, color=look.colour, alpha=0.6)
    if len(x) > 2:
        width, height, angle = ellipse(x, y)
        axis.add_patch(
            Ellipse(
                (float(x.mean()), float(y.mean())),
                width,
                height,
                angle=angle,
                fill=False,
                edgecolor=look.colour,
            )
        )
    if len(x):
        axis.plot(
            [float(np.median(x))],
            [float(np.median(y))],
            linestyle="",
            marker="o",
            markersize=9,
            fillstyle="none",
            color=look.colour,
            label=name,
        )


def ellipse(x: NDArray[Any], y: NDArray[Any]) -> tuple[float, float, float]:
    """Returns width, height and angle (degrees) of the contour with 1 − ε of the fitted normal distribution."""
    covariance = np.cov(x, y, ddof=0)
    values, vectors = np.linalg.eigh(covariance)
    # A plane normal distribution has 1 − exp(−r²/2) within r standard deviations.
    reach = math.sqrt(-2 * math.log(EPSILON))
    minor, major = (2 * reach * math.sqrt(max(float(value), 0.0)) for value in values)
    return major, minor, math.degrees(math.atan2(vectors[1, 1], vectors[0, 1]))
