"""Packet-hops per CPU second, compared with ns-2. A packet that leaves a link direction is one packet-hop.

Both simulators run the same experiment in turn, so that load on the machine affects both. The cost of a run is the
CPU time (user and system) of the whole process. The cost of a 0-second run is the set-up. A separate run counts
ns-2's packet-hops, because counting takes time in ns-2. Fairwave always counts. ns-2 runs in its fastest
configuration: static routes set by hand, and only the packet headers that the experiment needs.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from validation.bench import machine, runner
from validation.compare.ns2 import simulator as ns2
from validation.compare.ns2.simulator import timed
from validation.writing import table

SECONDS = 60
SIZES = (100, 1000)
SCRIPT = Path(__file__).with_name("dumbbell.tcl")


def measure(program: str, runs: int) -> dict[str, Any]:
    """Measures each size: ``{"n100": {...}, "n1000": {...}}``. Without ns-2, there are no ratios."""
    return {f"n{size}": measure_size(program, size, runs) for size in SIZES}


def measure_size(program: str, size: int, runs: int) -> dict[str, Any]:
    """Runs both simulators in turn with ``size`` flows."""
    theirs = ns2.find()
    ours_60: list[float] = []
    ours_0: list[float] = []
    ns_60: list[float] = []
    ns_0: list[float] = []
    hops = ns_hops = 0
    if theirs:
        said, _ = timed([theirs, str(SCRIPT), str(size), str(SECONDS), "count"])
        ns_hops = int(said.split()[1])
    for _ in range(runs):
        for seconds, ours, ns in ((SECONDS, ours_60, ns_60), (0, ours_0, ns_0)):
            if theirs:
                ns.append(timed([theirs, str(SCRIPT), str(size), str(seconds)])[1].cpu)
            result = runner.run(program, **runner.contested(size, seconds))
            ours.append(result.cost.cpu)
            hops = max(hops, result.packet_hops)
    entry: dict[str, Any] = {
        "commit": machine.commit(),
        "runs": runs,
        "fairwave": _side(hops, ours_60, ours_0),
    }
    if theirs:
        entry["ns2"] = _side(ns_hops, ns_60, ns_0)
        for key in ("whole", "without_setup"):
            entry[key] = round(entry["fairwave"][key] / entry["ns2"][key], 2)
        each = [(hops / a) / (ns_hops / b) for a, b in zip(ours_60, ns_60, strict=True)]
        entry["whole_spread"] = [round(min(each), 2), round(max(each), 2)]
        each = [
            (hops / (a - a0)) / (ns_hops / (b - b0))
            for a, a0, b, b0 in zip(ours_60, ours_0, ns_60, ns_0, strict=True)
        ]
        entry["without_setup_spread"] = [round(min(each), 2), round(max(each), 2)]
    return entry


def _side(hops: int, full: list[float], empty: list[float]) -> dict[str, Any]:
    """Packet-hops per CPU second from the medians: for the whole process, and minus the set-up."""
    whole, setup = statistics.median(full), statistics.median(empty)
    return {
        "packet_hops": hops,
        "cpu_s": round(whole, 4),
        "setup_cpu_s": round(setup, 4),
        "cpu_s_spread": [round(min(full), 4), round(max(full), 4)],
        "whole": round(hops / whole),
        "without_setup": round(hops / (whole - setup)),
    }


def describe(part: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of the report's section."""
    yield "## Packet-hops per CPU second"
    yield ""
    yield (
        "A packet-hop is a packet that leaves one link direction. The dumbbell has N Reno flows, a bottleneck of 100"
        " Mb/s and 10 ms, access links of 100 Mb/s and 5 ms on each side, drop-tail queues of 250 packets, segments of"
        " 1000 bytes, a window of 64. Flow i starts at 0.01·i s; a run simulates 60 s. ns-2.35 runs at its fastest:"
        " `rtproto Manual`, and packets with the headers of IP, TCP and Flags only (`remove-all-packet-headers`). CPU"
        " time is user and system time of the whole process. The set-up is a run of 0 s. The table has medians of"
        " alternating runs and, in brackets, minimum and maximum."
    )
    yield ""
    head = (
        *("N", "simulator", "packet-hops", "CPU s", "set-up s"),
        *("hops/s, whole process", "hops/s, without set-up"),
    )
    rows = []
    for key, entry in part.items():
        for name, side in (("fairwave", entry["fairwave"]), ("ns-2", entry.get("ns2"))):
            if side:
                low, high = side["cpu_s_spread"]
                cpu = f"{side['cpu_s']:.3f} [{low:.3f}–{high:.3f}]"
                speeds = (f"{side['whole']:,}", f"{side['without_setup']:,}")
                rows.append(
                    (key[1:], name, f"{side['packet_hops']:,}", cpu, f"{side['setup_cpu_s']:.3f}", *speeds)
                )
    yield from table(head, rows)
    yield ""
    compared = []
    for key, entry in part.items():
        if "whole" in entry:
            spreads = {kind: entry[f"{kind}_spread"] for kind in ("whole", "without_setup")}
            cells = [f"{entry[kind]} [{low}–{high}]" for kind, (low, high) in spreads.items()]
            compared.append((key[1:], *cells, str(entry["runs"]), entry["commit"]))
    if compared:
        times = ("N", "times ns-2, whole process", "times ns-2, without set-up", "runs of each", "commit")
        yield from table(times, compared)
    else:
        yield "ns-2 was not installed on the machine of this measurement."
