"""``make live``: how true is the simulator? The same scenarios on real packets and in virtual time.

Each case runs in real time several times with different seeds, and in virtual time with the same seeds and more. If a
measure does not agree, more real-time runs replace the first. Measures and margins come from ``fairwave live
--beside`` (:mod:`fairwave.live.comparison`). The margins were fixed before the first run. A measure is *alike* if the
means are within its margin. Otherwise it is *undecided* if the 95 % interval of their difference (Welch) includes 0,
and else it *differs*. Then ``live.toml`` gives the reason; without one the run ends with status 1.

``--case PATTERN`` runs some cases and keeps nothing. ``--renew PATTERN`` runs some and keeps the numbers of all others.
``--simulate PATTERN`` keeps the live numbers of some cases and simulates them again: use it after a change of a law.
``--loads`` also measures the router's limits.

A real-time run is repeated if it breaks its promise (a rate error of 0.5 %, 1 ms of lateness at the 99th percentile).
If all repetitions break it, the least late run is used, and the page marks the case. Queues use nominal times, so
lateness only lengthens round trips.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import fairwave
from fairwave.live import Live, live, missing
from fairwave.live.comparison import (
    GOODPUT,
    KERNEL,
    LOSS,
    MOS,
    QUEUEING,
    SIMULATED,
    Margin,
    Quantity,
    quantities,
    simulated,
    widening,
)
from validation import explanations, kept, writing
from validation.explanations import Explanation
from validation.verdict import Estimate, undecided

KEPT = "compare/live"
REASONS = Path(__file__).with_name("live.toml")

#: Real-time runs of a case with a measure that is not alike at first. A difference that remains needs a reason.
MORE_RUNS = 8
#: How often a run that broke its promise is made again.
AGAIN = 2
#: Release lateness at the 99th percentile that every real-time run promises, seconds.
PROMISE_S = 1e-3
SIMULATED_RUNS = 20
#: A router has one thread, and the hosts' kernel work runs next to it.
AT_ONCE = 6

TRACE = "400 12000, 300 6000, 500 3000, 300 8000, 200 2000, 300 10000"
"""Milliseconds and kb/s of a cell's changing rate, again and again: 6.95 Mb/s in the mean."""

CODEL = {"discipline": "codel", "capacity": {"packets": 200}}
PATHS: dict[str, tuple[str, dict[str, Any]]] = {
    "drop-tail": ("drop-tail", {"queue": {"discipline": "drop-tail", "capacity": {"packets": 60}}}),
    "red": ("RED", {"queue": {"discipline": "red", "capacity": {"packets": 120}}}),
    "codel": ("CoDel", {"queue": CODEL}),
    "pie": ("PIE", {"queue": {"discipline": "pie", "capacity": {"packets": 200}}}),
    "drop-sel": (
        "Drop-Sel",
        {"queue": {"discipline": "drop-tail", "victim": "drop-sel", "capacity": {"packets": 60}}},
    ),
    "errors": (
        "drop-tail, 1 % random loss",
        {
            "queue": {"discipline": "drop-tail", "capacity": {"packets": 60}},
            "loss": {"model": "bernoulli", "rate": 0.01},
        },
    ),
    "trace": (
        "CoDel, rate trace",
        {"rate": {"law": "trace", "series": TRACE, "after": "repeat"}, "queue": CODEL},
    ),
}
"""Bottlenecks by name."""

CALL = {"transport": "udp", "traffic": {"kind": "voice", "codec": "g711", "always-on": True}}
VIDEO = {
    "kind": "video-trace",
    "phase": "zero",
    "repeat": True,
    "frames": [
        {"type": kind, "sizes": [1000 * kilobytes] * 5}
        for kind, kilobytes in zip("IPBBPBB", (17, 11, 6, 6, 11, 6, 6), strict=True)
    ],
}
"""Five layers alike, 25 frames a second: 9 Mb/s in all."""
SENDERS: dict[str, tuple[str, dict[str, Any]]] = {
    "host-reno": ("the kernel's Reno", {"transport": "host/reno", "traffic": "bulk"}),
    "host-cubic": ("the kernel's CUBIC", {"transport": "host/cubic", "traffic": "bulk"}),
    "host-bbr": ("the kernel's BBR", {"transport": "host/bbr", "traffic": "bulk"}),
    "tfrc": ("TFRC", {"transport": "tfrc", "traffic": "bulk"}),
    "dvrc": ("DVRC", {"transport": "dvrc", "traffic": VIDEO}),
    "gamma": ("Reno+γ", {"transport": {"name": "tcp/gamma", "preset": "linux"}, "traffic": "bulk"}),
}
"""Who sends, by name."""

#: Calls over a slower link. They need 1.1 times its rate.
CALLS, CALLS_RATE = 14, "1 Mb/s"
RATE, DELAY = "8 Mb/s", "20 ms"


@dataclass(frozen=True)
class Case:
    """Flows and their network: ``scenario`` in the form of `Scenario.from_dict`, ``runs`` times in real time."""

    key: str
    title: str
    scenario: dict[str, Any]
    runs: int
    quick: bool = False
    """A part of `make test`."""


def _flow(name: str, sender: dict[str, Any], **more: Any) -> dict[str, Any]:
    start = {"from": "0 s", "to": "500 ms"}
    return {"name": name, "from": "alice", "to": "bob", "start": start, **sender, **more}


def _scenario(key: str, path: str, flows: list[dict[str, Any]], seconds: int, rate: str) -> dict[str, Any]:
    link: dict[str, Any] = {"from": "alice", "to": "bob", "rate": rate, "delay": DELAY, **PATHS[path][1]}
    link["reverse"] = {"rate": rate, "queue": "drop-tail", "loss": "none"}
    return {
        "name": key.replace("/", "-"),
        "duration": f"{seconds} s",
        "warmup": f"{seconds // 5} s",
        "link": [link],
        "flow": flows,
    }


def cases() -> list[Case]:
    """All cases in the order of the page: alone, next to the kernel's TCP and two calls, fairwave's together."""
    quick = {"alone/calls/codel", "alone/host-cubic/drop-tail", "alone/gamma/red", "alone/tfrc/drop-sel"}
    found = []

    def add(key: str, title: str, path: str, flows: list[dict[str, Any]], runs: int, **more: Any) -> None:
        told = _scenario(key, path, flows, **more)
        found.append(Case(key, f"{title}: {PATHS[path][0]}", told, runs, key in quick))

    for path in PATHS:
        if path != "trace":
            calls = [_flow("calls", CALL, count=CALLS)]
            add(f"alone/calls/{path}", f"{CALLS} calls alone", path, calls, 2, seconds=15, rate=CALLS_RATE)
    for name, (title, sender) in SENDERS.items():
        for path in PATHS:
            flows = [_flow(name, sender)]
            add(f"alone/{name}/{path}", f"{title} alone", path, flows, 2, seconds=15, rate=RATE)
    for name, (title, sender) in SENDERS.items():
        other = "host-reno" if name == "host-cubic" else "host-cubic"
        beside, its = SENDERS[other]
        for path in PATHS:
            flows = [_flow(name, sender), _flow(other, its), _flow("calls", CALL, count=2)]
            told = f"{title} with {beside} and two calls"
            add(f"beside/{name}/{path}", told, path, flows, 3, seconds=30, rate=RATE)
    for path in PATHS:
        flows = [_flow(name, SENDERS[name][1]) for name in ("tfrc", "dvrc", "gamma")]
        flows.append(_flow("calls", CALL, count=2))
        add(f"ours/{path}", "TFRC, DVRC, Reno+γ and two calls", path, flows, 3, seconds=30, rate=RATE)
    return found


@dataclass(frozen=True)
class Difference:
    """A measure of a case in real and in virtual time, and the allowed difference of the means."""

    measure: str
    live: Estimate
    simulated: Estimate
    margin: Margin
    wider: float
    scale: float
    unit: str

    @property
    def verdict(self) -> str:
        """``alike``, ``undecided``, ``differs``, ``not defined`` where neither has it, ``nothing waits``."""
        if self.live.count == self.simulated.count == 0:
            return "not defined"
        if self.margin == QUEUEING and max(self.live.mean, self.simulated.mean) < QUEUEING.least:
            return "nothing waits"
        if not self.live.count or not self.simulated.count:
            return "differs"
        if self.margin.allows(self.live.mean, self.simulated.mean, self.wider):
            return "alike"
        return "undecided" if undecided(self.live, self.simulated) else "differs"


@dataclass(frozen=True)
class Outcome:
    """A case and its outcome. ``accuracy`` is the worst of its real-time runs; ``again`` counts repeated runs."""

    key: str
    title: str
    runs: int
    differences: list[Difference]
    accuracy: dict[str, float]
    again: int
    troubles: list[str] = field(default_factory=list)


def run_live(scenario: fairwave.Scenario, seed: int) -> tuple[Live, int]:
    """A real-time run that keeps its promise, otherwise the least late one, and the number of repetitions."""
    made = [live(scenario, seed)]
    while made[-1].broken is not None and len(made) <= AGAIN:
        made.append(live(scenario, seed))
    return min(made, key=lambda one: (one.broken is not None, _late(one))), len(made) - 1


def _late(made: Live) -> float:
    return float(made.report["lateness_p99_s"] or 0.0)


def carry_out(case: Case, pool: ThreadPoolExecutor, simulated_runs: int = SIMULATED_RUNS) -> Outcome:
    """Runs a case both ways."""
    return _put_together(case, [pool.submit(run_live, *one) for one in _wanted(case)], simulated_runs)


def simulated_anew(outcome: Outcome, simulated_runs: int = SIMULATED_RUNS) -> Outcome:
    """Simulates a case again and keeps its real-time numbers."""
    (case,) = (one for one in cases() if one.key == outcome.key)
    scenario = fairwave.Scenario.from_dict(case.scenario)
    virtual = simulated(scenario)
    runs = [quantities(scenario, virtual.run(seed)) for seed in range(1, simulated_runs + 1)]
    return replace(
        outcome,
        differences=[replace(one, simulated=_estimate(runs, one.measure)) for one in outcome.differences],
    )


def _estimate(runs: Sequence[dict[str, Quantity]], what: str) -> Estimate:
    values = [run[what].value for run in runs]
    return Estimate.from_values([math.nan if value is None else float(value) for value in values])


def _wanted(case: Case) -> list[tuple[fairwave.Scenario, int]]:
    scenario = fairwave.Scenario.from_dict(case.scenario)
    return [(scenario, seed) for seed in range(1, case.runs + 1)]


def _put_together(case: Case, futures: Sequence[Any], simulated_runs: int) -> Outcome:
    scenario = fairwave.Scenario.from_dict(case.scenario)
    virtual = simulated(scenario)
    theirs = [quantities(scenario, virtual.run(seed)) for seed in range(1, simulated_runs + 1)]
    made = [future.result() for future in futures]
    ours = []
    for one, _ in made:
        if one.results is None or not one.report["books_closed"]:
            raise RuntimeError(f"{case.key}: the books are not closed: {one.report['books']}")
        ours.append(quantities(scenario, one.results))
    wider = widening(scenario)
    differences = []
    for what, quantity in theirs[0].items():
        real, modelled = _estimate(ours, what), _estimate(theirs, what)
        differences.append(
            Difference(what, real, modelled, quantity.margin, wider, quantity.scale, quantity.unit)
        )
    reports = [one.report for one, _ in made]
    accuracy = {
        key: max(float(report[key] or 0.0) for report in reports)
        for key in ("rate_error", "lateness_p50_s", "lateness_p99_s", "lateness_worst_s", "cpu")
    }
    troubles = sorted({trouble for one, _ in made for trouble in one.troubles})
    again = sum(count for _, count in made)
    return Outcome(case.key, case.title, case.runs, differences, accuracy, again, troubles)


# ---- The router's limits


#: The load that is carried while the cases run.
LONG = "long"


def loads() -> dict[str, tuple[str, dict[str, Any]]]:
    """The loads of the router: a title and a scenario each."""

    def scenario(seconds: int, rate: str, flows: list[dict[str, Any]]) -> dict[str, Any]:
        link = {"from": "alice", "to": "bob", "rate": rate, "delay": "10 ms", "queue": CODEL}
        return {"name": "load", "duration": f"{seconds} s", "link": [link], "flow": flows}

    def constant(rate: str, payload: str) -> dict[str, Any]:
        return {
            "transport": "udp",
            "traffic": {"kind": "cbr", "rate": rate, "payload": payload, "phase": "zero"},
        }

    mixed = [
        _flow("host-cubic", SENDERS["host-cubic"][1]),
        _flow("tfrc", SENDERS["tfrc"][1]),
        _flow("calls", CALL, count=4),
    ]
    return {
        "rate": (
            "100 Mb/s of packets of 1200 B, and a little more",
            scenario(20, "100 Mb/s", [_flow("load", constant("98 Mb/s", "1160 B"))]),
        ),
        "packets": (
            "20 000 packets of 200 B a second",
            scenario(20, "100 Mb/s", [_flow("load", constant("800 kb/s", "160 B"), count=32)]),
        ),
        "idle": ("one call", scenario(20, "10 Mb/s", [_flow("call", CALL)])),
        LONG: ("ten minutes of CUBIC, TFRC and four calls", scenario(600, "10 Mb/s", mixed)),
    }


def measure_load(key: str) -> dict[str, Any]:
    """Carries a load once."""
    title, told = loads()[key]
    begin = time.monotonic()
    made = live(fairwave.Scenario.from_dict(told))
    took = time.monotonic() - begin
    report = made.report
    keys = (
        *("lasted_s", "rate_error", "rate_error_worst", "lateness_p50_s", "lateness_p99_s"),
        *("lateness_worst_s", "deadlines_missed", "cpu", "books_closed", "broken"),
    )
    found = {
        "title": title,
        "released": report["books"]["released"],
        "beside_s": took - report["lasted_s"],
        **{one: report[one] for one in keys},
    }
    print(f"{title}: {found}", flush=True)
    return found


# ---- The page


def machine() -> str:
    """Describes the machine."""
    processors = len(os.sched_getaffinity(0))
    return f"Linux {platform.release().partition('-')[0]} ({platform.machine()}), {processors} processors"


def data(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Every number of the page, by case."""
    return {
        one.key: {
            "title": one.title,
            "runs": one.runs,
            "again": one.again,
            "accuracy": one.accuracy,
            "troubles": one.troubles,
            "measures": {
                each.measure: {
                    "live": each.live.to_plain(),
                    "simulated": each.simulated.to_plain(),
                    "margin": [each.margin.part, each.margin.least, each.wider],
                    "scale": each.scale,
                    "unit": each.unit,
                    "verdict": each.verdict,
                }
                for each in one.differences
            },
        }
        for one in outcomes
    }


def stored(numbers: dict[str, Any]) -> list[Outcome]:
    """The outcomes in the numbers of :func:`data`, in the order of the cases. Unknown cases are left out."""
    return [
        Outcome(
            case.key,
            case.title,
            numbers[case.key]["runs"],
            [
                Difference(
                    what,
                    Estimate.from_plain(one["live"]),
                    Estimate.from_plain(one["simulated"]),
                    Margin(*one["margin"][:2]),
                    one["margin"][2],
                    one["scale"],
                    one["unit"],
                )
                for what, one in numbers[case.key]["measures"].items()
            ],
            numbers[case.key]["accuracy"],
            numbers[case.key]["again"],
            numbers[case.key]["troubles"],
        )
        for case in cases()
        if case.key in numbers
    ]


def unexplained(outcomes: Sequence[Outcome], reasons: list[Explanation]) -> list[tuple[str, str]]:
    """Case and measure of each unexplained difference."""
    return [
        (outcome.key, one.measure)
        for outcome in outcomes
        for one in outcome.differences
        if one.verdict == "differs" and explanations.find(reasons, outcome.key, one.measure) is None
    ]


#: The beginning of a reason that lists unsuccessful attempts.
NOT_EXPLAINED = "**Not explained.**"

DOUBTS = ("undecided", "differs")
MARKS = {"alike": "✓", "undecided": "?", "differs": "✗"}
"""The verdicts that are counted, and how each is shown."""


def markdown(found: dict[str, Any], reasons: list[Explanation]) -> str:
    """The page."""
    return "\n".join(_lines(found, reasons)) + "\n"


def _lines(found: dict[str, Any], reasons: list[Explanation]) -> Iterator[str]:
    outcomes = stored(found["cases"])
    verdicts = Counter(one.verdict for outcome in outcomes for one in outcome.differences)
    judged = verdicts["alike"] + verdicts["undecided"] + verdicts["differs"]
    without_reason = sum(
        reason is None or reason.text.startswith(NOT_EXPLAINED)
        for outcome in outcomes
        for one in outcome.differences
        if one.verdict == "differs"
        for reason in [explanations.find(reasons, outcome.key, one.measure)]
    )
    yield "# How true is the simulator?"
    yield ""
    yield (
        f"**Of {judged} measures in {len(outcomes)} cases, {verdicts['alike']} agree, {verdicts['undecided']} are"
        f" undecided and {verdicts['differs']} differ, of which {without_reason} without an explanation.**"
        " Each case is one scenario. It runs live, as real packets in [real time](real-time.md), and in virtual time,"
        " with the same queues, losses, rates and seeds. Only the hosts differ: their kernel, their clocks, and, for"
        " flows of the kernel, their TCP."
    )
    yield ""
    yield f"Measured on {found['machine']}. `make live` measured the numbers of this page."
    yield ""
    yield "## Verdicts"
    yield ""
    yield (
        "Each cell counts the measures of one case: goodput, packet loss and MOS of each flow, and mean queueing."
        " ✓ agrees: the means differ by at most the margin. ? undecided: they differ by more, but the 95 % interval of"
        " the difference (Welch) includes 0. ✗ differs. – not run."
    )
    yield ""
    yield from _matrix(outcomes)
    yield ""
    yield from _differences(outcomes, reasons)
    yield from _reasons(outcomes, reasons)
    yield (
        "Links that share a [medium](links.md#shared-media) run live as well: the router transmits, collides and"
        " schedules at nominal times. The cases of this page have none. `tests/test_live.py` compares a call next to"
        " a saturated channel of Wi-Fi, of Wi-Fi with airtime fairness, and of a cell with their simulation: goodput"
        " within 5 %, mean delay within 10 % or 2 ms, airtime within 2 points."
    )
    yield ""
    yield "## Method"
    yield ""
    yield from writing.folded("Network, margins and stand-ins", _method())
    yield from writing.folded("Accuracy of the live runs", _accuracy(outcomes))
    if found.get("loads"):
        yield from writing.folded("Load that the router can carry", _loads(found["loads"]))
    yield "## All numbers"
    yield ""
    yield (
        f"Means with 95 % intervals, over the live runs and over {SIMULATED_RUNS} simulated runs. *Late*: the 99th"
        f" percentile of release lateness is above {PROMISE_S * 1e3:g} ms."
    )
    yield ""
    for (family, sender), group in _groups(outcomes).items():
        lines = [line for outcome in group.values() for line in _case(outcome, reasons)]
        head = ["| case | measure | live | simulated | difference | verdict |", "|---|---|---|---|---|---|"]
        yield from writing.folded(_title(group), [*head, *lines], f"{family}-{sender}")


Group = dict[str, Outcome]


def _groups(outcomes: Sequence[Outcome]) -> dict[tuple[str, str], Group]:
    """The outcomes by family and sender, then by path."""
    found: dict[tuple[str, str], Group] = {}
    for outcome in outcomes:
        family, *sender, path = outcome.key.split("/")
        found.setdefault((family, "".join(sender) or "all"), {})[path] = outcome
    return found


def _title(group: Group) -> str:
    title = next(iter(group.values())).title.rpartition(": ")[0]
    return title[0].upper() + title[1:]


def _matrix(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield "| flows | " + " | ".join(title for title, _ in PATHS.values()) + " |"
    yield "|---" * (len(PATHS) + 1) + "|"
    for (family, sender), group in _groups(outcomes).items():
        cells = [
            writing.counted(WORDS[one.verdict] for one in group[path].differences if one.verdict in WORDS)
            if path in group
            else "–"
            for path in PATHS
        ]
        yield f'| <a href="#{family}-{sender}">{_title(group)}</a> | ' + " | ".join(cells) + " |"


WORDS = {"alike": "agrees", "undecided": "undecided", "differs": "differs"}
"""The verdicts of this page in the words of all pages."""


def _method() -> Iterator[str]:
    yield (
        f"**Network.** One bottleneck of {RATE} ({CALLS_RATE} for calls alone), {DELAY} each way, between two hosts."
        " Runs of one sender last 15 s and have a warm-up of 3 s. All others last 30 s and have a warm-up of 6 s. Calls"
        " alone do not run over the trace, because its rate is always above their load."
    )
    yield ""
    yield (
        f"**Margins**, fixed before the first run: goodput {GOODPUT.part:.0%}; packet loss {LOSS.least * 100:.0f}"
        f" percentage point or {LOSS.part:.0%}; mean queueing {QUEUEING.part:.0%} or {QUEUEING.least * 1e3:.0f} ms;"
        f" MOS {MOS.least}. Cases with the kernel's TCP have {KERNEL:.0f} times these margins. A case that does not"
        f" agree after its first live runs gets {MORE_RUNS} new ones."
    )
    yield ""
    stand_ins = ", ".join(f"`{ours['name']}` for `{theirs}`" for theirs, ours in SIMULATED.items())
    yield (
        f"**Stand-ins in virtual time**, with the preset `linux`: {stand_ins}. Three settings were changed after the"
        " first runs, and then every case ran again. `tcp/bbr1` uses the quanta of the draft. `tcp/cubic` runs with"
        " `alpha-one = false`, because the kernel gains no whole segment beyond the old window. Calls and video send"
        " without random variation, so that few runs are enough."
    )


def _accuracy(outcomes: Sequence[Outcome]) -> Iterator[str]:
    runs = sum(outcome.runs for outcome in outcomes)
    again = sum(outcome.again for outcome in outcomes)
    late = sum(_is_late(outcome) for outcome in outcomes)

    def most(key: str) -> float:
        return max(outcome.accuracy[key] for outcome in outcomes)

    def middle(key: str) -> float:
        values = sorted(outcome.accuracy[key] for outcome in outcomes)
        return values[len(values) // 2]

    yield (
        f"{runs} runs, {AT_ONCE} at a time. {again} runs broke the promise of accuracy and were repeated. {late} cases"
        " keep a run that broke it, because every repetition did (other programs used the machine). They are marked"
        " *late* below. The table takes the worst run of each case."
    )
    yield ""
    yield "| | median case | worst case |"
    yield "|---|---|---|"
    for key, name, scale, unit in (
        ("rate_error", "rate error, mean over seconds", 100.0, "%"),
        ("lateness_p50_s", "release lateness, median", 1e6, "µs"),
        ("lateness_p99_s", "release lateness, 99th percentile", 1e6, "µs"),
        ("lateness_worst_s", "release lateness, worst packet", 1e3, "ms"),
        ("cpu", "router, share of a processor", 100.0, "%"),
    ):
        yield f"| {name} | {_digits(middle(key) * scale)} {unit} | {_digits(most(key) * scale)} {unit} |"


def _digits(value: float) -> str:
    """Three digits without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _loads(found: dict[str, Any]) -> Iterator[str]:
    yield (
        "One run at a time, except the run of ten minutes, which ran next to the cases. The promise is a rate error of"
        " at most 0.5 % and a 99th percentile of release lateness of at most 1 ms."
    )
    yield ""
    yield "| load | packets | rate error | lateness p50 / p99 / worst | processor | start and end | books | promise |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in found.values():
        late = " / ".join(f"{one[f'lateness_{which}_s'] * 1e6:.0f}" for which in ("p50", "p99", "worst"))
        error = "no busy second" if one["rate_error"] is None else f"{one['rate_error'] * 100:.3f} %"
        yield (
            f"| {one['title']} | {one['released']} | {error} | {late} µs | {one['cpu']:.1%} | {one['beside_s']:.2f} s |"
            f" {'closed' if one['books_closed'] else 'open'} | {'kept' if one['broken'] is None else one['broken']} |"
        )


def _is_late(outcome: Outcome) -> bool:
    return outcome.accuracy["lateness_p99_s"] > PROMISE_S


def _case(outcome: Outcome, reasons: list[Explanation]) -> Iterator[str]:
    late = outcome.accuracy["lateness_p99_s"] * 1e3
    about = f"`{outcome.key}`, {outcome.runs} live runs" + (
        f", *late*: {late:.1f} ms" if _is_late(outcome) else ""
    )
    if outcome.troubles:
        about += "; messages: " + "; ".join(outcome.troubles)
    for one in outcome.differences:
        if one.verdict in MARKS:
            yield f"| {about} | {_row(one)} | {_verdict(outcome, one, reasons)} |"
            about = ""


def _row(one: Difference) -> str:
    gap = one.live.mean - one.simulated.mean
    part = f"{gap / one.simulated.mean:+.1%}" if one.simulated.mean else ""
    return f"{one.measure} | {_shown(one.live, one)} | {_shown(one.simulated, one)} | {part}"


def _verdict(outcome: Outcome, one: Difference, reasons: list[Explanation]) -> str:
    mark = MARKS[one.verdict]
    reason = explanations.find(reasons, outcome.key, one.measure) if one.verdict in DOUBTS else None
    if reason:
        return f"{mark} [{reason.id}](#{reason.id})"
    return f"{mark} not explained" if one.verdict == "differs" else mark


def _shown(one: Estimate, of: Difference) -> str:
    if one.count == 0:
        return "not defined"
    half = f" ± {one.half * of.scale:.2g}" if math.isfinite(one.half) else ""
    return f"{one.mean * of.scale:.4g}{half} {of.unit}".rstrip()


def _differences(outcomes: Sequence[Outcome], reasons: list[Explanation]) -> Iterator[str]:
    found = {
        verdict: [
            f"| `{outcome.key}` | {_row(one)} | {_verdict(outcome, one, reasons)} |"
            for outcome in outcomes
            for one in outcome.differences
            if one.verdict == verdict
        ]
        for verdict in DOUBTS
    }
    head = ["| case | measure | live | simulated | difference | verdict |", "|---|---|---|---|---|---|"]
    if any(found.values()):
        yield "## Differences"
        yield ""
    if found["differs"]:
        yield from head
        yield from found["differs"]
        yield ""
    if found["undecided"]:
        title = f"Undecided: {len(found['undecided'])}"
        yield from writing.folded(title, [*head, *found["undecided"]], "undecided")


def _reasons(outcomes: Sequence[Outcome], reasons: list[Explanation]) -> Iterator[str]:
    needed = [
        found.id
        for outcome in outcomes
        for one in outcome.differences
        if one.verdict in DOUBTS and (found := explanations.find(reasons, outcome.key, one.measure))
    ]
    if not needed:
        return
    yield "## Reasons"
    yield ""
    for reason in reasons:
        if reason.id in needed:
            yield f"### {reason.id}"
            yield ""
            yield reason.text
            yield ""


def main() -> int:
    """Runs the cases and writes the page; the exit status."""
    parser = writing.parser(__doc__)
    parser.add_argument(
        "--case", action="append", default=[], help="only cases that match; nothing is written"
    )
    parser.add_argument("--renew", action="append", default=[], help="run these, write with all that is kept")
    parser.add_argument(
        "--simulate",
        action="append",
        default=[],
        help="simulate these anew, beside the live runs that are kept",
    )
    parser.add_argument("--loads", action="store_true", help="measure what the router can carry as well")
    parser.add_argument("--runs", type=int, help="live runs of each case, instead of the case's own number")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help=f"live runs at once (default {AT_ONCE})")
    options = parser.parse_args()
    if options.simulate:
        return _simulate(options.simulate)
    if why := missing():
        print(f"no live run is possible here, so nothing is compared: {why}")
        return 0
    return _renew(options)


def _renew(options: argparse.Namespace) -> int:
    """Runs the chosen parts and returns the exit status."""
    patterns = options.case + options.renew
    chosen = [one for one in cases() if not patterns or any(fnmatchcase(one.key, each) for each in patterns)]
    if options.runs:
        chosen = [replace(case, runs=options.runs) for case in chosen]
    reasons = explanations.read(REASONS)
    numbers: dict[str, Any] = kept.read(KEPT) if kept.exists(KEPT) else {"cases": {}}
    outcomes: list[Outcome] = []
    failed = 0

    def carry_out_all(chosen: Sequence[Case], pool: ThreadPoolExecutor) -> Iterator[Outcome]:
        nonlocal failed, numbers
        asked = [(case, [pool.submit(run_live, *one) for one in _wanted(case)]) for case in chosen]
        for number, (case, futures) in enumerate(asked):
            try:
                outcome = _put_together(case, futures, SIMULATED_RUNS)
            except fairwave.RunError as error:
                failed += 1
                print(f"{case.key}: {error}", file=sys.stderr, flush=True)
                continue
            _tell(outcome, f"{number + 1} of {len(asked)}", everything=bool(options.case))
            if not options.case:
                # At once: half an hour of runs is not to be lost with the last of them.
                cases = numbers["cases"] | data([outcome])
                numbers = numbers | {"machine": machine(), "cases": cases}
                _keep(numbers)
            yield outcome

    loaded = options.loads and not options.case
    with ThreadPoolExecutor(options.at_once + loaded) as pool:
        # The run of ten minutes goes on next to everything else.
        long = pool.submit(measure_load, LONG) if loaded else None
        outcomes = list(carry_out_all(chosen, pool))
        doubtful = {one.key for one in outcomes if any(each.verdict in DOUBTS for each in one.differences)}
        more = [
            replace(case, runs=MORE_RUNS) for case in chosen if case.key in doubtful and case.runs < MORE_RUNS
        ]
        again = {one.key: one for one in carry_out_all(more, pool)}
        outcomes = [again.get(one.key, one) for one in outcomes]
    if long is not None:
        numbers["loads"] = {key: long.result() if key == LONG else measure_load(key) for key in loads()}
    if not options.case:
        outcomes = stored(numbers["cases"])
        _keep(numbers)
    nobody = unexplained(outcomes, reasons)
    print(f"{len(nobody)} differences without an explanation")
    return int(bool(nobody or failed))


def _simulate(patterns: Sequence[str]) -> int:
    """Simulates the cases that match again; the exit status."""
    numbers, reasons = kept.read(KEPT), explanations.read(REASONS)
    outcomes = stored(numbers["cases"])
    for number, one in enumerate(outcomes):
        if any(fnmatchcase(one.key, pattern) for pattern in patterns):
            outcomes[number] = simulated_anew(one)
            _tell(outcomes[number], f"{number + 1} of {len(outcomes)}", everything=False)
    _keep(numbers | {"cases": data(outcomes)})
    nobody = unexplained(outcomes, reasons)
    print(f"{len(nobody)} differences without an explanation")
    return int(bool(nobody))


def _keep(numbers: dict[str, Any]) -> None:
    """Keeps the numbers of the known cases, in their order."""
    kept.write(KEPT, numbers | {"cases": data(stored(numbers["cases"]))})


def render(_: Path) -> str:
    """Renders the page from the kept numbers."""
    return markdown(kept.read(KEPT), explanations.read(REASONS))


def _tell(outcome: Outcome, place: str, *, everything: bool) -> None:
    told = [one for one in outcome.differences if one.verdict in MARKS]
    alike = sum(one.verdict == "alike" for one in told)
    late = outcome.accuracy["lateness_p99_s"] * 1e6
    print(f"{outcome.key} ({place}): {alike} of {len(told)} alike, p99 {late:.0f} µs", flush=True)
    for one in told:
        if everything or one.verdict != "alike":
            print(
                f"    {one.measure:28} live {_shown(one.live, one)}  simulated {_shown(one.simulated, one)}"
                f"  {one.verdict}",
                flush=True,
            )
