"""Why claims of paper 003 come out as they do: a mechanism on and off, under seeds that nothing else uses.

Each side is a reading of the paper; where no word of it admits what is switched (a buffer of three products, handoffs
of a fixed length), it is a change of the experiment's own, and its name says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairwave.measuring.measures import Measure
from fairwave_studies.smoothness import names as n
from fairwave_studies.smoothness import quantities as q
from fairwave_studies.smoothness.claims import FAST, during, predicted
from fairwave_studies.smoothness.names import (
    GAMMA,
    GAMMA_DELTA,
    RESPONSIVE,
    SMOOTH,
    SMOOTHEST,
    STANDARD,
    TFRC,
)
from fairwave_study.experiments import Experiment, Side, paragraph

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fairwave.results import Results
    from fairwave.runs.grid import Label, Overrides
    from fairwave_study.experiments import FoundExperiment
    from fairwave_study.readings import Changes
    from fairwave_study.study import Data

    Samples = Callable[[Data], NDArray[np.float64]]


def _per_flow(results: Results) -> pl.DataFrame:
    flows = results.to_polars("flows")
    return flows.group_by("run", maintain_order=True).agg(pl.col("timeouts").mean().alias("value"))


TIMEOUTS = Measure("timeouts", "timeouts per flow", "", _per_flow, table="flows")


def _far_timeouts(results: Results) -> pl.DataFrame:
    flows = results.to_polars("flows").filter(pl.col("flow") >= q.FAR_FROM)
    return flows.group_by("run", maintain_order=True).agg(pl.col("timeouts").mean().alias("value"))


FAR_TIMEOUTS = Measure("timeouts_far", "timeouts per far flow", "", _far_timeouts, table="flows")


def at(measure: Measure, grid: str, **labels: Label) -> Samples:
    """A measure at a point of a grid; what the labels leave open is averaged."""

    def samples(data: Data) -> NDArray[np.float64]:
        found = data.measured(measure, grid)
        for axis, label in labels.items():
            found = found.at(**{axis: [label]}).without(axis)
        for axis in found.axes:
            found = found.averaged(axis)
        return found.samples()

    return samples


def less(one: Samples, other: Samples) -> Samples:
    """The one less the other."""

    def samples(data: Data) -> NDArray[np.float64]:
        found: NDArray[np.float64] = one(data) - other(data)
        return found

    return samples


def mean_of(*several: Samples) -> Samples:
    """The mean of these."""

    def samples(data: Data) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.mean([one(data) for one in several], axis=0)
        return found

    return samples


def _fair_during(name: str, after: float, until: float) -> Samples:
    """Allotted fairness of a system in Figure 7 during some seconds."""

    def samples(data: Data) -> NDArray[np.float64]:
        fairness = (
            data.measured(q.ALLOTTED_FAIRNESS, n.GROWING)
            .at(transport=[name])
            .without("transport", "bottleneck")
        )
        return during(fairness, after, until).samples()

    return samples


def _takes(name: str) -> Samples:
    """Seconds until 90 % of the former goodput are back, on the path on which Reno takes 19 s."""
    return lambda data: predicted(data, name, 0.9)


def _buffer(products: float, *grids: str) -> Changes:
    """A buffer of so many bandwidth-delay products at the bottleneck."""

    def changes(grid: str, _labels: dict[str, Label]) -> Overrides:
        return {"topology.bottleneck.queue.capacity": {"bdp": products}} if grid in grids else {}

    return changes


def _without_slow_start(grid: str, _labels: dict[str, Label]) -> Overrides:
    groups = ("second", "third", "fourth")
    return {f"flow.{one}.transport.initial-threshold": 2 for one in groups} if grid == n.GROWING else {}


def _roomy(grid: str, _labels: dict[str, Label]) -> Overrides:
    rates = ("topology.bottleneck.rate", "topology.access.rate")
    return dict.fromkeys(rates, "40 Mb/s") if grid == n.GROWING else {}


def _short_handoffs(grid: str, _labels: dict[str, Label]) -> Overrides:
    law = {"model": "handoff", "up": "5 s", "down": "50 ms", "constant": True}
    return {"topology.sink-access.loss": law} if grid == n.HANDOFFS else {}


# S1, S2: Eq. (13)

UNUSED = "goodput of TCP(1.25, 0.25) less TCP(1, 0.5)'s, 10 flows (Mb/s)"
UNUSED_100 = "goodput of TCP(1.25, 0.25) less TCP(1, 0.5)'s, 50 and 100 flows (Mb/s)"


def _s1(found: FoundExperiment) -> str:
    one, three = found.sides()
    return paragraph(f"""
        Eq. (13) asks for a buffer of 1/β − 1 products of rate and round trip if no decrease is to empty the queue:
        one for β = 1/2, three for β = 1/4. With one product TCP(1.25, 0.25)'s goodput less TCP(1, 0.5)'s is
        {found.with_interval(one, UNUSED)} Mb/s with ten flows, and with fifty and a hundred
        {found.with_interval(one, UNUSED_100)}:
        few flows back off together, many do not. With three products the difference with ten flows is
        {found.with_interval(three, UNUSED)} Mb/s. The claim is {found.verdict(one)} with one product and
        {found.verdict(three)} with three. So what keeps the four apart at 10 Mb/s is the very effect that Observation
        2 describes for 100 Mb/s.
    """)


SMOOTH_GAIN = "goodput of the two smooth less TCP(1.25, 0.25)'s, 40 flows (Mb/s)"
SMOOTH_STANDARD = "goodput of the two smooth less TCP(1, 0.5)'s, 40 flows (Mb/s)"


def _s2(found: FoundExperiment) -> str:
    one, three, quarter = found.sides()
    return paragraph(f"""
        What the two smooth systems have more than TCP(1.25, 0.25), with 40 flows at 100 Mb/s, is
        {found.with_interval(quarter, SMOOTH_GAIN)} Mb/s with a buffer of a quarter product,
        {found.with_interval(one, SMOOTH_GAIN)}
        with one and {found.with_interval(three, SMOOTH_GAIN)} with three; more than TCP(1, 0.5)
        {found.with_interval(quarter, SMOOTH_STANDARD)}, {found.with_interval(one, SMOOTH_STANDARD)} and
        {found.with_interval(three, SMOOTH_STANDARD)}. The mechanism is the paper's: a deep decrease empties a small
        queue.
        Observation 2 speaks of high bandwidth and a small buffer; §II's buffer of one product is small only for β
        below 1/2. That smooth is above responsive is {found.part(quarter, "smooth over responsive")} with a quarter
        and {found.part(one, "smooth over responsive")} with one.
    """)


# S6: who is unfair to whom

EARLY_SMOOTH, EARLY_RESPONSIVE = (
    "TCP(0.31, 0.875): fairness until 15 s",
    "TCP(1.25, 0.25): fairness until 15 s",
)
LATE_SMOOTH, LATE_RESPONSIVE = (
    "TCP(0.31, 0.875): fairness from 20 s on",
    "TCP(1.25, 0.25): fairness from 20 s on",
)


def _s6(found: FoundExperiment) -> str:
    slow, gentle, middle, fast = found.sides()
    return paragraph(f"""
        Until 15 s TCP(0.31, 0.875) is fairer at 10 Mb/s ({found.of(slow, EARLY_SMOOTH).mean:.2f} against
        {found.of(slow, EARLY_RESPONSIVE).mean:.2f}): twelve flows overflow the buffer and smaller decreases disturb
        the shares less. At 40 and 100 Mb/s twelve windows of 64 kB lose nothing before 15 s, and all four are alike
        ({found.part(middle, "until 15 s")}, {found.part(fast, "until 15 s")}). After 20 s there are fifty and a
        hundred flows. At 10 Mb/s a share is then a packet or two per round trip: fairness is
        {found.of(slow, LATE_SMOOTH).mean:.2f} and {found.of(slow, LATE_RESPONSIVE).mean:.2f}, and timeouts decide it,
        which know no α and no β. Part of the unfairness is the newcomers' slow start: without it TCP(1.25, 0.25) has
        {found.moves(LATE_RESPONSIVE, gentle)} and TCP(0.31, 0.875) {found.moves(LATE_SMOOTH, gentle)}. The two
        halves of the sentence ask for two networks: the caption's rate, at which there is something to lose before 15
        s, and a share large enough for windows to differ afterwards.
    """)


# S11, S20: spread round trips

ADVANTAGE = "fairness of the two smooth less the other two's"
TIMEOUTS_SMOOTHEST = "TCP(0.31, 0.875): timeouts of a far flow"
TIMEOUTS_RESPONSIVE = "TCP(1.25, 0.25): timeouts of a far flow"
NARROW, WIDE_SPREAD = "TCP(0.31, 0.875): fairness, 30 to 50 ms", "TCP(0.31, 0.875): fairness, 30 to 300 ms"


def _s11(found: FoundExperiment) -> str:
    reno, newreno, sack, still = found.sides()
    return paragraph(f"""
        What the two smooth systems are fairer by is {found.with_interval(reno, ADVANTAGE, 3)} with Reno's recovery,
        {found.with_interval(newreno, ADVANTAGE, 3)} with NewReno's and {found.with_interval(sack, ADVANTAGE, 3)} with
        SACK. Reno
        answers each loss of a window with a decrease or a timeout: a far flow of TCP(0.31, 0.875) has
        {found.each(TIMEOUTS_SMOOTHEST, 1)} timeouts, one of TCP(1.25, 0.25) {found.each(TIMEOUTS_RESPONSIVE, 1)}.
        After a timeout a small α is slow, and the longer the round trip the slower, which takes back what a high β
        gave the far flows. With SACK an overflow is one decrease, as Observation 5 has it, and the claim is
        {found.verdict(sack)} ({found.verdict(reno)} with Reno). That fairness falls with the spread needs sendings
        that are spread: without jitter it is {found.of(still, NARROW).mean:.2f} at 30 to 50 ms and
        {found.of(still, WIDE_SPREAD).mean:.2f} at 30 to 300 ms, with jitter {found.of(sack, NARROW).mean:.2f} and
        {found.of(sack, WIDE_SPREAD).mean:.2f} (see why-S20).
    """)


FAIR_TAIL, FAIR_RED = "fairness of the two smooth, drop-tail", "fairness of the two smooth, RED"
TAIL_50, TAIL_300 = "drop-tail, 30 to 50 ms", "drop-tail, 30 to 300 ms"


def _s20(found: FoundExperiment) -> str:
    spread, still, gentle = found.sides()
    return paragraph(f"""
        Without jitter fairness under drop-tail is {found.of(still, TAIL_50).mean:.2f} where round trips lie between
        30 and 50 ms, and {found.of(still, TAIL_300).mean:.2f} where they lie between 30 and 300: it rises with the
        spread. With jitter it falls, from {found.of(spread, TAIL_50).mean:.2f} to
        {found.of(spread, TAIL_300).mean:.2f}. That is a phase effect: flows of nearly equal round trips that are
        clocked by one queue meet it in the same order again and again, so that some are always dropped; unlike round
        trips break the order, and so does jitter. RED breaks it, too. Without jitter RED therefore seems to make the
        smooth systems fairer ({found.of(still, FAIR_RED).mean:.2f} against {found.of(still, FAIR_TAIL).mean:.2f}),
        and the claim on fairness is {found.part(still, "fairness")}. With jitter the two queues are as fair
        ({found.of(spread, FAIR_RED).mean:.2f} and {found.of(spread, FAIR_TAIL).mean:.2f}:
        {found.part(spread, "fairness")}), also with ns-2's RED ({found.of(gentle, FAIR_RED).mean:.2f}:
        {found.part(gentle, "fairness")}). That goodput is lower is {found.part(spread, "goodput")} with RED of
        1993, which drops all above its upper threshold, and {found.part(gentle, "goodput")} with ns-2's gentle one.
    """)


# S14: what γ hangs on

GAMMA_10, GAMMA_20 = "γ, 10 flows", "γ, 20 flows"


def _s14(found: FoundExperiment) -> str:
    one, half, late, still = found.sides()
    return paragraph(f"""
        γ is {found.of(one, GAMMA_10).mean:.3f} with 10 flows and {found.of(one, GAMMA_20).mean:.3f} with 20, as Eq.
        (16) has it for k = 1. With a buffer of the one-way product, k = 1/2, it is
        {found.of(half, GAMMA_10).mean:.3f} and {found.of(half, GAMMA_20).mean:.3f}, as the equation has it, too
        (4/5). So §IV's 2/3 says which delay §II means: that of the round trip. Flows that begin within 5 s, of which
        the late ones never see an empty queue, have {found.of(late, GAMMA_10).mean:.3f} and
        {found.of(late, GAMMA_20).mean:.3f}; without jitter it is {found.of(still, GAMMA_10).mean:.3f} and
        {found.of(still, GAMMA_20).mean:.3f}. The extremes of the round trip are found either way; the buffer decides.
    """)


# S15: Figure 20

TAKES = {name: f"{name}: seconds to 90 %" for name in (GAMMA, SMOOTHEST, GAMMA_DELTA)}


def _s15(found: FoundExperiment) -> str:
    old, new = found.sides()
    times = ", ".join(
        f"{name} {found.of(old, words).mean:.1f} s and {found.of(new, words).mean:.1f} s"
        for name, words in TAKES.items()
    )
    return paragraph(f"""
        With a least timeout of 1 s and of 200 ms, each on the path on which Reno takes 19 s, the others take:
        {times}. Published are 19, 57 and 10 s. A blackout of 1 s holds one timeout of 1 s, which halves the threshold
        once, and slow start then makes up for half of the way; it holds several of 200 ms, after which window and
        threshold are at their minimum, as §IV says they are, and only α and δ are left. The claim is
        {found.verdict(old)} with the ns-2 of the day on which the paper was handed in and {found.verdict(new)} with
        that of its revision.
    """)


# S19: short handoffs

MORE = "TCP(1, 0.5) less TCP(1.25, 0.25), whole run (Mb/s)"
HIGH = "TCP(1.25, 0.25) less TCP(0.31, 0.875), whole run (Mb/s)"
LEAST = "TCP(1, 0.5) more: TCP(1, 0.5) − TCP(1.25, 0.25), short handoffs"
PAUSES_STANDARD, PAUSES_RESPONSIVE = "timeouts of TCP(1, 0.5)", "timeouts of TCP(1.25, 0.25)"


def _s19(found: FoundExperiment) -> str:
    reno, sack, short, both = found.sides()
    return paragraph(f"""
        While handoffs are short TCP(1, 0.5)'s goodput less TCP(1.25, 0.25)'s is {found.with_interval(reno, LEAST)}
        Mb/s with
        Reno's recovery and {found.with_interval(sack, LEAST)} with SACK. A handoff of 50 ms takes a burst out of a
        window.
        Reno cannot repair a burst by fast recovery and waits for its timer: over a run with handoffs of 50 ms each
        TCP(1, 0.5) has {found.of(short, PAUSES_STANDARD).mean:.0f} timeouts with Reno and
        {found.of(both, PAUSES_STANDARD).mean:.1f} with SACK. After a timeout α decides, as the paper says of longer
        handoffs; after a fast recovery β does, as it says of short ones. With SACK the claim is {found.verdict(sack)}
        ({found.verdict(reno)} with Reno). That the responsive system's goodput is relatively high holds where
        handoffs are of mixed length: its distance to TCP(0.31, 0.875) is {found.with_interval(sack, HIGH)} Mb/s over
        the
        whole run with SACK, but {found.with_interval(both, HIGH)} if all last 50 ms.
    """)


# S23: γ beside TFRC

COV_GAMMA, COV_TFRC = "CoV of Reno+γ", "CoV of TFRC"
FAIR_GAMMA, FAIR_TFRC = "short-term fairness of Reno+γ", "short-term fairness of TFRC"


def _s23(found: FoundExperiment) -> str:
    later, once, still, second, steady = found.sides()
    return paragraph(f"""
        Taken over 500 ms Reno+γ's coefficient of variation is {found.of(later, COV_GAMMA).mean:.3f} and TFRC's
        {found.of(later, COV_TFRC).mean:.3f}; over 1 s {found.of(second, COV_GAMMA).mean:.3f} and
        {found.of(second, COV_TFRC).mean:.3f}. γ cuts a window by a third when the queue is half full, and additive
        increase refills it: a sawtooth, which longer bins level out. TFRC averages over loss intervals and has none.
        If γ acts at once, without waiting for a round trip, it is {found.of(once, COV_GAMMA).mean:.3f}: flows then
        answer the same full queue one after the other. Without jitter they act together, as §IV wants (coordinated
        adjustments): short-term fairness rises from {found.of(later, FAIR_GAMMA).mean:.2f} to
        {found.of(still, FAIR_GAMMA).mean:.2f}, TFRC's being {found.of(still, FAIR_TFRC).mean:.2f}; in bins of 1 s it
        is {found.of(steady, FAIR_GAMMA).mean:.3f} against {found.of(steady, FAIR_TFRC).mean:.3f}. So γ's fairness
        reaches TFRC's where nothing breaks the step of its flows, and its smoothness comes near where rates are taken
        over a second or more; both together are {found.verdict(steady)}.
    """)


def _goodput_gap(one: str, other: str, grid: str, **labels: Label) -> Samples:
    return less(at(q.GOODPUT, grid, transport=one, **labels), at(q.GOODPUT, grid, transport=other, **labels))


def _smooth_pair(measure: Measure, grid: str, **labels: Label) -> Samples:
    return mean_of(*(at(measure, grid, transport=one, **labels) for one in (SMOOTHEST, SMOOTH)))


def _other_pair(measure: Measure, grid: str, **labels: Label) -> Samples:
    return mean_of(*(at(measure, grid, transport=one, **labels) for one in (STANDARD, RESPONSIVE)))


TAIL = {"queue": "drop-tail"}

EXPERIMENTS = [
    Experiment(
        "why-S1", "S1", "The buffer that Eq. (13) asks for at β = 1/4: three products of rate and round trip.",
        (Side("one product"), Side("three products", changes=_buffer(3, n.WIRED_10))), _s1,
        {
            UNUSED: _goodput_gap(RESPONSIVE, STANDARD, n.WIRED_10, flows=10),
            UNUSED_100: mean_of(
                *(_goodput_gap(RESPONSIVE, STANDARD, n.WIRED_10, flows=one) for one in (50, 100))
            ),
        },
    ),
    Experiment(
        "why-S2", "S2", "The same at 100 Mb/s, and a buffer of a quarter.",
        (
            Side("one product"), Side("three products", changes=_buffer(3, n.WIRED_100)),
            Side("a quarter", changes=_buffer(0.25, n.WIRED_100)),
        ), _s2,
        {
            SMOOTH_GAIN: less(
                _smooth_pair(q.GOODPUT, n.WIRED_100, flows=40),
                at(q.GOODPUT, n.WIRED_100, transport=RESPONSIVE, flows=40),
            ),
            SMOOTH_STANDARD: less(
                _smooth_pair(q.GOODPUT, n.WIRED_100, flows=40),
                at(q.GOODPUT, n.WIRED_100, transport=STANDARD, flows=40),
            ),
        },
    ),
    Experiment(
        "why-S6", "S6", "The slow start of those who join, and the bottleneck's rate.",
        (
            Side("10 Mb/s"), Side("joining without slow start", changes=_without_slow_start),
            Side("40 Mb/s", changes=_roomy), Side("100 Mb/s", {"rate-of-7": FAST}),
        ), _s6,
        {
            EARLY_SMOOTH: _fair_during(SMOOTHEST, 0, 15), EARLY_RESPONSIVE: _fair_during(RESPONSIVE, 0, 15),
            LATE_SMOOTH: _fair_during(SMOOTHEST, 20, 30), LATE_RESPONSIVE: _fair_during(RESPONSIVE, 20, 30),
        },
    ),
    Experiment(
        "why-S11", "S11", "How losses are repaired, and whether sendings are spread.",
        (
            Side("Reno"), Side("NewReno", {"recovery": "newreno"}), Side("SACK", {"recovery": "sack"}),
            Side("SACK, no jitter", {"recovery": "sack", "sending": "none"}),
        ), _s11,
        {
            ADVANTAGE: less(_smooth_pair(q.FAIRNESS, n.SPREAD, **TAIL), _other_pair(q.FAIRNESS, n.SPREAD, **TAIL)),
            TIMEOUTS_SMOOTHEST: at(FAR_TIMEOUTS, n.SPREAD, transport=SMOOTHEST, **TAIL),
            TIMEOUTS_RESPONSIVE: at(FAR_TIMEOUTS, n.SPREAD, transport=RESPONSIVE, **TAIL),
            NARROW: at(q.FAIRNESS, n.SPREAD, transport=SMOOTHEST, largest=50, **TAIL),
            WIDE_SPREAD: at(q.FAIRNESS, n.SPREAD, transport=SMOOTHEST, largest=300, **TAIL),
        },
    ),
    Experiment(
        "why-S14", "S14", "The buffer, and when flows begin.",
        (
            Side("one round trip, together"), Side("one way", {"buffers": "one way"}),
            Side("within 5 s", {"starts": "within 5 s"}),
            Side("no jitter", {"sending": "none"}),
        ), _s14,
        {
            GAMMA_10: at(q.LAST_GAMMA, n.AVOIDANCE, transport=GAMMA, flows=10),
            GAMMA_20: at(q.LAST_GAMMA, n.AVOIDANCE, transport=GAMMA, flows=20),
        },
    ),
    Experiment(
        "why-S15", "S15", "The least timeout: 1 s, or 200 ms.",
        (Side("ns-2 of January 2004"), Side("ns-2.35", {"version": "ns2"})), _s15,
        {words: _takes(name) for name, words in TAKES.items()},
    ),
    Experiment(
        "why-S19", "S19", "Handoffs of 50 ms instead of 500 ms on average, and how losses are repaired.",
        (
            Side("500 ms, Reno"), Side("500 ms, SACK", {"recovery": "sack"}),
            Side("50 ms each, Reno", changes=_short_handoffs),
            Side("50 ms each, SACK", {"recovery": "sack"}, _short_handoffs),
        ), _s19,
        {
            MORE: less(
                *(at(q.STEADY_GOODPUT, n.HANDOFFS, transport=one, down="500 ms") for one in (STANDARD, RESPONSIVE))
            ),
            HIGH: less(
                *(at(q.STEADY_GOODPUT, n.HANDOFFS, transport=one, down="500 ms") for one in (RESPONSIVE, SMOOTHEST))
            ),
            PAUSES_STANDARD: at(TIMEOUTS, n.HANDOFFS, transport=STANDARD, down="500 ms"),
            PAUSES_RESPONSIVE: at(TIMEOUTS, n.HANDOFFS, transport=RESPONSIVE, down="500 ms"),
        },
    ),
    Experiment(
        "why-S20", "S20", "Whether sendings are spread, and RED's law.",
        (
            Side("jitter"), Side("no jitter", {"sending": "none"}),
            Side("RED of ns-2", {"red": "ns2-2004"}),
        ), _s20,
        {
            TAIL_50: _smooth_pair(q.FAIRNESS, n.SPREAD, largest=50, **TAIL),
            TAIL_300: _smooth_pair(q.FAIRNESS, n.SPREAD, largest=300, **TAIL),
            FAIR_RED: _smooth_pair(q.FAIRNESS, n.SPREAD, queue="RED"),
            FAIR_TAIL: _smooth_pair(q.FAIRNESS, n.SPREAD, **TAIL),
        },
    ),
    Experiment(
        "why-S23", "S23", "When γ acts, whether sendings are spread, and over what smoothness is taken.",
        (
            Side("one round trip later"), Side("at once", {"gamma": "at once"}), Side("no jitter", {"sending": "none"}),
            Side("bins of 1 s", {"bin": "1 s"}),
            Side("bins of 1 s, no jitter", {"bin": "1 s", "sending": "none"}),
        ), _s23,
        {
            COV_GAMMA: at(q.COV, n.AVOIDANCE, transport=GAMMA), COV_TFRC: at(q.COV, n.AVOIDANCE, transport=TFRC),
            FAIR_GAMMA: at(q.SHORT_TERM_FAIRNESS, n.AVOIDANCE, transport=GAMMA),
            FAIR_TFRC: at(q.SHORT_TERM_FAIRNESS, n.AVOIDANCE, transport=TFRC),
        },
    ),
]  # fmt: skip
"""All of them."""
