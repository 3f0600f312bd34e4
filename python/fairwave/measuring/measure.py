"""Definition of a measure: a number for each run, with its unit, its range and the flow groups to which it applies.

`measure` turns a function into a measure and registers it in `STANDARD`. The package `fairwave.measuring.measures` has
all measures, one file for each family; `docs/add-a-measure.md` shows how to add one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from fairwave.measuring.measured import Measured
from fairwave.measuring.parts import NO_RUNS, reduce_groups, reduce_runs
from fairwave.measuring.statistics import LEVEL, Interval, interval
from fairwave.tables import Column, Table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import ParamSpec

    from fairwave.measuring.parts import PartValues
    from fairwave.results import Results

    P = ParamSpec("P")
    Numbers = NDArray[np.float64]
    RunValue = Callable[[Table], float]
    """Maps the rows of one run to a number; NaN if it is not defined."""

Limits = tuple[float, float]
"""Least and greatest value of a measure, in its unit; infinite without a bound."""

UNBOUNDED: Limits = (-math.inf, math.inf)
POSITIVE: Limits = (0.0, math.inf)
RATIO: Limits = (0.0, 1.0)
PERCENT: Limits = (0.0, 100.0)
MOS: Limits = (1.0, 4.5)
"""Opinion scores that result from ratings (ITU-T G.107 Annex B)."""
R: Limits = (0.0, 129.0)
"""ITU-T G.107 and, for wideband calls, G.107.1."""

Reduction = Callable[["Results"], Any]
"""Maps results to the columns `run`, `value` and the measure's axes, if it has any.

The columns may be a polars frame or any other input of `fairwave.tables.Table.from_columns`. NaN and null mean
undefined.
"""


Kind = Literal["stream", "transfer", "bulk"]
"""Content of a group's flows: calls, videos and other streams of units; files and pages; endless data."""

STREAM, TRANSFER, BULK = frozenset({"stream"}), frozenset({"transfer"}), frozenset({"bulk"})
EVERY: frozenset[str] = STREAM | TRANSFER | BULK

Figure = Literal["call", "others", ""]
"""A figure of comparisons: user quality, effect on other traffic, or none."""


@dataclass(frozen=True)
class Applies:
    """Groups to which a measure applies, and its visibility: the only place that decides both.

    Attributes:
        to: Kinds of groups for which people see it by default; for others only on request.
        beside: Kinds for which a comparison shows it although the group is not compared.
        documents: Kinds for which documents for programs have it although people do not see it.
        least_flows: The smallest number of flows for which the measure is defined.
        only_above_zero: Whether people see it only if it is more than 0 for some run.
        headline: Whether a verdict may rest on it.
        figure: The figure of comparisons that draws it.
    """

    to: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    least_flows: int = 1
    only_above_zero: bool = False
    headline: bool = False
    figure: Figure = ""

    def is_worth_a_row(self, means: Iterable[float]) -> bool:
        """Whether people need to see a measure that has these means."""
        return not self.only_above_zero or any(mean > 0 for mean in means)


@dataclass(frozen=True)
class Measure:
    """A number per run.

    Attributes:
        id: Short name, unique within a study.
        title: Name for axes and tables, without unit.
        unit: Unit, empty for a plain number.
        reduce: The definition.
        better: Direction that is good for the user; None when it depends.
        axes: Columns besides `run` and `value` in the result of `reduce`, as the threshold of timeliness.
        table: The table that it reads; if the runs have none, the measure does not apply.
        limits: Least and greatest value: axes begin at the least, and intervals are cut at both.
        scale: Measures of the same scale are drawn on the same axis; `id` when empty.
        applies: Groups to which it applies, and its visibility.
        has_long_tail: Whether few runs usually exceed the others by far, as for transfers with a long tail of sizes;
            intervals account for that.
    """

    id: str
    title: str
    unit: str
    reduce: Reduction
    better: Literal["higher", "lower"] | None = None
    axes: tuple[str, ...] = ()
    table: str = "flows"
    limits: Limits = UNBOUNDED
    scale: str = ""
    applies: Applies = Applies()
    has_long_tail: bool = False

    @property
    def label(self) -> str:
        """Title with unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    def interval(self, samples: ArrayLike, level: float = LEVEL) -> Interval:
        """Mean and interval of the measure in some runs, cut at the measure's limits."""
        return interval(samples, level, has_long_tail=self.has_long_tail).clip(self.limits)

    def compute(self, results: Results) -> Measured:
        """The measure in every run of `results`."""
        runs = results.rows("runs")
        if self.table in results.tables:
            found = Table.from_columns(self.reduce(results))
        else:
            found = Table.from_columns({name: [] for name in ("run", *self.axes, "value")})
        left, right = _match_runs(runs["run"], found["run"])
        columns = {name: runs[name].take(left) for name in results.axes}
        columns |= {axis: _or_none(found[axis], right) for axis in self.axes}
        columns |= {"seed": runs["seed"].take(left)}
        value = np.concatenate([found["value"].numbers, [np.nan]])[right]
        # A definition may divide zero by zero: NaN means undefined.
        columns |= {"value": Column(value, ~np.isnan(value))}
        return Measured(self, (*results.axes, *self.axes), Table(columns))


def _match_runs(runs: Column, found: Column) -> tuple[Any, NDArray[np.int64]]:
    """Pairs of a run and its row of the result; -1 for a run without a row."""
    if np.array_equal(runs.values, found.values):
        return slice(None), np.arange(len(runs))
    of_run: dict[Any, list[int]] = {}
    for at, run in enumerate(found.to_list()):
        of_run.setdefault(run, []).append(at)
    pairs = [(i, at) for i, run in enumerate(runs.to_list()) for at in of_run.get(run, [-1])]
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return left, right


def _or_none(column: Column, rows: NDArray[np.int64]) -> Column:
    """Selects rows of a column; a missing value for the row -1."""
    there = rows >= 0
    if not len(column):
        return Column.from_values([None] * len(rows))
    taken = column.take(np.where(there, rows, 0))
    valid = there if taken.valid is None else taken.valid & there
    return replace(taken, valid=None if valid.all() else valid)


@dataclass(frozen=True)
class RowReduction:
    """A number for each run from the rows of a table; all flow groups are reduced in one pass.

    Attributes:
        table: Function from results to rows, or the name of a table.
        group: The flow group; all rows when None.
        value: The definition.
    """

    table: str | Callable[[Results], Table]
    group: str | None
    value: PartValues

    def __call__(self, results: Results) -> Table:
        """Columns `run` and `value`: a row for each run with rows in the table."""
        rows = results.rows(self.table) if isinstance(self.table, str) else self.table(results)
        if self.group is None:
            runs, values = reduce_runs(rows, self.value)
        else:
            runs, values = reduce_groups(rows, self.value).get(self.group, NO_RUNS)
        return Table({"run": Column(runs), "value": Column(values)})


class Definition(Protocol):
    """A measure of a flow group, or of all flows."""

    def __call__(self, group: str | None = None) -> Measure:
        """The measure of ``group``, or of all flows."""
        ...


STANDARD: dict[str, Definition] = {}
"""Measures by name. `fairwave.measure` adds custom measures."""

OWN: dict[str, Callable[[Results, str | None], list[tuple[str, int]]]] = {}
"""Custom measures, each with a function that counts the runs per reason for being undefined."""


def measure(
    name: str,
    unit: str,
    limits: Limits,
    *,
    title: str = "",
    better: Literal["higher", "lower"] | None = None,
    table: str = "flows",
    rows: Callable[[Results], Table] | None = None,
    is_of_one_group: bool = False,
    scale: str = "",
    has_long_tail: bool = False,
    applies: Applies = Applies(),
) -> Callable[[PartValues], Definition]:
    """Turns a function from the rows of all runs to a number for each run into a named measure.

    Args:
        name: The name in commands and in `fairwave list measures`.
        unit: Its unit, empty for a plain number.
        limits: The least and the greatest value, in its unit.
        title: Name for axes and tables, without unit; the name with spaces if empty.
        better: Which direction is good; None if it depends.
        table: The table that it reads. If the runs have none, the measure does not apply.
        rows: The rows that the function receives; those of `table` if None.
        is_of_one_group: Whether it is defined for a single flow group only, as a column over all its flows is.
        scale: Measures of the same scale are drawn on the same axis; the name if empty.
        has_long_tail: Whether few runs usually exceed the others by far; intervals account for that.
        applies: Groups to which it applies, and its visibility.

    Returns:
        A decorator. It replaces the function by the measure's `Definition`, which keeps the docstring.
    """
    shown = title or name.replace("-", " ")

    def make(value: PartValues) -> Definition:
        def define(group: str | None = None) -> Measure:
            source = rows_of_one_group(shown, table, group) if is_of_one_group else rows or table
            reduce = RowReduction(source, group, value)
            return Measure(
                name, name_of(shown, group), unit, reduce, better, table=table, limits=limits, scale=scale,
                applies=applies, has_long_tail=has_long_tail,
            )  # fmt: skip

        return register(name, define, value.__doc__, applies)

    return make


def register(name: str, define: Definition, about: str | None, applies: Applies) -> Definition:
    """Gives a measure a name and a docstring."""
    define.__name__ = define.__qualname__ = name.replace("-", "_")  # type: ignore[attr-defined]  # functions have names
    define.__doc__ = about
    define.applies = applies  # type: ignore[attr-defined]  # functions have any
    STANDARD[name] = define
    return define


def rows_of_one_group(title: str, table: str, group: str | None) -> Callable[[Results], Table]:
    """Reads a table with a row for each group and run. Without a group, the runs must have a single one.

    The function that it returns raises ValueError if they have several.
    """

    def read(results: Results) -> Table:
        rows = results.rows(table)
        if group is None and len(rows["group"].unique()) > 1:
            known = ", ".join(rows["group"].unique())
            raise ValueError(f"{title} is that of one flow group; name one of {known}")
        return rows

    return read


def name_of(what: str, group: str | None) -> str:
    """The title of a measure of a group, or of all flows."""
    return f"{group} {what}" if group else what


def total(values: Numbers) -> float:
    """The sum of the defined values."""
    return float(np.nansum(values))


def mean(values: Numbers) -> float:
    """The mean of the defined values; NaN without any."""
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else math.nan


def share(part: Numbers, whole: Numbers, scale: float = 1.0) -> float:
    """Sum over sum; not defined when the whole is zero."""
    of = total(whole)
    return total(part) / of * scale if of > 0 else math.nan
