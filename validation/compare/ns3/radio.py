"""Radio links compared with ns-3's.

**Set-up.** Both simulators get the same case: rates, frame sizes with all headers, buffers, contention windows, TXOP
limits, bandwidth, schedulers and traffic, packet by packet from the same instants. Each case names its remaining
differences. Nothing was tuned. ns-3 runs as programs in C++ (`validation/compare/ns3`, ``-O2``, against the libraries
of PyPI's `ns3`). Its stations are ad hoc, because fairwave has no beacons and no associations, with the basic rates
that an access point would announce. Otherwise its set-up has the defaults, with three exceptions: packets do not
expire in a queue, traffic control is off, and a missed block acknowledgement is followed by the frames and not by a
request. In the cell the power and the noise of both directions are equal, RLC is acknowledged, blocks do not fail
except in the case about HARQ, and the core network adds no delay.

**Runs.** Each case runs under several seeds for 6 s, without the first second. ± is the 95 % interval. In a *scan* a
value rises or falls until the criterion is broken; the row has the last good value under each seed.

**Verdicts.** A measure agrees if the means differ by at most the margin. Margins were fixed and committed before the
first comparison. It is undecided (?) if the 95 % interval of the difference (Welch) contains 0, otherwise it differs.

**Times.** Processor time (user and system) of one run, side by side on one machine, set-up apart. ns-3's is that from
before to after ``Simulator::Run``. fairwave's is the slope between a run of 6 s and one of 60 s, for 6 s; the last
column has all that ``Scenario.replicate`` does in a run of 6 s on one thread, from the plan to the tables of results.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomllib

import fairwave
from validation import kept, verdict, writing
from validation.compare.ns3 import radio_cases
from validation.compare.ns3 import simulator as ns3
from validation.compare.ns3.radio_cases import (
    CASES,
    CELL,
    LATER,
    PARTS,
    SECONDS,
    VARIANTS,
    WIFI,
    Case,
    Cell,
    Measure,
)
from validation.verdict import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

KEPT = "compare/radio-ns3"
REASONS = Path(__file__).with_suffix(".toml")
PROGRAMS = Path(__file__).parent

MODULES = (
    "core",
    "network",
    "internet",
    "applications",
    "mobility",
    "propagation",
    "spectrum",
    "traffic-control",
)
OWN = {"wifi": ("wifi",), "lte": ("lte", "point-to-point")}
"""Modules of ns-3 that a program needs besides."""

ALL = [name for cases in PARTS.values() for name in cases]
"""The names of all cases."""

#: A run: numbers of each flow by its name, the processor time, and other output of the program.
Run = dict[str, Any]


class CompilerError(RuntimeError):
    """A program of `validation/compare/ns3` could not be built."""


def build(python: str, folder: Path) -> dict[str, Path]:
    """Compiles both programs against the ns-3 of an interpreter.

    Raises:
        CompilerError: There is no compiler, or it failed.
    """
    asked = [
        python,
        "-c",
        "import importlib.util as u; print(u.find_spec('ns3').submodule_search_locations[0])",
    ]
    place = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    made = {}
    for name, modules in OWN.items():
        made[name] = folder / name
        command = ["g++", "-std=c++20", "-O2", f"-I{place / 'include'}", str(PROGRAMS / f"{name}.cc"), "-o"]
        command += [str(made[name]), f"-L{place / 'lib64'}", f"-Wl,-rpath,{place / 'lib64'}"]
        command += ["-Wl,--allow-shlib-undefined", *(f"-lns3.44-{module}" for module in (*MODULES, *modules))]
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True)
        except FileNotFoundError:
            raise CompilerError(
                "no g++ here: install a C++ compiler; `make results` renders the kept numbers without one"
            ) from None
        if done.returncode:
            raise CompilerError(f"g++ failed on {name}.cc:\n{done.stderr[-2000:]}")
    return made


def theirs(case: Case, programs: Mapping[str, Path], seed: int) -> Run:
    """One run of ns-3."""
    program = programs["lte" if isinstance(case.medium, Cell) else "wifi"]
    command = [str(program), *radio_cases.arguments(case, seed)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise ns3.Ns3Error(f"ns-3 failed on `{case.name}`, seed {seed}:\n{done.stderr[-2000:]}")
    found: Run = json.loads(done.stdout)
    return found


def ours(
    case: Case, seeds: Sequence[int], harq: tuple[float, float] = (0.0, 0.0), seconds: float = SECONDS
) -> list[Run]:
    """Runs of fairwave, each with its processor time."""
    runs = []
    for seed in seeds:
        scenario = fairwave.Scenario.from_dict(radio_cases.scenario(case, seed, harq, seconds))
        before = time.process_time()
        results = scenario.replicate(seeds=[seed], threads=1)
        took = time.process_time() - before
        runs.append({"cpu_s": took, "flows": {row["group"]: row for row in results.flows.to_pylist()}})
    return runs


def value(measure: Measure, run: Run) -> float:
    """A measure of a run."""
    flows = [flow for name, flow in run["flows"].items() if name.startswith(measure.group)]
    if measure.kind in ("goodput", "share"):
        goodput = sum(float(flow["goodput_bps"]) for flow in flows)
        if measure.kind == "goodput":
            return goodput / 1e6
        return goodput / sum(float(flow["goodput_bps"]) for flow in run["flows"].values())
    key = {"delay": "delay_mean_s", "p95": "delay_p95_s"}[measure.kind]
    delays = [flow[key] for flow in flows if flow.get(key) is not None]
    return 1000 * sum(delays) / len(delays) if delays else float("nan")


def good(case: Case, run: Run) -> bool:
    """A run keeps the criterion of a scan."""
    scan = case.scan
    assert scan is not None
    found = value(scan.measure, run)
    if scan.at_most is not None:
        return found <= scan.at_most
    return scan.at_least is not None and found >= scan.at_least


def compared(case: Case, programs: Mapping[str, Path], seeds: Sequence[int]) -> dict[str, Any]:
    """Both simulators' numbers of a case: for each measure one per seed, and seconds of the processor per run."""
    if case.scan is not None:
        return _scanned(case, programs, seeds)
    other = [theirs(case, programs, seed) for seed in seeds]
    harq = (0.0, 0.0)
    kept: dict[str, Any] = {"measures": {}}
    if isinstance(case.medium, Cell) and case.medium.errors:
        errors = [sum(run[key] for run in other) / len(other) for key in ("first_error", "repeat_error")]
        harq = (errors[0], errors[1])
        kept["harq"] = list(harq)
    own = ours(case, seeds, harq)
    for measure in case.measures:
        kept["measures"][measure.name] = {
            side: [float(f"{value(measure, run):.6g}") for run in runs]
            for side, runs in (("ours", own), ("theirs", other))
        }
    return kept


def _scanned(case: Case, programs: Mapping[str, Path], seeds: Sequence[int]) -> dict[str, Any]:
    last = {
        "ours": [_last(case, seed) for seed in seeds],
        "theirs": [_last(case, seed, programs) for seed in seeds],
    }
    return {"measures": {case.measures[0].name: last}}


def _last(case: Case, seed: int, programs: Mapping[str, Path] | None = None) -> float:
    """The last good value of a scan under a seed: in ns-3 if its programs are given, otherwise in fairwave."""
    scan = case.scan
    assert scan is not None
    best = float("nan")
    for point in scan.values:
        one = radio_cases.fix_scan(case, point)
        run = ours(one, [seed])[0] if programs is None else theirs(one, programs, seed)
        if not good(case, run):
            break
        best = point
    return best


LONG = 60.0
"""Seconds of fairwave's long run: the longer the run, the less its set-up and its tables of results count."""


def timed(case: Case, programs: Mapping[str, Path], harq: tuple[float, float]) -> dict[str, float]:
    """Seconds of the processor for one run: ns-3's, fairwave's with all it does, and fairwave's simulation alone."""
    other = theirs(case, programs, 1)["cpu_s"]
    short = min(ours(case, [1], harq)[0]["cpu_s"] for _ in range(3))
    long = min(ours(case, [1], harq, LONG)[0]["cpu_s"] for _ in range(3))
    alone = (long - short) / (LONG - SECONDS) * SECONDS
    return {name: float(f"{one:.4g}") for name, one in (("theirs", other), ("ours", short), ("alone", alone))}


def judged(measure: Measure, kept: Mapping[str, Sequence[float]]) -> tuple[Estimate, Estimate, float, str]:
    """Fairwave's and ns-3's estimates, the difference (a part of ns-3's or in the unit), and the verdict."""
    own, other = Estimate.from_values(kept["ours"]), Estimate.from_values(kept["theirs"])
    gap = own.mean - other.mean
    if measure.relative:
        gap /= other.mean
    if abs(gap) <= measure.margin:
        return own, other, gap, "agrees"
    return own, other, gap, "undecided" if verdict.undecided(own, other) else "differs"


UNITS = {"goodput": "Mb/s", "share": "", "delay": "ms", "p95": "ms"}
WORDS = {"goodput": "goodput", "share": "share", "delay": "mean delay", "p95": "95th percentile of the delay"}
GROUPS = {"": "", "s": "", "a": " of the first", "slow": " of the slow one", "lone": " of the lone one",
          "s0": " of the first", "down": " of the downlink",
          "video": " of video", "data": " of best effort",
          "voice": " of voice", "call-down": " of calls, down", "call-up": " of calls, up",
          "download": " of the download"}  # fmt: skip


def _row(case: Case, measure: Measure, kept: Mapping[str, Sequence[float]]) -> str:
    own, other, gap, found = judged(measure, kept)
    unit = case.scan.unit if case.scan else UNITS[measure.kind]
    digits = 3 if measure.kind == "share" else 2
    said = f"{WORDS[measure.kind]}{GROUPS[measure.group]}" if case.scan is None else "last good value"
    cells = [f"{one.mean:.{digits}f} ± {one.half:.{digits}f} {unit}".rstrip() for one in (other, own)]
    shown = f"{100 * gap:+.1f} %" if measure.relative else f"{gap:+.{digits}f}"
    margin = f"{100 * measure.margin:g} %" if measure.relative else f"{measure.margin:g}"
    return (
        f"| {case.title}: {said} | {cells[0]} | {cells[1]} | {shown} | {margin} | {writing.SYMBOLS[found]} |"
    )


def _flat(text: str) -> str:
    return " ".join(text.split())


def _table(cases: Iterable[Case], kept: Mapping[str, Any]) -> Iterator[str]:
    yield "| | ns-3 | fairwave | difference | margin | |"
    yield "|---|---|---|---|---|---|"
    for case in cases:
        for measure in case.measures:
            yield _row(case, measure, kept[case.name]["measures"][measure.name])
    yield ""


def page(kept: Mapping[str, Any], reasons: Mapping[str, Any]) -> str:
    """The report, from kept numbers and from the reasons of differences."""
    return "\n".join(_lines(kept, reasons)).rstrip() + "\n"


def _lines(kept: Mapping[str, Any], reasons: Mapping[str, Any]) -> Iterator[str]:
    cases = kept["cases"]
    found = {
        (case.name, measure.name): judged(measure, cases[case.name]["measures"][measure.name])[3]
        for case in CASES.values()
        for measure in case.measures
    }
    count = {one: list(found.values()).count(one) for one in ("agrees", "undecided", "differs")}
    whole = sum(
        all(found[case.name, measure.name] == "agrees" for measure in case.measures)
        for case in CASES.values()
    )
    times = {name: kept["times"][name] for name, case in CASES.items() if case.scan is None}
    ratios = {name: one["theirs"] / one["alone"] for name, one in times.items()}
    fast = sum(ratio >= 100 for ratio in ratios.values())
    yield "# Radio links compared with ns-3"
    yield ""
    yield (
        f"**{count['agrees']} of {len(found)} measures agree within margins that were fixed before,"
        f" {count['undecided']} are undecided, {count['differs']} differ."
        f" In {whole} of {len(CASES)} cases all measures agree.**"
        f" Each case ran under {kept['seeds']} seeds in fairwave and in ns-3 {kept['version']};"
        " ± is the 95 % interval. [Wi-Fi](links.md#wi-fi) describes the law."
    )
    yield ""
    total = sum(one["theirs"] for one in times.values()) / sum(one["alone"] for one in times.values())
    yield (
        f"Fairwave takes 1/{total:.0f} of ns-3's processor time for all cases together, set-up apart."
        f" It is at least 100 times as fast in {fast} of {len(ratios)} cases ([below](#processor-time))."
    )
    yield ""
    yield "`python -m validation radio` measured the numbers of this page."
    yield ""
    for title, part in (("Wi-Fi", WIFI), ("A cell of LTE", CELL)):
        yield f"## {title}"
        yield ""
        yield from _table(part, cases)
        for case in part:
            alike = all(found[case.name, measure.name] == "agrees" for measure in case.measures)
            words = [case.unlike, "" if alike else _flat(reasons["case"].get(case.name, ""))]
            if any(words):
                yield f"- **{case.title}**: {' '.join(word for word in words if word)}"
        yield ""
    yield "## Groups, several access points, wide channels"
    yield ""
    yield (
        "These cases came with later parts of the law, after the verdicts, and do not count in them."
        " Their margins are those of the first cases."
    )
    yield ""
    yield from _table(LATER, kept["later"])
    for case in LATER:
        if case.name in reasons["later"]:
            yield f"- **{case.title}**: {_flat(reasons['later'][case.name])}"
    yield ""
    yield "## Where differences come from"
    yield ""
    yield (
        "These rows were run after a look at the differences, with the change that each names."
        " They do not count in the verdicts."
    )
    yield ""
    yield from _table(VARIANTS.values(), kept["variants"])
    for name, words in reasons["variant"].items():
        yield f"- **{VARIANTS[name].title}**: {_flat(words)}"
    yield ""
    yield from writing.changed(map(_flat, reasons["changed"]))
    yield "## Processor time"
    yield ""
    yield "| | ns-3 | fairwave | ratio | fairwave with set-up and tables |"
    yield "|---|---|---|---|---|"
    for name, one in times.items():
        cells = f"{one['theirs']:.2f} s | {1000 * one['alone']:.2f} ms | {ratios[name]:.0f}"
        yield f"| {CASES[name].title} | {cells} | {1000 * one['ours']:.1f} ms |"
    yield ""
    yield _flat(reasons["speed"])
    yield ""
    yield from writing.method("Set-up, runs, verdicts and times", __doc__)


def read() -> dict[str, Any]:
    """The kept numbers."""
    found: dict[str, Any] = kept.read(KEPT)
    return found


def explained() -> dict[str, Any]:
    """Reasons for differences, and changes."""
    return tomllib.loads(REASONS.read_text(encoding="utf-8"))


def _renew_ours(names: Sequence[str]) -> None:
    """Runs fairwave's side of the cases again, under the seeds of ns-3's kept numbers."""
    numbers = read()
    for name in names:
        part, case = radio_cases.find(name)
        found = numbers[part][name]
        seeds = range(1, numbers["seeds"] + 1)
        if case.scan is None:
            runs = ours(case, seeds, tuple(found.get("harq", (0.0, 0.0))))
            values = {measure.name: [value(measure, run) for run in runs] for measure in case.measures}
        else:
            values = {case.measures[0].name: [_last(case, seed) for seed in seeds]}
        for measure in case.measures:
            both = found["measures"][measure.name]
            both["ours"] = [float(f"{one:.6g}") for one in values[measure.name]]
            print(_row(case, measure, both), flush=True)
        kept.write(KEPT, numbers)


def _compare(names: Sequence[str], options: argparse.Namespace) -> None:
    """Runs both simulators and keeps their numbers."""
    python = ns3.find(options.ns3)
    if python is None:
        sys.exit(ns3.ABSENT)
    numbers = read() if kept.exists(KEPT) else {key: {} for key in [*PARTS, "times"]}
    numbers |= {"version": ns3.version(python), "seeds": options.seeds}
    with tempfile.TemporaryDirectory() as folder:
        try:
            programs = build(python, Path(folder))
        except CompilerError as error:
            sys.exit(str(error))
        for name in names:
            part, case = radio_cases.find(name)
            if not options.times:
                numbers[part][name] = found = compared(case, programs, range(1, options.seeds + 1))
                for measure in case.measures:
                    print(_row(case, measure, found["measures"][measure.name]), flush=True)
            if case.scan is None and part == "cases":
                first, again = numbers["cases"][name].get("harq", (0.0, 0.0))
                numbers["times"][name] = timed(case, programs, (first, again))
                print(name, numbers["times"][name], flush=True)
            for which, order in (*PARTS.items(), ("times", CASES)):
                numbers[which] = {one: numbers[which][one] for one in order if one in numbers[which]}
            kept.write(KEPT, numbers)


def main() -> None:
    """Runs the comparisons and keeps their numbers."""
    parser = writing.parser(__doc__)
    parser.add_argument("--case", action="append", choices=ALL, help="run this case only; repeat for more")
    parser.add_argument("--times", action="store_true", help="measure the times only")
    parser.add_argument(
        "--ours", action="store_true", help="run fairwave only, where ns-3's numbers of a case are kept"
    )
    parser.add_argument("--seeds", type=int, default=5, help="runs of each case (default 5)")
    parser.add_argument("--ns3", metavar="PYTHON", help=f"an interpreter with ns-3 (default: {ns3.VARIABLE})")
    options = parser.parse_args()
    names = options.case or ALL
    if options.ours:
        _renew_ours(names)
    else:
        _compare(names, options)


def render(_: Path) -> str:
    """Renders the page from the kept numbers."""
    return page(read(), explained())
