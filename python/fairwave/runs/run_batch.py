"""Runs that ended together: their tables, concatenated, and each run as a view of them.

A short run takes less time than Python needs to look at its tables. Therefore the simulator returns all runs that
ended within a moment as one set of tables. A run is a pair of row numbers for each table, and columns are sliced only
when they are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave import tables as tables_
from fairwave.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fairwave._native import RawTables
    from fairwave.tables import Tables


@dataclass(frozen=True, eq=False)
class RunBatch:
    """Runs that ended together.

    Attributes:
        jobs: Job of each run.
        tables: Their tables, in the order of `jobs`.
        ends: For each table the first row of each run, plus the number of rows.
        packed: Stored form of each run; None if it must be made from the tables.
    """

    jobs: Sequence[int]
    tables: Tables
    ends: Mapping[str, NDArray[np.int64]]
    packed: Sequence[bytes | None]

    @classmethod
    def from_raw(
        cls, jobs: Sequence[int], raw: RawTables, counts: Mapping[str, bytes], packed: Sequence[bytes | None]
    ) -> RunBatch:
        """Wraps runs in the simulator's form."""
        ends = {name: np.cumsum([0, *np.frombuffer(rows, "<i8")]) for name, rows in counts.items()}
        return cls(jobs, tables_.tables(raw), ends, packed)

    @classmethod
    def from_run(cls, job: int, raw: RawTables) -> RunBatch:
        """A batch of a single run."""
        tables = tables_.tables(raw)
        ends = {name: np.array([0, table.num_rows]) for name, table in tables.items()}
        return cls([job], tables, ends, [None])

    def runs(self) -> Iterator[tuple[int, RunTables]]:
        """Each run, with its job."""
        for place, job in enumerate(self.jobs):
            yield job, RunTables(self, place)


class RunTables(Mapping[str, Table]):
    """The tables of one run of several that ended together. Tables without rows are left out."""

    def __init__(self, among: RunBatch, place: int) -> None:
        self.among = among
        self.place = place
        self._taken: dict[str, Table] = {}

    def __getitem__(self, name: str) -> Table:
        found = self._taken.get(name)
        if found is None:
            rows = _rows(self.among, name, self.place, self.place + 1)
            if rows.start == rows.stop:
                raise KeyError(name)
            columns = self.among.tables[name].columns
            found = self._taken[name] = Table(
                {title: _cut_column(column, rows) for title, column in columns.items()}
            )
        return found

    def __iter__(self) -> Iterator[str]:
        for name in self.among.tables:
            rows = _rows(self.among, name, self.place, self.place + 1)
            if rows.start < rows.stop:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)


def numbered(runs: Sequence[Tables]) -> Iterator[Tables]:
    """The tables of all runs, in order, with the number of each row's run in front.

    Runs that ended together and follow each other stay together.
    """
    first = 0
    while first < len(runs):
        one, last = runs[first], first + 1
        if isinstance(one, RunTables):
            while last < len(runs) and _follows(one, runs[last], last - first):
                last += 1
            yield _numbered(one, last - first, first)
        else:
            yield {name: tables_.with_constant(table, "run", first) for name, table in one.items()}
        first = last


def _follows(one: RunTables, other: Any, by: int) -> bool:
    return isinstance(other, RunTables) and other.among is one.among and other.place == one.place + by


def _numbered(first: RunTables, count: int, number: int) -> Tables:
    among, begin, end = first.among, first.place, first.place + count
    found: dict[str, Table] = {}
    for name, table in among.tables.items():
        rows = _rows(among, name, begin, end)
        if rows.start == rows.stop:
            continue
        columns = {title: _cut_column(column, rows) for title, column in table.columns.items()}
        if "run" not in columns:
            counts = np.diff(among.ends[name][begin : end + 1])
            columns = {"run": Column(np.repeat(np.arange(number, number + count), counts)), **columns}
        found[name] = Table(columns)
    return found


def _rows(among: RunBatch, name: str, begin: int, end: int) -> slice:
    ends = among.ends[name]
    return slice(int(ends[begin]), int(ends[end]))


def _cut_column(column: Column, rows: slice) -> Column:
    """Some rows of a column, with only their texts, in order of first appearance."""
    valid = None if column.valid is None else column.valid[rows]
    if valid is not None and valid.all():
        valid = None
    values, words = column.values[rows], column.words
    if words is not None and len(words) > 1:
        codes, firsts, places = np.unique(values, return_index=True, return_inverse=True)
        order = np.argsort(firsts, kind="stable")
        if len(order) < len(words) or not np.array_equal(codes[order], np.arange(len(words))):
            rank = np.empty(len(order), dtype=np.int32)
            rank[order] = np.arange(len(order), dtype=np.int32)
            values, words = rank[places], tuple(words[code] for code in codes[order])
    return Column(values, valid, words, column.plain)
