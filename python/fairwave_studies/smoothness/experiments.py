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
from fairwave_study.experiments import Experiment, Side
from fairwave_study.paragraphs import Paragraphs

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fairwave.results import Results
    from fairwave.runs.grid import Label, Overrides
    from fairwave_study.readings import Changes
    from fairwave_study.study import Data

    Samples = Callable[[Data], NDArray[np.float64]]

WORDS = Paragraphs(__file__)
"""The paragraphs, in `experiments.toml`."""


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


# S23: γ beside TFRC

COV_GAMMA, COV_TFRC = "CoV of Reno+γ", "CoV of TFRC"
FAIR_GAMMA, FAIR_TFRC = "short-term fairness of Reno+γ", "short-term fairness of TFRC"


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
        (Side("one product"), Side("three products", changes=_buffer(3, n.WIRED_10))), WORDS("why-S1"),
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
        ), WORDS("why-S2"),
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
        ), WORDS("why-S6"),
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
        ), WORDS("why-S11"),
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
        ), WORDS("why-S14"),
        {
            GAMMA_10: at(q.LAST_GAMMA, n.AVOIDANCE, transport=GAMMA, flows=10),
            GAMMA_20: at(q.LAST_GAMMA, n.AVOIDANCE, transport=GAMMA, flows=20),
        },
    ),
    Experiment(
        "why-S15", "S15", "The least timeout: 1 s, or 200 ms.",
        (Side("ns-2 of January 2004"), Side("ns-2.35", {"version": "ns2"})), WORDS("why-S15"),
        {words: _takes(name) for name, words in TAKES.items()},
    ),
    Experiment(
        "why-S19", "S19", "Handoffs of 50 ms instead of 500 ms on average, and how losses are repaired.",
        (
            Side("500 ms, Reno"), Side("500 ms, SACK", {"recovery": "sack"}),
            Side("50 ms each, Reno", changes=_short_handoffs),
            Side("50 ms each, SACK", {"recovery": "sack"}, _short_handoffs),
        ), WORDS("why-S19"),
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
        ), WORDS("why-S20"),
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
        ), WORDS("why-S23"),
        {
            COV_GAMMA: at(q.COV, n.AVOIDANCE, transport=GAMMA), COV_TFRC: at(q.COV, n.AVOIDANCE, transport=TFRC),
            FAIR_GAMMA: at(q.SHORT_TERM_FAIRNESS, n.AVOIDANCE, transport=GAMMA),
            FAIR_TFRC: at(q.SHORT_TERM_FAIRNESS, n.AVOIDANCE, transport=TFRC),
        },
    ),
]  # fmt: skip
"""All of them."""
