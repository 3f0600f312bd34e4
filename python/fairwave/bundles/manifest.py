"""The manifest of a bundle: the command, the seeds, the builds that made it, and the SHA-256 of every file."""

from __future__ import annotations

import json
import platform
import re
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from fairwave import _native
from fairwave.bundles.archive import MANIFEST, BundleError, damage
from fairwave.foreign import parse_json
from fairwave.provenance import describe_commit
from fairwave.runs.keeping import engine

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = "fairwave bundle 1"
MOST_TEXT = 100_000
"""Most characters of a text in a manifest."""

PACKAGES = ("numpy", "pyarrow", "polars", "scipy", "matplotlib", "av")
"""Packages that may change tables or figures from version to version."""

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Origin:
    """The build of fairwave that made results, and its surroundings.

    Attributes:
        version: Version of fairwave.
        commit: Commit of its sources; `-dirty` after it if they were changed since.
        build: The version and a digest of the compiled simulator.
        python: Version of Python.
        system: System and processor.
        packages: Versions of the packages that may change tables or figures.
    """

    version: str
    commit: str
    build: str
    python: str
    system: str
    packages: dict[str, str]

    @classmethod
    def current(cls) -> Origin:
        """The origin of results that this process makes."""
        return cls(
            _native.version,
            describe_commit(),
            engine(),
            platform.python_version(),
            f"{platform.system()} {platform.machine()}",
            {name: version for name in PACKAGES if (version := _find_version(name))},
        )

    def differences(self, other: Origin) -> list[str]:
        """Describes the differences of another origin, a phrase each."""
        pairs = [
            ("fairwave", self.version, other.version),
            ("commit", self.commit, other.commit),
            ("build", self.build.partition("+")[2], other.build.partition("+")[2]),
            ("Python", self.python, other.python),
            ("system", self.system, other.system),
            *(
                (name, self.packages.get(name, "absent"), other.packages.get(name, "absent"))
                for name in sorted({*self.packages, *other.packages})
            ),
        ]
        return [
            f"{what} {ours or UNKNOWN} → {theirs or UNKNOWN}"
            for what, ours, theirs in pairs
            if ours != theirs
        ]


def _find_version(package: str) -> str:
    """The version of a package; empty if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


@dataclass(frozen=True)
class Listed:
    """A file of a bundle.

    Attributes:
        sha256: Its SHA-256.
        bytes: Its size.
    """

    sha256: str
    bytes: int


@dataclass(frozen=True)
class Manifest:
    """The contents of `manifest.json`.

    Attributes:
        kind: Command that made the results: `run`, `compare`, ….
        name: Name of the scenario or study.
        command: The command line, as typed.
        arguments: The words after `fairwave` that repeat it in `folder`.
        folder: The working folder of the command, in the bundle.
        seeds: The seeds of the runs.
        scenarios: Hash to name, for every scenario that was run.
        origin: The build that made the results, in the surroundings of the bundle.
        files: Every other file of the bundle.
    """

    kind: str
    name: str
    command: str
    arguments: list[str]
    folder: str
    seeds: list[int]
    scenarios: dict[str, str]
    origin: Origin
    files: dict[str, Listed]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"format": FORMAT, **asdict(self)}

    def to_json(self) -> str:
        """As JSON text, keys in a fixed order."""
        return json.dumps(self.to_dict(), ensure_ascii=False, sort_keys=True, indent=1) + "\n"

    @classmethod
    def from_json(cls, data: bytes, file: Path) -> Manifest:
        """Reads the output of `to_json`.

        Raises:
            BundleError: It is no manifest of this format; the message names `file` and the key.
            ForeignFileError: It is no JSON.
        """
        table = parse_json(data, f"{file}, {MANIFEST}", "bundle")
        reader = _Reader(table if isinstance(table, dict) else {}, file)
        if reader.text("format") != FORMAT:
            raise BundleError(
                f"{file} has the format {reader.text('format')[:60]!r}, and this version of fairwave reads {FORMAT!r}; "
                "repeat it with the version of fairwave that made it"
            )
        origin = reader.table("origin")
        return cls(
            kind=reader.text("kind"),
            name=reader.text("name"),
            command=reader.text("command"),
            arguments=[reader.check(one, str, "arguments") for one in reader.listed("arguments")],
            folder=reader.text("folder"),
            seeds=[reader.check(one, int, "seeds") for one in reader.listed("seeds")],
            scenarios=dict(reader.texts("scenarios")),
            origin=Origin(
                version=origin.text("version", "origin."),
                commit=origin.text("commit", "origin."),
                build=origin.text("build", "origin."),
                python=origin.text("python", "origin."),
                system=origin.text("system", "origin."),
                packages=dict(origin.texts("packages")),
            ),
            files={
                name: _read_listed(_Reader(reader.check(one, dict, "files"), file))
                for name, one in reader.check(reader.value("files"), dict, "files").items()
            },
        )


def _read_listed(entry: _Reader) -> Listed:
    digest = entry.text("sha256", "files.")
    if not re.fullmatch("[0-9a-f]{64}", digest):
        raise entry.error("files.sha256")
    return Listed(digest, entry.check(entry.value("bytes"), int, "files.bytes"))


class _Reader:
    """Reads the keys of a table, each of one type."""

    def __init__(self, table: dict[str, Any], file: Path) -> None:
        self._table, self._file = table, file

    def error(self, key: str) -> Exception:
        return damage(self._file, f"{MANIFEST} has no usable value of {key}")

    def check(self, value: Any, kind: type, key: str) -> Any:
        is_right = isinstance(value, kind) and not isinstance(value, bool)
        if not is_right or (isinstance(value, str) and (len(value) > MOST_TEXT or "\0" in value)):
            raise self.error(key)
        return value

    def value(self, key: str) -> Any:
        return self._table.get(key)

    def text(self, key: str, prefix: str = "") -> str:
        found: str = self.check(self.value(key), str, f"{prefix}{key}")
        return found

    def listed(self, key: str) -> list[Any]:
        found: list[Any] = self.check(self.value(key), list, key)
        return found

    def table(self, key: str) -> _Reader:
        return _Reader(self.check(self.value(key), dict, key), self._file)

    def texts(self, key: str) -> list[tuple[str, str]]:
        found = self.check(self.value(key), dict, key)
        return [(name, self.check(one, str, key)) for name, one in found.items()]
