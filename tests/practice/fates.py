"""Fates of packets: counts that must add up, waiting packets that are not lost, and codecs that never pause."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from practice.situation import (
    IN_STEP,
    Outcome,
    Situation,
    Table,
    about,
    between,
    exactly,
    flow,
    link,
    near,
    ran,
)

FLOOD: Table = {"kind": "cbr", "rate": "100 Mb/s", "payload": "1000 B", "phase": "zero"}
"""12 500 packets of 1000 B a second."""

DEEP = 100_000
"""Packets of a buffer that no flood of 8 s fills."""

SECONDS = 8


def _flood(transport: str) -> Outcome:
    """A flood of 100 Mb/s into 1 Mb/s with a deep buffer."""
    return ran(link("1 Mb/s", "20 ms", DEEP), flow("v", transport, FLOOD), SECONDS, hosts=IN_STEP)


def _units(outcome: Outcome, *fates: str, **where: str) -> float:
    """Counts the packets with one of these fates."""
    return sum(outcome.total("fates", "units", fate=fate, **where) for fate in fates)


def _unaccounted(outcome: Outcome) -> float:
    """Packets made less packets with a fate, in all flows."""
    made = outcome.total("flows", "units_sent") + outcome.total("flows", "units_in_flight")
    return made - outcome.total("fates", "units")


NETWORKS: dict[str, tuple[str, Table | str, Table]] = {
    "udp-overload": ("udp", {"kind": "cbr", "rate": "3 Mb/s", "payload": "1000 B"}, {}),
    "udp-parts": ("udp", {"kind": "cbr", "rate": "2 Mb/s", "payload": "4000 B"}, {"loss": {"model": "bernoulli", "rate": 0.1}}),
    "udp-copies": ("udp", "voice", {"duplicate": {"share": 0.3}, "loss": {"model": "bernoulli", "rate": 0.1}}),
    "udp-reordered": ("udp", "voice", {"reorder": {"share": 0.3, "by": "30 ms"}}),
    "tcp": ("tcp/cubic", {"kind": "cbr", "rate": "2 Mb/s", "payload": "1000 B"}, {"loss": {"model": "bernoulli", "rate": 0.02}}),
    "rap": ("rap", {"kind": "cbr", "rate": "2 Mb/s", "payload": "1000 B"}, {"loss": {"model": "bernoulli", "rate": 0.02}}),
    "tfrc": ("tfrc", "video", {"loss": {"model": "bernoulli", "rate": 0.02}}),
    "codel": ("udp", {"kind": "cbr", "rate": "2 Mb/s", "payload": "1000 B"}, {"queue": "codel"}),
    "webrtc": ("webrtc", "media", {"loss": {"model": "bernoulli", "rate": 0.05}}),
}  # fmt: skip
"""Transport, traffic and link of networks of all kinds."""


def _network(name: str) -> Outcome:
    transport, traffic, more = NETWORKS[name]
    wire = link("1 Mb/s", "40 ms", 20) | more
    return ran(wire, flow("v", transport, traffic), 6, hosts=IN_STEP)


def _conversations(count: int, rate: str = "1500 kb/s", **more: object) -> Outcome:
    """`count` conversations over a link of this rate in each direction."""
    wire = link(rate, "10 ms", 50)
    wire = wire | {"reverse": {"queue": wire["queue"]}}
    return ran(wire, flow("talk", "udp", {"kind": "conversation", **more}, count=count), 20)


def _fitting(**more: object) -> float:
    """The most conversations with at most 0.5 % of packets dropped or lost in each."""
    low, high = 1, 64
    while high - low > 1:
        middle = (low + high) // 2
        lost = _conversations(middle, **more)
        fits = max(lost.values("flows", "units_lost")) <= 0.005 * min(lost.values("flows", "units_sent"))
        low, high = (middle, high) if fits else (low, middle)
    return low


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    for transport in ("udp", "rap", "tfrc", "tcp/cubic"):
        yield Situation(
            f"fate/flood-{transport.replace('/', '-')}", f"100 Mb/s by {transport} into 1 Mb/s with room for 100 000 packets: lost", "%",
            *exactly(0), "nothing is dropped, and the wire loses nothing",
            lambda transport=transport: 100 * _flood(transport).share("units_lost", "units_sent"),
        )  # fmt: skip
    yield Situation(
        "fate/flood-made", "The same by UDP: packets made in 8 s", "packets", *near(100_000, 1), "12 500 a second",
        lambda: _flood("udp").total("fates", "units"),
    )  # fmt: skip
    yield Situation(
        "fate/flood-waiting", "The same by UDP: packets that wait at the link at the end", "packets",
        *near(100_000 - 8e6 / (1040 * 8), 4), "made, less what 1 Mb/s carries of 1040 B each in 8 s",
        lambda: _units(_flood("udp"), "waiting", place="a>b"),
    )  # fmt: skip
    yield Situation(
        "fate/flood-on-the-way", "The same by UDP: packets on the wire or in transmission at the end", "packets",
        *near(20e-3 * 1e6 / (1040 * 8) + 1, 1), "20 ms of 1 Mb/s, and one in transmission",
        lambda: _units(_flood("udp"), "on-the-way"),
    )  # fmt: skip
    yield Situation(
        "fate/flood-unused", "The same by UDP: packets that have not arrived at the end", "%", *about(99.04, 0.001),
        "1 Mb/s carries 961 of 100 000", lambda: 100 * (1 - _units(_flood("udp"), "arrived") / 100_000),
    )  # fmt: skip
    for name in NETWORKS:
        yield Situation(
            f"fate/sum-{name}", f"Packets made less packets with a fate: {name}", "packets", *exactly(0),
            "played + late + dropped + lost + waiting + on the way = made", lambda name=name: _unaccounted(_network(name)),
        )  # fmt: skip
    yield Situation(
        "fate/dropped-where", "3 Mb/s into 1 Mb/s: dropped at the queue of a>b, of all that its queue dropped", "%",
        *exactly(100), "each datagram is one unit",
        lambda: 100 * _units(_network("udp-overload"), "dropped", place="a>b") / _network("udp-overload").total("flows", "dropped"),
    )  # fmt: skip
    yield Situation(
        "fate/full-queue", "The same: packets that wait at the link at the end, of 20 that have room", "packets",
        *near(20, 1), "the queue is full all the time", lambda: _units(_network("udp-overload"), "waiting", place="a>b"),
    )  # fmt: skip
    yield Situation(
        "fate/tcp-lost", "TCP over a wire that loses 2 %: packets of the application lost", "packets", *exactly(0),
        "RFC 9293: what is lost is sent again", lambda: _units(_network("tcp"), "dropped", "lost"),
    )  # fmt: skip
    yield Situation(
        "fate/outage-tcp", "A call over TCP whose link fails for good after 4 of 8 s: packets lost", "packets", *exactly(0),
        "they wait in the sender", lambda: _outage("tcp/cubic").total("flows", "units_lost"),
    )  # fmt: skip
    yield Situation(
        "fate/outage-tcp-waiting", "The same: packets that wait in the sender at the end", "packets", *about(200, 0.03),
        "50 a second for 4 s", lambda: _units(_outage("tcp/cubic"), "waiting", place="sender"),
    )  # fmt: skip
    yield Situation(
        "fate/outage-udp", "The same over UDP: packets lost on a>b", "packets", *about(200, 0.03),
        "50 a second for 4 s", lambda: _units(_outage("udp"), "lost", place="a>b"),
    )  # fmt: skip
    yield Situation(
        "fate/last-packet", "A call of 5 s over a path of 2 s without loss: packets lost or missed", "packets", *exactly(0),
        "what is under way at the end may arrive in time",
        lambda: ran(link("10 Mb/s", "2 s"), flow("call", "udp", "voice", timely="3 s"), 5).total("flows", "units_lost"),
    )  # fmt: skip
    yield Situation(
        "fate/ping-behind-flood", "Pings behind the flood, whose replies wait: requests lost", "requests", *exactly(0),
        "a request that waits is not lost", _pinged,
    )  # fmt: skip
    yield Situation(
        "fate/conversations-g711", "Conversations of G.711 that fit 1.5 Mb/s in each direction", "conversations", *exactly(18),
        "200 B each 20 ms are 80 kb/s: 1500/80 = 18.75", _fitting,
    )  # fmt: skip
    yield Situation(
        "fate/conversation-rate", "A conversation of G.711: what one party sends", "kb/s", *about(80, 0.005),
        "200 B each 20 ms, also while it listens",
        lambda: 8e-3 * _conversations(1).mean("flows", "wire_sent") / 20,
    )  # fmt: skip
    yield Situation(
        "fate/conversation-pauses", "The same with G.729: part of the time in which a party sends", "%", *about(42.5, 0.25),
        "ITU-T P.59: (427 + 0.4 · 226)/(854 + 0.4 · 226 + 0.6 · 456)",
        partial(_talking, codec="g729"),
    )  # fmt: skip
    yield Situation(
        "fate/conversation-turns", "Conversations of G.711: part of the time in which both talk", "%", *between(7.4, 5, 11),
        "ITU-T P.59: 0.4 · 226/(854 + 0.4 · 226 + 0.6 · 456); turns are taken although packets never pause",
        lambda: 100 * _conversations(12).mean("conversations", "double_talk_meant"),
    )  # fmt: skip


def _outage(transport: str) -> Outcome:
    wire = link("1 Mb/s", "20 ms") | {"outages": [{"from": "4 s", "to": "100 s"}]}
    return ran(wire, flow("call", transport, "voice"), SECONDS, hosts=IN_STEP)


def _pinged() -> float:
    ping = flow("ping", "ping", {"kind": "ping", "interval": "100 ms"})
    both = [flow("v", "udp", FLOOD), ping]
    return ran(link("1 Mb/s", "20 ms", DEEP), both, SECONDS, hosts=IN_STEP).total("round_trips", "unanswered")


def _talking(codec: str) -> float:
    """Packets of a party as a share of continuous sending, mean over 24 parties."""
    outcome = _conversations(12, codec=codec)
    return 100 * outcome.mean("flows", "packets_sent") / (20 / 0.02)
