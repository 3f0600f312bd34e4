"""Store of completed runs, so that they need not be made again."""

from __future__ import annotations

import errno
import hashlib
import sqlite3
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fairwave import _native
from fairwave.foreign import ForeignFileError
from fairwave.runs.memory import Keep, Memory
from fairwave.runs.runs_file import (
    DAMAGE,
    JOURNALS,
    MISMATCH,
    READ_ONLY,
    Layout,
    connect,
    create,
    damage,
    digest,
    is_trouble,
    is_whole,
    look,
    on_stderr,
    packed,
    replace,
    salvaged,
    trouble,
    unpacked,
)
from fairwave.staging import check_unlinked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairwave.runs.runs_file import Row
    from fairwave.tables import Tables


__all__ = ["Folder", "Keep", "Memory", "engine"]


@cache
def engine() -> str:
    """The simulator's version and a digest of its compiled code, which distinguishes two builds of one version."""
    digest = hashlib.sha256(Path(str(_native.__file__)).read_bytes()).hexdigest()[:16]
    return f"{_native.version}+{digest}"


class Folder:
    """Stores runs in a folder, in one SQLite file; a run is durable as soon as `put` returns.

    Each run is a row with a SHA-256 of its version, scenario, seed and tables. The SHA-256 is compared before anything
    reads the tables, because parsing damaged bytes can end the process. If damage is found, the intact rows move to a
    new file, one line reports it, and the other runs are made again. Before the first run is written, the whole file is
    checked in the same way.

    Runs of another version are not used. They are removed when the first run is stored, because they cannot be
    requested again.

    Args:
        path: The folder; created when the first run is stored.
        version: Version of the runs; the simulator of this process when None.
        tell: Receives one line about a damaged file; standard error when None.
    """

    FILE = "runs.sqlite"

    def __init__(
        self, path: Path, version: str | None = None, tell: Callable[[str], None] | None = None
    ) -> None:
        self._path = path
        self._file = path / self.FILE
        self._version = version if version is not None else engine()
        self._tell = tell if tell is not None else on_stderr
        self._open: sqlite3.Connection | None = None
        self._is_checked = False
        self._is_mended = False
        self._is_useless = False

    @property
    def stale(self) -> str | None:
        """Version of the stored runs if it differs from this one, so that they are not used."""
        try:
            made_by = look(self._file).made_by
        except OSError:
            return None
        return made_by if made_by not in {None, self._version} else None

    def get(self, scenario: str, seed: int) -> Tables | None:
        """The run's tables, if they are stored and intact."""
        if self._open is None and not self._begin_reading():
            return None
        assert self._open is not None
        try:
            row = self._open.execute(
                "select digest, data from runs where scenario = ? and seed = ?", (scenario, seed)
            ).fetchone()
            if row is None:
                return None
            if is_whole(self._version, scenario, seed, *row):
                return unpacked(row[1], self._file)
            reason = MISMATCH
        except ForeignFileError as error:
            self._tell(f"{error}: the run with seed {seed} is made again")
            return None
        except DAMAGE as error:
            if is_trouble(error):
                return None
            reason = str(error)
        return self.get(scenario, seed) if self._can_mend(reason) else None

    def put(self, scenario: str, seed: int, tables: Tables) -> None:
        """Stores a run, in one step: the run survives the end of this process.

        Raises:
            OSError: The folder cannot be written.
        """
        self._put(self._row(scenario, seed, packed(tables)))

    def put_several(
        self, runs: Sequence[tuple[str, int, Tables]], packed_runs: Sequence[bytes | None]
    ) -> None:
        """Stores several runs, in one step.

        Args:
            runs: Scenario, seed and tables of each.
            packed_runs: The result of `packed` for the tables of each, or None.

        Raises:
            OSError: The folder cannot be written.
        """
        rows = [
            self._row(scenario, seed, packed(tables) if data is None else data)
            for (scenario, seed, tables), data in zip(runs, packed_runs, strict=True)
        ]
        try:
            self._insert(*rows)
        except (sqlite3.Error, OverflowError):
            for row in rows:
                self._put(row)

    def _row(self, scenario: str, seed: int, data: bytes) -> Row:
        return (scenario, seed, digest(self._version, scenario, seed, data), data)

    def _put(self, row: Row) -> None:
        _, seed, _, data = row
        try:
            try:
                self._insert(row)
            except sqlite3.OperationalError as error:
                if not str(error).startswith(READ_ONLY):
                    raise
                self._close()  # Another process may have replaced the file.
                self._insert(row)
            except (sqlite3.DataError, OverflowError):
                raise
            except sqlite3.DatabaseError as error:
                self._mend(str(error))
                self._insert(row)
        except (sqlite3.DataError, OverflowError):
            self._tell(
                f"{self._file} does not keep the run with seed {seed}: its tables take {len(data) / 1e9:.1f} GB, more "
                "than a row can hold; record less, or the same command makes the run again"
            )
        except sqlite3.Error as error:
            found = trouble(self._file, error)
            raise OSError(
                found.errno or errno.EIO, f"{error}; the runs that it holds already are kept", str(self._file)
            ) from error

    def _insert(self, *rows: Row) -> None:
        if not self._is_checked:
            self._begin_writing()
        assert self._open is not None
        with self._open:
            self._open.executemany("insert or replace into runs values (?, ?, ?, ?)", rows)

    def _begin_reading(self) -> bool:
        """Opens the file if it holds runs of this version, and returns whether it does."""
        self._refuse_links()
        if self._is_useless or not self._file.is_file():
            return False
        try:
            found = look(self._file)
            if found.layout is Layout.DAMAGED:
                self._mend(found.reason)
            elif found.made_by == self._version:
                self._open_if_closed()
            else:
                self._is_useless = True
        except (OSError, sqlite3.Error):
            self._is_useless = True  # `put` reports why it cannot be written.
        return self._open is not None

    def _begin_writing(self) -> None:
        """Opens the file for writing: created if missing, otherwise checked and repaired."""
        self._refuse_links()
        self._path.mkdir(parents=True, exist_ok=True)
        if not self._file.is_file():
            self._close()
            create(self._file, self._version)
        found = look(self._file)
        if found.layout is Layout.DAMAGED:
            self._mend(found.reason)
        elif found.made_by != self._version:
            self._close()
            replace(self._file, self._version)
            self._open = connect(self._file)
        else:
            self._open_if_closed()
            reason = damage(self._file, self._version)
            if reason is not None:
                self._mend(reason)
        self._is_checked = True

    def _refuse_links(self) -> None:
        """Refuses links, because SQLite follows links in the place of its file and of its journals."""
        for path in (self._path, self._file, *(Path(f"{self._file}{end}") for end in JOURNALS)):
            check_unlinked(path)

    def _open_if_closed(self) -> None:
        if self._open is None:
            self._open = connect(self._file)

    def _can_mend(self, reason: str) -> bool:
        """Repairs the open file, once, and returns whether that succeeded."""
        if self._is_mended:
            return False
        self._is_mended = True
        try:
            self._mend(reason)
        except (OSError, sqlite3.Error) as error:
            self._tell(
                f"{self._file} is damaged ({reason}) and cannot be mended ({error}): damaged runs are made again"
            )
            with suppress(sqlite3.Error):
                self._open = connect(self._file)
            self._is_useless = self._open is None
            return False
        return True

    def _mend(self, reason: str) -> None:
        """Replaces a damaged file by its intact rows, and reports it."""
        self._close()
        stayed = replace(self._file, self._version, salvaged(self._file, self._version))
        self._tell(
            f"{self._file} was damaged ({reason}): {stayed} kept {'run is' if stayed == 1 else 'runs are'} whole and "
            "used, the others are made again"
        )
        self._open = connect(self._file)

    def _close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None
        self._is_checked = False
