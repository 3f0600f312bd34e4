"""What papers 000 and 001 assert, V1 to V15, each with its test.

A claim that speaks of timeliness is tested by each of the three readings of *timely*; its verdict is that of the
reading that the papers print (Algorithm 1), and the other two stand beside it.

**How words are read.** *High contention* is 80 calls and more in paper 000, 60 and more in 001, whose sweep ends at 80.
*Sensitivity* to errors is the slope of a straight line through the sweep, to the threshold the difference between its
ends. Where a claim is about a tendency over all numbers of calls (payloads), their mean is compared. A *significant*
share is 5 %.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from fairwave.studies.voice import quantities as q
from fairwave.studies.voice.explanations import EXPLANATIONS
from fairwave.studies.voice.points import CALLS, TCPS
from fairwave.study.claims import Claim, Comparison, Evidence
from fairwave.study.comparisons import (
    above,
    at_least,
    at_most,
    below,
    falls,
    grows_from,
    highest,
    less_steep,
    lowest,
    shrinks_from,
)
from fairwave.study.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairwave.study.measures import Measure, Reading
    from fairwave.study.study import Data

SIGNIFICANT = 5.0
"""A share of packets that 'a significant proportion' must exceed, in %."""

UDP, VEGAS, WESTWOOD, REAL = "udp", *TCPS


def part(data: Data, measure: Measure, **labels: Any) -> Measured:
    """A measure over the part of the calls with these labels; axes that come down to one label are left out.

    Of a list of labels those are taken that the grid has: sensitivity tables simulate fewer numbers of calls. Payload
    and error rate are 160 bytes and 0.01 unless said otherwise; `per=None` takes all.
    """
    wanted = {"payload": "160 B", "per": 0.01, **labels}
    measured = data.measured(measure, CALLS)
    for axis, label in wanted.items():
        if label is None:
            continue
        if isinstance(label, (list, tuple)):
            known = measured.labels(axis)
            measured = measured.at(**{axis: [one for one in label if one in known]})
        else:
            measured = measured.at(**{axis: label})
    single = [axis for axis in measured.axes if axis != "transport" and len(measured.labels(axis)) == 1]
    return measured.without(*single)


def mean_over(measured: Measured, axis: str) -> Measured:
    """The same with one axis averaged away, seed by seed."""
    axes = tuple(one for one in measured.axes if one != axis)
    frame = measured.frame.group_by([*axes, "seed"], maintain_order=True).agg(pl.col("value").mean())
    return Measured(measured.measure, axes, frame)


def change(measured: Measured, axis: str, first: Any, last: Any) -> Measured:
    """What the measure gains from one label of an axis to another, wherever it is known at both."""
    axes = tuple(one for one in measured.axes if one != axis)
    early, late = (measured.at(**{axis: label}).without(axis).frame for label in (first, last))
    joined = late.join(early, on=[*axes, "seed"], how="inner", suffix="_early", maintain_order="left")
    frame = joined.select(*axes, "seed", pl.col("value") - pl.col("value_early"))
    return Measured(measured.measure, axes, frame)


def contended(measured: Measured, least: int) -> Measured:
    """Only points with at least so many calls."""
    return measured.at(flows=[flows for flows in measured.labels("flows") if flows >= least])


def _high(data: Data, measure: Measure) -> dict[int, Measured]:
    """High contention in either paper, by the number of transfers."""
    alone, cross = part(data, measure, ftp=0), part(data, measure, ftp=10, flows=(60, 80))
    return {0: contended(alone, 80), 10: cross}


def _beside(ftp: int, evidence: Evidence) -> Evidence:
    """The same evidence, its comparisons named by what the calls share the path with."""
    words = f"beside {ftp} transfers" if ftp else "calls alone"
    return _relabelled(evidence, lambda one: f"{words}: {one.label}")


def _both(*evidence: Evidence) -> Evidence:
    joined = evidence[0]
    for one in evidence[1:]:
        joined = joined & one
    return joined


def _v1(data: Data) -> Evidence:
    return _both(*(_beside(ftp, at_least(part(data, q.GOODPUT, ftp=ftp), UDP, TCPS)) for ftp in (0, 10)))


def _v2(data: Data) -> Evidence:
    return _both(*(_beside(ftp, lowest(one, WESTWOOD)) for ftp, one in _high(data, q.GOODPUT).items()))


def _v3(data: Data) -> Evidence:
    high = _high(data, q.LOSS)
    return _both(*(_beside(ftp, highest(one, WESTWOOD, (VEGAS, REAL))) for ftp, one in high.items()))


def _v4(data: Data, reading: Reading) -> Evidence:
    index = part(data, q.INDEX[reading], ftp=0, flows=(80, 120))
    return highest(index, REAL) & highest(index, VEGAS, (UDP, WESTWOOD))


def _v5(data: Data, reading: Reading) -> Evidence:
    evidence = []
    for ftp, high in ((0, (80, 120)), (10, (80,))):
        delayed = (
            part(data, q.DELAYED[reading], ftp=ftp, flows=(40, *high)).at(transport=UDP).without("transport")
        )
        rises = (grows_from(delayed, "flows", 40, flows, factor=2) for flows in high)
        evidence += [_beside(ftp, one) for one in (*rises, above(delayed.at(flows=list(high)), SIGNIFICANT))]
    return _both(*evidence)


def _v6(data: Data) -> Evidence:
    return _both(*(_beside(ftp, highest(part(data, q.FAIRNESS, ftp=ftp), REAL)) for ftp in (0, 10)))


def _v7(data: Data) -> Evidence:
    fairness = part(data, q.FAIRNESS, ftp=0, flows=(80, 120)).at(transport=VEGAS).without("transport")
    return shrinks_from(fairness, "flows", 80, 120)


def _v8(data: Data) -> Evidence:
    return _both(*(_beside(ftp, at_most(part(data, q.LOSS, ftp=ftp), UDP, TCPS)) for ftp in (0, 10)))


def _payload(data: Data, measure: Measure) -> Measured:
    """Gain of the measure from 160 to 500 bytes, mean over numbers of calls, per transport."""
    whole = part(data, measure, ftp=20, payload=("160 B", "500 B"))
    return mean_over(change(whole, "payload", "160 B", "500 B"), "flows")


def _v9(data: Data) -> Evidence:
    gain = _payload(data, q.GOODPUT)
    rising = above(gain.at(transport=[WESTWOOD, REAL, UDP]), 0.0)
    before = mean_over(part(data, q.GOODPUT, ftp=20), "flows").samples(transport=VEGAS)
    room = 0.01 * float(np.nanmean(before))
    vegas = Comparison(
        "gain of tcp/vegas", gain.samples(transport=VEGAS), room, "below", gain.measure.unit, or_equal=True
    )
    return _named(rising, "gain of {}") & Evidence([vegas])


def _v10(data: Data, reading: Reading) -> Evidence:
    gain = _payload(data, q.INDEX[reading]).at(transport=[VEGAS, REAL, UDP])
    return _named(below(gain, 0.0), "gain of {}")


def _v11(data: Data) -> Evidence:
    evidence = []
    for ftp in (20, 60):
        left = part(data, q.FTP_GOODPUT, ftp=ftp)
        high = contended(left, 80)
        evidence += [
            _beside(ftp, one) for one in (lowest(high, UDP), highest(high, REAL), _growing_harm(left))
        ]
    return _both(*evidence)


def _growing_harm(left: Measured) -> Evidence:
    """What UDP leaves to others falls further behind what each TCP leaves, from 40 to 120 calls."""
    gain = change(left.at(flows=[40, 120]), "flows", 40, 120)
    return Evidence(
        [
            Comparison(
                f"widening of {UDP} − {rival} from 40 to 120 calls",
                gain.samples(transport=UDP) - gain.samples(transport=rival),
                0.0,
                "below",
                gain.measure.unit,
            )
            for rival in TCPS
        ]
    )


def _by_errors(data: Data, measure: Measure, flows: Sequence[int] = (80, 120)) -> Measured:
    return part(data, measure, ftp=20, per=None, flows=tuple(flows))


def _v12(data: Data, reading: Reading) -> Evidence:
    evidence = []
    for measure in (q.GOODPUT, q.INDEX[reading]):
        measured = _by_errors(data, measure).at(transport=list(TCPS))
        evidence.append(_prefixed(falls(measured, "per"), measure))
        evidence.append(_prefixed(_steeper_at(measured, 80, 120), measure))
    return _both(*evidence)


def _steeper_at(measured: Measured, here: int, there: int) -> Evidence:
    """From no errors to most, the measure falls by more with `here` calls than with `there`."""
    errors = measured.labels("per")
    fall = change(measured, "per", max(errors), min(errors))
    return Evidence(
        [
            Comparison(
                f"fall with {here} − fall with {there} calls, {transport}",
                fall.samples(transport=transport, flows=here)
                - fall.samples(transport=transport, flows=there),
                unit=measured.measure.unit,
            )
            for transport in TCPS
        ]
    )


def _v13(data: Data, reading: Reading) -> Evidence:
    evidence = []
    for measure in (q.GOODPUT, q.INDEX[reading]):
        measured = _by_errors(data, measure, (80,))
        calmer = (less_steep(measured, calm, [REAL], along="per") for calm in (VEGAS, WESTWOOD))
        evidence += [_prefixed(one, measure) for one in calmer]
        high = [per for per in measured.labels("per") if per >= 0.03]
        real = measured.at(transport=REAL).without("transport")
        evidence += [_prefixed(shrinks_from(real, "per", 0.01, per), measure) for per in high]
    return _both(*evidence)


def _v14(data: Data, reading: Reading) -> Evidence:
    both = (q.GOODPUT, q.INDEX[reading])
    return _both(*(_prefixed(less_steep(_by_errors(data, one), UDP, TCPS, along="per"), one) for one in both))


def _v15(data: Data, reading: Reading) -> Evidence:
    index = part(data, q.INDEX_BY_THRESHOLD[reading], ftp=20, flows=(40, 80, 120))
    gain = change(index, "threshold", 100.0, 400.0)
    early = change(index, "threshold", 100.0, 200.0).at(transport=[VEGAS, REAL])
    return _both(
        highest(gain, VEGAS, (UDP, WESTWOOD)),
        highest(gain, REAL, (UDP, WESTWOOD)),
        lowest(gain, UDP, TCPS),
        _named(above(early, 0.0), "gain from 100 to 200 ms, {}"),
    )


def _named(evidence: Evidence, template: str) -> Evidence:
    return _relabelled(evidence, lambda one: template.format(one.label.removeprefix("transport ")))


def _prefixed(evidence: Evidence, measure: Measure) -> Evidence:
    return _relabelled(evidence, lambda one: f"{measure.title}: {one.label}")


def _relabelled(evidence: Evidence, label: Callable[[Comparison], str]) -> Evidence:
    return Evidence(
        [
            Comparison(label(one), one.samples, one.line, one.side, one.unit, one.or_equal)
            for one in evidence.comparisons
        ],
        evidence.rule,
    )


PLAIN: dict[str, Callable[[Data], Evidence]] = {
    "V1": _v1, "V2": _v2, "V3": _v3, "V6": _v6, "V7": _v7, "V8": _v8, "V9": _v9, "V11": _v11,
}  # fmt: skip
"""Tests that do not speak of timeliness."""


class TimelyTest(Protocol):
    """A test that hangs on what *timely* means."""

    def __call__(self, data: Data, reading: Reading) -> Evidence:
        """Tests by one reading."""
        ...


TIMELY: dict[str, TimelyTest] = {
    "V4": _v4, "V5": _v5, "V10": _v10, "V12": _v12, "V13": _v13, "V14": _v14, "V15": _v15,
}  # fmt: skip
"""Tests that do."""


class Said(NamedTuple):
    """What a paper asserts, where, and the assumptions on which the test may hang."""

    statement: str
    source: str
    assumptions: tuple[str, ...]


STATEMENTS: dict[str, Said] = {
    "V1": Said(
        "UDP's goodput is at least that of every TCP, at every number of calls.",
        "000 §5.1, Figure 2; 001 §IV.A, Figure 2",
        ("rates", "sizes", "reading-of-rate"),
    ),
    "V2": Said(
        "At high contention Westwood's goodput is the lowest of the four.",
        "000 §5.1, Figure 2; 001 §IV.A, Figure 2",
        ("rates", "buffers", "timers"),
    ),
    "V3": Said(
        "At high contention Westwood loses most of the three TCPs.",
        "000 §5.1, Figure 6; 001 §IV.A, Figure 6",
        ("rates", "buffers", "loss-over-tcp"),
    ),
    "V4": Said(
        "With 80 and 120 calls Real and Vegas have a higher real-time index than UDP and Westwood, Real "
        "the highest.",
        "000 §5.1, Figure 3",
        ("timely", "buffers", "real"),
    ),
    "V5": Said(
        "The share of UDP's packets that come late rises steeply: with 80 calls (000: and 120) it is more "
        "than twice that with 40, and above 5 %.",
        "000 §5.1, Figure 5; 001 §IV.A, Figure 5",
        ("timely", "buffers", "rates"),
    ),
    "V6": Said(
        "Real is the fairest of the four at every number of calls.",
        "000 §5.1, Figure 4; 001 §IV.A, Figure 4",
        ("real", "beginning"),
    ),
    "V7": Said(
        "Vegas's fairness is lower with 120 calls than with 80.",
        "000 §5.1, Figure 4",
        ("buffers", "rates"),
    ),
    "V8": Said(
        "UDP's loss is no higher than that of any TCP, at every number of calls.",
        "000 §5.1, Figure 6; 001 §IV.A, Figure 6",
        ("loss-over-tcp", "rates", "buffers"),
    ),
    "V9": Said(
        "Payloads of 500 bytes instead of 160 raise the goodput of Westwood, Real and UDP, but not that "
        "of Vegas (mean over numbers of calls).",
        "000 §5.2, Figures 7, 9, 11, 13",
        ("sizes", "buffers"),
    ),
    "V10": Said(
        "Payloads of 500 bytes instead of 160 lower the real-time index of Vegas, Real and UDP (mean over "
        "numbers of calls).",
        "000 §5.2, Figures 8, 12, 14",
        ("timely", "sizes", "buffers"),
    ),
    "V11": Said(
        "With 80 calls and more UDP leaves the least goodput to file transfers and Real the most, and "
        "from 40 to 120 calls UDP falls further behind.",
        "000 §5.3, Figures 15–16; 001 §IV.B, Figures 7–8",
        ("rates", "sizes", "transfers"),
    ),
    "V12": Said(
        "Goodput and real-time index of every TCP fall with the packet error rate, with 80 calls by more "
        "than with 120.",
        "000 §5.4, Figures 17–20",
        ("timely", "rates", "errors"),
    ),
    "V13": Said(
        "With 80 calls Vegas and Westwood are less sensitive to packet errors than Real, whose goodput "
        "and index suffer at 0.03 to 0.05.",
        "000 §5.4, Figures 17–18",
        ("real", "timely", "timers"),
    ),
    "V14": Said(
        "UDP's goodput and real-time index are less sensitive to packet errors than those of every TCP.",
        "000 §5.4, Figures 17–20",
        ("timely", "errors"),
    ),
    "V15": Said(
        "Vegas and Real gain most from a longer threshold, and gain from 200 ms on; UDP gains least.",
        "000 §5.5, Figures 21–24; 001 §IV.C, Figures 9–12",
        ("timely", "buffers"),
    ),
}
"""The claims in words of ours."""


def claims() -> list[Claim]:
    """All claims, in order."""
    found = []
    for name, (statement, source, assumptions) in STATEMENTS.items():
        if name in PLAIN:
            test, readings = PLAIN[name], {}
        else:
            test = partial(TIMELY[name], reading=q.PRINTED)
            readings = {words: partial(TIMELY[name], reading=reading) for reading, words in q.NAMES.items()}
        found.append(
            Claim(
                name,
                statement,
                f"paper{'s' if ';' in source else ''} {source}",
                (CALLS,),
                test,
                EXPLANATIONS.get(name, {}),
                assumptions,
                readings,
            )
        )
    return found
