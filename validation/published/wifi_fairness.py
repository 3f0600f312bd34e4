"""Fairness among fast and slow stations of Wi-Fi next to published measurements.

**Airtime fairness.** T. Høiland-Jørgensen, M. Kazior, D. Täht, P. Hurtig and A. Brunstrom, *Ending the anomaly:
achieving low latency and airtime fairness in WiFi* (USENIX ATC 2017), measured Linux: one access point (802.11n,
ath9k), two fast stations (144.4 Mb/s) and a slow one (7.2 Mb/s), with UDP to each of them. Table 1 has the shares of
the airtime by the paper's model from the measured sizes of aggregates, and the measured throughputs. Margins: 0.05 of
the airtime, 30 % of the throughput, about the distance between the paper's model and its measurement. Nothing was
tuned to the table.

**Linux.** The change that brought the scheduler into ath9k (commit 63fefa05, 2016, read) has its author's measurements
with two stations at the highest rate of 20 MHz and one at the lowest, before and after. It does not name the traffic;
here it is a download by CUBIC to each. Margin: 30 %. Its numbers for 30 stations are not compared: one of them sends
at 1 Mb/s, a rate of 802.11b that stations of 802.11n do not have here.

**Latency.** According to the paper's abstract (read), latency under load falls by an order of magnitude. Here pings go
to a fast and to the slow station while all three download by CUBIC. The row divides the median round trip with one
queue of 1000 packets by the median with airtime fairness. It must be at least 10.

**A call.** The paper's table of VoIP has the MOS of a call to the slow station while all three stations download, and
the sum of the downloads, for traffic as best effort and as voice. The wire adds 5 ms. FQ-CoDel is the queue
discipline above the driver's buffer, FQ-MAC is `queues = "fq-codel"` here. Margins: MOS 0.5; 30 % of the throughput.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import fairwave
from validation.published.rows import FULL, UDP, Row, group_flows
from validation.verdict import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Table 1 of the paper: airtime by its model, and measured Mb/s, of two fast stations and the slow one.
MEASURED = {
    "fifo": ((0.10, 0.11, 0.79), (7.1, 6.3, 5.3)),
    "airtime": ((1 / 3, 1 / 3, 1 / 3), (38.8, 35.6, 2.0)),
}

#: Linux's commit 63fefa05: Mb/s of two fast stations and the slow one.
LINUX = {"fq-codel": (19.17, 19.83, 2.58), "airtime": (25.09, 25.21, 1.77)}

#: The paper's table of VoIP at 5 ms: MOS and total Mb/s, as best effort and as voice.
CALL = {
    "FIFO": ("fifo", "drop-tail", (1.00, 28.3), (4.17, 27.5)),
    "FQ-CoDel": ("fifo", "fq-codel", (1.24, 23.6), (4.17, 25.5)),
    "FQ-MAC": ("fq-codel", "drop-tail", (4.39, 43.8), (4.41, 39.1)),
    "Airtime": ("airtime", "drop-tail", (4.39, 57.0), (4.41, 56.3)),
}

STATIONS = {"fast1": "first fast", "fast2": "second fast", "slow": "slow"}


def three(
    queues: str,
    *,
    queue: str = "drop-tail",
    tcp: bool = False,
    wire: str = "100 us",
    frames: int = 64,
    more: Sequence[Any] = (),
) -> fairwave.Scenario:
    """The paper's access point with two fast stations and a slow one; ``more`` flows besides those to each."""
    medium = {
        "law": "wifi",
        "access-point": "ap",
        "standard": "802.11n",
        "streams": 2,
        "guard-interval": "400 ns",
        "queues": queues,
        "aggregation": {"frames": frames},
        "channel": {"mcs": 7},
        "stations": {"slow": {"streams": 1, "channel": {"mcs": 0}}},
    }
    own = {"discipline": queue, "capacity": {"packets": 1000}}
    links: list[dict[str, Any]] = [
        {"from": "ap", "to": name, "medium": "air", "queue": own} for name in STATIONS
    ]
    deep = {"capacity": {"packets": 1000}}
    links.append({"from": "server", "to": "ap", "rate": "1 Gb/s", "delay": wire, "queue": deep})
    load = {"kind": "cbr", "rate": "50 Mb/s", "payload": FULL}
    flows = [
        {
            "name": name,
            "from": "server",
            "to": name,
            "transport": "tcp/cubic" if tcp else UDP,
            "traffic": "bulk" if tcp else load,
            "start": {"from": "0 s", "to": "100 ms"},
        }
        for name in STATIONS
    ]
    table = {
        "name": "two fast stations and a slow one", "duration": "25 s", "warmup": "5 s", "preset": "rfc",
    }  # fmt: skip
    return fairwave.Scenario.from_dict(
        {**table, "medium": {"air": medium}, "link": links, "flow": [*flows, *more]}
    )


def fairness(seeds: Sequence[int], threads: int | None) -> Iterator[Row]:
    """The shares and throughputs of airtime fairness."""
    for queues, (shares, rates) in MEASURED.items():
        results = three(queues).replicate(seeds=list(seeds), threads=threads)
        air: dict[str, list[float]] = {}
        for row in results.radio.to_pylist():
            air.setdefault(row["link"].partition(">")[2], []).append(row["airtime_share"])
        got: dict[str, list[float]] = {}
        for flow in results.flows.to_pylist():
            got.setdefault(flow["group"], []).append(flow["goodput_bps"] / 1e6)
        queue = {"fifo": "one queue", "airtime": "airtime fairness"}[queues]
        for (name, said), share, rate in zip(STATIONS.items(), shares, rates, strict=True):
            for what, unit, published, ours, margin in (
                ("airtime", "share", share, air[name], 0.05),
                ("throughput", "Mb/s", rate, got[name], 0.30),
            ):
                yield Row(
                    "fairness",
                    f"{queue}: {what} of the {said} one",
                    unit,
                    published,
                    Estimate.from_values(ours),
                    margin,
                    relative=unit != "share",
                    memory=True,
                )


def commit(seeds: Sequence[int], threads: int | None, frames: int = 64, part: str = "linux") -> Iterator[Row]:
    """What Linux's commit reports."""
    for queues, rates in LINUX.items():
        runs = group_flows(three(queues, tcp=True, frames=frames), seeds, threads)
        queue = {"fq-codel": "before", "airtime": "after"}[queues]
        for (name, said), rate in zip(STATIONS.items(), rates, strict=True):
            ours = Estimate.from_values([run[name]["goodput_bps"] / 1e6 for run in runs])
            yield Row(part, f"{queue}: throughput of the {said} one", "Mb/s", rate, ours, 0.30, relative=True)


def latency(seeds: Sequence[int], threads: int | None) -> Iterator[Row]:
    """The factor by which latency under load falls."""
    pings = [
        {
            "name": f"ping-{name}",
            "from": "server",
            "to": name,
            "transport": "ping",
            "traffic": {"kind": "ping", "interval": "100 ms"},
        }
        for name in ("fast1", "slow")
    ]
    medians: dict[tuple[str, str], list[float]] = {}
    for queues in ("fifo", "airtime"):
        scenario = three(queues, tcp=True, more=pings).with_overrides({"duration": "125 s"})
        results = scenario.replicate(seeds=list(seeds), threads=threads)
        for row in results.round_trips.to_pylist():
            if row["group"].startswith("ping"):
                medians.setdefault((queues, row["group"]), []).append(row["p50_s"])
    for name, said in (("fast1", "a fast"), ("slow", "the slow")):
        pairs = zip(medians["fifo", f"ping-{name}"], medians["airtime", f"ping-{name}"], strict=True)
        ours = Estimate.from_values([before / after for before, after in pairs])
        yield Row(
            "latency",
            f"one queue / airtime fairness: round trip of {said} station",
            "ratio",
            10.0,
            ours,
            0.0,
            relative=True,
            bound="at least",
        )


def call(seeds: Sequence[int], threads: int | None, frames: int = 64, part: str = "call") -> Iterator[Row]:
    """A call to the slow station while all download."""
    for place, (marked, dscp) in enumerate((("best effort", 0), ("voice", "ef"))):
        for name, (queues, queue, *published) in CALL.items():
            voice = {
                "name": "call",
                "from": "server",
                "to": "slow",
                "transport": "udp",
                "traffic": "voice",
                "dscp": dscp,
            }
            scenario = three(queues, queue=queue, tcp=True, wire="5 ms", frames=frames, more=[voice])
            runs = group_flows(scenario, seeds, threads)
            mos, total = published[place]
            ours = Estimate.from_values([run["call"]["mos"] for run in runs])
            said = f"{name}, call as {marked}"
            yield Row(part, f"{said}: MOS", "MOS", mos, ours, 0.5, relative=False, memory=True)
            sums = [sum(run[one]["goodput_bps"] for one in STATIONS) / 1e6 for run in runs]
            total_ours = Estimate.from_values(sums)
            yield Row(part, f"{said}: downloads", "Mb/s", total, total_ours, 0.30, relative=True, memory=True)


SMALL = 19
"""Packets of an aggregate to a fast station in the paper's measurement with airtime fairness."""


def small_aggregates(seeds: Sequence[int], threads: int | None) -> Iterator[Row]:
    """The same as `commit` and the downloads of `call`, with aggregates as small as those that were measured."""
    yield from commit(seeds, threads, SMALL, "small")
    for row in call(seeds, threads, SMALL, "small"):
        if row.unit == "Mb/s":
            yield row
