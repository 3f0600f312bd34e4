"""Cost of loss recovery on one fast flow: CPU time of SACK and of RACK-TLP with PRR, relative to NewReno.

NewReno needs no scoreboard. One flow has a round-trip time of 40 ms and a drop-tail buffer of one bandwidth-delay
product. Tens of thousands of segments are then in flight, and slow start loses thousands of them at once when it
overflows the buffer. The set-up is subtracted. The cost is per packet-hop, because NewReno recovers slowly and
carries a third fewer packets in the same time.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from validation.bench import machine, runner
from validation.writing import table

GIGABITS = (1, 4, 10)
SECONDS = 12
ROUND_TRIP_S = 0.04
PACKET_BITS = 8 * 1040
MOST = 2.0
"""Maximum cost of SACK and RACK per packet-hop, each relative to NewReno."""

TRANSPORTS = {
    "newreno": '"tcp/newreno"',
    "sack": '"tcp/sack"',
    "rack": '{ name = "tcp/sack", recovery = "rack", prr = true }',
}

TEMPLATE = Path(__file__).with_name("recovery.toml")


def measure(program: str, runs: int) -> dict[str, Any]:
    """Measures the cost and its ratio to NewReno's at each rate."""
    rows = [measure_rate(program, gigabits, runs) for gigabits in GIGABITS]
    return {"commit": machine.commit(), "runs": runs, "seconds": SECONDS, "rows": rows}


def list_exceeded(part: dict[str, Any]) -> Iterator[str]:
    """Yields each limit that the measurement exceeds."""
    for row in part["rows"]:
        for name, ratio in (("SACK", row["ratio"]), ("RACK", row["rack_ratio"])):
            if ratio > MOST:
                yield f"{name} at {row['gigabits']} Gb/s, {ratio} times NewReno"


def describe(part: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of the report's section."""
    yield "## Loss recovery on one fast flow"
    yield ""
    yield (
        f"CPU time of one bulk flow, {part['seconds']} s simulated, round trip 40 ms, drop-tail buffer of one"
        f" bandwidth-delay product, without the set-up; medians of {part['runs']} alternating runs. The limit is"
        f" {MOST:g} times NewReno's time per packet-hop. The time of a run alone would flatter NewReno, which sends"
        " fewer packets."
    )
    yield ""
    rows = [
        (
            f"{row['gigabits']} Gb/s",
            *_cells(row, "newreno"),
            *(*_cells(row, "sack"), f"{row['ratio']}"),
            *(*_cells(row, "rack"), f"{row['rack_ratio']}"),
        )
        for row in part["rows"]
    ]
    each = ("packet-hops", "ns per hop")
    head = ("rate", "NewReno s", *each, "SACK s", *each, "ratio", "RACK s", *each, "ratio")
    yield from table(head, rows)
    yield ""
    yield f"Commit {part['commit']}."


def _cells(row: dict[str, Any], name: str) -> tuple[str, str, str]:
    return f"{row[f'{name}_cpu_s']}", f"{row[f'{name}_packet_hops']:,}", f"{row[f'{name}_ns_per_packet_hop']}"


def measure_rate(program: str, gigabits: int, runs: int) -> dict[str, Any]:
    """Measures all transports at one rate."""
    # Transports alternate, so that load on the machine affects all of them.
    costs: dict[str, list[float]] = {name: [] for name in TRANSPORTS}
    hops: dict[str, int] = {}
    for _ in range(runs):
        for name, found in costs.items():
            whole, empty = (_run(program, gigabits, name, seconds) for seconds in (SECONDS, 0))
            found.append(max(whole.cost.cpu - empty.cost.cpu, 1e-3))
            hops[name] = whole.packet_hops
    row: dict[str, Any] = {"gigabits": gigabits}
    for name, found in costs.items():
        row[f"{name}_cpu_s"] = round(statistics.median(found), 3)
        row[f"{name}_packet_hops"] = hops[name]
        row[f"{name}_ns_per_packet_hop"] = round(1e9 * statistics.median(found) / hops[name], 1)
    base = row["newreno_ns_per_packet_hop"]
    row["ratio"] = round(row["sack_ns_per_packet_hop"] / base, 2)
    row["rack_ratio"] = round(row["rack_ns_per_packet_hop"] / base, 2)
    return row


def _run(program: str, gigabits: int, name: str, seconds: float) -> runner.Run:
    product = round(gigabits * 1e9 * ROUND_TRIP_S / PACKET_BITS)
    return runner.run(
        program,
        template=TEMPLATE,
        rate=f"{gigabits} Gb/s",
        queue=product,
        duration=f"{seconds} s",
        transport=TRANSPORTS[name],
    )
