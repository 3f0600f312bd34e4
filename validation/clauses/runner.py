"""``make mutants``, first part: do a law's tests notice when a clause of its source is broken? ``docs/clauses.md``.

``validation/clauses/*.toml`` hold small named patches, the *clause mutants*: a missing reset, a forgotten branch,
another constant, a wrong variable. Each has a ``name``, the ``source``, the ``clause`` that the source demands there,
the ``file``, and the text ``before`` and ``after``. They were written from the sources and the laws' code, without a
look at the tests.

The runner compiles all mutants into one build of a copy of the tree and switches one on at a time (``switches.py``).
The unit tests of the law's crate run on each mutant, tests of its module first, until a test fails. A failing test
notices the mutant. A run that exceeds its time limit, or ends without a test result, counts as missed: a test that
hangs does not name the fault.

A mutant without an observable effect has a further key, ``equivalent``, with the reason. It runs like the others and
counts neither as noticed nor as missed. The command fails if a test notices it.

Outcomes are kept in ``target/mutants/clauses.json``, so you can interrupt a run and start it again. An outcome holds as
long as the mutant and the code of its crate, with the crates below, stay the same. A missed mutant runs again when the
tests change. The command fails if fewer than 97 % are noticed, or if a mutant does not compile.

``results/checks/clauses.json.gz`` has each outcome with the digests of mutant and code. So the page can be rendered
after a run of some families: outcomes of the same mutants on earlier code stay on it, and it states their number.
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
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

import tomllib

from validation import ROOT, kept, writing
from validation.checks import mutants
from validation.clauses import switches

FOLDER = Path(__file__).parent
PUBLISHED = "checks/clauses"
TREE = mutants.OUT / "clauses"
#: Only for builds of ``TREE``: cargo would use another tree's build and test the wrong code.
BUILD = mutants.OUT / "build"
KEPT = mutants.OUT / "clauses.json"

#: The part of the mutants that the tests must notice.
ASKED = 0.97
#: The fewest mutants that the repository holds.
LEAST = 200
#: Time limit of a crate's tests: a factor of their time without a mutant, with bounds in seconds.
PATIENCE, SHORTEST, LONGEST = 6.0, 60.0, 1800.0
#: A process of tests gets this much address space, in bytes: a mutant may allocate without end.
SPACE = 8 << 30
#: The law crates that each law crate is built from.
BELOW = {
    "units": ("units",),
    "network": ("units", "network"),
    "media": ("units", "media"),
    "endpoint": ("units", "network", "media", "endpoint"),
    "tcp": ("units", "network", "media", "endpoint", "tcp"),
    "rtc": ("units", "network", "media", "endpoint", "rtc"),
    "transport": ("units", "network", "media", "endpoint", "tcp", "transport"),
}
KEYS = ("name", "source", "clause", "file", "before", "after")
MORE_KEYS = ("equivalent",)
#: The largest part of the mutants that may be equivalent to the original.
MOST_EQUIVALENT = 0.05
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
    #: Why nothing that can be observed changes; empty if something does.
    equivalent: str = ""

    @property
    def crate(self) -> str:
        """The crate of the tests that must notice, without ``fairwave-``."""
        return self.file.split("/")[1].removeprefix("fairwave-")

    @property
    def digest(self) -> str:
        """Digest of the change."""
        return hashlib.sha256("\0".join((self.file, self.before, self.after)).encode()).hexdigest()


def read(folder: Path = FOLDER) -> list[Clause]:
    """All mutants, by file and in the order of each file."""
    clauses = []
    for file in sorted(folder.glob("*.toml")):
        for entry in tomllib.loads(file.read_text(encoding="utf-8")).get("mutant", []):
            unknown, missing = set(entry) - {*KEYS, *MORE_KEYS}, set(KEYS) - set(entry)
            if unknown or missing:
                wrong = ", ".join(sorted(unknown | missing))
                raise ValueError(
                    f"{file.name}: `{entry.get('name')}`: a mutant has the keys {', '.join(KEYS)}"
                    f" and may have {', '.join(MORE_KEYS)}; see {wrong}"
                )
            clauses.append(Clause(family=file.stem, **entry))
    return clauses


def problems(clauses: Sequence[Clause], root: Path = ROOT) -> list[str]:
    """Lists mutants that are no valid patches of the tree at ``root``."""
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


@dataclass(frozen=True)
class Ended:
    """How a process ended: ``status`` is ``None`` if it ran out of time."""

    status: int | None
    output: str


def judge(ended: Ended) -> str:
    """The outcome of a run of the tests. Only a failing test notices a mutant."""
    if ended.status is None:
        return HUNG
    if ended.status == 0:
        return MISSED
    return NOTICED if "test result: FAILED" in ended.output else HUNG


def _command(
    arguments: Sequence[str],
    tree: Path,
    limit: float | None,
    switched_on: int | None = None,
    space: bool = True,
) -> Ended:
    """Runs a command for at most ``limit`` seconds."""
    process = subprocess.Popen(
        arguments,
        cwd=tree,
        env={
            **os.environ,
            "CARGO_TARGET_DIR": str(BUILD),
            # The same cases in every run, and a seed that one mutant fails on is no test of the next.
            "PROPTEST_CASES": os.environ.get("PROPTEST_CASES", "24"),
            "PROPTEST_RNG_SEED": "1",
            "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "true",
            **({} if switched_on is None else {switches.VARIABLE: str(switched_on)}),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    if space:
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
class Suite:
    """The unit tests of one crate as built: the binary, and how long they may take, by first name of a module."""

    binary: Path
    crate: str
    limit: float = SHORTEST

    def steps(self, clause: Clause | None) -> list[list[str]]:
        """The tests, those nearest to the mutant first: of its module, of those around it, the others, slow ones."""
        listed = _command([str(self.binary), "--list"], self.folder, SHORTEST).output
        left = [line.removesuffix(": test") for line in listed.splitlines() if line.endswith(": test")]
        slow = [test for test in left if any(part in test for part in mutants.SLOW)]
        left = [test for test in left if test not in slow]
        steps = []
        modules = list(Path(clause.file).with_suffix("").parts[3:]) if clause else []
        modules = modules[:-1] if modules[-1:] == ["mod"] else modules
        while modules:
            near = [test for test in left if test.startswith("::".join(modules) + "::")]
            left = [test for test in left if test not in near]
            steps.append(near)
            modules.pop()
        return [step for step in (*steps, left, slow) if step]

    @property
    def folder(self) -> Path:
        """Where the tests run, as cargo runs them."""
        return TREE / f"crates/fairwave-{self.crate}"

    def run(self, clause: Clause | None, switched_on: int | None = None) -> Ended:
        """Step by step, until a test fails."""
        ended = Ended(0, "")
        until = time.monotonic() + self.limit
        for step in self.steps(clause):
            arguments = [str(self.binary), "--exact", "--test-threads", "1", *step]
            ended = _command(arguments, self.folder, max(1.0, until - time.monotonic()), switched_on)
            if ended.status != 0:
                break
        return ended

    def check(self) -> None:
        """Without a mutant all tests must pass. Their time sets the limit."""
        self.limit = LONGEST
        begun = time.monotonic()
        ended = self.run(None)
        if ended.status != 0:
            raise SystemExit(
                f"the tests of fairwave-{self.crate} fail without a mutant:\n{ended.output[-3000:]}"
            )
        self.limit = max(SHORTEST, PATIENCE * (time.monotonic() - begun))


def _write_if_changed(file: Path, text: str) -> None:
    """Files that stay the same are not compiled again."""
    if file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


class Rig:
    """Builds and runs mutants in a copy of the tree."""

    def __init__(self, cargo: str, jobs: int) -> None:
        self.cargo, self.jobs = cargo, jobs

    def run_all(self, clauses: Sequence[Clause], tell: Callable[[Clause, str, str], None]) -> None:
        """Runs all mutants and calls ``tell`` with each outcome and the output of the last command."""
        mutants.lay_out(TREE)
        numbered = dict(enumerate(clauses, 1))
        suites = self._switch(numbered, tell)
        with ThreadPoolExecutor(self.jobs) as pool:
            # The limits are measured under the load of the later runs.
            list(pool.map(Suite.check, suites.values()))
            running = {
                pool.submit(suites[clause.crate].run, clause, number): clause
                for number, clause in numbered.items()
            }
            for future in as_completed(running):
                ended = future.result()
                tell(running[future], judge(ended), ended.output)

    def _switch(
        self, numbered: dict[int, Clause], tell: Callable[[Clause, str, str], None]
    ) -> dict[str, Suite]:
        """Builds all mutants together. Reports those that do not compile and removes them from ``numbered``."""
        crates = sorted({clause.crate for clause in numbered.values()})
        files = [str(file.relative_to(TREE)) for file in sorted(TREE.glob("crates/*/src/**/*.rs"))]
        original = {file: (TREE / file).read_text(encoding="utf-8") for file in files}
        for crate in crates:
            original[f"crates/fairwave-{crate}/src/lib.rs"] += switches.SWITCH
        while True:
            build = switches.switched(numbered, original.__getitem__, files)
            inside = set().union(*(numbers for parts in build.lines.values() for _, _, numbers in parts))
            for number in set(numbered) - inside:
                tell(numbered.pop(number), BROKEN, "a switch is possible in a function or a constant only")
            wanted = {**original, **build.texts}
            for file in files:
                _write_if_changed(TREE / file, wanted[file])
            ended = self._build(crates)
            if ended.status == 0:
                binaries = switches.executables(ended.output)
                return {crate: Suite(binaries[f"fairwave-{crate}"], crate) for crate in crates}
            errors = list(switches.errors(ended.output))
            text = "".join(rendered for *_, rendered in errors) or ended.output
            wrong = set().union(*(build.blamed(file, line, source) for file, line, source, _ in errors))
            if not wrong:
                raise SystemExit(f"the build with all mutants fails:\n{text[-3000:]}")
            for number in wrong:
                tell(numbered.pop(number), BROKEN, text)

    def _build(self, crates: Sequence[str]) -> Ended:
        options = ("--locked", "--lib", "--no-run", "--profile", "mutants", "--message-format", "json")
        packages = [argument for crate in crates for argument in ("-p", f"fairwave-{crate}")]
        return _command([self.cargo, "test", *options, *packages], TREE, None, space=False)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a mutant, with digests of the mutant, the code and the tests."""

    outcome: str
    digest: str
    code: str
    tests: str

    def holds(self, clause: Clause, now: mutants.Version) -> bool:
        """Whether it is of this mutant and this code."""
        return self.digest == clause.digest and self.code == now.code

    def is_settled(self, now: mutants.Version) -> bool:
        """True if a new run would have the same outcome. New tests may notice more; a busy machine may hang."""
        return self.outcome in (NOTICED, BROKEN) or (self.outcome == MISSED and self.tests == now.tests)


def known(clauses: Sequence[Clause], versions: dict[str, mutants.Version]) -> dict[str, Outcome]:
    """The valid outcomes by name: those kept here, otherwise published ones."""
    mine: dict[str, Outcome] = {}
    if KEPT.is_file():
        mine = {name: Outcome(**one) for name, one in json.loads(KEPT.read_text(encoding="utf-8")).items()}
    all_known = {**remembered(clauses), **mine}
    return {
        clause.name: all_known[clause.name]
        for clause in clauses
        if clause.name in all_known and all_known[clause.name].holds(clause, versions[clause.crate])
    }


def remembered(clauses: Sequence[Clause]) -> dict[str, Outcome]:
    """The published outcomes of the same mutants, by name, on whatever code they ran."""
    published = kept.read(PUBLISHED)["outcomes"] if kept.exists(PUBLISHED) else {}
    return {
        clause.name: Outcome(tests="", **published[clause.name])
        for clause in clauses
        if published.get(clause.name, {}).get("digest") == clause.digest
    }


def keep(found: dict[str, Outcome]) -> None:
    """Writes all outcomes, in one step, so that no interruption leaves half a file."""
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    part = KEPT.with_suffix(".part")
    part.write_text(json.dumps({name: asdict(one) for name, one in found.items()}), encoding="utf-8")
    part.replace(KEPT)


def report(
    clauses: Sequence[Clause], outcomes: dict[str, Outcome], earlier: int = 0
) -> tuple[str, dict[str, object]]:
    """The page and the data: outcomes, the number of those on ``earlier`` code, and mutants that have not run."""
    found = {name: one.outcome for name, one in outcomes.items()}
    equivalent = [clause for clause in clauses if clause.equivalent]
    run = [
        clause
        for clause in clauses
        if not clause.equivalent and found.get(clause.name) in (NOTICED, MISSED, HUNG)
    ]
    noticed = [clause for clause in run if found[clause.name] == NOTICED]
    unseen = [clause for clause in run if found[clause.name] != NOTICED]
    broken = [clause.name for clause in clauses if found.get(clause.name) == BROKEN]
    waiting = [clause.name for clause in clauses if clause.name not in found]
    data: dict[str, object] = {
        "mutants": len(clauses),
        "run": len(run),
        "noticed": len(noticed),
        "missed": {clause.name: found[clause.name] for clause in unseen},
        "equivalent": {clause.name: clause.equivalent for clause in equivalent},
        "does_not_compile": broken,
        "not_yet_run": waiting,
        "on_earlier_code": earlier,
        "outcomes": {
            clause.name: {"outcome": one.outcome, "digest": one.digest, "code": one.code}
            for clause in clauses
            if (one := outcomes.get(clause.name))
        },
    }
    share = f" ({len(noticed) / len(run):.1%})" if run else ""
    lines = [
        "# Which clauses the tests hold",
        "",
        "`make mutants` ran the mutants of this page. `validation/clauses/` holds small patches, each of which breaks",
        "one clause of a law's source: a missing reset, a forgotten branch, another constant. They were written",
        "without a look at the tests. Each is applied by itself, and the unit tests of the law's crate run. A patch",
        f"is noticed when a test fails. A run that hangs counts as missed. At least {ASKED:.0%} must be noticed.",
        "Patches that change nothing that can be observed count neither way.",
        "",
        f"**{len(noticed)} of {len(run)} mutants are noticed{share}.**"
        + (f" Not yet run: {len(waiting)} of {len(clauses)}." if waiting else "")
        + (f" {earlier} ran before the code of their crates last changed." if earlier else ""),
        *([f"Do not compile: {', '.join(broken)}."] if broken else []),
        "",
        "| laws | mutants | run | noticed |",
        "|---|---:|---:|---:|",
    ]
    for family in sorted({clause.family for clause in clauses}):
        counts = [sum(clause.family == family for clause in group) for group in (clauses, run, noticed)]
        lines.append(f"| {family} | {' | '.join(map(str, counts))} |")
    lines += ["", "## Missed", ""]
    how = {HUNG: " (the tests hang)"}
    if unseen:
        lines += ["| mutant | source | clause that no test holds |", "|---|---|---|"]
        lines += [_row(clause, clause.clause + how.get(found[clause.name], "")) for clause in unseen]
    else:
        lines.append("None.")
    if equivalent:
        lines += [
            "",
            "## Equivalent",
            "",
            "| mutant | source | why nothing that can be observed changes |",
            "|---|---|---|",
        ]
        lines += [_row(clause, clause.equivalent) for clause in equivalent]
    return "\n".join(lines) + "\n", data


def _row(clause: Clause, text: str) -> str:
    cells = (cell.replace("|", "\\|") for cell in (f"`{clause.name}`", clause.source, text))
    return f"| {' | '.join(cells)} |"


def write(clauses: Sequence[Clause], found: dict[str, Outcome]) -> None:
    """Keeps these outcomes, and published ones without a newer one."""
    older = {name: one for name, one in remembered(clauses).items() if name not in found}
    _, data = report(clauses, {**older, **found}, len(older))
    kept.write(PUBLISHED, data)


def render(_folder: Path) -> str:
    """Renders the page from the published outcomes."""
    clauses = read()
    page, _outcomes = report(clauses, remembered(clauses), kept.read(PUBLISHED)["on_earlier_code"])
    return page


def verdict(clauses: Sequence[Clause], found: dict[str, str]) -> int:
    """The exit status: 1 unless all have run, all compile, and enough are noticed."""
    complete = all(found.get(clause.name) in (NOTICED, MISSED, HUNG) for clause in clauses)
    asked = [found.get(clause.name) for clause in clauses if not clause.equivalent]
    wrong = [clause.name for clause in clauses if clause.equivalent and found.get(clause.name) == NOTICED]
    for name in wrong:
        print(f"a test notices `{name}`, which is said to be equivalent", file=sys.stderr)
    return int(not complete or bool(wrong) or asked.count(NOTICED) < ASKED * len(asked))


def main() -> int:
    """Runs the mutants without a valid outcome, writes the report and returns the exit status."""
    parser = writing.parser(__doc__)
    parser.add_argument(
        "--only", default="", help="mutants whose name contains this, again; nothing is written"
    )
    parser.add_argument(
        "--families", default="", help="files of mutants, in this order: cubic,bbr (default all)"
    )
    parser.add_argument("--list", action="store_true", help="show names, sources and what is known, and end")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once (default 2)")
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
    chosen = _chosen(parser, options, clauses)
    _run_all(chosen, found, versions, options.cargo, bool(options.only), options.jobs)
    if options.only:
        return 0
    write(clauses, found)
    return verdict(clauses, {name: one.outcome for name, one in found.items()})


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
    jobs: int,
) -> None:
    """Runs chosen mutants without a valid outcome, or all of them ``again``, and keeps each outcome at once."""
    missing = [
        clause
        for clause in chosen
        if again or clause.name not in found or not found[clause.name].is_settled(versions[clause.crate])
    ]
    print(f"{len(missing)} of {len(chosen)} mutants to run", flush=True)
    begun = time.monotonic()

    def tell(clause: Clause, outcome: str, output: str) -> None:
        now = versions[clause.crate]
        found[clause.name] = Outcome(outcome, clause.digest, now.code, now.tests)
        keep(found)
        print(f"{time.monotonic() - begun:5.0f} s  {outcome:12} {clause.family}: {clause.name}", flush=True)
        if outcome == BROKEN or again:
            print(output[-3000:], flush=True)

    if missing:
        Rig(cargo, jobs).run_all(missing, tell)
