"""``make mutants``: do the law crates' tests notice a broken law?

``cargo-mutants`` breaks the code of every law crate: it negates comparisons, swaps operators, removes effects and
returns default values. It does not change constants: the patches of ``validation/clauses`` do. ``.cargo/mutants.toml``
lists the modules. This script draws a seeded sample of places, breaks one at a time, and runs the tests of the crate:
unit tests, storyboards and property tests, no golden digests and no simulator. A mutant that fails a test or hangs the
tests is caught. A mutant that does not compile does not count.

It works on a copy of the tree. A mutant is tried by the tests of its crate. Tests of whole connections run only on
mutants that all other tests let pass.

Outcomes are kept in ``target/mutants``, so that an interrupted run continues. They hold as long as the laws' code
stays the same. If only tests have changed, survivors run again, and caught mutants stay caught.

A survivor is a place that no test protects, or a change without an observable effect.
``validation/checks/mutants.toml`` states why each is tolerated: tables ``survivor`` (``mutant`` as the report names
it, and ``why``). The run fails if fewer than 95 % are caught, or if a survivor has no reason.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tomllib

from validation import ROOT, kept, writing

REASONS = Path(__file__).with_suffix(".toml")
PUBLISHED = "checks/mutants"
OUT = ROOT / "target" / "mutants"
TREE = OUT / "tree"

#: Outcomes, and the version of the code that they belong to.
KEPT = OUT / "kept.json"
#: The version of core that `cargo-mutants` is breaking, or was when it was interrupted.
UNDER_WAY = OUT / "under-way"
#: The part of the mutants that must be caught.
ASKED = 0.95
#: More mutants than requested are drawn by this factor, because some do not compile.
SPARE = 1.12
#: Tests of whole connections, which take most of the time that all tests take.
SLOW = ("connection_tests", "the_mean_window", "storyboards", "any_discipline_that_asks", "as_in_ns2_a_load")
#: Files of tests alone.
_OF_TESTS = re.compile(r"(^|[/_])(tests?|fuzz|testing|storyboards|clauses)\.rs$|(^|/)test_\w+\.rs$")
_PLACE = re.compile(r"^crates/fairwave-(?P<crate>\w+)/src/(?P<file>[^:]+):\d+:\d+: (?P<what>.*)$")
#: The crates of the laws, and where ``fairwave_core`` shows their modules.
CRATES = {
    "units": "",
    "network": "",
    "media": "",
    "endpoint": "transport/",
    "tcp": "transport/tcp/",
    "rtc": "rtc/",
    "transport": "transport/",
}


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of a sample: names of mutants."""

    caught: list[str]
    survived: list[str]
    unviable: list[str]

    @property
    def sampled(self) -> int:
        """Mutants that compile."""
        return len(self.caught) + len(self.survived)


def plain(mutant: str) -> str:
    """The mutant by its path under ``fairwave_core``, without line and column, which move with every edit."""
    match = _PLACE.match(mutant)
    return f"{CRATES[match['crate']]}{match['file']}: {match['what']}" if match else mutant


def lay_out(tree: Path = TREE) -> None:
    """Copies the tracked sources to ``tree``, where they are broken. Unchanged files keep their time."""
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    wanted = {
        name
        for name in filter(None, tracked.split("\0"))
        if name.startswith(("crates/", ".cargo/", "docs/extend", "Cargo.")) and (ROOT / name).is_file()
    }
    for file in [file for file in tree.rglob("*") if file.is_file()]:
        if str(file.relative_to(tree)) not in wanted:
            file.unlink()
    for name in sorted(wanted):
        source, copy = (ROOT / name).read_bytes(), tree / name
        if not copy.is_file() or copy.read_bytes() != source:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source)


def list_mutants(cargo: str) -> list[str]:
    """Lists every change that breaks the code, in the order of files and lines."""
    listing = subprocess.run(
        [cargo, "mutants", "--list", "--json"], cwd=TREE, check=True, capture_output=True, text=True
    )
    return [one["name"] for one in json.loads(listing.stdout)]


def sample(mutants: list[str], count: int, seed: int) -> list[str]:
    """Draws ``count`` mutants, the same for the same seed and code."""
    many = min(len(mutants), round(count * SPARE))
    return sorted(random.Random(seed).sample(mutants, many))


@dataclass(frozen=True)
class Version:
    """Digests of the laws' code and of their tests. Outcomes of one version do not hold for another."""

    code: str
    tests: str


def version(crates: Iterable[str] = CRATES) -> Version:
    """Of these crates as they are."""
    code, tests = hashlib.sha256(), hashlib.sha256()
    for file in sorted(
        file for crate in crates for file in (ROOT / f"crates/fairwave-{crate}/src").rglob("*.rs")
    ):
        name, text = str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")
        own = "" if _OF_TESTS.search(name) else strip_tests(text)
        if own:
            code.update(f"{name}\n{own}\n".encode())
        tests.update(f"{name}\n{text}\n".encode())
    return Version(code.hexdigest(), tests.hexdigest())


def strip_tests(text: str) -> str:
    """A file's code: test modules that it declares left out, and one that it holds, with which it ends."""
    text = re.sub(
        r"^#\[cfg\(test\)\]\n(#\[path = .*\]\n)?(pub(\([^)]*\))? )?mod \w+;\n", "", text, flags=re.M
    )
    return re.split(r"^#\[cfg\(test\)\]\nmod \w+ \{", text, maxsplit=1, flags=re.M)[0].rstrip()


def run(cargo: str, mutants: list[str], population: list[str], jobs: int) -> Outcomes:
    """Tries these mutants, some at a time, and keeps each outcome."""
    OUT.mkdir(parents=True, exist_ok=True)
    made_by = version()
    found = _known(made_by)
    missing = [name for name in mutants if name not in found]
    if len(missing) < len(mutants):
        print(f"{len(mutants) - len(missing)} are known from before", flush=True)
    # The slow tests run only on mutants that survive all others.
    for left_out in (SLOW, ()):
        if missing:
            UNDER_WAY.write_text(json.dumps(asdict(made_by)), encoding="utf-8")
            judged = _judge(cargo, missing, population, jobs, left_out)
            missing = [name for name in missing if judged.get(name) == "MissedMutant"]
            found.update({name: end for name, end in judged.items() if not (left_out and name in missing)})
            _keep(made_by, found)

    def named(*summaries: str) -> list[str]:
        return sorted(name for name in mutants if found.get(name) in summaries)

    return Outcomes(named("CaughtMutant", "Timeout"), named("MissedMutant"), named("Unviable"))


def _judge(
    cargo: str, mutants: list[str], population: list[str], jobs: int, left_out: tuple[str, ...]
) -> dict[str, str]:
    """The outcome of each mutant, with all tests except ``left_out``."""
    # `--re` cannot exclude mutants that remove fields. So all other mutants are listed as caught before.
    wanted = set(mutants)
    before = OUT / "mutants.out"
    before.mkdir(parents=True, exist_ok=True)
    for file in before.glob("*.txt"):
        file.unlink()
    others = "".join(f"{name}\n" for name in population if name not in wanted)
    (before / "previously_caught.txt").write_text(others, encoding="utf-8")
    command = [
        cargo,
        "mutants",
        "--iterate",
        "--jobs",
        str(jobs),
        "--output",
        str(OUT),
        "--no-shuffle",
        "--colors",
        "never",
        "--",
        "--",
        *(f"--skip={test}" for test in left_out),
    ]
    few = {**os.environ, "PROPTEST_CASES": os.environ.get("PROPTEST_CASES", "24")}
    code = subprocess.run(command, cwd=TREE, check=False, env=few).returncode
    # 0: all caught, 2: some survived, 3: some ran out of time. Anything else went wrong before.
    if code not in {0, 2, 3}:
        raise SystemExit(f"cargo-mutants ended with status {code}")
    return {name: end for name, end in _outcomes().items() if name in wanted}


def _outcomes() -> dict[str, str]:
    """The outcomes of the last run of ``cargo-mutants`` so far, by mutant."""
    file = OUT / "mutants.out" / "outcomes.json"
    if not file.is_file():
        return {}
    return {
        outcome["scenario"]["Mutant"]["name"]: outcome["summary"]
        for outcome in json.loads(file.read_text(encoding="utf-8"))["outcomes"]
        if isinstance(outcome["scenario"], dict)
    }


def _known(made_by: Version) -> dict[str, str]:
    """The known outcomes of this version: kept ones, and those of an interrupted run."""
    found: dict[str, str] = {}
    if KEPT.is_file():
        before = json.loads(KEPT.read_text(encoding="utf-8"))
        found = still_known(before["found"], Version(**before["version"]), made_by)
    if UNDER_WAY.is_file():
        begun = Version(**json.loads(UNDER_WAY.read_text(encoding="utf-8")))
        # A survivor of an interrupted run may not have met all tests.
        ended = {name: end for name, end in _outcomes().items() if end != "MissedMutant"}
        found.update(still_known(ended, begun, made_by))
        _keep(made_by, found)
    return found


def still_known(found: dict[str, str], then: Version, now: Version) -> dict[str, str]:
    """The outcomes of version ``then`` that also hold for ``now``."""
    if then.code != now.code:
        return {}
    return {name: end for name, end in found.items() if then.tests == now.tests or end != "MissedMutant"}


def _keep(made_by: Version, found: dict[str, str]) -> None:
    KEPT.write_text(json.dumps({"version": asdict(made_by), "found": found}), encoding="utf-8")
    UNDER_WAY.unlink(missing_ok=True)


def reasons() -> dict[str, str]:
    """Why survivors are tolerated, by mutant without line and column."""
    table = tomllib.loads(REASONS.read_text(encoding="utf-8")) if REASONS.is_file() else {}
    return {entry["mutant"]: entry["why"] for entry in table.get("survivor", [])}


def report(outcomes: Outcomes, seed: int, population: int) -> tuple[dict[str, Any], list[str]]:
    """The data of the page, and the survivors without a reason."""
    known = reasons()
    survived = [{"mutant": plain(name), "why": known.get(plain(name), "")} for name in outcomes.survived]
    modules: dict[str, list[int]] = {}
    for names, place in ((outcomes.caught, 1), (outcomes.survived, 0)):
        for name in names:
            counts = modules.setdefault(plain(name).split("/", 1)[0], [0, 0])
            counts[0] += 1
            counts[1] += place
    data = {
        "sampled": outcomes.sampled,
        "caught": len(outcomes.caught),
        "survived": survived,
        "unviable": len(outcomes.unviable),
        "population": population,
        "seed": seed,
        "modules": dict(sorted(modules.items())),
    }
    return data, [one["mutant"] for one in survived if not one["why"]]


def markdown(data: dict[str, Any]) -> str:
    """The page."""
    caught, sampled = data["caught"], data["sampled"]
    lines = [
        "# What core's tests notice",
        "",
        "`make mutants` ran the mutants of this page. The code of the laws (transports, calls, queues, links, losses,",
        f"media) is broken in {sampled} of {data['population']} places, drawn with seed {data['seed']}, one at a time:",
        "a comparison turned round, an operator exchanged, an effect taken away. Core's own tests run on each,",
        "without golden digests and without the simulator.",
        "",
        f"**{caught} of {sampled} are caught ({caught / max(1, sampled):.1%}).** {data['unviable']} more did",
        "not compile and do not count.",
        "",
        "| module | broken | caught |",
        "|---|---:|---:|",
        *(f"| {module} | {total} | {held} |" for module, (total, held) in data["modules"].items()),
        "",
        "## Survivors",
        "",
    ]
    if data["survived"]:
        lines += ["| broken | why no test fails |", "|---|---|"]
        for one in data["survived"]:
            mutant = one["mutant"].replace("|", "\\|")
            lines.append(f"| `{mutant}` | {one['why'] or '**no reason yet**'} |")
    else:
        lines.append("None.")
    return "\n".join(lines) + "\n"


def render(_: Path) -> str:
    """Renders the page from the kept data."""
    return markdown(kept.read(PUBLISHED))


def main() -> int:
    """Runs the sample and writes the report; the exit status."""
    parser = writing.parser(__doc__)
    parser.add_argument("--count", type=int, default=300, help="mutants that compile, at least (default 300)")
    parser.add_argument("--seed", type=int, default=1, help="which sample (default 1)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once (default 2)")
    parser.add_argument("--cargo", default="cargo", help="the cargo to be used")
    parser.add_argument(
        "--only", default="", help="mutants whose name contains this, all of them; nothing is written"
    )
    options = parser.parse_args()
    if options.count < 1 or options.jobs < 1:
        parser.error("--count and --jobs take whole numbers from 1 on")
    lay_out()
    population = list_mutants(options.cargo)
    if options.only:
        chosen = [name for name in population if options.only in name]
    else:
        chosen = sample(population, options.count, options.seed)
    if not chosen:
        parser.error(f"no mutant's name contains `{options.only}`; `cargo mutants --list` shows them all")
    begun = time.monotonic()
    print(f"{len(chosen)} of {len(population)} mutants, {options.jobs} at a time", flush=True)
    outcomes = run(options.cargo, chosen, population, options.jobs)
    data, unexplained = report(outcomes, options.seed, len(population))
    minutes = (time.monotonic() - begun) / 60
    print(f"{len(outcomes.caught)} of {outcomes.sampled} caught in {minutes:.0f} minutes")
    for name in outcomes.survived:
        print(f"survived: {name}")
    if options.only:
        return 0
    kept.write(PUBLISHED, data)
    for name in unexplained:
        print(f"no reason in {REASONS.relative_to(ROOT)}: {name}", file=sys.stderr)
    return int(bool(unexplained) or len(outcomes.caught) < ASKED * outcomes.sampled)
