"""Wi-Fi compared with published results.

**Bianchi.** G. Bianchi, *Performance analysis of the IEEE 802.11 distributed coordination function* (IEEE JSAC 18(3),
2000), gives the throughput of stations that always have a packet to send, as the fixed point of two equations (7 and
9). The parameters are from its Table II: 1 Mb/s, 8184 bits of payload, slots of 50 µs, SIFS 28 µs, DIFS 128 µs,
windows from 32 slots, no limit of retries. The analysis neglects that only a station that has just transmitted can
have the first slot after DIFS. Margin: 2 %.

**Delay.** A station of N that all always send completes a packet every N · 8184 bits / throughput on average, because
nothing is lost. Its queue of 20 packets is always full, so by Little's law a packet waits 20 times that in the queue.
Runs of 150 s; the first 30 s do not count. Margin: 2 %.

**Performance anomaly.** M. Heusse, F. Rousseau, G. Berger-Sabbatel and A. Duda, *Performance anomaly of 802.11b*
(INFOCOM 2003), derive the throughput of each of N stations if one of them transmits at 1 Mb/s and the others at 11
Mb/s. They approximate contention without a fixed point. The formula also holds for a slow station at 2 or 5.5 Mb/s.
Margin: 10 %, for the slow station and for the fast ones. †: the formula was written down without the paper at hand.
Their measurements are not compared, because no copy of the tables was found.

**Not checked.** † marks numbers that were written down without the publication at hand. Compare them with it before
you rely on a row. Bianchi's parameters were found again in programs of others. Of papers with *abstract read* only the
abstract was at hand.

**Settings.** Each row ran under several seeds; intervals have 95 %. Sources send more than the channel carries. The
driver's buffer, the aggregates' limit of 4 ms and the airtime per turn have ath9k's values, which are the defaults.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fairwave
from validation import kept, writing
from validation.published import wifi_calls, wifi_fairness
from validation.published.rows import (
    HEADERS,
    METHOD,
    UDP,
    Row,
    arguments,
    goodputs,
    keep,
    line,
    section,
    stored,
    verdict,
)
from validation.verdict import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KEPT = "published/wifi"


def tau(stations: int, window: int, stages: int) -> float:
    """Bianchi's probability that a station transmits in a slot (eq. 7 and 9), by bisection."""

    def send_probability(p: float) -> float:
        return 2 / (1 + window + p * window * sum((2 * p) ** k for k in range(stages)))

    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if 1 - (1 - send_probability(middle)) ** (stations - 1) > middle:
            low = middle
        else:
            high = middle
    return send_probability(low)


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
    medium: dict[str, Any], stations: int, rate: float, payload: int, seconds: int, warmup: int = 5
) -> fairwave.Scenario:
    """Stations that send to the access point, each more than it can."""
    names = [f"s{place}" for place in range(stations)]
    return fairwave.Scenario.from_dict(
        {
            "name": "stations that always send",
            "duration": f"{seconds} s",
            "warmup": f"{warmup} s",
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


SATURATED = [
    *((stations, 5, False) for stations in (5, 10, 20, 50)),
    (20, 3, False),
    (5, 5, True),
    (50, 5, True),
]
"""Stations, doublings of the window, and whether RTS and CTS go before frames."""


def bianchis(
    stations: int, stages: int, announced: bool, offered: float = 2e6, seconds: int = 65, warmup: int = 5
) -> fairwave.Scenario:
    """Stations with Bianchi's parameters that always send; together they offer ``offered`` bits per second."""
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
    return uplinks(medium, stations, offered / stations, 1023 - HEADERS, seconds, warmup)


def saturation(
    seeds: Sequence[int], threads: int | None, cases: Sequence[tuple[int, int, bool]] = SATURATED
) -> Iterator[Row]:
    """Bianchi's throughput."""
    for stations, stages, announced in cases:
        runs = goodputs(bianchis(stations, stages, announced), seeds, threads)
        sums = [sum(run.values()) * 1023 / (1023 - HEADERS) / 1e6 for run in runs]
        name = f"{stations} stations, window 32 to {32 * 2**stages}" + (", RTS and CTS" if announced else "")
        published = bianchi(stations, stages, announced) / 1e6
        yield Row("saturation", name, "Mb/s", published, Estimate.from_values(sums), 0.02, relative=True)


def delay(seeds: Sequence[int], threads: int | None) -> Iterator[Row]:
    """The delay that follows from Bianchi's throughput."""
    for stations in (5, 10, 20, 50):
        scenario = bianchis(stations, 5, announced=False, offered=20e6, seconds=150, warmup=30)
        waits: dict[int, float] = {}
        packets: dict[int, int] = {}
        for link in scenario.replicate(seeds=list(seeds), threads=threads).links.to_pylist():
            if link["link"].endswith(">ap"):
                run, sent = link["run"], link["departures"]
                packets[run] = packets.get(run, 0) + sent
                waits[run] = waits.get(run, 0.0) + sent * link["mean_wait_s"] * 1e3
        means = [waits[run] / packets[run] for run in waits]
        published = 20 * stations * 8184 / bianchi(stations, 5, announced=False) * 1e3
        name = f"{stations} stations: wait in a queue of 20 packets"
        yield Row("delay", name, "ms", published, Estimate.from_values(means), 0.02, relative=True)


def heusse(stations: int, slow: float) -> float:
    """Throughput of each station if one transmits at ``slow`` and the others at 11 Mb/s, bits per second."""
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
    for stations, slow_rate, index in ((2, 1.0, 0), (4, 1.0, 0), (8, 1.0, 0), (2, 2.0, 1), (2, 5.5, 2)):
        medium = {
            "standard": "802.11b",
            "edca": False,
            "channel": {"mcs": 3},
            "stations": {"s0": {"channel": {"mcs": index}}},
            "fallback": False,
        }
        runs = goodputs(uplinks(medium, stations, 12e6 / stations, payload, 65), seeds, threads)
        scale = 1500 / payload / 1e6
        published = heusse(stations, slow_rate * 1e6) / 1e6
        slow = [run["s0"] * scale for run in runs]
        fast = [(sum(run.values()) - run["s0"]) / (stations - 1) * scale for run in runs]
        case = f"{stations} stations" + (f", the slow one at {slow_rate:g} Mb/s" if slow_rate > 1 else "")
        for name, ours in (("the slow one", slow), ("each fast one", fast)):
            yield Row(
                "anomaly",
                f"{case}: {name}",
                "Mb/s",
                published,
                Estimate.from_values(ours),
                0.10,
                relative=True,
                memory=True,
            )


def fifty() -> fairwave.Scenario:
    """50 stations: 25 with a call, 25 with a download, for a minute."""
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
    return fairwave.Scenario.from_dict(
        {
            "name": "fifty",
            "duration": "60 s",
            "preset": "rfc",
            "medium": {"air": {**medium, "channel": {"mcs": 8}}},
            "link": links,
            "flow": flows,
        }
    )


def speed() -> dict[str, float]:
    """CPU time of these 50 stations: the minimum of several runs, with the set-up."""
    scenario = fifty()
    took = []
    for _ in range(9):
        begin = time.process_time()
        result = scenario.replicate(seeds=[1], threads=1)
        took.append(time.process_time() - begin)
    exchanges = sum(row["transmissions"] for row in result.radio.to_pylist())
    packets = sum(
        row["departures"] for row in result.links.to_pylist() if row["link"] not in {"server>ap", "ap>server"}
    )
    return {"seconds": min(took), "exchanges": exchanges, "packets": packets, "duration": 60.0}


PARTS = {
    "saturation": (saturation, "Stations that always send", "Bianchi 2000, analysis", 3),
    "delay": (delay, "Delay of stations that always send", "Bianchi 2000 and Little's law", None),
    "anomaly": (anomaly, "One slow station among fast ones", "Heusse et al. 2003, formula", 3),
    "calls": (wifi_calls.calls, "Calls on 802.11b", "Garg & Kappes 2003", None),
    "airtime": (wifi_calls.compare_airtime, "Calls on 802.11b by airtime", "Gast 2005, count", None),
    "protection": (wifi_calls.protection, "A call among data", "Dangerfield et al. 2006, testbed", None),
    "fairness": (wifi_fairness.fairness, "Airtime fairness", "Høiland-Jørgensen et al. 2017, Table 1", None),
    "linux": (wifi_fairness.commit, "Airtime fairness in Linux", "commit 63fefa05", None),
    "latency": (wifi_fairness.latency, "Latency under load", "Høiland-Jørgensen et al. 2017", None),
    "call": (wifi_fairness.call, "A call to the slow station", "Høiland-Jørgensen et al. 2017", None),
    "small": (
        wifi_fairness.small_aggregates,
        "The same with aggregates of 19 packets",
        "commit 63fefa05; Høiland-Jørgensen et al. 2017",
        None,
    ),
}
"""A part: the function for its rows, title, source, and digits if the unit's are too few."""


AFTERWARDS = {"small"}
"""Parts that were run after a look at differences; they do not count."""


def page(rows: Sequence[Row], cost: dict[str, float], seeds: int) -> str:
    """The report."""
    return "\n".join(_lines(rows, cost, seeds)).rstrip() + "\n"


def _lines(rows: Sequence[Row], cost: dict[str, float], seeds: int) -> Iterator[str]:
    yield "# Wi-Fi compared with published results"
    yield ""
    yield (
        f"{verdict([row for row in rows if row.part not in AFTERWARDS])}"
        f" Each row ran under {seeds} seeds; ± is the 95 % interval. [Shared media](links.md#wi-fi) describes the law."
        " † marks numbers that were written down without the publication at hand ([method](#method))."
    )
    yield ""
    yield "`python -m validation wifi` measured the numbers of this page."
    yield ""
    for part, (_, title, source, digits) in PARTS.items():
        yield from section(rows, part, title, source, digits, NOTES.get(part))
    yield from writing.changed(CHANGED)
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
    yield from writing.method(METHOD, __doc__, wifi_calls.__doc__, wifi_fairness.__doc__)


NOTES = {
    "calls": (
        "A call takes less from data here than it was measured to take. Its 200 packets per second hold the channel for"
        " 0.12 s with acknowledgements and DIFS, which is 0.75 Mb/s of data. If each also waited for a backoff alone,"
        " it would be 1.15 Mb/s. Here backoffs of the call and of the data run at the same time. Why the testbed lies"
        " between is not known: the abstract does not say how the data was sent."
    ),
    "airtime": (
        "The count adds up frames and backoffs one after the other. Here backoffs of several stations run at the same"
        " time, so more calls fit. That gain grows with the number of frames that wait, and is largest for G.729 at 11"
        " Mb/s."
    ),
    "fairness": (
        "With one queue the slow station takes 0.09 more of the airtime than the paper's model says. Here all three"
        " stations get the same throughput, because they offer the same and share one queue. In the paper's measurement"
        " the fast ones got 7.1 and 6.3 Mb/s, and the slow one 5.3 Mb/s. Aggregates to a fast station hold 2 packets"
        " here and 4.6 to 5.2 there. Why more packets of fast stations wait together there is not explained. With"
        " airtime fairness the paper's model gives 42.2 Mb/s to a fast station, from aggregates of 19 packets; here"
        " they hold 42 packets, as many as 64 kB allow."
    ),
    "linux": (
        "Fast stations get more here, because an aggregate to them holds as many packets as 64 kB allow. In the testbed"
        " of the paper it held about 19 †. With aggregates of 19 packets all rows agree"
        " ([below](#the-same-with-aggregates-of-19-packets))."
    ),
    "call": (
        "The downloads differ for the same reason as above: with aggregates of 19 packets all eight agree. The MOS of a"
        " call as best effort behind one queue is higher here. It waits 0.2 s (FQ-CoDel) to 0.6 s (FIFO), which ITU-T"
        " G.107 rates between 2 and 4 when little is lost. How the paper's program turns delay, jitter and loss into"
        " 1.00 and 1.24 is not known."
    ),
}
"""Causes of differences, by part."""

CHANGED = (
    (
        "The delay rows first compared the mean delay of packets with 21 packets per station. But a frame waits inside"
        " the queue of 20 until its first attempt, so that number is not constant. The rows now compare the wait in the"
        " queue, averaged over packets, and runs are 150 s long instead of 65 s."
    ),
    (
        "A call's packets are marked as voice unless the scenario says otherwise. The first runs of the call as best"
        " effort were runs as voice; it now has code point 0."
    ),
    (
        "The wire in front of the access point kept 50 packets and lost some of the downloads' bursts; it keeps 1000"
        " now."
    ),
    ("Round trips under load ran for 25 s; intervals were as wide as the values, so they run for 125 s."),
    (
        "A packet arrived with the acknowledgement of its frame; now it arrives at the end of the frame. So a station"
        " that answers a packet at once finds the channel busy and draws a backoff. Before, it was first after each"
        " frame of the access point. All rows ran again."
    ),
    (
        "No margin was changed. The part with aggregates of 19 packets was added after a look and does not count."
    ),
)
"""Changes after a look at results."""


def main() -> None:
    """Runs the comparisons and keeps their numbers."""
    parser = arguments(__doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="these parts; the others stay as kept")
    options = parser.parse_args()
    before = kept.read(KEPT) if options.part else {}
    rows = stored(before.get("rows", []))
    chosen = options.part or PARTS
    for part in chosen:
        rows = [row for row in rows if row.part != part]
        for row in PARTS[part][0](range(1, options.seeds + 1), options.threads):
            rows.append(row)
            print(line(row, PARTS[part][3]), flush=True)
    rows.sort(key=lambda row: list(PARTS).index(row.part))
    keep(KEPT, rows, cost=before["cost"] if before else speed())
    off = [row.name for row in rows if not row.agrees]
    print(
        f"{len(rows) - len(off)} of {len(rows)} within the margins"
        + "".join(f"\n  off: {name}" for name in off)
    )


def render(_: Path) -> str:
    """Renders the page from the kept numbers."""
    found = kept.read(KEPT)
    rows = stored(found["rows"])
    return page(rows, found["cost"], rows[0].ours.count)
