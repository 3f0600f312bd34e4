"""Opus: calls and sessions compared with the factors in `docs/opus.md`, by G.107.1's equation computed by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator

import fairwave
from practice import g107
from practice.rating import mos, spread
from practice.situation import IN_STEP, Situation, Table, between, exactly, flow, link, near, ran
from validation import kept

FACTORS = kept.read("measured/opus")["factors"]["rates"]
EAR = 100
G722 = 13
"""Ie,wb of G.722 in G.113 Table IV.1."""

SOURCE = "docs/opus.md, G.107.1 Eq. 7-15"


def ie(rate: int) -> float:
    """Ie,wb at a rate in kb/s."""
    return float(FACTORS[str(rate)]["ie"][0])


def bpl(rate: int, *, fec: bool) -> float:
    """Bpl,wb at a rate in kb/s."""
    return float(FACTORS[str(rate)]["bpl_fec" if fec else "bpl"][0])


def drop(rate: int, percent: float, *, fec: bool) -> float:
    """Reduction of R by this loss."""
    return g107.equipment(ie(rate), bpl(rate, fec=fec), percent) - ie(rate)


def voice(codec: str, percent: int = 0, *, fec: bool = True) -> float:
    """R of a call of 100 ms mouth to ear with single losses."""
    loss = spread(100 // percent) if percent else None
    one = {"in-band-fec": fec} if codec.startswith("opus") else {}
    traffic = {"kind": "voice", "codec": codec, "always-on": True}
    playout = {"strategy": "fixed", "reference": "creation", "delay": f"{EAR - 20} ms"}
    lost = {"model": "pattern", "pattern": loss} if loss else {"model": "none"}
    caller = flow("call", "udp", traffic, playout=playout, **one)
    return ran(link("10 Gb/s", "10 ms", loss=lost), caller, 20, hosts=IN_STEP).mean("flows", "r_factor")


def session(rate: int, percent: int = 0, *, fec: bool = False) -> float:
    """R of the speech of a session over the same path."""
    loss: Table = {"model": "pattern", "pattern": spread(100 // percent)} if percent else {"model": "none"}
    transport = {"name": "webrtc", "control": {"name": "fixed", "rate": "200 kb/s"}}
    traffic = {"kind": "media", "video": False, "audio": {"rate": f"{rate} kb/s", "in-band-fec": fec}}
    found = ran(link("10 Gb/s", "10 ms", loss=loss), flow("call", transport, traffic), 60, hosts=IN_STEP)
    return found.mean("media", "r_factor", stream="audio")


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    for rate in (12, 24, 64):
        yield Situation(
            f"opus/clean-{rate}", f"Opus at {rate} kb/s instead of G.722, nothing lost, the same delay: gain", "R",
            *near(G722 - ie(rate), 0.2), f"G.113 Table IV.1: G.722 {G722}; docs/opus.md",
            lambda rate=rate: voice(f"opus-{rate}") - voice("g722"),
        )  # fmt: skip
    for rate, percent, fec in ((24, 5, False), (24, 5, True), (32, 10, False), (32, 10, True), (64, 2, True)):
        yield Situation(
            f"opus/loss-{rate}-{percent}-{'fec' if fec else 'plain'}",
            f"Opus at {rate} kb/s {'with' if fec else 'without'} in-band FEC: what {percent} % lost one by one cost", "R",
            *near(drop(rate, percent, fec=fec), 0.3), SOURCE,
            lambda rate=rate, percent=percent, fec=fec: voice(f"opus-{rate}") - voice(f"opus-{rate}", percent, fec=fec),
        )  # fmt: skip
    yield Situation(
        "opus/between", "Opus at 48 kb/s next to the mean of 32 and 64 kb/s, nothing lost", "R",
        *near(0, 0.1), "docs/opus.md: factors lie on a straight line between two rates",
        lambda: voice("opus-48") - (voice("opus-32") + voice("opus-64")) / 2,
    )  # fmt: skip
    yield Situation(
        "opus/bare", "Opus without a rate next to opus-32, 5 % lost", "R",
        *exactly(0), "audio_encoder_opus.cc: kOpusBitrateFbBps is 32 kb/s",
        lambda: voice("opus", 5) - voice("opus-32", 5),
    )  # fmt: skip
    yield Situation(
        "opus/no-copies", "What does in-band FEC gain at 12 kb/s and 5 %?", "R",
        *exactly(0), "libopus adds no copies at this rate: docs/opus.md, copies 0",
        lambda: voice("opus-12", 5) - voice("opus-12", 5, fec=False),
    )  # fmt: skip
    yield Situation(
        "opus/copies-help", "At how many of the losses 2, 5, 10 and 20 % is in-band FEC better at 32 kb/s?", "losses",
        *exactly(4), "RFC 6716 §2.1.7: a copy replaces a single lost frame",
        lambda: sum(voice("opus-32", p) > voice("opus-32", p, fec=False) for p in (2, 5, 10, 20)),
    )  # fmt: skip
    yield Situation(
        "opus/far", "Opus at 24 kb/s over 390 ms that overtakes, 0.5 % lost: MOS", "",
        *between(3.0, 2.0, 3.6), "G.107.1: beyond 400 ms mouth to ear no call is good (MOS 3.6)",
        _far,
    )  # fmt: skip
    yield Situation(
        "opus/session-rate", "A session with speech at 64 instead of 12 kb/s, nothing lost: gain", "R",
        *near(ie(12) - ie(64), 0.3), "docs/opus.md: the rule of calls holds in sessions",
        lambda: session(64) - session(12),
    )  # fmt: skip
    yield Situation(
        "opus/session-loss", "A session without in-band FEC: what 5 % lost one by one cost at 32 kb/s", "R",
        *near(drop(32, 5, fec=False), 2.5), f"{SOURCE}; NetEQ conceals a little more than what is lost",
        lambda: session(32) - session(32, 5),
    )  # fmt: skip
    part = float(FACTORS["32"]["copy"][0])
    yield Situation(
        "opus/session-copies", "The same with in-band FEC: every lost frame has a copy", "R",
        *near(g107.equipment(ie(32), bpl(32, fec=False), 5 * part) - ie(32), 2.5), f"a copy counts as {part:g} of a lost frame: docs/opus.md",
        lambda: session(32) - session(32, 5, fec=True),
    )  # fmt: skip
    yield Situation(
        "opus/g711-has-no-copies", "`in-band-fec` with G.711 and with Opus: how many of the two are refused?", "scenarios",
        *exactly(1), "RFC 6716 §2.1.7: in-band FEC is a part of Opus",
        lambda: sum(map(_is_refused, ("g711", "opus"))),
    )  # fmt: skip
    yield Situation(
        "opus/better-than-telephone", "Opus at 32 kb/s next to G.711, nothing lost, 100 ms: MOS gained", "",
        *between(0.15, 0.02, 0.5), "G.107.1: wideband speech exceeds the narrowband maximum",
        _gain_over_g711,
    )  # fmt: skip


def _gain_over_g711() -> float:
    return mos(path=10, ear=EAR, codec="opus-32") - mos(path=10, ear=EAR)


def _far() -> float:
    delay = {"steps": [{"at": "0 s", "is": "390 ms"}], "overtaking": True}
    loss = {"model": "bernoulli", "rate": 0.005}
    wire = {"from": "a", "to": "b", "rate": "10 Mb/s", "delay": delay, "loss": loss}
    return ran(wire, flow("call", "udp", {"kind": "voice", "codec": "opus-24"}), 60).mean("flows", "mos")


def _is_refused(codec: str) -> bool:
    one = flow("call", "udp", {"kind": "voice", "codec": codec}, **{"in-band-fec": True})
    data = {"name": "practice", "duration": "1 s", "link": [link("1 Mb/s", "1 ms")], "flow": [one]}
    try:
        fairwave.load(json.dumps(data)).run()
    except fairwave.ScenarioError:
        return True
    return False
