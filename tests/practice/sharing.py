"""Shares: fair queues, random sharing of a queue, acknowledgements on a narrow return path, small buffers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from math import sqrt
from statistics import median

from practice.situation import (
    IN_STEP,
    Outcome,
    Situation,
    Table,
    about,
    apart,
    between,
    cbr,
    exactly,
    flow,
    link,
    near,
    ran,
)


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _max_min()
    yield from _parking_lot()
    yield from _random_sharing()
    yield from _way_back()
    yield from _buffers()


def max_min(demands: list[float], capacity: float) -> list[float]:
    """Max-min fair shares: more for one flow is less for a flow with an equal or smaller share. Least demands first."""
    shares, left = dict.fromkeys(range(len(demands)), 0.0), capacity
    for done, place in enumerate(sorted(shares, key=lambda place: demands[place])):
        shares[place] = min(demands[place], left / (len(demands) - done))
        left -= shares[place]
    return [shares[place] for place in range(len(demands))]


DEMANDS = [1.0, 3.0, 8.0, 8.0]


@cache
def _served(discipline: str) -> list[float]:
    """Rates that streams of these demands get from 10 Mb/s, in Mb/s."""
    streams = [cbr(f"s{place}", f"{demand:g} Mb/s") for place, demand in enumerate(DEMANDS)]
    wire = link("10 Mb/s", "5 ms", queue={"discipline": discipline, "capacity": {"packets": 200}})
    outcome = ran(*apart(wire, streams), 20, warmup="5 s")
    return [goodput / 1e6 for goodput in outcome.values("flows", "goodput_bps")]


def _max_min() -> Iterator[Situation]:
    for place, share in enumerate(max_min(DEMANDS, 10)[:3]):
        yield Situation(
            f"share/max-min-{DEMANDS[place]:g}", f"Streams of 1, 3, 8 and 8 Mb/s on 10 Mb/s, FQ-CoDel: what that of {DEMANDS[place]:g} Mb/s gets", "Mb/s",
            *about(share, 0.01), "max-min fairness (Bertsekas & Gallager §6.5.2): 1, 3, 3 and 3",
            lambda place=place: _served("fq-codel")[place],  # type: ignore[misc]
        )  # fmt: skip
    yield Situation(
        "share/first-come", "The same through drop-tail: what that of 1 Mb/s gets", "Mb/s",
        *about(0.5, 0.25), "first come, first served: all lose half",
        lambda: _served("drop-tail")[0],
    )  # fmt: skip


def _lot(kind: str) -> Outcome:
    """Three links of 10 Mb/s with FQ-CoDel; one flow over all of them, one over the first, four over the second, one over
    the third.
    """
    queue = {"discipline": "fq-codel", "capacity": {"packets": 500}}
    hops = [
        link("10 Mb/s", "1 ms", queue=queue) | {"from": f"n{hop}", "to": f"n{hop + 1}"} for hop in range(3)
    ]
    ends = [
        ("long", "n0", "n3", 1),
        ("first", "n0", "n1", 1),
        ("second", "n1", "n2", 4),
        ("third", "n2", "n3", 1),
    ]
    near_by = {"discipline": "drop-tail", "capacity": {"packets": 1000}}
    flows, access = [], []
    for name, start, end, count in ends:
        one = cbr(name, "10 Mb/s") if kind == "streams" else flow(name, "tcp/cubic", "bulk")
        flows.append(one | {"count": count, "from": f"{name}-{{i}}", "to": f"to-{name}-{{i}}"})
        for one_end, other in ((f"{name}-{{i}}", start), (end, f"to-{name}-{{i}}")):
            access.append(
                {
                    "from": one_end,
                    "to": other,
                    "rate": "1 Gb/s",
                    "delay": "0.1 ms",
                    "queue": near_by,
                    "count": count,
                }
            )
    return ran([*hops, *access], flows, 20, warmup="5 s")


def _parking_lot() -> Iterator[Situation]:
    yielding = "max-min fairness: five share the second link, and the others take what is left of theirs"
    stubborn = "max-min fairness link by link: what does not yield takes half of the first link, and loses three of its 5 Mb/s on the second"
    for kind, group, share, payload, off, words, source in (
        ("files", "long", 2, 1000 / 1040, 0.12, "transfers by CUBIC", yielding),
        ("files", "first", 8, 1000 / 1040, 0.12, "the same", yielding),
        ("files", "second", 2, 1000 / 1040, 0.12, "the same", yielding),
        ("streams", "long", 2, 1, 0.02, "streams of 10 Mb/s", stubborn),
        ("streams", "first", 5, 1, 0.02, "the same", stubborn),
        ("streams", "third", 8, 1, 0.02, "the same", stubborn),
    ):
        which = {
            "long": "that over all three",
            "first": "that over the first",
            "second": "one over the second",
            "third": "that over the third",
        }
        yield Situation(
            f"share/parking-lot-{kind}-{group}", f"Three links of 10 Mb/s in a row, FQ-CoDel, one flow over all, 1, 4 and 1 over each, {words}: goodput of {which[group]}", "Mb/s",
            *about(share * payload, off), source,
            lambda kind=kind, group=group: _lot(kind).mean("flows", "goodput_bps", group=group) / 1e6,  # type: ignore[misc]
        )  # fmt: skip


FLOWS, QUEUES, RUNS = 100, 1024, 60


def _sharing_a_queue() -> float:
    """Mean number of flows of a hundred with clearly less than the median."""
    streams = cbr("streams", "200 kb/s", 250, count=FLOWS, start={"from": "0 s", "to": "10 ms"})
    queue = {
        "discipline": "fq-codel",
        "capacity": {"packets": 2000},
        "quantum": "256 B",
        "target": "100 s",
        "interval": "200 s",
    }
    outcome = ran(link("10 Mb/s", "1 ms", queue=queue), streams, 3, seeds=RUNS, warmup="2 s")
    goodputs = outcome.values("flows", "goodput_bps")
    runs = [goodputs[place : place + FLOWS] for place in range(0, len(goodputs), FLOWS)]
    return sum(sum(one < 0.75 * median(run) for one in run) for run in runs) / len(runs)


def _random_sharing() -> Iterator[Situation]:
    expected = FLOWS * (1 - (1 - 1 / QUEUES) ** (FLOWS - 1))
    yield Situation(
        "share/hash", "A hundred streams on FQ-CoDel's 1024 queues, each offered twice its part: those that get less as they share a queue", "flows",
        *near(expected, 4 * sqrt(2 * expected / RUNS)), "n (1 − (1 − 1/1024)ⁿ⁻¹); 60 runs, mostly pairs: ± 4 σ",
        _sharing_a_queue,
    )  # fmt: skip


def _acknowledged(back: str, delayed: bool) -> float:
    """Mb/s of a transfer over 10 Mb/s with a return path of rate `back` for its acknowledgements of 40 B."""
    queue = {"discipline": "drop-tail", "capacity": {"packets": 1000}}
    wire = link("10 Mb/s", "10 ms", reverse={"rate": back, "queue": queue, "loss": {"model": "none"}})
    transport: Table = {"name": "tcp/newreno", "receiver-window": 60, "delayed-ack": delayed}
    return _rate(ran(wire, flow("file", transport, "bulk"), 30, hosts=IN_STEP, warmup="10 s"))


def _rate(outcome: Outcome) -> float:
    return outcome.mean("flows", "goodput_bps") / 1e6


def _download_rate(discipline: str) -> float:
    """Mb/s of a download of window 20 over 10 Mb/s and 40 ms with acknowledgements behind an upload on 1 Mb/s."""
    up = {"discipline": discipline, "capacity": {"bytes": 50_000}}
    wire = link("10 Mb/s", "20 ms", reverse={"rate": "1 Mb/s", "queue": up, "loss": {"model": "none"}})
    download = flow("down", {"name": "tcp/newreno", "receiver-window": 20, "delayed-ack": False}, "bulk")
    flood = cbr("up", "1.1 Mb/s") | {"from": "b", "to": "a"}
    return (
        ran(wire, [download, flood], 40, hosts=IN_STEP, warmup="10 s").mean(
            "flows", "goodput_bps", group="down"
        )
        / 1e6
    )


def _way_back() -> Iterator[Situation]:
    for delayed, words, rate in ((False, "each segment", 2.5), (True, "each second one", 5)):
        yield Situation(
            f"share/acknowledgements-{'delayed' if delayed else 'all'}", f"A transfer over 10 Mb/s, 100 kb/s back, {words} acknowledged, window 60: goodput", "Mb/s",
            *about(rate, 0.01), "100 kb/s are 312.5 acknowledgements of 40 B a second, each for one segment or two",
            partial(_acknowledged, "100 kb/s", delayed),
        )  # fmt: skip
    yield Situation(
        "share/upload", "A download of window 20, round trip 40 ms, whose acknowledgements wait behind a full buffer of 50 kB before 1 Mb/s: goodput", "Mb/s",
        *about(20 * 8e-3 / (0.04 + 0.4 + 0.008), 0.1), "W/RTT: 40 ms, 400 ms of queue and a packet in transmission",
        partial(_download_rate, "drop-tail"),
    )  # fmt: skip
    yield Situation(
        "share/upload-fair", "The same with FQ-CoDel before the 1 Mb/s: goodput", "Mb/s",
        *between(20 * 8e-3 / (0.04 + 0.004), 20 * 8e-3 / (0.04 + 0.012), 20 * 8e-3 / 0.04), "W/RTT: an acknowledgement waits for a packet in transmission, 8 ms, at most",
        partial(_download_rate, "fq-codel"),
    )  # fmt: skip


def _many(packets: int) -> Outcome:
    """A hundred transfers over 50 Mb/s with round trips from 80 to 120 ms: 601 packets on the path."""
    topology = {
        "preset": "dumbbell",
        "bottleneck": {"rate": "50 Mb/s", "delay": "10 ms", "queue": {"discipline": "drop-tail", "capacity": {"packets": packets}}},
        "access": {"rate": "1 Gb/s", "delay": "5 ms"},
    }  # fmt: skip
    spread = {"delay": {"from": "25 ms", "to": "45 ms", "spread": "even"}}
    transport: Table = {"name": "tcp/sack", "delayed-ack": False}
    files = flow("files", transport, "bulk", count=100, start={"from": "0 s", "to": "3 s"}) | {
        "source-access": spread
    }
    del files["from"], files["to"]
    return ran([], files, 30, topology=topology, warmup="12 s")


def _buffers() -> Iterator[Situation]:
    for packets, words, low in ((601, "a bandwidth-delay product", 99), (60, "a tenth of it, 1/√n", 96)):
        yield Situation(
            f"share/buffer-{packets}", f"A hundred transfers on 50 Mb/s, round trips of 80 to 120 ms, buffer of {packets} packets ({words}): use of the link", "%",
            *between(99, low, 100), "Appenzeller, Keslassy & McKeown 2004: RTT·C/√n suffices for n flows out of step",
            lambda packets=packets: 100 * _many(packets).mean("links", "utilisation", link="r1>r2"),  # type: ignore[misc]
        )  # fmt: skip
    burst: Table = {"name": "tcp/newreno", "initial-window": 10, "delayed-ack": False}
    for paced, words, most in ((False, "as it is", 9), (True, "paced", 0)):
        yield Situation(
            f"share/initial-window-{'paced' if paced else 'at-once'}", f"A file of ten segments, first window of ten, before 10 Mb/s, round trip 100 ms, {words}: most that wait", "packets",
            *exactly(most), "one is transmitted, nine wait" if not paced else "twice the window per round trip: 5 ms apart, and each takes 0.8 ms",
            partial(_most_waiting, burst | {"pacing": paced}),
        )  # fmt: skip


def _most_waiting(transport: Table) -> float:
    file = flow("file", transport, {"kind": "transfer", "size": "10 kB"})
    return ran(link("10 Mb/s", "50 ms"), file, 5, hosts=IN_STEP).mean(
        "links", "max_queue_packets", link="a>b"
    )
