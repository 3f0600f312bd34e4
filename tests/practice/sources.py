"""Textbook sources, losses by rate and run, exercises with a block code, adaptive streams, codecs by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import comb, exp, sqrt

from practice.situation import IN_STEP, Outcome, Situation, Table, about, exactly, flow, link, near, ran

SECONDS = 1000
"""Packets of 1000 B on 1 Mb/s, 100 per second at load 0.8."""


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _queues()
    yield from _losses()
    yield from _games()
    yield from _streams()
    yield from _codecs()


def _wait(traffic: Table) -> float:
    stream = flow("stream", {"name": "udp", "header": "0 B", "max-payload": "65535 B"}, traffic)
    outcome = ran(link("1 Mb/s", "1 ms", 1_000_000), stream, SECONDS, seeds=4, hosts=IN_STEP)
    return 1e3 * outcome.mean("links", "mean_wait_s", link="a>b")


def _queues() -> Iterator[Situation]:
    exponential = {"distribution": "exponential", "mean": "1000 B"}
    poisson: Table = {"kind": "poisson", "rate": "800 kb/s"}
    for name, said, traffic, expected, source in (
        ("md1", "of 1000 B", poisson, 16, "M/D/1: ρ S/(2 (1 − ρ))"),
        ("mm1", "of exponential sizes, mean 1000 B", poisson | {"payload": exponential}, 32, "M/M/1: ρ S/(1 − ρ)"),
        (
            "mg1", "of 500 B or 1500 B", poisson | {"payload": {"distribution": "list", "sizes": ["500 B", "1500 B"]}},
            20, "M/G/1, Pollaczek and Khinchine: λ E[S²]/(2 (1 − ρ))",
        ),
    ):  # fmt: skip
        yield Situation(
            f"source/{name}", f"Poisson packets {said} at load 0.8 on 1 Mb/s: mean wait", "ms",
            *about(expected, 0.12), f"{source}, S = 8 ms; 320 000 packets: ± 4 σ", partial(_wait, traffic),
        )  # fmt: skip
    sigma = 0.5
    for _ in range(200):
        sigma = exp(-(1 - sigma) / 0.8)
    regular = {
        "kind": "renewal",
        "gap": {"distribution": "constant", "mean": "10 ms"},
        "payload": exponential,
    }
    yield Situation(
        "source/dm1", "Exponential sizes every 10 ms at load 0.8: mean wait", "ms",
        *about(8 * sigma / (1 - sigma), 0.12), "D/M/1: S σ/(1 − σ), σ = e^(−(1 − σ)/ρ)", partial(_wait, regular),
    )  # fmt: skip


def _losses() -> Iterator[Situation]:
    def pattern(loss: Table) -> str:
        stream = flow("stream", "udp", {"kind": "cbr", "rate": "800 kb/s", "payload": "100 B"})
        outcome = ran(
            link("10 Mb/s", "5 ms", loss=loss), stream, 200, hosts=IN_STEP, record={"units": ["stream"]}
        )
        return "".join("1" if row["fate"] == "lost" else "0" for row in outcome.rows("units"))

    def runs(loss: Table) -> float:
        found = [len(run) for run in pattern(loss).split("0") if run]
        return sum(found) / len(found)

    gilbert = {"model": "gilbert", "rate": 0.02, "run": 4}
    yield Situation(
        "source/gilbert-rate", "Losses of 2 % in runs of 4, 200 000 packets: lost", "%",
        *near(2, 0.35), "Gilbert 1960: p/(p + q); 1000 runs: ± 4 σ", lambda: 100 * pattern(gilbert).count("1") / 200_000,
    )  # fmt: skip
    yield Situation(
        "source/gilbert-run", "The same: mean run of losses", "packets",
        *about(4, 4 * sqrt(12) / 4 / sqrt(1000)), "geometric: 1/q; ± 4 σ", partial(runs, gilbert),
    )  # fmt: skip
    states = [
        {"rate": "10 Mb/s", "mean": "300 ms"},
        {"rate": "10 Mb/s", "mean": "100 ms", "delay": "40 ms", "loss": 0.2},
    ]

    def radio() -> Outcome:
        stream = flow("stream", "udp", {"kind": "poisson", "per-second": 500, "payload": "100 B"})
        way = link("1 Mb/s", "5 ms") | {"rate": {"law": "markov", "states": states}}
        return ran(way, stream, 400, hosts=IN_STEP)

    # ∫ (40 − x) e^(−x/300) dx from 0 to 40, once in a cycle of 400 ms.
    caught_up = 40 * 300 - 300**2 * (1 - exp(-40 / 300))
    yield Situation(
        "source/radio-loss", "A chain that loses 20 % in a state that has a quarter of the time: lost", "%",
        *near(5, 0.7), "share of time by loss; 1000 cycles: ± 4 σ", lambda: 100 * radio().share("lost", "packets_sent"),
    )  # fmt: skip
    yield Situation(
        "source/radio-delay", "The same, 40 ms longer in that state: mean delay of what arrives", "ms",
        *near(5.112 + (8 + caught_up / 400) / 0.95, 1.3),
        "5 ms, 0.112 ms of transmission, 40 ms for 0.25·0.8 of 0.95; who comes x ms behind the state waits 40 − x: packets stay in order",
        lambda: 1e3 * radio().mean("flows", "delay_mean_s"),
    )  # fmt: skip


def _games() -> Iterator[Situation]:
    def decodable(redundancy: float, loss: float) -> float:
        traffic = {"kind": "game", "frame": "12 kB", "redundancy": redundancy}
        way = link("1 Gb/s", "5 ms", loss={"model": "bernoulli", "rate": loss})
        return 100 * ran(way, flow("game", "udp", traffic), 200, hosts=IN_STEP).mean(
            "flows", "decodable_ratio"
        )

    for redundancy, loss in ((0.0, 0.02), (0.2, 0.05), (0.5, 0.1)):
        more = round(10 * redundancy)
        there = sum(
            comb(10 + more, lost) * loss**lost * (1 - loss) ** (10 + more - lost) for lost in range(more + 1)
        )
        yield Situation(
            f"source/game-{more}", f"Frames of ten packets and {more} of a block code, {100 * loss:g} % lost: decodable", "%",
            *near(100 * there, 400 * sqrt(there * (1 - there) / 12_000)), "binomial: at least ten of them arrive; ± 4 σ",
            partial(decodable, redundancy, loss),
        )  # fmt: skip


def _streams() -> Iterator[Situation]:
    def session(abr: str, rate: str, column: str, **more: object) -> float:
        traffic = {"kind": "stream", "abr": abr, "ladder": ["1 Mb/s", "2 Mb/s", "4 Mb/s"], **more}
        outcome = ran(link(rate, "5 ms"), flow("tv", "tcp/sack", traffic), 400, hosts=IN_STEP)
        return outcome.mean("sessions", column)

    yield Situation(
        "source/stream-stalls", "A stream of 4 Mb/s alone, over 2 Mb/s: share of the time that it stands still", "%",
        *near(50, 4), "it fetches 4 s of video in 8 s and headers", lambda: 100 * session("highest", "2 Mb/s", "stall_ratio"),
    )  # fmt: skip
    yield Situation(
        "source/stream-fits", "BOLA with rates of 1, 2, 4 Mb/s over 10 Mb/s: stalls", "",
        *exactly(0), "the link carries every rate", lambda: session("bola", "10 Mb/s", "stalls"),
    )  # fmt: skip
    # BOLA's buffer stays at the level at which two adjacent rungs have equal value, and downloads balance playback.
    yield Situation(
        "source/stream-share", "BOLA over 3 Mb/s: mean rate of its segments", "Mb/s",
        *near(2.9, 0.25), "between 2 and 4 Mb/s in such turns that the link is full, headers and start-up taken off",
        lambda: session("bola", "3 Mb/s", "rate_bps", buffer="40 s") / 1e6,
    )  # fmt: skip


def _codecs() -> Iterator[Situation]:
    def call(codec: str | Table, **more: object) -> Outcome:
        traffic = {"kind": "voice", "codec": codec, "always-on": True, "phase": "zero"}
        stream = flow("call", "udp", traffic, playout={"strategy": "fixed", "delay": "0 ms"}, **more)
        return ran(link("10 Gb/s", "80 ms"), stream, 20, hosts=IN_STEP)

    for name, rate in (("opus-24", 40), ("evs-13.2", 29.2), ("amr-4.75", 21.6)):
        yield Situation(
            f"source/rate-{name}", f"{name}, 20 ms in a packet: rate at IP", "kb/s", *about(rate, 0.002),
            "RFC 7587, 3GPP TS 26.445 Annex A, RFC 4867: octets of a frame; RTP 12, UDP 8, IPv4 20 B",
            lambda name=name: call(name).mean("flows", "wire_sent") * 8 / 20 / 1e3,  # type: ignore[misc]
        )  # fmt: skip
    own = {"rate": "13 kb/s", "ie": 20, "bpl": 10, "source": "as GSM-FR"}
    yield Situation(
        "source/own-codec", "A codec with Ie 20 less GSM-FR, which has that Ie: R", "R", *exactly(0), "G.107: Ie and delay alone count",
        lambda: call(own).mean("flows", "r_factor") - call("gsm-fr").mean("flows", "r_factor"),
    )  # fmt: skip
    yield Situation(
        "source/advantage", "GSM-FR in a vehicle (A 10) less the same by wire: R", "R", *near(10, 1e-6), "G.107 Eq. 7-1: + A",
        lambda: call("gsm-fr", advantage=10).mean("flows", "r_factor") - call("gsm-fr").mean("flows", "r_factor"),
    )  # fmt: skip
