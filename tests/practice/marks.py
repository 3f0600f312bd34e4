"""Marks: signals and waits of L4S and classic flows behind a coupled queue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from math import sqrt

from practice.situation import Outcome, Situation, Table, about, between, flow, link, ran

FLOWS = 10
ROUND_TRIP_S = 0.04
SEGMENT = 1448


@dataclass(frozen=True)
class Side:
    """Mean values of one kind of flow: segments per second, round trip in seconds, the share of packets with a signal."""

    rate: float
    round_trip: float
    signalled: float
    wait_s: float

    @property
    def window(self) -> float:
        """Segments."""
        return self.rate * self.round_trip


@cache
def _sides(scalable: str) -> tuple[Side, Side]:
    """Ten flows of Reno and ten scalable ones over 100 Mb/s and 40 ms, behind DualPI2 with k = 2."""
    transports: dict[str, str | Table] = {
        "classic": {"name": "tcp/reno", "recovery": "sack"},
        "l4s": {"name": f"tcp/{scalable}", "ecn": "scalable"}
        | ({"rtt-virtual": "0 s"} if scalable == "prague" else {}),
    }
    queue = {"discipline": "dualpi2", "capacity": {"packets": 10_000}}
    # The class only distinguishes the kinds in the table; no queue here uses it.
    classes = {"classic": "tcp", "l4s": "other-udp"}
    flows = [
        flow(
            name,
            transport,
            "bulk",
            count=FLOWS,
            start={"from": "0 s", "to": "1 s"},
            **{"class": classes[name]},
        )
        for name, transport in transports.items()
    ]
    outcome = ran(link("100 Mb/s", "20 ms", queue=queue), flows, 100, warmup="20 s", preset="linux")
    return _side(outcome, "classic", "tcp"), _side(outcome, "l4s", "other-udp")


def _side(outcome: Outcome, group: str, kind: str) -> Side:
    here = {"link": "a>b", "class": kind}
    wait = outcome.mean("classes", "mean_wait_s", **here)
    signals = outcome.total("classes", "dropped_early", **here) + outcome.total("classes", "marked", **here)
    rate = outcome.mean("flows", "goodput_bps", group=group) / 8 / SEGMENT
    return Side(rate, ROUND_TRIP_S + wait, signals / outcome.total("classes", "arrivals", **here), wait)


def _coupling() -> float:
    classic, l4s = _sides("prague")
    return l4s.signalled / sqrt(classic.signalled)


def _classic_law() -> float:
    classic, _ = _sides("prague")
    return classic.window * sqrt(classic.signalled) / 1.22


def _scalable_law(scalable: str) -> float:
    _, l4s = _sides(scalable)
    return l4s.window * l4s.signalled / 2


def _equal_k(scalable: str) -> float:
    classic, l4s = _sides(scalable)
    return (l4s.window * l4s.signalled) / (classic.window * sqrt(classic.signalled))


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    place = "Ten flows of Reno, ten of {} over 100 Mb/s and 40 ms behind DualPI2"
    prague = place.format("Prague")
    yield Situation(
        "marks/coupling", f"{prague}: the marked part over the root of the dropped part", "",
        *about(2, 0.1), "RFC 9332 §2.1: p_C = (p_CL / k)², k = 2",
        _coupling,
    )  # fmt: skip
    yield Situation(
        "marks/classic-law", "The same: Reno's window times the root of the dropped part, over 1.22", "",
        *about(1, 0.12), "RFC 9332 C.2: r = 1.22 / (R √p)",
        _classic_law,
    )  # fmt: skip
    for name, shown in (("prague", "Prague"), ("dctcp", "DCTCP")):
        yield Situation(
            f"marks/scalable-law-{name}", f"{place.format(shown)}: its window times the marked part, over 2", "",
            *between(1, 0.95, 1.25), "RFC 9332 C.2: r = 2 / (R p), if no round trip is without a mark; 1.15 if marks are "
            "Poisson: x (1 − e^−x) = 2",
            partial(_scalable_law, name),
        )  # fmt: skip
        yield Situation(
            f"marks/equal-k-{name}", f"{place.format(shown)}: the k that would give both the same window", "",
            *between(1.64, 1.5, 2.15), "RFC 9332 C.2: k* = 2 / 1.22; 1.88 with Poisson marks",
            partial(_equal_k, name),
        )  # fmt: skip
    yield Situation(
        "marks/waits", f"{prague}: mean wait of L4S packets", "ms",
        *between(0.3, 0, 1), "RFC 9332 §4.1: its queue is marked from 1 ms on",
        lambda: 1e3 * _sides("prague")[1].wait_s,
    )  # fmt: skip
    yield Situation(
        "marks/classic-waits", f"{prague}: mean wait of classic packets", "ms",
        *about(15, 0.15), "RFC 9332 A.1: the target of the classic queue",
        lambda: 1e3 * _sides("prague")[0].wait_s,
    )  # fmt: skip
