"""The file of completed runs: SQLite, a row per run, each with a SHA-256 of its contents.

SQLite handles processes that write at once and processes that are killed. It does not detect bytes that changed
on the disk. Therefore every row has a digest of its version, scenario, seed and tables. A row under the key of another
run, or without one of its tables, is as damaged as a row with a flipped bit.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sqlite3
import sys
import tempfile
import zlib
from contextlib import closing, suppress
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.foreign import KINDS, check_items, gate
from fairwave.staging import PARTIAL
from fairwave.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairwave.tables import Tables

    Row = tuple[str, int, bytes, bytes]
    """Scenario, seed, digest and packed tables."""

PATIENCE = 60.0
"""Time that a process waits for another writer of the same file, in seconds."""

CURRENT = {
    "version": "CREATE TABLE version (made_by text not null, digest blob not null)",
    "runs": (
        "CREATE TABLE runs (scenario text, seed integer, digest blob, data blob, "
        "primary key (scenario, seed)) without rowid"
    ),
}
DAMAGE = (sqlite3.Error, MemoryError, OverflowError, UnicodeDecodeError)
"""Exceptions of reading a damaged file: flipped lengths request too much memory."""

DAMAGE_OF_ROWS = (sqlite3.Error, OverflowError, UnicodeDecodeError)
"""The same while rows are rescued from a damaged file, without MemoryError: a lack of memory must not lose rows."""

READ_ONLY = "attempt to write a readonly"
TROUBLE = (READ_ONLY, "database is locked", "unable to open", "database or disk is full", "disk I/O error")
"""First words of SQLite's messages about an unavailable file, which is not damage."""

MISMATCH = "a checksum does not match"


def is_trouble(error: BaseException) -> bool:
    """Whether an error means that the file is unavailable now, not that it is damaged."""
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith(TROUBLE)


class Layout(Enum):
    """Kind of file at a path."""

    ABSENT = auto()
    CURRENT = auto()
    DAMAGED = auto()


@dataclass(frozen=True)
class FolderContents:
    """Contents at a path.

    Attributes:
        layout: Layout of the file.
        made_by: Version of its runs; None if it cannot be read.
        reason: Why it counts as damaged.
    """

    layout: Layout
    made_by: str | None = None
    reason: str = ""


def look(file: Path) -> FolderContents:
    """Identifies the file at a path by its head; runs are not examined.

    Raises:
        OSError: It cannot be opened, or another process has it locked.
    """
    if not file.is_file():
        return FolderContents(Layout.ABSENT)
    with file.open("rb") as stream:
        head = stream.read(20)
    if not head.startswith(b"SQLite format 3\0") or head[18:] != b"\1\1":
        return FolderContents(Layout.DAMAGED, reason="its first bytes are not those of such a file")
    try:
        with closing(connect(file)) as connection:
            layout = dict(connection.execute("select name, sql from sqlite_master"))
            versions = connection.execute("select * from version").fetchall()
    except DAMAGE as error:
        if is_trouble(error):
            raise trouble(file, error) from error
        return FolderContents(Layout.DAMAGED, reason=str(error))
    match layout, versions:
        case (dict() as tables, [(str() as made_by, bytes() as found)]) if tables == CURRENT:
            if found == hashlib.sha256(made_by.encode()).digest():
                return FolderContents(Layout.CURRENT, made_by)
    return FolderContents(Layout.DAMAGED, reason="its tables are not those of such a file")


def connect(file: Path) -> sqlite3.Connection:
    """Opens a file. The caller must close the connection."""
    connection = sqlite3.connect(file, timeout=PATIENCE, check_same_thread=False)
    try:
        # If the process is killed, nothing is lost. If the machine loses power, runs may be lost.
        connection.execute("pragma synchronous = off")
        connection.execute("pragma cell_size_check = on")
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def create(file: Path, version: str) -> None:
    """Makes an empty file if there is none. If two processes do so at once, one succeeds and both may continue.

    Raises:
        OSError: It cannot be written.
    """
    made = _written(file, version, ())
    try:
        with suppress(FileExistsError):
            try:
                os.link(made, file)
            except FileExistsError:
                raise
            except OSError:  # a file system without links
                made.replace(file)
    finally:
        made.unlink(missing_ok=True)


def replace(file: Path, version: str, rows: Iterable[Row] = ()) -> int:
    """Atomically replaces a file by a new one with these rows.

    Returns:
        Number of its rows.

    Raises:
        OSError: It cannot be written; the old file is unchanged.
    """
    made = _written(file, version, rows)
    try:
        with closing(connect(made)) as connection:
            (count,) = connection.execute("select count(*) from runs").fetchone()
        # A journal of the old file must not be applied to the new one.
        for journal in file.parent.glob(f"{file.name}-*"):
            journal.unlink()
        made.replace(file)
    finally:
        made.unlink(missing_ok=True)
    return int(count)


def _written(file: Path, version: str, rows: Iterable[Row]) -> Path:
    """Writes a complete temporary file in the same folder."""
    handle, name = tempfile.mkstemp(prefix=PARTIAL, suffix=".sqlite", dir=file.parent)
    os.close(handle)
    made = Path(name)
    made.chmod(0o644)
    try:
        with closing(connect(made)) as connection, connection:
            for statement in CURRENT.values():
                connection.execute(statement)
            proof = hashlib.sha256(version.encode()).digest()
            connection.execute("insert into version values (?, ?)", (version, proof))
            connection.executemany("insert or ignore into runs values (?, ?, ?, ?)", rows)
    except BaseException as error:
        for part in (made, *(made.with_name(made.name + end) for end in JOURNALS)):
            part.unlink(missing_ok=True)
        if isinstance(error, sqlite3.Error):
            raise trouble(file, error) from error
        raise
    return made


JOURNALS = ("-journal", "-wal", "-shm")
"""Suffixes of SQLite's files next to a database."""

CODES = {
    "database or disk is full": errno.ENOSPC,
    "disk I/O error": errno.EIO,
    "unable to open": errno.EMFILE,
    READ_ONLY: errno.EROFS,
    "out of memory": errno.ENOMEM,
}
"""First words of SQLite's messages about missing resources, with the system's error code."""


def trouble(file: Path, error: BaseException) -> OSError:
    """Converts SQLite's error to an error of the system, with its code if the message identifies it."""
    code = next((code for begins, code in CODES.items() if str(error).startswith(begins)), None)
    return OSError(f"{file}: {error}") if code is None else OSError(code, str(error), str(file))


def damage(file: Path, version: str) -> str | None:
    """Describes the damage of a file's structure or of a row; None if everything is intact.

    Raises:
        OSError: It cannot be read now.
    """
    try:
        with closing(connect(file)) as connection:
            (said,) = connection.execute("pragma quick_check(1)").fetchone()
            if said != "ok":
                return str(said).splitlines()[-1]
            rows = connection.execute("select * from runs")
            return None if all(is_whole(version, *row) for row in rows) else MISMATCH
    except DAMAGE as error:
        if is_trouble(error):
            raise trouble(file, error) from error
        return str(error)


def salvaged(file: Path, version: str) -> Iterator[Row]:
    """The intact rows of a damaged file, read from both ends as far as possible; rows may come twice."""
    for order in ("asc", "desc"):
        with suppress(*DAMAGE_OF_ROWS), closing(connect(file)) as connection:
            for row in connection.execute(
                f"select * from runs order by scenario {order}, seed {order}"  # one of two words
            ):
                if is_whole(version, *row):
                    yield row


def digest(version: str, scenario: str, seed: int, data: bytes) -> bytes:
    """SHA-256 of the contents of a row."""
    made = hashlib.sha256(json.dumps([version, scenario, seed]).encode())
    made.update(data)
    return made.digest()


def is_whole(version: str, scenario: object, seed: object, proof: object, data: object) -> bool:
    """Whether a row is intact; its columns may have any type."""
    return (
        isinstance(scenario, str)
        and isinstance(seed, int)
        and isinstance(data, bytes)
        and proof == digest(version, scenario, seed, data)
    )


FORMAT = "columns"
"""Format name at the beginning of packed tables."""


def packed(tables: Tables) -> bytes:
    """Tables as bytes: a line that describes their columns, then the columns' memory, compressed as one."""
    head: list[Any] = [FORMAT]
    body = []
    for name, table in tables.items():
        columns = []
        for title, column in table.columns.items():
            values = np.ascontiguousarray(column.values)
            columns.append([title, values.dtype.str, len(values), column.valid is not None, column.words])
            body.append(values.tobytes())
            if column.valid is not None:
                body.append(np.packbits(column.valid).tobytes())
        head.append([name, columns])
    return json.dumps(head).encode() + b"\n" + zlib.compress(b"".join(body), 1)


def unpacked(data: bytes, file: Path | str = "runs.sqlite") -> Tables:
    """Inverse of `packed`, for bytes whose digest has been compared.

    Anyone can compute a digest, so these bytes may come from a stranger.

    Raises:
        ForeignFileError: They are not the output of `packed`.
    """
    with gate("kept runs", file):
        return _unpacked(data)


def _unpacked(data: bytes) -> Tables:
    line, _, body = data.partition(b"\n")
    head = json.loads(line)
    if head[:1] != [FORMAT]:
        raise ValueError(f"it does not begin with {FORMAT!r}")
    most = KINDS["kept runs"].items or 0
    inside = zlib.decompressobj()
    whole = memoryview(inside.decompress(body, most + 1))
    check_items(len(whole), "a run", "kept runs")
    tables, at = {}, 0
    for name, described in head[1:]:
        columns = {}
        for title, kind, rows, has_gaps, words in described:
            values = np.frombuffer(whole, kind, rows, at)
            at += values.nbytes
            valid = None
            if has_gaps:
                bits = np.frombuffer(whole, "u1", (rows + 7) // 8, at)
                at += bits.nbytes
                valid = np.unpackbits(bits, count=rows).astype(bool)
            columns[title] = Column(values, valid, None if words is None else tuple(words))
        tables[name] = Table(columns)
    return tables


def on_stderr(line: str) -> None:
    """Prints a remark for people on standard error."""
    sys.stderr.write(f"{line}\n")
