"""The file of a bundle: a ZIP archive with equal bytes for equal contents, read with limits.

A stranger may have made a bundle to use up memory or disk, or to write outside of the folder that it is unpacked to.
So the end of the archive is checked before the list of files is read, names and sizes before anything is unpacked, and
the SHA-256 of each file while it is unpacked. Fairwave reads only archives of the simple form that it writes.
"""

from __future__ import annotations

import hashlib
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING

from fairwave.errors import BadInputError
from fairwave.foreign import MB, format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

MANIFEST = "manifest.json"
DATE = (1980, 1, 1, 0, 0, 0)
"""Date of every file in an archive: the earliest that ZIP can express."""

MOST_FILES = 20_000
MOST_BYTES = 2_000 * MB
"""Most files of a bundle, and most bytes of all files together, unpacked."""

MOST_LIST = 8 * MB
"""Most bytes of the list of files at the end of an archive."""

MOST_NAME = 400
END = struct.Struct("<4s4H2LH")
"""The end of a ZIP archive without a comment."""

ZIP64 = b"PK\x06\x07"
PART = 1 << 20

FORBIDDEN = frozenset('\\:*?"<>|')
"""Characters that some system does not allow in the name of a file."""

UNWANTED = frozenset({"matplotlibrc"})
"""Names of files that libraries read from the working directory."""


class BundleError(BadInputError):
    """A bundle cannot be made or repeated; the message gives the reason and the remedy."""


def check_names(names: Iterable[str], place: str) -> None:
    """Refuses names of files that some system could not unpack, or would unpack to another place.

    Args:
        names: The names, with slashes.
        place: The bundle or folder, for messages.

    Raises:
        BundleError: There is one.
    """
    known: set[str] = set()
    for name in names:
        parts = name.split("/")
        is_safe = (
            len(name) <= MOST_NAME
            and not FORBIDDEN & set(name)
            and name.isprintable()
            and all(part.strip(". ") and not part.endswith((".", " ")) for part in parts)
            and not UNWANTED & set(parts)
        )
        if not is_safe:
            raise BundleError(
                f"{place}: {name[:80]!r} is no name for a file in a bundle; allowed are printable names of at most "
                f"{MOST_NAME} characters without {' '.join(sorted(FORBIDDEN))}, without '..' and not {min(UNWANTED)}"
            )
        if name.casefold() in known:
            raise BundleError(
                f"{place} holds {name[:80]!r} twice (names may not differ by case only); rename one"
            )
        known.add(name.casefold())
    for name in known:
        parts = name.split("/")
        if any("/".join(parts[:count]) in known for count in range(1, len(parts))):
            raise BundleError(
                f"{place} holds a file and a folder of the same name, at {name[:80]!r}; rename one"
            )


def check_amount(files: int, size: int, place: str, remedy: str) -> None:
    """Refuses too many files or bytes.

    Raises:
        BundleError: There are too many.
    """
    if files > MOST_FILES:
        raise BundleError(f"{place} has {files} files, but a bundle at most {MOST_FILES}; {remedy}")
    if size > MOST_BYTES:
        raise BundleError(
            f"{place} has {format_bytes(size, up=True)}, but a bundle at most {format_bytes(MOST_BYTES)} unpacked; "
            f"{remedy}"
        )


def write_archive(file: Path, manifest: str, sources: Mapping[str, Path]) -> None:
    """Writes an archive: the manifest first, then the files in the order of their names.

    Raises:
        OSError: A file cannot be read, or the archive cannot be written.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=False) as archive:
        archive.writestr(_entry(MANIFEST), manifest)
        for name in sorted(sources):
            with sources[name].open("rb") as source, archive.open(_entry(name), "w") as target:
                while part := source.read(PART):
                    target.write(part)


def _entry(name: str) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(name, DATE)
    found.compress_type = zipfile.ZIP_DEFLATED
    found.create_system = 3  # the same bytes on Windows
    found.external_attr = 0o644 << 16
    return found


class Archive:
    """An archive that is open for reading. Errors name `file`.

    Raises:
        BundleError: It is no archive that fairwave writes, or exceeds a limit.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        _check_end(file)
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise damage(file, str(error)) from None
        self.names = self._zip.namelist()
        try:
            self._check_list()
        except BundleError:
            self._zip.close()
            raise

    def _check_list(self) -> None:
        if MANIFEST not in self.names:
            raise BundleError(
                f"{self._file} is a ZIP archive without {MANIFEST}, not a bundle; `fairwave bundle FOLDER` makes one"
            )
        entries = self._zip.infolist()
        size = sum(one.file_size for one in entries)
        check_amount(len(entries), size, str(self._file), "ask its author for a smaller one")
        check_names(self.names, str(self._file))
        for one in entries:
            if one.flag_bits & 1 or one.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise damage(self._file, f"{one.filename} is encrypted, or not compressed as bundles are")

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def read_manifest(self, most: int) -> bytes:
        """The bytes of the manifest.

        Raises:
            BundleError: It has more than `most` bytes, or is damaged.
        """
        size = self._zip.getinfo(MANIFEST).file_size
        if size > most:
            raise damage(self._file, f"{MANIFEST} has {format_bytes(size, up=True)}")
        try:
            return self._zip.read(MANIFEST)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise damage(self._file, f"{MANIFEST}: {error}") from None

    def unpack(self, folder: Path, sums: Mapping[str, str]) -> None:
        """Unpacks every file and compares its SHA-256.

        Args:
            folder: An existing, empty folder.
            sums: The SHA-256 of each file, by name.

        Raises:
            BundleError: A file is missing, is not listed, or has another SHA-256.
        """
        listed = set(sums)
        if more := sorted({*self.names} - listed - {MANIFEST}):
            raise damage(self._file, f"{more[0]} is not in the list of its manifest")
        if less := sorted(listed - {*self.names}):
            raise damage(self._file, f"{less[0]} is missing")
        for name in sorted(listed):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if self._unpack_file(name, target) != sums[name]:
                raise damage(self._file, f"{name} has not the SHA-256 that its manifest lists")

    def _unpack_file(self, name: str, target: Path) -> str:
        """Unpacks a file and returns its SHA-256. `zipfile` never returns more bytes than the list of files states."""
        digest = hashlib.sha256()
        try:
            with self._zip.open(name) as source, target.open("xb") as file:
                while part := source.read(PART):
                    digest.update(part)
                    file.write(part)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise damage(self._file, f"{name}: {error}") from None
        return digest.hexdigest()


def damage(file: Path, reason: str) -> BundleError:
    """The error about a damaged or forged bundle."""
    return BundleError(
        f"{file} is damaged or was changed: {reason}; ask its author for the bundle and its SHA-256"
    )


def _check_end(file: Path) -> None:
    """Refuses an archive with a too long list of files, before `zipfile` reads the list into memory.

    Raises:
        BundleError: It is too long, or the file does not end like an archive that fairwave wrote.
    """
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        before = 20  # bytes of the mark that a ZIP64 archive has before its end
        opened.seek(max(0, size - END.size - before))
        data = opened.read(END.size + before)
    if len(data) < END.size or not data[-END.size :].startswith(b"PK\x05\x06"):
        raise BundleError(
            f"{file} is no bundle, or only a part of one; `fairwave bundle FOLDER` makes a bundle of results"
        )
    _, _, _, _, count, length, _, comment = END.unpack(data[-END.size :])
    if data.startswith(ZIP64) or comment or length > MOST_LIST or count > MOST_FILES + 1:
        raise damage(
            file,
            f"its list of files has {format_bytes(length)} for {count} files, or is of a form that bundles lack",
        )
