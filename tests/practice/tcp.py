"""TCP and TFRC: windows, rates under loss, and shares of a link."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import sqrt

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

SEGMENT = 1000


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _windows()
    yield from _timers()
    yield from _sawtooth()
    yield from _formulas()
    yield from _cubic()
    yield from _sharing()


def _run_one(
    wire: Table, seconds: float, transport: str | Table = "tcp/newreno", seeds: int = 1, **more: object
) -> Outcome:
    return ran(wire, flow("file", transport, "bulk"), seconds, hosts=IN_STEP, seeds=seeds, **more)


def _limited(segments: int, rate: str = "100 Mb/s") -> float:
    wire = link(rate, "50 ms")
    transport = {"name": "tcp/newreno", "receiver-window": segments}
    return _run_one(wire, 30, transport, warmup="5 s").mean("flows", "goodput_bps") / 1e6


def _sampled(transport: Table, at: float, kind: str = "window", loss: Table | None = None) -> float:
    """The window at a time, of a flow on 1 Gb/s with a round trip of 100 ms."""
    wire = link("1 Gb/s", "50 ms", 10_000, loss=loss or {"model": "none"})
    record = {"window-interval": "10 ms", "windows": ["file"]}
    outcome = _run_one(wire, at + 1, transport, record=record)
    rows = [row for row in outcome.rows("series", kind=kind) if row["time_s"] <= at + 1e-9]
    return float(rows[-1]["value"])


def _windows() -> Iterator[Situation]:
    for segments in (10, 50):
        yield Situation(
            f"tcp/window-{segments}", f"A receiver's window of {segments} segments of 1000 B, round trip 100 ms: goodput", "Mb/s",
            *about(segments * 8e-3 / 0.1, 0.005), "W/RTT", partial(_limited, segments),
        )  # fmt: skip
    yield Situation(
        "tcp/window-over-link", "A window of 200 segments on 10 Mb/s, round trip 100 ms: goodput", "Mb/s",
        *about(10 * 1000 / 1040, 0.002), "more than the path holds: the link's rate, less headers of 40 B",
        partial(_limited, 200, "10 Mb/s"),
    )  # fmt: skip
    yield Situation(
        "tcp/initial-window", "First window with segments of 1000 B", "segments",
        *exactly(4), "RFC 5681 §3.1: 4 up to 1095 B", partial(_sampled, {"name": "tcp/newreno"}, 0.15),
    )  # fmt: skip
    for round_trips in (1, 3, 6):
        yield Situation(
            f"tcp/slow-start-{round_trips}", f"Window after {round_trips} round trips of slow start, from 4", "segments",
            *about(4 * 2**round_trips, 0.02), "RFC 5681 §3.1: doubles each round trip if every segment is acknowledged",
            partial(_sampled, {"name": "tcp/newreno", "delayed-ack": False}, 0.1 + 0.1 * round_trips + 0.05),
        )  # fmt: skip
    yield Situation(
        "tcp/slow-start-delayed", "The same after 6, each second segment acknowledged", "segments",
        *about(4 * 1.5**6, 0.1), "RFC 5681 §3.1: half as many acknowledgements, 1.5 times each round trip",
        partial(_sampled, {"name": "tcp/newreno"}, 0.75),
    )  # fmt: skip
    slow = {"name": "tcp/newreno", "initial-threshold": 10}
    each = slow | {"delayed-ack": False}
    yield Situation(
        "tcp/avoidance", "What 20 round trips of congestion avoidance add, every segment acknowledged", "segments",
        *near(20, 1), "RFC 5681 §3.1: one segment each",
        lambda: _sampled(each, 3.05) - _sampled(each, 1.05),
    )  # fmt: skip
    yield Situation(
        "tcp/avoidance-delayed", "The same, each second segment acknowledged", "segments",
        *between(20, 18, 20.5), "RFC 5681 §3.1: what is acknowledged counts; a segment that waits for the next one costs a little",
        lambda: _sampled(slow, 3.05) - _sampled(slow, 1.05),
    )  # fmt: skip
    yield Situation(
        "tcp/halved", "Threshold after one loss in a flight of 64", "segments",
        *near(32, 1), "RFC 5681 Eq. (4): half the flight",
        lambda: _sampled(
            {"name": "tcp/newreno", "receiver-window": 64}, 5, "ssthresh",
            {"model": "pattern", "pattern": "0" * 600 + "1", "repeat": False},
        ),
    )  # fmt: skip
    yield Situation(
        "tcp/aimd-kept", "The same for TCP(0.31, 0.875)", "segments",
        *near(56, 1.5), "Yang & Lam 2000: a loss leaves β = 0.875 of 64",
        lambda: _sampled(
            {"name": "tcp/aimd", "alpha": 0.31, "beta": 0.875, "receiver-window": 64}, 5, "ssthresh",
            {"model": "pattern", "pattern": "0" * 600 + "1", "repeat": False},
        ),
    )  # fmt: skip


def _timers() -> Iterator[Situation]:
    black = {"model": "blackout", "from": "10 s", "to": "60 s"}
    yield Situation(
        "tcp/backoff", "Timeouts in a blackout of 50 s, round trip 100 ms", "timeouts",
        *exactly(5), "RFC 6298 §2.4, §5.5: 1 s, doubled each time: after 1, 3, 7, 15 and 31 s",
        lambda: _run_one(
            link("10 Mb/s", "50 ms", loss=black), 60, {"name": "tcp/newreno", "receiver-window": 20}
        ).total("flows", "timeouts"),
    )  # fmt: skip
    yield Situation(
        "tcp/fast-retransmit", "Timeouts when one segment of a window of 64 is lost", "timeouts",
        *exactly(0), "RFC 5681 §3.2: three duplicates repair it",
        lambda: _dented().total("flows", "timeouts"),
    )  # fmt: skip
    yield Situation(
        "tcp/one-repair", "The same: segments sent again", "segments",
        *exactly(1), "RFC 5681 §3.2", lambda: _dented().total("flows", "packets_retransmitted"),
    )  # fmt: skip
    yield Situation(
        "tcp/repairs", "1 % lost at random, SACK: segments sent again over segments lost", "",
        *about(1, 0.02), "RFC 6675: what was lost is sent again, and little else",
        lambda: _random(0.01).share("packets_retransmitted", "lost"),
    )  # fmt: skip


def _dented() -> Outcome:
    loss = {"model": "pattern", "pattern": "0" * 600 + "1", "repeat": False}
    return _run_one(link("100 Mb/s", "50 ms", loss=loss), 10, {"name": "tcp/newreno", "receiver-window": 64})


EACH = {"name": "tcp/newreno", "delayed-ack": False}
"""Every segment is acknowledged, so that segments leave one by one: pairs overflow a buffer of two."""


def _saw(packets: int, transport: str | Table = "tcp/newreno", seconds: float = 150) -> Outcome:
    """One flow on 4 Mb/s with a round trip of 100 ms: 48 packets of 1040 B on the path."""
    return _run_one(link("4 Mb/s", "50 ms", packets), seconds, transport, warmup="20 s")


def sawtooth_use(k: float) -> float:
    """Utilisation of a link by a halving control, with a buffer of k bandwidth-delay products."""
    if k >= 1:
        return 1.0
    low = (1 + k) / 2
    above = (1 + k) ** 2 - 1
    return (1 - low**2 + above) / (2 * (1 - low) + above)


def _sawtooth() -> Iterator[Situation]:
    for packets, words in (
        (2, "hardly any"),
        (12, "a quarter of what the path holds"),
        (48, "what the path holds"),
    ):
        k = packets / 48
        yield Situation(
            f"tcp/saw-tooth-{packets}", f"One flow, 48 packets on the path, buffer of {packets} ({words}): use of the link", "%",
            *between(100 * sawtooth_use(k), 100 * sawtooth_use(k) - 3, min(100 * sawtooth_use(k) + 3, 100)), "saw-tooth from half to all of path and buffer: 75 % without buffer, 100 % from one path on",
            lambda packets=packets: 100 * _saw(packets, EACH).mean("links", "utilisation", link="a>b"),  # type: ignore[misc]
        )  # fmt: skip
    yield Situation(
        "tcp/vegas", "One Vegas flow: packets that it keeps waiting", "packets",
        *between(2, 0.5, 3.5), "Brakmo & Peterson 1995: between α = 1 and β = 3, rounded",
        lambda: _saw(48, "tcp/vegas", 60).mean("links", "mean_queue_packets", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "tcp/vegas-drops", "The same: packets dropped", "packets",
        *exactly(0), "Brakmo & Peterson 1995: it stops before the buffer is full",
        lambda: _saw(48, "tcp/vegas", 60).total("flows", "dropped"),
    )  # fmt: skip


def _random(loss: float, name: str = "tcp/sack", **keys: object) -> Outcome:
    """One flow on a path that never queues; data is lost at random, acknowledgements are not."""
    wire = link("1 Gb/s", "50 ms", 100_000, loss={"model": "bernoulli", "rate": loss})
    begin = {} if name == "tfrc" else {"initial-threshold": 20}
    return _run_one(wire, 320, {"name": name} | begin | keys, seeds=4, warmup="20 s")


def mathis(loss: float) -> float:
    """Mb/s of payload, round trip 100 ms."""
    return SEGMENT * 8 / 0.1 * sqrt(1.5 / loss) / 1e6


def pftk(loss: float, timeout: float) -> float:
    """The same by PFTK's approximation, Eq. (30), b = 1."""
    waiting = timeout * min(1, 3 * sqrt(3 * loss / 8)) * loss * (1 + 32 * loss**2)
    return SEGMENT * 8 / (0.1 * sqrt(2 * loss / 3) + waiting) / 1e6


def _formulas() -> Iterator[Situation]:
    for loss in (0.001, 0.003, 0.01):
        yield Situation(
            f"tcp/mathis-{loss:g}", f"SACK, {100 * loss:g} % lost at random, round trip 100 ms: goodput", "Mb/s",
            *between(mathis(loss), 0.85 * mathis(loss), 1.25 * mathis(loss)),
            "Mathis et al. 1997: MSS/RTT·√(3/2)/√p for even losses; random ones √2 to √(8/3) for √(3/2)",
            lambda loss=loss: _random(loss).mean("flows", "goodput_bps") / 1e6,  # type: ignore[misc]
        )  # fmt: skip
    for loss in (0.02, 0.05):
        yield Situation(
            f"tcp/pftk-{loss:g}", f"Reno, {100 * loss:g} % lost at random, round trip 100 ms, least timeout 200 ms: goodput", "Mb/s",
            *about(pftk(loss, 0.2) * (1 - loss), 0.35), "Padhye et al. 1998: losses of a round together; here one by one",
            lambda loss=loss: _random(loss, "tcp/reno", preset="ns2").mean("flows", "goodput_bps") / 1e6,  # type: ignore[misc]
        )  # fmt: skip
    for loss in (0.005, 0.02):
        yield Situation(
            f"tcp/tfrc-{loss:g}", f"TFRC, {100 * loss:g} % lost at random, round trip 100 ms: goodput", "Mb/s",
            *about(pftk(loss, 0.4) * (1 - loss), 0.25), "RFC 5348 §3.1: throughput equation with b = 1, t_RTO = 4 R",
            lambda loss=loss: _random(loss, "tfrc").mean("flows", "goodput_bps") / 1e6,  # type: ignore[misc]
        )  # fmt: skip
    yield Situation(
        "tcp/root", "Goodput at 0.1 % of random loss over that at 0.4 %", "",
        *about(2, 0.2), "Mathis et al. 1997: ∝ 1/√p; ± 4 σ",
        lambda: _random(0.001).mean("flows", "goodput_bps") / _random(0.004).mean("flows", "goodput_bps"),
    )  # fmt: skip
    yield Situation(
        "tcp/round-trip", "Goodput over 25 ms one way over that over 50 ms, 1 % lost at random", "",
        *about(2, 0.1), "Mathis et al. 1997: ∝ 1/RTT",
        lambda: _run_one(
            link("1 Gb/s", "25 ms", 100_000, loss={"model": "bernoulli", "rate": 0.01}), 320,
            {"name": "tcp/sack", "initial-threshold": 20}, seeds=4, warmup="20 s",
        ).mean("flows", "goodput_bps") / _random(0.01).mean("flows", "goodput_bps"),
    )  # fmt: skip


def _periodic(period: int, round_trip_ms: int, seconds: int) -> float:
    """The mean window of CUBIC with one lost segment per `period`."""
    pattern = {"model": "pattern", "pattern": "0" * (period - 1) + "1"}
    wire = link("10 Gb/s", f"{round_trip_ms / 2:g} ms", 100_000, loss=pattern)
    transport = {"name": "tcp/cubic", "initial-threshold": 100}
    outcome = _run_one(wire, seconds, transport, warmup=f"{seconds / 2:g} s")
    return outcome.mean("flows", "goodput_bps") / 8 / SEGMENT * round_trip_ms / 1e3


def _cubic() -> Iterator[Situation]:
    for period, round_trip_ms, mean, table, seconds in (
        (1_000, 100, 38, 1, 120),
        (10_000, 100, 187, 1, 800),
        (10_000, 10, 120, 2, 80),
        (100_000, 10, 379, 2, 200),
    ):
        yield Situation(
            f"tcp/cubic-{round_trip_ms}-{period}",
            f"CUBIC, one segment of {period} lost, round trip {round_trip_ms} ms: mean window", "segments",
            *about(mean, 0.1), f"RFC 9438 Table {table}, C = 0.4",
            partial(_periodic, period, round_trip_ms, seconds),
        )  # fmt: skip


def _dumbbell(groups: list[tuple[str, int, str, str]], seconds: float = 100, packets: int = 80) -> Outcome:
    """Groups of flows over 10 Mb/s and 10 ms, each with a size, a delay of its senders' links and a transport."""
    flows = [
        {
            "name": name, "count": count, "transport": transport, "traffic": "bulk", "start": {"from": "0 s", "to": "2 s"},
            "source-access": {"delay": delay},
        }
        for name, count, delay, transport in groups
    ]  # fmt: skip
    queue = {"discipline": "drop-tail", "capacity": {"packets": packets}}
    topology = {
        "preset": "dumbbell",
        "bottleneck": {"rate": "10 Mb/s", "delay": "10 ms", "queue": queue},
        "access": {"rate": "100 Mb/s", "delay": "1 ms"},
    }
    return ran([], flows, seconds, topology=topology, warmup="20 s", seeds=2)


def _sharing() -> Iterator[Situation]:
    equal = [("files", 10, "10 ms", "tcp/sack")]
    yield Situation(
        "tcp/fair", "Ten flows of equal round trip over drop-tail, 80 s: Jain's index", "",
        *between(1, 0.93, 1), "Chiu & Jain 1989: additive increase and multiplicative decrease converge to equal shares",
        lambda: _dumbbell(equal).mean("groups", "jain"),
    )  # fmt: skip
    yield Situation(
        "tcp/worst-share", "The same: the best flow's goodput over the worst one's", "",
        *between(1, 1, 2.5), "experience: real hosts are out of step, and a drop-tail queue has no favourites",
        lambda: 1 / _dumbbell(equal).mean("groups", "worst_case_fairness"),
    )  # fmt: skip
    yield Situation(
        "tcp/all-used", "The same: use of the link", "%",
        *between(100, 98, 100), "experience: ten flows' saw-teeth fill each other's gaps",
        lambda: 100 * _dumbbell(equal).mean("links", "utilisation", link="r1>r2"),
    )  # fmt: skip
    unequal = [("near", 5, "5 ms", "tcp/sack"), ("far", 5, "65 ms", "tcp/sack")]
    yield Situation(
        "tcp/round-trips", "Five flows of 32 ms, five of 152 ms, and up to 67 ms of queue: the near ones' goodput over the far ones'", "",
        *between(3, 219 / 99, (185 / 65) ** 2), "Lakshman & Madhow 1997: RTT^−a, a from 1 with the queue full to 2 with half of it",
        lambda: _dumbbell(unequal).mean("groups", "goodput_bps", group="near")
        / _dumbbell(unequal).mean("groups", "goodput_bps", group="far"),
    )  # fmt: skip
    yield Situation(
        "tcp/slightly-further", "Round trips 42 and 72 ms, 67 ms of queue at most: the best flow's goodput over the worst one's", "",
        *between(1.7, 1, 3), "the same; beyond 3:1 only locked phases explain it (Floyd & Jacobson 1992)",
        _extremes,
    )  # fmt: skip
    beside = [
        flow("files", "tcp/sack", "bulk", count=4, start={"from": "0 s", "to": "1 s"}),
        cbr("stream", "4 Mb/s"),
    ]
    yield Situation(
        "tcp/yields", "Four transfers beside 4 Mb/s without congestion control on 10 Mb/s: their goodput", "Mb/s",
        *between(6 * 1000 / 1040, 5.4, 6.1), "TCP takes what is left: 6 Mb/s and what little it displaces, less headers",
        lambda: ran(*apart(link("10 Mb/s", "20 ms", 60), beside), 60, warmup="10 s").mean("groups", "goodput_bps", group="files") / 1e6,
    )  # fmt: skip
    friends = [("files", 5, "20 ms", "tcp/sack"), ("tfrc", 5, "20 ms", "tfrc")]
    yield Situation(
        "tcp/friendly", "Five TFRC flows beside five of SACK over drop-tail: their goodput over TCP's", "",
        *between(1, 0.4, 2.0), "RFC 5348 §1: within a factor of two of TCP's in the same conditions (with some slack below)",
        lambda: _dumbbell(friends).mean("groups", "goodput_bps", group="tfrc")
        / _dumbbell(friends).mean("groups", "goodput_bps", group="files"),
    )  # fmt: skip


def _extremes() -> float:
    outcome = _dumbbell([("near", 5, "10 ms", "tcp/sack"), ("far", 5, "25 ms", "tcp/sack")], 100)
    goodputs = outcome.values("flows", "goodput_bps", run=0)
    return max(goodputs) / min(goodputs)
