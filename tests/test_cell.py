"""A cell: the comparisons with published results."""

from __future__ import annotations

import random

import pytest

from validation import kept
from validation.published import cell
from validation.published import rows as published


def test_the_formulas_are_means_of_the_best_of_many():
    draw = random.Random(1)

    def rate(ratio):
        return max((rate for least, rate in cell.INDICATORS if ratio >= 10 ** (least / 10)), default=0.0)

    for users, mean in ((1, 5.0), (4, 5.0), (8, -2.0)):
        level = 10 ** (mean / 10)
        drawn = [rate(max(draw.expovariate(1 / level) for _ in range(users))) for _ in range(40_000)]
        assert cell.moment(users, mean) == pytest.approx(sum(drawn) / len(drawn), rel=0.02)
    assert cell.gain_of_best(1, 3.0) == 1
    assert cell.harmonic(3, 0.0) == pytest.approx(11 / 6)


def test_the_indicators_are_the_laws():
    (alone,) = published.goodputs(
        cell.idle(loaded=True).with_overrides({"medium.air.channel": {"cqi": 15}, "duration": "10 s"}), [1], 1
    )
    assert alone["load"] == pytest.approx(cell.INDICATORS[14][1] * 120 * 50 * 1000, rel=0.15)


def test_the_kept_gains_agree():
    rows = published.stored(kept.read(cell.KEPT)["rows"])
    assert all(row.agrees for row in rows if row.part != "trips")


def test_fairwave_gives_the_kept_numbers():
    rows = published.stored(kept.read(cell.KEPT)["rows"])
    (row,) = (one for one in rows if one.name.startswith("idle, one failure"))
    (run,) = cell.trips(cell.idle().with_overrides({"duration": "30 s"}), [1], 1)
    assert run["mean"] == pytest.approx(row.ours.mean, rel=0.05)


def test_a_bound_is_met_on_its_side_and_a_value_within_its_margin():
    def row(mean, bound="", margin=0.1):
        return published.Row(
            "a",
            "b",
            "ms",
            10.0,
            published.Estimate.from_values([mean, mean]),
            margin,
            relative=True,
            bound=bound,
        )

    assert row(10.9).agrees
    assert not row(11.2).agrees
    assert row(30.0, "at least").agrees
    assert not row(8.0, "at least").agrees
    assert row(3.0, "at most", 0.0).agrees
    assert not row(10.1, "at most", 0.0).agrees
