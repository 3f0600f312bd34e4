"""Classes, policers, shapers and routes: guarantees of priority, weights and token buckets, and losses of a failover."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
    near,
    poisson,
    ran,
)

DEEP: Table = {"packets": 100_000}


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _priority()
    yield from _shares()
    yield from _buckets()
    yield from _routes()


def cobham(loads: list[float], millis: list[float], below: int) -> float:
    """M/G/1 with priorities, packets of one length per class: mean wait of a class, ms (Cobham 1954).

    W_p = W₀ / ((1 − σ_{p−1})(1 − σ_p)) with W₀ = Σ ρ s/2 for constant service times s.
    """
    residual = sum(load * time / 2 for load, time in zip(loads, millis, strict=True))
    return residual / ((1 - sum(loads[:below])) * (1 - sum(loads[: below + 1])))


def _mapped(discipline: str, classes: list[Table], rate: str = "1 Mb/s", **more: Any) -> Table:
    queue = {"discipline": discipline, "capacity": DEEP, "classes": classes}
    back = {"queue": {"discipline": "drop-tail", "capacity": {"packets": 1000}}}
    return {"from": "a", "to": "b", "rate": rate, "delay": "5 ms", "queue": queue, "reverse": back} | more


def _priorities() -> Outcome:
    classes = [{"name": "urgent", "match": {"dscp": "ef"}}, {"name": "rest"}]
    urgent = poisson("urgent", 0.3 * 1e6 / 1600, 200) | {"dscp": "ef"}
    rest = poisson("rest", 0.4 * 1e6 / 8000, 1000)
    return ran(*apart(_mapped("priority", classes), [urgent, rest]), 2000, hosts=IN_STEP)


def _waits(one: Outcome, name: str) -> float:
    return 1e3 * one.mean("service_classes", "mean_wait_s", link="a>b", **{"class": name})


def _priority() -> Iterator[Situation]:
    loads, millis = [0.3, 0.4], [1.6, 8.0]
    for place, name in enumerate(("urgent", "rest")):
        yield Situation(
            f"class/cobham-{name}",
            f"Poisson packets of 200 B (load 0.3) before those of 1000 B (0.4) on 1 Mb/s: mean wait of the {'first' if place == 0 else 'second'}",
            "ms", *about(cobham(loads, millis, place), 0.06), "Cobham 1954: W₀/((1 − σ₍ₚ₋₁₎)(1 − σₚ)); ± 4 σ of chance",
            lambda name=name: _waits(_priorities(), name),  # type: ignore[misc]
        )  # fmt: skip
    yield Situation(
        "class/one-packet", "Voice with priority beside a flood of packets of 1500 B on 1 Mb/s: the longest that any of it waits", "ms",
        *between(12, 8, 12.001), "what is being transmitted is not interrupted: 12 000 bits over 1 Mb/s",
        lambda: 1e3 * _llq(10).mean("service_classes", "max_wait_s", link="a>b", **{"class": "voice"}),
    )  # fmt: skip


def _llq(per_mille_of_300: float) -> Outcome:
    """Voice at a percentage of its policer's rate, next to a flood."""
    classes = [
        {
            "name": "voice",
            "match": {"dscp": "ef"},
            "priority": True,
            "police": {"rate": "30 %", "burst": "3000 B"},
        },
        {"name": "flood", "queue": {"discipline": "drop-tail", "capacity": {"packets": 20}}},
    ]
    voice = cbr("voice", f"{3 * per_mille_of_300:g} kb/s", 200) | {"dscp": "ef"}
    return ran(_mapped("llq", classes), [voice, cbr("flood", "2 Mb/s", 1500)], 60, hosts=IN_STEP)


def _shares() -> Iterator[Situation]:
    yield Situation(
        "class/llq-policed", "Voice of 600 kb/s in an LLQ of 30 % on 1 Mb/s: share that is lost", "%",
        *near(50, 0.2), "the policer lets 300 kb/s through, and 3000 B at once",
        lambda: 100 * _llq(200).share("policed", "arrivals", "service_classes", **{"class": "voice"}),
    )  # fmt: skip
    yield Situation(
        "class/llq-rest", "The same: what a flood beside it gets", "kb/s",
        *about(700, 0.01), "what priority leaves: 1000 − 300 kb/s",
        lambda: 8e-3 / 60 * _llq(200).total("service_classes", "wire_served", **{"class": "flood"}),
    )  # fmt: skip
    for discipline in ("wfq", "drr"):
        yield Situation(
            f"class/{discipline}-share", f"Floods of 1500 B and of 300 B with weights 1 and 3 in {discipline.upper()}: the second's bytes over the first's",
            "", *about(3, 0.01), "shares by weights, whatever the packets' size",
            lambda discipline=discipline: _weighted(discipline),  # type: ignore[misc]
        )  # fmt: skip


def _weighted(discipline: str) -> float:
    classes = [
        {"name": "large", "match": {"dscp": "cs1"}, "queue": {"capacity": {"packets": 50}}},
        {"name": "small", "match": {"dscp": "cs2"}, "weight": 3, "queue": {"capacity": {"packets": 50}}},
    ]
    floods = [cbr("large", "2 Mb/s", 1500) | {"dscp": "cs1"}, cbr("small", "2 Mb/s", 300) | {"dscp": "cs2"}]
    one = ran(_mapped(discipline, classes), floods, 30, hosts=IN_STEP)
    sent = [one.total("service_classes", "wire_served", **{"class": name}) for name in ("small", "large")]
    return sent[0] / sent[1]


def _bucket(key: str, seconds: float, **more: Any) -> Outcome:
    queue = {"discipline": "drop-tail", "capacity": DEEP}
    table = {key: {"rate": "400 kb/s", "burst": "10 kB"} | more}
    way = {
        "from": "a",
        "to": "b",
        "rate": "10 Mb/s",
        "delay": "5 ms",
        "queue": queue,
        "reverse": {"queue": queue},
    }
    reverse = {"reverse": {"queue": queue, key: {"rate": "10 Mb/s"}}}
    return ran(way | table | reverse, cbr("stream", "800 kb/s", 1000), seconds, hosts=IN_STEP)


def _buckets() -> Iterator[Situation]:
    yield Situation(
        "class/policer-burst", "A stream of 800 kb/s through a policer of 400 kb/s and 10 kB, 20 s: bytes that pass", "kB",
        *near(1010, 1), "b + r t: 10 kB + 400 kb/s · 20 s / 8, to a packet",
        lambda: 1e-3 * _bucket("police", 20).total("service_classes", "wire_served", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "class/shaper-loss", "The same through a shaper: packets that are dropped", "packets",
        *exactly(0), "what exceeds waits, while there is room",
        lambda: _bucket("shape", 20).total("links", "dropped_overflow", link="a>b")
        + _bucket("shape", 20).total("links", "dropped_early", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "class/shaper-wait", "The same: the longest wait of a packet that has left by the end", "s",
        *about((2000 - 1010) / 100, 0.01), "b + r t = 1010 kB have left at 20 s, and came by 10.1 s",
        lambda: _bucket("shape", 20).mean("service_classes", "max_wait_s", link="a>b"),
    )  # fmt: skip


def _run_failover(failover: str | None) -> Outcome:
    def way(start: str, end: str, delay: str) -> Table:
        return {"from": start, "to": end, "rate": "100 Mb/s", "delay": delay}

    links = [
        way("a", "r1", "1 ms"),
        way("r1", "r2", "10 ms"),
        way("r1", "r3", "20 ms"),
        way("r3", "r2", "20 ms"),
        way("r2", "b", "1 ms"),
    ]
    stream = cbr("stream", "80 kb/s", 100) | ({} if failover is None else {"failover": failover})
    events = [
        {"at": "20 s", "link": "r1<>r2", "state": "down"},
        {"at": "40 s", "link": "r1<>r2", "state": "up"},
    ]
    return ran(links, stream, 60, hosts=IN_STEP, event=events)


def _routes() -> Iterator[Situation]:
    for failover, seconds in (("2 s", 2), ("500 ms", 0.5), (None, 20)):
        words = "never" if failover is None else f"after {failover}"
        yield Situation(
            f"class/failover-{failover or 'never'}".replace(" ", "-"),
            f"100 packets per second; their link is down for 20 s, routes change {words}: packets lost", "packets",
            *near(100 * seconds, 1), "what is sent until the way around is taken; back again nothing is lost",
            lambda failover=failover: _run_failover(failover).total("flows", "lost"),  # type: ignore[misc]
        )  # fmt: skip
    yield Situation(
        "class/failover-delay", "The same with 2 s: the longest delay", "ms",
        *near(1 + 40 + 1 + 0.032, 0.001), "the way around: 1 + 20 + 20 + 1 ms, and four transmissions of 8 µs",
        lambda: 1e3 * _run_failover("2 s").total("flows", "delay_max_s"),
    )  # fmt: skip
