"""The files that a command reads: its scenarios and the files that they name, laws, recordings, saved runs.

A bundle keeps the relative places of these files, so that the same words name them after it is unpacked. Files around
the working folder are in `inputs/here`. A file that the command names by an absolute path is in `inputs/there-1` and so
on, and the repeated command names it by a relative path.
"""

from __future__ import annotations

import ast
import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from fairwave.bundles.archive import BundleError
from fairwave.bundles.command_words import Part, Role
from fairwave.foreign import MB, gate, read_bytes
from fairwave.layers import studies
from fairwave.named_files import named_files
from fairwave.packaged import find_example
from fairwave.scenario import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

INPUTS = "inputs"
HERE = "here"
MOST_CODE = 2 * MB
"""Most bytes of a Python file."""

MOST_WORD = 1_000
"""Most characters of a file's name in a value."""

SETTINGS = ("--set", "--vary", "--grid")
CODE = (".py", ".pyc", ".pyd", ".pyi", ".pyw", ".pyx", ".so", ".dll", ".pth")
"""Ends of the names of files that Python may run."""


def is_code(name: str) -> bool:
    """Whether Python may run a file of this name."""
    return name.lower().endswith(CODE)


@dataclass
class _Tree:
    """Files that keep their relative places.

    Attributes:
        name: Folder of the files below `inputs`.
        anchor: The folder from which relative names count.
        files: Path of each file in this tree, and the path of its contents. The two differ for examples of fairwave.
    """

    name: str
    anchor: Path
    files: dict[Path, Path] = field(default_factory=dict)

    def add(self, files: Mapping[Path, Path]) -> None:
        """Adds files.

        Raises:
            BundleError: Two different files would have one name.
        """
        for path, source in files.items():
            if self.files.setdefault(path, source) != source:
                raise BundleError(
                    f"the command reads {source} and {self.files[path]}, and a bundle would have both as {path.name}; "
                    "copy the example into a folder of its own and make the results from the copy"
                )

    def root(self) -> Path:
        """The folder that contains the anchor and every file."""
        return Path(os.path.commonpath([self.anchor, *self.files]))

    def place(self, path: Path) -> str:
        """The name of a file or folder of this tree in the bundle."""
        below = path.relative_to(self.root()).as_posix()
        return f"{INPUTS}/{self.name}" if below == "." else f"{INPUTS}/{self.name}/{below}"


@dataclass(frozen=True)
class Inputs:
    """The files that a command reads.

    Attributes:
        files: The name of each in the bundle, and its path.
        folder: The name of the working folder in the bundle.
        parts: The parts of the command, with relative names only.
    """

    files: dict[str, Path]
    folder: str
    parts: list[Part]


def find_inputs(command: str, parts: Sequence[Part], folder: Path) -> Inputs:
    """Finds the files that a command reads.

    Args:
        command: The command's name.
        parts: Its parts.
        folder: Its working folder.

    Raises:
        BundleError: A file is missing, or cannot be part of a bundle.
        fairwave.ScenarioError: A scenario cannot be read.
    """
    folder = _normalise(folder)
    trees = [_Tree(HERE, folder)]
    found: list[tuple[Part, _Tree, Path | None]] = []
    for part in parts:
        tree, path = trees[0], _normalise(folder / part.value)
        if Path(part.value).is_absolute() and folder not in path.parents and _is_path(part, path):
            tree = _Tree(f"there-{len(trees)}", path.parent)
            trees.append(tree)
        source = _find_source(part, path)
        tree.add(_move(set(_read_by(command, part, source, folder)), source, path))
        found.append((part, tree, path if _is_path(part, path) else None))
    trees[0].add({clip: clip for clip in find_clips(parts, folder)})
    here = trees[0].place(folder)
    named = {tree.place(path): source for tree in trees for path, source in sorted(tree.files.items())}
    return Inputs(
        named,
        here,
        [
            part if path is None else replace(part, value=_walk_to(tree.place(path), here))
            for part, tree, path in found
        ],
    )


def _normalise(path: Path) -> Path:
    """The absolute path without `..`. Links stay, because scenarios count from the place of a link."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def _walk_to(name: str, folder: str) -> str:
    """The relative path from a folder to a name, both in the bundle."""
    below, up = PurePosixPath(folder), 0
    while not PurePosixPath(name).is_relative_to(below):
        below, up = below.parent, up + 1
    return "/".join([*([".."] * up), *PurePosixPath(name).relative_to(below).parts]) or "."


def _move(files: set[Path], source: Path, path: Path) -> dict[Path, Path]:
    """Places an example where the command names it, and the files that it names around it."""
    if source == path:
        return {one: one for one in files}
    return {
        path if one == source else _normalise(path.parent / os.path.relpath(one, source.parent)): one
        for one in files
    }


def _find_source(part: Part, path: Path) -> Path:
    """The file that a part names: at its path, or an example of fairwave."""
    if part.role in {Role.SCENARIO, Role.RUNS} and not path.exists():
        return find_example(part.value) or path
    return path


def _is_path(part: Part, path: Path) -> bool:
    """Whether the value of a part is the name of a file or folder."""
    if part.role in {Role.SCENARIO, Role.FILE, Role.LAWS, Role.RUNS}:
        return True
    if part.role is Role.STUDY:
        return part.value not in studies() and path.is_dir()
    return part.role is Role.PERHAPS_FILES and part.option in {"", "--against", "--style"} and path.is_file()


def _read_by(command: str, part: Part, path: Path, folder: Path) -> Iterator[Path]:
    """Yields the files that a part of a command reads."""
    if part.role is Role.SCENARIO and path.is_dir():
        raise BundleError(
            f"`fairwave {command} {part.value}` compares saved folders and runs nothing; bundle each of these folders"
        )
    if part.role is Role.SCENARIO and part.value == "-":
        raise BundleError(
            "the scenario came from standard input and is not saved; save it as a file, and make the results from the "
            "file"
        )
    if part.role in {Role.SCENARIO, Role.RUNS} and not path.is_dir():
        yield _check_there(part.value, path)
        yield from _named_by(path)
    elif part.role is Role.FILE:
        yield _check_there(part.value, path)
    elif part.role is Role.LAWS:
        yield from _with_modules(_check_there(part.value, path))
    elif part.role in {Role.RUNS, Role.STUDY} and _is_path(part, path):
        yield from list_files(path)
    elif part.role is Role.PERHAPS_FILES:
        yield from _mentioned(part, folder)


def _check_there(written: str, path: Path) -> Path:
    """Returns the path of a file.

    Raises:
        BundleError: There is no such file.
    """
    if not path.is_file():
        raise BundleError(
            f"the command reads {written!r}, and there is no such file in {path.parent}; run `fairwave bundle` where "
            "you made the results, with the files of that time"
        )
    return path


def _read_table(scenario: Path) -> dict[str, Any]:
    """Reads a scenario as plain data; empty if it is neither TOML nor JSON, which its command reports."""
    with gate("scenario", scenario, BundleError):
        return plain(read_bytes(scenario, "scenario").decode("utf-8", "replace"))


def _named_by(scenario: Path) -> Iterator[Path]:
    """Yields the files that a scenario names, except its clips."""
    for written in _names_in(_read_table(scenario)):
        path = _normalise(scenario.parent / written)
        _check_relative(written, str(scenario))
        if not path.is_file():
            raise BundleError(
                f"{scenario} names {written!r}, and there is no such file; put the file of that time there"
            )
        yield path


def _check_relative(written: str, namer: str) -> None:
    """Refuses an absolute path.

    Raises:
        BundleError: It is one.
    """
    if Path(written).is_absolute():
        raise BundleError(
            f"{namer} names {written} by its whole path, which other machines do not have; write a relative path, and "
            "make the results again"
        )


def find_clips(parts: Sequence[Part], folder: Path) -> list[Path]:
    """Finds the films that scenarios and settings name. Their names count from the working folder.

    Raises:
        BundleError: One is named by an absolute path, or a scenario cannot be read.
    """
    found = []
    for part in parts:
        path = _find_source(part, _normalise(folder / part.value))
        if part.role in {Role.SCENARIO, Role.RUNS} and path.is_file():
            for written in _clips_in(_read_table(path)):
                _check_relative(written, str(path))
                found.append(_normalise(folder / written))
        elif part.option in SETTINGS and "clip" in part.value:
            found += _mentioned(part, folder)
    return [path for path in found if path.is_file()]


def _names_in(table: dict[str, Any]) -> Iterator[str]:
    for _, one in named_files(table):
        yield one["file"]
    topology, demands = table.get("topology"), table.get("demands")
    if isinstance(topology, dict) and isinstance(topology.get("file"), str):
        yield topology["file"]
    matrix = demands.get("matrix") if isinstance(demands, dict) else None
    if isinstance(matrix, str) and matrix.endswith(".csv"):
        yield matrix


def _clips_in(table: dict[str, Any]) -> Iterator[str]:
    flows = table.get("flow")
    for flow in flows if isinstance(flows, list) else []:
        traffic = flow.get("traffic") if isinstance(flow, dict) else None
        clip = traffic.get("clip") if isinstance(traffic, dict) else None
        if isinstance(clip, str):
            yield clip


def _mentioned(part: Part, folder: Path) -> Iterator[Path]:
    """Yields the files that a value mentions.

    For example `KEY=A.csv,B.csv` with a key that ends in `file`, or `KEY={ law = "trace", file = "A.csv" }`.
    """
    value = part.value
    words = [value, *value.split(",")]
    if part.option in SETTINGS:
        if not re.search("file|clip", value):
            return
        words = [one.strip(" []\"'") for one in value.partition("=")[2].split(",")]
        words += re.findall(r'"([^"\n]*)"', value) + re.findall(r"'([^'\n]*)'", value)
    for word in dict.fromkeys(words):
        if word and "\0" not in word and len(word) < MOST_WORD and (folder / word).is_file():
            if word != value:
                _check_relative(word, "the command")
            yield _normalise(folder / word)


def list_files(folder: Path) -> Iterator[Path]:
    """Yields the files of a folder, without hidden ones, links and compiled Python code."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == "__pycache__" or path.is_symlink():
            continue
        if path.is_dir():
            yield from list_files(path)
        elif path.is_file():
            yield path


def _with_modules(file: Path) -> Iterator[Path]:
    """Yields a Python file and the modules of its folder that it imports, directly or not."""
    waiting, seen = [file], {file}
    while waiting:
        one = waiting.pop()
        yield one
        for name in _imported(one):
            module = file.parent / name
            several = list_files(module) if module.is_dir() else [module.with_suffix(".py")]
            for path in several:
                if path.is_file() and path not in seen:
                    seen.add(path)
                    waiting += [path] if is_code(path.name) else []
                    if not is_code(path.name):
                        yield path


def _imported(file: Path) -> set[str]:
    """The first names of the modules that a Python file imports; empty for another file."""
    if file.suffix != ".py" or file.stat().st_size > MOST_CODE:
        return set()
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").partition(".")[0])
    return {one for one in found if one.isidentifier()}
