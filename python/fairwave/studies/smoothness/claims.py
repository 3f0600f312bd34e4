"""What paper 003 asserts, S1 to S16, each with its test.

**How words are read.** *Indistinguishable* goodputs differ by less than 2 % of the standard TCP's;
*negligibly* different overheads
by less than half a percentage point; a recovery time or a γ *is* what the paper says within 10 % or 5 %. *Smoother is
higher* means every step from the most responsive to the smoothest system. Where a sentence is about a whole
sweep, its mean
over the sweep is compared; the stricter reading, every point by itself, stands beside it.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from fairwave.studies.smoothness import points as p
from fairwave.studies.smoothness import quantities as q
from fairwave.studies.smoothness.explanations import EXPLANATIONS
from fairwave.studies.smoothness.statements import STATEMENTS
from fairwave.studies.smoothness.systems import (
    GAMMA,
    GAMMA_DELTA,
    PAIRS,
    RENO,
    RENO_RED,
    RESPONSIVE,
    SMOOTH,
    SMOOTHEST,
    STANDARD,
    TFRC,
)
from fairwave.study.claims import Claim, Comparison, Evidence
from fairwave.study.comparisons import falls, grows_from, highest, lowest, within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fairwave.study.measured import Measured
    from fairwave.study.measures import Measure
    from fairwave.study.study import Data

    Test = Callable[[Data], Evidence]
    Named = dict[str, Measured]
    Networks = Callable[[Data, Measure], Named]

INDISTINGUISHABLE = 0.02
"""Share of a goodput below which a difference does not show in a plot."""

NEGLIGIBLE = 0.5
"""Percentage points of overhead that count as no difference."""

CLOSE = 0.1
"""Share of a published recovery time within which a prediction has come true."""

FULL = 0.9
"""Share of full speed that counts as recovered."""

PUBLISHED = {RENO: 19.0, GAMMA: 19.0, SMOOTHEST: 57.0, GAMMA_DELTA: 10.0}
"""Figure 20's recovery times, seconds."""

ORDER = tuple(PAIRS)
"""From the smoothest to the most responsive."""


def both(*evidence: Evidence) -> Evidence:
    """All of these together."""
    joined = evidence[0]
    for one in evidence[1:]:
        joined = joined & one
    return joined


def descending(measured: Measured, order: Sequence[str] = ORDER) -> Evidence:
    """Each system has more than the next, at every point."""
    steps = [highest(measured, one, [rival]) for one, rival in pairwise(order)]
    return both(*steps)


def alike(measured: Measured, reference: str, margin: float) -> Evidence:
    """Every system differs from the reference by less than `margin`: a share of goodput, else in the unit."""
    comparisons = []
    for name in measured.labels("transport"):
        if name == reference:
            continue
        for point in measured.points(without=["transport"]):
            ours, theirs = (measured.samples(**point, transport=label) for label in (name, reference))
            room = margin * float(np.nanmean(theirs)) if measured.measure.unit == "Mb/s" else margin
            place = ", ".join(f"{axis} {label}" for axis, label in point.items())
            comparisons.append(
                Comparison(
                    f"|{name} − {reference}| at {place}",
                    _distance(ours - theirs),
                    room,
                    "below",
                    measured.measure.unit,
                )
            )
    return Evidence(comparisons)


def _distance(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences, turned so that their mean is positive: how far the means are apart."""
    return differences if float(np.nanmean(differences)) >= 0 else -differences


def during(measured: Measured, after: float, until: float) -> Measured:
    """The mean over bins that end later than `after` and not after `until`."""
    times = [time for time in measured.labels("time") if after < time <= until + 1e-9]
    return measured.at(time=times).averaged("time")


def _s1(data: Data) -> Evidence:
    return alike(data.measured(q.GOODPUT, p.WIRED_10), STANDARD, INDISTINGUISHABLE)


def _s2(data: Data, *, every: bool = False) -> Evidence:
    goodput = data.measured(q.GOODPUT, p.WIRED_100)
    large = goodput.at(flows=[n for n in goodput.labels("flows") if n >= 20])
    jump = grows_from(goodput, "flows", 10, 20, factor=1.2)
    return descending(large if every else large.averaged("flows")) & jump


def _s3(data: Data) -> Evidence:
    overhead = data.measured(q.OVERHEAD, p.WIRED_10)
    few, many = min(overhead.labels("flows")), max(overhead.labels("flows"))
    widening = [
        Comparison(
            f"({rival} − {SMOOTHEST}) with {many} flows − with {few}",
            _gap(overhead, rival, many) - _gap(overhead, rival, few),
            unit="%",
        )
        for rival in ORDER[1:]
    ]
    return lowest(overhead, SMOOTHEST) & Evidence(widening)


def _gap(measured: Measured, rival: str, flows: int) -> NDArray[np.float64]:
    return measured.samples(transport=rival, flows=flows) - measured.samples(transport=SMOOTHEST, flows=flows)


def _s4(data: Data) -> Evidence:
    return alike(data.measured(q.OVERHEAD, p.WIRED_100), STANDARD, NEGLIGIBLE)


def _s5(data: Data, *, every: bool = False) -> Evidence:
    success = data.measured(q.SUCCESS[0.9], p.CONSTANT)
    return descending(success if every else success.averaged("flows"))


def _s6(data: Data, bottleneck: str, *, settled_s: float = 0.0) -> Evidence:
    fairness = data.measured(q.ALLOTTED_FAIRNESS, p.GROWING).at(bottleneck=bottleneck).without("bottleneck")
    before = _said("before 15 s: ", descending(during(fairness, settled_s, 15)))
    return before & _said("after 20 s: ", highest(during(fairness, 20, 30), RESPONSIVE))


def _s7(data: Data, bottleneck: str) -> Evidence:
    goodput = data.measured(q.ALLOTTED_GOODPUT, p.SHRINKING).at(bottleneck=bottleneck).without("bottleneck")
    after = during(goodput, 15, 30)
    return highest(after, STANDARD) & lowest(after, SMOOTHEST, [SMOOTH, RESPONSIVE])


def _few(data: Data, measure: Measure) -> Named:
    return {"10 flows: ": data.measured(measure, p.ERRORS_10)}


def _many(data: Data, measure: Measure) -> Named:
    """By each reading of how fast the wireless links are."""
    measured = data.measured(measure, p.ERRORS_100)
    return {
        f"100 flows, wireless {rate}: ": measured.at(wireless=rate).without("wireless")
        for rate in measured.labels("wireless")
    }


def _few_and_many(data: Data, measure: Measure) -> Named:
    return {**_few(data, measure), **_many(data, measure)}


def _s8(data: Data, networks: Networks = _few_and_many) -> Evidence:
    return both(*(_said(name, _overtaken(one)) for name, one in networks(data, q.GOODPUT).items()))


def _overtaken(goodput: Measured) -> Evidence:
    """Without errors the smoothest has at least as much as the most responsive (1 % is equal), at 5 % less."""
    clean, dense = (goodput.at(per=[per]) for per in (0.0, max(goodput.labels("per"))))
    theirs = float(clean.samples(transport=RESPONSIVE).mean())
    before = Comparison(
        f"{SMOOTHEST} − {RESPONSIVE} without errors",
        clean.samples(transport=SMOOTHEST) - clean.samples(transport=RESPONSIVE),
        -0.01 * theirs,
        unit="Mb/s",
        or_equal=True,
    )
    return Evidence([before]) & highest(dense, RESPONSIVE, [SMOOTHEST])


def _s9(data: Data, networks: Networks = _few_and_many, *, every: bool = False) -> Evidence:
    evidence = []
    for name, overhead in networks(data, q.OVERHEAD).items():
        lossy = overhead.at(per=[per for per in overhead.labels("per") if per > 0])
        evidence.append(_said(name, highest(lossy if every else lossy.averaged("per"), SMOOTHEST)))
    return both(*evidence)


def _s10(data: Data, until: float = 1.0) -> Evidence:
    success = data.measured(q.SUCCESS[0.7], p.CONSTANT_ERRORS)
    lossy = [per for per in success.labels("per") if 0 < per <= until]

    def fall(name: str) -> NDArray[np.float64]:
        lost = [
            success.samples(transport=name, per=0.0) - success.samples(transport=name, per=per)
            for per in lossy
        ]
        mean: NDArray[np.float64] = np.mean(lost, axis=0)
        return mean

    return Evidence(
        [
            Comparison(f"fall of {SMOOTHEST} − fall of {rival}", fall(SMOOTHEST) - fall(rival), unit="%")
            for rival in ORDER[1:]
        ]
    )


def _spread(data: Data, queue: str) -> Measured:
    return data.measured(q.FAIRNESS, p.SPREAD).at(queue=queue).without("queue")


def _s11(data: Data, *, every: bool = False) -> Evidence:
    fairness = _spread(data, "drop-tail")
    slightly = highest(fairness if every else fairness.averaged("largest"), SMOOTHEST)
    return falls(fairness, "largest") & slightly


def _s12(data: Data) -> Evidence:
    under = {queue: _spread(data, queue).averaged("largest") for queue in ("drop-tail", "RED")}

    def advantage(queue: str, rival: str) -> NDArray[np.float64]:
        return under[queue].samples(transport=SMOOTHEST) - under[queue].samples(transport=rival)

    comparisons = []
    for rival in (STANDARD, RESPONSIVE):
        lost = advantage("drop-tail", rival) - advantage("RED", rival)
        comparisons.append(Comparison(f"advantage over {rival} under drop-tail − under RED", lost))
        left = advantage("RED", rival)
        comparisons.append(
            Comparison(f"advantage over {rival} under RED", left, 0.01, "below", or_equal=True)
        )
    return Evidence(comparisons)


def _s13(data: Data, *, every: bool = True) -> Evidence:
    rivals = [RENO, RENO_RED, SMOOTHEST, TFRC]
    fairness, cov = (data.measured(measure, p.AVOIDANCE) for measure in (q.SHORT_TERM_FAIRNESS, q.COV))
    if not every:
        fairness, cov = fairness.averaged("flows"), cov.averaged("flows")
    return _said("fairness: ", highest(fairness, GAMMA, rivals)) & _said("CoV: ", lowest(cov, GAMMA, rivals))


def _s14(data: Data) -> Evidence:
    gamma = data.measured(q.LAST_GAMMA, p.AVOIDANCE).at(transport=[GAMMA]).without("transport")
    return within(gamma, 0.95 * 2 / 3, 1.05 * 2 / 3)


def _s16(data: Data, names: Sequence[str] = (RENO, RENO_RED, GAMMA, SMOOTHEST, TFRC)) -> Evidence:
    goodput = data.measured(q.GOODPUT, p.AVOIDANCE).at(transport=list(names))
    return alike(goodput, RENO, INDISTINGUISHABLE)


def calibrated(data: Data, level: float = FULL) -> float:
    """The round trip (ms) at which Reno takes the published 19 s to recover; the nearest end where none does."""
    measured = data.measured(q.recovery(level), p.RECOVERY)
    trips = measured.labels("round trip")
    means = [float(np.nanmean(measured.samples(transport=RENO, **{"round trip": trip}))) for trip in trips]
    return float(np.interp(PUBLISHED[RENO], means, trips))


def predicted(data: Data, name: str, level: float = FULL) -> NDArray[np.float64]:
    """A system's recovery time at the calibrated round trip, one per seed; interpolated between simulated ones."""
    measured = data.measured(q.recovery(level), p.RECOVERY)
    trips = measured.labels("round trip")
    values = np.stack([measured.samples(transport=name, **{"round trip": trip}) for trip in trips])
    at = calibrated(data, level)
    return np.array([np.interp(at, trips, values[:, seed]) for seed in range(values.shape[1])])


def _s15(data: Data, level: float = FULL) -> Evidence:
    comparisons = []
    for name, seconds in PUBLISHED.items():
        if name == RENO:
            continue  # calibrated on it
        samples = predicted(data, name, level)
        comparisons.append(
            Comparison(f"{name} (published {seconds:g} s)", samples, (1 - CLOSE) * seconds, "above", "s")
        )
        comparisons.append(
            Comparison(f"{name} (published {seconds:g} s)", samples, (1 + CLOSE) * seconds, "below", "s")
        )
    return Evidence(comparisons)


def _said(words: str, evidence: Evidence) -> Evidence:
    return evidence.relabelled(lambda label: words + label)


FAST, SLOW = p.PAPER.rates

TESTS: dict[str, Test] = {
    "S1": _s1,
    "S2": _s2,
    "S3": _s3,
    "S4": _s4,
    "S5": _s5,
    "S6": partial(_s6, bottleneck=FAST),
    "S7": partial(_s7, bottleneck=FAST),
    "S8": _s8,
    "S9": _s9,
    "S10": _s10,
    "S11": _s11,
    "S12": _s12,
    "S13": _s13,
    "S14": _s14,
    "S15": _s15,
    "S16": _s16,
}

READINGS: dict[str, dict[str, Test]] = {
    "S2": {"at every number of flows": partial(_s2, every=True)},
    "S5": {"at every number of flows": partial(_s5, every=True)},
    "S6": {
        "text: 100 Mb/s bottleneck": partial(_s6, bottleneck=FAST),
        "caption: 10 Mb/s bottleneck": partial(_s6, bottleneck=SLOW),
        "text, but from 5 s on": partial(_s6, bottleneck=FAST, settled_s=5),
    },
    "S7": {"10 Mb/s bottleneck": partial(_s7, bottleneck=SLOW)},
    "S8": {"10 flows": partial(_s8, networks=_few), "100 flows": partial(_s8, networks=_many)},
    "S9": {
        "10 flows": partial(_s9, networks=_few),
        "100 flows": partial(_s9, networks=_many),
        "at every error rate": partial(_s9, every=True),
    },
    "S10": {"up to 5 % of errors": partial(_s10, until=0.05), "up to 10 %": partial(_s10, until=0.1)},
    "S11": {"at every spread": partial(_s11, every=True)},
    "S13": {"mean over numbers of flows": partial(_s13, every=False)},
    "S15": {f"recovered at {100 * level:g} %": partial(_s15, level=level) for level in p.LEVELS},
    "S16": {"without TFRC": partial(_s16, names=(RENO, RENO_RED, GAMMA, SMOOTHEST))},
}


def claims() -> list[Claim]:
    """All claims, in order."""
    return [
        Claim(
            name,
            statement,
            f"paper 003 {source}",
            grids,
            TESTS[name],
            EXPLANATIONS.get(name, {}),
            assumptions,
            READINGS.get(name, {}),
        )
        for name, (statement, source, grids, assumptions) in STATEMENTS.items()
    ]
