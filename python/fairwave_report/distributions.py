"""Distribution of a measure over runs: cumulative shares, boxes, violins, and differences paired by seed.

A box extends from the lower to the upper quartile, with a line at the median. Whiskers reach the farthest run within
1.5 times the box (Tukey); marks show runs outside the whiskers. A violin is a Gaussian kernel estimate of the density
with Scott's bandwidth, cut at the least and greatest run. A difference is one alternative minus the first, under the
same seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave.answers.labels import spelled
from fairwave.measuring.relevance import contrast
from fairwave_report import figures as drawing
from fairwave_report import style
from fairwave_report.axes import heading, least_span, scale_label
from fairwave_report.chart import Chart, ChartPanel, ChartSeries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from fairwave.answers.lines import MeasureLine
    from fairwave.provenance import Provenance

LEAST_RUNS = 3
"""Fewer runs do not justify a figure of their distribution."""

MOST_PANELS = 3
"""Number of measures that are drawn, in the order of the comparison."""


@dataclass(frozen=True)
class Spread:
    """One measure in every run.

    Attributes:
        line: The measure across the alternatives.
        samples: Alternative to its value in each run, in the order of seeds; NaN if undefined.
    """

    line: MeasureLine
    samples: dict[Any, NDArray[np.float64]]

    @property
    def title(self) -> str:
        """Heading of the panel."""
        return heading(self.line.measure, self.line.group)

    @property
    def span(self) -> float:
        """Least span of the panel's axis."""
        values = [float(one) for each in self.samples.values() for one in each]
        return least_span(self.line.measure, values, self.line.relevance)

    def defined(self, label: Any) -> NDArray[np.float64]:
        """Returns the defined values of an alternative, ascending."""
        values = self.samples[label]
        return np.sort(values[~np.isnan(values)])


def spreads(found: Sequence[MeasureLine], axis: str) -> list[Spread]:
    """Chooses the measures to draw, if enough runs differ: call quality, or else the effect on other traffic."""
    chosen = []
    for wanted in ("call", "others"):
        for line in found:
            if line.measure.applies.figure != wanted or line.undefined or not line.usual:
                continue
            samples = {label: line.measured.samples(**{axis: label}) for label in line.cells}
            spread = Spread(line, samples)
            each = [spread.defined(label) for label in samples]
            if all(len(one) >= LEAST_RUNS for one in each) and any(np.ptp(one) > 0 for one in each):
                chosen.append(spread)
        if chosen:
            break
    return chosen[:MOST_PANELS]


def draw_distributions(
    found: Sequence[MeasureLine], axis: str, folder: Path, provenance: Provenance
) -> list[drawing.Drawing]:
    """Draws the four figures. Draws nothing for too few runs."""
    chosen = spreads(found, axis)
    if not chosen:
        return []
    drawn = [draw_one(kind, chosen, axis, folder, provenance) for kind in KINDS]
    return [one for one in drawn if one is not None]


KINDS = ("ecdf", "box", "violin", "difference")
"""Figures of a distribution."""


def draw_one(
    kind: str, chosen: Sequence[Spread], axis: str, folder: Path, provenance: Provenance
) -> drawing.Drawing | None:
    """Draws one of `KINDS`. Skips differences if there is a single alternative."""
    if kind == "ecdf":
        return _draw_cdf(chosen, _samples(chosen, axis), folder, provenance)
    if kind == "difference":
        return _draw_differences(chosen, axis, folder, provenance)
    title, caption, draw = {
        "box": ("Runs as boxes", BOX, _draw_boxes), "violin": ("Runs as violins", VIOLIN, _draw_violins),
    }[kind]  # fmt: skip
    return _draw_each(kind, title, caption, draw, chosen, _quartiles(chosen, axis), folder, provenance)


def _samples(chosen: Sequence[Spread], axis: str) -> pl.DataFrame:
    """Returns the value of every run for each measure and alternative."""
    return pl.DataFrame(
        [
            {
                "measure": one.line.measure.id, "group": one.line.group, axis: str(label), "replication": number,
                "value": None if np.isnan(value) else float(value),
            }
            for one in chosen
            for label, values in one.samples.items()
            for number, value in enumerate(values, 1)
        ]
    )  # fmt: skip


BOX = (
    "Boxes: from the lower to the upper quartile of the runs, with the median. Whiskers reach the farthest run within "
    "1.5 times the box; marks are runs beyond."
)
VIOLIN = (
    "Violins: density of the runs (Gaussian kernel, Scott's bandwidth), with the median; each dot is a run."
)


def _quartiles(chosen: Sequence[Spread], axis: str) -> pl.DataFrame:
    """Returns five quantiles and the number of runs for each measure and alternative."""
    names = ("least", "lower_quartile", "median", "upper_quartile", "most")
    rows = []
    for one in chosen:
        for label in one.samples:
            values = one.defined(label)
            five = np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0]).tolist()
            measure = {"measure": one.line.measure.id, "group": one.line.group, axis: str(label)}
            rows.append({**measure, "runs": len(values), **dict(zip(names, five, strict=True))})
    return pl.DataFrame(rows)


def _describe(chosen: Sequence[Spread]) -> str:
    """Describes the median and range of each alternative."""
    parts = []
    for one in chosen:
        each = [
            f"{spelled(label)} median {drawing.format_value(float(np.median(values)))} "
            f"({drawing.format_value(float(values[0]))} to {drawing.format_value(float(values[-1]))})"
            for label in one.samples
            if len(values := one.defined(label))
        ]
        parts.append(f"{one.line.measure.title}: {', '.join(each)}")
    return ". ".join(parts)


def _draw_cdf(
    chosen: Sequence[Spread], data: pl.DataFrame, folder: Path, provenance: Provenance
) -> drawing.Drawing:
    """Draws the share of runs up to each value."""
    with drawing.canvas("cdf", drawing.size_for(len(chosen))) as canvas:
        grid = canvas.subplots(1, len(chosen), squeeze=False)
        panels = []
        for axes, one in zip(grid.flat, chosen, strict=True):
            series = []
            for label, look in style.looks(list(one.samples)).items():
                x, y = steps(one.defined(label))
                axes.plot(x, y, color=look.colour, linestyle=look.line, label=spelled(label))
                series.append(ChartSeries(spelled(label), look, x, y, has_points=False))
            axes.set_xlim(drawing.widen_ends(axes.get_xlim(), one.span))
            axes.set_ylim(0, 102)
            axes.set_title(one.title)
            unit = scale_label(one.line.measure)
            axes.set_xlabel(unit)
            axes.set_ylabel("runs (%)")
            panels.append(
                ChartPanel(one.title, unit, "runs (%)", series, ends=(0.0, 102.0), x_ends=axes.get_xlim())
            )
        handles, labels = grid.flat[0].get_legend_handles_labels()
        if len(labels) > 1:
            canvas.legend(handles, labels, loc="outside upper left", ncols=min(len(labels), 8))
        return drawing.save(
            canvas, folder, "cdf", data, provenance,
            title="Cumulative shares of runs",
            caption="The share of runs in which the measure is at most as large.",
            alt=f"Cumulative shares. {_describe(chosen)}",
            chart=Chart(panels, len(panels)),
        )  # fmt: skip


def steps(values: NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """Returns the corners of the empirical distribution of sorted values, in %."""
    if not len(values):
        return [], []
    x = np.repeat(values, 2)
    y = np.repeat(np.arange(len(values) + 1) * 100.0 / len(values), 2)[1:-1]
    return x.tolist(), y.tolist()


def _draw_each(
    kind: str,
    title: str,
    caption: str,
    draw: Callable[[Axes, Spread], None],
    chosen: Sequence[Spread],
    data: pl.DataFrame,
    folder: Path,
    provenance: Provenance,
) -> drawing.Drawing:
    """Draws a panel per measure, with the alternatives side by side."""
    with drawing.canvas(kind, drawing.size_for(len(chosen))) as canvas:
        grid = canvas.subplots(1, len(chosen), squeeze=False)
        for axes, one in zip(grid.flat, chosen, strict=True):
            draw(axes, one)
            axes.set_ylim(drawing.widen_ends(axes.get_ylim(), one.span))
            drawing.name_ticks(axes, [spelled(label) for label in one.samples])
            axes.set_xlim(-0.6, len(one.samples) - 0.4)
            axes.grid(visible=False, axis="x")
            axes.set_title(one.title)
            axes.set_ylabel(scale_label(one.line.measure))
        return drawing.save(
            canvas, folder, kind, data, provenance, title=title, caption=caption,
            alt=f"{title}. {_describe(chosen)}",
        )  # fmt: skip


def _draw_boxes(axes: Axes, one: Spread) -> None:
    """Draws a box per alternative."""
    looks = style.looks(list(one.samples))
    for place, (label, look) in enumerate(looks.items()):
        fill = look.fill or look.colour
        axes.boxplot(
            [one.defined(label)], positions=[place], widths=0.5, patch_artist=True, manage_ticks=False,
            boxprops={"facecolor": fill, "alpha": 0.55, "edgecolor": style.INK, "hatch": look.hatch},
            medianprops={"color": style.INK, "linewidth": 1.6}, whiskerprops={"color": style.INK},
            capprops={"color": style.INK},
            flierprops={"marker": look.marker, "markerfacecolor": look.colour, "markeredgecolor": look.colour},
        )  # fmt: skip


def _draw_violins(axes: Axes, one: Spread) -> None:
    """Draws a violin per alternative, its median, and every run."""
    for place, (label, look) in enumerate(style.looks(list(one.samples)).items()):
        values = one.defined(label)
        if np.ptp(values) > 0:
            parts = axes.violinplot(values, positions=[place], widths=0.7, showextrema=False)
            bodies: Any = parts["bodies"]
            for body in bodies:
                body.set(facecolor=look.colour, edgecolor=style.INK, alpha=0.45)
        # Offset marks sideways in the order of values, so that equal runs do not overlap.
        at = place + 0.12 * np.resize([0.0, -1.0, 1.0], len(values))
        axes.plot(at, values, look.marker, color=look.colour, markersize=style.points(3.5), zorder=3)
        median = float(np.median(values))
        axes.plot([place - 0.22, place + 0.22], [median, median], color=style.INK, linewidth=1.6, zorder=4)


def _draw_differences(
    chosen: Sequence[Spread], axis: str, folder: Path, provenance: Provenance
) -> drawing.Drawing | None:
    """Draws the difference of each alternative from the first, per seed, with mean and 95 % interval."""
    first, *others = chosen[0].samples
    if not others:
        return None
    rows: list[dict[str, Any]] = []
    said = []
    with drawing.canvas("differences", drawing.size_for(len(chosen))) as canvas:
        grid = canvas.subplots(1, len(chosen), squeeze=False)
        for axes, one in zip(grid.flat, chosen, strict=True):
            looks = style.looks(list(one.samples))
            told, counts = [], []
            relevant = one.line.relevance.find(one.line.measure)
            for place, label in enumerate(others):
                apart = one.samples[label] - one.samples[first]
                rows += [
                    {
                        "measure": one.line.measure.id, "group": one.line.group, axis: str(label),
                        "minus": str(first), "replication": number,
                        "difference": None if np.isnan(value) else float(value),
                    }
                    for number, value in enumerate(apart, 1)
                ]  # fmt: skip
                values = np.sort(apart[~np.isnan(apart)])
                if not len(values):
                    continue
                at = place + 0.16 * np.resize([0.0, -1.0, 1.0], len(values))
                look = looks[label]
                axes.plot(at, values, look.marker, color=look.colour, alpha=0.7, markersize=style.points(4))
                compared = contrast(one.samples[label], one.samples[first], relevant)
                mean = compared.difference
                counts.append(compared.counts)
                reach = [[mean.mean - mean.low], [mean.high - mean.mean]] if mean.n > 1 else None
                axes.errorbar(
                    [place + 0.32], [mean.mean], yerr=reach, fmt="D", color=style.INK, capsize=4, zorder=4,
                    markersize=style.points(5),
                )  # fmt: skip
                told.append(f"{spelled(label)} {drawing.format_value(mean.mean)}")
            said.append(f"{one.line.measure.title}: {', '.join(told)}")
            axes.axhline(0, color=style.INK, linewidth=0.9, linestyle=(0, (1, 2)))
            if counts:
                axes.axhspan(-max(counts), max(counts), color=style.INK, alpha=0.08, linewidth=0)
            drawing.name_ticks(axes, [spelled(label) for label in others])
            axes.set_xlim(-0.6, len(others) - 0.4)
            axes.grid(visible=False, axis="x")
            axes.set_title(one.title)
            axes.set_ylabel(f"minus {spelled(first)} ({one.line.measure.unit or 'points'})")
        return drawing.save(
            canvas, folder, "differences", pl.DataFrame(rows, infer_schema_length=None), provenance,
            title="Differences, paired by seed",
            caption=f"Each mark: one alternative minus {spelled(first)} under the same seed. Black: the mean with its "
            "95 % interval. The grey band: differences that do not count. An alternative whose whole interval lies in "
            "the band is alike; one whose whole interval lies outside differs.",
            alt=f"Mean differences to {spelled(first)}. {'. '.join(said)}",
        )  # fmt: skip
