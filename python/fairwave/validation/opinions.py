"""``docs/opinions.md``: fairwave beside ns-3 and beside the kernel itself, each part renewed by itself."""

from __future__ import annotations

import json
import math
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fairwave
from fairwave.validation import explanations, ns3, ns3_cases, sharing
from fairwave.validation.kernel import cases as kernel_cases
from fairwave.validation.kernel import lab
from fairwave.validation.measures import shares
from fairwave.validation.report import estimate, numbers, row
from fairwave.validation.verdict import MARGIN, Comparison, compare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fairwave.validation.explanations import Explanation

Table = dict[str, Any]

#: The parts of the page, in order, by what each is compared with.
THEIRS = {"ns3": "ns-3", "kernel": "kernel"}


@dataclass(frozen=True)
class Outcome:
    """A case in fairwave and in the other: ``about`` says what is to be known of the other's runs."""

    key: str
    title: str
    runs: int
    comparisons: list[Comparison]
    about: str = ""

    @property
    def part(self) -> str:
        """The part of the page to which it belongs."""
        return self.key.split("/")[0]


def beside_ns3(case: ns3_cases.Case, runs: int, kept: Path, python: str, processes: int) -> Outcome:
    """A case in ns-3 and in fairwave.

    Raises:
        Ns3Error: ns-3 failed.
        NotInNs3Error: The scenario has something that ns-3 lacks.
    """
    scenario = fairwave.load(json.dumps(case.scenario))
    seeds = list(range(1, runs + 1))
    plans = [ns3_cases.plan_of(scenario, seed) for seed in seeds]
    told = [ns3.translate(plan, case.bottleneck, ns3_cases.SPACING) for plan in plans]
    counted = ns3.recall(told, kept, python, processes)
    theirs = [ns3.measures(plan, each) for plan, each in zip(plans, counted, strict=True)]
    seconds = (plans[0]["duration_ns"] - plans[0]["warmup_ns"]) / 1e9
    ours = ns3_cases.of_fairwave(scenario.replicate(seeds=seeds), case.bottleneck, seconds)
    if case.is_long:
        ours, theirs = ([run | shares(run) for run in runs_] for runs_ in (ours, theirs))
    return Outcome(case.key, case.title, runs, compare(ours, theirs))


def beside_kernel(case: kernel_cases.KernelCase, runs: int, kept: Path, at_once: int) -> Outcome:
    """A case in the kernel and in fairwave.

    Raises:
        KernelError: A command failed, or the machine stood still again and again.
    """
    scenario = fairwave.load(json.dumps(case.scenario))
    seeds = list(range(1, runs + 1))
    found = kernel_cases.recall(case, seeds, kept, at_once)
    whole = scenario.with_overrides({"warmup": "0 s"}).replicate(seeds=seeds)
    ours = kernel_cases.of_fairwave(case, scenario.replicate(seeds=seeds), whole)
    theirs = [kernel_cases.of_kernel(case, each) for each in found]
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
    """Every number of the page, by part; ``about`` says of each part what it was measured with."""
    parts: Table = {}
    for outcome in outcomes:
        part = parts.setdefault(outcome.part, {"about": about.get(outcome.part, ""), "cases": {}})
        part["cases"][outcome.key] = {
            "title": outcome.title,
            "runs": outcome.runs,
            "about": outcome.about,
            "measures": {
                one.measure: {
                    "fairwave": numbers(one.ours),
                    "theirs": numbers(one.theirs),
                    "margin": one.margin,
                    "agrees": one.reason or False,
                    "undecided": one.undecided,
                }
                for one in outcome.comparisons
            },
        }
    return parts


def renewed(kept: Table, fresh: Table, known: Sequence[str]) -> Table:
    """``kept`` with the cases of ``fresh`` in their places, in the order ``known``; others are left out.

    ``switches`` (:mod:`sharing`) are no cases: the fresh ones count, else those that were kept.
    """
    parts: Table = {}
    for part in THEIRS:
        cases = kept.get(part, {}).get("cases", {}) | fresh.get(part, {}).get("cases", {})
        about = fresh.get(part, {}).get("about") or kept.get(part, {}).get("about", "")
        chosen = {key: cases[key] for key in known if key in cases and key.split("/")[0] == part}
        if chosen:
            parts[part] = {"about": about, "cases": chosen}
    if switches := fresh.get("switches") or kept.get("switches"):
        parts["switches"] = switches
    return parts


def stored(parts: Table) -> list[Outcome]:
    """The outcomes whose numbers :func:`data` kept."""
    return [
        Outcome(
            key,
            case["title"],
            case["runs"],
            [
                Comparison(measure, estimate(each["fairwave"]), estimate(each["theirs"]), each["margin"])
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
    """Case and measure of each decided difference that nobody has explained."""
    return [
        (outcome.key, one.measure)
        for outcome in outcomes
        for one in outcome.comparisons
        if _differs(one) and explanations.find(reasons, outcome.key, one.measure) is None
    ]


def _differs(one: Comparison) -> bool:
    return (
        not one.agrees
        and not one.undecided
        and not (math.isnan(one.ours.mean) and math.isnan(one.theirs.mean))
    )


#: What the long cases have in common.
_LONG = (
    f"{kernel_cases.LONG_RATE // 1_000_000} Mb/s, {kernel_cases.LONG[0]} s of which {kernel_cases.LONG[1]} do not"
    " count, starts within 10 s"
)

INTRODUCTION = {
    "ns3": (
        "## Beside ns-3",
        (
            "ns-3.44 (PyPI's `ns3`) runs the same plan: topology, delays, starts and laws are those of a"
            " fairwave scenario with the preset `linux`"
            " without what ns-3 lacks (RACK-TLP, quick acknowledgements), each simulator with its own random"
            " numbers for what happens in the run."
            " 20 Mb/s, a round trip of 38 to 42 ms that differs by flow, segments of 1448 B in packets of"
            " 1502 B (TCP with timestamps, IP, PPP),"
            " acknowledgements of every second segment, an initial window of 10, SACK and PRR, timeouts at"
            " least 200 ms above the round trip; 50 s,"
            " of which the first 10 do not count. Goodput counts payload; queues count packets. fairwave's"
            " `tcp/sack` stands beside ns-3's"
            " `TcpLinuxReno`, `tcp/bbr1` beside `TcpBbr`. A queue discipline of ns-3 has a device below it in"
            " which one packet lies: it counts as"
            f" waiting. Long cases: {_LONG}."
        ),
    ),
    "kernel": (
        "## Beside the kernel",
        (
            "The host's own TCP in three network namespaces joined by veth: a sender, a router that shapes to"
            " 20 Mb/s by `tbf` (burst 3100 B, a"
            " first-in-first-out queue bounded in bytes), a receiver. Acknowledgements go back through a"
            " relay on a TUN device that holds them for"
            " 40 ms, so that data meets the kernel's own code alone; the relay measures by how much it was"
            " late. One segment per buffer"
            " (`gso_max_segs 1`), a receive buffer that never limits, no metrics kept, no ECN; no `fq` (CUBIC"
            " and Reno are not paced, BBR paces"
            " itself). Frames of 1514 B in both: Ethernet's header is what `tbf` counts beside the packet."
            " fairwave has the preset `linux`, and"
            f" buffers {kernel_cases.FRAME} B smaller: `tbf` counts as waiting the frame that a simulator"
            " counts as being sent. 30 s, of which the"
            f" first 5 do not count; long cases: {_LONG}."
            " fairwave's `tcp/sack` with RACK stands beside `reno`, `tcp/bbr1` beside"
            " `bbr` (mainline's is version 1). A run"
            " in which the relay was once more than 10 ms late saw the machine stand still; it is thrown away"
            " and made again. A long case allows 1 ms at the 99th percentile instead."
        ),
    ),
}


def markdown(parts: Table, reasons: list[Explanation]) -> str:
    """The page."""
    return "\n".join(_lines(parts, reasons)) + "\n"


def _lines(parts: Table, reasons: list[Explanation]) -> Iterator[str]:
    yield "# Third and fourth opinions: ns-3, and the kernel itself"
    yield ""
    yield (
        "Generated by `make validate`; do not edit. Numbers: `docs/opinions.json`. The second opinion, ns-2, is in"
        " `docs/validation.md`."
    )
    yield ""
    wide = ", ".join(f"{name} {value:.0%}" for name, value in kernel_cases.MARGINS.items())
    yield (
        f"**Margin.** As beside ns-2: a measure agrees within {MARGIN:.0%} (of the kernel's, which is real"
        f" and noisy: {wide}), or if each mean"
        " lies inside the other's 95 % interval, or by resolution (rates 0.0002, times 0.3 ms, windows"
        " 0.5 segments, Jain's index 0.005);"
        " it is *undecided* where the difference's own 95 % interval contains 0. Margins were fixed before the first"
        " comparison; the resolutions of rates, times and windows, and the rule about a relay that was late, came after"
        " a first look at the kernel. Every other difference has a note that says why."
    )
    used: dict[str, Explanation] = {}
    for part, theirs in THEIRS.items():
        yield ""
        title, introduction = INTRODUCTION[part]
        yield title
        yield ""
        yield introduction
        if part not in parts:
            yield ""
            yield "Not measured yet."
            continue
        yield ""
        outcomes = stored({part: parts[part]})
        compared = [
            one for outcome in outcomes for one in outcome.comparisons if not math.isnan(one.theirs.mean)
        ]
        agree, undecided = sum(one.agrees for one in compared), sum(one.undecided for one in compared)
        missing = unexplained(outcomes, reasons)
        yield (
            f"**Result.** Measured with {parts[part]['about']}. Of {len(compared)} measures in"
            f" {len(outcomes)} cases {agree} agree, {undecided} are"
            f" undecided and {len(compared) - agree - undecided} differ, of which {len(missing)} without"
            " an explanation."
        )
        for case, measure in missing:
            yield f"- unexplained: `{measure}` in `{case}`"
        for outcome in outcomes:
            yield from _case(outcome, theirs, reasons, used)
    yield from sharing.lines(parts)
    if used:
        yield ""
        yield "## Why they differ"
        for one in used.values():
            yield ""
            yield f"### {one.id}"
            yield ""
            yield one.text


def _case(
    outcome: Outcome, theirs: str, reasons: list[Explanation], used: dict[str, Explanation]
) -> Iterator[str]:
    yield ""
    yield f"### {outcome.title}"
    yield ""
    yield f"`{outcome.key}`, {outcome.runs} runs each. {outcome.about}".rstrip()
    yield ""
    yield f"| measure | fairwave | {theirs} | difference | verdict |"
    yield "|---|---|---|---|---|"
    for one in outcome.comparisons:
        if one.agrees:
            verdict = {"margin": "✓", "intervals": "✓ intervals", "resolution": "✓ resolution"}[one.reason]
        elif not _differs(one):
            verdict = "≈ undecided" if one.undecided else "–"
        elif (reason := explanations.find(reasons, outcome.key, one.measure)) is not None:
            used.setdefault(reason.id, reason)
            verdict = f"✗ [{reason.id}](#{reason.id})"
        else:
            verdict = "✗ unexplained"
        yield f"| {row(one)} | {verdict} |"
