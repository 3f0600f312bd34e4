"""Where finished runs are kept, so that they need not be made again."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
import pyarrow.ipc

from fairwave import _native

if TYPE_CHECKING:
    from fairwave.tables import Tables


@cache
def engine() -> str:
    """The simulator's version and a digest of its compiled code, which tells two builds of one version apart."""
    digest = hashlib.sha256(Path(str(_native.__file__)).read_bytes()).hexdigest()[:16]
    return f"{_native.version}+{digest}"


class Keep(Protocol):
    """Where finished runs are kept."""

    def get(self, scenario: str, seed: int) -> Tables | None:
        """The run's tables, if they are here."""

    def put(self, scenario: str, seed: int, tables: Tables) -> None:
        """Keeps a run."""


@dataclass
class Memory:
    """Keeps runs for the life of the process."""

    kept: dict[tuple[str, int], Tables] = field(default_factory=dict)

    def get(self, scenario: str, seed: int) -> Tables | None:
        """The run's tables, if they are here."""
        return self.kept.get((scenario, seed))

    def put(self, scenario: str, seed: int, tables: Tables) -> None:
        """Keeps a run."""
        self.kept[scenario, seed] = tables


class Folder:
    """Keeps runs in a folder, in one SQLite file; each is there for good once it has been put.

    What another version left is not used, and is removed when the first run is kept: it can never be asked for again.

    Args:
        path: The folder; made when the first run is kept.
        version: What made the runs; the simulator of this process when None.
    """

    FILE = "runs.sqlite"

    def __init__(self, path: Path, version: str | None = None) -> None:
        self._path = path
        self._version = version if version is not None else engine()
        self._open: sqlite3.Connection | None = None

    @property
    def stale(self) -> str | None:
        """The version that made what lies here, where it is another one and its runs are therefore not used."""
        made_by = self._made_by()
        return made_by if made_by not in {None, self._version} else None

    def get(self, scenario: str, seed: int) -> Tables | None:
        """The run's tables, if they are here."""
        if self._open is None:
            if self._made_by() != self._version:
                return None
            self._open = _connect(self._path / self.FILE)
        try:
            rows = self._open.execute(
                "select name, size, data from tables where scenario = ? and seed = ?", (scenario, seed)
            ).fetchall()
            return {name: _read(size, data) for name, size, data in rows} or None
        except (sqlite3.DatabaseError, pa.ArrowInvalid, OSError):
            return None  # A damaged file costs its runs, which are made again.

    def put(self, scenario: str, seed: int, tables: Tables) -> None:
        """Keeps a run, in one step: whoever kills this process afterwards does not lose it.

        Raises:
            OSError: The folder cannot be written.
        """
        rows = [(scenario, seed, name, *_written(table)) for name, table in tables.items()]
        try:
            if self._open is None:
                self._open = self._begin()
            self._insert(rows)
        except sqlite3.OperationalError as error:  # no room, no right to write
            raise OSError(f"{self._path / self.FILE}: {error}") from error
        except sqlite3.DatabaseError:
            self._open = self._anew()
            self._insert(rows)

    def _insert(self, rows: list[tuple[str, int, str, int, bytes]]) -> None:
        assert self._open is not None
        with self._open:
            self._open.executemany("insert or replace into tables values (?, ?, ?, ?, ?)", rows)

    def _begin(self) -> sqlite3.Connection:
        return _connect(self._path / self.FILE) if self._made_by() == self._version else self._anew()

    def _anew(self) -> sqlite3.Connection:
        """An empty file of this version."""
        self._path.mkdir(parents=True, exist_ok=True)
        if self._open is not None:
            self._open.close()
        for old in self._path.glob(f"{self.FILE}*"):
            old.unlink()
        made = _connect(self._path / self.FILE)
        with made:
            made.execute("create table version (made_by text not null)")
            made.execute("insert into version values (?)", (self._version,))
            made.execute(
                "create table tables (scenario text, seed integer, name text, size integer, data blob, "
                "primary key (scenario, seed, name)) without rowid"
            )
        return made

    def _made_by(self) -> str | None:
        """The version that made what lies here; None where nothing does, or nothing that can be read."""
        file = self._path / self.FILE
        if not file.is_file():
            return None
        try:
            with closing(_connect(file)) as connection:
                return str(connection.execute("select made_by from version").fetchone()[0])
        except (sqlite3.DatabaseError, TypeError):
            return None


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, check_same_thread=False)
    try:
        # A process that is killed loses nothing by this; a machine that loses its power may lose runs.
        connection.execute("pragma synchronous = off")
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def _written(table: pa.Table) -> tuple[int, bytes]:
    """The length of a table as Arrow's stream, and the stream compressed as a whole: columns are too short for that."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    stream = sink.getvalue()
    return stream.size, pa.compress(stream, "zstd", asbytes=True)


def _read(size: int, data: bytes) -> pa.Table:
    with pa.ipc.open_stream(pa.decompress(data, size, "zstd")) as stream:
        return stream.read_all()
