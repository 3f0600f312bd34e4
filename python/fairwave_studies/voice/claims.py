"""What papers 000 and 001 assert, V1 to V20, each with its test.

A claim that speaks of timeliness is judged by what the reading of the papers takes *timely* and *sent* for; the other
meanings of *timely* stand beside it. Where a stricter sense of the words was once tested, that stands beside it, too.

**How words are read.** *High contention* is 80 calls and more in paper 000, 60 and more in 001, whose sweep ends at 80;
*low* is up to 40. *Sensitivity* to errors is the slope of a straight line through the sweep, to the threshold the
difference between its ends. Where a claim is about a tendency over all numbers of calls (payloads), their mean is
compared. A *significant* share is 5 %, and what exceeds a rival's by no more than that is not *excessive*. Goodputs
that differ by 2 % are not told apart in a figure of the papers' kind: 'slightly higher' is no lower than that anywhere,
and higher on the mean. Fairness that differs by 0.01 is as good. A *satisfactory* index is 0.9.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from fairwave.measuring.measured import Measured
from fairwave.tables import Table
from fairwave_studies.voice import quantities as q
from fairwave_studies.voice.explanations import EXPLANATIONS
from fairwave_studies.voice.points import CALLS, TCPS
from fairwave_studies.voice.quantities import ShareDefinition
from fairwave_study.claims import Claim, Comparison, Evidence
from fairwave_study.comparisons import (
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

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairwave.measuring.measures import Measure
    from fairwave_study.readings import Reading
    from fairwave_study.study import Data

SIGNIFICANT = 5.0
"""A share of packets that 'a significant proportion' must exceed, in %."""

SLIGHT = 0.02
"""Share of a goodput by which another may be lower and still look the same in a figure."""

AS_FAIR = 0.01
"""By how much Jain's index may be lower and still be as good."""

SATISFACTORY = 0.9
"""A real-time index that satisfies."""

LOW = 40
"""Calls that contend little, in either paper."""

UDP, VEGAS, WESTWOOD, REAL = "udp", *TCPS


def part(data: Data, measure: Measure, **labels: Any) -> Measured:
    """A measure over the part of the calls with these labels; axes that come down to one label are left out.

    Of a list of labels those are taken that the grid has: under many readings fewer numbers of calls are run. Payload
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
    return Measured(measured.measure, axes, Table.of(frame))


def change(measured: Measured, axis: str, first: Any, last: Any) -> Measured:
    """What the measure gains from one label of an axis to another, wherever it is known at both."""
    axes = tuple(one for one in measured.axes if one != axis)
    early, late = (measured.at(**{axis: label}).without(axis).frame for label in (first, last))
    joined = late.join(early, on=[*axes, "seed"], how="inner", suffix="_early", maintain_order="left")
    frame = joined.select(*axes, "seed", pl.col("value") - pl.col("value_early"))
    return Measured(measured.measure, axes, Table.of(frame))


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
    return evidence.relabelled(lambda one: f"{words}: {one}")


def _both(*evidence: Evidence) -> Evidence:
    joined = evidence[0]
    for one in evidence[1:]:
        joined = joined & one
    return joined


def _in_both(data: Data, measure: Measure, compare: Callable[[Measured], Evidence]) -> Evidence:
    """A comparison alone (000) and beside 10 transfers (001)."""
    return _both(*(_beside(ftp, compare(part(data, measure, ftp=ftp))) for ftp in (0, 10)))


def _on_the_mean(measured: Measured, compare: Callable[[Measured], Evidence]) -> Evidence:
    """A comparison of means over the numbers of calls."""
    return compare(mean_over(measured, "flows")).relabelled(lambda one: f"{one}, mean over calls")


def _v1(data: Data, _: ShareDefinition) -> Evidence:
    def slightly_higher(goodput: Measured) -> Evidence:
        nowhere_lower = at_least(goodput, UDP, TCPS, margin=SLIGHT)
        return nowhere_lower & _on_the_mean(goodput, lambda mean: highest(mean, UDP, TCPS))

    return _in_both(data, q.GOODPUT, slightly_higher)


def _v1_everywhere(data: Data, _: ShareDefinition) -> Evidence:
    return _in_both(data, q.GOODPUT, lambda goodput: at_least(goodput, UDP, TCPS))


def _v2(data: Data, _: ShareDefinition) -> Evidence:
    return _both(*(_beside(ftp, lowest(one, WESTWOOD)) for ftp, one in _high(data, q.GOODPUT).items()))


def _v3(data: Data, how: ShareDefinition) -> Evidence:
    high = _high(data, q.loss(how.sent))
    return _both(*(_beside(ftp, highest(one, WESTWOOD, (VEGAS, REAL))) for ftp, one in high.items()))


def _v4(data: Data, how: ShareDefinition) -> Evidence:
    index = part(data, q.index(how), ftp=0, flows=(80, 120))
    return highest(index, REAL) & highest(index, VEGAS, (UDP, WESTWOOD))


def _v5(data: Data, how: ShareDefinition) -> Evidence:
    evidence = []
    for ftp, high in ((0, (80, 120)), (10, (80,))):
        delayed = (
            part(data, q.delayed(how), ftp=ftp, flows=(40, *high)).at(transport=UDP).without("transport")
        )
        rises = (grows_from(delayed, "flows", 40, flows, factor=2) for flows in high)
        evidence += [_beside(ftp, one) for one in (*rises, above(delayed.at(flows=list(high)), SIGNIFICANT))]
    return _both(*evidence)


def _v6(data: Data, _: ShareDefinition) -> Evidence:
    nowhere_less = _in_both(data, q.FAIRNESS, _as_fair)
    contended = (_beside(ftp, highest(one, REAL)) for ftp, one in _high(data, q.FAIRNESS).items())
    return _both(nowhere_less, *(one.relabelled(lambda label: f"{label}, fairer") for one in contended))


def _as_fair(fairness: Measured) -> Evidence:
    """Real's index is nowhere below another's by more than `AS_FAIR`."""
    comparisons = highest(fairness, REAL).comparisons
    return Evidence([replace(one, line=-AS_FAIR, or_equal=True) for one in comparisons])


def _v6_everywhere(data: Data, _: ShareDefinition) -> Evidence:
    return _in_both(data, q.FAIRNESS, lambda fairness: highest(fairness, REAL))


def _v7(data: Data, _: ShareDefinition) -> Evidence:
    fairness = part(data, q.FAIRNESS, ftp=0, flows=(80, 120)).at(transport=VEGAS).without("transport")
    return shrinks_from(fairness, "flows", 80, 120)


def _v8(data: Data, how: ShareDefinition) -> Evidence:
    def not_excessive(loss: Measured) -> Evidence:
        comparisons = lowest(loss, UDP, TCPS).comparisons
        return Evidence([replace(one, line=SIGNIFICANT, or_equal=True) for one in comparisons])

    return _in_both(data, q.loss(how.sent), not_excessive)


def _v8_everywhere(data: Data, how: ShareDefinition) -> Evidence:
    return _in_both(data, q.loss(how.sent), lambda loss: at_most(loss, UDP, TCPS))


def _payload(data: Data, measure: Measure) -> Measured:
    """Gain of the measure from 160 to 500 bytes, mean over numbers of calls, per transport."""
    whole = part(data, measure, ftp=20, payload=("160 B", "500 B"))
    gain = change(whole, "payload", "160 B", "500 B")
    return mean_over(gain, "flows") if "flows" in gain.axes else gain


def _short(data: Data, measure: Measure) -> Measured:
    """The measure with 160 bytes, mean over the numbers of calls with which 500 were tried."""
    whole = part(data, measure, ftp=20, payload=("160 B", "500 B"))
    if "flows" in whole.axes:
        longer = whole.at(payload="500 B").labels("flows")
        whole = mean_over(whole.at(flows=longer), "flows")
    return whole.at(payload="160 B").without("payload")


def _v9(data: Data, _: ShareDefinition) -> Evidence:
    gain = _payload(data, q.GOODPUT)
    rising = above(gain.at(transport=[WESTWOOD, REAL, UDP]), 0.0)
    before = _short(data, q.GOODPUT).samples(transport=VEGAS)
    room = 0.01 * _mean(before)
    vegas = Comparison(
        "gain of tcp/vegas", gain.samples(transport=VEGAS), room, "below", gain.measure.unit, or_equal=True
    )
    return _named(rising, "gain of {}") & Evidence([vegas])


def _mean(samples: Any) -> float:
    """The mean of those that are defined; 0 when none is."""
    defined = samples[~np.isnan(samples)]
    return float(np.mean(defined)) if len(defined) else 0.0


def _v10(data: Data, how: ShareDefinition) -> Evidence:
    gain = _payload(data, q.index(how)).at(transport=[VEGAS, REAL, UDP])
    return _named(below(gain, 0.0), "gain of {}")


def _v11(data: Data, _: ShareDefinition) -> Evidence:
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


def _v12(data: Data, how: ShareDefinition) -> Evidence:
    evidence = []
    for measure in (q.GOODPUT, q.index(how)):
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


def _v13(data: Data, how: ShareDefinition) -> Evidence:
    evidence = []
    for measure in (q.GOODPUT, q.index(how)):
        measured = _by_errors(data, measure, (80,))
        calmer = (less_steep(measured, calm, [REAL], along="per") for calm in (VEGAS, WESTWOOD))
        evidence += [_prefixed(one, measure) for one in calmer]
        high = [per for per in measured.labels("per") if per >= MANY_ERRORS]
        real = measured.at(transport=REAL).without("transport")
        evidence += [_prefixed(shrinks_from(real, "per", 0.01, per), measure) for per in high]
    return _both(*evidence)


def _v14(data: Data, how: ShareDefinition) -> Evidence:
    both = (q.GOODPUT, q.index(how))
    return _both(*(_prefixed(less_steep(_by_errors(data, one), UDP, TCPS, along="per"), one) for one in both))


def _v15(data: Data, how: ShareDefinition) -> Evidence:
    index = part(data, q.index_by_threshold(how), ftp=20, flows=(40, 80, 120))
    gain = change(index, "threshold", 100.0, 400.0)
    early = change(index, "threshold", 100.0, 200.0).at(transport=[VEGAS, REAL])
    return _both(
        highest(gain, VEGAS, (UDP, WESTWOOD)),
        highest(gain, REAL, (UDP, WESTWOOD)),
        lowest(gain, UDP, TCPS),
        _named(above(early, 0.0), "gain from 100 to 200 ms, {}"),
    )


def _v16(data: Data, _: ShareDefinition) -> Evidence:
    return _named(highest(_payload(data, q.GOODPUT), WESTWOOD), "gain of {}")


def _v16_by_share(data: Data, _: ShareDefinition) -> Evidence:
    gain, before = _payload(data, q.GOODPUT), _short(data, q.GOODPUT)
    axes = gain.axes
    share = gain.frame.join(before.frame, on=[*axes, "seed"], suffix="_before", maintain_order="left")
    relative = pl.when(pl.col("value_before") > 0).then(pl.col("value") / pl.col("value_before") * 100)
    of_share = Measured(
        replace(gain.measure, unit="%"), axes, Table.of(share.select(*axes, "seed", relative.alias("value")))
    )
    return _named(highest(of_share, WESTWOOD), "relative gain of {}")


MANY_ERRORS = 0.03
"""From here on packet errors are many: 000 §5.4 names 0.03 to 0.05."""


def _with_many_errors(data: Data, how: ShareDefinition) -> Measured:
    """The index with 80 and 120 calls, mean over error rates of 0.03 and more."""
    index = _by_errors(data, q.index(how))
    many = index.at(per=[per for per in index.labels("per") if per >= MANY_ERRORS])
    return mean_over(many, "per")


def _v17(data: Data, how: ShareDefinition) -> Evidence:
    index = _with_many_errors(data, how)

    def lead(flows: int) -> Any:
        real, vegas, westwood = (index.samples(transport=one, flows=flows) for one in (REAL, VEGAS, WESTWOOD))
        return real - (vegas + westwood) / 2

    label = "lead of tcp/real over the other TCPs with 120 − with 80 calls"
    return Evidence([Comparison(label, lead(120) - lead(80), unit=index.measure.unit)])


def _v17_itself(data: Data, how: ShareDefinition) -> Evidence:
    return grows_from(_with_many_errors(data, how).at(transport=REAL).without("transport"), "flows", 80, 120)


def _v18(data: Data, how: ShareDefinition) -> Evidence:
    index = part(data, q.index(how), ftp=0).at(transport=UDP).without("transport")
    low = index.at(flows=[flows for flows in index.labels("flows") if flows <= LOW])
    return above(low, SATISFACTORY) & below(contended(index, 80), SATISFACTORY)


def _v19(data: Data, _: ShareDefinition) -> Evidence:
    fairness = contended(part(data, q.FAIRNESS, ftp=10), 60)
    return _beside(10, lowest(fairness, VEGAS, (REAL,)))


def _v19_lowest(data: Data, _: ShareDefinition) -> Evidence:
    return _beside(10, lowest(contended(part(data, q.FAIRNESS, ftp=10), 60), VEGAS))


def _v20(data: Data, how: ShareDefinition) -> Evidence:
    loss = part(data, q.loss(how.sent), ftp=10)
    return _beside(10, _on_the_mean(loss, lambda mean: lowest(mean, UDP, TCPS)))


def _named(evidence: Evidence, template: str) -> Evidence:
    return evidence.relabelled(lambda one: template.format(one.removeprefix("transport ")))


def _prefixed(evidence: Evidence, measure: Measure) -> Evidence:
    """Named by quantity, not by how a reading measures it, so that labels stay the same across readings."""
    quantity = "goodput" if measure is q.GOODPUT else "index"
    return evidence.relabelled(lambda one: f"{quantity}: {one}")


class ClaimTest(Protocol):
    """The test of a claim, by what *timely* and *sent* mean."""

    def __call__(self, data: Data, how: ShareDefinition, /) -> Evidence:
        """Tests by one meaning."""
        ...


TESTS: dict[str, ClaimTest] = {
    "V1": _v1, "V2": _v2, "V3": _v3, "V4": _v4, "V5": _v5, "V6": _v6, "V7": _v7, "V8": _v8, "V9": _v9, "V10": _v10,
    "V11": _v11, "V12": _v12, "V13": _v13, "V14": _v14, "V15": _v15, "V16": _v16, "V17": _v17, "V18": _v18,
    "V19": _v19, "V20": _v20,
}  # fmt: skip
"""Every claim's test."""

TIMELY = ("V4", "V5", "V10", "V12", "V13", "V14", "V15", "V17", "V18")
"""Claims that speak of timeliness."""

OTHERWISE: dict[str, dict[str, ClaimTest]] = {
    "V1": {"at least everywhere, 1 % counting as equal": _v1_everywhere},
    "V6": {"strictly the fairest at every number of calls": _v6_everywhere},
    "V8": {"no higher anywhere, 1 % counting as equal": _v8_everywhere},
    "V16": {"gain as a share of the goodput before": _v16_by_share},
    "V17": {"its own index higher with 120 calls": _v17_itself},
    "V19": {"lowest of the four": _v19_lowest},
}
"""Other senses of a claim's words, most of them stricter."""


class Assertion(NamedTuple):
    """What a paper asserts, where, and the assumptions on which the test may hang."""

    statement: str
    source: str
    assumptions: tuple[str, ...]


STATEMENTS: dict[str, Assertion] = {
    "V1": Assertion(
        "UDP's goodput is slightly higher than the TCPs': higher than each on the mean over the numbers of "
        "calls, and "
        "nowhere lower by more than 2 %.",
        "000 §5.1, Figure 2; 001 §IV.A, Figure 2",
        ("rates", "headers", "rate-reading"),
    ),
    "V2": Assertion(
        "At high contention Westwood's goodput is the lowest of the four.",
        "000 §5.1, Figure 2; 001 §IV.A, Figure 2",
        ("rates", "buffers", "timers"),
    ),
    "V3": Assertion(
        "At high contention Westwood loses most of the three TCPs.",
        "000 §5.1, Figure 6; 001 §IV.A, Figure 6",
        ("rates", "buffers", "sent"),
    ),
    "V4": Assertion(
        "With 80 and 120 calls Real and Vegas have a higher real-time index than UDP and Westwood, Real "
        "the highest.",
        "000 §5.1, Figure 3",
        ("timely", "buffers", "real"),
    ),
    "V5": Assertion(
        "The share of UDP's packets that come late rises steeply: with 80 calls (000: and 120) it is more "
        "than twice that with 40, and above 5 %.",
        "000 §5.1, Figure 5; 001 §IV.A, Figure 5",
        ("timely", "buffers", "rates"),
    ),
    "V6": Assertion(
        "Real is nowhere less fair than another by more than 0.01, and the fairest of the four at high "
        "contention.",
        "000 §5.1, Figure 4; 001 §IV.A, Figure 4",
        ("real", "entering"),
    ),
    "V7": Assertion(
        "Vegas's fairness is lower with 120 calls than with 80.",
        "000 §5.1, Figure 4",
        ("buffers", "rates"),
    ),
    "V8": Assertion(
        "UDP's loss is not excessive beside the TCPs': at no number of calls more than 5 points above any.",
        "000 §5.1, Figure 6",
        ("sent", "rates", "buffers"),
    ),
    "V9": Assertion(
        "Payloads of 500 bytes instead of 160 raise the goodput of Westwood, Real and UDP, but not that "
        "of Vegas (mean over numbers of calls).",
        "000 §5.2, Figures 7, 9, 11, 13",
        ("headers", "buffers"),
    ),
    "V10": Assertion(
        "Payloads of 500 bytes instead of 160 lower the real-time index of Vegas, Real and UDP (mean over "
        "numbers of calls).",
        "000 §5.2, Figures 8, 12, 14",
        ("timely", "headers", "buffers"),
    ),
    "V11": Assertion(
        "With 80 calls and more UDP leaves the least goodput to file transfers and Real the most, and "
        "from 40 to 120 calls UDP falls further behind.",
        "000 §5.3, Figures 15–16; 001 §IV.B, Figures 7–8",
        ("rates", "headers", "transfers"),
    ),
    "V12": Assertion(
        "Goodput and real-time index of every TCP fall with the packet error rate, with 80 calls by more "
        "than with 120.",
        "000 §5.4, Figures 17–20",
        ("timely", "rates", "errors"),
    ),
    "V13": Assertion(
        "With 80 calls Vegas and Westwood are less sensitive to packet errors than Real, whose goodput "
        "and index suffer at 0.03 to 0.05.",
        "000 §5.4, Figures 17–18",
        ("real", "timely", "timers"),
    ),
    "V14": Assertion(
        "UDP's goodput and real-time index are less sensitive to packet errors than those of every TCP.",
        "000 §5.4, Figures 17–20",
        ("timely", "errors"),
    ),
    "V15": Assertion(
        "Vegas and Real gain most from a longer threshold, and gain from 200 ms on; UDP gains least.",
        "000 §5.5, Figures 21–24; 001 §IV.C, Figures 9–12",
        ("timely", "buffers"),
    ),
    "V16": Assertion(
        "From 160 to 500 bytes of payload Westwood's goodput grows most of the four (mean over numbers of "
        "calls).",
        "000 §5.2, Figures 7, 9, 11, 13",
        ("headers", "buffers"),
    ),
    "V17": Assertion(
        "With packet errors of 0.03 and more Real stands better beside Vegas and Westwood, by its index, "
        "with 120 "
        "calls than with 80.",
        "000 §5.4, Figures 18 and 20",
        ("real", "timely", "timers"),
    ),
    "V18": Assertion(
        "With nothing beside the calls UDP is satisfactory at low contention only: its index exceeds 0.9 "
        "with up to 40 calls and not with "
        "80 and more.",
        "000 §6, Figure 3",
        ("timely", "rates", "buffers"),
    ),
    "V19": Assertion(
        "Beside 10 transfers Vegas trades fairness: with 60 calls and more it is less fair than Real.",
        "001 §IV.A, Figure 4",
        ("rates", "buffers"),
    ),
    "V20": Assertion(
        "Beside 10 transfers UDP loses less than every TCP (mean over numbers of calls).",
        "001 §IV.A, Figure 6",
        ("sent", "rates"),
    ),
}
"""The claims in words of ours."""


def claims(reading: Reading) -> list[Claim]:
    """All claims, in order, judged as the reading says."""
    how = q.ways(reading)
    found = []
    for name, (statement, source, assumptions) in STATEMENTS.items():
        wordings = {words: partial(_by, test, how) for words, test in OTHERWISE.get(name, {}).items()}
        if name in TIMELY:
            others = {words: how._replace(timely=timely) for words, timely in q.TIMELY.items()}
            wordings |= {words: partial(_by, TESTS[name], other) for words, other in others.items()}
        found.append(
            Claim(
                name,
                statement,
                f"paper{'s' if ';' in source else ''} {source}",
                (CALLS,),
                partial(_by, TESTS[name], how),
                EXPLANATIONS.get(name, {}),
                assumptions,
                wordings,
            )
        )
    return found


def _by(test: ClaimTest, how: ShareDefinition, data: Data) -> Evidence:
    return test(data, how)
