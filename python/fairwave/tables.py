"""Tables of results in NumPy: the simulator's output without a table library.

The simulator writes columns as bytes in Arrow's memory layout. They become NumPy arrays without a copy. Users see them
as pyarrow tables or polars frames, which are made on access. `docs/results.md` describes the contents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fairwave.extras import need

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from fairwave import _native

    Raw = _native.Column
    RawTables = _native.RawTables
    Mask = NDArray[np.bool_]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Column:
    """One column.

    Attributes:
        values: Numbers (float64, int64, bool), or codes (int32) into `words`.
        valid: True for each present value; None if all values are present.
        words: The texts that codes stand for; None for numbers.
        plain: Whether Arrow shows plain texts, not codes into a dictionary.
    """

    values: NDArray[Any]
    valid: Mask | None = None
    words: tuple[str, ...] | None = None
    plain: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def raw(cls, column: Raw) -> Column:
        """Wraps a column of the simulator and shares its bytes."""
        if column[0] == "dictionary":
            return cls(np.frombuffer(column[1], "<i4"), words=tuple(column[2]))
        if column[0] == "f64":
            values = np.frombuffer(column[1], "<f8")
            if column[2] is None:
                return cls(values)
            bits = np.frombuffer(column[2], "u1")
            return cls(values, np.unpackbits(bits, count=len(values), bitorder="little").astype(bool))
        return cls(np.frombuffer(column[1], "<i8"))

    @classmethod
    def from_values(cls, values: Iterable[Any]) -> Column:
        """Makes a column of Python values; None is a missing value. Texts among numbers make all of them texts."""
        each = [one.item() if isinstance(one, np.generic) else one for one in values]
        there = [one for one in each if one is not None]
        valid = None if len(there) == len(each) else np.array([one is not None for one in each], dtype=bool)
        if any(isinstance(one, str) for one in there):
            words = tuple(dict.fromkeys(str(one) for one in there))
            codes = {word: code for code, word in enumerate(words)}
            made = [0 if one is None else codes[str(one)] for one in each]
            return cls(np.array(made, dtype=np.int32), valid, words, plain=True)
        if there and all(isinstance(one, bool) for one in there):
            return cls(np.array([bool(one) for one in each], dtype=bool), valid)
        kind: Any = np.int64 if there and all(isinstance(one, int) for one in there) else np.float64
        return cls(np.array([0 if one is None else one for one in each], dtype=kind), valid)

    @classmethod
    def from_arrow(cls, column: pa.ChunkedArray | pa.Array) -> Column:
        """The values of an Arrow column."""
        return cls.from_values(column.to_pylist()) if len(column) else cls(np.zeros(0))

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The numbers, with NaN for missing values."""
        values = self.values.astype(np.float64, copy=self.valid is not None)
        if self.valid is not None:
            values[~self.valid] = np.nan
        return values

    @property
    def texts(self) -> NDArray[Any]:
        """The texts, with None for missing values."""
        words = np.array([*(self.words or ()), None], dtype=object)
        codes = self.values if self.valid is None else np.where(self.valid, self.values, -1)
        found: NDArray[Any] = words[codes]
        return found

    @property
    def codes(self) -> NDArray[np.int64]:
        """A whole number for each value, the same for equal values."""
        found = self.values if self.words is not None else np.unique(self.values, return_inverse=True)[1]
        whole = found.astype(np.int64)
        return whole if self.valid is None else np.where(self.valid, whole, -1)

    def is_(self, label: Any) -> Mask:
        """Mask of the rows with the value `label`."""
        if self.words is not None:
            code = self.words.index(label) if label in self.words else -2
            found = self.values == code
        elif isinstance(label, str):
            found = np.zeros(len(self), dtype=bool)
        else:
            found = self.values == label
        mask: Mask = found if self.valid is None else found & self.valid
        return mask

    def take(self, rows: Any) -> Column:
        """Some rows: a mask, or numbers of rows."""
        return Column(
            self.values[rows], None if self.valid is None else self.valid[rows], self.words, self.plain
        )

    def to_list(self) -> list[Any]:
        """Python values, with None for missing values."""
        if self.words is not None:
            return list(self.texts)
        values: list[Any] = self.values.tolist()
        if self.valid is None:
            return values
        return [one if there else None for one, there in zip(values, self.valid, strict=True)]

    def unique(self) -> list[Any]:
        """The values that occur, in order of first appearance."""
        return list(self._unique)

    @cached_property
    def _unique(self) -> dict[Any, None]:
        _, first = np.unique(self.codes, return_index=True)
        return dict.fromkeys(self.take(np.sort(first)).to_list())

    def has(self, label: Any) -> bool:
        """Whether the value occurs. The first query costs a pass over the column, further ones nothing."""
        return label in self._unique

    @cached_property
    def places(self) -> Mapping[str, Any]:
        """Text to the rows that hold it: a slice if they follow each other, else their numbers. Made in one pass."""
        codes = self.codes
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(len(self.words or ()) + 1))
        found = (order[first:last] for first, last in pairwise(ends.tolist()))
        return dict(zip(self.words or (), map(_as_slice, found), strict=True))

    def to_arrow(self) -> pa.Array:
        """An Arrow array over the same memory."""
        pa = need("pyarrow", "tables")
        there = None
        if self.valid is not None:
            there = pa.py_buffer(np.packbits(self.valid, bitorder="little").tobytes())
        if self.plain:
            return _strings(self.to_list(), large=True)
        if self.words is not None:
            codes = pa.Array.from_buffers(
                pa.int32(), len(self), [there, pa.py_buffer(np.ascontiguousarray(self.values))]
            )
            return pa.DictionaryArray.from_arrays(codes, _strings(self.words, large=False))
        if self.values.dtype == np.bool_:
            bits = pa.py_buffer(np.packbits(self.values, bitorder="little").tobytes())
            return pa.Array.from_buffers(pa.bool_(), len(self), [there, bits])
        kind = pa.float64() if self.values.dtype == np.float64 else pa.int64()
        return pa.Array.from_buffers(
            kind, len(self), [there, pa.py_buffer(np.ascontiguousarray(self.values))]
        )


def _as_slice(rows: NDArray[np.int64]) -> Any:
    """Ascending numbers of rows, as a slice if they follow each other: such rows need no copy."""
    if not len(rows):
        return slice(0, 0)
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if last - first + 1 == len(rows) else rows


FEW_WORDS = 8
"""A column of more texts is indexed once; with fewer, comparing each row is as quick."""


def _strings(texts: Sequence[str | None], *, large: bool) -> pa.Array:
    """An Arrow array of texts. `pyarrow.array` would import pandas, which takes a second."""
    pa = need("pyarrow", "tables")
    each = [b"" if one is None else one.encode() for one in texts]
    there = None
    if any(one is None for one in texts):
        there = pa.py_buffer(np.packbits([one is not None for one in texts], bitorder="little").tobytes())
    ends = np.cumsum([0, *map(len, each)], dtype=np.int64 if large else np.int32)
    kind = pa.large_string() if large else pa.string()
    return pa.Array.from_buffers(kind, len(each), [there, pa.py_buffer(ends), pa.py_buffer(b"".join(each))])


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of the same length by name."""

    columns: Mapping[str, Column]

    @classmethod
    def from_columns(cls, columns: Any) -> Table:
        """Makes a table from columns: a table, lists by name, a polars frame, or a pyarrow table."""
        if isinstance(columns, Table):
            return columns
        if isinstance(columns, Mapping):
            return cls({name: Column.from_values(values) for name, values in columns.items()})
        if hasattr(columns, "column_names"):
            return cls({name: Column.from_arrow(columns[name]) for name in columns.column_names})
        return cls({name: Column.from_values(columns[name].to_list()) for name in columns.columns})

    @cached_property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values()), ()))

    @property
    def column_names(self) -> list[str]:
        """The columns, in order."""
        return list(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column of numbers, with NaN for missing values."""
        return self.columns[name].numbers

    def take(self, rows: Any) -> Table:
        """Some rows: a mask, or numbers of rows."""
        return Table(_Rows(self.columns, rows))

    def only(self, **labels: Any) -> Table:
        """The rows with these values."""
        found = self
        for name, label in labels.items():
            column = found[name]
            # An index pays if it is used again; rows that were chosen are chosen once.
            if column.words is not None and len(column.words) > FEW_WORDS and not found.is_chosen:
                found = found.take(column.places.get(label, slice(0, 0)))
            else:
                found = found.take(column.is_(label))
        return found

    @property
    def is_chosen(self) -> bool:
        """Whether these are some rows of another table."""
        return isinstance(self.columns, _Rows)

    def derived(self, key: Hashable, make: Callable[[Table], T]) -> T:
        """Returns `make(self)`, computed once for each `key` and cached as long as the table."""
        if key not in self._derived:
            self._derived[key] = make(self)
        found: T = self._derived[key]
        return found

    @cached_property
    def _derived(self) -> dict[Hashable, Any]:
        return {}

    def with_columns(self, columns: Mapping[str, Column]) -> Table:
        """Returns the table with these columns, which replace columns of the same name or come last."""
        return Table({**self.columns, **columns})

    def numbered(self, *by: str) -> NDArray[np.int64]:
        """For each row the number of its combination of the columns `by`: from 0, without gaps."""
        key = np.zeros(self.num_rows, dtype=np.int64)
        for name in by:
            _, codes = np.unique(self[name].codes, return_inverse=True)
            key = key * (int(codes.max(initial=0)) + 1) + codes
            _, key = np.unique(key, return_inverse=True)
        return key

    def parted(self, *by: str) -> Iterator[Table]:
        """The rows of each combination of the columns `by`, in order of first appearance."""
        if not self.num_rows:
            return
        key = self.numbered(*by)
        order = np.argsort(key, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
        for rows in sorted(parts, key=lambda one: int(one[0])):
            yield self.take(_as_slice(rows))

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as Python's values."""
        lists = [column.to_list() for column in self.columns.values()]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*lists, strict=True)]

    def to_arrow(self) -> pa.Table:
        """The same as a pyarrow table, over the same memory.

        Raises:
            fairwave.extras.MissingExtraError: pyarrow is not installed.
        """
        pa = need("pyarrow", "tables")
        return pa.table({name: column.to_arrow() for name, column in self.columns.items()})

    def to_polars(self) -> pl.DataFrame:
        """The same as a polars frame; texts are plain strings.

        Raises:
            fairwave.extras.MissingExtraError: polars is not installed.
        """
        need("polars", "tables")
        import polars as pl

        return pl.DataFrame(
            {
                name: column.to_list()
                if column.words is not None or column.valid is not None
                else column.values
                for name, column in self.columns.items()
            },
            schema_overrides={
                name: pl.String if column.words is not None else pl.Float64
                for name, column in self.columns.items()
                if column.words is not None or column.values.dtype == np.float64
            },
        )


class _Rows(Mapping[str, Column]):
    """Some rows of columns, each taken when it is read."""

    def __init__(self, columns: Mapping[str, Column], rows: Any) -> None:
        self._columns = columns
        self._rows = rows
        self._taken: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        found = self._taken.get(name)
        if found is None:
            found = self._taken[name] = self._columns[name].take(self._rows)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


Tables = Mapping[str, Table]


def tables(raw: RawTables) -> dict[str, Table]:
    """The tables of one run; tables without rows are left out, because their columns are not known."""
    return {
        name: Table({column: Column.raw(values) for column, values in columns.items()})
        for name, columns in raw.items()
        if columns
    }


def with_constant(table: Table, name: str, value: int) -> Table:
    """Returns the table with a constant column in front, unless it already has this column."""
    if name in table:
        return table
    return Table({name: Column(np.full(table.num_rows, value, dtype=np.int64)), **table.columns})


def concatenate(parts: Iterable[Tables]) -> dict[str, Table]:
    """Tables of the same name one below the other."""
    collected: dict[str, list[Table]] = {}
    for part in parts:
        for name, table in part.items():
            collected.setdefault(name, []).append(table)
    return {name: _stack(several) for name, several in collected.items()}


def _stack(several: Sequence[Table]) -> Table:
    names = dict.fromkeys(name for table in several for name in table.columns)
    return Table(
        {name: _joined([(table.columns.get(name), table.num_rows) for table in several]) for name in names}
    )


def _joined(parts: Sequence[tuple[Column | None, int]]) -> Column:
    """Columns one below the other; one that is missing has no value in any of its rows."""
    there = [part for part, _ in parts if part is not None]
    words = None
    if there[0].words is not None:
        words = tuple(dict.fromkeys(word for part in there for word in part.words or ()))
        codes = {word: code for code, word in enumerate(words)}
    if words is None and all(part is not None and part.valid is None for part, _ in parts):
        return Column(np.concatenate([part.values for part in there]), plain=there[0].plain)
    values, valid = [], []
    for part, rows in parts:
        if part is None:
            values.append(np.zeros(rows, dtype=there[0].values.dtype))
            valid.append(np.zeros(rows, dtype=bool))
            continue
        mine = part.values
        if words is not None and part.words != words:
            mine = np.array([codes[word] for word in part.words or ()], dtype=np.int32)[mine]
        values.append(mine)
        valid.append(np.ones(rows, dtype=bool) if part.valid is None else part.valid)
    whole = (
        None if all(part is not None and part.valid is None for part, _ in parts) else np.concatenate(valid)
    )
    return Column(np.concatenate(values), whole, words, there[0].plain)
