"""Runs a grid and replicates each point until it is precise enough.

Every point begins with the same few seeds. If the half width of a measure's 95 % interval is still too large, more
seeds follow: the number that the spread so far makes likely to suffice, but at most twice the current number. The
sweep ends when every measure is precise enough, or at the cap, which it reports.

Assumptions:
    Stopping when an interval happens to be narrow lowers its coverage slightly below the nominal level
    (sequential sampling; the effect shrinks with the number of replications to begin with).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairwave.arguments import checked
from fairwave.ask.wording import AskError, Precision, measure, precision
from fairwave.measuring.relevance import USUAL
from fairwave.measuring.remarks import split_of
from fairwave.runs.axes import read_axes
from fairwave.scenario import check_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave.measuring.measures import Measure
    from fairwave.measuring.statistics import Interval
    from fairwave.results import Results
    from fairwave.runs.axes import Axes, Label
    from fairwave.runs.grid import Point
    from fairwave.runs.keeping import Keep
    from fairwave.runs.replication import Progress
    from fairwave.scenario import Scenario
    from fairwave.tables import Tables

BEGIN = 5
MOST = 100


@dataclass(frozen=True)
class Cell:
    """A measure at one point.

    Attributes:
        labels: Axis to label.
        asked: The measure, as it was written.
        measure: The measure.
        interval: Mean and 95 % interval.
        wanted: The requested half width; None without a request.
        reached: Whether the interval is that narrow.
        samples: The measure under each seed; None if it is not defined.
    """

    labels: Mapping[str, Label]
    asked: str
    measure: Measure
    interval: Interval
    wanted: float | None
    reached: bool
    samples: Sequence[float | None] = ()


@dataclass(frozen=True)
class Sweep:
    """Result of a sweep.

    Attributes:
        results: Every run.
        cells: Each point's measures, points in the grid's order.
        most: The cap on replications of a point.
    """

    results: Results
    cells: Sequence[Cell]
    most: int

    @property
    def short(self) -> list[Cell]:
        """Cells that missed the requested precision because of the cap."""
        return [cell for cell in self.cells if not cell.reached]

    def table(
        self, asked: Sequence[str] = (), group: str = ""
    ) -> tuple[list[str], list[list[str]], list[str]]:
        """Heads, a row for each point, and notes.

        Args:
            asked: The measures, as they were written; all if empty.
            group: A flow group that heads of columns need not name.
        """
        from fairwave.answers.naming import column_names, written_out

        labels = {cell.asked: cell.measure.label.removeprefix(f"{group} ") for cell in self.cells}
        axes = list(self.results.axes)
        rows = []
        for at in range(0, len(self.cells), len(labels)):
            point = {cell.asked: cell for cell in self.cells[at : at + len(labels)]}
            cells = [point[one] for one in asked or labels]
            runs = max(cell.interval.n + cell.interval.undefined for cell in point.values())
            marked = [f"{cell.interval}{'' if cell.reached else ' !'}" for cell in cells]
            rows.append([*(str(cells[0].labels[axis]) for axis in axes), *marked, str(runs)])
        heads = column_names(axes)
        notes = [*filter(None, [written_out(heads)])]
        if self.short:
            wanted = ", ".join(dict.fromkeys(f"{cell.asked} ± {cell.wanted:.3g}" for cell in self.short))
            notes.append(
                f"! less precise than {wanted} after {self.most} runs, the most of a point: --most allows more"
            )
        notes += self._kinds(asked or list(labels), heads)
        return [*heads.values(), *(labels[one] for one in asked or labels), "runs"], rows, notes

    def _kinds(self, asked: Sequence[str], heads: Mapping[str, str]) -> list[str]:
        """Lists the bistable cells: their runs form two kinds, and the mean describes neither."""
        found = []
        for cell in self.cells:
            split = split_of([math.nan if one is None else one for one in cell.samples], cell.measure, USUAL)
            if split and cell.asked in asked:
                at = ", ".join(f"{heads[axis]} = {label}" for axis, label in cell.labels.items())
                found.append(f"bistable: {cell.asked} at {at}: {split}")
        return found

    def __str__(self) -> str:
        """A line per point."""
        heads, rows, notes = self.table()
        return "\n".join(["; ".join(map(" ".join, zip(heads, row, strict=True))) for row in rows] + notes)

    def __repr__(self) -> str:
        return f"<fairwave sweep of {len(self.table()[1])} points\n{self}>"

    def _repr_html_(self) -> str:
        """For notebooks: a row per point."""
        from fairwave.notebook import sweep

        return sweep(self)


@checked
def sweep(
    scenario: Scenario,
    over: Axes | Mapping[str, Any],
    until: str | Precision | Sequence[str | Precision] = (),
    *,
    show: Sequence[Any] = (),
    n: int = BEGIN,
    most: int = MOST,
    seed: int = 1,
    threads: int | None = None,
    keep: Keep | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Runs every combination of values, each until it is precise enough.

    Args:
        scenario: The scenario to vary.
        over: Dotted path to values, or axis to labels with their overrides, as for `fairwave.compare`.
        until: Precisions, as `"mos.voice:±0.05"`; with none, each point has `n` replications.
        show: Further measures to report for each point: `"loss.voice"`, or `fairwave.ask.wording.MeasureRequest`.
        n: Replications to begin with, 2 or more with a precision.
        most: The most replications of a point.
        seed: The first seed; a point's seeds follow each other.
        threads: Number of threads; all cores when None. Runs use them first, and parts of a run if runs are fewer.
        keep: Store of runs.
        progress: Called with the number of completed runs and of runs known to be needed.

    Raises:
        TypeError: An argument of the wrong kind; the message gives the remedy.
        AskError: An invalid precision, or numbers of replications that do not fit.
        fairwave.ScenarioError: A value does not fit the scenario.
    """
    from fairwave import arguments
    from fairwave.runs.grid import Grid, Point, assemble_runs
    from fairwave.runs.keeping import Memory
    from fairwave.runs.replication import check_runs, replicate
    from fairwave.scenario_files import prepared

    check_scenario(scenario, "fairwave.sweep")
    axes = read_axes(over, "fairwave.sweep")
    n, most = arguments.check_count("n", n), arguments.check_count("most", most)
    if not isinstance(until, (str, Precision, list, tuple)):
        raise AskError(f"until is {until!r:.60}, but must be a text; for example until='mos.voice:±0.05'")
    texts = [until] if isinstance(until, (str, Precision)) else list(until)
    goals = [one if isinstance(one, Precision) else precision(one, scenario) for one in texts]
    shown = [
        measure(one, scenario) if isinstance(one, str) else one
        for one in ([show] if isinstance(show, str) else show)
    ]
    if goals and n < 2:
        raise AskError(f"a precision needs 2 replications or more to begin with, not {n}; usual is {BEGIN}")
    if most < n:
        raise AskError(f"at most {most} replications are fewer than the {n} to begin with")
    grid = Grid("sweep", scenario, axes)
    check_runs(math.prod(len(labels) for labels in grid.axes.values()) * n, scenario.native, seed)
    points = [Point(point.labels, prepared(point.scenario)) for point in grid.points()]
    kept = keep if keep is not None else Memory()
    # A measure that is named twice is one measure: its samples count once.
    asked = list({one.text: one for one in [*shown, *(goal.of for goal in goals)]}.values())
    runs: dict[int, list[Tables]] = {i: [] for i in range(len(points))}
    values: dict[tuple[int, str], list[float | None]] = {
        (i, one.text): [] for i in range(len(points)) for one in asked
    }
    wanted = dict.fromkeys(runs, n)
    while open_points := [i for i in runs if wanted[i] > len(runs[i])]:
        fresh = [(i, seed + number) for i in open_points for number in range(len(runs[i]), wanted[i])]
        jobs = [(points[i].scenario.native, number) for i, number in fresh]
        left = replicate(jobs, threads=threads, keep=kept, progress=progress)
        part = assemble_runs([(points[i], number) for i, number in fresh], left)
        for (i, _), tables in zip(fresh, left, strict=True):
            runs[i].append(tables)
        for one in asked:
            for (i, _), value in zip(fresh, one.measure.compute(part).values, strict=True):
                values[i, one.text].append(value)
        for i in open_points:
            needed = max((_needed(values[i, goal.of.text], goal) for goal in goals), default=0)
            wanted[i] = max(wanted[i], min(needed, 2 * wanted[i], most))
    rows = [(points[i], seed + number) for i in runs for number in range(len(runs[i]))]
    results = assemble_runs(rows, [tables for several in runs.values() for tables in several])
    cells = [
        _cell(points[i], one.text, one.measure, values[i, one.text], goals) for i in runs for one in asked
    ]
    return Sweep(results, cells, most)


def _needed(samples: Sequence[float | None], goal: Precision) -> int:
    """Estimates the replications that make an interval narrow enough; 0 if it is, or never will be."""
    found = goal.of.measure.interval(samples)  # type: ignore[arg-type]  # None is not defined
    if found.n == 0:
        return 0
    if found.n < 2:
        return 2 * len(samples)
    half = goal.wanted(found.mean)
    if found.half_width <= half:
        return 0
    if half <= 0:
        return 2 * len(samples)
    return max(len(samples) + 1, math.ceil(found.n * (found.half_width / half) ** 2))


def _cell(
    point: Point, text: str, measure: Measure, samples: Sequence[float | None], goals: Sequence[Precision]
) -> Cell:
    found = measure.interval(samples)  # type: ignore[arg-type]  # None is not defined
    mine = [goal for goal in goals if goal.of.text == text]
    wanted = min((goal.wanted(found.mean) for goal in mine), default=None)
    reached = wanted is None or (found.n > 1 and found.half_width <= wanted)
    return Cell(point.labels, text, measure, found, wanted, reached, tuple(samples))
