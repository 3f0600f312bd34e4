"""A grid: one scenario, varied along named axes, each point run under the same seeds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairwave import tables as tables_
from fairwave.provenance import Provenance
from fairwave.results import Results
from fairwave.runs.axes import Axes, Label, Overrides
from fairwave.runs.replication import check_runs, replicate
from fairwave.runs.run_batch import numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.runs.keeping import Keep
    from fairwave.runs.replication import Progress
    from fairwave.scenario import Scenario
    from fairwave.tables import Tables

IN_STEP: Overrides = {"clock-skew": "0 ppm", "send-jitter": "0 s"}
"""Table `hosts` of hosts in step, as under the preset `ns2`, the basis of the papers' studies."""


@dataclass(frozen=True)
class Point:
    """One combination of labels.

    Attributes:
        labels: Axis to label.
        scenario: The scenario with the labels' overrides applied.
    """

    labels: dict[str, Label]
    scenario: Scenario


@dataclass(frozen=True)
class Grid:
    """A scenario varied along axes: every combination of labels, unless `keep` refuses it.

    Attributes:
        id: Short name, unique within a study.
        base: The scenario.
        axes: The varied parameters.
        keep: Predicate of a point's labels: whether it belongs to the grid.
        most: The most seeds with which a study runs it; all when None.
        settings: Overrides at every point after the axes, from its labels: a reading of the paper.
    """

    id: str
    base: Scenario
    axes: Axes
    keep: Callable[[dict[str, Label]], bool] | None = None
    most: int | None = None
    settings: Callable[[dict[str, Label]], Overrides] | None = None

    def points(self) -> list[Point]:
        """All points, the last axis fastest.

        Raises:
            fairwave.ScenarioError: An override does not fit the scenario.
        """
        found = []
        for combination in itertools.product(*(labels.items() for labels in self.axes.values())):
            labels = dict(zip(self.axes, (label for label, _ in combination), strict=True))
            if self.keep is not None and not self.keep(labels):
                continue
            changes: dict[str, Any] = {}
            for _, overrides in combination:
                changes.update(overrides(labels) if callable(overrides) else overrides)
            if self.settings is not None:
                changes.update(self.settings(labels))
            found.append(Point(labels, self.base.with_overrides(changes) if changes else self.base))
        return found

    def run(
        self,
        seeds: Sequence[int],
        *,
        threads: int | None = None,
        keep: Keep | None = None,
        progress: Progress | None = None,
    ) -> Results:
        """Runs every point under every seed. Arguments as for `fairwave.runs.replication.replicate`.

        Raises:
            fairwave.ScenarioError: An override does not fit the scenario, or there are too many runs.
            fairwave.RunError: A run was refused or failed.
        """
        from fairwave.scenario_files import prepared

        first = seeds[0] if seeds else 1
        # Checked before points are made: a million labels on each of two axes are too many points.
        check_runs(math.prod(len(labels) for labels in self.axes.values()), self.base.native, first)
        points = [Point(point.labels, prepared(point.scenario)) for point in self.points()]
        if points:
            check_runs(len(points) * len(seeds), points[0].scenario.native, first)
        jobs = [(point.scenario.native, seed) for point in points for seed in seeds]
        return assemble(points, seeds, replicate(jobs, threads=threads, keep=keep, progress=progress))


def assemble(points: Sequence[Point], seeds: Sequence[int], runs: Sequence[Tables]) -> Results:
    """Results from the tables of each point under each seed, points slowest."""
    return assemble_runs(list(itertools.product(points, seeds)), runs)


def assemble_runs(made: Sequence[tuple[Point, int]], runs: Sequence[Tables]) -> Results:
    """Makes results from the tables of each point and seed."""
    axes = list(made[0][0].labels) if made else []
    rows: dict[str, list[Any]] = {"run": [], **{axis: [] for axis in axes}, "seed": [], "scenario": []}
    hashes = {id(point): point.scenario.hash for point, _ in {id(one[0]): one for one in made}.values()}
    names: dict[str, str] = {}
    for number, (point, seed) in enumerate(made):
        rows["run"].append(number)
        rows["seed"].append(seed)
        rows["scenario"].append(hashes[id(point)])
        for axis, label in point.labels.items():
            rows[axis].append(label)
        names.setdefault(hashes[id(point)], point.scenario.name)
    tables: dict[str, tables_.Table] = {
        "runs": tables_.Table.from_columns(rows),
        **tables_.concatenate(numbered(runs)),
    }
    return Results(tables, tuple(axes), Provenance.collect(names, [seed for _, seed in made]))
