"""Custom measures: functions from the tables of a run to a number.

A registered measure works by name everywhere: `results.measured("stood_still", "video")`,
`fairwave sweep --until stood_still.video:±1`, `fairwave find --until 'stood_still.video <= 2'`. Pages and tables of
`run` and `compare` show it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from fairwave._native import RunError
from fairwave.arguments import checked
from fairwave.extras import need
from fairwave.laws.registering import check_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from fairwave.results import Results

    Definition = Callable[["MeasuredRun"], "float | Undefined | None"]


@dataclass(frozen=True)
class Undefined:
    """Result of a measure that is not defined for a run.

    Attributes:
        reason: Reason in a few words: `nothing was received`.
    """

    reason: str


@dataclass(frozen=True)
class MeasuredRun:
    """Results of one run for a measure: tables as polars frames (`docs/results.md`).

    The tables cover only the flow group `group`, if one is given.

    Attributes:
        group: The measured flow group; all flows when None.
        seed: The seed.
        labels: Axis to label of the run's point.
    """

    group: str | None
    seed: int
    labels: dict[str, Any]
    _frames: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False)

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow."""
        return self.table("flows")

    @property
    def groups(self) -> pl.DataFrame:
        """One row per flow group."""
        return self.table("groups")

    @property
    def links(self) -> pl.DataFrame:
        """One row per link direction, whatever the group."""
        return self.table("links")

    @property
    def conversations(self) -> pl.DataFrame:
        """One row per conversation."""
        return self.table("conversations")

    @property
    def sessions(self) -> pl.DataFrame:
        """One row per adaptive stream: quality for the viewer."""
        return self.table("sessions")

    @property
    def transfers(self) -> pl.DataFrame:
        """One row per file or page."""
        return self.table("transfers")

    @property
    def completions(self) -> pl.DataFrame:
        """One row per group of files or pages: completion times."""
        return self.table("completions")

    @property
    def units(self) -> pl.DataFrame:
        """Creation and arrival times of the units of recorded flows; empty without recordings."""
        return self.table("units")

    @property
    def series(self) -> pl.DataFrame:
        """Time series, if the scenario records them."""
        return self.table("series")

    def table(self, name: str) -> pl.DataFrame:
        """Returns any table by its name; empty if the run has no such table."""
        need("polars", "tables")
        import polars as pl

        return self._frames.get(name, pl.DataFrame())


@checked
def measure(
    name: str,
    *,
    unit: str = "",
    better: Literal["higher", "lower"] | None = None,
    title: str = "",
    least: float = -math.inf,
    most: float = math.inf,
) -> Callable[[Definition], Definition]:
    """Registers a measure: a function of one run, with its definition as docstring.

    It returns a number, or `fairwave.Undefined("why")` if it is not defined. Tables show this reason. It returns None
    if it does not apply.

    Example:
        @fairwave.measure("deepest-wait", unit="ms", better="lower", least=0)
        def deepest_wait(run):
            '''Longest one-way delay of any unit, in ms.'''
            delays = run.flows["delay_max_s"].drop_nulls().drop_nans()
            return 1e3 * delays.max() if len(delays) else fairwave.Undefined("no unit arrived")

    Args:
        name: Lower-case letters, digits and hyphens. It replaces a custom measure of this name; a built-in measure
            cannot be replaced.
        unit: Unit; empty for a plain number.
        better: Which direction is good; None when it depends.
        title: Name for axes and tables; the name with spaces if left out.
        least: Smallest possible value, in its unit.
        most: Largest possible value, in its unit.

    Raises:
        ValueError: The name is not valid, or belongs to a built-in measure.
    """
    from fairwave.measuring import measures

    check_name(name)
    if name in measures.STANDARD and name not in measures.OWN:
        raise ValueError(f"there is a measure named `{name}` already; give yours another name")

    def hand_in(definition: Definition) -> Definition:
        def define(group: str | None = None) -> measures.Measure:
            def reduce(results: Results) -> dict[str, Any]:
                answers = list(_answers(results, name, definition, group))
                values = [value if isinstance(value, float) else None for _, value in answers]
                return {"run": [run for run, _ in answers], "value": values}

            shown = title or name.replace("-", " ")
            named = f"{group} {shown}" if group else shown
            return measures.Measure(
                name, named, unit, reduce, better, table="runs", limits=(least, most), scale=name,
                applies=measures.Applies(measures.EVERY, measures.EVERY),
            )  # fmt: skip

        define.__doc__ = definition.__doc__ or f"{name}, without a docstring."
        measures.STANDARD[name] = define
        measures.OWN[name] = lambda results, group: _reasons(_answers(results, name, definition, group))
        return definition

    return hand_in


def _reasons(answers: Iterator[tuple[int, float | Undefined | None]]) -> list[tuple[str, int]]:
    """Counts the runs for each reason why a measure is not defined."""
    return list(Counter(value.reason for _, value in answers if isinstance(value, Undefined)).items())


def _answers(
    results: Results, name: str, definition: Definition, group: str | None
) -> Iterator[tuple[int, float | Undefined | None]]:
    """Yields the definition's result for each run: a finite number, `Undefined`, or None."""
    frames = _split_by_run(results, group)
    axes = list(results.axes)
    for row in results.rows("runs").to_dicts():
        labels = {axis: row[axis] for axis in axes}
        seen = MeasuredRun(group, row["seed"], labels, frames.get(row["run"], {}))
        try:
            answer = definition(seen)
        except Exception as error:
            raise RunError(
                f"measure `{name}`, seed {row['seed']}: {type(error).__name__}: {error}"
            ) from error
        if answer is None or isinstance(answer, Undefined):
            yield row["run"], answer
            continue
        try:
            value = float(answer)
        except (TypeError, ValueError):
            value = math.inf
        if math.isinf(value):
            raise RunError(
                f"measure `{name}`, seed {row['seed']}: it answered {answer!r}, but must answer a finite number, "
                'fairwave.Undefined("why"), or None'
            )
        yield row["run"], Undefined("it came to no number") if math.isnan(value) else value


def _split_by_run(results: Results, group: str | None) -> dict[int, dict[str, pl.DataFrame]]:
    """Returns the tables of each run, restricted to one group if they have groups."""
    need("polars", "tables")
    import polars as pl

    found: dict[int, dict[str, pl.DataFrame]] = {}
    for name in results.tables:
        if name == "runs":
            continue
        rows = results.rows(name)
        # The index finds a group's rows directly, so the cost does not grow with the number of groups.
        if group is not None and "group" in rows:
            rows = rows.only(group=group)
        frame = pl.from_arrow(rows.to_arrow())
        assert isinstance(frame, pl.DataFrame)
        for key, part in frame.partition_by("run", as_dict=True, maintain_order=True).items():
            found.setdefault(int(key[0]), {})[name] = part.drop("run")
    return found
