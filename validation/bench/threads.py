"""One run on one thread and on two: a dumbbell with many flows, and a network of 50 nodes.

A run is divided into islands that process their events in parallel (ARCHITECTURE.md, "Islands and windows"). The
results must be identical byte for byte. A model predicts the gain from more threads. Its inputs are the two times, and
the largest indivisible group's share of the work.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from validation.bench import machine, runner, scale
from validation.writing import table

TURNS = 5
#: Minimum gain from two threads, as a share of the gain that would be left if they divided the work of the islands
#: evenly: 2 / (time of one thread on the islands / time of one thread in the plain loop).
LEAST_SHARE = 0.85
#: Maximum time of one thread on the islands, relative to the plain loop.
MOST_ISLANDS = 1.4
CORES = (4, 16, 64)
#: The model's time for a round of all threads without work: seconds per doubling of threads.
ROUND = 2e-6
NODES, CHORDS, FLOWS = 50, 50, 1000


def measure(program: str) -> dict[str, Any]:
    """Measures wall times of the same runs on one and two threads, minus the set-up, and predicts more threads."""
    with tempfile.TemporaryDirectory(prefix="fairwave-bench-") as folder:
        rows = [_row(program, name, files) for name, files in _cases(Path(folder)).items()]
    return {"commit": machine.commit(), "turns": TURNS, "rows": rows}


def list_exceeded(part: dict[str, Any]) -> Iterator[str]:
    """Yields each limit that the measurement exceeds."""
    for row in part["rows"]:
        if not row["same"]:
            yield f"{row['case']}: the number of threads changes the result"
        if row["gain"] < LEAST_SHARE * find_possible_gain(row):
            yield f"{row['case']}: two threads gain {row['gain']} of {find_possible_gain(row):.2f} times"
        if row["cut_on_one_s"] > MOST_ISLANDS * row["one_s"]:
            yield f"{row['case']}: islands cost {row['cut_on_one_s'] / row['one_s']:.2f} times the plain loop"


def find_possible_gain(row: dict[str, Any]) -> float:
    """The gain of two threads that divide the work of the islands evenly and never wait."""
    return 2 * float(row["one_s"]) / float(row["cut_on_one_s"])


def describe(part: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of the report's section."""
    yield "## One run on several threads"
    yield ""
    yield (
        "If runs are fewer than threads, a run is cut into islands that process their events in parallel, window of"
        " time by window of time. Wall time without the set-up (in brackets the gain with it), the minimum of"
        f" {part['turns']} turns of each. The model takes each window for as long as its slowest thread: the even share"
        " of the work, or the largest group of links and ends that cannot be parted (its share of the work is an"
        " estimate). Any further time of two threads is the hand-over."
    )
    yield ""
    cores = list(part["rows"][0]["model"])
    head = (
        *("run", "1 thread, s", "2 threads, s", "gain", "1 thread on the islands, s", "possible gain"),
        *("peak MiB, 1 and 2 threads", "same bytes", "islands", "window", "largest group"),
        *(f"{count} threads, model" for count in cores),
    )
    rows = [
        (
            *(row["case"], f"{row['one_s']}", f"{row['two_s']}", f"{row['gain']} ({row['whole_gain']})"),
            *(
                f"{row['cut_on_one_s']}",
                f"{find_possible_gain(row):.2f}",
                "{} and {}".format(*row["peak_mib"]),
            ),
            *("yes" if row["same"] else "no", f"{row['islands']}"),
            "–" if row["window_s"] is None else f"{1000 * row['window_s']:g} ms",
            f"{row['largest']:.0%}",
            *(f"{row['model'][count]}×" for count in cores),
        )
        for row in part["rows"]
    ]
    yield from table(head, rows)
    yield ""
    yield (
        "Two threads cannot gain twice the time of the plain loop, because islands cost more work: packets between"
        " islands wait in an outbox and are sorted in again, and each island has a calendar. One thread on the islands"
        " shows that cost. *Possible gain* is the gain that remains if two threads divide this work evenly and never"
        f" wait. Limits: two threads reach at least {LEAST_SHARE:.0%} of it, islands cost at most {MOST_ISLANDS} times"
        " the plain loop, and the results have the same bytes. The dumbbell costs more than the network: each of its"
        " packets crosses between islands at the bottleneck, and all receivers stay with it, since their node is"
        " reached by one link and they are called with the packet's crossing. That group is the slowest thread's work,"
        " however many threads there are. A network of many routers gains until the hand-over costs as much as the"
        " work. The model assumes 2 µs a window for each doubling of threads. One thread runs the plain loop. On a busy"
        " machine, a thread that has lost its core keeps the others waiting. So a run on several threads compares the"
        " events per second on islands and in the plain loop, 30 ms each, and continues in the plain loop unless"
        f" islands are a tenth faster; later it tries islands again. Commit {part['commit']}."
    )


def _cases(folder: Path) -> dict[str, tuple[Path, Path, float]]:
    """Per case: its scenario, the same scenario with duration 0, and the duration, s."""
    cases: dict[str, tuple[Path, Path, float]] = {}
    for name, seconds, write in (
        ("a dumbbell of 10,000 flows", 5.0, _dumbbell),
        (f"a network of {NODES} nodes, {NODES + CHORDS} duplex links of 1 ms, {FLOWS} flows", 10.0, _network),
    ):
        place = folder / str(len(cases))
        cases[name] = (write(place / "long", seconds), write(place / "empty", 0.0), seconds)
    return cases


def _dumbbell(folder: Path, seconds: float) -> Path:
    folder.mkdir(parents=True)
    return runner.scenario(folder, **scale.values(10_000, seconds))


def _network(folder: Path, seconds: float) -> Path:
    """Writes a ring with chords, from a fixed seed. Bulk flows between any two nodes take the shortest route."""
    folder.mkdir(parents=True)
    drawn = random.Random(7)
    links = [(node, (node + 1) % NODES) for node in range(NODES)]
    while len(links) < NODES + CHORDS:
        one, other = drawn.sample(range(NODES), 2)
        if (one, other) not in links and (other, one) not in links:
            links.append((one, other))
    lines = ['name = "network"', 'preset = "ns2"', f'duration = "{seconds} s"']
    for one, other in links:
        lines += [
            "[[link]]",
            f'from = "n{one}"',
            f'to = "n{other}"',
            'duplex = true\nrate = "100 Mb/s"\ndelay = "1 ms"',
            'queue = { discipline = "drop-tail", capacity = { packets = 100 } }',
        ]
    for flow in range(FLOWS):
        one, other = drawn.sample(range(NODES), 2)
        lines += [
            "[[flow]]",
            f'name = "f{flow}"\nfrom = "n{one}"\nto = "n{other}"',
            'transport = { name = "tcp/reno", receiver-window = 64 }\ntraffic = "bulk"',
            f'start = "{flow * seconds / FLOWS / 10} s"',
        ]
    file = folder / "network.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


def _row(program: str, name: str, files: tuple[Path, Path, float]) -> dict[str, Any]:
    long, empty, seconds = files
    cut = json.loads(_said(program, long, "--threads", "2", "--cut"))
    islands = str(cut["islands"] if cut else 1)
    # One thread, two threads, and one thread with the islands of two.
    ways = (("--threads", "1"), ("--threads", "2"), ("--threads", "1", "--islands", islands))
    turns = [[_run(program, file, *way) for way in ways for file in (long, empty)] for _ in range(TURNS)]
    # Other load on the machine only adds time.
    least = [min(run["wall_s"] for run in runs) for runs in zip(*turns, strict=True)]
    one, two, cut_on_one = (least[place] - least[place + 1] for place in (0, 2, 4))
    peaks = [max(run["peak_kib"] for run in runs) / 1024 for runs in zip(*turns, strict=True)]
    prints = {hashlib.sha256(_said(program, long, *way, "--result")).digest() for way in ways}
    windows = seconds / cut["window_s"] if cut else 0.0
    return {
        "case": name,
        "one_s": round(one, 3),
        "two_s": round(two, 3),
        "cut_on_one_s": round(cut_on_one, 3),
        "gain": round(one / two, 2),
        "whole_gain": round(least[0] / least[2], 2),
        "peak_mib": [round(peaks[0]), round(peaks[2])],
        "same": len(prints) == 1,
        **(cut or {"islands": 1, "window_s": None, "largest": 1.0}),
        "model": {
            str(n): round(gain(one, two, cut["largest"] if cut else 1.0, windows, n), 1) for n in CORES
        },
    }


def gain(one: float, two: float, largest: float, windows: float, threads: int) -> float:
    """The model's gain of ``threads`` threads over one.

    A window lasts as long as its slowest thread: the even share of the work, or the largest indivisible group. Any
    further time of two threads is the cost of exchanging packets. This cost is divided among threads, but grows
    with the share of packets that cross islands (half of them with two threads, all with many). The fixed cost of a
    window grows with each doubling of threads.
    """
    handing = max(two - one * max(largest, 1 / 2) - windows * ROUND, 0.0) * 2
    crossing = 2 * (1 - 1 / threads)
    rounds = windows * ROUND * (threads - 1).bit_length()
    return one / (one * max(largest, 1 / threads) + handing * crossing / threads + rounds)


def _run(program: str, file: Path, *words: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(_said(program, file, *words))
    return said


def _said(program: str, file: Path, *words: str) -> bytes:
    return subprocess.run([program, str(file), *words], check=True, capture_output=True).stdout
