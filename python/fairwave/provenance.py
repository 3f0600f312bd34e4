"""Origin of numbers: version, command, scenarios and seeds.

Every file that fairwave writes carries this. It holds nothing that differs between two runs of the same command, no
date and no machine, so that results can be compared byte by byte.
"""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave import _native
from fairwave.foreign import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

METADATA_KEY = b"fairwave"
"""Key under which Parquet files carry the provenance."""


class MixedProvenanceWarning(UserWarning):
    """Results of different versions or different scenarios are merged."""


@dataclass(frozen=True)
class Provenance:
    """Origin of numbers.

    Attributes:
        version: Version of fairwave.
        command: The command line, or "python" for a session.
        scenarios: Hash to name, for every scenario that was run.
        seeds: The seeds.
        commit: The commit of fairwave's sources: of the checkout, or the one that an installed package was built from;
            `unknown` if neither is known.
        language: Version of the scenario language; `unknown` if the results name none.
    """

    version: str = _native.version
    command: str = ""
    scenarios: dict[str, str] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    commit: str = "unknown"
    language: str = "unknown"

    @classmethod
    def collect(cls, scenarios: dict[str, str], seeds: Sequence[int]) -> Provenance:
        """The provenance of runs made now, by this process."""
        known = dict(sorted(scenarios.items()))
        each = tuple(sorted(set(seeds)))
        return cls(_native.version, command(), known, each, commit(), _native.language)

    @classmethod
    def merge(cls, several: Iterable[Provenance]) -> Provenance:
        """Merges the provenances of combined results.

        Warns:
            MixedProvenanceWarning: They come from different versions, or of scenarios with different names.
        """
        each = list(several)
        versions = sorted({one.version for one in each})
        names = sorted({name for one in each for name in one.scenarios.values()})
        for what, found in (("versions of fairwave", versions), ("scenarios", names)):
            if len(found) > 1:
                warnings.warn(
                    f"these results come from different {what}: {', '.join(found)}", MixedProvenanceWarning, 3
                )
        return cls(
            ", ".join(versions),
            "; ".join(dict.fromkeys(one.command for one in each)),
            dict(sorted(item for one in each for item in one.scenarios.items())),
            tuple(sorted({seed for one in each for seed in one.seeds})),
            ", ".join(dict.fromkeys(one.commit for one in each)),
            ", ".join(dict.fromkeys(one.language for one in each)),
        )

    @classmethod
    def merge_same(cls, several: Iterable[Provenance]) -> Provenance:
        """Merges provenances of one piece of work, whose scenarios differ on purpose: no warning."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MixedProvenanceWarning)
            return cls.merge(several)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "seeds": list(self.seeds)}

    def to_json(self) -> str:
        """As JSON text, keys in a fixed order."""
        return json.dumps(self.to_dict(), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str | bytes) -> Provenance:
        """Reads the output of `to_json`."""
        data = parse_json(text.encode() if isinstance(text, str) else text, "provenance.json", "results")
        return cls(
            data["version"],
            data["command"],
            data["scenarios"],
            tuple(data["seeds"]),
            data.get("commit", "unknown"),
            data.get("language", "unknown"),
        )


@cache
def commit() -> str:
    """The commit of fairwave's sources, seven digits: read from the checkout's files or from the built package.

    `-dirty` follows if a package was built from changed sources. For a checkout see `describe_commit`.
    """
    written = Path(__file__).with_name("commit.txt")
    if written.is_file():
        base, dash, state = written.read_text(encoding="ascii").strip().partition("-")
        return f"{base[:7]}{dash}{state}"
    git = Path(__file__).resolve().parents[2] / ".git"
    try:
        if git.is_file():  # a worktree
            git = Path(git.read_text(encoding="utf-8").removeprefix("gitdir:").strip())
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref:"):
            return head[:7]
        name = head.removeprefix("ref:").strip()
        shared = git / "commondir"
        common = git / shared.read_text(encoding="utf-8").strip() if shared.is_file() else git
        loose = common / name
        if loose.is_file():
            return loose.read_text(encoding="ascii")[:7]
        packed = (common / "packed-refs").read_text(encoding="utf-8").splitlines()
        return next(line[:7] for line in packed if line.endswith(f" {name}"))
    except (OSError, ValueError, StopIteration):
        return "unknown"


SOURCES = ("python", "crates", "Cargo.toml", "Cargo.lock", "pyproject.toml")
"""Files and folders of a checkout that decide about results."""


def describe_commit() -> str:
    """The commit, with `-dirty` after it if the sources of a checkout differ from it.

    This calls git, which takes longer than a small run. So provenance has `commit` alone.
    """
    import subprocess

    found = commit()
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists() or found.endswith("-dirty"):
        return found
    status = ["git", "--no-optional-locks", "status", "--porcelain", "--untracked-files=no", "--", *SOURCES]
    try:
        done = subprocess.run(status, cwd=root, capture_output=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return found
    return f"{found}-dirty" if done.stdout.strip() else found


WHERE = ("--cluster", "--threads")
"""Options that select where runs are made; they do not change the runs."""


def command() -> str:
    """Returns the command line of this process (the program without its folder) and the place of the runs."""
    path = Path(sys.argv[0]) if sys.argv and sys.argv[0] else Path("python")
    is_module = path.name == "__main__.py" and path.parent.name == "fairwave"  # python -m fairwave
    program = "fairwave" if is_module else path.name
    if program != "fairwave":
        return "python"
    kept, words = [], iter(sys.argv[1:])
    for word in words:
        if word in WHERE:
            next(words, None)
        elif not word.startswith(tuple(f"{option}=" for option in WHERE)):
            kept.append(_quoted(word))
    return " ".join([program, *kept])


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word)


def seeds_in_words(seeds: Sequence[int]) -> str:
    """Seeds as text, runs of neighbours shortened: "1–10"."""
    if not seeds:
        return "none"
    spans: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if spans and seed == spans[-1][1] + 1:
            spans[-1][1] = seed
        else:
            spans.append([seed, seed])
    return ", ".join(f"{low}" if low == high else f"{low}–{high}" for low, high in spans)
