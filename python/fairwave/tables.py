"""Tables of results, in Arrow.

The simulator leaves columns in Arrow's memory layout; here they become `pyarrow.Table`s without being copied again.
What the tables hold is in `docs/results.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairwave._native import Column, RawTables

Tables = dict[str, pa.Table]


def array(column: Column) -> pa.Array:
    """An Arrow array over the bytes of a column."""
    if column[0] == "dictionary":
        _, codes, values = column
        return pa.DictionaryArray.from_arrays(_flat(pa.int32(), codes, 4), pa.array(values, pa.string()))
    if column[0] == "f64":
        _, data, valid = column
        return _flat(pa.float64(), data, 8, valid)
    return _flat(pa.int64(), column[1], 8)


def _flat(kind: pa.DataType, data: bytes, width: int, valid: bytes | None = None) -> pa.Array:
    there = None if valid is None else pa.py_buffer(valid)
    return pa.Array.from_buffers(kind, len(data) // width, [there, pa.py_buffer(data)])


def tables(raw: RawTables) -> Tables:
    """The tables of one run; those without rows are left out, as their columns are not known."""
    return {
        name: pa.table({column: array(values) for column, values in columns.items()})
        for name, columns in raw.items()
        if columns
    }


def with_columns(table: pa.Table, columns: Mapping[str, Any]) -> pa.Table:
    """The table with constant columns in front, one per item, where it does not have them yet."""
    for position, (name, value) in enumerate(columns.items()):
        if name not in table.column_names:
            table = table.add_column(position, name, pa.repeat(pa.scalar(value), table.num_rows))
    return table


def concatenate(parts: Iterable[Tables]) -> Tables:
    """Tables of the same name one below the other, each column in one piece: whoever reads them need not copy."""
    collected: dict[str, list[pa.Table]] = {}
    for part in parts:
        for name, table in part.items():
            collected.setdefault(name, []).append(table)
    return {
        name: pa.concat_tables(several, promote_options="default").unify_dictionaries().combine_chunks()
        for name, several in collected.items()
    }
