"""Why claims of paper 003 come out as they do: a mechanism on and off, under seeds that nothing else uses.

Each side is a reading of the paper. If the paper's words do not admit a change (a buffer of three products, handoffs of
a fixed length), the side makes the change itself, and its name says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave.measuring.measures import Measure
from fairwave_studies.smoothness import names as n
from fairwave_studies.smoothness import quantities as q
from fairwave_studies.smoothness.claims import FAST, during, predicted
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
from fairwave_study.experiments import Experiment, Side

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fairwave.results import Results
    from fairwave.runs.axes import Label, Overrides
    from fairwave_study.parts import Data
    from fairwave_study.readings import Changes

    Samples = Callable[[Data], NDArray[np.float64]]


def _mean_timeouts(results: Results) -> pl.DataFrame:
    flows = results.to_polars("flows")
    return flows.group_by("run", maintain_order=True).agg(pl.col("timeouts").mean().alias("value"))


TIMEOUTS = Measure("timeouts", "timeouts per flow", "", _mean_timeouts, table="flows")


def _far_timeouts(results: Results) -> pl.DataFrame:
    flows = results.to_polars("flows").filter(pl.col("flow") >= q.FAR_FROM)
    return flows.group_by("run", maintain_order=True).agg(pl.col("timeouts").mean().alias("value"))


FAR_TIMEOUTS = Measure("timeouts_far", "timeouts per far flow", "", _far_timeouts, table="flows")


def sample(measure: Measure, grid: str, **labels: Label) -> Samples:
    """A measure at a point of a grid; averages over open labels."""

    def samples(data: Data) -> NDArray[np.float64]:
        found = data.measured(measure, grid)
        for axis, label in labels.items():
            found = found.select(**{axis: [label]}).drop_axes(axis)
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
            .select(transport=[name])
            .drop_axes("transport", "bottleneck")
        )
        return during(fairness, after, until).samples()

    return samples


def _takes(name: str) -> Samples:
    """Seconds until 90 % of the former goodput are back, on the path on which Reno takes 19 s."""
    return lambda data: predicted(data, name, 0.9)


def _buffer(products: float, *grids: str) -> Changes:
    """A bottleneck buffer of this many bandwidth-delay products."""

    def changes(grid: str, _labels: dict[str, Label]) -> Overrides:
        return {"topology.bottleneck.queue.capacity": {"bdp": products}} if grid in grids else {}

    return changes


def _skip_slow_start(grid: str, _labels: dict[str, Label]) -> Overrides:
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


SMOOTH_GAIN = "goodput of the two smooth less TCP(1.25, 0.25)'s, 40 flows (Mb/s)"
SMOOTH_STANDARD = "goodput of the two smooth less TCP(1, 0.5)'s, 40 flows (Mb/s)"


# S6: who is unfair to whom

EARLY_SMOOTH, EARLY_RESPONSIVE = (
    "TCP(0.31, 0.875): fairness until 15 s",
    "TCP(1.25, 0.25): fairness until 15 s",
)
LATE_SMOOTH, LATE_RESPONSIVE = (
    "TCP(0.31, 0.875): fairness from 20 s on",
    "TCP(1.25, 0.25): fairness from 20 s on",
)


# S11, S20: spread round trips

ADVANTAGE = "fairness of the two smooth less the other two's"
TIMEOUTS_SMOOTHEST = "TCP(0.31, 0.875): timeouts of a far flow"
TIMEOUTS_RESPONSIVE = "TCP(1.25, 0.25): timeouts of a far flow"
NARROW, WIDE_SPREAD = "TCP(0.31, 0.875): fairness, 30 to 50 ms", "TCP(0.31, 0.875): fairness, 30 to 300 ms"


FAIR_TAIL, FAIR_RED = "fairness of the two smooth, drop-tail", "fairness of the two smooth, RED"
TAIL_50, TAIL_300 = "drop-tail, 30 to 50 ms", "drop-tail, 30 to 300 ms"


# S14: what γ hangs on

GAMMA_10, GAMMA_20 = "γ, 10 flows", "γ, 20 flows"


# S15: Figure 20

TAKES = {name: f"{name}: seconds to 90 %" for name in (GAMMA, SMOOTHEST, GAMMA_DELTA)}


# S19: short handoffs

MORE = "TCP(1, 0.5) less TCP(1.25, 0.25), whole run (Mb/s)"
HIGH = "TCP(1.25, 0.25) less TCP(0.31, 0.875), whole run (Mb/s)"
LEAST = "TCP(1, 0.5) more: TCP(1, 0.5) − TCP(1.25, 0.25), short handoffs"
PAUSES_STANDARD, PAUSES_RESPONSIVE = "timeouts of TCP(1, 0.5)", "timeouts of TCP(1.25, 0.25)"


# S23: γ compared with TFRC

COV_GAMMA, COV_TFRC = "CoV of Reno+γ", "CoV of TFRC"
FAIR_GAMMA, FAIR_TFRC = "short-term fairness of Reno+γ", "short-term fairness of TFRC"


def _goodput_gap(one: str, other: str, grid: str, **labels: Label) -> Samples:
    return less(
        sample(q.GOODPUT, grid, transport=one, **labels), sample(q.GOODPUT, grid, transport=other, **labels)
    )


def _smooth_pair(measure: Measure, grid: str, **labels: Label) -> Samples:
    return mean_of(*(sample(measure, grid, transport=one, **labels) for one in (SMOOTHEST, SMOOTH)))


def _sample_pair(measure: Measure, grid: str, **labels: Label) -> Samples:
    return mean_of(*(sample(measure, grid, transport=one, **labels) for one in (STANDARD, RESPONSIVE)))


TAIL: dict[str, Any] = {"queue": "drop-tail"}

FIRST = [
    Experiment(
        "why-S1", "S1", "The buffer that Eq. (13) asks for at β = 1/4: three products of rate and round trip.",
        (Side("one product"), Side("three products", changes=_buffer(3, n.WIRED_10))),
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
        ),
        {
            SMOOTH_GAIN: less(
                _smooth_pair(q.GOODPUT, n.WIRED_100, flows=40),
                sample(q.GOODPUT, n.WIRED_100, transport=RESPONSIVE, flows=40),
            ),
            SMOOTH_STANDARD: less(
                _smooth_pair(q.GOODPUT, n.WIRED_100, flows=40),
                sample(q.GOODPUT, n.WIRED_100, transport=STANDARD, flows=40),
            ),
        },
    ),
    Experiment(
        "why-S6", "S6", "The slow start of those who join, and the bottleneck's rate.",
        (
            Side("10 Mb/s"), Side("joining without slow start", changes=_skip_slow_start),
            Side("40 Mb/s", changes=_roomy), Side("100 Mb/s", {"rate-of-7": FAST}),
        ),
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
        ),
        {
            ADVANTAGE: less(_smooth_pair(q.FAIRNESS, n.SPREAD, **TAIL), _sample_pair(q.FAIRNESS, n.SPREAD, **TAIL)),
            TIMEOUTS_SMOOTHEST: sample(FAR_TIMEOUTS, n.SPREAD, transport=SMOOTHEST, **TAIL),
            TIMEOUTS_RESPONSIVE: sample(FAR_TIMEOUTS, n.SPREAD, transport=RESPONSIVE, **TAIL),
            NARROW: sample(q.FAIRNESS, n.SPREAD, transport=SMOOTHEST, largest=50, **TAIL),
            WIDE_SPREAD: sample(q.FAIRNESS, n.SPREAD, transport=SMOOTHEST, largest=300, **TAIL),
        },
    ),
    Experiment(
        "why-S14", "S14", "The buffer, and when flows begin.",
        (
            Side("one round trip, together"), Side("one way", {"buffers": "one way"}),
            Side("within 5 s", {"starts": "within 5 s"}),
            Side("no jitter", {"sending": "none"}),
        ),
        {
            GAMMA_10: sample(q.LAST_GAMMA, n.AVOIDANCE, transport=GAMMA, flows=10),
            GAMMA_20: sample(q.LAST_GAMMA, n.AVOIDANCE, transport=GAMMA, flows=20),
        },
    ),
    Experiment(
        "why-S15", "S15", "The least timeout: 1 s, or 200 ms.",
        (Side("ns-2 of January 2004"), Side("ns-2.35", {"version": "ns2"})),
        {words: _takes(name) for name, words in TAKES.items()},
    ),
    Experiment(
        "why-S19", "S19", "Handoffs of 50 ms instead of 500 ms on average, and how losses are repaired.",
        (
            Side("500 ms, Reno"), Side("500 ms, SACK", {"recovery": "sack"}),
            Side("50 ms each, Reno", changes=_short_handoffs),
            Side("50 ms each, SACK", {"recovery": "sack"}, _short_handoffs),
        ),
        {
            MORE: less(
                *(sample(q.STEADY_GOODPUT, n.HANDOFFS, transport=one, down="500 ms") for one in (STANDARD, RESPONSIVE))
            ),
            HIGH: less(
                *(sample(q.STEADY_GOODPUT, n.HANDOFFS, transport=one, down="500 ms") for one in (RESPONSIVE, SMOOTHEST))
            ),
            PAUSES_STANDARD: sample(TIMEOUTS, n.HANDOFFS, transport=STANDARD, down="500 ms"),
            PAUSES_RESPONSIVE: sample(TIMEOUTS, n.HANDOFFS, transport=RESPONSIVE, down="500 ms"),
        },
    ),
    Experiment(
        "why-S20", "S20", "Whether sendings are spread, and RED's law.",
        (
            Side("jitter"), Side("no jitter", {"sending": "none"}),
            Side("RED of ns-2", {"red": "ns2-2004"}),
        ),
        {
            TAIL_50: _smooth_pair(q.FAIRNESS, n.SPREAD, largest=50, **TAIL),
            TAIL_300: _smooth_pair(q.FAIRNESS, n.SPREAD, largest=300, **TAIL),
            FAIR_RED: _smooth_pair(q.FAIRNESS, n.SPREAD, queue="RED"),
            FAIR_TAIL: _smooth_pair(q.FAIRNESS, n.SPREAD, **TAIL),
        },
    ),
    Experiment(
        "why-S23", "S23", "The moment when γ acts, the spread of sendings, and the period of smoothness.",
        (
            Side("one round trip later"), Side("at once", {"gamma": "at once"}), Side("no jitter", {"sending": "none"}),
            Side("bins of 1 s", {"bin": "1 s"}),
            Side("bins of 1 s, no jitter", {"bin": "1 s", "sending": "none"}),
        ),
        {
            COV_GAMMA: sample(q.COV, n.AVOIDANCE, transport=GAMMA),
            COV_TFRC: sample(q.COV, n.AVOIDANCE, transport=TFRC),
            FAIR_GAMMA: sample(q.SHORT_TERM_FAIRNESS, n.AVOIDANCE, transport=GAMMA),
            FAIR_TFRC: sample(q.SHORT_TERM_FAIRNESS, n.AVOIDANCE, transport=TFRC),
        },
    ),
]  # fmt: skip
"""Claims with a paragraph in the account, or named in the explanations."""

# Further claims, with one or two switches each. Quantities have the names that figures show.

AS_BASE = Side("base")
WITH_SACK = Side("SACK", {"recovery": "sack"})
SHORT_TIMEOUT = Side("least timeout of 200 ms", {"version": "ns2"})
IN_STEP = Side("no jitter", {"sending": "none"})
NO_LIMIT = Side("no limit of windows", {"window": "none"})
GENTLE_RED = Side("RED of ns-2", {"red": "ns2-2004"})
WIDE_RED = Side("RED's thresholds at 1/4 and 3/4", {"red-thresholds": "a quarter and three quarters"})
AT_ONCE = Side("γ at once", {"gamma": "at once"})
HALF_BUFFER = Side("half the buffer", {"buffers": "one way"})


def _alike(**keys: float) -> Changes:
    """The two smooth systems with another α or β."""
    found = {f"flow.*.transport.{key}": value for key, value in keys.items()}
    return lambda _grid, labels: found if labels.get("transport") in (SMOOTHEST, SMOOTH) else {}


FAST_GROWTH = Side("smooth with α of 1", changes=_alike(alpha=1.0))
FAST_AND_SHORT = Side("least timeout of 200 ms, smooth with α of 1", {"version": "ns2"}, _alike(alpha=1.0))
DEEP_CUT = Side("smooth with β of 1/2", changes=_alike(beta=0.5))


def _hardly_shrink(_grid: str, _labels: dict[str, Label]) -> Overrides:
    return {"flow.*.transport.alpha": 1.0, "flow.*.transport.beta": 0.98}


UNSHAKEN = Side("windows hardly shrink, SACK", {"recovery": "sack"}, _hardly_shrink)


def _long(grid: str, _labels: dict[str, Label]) -> Overrides:
    return {"duration": "120 s"} if grid == n.AVOIDANCE else {}


LONGER = Side("runs of 120 s", changes=_long)


def _samples(
    measure: Measure, grid: str, name: str, unit: str = "", among: tuple[str, ...] = tuple(PAIRS), **labels: Label
) -> dict[str, Samples]:  # fmt: skip
    """A measure of each system: "goodput, TFRC (Mb/s)"."""
    return {f"{name}, {one}{unit}": sample(measure, grid, transport=one, **labels) for one in among}


def _allotted(
    measure: Measure, grid: str, name: str, after: float, until: float, unit: str = ""
) -> dict[str, Samples]:
    """Each system's rate in Figure 7 or 8 during some seconds."""

    def sample_system(one: str) -> Samples:
        def samples(data: Data) -> NDArray[np.float64]:
            found = data.measured(measure, grid).select(transport=[one]).drop_axes("transport", "bottleneck")
            return during(found, after, until).samples()

        return samples

    return {f"{name}, {one}{unit}": sample_system(one) for one in PAIRS}


CROWD: dict[str, Any] = {"per": 0.05}
RIVALS = (RENO, RENO_RED, GAMMA, SMOOTHEST)

FURTHER = [
    Experiment(
        "why-S3", "S3", "The small α of the smooth systems; then their high β.",
        (AS_BASE, FAST_GROWTH, DEEP_CUT),
        {
            **_samples(q.OVERHEAD, n.WIRED_10, "overhead, 100 flows", " (%)", flows=100),
            **_samples(q.OVERHEAD, n.WIRED_10, "overhead, 10 flows", " (%)", flows=10),
        },
    ),
    Experiment(
        "why-S4", "S4", "Whether windows end at 64 kB; then a buffer of a quarter.",
        (AS_BASE, NO_LIMIT, Side("a quarter of the buffer", changes=_buffer(0.25, n.WIRED_100))),
        _samples(q.OVERHEAD, n.WIRED_100, "overhead, 40 flows", " (%)", flows=40),
    ),
    Experiment(
        "why-S5", "S5", "The high β of the smooth systems; then a buffer that holds a decrease to a quarter.",
        (AS_BASE, DEEP_CUT, Side("three products", changes=_buffer(3, n.CONSTANT))),
        _samples(q.reads(0.9, "formula"), n.CONSTANT, "success", " (%)"),
    ),
    Experiment(
        "why-S7", "S7", "Whether windows end at 64 kB; then the small α of the smooth systems.",
        (AS_BASE, NO_LIMIT, FAST_GROWTH),
        _allotted(q.ALLOTTED_GOODPUT, n.SHRINKING, "goodput from 15 s on", 15, 30, " (Mb/s)"),
    ),
    Experiment(
        "why-S8", "S8", "How losses are repaired; then the small α of the smooth systems.",
        (AS_BASE, WITH_SACK, FAST_GROWTH),
        {
            **_samples(q.GOODPUT, n.ERRORS_10, "goodput, 5 %", " (Mb/s)", **CROWD),
            **_samples(TIMEOUTS, n.ERRORS_10, "timeouts, 5 %", **CROWD),
        },
    ),
    Experiment(
        "why-S9", "S9", "The least timeout; then the small α of the smooth systems.",
        (AS_BASE, SHORT_TIMEOUT, FAST_AND_SHORT),
        {
            **_samples(q.OVERHEAD, n.ERRORS_10, "overhead, 5 %", " (%)", **CROWD),
            **_samples(TIMEOUTS, n.ERRORS_10, "timeouts, 5 %", **CROWD),
        },
    ),
    Experiment(
        "why-S10", "S10", "The small α of the smooth systems; then the least timeout.",
        (AS_BASE, FAST_GROWTH, SHORT_TIMEOUT),
        {
            **_samples(q.reads(0.7, "formula"), n.CONSTANT_ERRORS, "success, no errors", " (%)", per=0.0),
            **_samples(q.reads(0.7, "formula"), n.CONSTANT_ERRORS, "success, 5 %", " (%)", **CROWD),
        },
    ),
    Experiment(
        "why-S12", "S12", "How losses are repaired; then RED's law.",
        (AS_BASE, WITH_SACK, Side("SACK, RED of ns-2", {"recovery": "sack", "red": "ns2-2004"})),
        {
            f"advantage, {queue}": less(
                _smooth_pair(q.FAIRNESS, n.SPREAD, queue=queue), _sample_pair(q.FAIRNESS, n.SPREAD, queue=queue)
            )
            for queue in ("drop-tail", "RED")
        },
    ),
    Experiment(
        "why-S13", "S13", "When γ acts; then the buffer; then whether sendings are spread.",
        (AS_BASE, AT_ONCE, HALF_BUFFER, IN_STEP),
        {
            **_samples(q.SHORT_TERM_FAIRNESS, n.AVOIDANCE, "short-term fairness", among=RIVALS),
            **_samples(q.COV, n.AVOIDANCE, "CoV", among=RIVALS),
        },
    ),
    Experiment(
        "why-S16", "S16", "RED's law; then its thresholds.",
        (AS_BASE, GENTLE_RED, WIDE_RED),
        _samples(q.GOODPUT, n.AVOIDANCE, "goodput, 10 flows", " (Mb/s)", (*RIVALS, TFRC), flows=10),
    ),
    Experiment(
        "why-S17", "S17", "A buffer of a quarter; then one of three products.",
        (
            AS_BASE, Side("a quarter of the buffer", changes=_buffer(0.25, n.SHRINKING)),
            Side("three products", changes=_buffer(3, n.SHRINKING)),
        ),
        _allotted(q.ALLOTTED_GOODPUT, n.SHRINKING, "goodput until 15 s", 0, 15, " (Mb/s)"),
    ),
    Experiment(
        "why-S18", "S18", "The small α of the smooth systems; then how losses are repaired; then the least timeout.",
        (AS_BASE, FAST_GROWTH, WITH_SACK, SHORT_TIMEOUT),
        {
            **_samples(q.STEADY_GOODPUT, n.HANDOFFS, "goodput", " (Mb/s)", down="1 s"),
            **_samples(q.COV, n.HANDOFFS, "CoV", down="1 s"),
            **_samples(TIMEOUTS, n.HANDOFFS, "timeouts", down="1 s"),
        },
    ),
    Experiment(
        "why-S21", "S21", "How long the share of a flow is taken; then whether sendings are spread.",
        (AS_BASE, LONGER, IN_STEP),
        _samples(q.FAIRNESS, n.AVOIDANCE, "fairness, 20 flows", "", (*RIVALS, TFRC), flows=20),
    ),
    Experiment(
        "why-S22", "S22", "The small α of the smooth systems; then how long bursts are.",
        (AS_BASE, FAST_GROWTH, Side("bursts of 100 ms", {"bursts": "100 ms"})),
        {
            **_samples(q.GOODPUT, n.MARKOV, "goodput, 5 %", " (Mb/s)", **CROWD),
            **_samples(TIMEOUTS, n.MARKOV, "timeouts, 5 %", **CROWD),
        },
    ),
    Experiment(
        "why-S24", "S24", "The high β of the smooth systems; then how losses are repaired.",
        (AS_BASE, DEEP_CUT, WITH_SACK),
        {
            **_samples(q.GOODPUT, n.ERRORS_10, "goodput, 1 %", " (Mb/s)", per=0.01),
            **_samples(TIMEOUTS, n.ERRORS_10, "timeouts, 1 %", per=0.01),
        },
    ),
    Experiment(
        "why-S25", "S25", "The high β of the smooth systems; then how losses are repaired.",
        (AS_BASE, DEEP_CUT, WITH_SACK),
        _samples(q.reads(0.7, "formula"), n.CONSTANT_ERRORS, "success, 1 %", " (%)", per=0.01),
    ),
    Experiment(
        "why-S26", "S26", "The slow start of those who join; then the bottleneck's rate.",
        (
            AS_BASE, Side("joining without slow start", changes=_skip_slow_start),
            Side("100 Mb/s", {"rate-of-7": FAST}),
        ),
        _allotted(q.ALLOTTED_FAIRNESS, n.GROWING, "fairness until 15 s", 5, 15),
    ),
    Experiment(
        "why-S27", "S27", "The bottleneck's rate; then how losses are repaired.",
        (
            AS_BASE, Side("40 Mb/s", changes=_roomy), Side("40 Mb/s, SACK", {"recovery": "sack"}, _roomy),
        ),
        _allotted(q.ALLOTTED_FAIRNESS, n.GROWING, "fairness from 15 s on", 15, 30),
    ),
    Experiment(
        "why-S28", "S28", "The bottleneck's rate, and with it a flow's share; then the small α of the smooth systems.",
        (AS_BASE, Side("40 Mb/s", changes=_roomy), FAST_GROWTH),
        {
            **_allotted(q.ALLOTTED_FAIRNESS, n.GROWING, "fairness, 25 flows", 15, 20),
            **_allotted(q.ALLOTTED_FAIRNESS, n.GROWING, "fairness, 100 flows", 25, 30),
        },
    ),
    Experiment(
        "why-S29", "S29", "A buffer of three products; then whether windows end at 64 kB.",
        (AS_BASE, Side("three products", changes=_buffer(3, n.SHRINKING)), NO_LIMIT),
        _allotted(q.ALLOTTED_GOODPUT, n.SHRINKING, "goodput from 15 s on", 15, 30, " (Mb/s)"),
    ),
    Experiment(
        "why-S30", "S30", "The small α of the smooth systems; then whether windows end at 64 kB.",
        (AS_BASE, FAST_GROWTH, NO_LIMIT),
        _allotted(q.ALLOTTED_GOODPUT, n.SHRINKING, "goodput from 15 s on", 15, 30, " (Mb/s)"),
    ),
    Experiment(
        "why-S31", "S31", "How losses are repaired; then the small α of the smooth systems.",
        (AS_BASE, WITH_SACK, FAST_GROWTH),
        {
            **_samples(q.GOODPUT, n.ERRORS_10, "goodput, no errors", " (Mb/s)", per=0.0),
            **_samples(q.GOODPUT, n.ERRORS_10, "goodput, 5 %", " (Mb/s)", **CROWD),
        },
    ),
    Experiment(
        "why-S32", "S32", "The repair of losses; then a shorter path; then the decrease per loss.",
        (AS_BASE, WITH_SACK, Side("round trip of 60 ms", {"round-trip": "60 ms"}), UNSHAKEN),
        {
            **_samples(q.GOODPUT, n.ERRORS_10, "goodput, 5 %", " (Mb/s)", **CROWD),
            **_samples(TIMEOUTS, n.ERRORS_10, "timeouts, 5 %", **CROWD),
        },
    ),
    Experiment(
        "why-S33", "S33", "How losses are repaired; then whether sendings are spread.",
        (AS_BASE, WITH_SACK, IN_STEP),
        {
            **_samples(q.FAR_GOODPUT, n.SPREAD, "far goodput", " (Mb/s)", **TAIL),
            **_samples(FAR_TIMEOUTS, n.SPREAD, "timeouts of a far flow", **TAIL),
        },
    ),
    Experiment(
        "why-S34", "S34", "RED's law; then its thresholds.",
        (AS_BASE, GENTLE_RED, WIDE_RED),
        {
            **_samples(q.FAR_GOODPUT, n.SPREAD, "far goodput, drop-tail", " (Mb/s)", (SMOOTHEST, SMOOTH), **TAIL),
            **_samples(q.FAR_GOODPUT, n.SPREAD, "far goodput, RED", " (Mb/s)", (SMOOTHEST, SMOOTH), queue="RED"),
            **_samples(FAR_TIMEOUTS, n.SPREAD, "timeouts of a far flow, drop-tail", "", (SMOOTHEST, SMOOTH), **TAIL),
            **_samples(FAR_TIMEOUTS, n.SPREAD, "timeouts of a far flow, RED", "", (SMOOTHEST, SMOOTH), queue="RED"),
        },
    ),
    Experiment(
        "why-S35", "S35", "When γ acts; then the buffer.",
        (AS_BASE, AT_ONCE, HALF_BUFFER),
        {
            **_samples(q.DROPS, n.AVOIDANCE, "dropped", " (%)", (RENO, GAMMA)),
            **_samples(TIMEOUTS, n.AVOIDANCE, "timeouts", "", (RENO, GAMMA)),
        },
    ),
    Experiment(
        "why-S36", "S36", "The least timeout; then a clock of 500 ms.",
        (AS_BASE, SHORT_TIMEOUT, Side("clock of 500 ms", {"clock": "500 ms"})),
        {f"{name}: seconds to 90 %": _takes(name) for name in (RENO, GAMMA, GAMMA_DELTA)},
    ),
]  # fmt: skip
"""Those of the other claims."""

EXPERIMENTS = [*FIRST, *FURTHER]
"""All of them."""
