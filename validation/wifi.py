"""Wi-Fi compared with published results: ``docs/wifi.md``.

**Bianchi.** G. Bianchi, *Performance analysis of the IEEE 802.11 distributed coordination function* (IEEE JSAC
18(3), 2000), gives the throughput of stations that always have a packet to send, as the fixed point of two
equations (7 and 9). The parameters are those of its Table II: 1 Mb/s, 8184 bits of payload, slots of 50 µs, SIFS 28
µs, DIFS 128 µs, windows from 32 slots, no limit of retries. The analysis neglects that only a station that has just
transmitted can have the first slot after DIFS. Margin: 2 %.

**Performance anomaly.** M. Heusse, F. Rousseau, G. Berger-Sabbatel and A. Duda, *Performance anomaly of 802.11b*
(INFOCOM 2003), derive what each of N stations gets if one of them transmits at 1 Mb/s and the others at 11 Mb/s.
They approximate contention without a fixed point. Margin: 10 %, for the slow station
and for the fast ones.

**Airtime fairness.** T. Høiland-Jørgensen, M. Kazior, D. Täht, P. Hurtig and A. Brunstrom, *Ending the anomaly:
achieving low latency and airtime fairness in WiFi* (USENIX ATC 2017), measured Linux: one access point (802.11n,
ath9k), two fast stations (144.4 Mb/s) and a slow one (7.2 Mb/s), with UDP to each of them. Table 1 has the shares
of the airtime by the paper's model from the measured sizes of aggregates, and the measured throughputs. Margins:
0.05 of the airtime, 30 % of the throughput, which is about what separates the paper's model from its measurement.
Nothing was tuned to the table.

**Not checked.** Bianchi's parameters were found again in programs of others. Heusse's and the numbers of Table 1 were
written down without the papers at hand, and must be compared with them before anybody relies on a row.

**Calls.** S. Garg and M. Kappes measured 802.11b at 11 Mb/s (*An experimental study of throughput for UDP and VoIP
traffic in IEEE 802.11b networks*, WCNC 2003): 6.1 Mb/s for one station, and six calls of G.711 with 10 ms of speech in
a packet. Their bound for 20 ms is 12 calls at 11 Mb/s and 3 at 1 Mb/s (*Can I add a VoIP call?*, ICC 2003). Here a
number of calls fits if all directions keep an average MOS of 3.6. The row has the largest number that fits under each
seed. Margins: 3 % of the throughput, one call.

**Settings.** Each row ran under several seeds; intervals have 95 %. Sources send more than the
channel carries. The driver's buffer, the aggregates' limit of 4 ms and the airtime per turn are those of ath9k,
which are the defaults.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fairwave
from fairwave_validation import writing
from fairwave_validation.verdict import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "wifi.md"
DATA = ROOT / "docs" / "wifi.json"

HEADERS = 28
"""Bytes of IP and UDP that a datagram has besides its payload."""

UDP = {"name": "udp", "header": f"{HEADERS} B", "max-payload": "1472 B"}


@dataclass(frozen=True)
class Row:
    """One number: what was published, what fairwave gives, and how far they may differ."""

    part: str
    name: str
    unit: str
    published: float
    ours: Estimate
    margin: float
    relative: bool

    @property
    def difference(self) -> float:
        """By how much fairwave's mean is above the published value: a part of it, or absolute."""
        gap = self.ours.mean - self.published
        return gap / self.published if self.relative else gap

    @property
    def agrees(self) -> bool:
        """Within the margin."""
        return abs(self.difference) <= self.margin


def tau(stations: int, window: int, stages: int) -> float:
    """Bianchi's probability that a station transmits in a slot (eq. 7 and 9), by bisection."""

    def of(p: float) -> float:
        return 2 / (1 + window + p * window * sum((2 * p) ** k for k in range(stages)))

    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if 1 - (1 - of(middle)) ** (stations - 1) > middle:
            low = middle
        else:
            high = middle
    return of(low)


def bianchi(stations: int, stages: int, announced: bool) -> float:
    """Bianchi's throughput (eq. 13), bits of payload per second."""
    payload, slot, sifs, difs, header, ack = 8184.0, 50e-6, 28e-6, 128e-6, 128e-6, 240e-6
    frame, rts = header + (272 + payload) / 1e6, header + 160e-6
    success = frame + sifs + ack + difs
    collision = frame + difs
    if announced:
        success, collision = rts + 3 * sifs + ack + frame + ack + difs, rts + difs
    t = tau(stations, 32, stages)
    some = 1 - (1 - t) ** stations
    alone = stations * t * (1 - t) ** (stations - 1) / some
    return (
        some * alone * payload / ((1 - some) * slot + some * alone * success + some * (1 - alone) * collision)
    )


def uplinks(
    medium: dict[str, Any], stations: int, rate: float, payload: int, seconds: int
) -> fairwave.Scenario:
    """Stations that send to the access point, each more than it can."""
    names = [f"s{place}" for place in range(stations)]
    return fairwave.Scenario.from_dict(
        {
            "name": "stations that always send",
            "duration": f"{seconds} s",
            "warmup": "5 s",
            "medium": {"air": {"law": "wifi", "access-point": "ap", **medium}},
            "link": [
                {"from": name, "to": "ap", "medium": "air", "queue": {"capacity": {"packets": 20}}}
                for name in names
            ],
            "flow": [
                {
                    "name": name,
                    "from": name,
                    "to": "ap",
                    "transport": UDP,
                    "traffic": {
                        "kind": "cbr",
                        "rate": f"{rate:.0f} b/s",
                        "payload": f"{payload} B",
                    },
                    "start": {"from": "0 s", "to": "100 ms"},
                }
                for name in names
            ],
        }
    )


def goodputs(
    scenario: fairwave.Scenario, seeds: Sequence[int], threads: int | None
) -> list[dict[str, float]]:
    """Bits of payload per second of each flow group, run by run."""
    found: dict[int, dict[str, float]] = {}
    for flow in scenario.replicate(seeds=list(seeds), threads=threads).flows.to_pylist():
        found.setdefault(flow["run"], {})[flow["group"]] = flow["goodput_bps"]
    return list(found.values())


SATURATED = [
    *((stations, 5, False) for stations in (5, 10, 20, 50)),
    (20, 3, False),
    (5, 5, True),
    (50, 5, True),
]
"""Stations, doublings of the window, and whether RTS and CTS go before frames."""


def saturation(
    seeds: Sequence[int], threads: int | None, cases: Sequence[tuple[int, int, bool]] = SATURATED
) -> Iterator[Row]:
    """Bianchi's throughput."""
    payload = 1023 - HEADERS
    for stations, stages, announced in cases:
        medium: dict[str, Any] = {
            "standard": "802.11b",
            "edca": False,
            "slot": "50 us",
            "sifs": "28 us",
            "preamble": "128 us",
            "header": "34 B",
            "channel": {"mcs": 0},
            "eifs": False,
            "retry-limit": 255,
            "fallback": False,
            "categories": {"best-effort": {"cw-min": 31, "cw-max": 32 * 2**stages - 1}},
        }
        if announced:
            medium["rts"] = "0 B"
        scenario = uplinks(medium, stations, 2e6 / stations, payload, 65)
        sums = [sum(run.values()) * 1023 / payload / 1e6 for run in goodputs(scenario, seeds, threads)]
        name = f"{stations} stations, window 32 to {32 * 2**stages}" + (", RTS and CTS" if announced else "")
        published = bianchi(stations, stages, announced) / 1e6
        yield Row("saturation", name, "Mb/s", published, Estimate.of(sums), 0.02, relative=True)


def heusse(stations: int, slow: float) -> float:
    """What each of so many stations gets if one transmits at ``slow`` and the others at 11 Mb/s, bits per second."""
    fast, size, header, window, slot = 11e6, 1500.0, 38.0, 31, 20e-6
    control = 192e-6 + 14 * 8 / 2e6
    collisions = 1 - (1 - 1 / window) ** (stations - 1)
    contention = slot * (1 + collisions) / (2 * stations) * window / 2

    def exchange(rate: float) -> float:
        answer = control if rate >= 2e6 else 192e-6 + 14 * 8 / 1e6
        return 50e-6 + 192e-6 + (size + header) * 8 / rate + 10e-6 + answer + contention

    long, short = exchange(slow), exchange(fast)
    jam = 2 / stations * long + (1 - 2 / stations) * short
    return size * 8 / ((stations - 1) * short + long + collisions * jam * stations)


def anomaly(seeds: Sequence[int], threads: int | None) -> Iterator[Row]:
    """Heusse's anomaly."""
    payload = 1500 - HEADERS
    for stations in (2, 4, 8):
        medium = {
            "standard": "802.11b",
            "edca": False,
            "channel": {"mcs": 3},
            "stations": {"s0": {"channel": {"mcs": 0}}},
            "fallback": False,
        }
        runs = goodputs(uplinks(medium, stations, 12e6 / stations, payload, 65), seeds, threads)
        scale = 1500 / payload / 1e6
        published = heusse(stations, 1e6) / 1e6
        slow = Estimate.of([run["s0"] * scale for run in runs])
        others = [
            sum(own for name, own in run.items() if name != "s0") / (stations - 1) * scale for run in runs
        ]
        for name, ours in (("the slow one", slow), ("each fast one", Estimate.of(others))):
            yield Row("anomaly", f"{stations} stations: {name}", "Mb/s", published, ours, 0.10, relative=True)


#: Table 1 of the paper: airtime by its model, and measured Mb/s, of two fast stations and the slow one.
MEASURED = {
    "fifo": ((0.10, 0.11, 0.79), (7.1, 6.3, 5.3)),
    "airtime": ((1 / 3, 1 / 3, 1 / 3), (38.8, 35.6, 2.0)),
}


def three(queues: str) -> fairwave.Scenario:
    """The paper's access point with two fast stations and a slow one."""
    names = ["fast1", "fast2", "slow"]
    slow = {"streams": 1, "channel": {"mcs": 0}}
    medium = {
        "law": "wifi",
        "access-point": "ap",
        "standard": "802.11n",
        "streams": 2,
        "guard-interval": "400 ns",
        "queues": queues,
        "channel": {"mcs": 7},
        "stations": {"slow": slow},
    }
    links: list[dict[str, Any]] = [
        {"from": "ap", "to": name, "medium": "air", "queue": {"capacity": {"packets": 1000}}}
        for name in names
    ]
    links.append({"from": "server", "to": "ap", "rate": "1 Gb/s", "delay": "100 us"})
    flows = [
        {
            "name": name,
            "from": "server",
            "to": name,
            "transport": UDP,
            "traffic": {"kind": "cbr", "rate": "50 Mb/s", "payload": f"{1500 - HEADERS} B"},
            "start": {"from": "0 s", "to": "100 ms"},
        }
        for name in names
    ]
    table = {"name": "two fast stations and a slow one", "duration": "25 s", "warmup": "5 s"}
    return fairwave.Scenario.from_dict({**table, "medium": {"air": medium}, "link": links, "flow": flows})


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
        for name, share, rate in zip(("fast1", "fast2", "slow"), shares, rates, strict=True):
            said = {"fast1": "first fast", "fast2": "second fast", "slow": "slow"}[name]
            queue = {"fifo": "one queue", "airtime": "airtime fairness"}[queues]
            yield Row(
                "fairness",
                f"{queue}: airtime of the {said} one",
                "share",
                share,
                Estimate.of(air[name]),
                0.05,
                relative=False,
            )
            yield Row(
                "fairness",
                f"{queue}: throughput of the {said} one",
                "Mb/s",
                rate,
                Estimate.of(got[name]),
                0.30,
                relative=True,
            )


def call_scenario(calls: int, mcs: int, packet: str) -> fairwave.Scenario:
    """So many calls of G.711 between stations and the wire, over 802.11b."""
    names = [f"s{place}" for place in range(calls)]
    medium = {
        "law": "wifi",
        "access-point": "ap",
        "standard": "802.11b",
        "edca": False,
        "fallback": False,
        "channel": {"mcs": mcs},
    }
    links: list[dict[str, Any]] = [
        {"from": "ap", "to": name, "medium": "air", "queue": {"capacity": {"packets": 100}}} for name in names
    ]
    links.append({"from": "server", "to": "ap", "rate": "100 Mb/s", "delay": "1 ms"})
    traffic = {"kind": "voice", "codec": "g711", "packet-time": packet}
    flows = [
        {"name": way, "from": source, "to": sink, "transport": "udp", "traffic": traffic}
        for name in names
        for way, source, sink in ((f"down-{name}", "server", name), (f"up-{name}", name, "server"))
    ]
    table = {"name": "calls on 802.11b", "duration": "35 s", "warmup": "5 s"}
    return fairwave.Scenario.from_dict({**table, "medium": {"air": medium}, "link": links, "flow": flows})


GOOD = 3.6
"""MOS that the calls of a direction keep on average."""


def fitting(mcs: int, packet: str, seed: int, threads: int | None) -> int:
    """The largest number of calls that fits under a seed."""
    calls = 1
    while True:
        results = call_scenario(calls, mcs, packet).replicate(seeds=[seed], threads=threads)
        mos: dict[str, list[float]] = {}
        for row in results.flows.to_pylist():
            mos.setdefault(row["group"].partition("-")[0], []).append(row["mos"])
        if min(sum(each) / len(each) for each in mos.values()) < GOOD:
            return calls - 1
        calls += 1


def calls(seeds: Sequence[int], threads: int | None) -> Iterator[Row]:
    """One station's throughput, and how many calls fit."""
    payload = 1500 - HEADERS
    medium = {"standard": "802.11b", "edca": False, "channel": {"mcs": 3}}
    alone = [run["s0"] / 1e6 for run in goodputs(uplinks(medium, 1, 9e6, payload, 25), seeds, threads)]
    yield Row(
        "calls",
        "one station alone at 11 Mb/s (measured)",
        "Mb/s",
        6.1,
        Estimate.of(alone),
        0.03,
        relative=True,
    )
    for name, mcs, packet, published in (
        ("calls, 10 ms in a packet, 11 Mb/s (measured)", 3, "10 ms", 6),
        ("calls, 20 ms in a packet, 11 Mb/s (bound)", 3, "20 ms", 12),
        ("calls, 20 ms in a packet, 1 Mb/s (bound)", 0, "20 ms", 3),
    ):
        found = [float(fitting(mcs, packet, seed, threads)) for seed in seeds]
        yield Row("calls", name, "calls", published, Estimate.of(found), 1.0, relative=False)


def speed() -> dict[str, float]:
    """What 50 stations cost: 25 with a call, 25 with a download, for a minute."""
    names = [f"s{place}" for place in range(50)]
    medium = {
        "law": "wifi",
        "access-point": "ap",
        "standard": "802.11ac",
        "width": 80,
        "streams": 2,
        "queues": "airtime",
    }
    flows: list[dict[str, Any]] = []
    for place, name in enumerate(names):
        if place % 2:
            flows.append(
                {
                    "name": "download",
                    "from": "server",
                    "to": name,
                    "transport": "tcp/cubic",
                    "traffic": "bulk",
                }
            )
        else:
            flows.append(
                {"name": "call", "from": "server", "to": name, "transport": "udp", "traffic": "voice"}
            )
            flows.append(
                {"name": "back", "from": name, "to": "server", "transport": "udp", "traffic": "voice"}
            )
    for number, flow in enumerate(flows):
        flow["name"] += str(number)
    links: list[dict[str, Any]] = [{"from": "ap", "to": name, "medium": "air"} for name in names]
    links.append({"from": "server", "to": "ap", "rate": "1 Gb/s", "delay": "10 ms"})
    scenario = fairwave.Scenario.from_dict(
        {
            "name": "fifty",
            "duration": "60 s",
            "medium": {"air": {**medium, "channel": {"mcs": 8}}},
            "link": links,
            "flow": flows,
        }
    )
    took = []
    for _ in range(3):
        begin = time.process_time()
        result = scenario.replicate(seeds=[1], threads=1)
        took.append(time.process_time() - begin)
    exchanges = sum(row["transmissions"] for row in result.radio.to_pylist())
    packets = sum(
        row["departures"] for row in result.links.to_pylist() if row["link"] not in {"server>ap", "ap>server"}
    )
    return {"seconds": min(took), "exchanges": exchanges, "packets": packets, "duration": 60.0}


TITLES = {
    "saturation": ("Stations that always send", "Bianchi 2000, analysis"),
    "anomaly": ("One slow station among fast ones", "Heusse et al. 2003, formula"),
    "calls": ("Calls on 802.11b", "Garg & Kappes 2003"),
    "fairness": ("Airtime fairness", "Høiland-Jørgensen et al. 2017, Table 1"),
}


def page(rows: Sequence[Row], cost: dict[str, float], seeds: int) -> str:
    """The report."""
    return "\n".join(_lines(rows, cost, seeds)).rstrip() + "\n"


def _lines(rows: Sequence[Row], cost: dict[str, float], seeds: int) -> Iterator[str]:
    about = (__doc__ or "").split("\n\n", 1)[1].rstrip().splitlines()
    alike = sum(row.agrees for row in rows)
    yield "# Wi-Fi compared with published results"
    yield ""
    yield (
        f"**{alike} of {len(rows)} numbers are within the margins, which were fixed before.**"
        f" Each row ran under {seeds} seeds; ± is the 95 % interval. [Shared media](links.md#wi-fi) describes the law."
    )
    yield ""
    yield (
        "`python -m validation.wifi` generates this page (`--rewrite`: from `docs/wifi.json`); do not edit it."
    )
    yield ""
    for part, (title, source) in TITLES.items():
        yield f"## {title}"
        yield ""
        yield f"| | {source} | fairwave | difference | margin | |"
        yield "|---|---|---|---|---|---|"
        for row in rows:
            if row.part == part:
                yield _row(row)
        yield ""
        if part in NOTES:
            yield NOTES[part]
            yield ""
    yield "## Cost"
    yield ""
    factor = cost["duration"] / cost["seconds"]
    each = cost["seconds"] / cost["exchanges"] * 1e6
    yield (
        "Fifty stations share one channel of 802.11ac (80 MHz, two streams) with airtime fairness: 25 have calls in"
        " both directions, 25 have downloads by CUBIC."
        f" {cost['duration']:g} s take {cost['seconds']:.2f} s of processor time, {factor:.0f} times faster than life,"
        " all transports and queues included, on the machine that wrote this page."
        f" That is {each:.1f} µs per frame exchange"
        f" ({cost['exchanges']:.0f} exchanges, {cost['packets'] / cost['exchanges']:.1f} packets each)."
    )
    yield ""
    yield "## Method"
    yield ""
    yield from writing.folded("Sources, settings and margins", about)


NOTES = {
    "fairness": (
        "With one queue the slow station takes 0.09 more of the airtime than the paper's model says. Here all three"
        " stations get the same throughput, because they offer the same and share one queue. In the paper's measurement"
        " the fast ones got 7.1 and 6.3 Mb/s, and the slow one 5.3 Mb/s. Aggregates to a fast station hold 2 packets"
        " here and 4.6 to 5.2 there. Why more packets of fast stations wait together there is not explained. With"
        " airtime fairness the paper's model gives 42.2 Mb/s to a fast station, from aggregates of 19 packets; here"
        " they hold 42 packets, as many as 64 kB allow."
    ),
}
"""What was found about differences, by part."""


def _row(row: Row) -> str:
    digits = {"saturation": 3, "anomaly": 3}.get(row.part, 2 if row.unit == "share" else 1)
    gap = f"{100 * row.difference:+.1f} %" if row.relative else f"{row.difference:+.2f}"
    margin = f"{100 * row.margin:g} %" if row.relative else f"{row.margin:g}"
    unit = "" if row.unit == "share" else f" {row.unit}"
    ours = f"{row.ours.mean:.{digits}f} ± {row.ours.half:.{digits}f}{unit}"
    published, mark = f"{row.published:.{digits}f}{unit}", "✓" if row.agrees else "✗"
    return f"| {row.name} | {published} | {ours} | {gap} | {margin} | {mark} |"


def stored(kept: Sequence[dict[str, Any]]) -> list[Row]:
    """The rows whose numbers `docs/wifi.json` keeps."""
    return [Row(**{**one, "ours": Estimate(**one["ours"])}) for one in kept]


def main() -> None:
    """Runs the comparisons, or rewrites the page."""
    parser = argparse.ArgumentParser(prog="python -m validation.wifi", description=__doc__)
    parser.add_argument("--rewrite", action="store_true", help="write the page from the kept numbers")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each row (default 5)")
    parser.add_argument("--threads", type=int, help="runs at once (default: all cores)")
    options = parser.parse_args()
    if options.rewrite:
        kept = json.loads(DATA.read_text(encoding="utf-8"))
        rows, cost = stored(kept["rows"]), kept["cost"]
    else:
        seeds = range(1, options.seeds + 1)
        rows = []
        for part in (saturation, anomaly, calls, fairness):
            for row in part(seeds, options.threads):
                rows.append(row)
                print(_row(row), flush=True)
        cost = speed()
        data = {"rows": [asdict(row) for row in rows], "cost": cost}
        DATA.write_text(writing.compact(data, 2), encoding="utf-8")
    PAGE.write_text(page(rows, cost, rows[0].ours.count), encoding="utf-8")
    off = [row.name for row in rows if not row.agrees]
    print(
        f"{len(rows) - len(off)} of {len(rows)} within the margins"
        + "".join(f"\n  off: {name}" for name in off)
    )


if __name__ == "__main__":
    main()
