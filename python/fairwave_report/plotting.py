"""Figures of results in Python: measures drawn as on pages and returned as Matplotlib figures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave.answers.labels import spelled
from fairwave.answers.lines import MeasureLine
from fairwave.ask.sweeping import Cell, Sweep
from fairwave.measuring.statistics import summarise
from fairwave.staging import open_named
from fairwave_report import chosen_style, distributions, grids, style
from fairwave_report import figures as drawing
from fairwave_report.axes import GridAxis, axis, heading, quantities, scale_label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from fairwave.ask.wording import MeasureRequest
    from fairwave.measuring.measured import Measured
    from fairwave.results import Results

KINDS = {
    "curve": "means along an axis of numbers, with 95 % bands",
    "bar": "means of alternatives, with 95 % intervals",
    "map": "means over two axes or more, as colours",
    "ecdf": "share of runs up to each value",
    "box": "quartiles of runs",
    "violin": "density of runs",
    "difference": "differences to the first alternative, paired by seed",
    "time": "the course over time, as `record.series` has it",
}
"""Values of `kind`, and what each draws."""

MOST_LINES = 12
"""Greatest number of distinguishable lines in one figure."""

OVER_TIME = {
    "goodput": (("group_goodput_bps", "allotted_goodput_bps"), 1e-6),
    "delay": (("group_delay_s",), 1e3),
    "loss": (("group_loss",), 100.0),
    "mos": (("group_mos",), 1.0),
    "rtt": (("group_round_trip_s",), 1e3),
    "mean-wait": (("queueing_delay_s",), 1e3),
    "mean-queue": (("queue_packets",), 1.0),
}
"""Measure to the series of its values, and the factor to its unit."""

ALL = "all runs"
"""Label below the bar of runs without an axis."""

ENDINGS = tuple(f".{one}" for one in style.FORMATS)


@dataclass(frozen=True)
class Asked:
    """A plot request.

    Attributes:
        results: The runs.
        wanted: The measures.
        measured: Each measure in the selected runs, over the axes `open`.
        open: The axes that still have several labels.
        over: The requested horizontal axis; empty for the usual one.
        at: Axes to the one label that is drawn.
    """

    results: Results
    wanted: Sequence[MeasureRequest]
    measured: Sequence[Measured]
    open: tuple[str, ...]
    over: str
    at: Mapping[str, Any]

    @property
    def axes(self) -> list[GridAxis]:
        """The open axes, with `over` first."""
        first = self.measured[0]
        order = sorted(self.open, key=lambda one: one != self.over)
        return [axis(one, first.labels(one)) for one in order]

    @property
    def points(self) -> list[dict[str, Any]]:
        """Every combination of labels."""
        return self.measured[0].points()

    def name(self, point: Mapping[str, Any]) -> Any:
        """Returns a point's name: its label or labels, or nothing without an axis."""
        if len(point) == 1:
            return next(iter(point.values()))
        return ", ".join(
            f"{key.rpartition('.')[2]} {spelled(label)}" if quantities([label])[0] else str(spelled(label))
            for key, label in point.items()
        )

    def hold(self, most: int) -> str:
        """Returns the argument to write so that at most `most` axes remain."""
        first = self.measured[0]
        rest = [one for one in self.open if one != self.over][-(len(self.open) - most) :]
        return f"at={{{', '.join(f'{one!r}: {first.labels(one)[0]!r}' for one in rest)}}}"


def figure(
    results: Results,
    wanted: Sequence[MeasureRequest],
    kind: str | None,
    over: str | None,
    at: Mapping[str, Any],
    styled: str | None,
    save: Path | None,
) -> Figure:
    """Draws measures. `Results.plot` documents the arguments and exceptions.

    Args:
        results: Runs with or without axes.
        wanted: The measures.
        kind: One of `KINDS`; None chooses by the axes.
        over: The horizontal axis.
        at: Axes to the one label that is drawn.
        styled: As `--style`.
        save: A file that receives the figure too.

    Raises:
        ValueError: An argument has a value that is not allowed.
        LookupError: The runs lack the data to draw.
    """
    try:
        look = chosen_style.read(styled, None, chosen_style.ARGUMENT)
    except chosen_style.StyleError as error:
        raise ValueError(str(error)) from None
    if save is not None and save.suffix.lower() not in ENDINGS:
        raise ValueError(
            f"save is {str(save)!r}, but must end with {', '.join(ENDINGS)}; write for example "
            f"save={str(save.with_suffix('.pdf'))!r}"
        )
    asked = _asked(results, wanted, over, at)
    chosen = _kind(asked, kind)
    with style.using(look), drawing.keeping() as kept:
        DRAWN[chosen](asked, chosen)
    (made,) = kept
    if chosen == "bar" and not asked.open:
        for axes in made.axes:
            axes.set_xlim(-1.2, 1.2)
    if save is not None:
        with open_named(save) as file:
            made.savefig(
                file, format=save.suffix.lower().removeprefix("."), metadata=_metadata(save, results)
            )
    return made


def _metadata(save: Path, results: Results) -> dict[str, Any]:
    """Returns a file's metadata, without a date, so that the same results produce the same bytes."""
    made_by = f"fairwave {results.provenance.version}"
    each: dict[str, dict[str, Any]] = {
        ".svg": {"Date": None, "Creator": made_by},
        ".pdf": {"CreationDate": None, "Creator": made_by},
        ".png": {"Software": made_by},
    }
    return each[save.suffix.lower()]


def _asked(
    results: Results, wanted: Sequence[MeasureRequest], over: str | None, at: Mapping[str, Any]
) -> Asked:
    """The measures over the axes that are left."""
    for name in (*at, *([over] if over is not None else ())):
        if name not in results.axes:
            where = "at" if name in at else "over"
            known = ", ".join(map(repr, results.axes)) or "none: these runs vary nothing"
            raise LookupError(f"{where} names the axis {name!r}; the axes are {known}")
    found = []
    for one in wanted:
        measured = one.measure.compute(results)
        for name, label in at.items():
            if label not in measured.labels(name):
                known = ", ".join(map(repr, measured.labels(name)))
                raise LookupError(f"at has {label!r} for {name!r}, which has {known}")
            measured = measured.select(**{name: label})
        still = [name for name in measured.axes if len(measured.labels(name)) > 1]
        measured = measured.drop_axes(*(name for name in measured.axes if name not in still))
        if all(value is None for value in measured.values):
            raise LookupError(
                f"{one.text} is not defined in any of these runs; results.measured shows which are"
            )
        found.append(measured)
    return Asked(results, wanted, found, found[0].axes, over or "", at)


def _kind(asked: Asked, kind: str | None) -> str:
    """Returns the requested kind if it is known, or a kind that fits the axes."""
    if kind is None:
        if len(asked.open) > 1:
            return "map"
        if asked.open:
            return "curve" if asked.axes[0].is_number else "bar"
        return "ecdf" if len(asked.measured[0].values) >= distributions.LEAST_RUNS else "bar"
    if kind not in KINDS:
        from difflib import get_close_matches

        near = get_close_matches(str(kind), KINDS, 1, 0.6)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        each = ", ".join(f"{one!r} ({what})" for one, what in KINDS.items())
        raise ValueError(f"kind is {kind!r}, but must be one of {each}{hint}")
    return kind


def _surfaces(asked: Asked) -> tuple[Sweep, list[grids.Surface]]:
    """Returns the measures at all points, in the form of a sweep."""
    several = [
        grids.Surface(
            one.text,
            one.measure,
            [
                Cell(point, one.text, one.measure, measured.interval(**point), None, reached=True)
                for point in measured.points()
            ],
        )
        for one, measured in zip(asked.wanted, asked.measured, strict=True)
    ]
    return Sweep(asked.results, [cell for one in several for cell in one.cells], 0), several


def _curve(asked: Asked, kind: str) -> None:
    """Draws curves or bars along one axis, for each value of another."""
    if len(asked.open) > 2:
        raise ValueError(
            f"kind is {kind!r}, which has room for two axes, and {', '.join(asked.open)} vary; "
            f"hold the others: {asked.hold(2)}"
        )
    found, several = _surfaces(asked)
    if not asked.open:
        # Without an axis: one bar.
        several = [
            grids.Surface(
                one.asked,
                one.measure,
                [Cell({"": ALL}, one.asked, one.measure, one.cells[0].interval, None, reached=True)],
            )
            for one in several
        ]
        along: list[GridAxis] = [GridAxis("", [ALL])]
    else:
        along = asked.axes
    if kind == "curve":
        along = sorted(along, key=lambda one: (one.key != asked.over, not one.is_number, -len(one.labels)))
    across, other = along[0], along[1] if len(along) > 1 else None
    if kind == "curve" and not across.is_number:
        known = ", ".join(map(repr, across.labels[:4]))
        what = f"{across.key} has {known}" if across.key else "these runs vary nothing"
        raise ValueError(f"kind is 'curve', which needs an axis of numbers, but {what}; write kind='bar'")
    if kind == "bar":
        across = GridAxis(across.key, across.labels)
    grids.draw_curves(found, several, across, Path(), other)


def _map(asked: Asked, kind: str) -> None:
    """Draws a heat map."""
    if len(asked.wanted) > 1:
        raise ValueError(
            f"kind is {kind!r}, which shows one measure, not {len(asked.wanted)}; plot them one by one, or write "
            "kind='curve'"
        )
    if len(asked.open) < 2:
        only = asked.open[0] if asked.open else "nothing"
        raise ValueError(
            f"kind is 'map', which needs two axes, and {only} varies; write kind='bar' or 'curve'"
        )
    found, (one,) = _surfaces(asked)
    across, up, rest = grids.arrange_axes(asked.axes, asked.over)
    if (panels := math.prod(len(part.labels) for part in rest)) > grids.MOST_MULTIPLES:
        raise ValueError(
            f"a figure has at most {grids.MOST_MULTIPLES} maps, and {', '.join(part.key for part in rest)} would make "
            f"{panels}; hold some: at={{{', '.join(f'{part.key!r}: {part.labels[0]!r}' for part in rest)}}}"
        )
    grids.draw_map(found, one, across, up, rest, Path())


def _spread(asked: Asked, kind: str) -> None:
    """Draws the distribution over runs."""
    points = asked.points
    if kind == "difference" and len(points) < 2:
        raise ValueError(
            "kind is 'difference', which needs two alternatives, and nothing varies; write kind='violin'"
        )
    if len(points) > MOST_LINES:
        raise ValueError(
            f"kind is {kind!r}, which shows at most {MOST_LINES} alternatives, and there are {len(points)}; "
            f"hold an axis: {asked.hold(len(asked.open) - 1)}"
        )
    if len(asked.wanted) > distributions.MOST_PANELS:
        raise ValueError(
            f"kind is {kind!r}, which shows at most {distributions.MOST_PANELS} measures, not {len(asked.wanted)}"
        )
    chosen = []
    for one, measured in zip(asked.wanted, asked.measured, strict=True):
        samples = {asked.name(point) or ALL: measured.samples(**point) for point in points}
        fewest = min(int((~np.isnan(values)).sum()) for values in samples.values())
        if fewest < distributions.LEAST_RUNS:
            raise ValueError(
                f"kind is {kind!r}, which needs {distributions.LEAST_RUNS} runs or more of each alternative in which "
                f"{one.text} is defined, and there are {fewest}; run more (n=10), or write kind='bar'"
            )
        group = one.text.partition(".")[2]
        line = MeasureLine(group, measured, {}, frozenset())
        chosen.append(distributions.Spread(line, samples))
    name = asked.open[0] if len(asked.open) == 1 else "alternative"
    distributions.draw_one(kind, chosen, name, Path(), asked.results.provenance)


def _time(asked: Asked, kind: str) -> None:
    """Draws means over runs of values recorded over time."""
    panels, numbers = [], []
    for one in asked.wanted:
        data = _course(asked, one)
        lines = data["series"].unique(maintain_order=True).len()
        if lines > MOST_LINES:
            raise ValueError(
                f"kind is {kind!r}, which shows at most {MOST_LINES} lines, and there are {lines}; "
                + (
                    f"hold an axis: {asked.hold(len(asked.open) - 1)}"
                    if asked.open
                    else "name one: 'mos.voice'"
                )
            )
        title = heading(one.measure, one.text.partition(".")[2])
        panels.append(
            drawing.Panel(
                drawing.with_gaps(data, "series", "time_s"), "time_s", "series", scale_label(one.measure), "time (s)",
                title, limits=one.measure.limits, unit=one.measure.unit, has_markers=False,
            )
        )  # fmt: skip
        numbers.append(data.select(pl.lit(one.text).alias("measure"), pl.all()))
    with drawing.canvas("time", drawing.size_for(len(panels))) as canvas:
        drawing.draw_panels(canvas, panels)
        drawing.save(
            canvas, Path(), "time", pl.concat(numbers), asked.results.provenance,
            title="Over time", caption="Means over runs with 95 % intervals.", alt=drawing.describe_panels(panels),
        )  # fmt: skip


def _course(asked: Asked, one: MeasureRequest) -> pl.DataFrame:
    """Returns one measure over time: columns `series`, `time_s`, `mean`, `low`, `high`."""
    name, _, whose = one.text.partition(".")
    if name not in OVER_TIME:
        known = ", ".join(OVER_TIME)
        raise ValueError(f"kind is 'time', and {name} has no course over time; there are {known}")
    kinds, factor = OVER_TIME[name]
    is_link = ">" in whose
    record = "record.queues" if is_link else "record.series"
    change = {record: [whose or "*"], "record.bin": "500 ms"}
    missing = LookupError(
        f"these runs recorded no {name}{f' of {whose}' if whose else ''} over time; record it and run again: "
        f"scenario.with_overrides({change})"
    )
    if "series" not in asked.results.tables:
        raise missing
    every = asked.results.to_polars("series").with_columns(pl.col("kind", "name").cast(pl.String))
    if whose:
        every = every.filter(pl.col("name") == whose)
    rows = next((part for kind in kinds if (part := every.filter(pl.col("kind") == kind)).height), None)
    if rows is None:
        raise missing
    places = [(place, run) for place, point in enumerate(asked.points) for run in _runs_at(asked, point)]
    labels = pl.DataFrame(places, schema={"point": pl.Int64, "run": rows.schema["run"]}, orient="row")
    rows = rows.join(labels, on="run", how="inner").with_columns(pl.col("value") * factor)
    found = summarise(rows.sort("point", "name", "time_s"), ["point", "name", "time_s"])
    several = rows["name"].n_unique() > 1
    names = {
        place: str(spelled(asked.name(point))) if asked.open else ""
        for place, point in enumerate(asked.points)
    }

    def called(place: int, group: str) -> str:
        if not asked.open:
            return group
        return f"{names[place]}, {group}" if several else names[place]

    series = [called(place, group) for place, group in found.select("point", "name").iter_rows()]
    return found.select(pl.Series("series", series), "time_s", "mean", "low", "high")


def _runs_at(asked: Asked, point: Mapping[str, Any]) -> list[int]:
    """Returns the numbers of the runs of a point."""
    runs = asked.results.rows("runs")
    for key, label in {**asked.at, **point}.items():
        runs = runs.take(runs[key].is_(label))
    return [int(one) for one in runs["run"].to_list()]


DRAWN: Mapping[str, Callable[[Asked, str], None]] = {
    "curve": _curve,
    "bar": _curve,
    "map": _map,
    "ecdf": _spread,
    "box": _spread,
    "violin": _spread,
    "difference": _spread,
    "time": _time,
}
