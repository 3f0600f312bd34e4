"""Accuracy of `fairwave fit` on known networks.

Run `python -m validation fitting`: 20 drawn networks with a call and downloads, captured at the call's receiver; the
statistics of 5 calls over WebRTC; 14 kinds of links that are never full, each with four sources; and the coverage of
the intervals over captures and statistics with cross traffic. It takes about half an hour and keeps the numbers. An
argument makes one part alone: `captures`, `statistics`, `controls` or `coverage`. Bounds were set before the first run:
the rate within 5 %, the buffer of a tail-drop queue within 20 %, the family of the queue right in four of five cases;
no rate for a link that is never full, and a lower limit below its true rate; 90 % of the intervals contain the truth.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import fairwave
from fairwave import fitting
from fairwave.capturing import capture
from fairwave.fitting.candidates import FAMILIES
from validation import kept
from validation.measured import idle_links

KEPT = "measured/fitting"
ABOUT = """`python -m validation fitting` draws networks, captures a call at its receiver, and fits. The
bounds were set before the first run: rate within 5 %, buffer of a tail-drop queue within 20 %, family of
the queue right in four of five cases; no rate for a link that is never full; 90 % of all intervals contain
the truth."""
CASES, CALLS, COVERED = 20, 5, 60
RATE, BUFFER, FAMILY, COVERAGE = 0.05, 0.2, 0.8, 0.9

NETWORK = """
name = "truth"
duration = "60 s"
preset = "linux"
[[link]]
from = "far"
to = "here"
rate = "{rate} Mb/s"
delay = "{delay} ms"
queue = {queue}
loss = {{ model = "bernoulli", rate = {loss} }}
reverse = {{ rate = "100 Mb/s", queue = "drop-tail", loss = "none" }}
"""
CALL = """
[[flow]]
name = "call"
from = "far"
to = "here"
transport = "udp"
traffic = "voice"
[[flow]]
name = "download"
from = "far"
to = "here"
start = "5 s"
count = {downloads}
transport = "tcp/cubic"
traffic = "bulk"
"""
SESSION = """
[[flow]]
name = "call"
from = "far"
to = "here"
transport = "webrtc"
traffic = "media"
[[flow]]
name = "upload"
from = "far"
to = "here"
start = "20 s"
transport = "tcp/cubic"
traffic = "bulk"
"""

SHARED = """
name = "truth"
duration = "40 s"
preset = "linux"
[[link]]
from = "far"
to = "door"
rate = "{rate} Mb/s"
delay = "{delay} ms"
queue = {queue}
reverse = {{ rate = "100 Mb/s", queue = "drop-tail" }}
[[link]]
from = "door"
to = "here"
rate = "1 Gb/s"
delay = "1 ms"
queue = "drop-tail"
[[link]]
from = "door"
to = "there"
rate = "1 Gb/s"
delay = "1 ms"
queue = "drop-tail"
"""
"""Traffic to `there` crosses the bottleneck, and no capture at `here` shows it."""

FLOW = """
[[flow]]
name = "{name}"
from = "far"
to = "{to}"
transport = "{transport}"
traffic = "{traffic}"
start = "{start} s"
"""


def truth(number: int) -> dict[str, Any]:
    """A drawn network: rates of 1 to 32 Mb/s, buffers of 60 to 500 ms, every fourth with 1 % of random losses."""
    draw = random.Random(number)  # no secret
    discipline = ("drop-tail", "codel", "pie", "fq-codel", "drop-tail")[number % 5]
    rate = round(10 ** draw.uniform(0, 1.5), 2)
    delay = draw.choice([5, 15, 30, 50])
    deep = draw.choice([60, 120, 250, 500])
    buffer = max(int(rate * 1e6 * deep / 8e3), 15_000)
    queue = (
        f'{{ discipline = "drop-tail", capacity = {{ bytes = {buffer} }} }}'
        if discipline == "drop-tail"
        else f'"{discipline}"'
    )
    return {
        "rate": rate, "delay": delay, "queue": queue, "discipline": discipline, "buffer": buffer,
        "downloads": draw.choice([1, 1, 2, 4]), "loss": draw.choice([0, 0, 0, 0.01]),
    }  # fmt: skip


def judged(known: dict[str, Any], found: fitting.Fit) -> dict[str, Any]:
    """The fitted network, and whether it is within the bounds."""
    ranges = found.rate.rates if found.rate else []
    rate = max(one.value for one in ranges) / 1e6 if ranges else None
    tail = known["discipline"] == "drop-tail"
    held = (found.buffer.value if found.buffer else found.least_buffer) if tail and found.rate else None
    return {
        "truth": {key: known[key] for key in ("rate", "delay", "discipline", "buffer", "downloads", "loss")},
        "rate": rate, "least": found.least_rate / 1e6,
        "low": ranges[0].low / 1e6 if ranges else None, "high": ranges[0].high / 1e6 if ranges else None,
        "rate_ok": found.least_rate <= 1e6 * known["rate"] if rate is None else abs(rate / known["rate"] - 1) <= RATE,
        "buffer": held, "buffer_ok": None if held is None else abs(held / known["buffer"] - 1) <= BUFFER,
        "queue": found.queue if found.rate else None,
        "family_ok": found.family == FAMILIES[known["discipline"]] if found.rate else None,
        "weight": next(iter(found.families.values()), 0.0), "distance": found.distance,
    }  # fmt: skip


def from_capture(number: int, folder: Path) -> dict[str, Any]:
    """Draws a network, captures at the receiver, and fits."""
    known = truth(number)
    file = folder / "truth.pcapng"
    capture(fairwave.load((NETWORK + CALL).format(**known)), {"host:here": file}, seed=number + 1)
    return judged(known, fitting.fit(file))


def from_statistics(number: int, folder: Path) -> dict[str, Any]:
    """The same with a call over WebRTC and the statistics of its browser."""
    from fairwave import getstats

    known = truth(number) | {"loss": 0, "downloads": 1}
    results = fairwave.load((NETWORK + SESSION).format(**known)).run(number + 1)
    file = folder / "stats.json"
    file.write_text(json.dumps(getstats.reports(results)[0].sender), encoding="utf-8")
    return judged(known, fitting.fit(file))


def control(kind: str, source: str, folder: Path) -> dict[str, Any]:
    """Fits a link that is never full: no rate is right, and a lower limit of at most the true rate."""
    seed = 1 + list(idle_links.KINDS).index(kind) + 100 * idle_links.SOURCES.index(source)
    found = fitting.fit(idle_links.write(folder / "idle.pcap", kind, source, seed))
    return {
        "kind": kind, "source": source, "claimed": found.rate is not None, "least": found.least_rate / 1e6,
        "ok": found.rate is None and 0 < found.least_rate <= idle_links.LINE,
    }  # fmt: skip


def covered(number: int, folder: Path) -> dict[str, Any]:
    """Fits a call with a download, a download, or a session over WebRTC; every second one with traffic of others.

    The traffic of others begins in the middle. A capture at the receiver does not show it.
    """
    from fairwave import getstats

    known = truth(number) | {"loss": 0}
    source = ("call and download", "download", "WebRTC")[number % 3]
    flows = {
        "call and download": [("call", "udp", "voice", 0), ("download", "tcp/cubic", "bulk", 5)],
        "download": [("download", "tcp/cubic", "bulk", 2)],
        "WebRTC": [("call", "webrtc", "media", 0)],
    }[source]
    if source == "WebRTC":
        # A session sends at most 2.5 Mb/s: without others, a faster link is never full.
        known["rate"] = round(min(known["rate"], 6.0) if number // 3 % 2 else min(known["rate"], 2.0), 2)
        known["queue"] = known["queue"].replace(
            str(known["buffer"]), str(max(int(known["rate"] * 25_000), 15_000))
        )
        known["buffer"] = max(int(known["rate"] * 25_000), 15_000)
    text = SHARED.format(**known)
    for name, transport, traffic, start in flows:
        text += FLOW.format(name=name, to="here", transport=transport, traffic=traffic, start=start)
    if has_others := bool(number // 3 % 2):
        text += FLOW.format(name="others", to="there", transport="tcp/cubic", traffic="bulk", start=20)
    made = fairwave.load(text)
    if source == "WebRTC":
        file = folder / "stats.json"
        file.write_text(json.dumps(getstats.reports(made.run(number + 1))[0].sender), encoding="utf-8")
    else:
        file = folder / "covered.pcapng"
        capture(made, {"host:here": file}, seed=number + 1)
    found = fitting.fit(file, seeds=2)
    ranges = found.rate.rates if found.rate else []
    return {
        "number": number, "source": source, "others": has_others,
        "truth": {key: known[key] for key in ("rate", "delay", "discipline", "buffer")},
        "claimed": found.rate is not None, "explained": found.is_explained,
        "rates": [[one.low / 1e6, one.value / 1e6, one.high / 1e6, one.edge] for one in ranges],
        "least": found.least_rate / 1e6,
        "contains": (
            all(contains(one, known["rate"] * 1e6) for one in ranges)
            if ranges else found.least_rate <= 1.02e6 * known["rate"]
        ),
    }  # fmt: skip


def contains(one: fitting.Interval, value: float) -> bool:
    """Whether an interval contains a value; ends at the edge of the tried values are open."""
    return (one.edge in {"low", "both"} or one.low <= value) and (
        one.edge in {"high", "both"} or value <= one.high
    )


def control_table(found: list[dict[str, Any]]) -> list[str]:
    """The controls as rows of Markdown: for each kind of link, the lower limit with each source."""
    lines = [
        "Each capture has a link of 20 Mb/s that is never full. Right is: no rate claimed, at least X.", "",
        "| link | " + " | ".join(idle_links.SOURCES) + " |",
        "|---|" + "---|" * len(idle_links.SOURCES),
    ]  # fmt: skip
    for kind in idle_links.KINDS:
        cells = [
            ("claimed" if one["claimed"] else f"at least {one['least']:.2g} Mb/s") + mark(one["ok"])
            for one in found
            if one["kind"] == kind
        ]
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    return [*lines, "", f"No rate claimed: {sum(one['ok'] for one in found)} of {len(found)}."]


def coverage_table(found: list[dict[str, Any]]) -> list[str]:
    """How many intervals of the rate contain the truth, by source."""
    lines = [
        "Others send from 20 s of 40 s on, over the same bottleneck to another host.",
        "A fit that claims no rate counts as right if its lower limit is.",
        "",
        "| source | others | fits | rate claimed | truth within |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for source in dict.fromkeys(one["source"] for one in found):
        for others in (False, True):
            chosen = [one for one in found if one["source"] == source and one["others"] == others]
            counts = [sum(one[key] for one in chosen) for key in ("claimed", "contains")]
            lines.append(
                f"| {source} | {'yes' if others else 'no'} | {len(chosen)} | {counts[0]} | {counts[1]} |"
            )
    right = sum(one["contains"] for one in found)
    return [*lines, "", f"Truth within the interval: {right} of {len(found)}."]


def table(found: list[dict[str, Any]]) -> list[str]:
    """The cases as rows of Markdown, and how many are within bounds."""
    lines = [
        "| truth: rate, delay, queue | downloads, losses | rate found | buffer found | queue found (family's weight) |",
        "|---|---|---|---|---|",
    ]
    for one in found:
        known = one["truth"]
        tail = known["discipline"] == "drop-tail"
        deep = f" {known['buffer'] / 1e3:.4g} kB" if tail else ""
        held = "–" if one["buffer"] is None else f"{one['buffer'] / 1e3:.4g} kB{mark(one['buffer_ok'])}"
        rate, queue = f"no rate, at least {one.get('least', 0):.3g} Mb/s{mark(one['rate_ok'])}", "–"
        if one["rate"] is not None:
            rate = f"{one['rate']:.4g} Mb/s{span(one)}{mark(one['rate_ok'])}"
            queue = f"{one['queue']} ({one['weight']:.0%}){mark(one['family_ok'])}"
        lines.append(
            f"| {known['rate']:g} Mb/s, {known['delay']} ms, {known['discipline']}{deep} "
            f"| {known['downloads']}, {known['loss']:.0%} | {rate} | {held} | {queue} |"
        )
    tails = [one for one in found if one["buffer"] is not None]
    claimed = [one for one in found if one["rate"] is not None]
    said = (
        f"Rate within {RATE:.0%}: {sum(one['rate_ok'] for one in claimed)} of {len(claimed)}. "
        f"Buffer within {BUFFER:.0%}: {sum(bool(one['buffer_ok']) for one in tails)} of {len(tails)}. "
        f"Family right: {sum(one['family_ok'] for one in claimed)} of {len(claimed)}."
    )
    lines += ["", said]
    return lines


def span(one: dict[str, Any]) -> str:
    """The range of rates that fit about as well, if there is one."""
    return (
        f" ({one['low']:.3g} to {one['high']:.3g})"
        if one.get("low") and one["high"] > 1.05 * one["low"]
        else ""
    )


def mark(fine: bool) -> str:
    """Names the results that are out of bounds."""
    return "" if fine else " **out**"


def main() -> int:
    """Fits all, or the parts that the arguments name, and keeps the numbers."""
    pairs = [(kind, source) for kind in idle_links.KINDS for source in idle_links.SOURCES]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = {
            "captures": lambda: [from_capture(number, folder) for number in range(CASES)],
            "statistics": lambda: [from_statistics(number, folder) for number in range(CALLS)],
            "controls": lambda: [control(*pair, folder) for pair in pairs],
            "coverage": lambda: [covered(number, folder) for number in range(COVERED)],
        }
        wanted = sys.argv[1:] or list(parts)
        if unknown := set(wanted) - set(parts):
            sys.exit(f"unknown part {', '.join(sorted(unknown))}: the parts are {', '.join(parts)}")
        found = dict(kept.read(KEPT)) if kept.exists(KEPT) else {}
        for part in wanted:
            found[part] = parts[part]()
            kept.write(KEPT, found)
    return 0


def render(_: Path) -> str:
    """Renders the page from the kept numbers."""
    found = kept.read(KEPT)
    lines = ["# Fits with a known truth", "", ABOUT, "", "## Captures", "", *table(found["captures"])]
    lines += ["", "## Statistics of a browser", "", *table(found["statistics"])]
    lines += ["", "## Links that are never full", "", *control_table(found["controls"])]
    if "coverage" in found:
        lines += ["", "## Coverage of the intervals", "", *coverage_table(found["coverage"])]
    return "\n".join([*lines, ""])
