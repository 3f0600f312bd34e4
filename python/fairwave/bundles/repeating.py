"""Repeats the command of a bundle and compares the tables.

The command runs in a separate process, in the folder of the unpacked inputs. Python does not look for modules there,
and the command may read no file outside of the bundle. A bundle with Python code, or with recordings for decoders of
other projects, is repeated only if the user trusts it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from fairwave.arguments import checked
from fairwave.bundles.archive import Archive, BundleError, check_names, damage
from fairwave.bundles.command_words import ASKING, DROPPED, FLAGS, Part, Role, split_words
from fairwave.bundles.comparing import SAME, compare_tables, is_compared
from fairwave.bundles.inputs import INPUTS, find_clips, find_inputs, is_code, list_files
from fairwave.bundles.manifest import Manifest, Origin
from fairwave.bundles.packing import RESULTS
from fairwave.folders import check_folder
from fairwave.foreign import KINDS, gated
from fairwave.layers import studies
from fairwave.results import hash_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from fairwave.bundles.comparing import TableComparison

PROGRAM = """
import os, sys
sys.path[:] = [path for path in sys.path if path]
os.chdir(sys.argv.pop(1))
sys.argv[0] = "fairwave"
from fairwave.cli import console, main
console.say = lambda *_, **__: None
main()
"""
"""Starts a command in another folder, without looking for modules there.

It shows progress and errors, but no remarks: these name a temporary folder.
"""

MET = (0, 3, 4)
"""Exit statuses of a command that has ended: 3 and 4 are about requirements."""

PICTURES = (".png", ".svg", ".pdf")
PATHS = {Role.SCENARIO, Role.FILE, Role.LAWS, Role.RUNS}


class UntrustedBundleError(BundleError):
    """A bundle has Python code or recordings, and the user has not trusted it."""


@dataclass(frozen=True)
class Repetition:
    """A bundle next to its repetition.

    Attributes:
        manifest: Contents of the bundle.
        sha256: SHA-256 of the bundle.
        origin: Differences of build and surroundings between the bundle and this process, a phrase each.
        tables: Every table of the bundle and of the repetition.
        pictures: Number of pictures in the bundle.
        same_pictures: Number of those that the repetition has with the same bytes.
    """

    manifest: Manifest
    sha256: str
    origin: tuple[str, ...]
    tables: tuple[TableComparison, ...]
    pictures: int
    same_pictures: int

    @property
    def is_same(self) -> bool:
        """Whether every table has the same values."""
        return all(one.is_same for one in self.tables)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "same": self.is_same,
            "command": self.manifest.command,
            "seeds": self.manifest.seeds,
            "sha256": self.sha256,
            "origin": list(self.origin),
            "tables": [one.to_dict() for one in self.tables],
            "pictures": {"all": self.pictures, "same": self.same_pictures},
        }

    def __str__(self) -> str:
        origin = (
            f"different origin: {', '.join(self.origin)}"
            if self.origin
            else "the same build and surroundings"
        )
        lines = [origin[0].upper() + origin[1:] + "."]
        differ = [one for one in self.tables if not one.is_same]
        if differ:
            lines.append(f"Different: {len(differ)} of {len(self.tables)} tables.")
            lines += [line for one in differ for line in one.describe()]
        elif others := [one.name for one in self.tables if one.status != SAME]:
            exact = len(self.tables) - len(others)
            lines.append(
                f"Same: {exact} tables have the same bytes, and {', '.join(others)} the same values."
            )
        else:
            lines.append(f"Same: all {len(self.tables)} tables have the same bytes.")
        if self.pictures:
            share = f"All {self.pictures}" if self.same_pictures == self.pictures else (
                f"{self.same_pictures} of {self.pictures}"
            )  # fmt: skip
            lines.append(
                f"{share} pictures have the same bytes (these depend on libraries and do not count)."
            )
        return "\n".join(lines)


@checked
def repeat(
    source: str | PathLike[str],
    *,
    out: str | PathLike[str] | None = None,
    trust: bool = False,
    threads: int | None = None,
) -> Repetition:
    """Repeats the command of a bundle on this build of fairwave, and compares the tables.

    Args:
        source: The bundle.
        out: A folder for the results of the repetition; a temporary one if left out.
        trust: Run Python code and decode recordings of the bundle. Code runs with your rights: read it first.
        threads: Number of threads; all cores when None.

    Returns:
        A comparison of all tables; `is_same` is true if every value is the same.

    Raises:
        fairwave.bundles.repeating.UntrustedBundleError: The bundle has Python code or recordings, and `trust` is false.
        fairwave.bundles.archive.BundleError: It is no bundle, is damaged, or its command fails.
    """
    return repeat_bundle(Path(source), out=out, trust=trust, threads=threads)


def repeat_bundle(
    file: Path,
    *,
    out: str | PathLike[str] | None = None,
    trust: bool = False,
    threads: int | None = None,
    yes: bool = True,
    shown: bool = False,
) -> Repetition:
    """As `repeat`.

    Args:
        file: The bundle.
        out: A folder for the results of the repetition; a temporary one if left out.
        trust: Run Python code and decode recordings of the bundle.
        threads: Number of threads; all cores when None.
        yes: Make very many runs without asking.
        shown: Show progress and messages of the command on standard error.
    """
    with _unpacked(file) as (manifest, folder), TemporaryDirectory(prefix="fairwave-") as spare:
        words = _check_command(manifest, folder, file, trust=trust)
        target = _check_target(Path(out)) if out is not None else Path(spare) / "repeated"
        words += [f"--out={target.resolve()}"]
        words += ["--yes"] if yes and words[0] in ASKING else []
        words += [f"--threads={threads}"] if threads is not None else []
        _run(words, folder / manifest.folder, file, shown=shown)
        return _compare(manifest, folder / RESULTS, target, file)


def unpack(file: Path, out: Path) -> Manifest:
    """Unpacks a bundle after a comparison of every SHA-256, and repeats nothing.

    Args:
        file: The bundle.
        out: A folder that is empty, or does not exist.

    Raises:
        BundleError: The bundle is damaged, or the folder is not empty.
    """
    _check_target(out).mkdir(parents=True, exist_ok=True)
    return _read_into(file, out)


def _check_target(out: Path) -> Path:
    """Returns an empty folder, or a path that is still free.

    Raises:
        BundleError: There is something.
        fairwave.folders.FolderTakenError: The path is a file, or is inside a file.
    """
    check_folder(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BundleError(f"{out} exists and is not an empty folder; give another folder")
    return out


@contextmanager
def _unpacked(file: Path) -> Iterator[tuple[Manifest, Path]]:
    """Yields the manifest of a bundle and a temporary folder with its files."""
    with TemporaryDirectory(prefix="fairwave-") as folder:
        where = Path(folder).resolve()
        yield _read_into(file, where), where


@gated("bundle", BundleError)
def _read_into(file: Path, folder: Path) -> Manifest:
    """Unpacks a bundle into an empty folder and returns its manifest."""
    if not file.is_file():
        raise BundleError(f"no file {str(file)!r}; give a bundle that `fairwave bundle FOLDER` made")
    with Archive(file) as archive:
        manifest = Manifest.from_json(archive.read_manifest(KINDS["bundle"].bytes // 100), file)
        check_names(manifest.files, str(file))
        check_names([manifest.folder], str(file))
        stray = [name for name in manifest.files if name.partition("/")[0] not in {INPUTS, RESULTS}]
        if stray or f"{manifest.folder}/".partition("/")[0] != INPUTS:
            raise damage(file, f"{(stray or [manifest.folder])[0]} is in no folder of bundles")
        archive.unpack(folder, {name: one.sha256 for name, one in manifest.files.items()})
    return manifest


def _check_command(manifest: Manifest, folder: Path, file: Path, *, trust: bool) -> list[str]:
    """Returns the words that repeat a command, after a check of every file that it reads.

    Raises:
        BundleError: The command cannot be repeated, reads a file outside of the bundle, or runs untrusted code.
    """
    command, parts = split_words(manifest.arguments)
    here, inputs = folder / manifest.folder, folder / INPUTS
    here.mkdir(parents=True, exist_ok=True)
    for part in parts:
        _check_place(part, here, inputs, file)
    code = [name for name in manifest.files if name.startswith(f"{INPUTS}/") and is_code(name)]
    if not trust:
        recordings = [here / part.value for part in parts if part.option == "--speech"] + find_clips(
            parts, here
        )
        _check_untrusted(code, recordings, file)
    found = find_inputs(command, parts, here)
    if outside := [path for path in found.files.values() if inputs not in path.parents]:
        raise damage(file, f"its command reads {outside[0]}, which is not in the bundle")
    needed = {path.relative_to(folder).as_posix() for path in found.files.values()}
    if more := [
        name for name in manifest.files if name.startswith(f"{INPUTS}/") and name not in {*needed, *code}
    ]:
        raise damage(file, f"its command does not read {more[0]}")
    return [command, *(part.word for part in parts if part.role not in DROPPED)]


def _check_untrusted(code: list[str], recordings: list[Path], file: Path) -> None:
    """Refuses contents that only the bundle of a trusted author may have.

    Raises:
        UntrustedBundleError: There are some.
    """
    kinds = [f"Python code, which runs with your rights ({', '.join(code)})"] if code else []
    if recordings:
        names = ", ".join(path.name for path in recordings)
        kinds.append(f"recordings, which the decoders of other projects read ({names})")
    if kinds:
        raise UntrustedBundleError(
            f"{file} has {' and '.join(kinds)}. Look at them: `fairwave repeat {file} --unpack FOLDER`. If you trust "
            "them, add --trust"
        )


def _check_place(part: Part, here: Path, inputs: Path, file: Path) -> None:
    """Refuses a part of a command that names a place outside of the bundle."""
    if part.role in FLAGS:
        return
    place = Path(os.path.abspath(here / part.value))  # noqa: PTH100
    is_study = part.role is Role.STUDY and part.value not in studies() and place.is_dir()
    is_path = part.role in PATHS or is_study
    if is_path and (Path(part.value).is_absolute() or inputs not in place.parents):
        raise damage(file, f"its command reads {part.value[:80]}, which is not in the bundle")


def _run(words: Sequence[str], folder: Path, file: Path, *, shown: bool) -> None:
    """Runs a command of fairwave in a folder.

    Raises:
        BundleError: It fails.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=None if shown else subprocess.PIPE,
        env={**os.environ, "PYTHONSAFEPATH": "1"},
        check=False,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode not in MET:
        lines = (done.stderr or "").strip().splitlines()
        reason = f": {lines[0].removeprefix('error: ')}" if lines else ""
        raise RepetitionError(f"the command of {file} failed with status {done.returncode}{reason}")


class RepetitionError(BundleError):
    """The command of a bundle failed."""


def _compare(manifest: Manifest, bundled: Path, repeated: Path, file: Path) -> Repetition:
    """Compares every table of two folders."""
    ours = {name.removeprefix(f"{RESULTS}/") for name in manifest.files if name.startswith(f"{RESULTS}/")}
    theirs = {path.relative_to(repeated).as_posix() for path in list_files(repeated)}
    names = sorted(name for name in ours | theirs if is_compared(name))
    pictures = [name for name in ours if name.endswith(PICTURES)]
    return Repetition(
        manifest,
        hash_file(file),
        tuple(manifest.origin.differences(Origin.current())),
        tuple(compare_tables(bundled / name, repeated / name, name) for name in names),
        len(pictures),
        sum(name in theirs and hash_file(bundled / name) == hash_file(repeated / name) for name in pictures),
    )
