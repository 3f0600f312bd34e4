"""Relevant differences: two values are better, alike or undecided.

A number encodes the outcome of a comparison: 1 for higher, −1 for lower, 0 for alike, and 2 for undecided. The
expectation follows from the two values and the smallest relevant difference: MOS 0.1, delay 10 ms, loss 0.5 points,
goodput 2 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial

import numpy as np

import fairwave
from fairwave.answers.lines import lines
from fairwave.measuring import measures
from fairwave.measuring.relevance import relevance
from fairwave_study.claims import Comparison, Evidence
from practice.situation import IN_STEP, Situation, Table, cbr, exactly, flow, link

CODES = {"higher": 1, "lower": -1, "alike": 0, "undecided": 2}

Changes = Mapping[str, float | str]


@cache
def _compared(key: str, *values: str) -> fairwave.Results:
    """A call and a stream over one link, under ten seeds at each value of a key."""
    voice: Table = {"kind": "voice", "codec": "g711", "always-on": True}
    playout = {"strategy": "fixed", "reference": "creation", "delay": "30 ms"}
    scenario = fairwave.Scenario.from_dict(
        {
            "name": "alike",
            "duration": "10 s",
            "hosts": IN_STEP,
            "link": [link("10 Gb/s", "5 ms", loss={"model": "none"})],
            "flow": [
                flow("call", "udp", voice, playout=playout, concealment="appendix-i"),
                cbr("stream", "1 Mb/s"),
            ],
        }
    )
    return fairwave.compare(scenario, {key: list(values)}, n=10)


def _is(key: str, one: str, other: str, measure: str, group: str, relevant: Changes | None = None) -> float:
    """Compares the first value of a key with the second."""
    return CODES[_compared(key, one, other).outcome(one, other, measure, group, relevant=relevant)]


def _stars(key: str, *values: str) -> float:
    """Counts the values of the stream's goodput that the table marks as best."""
    results = _compared(key, *values)
    (line,) = lines(results, results.axes[0], "stream", [measures.goodput("stream")])
    return len(line.best)


def _says(words: str, *values: str, relevant: Changes | None = None) -> float:
    """Counts the sentences of the verdict about the call with these words."""
    answer = _compared("flow.call.playout.delay", *values).answer("call", relevant=relevant)
    return sum(words in sentence for sentence in answer.sentences)


def _verdict(mean: float, half: float, counts: float = 0.1) -> float:
    """Judges a claim that the first of two MOS is higher: 1 reproduced, −1 not reproduced, 0 alike, 2 undecided."""
    # Five seeds on each side of the mean: Student's t with 9 degrees of freedom is 2.262.
    spread = half / 2.262 * np.sqrt(9)
    samples = mean + spread * np.array([-1, 1] * 5)
    found = Evidence([Comparison("a", samples, relevant=counts)]).verdict()
    return {"reproduced": 1, "not reproduced": -1, "alike": 0, "undecided": 2}[str(found)]


def _is_refused(text: str) -> bool:
    """Whether `--relevant` refuses a text."""
    try:
        relevance([text])
    except ValueError:
        return True
    return False


def _refused(*texts: str) -> float:
    """Counts the texts that `--relevant` refuses."""
    return sum(map(_is_refused, texts))


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _delays()
    yield from _losses()
    yield from _goodputs()
    yield from _opinions()
    yield from _claims()


DELAY, LOSS, RATE, PLAYOUT = (
    "link.a>b.delay", "link.a>b.loss.pattern", "flow.stream.traffic.rate", "flow.call.playout.delay",
)  # fmt: skip


def _delays() -> Iterator[Situation]:
    for name, one, other, relevant, expected, why in (
        ("same", "5 ms", "0.005 s", None, 0, "5 ms and 0.005 s are equal"),
        ("5-ms", "10 ms", "5 ms", None, 0, "5 ms are less than 10 ms"),
        ("15-ms", "20 ms", "5 ms", None, 1, "15 ms are more than 10 ms"),
        ("earlier", "5 ms", "20 ms", None, -1, "15 ms less"),
        ("strict", "10 ms", "5 ms", {"delay": "2 ms"}, 1, "5 ms are more than the 2 ms that were asked for"),
        (
            "lenient",
            "20 ms",
            "5 ms",
            {"delay": "0.02 s"},
            0,
            "15 ms are less than the 20 ms that were asked for",
        ),
    ):
        yield Situation(
            f"alike/delay-{name}", f"Links of {one} and {other}: is the delay of the first higher (1), lower (−1), alike (0)?",
            "", *exactly(expected), why, partial(_is, DELAY, one, other, "delay", "stream", relevant),
        )  # fmt: skip


def _losses() -> Iterator[Situation]:
    lost = {share: "0" * (round(100 / float(share)) - 1) + "1" for share in ("0.2", "0.4", "2")}
    for name, one, other, relevant, expected, why in (
        ("0.2-points", "0.4", "0.2", None, 0, "0.2 points are less than 0.5"),
        ("1.6-points", "2", "0.4", None, 1, "1.6 points are more than 0.5"),
        (
            "strict",
            "0.4",
            "0.2",
            {"loss": "0.1 %"},
            1,
            "0.2 points are more than the 0.1 that were asked for",
        ),
        ("lenient", "2", "0.4", {"loss": 2}, 0, "1.6 points are less than the 2 that were asked for"),
    ):
        yield Situation(
            f"alike/loss-{name}", f"Patterns that lose {one} and {other} %: is the loss of the first higher?", "",
            *exactly(expected), why,
            partial(_lost, lost[one], lost[other], relevant),
        )  # fmt: skip


def _lost(one: str, other: str, relevant: Changes | None) -> float:
    """Compares the losses of two patterns."""
    tables = [{"model": "pattern", "pattern": pattern} for pattern in (one, other)]
    labels = ["first", "second"]
    base = fairwave.Scenario.from_dict(
        {
            "name": "losses",
            "duration": "10 s",
            "link": [link("10 Gb/s", "5 ms")],
            "flow": [cbr("stream", "4 Mb/s")],
        }
    )
    changes = {label: {"link.a>b.loss": table} for label, table in zip(labels, tables, strict=True)}
    results = fairwave.compare(base, {"loss": changes}, n=3)
    return CODES[results.outcome(*labels, "loss", "stream", relevant=relevant)]


def _goodputs() -> Iterator[Situation]:
    for name, one, other, relevant, expected, why in (
        ("1-percent", "1.01 Mb/s", "1 Mb/s", None, 0, "1 % is less than 2 %"),
        ("5-percent", "1.05 Mb/s", "1 Mb/s", None, 1, "5 % are more than 2 %"),
        ("slow", "105 kb/s", "100 kb/s", None, 1, "5 % are more than 2 %, however slow"),
        (
            "strict",
            "1.01 Mb/s",
            "1 Mb/s",
            {"goodput": "0.5 %"},
            1,
            "1 % is more than the 0.5 % that were asked for",
        ),
        (
            "lenient",
            "1.05 Mb/s",
            "1 Mb/s",
            {"goodput": "10 %"},
            0,
            "5 % are less than the 10 % that were asked for",
        ),
        ("absolute", "1.05 Mb/s", "1 Mb/s", {"goodput": "100 kb/s"}, 0, "50 kb/s are less than 100"),
    ):
        yield Situation(
            f"alike/goodput-{name}", f"Streams of {one} and {other}: is the goodput of the first higher?", "",
            *exactly(expected), why, partial(_is, RATE, one, other, "goodput", "stream", relevant),
        )  # fmt: skip
    yield Situation(
        "alike/stars", "Streams of 1, 1.01 and 0.5 Mb/s: how many does the table mark as best?", "",
        *exactly(2), "1 and 1.01 are alike, 0.5 is less", partial(_stars, RATE, "1 Mb/s", "1.01 Mb/s", "0.5 Mb/s"),
    )  # fmt: skip
    yield Situation(
        "alike/no-stars", "Streams of 1 and 1.01 Mb/s: how many does the table mark as best?", "",
        *exactly(0), "where none is worse, no star tells them apart", partial(_stars, RATE, "1 Mb/s", "1.01 Mb/s"),
    )  # fmt: skip


def _opinions() -> Iterator[Situation]:
    why = "G.107: R falls by 0.24 for 10 ms below 177 ms, about 0.01 MOS"
    yield Situation(
        "alike/mos-10-ms", "G.711 played 50 and 60 ms after it was spoken: is the MOS of the first higher?", "",
        *exactly(0), why, partial(_is, PLAYOUT, "30 ms", "40 ms", "mos", "call"),
    )  # fmt: skip
    yield Situation(
        "alike/mos-350-ms", "G.711 played 50 and 400 ms after it was spoken: is the MOS of the first higher?", "",
        *exactly(1), "G.107: R 92 and 64", partial(_is, PLAYOUT, "30 ms", "380 ms", "mos", "call"),
    )  # fmt: skip
    yield Situation(
        "alike/mos-lenient", "The same, where MOS counts from 2", "",
        *exactly(0), "R 92 and 64 are MOS 4.4 and 3.3",
        partial(_is, PLAYOUT, "30 ms", "380 ms", "mos", "call", {"mos": 2}),
    )  # fmt: skip
    yield Situation(
        "alike/said", "Sentences that call two such calls, 10 ms apart, alike", "",
        *exactly(1), why, partial(_says, "are alike", "30 ms", "40 ms"),
    )  # fmt: skip
    yield Situation(
        "alike/not-said", "The same, 350 ms apart", "",
        *exactly(0), "G.107: R 92 and 64", partial(_says, "are alike", "30 ms", "380 ms"),
    )  # fmt: skip


def _claims() -> Iterator[Situation]:
    for name, mean, half, expected, why in (
        ("0.025", 0.025, 0.013, 0, "the whole interval is below 0.1"),
        ("0.00002", 2e-5, 1e-4, 0, "the whole interval is below 0.1"),
        ("0.3", 0.3, 0.05, 1, "the whole interval is above 0.1"),
        ("0.12", 0.12, 0.05, 2, "0.07 to 0.17 has 0.1 within"),
        ("minus-0.3", -0.3, 0.05, -1, "the whole interval is below −0.1"),
    ):
        yield Situation(
            f"alike/claim-{name}", f"A claim that a MOS is higher, by {mean:g} ± {half:g}: reproduced (1), alike (0), undecided (2)?",
            "", *exactly(expected), why, partial(_verdict, mean, half),
        )  # fmt: skip
    yield Situation(
        "alike/refused", "Of 'mos=0.2', 'moss=0.2', 'mos=1 ms', 'goodput=3', 'delay=20 ms': how many are refused?", "",
        *exactly(3), "no measure moss; MOS has no unit; 3 of what?",
        partial(_refused, "mos=0.2", "moss=0.2", "mos=1 ms", "goodput=3", "delay=20 ms"),
    )  # fmt: skip
