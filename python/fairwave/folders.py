"""Folders that results are left in: each belongs to one piece of work, and to one process at a time.

The note `.fairwave` in a folder names the work that owns it, and is locked while a process writes there. Fairwave
never replaces the files of other work unasked.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from fairwave import _native
from fairwave.errors import UserError
from fairwave.foreign import KINDS, ForeignFileError, gated, parse_json, read_bytes
from fairwave.staging import PARTIAL, check_unlinked

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTE = ".fairwave"
PAGE = "index.html"
CACHE = ".cache"
"""Subfolder of completed runs."""

GENERATOR = b'<meta name="generator" content="fairwave'
HEAD = b"</head>"

WORDS = {
    "run": "run",
    "live": "live run",
    "compare": "comparison",
    "demo": "demo",
    "guard": "guarded comparison",
    "sweep": "sweep",
    "find": "search",
    "network": "network",
    "study": "study",
}
"""Output of each command."""

_held: dict[Path, int] = {}
_last: list[Path] = []


class FolderTakenError(UserError, ValueError):
    """A folder belongs to another command, or another process writes there; the message names the owner."""


@contextmanager
def claimed(
    folder: str | Path, kind: str, name: str, *, overwrite: bool = False, scratch: bool = False
) -> Iterator[Path]:
    """Locks a folder for one piece of work during the block.

    Args:
        folder: Path of the folder; created if missing.
        kind: Command that writes there: `run`, `compare`, `study`, …
        name: Name of the scenario or study.
        overwrite: Take over a folder that holds something else; files of the same name are replaced.
        scratch: The folder is a default that the user did not name. Files of fairwave in it may be replaced, other
            files may not.

    Raises:
        FolderTakenError: It holds something else, or another process writes there.
        LinkedPathError: Its note is a link.
        OSError: It cannot be made or written.
    """
    from fairwave.provenance import command

    check_folder(folder)
    where = Path(folder).resolve()
    if where in _held:  # by this process, for an enclosing piece of work
        _held[where] += 1
        try:
            yield Path(folder)
        finally:
            _held[where] -= 1
        return
    if not overwrite:
        _refuse_foreign(Path(folder), _way(kind))
    Path(folder).mkdir(parents=True, exist_ok=True)
    with _open_note(Path(folder) / NOTE) as note:
        owner = _read(note)
        if not _lock(note):
            raise FolderTakenError(
                f"another process is writing to {folder}: {_describe(owner)}; wait until it is done, or "
                "give another folder"
            )
        if owner and (owner.get("kind"), owner.get("name")) != (kind, name) and not (overwrite or scratch):
            raise FolderTakenError(f"{folder} holds {_describe(owner)}; give another folder, or {_way(kind)}")
        if owner:
            remove_parts(Path(folder))
        note.truncate(0)
        mine = {"kind": kind, "name": name, "command": command(), "version": _native.version}
        note.write(json.dumps(mine, ensure_ascii=False).encode() + b"\n")
        note.flush()
        _held[where] = 1
        _last[:] = [Path(folder)]
        try:
            yield Path(folder)
        finally:
            del _held[where]


def remove_parts(folder: Path) -> None:
    """Removes incomplete files of an earlier command that was killed or could not remove them. The folder is locked."""
    for where in (folder, folder / CACHE):
        if where.is_symlink() or not where.is_dir():
            continue
        for part in where.glob(f"{PARTIAL}*"):
            if part.is_dir() and not part.is_symlink():
                shutil.rmtree(part, ignore_errors=True)
            else:
                part.unlink(missing_ok=True)


def _open_note(path: Path) -> IO[bytes]:
    """Opens the note for reading and appending, and never through a link.

    Raises:
        LinkedPathError: The note is a link.
        OSError: It cannot be opened.
    """
    check_unlinked(path)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o644), "a+b")


def check_folder(folder: str | Path) -> None:
    """Rejects a path that is a file, or that is inside a file.

    Raises:
        FolderTakenError: It is, or no folder can have this name.
    """
    if "\0" in str(folder):
        raise FolderTakenError(f"{str(folder)!r} is no name of a folder; write for example out")
    for part in (Path(folder), *Path(folder).parents):
        if part.is_dir():
            return
        if part.exists():
            raise FolderTakenError(
                f"{part} is a file, but results need a folder; write for example {part.with_suffix('')}-results"
            )


def check_way(path: Path) -> None:
    """Rejects links between a locked folder and a path below it. Other paths are the user's choice.

    Raises:
        LinkedPathError: A folder in between, or the path, is a link.
    """
    held = keeps()
    if held is None:
        return
    # `resolve` would follow the links.
    root, whole = (Path(os.path.abspath(one)) for one in (held, path))  # noqa: PTH100
    if root in whole.parents:
        below = whole.relative_to(root)
        for part in (below, *list(below.parents)[:-1]):
            check_unlinked(root / part)


def keeps() -> Path | None:
    """The folder of completed runs, from which an interrupted command can resume; None without one."""
    return _last[0] if _last else None


def _way(kind: str) -> str:
    """Returns how to write to a folder that holds something else; `fairwave study` has no `--overwrite`."""
    return "remove it" if kind == "study" else "--overwrite to replace what is there"


def _refuse_foreign(folder: Path, way: str) -> None:
    """Refuses a folder with other files under fairwave's file names."""
    page, tables = folder / PAGE, folder / "runs.parquet"
    foreign = [page] if page.is_file() and not _is_ours(page) else []
    noted = (folder / NOTE).exists() or (folder / "provenance.json").exists()
    foreign += [tables] if tables.is_file() and not noted else []
    for file in foreign:
        raise FolderTakenError(
            f"{file} was not written by fairwave and would be replaced; give another folder, or {way}"
        )


def _is_ours(page: Path) -> bool:
    """Whether the head of a page names fairwave. The hashes of its styles come first and may be many."""
    with page.open("rb") as file:
        for line in file:
            if GENERATOR in line:
                return True
            if HEAD in line:
                return False
    return False


@gated("note")
def read_note(path: Path) -> dict[str, Any]:
    """Reads the note of a folder; empty for an empty note.

    Raises:
        ForeignFileError: It is damaged.
        FileNotFoundError: There is none.
    """
    found = parse_json(read_bytes(path, "note") or b"{}", str(path), "note")
    return found if isinstance(found, dict) else {}


def _read(note: IO[bytes]) -> dict[str, str]:
    note.seek(0)
    try:
        found = parse_json(note.read(KINDS["note"].bytes) or b"{}", NOTE, "note")
    except ForeignFileError:
        return {}
    return {key: one for key, one in found.items() if isinstance(one, str)} if isinstance(found, dict) else {}


def _describe(owner: dict[str, str]) -> str:
    if not owner:
        return "something that does not say what it is"
    kind = WORDS.get(owner.get("kind", ""), "work")
    what = f"the {kind} of {owner.get('name', '?')!r}"
    made = owner.get("command", "")
    return f"{what} ({made})" if made.startswith("fairwave") else what


def _lock(file: IO[bytes]) -> bool:
    """Locks an open file for this process, at most for its lifetime, and returns whether that succeeded."""
    if sys.platform == "win32":
        import msvcrt

        try:
            file.seek(1 << 20)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in {errno.ENOLCK, errno.ENOTSUP}:
            return True  # a file system without locks
        raise
    return True
