"""Tables as files: Parquet with provenance, and CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave import tables as tables_
from fairwave.extras import MissingExtraError, need
from fairwave.provenance import METADATA_KEY, Provenance
from fairwave.staging import write_text

if TYPE_CHECKING:
    from pathlib import Path


def can_write_parquet() -> bool:
    """Whether pyarrow is installed, which the extra `tables` brings."""
    try:
        need("pyarrow", "tables")
    except MissingExtraError:
        return False
    return True


def write_table(
    table: Any, stem: Path, provenance: Provenance, extra: dict[str, Any] | None = None
) -> list[Path]:
    """Writes `stem`.parquet, with provenance in its metadata, and `stem`.csv; without pyarrow `stem`.csv alone.

    Args:
        table: A pyarrow table; without pyarrow a `fairwave.tables.Table`.
        stem: The files' path without suffix.
        provenance: Origin of the numbers.
        extra: Additional metadata.

    Returns:
        The files.
    """
    import json

    parquet, csv = (stem.with_name(stem.name + suffix) for suffix in (".parquet", ".csv"))
    if isinstance(table, tables_.Table):
        write_text(csv, _csv(table))
        return [csv]
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    metadata = {METADATA_KEY: provenance.to_json().encode()}
    metadata.update({key.encode(): json.dumps(value).encode() for key, value in (extra or {}).items()})
    pq.write_table(table.replace_schema_metadata(metadata), parquet, compression="zstd")
    plain = [
        column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        for column in table.itercolumns()
    ]
    pa_csv.write_csv(pa.table(dict(zip(table.column_names, plain, strict=True))), csv)
    return [parquet, csv]


def _csv(table: tables_.Table) -> str:
    """Formats the table as CSV like pyarrow: texts in quotes, nothing for a missing value."""
    columns = [one.to_list() for one in table.columns.values()]
    lines = [[f'"{name}"' for name in table.column_names]]
    lines += [[_cell(value) for value in row] for row in zip(*columns, strict=True)]
    return "".join(f"{','.join(line)}\n" for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return '"{}"'.format(value.replace('"', '""')) if isinstance(value, str) else repr(value)
