"""The logic of V1–V15 on made-up numbers: what must reproduce, what must not, and what leaves a claim open."""

import itertools

import numpy as np
import polars as pl
import pytest

from fairwave.studies.voice import quantities as q
from fairwave.studies.voice.claims import PLAIN, TIMELY, claims
from fairwave.studies.voice.points import ESSENTIAL, TRANSPORTS
from fairwave.study.claims import Verdict
from fairwave.study.measured import Measured

SEEDS = range(1, 11)
THRESHOLDS = (100.0, 200.0, 300.0, 400.0)
AXES = ("ftp", "payload", "per", "flows", "transport")

POINTS = sorted(
    {
        (*point, transport)
        for one in ESSENTIAL.values()
        for point in itertools.product(*(one[axis] for axis in AXES[:4]))
        for transport in TRANSPORTS["transport"]
    }
)


class MadeUp:
    """Data whose every measure is a function of the labels, with noise that transports share."""

    def __init__(self, noise=0.0, **values):
        self.values, self.noise = values, noise

    def measured(self, measure, grid):
        assert grid == "calls"
        family = measure.id
        by_threshold = "by_threshold" in family
        name = next((one for one in self.values if family.startswith(one)), None)
        assert name is not None, f"the claim reads {family}, which this test does not make up"
        rows = []
        for point in POINTS:
            labels = dict(zip(AXES, point, strict=True))
            for threshold in THRESHOLDS if by_threshold else (None,):
                extra = {"threshold": threshold} if by_threshold else {}
                mean = self.values[name](**labels, **extra)
                for seed in SEEDS:
                    shake = self.noise * np.sin(
                        7 * seed + 13 * list(TRANSPORTS["transport"]).index(labels["transport"])
                    )
                    rows.append({**labels, **extra, "seed": seed, "value": float(mean + shake)})
        axes = (*AXES, "threshold") if by_threshold else AXES
        return Measured(measure, axes, pl.DataFrame(rows))


def verdict(name, **values):
    test = PLAIN.get(name) or (lambda data: TIMELY[name](data, q.PRINTED))
    return test(MadeUp(**values)).verdict()


def ranked(*order):
    """A measure that is highest for the first transport named, and so on down; equal at every point else."""
    height = {name: float(len(order) - place) for place, name in enumerate(order)}
    return lambda transport, **_: height[transport]


UDP, VEGAS, WESTWOOD, REAL = "udp", "tcp/vegas", "tcp/westwood", "tcp/real"
PAPER = ranked(UDP, REAL, VEGAS, WESTWOOD)


def test_there_are_fifteen_claims_and_seven_speak_of_timeliness():
    assert [one.id for one in claims()] == [f"V{number}" for number in range(1, 16)]
    assert [one.id for one in claims() if one.wordings] == ["V4", "V5", "V10", "V12", "V13", "V14", "V15"]
    assert all(list(one.wordings) == list(q.NAMES.values()) for one in claims() if one.wordings)


@pytest.mark.parametrize(
    ("name", "measure", "good", "bad"),
    [
        ("V1", "goodput", PAPER, ranked(REAL, UDP, VEGAS, WESTWOOD)),
        ("V2", "goodput", PAPER, ranked(UDP, REAL, WESTWOOD, VEGAS)),
        ("V3", "loss", ranked(WESTWOOD, VEGAS, REAL, UDP), ranked(UDP, REAL, WESTWOOD, VEGAS)),
        ("V4", "index_gap", ranked(REAL, VEGAS, UDP, WESTWOOD), ranked(VEGAS, REAL, UDP, WESTWOOD)),
        ("V6", "fairness", ranked(REAL, UDP, VEGAS, WESTWOOD), PAPER),
        ("V8", "loss", ranked(WESTWOOD, VEGAS, REAL, UDP), PAPER),
    ],
)
def test_an_order_of_transports_is_told_from_its_contrary(name, measure, good, bad):
    assert verdict(name, **{measure: good}) is Verdict.REPRODUCED
    assert verdict(name, **{measure: bad}) is Verdict.NOT_REPRODUCED


def test_noise_larger_than_the_difference_leaves_the_order_open():
    data = {"goodput": lambda transport, **_: 1.0, "noise": 1.0}
    assert verdict("V2", **data) is Verdict.UNDECIDED


def test_equal_goodputs_are_at_least_as_high_but_none_is_lowest():
    assert verdict("V1", goodput=lambda **_: 1.0) is Verdict.REPRODUCED
    assert verdict("V2", goodput=lambda **_: 1.0) is Verdict.UNDECIDED


def test_v5_wants_a_steep_rise_to_a_significant_share():
    assert verdict("V5", delayed_gap=lambda flows, **_: 12.0 if flows >= 80 else 2.0) is Verdict.REPRODUCED
    assert verdict("V5", delayed_gap=lambda flows, **_: 3.0 if flows >= 80 else 0.5) is Verdict.NOT_REPRODUCED
    assert (
        verdict("V5", delayed_gap=lambda flows, **_: 12.0 if flows >= 80 else 9.0) is Verdict.NOT_REPRODUCED
    )
    assert verdict("V5", delayed_gap=lambda **_: 0.0) is Verdict.NOT_REPRODUCED


def test_v7_looks_at_vegas_between_80_and_120_calls():
    assert verdict("V7", fairness=lambda flows, **_: 0.8 if flows == 120 else 0.9) is Verdict.REPRODUCED
    assert verdict("V7", fairness=lambda flows, **_: 0.9 if flows == 120 else 0.8) is Verdict.NOT_REPRODUCED


def _longer_helps(but_not):
    return lambda payload, transport, **_: 1.1 if payload == "500 B" and transport not in but_not else 1.0


def test_v9_wants_three_to_gain_from_longer_payloads_and_vegas_not():
    assert verdict("V9", goodput=_longer_helps([VEGAS])) is Verdict.REPRODUCED
    assert verdict("V9", goodput=_longer_helps([])) is Verdict.NOT_REPRODUCED
    assert (
        verdict("V9", goodput=lambda payload, **_: 0.9 if payload == "500 B" else 1.0)
        is Verdict.NOT_REPRODUCED
    )


def test_v10_wants_longer_payloads_to_cost_timeliness():
    assert (
        verdict("V10", index_gap=lambda payload, **_: 0.8 if payload == "500 B" else 0.9)
        is Verdict.REPRODUCED
    )
    assert verdict("V10", index_gap=_longer_helps([])) is Verdict.NOT_REPRODUCED


def _left(harm):
    """Goodput left to transfers: less beside each transport, the more calls there are."""
    return lambda transport, flows, **_: 3.0 - harm[transport] * flows / 120


def test_v11_wants_udp_to_leave_least_real_most_and_the_gap_to_widen():
    harm = {UDP: 2.0, WESTWOOD: 1.5, VEGAS: 1.2, REAL: 1.0}
    assert verdict("V11", goodput=_left(harm)) is Verdict.REPRODUCED
    assert verdict("V11", goodput=_left({**harm, REAL: 1.3})) is Verdict.NOT_REPRODUCED
    shrinking = lambda transport, flows, **_: _left(harm)(transport, 160 - flows) if flows >= 40 else 3.0  # noqa: E731
    assert verdict("V11", goodput=shrinking) is Verdict.NOT_REPRODUCED


def _falling(slope):
    """Falls with the packet error rate, by `slope(transport, flows)`."""
    return lambda transport, per, flows, **_: 1.0 - slope(transport, flows) * per


def test_v12_wants_every_tcp_to_fall_and_more_with_fewer_calls():
    more_at_80 = _falling(lambda transport, flows: 3.0 if flows == 80 else 1.0)
    less_at_80 = _falling(lambda transport, flows: 1.0 if flows == 80 else 3.0)
    assert verdict("V12", goodput=more_at_80, index_gap=more_at_80) is Verdict.REPRODUCED
    assert verdict("V12", goodput=more_at_80, index_gap=less_at_80) is Verdict.NOT_REPRODUCED


def test_v13_wants_real_to_suffer_more_from_errors_than_vegas_and_westwood():
    def by(slopes):
        return _falling(lambda transport, flows: slopes.get(transport, 0.5))

    suffers, copes = by({REAL: 3.0, VEGAS: 1.0, WESTWOOD: 1.0}), by({REAL: 0.2, VEGAS: 1.0, WESTWOOD: 1.0})
    assert verdict("V13", goodput=suffers, index_gap=suffers) is Verdict.REPRODUCED
    assert verdict("V13", goodput=copes, index_gap=copes) is Verdict.NOT_REPRODUCED


def test_v14_wants_udp_to_be_the_least_sensitive_to_errors():
    calm = _falling(lambda transport, flows: 0.5 if transport == UDP else 2.0)
    touchy = _falling(lambda transport, flows: 3.0 if transport == UDP else 2.0)
    assert verdict("V14", goodput=calm, index_gap=calm) is Verdict.REPRODUCED
    assert verdict("V14", goodput=touchy, index_gap=calm) is Verdict.NOT_REPRODUCED


def test_v15_wants_vegas_and_real_to_gain_most_from_patience_and_udp_least():
    def gaining(by):
        return lambda transport, threshold, **_: 0.5 + by[transport] * (threshold - 100) / 300

    as_told = {UDP: 0.01, WESTWOOD: 0.1, VEGAS: 0.3, REAL: 0.2}
    assert verdict("V15", index_by_threshold_gap=gaining(as_told)) is Verdict.REPRODUCED
    assert verdict("V15", index_by_threshold_gap=gaining({**as_told, UDP: 0.4})) is Verdict.NOT_REPRODUCED
