"""The logic of paper 003's claims on made-up numbers, effects of new factor values, and the experiments' words."""

import itertools

import numpy as np
import polars as pl
import pytest

from fairwave.measuring.measured import Measured
from fairwave_studies.smoothness import claims, points, study
from fairwave_studies.smoothness import names as n
from fairwave_studies.smoothness import quantities as q
from fairwave_studies.smoothness.claims import (
    ORDER,
    SHORT_S,
    STRETCHES,
    calmest,
    pair_over_pair,
    wordings,
)
from fairwave_studies.smoothness.experiments import EXPERIMENTS
from fairwave_studies.smoothness.names import (
    GAMMA,
    GAMMA_DELTA,
    RENO,
    RESPONSIVE,
    SMOOTH,
    SMOOTHEST,
    STANDARD,
)
from fairwave_study.claims import Comparison, Evidence, Verdict
from fairwave_study.experiments import FRESH, FoundExperiment
from fairwave_study.folder import Case
from fairwave_study.paragraphs import BAR
from fairwave_study.places import list_places

SEEDS = range(1, 6)
READINGS = study().readings
BASE = READINGS.base()
CASE = Case(BASE, points.ESSENTIAL)
SYSTEM = dict(zip(ORDER, range(4), strict=True))


class MadeUp:
    """Data from a function of the labels, on one grid."""

    def __init__(self, value, **axes):
        self.value, self.axes = value, axes

    def measured(self, measure, _grid):
        rows = [
            {**dict(zip(self.axes, labels, strict=True)), "seed": seed}
            for labels in itertools.product(*self.axes.values())
            for seed in SEEDS
        ]
        for row in rows:
            told = {name: value for name, value in row.items() if name != "seed"}
            # A common offset of a seed changes no difference.
            row["value"] = float(self.value(measure.id, **told)) + 0.001 * row["seed"]
        return Measured(measure, tuple(self.axes), pl.DataFrame(rows))


def verdict(name, data, reading=BASE):
    claim = next(one for one in READINGS.essential(reading).claims if one.id == name)
    return claim.evidence(data).verdict()


def part_verdicts(name, data):
    claim = next(one for one in READINGS.essential(BASE).claims if one.id == name)
    return {part: str(one.verdict()) for part, one in claim.evidence(data).parts().items()}


def test_every_claim_has_a_test_and_only_claims_have_wordings():
    ids = [one.id for one in study().claims]
    assert sorted(claims.tests(CASE), key=lambda one: int(one[1:])) == ids
    assert set(wordings(Case(BASE, points.PAPER))) <= set(ids)


def test_smooth_tcp_in_general_is_the_mean_of_two_systems_over_that_of_two():
    values = {SMOOTHEST: 0.8, SMOOTH: 0.5, STANDARD: 0.6, RESPONSIVE: 0.6}
    data = MadeUp(lambda _, transport: values[transport], transport=ORDER)
    (one,) = pair_over_pair(data.measured(q.FAIRNESS, n.SPREAD)).comparisons
    assert one.samples == pytest.approx(np.full(len(SEEDS), 0.05))


def spread(fairness):
    return MadeUp(
        lambda _, queue, largest, transport: fairness(queue, largest, SYSTEM[transport]),
        queue=("drop-tail", "RED"),
        largest=(50, 300),
        transport=ORDER,
    )


def test_spread_round_trips_have_parts_that_come_out_apart():
    falling = spread(lambda _q, largest, system: 0.9 - largest / 1000 - 0.02 * system)
    assert part_verdicts("S11", falling) == {"falls": "reproduced", "smooth slightly fairer": "reproduced"}
    rising = spread(lambda _q, largest, system: 0.4 + largest / 1000 - 0.02 * system)
    assert part_verdicts("S11", rising) == {"falls": "not reproduced", "smooth slightly fairer": "reproduced"}
    behind = spread(lambda _q, largest, system: 0.9 - largest / 1000 + 0.02 * system)
    assert part_verdicts("S11", behind) == {"falls": "reproduced", "smooth slightly fairer": "not reproduced"}


def test_an_advantage_may_shrink_under_red_and_still_be_one():
    def lead(queue, _largest, system):
        return 0.8 - system * (0.05 if queue == "drop-tail" else 0.02)

    assert part_verdicts("S12", spread(lead)) == {"shrinks": "reproduced", "none left": "not reproduced"}
    gone = spread(lambda queue, _largest, system: 0.8 - system * 0.05 * (queue == "drop-tail"))
    assert verdict("S12", gone) == Verdict.REPRODUCED


def test_red_takes_from_the_far_flows_of_smooth_tcp():
    taken = spread(lambda queue, _largest, system: 4 - 0.3 * (queue == "RED" and system < 2))
    assert verdict("S34", taken) == Verdict.REPRODUCED
    spared = spread(lambda queue, _largest, system: 4 - 0.3 * (queue == "RED" and system < 1))
    assert verdict("S34", spared) != Verdict.REPRODUCED


def handoffs(rate):
    return MadeUp(
        lambda _, down, time, transport: rate(time, SYSTEM[transport]),
        down=("500 ms",),
        time=tuple(float(second) for second in range(1, 101)),
        transport=ORDER,
    )


def test_short_handoffs_are_where_all_together_get_most():
    # From 60 to 80 s nothing is interrupted, and the standard TCP is ahead; elsewhere the responsive one is.
    def rate(time, system):
        calm = 60 < time <= 60 + SHORT_S
        return 5 + 0.4 * (system == 2) if calm else 2 + 0.4 * system

    found = calmest(
        handoffs(rate).measured(q.ALLOTTED_THROUGHPUT, n.HANDOFFS).select(down="500 ms").drop_axes("down")
    )
    assert found[STANDARD] - found[RESPONSIVE] == pytest.approx(np.full(len(SEEDS), 0.4))
    assert part_verdicts("S19", handoffs(rate))["TCP(1, 0.5) more"] == "reproduced"
    middle = wordings(CASE)["S19"][STRETCHES[1]](handoffs(rate))
    assert middle.verdict() == Verdict.NOT_REPRODUCED


def changing(value):
    return MadeUp(
        lambda _, bottleneck, time, transport: value(time, SYSTEM[transport]),
        bottleneck=("10 Mb/s", "100 Mb/s"),
        time=tuple(np.arange(0.5, 30.1, 0.5)),
        transport=ORDER,
    )


def seconds_since(time):
    """Seconds since flows last joined or left; a large number before the first time."""
    return min((time - at for at in (15, 20, 25) if time > at), default=99)


def test_who_gains_most_within_five_seconds_recovers_fastest():
    by_alpha = changing(
        lambda time, system: 0.3 + 0.02 * system * min(seconds_since(time), 5) * (seconds_since(time) < 99)
    )
    assert verdict("S27", by_alpha) == Verdict.REPRODUCED
    alike = changing(lambda time, _system: 0.3 + 0.02 * min(seconds_since(time), 5))
    assert verdict("S27", alike) == Verdict.ALIKE


def test_a_drop_for_all_needs_all():
    dropping = changing(lambda time, _system: 0.9 - 0.3 * (seconds_since(time) <= 2))
    assert verdict("S26", dropping) == verdict("S29", dropping) == Verdict.REPRODUCED
    three = changing(lambda time, system: 0.9 - 0.3 * (seconds_since(time) <= 2) * (system < 3))
    assert verdict("S26", three) != Verdict.REPRODUCED


def test_increasingly_unfair_compares_the_last_doubling_with_the_first():
    assert verdict("S28", changing(lambda time, _system: 0.9 - time / 100)) == Verdict.REPRODUCED
    assert verdict("S28", changing(lambda time, _system: 0.5 + time / 100)) == Verdict.NOT_REPRODUCED


def errors(value):
    return MadeUp(
        lambda _, wireless, per, transport: value(per, SYSTEM[transport]),
        wireless=("10 Mb/s",),
        per=(0.0, 0.01, 0.05),
        transport=ORDER,
    )


class Errors:
    """Ten flows and a hundred, the first without wireless links of several rates."""

    def __init__(self, value):
        self.crowd = errors(value)

    def measured(self, measure, grid):
        found = self.crowd.measured(measure, grid)
        return found if grid == n.ERRORS_100 else found.drop_axes("wireless")


def test_few_errors_and_many_are_two_claims():
    def crossing(per, system):
        return 9 - 100 * per + (per - 0.02) * 10 * system

    assert verdict("S24", Errors(crossing)) == verdict("S8", Errors(crossing)) == Verdict.REPRODUCED
    assert verdict("S31", Errors(crossing)) == Verdict.REPRODUCED
    assert verdict("S32", Errors(crossing)) == Verdict.REPRODUCED
    flipped = Errors(lambda per, system: crossing(per, 3 - system))
    assert {verdict(one, flipped) for one in ("S8", "S24", "S31")} == {Verdict.NOT_REPRODUCED}
    assert verdict("S32", Errors(lambda _per, _system: 9.5)) == Verdict.NOT_REPRODUCED


def test_gamma_may_take_a_tenth_longer_than_reno():
    def recovering(gamma, delta):
        seconds = {RENO: 19.0, GAMMA: gamma, SMOOTHEST: 57.0, GAMMA_DELTA: delta}
        data = MadeUp(
            lambda _, **labels: seconds[labels["transport"]],
            **{"round trip": (100, 200), "transport": tuple(seconds)},
        )
        return part_verdicts("S36", data)

    assert recovering(20.5, 10.0) == {"γ no slower": "reproduced", "δ faster": "reproduced"}
    assert recovering(21.5, 22.0) == {"γ no slower": "not reproduced", "δ faster": "not reproduced"}


def point(grid, part, **labels):
    """One point's scenario under a reading, as plain data."""
    study_ = READINGS.essential(READINGS.complete(part))
    found = next(one for one in study_.grids if one.id == grid)
    return next(
        one.scenario.to_dict()
        for one in found.points()
        if all(one.labels[axis] == label for axis, label in labels.items())
    )


def test_bytes_are_the_product_of_the_bottlenecks_rate_and_the_round_trip():
    def capacity(part, grid, **labels):
        found = point(grid, {"buffer-unit": "bytes", **part}, **labels)
        return found["topology"]["bottleneck"]["queue"]["capacity"]

    assert capacity({}, n.WIRED_10, flows=10) == {"bytes": 125_000}
    assert capacity({"round-trip": "80 ms"}, n.WIRED_100, flows=10) == {"bytes": 1_000_000}
    assert capacity({"buffers": "one way"}, n.AVOIDANCE, flows=20, transport=GAMMA) == {"bytes": 125_000}
    assert capacity({}, n.SPREAD, queue="drop-tail") == {"bytes": 37_500}
    assert capacity({}, n.CONSTANT_ERRORS) == {"bytes": 12_500 * points.ESSENTIAL.crowd_flows}
    assert capacity({}, n.SHRINKING) == {"bytes": 12_500 * points.ESSENTIAL.leavers}
    assert "packets" in capacity({}, n.SPREAD, queue="RED")


def test_a_round_trip_lies_alike_on_all_three_links():
    found = point(n.WIRED_10, {"hops": "alike on all three links", "round-trip": "60 ms"})["topology"]
    assert found["bottleneck"]["delay"] == found["access"]["delay"] == "10 ms"


def test_bursts_keep_the_share_of_packets_that_are_lost():
    for part, bad in (({}, 20.0), ({"bursts": "100 ms"}, 100.0)):
        law = point(n.MARKOV, part, per=0.05)["topology"]["sink-access"]["loss"]
        good, found = (float(law[key].removesuffix(" ms")) for key in ("good", "bad"))
        assert found == bad
        assert found / (found + good) == pytest.approx(0.05)


def test_the_account_is_a_reading_and_its_kinds_are_those_of_factors():
    (account,) = study().accounts
    assert READINGS.distance(READINGS.complete(account.setup)) == len(account.setup)
    assert set(account.words) <= {factor.kind for factor in READINGS.factors}


def test_every_claim_has_an_experiment():
    assert {one.claim for one in EXPERIMENTS} == {one.id for one in study().claims}
    assert [one.id for one in study().experiments] == [one.id for one in EXPERIMENTS]


@pytest.mark.parametrize("one", EXPERIMENTS, ids=lambda one: one.id)
def test_sides_differ_in_what_is_simulated(one):
    left = []
    for side in one.sides:
        essential = READINGS.essential(READINGS.complete(side.reading))
        wanted = next(claim.grids for claim in essential.claims if claim.id == one.claim)
        grids = [grid for grid in essential.grids if grid.id in wanted]
        changed = [READINGS.changed(grid, side.changes) if side.changes else grid for grid in grids]
        left.append(frozenset(point.scenario.hash for grid in changed for point in grid.points()))
    assert len(set(left)) == len(left)


@pytest.mark.parametrize("one", study().experiments, ids=lambda one: one.id)
def test_words_hold_numbers_of_the_experiment(one):
    compound = claims.tests(CASE)[one.claim]
    compound = () if callable(compound) else compound

    def made(level):
        samples = np.full(len(FRESH), level) + np.linspace(-0.01, 0.01, len(FRESH))
        several = [Evidence([Comparison("any", samples)]).as_part(part) for part in compound]
        made_up = [comparison for evidence in several for comparison in evidence.comparisons]
        # The comparisons that the words use.
        places = [place.split(BAR) for place in list_places(one.words.text)]
        labels = {place[-2] for place in places if place[-1].isdecimal()} - one.quantities.keys()
        named = [Comparison(label, samples) for label in sorted(labels)]
        evidence = Evidence([*(made_up or [Comparison("any", samples)]), *named])
        quantities = {name: Comparison(name, samples) for name in one.quantities}
        sides = [side.label for side in one.sides]
        return FoundExperiment(one, dict.fromkeys(sides, evidence), dict.fromkeys(sides, quantities))

    low, high = made(3.25).paragraph(), made(-7.5).paragraph()
    assert "3.2" in low or " 3 " in low
    assert "-7.5" in high or " -8 " in high
    assert "3.25" not in high
