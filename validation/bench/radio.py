"""Cost of shared media: CPU time per Wi-Fi frame exchange and per cell transmission, and speed of 50 stations.

The time covers the whole run, with transports and queues, minus the set-up. Each case runs several times. The
minimum counts, because other load on the machine only adds time.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import fairwave
from validation.bench import machine
from validation.published import wifi
from validation.published.rows import FULL, UDP

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_US = 3.0
"""Maximum CPU time of a frame exchange or a transmission, µs."""

LEAST_TIMES = 50.0
"""Minimum speed of a run with 50 stations, as a multiple of real time."""

MANY = 15.0
"""Frames with more packets on average than this have no limit: most of their cost is the packets' cost."""

SECONDS = 30
"""Simulated time of runs with stations that always send, s."""


def measure(runs: int) -> dict[str, Any]:
    """Measures the cost of each case. ``exceeded`` is true if a case exceeds its limit."""
    rows = [_cost(name, scenario, crowd=crowd, runs=runs) for name, scenario, crowd in _cases()]
    return {
        "commit": machine.commit(),
        "runs": runs,
        "most_us": MOST_US,
        "least_times": LEAST_TIMES,
        "many": MANY,
        "rows": rows,
        "exceeded": any(
            (row["us"] > MOST_US and row["packets"] < MANY)
            or (row["crowd"] and row["times_life"] < LEAST_TIMES)
            for row in rows
        ),
    }


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
