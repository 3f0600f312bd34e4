"""Makes a bundle of a folder of results."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.arguments import checked
from fairwave.bundles.archive import BundleError, check_amount, check_names, write_archive
from fairwave.bundles.command_words import DROPPED, split_words
from fairwave.bundles.comparing import is_compared
from fairwave.bundles.inputs import find_inputs, is_code, list_files
from fairwave.bundles.manifest import UNKNOWN, Listed, Manifest, Origin
from fairwave.folders import CACHE, NOTE, WORDS, check_folder, read_note
from fairwave.foreign import gate, parse_json, read_bytes
from fairwave.provenance import METADATA_KEY
from fairwave.results import PROVENANCE, SUMS, hash_file
from fairwave.runs.keeping import Folder, engine
from fairwave.staging import staging
from fairwave.table_files import can_write_parquet

if TYPE_CHECKING:
    from os import PathLike

    from fairwave.bundles.inputs import Inputs

RESULTS = "results"
END = ".fairwave.zip"
"""End of the name of a bundle."""


@dataclass(frozen=True)
class Bundle:
    """A bundle that was made.

    Attributes:
        file: Its path.
        sha256: Its SHA-256: publish it, so that others know that they have the same bundle.
        manifest: Its contents.
        remarks: Reasons for which a repetition may differ, in words.
    """

    file: Path
    sha256: str
    manifest: Manifest
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "file": str(self.file),
            "sha256": self.sha256,
            "bytes": self.file.stat().st_size,
            "manifest": self.manifest.to_dict(),
            "remarks": list(self.remarks),
        }


@checked
def bundle(
    out: str | PathLike[str], file: str | PathLike[str] | None = None, *, overwrite: bool = False
) -> Bundle:
    """Makes one file of a folder of results and of everything that repeats them.

    Call it in the working folder of the command that made the results. The bundle has the scenario and every file that
    the command reads, laws in Python, the command, the seeds, the build of fairwave, and the folder's tables, figures
    and pages, each with its SHA-256. Equal contents give equal bytes.

    Args:
        out: The folder that `fairwave run --out` or another command wrote.
        file: The bundle; the folder's name with `.fairwave.zip` if left out.
        overwrite: Replace a file that exists.

    Raises:
        fairwave.bundles.archive.BundleError: The folder cannot be bundled; the message gives the reason.
        fairwave.folders.FolderTakenError: `file` is inside a file.
        OSError: A file cannot be read or written.
    """
    folder = Path(out)
    target = Path(file) if file is not None else _name_bundle(folder)
    if target.is_dir():
        raise BundleError(
            f"{target} is a folder; give the name of a file, for example {target / 'results'}{END}"
        )
    check_folder(target.parent)
    if target.exists() and not overwrite:
        raise BundleError(f"{target} exists; give --overwrite to replace it, or another name")
    if not folder.is_dir():
        raise BundleError(f"no folder {str(out)!r}; give a folder that `fairwave run --out FOLDER` wrote")
    note = _read_owner(folder)
    results = {
        f"{RESULTS}/{path.relative_to(folder).as_posix()}": path
        for path in list_files(folder)
        if path.resolve() != target.resolve() and not path.name.endswith(END)
    }
    _check_results(folder, results, note["command"])
    command, parts = split_words(shlex.split(note["command"])[1:])
    inputs = find_inputs(command, parts, Path.cwd())
    sources = {**results, **inputs.files}
    check_names(sources, str(folder))
    size = sum(path.stat().st_size for path in sources.values())
    check_amount(len(sources), size, str(folder), "record less, or cut the files that the scenario names")
    made = _read_provenance(folder)
    manifest = Manifest(
        note["kind"],
        note["name"],
        note["command"],
        [command, *(part.word for part in inputs.parts if part.role not in DROPPED)],
        inputs.folder,
        made["seeds"],
        made["scenarios"],
        _find_origin(folder, made),
        {name: Listed(hash_file(path), path.stat().st_size) for name, path in sorted(sources.items())},
    )
    with staging(target.parent) as partial:
        write_archive(partial / target.name, manifest.to_json(), sources)
    return Bundle(target, hash_file(target), manifest, tuple(_remark(folder, inputs)))


def _name_bundle(folder: Path) -> Path:
    """The default path of a bundle: next to the folder."""
    named = folder if folder.name not in {"", ".."} else folder.resolve()
    return named.with_name(f"{named.name}{END}")


def _read_owner(folder: Path) -> dict[str, str]:
    """Returns kind, name and command of the work that a folder holds.

    Raises:
        BundleError: A bundle cannot repeat it.
    """
    try:
        with gate("note", folder / NOTE, BundleError):
            note = read_note(folder / NOTE)
    except FileNotFoundError:
        note = {}
    known = {key: note.get(key) for key in ("kind", "name", "command")}
    found = {key: value for key, value in known.items() if isinstance(value, str)}
    if len(found) < len(known):
        raise BundleError(
            f"{folder} holds no results of a command of fairwave; give a folder that `fairwave run --out FOLDER` wrote"
        )
    if found["kind"] in {"live", "measure", "demo"}:
        raise BundleError(
            f"{folder} holds a {WORDS.get(found['kind'], found['kind'])}, which cannot be repeated byte for byte; "
            "bundle a folder of `fairwave run`, `compare`, `sweep`, `find`, `network`, `study` or `evaluate`"
        )
    if not found["command"].startswith("fairwave "):
        raise BundleError(
            f"a Python program made {folder}, and a bundle needs a command to repeat; make the results by "
            "`fairwave run SCENARIO --out FOLDER`"
        )
    return found


def _check_results(folder: Path, results: dict[str, Path], command: str) -> None:
    """Refuses a folder without tables, or with tables that have changed since they were written.

    Raises:
        BundleError: It is one.
    """
    if not any(is_compared(name) for name in results):
        raise BundleError(f"{folder} has no tables: its command has not ended; repeat it: {command}")
    sums = folder / SUMS
    if not sums.is_file():
        return
    with gate("results", sums, BundleError):
        lines = [line.split("  ", 1) for line in read_bytes(sums, "reading").decode("ascii").splitlines()]
    for digest, name in lines:
        path = results.get(f"{RESULTS}/{name}")
        if path is None or hash_file(path) != digest:
            what = "is missing" if path is None else f"has not the SHA-256 that {SUMS} lists"
            raise BundleError(f"{folder / name} {what}; make the results again: {command}")


def _read_provenance(folder: Path) -> dict[str, Any]:
    """Returns seeds, scenarios, version and commit of the results, as far as the folder has them."""
    found: Any = {}
    for name in (PROVENANCE, "answer.json", "ledger.json"):
        path = folder / name
        if path.is_file():
            with gate("results", path, BundleError):
                found = parse_json(read_bytes(path, "results"), str(path), "results")
            found = found if name == PROVENANCE else found.get("provenance", {})
            break
    else:
        found = _read_metadata(next(iter(sorted(folder.glob("*.parquet"))), None))
    seeds, scenarios = found.get("seeds", []), found.get("scenarios", {})
    return {
        "seeds": [int(one) for one in seeds],
        "scenarios": {str(key): str(value) for key, value in scenarios.items()},
        "version": str(found.get("version", UNKNOWN)),
        "commit": str(found.get("commit", UNKNOWN)),
    }


def _read_metadata(table: Path | None) -> Any:
    """Returns the provenance in the metadata of a table; empty if there is none, or pyarrow is not installed."""
    if table is None or not can_write_parquet():
        return {}
    import pyarrow.parquet as pq

    with gate("results", table, BundleError):
        metadata = pq.read_metadata(table).metadata or {}
        return parse_json(metadata.get(METADATA_KEY, b"{}"), str(table), "results")


def _find_origin(folder: Path, made: dict[str, Any]) -> Origin:
    """The build that made the results: the current one, unless the folder names another build or commit."""
    current = Origin.current()
    stale = Folder(folder / CACHE).stale
    is_current = stale is None and (folder / CACHE / Folder.FILE).is_file()
    commit = made["commit"]
    if is_current and commit in {UNKNOWN, current.commit.removesuffix("-dirty")}:
        commit = current.commit
    version = current.version if is_current else made["version"]
    return replace(
        current, version=version, commit=commit, build=current.build if is_current else stale or UNKNOWN
    )


def _remark(folder: Path, inputs: Inputs) -> list[str]:
    """Lists reasons for which a repetition may differ."""
    remarks = []
    written = (folder / NOTE).stat().st_mtime
    newer = [str(path) for path in inputs.files.values() if path.stat().st_mtime > written]
    if newer:
        remarks.append(
            f"{', '.join(newer[:3])}{' and others' if len(newer) > 3 else ''}: changed after these results were "
            "made; `fairwave repeat` shows whether the results still follow"
        )
    stale = Folder(folder / CACHE).stale
    if stale is not None:
        remarks.append(f"another build of fairwave made these results ({stale}); this one is {engine()}")
    code = [name for name in inputs.files if is_code(name)]
    if code:
        remarks.append(
            f"the bundle has Python code ({', '.join(code[:3])}{' and more' if len(code) > 3 else ''}); data that this "
            "code reads while it runs is not in the bundle"
        )
    return remarks
