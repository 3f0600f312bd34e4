"""Repair of losses, and effects that resemble losses: redundancy, copies, reordering, playout."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import erf, exp, sqrt

from practice.situation import (
    IN_STEP,
    Outcome,
    Situation,
    Table,
    about,
    between,
    cbr,
    exactly,
    flow,
    link,
    near,
    ran,
)

BACK: Table = {
    "queue": {"discipline": "drop-tail", "capacity": {"packets": 1000}},
    "duplicate": {"share": 0.0},
    "reorder": {"share": 0.0, "by": "1 ms"},
}
"""A lossless return path for acknowledgements."""

SECONDS = 400
PACKETS = SECONDS * 100
"""Packets 10 ms apart."""


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _redundancy()
    yield from _copies()
    yield from _overtaking()
    yield from _playout()


def _left(loss: Table, copies: int) -> float:
    """The share of packets that stays lost although each repeats `copies` packets before it, percent."""
    stream = cbr("stream", "80 kb/s", 100)
    stream["transport"] = {"name": "udp", "header": "0 B", "redundancy": copies}
    outcome = ran(link("10 Mb/s", "5 ms", loss=loss), stream, SECONDS, hosts=IN_STEP)
    return 100 * outcome.share("units_lost", "units_sent")


def _redundancy() -> Iterator[Situation]:
    random: Table = {"model": "bernoulli", "rate": 0.1}
    for copies in (1, 2):
        left = 0.1 ** (copies + 1)
        # Adjacent packets share datagrams: at most that many times the variance of independent ones.
        off = 400 * sqrt((2 * copies + 1) * left / PACKETS)
        yield Situation(
            f"repair/redundancy-{copies}", f"10 % lost at random, each packet repeats the {copies} before it: packets that stay lost", "%",
            *between(100 * left, max(0.0, 100 * left - off), 100 * left + off), "RFC 2198: all that carry it must be lost, p² or p³; ± 4 σ",
            partial(_left, random, copies),
        )  # fmt: skip
    stays = 0.1 + 0.9 * exp(-0.01 * (1 / 0.9 + 1 / 0.1))
    yield Situation(
        "repair/redundancy-bursts", "10 % lost in bursts of 100 ms, packets 10 ms apart, each repeats the one before it: packets that stay lost", "%",
        *near(10 * stays, 2.5), "p times how probable another loss is after one: bursts defeat redundancy; ± 4 σ",
        partial(_left, {"model": "markov", "good": "900 ms", "bad": "100 ms"}, 1),
    )  # fmt: skip
    for pattern, copies, left, words in (
        ("0000000001", 1, 0, "the next one has it"),
        ("0000000011", 1, 10, "the first of two is in the second, which is lost, too"),
        ("0000000011", 2, 0, "the third has both"),
        ("0000000111", 2, 10, "the first of three is lost with both that repeat it"),
    ):
        losses = pattern.count("1")
        yield Situation(
            f"repair/redundancy-{losses}-of-10-by-{copies}", f"{losses} in a row of each ten lost, each packet repeats the {copies} before it: packets that stay lost", "%",
            *near(left, 0.01), f"RFC 2198: {words}",
            partial(_left, {"model": "pattern", "pattern": pattern}, copies),
        )  # fmt: skip


def _doubled(transport: Table | str, traffic: Table | str) -> Outcome:
    """A path that duplicates each tenth packet."""
    wire = link("10 Mb/s", "25 ms", duplicate={"share": 0.1}, reverse=BACK)
    return ran(wire, flow("stream", transport, traffic), 60, hosts=IN_STEP)


def _copies() -> Iterator[Situation]:
    calls: Table = {"kind": "cbr", "rate": "80 kb/s", "payload": "100 B"}
    yield Situation(
        "repair/copies", "Each tenth packet comes twice: copies that a link makes", "%",
        *near(10, 4 * 100 * sqrt(0.09 / 6000)), "binomial, 6000 packets; ± 4 σ",
        lambda: 100 * _doubled("udp", calls).mean("links", "duplicated", link="a>b")
        / _doubled("udp", calls).mean("links", "departures", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "repair/copies-udp", "The same: units received over units sent, UDP", "",
        *exactly(1), "RFC 3550 §A.1: a copy is no other packet", lambda: _doubled("udp", calls).share("units_received", "units_sent"),
    )  # fmt: skip
    yield Situation(
        "repair/copies-tcp", "A file transfer by NewReno, window 20, over that path: segments sent again", "segments",
        *exactly(0), "RFC 5681 §3.2: a copy draws one duplicate acknowledgement, three mean a loss",
        lambda: _doubled({"name": "tcp/newreno", "receiver-window": 20, "delayed-ack": False}, "bulk").total("flows", "packets_retransmitted"),
    )  # fmt: skip


def _overtaken(by: str, delay: str = "1 ms", **keys: object) -> Outcome:
    """A segment each 10 ms; one in a hundred arrives later by `by`."""
    wire = link("10 Mb/s", delay, reorder={"share": 0.01, "by": by}, reverse=BACK)
    transport = {"name": "tcp/newreno", "delayed-ack": False, "initial-window": 100} | keys
    stream = flow("stream", transport, {"kind": "cbr", "rate": "80 kb/s", "payload": "100 B"})
    return ran(wire, stream, 400, hosts=IN_STEP)


def _again_per_late() -> float:
    """Retransmitted segments per segment that more than three overtook."""
    outcome = _overtaken("45 ms")
    return outcome.total("flows", "packets_retransmitted") / outcome.total("links", "reordered", link="a>b")


def _overtaking() -> Iterator[Situation]:
    yield Situation(
        "repair/late-by-two", "Segments 10 ms apart, one in a hundred 25 ms late: segments sent again", "segments",
        *exactly(0), "RFC 5681 §3.2: two overtake it, three duplicates mean a loss",
        lambda: _overtaken("25 ms").total("flows", "packets_retransmitted"),
    )  # fmt: skip
    yield Situation(
        "repair/late-by-four", "One in a hundred 45 ms late: segments sent again for each that was overtaken", "",
        *about(1, 0.08), "RFC 5681 §3.2: four overtake it, and the third duplicate has it sent again; two late ones at a time are one recovery",
        _again_per_late,
    )  # fmt: skip
    yield Situation(
        "repair/late-rack", "Segments 10 ms apart, one in a hundred 12 ms late, RACK, round trip 50 ms: segments sent again", "segments",
        *exactly(0), "RFC 8985 §6.2: a quarter of the round trip, 12.5 ms, is given to it; one overtakes it",
        lambda: _overtaken("12 ms", "25 ms", name="tcp/sack", recovery="rack").total("flows", "packets_retransmitted"),
    )  # fmt: skip
    yield Situation(
        "repair/late-delivered", "One in a hundred 45 ms late: payload delivered twice or not at all", "B",
        *exactly(0), "RFC 9293: in order, and once",
        lambda: _overtaken("45 ms").total("flows", "payload_received")
        - 100 * _overtaken("45 ms").total("flows", "units_received"),
    )  # fmt: skip


def _late(jitter: Table, offset: float) -> float:
    """Packets of a call that arrive after their playout, `offset` ms after they were made, over a path of 10 ms, percent."""
    call = flow(
        "call", "udp", {"kind": "voice", "codec": "g711", "always-on": True},
        playout={"strategy": "fixed", "delay": f"{offset:g} ms", "reference": "creation"},
    )  # fmt: skip
    outcome = ran(link("10 Gb/s", "10 ms", jitter=jitter), call, SECONDS, hosts=IN_STEP)
    return 100 * outcome.share("late_units", "units_received")


def _playout() -> Iterator[Situation]:
    count = SECONDS * 50
    for offset in (15, 25, 28):
        late = max(0.0, (30 - offset) / 20)
        yield Situation(
            f"repair/playout-{offset}", f"A path of 10 ms and uniform jitter of up to 20 ms, played {offset} ms after it was made: too late", "%",
            *near(100 * late, 400 * sqrt(late * (1 - late) / count)), "uniform: (10 + 20 − offset)/20; ± 4 σ",
            partial(_late, {"model": "uniform", "up-to": "20 ms"}, offset),
        )  # fmt: skip
    yield Situation(
        "repair/playout-enough", "The same played after 31 ms", "%",
        *exactly(0), "nothing takes longer", partial(_late, {"model": "uniform", "up-to": "20 ms"}, 31),
    )  # fmt: skip
    # Probability that a Gaussian's size is below three deviations and above two.
    within = erf(3 / sqrt(2))
    late = (within - erf(2 / sqrt(2))) / within
    yield Situation(
        "repair/playout-gaussian", "Gaussian jitter of 5 ms, cut off at three deviations, played after 20 ms: too late", "%",
        *near(100 * late, 0.6), "RFC 8868 §4.5.3: sizes beyond two deviations, of those within three; ± 4 σ",
        partial(_late, {"model": "gaussian", "deviation": "5 ms"}, 20),
    )  # fmt: skip
