"""Means, intervals and paired differences."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri, stdtrit

from fairwave.measuring.statistics import against_the_best, interval, paired, summarise
from fairwave.measuring.student import quantile

numbers = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


def test_interval_is_students_t_of_a_textbook_sample():
    # Student's own sleep data (1908), differences of two drugs: mean 1.58, t interval 0.70 to 2.46.
    differences = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    found = interval(differences)
    assert found.mean == pytest.approx(1.58)
    assert (found.low, found.high) == (pytest.approx(0.7001142), pytest.approx(2.4598858))


def test_samples_that_differ_by_rounding_alone_have_no_spread():
    found = interval([180.0, 180.0 + 1e-13, 180.0 - 1e-13])
    assert (found.half_width, found.n) == (0.0, 3)
    assert interval([180.0, 180.0 + 1e-9]).half_width > 0


def test_interval_covers_the_true_mean_in_about_95_of_100_cases():
    samples = np.random.default_rng(7).normal(3.0, 2.0, size=(4000, 10))
    covered = np.mean([(one := interval(row)).low <= 3.0 <= one.high for row in samples])
    assert 0.94 < covered < 0.96


def test_one_sample_has_a_mean_and_no_bound():
    found = interval([4.0])
    assert (found.mean, found.low, found.high) == (4.0, -math.inf, math.inf)


def test_what_is_not_a_number_is_left_out():
    assert interval([1.0, math.nan, 3.0]).n == 2
    assert interval([math.nan]).n == 0


def test_a_level_outside_its_range_is_refused():
    with pytest.raises(ValueError, match=r"lies in \(0, 1\)"):
        interval([1, 2], level=95)


def test_what_pairs_share_cancels_in_their_difference():
    noise = np.random.default_rng(1).normal(0, 100, 10)
    assert paired(noise + 1.0, noise).half_width < 1e-9
    assert interval(noise + 1.0).half_width > 10


def test_pairs_need_the_same_seeds():
    with pytest.raises(ValueError, match="same seeds"):
        paired([1, 2, 3], [1, 2])


@given(numbers, st.floats(-1e6, 1e6))
def test_interval_moves_with_its_samples(samples, shift):
    here, there = interval(samples), interval(np.asarray(samples) + shift)
    assert there.mean == pytest.approx(here.mean + shift, abs=1e-6)
    assert there.half_width == pytest.approx(here.half_width, abs=1e-4)


@given(numbers)
def test_a_higher_level_gives_a_wider_interval(samples):
    assert interval(samples, 0.99).half_width >= interval(samples, 0.9).half_width


def test_summary_agrees_with_interval_group_by_group():
    frame = pl.DataFrame({"x": ["a"] * 4 + ["b"] * 3, "value": [1.0, 2, 4, 8, 5, 5, 6]})
    rows = {row["x"]: row for row in summarise(frame, ["x"]).to_dicts()}
    for name, samples in (("a", [1, 2, 4, 8]), ("b", [5, 5, 6])):
        expected = interval(samples)
        assert rows[name]["mean"] == pytest.approx(expected.mean)
        assert rows[name]["low"] == pytest.approx(expected.low)
        assert rows[name]["high"] == pytest.approx(expected.high)


def test_summary_of_a_single_replication_has_no_interval():
    row = summarise(pl.DataFrame({"x": ["a"], "value": [1.0]}), ["x"]).to_dicts()[0]
    assert row["mean"] == 1.0
    assert row["low"] is None


def test_an_interval_ends_where_its_scale_ends_and_shows_its_ends():
    wide = interval([0.0, 3.0])
    cut = wide.within((0.0, 4.5))
    assert (cut.mean, cut.low, cut.high) == (1.5, 0.0, 4.5)
    assert interval([4.3, 4.49]).within((1.0, 4.5)).high == 4.5
    assert str(interval([1.0, 52.0]).within((0.0, 100.0))) == "26 (0 to 100)"
    narrow = interval([1.0, 1.0, 1.001]).within((1.0, 4.5))
    assert narrow.is_cut
    assert narrow.text(2) == "1.00 ± 0.00", "an end that is not to be seen is not told"
    assert str(interval([50.0, 51.0]).within((0.0, 100.0))) == "50.5 ± 6.4", (
        "what is not cut is told as before"
    )
    assert interval([1.0]).within((0.0, 4.5)).high == math.inf, "one run has no interval"
    assert interval([100.0, 100.0]).within((0.0, 100.0)).half_width == 0.0


def test_the_best_of_many_is_compared_at_a_level_that_makes_up_for_their_number():
    assert against_the_best(2) == 0.95
    assert against_the_best(11) == pytest.approx(0.995)
    assert against_the_best(1) == 0.95


@pytest.mark.parametrize("freedom", [1, 1.5, 2, 3, 4.7, 9, 29, 100, 1000, 1e5])
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.9, 0.95, 0.975, 0.995, 1 - 0.05 / 400, 1 - 1e-9])
def test_quantiles_of_students_t_are_scipys(probability, freedom):
    # What the probability itself is rounded by moves the quantile, most in the tail.
    slack = 1e-10 + 4e-16 / (1 - probability)
    assert quantile(probability, freedom) == pytest.approx(
        stdtrit(freedom, probability), rel=slack, abs=1e-15
    )


def test_infinitely_many_degrees_of_freedom_are_the_normal_distribution():
    assert quantile(0.975, math.inf) == pytest.approx(ndtri(0.975), rel=1e-12)
