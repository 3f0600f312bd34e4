"""Results of runs: tables in Arrow, with what is needed to know and to repeat them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from fairwave import tables as tables_
from fairwave.extras import need
from fairwave.provenance import METADATA_KEY, Provenance
from fairwave.staging import staging, write_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    import polars as pl

    from fairwave.study.measured import Measured
    from fairwave.study.measures import Measure

SUMS = "SHA256SUMS"
"""File that lists the tables of a folder with the SHA-256 of each, as `sha256sum -c` reads it."""


class DamagedResultsError(ValueError):
    """Files of results are not as they were written; the message says which, and how to make them again."""


@dataclass(frozen=True)
class Results:
    """What one or many runs left.

    Attributes:
        tables: `runs` (run, the labels of its point, seed, scenario hash) and the tables of `docs/results.md`.
        axes: Columns of `runs` that tell the points apart: what was varied.
        provenance: Where the numbers come from.
    """

    tables: dict[str, pa.Table]
    axes: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def runs(self) -> pa.Table:
        """One row per run: its labels, seed and scenario hash."""
        return self.tables["runs"]

    @property
    def flows(self) -> pa.Table:
        """One row per run and flow."""
        return self._of("flows")

    @property
    def groups(self) -> pa.Table:
        """One row per run and flow group: totals and fairness."""
        return self._of("groups")

    @property
    def timeliness(self) -> pa.Table:
        """One row per run, flow, threshold and reading of *timely*."""
        return self._of("timeliness")

    @property
    def transfers(self) -> pa.Table:
        """One row per run and file or page, of sources that want them as a whole."""
        return self._of("transfers")

    @property
    def completions(self) -> pa.Table:
        """One row per run and group of such: how many were completed, and how long they took."""
        return self._of("completions")

    @property
    def conversations(self) -> pa.Table:
        """One row per run and conversation: both directions together."""
        return self._of("conversations")

    @property
    def links(self) -> pa.Table:
        """One row per run and link direction."""
        return self._of("links")

    @property
    def series(self) -> pa.Table:
        """Time series, when the scenario records them."""
        return self._of("series")

    @property
    def units(self) -> pa.Table:
        """The units of recorded flows: when each was made and when it arrived."""
        return self._of("units")

    def _of(self, name: str) -> pa.Table:
        if name in self.tables:
            return self.tables[name]
        hint = ": ask for them in the scenario's [record]" if name in {"series", "units"} else ""
        raise LookupError(f"these runs left no {name}{hint}; they left {', '.join(self.tables)}")

    def to_polars(self, table: str = "flows") -> pl.DataFrame:
        """A table as polars data frame.

        Raises:
            LookupError: The runs left no such table.
        """
        import polars as pl

        frame = pl.from_arrow(self._of(table))
        assert isinstance(frame, pl.DataFrame)
        return frame

    def to_pandas(self, table: str = "flows", *, arrow: bool = False) -> pd.DataFrame:
        """A table as pandas data frame; needs pandas.

        Args:
            table: Its name.
            arrow: Leave the columns where they are, as pandas' Arrow types, instead of copying them into NumPy's.

        Raises:
            LookupError: The runs left no such table.
            ImportError: pandas is not there; the message says how to install it.
        """
        need("pandas", "pandas")
        found = self._of(table)
        if not arrow:
            return found.to_pandas()
        import pandas as pd

        return found.to_pandas(types_mapper=pd.ArrowDtype)

    def measured(self, measure: Measure | str, group: str | None = None) -> Measured:
        """A measure, one number per run: "goodput", "loss", "r_factor", … (see `fairwave.study.measures`).

        Args:
            measure: Its name, or a measure itself.
            group: The flow group that it is of; all flows when None.

        Raises:
            KeyError: No measure has that name.
            LookupError: No flow group has that name; the message says which there are.
        """
        from fairwave.study.measures import find

        if not isinstance(measure, str):
            return measure.over(self)
        name, dot, whose = measure.partition(".")
        if dot and group is None:
            raise KeyError(
                f"no measure {measure!r}; name the flow group apart: measured({name!r}, {whose!r})"
            )
        if group is not None:
            self._has_group(group)
        return find(measure, group).over(self)

    def _has_group(self, group: str) -> None:
        """Refuses the name of a flow group that no run has.

        Raises:
            LookupError: There is none of that name; the message lists those that there are.
        """
        found = {
            one for name in ("flows", "groups") if name in self.tables for one in _names(self.tables[name])
        }
        if group not in found and found:
            from difflib import get_close_matches

            near = get_close_matches(group, found, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise LookupError(
                f"no flow group {group!r} in these runs, which have {', '.join(sorted(found))}{hint}"
            )

    def save(self, out: str | Path) -> Path:
        """Writes every table as Parquet and CSV and the provenance as JSON into the folder `out`; all or nothing.

        Returns:
            The folder.

        Raises:
            fairwave.folders.FolderTakenError: `out` is a file, or lies in one.
        """
        from fairwave.folders import check_folder

        folder = Path(out)
        check_folder(folder)
        with staging(folder) as partial:
            self.write_into(partial)
        return folder

    def write_into(self, folder: Path) -> None:
        """Writes into an existing folder, file by file."""
        files = []
        for name, table in self.tables.items():
            files += write_table(table, folder / name, self.provenance, {"axes": list(self.axes)})
        # Last in the list, which shows that the list is whole.
        files.append(folder / PROVENANCE)
        write_text(folder / PROVENANCE, self.provenance.to_json() + "\n")
        write_text(folder / SUMS, "".join(f"{_sha256(file)}  {file.name}\n" for file in files))

    @classmethod
    def load(cls, folder: str | Path) -> Results:
        """Reads what `save` wrote: the tables that `SHA256SUMS` lists, after a comparison with their checksums.

        Folders without that file (from earlier releases) are read as they are; results that are saved again have one.

        Raises:
            FileNotFoundError: The folder holds no results.
            fairwave.DamagedResultsError: A table is missing or is not as it was written.
        """
        import json

        where = Path(folder)
        is_listed = (where / SUMS).exists()
        files = _whole(where) if is_listed else sorted(where.glob("*.parquet"))
        if not is_listed and not (where / "runs.parquet").exists():
            raise FileNotFoundError(
                f"no results in {where}: a folder that `save` or `fairwave run --out` wrote has runs.parquet"
            )
        tables = {file.stem: pq.read_table(file) for file in files}
        metadata = tables["runs"].schema.metadata or {}
        axes = json.loads(metadata.get(b"axes", b"[]"))
        return cls(tables, tuple(axes), Provenance.from_json(metadata[METADATA_KEY]))

    @classmethod
    def concatenate(cls, several: Iterable[Results]) -> Results:
        """Results one below the other; runs are numbered anew.

        Warns:
            MixedProvenanceWarning: They come from different versions or scenarios.
        """
        import pyarrow.compute as pc

        each = list(several)
        offset = 0
        parts = []
        for one in each:
            shifted = {}
            for name, table in one.tables.items():
                at = table.column_names.index("run")
                shifted[name] = table.set_column(
                    at, "run", pc.add(table["run"], pa.scalar(offset, pa.int64()))
                )
            parts.append(shifted)
            offset += one.runs.num_rows
        axes = tuple(dict.fromkeys(axis for one in each for axis in one.axes))
        return cls(tables_.concatenate(parts), axes, Provenance.merge(one.provenance for one in each))

    def _repr_html_(self) -> str:
        """For notebooks: what was run, and which tables there are."""
        from fairwave.report.notebook import results

        return results(self)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {table.num_rows}" for name, table in self.tables.items() if table.num_rows)
        return f"Results(rows: {sizes}; seeds {list(self.provenance.seeds)})"


PROVENANCE = "provenance.json"


def _whole(folder: Path) -> list[Path]:
    """The tables that a folder's list names, which are there and as they were written.

    Raises:
        fairwave.DamagedResultsError: Some are not, or the list is not whole.
    """
    try:
        text = (folder / SUMS).read_text(encoding="ascii")
        lines = [line.split("  ") for line in text.splitlines()]
        sums = {name: digest for digest, name in lines}
    except ValueError:
        sums = {}
    kinds = {Path(name).suffix for name in sums}
    is_whole = next(reversed(sums), "") == PROVENANCE and kinds <= {".parquet", ".csv", ".json"}
    if not is_whole or "runs.parquet" not in sums:
        raise DamagedResultsError(
            f"{folder / SUMS} is damaged: it does not list these results; {_again(folder)}"
        )
    tables = [folder / name for name in sorted(sums) if name.endswith(".parquet")]
    for file in tables:
        if not file.is_file():
            raise DamagedResultsError(f"{file} is missing, but {SUMS} lists it; {_again(folder)}")
        if _sha256(file) != sums[file.name]:
            raise DamagedResultsError(
                f"{file} is damaged: its SHA-256 is not the one that {SUMS} lists; {_again(folder)}"
            )
    return tables


def _again(folder: Path) -> str:
    """How to make damaged results again."""
    try:
        command = Provenance.from_json((folder / PROVENANCE).read_bytes()).command
    except (OSError, ValueError, LookupError, TypeError):
        command = ""
    return (
        f"make them again: {command}" if command.startswith("fairwave ") else "make them again and save them"
    )


def _sha256(file: Path) -> str:
    """The SHA-256 of a file, which need not fit the memory."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while part := stream.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _names(table: pa.Table) -> list[str]:
    """The flow groups that a table names."""
    if "group" not in table.column_names:
        return []
    return [str(one) for one in table["group"].unique().to_pylist()]


def write_table(
    table: pa.Table, stem: Path, provenance: Provenance, extra: dict[str, Any] | None = None
) -> list[Path]:
    """Writes `stem`.parquet, with provenance in its metadata, and `stem`.csv.

    Returns:
        The two files.
    """
    import json

    import pyarrow.csv as pa_csv

    metadata = {METADATA_KEY: provenance.to_json().encode()}
    metadata.update({key.encode(): json.dumps(value).encode() for key, value in (extra or {}).items()})
    parquet, csv = (stem.with_name(stem.name + suffix) for suffix in (".parquet", ".csv"))
    pq.write_table(table.replace_schema_metadata(metadata), parquet, compression="zstd")
    plain = [
        column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        for column in table.itercolumns()
    ]
    pa_csv.write_csv(pa.table(dict(zip(table.column_names, plain, strict=True))), csv)
    return [parquet, csv]
