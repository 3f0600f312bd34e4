"""Textbook waiting times: their mean and their distribution."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import exp, factorial, log, sqrt

from practice.queues import periodic_tail, periodic_waits, poisson_queue, transfers
from practice.situation import (
    IN_STEP,
    Outcome,
    Situation,
    Table,
    about,
    exactly,
    flow,
    link,
    near,
    poisson,
    ran,
)


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _constant_sizes()
    yield from _several_sizes()
    yield from _streams()
    yield from _bursts()


def waits_at_most(x: float, load: float) -> float:
    """M/D/1: probability of a wait of at most x transmissions (Erlang 1909).

    P(W ≤ x) = (1 − ρ) Σ (ρ (k − x))ᵏ/k! e^(−ρ (k − x)) over k ≤ x.
    """
    terms = ((load * (k - x)) ** k / factorial(k) * exp(-load * (k - x)) for k in range(int(x) + 1))
    return (1 - load) * sum(terms)


def quantile(part: float, load: float) -> float:
    """The wait, in transmissions, that this part of the packets does not exceed."""
    low, high = 0.0, 30.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if waits_at_most(middle, load) < part else (low, middle)
    return high


def _constant_sizes() -> Iterator[Situation]:
    for load, percent, off in ((0.5, 95, 0.08), (0.5, 99, 0.1), (0.8, 95, 0.12), (0.8, 99, 0.16)):
        yield Situation(
            f"wait/md1-{load:g}-{percent}", f"Poisson packets of 1 ms at load {load:g}: the wait that {percent} % do not exceed", "ms",
            *about(quantile(percent / 100, load), off), "M/D/1, Erlang 1909: (1 − ρ) Σ (ρ(k − x))ᵏ/k! e^(−ρ(k − x)); ± 4 σ of chance",
            lambda load=load, percent=percent: 1e3 * poisson_queue(load).mean("flows", f"delay_p{percent}_s") - 2,  # type: ignore[misc]
        )  # fmt: skip
    yield Situation(
        "wait/tandem", "Poisson packets at load 0.8 through two links of 8 Mb/s, one after the other: mean wait before the second", "ms",
        *exactly(0), "what leaves the first is a transmission apart", _tandem,
    )  # fmt: skip
    yield Situation(
        "wait/little-pie", "Ten transfers through PIE: packets that wait over packets per second times wait", "",
        *about(1, 0.005), "Little's law, L = λ W",
        _little,
    )  # fmt: skip


def _tandem() -> float:
    ways = [
        link("8 Mb/s", "1 ms", 100_000) | {"from": one, "to": two} for one, two in (("a", "m"), ("m", "b"))
    ]
    return 1e3 * ran(ways, poisson("stream", 800), 30, hosts=IN_STEP).mean("links", "mean_wait_s", link="m>b")


def _little() -> float:
    (row,) = transfers("pie", 10).rows("links", link="a>b")
    return row["mean_queue_packets"] / (row["departures"] / 100 * row["mean_wait_s"])


def _sized(sizes: list[int], per_second: float) -> Outcome:
    """Poisson packets of these sizes with equal frequency, over 8 Mb/s."""
    transport: Table = {"name": "udp", "header": "0 B", "max-payload": "9000 B"}
    flows = [
        poisson(f"size-{place}", per_second / len(sizes), size) | {"transport": transport}
        for place, size in enumerate(sizes)
    ]
    return ran(link("8 Mb/s", "1 ms", 100_000), flows, 120, warmup="5 s", hosts=IN_STEP)


def pollaczek_khinchine(sizes: list[int], per_second: float) -> float:
    """The mean wait in ms, λ E[S²]/(2 (1 − ρ)), a byte taking a microsecond."""
    first, second = (sum((size / 1e3) ** power for size in sizes) / len(sizes) for power in (1, 2))
    rate = per_second / 1e3
    return rate * second / (2 * (1 - rate * first))


def exponential(mean: float, strata: int) -> list[int]:
    """Equally probable sizes that approximate an exponential distribution: the means of its strata."""
    ends = [-log(1 - place / strata) for place in range(strata)]
    above = [(end + 1) * exp(-end) for end in ends] + [0.0]
    return [round(mean * strata * (above[place] - above[place + 1])) for place in range(strata)]


def _several_sizes() -> Iterator[Situation]:
    two = [250, 1250]
    yield Situation(
        "wait/mg1", "Poisson packets of 250 and 1250 B, as many of each, at load 0.75: mean wait", "ms",
        *about(pollaczek_khinchine(two, 1000), 0.1), "Pollaczek–Khinchine: λ E[S²]/(2(1 − ρ)); ± 4 σ",
        lambda: 1e3 * _sized(two, 1000).mean("links", "mean_wait_s", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "wait/mg1-alike", "The same: the small ones' wait over the large ones'", "",
        *about(1, 0.05), "PASTA: both see the queue as it is on the mean",
        lambda: (_sized(two, 1000).mean("flows", "delay_mean_s", group="size-0") - 1.25e-3)
        / (_sized(two, 1000).mean("flows", "delay_mean_s", group="size-1") - 2.25e-3),
    )  # fmt: skip
    for load in (0.5, 0.7):
        yield Situation(
            f"wait/mm1-{load:g}", f"Poisson packets of exponential size, 0.5 ms on the mean, at load {load:g}: mean wait", "ms",
            *about(0.5 * load / (1 - load), 0.1), "M/M/1: ρ/(1 − ρ) transmissions (40 sizes stand for the distribution)",
            lambda load=load: 1e3 * _sized(exponential(500, 40), 2000 * load).mean("links", "mean_wait_s", link="a>b"),  # type: ignore[misc]
        )  # fmt: skip


def _streams() -> Iterator[Situation]:
    for count, period, beyond in ((8, 10, 1), (8, 10, 2), (19, 20, 2), (19, 20, 4)):
        part = periodic_tail(count - 1, period, beyond)
        yield Situation(
            f"wait/nd-d-1-{count}-{beyond}", f"{count} periodic streams in {period} transmissions' time: share of them that wait more than {beyond} transmissions", "%",
            *near(100 * part, 400 * sqrt(part * (1 - part) / 300)), "N·D/D/1, Roberts & Virtamo 1991; 300 runs, ± 4 σ",
            partial(_share_beyond, count, period, beyond),
        )  # fmt: skip


def _share_beyond(count: int, period: int, beyond: float) -> float:
    waits = periodic_waits(count, period)
    return 100 * sum(wait > beyond for wait in waits) / len(waits)


def _volleys(packets: int, wire: Table | list[Table], **more: object) -> Outcome:
    """Volleys of 1000 B packets at the same moment, every 100 ms."""
    traffic = {
        "kind": "burst",
        "rate": "1000 Gb/s",
        "payload": "1000 B",
        "on": {"distribution": "constant", "mean": f"{8 * packets} ns"},
        "off": {"distribution": "constant", "mean": "100 ms"},
        "first": "talk",
    }
    return ran(wire, flow("volley", {"name": "udp", "header": "0 B"}, traffic), 10, hosts=IN_STEP, **more)


def _bursts() -> Iterator[Situation]:
    yield Situation(
        "wait/volley", "Five packets of 1000 B at once, each 100 ms, before 1 Mb/s: mean wait", "ms",
        *near(16, 1e-3), "0, 8, 16, 24 and 32 ms",
        lambda: 1e3 * _volleys(5, link("1 Mb/s", "10 ms")).mean("links", "mean_wait_s", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "wait/volley-dropped", "The same with room for three that wait: lost", "%",
        *exactly(20), "one is transmitted, three wait, the fifth finds no room",
        lambda: 100 * _volleys(5, link("1 Mb/s", "10 ms", 3)).share("dropped", "packets_sent"),
    )  # fmt: skip
    yield Situation(
        "wait/packet-pair", "Pairs of packets over 10, 1 and 2 Mb/s: the rate by which they leave apart", "Mb/s",
        *about(1, 1e-4), "Keshav 1991: the narrowest link spaces them by a transmission",
        _packet_pair,
    )  # fmt: skip


def _packet_pair() -> float:
    ways = [
        link(rate, "5 ms") | {"from": start, "to": end}
        for start, end, rate in (("a", "m", "10 Mb/s"), ("m", "n", "1 Mb/s"), ("n", "b", "2 Mb/s"))
    ]
    outcome = _volleys(2, ways)
    apart = 2 * (outcome.mean("flows", "delay_max_s") - outcome.mean("flows", "delay_mean_s"))
    return 8000 / apart / 1e6
