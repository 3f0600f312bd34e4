"""Tests of the assertions of paper 003, S1 to S36.

**Meaning of the words.** *Indistinguishable* goodputs differ by less than 2 % of the standard TCP's, *negligibly*
different overheads by less than half a percentage point. A recovery time or a γ is *around* the paper's value within 10
%. *Smooth* systems are the two with β above a half, the *responsive* one is that below (§I). Assertions about smooth
TCP in general are tested on the two together. Error rates of up to 1 % are *low*; bandwidth is *available* while a
tenth of the link or more is unused. A handoff is *short* in those 20 s of a run with the highest total goodput of the
four systems. These lines were drawn before the first run. For a sentence about a whole sweep, the test compares the
mean over the sweep. The stricter wording, every single point, is judged as another wording.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave_studies.smoothness import names as n
from fairwave_studies.smoothness import points as p
from fairwave_studies.smoothness import quantities as q
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
from fairwave_studies.smoothness.systems import PAIRS
from fairwave_study.claims import Comparison, Evidence
from fairwave_study.comparisons import (
    contrast,
    falls,
    grows_from,
    highest,
    is_above,
    is_at_least,
    is_below,
    is_within,
    join,
    lowest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fairwave.measuring.measured import Measured
    from fairwave.measuring.measures import Measure
    from fairwave_study.folder import Case
    from fairwave_study.parts import Data
    from fairwave_study.readings import Reading

    Test = Callable[[Data], Evidence]

INDISTINGUISHABLE = 0.02
"""Share of a goodput below which a difference does not show in a plot."""

NEGLIGIBLE = 0.5
"""Percentage points of overhead that count as no difference."""

CLOSE = 0.1
"""Share of a published number within which a prediction has come true."""

FAIR = 0.9
"""Jain's index from which fairness is high: a tenth of the flows could have nothing."""

LOW = 0.01
"""Packet error rate up to which errors are few."""

AVAILABLE = 9.0
"""Goodput, Mb/s, below which a link of 10 Mb/s has bandwidth left."""

SHORT_S = 20
"""Length of the stretch of Figure 13 in the paper's text, seconds."""

JOINED, LEFT = (15, 20, 25), (15, 20, 25)
"""When the number of flows changes in Figures 7 and 8, seconds."""

PUBLISHED = {RENO: 19.0, GAMMA: 19.0, SMOOTHEST: 57.0, GAMMA_DELTA: 10.0}
"""Figure 20's recovery times, seconds."""

ORDER = tuple(PAIRS)
"""From the smoothest to the most responsive."""


def level_of(reading: Reading) -> float:
    """Share of full speed at which a flow has recovered."""
    return float(reading["recovered"].split()[0]) / 100


def descending(measured: Measured, order: Sequence[str] = ORDER) -> Evidence:
    """Each system has more than the next, at every point."""
    steps = [highest(measured, one, [rival]) for one, rival in pairwise(order)]
    return join(*steps)


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
    return measured.select(time=times).averaged("time")


def _s1(data: Data) -> Evidence:
    return alike(data.measured(q.GOODPUT, n.WIRED_10), STANDARD, INDISTINGUISHABLE)


def _goodput_above_20(data: Data) -> Measured:
    goodput = data.measured(q.GOODPUT, n.WIRED_100)
    return goodput.select(flows=[flows for flows in goodput.labels("flows") if flows >= 20])


def _s2(data: Data, *, every: bool = False, steps: bool = False) -> Evidence:
    large = _goodput_above_20(data)
    test = descending if steps else smooth_over_responsive
    return test(large if every else large.averaged("flows"))


def _jump(data: Data) -> Evidence:
    return grows_from(data.measured(q.GOODPUT, n.WIRED_100), "flows", 10, 20, factor=1.2)


def _s3(data: Data) -> Evidence:
    return lowest(data.measured(q.OVERHEAD, n.WIRED_10), SMOOTHEST)


def _widening(data: Data) -> Evidence:
    overhead = data.measured(q.OVERHEAD, n.WIRED_10)
    few, many = min(overhead.labels("flows")), max(overhead.labels("flows"))
    return Evidence(
        [
            contrast(
                f"({rival} − {SMOOTHEST}) with {many} flows − with {few}",
                _gap(overhead, rival, many),
                _gap(overhead, rival, few),
                q.OVERHEAD,
            )
            for rival in ORDER[1:]
        ]
    )


def _gap(measured: Measured, rival: str, flows: int) -> NDArray[np.float64]:
    return measured.samples(transport=rival, flows=flows) - measured.samples(transport=SMOOTHEST, flows=flows)


def _s4(data: Data) -> Evidence:
    return alike(data.measured(q.OVERHEAD, n.WIRED_100), STANDARD, NEGLIGIBLE)


def _s5(data: Data, success: str = "formula", *, every: bool = False, steps: bool = False) -> Evidence:
    found = data.measured(q.reads(0.9, success), n.CONSTANT)
    test = descending if steps else smooth_over_responsive
    return test(found if every else found.averaged("flows"))


def _growing(data: Data, bottleneck: str) -> Measured:
    return data.measured(q.ALLOTTED_FAIRNESS, n.GROWING).select(bottleneck=bottleneck).drop_axes("bottleneck")


def _s6_before(data: Data, bottleneck: str, *, steps: bool = False) -> Evidence:
    test = descending if steps else smooth_over_responsive
    return test(during(_growing(data, bottleneck), 0, 15))


def _s6_after(data: Data, bottleneck: str) -> Evidence:
    return highest(during(_growing(data, bottleneck), 20, 30), RESPONSIVE)


def _s7_highest(data: Data, bottleneck: str) -> Evidence:
    return highest(during(_shrinking(data, bottleneck), 15, 30), STANDARD)


def _s7_lowest(data: Data, bottleneck: str) -> Evidence:
    return lowest(during(_shrinking(data, bottleneck), 15, 30), SMOOTHEST, [SMOOTH, RESPONSIVE])


def _shrinking(data: Data, bottleneck: str) -> Measured:
    goodput = data.measured(q.ALLOTTED_GOODPUT, n.SHRINKING)
    return goodput.select(bottleneck=bottleneck).drop_axes("bottleneck")


def _change(
    measured: Measured, name: str, times: Sequence[int], early: tuple[float, float], late: tuple[float, float]
) -> NDArray[np.float64]:
    """A system's result in the second stretch after these times minus the first, mean over the times."""
    return _level(measured, name, times, late) - _level(measured, name, times, early)


def _level(
    measured: Measured, name: str, times: Sequence[int], stretch: tuple[float, float]
) -> NDArray[np.float64]:
    """A system's result in a stretch after these times, mean over the times."""
    own = measured.select(transport=[name]).drop_axes("transport")
    levels = [during(own, at + stretch[0], at + stretch[1]).samples() for at in times]
    mean: NDArray[np.float64] = np.mean(levels, axis=0)
    return mean


BEFORE, FIRST, LAST = (-1.0, 0.0), (0.0, 1.0), (3.0, 5.0)
"""Stretches around a change of the number of flows, seconds."""

ONSET, SOON = (0.0, 2.0), (2.0, 3.0)
"""The same for how fast fairness and goodput come back."""


def _drops_for_all(measured: Measured, times: Sequence[int], after: tuple[float, float]) -> Evidence:
    return Evidence(
        [
            contrast(
                f"{name}: after − before",
                _level(measured, name, times, after),
                _level(measured, name, times, BEFORE),
                measured.measure,
                "below",
            )
            for name in ORDER
        ]
    )


def _recovers_fastest(
    measured: Measured, times: Sequence[int], early: tuple[float, float], late: tuple[float, float]
) -> Evidence:
    ours = _change(measured, RESPONSIVE, times, early, late)
    return Evidence(
        [
            contrast(
                f"gain of {RESPONSIVE} − gain of {rival}",
                ours,
                _change(measured, rival, times, early, late),
                measured.measure,
            )
            for rival in ORDER
            if rival != RESPONSIVE
        ]
    )


def _s26(data: Data, bottleneck: str) -> Evidence:
    return _drops_for_all(_growing(data, bottleneck), JOINED, ONSET)


def _s27(data: Data, bottleneck: str) -> Evidence:
    return _recovers_fastest(_growing(data, bottleneck), JOINED, ONSET, LAST)


def _s28(data: Data, bottleneck: str) -> Evidence:
    fairness = _growing(data, bottleneck)
    first, last = (during(fairness, begin, begin + 5) for begin in (15, 25))
    return Evidence(
        [
            contrast(
                f"{name}: 25 to 30 s − 15 to 20 s",
                last.samples(transport=name),
                first.samples(transport=name),
                fairness.measure,
                "below",
            )
            for name in (SMOOTHEST, SMOOTH)
        ]
    )


def _s29(data: Data, bottleneck: str) -> Evidence:
    return _drops_for_all(_shrinking(data, bottleneck), LEFT, FIRST)


def _s30(data: Data, bottleneck: str) -> Evidence:
    return _recovers_fastest(_shrinking(data, bottleneck), LEFT, FIRST, SOON)


def _network(data: Data, measure: Measure, which: str, wireless: str) -> Measured:
    """Ten flows, or a hundred with wireless links of a rate."""
    if which == "10 flows":
        return data.measured(measure, n.ERRORS_10)
    return data.measured(measure, n.ERRORS_100).select(wireless=wireless).drop_axes("wireless")


def _s8(data: Data, wireless: str, which: str) -> Evidence:
    return _responsive_at_most(_network(data, q.GOODPUT, which, wireless))


def _responsive_at_most(goodput: Measured) -> Evidence:
    """With the most errors the responsive system has more than either smooth one."""
    return highest(goodput.select(per=[max(goodput.labels("per"))]), RESPONSIVE, [SMOOTHEST, SMOOTH])


EQUAL = 0.01
"""Share of goodput that counts as equal at the crossover of the most responsive and the smoothest system."""


def _overtaken(goodput: Measured) -> Evidence:
    """Without errors the smoothest has at least as much as the most responsive (1 % is equal), at 5 % less."""
    clean, dense = (goodput.select(per=[per]) for per in (0.0, max(goodput.labels("per"))))
    return is_at_least(clean, SMOOTHEST, [RESPONSIVE], margin=EQUAL) & highest(dense, RESPONSIVE, [SMOOTHEST])


def _few_errors(measured: Measured) -> Measured:
    """The mean over low error rates, none among them."""
    return measured.select(per=[per for per in measured.labels("per") if per <= LOW]).averaged("per")


def _s24(data: Data, wireless: str, which: str) -> Evidence:
    found = _network(data, q.GOODPUT, which, wireless)
    return smooth_over_responsive(_few_errors(found))


def _s25(data: Data, success: str = "formula") -> Evidence:
    return smooth_over_responsive(_few_errors(data.measured(q.reads(0.7, success), n.CONSTANT_ERRORS)))


def _s31(data: Data, wireless: str, which: str) -> Evidence:
    found = _network(data, q.GOODPUT, which, wireless)
    most = max(found.labels("per"))

    def fall(name: str) -> NDArray[np.float64]:
        lost: NDArray[np.float64] = found.samples(transport=name, per=0.0) - found.samples(
            transport=name, per=most
        )
        return lost

    return Evidence(
        [
            contrast(f"fall of {name} − fall of {RESPONSIVE}", fall(name), fall(RESPONSIVE), found.measure)
            for name in (SMOOTHEST, SMOOTH)
        ]
    )


def _s32(data: Data) -> Evidence:
    goodput = data.measured(q.GOODPUT, n.ERRORS_10)
    dense = goodput.select(per=[max(goodput.labels("per"))]).drop_axes("per")
    return is_below(dense, AVAILABLE)


def _s9(data: Data, wireless: str, which: str, *, every: bool = False) -> Evidence:
    overhead = _network(data, q.OVERHEAD, which, wireless)
    lossy = overhead.select(per=[per for per in overhead.labels("per") if per > 0])
    return highest(lossy if every else lossy.averaged("per"), SMOOTHEST)


def _s9_everywhere(data: Data, wireless: str) -> Evidence:
    return join(*(_prefix_labels(f"{which}: ", _s9(data, wireless, which, every=True)) for which in NETWORKS))


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
            contrast(f"fall of {SMOOTHEST} − fall of {rival}", fall(SMOOTHEST), fall(rival), success.measure)
            for rival in ORDER[1:]
        ]
    )


def _spread(data: Data, queue: str, measure: Measure = q.FAIRNESS) -> Measured:
    return data.measured(measure, n.SPREAD).select(queue=queue).drop_axes("queue")


SMOOTH_PAIR, OTHER_PAIR = (SMOOTHEST, SMOOTH), (STANDARD, RESPONSIVE)


def pair_over_pair(measured: Measured) -> Evidence:
    """The two smooth systems have more than the other two, each pair by its mean."""
    comparisons = []
    for point in measured.points(without=["transport"]):
        ours, theirs = (
            np.mean([measured.samples(**point, transport=name) for name in pair], axis=0)
            for pair in (SMOOTH_PAIR, OTHER_PAIR)
        )
        place = ", ".join(f"{axis} {label}" for axis, label in point.items())
        words = "mean of the smooth − mean of the others"
        comparisons.append(
            contrast(f"{words} at {place}" if place else words, ours, theirs, measured.measure)
        )
    return Evidence(comparisons)


def _s11_falls(data: Data) -> Evidence:
    return falls(_spread(data, "drop-tail"), "largest")


def _s11(
    data: Data, test: Callable[[Measured], Evidence] = pair_over_pair, *, every: bool = False
) -> Evidence:
    fairness = _spread(data, "drop-tail")
    return test(fairness if every else fairness.averaged("largest"))


def _s11_smoothest(measured: Measured) -> Evidence:
    return highest(measured, SMOOTHEST)


def _advantages(data: Data) -> dict[str, NDArray[np.float64]]:
    """How much fairer the smooth pair is than the others, by queue."""
    found = {}
    for queue in ("drop-tail", "RED"):
        means = _spread(data, queue).averaged("largest")
        ours, theirs = (
            np.mean([means.samples(transport=name) for name in pair], axis=0)
            for pair in (SMOOTH_PAIR, OTHER_PAIR)
        )
        found[queue] = ours - theirs
    return found


def _s12_shrinks(data: Data) -> Evidence:
    found = _advantages(data)
    words = "advantage under drop-tail − under RED"
    return Evidence([contrast(words, found["drop-tail"], found["RED"], q.FAIRNESS)])


def _s12_level(data: Data) -> Evidence:
    return Evidence(
        [Comparison("advantage under RED", _advantages(data)["RED"], 0.01, "below", or_equal=True)]
    )


def _far(data: Data, queue: str) -> Measured:
    return _spread(data, queue, q.FAR_GOODPUT).averaged("largest")


def _s33(data: Data) -> Evidence:
    return pair_over_pair(_far(data, "drop-tail"))


def _s34(data: Data) -> Evidence:
    under = {queue: _far(data, queue) for queue in ("RED", "drop-tail")}
    return Evidence(
        [
            contrast(
                f"far flows' goodput with {name} under RED − under drop-tail",
                under["RED"].samples(transport=name),
                under["drop-tail"].samples(transport=name),
                q.FAR_GOODPUT,
                "below",
            )
            for name in SMOOTH_PAIR
        ]
    )


TCP_RIVALS = (RENO, RENO_RED, SMOOTHEST)


def _s13(data: Data, rivals: Sequence[str] = TCP_RIVALS, *, every: bool = False) -> Evidence:
    return _prefix_labels("fairness: ", _fairer(data, rivals, every=every)) & _prefix_labels(
        "CoV: ", _smoother(data, rivals, every=every)
    )


def _fairer(data: Data, rivals: Sequence[str] = TCP_RIVALS, *, every: bool = False) -> Evidence:
    fairness = data.measured(q.SHORT_TERM_FAIRNESS, n.AVOIDANCE)
    return highest(fairness if every else fairness.averaged("flows"), GAMMA, rivals)


def _smoother(data: Data, rivals: Sequence[str] = TCP_RIVALS, *, every: bool = False) -> Evidence:
    cov = data.measured(q.COV, n.AVOIDANCE)
    return lowest(cov if every else cov.averaged("flows"), GAMMA, rivals)


def _s35(data: Data) -> Evidence:
    return lowest(data.measured(q.DROPS, n.AVOIDANCE).averaged("flows"), GAMMA, [RENO])


def _s14(data: Data, close: float = CLOSE) -> Evidence:
    gamma = data.measured(q.LAST_GAMMA, n.AVOIDANCE).select(transport=[GAMMA]).drop_axes("transport")
    return is_within(gamma, (1 - close) * 2 / 3, (1 + close) * 2 / 3)


def _s16(data: Data, names: Sequence[str] = (RENO, RENO_RED, GAMMA, SMOOTHEST, TFRC)) -> Evidence:
    goodput = data.measured(q.GOODPUT, n.AVOIDANCE).select(transport=list(names))
    return alike(goodput, RENO, INDISTINGUISHABLE)


def _recovered(measured: Measured, name: str, trip: Any) -> NDArray[np.float64]:
    """Recovery times, one per seed. A flow that has not recovered by the end of the run counts as recovered then."""
    return np.nan_to_num(measured.samples(transport=name, **{"round trip": trip}), nan=p.RECOVERY_MOST_S)


def calibrated(data: Data, level: float) -> float:
    """The round trip (ms) with which Reno takes the published 19 s to recover; the nearest end if none does."""
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
    names = [name for name in PUBLISHED if not (name == RENO and fitted)]  # calibrated on it
    return join(*(_takes(data, name, level) for name in names))


def _takes(data: Data, name: str, level: float) -> Evidence:
    """A system recovers within 10 % of the published time."""
    samples, seconds = predicted(data, name, level), PUBLISHED[name]
    words = f"{name} (published {seconds:g} s)"
    return Evidence(
        [
            Comparison(f"{words}: least", samples, (1 - CLOSE) * seconds, "above", "s"),
            Comparison(f"{words}: most", samples, (1 + CLOSE) * seconds, "below", "s"),
        ]
    )


def _s36(data: Data, level: float) -> Evidence:
    """γ takes no longer than Reno (10 % are equal), on the path on which Reno takes the printed time."""
    reno = predicted(data, RENO, level)
    most = (1 + CLOSE) * _mean(reno)
    samples = predicted(data, GAMMA, level)
    return Evidence(
        [Comparison(f"{GAMMA} (Reno: {_mean(reno):.1f} s)", samples, most, "below", "s", or_equal=True)]
    )


def _faster(data: Data, level: float) -> Evidence:
    ours, theirs = (predicted(data, name, level) for name in (GAMMA_DELTA, GAMMA))
    return Evidence([contrast(f"{GAMMA_DELTA} − {GAMMA}", ours, theirs, q.recovery(level), "below")])


def _s17(data: Data, bottleneck: str, *, steps: bool = True) -> Evidence:
    before = during(_shrinking(data, bottleneck), 0, 15)
    return descending(before) if steps else smooth_over_responsive(before)


def _handoffs(data: Data, down: str, measure: Measure) -> Measured:
    return data.measured(measure, n.HANDOFFS).select(down=down).drop_axes("down")


def _s18(data: Data) -> Evidence:
    return highest(_handoffs(data, "1 s", q.STEADY_GOODPUT), RESPONSIVE, [SMOOTHEST, SMOOTH])


def _s18_smoother(data: Data) -> Evidence:
    return lowest(_handoffs(data, "1 s", q.COV), RESPONSIVE, [SMOOTHEST, SMOOTH])


def calmest(traces: Measured) -> dict[str, NDArray[np.float64]]:
    """Mean rate of each system, per seed, in the 20 s with the highest total rate.

    All systems meet the same handoffs, so this is the period with the shortest handoffs.
    """
    times = sorted(time for time in traces.labels("time") if time > SETTLED_AFTER_S)
    rates = {name: np.stack([traces.samples(transport=name, time=time) for time in times]) for name in ORDER}
    together = np.sum(list(rates.values()), axis=0)
    kernel = np.ones(SHORT_S)
    found = {name: np.empty(together.shape[1]) for name in ORDER}
    for seed in range(together.shape[1]):
        begin = int(np.argmax(np.convolve(together[:, seed], kernel, "valid")))
        for name in ORDER:
            found[name][seed] = rates[name][begin : begin + SHORT_S, seed].mean()
    return found


SETTLED_AFTER_S = 5.0
"""From here on runs with handoffs are looked at, seconds."""

STRETCHES = ("short handoffs", "40 to 60 s", "the whole run")
"""The sentence on Figure 13 is about short handoffs; 40 to 60 s is one example."""


def _rates(data: Data, stretch: str) -> dict[str, NDArray[np.float64]]:
    if stretch == STRETCHES[2]:
        goodput = _handoffs(data, "500 ms", q.STEADY_GOODPUT)
        return {name: goodput.samples(transport=name) for name in ORDER}
    traces = _handoffs(data, "500 ms", q.ALLOTTED_THROUGHPUT)
    if stretch == STRETCHES[0]:
        return calmest(traces)
    middle = during(traces, 40, 60)
    return {name: middle.samples(transport=name) for name in ORDER}


def _s19(data: Data, stretch: str = STRETCHES[0]) -> Evidence:
    found = _rates(data, stretch)
    words = f"{STANDARD} − {RESPONSIVE}, {stretch}"
    return Evidence([contrast(words, found[STANDARD], found[RESPONSIVE], q.STEADY_GOODPUT)])


def _s19_high(data: Data, stretch: str = STRETCHES[0]) -> Evidence:
    found = _rates(data, stretch)
    words = f"{RESPONSIVE} − {SMOOTHEST}, {stretch}"
    return Evidence([contrast(words, found[RESPONSIVE], found[SMOOTHEST], q.STEADY_GOODPUT)])


def _s20(data: Data, what: str, names: Sequence[str] = SMOOTH_PAIR) -> Evidence:
    measure = q.GOODPUT if what == "goodput" else q.FAIRNESS
    under = {queue: _spread(data, queue, measure).averaged("largest") for queue in ("RED", "drop-tail")}
    return Evidence(
        [
            contrast(
                f"{what} of {name} under RED − under drop-tail",
                under["RED"].samples(transport=name),
                under["drop-tail"].samples(transport=name),
                measure,
                "below",
            )
            for name in names
        ]
    )


def _s21(data: Data, least: float = FAIR) -> Evidence:
    fairness = data.measured(q.FAIRNESS, n.AVOIDANCE)
    return is_above(fairness, least)


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


def _prefix_labels(words: str, evidence: Evidence) -> Evidence:
    return evidence.relabelled(lambda label: words + label)


FAST, SLOW = "100 Mb/s", "10 Mb/s"
NETWORKS = ("10 flows", "100 flows")


def tests(case: Case) -> dict[str, Test | dict[str, Test]]:
    """Claim to its test, or to the tests of its parts."""
    reading = case.reading
    success = reading["success"]
    wireless, level, slow = reading["wireless"], level_of(reading), reading["rate-of-7"]
    fitted = reading["figure-20"] == "calibrated"
    return {
        "S1": _s1,
        "S4": _s4,
        "S5": partial(_s5, success=success),
        "S10": partial(_s10, reading=success),
        "S14": _s14,
        "S16": _s16,
        "S17": partial(_s17, bottleneck=FAST),
        "S21": _s21,
        "S22": _s22,
        "S25": partial(_s25, success=success),
        "S26": partial(_s26, bottleneck=reading["rate-of-7"]),
        "S27": partial(_s27, bottleneck=reading["rate-of-7"]),
        "S28": partial(_s28, bottleneck=reading["rate-of-7"]),
        "S29": partial(_s29, bottleneck=FAST),
        "S30": partial(_s30, bottleneck=FAST),
        "S32": _s32,
        "S33": _s33,
        "S34": _s34,
        "S35": _s35,
        "S2": {"smooth over responsive": _s2, "jump": _jump},
        "S3": {"least": _s3, "increasingly": _widening},
        "S6": {
            "until 15 s": partial(_s6_before, bottleneck=slow),
            "after 20 s": partial(_s6_after, bottleneck=slow),
        },
        "S7": {
            "TCP(1, 0.5) highest": partial(_s7_highest, bottleneck=FAST),
            "TCP(0.31, 0.875) lowest": partial(_s7_lowest, bottleneck=FAST),
        },
        "S8": {which: partial(_s8, wireless=wireless, which=which) for which in NETWORKS},
        "S9": {which: partial(_s9, wireless=wireless, which=which) for which in NETWORKS},
        "S11": {"falls": _s11_falls, "smooth slightly fairer": _s11},
        "S12": {"shrinks": _s12_shrinks, "none left": _s12_level},
        "S13": {"fairness": _fairer, "CoV": _smoother},
        "S15": {
            name: partial(_takes, name=name, level=level)
            for name in PUBLISHED
            if not (name == RENO and fitted)
        },
        "S18": {"goodput": _s18, "smoother": _s18_smoother},
        "S19": {"TCP(1, 0.5) more": _s19, "TCP(1.25, 0.25) relatively high": _s19_high},
        "S20": {
            "goodput": partial(_s20, what="goodput"),
            "fairness": partial(_s20, what="fairness"),
        },
        "S23": {
            "fairness": partial(_fairer, rivals=[TFRC]),
            "CoV": partial(_smoother, rivals=[TFRC]),
        },
        "S24": {which: partial(_s24, wireless=wireless, which=which) for which in NETWORKS},
        "S31": {which: partial(_s31, wireless=wireless, which=which) for which in NETWORKS},
        "S36": {
            "γ no slower": partial(_s36, level=level),
            "δ faster": partial(_faster, level=level),
        },
    }


def wordings(case: Case) -> dict[str, dict[str, Test]]:
    """The other wordings of each claim. Wordings for the paper's other caption need its simulation."""
    reading = case.reading
    wireless, success, slow = reading["wireless"], reading["success"], reading["rate-of-7"]
    fitted = reading["figure-20"] == "calibrated"
    found: dict[str, dict[str, Test]] = {
        "S2": {
            "every step from the most responsive to the smoothest": partial(_s2, steps=True),
            "every step, at every number of flows": partial(_s2, every=True, steps=True),
        },
        "S5": {
            "grows with β": partial(_s5, success=success, steps=True),
            "grows with β, at every number of flows": partial(_s5, success=success, every=True, steps=True),
        },
        "S6": {"until 15 s every step": partial(_s6_before, bottleneck=slow, steps=True)},
        "S9": {"at every error rate": partial(_s9_everywhere, wireless=wireless)},
        "S10": {
            "up to 5 % of errors": partial(_s10, reading=success, until=0.05),
            "up to 10 %": partial(_s10, reading=success, until=0.1),
        },
        "S11": {
            "smooth slightly fairer, at every spread": partial(_s11, every=True),
            "each smooth one over the responsive": partial(_s11, test=smooth_over_responsive),
            "the smoothest over all": partial(_s11, test=_s11_smoothest),
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
        "S19": {
            stretch: lambda data, where=stretch: _s19(data, where) & _s19_high(data, where)  # type: ignore[misc]
            for stretch in STRETCHES[1:]
        },
        "S20": {
            "all four": lambda data: _s20(data, "goodput", ORDER) & _s20(data, "fairness", ORDER),
        },
        "S21": {f"{least:g} and more": partial(_s21, least=least) for least in (0.8, 0.95)},
        "S22": {"and goodputs within 10 %": partial(_s22, alike_too=True)},
        "S23": {"at every number of flows": partial(_s13, rivals=[TFRC], every=True)},
    }
    if case.extent.both_rates:
        other = FAST if wireless == SLOW else SLOW
        found["S6"] |= {
            words: lambda data, rate=rate: _s6_before(data, rate) & _s6_after(data, rate)  # type: ignore[misc]
            for words, rate in (("text: 100 Mb/s bottleneck", FAST), ("caption: 10 Mb/s bottleneck", SLOW))
        }
        found["S7"] = {
            "10 Mb/s bottleneck": lambda data: _s7_highest(data, SLOW) & _s7_lowest(data, SLOW),
        }
        words = f"100 flows, wireless links of {other}"
        found["S8"] = {words: partial(_s8, wireless=other, which="100 flows")}
        found["S9"] |= {words: partial(_s9, wireless=other, which="100 flows")}
    return found
