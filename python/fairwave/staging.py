"""Writing all or nothing: files are made in a folder next to their target and moved there when all are complete.

No function here follows a symbolic link below the folder of results. A link in the place of a file is replaced; a link
in the place of a folder is refused. So a results folder from another person cannot redirect files to other places.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from fairwave.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator


class LinkedPathError(UserError, ValueError):
    """A name that fairwave writes below a results folder is a symbolic link; the message names it and the remedy."""


ROOM = "free some space, or name a folder on another disk"
REMEDIES = {
    errno.ENOSPC: ROOM,
    errno.EDQUOT: ROOM,
    errno.EFBIG: ROOM,
    errno.EROFS: "allow writing there and more open files (`ulimit -n 4096`), or name another folder",
    errno.EIO: "the disk fails; name a folder on another disk",
    errno.EMFILE: "allow more open files, for example `ulimit -n 4096`",
    errno.ENFILE: "close other programs: the system has too many open files",
    errno.ENOMEM: "close other programs: the system has too little memory",
}
"""Remedies for errors of the system that are not a mistake of the user."""


def remedy(error: OSError) -> str:
    """Returns the remedy for an error of the system that is not a mistake of the user; empty for any other."""
    return REMEDIES.get(error.errno or 0, "")


PARTIAL = ".partial-"
"""Prefix of the names of incomplete files and folders."""


def final_path(path: str) -> str:
    """Returns the final path of a file or folder that is still being written under the name of a part."""
    parts = Path(path).parts
    at = next((at for at, part in enumerate(parts) if part.startswith(PARTIAL)), len(parts))
    return str(Path(*parts[:at])) if at else path


def check_unlinked(path: Path) -> None:
    """Refuses a symbolic link in the place of a file or folder that fairwave opens. `/dev/stdout` may be a link.

    Raises:
        LinkedPathError: `path` is a link.
    """
    if path.is_symlink() and path.parent != Path("/dev"):
        raise LinkedPathError(
            f"{path} is a link to {path.readlink()}, and fairwave does not write through links; remove the link, or "
            "name another place"
        )


def make_folder(root: Path, folder: Path) -> None:
    """Makes `folder`, which is `root` or below it. Only `root` and the folders above it may be links.

    Raises:
        LinkedPathError: A folder below `root` is a link.
        OSError: The folder cannot be made.
    """
    root.mkdir(parents=True, exist_ok=True)
    for name in folder.relative_to(root).parts:
        root = root / name
        check_unlinked(root)
        root.mkdir(exist_ok=True)


@contextmanager
def staging(out: Path) -> Iterator[Path]:
    """Yields a temporary folder. At the end its contents move to `out`, or are removed if an error left the block.

    Files and links of the same name are replaced, other files in `out` stay.

    Raises:
        LinkedPathError: A subfolder to write to is a link.
        OSError: `out` cannot be made or written.
    """
    out.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=PARTIAL, dir=out))
    try:
        yield folder
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        for parent in {path.relative_to(folder).parent for path in files}:
            make_folder(out, out / parent)
        for path in files:
            path.replace(out / path.relative_to(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file in one step: readers see the old file or the new one, never half of it. A link is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=PARTIAL, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def open_named(path: Path) -> IO[bytes]:
    """Opens a file that the user named for writing, and makes its folder. The file may be a device or a pipe.

    Raises:
        LinkedPathError: `path` is a link.
        OSError: It cannot be written.
    """
    check_unlinked(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("wb")


def save_figure(figure: Any, path: Path) -> None:
    """Saves a figure of matplotlib in the format of the file's name, as :func:`open_named` opens it."""
    with open_named(path) as file:
        figure.savefig(file, dpi=120, format=path.suffix.lower().removeprefix(".") or None)


def write_text(path: Path, text: str) -> None:
    """Writes a text file in UTF-8 as :func:`write_bytes` does, with the line ends of the text."""
    write_bytes(path, text.encode())
