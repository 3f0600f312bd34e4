"""Accuracy of `fairwave fit` on known networks.

Run `python -m validation fitting`: 20 drawn networks with a call and downloads, captured at the call's receiver, and
the statistics of 5 calls over WebRTC. It takes about five minutes and keeps the numbers. With the argument
`statistics` it makes the calls alone. Bounds were set before the first run: the rate within 5 %, the buffer of a
tail-drop queue within 20 %, the family of the queue right in four of five cases.
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

KEPT = "measured/fitting"
ABOUT = """`python -m validation fitting` draws networks, captures a call at its receiver, and fits. The
bounds were set before the first run: rate within 5 %, buffer of a tail-drop queue within 20 %, family of
the queue right in four of five cases."""
CASES, CALLS = 20, 5
RATE, BUFFER, FAMILY = 0.05, 0.2, 0.8

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
    rate = max(one.value for one in found.rate.rates) / 1e6
    tail = known["discipline"] == "drop-tail"
    held = (found.buffer.value if found.buffer else found.least_buffer) if tail else None
    return {
        "truth": {key: known[key] for key in ("rate", "delay", "discipline", "buffer", "downloads", "loss")},
        "rate": rate, "low": found.rate.rates[0].low / 1e6, "high": found.rate.rates[0].high / 1e6,
        "rate_ok": abs(rate / known["rate"] - 1) <= RATE,
        "buffer": held, "buffer_ok": None if held is None else abs(held / known["buffer"] - 1) <= BUFFER,
        "queue": found.queue, "family_ok": found.family == FAMILIES[known["discipline"]],
        "weight": next(iter(found.families.values())), "distance": found.distance,
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
        lines.append(
            f"| {known['rate']:g} Mb/s, {known['delay']} ms, {known['discipline']}{deep} "
            f"| {known['downloads']}, {known['loss']:.0%} | {one['rate']:.4g} Mb/s{span(one)}{mark(one['rate_ok'])} "
            f"| {held} | {one['queue']} ({one['weight']:.0%}){mark(one['family_ok'])} |"
        )
    tails = [one for one in found if one["buffer"] is not None]
    said = (
        f"Rate within {RATE:.0%}: {sum(one['rate_ok'] for one in found)} of {len(found)}. "
        f"Buffer within {BUFFER:.0%}: {sum(bool(one['buffer_ok']) for one in tails)} of {len(tails)}. "
        f"Family right: {sum(one['family_ok'] for one in found)} of {len(found)}."
    )
    lines += ["", said]
    return lines


def span(one: dict[str, Any]) -> str:
    """The range of rates that fit about as well, if there is one."""
    return (
        f" ({one['low']:.3g} to {one['high']:.3g})"
        if "low" in one and one["high"] > 1.05 * one["low"]
        else ""
    )


def mark(fine: bool) -> str:
    """Names the results that are out of bounds."""
    return "" if fine else " **out**"


def main() -> int:
    """Fits all and keeps the numbers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = kept.read(KEPT) if sys.argv[1:] == ["statistics"] else None
        captures = before["captures"] if before else [from_capture(number, folder) for number in range(CASES)]
        statistics = [from_statistics(number, folder) for number in range(CALLS)]
    kept.write(KEPT, {"captures": captures, "statistics": statistics})
    return 0


def render(_: Path) -> str:
    """Renders the page from the kept numbers."""
    found = kept.read(KEPT)
    lines = ["# Fits with a known truth", "", ABOUT, "", "## Captures", "", *table(found["captures"])]
    return "\n".join([*lines, "", "## Statistics of a browser", "", *table(found["statistics"]), ""])
