"""Many flows in fairwave, htsim and ns-2: CPU time per packet-hop at the same numbers of flows.

All of them simulate one second of N Reno flows, starts spread over the second, 1 Mb/s and 2.5 packets of buffer of the
bottleneck per flow. In fairwave each flow has its own pair of hosts. In htsim and ns-2 100 pairs of hosts share all
flows, because a pair per flow would take several times as much memory and, in ns-2, hours of set-up. Therefore the
others have fewer queues and nodes to look up. The set-up is not counted.

ns-2 runs if it is installed (Debian's package `ns2`). htsim has no package: `FAIRWAVE_HTSIM` names a checkout of
`Broadcom/csg-htsim`, which is compiled here with `many_flows.cc`.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from validation.bench import machine, runner, scale
from validation.compare.ns2 import simulator as ns2
from validation.writing import table

HTSIM = "FAIRWAVE_HTSIM"
ABSENT = f"htsim was not compared: {HTSIM} names no checkout of Broadcom/csg-htsim"
SIZES = (100_000, 1_000_000)
SECONDS = 1
#: The largest number of flows for ns-2. Its set-up takes 2 ms per flow.
LARGEST_NS2 = 100_000
#: Other simulators, by the beginning of their keys.
OTHERS = {"htsim": "htsim", "ns2": "ns-2"}
#: Minimum of the others' time per packet-hop, relative to fairwave's at the same size.
LEAST_TIMES = 3.0

SCRIPT = Path(__file__).with_name("many_flows.tcl")
SOURCE = Path(__file__).with_name("many_flows.cc")
#: The files of htsim that the program needs.
MODULES = (
    "config", "eth_pause_packet", "eventlist", "fairpullqueue", "logfile", "loggers", "mtcp", "ndppacket", "network",
    "pipe", "queue", "route", "sent_packets", "tcp", "tcppacket", "trigger",
)  # fmt: skip


def measure(program: str, sizes: tuple[int, ...] = SIZES) -> dict[str, Any]:
    """Measures each size in turn."""
    checkout = os.environ.get(HTSIM)
    with TemporaryDirectory() as folder:
        htsim = build_htsim(Path(checkout), Path(folder)) if checkout else None
        rows = [measure_size(program, htsim, size) for size in sizes]
    absent = [text for missing, text in ((not htsim, ABSENT), (not ns2.find(), ns2.ABSENT)) if missing]
    return {"commit": machine.commit(), "absent": absent, "rows": rows}


def list_exceeded(part: dict[str, Any]) -> Iterator[str]:
    """Yields each limit that the measurement exceeds."""
    for row in part["rows"]:
        for key, name in OTHERS.items():
            times = row.get(f"{key}_times", LEAST_TIMES)
            if times < LEAST_TIMES:
                yield f"{name} takes only {times} times as long at {row['flows']:,} flows"


def describe(part: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of the report's section."""
    yield "## Many flows in other simulators"
    yield ""
    yield (
        f"CPU time per packet-hop without the set-up, {SECONDS} s simulated, one run each, all on the same machine in"
        " one run of the benchmark. Flows are Reno's with a window of 64 (htsim's TCP is a NewReno) and have 1 Mb/s"
        " and 2.5 packets of buffer each. In fairwave each flow has its own pair of hosts; in htsim and ns-2 all"
        " flows share 100 pairs, which is easier for them. The time grows in all of them, because the state of so"
        f" many flows lies in memory. The limit: each of the others takes at least {LEAST_TIMES:g} times as long as"
        f" fairwave. ns-2 is compared up to {LARGEST_NS2:,} flows: its set-up takes 2 ms per flow, half an hour for a"
        " million."
    )
    yield ""
    rows = []
    for row in part["rows"]:
        cells = [f"{row['flows']:,}", f"{row['packet_hops']:,}", f"{row['ns']}"]
        for key in OTHERS:
            if f"{key}_times" in row:
                cells += [f"{row[f'{key}_ns']} ({row[f'{key}_times']} times)", f"{row[f'{key}_setup_s']}"]
            else:
                cells += ["–", "–"]
        rows.append(cells)
    head = (name for other in OTHERS.values() for name in (f"{other}, ns", f"{other}, set-up s"))
    yield from table(("flows", "packet-hops", "fairwave, ns", *head), rows)
    yield ""
    for text in part["absent"]:
        yield f"{text[0].upper()}{text[1:]}."
        yield ""
    yield f"Commit {part['commit']}."


def build_htsim(checkout: Path, folder: Path) -> str:
    """Compiles htsim's modules and the benchmark and returns the program's path."""
    sources = [checkout / "sim" / f"{module}.cpp" for module in MODULES]
    program = str(folder / "many_flows")
    options = ("-std=c++17", "-O3", "-DNDEBUG", "-w", f"-I{checkout / 'sim'}")
    subprocess.run(["g++", *options, "-o", program, str(SOURCE), *map(str, sources)], check=True)
    return program


def measure_size(program: str, htsim: str | None, flows: int) -> dict[str, Any]:
    """Measures ns per packet-hop of each simulator, minus the set-up, and how many times fairwave's the others take."""
    empty, full = (runner.run(program, **scale.values(flows, seconds)) for seconds in (0, SECONDS))
    ours = (full.cost.cpu - empty.cost.cpu) / full.packet_hops * 1e9
    row: dict[str, Any] = {"flows": flows, "packet_hops": full.packet_hops, "ns": round(ours, 1)}
    if htsim:
        row |= compare(ours, "htsim", *run_other([htsim, str(flows), str(SECONDS)]))
    path = ns2.find()
    if path and flows <= LARGEST_NS2:
        # Counting takes time, so a smaller run counts: hops per flow depend little on the number of flows.
        words = [path, str(SCRIPT)]
        counted = min(flows, 2000)
        hops, _, _ = run_other([*words, str(counted), str(SECONDS), "count"])
        _, setup, cpu = run_other([*words, str(flows), str(SECONDS)])
        row |= compare(ours, "ns2", hops * flows / counted, setup, cpu)
    return row


def run_other(command: list[str]) -> tuple[float, float, float]:
    """Runs a program of this benchmark: packet-hops, CPU seconds of the set-up, CPU seconds of the run."""
    text, _ = ns2.timed(command)
    words = text.split()
    return float(words[1]), float(words[3]), float(words[5])


def compare(ours: float, name: str, hops: float, setup: float, cpu: float) -> dict[str, float]:
    """Ns per packet-hop and set-up of another simulator, and its time as a multiple of fairwave's."""
    each = cpu / hops * 1e9
    return {
        f"{name}_ns": round(each, 1),
        f"{name}_setup_s": round(setup, 2),
        f"{name}_times": round(each / ours, 2),
    }
