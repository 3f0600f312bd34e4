"""Verdicts: gaps that means hide, codecs without a rating, delay in addition to missed packets, undecided means."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fairwave.answers.bands import counted, scale_of
from fairwave.measuring.statistics import interval
from practice.rating import call
from practice.situation import (
    IN_STEP,
    Outcome,
    Situation,
    cbr,
    exactly,
    in_step,
    link,
    near,
    ran,
)

BANDS = ("good", "fair", "poor")

P59 = "ITU-T P.59 Table 1: both parties are silent for 0.508 s on average; a longer gap is not good"


def lost_in_a_row(packets: int, *, times: int = 1, packet: int = 20, seconds: int = 20) -> Outcome:
    """A call over a network with runs of lost packets, once or several times, evenly spaced."""
    each = seconds * 1000 // packet // times
    pattern = ("0" * (each // 2) + "1" * packets).ljust(each, "0")
    return call(loss=pattern, packet=packet, seconds=seconds)


def gap(packets: int, **how: int) -> float:
    """The longest gap, s."""
    return lost_in_a_row(packets, **how).measured("longest-gap", "call")


def place(outcome: Outcome, group: str = "call") -> float:
    """The first word of the verdict: 0 good, 1 fair, 2 poor; −1 for none of them."""
    first = outcome.verdict(group)
    found = [at for at, band in enumerate(BANDS) if f" {band}:" in first]
    return float(found[0]) if found else -1.0


def stream(delay: int) -> Outcome:
    """A constant stream that is no call, over a path with this delay in ms."""
    return ran(link("10 Mb/s", f"{delay} ms"), in_step(cbr("stream", "1 Mb/s")), 5, hosts=IN_STEP)


def undecided(*runs: tuple[float, float]) -> float:
    """Number of undecided participants with these opinion scores in two runs."""
    scale = scale_of("mos")
    assert scale is not None
    said = counted(scale.word(interval(one)) for one in runs)
    return float(next((one.split()[0] for one in said if one.endswith("undecided")), 0))


def unrated(measure: str) -> float:
    """Speech without an E-model rating: EVS over 100 ms, played at least 60 ms after arrival, with jitter of 100 ms."""
    return _unrated().measured(measure, "call")


def _unrated() -> Outcome:
    path = {"steps": [{"at": "0 s", "is": "100 ms"}], "overtaking": True}
    wire = link("10 Gb/s", "0 s", jitter={"model": "uniform", "up-to": "100 ms"}) | {"delay": path}
    playout = {"strategy": "fixed", "reference": "creation", "delay": "150 ms"}
    traffic = {"kind": "voice", "codec": "evs-13.2", "always-on": True}
    one = {"name": "call", "from": "a", "to": "b", "transport": "udp", "traffic": traffic, "playout": playout}
    return ran(wire, one, 60, hosts=IN_STEP)


def situations() -> Iterator[Situation]:
    """All of this area."""
    for packets, seconds in ((5, 0.1), (25, 0.5), (26, 0.52), (100, 2.0)):
        yield Situation(
            f"verdict/gap-of-{packets}-packets", f"{packets} packets of 20 ms are lost in a row: the longest gap", "s",
            *near(seconds, 1e-6), "packets times packet time", partial(gap, packets),
        )  # fmt: skip
    yield Situation(
        "verdict/gap-of-60-ms-packets", "9 packets of 60 ms are lost in a row: the longest gap", "s",
        *near(0.54, 1e-6), "packets times packet time", partial(gap, 9, packet=60),
    )  # fmt: skip
    for packets, word, score in ((25, "good", 0), (26, "fair", 1), (100, "fair", 1)):
        yield Situation(
            f"verdict/word-at-{packets}-packets", f"{packets} of 3000 packets are lost in a row: is the call good (0) or fair (1)?",
            "", *exactly(score), f"{P59}: {word}", lambda packets=packets: place(lost_in_a_row(packets, seconds=60)),
        )  # fmt: skip
    yield Situation(
        "verdict/gaps-per-hour", "Three gaps of 0.6 s in a minute: gaps per hour", "/h", *exactly(180), "60 times 3",
        lambda: lost_in_a_row(30, times=3, seconds=60).measured("gaps-per-hour", "call"),
    )  # fmt: skip
    yield Situation(
        "verdict/short-gaps-per-hour", "Three gaps of 0.4 s in a minute: gaps per hour above 0.5 s", "/h", *exactly(0),
        "none is above 0.5 s", lambda: lost_in_a_row(20, times=3, seconds=60).measured("gaps-per-hour", "call"),
    )  # fmt: skip
    yield Situation(
        "verdict/silence", "A gap of 2 s: seconds of silence after G.711's concealment has faded", "s",
        *near(1.94, 1e-6), "ITU-T G.711 Appendix I: silent after 60 ms",
        lambda: lost_in_a_row(100).measured("silence", "call"),
    )  # fmt: skip
    yield Situation(
        "verdict/single-losses-are-no-silence", "One packet in 20 is lost, never two in a row: seconds of silence", "s",
        *exactly(0), "20 ms are shorter than 60 ms", lambda: lost_in_a_row(1, times=50).measured("silence", "call"),
    )  # fmt: skip
    yield Situation(
        "verdict/unrated-lateness", "EVS, jitter up to 100 ms, playout 50 ms after the fastest packet: packets missed",
        "%", *near(50, 3), "half of a uniform jitter is above its mean", partial(unrated, "missed"),
    )  # fmt: skip
    yield Situation(
        "verdict/unrated-delay", "The same: delay from mouth to ear", "ms", *near(182, 1),
        "150 ms of playout, a packet of 20 ms, and the 12 ms by which EVS looks ahead (3GPP TS 26.441)",
        partial(unrated, "mouth-to-ear"),
    )  # fmt: skip
    yield Situation(
        "verdict/unrated-has-no-band", "The same: which of good (0), fair (1) and poor (2) is it? None is −1", "",
        *exactly(-1), "no Recommendation has Ie and Bpl of EVS: not rated", lambda: place(_unrated()),
    )  # fmt: skip
    for delay, word, score in ((20, "good", 0), (200, "fair", 1), (500, "none", -1)):
        yield Situation(
            f"verdict/stream-{delay}-ms",
            f"A stream that is no call loses nothing and takes {delay} ms: good (0), fair (1) or neither (−1)?", "",
            *exactly(score), f"ITU-T G.114: 150 ms, G.1010: 400 ms at most; {word}", lambda delay=delay: place(stream(delay), "stream"),
        )  # fmt: skip
    twelve = [(2.4 + at / 60, 3.4 + at / 60) for at in range(12)]
    yield Situation(
        "verdict/twelve-undecided", "Twelve participants with MOS 2.4 and 3.4 in two runs: undecided ones", "",
        *exactly(12), "Student's t with one degree of freedom: ± 6.4", partial(undecided, *twelve),
    )  # fmt: skip
    yield Situation(
        "verdict/one-undecided", "MOS 4.00 and 4.01, 3.30 twice, 2.4 and 3.4: undecided participants", "", *exactly(1),
        "± 0.06, ± 0, ± 6.4", partial(undecided, (4.0, 4.01), (3.3, 3.3), (2.4, 3.4)),
    )  # fmt: skip
