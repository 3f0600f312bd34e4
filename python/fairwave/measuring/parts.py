"""Sums, means and extremes of a column over the parts of a table, for all parts in one pass.

A measure reduces a part to one number. A part is the rows of one run, or of one run and flow group. A measure of 400
groups therefore costs one pass over the columns, not 400. NaN means undefined and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from fairwave.tables import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Parts:
    """Assignment of the rows of a table to parts.

    Attributes:
        of_row: The number of the part of each row, from 0.
        count: Number of parts.
    """

    of_row: NDArray[np.int64]
    count: int

    def total(self, values: Numbers) -> Numbers:
        """The sum over each part; 0 for a part without a number."""
        return self._sum(np.where(np.isnan(values), 0.0, values))

    def number(self, rows: Mask) -> Numbers:
        """Number of these rows in each part."""
        return self._sum(rows.astype(float))

    def mean(self, values: Numbers) -> Numbers:
        """The mean over each part; NaN for a part without a number."""
        return _divide(self.total(values), self.number(~np.isnan(values)))

    def share(self, part: Numbers, whole: Numbers, scale: float = 1.0) -> Numbers:
        """Sum over sum, times `scale`; not defined if the whole is zero."""
        of = self.total(whole)
        return _divide(self.total(part), np.where(of > 0, of, 0.0)) * scale

    def least(self, values: Numbers) -> Numbers:
        """The smallest number of each part; NaN for a part without a number."""
        found = np.full(self.count, np.nan)
        np.fmin.at(found, self.of_row, values)
        return found

    def most(self, values: Numbers) -> Numbers:
        """The largest number of each part; NaN for a part without a number."""
        return -self.least(-values)

    def mask_single(self, values: Numbers, worst: Numbers) -> Numbers:
        """`worst` for each part with several numbers; NaN for a part with a single one."""
        return np.where(self.number(~np.isnan(values)) > 1, worst, np.nan)

    def take(self, rows: Mask) -> Parts:
        """The same parts of some rows."""
        return Parts(self.of_row[rows], self.count)

    def _sum(self, values: Numbers) -> Numbers:
        return np.bincount(self.of_row, values, minlength=self.count).astype(float)


PartValues = Callable[[Table, Parts], "Numbers"]
"""Maps rows and their parts to a number for each part; NaN if it is not defined."""


RunNumbers = tuple["NDArray[np.int64]", "Numbers"]
"""Runs, and a number for each of them."""

NO_RUNS: RunNumbers = (np.zeros(0, dtype=np.int64), np.zeros(0))


def reduce_runs(rows: Table, value: PartValues) -> RunNumbers:
    """A number for each run that has rows; cached with the table."""

    def make(rows: Table) -> RunNumbers:
        parts, first = parted(rows, "run")
        return rows["run"].values[first], value(rows, parts)

    return rows.derived((reduce_runs, value), make)


def reduce_groups(rows: Table, value: PartValues) -> dict[str, RunNumbers]:
    """Reduces each flow group to a number for each run in which it has rows, in one pass; cached with the table."""

    def make(rows: Table) -> dict[str, RunNumbers]:
        parts, first = parted(rows, "group", "run")
        groups, runs, values = rows["group"].texts[first], rows["run"].values[first], value(rows, parts)
        # Parts of one group follow each other.
        is_first = np.concatenate([[True], groups[1:] != groups[:-1]])[: len(groups)]
        each = (slice(*ends) for ends in pairwise([*np.flatnonzero(is_first).tolist(), len(groups)]))
        return {groups[of.start]: (runs[of], values[of]) for of in each}

    return rows.derived((reduce_groups, value), make)


def parted(rows: Table, *columns: str) -> tuple[Parts, NDArray[np.int64]]:
    """The parts of a table by these columns, in order of the first, then of the next; and the first row of each."""

    def make(rows: Table) -> tuple[Parts, NDArray[np.int64]]:
        numbers = rows.numbered(*columns)
        _, first = np.unique(numbers, return_index=True)
        return Parts(numbers, len(first)), first

    return rows.derived((parted, *columns), make)


def _divide(part: Numbers, whole: Numbers) -> Numbers:
    found: Numbers = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole != 0)
    return found
