"""The page of fairwave compared with ns-3 and with the kernel. Each part can be renewed alone."""

from __future__ import annotations

import json
import math
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fairwave
from validation import explanations, kept, writing
from validation.compare.kernel import cases as kernel_cases
from validation.compare.kernel import lab, sharing
from validation.compare.measures import shares
from validation.compare.ns2.report import EXPLANATIONS, row
from validation.compare.ns3 import cases as ns3_cases
from validation.compare.ns3 import simulator as ns3
from validation.verdict import MARGIN, Comparison, Estimate, compare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from validation.explanations import Explanation

Table = dict[str, Any]

KEPT = "compare/opinions"
#: The parts of the page in order, with the name of the other implementation.
THEIRS = {"ns3": "ns-3", "kernel": "kernel"}


@dataclass(frozen=True)
class Outcome:
    """A case in fairwave and in the other implementation. ``about`` has facts about the other's runs."""

    key: str
    title: str
    runs: int
    comparisons: list[Comparison]
    about: str = ""

    @property
    def part(self) -> str:
        """Its part of the page."""
        return self.key.split("/")[0]


def compare_ns3(case: ns3_cases.Case, runs: int, folder: Path, python: str, processes: int) -> Outcome:
    """A case in ns-3 and in fairwave.

    Raises:
        Ns3Error: ns-3 failed.
        NotInNs3Error: The scenario has something that ns-3 lacks.
    """
    scenario = fairwave.load(json.dumps(case.scenario))
    seeds = list(range(1, runs + 1))
    plans = [ns3_cases.plan_of(scenario, seed) for seed in seeds]
    told = [ns3.translate(plan, case.bottleneck, ns3_cases.SPACING) for plan in plans]
    counted = ns3.recall(told, folder, python, processes)
    theirs = [ns3.measures(plan, each) for plan, each in zip(plans, counted, strict=True)]
    seconds = (plans[0]["duration_ns"] - plans[0]["warmup_ns"]) / 1e9
    ours = ns3_cases.measure_fairwave(scenario.replicate(seeds=seeds), case.bottleneck, seconds)
    if case.is_long:
        ours, theirs = ([run | shares(run) for run in runs_] for runs_ in (ours, theirs))
    return Outcome(case.key, case.title, runs, compare(ours, theirs))


def compare_kernel(case: kernel_cases.KernelCase, runs: int, folder: Path, at_once: int) -> Outcome:
    """A case in the kernel and in fairwave.

    Raises:
        KernelError: A command failed, or the machine stalled in each attempt.
    """
    scenario = fairwave.load(json.dumps(case.scenario))
    seeds = list(range(1, runs + 1))
    found = kernel_cases.recall(case, seeds, folder, at_once)
    whole = scenario.with_overrides({"warmup": "0 s"}).replicate(seeds=seeds)
    ours = kernel_cases.measure_fairwave(case, scenario.replicate(seeds=seeds), whole)
    theirs = [kernel_cases.measure_kernel(case, each) for each in found]
    mean = math.fsum(each["relay"]["mean_us"] for each in found) / len(found)
    most = max(each["relay"]["most_us"] for each in found) / 1e3
    least = min(flow[-1]["least_rtt_us"] for each in found for flow in each["flows"]) / 1e3
    about = (
        f"The relay was {mean:.0f} us late in the mean and {most:.1f} ms at most;"
        f" the shortest round trip was {least:.2f} ms."
    )
    return Outcome(case.key, case.title, runs, compare(ours, theirs, kernel_cases.MARGINS), about)


def machine() -> str:
    """Which kernel, with which controllers, on what."""
    hystart = "/sys/module/tcp_cubic/parameters/hystart"
    try:
        with open(hystart, encoding="ascii") as file:  # noqa: PTH123
            words = f"; CUBIC's HyStart is {'on' if file.read().strip() == '1' else 'off'}"
    except OSError:
        words = ""
    version = platform.release().partition("-")[0]
    return f"Linux {version} ({platform.machine()}), {', '.join(lab.controllers())}{words}"


def data(outcomes: Sequence[Outcome], about: dict[str, str]) -> Table:
    """Every number of the page by part. ``about`` describes the other implementation of each part."""
    parts: Table = {}
    for outcome in outcomes:
        part = parts.setdefault(outcome.part, {"about": about.get(outcome.part, ""), "cases": {}})
        part["cases"][outcome.key] = {
            "title": outcome.title,
            "runs": outcome.runs,
            "about": outcome.about,
            "measures": {
                one.measure: {
                    "fairwave": one.ours.to_plain(),
                    "theirs": one.theirs.to_plain(),
                    "margin": one.margin,
                    "agrees": one.reason or False,
                    "undecided": one.undecided,
                }
                for one in outcome.comparisons
            },
        }
    return parts


def renewed(before: Table, fresh: Table, known: Sequence[str]) -> Table:
    """``before`` with the cases of ``fresh`` in their places, in the order ``known``; others are left out.

    ``switches`` (:mod:`sharing`) are no cases: the fresh ones count, else those that were kept.
    """
    parts: Table = {}
    for part in THEIRS:
        cases = before.get(part, {}).get("cases", {}) | fresh.get(part, {}).get("cases", {})
        about = fresh.get(part, {}).get("about") or before.get(part, {}).get("about", "")
        chosen = {key: cases[key] for key in known if key in cases and key.split("/")[0] == part}
        if chosen:
            parts[part] = {"about": about, "cases": chosen}
    if switches := fresh.get("switches") or before.get("switches"):
        parts["switches"] = switches
    return parts


def stored(parts: Table) -> list[Outcome]:
    """The outcomes in the numbers of :func:`data`."""
    return [
        Outcome(
            key,
            case["title"],
            case["runs"],
            [
                Comparison(
                    measure,
                    Estimate.from_plain(each["fairwave"]),
                    Estimate.from_plain(each["theirs"]),
                    each["margin"],
                )
                for measure, each in case["measures"].items()
            ],
            case["about"],
        )
        for part in parts.values()
        for key, case in part.get("cases", {}).items()
    ]


def known_keys() -> list[str]:
    """Every case's key, in the order of the page."""
    return [case.key for case in ns3_cases.cases()] + [case.key for case in kernel_cases.cases()]


def unexplained(outcomes: Sequence[Outcome], reasons: list[Explanation]) -> list[tuple[str, str]]:
    """Case and measure of each decided difference without an explanation."""
    return [
        (outcome.key, one.measure)
        for outcome in outcomes
        for one in outcome.comparisons
        if one.verdict == "differs" and explanations.find(reasons, outcome.key, one.measure) is None
    ]


#: Common settings of the long cases.
_LONG = (
    f"{kernel_cases.LONG_RATE // 1_000_000} Mb/s, {kernel_cases.LONG[0]} s with a warm-up of {kernel_cases.LONG[1]} s,"
    " starts within 10 s"
)

INTRODUCTION = {
    "ns3": (
        "## ns-3",
        (
            "ns-3.44 (PyPI's `ns3`) and fairwave (preset `linux`) run the same plan: the same topology, delays,"
            " starting times and laws. fairwave leaves out what ns-3 lacks (RACK-TLP, quick acknowledgements). Each"
            " simulator uses its own random numbers during the run. The path has 20 Mb/s and round trips of 38 to 42"
            " ms, one for each flow. Segments of 1448 B travel in packets of 1502 B (TCP with timestamps, IP, PPP)."
            " Receivers acknowledge every second segment. The initial window is 10; senders use SACK and PRR, and"
            " timeouts are at least 200 ms above the round trip. A run lasts 50 s with a warm-up of 10 s. Goodput"
            " counts payload; queues count packets. `tcp/sack` stands for ns-3's `TcpLinuxReno`, `tcp/bbr1` for"
            " `TcpBbr`. Below each queue discipline ns-3 has a device that holds one packet. That packet"
            f" counts as waiting. Long cases: {_LONG}."
        ),
    ),
    "kernel": (
        "## Linux kernel",
        (
            "The host's own TCP runs in three network namespaces joined by veth: a sender, a router and a receiver. The"
            " router shapes to 20 Mb/s by `tbf` (burst 3100 B, a first-in-first-out queue bounded in bytes)."
            " Acknowledgements return through a relay on a TUN device that delays them by 40 ms, so that data passes"
            " through kernel code only. The relay measures its own lateness. One segment per buffer (`gso_max_segs 1`),"
            " a receive buffer that never limits, no kept metrics, no ECN, no `fq` (CUBIC and Reno do not pace, BBR"
            " paces itself). Frames have 1514 B on both sides, because `tbf` counts Ethernet's header. fairwave has the"
            f" preset `linux` and buffers that are {kernel_cases.FRAME} B smaller: `tbf` counts the frame that is being"
            f" sent as waiting, a simulator does not. A run lasts 30 s with a warm-up of 5 s; long cases: {_LONG}."
            " `tcp/sack` with RACK stands for `reno`, `tcp/bbr1` for `bbr` (version 1 in mainline). A run in which the"
            " relay was more than 10 ms late is discarded and repeated, because the machine stood still. A long run may"
            " instead be 1 ms late at the 99th percentile."
        ),
    ),
}


def markdown(parts: Table, reasons: list[Explanation]) -> str:
    """The page."""
    return "\n".join(_lines(parts, reasons)) + "\n"


def _lines(parts: Table, reasons: list[Explanation]) -> Iterator[str]:
    yield "# Comparison with ns-3 and the Linux kernel"
    yield ""
    yield (
        "The same scenarios in fairwave, in ns-3 and with the TCP of the Linux kernel. The comparison with ns-2 has"
        " [its own page](validation.md)."
    )
    yield ""
    yield "`make validate` measured the numbers of this page."
    yield ""
    used: dict[str, Explanation] = {}
    details: list[str] = []
    for part, theirs in THEIRS.items():
        title, introduction = INTRODUCTION[part]
        yield title
        yield ""
        if part not in parts:
            yield "Not measured yet."
            yield ""
            continue
        outcomes = stored({part: parts[part]})
        yield from _part(outcomes, theirs, parts[part]["about"], reasons, used)
        details += writing.folded(f"{theirs}: network and settings", [introduction])
        details += writing.folded(f"{theirs}: all numbers", _numbers(outcomes, theirs, reasons, used))
    yield from sharing.lines(parts)
    if used:
        yield "## Reasons"
        yield ""
        for one in used.values():
            yield f"### {one.id}"
            yield ""
            yield one.text
            yield ""
    yield "## Method and all numbers"
    yield ""
    yield from writing.folded("Margins", _margins())
    yield from details


def _margins() -> Iterator[str]:
    wide = ", ".join(f"{name} {value:.0%}" for name, value in kernel_cases.MARGINS.items())
    yield (
        f"A measure agrees if the means differ by at most {MARGIN:.0%}. For the kernel, which is real and noisy, the"
        f" margins are wider: {wide}. It also agrees if each mean lies inside the other's 95 % interval, or if the"
        " means differ by less than the resolution (rates 0.0002, times 0.3 ms, windows 0.5 segments, Jain's index"
        " 0.005). Otherwise it is *undecided* where the 95 % interval of the difference (Welch's) contains 0. Every"
        " other difference has a reason."
    )
    yield ""
    yield (
        "The margins were fixed before the first comparison. The resolutions of rates, times and windows, and the rule"
        " about a late relay, came after a first look at the kernel."
    )


def _part(
    outcomes: Sequence[Outcome],
    theirs: str,
    about: str,
    reasons: list[Explanation],
    used: dict[str, Explanation],
) -> Iterator[str]:
    compared = [one for outcome in outcomes for one in outcome.comparisons if not math.isnan(one.theirs.mean)]
    agree, undecided = sum(one.agrees for one in compared), sum(one.undecided for one in compared)
    missing = unexplained(outcomes, reasons)
    yield (
        f"**Of {len(compared)} measures in {len(outcomes)} cases, {agree} agree, {undecided} are undecided and"
        f" {len(compared) - agree - undecided} differ, of which {len(missing)} without an explanation.** Measured with"
        f" {about}."
    )
    yield ""
    for case, measure in missing:
        yield f"- unexplained: `{measure}` in `{case}`"
    yield from writing.matrix(
        "case",
        {outcome.title: [(one.measure, one.verdict) for one in outcome.comparisons] for outcome in outcomes},
    )
    yield ""
    yield "✓ agrees, ? undecided, ✗ differs, – not measured. Where the verdicts in a cell differ, the cell counts them."
    yield ""
    lines = [
        f"| {outcome.title} | {row(one)} | {_verdict(outcome, one, reasons, used)} |"
        for outcome in outcomes
        for one in outcome.comparisons
        if one.verdict == "differs"
    ]
    if lines:
        head = [
            f"| case | measure | fairwave | {theirs} | difference | reason |",
            "|---|---|---|---|---|---|",
        ]
        yield from writing.folded(f"Differences: {len(lines)}", [*head, *lines])


def _numbers(
    outcomes: Sequence[Outcome], theirs: str, reasons: list[Explanation], used: dict[str, Explanation]
) -> Iterator[str]:
    yield f"| case | measure | fairwave | {theirs} | difference | verdict |"
    yield "|---|---|---|---|---|---|"
    for outcome in outcomes:
        about = f"{outcome.title}, `{outcome.key}`, {outcome.runs} runs each. {outcome.about}".rstrip()
        for one in outcome.comparisons:
            yield f"| {about} | {row(one)} | {_verdict(outcome, one, reasons, used)} |"
            about = ""


def _verdict(
    outcome: Outcome, one: Comparison, reasons: list[Explanation], used: dict[str, Explanation]
) -> str:
    if one.agrees:
        return {"margin": "✓", "intervals": "✓ intervals", "resolution": "✓ resolution"}[one.reason]
    if one.verdict != "differs":
        return "? undecided" if one.undecided else "–"
    reason = explanations.find(reasons, outcome.key, one.measure)
    if reason is None:
        return "✗ unexplained"
    used.setdefault(reason.id, reason)
    return f"✗ [{reason.id}](#{reason.id})"


def render(_: Path) -> str:
    """Renders the page from the kept numbers."""
    return markdown(kept.read(KEPT), explanations.read(EXPLANATIONS))
