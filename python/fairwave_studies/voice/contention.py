"""Tests of the papers' first scenario: calls alone (000 §5.1) and with 10 transfers (001 §IV.A).

Each test takes the study's data and the meaning of *timely* and *sent*, and returns evidence. A claim that joins
several assertions has a test per part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave_studies.voice import quantities as q
from fairwave_studies.voice.points import TCPS
from fairwave_studies.voice.selecting import (
    AS_FAIR,
    EQUAL,
    LOW,
    NOTICEABLE,
    REAL,
    SATISFACTORY,
    SIGNIFICANT,
    SLIGHT,
    UDP,
    VEGAS,
    WESTWOOD,
    change,
    compare_scenarios,
    contended,
    high,
    lines,
    name_traffic,
    on_the_mean,
    part,
)
from fairwave_study.claims import Comparison, Evidence
from fairwave_study.comparisons import (
    describe_point,
    grows_from,
    highest,
    is_above,
    is_at_least,
    is_at_most,
    is_below,
    join,
    lowest,
    shrinks_from,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave_studies.voice.quantities import ShareDefinition
    from fairwave_study.parts import Data

ALONE, BESIDE = "calls alone (000)", "beside 10 transfers (001)"
"""Names of the parts of claims that both papers make."""

HIGH_IN_001 = 60
"""Number of calls from which 001 sees high contention ('above 40 flows')."""


def compare_by_paper(
    measure: Callable[[ShareDefinition], Measure], compare: Callable[[Measured], Evidence]
) -> dict[str, Any]:
    """A comparison in the first scenario of either paper, at all numbers of calls: a part for each."""
    return {
        name: lambda data, how, ftp=ftp: compare(part(data, measure(how), ftp=ftp))
        for name, ftp in ((ALONE, 0), (BESIDE, 10))
    }


def compare_high_load(
    measure: Callable[[ShareDefinition], Measure], compare: Callable[[Measured], Evidence]
) -> dict[str, Any]:
    """The same at high contention."""
    return {
        name: lambda data, how, ftp=ftp: compare(high(data, measure(how))[ftp])
        for name, ftp in ((ALONE, 0), (BESIDE, 10))
    }


def goodput(_: ShareDefinition) -> Measure:
    """Goodput, whatever *timely* means."""
    return q.GOODPUT


def fairness(_: ShareDefinition) -> Measure:
    """Fairness, whatever *timely* means."""
    return q.FAIRNESS


def loss(how: ShareDefinition) -> Measure:
    """Packets that did not arrive."""
    return q.loss(how.sent)


def _slightly_higher(measured: Measured) -> Evidence:
    nowhere_lower = is_at_least(measured, UDP, TCPS, margin=SLIGHT)
    return nowhere_lower & on_the_mean(measured, lambda mean: highest(mean, UDP, TCPS))


V1 = compare_by_paper(goodput, _slightly_higher)


def v1_everywhere(data: Data, _: ShareDefinition) -> Evidence:
    """V1 in its strictest sense."""
    return compare_scenarios(data, q.GOODPUT, lambda measured: is_at_least(measured, UDP, TCPS, margin=EQUAL))


V2 = compare_high_load(goodput, lambda measured: lowest(measured, WESTWOOD))
V3 = compare_high_load(loss, lambda measured: highest(measured, WESTWOOD, (VEGAS, REAL)))


def _index_alone(data: Data, how: ShareDefinition) -> Measured:
    return part(data, q.index(how), ftp=0, flows=(80, 120))


V4 = {
    "Real above UDP and Westwood": lambda data, how: highest(_index_alone(data, how), REAL, (UDP, WESTWOOD)),
    "Vegas above UDP and Westwood": lambda data, how: highest(
        _index_alone(data, how), VEGAS, (UDP, WESTWOOD)
    ),
    "Real above Vegas": lambda data, how: highest(_index_alone(data, how), REAL, (VEGAS,)),
}


def _late(ftp: int, contention: tuple[int, ...]) -> Callable[[Data, ShareDefinition], Evidence]:
    """UDP's late packets: more than twice those with 40 calls, and a significant share."""

    def test(data: Data, how: ShareDefinition) -> Evidence:
        delayed = part(data, q.delayed(how), ftp=ftp, flows=(40, *contention))
        delayed = delayed.select(transport=UDP).drop_axes("transport")
        rises = (grows_from(delayed, "flows", 40, flows, factor=2) for flows in contention)
        return join(*rises, is_above(delayed.select(flows=list(contention)), SIGNIFICANT))

    return test


V5 = {ALONE: _late(0, (80, 120)), BESIDE: _late(10, (80,))}


def _fairest(ftp: int) -> Callable[[Data, ShareDefinition], Evidence]:
    def test(data: Data, _: ShareDefinition) -> Evidence:
        nowhere_less = lines(highest(part(data, q.FAIRNESS, ftp=ftp), REAL), -AS_FAIR)
        contended_ = highest(high(data, q.FAIRNESS)[ftp], REAL)
        return nowhere_less & contended_.relabelled(lambda label: f"{label}, fairer")

    return test


V6 = {ALONE: _fairest(0), BESIDE: _fairest(10)}


def v6_everywhere(data: Data, _: ShareDefinition) -> Evidence:
    """V6 in its strictest sense."""
    return compare_scenarios(data, q.FAIRNESS, lambda measured: highest(measured, REAL))


def v7(data: Data, _: ShareDefinition) -> Evidence:
    """Vegas's fairness is lower with 120 calls than with 80."""
    measured = part(data, q.FAIRNESS, ftp=0, flows=(80, 120)).select(transport=VEGAS).drop_axes("transport")
    return shrinks_from(measured, "flows", 80, 120)


V8 = compare_by_paper(loss, lambda measured: lines(lowest(measured, UDP, TCPS), SIGNIFICANT))


def v8_everywhere(data: Data, how: ShareDefinition) -> Evidence:
    """V8 in its strictest sense."""
    return compare_scenarios(
        data, q.loss(how.sent), lambda measured: is_at_most(measured, UDP, TCPS, margin=EQUAL)
    )


def _udp_alone(data: Data, how: ShareDefinition) -> Measured:
    return part(data, q.index(how), ftp=0).select(transport=UDP).drop_axes("transport")


def _few(measured: Measured) -> Measured:
    return measured.select(flows=[flows for flows in measured.labels("flows") if flows <= LOW])


V18 = {
    "satisfies with up to 40 calls": lambda data, how: is_above(_few(_udp_alone(data, how)), SATISFACTORY),
    "does not with 80 and more": lambda data, how: is_below(
        contended(_udp_alone(data, how), 80), SATISFACTORY
    ),
}


def v19(data: Data, _: ShareDefinition) -> Evidence:
    """Beside 10 transfers Vegas is less fair than Real."""
    return name_traffic(10, lowest(contended(part(data, q.FAIRNESS, ftp=10), HIGH_IN_001), VEGAS, (REAL,)))


def v19_lowest(data: Data, _: ShareDefinition) -> Evidence:
    """Beside 10 transfers Vegas is the least fair of the four."""
    return name_traffic(10, lowest(contended(part(data, q.FAIRNESS, ftp=10), HIGH_IN_001), VEGAS))


def v20(data: Data, how: ShareDefinition) -> Evidence:
    """Beside 10 transfers UDP loses least, on the mean over calls."""
    measured = part(data, q.loss(how.sent), ftp=10)
    return name_traffic(10, on_the_mean(measured, lambda mean: lowest(mean, UDP, TCPS)))


def _falls_behind(ftp: int, most: int) -> Callable[[Data, ShareDefinition], Evidence]:
    """Westwood's goodput against each other transport's, from 40 calls to most."""

    def test(data: Data, _: ShareDefinition) -> Evidence:
        gain = change(part(data, q.GOODPUT, ftp=ftp, flows=(40, most)), "flows", 40, most)
        return lowest(gain, WESTWOOD).relabelled(lambda one: f"growth from 40 to {most} calls, {one}")

    return test


V21 = {ALONE: _falls_behind(0, 120), BESIDE: _falls_behind(10, 80)}


def _goodput_order(one: str, rivals: tuple[str, ...]) -> Callable[[Data, ShareDefinition], Evidence]:
    def test(data: Data, _: ShareDefinition) -> Evidence:
        return compare_scenarios(
            data, q.GOODPUT, lambda measured: on_the_mean(measured, lambda mean: highest(mean, one, rivals))
        )

    return test


V22 = {
    "Vegas above Westwood": _goodput_order(VEGAS, (WESTWOOD,)),
    "Real above Westwood": _goodput_order(REAL, (WESTWOOD,)),
    "Real above Vegas": _goodput_order(REAL, (VEGAS,)),
}


def _index_order(one: str, rivals: tuple[str, ...]) -> Callable[[Data, ShareDefinition], Evidence]:
    """Beside 10 transfers, on the mean over calls."""

    def test(data: Data, how: ShareDefinition) -> Evidence:
        measured = part(data, q.index(how), ftp=10)
        return on_the_mean(measured, lambda mean: highest(mean, one, rivals))

    return test


V23 = {
    "Real above UDP and Westwood": _index_order(REAL, (UDP, WESTWOOD)),
    "Vegas above UDP and Westwood": _index_order(VEGAS, (UDP, WESTWOOD)),
    "Real above Vegas": _index_order(REAL, (VEGAS,)),
}


def _udp_beside(data: Data, how: ShareDefinition) -> Measured:
    return part(data, q.index(how), ftp=10).select(transport=UDP).drop_axes("transport")


V24 = {
    "does not satisfy": lambda data, how: is_below(_udp_beside(data, how), SATISFACTORY),
    "the less, the more calls": lambda data, how: shrinks_from(_udp_beside(data, how), "flows", 40, 80),
}


def v24_contended(data: Data, how: ShareDefinition) -> Evidence:
    """V24 at high contention only."""
    return is_below(contended(_udp_beside(data, how), HIGH_IN_001), SATISFACTORY)


V25 = compare_high_load(q.delayed, lambda measured: highest(measured, WESTWOOD, (VEGAS, REAL)))


def _first_bottleneck(measure: Measure) -> Callable[[Data, ShareDefinition], Evidence]:
    return lambda data, _: highest(part(data, measure, ftp=0, flows=(80, 120)), UDP, TCPS)


V26 = {
    "longest wait": _first_bottleneck(q.FIRST_WAIT),
    "most overflow": _first_bottleneck(q.FIRST_DROPS),
}
v26_packets = _first_bottleneck(q.FIRST_QUEUE)


def v36(data: Data, how: ShareDefinition) -> Evidence:
    """In congestion UDP loses a significant share of its packets."""
    measured = (
        part(data, q.loss(how.sent), ftp=0, flows=(80, 120)).select(transport=UDP).drop_axes("transport")
    )
    return is_above(measured, SIGNIFICANT)


def _hurts(ftp: int) -> Callable[[Data, ShareDefinition], Evidence]:
    """UDP's index minus the TCPs' mean index."""

    def test(data: Data, how: ShareDefinition) -> Evidence:
        measured = part(data, q.index(how), ftp=ftp)
        return Evidence(
            [
                Comparison(
                    f"mean of the TCPs − udp at flows {flows}",
                    np.mean([measured.samples(transport=one, flows=flows) for one in TCPS], axis=0)
                    - measured.samples(transport=UDP, flows=flows),
                    -NOTICEABLE,
                    "above",
                    measured.measure.unit,
                    or_equal=True,
                )
                for flows in measured.labels("flows")
            ]
        )

    return test


V37 = {ALONE: _hurts(0), BESIDE: _hurts(10)}


def v38(data: Data, how: ShareDefinition) -> Evidence:
    """Some TCP has a higher index than UDP, somewhere."""
    found: list[Comparison] = []
    for ftp in (0, 10):
        measured = part(data, q.index(how), ftp=ftp)
        for one in TCPS:
            found += name_traffic(ftp, highest(measured, one, (UDP,))).comparisons
    return Evidence(found, "any")


def _varies(measure: Callable[[ShareDefinition], Measure]) -> Callable[[Data, ShareDefinition], Evidence]:
    """Spread of replications around their mean, as a share of it."""

    def test(data: Data, how: ShareDefinition) -> Evidence:
        found: list[Comparison] = []
        for ftp in (0, 10):
            measured = part(data, measure(how), ftp=ftp)
            far = [
                Comparison(
                    f"distance from the mean at {describe_point(point)}",
                    _distance(measured.samples(**point)),
                    SIGNIFICANT,
                    "below",
                    "%",
                )
                for point in measured.points()
            ]
            found += name_traffic(ftp, Evidence(far)).comparisons
        return Evidence(found)

    return test


def _distance(samples: Any) -> Any:
    """Distance from the mean, in % of it; undefined if it is 0."""
    mean = float(np.mean(samples))
    return np.abs(samples - mean) / mean * 100 if mean > 0 else np.full(len(samples), np.nan)


V39 = {"goodput": _varies(goodput), "real-time index": _varies(q.index)}
