"""Calls over Wi-Fi next to published counts.

**Calls.** S. Garg and M. Kappes measured 802.11b at 11 Mb/s (*An experimental study of throughput for UDP and VoIP
traffic in IEEE 802.11b networks*, WCNC 2003, abstract read): 6.1 Mb/s for one station, six calls of G.711 with 10 ms
of speech in a packet, and 900 kb/s that each call takes from data. Their bound for 20 ms is 12 calls at 11 Mb/s and 3
at 1 Mb/s (*Can I add a VoIP call?*, ICC 2003, abstract read). Here a number of calls fits if all directions keep an
average MOS of 3.6. The row has the largest number that fits under each seed. The data comes from a station that always
sends, next to none and to five calls. Margins: 3 % of the throughput, one call, 15 % of a call's share.

**Calls by airtime.** M. Gast counts how many calls an access point of 802.11b carries if nothing collides and each
frame waits for about half of the window (*Maximum number of VoIP telephone calls per 802.11b access point*,
O'Reilly 2005, read). G.711 and G.729 with 20 ms in a packet, long and short preambles. Margin: one call.

**A call among data.** I. Dangerfield, D. Malone and D. Leith measured one call in a testbed (*Experimental evaluation
of 802.11e EDCA for enhanced voice over WLAN performance*, 2006, abstract read): with 802.11b five stations that always
send 1470 B make the call lose more than 10 %, and EDCA protects it; their figure has up to 18 stations. The call sends
64 kb/s to the access point, here in packets of 80 B. Stations keep 20 packets. Margin: one station. With EDCA the call
must lose less than 10 % next to 18 stations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import fairwave
from validation.published.rows import FULL, UDP, Row, group_flows
from validation.verdict import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GOOD = 3.6
"""MOS that the calls of a direction keep on average."""

#: Gast's table: codec, Mb/s, index, preamble, calls.
AIRTIME = [
    ("g711", "11", 3, "long", 10),
    ("g711", "11", 3, "short", 13),
    ("g711", "5.5", 2, "long", 8),
    ("g711", "5.5", 2, "short", 10),
    ("g711", "2", 1, "long", 5),
    ("g711", "2", 1, "short", 6),
    ("g711", "1", 0, "long", 3),
    ("g729", "11", 3, "long", 11),
    ("g729", "11", 3, "short", 15),
    ("g729", "2", 1, "long", 8),
    ("g729", "2", 1, "short", 9),
]

B = {"standard": "802.11b", "edca": False, "fallback": False}
"""802.11b without EDCA."""


def call_scenario(
    calls: int,
    mcs: int,
    packet: str,
    *,
    codec: str = "g711",
    preamble: str = "long",
    data: bool = False,
) -> fairwave.Scenario:
    """Calls between stations and the wire, over 802.11b; with ``data`` a station that always sends."""
    names = [f"s{place}" for place in range(calls)]
    medium = {"law": "wifi", "access-point": "ap", **B, "channel": {"mcs": mcs}}
    if preamble == "short":
        medium["preamble"] = "96 us"
    stations = [*names, "data"] if data else names
    links: list[dict[str, Any]] = [
        {"from": "ap", "to": name, "medium": "air", "queue": {"capacity": {"packets": 100}}}
        for name in stations
    ]
    links.append({"from": "server", "to": "ap", "rate": "100 Mb/s", "delay": "1 ms"})
    traffic = {"kind": "voice", "codec": codec, "packet-time": packet, "always-on": True}
    flows: list[dict[str, Any]] = [
        {"name": way, "from": source, "to": sink, "transport": "udp", "traffic": traffic}
        for name in names
        for way, source, sink in ((f"down-{name}", "server", name), (f"up-{name}", name, "server"))
    ]
    if data:
        load = {"kind": "cbr", "rate": "9 Mb/s", "payload": FULL}
        flows.append({"name": "data", "from": "data", "to": "ap", "transport": UDP, "traffic": load})
    table = {"name": "calls on 802.11b", "duration": "35 s", "warmup": "5 s"}
    return fairwave.Scenario.from_dict({**table, "medium": {"air": medium}, "link": links, "flow": flows})


def fitting(
    mcs: int, packet: str, seed: int, threads: int | None, codec: str = "g711", preamble: str = "long"
) -> int:
    """The largest number of calls that fits under a seed."""
    calls = 1
    while True:
        scenario = call_scenario(calls, mcs, packet, codec=codec, preamble=preamble)
        mos: dict[str, list[float]] = {}
        for row in scenario.replicate(seeds=[seed], threads=threads).flows.to_pylist():
            mos.setdefault(row["group"].partition("-")[0], []).append(row["mos"])
        if min(sum(each) / len(each) for each in mos.values()) < GOOD:
            return calls - 1
        calls += 1


def calls(seeds: Sequence[int], threads: int | None) -> Iterator[Row]:
    """One station's throughput, the share that a call takes from it, and the number of calls that fit."""
    rates = {
        number: [
            run["data"]["goodput_bps"]
            for run in group_flows(call_scenario(number, 3, "10 ms", data=True), seeds, threads)
        ]
        for number in (0, 5)
    }
    alone = Estimate.from_values([rate / 1e6 for rate in rates[0]])
    yield Row("calls", "one station alone at 11 Mb/s (measured)", "Mb/s", 6.1, alone, 0.03, relative=True)
    each = [(before - after) / 5e3 for before, after in zip(rates[0], rates[5], strict=True)]
    name = "what a call takes from data, 10 ms in a packet (measured)"
    yield Row("calls", name, "kb/s", 900, Estimate.from_values(each), 0.15, relative=True)
    for name, mcs, packet, published in (
        ("calls, 10 ms in a packet, 11 Mb/s (measured)", 3, "10 ms", 6),
        ("calls, 20 ms in a packet, 11 Mb/s (bound)", 3, "20 ms", 12),
        ("calls, 20 ms in a packet, 1 Mb/s (bound)", 0, "20 ms", 3),
    ):
        found = [float(fitting(mcs, packet, seed, threads)) for seed in seeds]
        yield Row("calls", name, "calls", published, Estimate.from_values(found), 1.0, relative=False)


def compare_airtime(seeds: Sequence[int], threads: int | None) -> Iterator[Row]:
    """How many calls fit, next to Gast's count."""
    for codec, rate, mcs, preamble, published in AIRTIME:
        found = [float(fitting(mcs, "20 ms", seed, threads, codec, preamble)) for seed in seeds]
        name = f"{codec.upper().replace('G7', 'G.7')}, {rate} Mb/s, {preamble} preamble"
        yield Row("airtime", name, "calls", published, Estimate.from_values(found), 1.0, relative=False)


def among_data(stations: int, *, edca: bool) -> fairwave.Scenario:
    """A call to the access point, next to stations that always send."""
    medium = {"law": "wifi", "access-point": "ap", **B, "edca": edca, "channel": {"mcs": 3}}
    names = [f"s{place}" for place in range(stations)]
    links = [
        {"from": name, "to": "ap", "medium": "air", "queue": {"capacity": {"packets": 20}}}
        for name in ("phone", *names)
    ]
    voice = {"kind": "cbr", "rate": "64 kb/s", "payload": "80 B"}
    load = {"kind": "cbr", "rate": f"{12e6 / max(stations, 1):.0f} b/s", "payload": "1470 B"}
    flows: list[dict[str, Any]] = [
        {
            "name": name,
            "from": name,
            "to": "ap",
            "transport": UDP,
            "traffic": load,
            "start": {"from": "0 s", "to": "100 ms"},
        }
        for name in names
    ]
    call = {"name": "call", "from": "phone", "to": "ap", "transport": "udp", "traffic": voice, "dscp": "ef"}
    table = {"name": "a call among data", "duration": "35 s", "warmup": "5 s"}
    return fairwave.Scenario.from_dict(
        {**table, "medium": {"air": medium}, "link": links, "flow": [call, *flows]}
    )


def lost(stations: int, seeds: Sequence[int], threads: int | None, *, edca: bool) -> list[float]:
    """The share of the call's packets that are lost, run by run."""
    runs = group_flows(among_data(stations, edca=edca), seeds, threads)
    return [(run["call"]["dropped"] + run["call"]["lost"]) / run["call"]["packets_sent"] for run in runs]


def protection(seeds: Sequence[int], threads: int | None) -> Iterator[Row]:
    """The effect of data on a call, without and with EDCA."""

    def breaking(seed: int) -> float:
        return next(
            float(count) for count in range(1, 31) if lost(count, [seed], threads, edca=False)[0] > 0.1
        )

    found = Estimate.from_values([breaking(seed) for seed in seeds])
    name = "DCF: stations with data until the call loses more than 10 % (measured)"
    yield Row("protection", name, "stations", 5, found, 1.0, relative=False)
    held = Estimate.from_values(lost(18, seeds, threads, edca=True))
    name = "EDCA: what a call as voice loses next to 18 stations with data"
    yield Row("protection", name, "share", 0.10, held, 0.0, relative=False, bound="at most")
