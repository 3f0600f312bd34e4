"""Cost of shared media: CPU time per Wi-Fi frame exchange and per cell transmission, and speed of 50 stations.

The time covers the whole run, with transports and queues, minus the set-up. Each case runs several times. The
minimum counts, because other load on the machine only adds time.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fairwave
from validation.bench import machine, runner
from validation.published import wifi
from validation.published.rows import FULL, UDP
from validation.writing import table

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_HOPS = 130.0
"""Maximum CPU time of a transmission, relative to a packet-hop of the dumbbell of 100 Reno flows."""

LEAST_TIMES = 50.0
"""Minimum speed of a run with 50 stations, as a multiple of real time."""

MANY = 15.0
"""Frames with more packets on average than this have no limit: most of their cost is the packets' cost."""

SECONDS = 30
"""Simulated time of runs with stations that always send, s."""


def measure(runs: int) -> dict[str, Any]:
    """Measures the cost of each case, and of a packet-hop by wire next to it."""
    hops_ns = []
    rows = []
    for name, scenario, crowd in _cases():
        rows.append(_cost(name, scenario, crowd=crowd, runs=runs))
        hops_ns.append(time_wired_hop(runs))
    return {"commit": machine.commit(), "runs": runs, "hop_ns": round(min(hops_ns), 1), "rows": rows}


def time_wired_hop(runs: int) -> float:
    """CPU time per packet-hop of the dumbbell of 100 Reno flows in this process, ns. Minimum of the runs."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = fairwave.load(runner.scenario(Path(folder), **runner.contested(100, SECONDS)))
    costs = []
    for _ in range(runs):
        begin = time.process_time()
        results = scenario.replicate(seeds=[1], threads=1)
        costs.append(time.process_time() - begin)
    return min(costs) / sum(int(row["departures"]) for row in results.links.to_pylist()) * 1e9


def list_exceeded(part: dict[str, Any]) -> Iterator[str]:
    """Yields each limit that the measurement exceeds."""
    for row in part["rows"]:
        hops = 1e3 * row["us"] / part["hop_ns"]
        if hops > MOST_HOPS and row["packets"] < MANY:
            yield f"{row['name']}: a transmission costs {hops:.0f} packet-hops"
        if row["crowd"] and row["times_life"] < LEAST_TIMES:
            yield f"{row['name']}: {row['times_life']} times real time"


def describe(part: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of the report's section."""
    yield "## Shared media"
    yield ""
    yield (
        "CPU time of complete runs on one thread with transports and queues, without the set-up; the minimum of"
        f" {part['runs']} runs. A transmission is a Wi-Fi frame exchange, or a cell's data to or from one user in an"
        f" interval. The limit is {MOST_HOPS:g} times the CPU time of a packet-hop by wire, which is measured next to"
        f" each case: {part['hop_ns']:g} ns here. Frames of more than {MANY:g} packets have no limit, because their"
        f" packets cost more than the frame. A run of 50 stations must be at least {LEAST_TIMES:g} times faster than"
        " real time."
    )
    yield ""
    rows = [
        (
            *(row["name"], f"{row['seconds']} s", f"{row['transmissions']:,}", f"{row['packets']}"),
            *(f"{row['cpu_s']} s", f"{row['us']} µs", f"{1e3 * row['us'] / part['hop_ns']:.0f}"),
            f"{row['times_life']:,}",
        )
        for row in part["rows"]
    ]
    head = (
        *(
            "case",
            "simulated",
            "transmissions",
            "packets of each",
            "CPU",
            "per transmission",
            "packet-hops by wire",
        ),
        "times real time",
    )
    yield from table(head, rows)
    yield ""
    yield f"Commit {part['commit']}."


def _cases() -> Iterator[tuple[str, fairwave.Scenario, bool]]:
    """Name, scenario, and true for a case with 50 stations."""
    plain = {"law": "wifi", "access-point": "mast", "standard": "802.11g", "edca": False}
    yield "Wi-Fi: 20 stations always send, 802.11g", _saturated(plain, 20, up=True), False
    aggregated = {"law": "wifi", "access-point": "mast", "queues": "airtime"}
    yield "Wi-Fi: an access point always sends to 20 stations, 802.11n", _saturated(aggregated, 20), False
    yield "Wi-Fi: 25 calls and 25 downloads, 802.11ac", wifi.fifty(), True
    cell = {"law": "cell", "base-station": "mast", "channel": {"snr": 15.0, "doppler": 5.3}}
    yield "cell: 10 users always receive, LTE", _saturated(cell, 10), False
    yield "cell: 25 calls and 25 downloads, LTE", _crowd(cell), True


def _saturated(medium: dict[str, Any], stations: int, *, up: bool = False) -> fairwave.Scenario:
    names = [f"s{place}" for place in range(stations)]
    traffic = {"kind": "cbr", "rate": f"{60e6 / stations:.0f} b/s", "payload": FULL}
    return fairwave.Scenario.from_dict(
        {
            "name": "always",
            "duration": f"{SECONDS} s",
            "medium": {"air": medium},
            "link": [{"from": "mast", "to": name, "medium": "air"} for name in names],
            "flow": [
                {
                    "name": name,
                    "from": name if up else "mast",
                    "to": "mast" if up else name,
                    "transport": UDP,
                    "traffic": traffic,
                }
                for name in names
            ],
        }
    )


def _crowd(medium: dict[str, Any]) -> fairwave.Scenario:
    """The 50 stations of the Wi-Fi case as users of a cell."""
    return wifi.fifty().with_overrides({"medium.air": medium | {"base-station": "ap"}})


def _cost(name: str, scenario: fairwave.Scenario, *, crowd: bool, runs: int) -> dict[str, Any]:
    seconds = 60 if crowd else SECONDS
    empty = scenario.with_overrides({"duration": "1 ms"})

    def cpu(of: fairwave.Scenario) -> float:
        begin = time.process_time()
        of.replicate(seeds=[1], threads=1)
        return time.process_time() - begin

    whole, setup = (min(cpu(of) for _ in range(runs)) for of in (scenario, empty))
    rows = scenario.replicate(seeds=[1], threads=1).radio.to_pylist()
    sent = sum(row["transmissions"] for row in rows)
    packets = sum(row["transmissions"] * (row["packets_per_transmission"] or 0) for row in rows)
    spent = max(whole - setup, 1e-6)
    return {
        "name": name,
        "crowd": crowd,
        "seconds": seconds,
        "transmissions": sent,
        "packets": round(packets / sent, 1),
        "cpu_s": round(spent, 3),
        "us": round(spent / sent * 1e6, 2),
        "times_life": round(seconds / spent, 1),
    }
