"""Delay, loss and codecs: R and MOS compared with the Recommendation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from practice import g107
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

PACKET = 20
"""Speech in a packet, ms."""


def call(
    *,
    path: float = 0.0,
    ear: float | None = None,
    codec: str = "g711",
    concealment: str = "appendix-i",
    loss: str | Table | None = None,
    seconds: float = 20,
    packet: float = PACKET,
    **more: object,
) -> Outcome:
    """One speaker without pauses, over a path of `path` ms; a fixed playout sets the mouth-to-ear delay to `ear` ms."""
    traffic = {"kind": "voice", "codec": codec, "always-on": True, "packet-time": f"{packet:g} ms"}
    lost = {"model": "pattern", "pattern": loss} if isinstance(loss, str) else loss or {"model": "none"}
    # An inter-continental path without jitter: fast enough that transmission is negligible.
    wire = link("10 Gb/s", f"{path:g} ms", loss=lost)
    playout: str | Table = "neteq"
    if ear is not None:
        # A packet is sent when it is full, so the playout delay is `ear` minus the packet time.
        playout = {"strategy": "fixed", "reference": "creation", "delay": f"{ear - packet:.6f} ms"}
    one = flow("call", "udp", traffic, playout=playout, concealment=concealment)
    return ran(wire, one, seconds, hosts=IN_STEP, **more)


def r(**how: object) -> float:
    """R of that call."""
    return call(**how).mean("flows", "r_factor")  # type: ignore[arg-type]


def mos(**how: object) -> float:
    """MOS of that call."""
    return call(**how).mean("flows", "mos")  # type: ignore[arg-type]


def spelled(codec: str) -> str:
    """A codec's name in its standard."""
    return codec.upper().replace("G7", "G.7")


def spread(every: int, run: int = 1, times: int = 1) -> str:
    """A loss pattern: `run` of `every` packets, consecutive."""
    return ("0" * (every - run) + "1" * run) * times


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _delay()
    yield from _loss()
    yield from _codecs()
    yield from _marks()
    yield from _ends()
    yield from _window()
    yield from _playing()


def _delay() -> Iterator[Situation]:
    yield Situation(
        "rating/default", "What does a perfect G.711 call have (packets of 1 ms, no path)?", "R",
        *near(93.2, 0.1), "G.107 §7.7: R with all defaults; Ie 0, delay 1 ms",
        partial(r, ear=1.01, packet=1),
    )  # fmt: skip
    for ear in (50, 150, 250, 400):
        yield Situation(
            f"rating/delay-{ear}", f"G.711, nothing lost, {ear} ms mouth to ear", "R",
            *near(g107.r_factor(ear), 0.05), "G.107 Eq. 7-1 to 7-28, T = Ta = Tr/2",
            partial(r, path=10, ear=ear),
        )  # fmt: skip
    yield Situation(
        "rating/delay-370", "G.711 without concealment, nothing lost, 370 ms mouth to ear", "R",
        *near(65.0, 0.1), "G.107: the same, whatever the receiver would do about losses",
        partial(r, path=300, ear=370, concealment="none"),
    )  # fmt: skip
    yield Situation(
        "rating/knee-below", "What does a millisecond more cost, from 100 to 150 ms?", "R per ms",
        *near(0.024, 0.005), "Cole & Rosenbluth 2001: 0.024 d below 177 ms",
        lambda: (r(path=10, ear=100) - r(path=10, ear=150)) / 50,
    )  # fmt: skip
    yield Situation(
        "rating/knee-above", "And from 200 to 300 ms?", "R per ms",
        *near(0.134, 0.01), "Cole & Rosenbluth 2001: 0.024 + 0.11 above 177 ms",
        lambda: (r(path=10, ear=200) - r(path=10, ear=300)) / 100,
    )  # fmt: skip
    yield Situation(
        "rating/satisfied", "Up to what one-way delay are users of G.711 very satisfied or satisfied (R ≥ 80)?", "ms",
        *near(_solved(80), 4), "G.107 solved for R = 80",
        _satisfied,
    )  # fmt: skip


def _solved(rating: float) -> float:
    """The longest integer delay in milliseconds at which G.711 without losses has this R."""
    return float(max(ear for ear in range(1, 500) if g107.r_factor(ear) >= rating))


def _satisfied() -> float:
    return float(max(ear for ear in range(200, 300, 4) if r(path=10, ear=ear, seconds=2) >= 80))


def _loss() -> Iterator[Situation]:
    ear = 100
    for percent, concealment, bpl in (
        (1, "appendix-i", 25.1), (5, "appendix-i", 25.1), (10, "appendix-i", 25.1),
        (1, "none", 4.3), (2, "none", 4.3), (5, "none", 4.3),
    ):  # fmt: skip
        words = "with Appendix I" if concealment == "appendix-i" else "without concealment"
        yield Situation(
            f"rating/g711-{concealment}-{percent}", f"G.711 {words}, {percent} % lost one by one, 100 ms", "R",
            *near(g107.r_factor(ear, percent, 0, bpl), 0.1), f"G.107 Eq. 7-29, G.113 Table I.4: Bpl {bpl}",
            partial(r, path=10, ear=ear, concealment=concealment, loss=spread(100 // percent)),
        )  # fmt: skip
    for run in (2, 4):
        ratio = run * (1 - 0.05)
        yield Situation(
            f"rating/bursts-of-{run}", f"G.711, 5 % lost in bursts of {run}, 100 ms", "R",
            *near(g107.r_factor(ear, 5, 0, 25.1, ratio), 0.1),
            f"G.107 Eq. 7-29 with BurstR = {run}·(1 − 0.05) = {ratio:.2g}",
            partial(r, path=10, ear=ear, loss=spread(20 * run, run), seconds=32),
        )  # fmt: skip
    yield Situation(
        "rating/random-loss", "G.711, 3 % lost at random, 100 ms, 400 s", "R",
        *near(g107.r_factor(ear, 3), 1.5), "G.107 Eq. 7-29, BurstR 1; 20 000 packets: ± 4 σ",
        partial(r, path=10, ear=ear, loss={"model": "bernoulli", "rate": 0.03}, seconds=400),
    )  # fmt: skip
    yield Situation(
        "rating/rises-with-loss", "How often does R rise while losses do: 5, 10, 20, 50, 80, 100 %?", "times",
        *exactly(0), "experience: more loss is never better",
        _rises,
    )  # fmt: skip
    yield Situation(
        "rating/late-is-lost", "Playout before the packets come (150 ms path, 120 ms mouth to ear)", "R",
        *exactly(0), "experience: what comes after its playout is not heard",
        partial(r, path=150, ear=120),
    )  # fmt: skip


def _rises() -> float:
    ratings = [r(path=10, ear=100, loss=spread(100, lost)) for lost in (5, 10, 20, 50, 80, 100)]
    return float(sum(later > before for before, later in pairwise(ratings)))


def _codecs() -> Iterator[Situation]:
    for codec, ie, bpl, percent in (
        ("g729", 11, 19.0, 0), ("g729", 11, 19.0, 2), ("gsm-efr", 5, 10.0, 2), ("g723.1-6.3", 15, 16.1, 4),
    ):  # fmt: skip
        packet = 30 if codec.startswith("g723") else PACKET
        ahead = {"g729": 5.0, "gsm-efr": 0.0, "g723.1-6.3": 7.5}[codec]
        how = {"path": 10, "ear": 100, "codec": codec, "packet": packet}
        yield Situation(
            f"rating/{codec}-{percent}", f"{spelled(codec)}, {percent} % lost one by one, 100 ms and the look-ahead", "R",
            *near(g107.r_factor(100 + ahead, percent, ie, bpl), 0.1), f"G.107, G.113 Tables I.1, I.4: Ie {ie}, Bpl {bpl}",
            partial(r, **how, loss=spread(100 // percent) if percent else None, seconds=30),
        )  # fmt: skip
    for rating, how in ((90.66, {"ear": 100}), (79.18, {"ear": 250}), (62.25, {"ear": 400})):
        yield Situation(
            f"rating/mos-at-{how['ear']}", f"G.711, nothing lost, {how['ear']} ms: mean opinion score", "MOS",
            *near(g107.opinion(g107.r_factor(how["ear"])), 0.005),
            f"G.107 Annex B: 1 + 0.035 R + R (R − 60)(100 − R)·7·10⁻⁶ at R {rating:g}",
            partial(mos, path=10, **how),
        )  # fmt: skip
    wide = {"path": 10, "ear": 60, "codec": "g722"}
    yield Situation(
        "rating/wideband", "G.722, nothing lost, 60 ms and the look-ahead: R on the wideband scale", "R",
        *between(129 - 13, 129 - 13 - 4, 129 - 13), "G.107.1 Eq. 7-1: 129 − Ie,WB 13 (G.113 Table IV.1), less up to 4 for echo",
        partial(r, **wide),
    )  # fmt: skip
    yield Situation(
        "rating/wideband-mos", "The same: mean opinion score", "MOS",
        *near(g107.opinion((129 - 13 - 2) / 1.29), 0.07), "G.107.1 Annex A: R/1.29, then G.107 Annex B",
        partial(mos, **wide),
    )  # fmt: skip
    yield Situation(
        "rating/not-in-g113", "How many ratings has an iLBC call, for which G.113 has no factors?", "",
        *exactly(0), "G.113: no Ie for iLBC, so R is not defined",
        lambda: float(sum(one == one for one in call(path=10, ear=100, codec="ilbc-20").values("flows", "r_factor"))),
    )  # fmt: skip


def _notes(word: str, **how: object) -> float:
    return float(sum(word in row["quality_note"] for row in call(path=10, ear=100, **how).rows("flows")))  # type: ignore[arg-type]


def _marks() -> Iterator[Situation]:
    yield Situation(
        "rating/assumed", "Is a G.728 call's rating marked as assumed?", "",
        *exactly(1), "G.113 Table I.4 has no Bpl for G.728", partial(_notes, "assumed:", codec="g728"),
    )  # fmt: skip
    yield Situation(
        "rating/not-assumed", "Is a G.729 call's?", "",
        *exactly(0), "G.113 has both factors", partial(_notes, "assumed:", codec="g729"),
    )  # fmt: skip
    yield Situation(
        "rating/extrapolated", "Is a rating at 30 % of loss marked as outside the Recommendation?", "",
        *exactly(1), "G.107 Table 2: Ppl from 0 to 20 %",
        partial(_notes, "extrapolated:", loss=spread(10, 3)),
    )  # fmt: skip


def _ends() -> Iterator[Situation]:
    yield Situation(
        "rating/all-lost", "Every packet lost: R", "R",
        *exactly(0), "G.107 Annex B: the scale's lower end", partial(r, path=10, ear=100, loss="1"),
    )  # fmt: skip
    yield Situation(
        "rating/all-lost-mos", "Every packet lost: MOS", "MOS",
        *exactly(1), "G.107 Annex B: 1 for R ≤ 0", partial(mos, path=10, ear=100, loss="1"),
    )  # fmt: skip
    outage = spread(1000, 500)
    yield Situation(
        "rating/outage", "Ten of twenty seconds lost at a stretch, without concealment: R", "R",
        *exactly(0), "G.107 Eq. 7-29: Ie,eff grows beyond R; Annex B ends the scale at 0",
        partial(r, path=10, ear=100, loss=outage, concealment="none"),
    )  # fmt: skip
    yield Situation(
        "rating/silent", "How many scores has a call in which nobody speaks?", "",
        *exactly(0), "experience: what is not said cannot be judged",
        _silent,
    )  # fmt: skip


def _silent() -> float:
    quiet = {"distribution": "constant", "mean": "1000 s"}
    traffic = {"kind": "voice", "silence": quiet, "first": "silence"}
    outcome = ran(link("10 Mb/s", "10 ms"), flow("call", "udp", traffic), 10)
    return float(sum(one == one for one in outcome.values("flows", "mos")))


def _window() -> Iterator[Situation]:
    for path, seconds in ((150, 60), (300, 10)):
        ear = path + 60
        yield Situation(
            f"rating/in-flight-{path}", f"A loss-free call of {seconds} s over {path} ms, {ear} ms mouth to ear, no concealment", "R",
            *near(g107.r_factor(ear, 0, 0, 4.3), 0.05), "G.107: what is in flight at the end is not lost",
            partial(r, path=path, ear=ear, seconds=seconds, concealment="none"),
        )  # fmt: skip
    yield Situation(
        "rating/loss-term", "Points of R for loss: a loss-free call of 10 s over 300 ms, as receivers play it by default", "R",
        *exactly(0), "G.107 Eq. 7-29: Ppl 0, however long the path",
        lambda: call(path=300, seconds=10).mean("flows", "r_cost_loss"),
    )  # fmt: skip
    yield Situation(
        "rating/default-playout", "A loss-free call over 150 ms without jitter: what a jitter buffer adds to path and packet", "ms",
        *between(20, 0, 40), "experience: a buffer without jitter holds about a packet (NetEQ's least target is one)",
        lambda: 1e3 * call(path=150).mean("flows", "mouth_to_ear_s") - 150 - PACKET,
    )  # fmt: skip
    yield Situation(
        "rating/default-rating", "The same call: R", "R",
        *between(g107.r_factor(190), g107.r_factor(210), g107.r_factor(170)), "G.107 at 170 to 210 ms mouth to ear",
        partial(r, path=150),
    )  # fmt: skip
    black = {"model": "blackout", "from": "2 s", "to": "4 s"}
    yield Situation(
        "rating/warm-up", "A blackout from 2 to 4 s with a warm-up of 5 s, 60 ms mouth to ear: MOS", "MOS",
        *near(g107.opinion(g107.r_factor(60)), 0.01), "every measure is of what follows the warm-up",
        partial(mos, path=10, ear=60, loss=black, warmup="5 s"),
    )  # fmt: skip
    yield Situation(
        "rating/blackout", "The same without warm-up: the share that was missed", "%",
        *about(10, 0.01), "2 of 20 seconds",
        lambda: 100 * call(path=10, ear=60, loss=black).mean("flows", "missed_ratio"),
    )  # fmt: skip


def _jittered(most: int) -> Outcome:
    """A call with random send delays of up to `most` ms, over 20 ms, with the default playout."""
    traffic = {"kind": "voice", "always-on": True}
    hosts = {"clock-skew": "0 ppm", "send-jitter": f"{most} ms"}
    return ran(link("10 Gb/s", "20 ms"), flow("call", "udp", traffic), 120, hosts=hosts, warmup="20 s")


def _uplink(queue: Table) -> Outcome:
    """A call next to an upload on 1 Mb/s."""
    wire = link("1 Mb/s", "20 ms", queue=queue)
    flows = [flow("call", "udp", {"kind": "voice", "always-on": True}), flow("upload", "tcp/sack", "bulk")]
    return ran(wire, flows, 90, warmup="20 s")


def _contested() -> Outcome:
    """Ten calls and a download."""
    topology = {"preset": "dumbbell", "bottleneck": {"rate": "1 Mb/s", "delay": "20 ms"}}
    flows = [
        {"name": "voice", "count": 10, "transport": "udp", "traffic": "voice"},
        {"name": "download", "transport": "tcp/reno", "traffic": "bulk"},
    ]
    return ran([], flows, 60, topology=topology, seeds=5)


def _contested_mos() -> float:
    scores = [one for one in _contested().values("flows", "mos", group="voice") if one == one]
    return sum(scores) / len(scores)


def _playing() -> Iterator[Situation]:
    yield Situation(
        "rating/contested", "Ten calls and a download on 1 Mb/s: units that come too late, of those that come", "%",
        *between(0.6, 0, 3), "experience: nothing takes more than 300 ms, and an offset of 200 ms above the least delay has 0.6 % late",
        lambda: 100 * _contested().share("late_units", "units_received", group="voice"),
    )  # fmt: skip
    yield Situation(
        "rating/contested-mos", "The same: MOS, mean over the calls in which something was said", "MOS",
        *between(3.5, 3.0, 4.2), "the same offset, rated by G.107",
        _contested_mos,
    )  # fmt: skip
    yield Situation(
        "rating/jitter-missed", "A call with random jitter of up to 40 ms: share that its receiver misses", "%",
        *between(1, 0, 4), "experience: jitter buffers keep late losses to a few per cent",
        lambda: 100 * _jittered(40).mean("flows", "missed_ratio"),
    )  # fmt: skip
    yield Situation(
        "rating/jitter-delay", "The same: delay mouth to ear", "ms",
        *between(20 + 20 + 40, 20 + 20 + 20, 20 + 20 + 40 + 60), "experience: packet, path, the jitter, and at most three packets",
        lambda: 1e3 * _jittered(40).mean("flows", "mouth_to_ear_s"),
    )  # fmt: skip
    yield Situation(
        "rating/bloated", "A call beside an upload through a second of drop-tail on 1 Mb/s: MOS", "MOS",
        *between(1.5, 1, 2.6), "G.107: half a second to a second of delay is R below 55",
        lambda: _uplink({"discipline": "drop-tail", "capacity": {"packets": 120}}).mean("flows", "mos", group="call"),
    )  # fmt: skip
    yield Situation(
        "rating/unbloated", "The same through CoDel: MOS", "MOS",
        *between(4.2, 3.6, 4.4), "experience: with a queue of tens of milliseconds and few losses a call is good",
        lambda: _uplink({"discipline": "codel", "capacity": {"packets": 120}}).mean("flows", "mos", group="call"),
    )  # fmt: skip
