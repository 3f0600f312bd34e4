"""``make mutants``, first part: do a law's tests notice when a clause of its source is broken? ``docs/clauses.md``.

``validation/clauses/*.toml`` hold small named patches, the *clause mutants*: a missing reset, a forgotten branch,
another constant, a wrong variable. Each has a ``name``, the ``source``, the ``clause`` that the source demands there,
the ``file``, and the text ``before`` and ``after``. They were written from the sources and the laws' code, without a
look at the tests.

The runner applies one mutant at a time to a copy of the tree and runs the unit tests of the law's crate. A failing
test notices the mutant. A run that exceeds its time limit, or ends without a test result, counts as missed: a test
that hangs does not say what is wrong.

Outcomes are kept in ``target/mutants/clauses.json``, so you can interrupt a run and start it again. An outcome holds as
long as the mutant and the code of its crate, with the crates below, stay the same. A missed mutant runs again when the
tests change. The command fails if fewer than 97 % are noticed, or if a mutant does not compile.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import tomllib
from validation import mutants

ROOT = mutants.ROOT
FOLDER = ROOT / "validation" / "clauses"
PAGE = ROOT / "docs" / "clauses.md"
DATA = ROOT / "docs" / "clauses.json"
TREE = mutants.OUT / "clauses"
#: For builds of ``TREE`` alone: cargo takes another tree's build for its own, and would test the wrong code.
BUILD = mutants.OUT / "build"
KEPT = mutants.OUT / "clauses.json"

#: The part of the mutants that the tests must notice.
ASKED = 0.97
#: The fewest mutants that the repository holds.
LEAST = 200
#: A crate's tests may take this many times as long as without a mutant, and at least so many seconds.
PATIENCE, SHORTEST = 6.0, 120.0
#: A process of tests gets this much address space, in bytes: a mutant may allocate without end.
SPACE = 8 << 30
#: The law crates that each law crate is built from.
BELOW = {
    "units": ("units",),
    "network": ("units", "network"),
    "media": ("units", "media"),
    "endpoint": ("units", "network", "media", "endpoint"),
    "tcp": ("units", "network", "media", "endpoint", "tcp"),
    "transport": ("units", "network", "media", "endpoint", "tcp", "transport"),
}
KEYS = ("name", "source", "clause", "file", "before", "after")
NOTICED, MISSED, HUNG, BROKEN = "noticed", "missed", "hung", "does not compile"


@dataclass(frozen=True)
class Clause:
    """A mutant of one clause of a law's source. ``family`` is the name of the file that holds it."""

    family: str
    name: str
    source: str
    clause: str
    file: str
    before: str
    after: str

    @property
    def crate(self) -> str:
        """The crate whose tests must notice, without ``fairwave-``."""
        return self.file.split("/")[1].removeprefix("fairwave-")

    @property
    def digest(self) -> str:
        """Of what the mutant does."""
        return hashlib.sha256("\0".join((self.file, self.before, self.after)).encode()).hexdigest()


def read(folder: Path = FOLDER) -> list[Clause]:
    """All mutants, by file and in the order of each file."""
    clauses = []
    for file in sorted(folder.glob("*.toml")):
        for entry in tomllib.loads(file.read_text(encoding="utf-8")).get("mutant", []):
            unknown, missing = set(entry) - set(KEYS), set(KEYS) - set(entry)
            if unknown or missing:
                wrong = ", ".join(sorted(unknown | missing))
                raise ValueError(
                    f"{file.name}: `{entry.get('name')}`: a mutant has the keys {', '.join(KEYS)}; see {wrong}"
                )
            clauses.append(Clause(family=file.stem, **entry))
    return clauses


def problems(clauses: Sequence[Clause], root: Path = ROOT) -> list[str]:
    """What is wrong with the mutants as patches of the tree at ``root``."""
    found = []
    seen: set[str] = set()
    for clause in clauses:
        here = f"{clause.family}.toml: `{clause.name}`"
        if clause.name in seen:
            found.append(f"{here}: another mutant has this name")
        seen.add(clause.name)
        if clause.crate not in BELOW:
            found.append(f"{here}: `{clause.file}` is not in a crate of laws: {', '.join(BELOW)}")
        if clause.before == clause.after:
            found.append(f"{here}: `before` and `after` are the same")
        if not (root / clause.file).is_file():
            found.append(f"{here}: `{clause.file}` does not exist")
            continue
        times = (root / clause.file).read_text(encoding="utf-8").count(clause.before)
        if times != 1:
            found.append(f"{here}: `before` occurs {times} times in `{clause.file}`, not once")
    return found


@contextmanager
def applied(clause: Clause, tree: Path) -> Iterator[None]:
    """The mutant in the tree, for as long as the context lasts."""
    file = tree / clause.file
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(clause.before, clause.after, 1), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Ended:
    """How a process ended: ``status`` is ``None`` if it ran out of time."""

    status: int | None
    output: str


def judge(ended: Ended) -> str:
    """What a run of the tests says of a mutant. Only a test that fails notices it."""
    if ended.status is None:
        return HUNG
    if ended.status == 0:
        return MISSED
    return NOTICED if "test result: FAILED" in ended.output else HUNG


def _command(arguments: Sequence[str], tree: Path, limit: float | None) -> Ended:
    cases = os.environ.get("PROPTEST_CASES", "24")
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(BUILD),
        "PROPTEST_CASES": cases,
        # A seed that one mutant fails on is no test of the next.
        "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "true",
    }
    process = subprocess.Popen(
        arguments,
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    resource.prlimit(process.pid, resource.RLIMIT_AS, (SPACE, SPACE))
    try:
        output, _ = process.communicate(timeout=limit)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            return Ended(None, output)
        raise
    return Ended(process.returncode, output)


@dataclass
class Rig:
    """Runs mutants in a copy of the tree. ``limits``: how long each crate's tests may take, in seconds."""

    cargo: str
    limits: dict[str, float]

    def _cargo(self, crate: str, *more: str) -> list[str]:
        package = f"fairwave-{crate}"
        return [self.cargo, "test", "--locked", "--lib", "-p", package, "--profile", "mutants", *more]

    def _test(self, crate: str, limit: float | None) -> Ended:
        """The quick tests, and if they pass, the slow ones."""
        left_out = [argument for test in mutants.SLOW for argument in ("--skip", test)]
        quick = _command(self._cargo(crate, "--", *left_out), TREE, limit)
        return quick if quick.status != 0 else _command(self._cargo(crate, "--", *mutants.SLOW), TREE, limit)

    def prepare(self, crate: str) -> None:
        """Builds a crate's tests as they are. They must pass, and their time sets the limit."""
        if crate in self.limits:
            return
        built = _command(self._cargo(crate, "--no-run"), TREE, None)
        begun = time.monotonic()
        ended = self._test(crate, None) if built.status == 0 else built
        if ended.status != 0:
            raise SystemExit(f"the tests of fairwave-{crate} fail without a mutant:\n{ended.output[-3000:]}")
        self.limits[crate] = max(SHORTEST, PATIENCE * (time.monotonic() - begun))

    def run(self, clause: Clause) -> tuple[str, str]:
        """What became of a mutant, and what the last command wrote."""
        self.prepare(clause.crate)
        with applied(clause, TREE):
            built = _command(self._cargo(clause.crate, "--no-run"), TREE, None)
            if built.status != 0:
                return BROKEN, built.output
            ended = self._test(clause.crate, self.limits[clause.crate])
        return judge(ended), ended.output


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant, and of which mutant, code and tests that holds."""

    outcome: str
    digest: str
    code: str
    tests: str

    def holds(self, clause: Clause, now: mutants.Version) -> bool:
        """Whether it is of this mutant and this code."""
        return self.digest == clause.digest and self.code == now.code

    def is_settled(self, now: mutants.Version) -> bool:
        """Whether a run would say the same. New tests may notice what old ones missed; a busy machine may hang."""
        return self.outcome in (NOTICED, BROKEN) or (self.outcome == MISSED and self.tests == now.tests)


def known(clauses: Sequence[Clause], versions: dict[str, mutants.Version]) -> dict[str, Outcome]:
    """The kept outcomes that still hold, by name."""
    if not KEPT.is_file():
        return {}
    kept = {name: Outcome(**one) for name, one in json.loads(KEPT.read_text(encoding="utf-8")).items()}
    return {
        clause.name: kept[clause.name]
        for clause in clauses
        if clause.name in kept and kept[clause.name].holds(clause, versions[clause.crate])
    }


def keep(found: dict[str, Outcome]) -> None:
    """Writes all outcomes, in one step, so that no interruption leaves half a file."""
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    part = KEPT.with_suffix(".part")
    part.write_text(json.dumps({name: asdict(one) for name, one in found.items()}), encoding="utf-8")
    part.replace(KEPT)


def report(clauses: Sequence[Clause], found: dict[str, str]) -> tuple[str, dict[str, object]]:
    """The page and the data: what was noticed of what was run, and what was not."""
    run = [clause for clause in clauses if found.get(clause.name) in (NOTICED, MISSED, HUNG)]
    noticed = [clause for clause in run if found[clause.name] == NOTICED]
    unseen = [clause for clause in run if found[clause.name] != NOTICED]
    broken = [clause.name for clause in clauses if found.get(clause.name) == BROKEN]
    waiting = [clause.name for clause in clauses if clause.name not in found]
    data: dict[str, object] = {
        "mutants": len(clauses),
        "run": len(run),
        "noticed": len(noticed),
        "missed": {clause.name: found[clause.name] for clause in unseen},
        "does_not_compile": broken,
        "not_yet_run": waiting,
    }
    share = f" ({len(noticed) / len(run):.1%})" if run else ""
    lines = [
        "# Which clauses the tests hold",
        "",
        "Made by `make mutants`; do not edit. `validation/clauses/` holds small patches, each of which breaks one",
        "clause of a law's source: a missing reset, a forgotten branch, another constant. They were written without a",
        "look at the tests. Each patch is applied by itself, and the unit tests of the law's crate run. A patch is",
        f"noticed when a test fails. A run that hangs counts as missed. At least {ASKED:.0%} must be noticed.",
        "",
        f"**{len(noticed)} of {len(run)} mutants are noticed{share}.**"
        + (f" Not yet run: {len(waiting)} of {len(clauses)}." if waiting else ""),
        *([f"Do not compile: {', '.join(broken)}."] if broken else []),
        "",
        "| laws | mutants | run | noticed |",
        "|---|---:|---:|---:|",
    ]
    for family in sorted({clause.family for clause in clauses}):
        counts = [sum(clause.family == family for clause in group) for group in (clauses, run, noticed)]
        lines.append(f"| {family} | {' | '.join(map(str, counts))} |")
    lines += ["", "## Missed", ""]
    if unseen:
        lines += ["| mutant | source | clause that no test holds |", "|---|---|---|"]
        for clause in unseen:
            how = " (the tests hang)" if found[clause.name] == HUNG else ""
            cells = (
                cell.replace("|", "\\|") for cell in (f"`{clause.name}`", clause.source, clause.clause + how)
            )
            lines.append(f"| {' | '.join(cells)} |")
    else:
        lines.append("None.")
    return "\n".join(lines) + "\n", data


def write(clauses: Sequence[Clause], found: dict[str, str]) -> None:
    """The page and the data from these outcomes."""
    page, data = report(clauses, found)
    PAGE.write_text(page, encoding="utf-8")
    DATA.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def verdict(clauses: Sequence[Clause], found: dict[str, str]) -> int:
    """The exit status: 1 unless all have run, all compile, and enough are noticed."""
    outcomes = [found.get(clause.name) for clause in clauses]
    complete = all(outcome in (NOTICED, MISSED, HUNG) for outcome in outcomes)
    return int(not complete or outcomes.count(NOTICED) < ASKED * len(outcomes))


def main() -> int:
    """Runs the mutants whose outcome is not known and writes the report; the exit status."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument(
        "--only", default="", help="mutants whose name contains this, again; nothing is written"
    )
    parser.add_argument(
        "--families", default="", help="files of mutants, in this order: cubic,bbr (default all)"
    )
    parser.add_argument("--list", action="store_true", help="show names, sources and what is known, and end")
    parser.add_argument("--page", action="store_true", help="write the page from what is known, and end")
    parser.add_argument("--cargo", default="cargo", help="the cargo to be used")
    options = parser.parse_args()
    clauses = read()
    wrong = problems(clauses)
    if wrong:
        raise SystemExit("\n".join(wrong))
    versions = {crate: mutants.version(below) for crate, below in BELOW.items()}
    found = known(clauses, versions)
    if options.list:
        for clause in clauses:
            state = found[clause.name].outcome if clause.name in found else "not yet run"
            print(f"{clause.name:40} {state:12} {clause.source}")
        return 0
    if not options.page:
        _run_all(_chosen(parser, options, clauses), found, versions, options.cargo, again=bool(options.only))
    if options.only:
        return 0
    ends = {name: one.outcome for name, one in found.items()}
    write(clauses, ends)
    return 0 if options.page else verdict(clauses, ends)


def _chosen(
    parser: argparse.ArgumentParser, options: argparse.Namespace, clauses: Sequence[Clause]
) -> list[Clause]:
    if options.only:
        chosen = [clause for clause in clauses if options.only in clause.name]
        if not chosen:
            parser.error(f"no mutant's name contains `{options.only}`; `--list` shows them all")
        return chosen
    families = list(dict.fromkeys(clause.family for clause in clauses))
    wanted = options.families.split(",") if options.families else families
    for family in wanted:
        if family not in families:
            parser.error(f"no file of mutants is called `{family}`; allowed: {', '.join(families)}")
    return [clause for family in wanted for clause in clauses if clause.family == family]


def _run_all(
    chosen: Sequence[Clause],
    found: dict[str, Outcome],
    versions: dict[str, mutants.Version],
    cargo: str,
    again: bool,
) -> None:
    """Runs the chosen mutants whose outcome is unknown, or all of them ``again``, and keeps each outcome at once."""
    missing = [
        clause
        for clause in chosen
        if again or clause.name not in found or not found[clause.name].is_settled(versions[clause.crate])
    ]
    print(f"{len(missing)} of {len(chosen)} mutants to run", flush=True)
    if missing:
        mutants.lay_out(TREE)
    rig = Rig(cargo, {})
    for clause in missing:
        begun = time.monotonic()
        outcome, output = rig.run(clause)
        now = versions[clause.crate]
        found[clause.name] = Outcome(outcome, clause.digest, now.code, now.tests)
        keep(found)
        print(f"{outcome:12} {clause.family}: {clause.name} ({time.monotonic() - begun:.0f} s)", flush=True)
        if outcome == BROKEN or again:
            print(output[-3000:], flush=True)


if __name__ == "__main__":
    sys.exit(main())
