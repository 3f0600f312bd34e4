"""SCReAM next to its authors' simulator: `python -m validation scream --authors FOLDER`.

`FOLDER` is a checkout of `EricssonResearch/scream`, which is not part of fairwave. Its program
`code/scream_simulator.cpp` defines its scenario by constants. A copy gets other constants and is compiled with `g++`.
Each case is one video stream over one link of steady rate, with a queue that marks between 8 and 12 ms (L4S), or a
deep queue that marks nothing. Both controllers read RFC 8888 feedback.

fairwave's SCReAM follows libwebrtc, the authors' program does not, so differences are expected; `docs/webrtc.md` lists
them. The margin was fixed before the first run: a mean rate within 20 %, a mean queueing delay within 5 ms.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from fairwave.measuring.statistics import interval
from fairwave.scenario import Scenario
from validation import kept, writing

KEPT = "compare/scream"

RATES = (1.0, 10.0, 50.0)
ROUND_TRIPS = (25, 100)
SECONDS, SETTLED = 40, 10
SEEDS = range(1, 6)
SOURCES = (
    "ScreamTx", "ScreamV2Tx", "ScreamV2TxStream", "ScreamRx", "RtpQueue", "NetQueue", "OooQueue", "VideoEnc",
    "scream_simulator",
)  # fmt: skip
PLACES = 1500
"""Packets that the authors' queue may hold: 100 ms at 50 Mb/s are 620."""
BURSTS = ("40 ms", "1 ms")
MEASURED = 78
"""Of 100 Mb/s, alone, round trip 25 ms, DualPI2 of Linux, microbursts of 0.5 ms: `test-record.md`, 2024-10-31."""
MARGIN = (0.2, 5.0)
"""Of the rate, as a share of the authors'; of the queueing delay, ms."""


def authors(folder: Path, rate: float, round_trip: int, *, l4s: bool) -> dict[str, float]:
    """Results of the authors' simulator for one network.

    Args:
        folder: Their checkout.
        rate: Of the link, Mb/s.
        round_trip: Without queue, ms.
        l4s: Whether packets are ECT(1) and the queue marks; otherwise neither.

    Raises:
        ValueError: A constant that is replaced is not there: another version.
        subprocess.CalledProcessError: It does not compile, or fails.
    """
    constants = {
        r"const float Tmax = \d+;": f"const float Tmax = {SECONDS};",
        r"const bool isChRate = true;": "const bool isChRate = false;",
        r"const bool printLog = false;": "const bool printLog = true;",
        r"const bool ecnCapable = true;": f"const bool ecnCapable = {str(l4s).lower()};",
        r"const float RTT = 0\.025f;": f"const float RTT = {round_trip / 1e3}f;",
        r"new NetQueue\(0\.0f, 10e6,": f"new NetQueue(0.0f, {rate}e6,",
        r"netQueueRate->rate = 10000e3;": f"netQueueRate->rate = {rate}e6;",
        r"registerNewStream\(rtpQueue\[0\], 10, 1\.0f, 0\.1e6f, 1e6f, 20e6f,": (
            f"registerNewStream(rtpQueue[0], 10, 1.0f, 0.1e6f, 1e6f, {2 * rate}e6f,"
        ),
        r"sleep\(0\);": ";",
        # As published it writes the packet's address to address 0 and ends there.
        r"void\*\* rtpPacket = 0;": "void* held = 0; void** rtpPacket = &held;",
    }
    with tempfile.TemporaryDirectory() as scratch:
        code = Path(scratch) / "code"
        shutil.copytree(folder / "code", code)
        shutil.copytree(folder / "traces", Path(scratch) / "traces")
        program = code / "scream_simulator.cpp"
        text = program.read_text(encoding="utf-8", errors="replace")
        for pattern, new in constants.items():
            text, count = re.subn(pattern, new, text)
            if not count:
                raise ValueError(f"{program.name} has no {pattern}: another version of the authors' program")
        program.write_text(text, encoding="utf-8")
        # It sums its queue over all places at each step. Fewer places are faster; no network here fills half of them.
        header = code / "NetQueue.h"
        places = re.sub(
            r"(NetQueueSize\D+)\d+", rf"\g<1>{PLACES}", header.read_text(encoding="utf-8"), count=1
        )
        header.write_text(places, encoding="utf-8")
        sources = [str(code / f"{name}.cpp") for name in SOURCES]
        subprocess.run(
            ["g++", "-O2", "-w", "-o", f"{scratch}/sim", *sources, "-lpthread"], check=True, cwd=scratch
        )
        done = subprocess.run([f"{scratch}/sim"], check=True, cwd=scratch, capture_output=True, text=True)
    rows = [_numbers(line) for line in done.stdout.splitlines()]
    rows = [row for row in rows if len(row) >= 13 and row[0] >= SETTLED]
    sent = fmean(row[5] for row in rows) / 1e3
    return {
        "rate": sent,
        "delay": 1e3 * fmean(row[1] for row in rows),
        "marked": 100 * fmean(row[12] for row in rows) / 1e3 / sent,
    }


def _numbers(line: str) -> list[float]:
    """Time, queueing delay, round trip, window, in flight, rate, 0; of the stream: waiting, rates, lost, marked."""
    try:
        return [float(part) for part in line.replace(",", " ").split()]
    except ValueError:
        return []


RAMP = {"discipline": "dualpi2", "step-thresh": "8 ms", "range": "4 ms", "min-qlen-step": 0}
"""Marks as the authors' queue does: from 8 ms on, all from 12 ms on."""


def ours(
    rate: float, round_trip: int, *, l4s: bool, law: Mapping[str, Any] = RAMP, burst: str = "40 ms"
) -> dict[str, Any]:
    """A network here: mean rate of IP packets, queueing delay and share of marks, with 95 % intervals.

    Args:
        rate: Of the link, Mb/s.
        round_trip: Without queue, ms.
        l4s: Whether packets are ECT(1) and the queue is `law`; otherwise it is a drop-tail queue of 10 s.
        law: The queue that marks.
        burst: Of the pacer, at most.
    """
    queue: dict[str, Any] = {"discipline": "drop-tail", "capacity": {"bytes": round(rate * 1e6 / 8 * 10)}}
    if l4s:
        queue |= law
    link = {
        "from": "a", "to": "b", "rate": f"{rate:g} Mb/s", "delay": f"{round_trip / 2:g} ms", "queue": queue,
        "reverse": {"rate": "1 Gb/s", "queue": "drop-tail"},
    }  # fmt: skip
    video = {"least": "100 kb/s", "most": f"{2 * rate:g} Mb/s", "frame-rate": 50}
    flow = {
        "name": "call", "from": "a", "to": "b",
        "transport": {
            "name": "webrtc", "control": {"name": "scream", "l4s": l4s}, "start": "1 Mb/s", "max-payload": "1000 B",
            "feedback": "rfc8888", "burst": burst,
        },
        "traffic": {"kind": "media", "audio": False, "video": video},
    }  # fmt: skip
    scenario = Scenario.from_dict(
        {
            "name": "scream", "duration": f"{SECONDS} s", "warmup": f"{SETTLED} s", "link": [link], "flow": [flow],
        }
    )  # fmt: skip
    found: dict[str, list[float]] = {"rate": [], "delay": [], "marked": []}
    for seed in SEEDS:
        row = next(one for one in scenario.run(seed).links.to_pylist() if one["link"] == "a>b")
        found["rate"].append(8e-6 * row["wire_departed"] / (SECONDS - SETTLED))
        found["delay"].append(1e3 * row["mean_wait_s"])
        found["marked"].append(100 * row["marked"] / row["arrivals"])
    return {key: interval(values) for key, values in found.items()}


def compared(folder: Path) -> list[dict[str, Any]]:
    """A row per network."""
    rows = []
    for l4s in (True, False):
        for round_trip in ROUND_TRIPS:
            for rate in RATES:
                theirs = authors(folder, rate, round_trip, l4s=l4s)
                here = ours(rate, round_trip, l4s=l4s)
                means = {key: one.mean for key, one in here.items()}
                alike = (
                    abs(means["rate"] / theirs["rate"] - 1) <= MARGIN[0]
                    and abs(means["delay"] - theirs["delay"]) <= MARGIN[1]
                )
                row = {
                    "l4s": l4s,
                    "round_trip_ms": round_trip,
                    "rate_mbps": rate,
                    "authors": theirs,
                    "alike": alike,
                }
                rows.append(row | {"here": {key: [one.mean, one.half_width] for key, one in here.items()}})
                print(json.dumps(rows[-1]), flush=True)
    return rows


def stepped() -> list[dict[str, Any]]:
    """The same stream before DualPI2 with its defaults, which marks from 1 ms on, with each of the bursts."""
    rows = []
    for rate in (1.0, 10.0, 100.0):
        found = [
            ours(rate, 25, l4s=True, law={"discipline": "dualpi2"}, burst=burst)["rate"] for burst in BURSTS
        ]
        rows.append({"rate_mbps": rate, "rates": [[one.mean, one.half_width] for one in found]})
    return rows


def section(rows: list[dict[str, Any]], version: str) -> str:
    """The table and its summary."""
    lines = [
        (
            f"One video stream, alone on a link; means from {SETTLED} to {SECONDS} s, of {len(SEEDS)} runs here with "
            f"95 % intervals. Authors: `code/scream_simulator.cpp` of `EricssonResearch/scream`, {version}. Rates "
            "count IP packets here and RTP packets there (2.8 % less)."
        ),
        "",
        "| marks | round trip | link | authors | here | authors' queue | queue here | verdict |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        theirs, (rate, half), (delay, spread) = row["authors"], row["here"]["rate"], row["here"]["delay"]
        lines.append(
            f"| {'8 to 12 ms' if row['l4s'] else 'none'} | {row['round_trip_ms']} ms | {row['rate_mbps']:g} Mb/s "
            f"| {theirs['rate']:.3g} Mb/s | {rate:.3g} ± {half:.2g} Mb/s | {theirs['delay']:.1f} ms "
            f"| {delay:.1f} ± {spread:.1f} ms | {'agrees' if row['alike'] else '**differs**'} |"
        )
    alike = sum(row["alike"] for row in rows)
    lines += [
        "",
        f"{alike} of {len(rows)} agree: rate within {MARGIN[0]:.0%}, queueing delay within {MARGIN[1]:g} ms.",
    ]
    return "\n".join(lines)


def stepped_in_words(rows: list[dict[str, Any]]) -> str:
    """What `stepped` found, as Markdown."""
    lines = [
        "",
        (
            "Before DualPI2 with its defaults, which marks from 1 ms on (round trip 25 ms). The authors measured "
            f"{MEASURED} of 100 Mb/s there, on Linux and with microbursts of 0.5 ms:"
        ),
        "",
        "| link | " + " | ".join(f"bursts of at most {burst}" for burst in BURSTS) + " |",
        "|---|" + "---|" * len(BURSTS),
    ]
    for row in rows:
        rates = " | ".join(f"{mean:.3g} ± {half:.2g} Mb/s" for mean, half in row["rates"])
        lines.append(f"| {row['rate_mbps']:g} Mb/s | {rates} |")
    return "\n".join(lines)


def main() -> int:
    """The command."""
    parser = writing.parser(__doc__)
    parser.add_argument(
        "--authors", type=Path, help="a checkout of EricssonResearch/scream; the page alone if left out"
    )
    parser.add_argument("--version", default="", help="which version it is, for the page")
    asked = parser.parse_args()
    if asked.authors:
        if shutil.which("g++") is None:
            print("No g++ is installed: left out.", file=sys.stderr)
            return 1
        found = {"version": asked.version, "rows": compared(asked.authors)}
    else:
        found = kept.read(KEPT)
    kept.write(KEPT, {**found, "stepped": stepped()})
    return 0


def render(_: Path) -> str:
    """Renders the page from the kept numbers."""
    found = kept.read(KEPT)
    parts = ["# SCReAM next to its authors' program", section(found["rows"], found["version"])]
    return "\n\n".join([*parts, stepped_in_words(found["stepped"])]) + "\n"
