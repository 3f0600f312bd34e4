"""Calls on a wire: their rate, their number, and the victims of one too many."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from practice.rating import spelled
from practice.situation import (
    IN_STEP,
    Outcome,
    Situation,
    about,
    apart,
    between,
    cbr,
    exactly,
    flow,
    in_step,
    link,
    near,
    poisson,
    ran,
)


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _rates()
    yield from _room()
    yield from _timing()
    yield from _protection()


def _speaker(codec: str, packet: str | None = None) -> dict[str, object]:
    traffic: dict[str, object] = {"kind": "voice", "codec": codec, "always-on": True}
    return traffic | ({"packet-time": packet} if packet else {})


def _wire_rate(codec: str, packet: str | None) -> float:
    outcome = ran(
        link("100 Mb/s", "1 ms"),
        flow("call", "udp", _speaker(codec, packet)),
        60,
        hosts=IN_STEP,
        warmup="6 s",
    )
    return outcome.mean("flows", "wire_sent") * 8 / 54 / 1e3


def _format(codec: str) -> int:
    """The RFC that defines the codec's payload."""
    return {"gsm-hr": 5993, "ilbc-30": 3952, "amr-12.2": 4867}.get(codec, 3551)


def _rates() -> Iterator[Situation]:
    for codec, payload, milliseconds, packet in (
        ("g711", 160, 20, None), ("g711", 80, 10, "10 ms"), ("g711", 240, 30, "30 ms"), ("g722", 160, 20, None),
        ("g729", 20, 20, None), ("g729", 40, 40, "40 ms"), ("g723.1-6.3", 24, 30, None), ("g726-32", 80, 20, None),
        ("gsm-fr", 33, 20, None), ("gsm-hr", 15, 20, None), ("ilbc-30", 50, 30, None), ("amr-12.2", 32, 20, None),
    ):  # fmt: skip
        yield Situation(
            f"voice/rate-{codec}-{milliseconds}", f"{spelled(codec)}, {milliseconds} ms in a packet: rate at IP", "kb/s",
            *about((payload + 40) * 8 / milliseconds, 0.002),
            f"RFC {_format(codec)}: {payload} B of payload; RTP 12, UDP 8, IPv4 20 B",
            partial(_wire_rate, codec, packet),
        )  # fmt: skip
    yield Situation(
        "voice/overhead", "Share of a G.711 call's bytes that is headers", "%",
        *about(100 * 40 / 200, 0.002), "40 B of RTP, UDP and IPv4 beside 160 B",
        lambda: 100 * ran(
            link("100 Mb/s", "0.01 ms"), flow("call", "udp", _speaker("g711")), 60, hosts=IN_STEP
        ).mean("groups", "overhead"),
    )  # fmt: skip
    yield Situation(
        "voice/activity", "Share of the time that speakers talk who talk 1.00 s and are silent 1.35 s", "%",
        *about(100 / 2.35, 0.08), "1/(1 + 1.35), both exponential; ± 4 σ",
        _activity,
    )  # fmt: skip


def _activity() -> float:
    periods = {
        "talk": {"distribution": "exponential", "mean": "1 s"},
        "silence": {"distribution": "exponential", "mean": "1.35 s"},
    }
    traffic = {"kind": "voice", "codec": "g711"} | periods
    outcome = ran(link("100 Mb/s", "1 ms"), flow("calls", "udp", traffic, count=20), 200)
    return 100 * outcome.total("flows", "packets_sent") / (20 * 200 * 50)


def _calls(count: int, seconds: float = 60, **more: object) -> Outcome:
    wire = link("1 Mb/s", "10 ms", 20)
    calls = flow("calls", "udp", _speaker("g711"), count=count, start={"from": "0 s", "to": "20 ms"})
    return ran(*apart(wire, calls), seconds, warmup="10 s", **more)


def _streams(count: int, seconds: float = 60) -> Outcome:
    wire = link("1 Mb/s", "10 ms", 20)
    streams = cbr("streams", "80 kb/s", 200, count=count, start={"from": "0 s", "to": "20 ms"})
    return ran(*apart(wire, streams), seconds, warmup="10 s")


def _room() -> Iterator[Situation]:
    yield Situation(
        "voice/twelve-fit", "Twelve G.711 calls on 1 Mb/s: packets lost", "%",
        *exactly(0), "12·80 = 960 kb/s",
        lambda: 100 * _calls(12).share("units_lost", "units_sent"),
    )  # fmt: skip
    yield Situation(
        "voice/twelve-use", "Twelve G.711 calls on 1 Mb/s: use of the link", "%",
        *about(96, 0.002), "12·80 = 960 kb/s", lambda: 100 * _calls(12).mean("links", "utilisation", link="a>b"),
    )  # fmt: skip
    yield Situation(
        "voice/twelve-wait", "Twelve G.711 calls on 1 Mb/s in step, begun at random: the longest anything waits", "ms",
        *between(11 * 1.6, 0, 11 * 1.6 + 0.002), "N·D/D/1: at worst behind the eleven others, 1.6 ms each",
        lambda: 1e3 * max(_calls(12, hosts=IN_STEP).values("flows", "delay_max_s")) - 10 - 1.6,
    )  # fmt: skip
    yield Situation(
        "voice/thirteen", "Thirteen G.711 calls on 1 Mb/s: packets lost", "%",
        *about(100 * (1 - 1 / 1.04), 0.02), "1 − C/offered, 13·80 = 1040 kb/s",
        lambda: 100 * _calls(13).share("dropped", "packets_sent"),
    )  # fmt: skip
    yield Situation(
        "voice/thirteen-shares", "Thirteen G.711 calls on 1 Mb/s, 50 s: the best one's goodput over the worst one's", "",
        *between(1, 1, 3), "experience: below 3:1; in step it can be any number (Floyd & Jacobson 1992)",
        lambda: _ratio(_calls(13)),
    )  # fmt: skip
    yield Situation(
        "voice/thirteen-streams", "Thirteen constant streams of 80 kb/s on 1 Mb/s, 50 s: the best one's goodput over the worst one's", "",
        *between(1, 1, 3), "the same", lambda: _ratio(_streams(13)),
    )  # fmt: skip
    yield Situation(
        "voice/thirteen-turns", "Thirteen G.711 calls on 1 Mb/s whose clocks alone differ, an hour: the best one's goodput over the worst one's", "",
        *between(1, 1, 1.5), "crystals 50 ppm apart drift by nine packet times, so that each has its turn",
        lambda: _ratio(_calls(13, 3600, hosts={"clock-skew": "50 ppm", "send-jitter": "0 s"})),
    )  # fmt: skip
    yield Situation(
        "voice/locked-phases", "The same calls in step: the worst one's loss over the mean", "",
        *between(10, 3, 13), "experience: locked phases put the losses on few (Floyd & Jacobson 1992); all on one is 13",
        _locked,
    )  # fmt: skip
    yield Situation(
        "voice/twenty-five", "Twenty-five G.711 calls on 1 Mb/s: packets lost", "%",
        *about(50, 0.01), "1 − C/offered, 25·80 = 2 Mb/s",
        lambda: 100 * _calls(25).share("dropped", "packets_sent"),
    )  # fmt: skip


def _ratio(outcome: Outcome) -> float:
    goodputs = outcome.values("flows", "goodput_bps")
    return max(goodputs) / min(goodputs)


def _locked() -> float:
    outcome = _calls(13, hosts=IN_STEP)
    losses = outcome.values("flows", "dropped")
    return max(losses) / (sum(losses) / len(losses))


def _timing() -> Iterator[Situation]:
    quiet = link("1 Mb/s", "30 ms")
    alone = flow("call", "udp", _speaker("g711"))
    yield Situation(
        "voice/alone", "One G.711 call on 1 Mb/s and 30 ms: its mean delay", "ms",
        *about(30 + 200 * 8 / 1e3, 1e-6), "propagation 30 ms, transmission of 200 B 1.6 ms",
        lambda: 1e3 * ran(quiet, alone, 10, hosts=IN_STEP).mean("flows", "delay_mean_s"),
    )  # fmt: skip
    yield Situation(
        "voice/jitter-none", "The same call: its jitter", "ms",
        *exactly(0), "RFC 3550 §6.4.1: constant transit, D = 0",
        lambda: 1e3 * ran(quiet, alone, 10, hosts=IN_STEP).mean("flows", "jitter_s"),
    )  # fmt: skip
    yield Situation(
        "voice/jitter-alternating", "Every other packet of a call waits 7 ms: its jitter", "ms",
        *about(7, 0.02), "RFC 3550 §6.4.1: |D| is always 7 ms, and J, from 0, settles there within some 16 packets",
        _alternating,
    )  # fmt: skip
    yield Situation(
        "voice/timely", "Share of packets later than 300 ms on a path of 250 ms", "%",
        *exactly(0), "250 ms and 1.6 ms", lambda: _delayed(250),
    )  # fmt: skip
    yield Situation(
        "voice/untimely", "And on a path of 350 ms", "%", *exactly(100), "350 ms and 1.6 ms", lambda: _delayed(350),
    )  # fmt: skip


def _alternating() -> float:
    wire = link("1 Mb/s", "10 ms")
    # 1000 bytes take 8 ms; every other packet of the call arrives a millisecond after the start of their transmission.
    big = in_step(cbr("big", "200 kb/s", 1000, start="0 s"))
    call = in_step(cbr("call", "80 kb/s", 200, start="1 ms"))
    outcome = ran(wire, [big, call], 40, hosts=IN_STEP, warmup="10 s")
    return 1e3 * outcome.mean("flows", "jitter_s", group="call")


def _delayed(path: int) -> float:
    one = flow("call", "udp", _speaker("g711"), timely="300 ms")
    outcome = ran(link("1 Mb/s", f"{path} ms"), one, 20, hosts=IN_STEP)
    delayed = outcome.total("timeliness", "delayed", reading="delay")
    return 100 * delayed / outcome.total("flows", "units_sent")


def _small_packet_loss(victim: str) -> float:
    """Loss of a call's small packets next to traffic of twice the link's rate, percent."""
    queue = {"discipline": "drop-tail", "capacity": {"packets": 50}, "victim": victim}
    wire = link("1 Mb/s", "10 ms", queue=queue)
    # Random arrivals of small packets, because PASTA requires them; a call's regular packets meet less of the queue
    # that they left.
    small = poisson("call", 50, 200) | {"class": "voice"}
    outcome = ran(wire, [poisson("flood", 250), small], 200, warmup="5 s")
    return 100 * outcome.share("dropped", "packets_sent", group="call")


def _protection() -> Iterator[Situation]:
    share = 1 - 1e6 / (250 * 8000 + 80e3)
    yield Situation(
        "voice/flooded", "Small Poisson packets of 80 kb/s beside a Poisson flood of 2 Mb/s on 1 Mb/s, drop-tail: lost", "%",
        *near(100 * share, 2.5), "PASTA: both meet the same full buffer, 1 − C/offered; ± 4 σ",
        partial(_small_packet_loss, "tail"),
    )  # fmt: skip
    yield Situation(
        "voice/guarded", "The same with Drop-Sel as victim", "%",
        *between(0, 0, 0.1), "Drop-Sel takes from the class that holds most bytes, and that is the flood",
        partial(_small_packet_loss, "drop-sel"),
    )  # fmt: skip
