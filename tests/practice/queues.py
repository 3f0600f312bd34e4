"""Queues: their lengths, their drops, and the guarantees of active queue management."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache, partial
from math import comb, e
from statistics import mean
from typing import Any

import fairwave
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
    poisson,
    ran,
)
from practice.tcp import sawtooth_use


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _paths()
    yield from _full()
    yield from _waiting()
    yield from _managed()
    yield from _filtered()


def _hops() -> list[Table]:
    ways = (("a", "r1", "10 Mb/s", "5 ms"), ("r1", "r2", "1 Mb/s", "20 ms"), ("r2", "b", "2 Mb/s", "10 ms"))
    return [link(rate, delay) | {"from": start, "to": end} for start, end, rate, delay in ways]


def _paths() -> Iterator[Situation]:
    slow = cbr("stream", "100 kb/s", 1000)
    yield Situation(
        "queue/one-hop", "A packet of 1000 B over an idle link of 1 Mb/s and 20 ms", "ms",
        *about(28, 1e-6), "8000 bits over 1 Mb/s, and propagation",
        lambda: 1e3 * ran(link("1 Mb/s", "20 ms"), slow, 10, hosts=IN_STEP).mean("flows", "delay_mean_s"),
    )  # fmt: skip
    yield Situation(
        "queue/three-hops", "The same over idle links of 10, 1 and 2 Mb/s, 5, 20 and 10 ms", "ms",
        *about(0.8 + 5 + 8 + 20 + 4 + 10, 1e-6), "store and forward: transmissions and propagations add up",
        lambda: 1e3 * ran(_hops(), slow, 10, hosts=IN_STEP).mean("flows", "delay_mean_s"),
    )  # fmt: skip
    yield Situation(
        "queue/reserve", "Sending 20 ms apart what takes 20 ms: packets that wait, in the mean", "packets",
        *near(0, 1e-6), "D/D/1 at load 1 never waits",
        lambda: ran(
            link("400 kb/s", "5 ms"), cbr("stream", "400 kb/s"), 10, hosts=IN_STEP
        ).mean("links", "mean_queue_packets", link="a>b"),
    )  # fmt: skip


def _overload(offered: float, packets: int = 50, **queue: object) -> Outcome:
    how = {"queue": {"discipline": "drop-tail", "capacity": queue}} if queue else {}
    wire = link("1 Mb/s", "10 ms", packets, **how)
    return ran(wire, cbr("stream", f"{offered * 1e6:.0f} b/s"), 60, hosts=IN_STEP, warmup="10 s")


def _full() -> Iterator[Situation]:
    for offered in (1.1, 1.5, 4):
        yield Situation(
            f"queue/drop-tail-{offered:g}", f"{offered:g} Mb/s without congestion control into 1 Mb/s, drop-tail: lost", "%",
            *about(100 * (1 - 1 / offered), 0.005), "1 − C/offered",
            lambda offered=offered: 100 * _overload(offered).share("dropped", "packets_sent"),  # type: ignore[misc]
        )  # fmt: skip
    yield Situation(
        "queue/full-use", "The same at 1.5 Mb/s: use of the link", "%",
        *near(100, 0.05), "work is conserved",
        lambda: 100 * _overload(1.5).mean("links", "utilisation", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "queue/full-wait", "The longest wait in a full buffer of 50 packets of 1000 B before 1 Mb/s", "ms",
        *about(50 * 8, 0.005), "size over rate",
        lambda: 1e3 * _overload(4).mean("flows", "delay_max_s") - 10 - 8,
    )  # fmt: skip
    yield Situation(
        "queue/full-wait-bytes", "The longest wait in a full buffer of 25 000 B before 1 Mb/s", "ms",
        *about(200, 0.005), "size over rate",
        lambda: 1e3 * _overload(4, bytes=25_000).mean("flows", "delay_max_s") - 10 - 8,
    )  # fmt: skip
    yield Situation(
        "queue/full-length", "Mean length of that buffer of 50 packets, at four times the rate", "packets",
        *near(50 - 0.5 * 0.25, 0.3), "full but for the moment after each departure",
        lambda: _overload(4).mean("links", "mean_queue_packets", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "queue/books", "Arrivals less departures and drops, beyond what can wait or be in transmission", "packets",
        *exactly(0), "what comes in goes out, is dropped or waits",
        _unaccounted,
    )  # fmt: skip
    yield Situation(
        "queue/fair-loss", "Two streams of 1 Mb/s and one of 0.5 over 1 Mb/s, random spacing: the small one's loss over the large ones'", "",
        *about(1, 0.1), "PASTA: a full FIFO turns all away alike",
        _fair_loss,
    )  # fmt: skip


def _unaccounted() -> float:
    wire = link("1 Mb/s", "10 ms", 50)
    outcome = ran(wire, cbr("stream", "1.5 Mb/s"), 30, hosts=IN_STEP)
    (row,) = outcome.rows("links", link="a>b")
    left = row["arrivals"] - row["departures"] - row["dropped_overflow"] - row["dropped_early"]
    return float(max(0, left - 51, -left))


def _fair_loss() -> float:
    wire = link("1 Mb/s", "10 ms", 20)
    outcome = ran(wire, [poisson("small", 62.5), poisson("one", 125), poisson("two", 125)], 120, warmup="5 s")
    small, one, two = (
        outcome.share("dropped", "packets_sent", group=group) for group in ("small", "one", "two")
    )
    return small / ((one + two) / 2)


def poisson_queue(load: float) -> Outcome:
    return ran(
        link("8 Mb/s", "1 ms", 100_000), poisson("stream", 1000 * load), 120, warmup="5 s", hosts=IN_STEP
    )


def _waiting() -> Iterator[Situation]:
    for load in (0.3, 0.5, 0.8):
        yield Situation(
            f"queue/md1-{load:g}", f"Poisson packets of 1 ms at load {load:g}: mean wait", "ms",
            *about(load / (2 * (1 - load)), 0.08), "M/D/1: ρ/(2(1 − ρ)) transmissions (Kleinrock §5.6); ± 4 σ of chance",
            lambda load=load: 1e3 * poisson_queue(load).mean("flows", "delay_mean_s") - 2,  # type: ignore[misc]
        )  # fmt: skip
    yield Situation(
        "queue/little", "M/D/1 at load 0.8: packets that wait over arrivals per second times wait", "",
        *about(1, 0.002), "Little's law, the wait taken from the receiver",
        _little,
    )  # fmt: skip
    yield Situation(
        "queue/idle-share", "M/D/1 at load 0.8: share of the time that the link is busy", "%",
        *about(80, 0.02), "ρ", lambda: 100 * poisson_queue(0.8).mean("links", "utilisation", link="a>b"),
    )  # fmt: skip
    for count, period in ((8, 10), (19, 20)):
        yield Situation(
            f"queue/nd-d-1-{count}", f"{count} periodic streams in {period} transmissions' time, phases at random: mean wait", "ms",
            *about(_periodic_wait(count - 1, period), 0.1), "N·D/D/1, Roberts & Virtamo 1991: what an arrival finds of the others",
            partial(_periodic, count, period),
        )  # fmt: skip
    yield Situation(
        "queue/md1k", "Poisson packets at load 1, room for one that waits and one in transmission: lost", "%",
        *about(100 / (1 + e), 0.03), "M/D/1/2: 1 − 1/(e^−ρ + ρ), at ρ = 1 1/(1 + e)",
        _tiny,
    )  # fmt: skip


def _little() -> float:
    outcome = poisson_queue(0.8)
    (row,) = outcome.rows("links", link="a>b")
    wait = outcome.mean("flows", "delay_mean_s") - 0.002
    return row["mean_queue_packets"] / (row["departures"] / 115 * wait)


def _tiny() -> float:
    wire = link("8 Mb/s", "1 ms", 1)
    outcome = ran(wire, poisson("stream", 1000), 120, hosts=IN_STEP)
    return 100 * outcome.share("dropped", "packets_sent")


def periodic_tail(count: int, period: int, x: float) -> float:
    """Probability that `count` streams, each a packet of time 1 per `period` at a random phase, leave more work than x.

    P(work > x) = Σ C(N, n) ((n − x)/D)ⁿ (1 − (n − x)/D)ᴺ⁻ⁿ (D − N + x)/(D − n + x) over x < n ≤ N.
    """
    terms = (
        comb(count, n)
        * ((n - x) / period) ** n
        * (1 - (n - x) / period) ** (count - n)
        * (period - count + x)
        / (period - n + x)
        for n in range(int(x) + 1, count + 1)
    )
    return sum(terms)


def _periodic_wait(count: int, period: int) -> float:
    """The mean of that work."""
    steps = 100 * count
    return sum(periodic_tail(count, period, (step + 0.5) / 100) for step in range(steps)) / 100


def periodic_waits(count: int, period: int) -> list[float]:
    """Waits of each of `count` streams in 300 runs, ms: in step, a stream's packets all wait equally long."""
    wire = link("8 Mb/s", "1 ms", 1000)
    streams = cbr(
        "streams", f"{8000 / period:g} kb/s", 1000, count=count, start={"from": "0 s", "to": f"{period} ms"}
    )
    outcome = ran(wire, streams, 0.25, hosts=IN_STEP, warmup="50 ms", seeds=300)
    return [1e3 * delay - 2 for delay in outcome.values("flows", "delay_mean_s")]


def _periodic(count: int, period: int) -> float:
    return mean(periodic_waits(count, period))


@cache
def transfers(discipline: str, flows: int = 1, **keys: object) -> Outcome:
    queue = {"discipline": discipline, "capacity": {"packets": 500}} | keys
    wire = link("10 Mb/s", "25 ms", queue=queue)
    files = flow("files", "tcp/sack", "bulk", count=flows, start={"from": "0 s", "to": "1 s"})
    return ran(*apart(wire, files), 150, warmup="50 s")


def _wait(discipline: str, flows: int = 1, **keys: object) -> float:
    return 1e3 * transfers(discipline, flows, **keys).mean("links", "mean_wait_s", link="a>b")


def _managed() -> Iterator[Situation]:
    yield Situation(
        "queue/bloat", "One file transfer through 500 packets of drop-tail, 10 Mb/s, round trip 50 ms: mean wait", "ms",
        *about(0.75 * 500 * 0.832, 0.15), "Reno's saw-tooth fills any buffer: about three quarters of 416 ms",
        partial(_wait, "drop-tail"),
    )  # fmt: skip
    yield Situation(
        "queue/codel", "The same through CoDel", "ms",
        *between(5, 1, 10), "RFC 8289 §4.2: a standing delay of the target, 5 ms", partial(_wait, "codel"),
    )  # fmt: skip
    yield Situation(
        "queue/codel-use", "CoDel beside that one transfer: use of the link", "%",
        *near(100 * sawtooth_use(0.1), 6), "a saw-tooth over a buffer of 5 ms, a tenth of the path (RFC 8289 §4.2: target 5 ms)",
        lambda: 100 * transfers("codel").mean("links", "utilisation", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "queue/pie", "Ten transfers through PIE: mean wait", "ms",
        *between(15, 9, 21), "RFC 8033 §4.2: QDELAY_REF 15 ms", partial(_wait, "pie", 10),
    )  # fmt: skip
    yield Situation(
        "queue/pie-target", "The same with a target of 40 ms", "ms",
        *between(40, 28, 52), "RFC 8033 §4.2", partial(_wait, "pie", 10, target="40 ms"),
    )  # fmt: skip
    yield Situation(
        "queue/red", "Ten transfers through RED, thresholds 20 and 60 packets: mean length", "packets",
        *between(40, 20, 60), "Floyd & Jacobson 1993: the average is held between the thresholds",
        lambda: transfers(
            "red", 10, **{"min-threshold": 20.0, "max-threshold": 60.0, "mean-packet": "1040 B"}
        ).mean("links", "mean_queue_packets", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "queue/red-early", "The same: share of its drops that are early", "%",
        *between(100, 95, 100), "Floyd & Jacobson 1993: it drops before the buffer is full",
        _early,
    )  # fmt: skip
    yield Situation(
        "queue/ared", "Ten transfers through Adaptive RED, thresholds 20 and 60: mean length", "packets",
        *between(40, 32, 48), "Floyd, Gummadi & Shenker 2001: within 0.4 to 0.6 of the way from min to max",
        lambda: transfers(
            "ared", 10, **{"min-threshold": 20.0, "max-threshold": 60.0, "mean-packet": "1040 B"}
        ).mean("links", "mean_queue_packets", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "queue/rem", "Ten transfers through REM, target 20 packets: mean length", "packets",
        *between(20, 16, 24), "Athuraliya et al. 2001: the price settles where the backlog is b*",
        lambda: transfers("rem", 10).mean("links", "mean_queue_packets", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "queue/avq", "Ten transfers through AVQ, γ 0.98: use of the link", "%",
        *between(98, 90, 99.5), "Kunniyur & Srikant 2001: the desired utilisation γ",
        lambda: 100 * transfers("avq", 10).mean("links", "utilisation", link="a>b"),
    )  # fmt: skip

    yield Situation(
        "queue/red-of-one", "Is a RED with thresholds of 5 and 15 packets and room for one refused?", "",
        *exactly(1), "Floyd & Jacobson 1993: it would never drop early, and be drop-tail unsaid",
        lambda: float(_refused({"discipline": "red", "capacity": {"packets": 1}})),
    )  # fmt: skip
    yield Situation(
        "queue/avq-unresponsive", "Is one told that AVQ idles the link when sources do not respond?", "",
        *exactly(1), "Kunniyur & Srikant 2001: the virtual capacity falls while arrivals exceed γC, whatever is served",
        lambda: float(bool(_cautions({"discipline": "avq", "capacity": {"packets": 100}}, cbr("stream", "2 Mb/s")))),
    )  # fmt: skip


def _refused(queue: Table) -> bool:
    try:
        _cautions(queue, flow("file", "tcp/sack", "bulk"))
    except fairwave.ScenarioError as error:
        return "min-threshold" in str(error)
    return False


def _cautions(queue: Table, one: Table) -> list[str]:
    data = {
        "name": "practice",
        "duration": "10 s",
        "link": [link("1 Mb/s", "10 ms", queue=queue)],
        "flow": [one],
    }
    return fairwave.load(json.dumps(data)).cautions()


def _early() -> float:
    keys = {"min-threshold": 20.0, "max-threshold": 60.0, "mean-packet": "1040 B"}
    (row,) = transfers("red", 10, **keys).rows("links", link="a>b")
    return 100 * row["dropped_early"] / (row["dropped_early"] + row["dropped_overflow"])


def _filtered() -> Iterator[Situation]:
    # 1000 B of data are 1040 B and 44 B of the line: 23 cells. An acknowledgement of 40 B takes 2.
    packet, acknowledgement = 23 * 53, 2 * 53
    half, down = 480e3 / 2, 9.5e6
    yield Situation(
        "queue/adsl-upload", "CAKE on ADSL, 10 Mb/s down and 0.5 Mb/s up in ATM cells, a download and an upload: what the upload gets", "kb/s",
        *about(1e-3 * half * 1000 / packet, 0.03), "shares by flow: half of 480 kb/s is the upload's, 23 cells for 1000 B",
        lambda: 1e-3 * _adsl("none").mean("flows", "goodput_bps", group="upload"),
    )  # fmt: skip
    yield Situation(
        "queue/adsl-acks", "The same: acknowledgements of the download that leave", "1/s",
        *about(half / 8 / acknowledgement, 0.03), "the other half of 480 kb/s, 2 cells each",
        lambda: _acknowledgements("none"),
    )  # fmt: skip
    yield Situation(
        "queue/ack-filter-acks", "The same with CAKE's ACK filter, aggressive: acknowledgements that leave, over those without it", "",
        *between(0.6, 0.3, 0.85), "sch_cake: one that says less than the next goes; what stays needs less than its half",
        lambda: _acknowledgements("aggressive") / _acknowledgements("none"),
    )  # fmt: skip
    for kind in ("conservative", "aggressive"):
        yield Situation(
            f"queue/ack-filter-{kind}", f"The same with the filter, {kind}: what the download gets of what the line carries", "%",
            *between(90, 84, 100), "acknowledgements limit it no longer: 9.5 Mb/s, 23 cells for 1000 B, less what CUBIC's saw-tooth leaves",
            lambda kind=kind: 100 * _adsl(kind).mean("flows", "goodput_bps", group="download") / (down * 1000 / packet),  # type: ignore[misc]
        )  # fmt: skip
    yield Situation(
        "queue/ack-filter-gain", "The same, conservative: the download over that without the filter", "",
        *between(1.2, 1.08, 1.5), "experience: acknowledgements that wait or are dropped cost a download a sixth and more on such lines",
        lambda: (
            _adsl("conservative").mean("flows", "goodput_bps", group="download")
            / _adsl("none").mean("flows", "goodput_bps", group="download")
        ),
    )  # fmt: skip
    yield Situation(
        "queue/ack-filter-ping", "The same: what the filter adds to the round trip of a ping", "ms",
        *near(0, 1e3 * 8 * packet / 480e3 / 2), "a ping has a queue of its own, and waits for half a packet's 20 ms in the mean",
        lambda: 1e3 * (_ping("conservative") - _ping("none")),
    )  # fmt: skip


def _adsl(kind: str) -> Outcome:
    """CAKE on an asymmetric line in ATM cells, with a transfer each way and a ping from the slow side."""

    def shaper(bandwidth: str, size: int, **more: Any) -> Table:
        cells = {"overhead": 44, "framing": "atm"}
        return {"discipline": "cake", "bandwidth": bandwidth, "capacity": {"bytes": size}} | cells | more

    down = {"rate": "10 Mb/s", "queue": shaper("9.5 Mb/s", 4_000_000), "loss": {"model": "none"}}
    up = shaper("480 kb/s", 500_000, **{"ack-filter": kind})
    line = {"from": "a", "to": "b", "rate": "500 kb/s", "delay": "20 ms", "queue": up, "reverse": down}
    flows = [
        flow("download", "tcp/cubic", "bulk") | {"from": "b", "to": "a"},
        flow("upload", "tcp/cubic", "bulk"),
        flow("ping", "ping", {"kind": "ping"}),
    ]
    return ran(line, flows, ADSL_TIME, warmup=f"{ADSL_WARMUP} s")


ADSL_TIME, ADSL_WARMUP = 40, 10


def _acknowledgements(kind: str) -> float:
    """Acknowledgements per second that leave on the slow side: packets other than data and pings."""
    one = _adsl(kind)
    left = one.mean("links", "departures", link="a>b")
    others = one.total("flows", "packets_sent", group="upload") + one.total(
        "flows", "packets_sent", group="ping"
    )
    return (left - others) / (ADSL_TIME - ADSL_WARMUP)


def _ping(kind: str) -> float:
    return _adsl(kind).mean("round_trips", "mean_s", group="ping")
