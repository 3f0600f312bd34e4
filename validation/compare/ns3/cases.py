"""A third opinion: experiments with today's TCPs and queues that ns-3 and fairwave both run.

Measures, each a number per run, taken after the warm-up:

* ``goodput_mbps/G``: payload delivered to the receivers of group G
* ``share/G``: the group's part of all groups' goodput (long cases only)
* ``jain/G``: Jain's index of the flows' goodputs (groups of more than one flow)
* ``rtt_ms/G``: the senders' smoothed round-trip time, sampled every 100 ms
* ``window/G``: the senders' congestion window in segments, sampled likewise
* ``drop_rate``, ``mark_rate``: packets dropped and marked by the bottleneck's queue / packets that arrived
  there
* ``wait_ms``: packets that wait before the bottleneck, averaged over time / packets sent a second (Little's law): the
  time that packets waited, those included that were dropped after having waited, per packet sent
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

import fairwave
from validation.compare.kernel.cases import LONG, LONG_PRODUCTS, LONG_RATE
from validation.compare.measures import jain
from validation.compare.ns3 import simulator as ns3

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairwave.results import Results

Table = dict[str, Any]

#: Seconds between samples of round trip and window.
SPACING = 0.1

#: The path: 20 Mb/s, a round trip of 40 ms without queues, so 66.7 packets of 1500 B.
MEGABITS, ROUND_TRIP_MS, PRODUCT = 20, 40, 67


#: The long cases, BBR next to CUBIC, have the kernel's rate, buffers and seconds: packets of a bandwidth-delay
#: product, and the beginning of their keys.
LONG_PRODUCT, LONG_KEY = 33, "long/"


@dataclass(frozen=True)
class Case:
    """One experiment. ``key`` names it in reports and explanations; ``runs`` is the number of seeds."""

    key: str
    title: str
    scenario: Table
    runs: int = 5
    bottleneck: str = "r1>r2"

    @property
    def is_long(self) -> bool:
        """Whether it is about who shares how in the long run."""
        return self.key.startswith(f"ns3/{LONG_KEY}")


def dumbbell(
    name: str,
    queue: Table,
    flows: list[Table],
    *,
    loss: float = 0.0,
    megabits: int = MEGABITS,
    seconds: tuple[int, int] = (50, 10),
) -> Table:
    """The path. The delays of its access links differ by flow, so that no two flows stay in step."""
    wide = {"discipline": "drop-tail", "capacity": {"packets": 10000}}
    lossy = {"loss": {"model": "bernoulli", "rate": loss}} if loss else {}
    return {
        "name": name,
        "preset": "linux",
        "duration": f"{seconds[0]} s",
        "warmup": f"{seconds[1]} s",
        "hosts": {"clock-skew": "0 ppm", "send-jitter": "0 s"},
        "topology": {
            "preset": "dumbbell",
            "bottleneck": {"rate": f"{megabits} Mb/s", "delay": "18 ms", "queue": queue, **lossy}
            | {"reverse": {"queue": wide, "loss": {"model": "none"}}},
            "access": {"rate": "1 Gb/s", "delay": {"from": "0.5 ms", "to": "1.5 ms"}, "queue": wide},
        },
        "flow": flows,
        "record": {
            "window-interval": f"{SPACING * 1e3:g} ms",
            "windows": [flow["name"] for flow in flows if flow["transport"]["name"] != "udp"],
        },
    }


def tcp(name: str, controller: str, count: int = 1, **more: Any) -> Table:
    """A number of endless transfers, by a TCP that ns-3 and fairwave both have."""
    transport = {"name": controller} | ns3.CONNECTION | more
    return {
        "name": name, "count": count, "transport": transport, "traffic": "bulk", "start": {"from": "0 s", "to": "1 s"},
    }  # fmt: skip


def drop_tail(products: int) -> Table:
    """A drop-tail queue of this many bandwidth-delay products."""
    return {"discipline": "drop-tail", "capacity": {"packets": PRODUCT * products}}


def managed(discipline: str, **more: Any) -> Table:
    """A managed queue with room for a thousand packets."""
    quantum = {"quantum": "1502 B"} if discipline == "fq-codel" else {}
    return {"discipline": discipline, "capacity": {"packets": 1000}} | quantum | more


def cases() -> Iterator[Case]:
    """The experiments that ns-3 and fairwave both run, in the order of the report."""

    def case(key: str, title: str, queue: Table, flows: list[Table], **more: Any) -> Case:
        return Case(f"ns3/{key}", title, dumbbell(title, queue, flows, **more))

    for products in (1, 4):
        yield case(
            f"cubic/{products}bdp",
            f"CUBIC alone, drop-tail of {products} BDP",
            drop_tail(products),
            [tcp("cubic", "tcp/cubic")],
        )
        yield case(
            f"cubic/{products}bdp/no-hystart",
            f"CUBIC alone without HyStart, drop-tail of {products} BDP",
            drop_tail(products),
            [tcp("cubic", "tcp/cubic", hystart=False)],
        )
    for rate in (1e-3, 1e-4):
        yield case(
            f"cubic/loss-{rate:g}",
            f"CUBIC alone, random loss of {rate:g}, drop-tail of 4 BDP",
            drop_tail(4),
            [tcp("cubic", "tcp/cubic")],
            loss=rate,
        )
    yield case(
        "cubic/two", "Two CUBIC flows, drop-tail of 1 BDP", drop_tail(1), [tcp("cubic", "tcp/cubic", 2)]
    )
    yield case("reno/1bdp", "Reno alone, drop-tail of 1 BDP", drop_tail(1), [tcp("reno", "tcp/sack")])
    for products in (1, 4):
        yield case(
            f"bbr/{products}bdp",
            f"BBR v1 alone, drop-tail of {products} BDP",
            drop_tail(products),
            [tcp("bbr", "tcp/bbr1")],
        )
    for products in (1, 4):
        flows = [tcp("bbr", "tcp/bbr1"), tcp("cubic", "tcp/cubic")]
        yield case(
            f"bbr+cubic/{products}bdp",
            f"BBR v1 beside CUBIC, drop-tail of {products} BDP",
            drop_tail(products),
            flows,
        )
    yield case("reno/pie", "4 Reno flows under PIE", managed("pie"), [tcp("reno", "tcp/sack", 4)])
    yield case("cubic/pie", "10 CUBIC flows under PIE", managed("pie"), [tcp("cubic", "tcp/cubic", 10)])
    yield case(
        "reno/fq-codel", "4 Reno flows under FQ-CoDel", managed("fq-codel"), [tcp("reno", "tcp/sack", 4)]
    )
    yield case(
        "cubic/codel-ecn",
        "4 CUBIC flows with ECN under CoDel",
        managed("codel", ecn=True),
        [tcp("cubic", "tcp/cubic", 4, ecn="classic")],
    )
    yield case(
        "cubic/fq-codel-ecn",
        "4 CUBIC flows with ECN under FQ-CoDel",
        managed("fq-codel"),
        [tcp("cubic", "tcp/cubic", 4, ecn="classic")],
    )
    flood = {
        "name": "cbr", "transport": {"name": "udp", "header": f"{ns3.UDP_HEADER} B"},
        "traffic": {"kind": "cbr", "rate": "15 Mb/s", "payload": "1000 B", "phase": "zero"},
        "start": {"from": "0 s", "to": "1 s"},
    }  # fmt: skip
    yield case(
        "cbr+cubic/fq-codel",
        "A stream of 15 Mb/s that does not yield, beside 2 CUBIC flows, under FQ-CoDel",
        managed("fq-codel"),
        [flood, tcp("cubic", "tcp/cubic", 2)],
    )
    for products in LONG_PRODUCTS:
        flows = [tcp("bbr", "tcp/bbr1"), tcp("cubic", "tcp/cubic")]
        for flow in flows:
            flow["start"] = {"from": "0 s", "to": "10 s"}
        yield case(
            f"{LONG_KEY}bbr+cubic/{products}bdp",
            f"BBR v1 beside CUBIC for {LONG[0]} s, drop-tail of {products} BDP",
            {"discipline": "drop-tail", "capacity": {"packets": LONG_PRODUCT * products}},
            flows,
            megabits=LONG_RATE // 1_000_000,
            seconds=LONG,
        )


def measure_fairwave(results: Results, bottleneck: str, seconds: float) -> list[dict[str, float]]:
    """The measures of each run of fairwave, in the order of the runs; ``seconds`` from the warm-up to the end."""
    flows, links, series = (_rows(results, table) for table in ("flows", "links", "series"))
    return [
        _measures(flows[run], links[run], series.get(run, []), bottleneck, seconds) for run in sorted(flows)
    ]


def _rows(results: Results, table: str) -> dict[int, list[Table]]:
    frame = results.to_polars(table).with_columns(pl.col(pl.Categorical).cast(pl.String))
    grouped: dict[int, list[Table]] = {}
    for row in frame.iter_rows(named=True):
        grouped.setdefault(row["run"], []).append(row)
    return grouped


def _measures(
    flows: list[Table], links: list[Table], series: list[Table], bottleneck: str, seconds: float
) -> dict[str, float]:
    found: dict[str, float] = {}
    for group in dict.fromkeys(flow["group"] for flow in flows):
        members = [flow for flow in flows if flow["group"] == group]
        rates = [flow["goodput_bps"] / 1e6 for flow in members]
        found[f"goodput_mbps/{group}"] = math.fsum(rates)
        if len(members) > 1:
            found[f"jain/{group}"] = jain(rates)
        names = {f"{group}[{flow['flow']}]" for flow in members}
        trips = [row["value"] for row in series if row["kind"] == "srtt_s" and row["name"] in names]
        windows = [row["value"] for row in series if row["kind"] == "window" and row["name"] in names]
        if trips:
            found[f"rtt_ms/{group}"] = 1e3 * math.fsum(trips) / len(trips)
            found[f"window/{group}"] = math.fsum(windows) / len(windows)
    link = next(row for row in links if row["link"] == bottleneck)
    found["drop_rate"] = link["drop_rate"]
    found["mark_rate"] = link["marked"] / link["arrivals"] if link["arrivals"] else math.nan
    found["wait_ms"] = 1e3 * link["mean_queue_packets"] * seconds / link["departures"]
    return found


def plan_of(scenario: fairwave.Scenario, seed: int) -> Table:
    """The plan of a scenario for a seed, as data."""
    data: Table = json.loads(scenario.native.exact_plan(seed))
    return data
