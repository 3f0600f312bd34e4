"""Completion time of a file: rounds of slow start, links, timeouts, and loss at the end of a flight."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from practice.situation import IN_STEP, Outcome, Situation, Table, exactly, flow, link, near, ran

SEGMENT = 1000

AT_ONCE: Table = {"name": "tcp/newreno", "delayed-ack": False}
"""Each segment is acknowledged immediately: the window doubles each round trip."""

DELAYED: Table = {"name": "tcp/newreno", "delayed-ack": True, "ack-delay": "100 ms", "quick-acks": 0}
"""Each second segment is acknowledged, and each acknowledgement opens the window by one."""

LINUX: Table = {"name": "tcp/sack", "preset": "linux"}


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _rounds()
    yield from _links()
    yield from _repaired()


def _sent(
    size: int, transport: Table, round_trip: float = 100, rate: str = "10 Gb/s", loss: str = "0"
) -> Outcome:
    """A file over a round trip in milliseconds; the pattern marks lost data packets, SYN first."""
    lost = {"model": "pattern", "pattern": loss, "repeat": False}
    wire = link(rate, f"{round_trip / 2:g} ms", 2000, loss=lost)
    return ran(wire, flow("file", transport, {"kind": "transfer", "size": f"{size} B"}), 20, hosts=IN_STEP)


def _took(
    size: int, transport: Table, round_trip: float = 100, rate: str = "10 Gb/s", loss: str = "0"
) -> float:
    """Completion time in milliseconds."""
    return 1e3 * _sent(size, transport, round_trip, rate, loss).mean("completions", "mean_s")


def doubling(segments: int, initial: int) -> int:
    """Rounds of slow start for this number of segments, if the window doubles in each."""
    rounds, window, sent = 0, initial, 0
    while sent < segments:
        rounds, sent, window = rounds + 1, sent + window, 2 * window
    return rounds


def _rounds() -> Iterator[Situation]:
    for segments, round_trip in (
        (4, 100),
        (5, 100),
        (12, 100),
        (13, 100),
        (60, 100),
        (61, 100),
        (124, 20),
        (252, 300),
    ):
        rounds = doubling(segments, 4)
        yield Situation(
            f"finish/rounds-{segments}-{round_trip}", f"A file of {segments} segments of 1000 B, round trip {round_trip} ms, each acknowledged: until it is there", "ms",
            *near(round_trip * (rounds + 0.5), 1), f"RFC 5681 §3.1: a handshake, windows of 4, 8, 16 …: {rounds} rounds, half a round trip for the last",
            partial(_took, segments * SEGMENT, AT_ONCE, round_trip),
        )  # fmt: skip
    for segments, rounds in ((4, 1), (10, 2), (19, 3)):
        yield Situation(
            f"finish/delayed-{segments}", f"The same of {segments} segments, 100 ms, each second one acknowledged", "ms",
            *near(100 * (rounds + 0.5), 1), "RFC 5681 §3.1, §4.2: half as many acknowledgements, windows of 4, 6, 9",
            partial(_took, segments * SEGMENT, DELAYED),
        )  # fmt: skip
    for segments in (10, 11, 30, 31, 70):
        rounds = doubling(segments, 10)
        yield Situation(
            f"finish/linux-{segments}", f"A file of {segments} segments of 1448 B as Linux sends it, round trip 100 ms", "ms",
            *near(100 * (rounds + 0.5), 1), f"RFC 6928: windows of 10, 20, 40, by what is acknowledged: {rounds} rounds",
            partial(_took, segments * 1448, LINUX),
        )  # fmt: skip
    yield Situation(
        "finish/no-handshake", "Four segments on a connection that is there, 100 ms", "ms",
        *near(50, 1), "one way", partial(_took, 4 * SEGMENT, AT_ONCE | {"handshake": False}),
    )  # fmt: skip


def filled(segments: int, round_trip: float, rate: float) -> float:
    """Milliseconds until a file is there over a link in Mb/s that slow start from 4 fills without a loss.

    A round begins a round trip, a segment of 1040 B and an acknowledgement of 40 B after the one before. Once a window takes
    longer than that, the link does not rest any more.
    """
    segment, little = 1040 * 8 / rate / 1e3, 40 * 8 / rate / 1e3
    begin, left, window = round_trip + 2 * little, segments, 4
    turn = round_trip + segment + little
    while window * segment < turn and left > window:
        begin, left, window = begin + turn, left - window, 2 * window
    return begin + left * segment + round_trip / 2


def _links() -> Iterator[Situation]:
    for segments, round_trip, rate in ((1000, 100, 10), (200, 20, 2), (100, 50, 100)):
        yield Situation(
            f"finish/link-{rate}", f"A file of {segments} segments over {rate} Mb/s with room for all of it, round trip {round_trip} ms", "ms",
            *near(filled(segments, round_trip, rate), 0.1), "slow start until a window takes longer than a round trip, then the link's rate",
            partial(_took, segments * SEGMENT, AT_ONCE, round_trip, f"{rate} Mb/s"),
        )  # fmt: skip
    yield Situation(
        "finish/slowdown", "The file of 1000 segments over 10 Mb/s: its time over that of its payload alone", "",
        *near(filled(1000, 100, 10) / 800, 1e-3), "8 Mb over 10 Mb/s are 800 ms",
        lambda: _sent(1000 * SEGMENT, AT_ONCE, 100, "10 Mb/s").mean("completions", "slowdown"),
    )  # fmt: skip


def _lost(*places: int) -> str:
    """A pattern that loses these forward packets; the SYN is the first."""
    return "".join("1" if place in places else "0" for place in range(1, max(places) + 1))


def _repaired() -> Iterator[Situation]:
    rack = AT_ONCE | {"name": "tcp/sack", "recovery": "rack"}
    yield Situation(
        "finish/lost-syn", "The SYN of a file of one segment is lost, 100 ms", "ms",
        *near(1000 + 150, 1), "RFC 6298 §2.1: another one after 1 s", partial(_took, SEGMENT, AT_ONCE, loss=_lost(1)),
    )  # fmt: skip
    yield Situation(
        "finish/lost-syn-window", "The SYN of a file of four segments is lost", "ms",
        *near(1000 + 100 + 250, 1), "RFC 5681 §3.1: after a lost SYN the window is one segment: 1, 2, 4",
        partial(_took, 4 * SEGMENT, AT_ONCE, loss=_lost(1)),
    )  # fmt: skip
    yield Situation(
        "finish/tail-timeout", "Of five segments the last one is lost, NewReno, 100 ms", "ms",
        *near(200 + 1000 + 50, 1), "RFC 6298 §2.4: no duplicates come, and a timeout is 1 s at least",
        partial(_took, 5 * SEGMENT, AT_ONCE, loss=_lost(6)),
    )  # fmt: skip
    yield Situation(
        "finish/tail-probe", "The same with RACK-TLP", "ms",
        *near(200 + 200 + 50, 1), "RFC 8985 §7.2: probed after two round trips",
        partial(_took, 5 * SEGMENT, rack, loss=_lost(6)),
    )  # fmt: skip
    yield Situation(
        "finish/tail-probe-delayed", "The same, acknowledgements delayed by up to 100 ms", "ms",
        *near(200 + 300 + 50, 1), "RFC 8985 §7.2: a single segment is given the longest delay of an acknowledgement",
        partial(_took, 5 * SEGMENT, DELAYED | {"name": "tcp/sack", "recovery": "rack"}, loss=_lost(6)),
    )  # fmt: skip
    for round_trip in (100, 20):
        timeout = round_trip + 200
        yield Situation(
            f"finish/linux-tail-{round_trip}", f"Of eleven segments as Linux sends them the last one is lost, {round_trip} ms", "ms",
            *near(2 * round_trip + min(2 * round_trip + 200, timeout) + round_trip / 2, 1),
            "tcp_schedule_loss_probe: two round trips and 200 ms for a single segment, but never after the timeout, a round trip and 200 ms",
            partial(_took, 11 * 1448, LINUX, round_trip, loss=_lost(12)),
        )  # fmt: skip
    yield Situation(
        "finish/linux-tail-of-two", "Of twelve the last two, 100 ms", "ms",
        *near(200 + 202 + 100 + 50, 1), "tcp_schedule_loss_probe: two round trips and 2 ms for several; the probe's acknowledgement finds the other",
        partial(_took, 12 * 1448, LINUX, loss=_lost(12, 13)),
    )  # fmt: skip
    yield Situation(
        "finish/linux-tail-timeouts", "The same: timeouts", "timeouts",
        *exactly(0), "RFC 8985 §7: that is what probes are for",
        lambda: _sent(12 * 1448, LINUX, loss=_lost(12, 13)).total("flows", "timeouts"),
    )  # fmt: skip
    yield Situation(
        "finish/middle", "Of twelve segments the fifth is lost, 100 ms", "ms",
        *near(200 + 100 + 50, 1), "RFC 5681 §3.2: a round trip after it left, duplicates have it sent again: half a round trip more than without the loss",
        partial(_took, 12 * SEGMENT, AT_ONCE, loss=_lost(6)),
    )  # fmt: skip
