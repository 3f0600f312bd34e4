"""What paper 003 asserts, S1 to S23, each with its test.

**How words are read.** *Indistinguishable* goodputs differ by less than 2 % of the standard TCP's; *negligibly*
different overheads by less than half a percentage point; a recovery time or a γ is *around* what the paper says
within 10 %. *Smooth* systems are the two with β above a half, the *responsive* one is that below (§I). Where a
sentence is about a whole sweep, its mean over the sweep is compared; the stricter wording, every point by itself,
stands beside it.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave_studies.smoothness import names as n
from fairwave_studies.smoothness import points as p
from fairwave_studies.smoothness import quantities as q
from fairwave_studies.smoothness.explanations import EXPLANATIONS
from fairwave_studies.smoothness.names import (
    GAMMA,
    GAMMA_DELTA,
    RENO,
    RENO_RED,
    RESPONSIVE,
    SMOOTH,
    SMOOTHEST,
    STANDARD,
    TFRC,
)
from fairwave_studies.smoothness.statements import STATEMENTS
from fairwave_studies.smoothness.systems import PAIRS
from fairwave_study.claims import Claim, Comparison, Evidence
from fairwave_study.comparisons import above, falls, grows_from, highest, lowest, within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave_study.readings import Reading
    from fairwave_study.study import Data

    Test = Callable[[Data], Evidence]
    Named = dict[str, Measured]

INDISTINGUISHABLE = 0.02
"""Share of a goodput below which a difference does not show in a plot."""

NEGLIGIBLE = 0.5
"""Percentage points of overhead that count as no difference."""

CLOSE = 0.1
"""Share of a published number within which a prediction has come true."""

FAIR = 0.9
"""Jain's index from which on fairness is high: a tenth of the flows could have nothing."""

PUBLISHED = {RENO: 19.0, GAMMA: 19.0, SMOOTHEST: 57.0, GAMMA_DELTA: 10.0}
"""Figure 20's recovery times, seconds."""

ORDER = tuple(PAIRS)
"""From the smoothest to the most responsive."""


def level_of(reading: Reading) -> float:
    """The share of full speed from which on a flow has recovered."""
    return float(reading["recovered"].split()[0]) / 100


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


def smooth_over_responsive(measured: Measured) -> Evidence:
    """Both smooth systems have more than the responsive one, at every point."""
    return highest(measured, SMOOTHEST, [RESPONSIVE]) & highest(measured, SMOOTH, [RESPONSIVE])


def _mean(samples: NDArray[np.float64]) -> float:
    defined = samples[~np.isnan(samples)]
    return float(np.mean(defined)) if len(defined) else float("nan")


def alike(measured: Measured, reference: str, margin: float) -> Evidence:
    """Every system differs from the reference by less than `margin`: a share of goodput, else in the unit."""
    comparisons = []
    for name in measured.labels("transport"):
        if name == reference:
            continue
        for point in measured.points(without=["transport"]):
            ours, theirs = (measured.samples(**point, transport=label) for label in (name, reference))
            comparisons.append(
                _apart(f"|{name} − {reference}|", point, ours, theirs, measured.measure.unit, margin)
            )
    return Evidence(comparisons)


def _apart(
    words: str,
    point: dict[str, Any],
    ours: NDArray[np.float64],
    theirs: NDArray[np.float64],
    unit: str,
    margin: float,
) -> Comparison:
    room = margin * _mean(theirs) if unit == "Mb/s" else margin
    place = ", ".join(f"{axis} {label}" for axis, label in point.items())
    return Comparison(f"{words} at {place}", _distance(ours - theirs), room, "below", unit)


def _distance(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences, turned so that their mean is positive: how far the means are apart."""
    return -differences if _mean(differences) < 0 else differences


def during(measured: Measured, after: float, until: float) -> Measured:
    """The mean over bins that end later than `after` and not after `until`."""
    times = [time for time in measured.labels("time") if after < time <= until + 1e-9]
    return measured.at(time=times).averaged("time")


def _s1(data: Data) -> Evidence:
    return alike(data.measured(q.GOODPUT, n.WIRED_10), STANDARD, INDISTINGUISHABLE)


def _s2(data: Data, *, every: bool = False, steps: bool = False) -> Evidence:
    goodput = data.measured(q.GOODPUT, n.WIRED_100)
    large = goodput.at(flows=[flows for flows in goodput.labels("flows") if flows >= 20])
    jump = grows_from(goodput, "flows", 10, 20, factor=1.2)
    test = descending if steps else smooth_over_responsive
    return test(large if every else large.averaged("flows")) & jump


def _s3(data: Data) -> Evidence:
    overhead = data.measured(q.OVERHEAD, n.WIRED_10)
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
    return alike(data.measured(q.OVERHEAD, n.WIRED_100), STANDARD, NEGLIGIBLE)


def _s5(data: Data, success: str = "formula", *, every: bool = False, steps: bool = True) -> Evidence:
    found = data.measured(q.reads(0.9, success), n.CONSTANT)
    test = descending if steps else smooth_over_responsive
    return test(found if every else found.averaged("flows"))


def _s6(data: Data, bottleneck: str, *, settled_s: float = 0.0, steps: bool = True) -> Evidence:
    fairness = data.measured(q.ALLOTTED_FAIRNESS, n.GROWING).at(bottleneck=bottleneck).without("bottleneck")
    test = descending if steps else smooth_over_responsive
    before = _said("before 15 s: ", test(during(fairness, settled_s, 15)))
    return before & _said("after 20 s: ", highest(during(fairness, 20, 30), RESPONSIVE))


def _s7(data: Data, bottleneck: str) -> Evidence:
    after = during(_shrinking(data, bottleneck), 15, 30)
    return highest(after, STANDARD) & lowest(after, SMOOTHEST, [SMOOTH, RESPONSIVE])


def _shrinking(data: Data, bottleneck: str) -> Measured:
    goodput = data.measured(q.ALLOTTED_GOODPUT, n.SHRINKING)
    return goodput.at(bottleneck=bottleneck).without("bottleneck")


def _few(data: Data, measure: Measure) -> Named:
    return {"10 flows: ": data.measured(measure, n.ERRORS_10)}


def _crowd(data: Data, measure: Measure, wireless: str) -> Named:
    return {"100 flows: ": data.measured(measure, n.ERRORS_100).at(wireless=wireless).without("wireless")}


def _networks(data: Data, measure: Measure, which: str, wireless: str) -> Named:
    few = _few(data, measure) if which != "100 flows" else {}
    return {**few, **(_crowd(data, measure, wireless) if which != "10 flows" else {})}


def _s8(data: Data, wireless: str, which: str = "both") -> Evidence:
    found = _networks(data, q.GOODPUT, which, wireless)
    return both(*(_said(name, _overtaken(one)) for name, one in found.items()))


def _overtaken(goodput: Measured) -> Evidence:
    """Without errors the smoothest has at least as much as the most responsive (1 % is equal), at 5 % less."""
    clean, dense = (goodput.at(per=[per]) for per in (0.0, max(goodput.labels("per"))))
    theirs = _mean(clean.samples(transport=RESPONSIVE))
    before = Comparison(
        f"{SMOOTHEST} − {RESPONSIVE} without errors",
        clean.samples(transport=SMOOTHEST) - clean.samples(transport=RESPONSIVE),
        -0.01 * theirs,
        unit="Mb/s",
        or_equal=True,
    )
    return Evidence([before]) & highest(dense, RESPONSIVE, [SMOOTHEST])


def _s9(data: Data, wireless: str, which: str = "both", *, every: bool = False) -> Evidence:
    evidence = []
    for name, overhead in _networks(data, q.OVERHEAD, which, wireless).items():
        lossy = overhead.at(per=[per for per in overhead.labels("per") if per > 0])
        evidence.append(_said(name, highest(lossy if every else lossy.averaged("per"), SMOOTHEST)))
    return both(*evidence)


def _s10(data: Data, reading: str = "formula", until: float = 1.0) -> Evidence:
    success = data.measured(q.reads(0.7, reading), n.CONSTANT_ERRORS)
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


def _spread(data: Data, queue: str, measure: Measure = q.FAIRNESS) -> Measured:
    return data.measured(measure, n.SPREAD).at(queue=queue).without("queue")


def _s11(data: Data, *, every: bool = False, steps: bool = True) -> Evidence:
    fairness = _spread(data, "drop-tail")
    over = fairness if every else fairness.averaged("largest")
    slightly = highest(over, SMOOTHEST) if steps else smooth_over_responsive(over)
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


TCP_RIVALS = (RENO, RENO_RED, SMOOTHEST)


def _s13(data: Data, rivals: Sequence[str] = TCP_RIVALS, *, every: bool = False) -> Evidence:
    fairness, cov = (data.measured(measure, n.AVOIDANCE) for measure in (q.SHORT_TERM_FAIRNESS, q.COV))
    if not every:
        fairness, cov = fairness.averaged("flows"), cov.averaged("flows")
    return _said("fairness: ", highest(fairness, GAMMA, rivals)) & _said("CoV: ", lowest(cov, GAMMA, rivals))


def _s14(data: Data, close: float = CLOSE) -> Evidence:
    gamma = data.measured(q.LAST_GAMMA, n.AVOIDANCE).at(transport=[GAMMA]).without("transport")
    return within(gamma, (1 - close) * 2 / 3, (1 + close) * 2 / 3)


def _s16(data: Data, names: Sequence[str] = (RENO, RENO_RED, GAMMA, SMOOTHEST, TFRC)) -> Evidence:
    goodput = data.measured(q.GOODPUT, n.AVOIDANCE).at(transport=list(names))
    return alike(goodput, RENO, INDISTINGUISHABLE)


def _recovered(measured: Measured, name: str, trip: Any) -> NDArray[np.float64]:
    """Recovery times, one per seed; what had not recovered by the end of the run counts as if it had then."""
    return np.nan_to_num(measured.samples(transport=name, **{"round trip": trip}), nan=p.RECOVERY_MOST_S)


def calibrated(data: Data, level: float) -> float:
    """The round trip (ms) at which Reno takes the published 19 s to recover; the nearest end where none does."""
    measured = data.measured(q.recovery(level), n.RECOVERY)
    trips = measured.labels("round trip")
    means = [float(np.mean(_recovered(measured, RENO, trip))) for trip in trips]
    return float(np.interp(PUBLISHED[RENO], means, trips))


def predicted(data: Data, name: str, level: float) -> NDArray[np.float64]:
    """A system's recovery time at the calibrated round trip, one per seed; interpolated between simulated ones."""
    measured = data.measured(q.recovery(level), n.RECOVERY)
    trips = measured.labels("round trip")
    values = np.stack([_recovered(measured, name, trip) for trip in trips])
    at = calibrated(data, level)
    return np.array([np.interp(at, trips, values[:, seed]) for seed in range(values.shape[1])])


def _s15(data: Data, level: float, *, fitted: bool = True) -> Evidence:
    comparisons = []
    for name, seconds in PUBLISHED.items():
        if name == RENO and fitted:
            continue  # calibrated on it
        samples = predicted(data, name, level)
        words = f"{name} (published {seconds:g} s)"
        comparisons.append(Comparison(f"{words}: least", samples, (1 - CLOSE) * seconds, "above", "s"))
        comparisons.append(Comparison(f"{words}: most", samples, (1 + CLOSE) * seconds, "below", "s"))
    return Evidence(comparisons)


def _s17(data: Data, bottleneck: str, *, steps: bool = True) -> Evidence:
    before = during(_shrinking(data, bottleneck), 0, 15)
    return descending(before) if steps else smooth_over_responsive(before)


def _handoffs(data: Data, down: str, measure: Measure) -> Measured:
    return data.measured(measure, n.HANDOFFS).at(down=down).without("down")


def _s18(data: Data, *, smoother: bool = True) -> Evidence:
    goodput, cov = (_handoffs(data, "1 s", measure) for measure in (q.STEADY_GOODPUT, q.COV))
    evidence = _said("goodput: ", highest(goodput, RESPONSIVE, [SMOOTHEST, SMOOTH]))
    if not smoother:
        return evidence
    return evidence & _said("CoV: ", lowest(cov, RESPONSIVE, [SMOOTHEST, SMOOTH]))


def _s19(data: Data, *, high: bool = True) -> Evidence:
    goodput = _handoffs(data, "500 ms", q.STEADY_GOODPUT)
    first = highest(goodput, STANDARD, [RESPONSIVE])
    return first & highest(goodput, RESPONSIVE, [SMOOTHEST]) if high else first


def _s20(data: Data, names: Sequence[str] = (SMOOTHEST, SMOOTH)) -> Evidence:
    evidence = []
    for what, measure in (("goodput", q.GOODPUT), ("fairness", q.FAIRNESS)):
        under = {queue: _spread(data, queue, measure).averaged("largest") for queue in ("RED", "drop-tail")}
        evidence += [
            Comparison(
                f"{what} of {name} under RED − under drop-tail",
                under["RED"].samples(transport=name) - under["drop-tail"].samples(transport=name),
                0.0,
                "below",
                measure.unit,
            )
            for name in names
        ]
    return Evidence(evidence)


def _s21(data: Data, least: float = FAIR) -> Evidence:
    fairness = data.measured(q.FAIRNESS, n.AVOIDANCE)
    return above(fairness, least)


def _s22(data: Data, *, alike_too: bool = False) -> Evidence:
    bursts = data.measured(q.GOODPUT, n.MARKOV)
    evidence = _overtaken(bursts)
    if not alike_too:
        return evidence
    dense = max(bursts.labels("per"))
    random = data.measured(q.GOODPUT, n.ERRORS_10)
    return evidence & Evidence(
        [
            _apart(
                f"|{name} with bursts − at random|",
                {"PER": dense},
                bursts.samples(transport=name, per=dense),
                random.samples(transport=name, per=dense),
                "Mb/s",
                CLOSE,
            )
            for name in ORDER
        ]
    )


def _said(words: str, evidence: Evidence) -> Evidence:
    return evidence.relabelled(lambda label: words + label)


FAST, SLOW = "100 Mb/s", "10 Mb/s"


def tests(reading: Reading) -> dict[str, Test]:
    """Each claim's test under a reading."""
    wireless, success = reading["wireless"], reading["success"]
    return {
        "S1": _s1,
        "S2": _s2,
        "S3": _s3,
        "S4": _s4,
        "S5": partial(_s5, success=success),
        "S6": partial(_s6, bottleneck=reading["rate-of-7"]),
        "S7": partial(_s7, bottleneck=FAST),
        "S8": partial(_s8, wireless=wireless),
        "S9": partial(_s9, wireless=wireless),
        "S10": partial(_s10, reading=success),
        "S11": _s11,
        "S12": _s12,
        "S13": _s13,
        "S14": _s14,
        "S15": partial(_s15, level=level_of(reading), fitted=reading["figure-20"] == "calibrated"),
        "S16": _s16,
        "S17": partial(_s17, bottleneck=FAST),
        "S18": _s18,
        "S19": _s19,
        "S20": _s20,
        "S21": _s21,
        "S22": _s22,
        "S23": partial(_s13, rivals=[TFRC]),
    }


def wordings(reading: Reading, *, both_rates: bool) -> dict[str, dict[str, Test]]:
    """The other wordings of each claim; those that need the paper's other caption only where it was simulated."""
    wireless, success = reading["wireless"], reading["success"]
    fitted = reading["figure-20"] == "calibrated"
    found: dict[str, dict[str, Test]] = {
        "S2": {
            "every step from the most responsive to the smoothest": partial(_s2, steps=True),
            "every step, at every number of flows": partial(_s2, every=True, steps=True),
        },
        "S5": {
            "at every number of flows": partial(_s5, success=success, every=True),
            "smooth over responsive": partial(_s5, success=success, steps=False),
        },
        "S6": {"smooth over responsive": partial(_s6, bottleneck=reading["rate-of-7"], steps=False)},
        "S8": {which: partial(_s8, wireless=wireless, which=which) for which in ("10 flows", "100 flows")},
        "S9": {
            **{which: partial(_s9, wireless=wireless, which=which) for which in ("10 flows", "100 flows")},
            "at every error rate": partial(_s9, wireless=wireless, every=True),
        },
        "S10": {
            "up to 5 % of errors": partial(_s10, reading=success, until=0.05),
            "up to 10 %": partial(_s10, reading=success, until=0.1),
        },
        "S11": {
            "at every spread": partial(_s11, every=True),
            "smooth over responsive": partial(_s11, steps=False),
        },
        "S13": {
            "at every number of flows": partial(_s13, every=True),
            "TFRC among them, at every number of flows": partial(
                _s13, rivals=[*TCP_RIVALS, TFRC], every=True
            ),
        },
        "S14": {"within 5 %": partial(_s14, close=0.05)},
        "S15": {
            f"recovered at {100 * level:g} %": partial(_s15, level=level, fitted=fitted) for level in p.LEVELS
        },
        "S16": {"without TFRC": partial(_s16, names=(RENO, RENO_RED, GAMMA, SMOOTHEST))},
        "S17": {"smooth over responsive": partial(_s17, bottleneck=FAST, steps=False)},
        "S18": {"goodput alone": partial(_s18, smoother=False)},
        "S19": {"TCP(1, 0.5) over TCP(1.25, 0.25) alone": partial(_s19, high=False)},
        "S20": {"all four": partial(_s20, names=ORDER)},
        "S21": {f"{least:g} and more": partial(_s21, least=least) for least in (0.8, 0.95)},
        "S22": {"and goodputs within 10 %": partial(_s22, alike_too=True)},
        "S23": {"at every number of flows": partial(_s13, rivals=[TFRC], every=True)},
    }
    if both_rates:
        other = FAST if wireless == SLOW else SLOW
        found["S6"] |= {
            "text: 100 Mb/s bottleneck": partial(_s6, bottleneck=FAST),
            "caption: 10 Mb/s bottleneck": partial(_s6, bottleneck=SLOW),
        }
        found["S7"] = {"10 Mb/s bottleneck": partial(_s7, bottleneck=SLOW)}
        found["S8"] |= {
            f"100 flows, wireless links of {other}": partial(_s8, wireless=other, which="100 flows")
        }
        found["S9"] |= {
            f"100 flows, wireless links of {other}": partial(_s9, wireless=other, which="100 flows")
        }
    return found


def claims(reading: Reading, *, both_rates: bool = True) -> list[Claim]:
    """All claims, in order, as a reading has them."""
    judged, others = tests(reading), wordings(reading, both_rates=both_rates)
    return [
        Claim(
            name,
            statement,
            f"paper 003 {source}",
            grids,
            judged[name],
            EXPLANATIONS.get(name, {}),
            assumptions,
            others.get(name, {}),
        )
        for name, (statement, source, grids, assumptions) in STATEMENTS.items()
    ]
