"""Means, intervals and paired differences."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri, stdtrit
from scipy.stats import skew

from fairwave.measuring import measures
from fairwave.measuring.statistics import best_level, interval, paired, summarise
from fairwave.measuring.student import quantile

numbers = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


def test_an_interval_reaches_further_on_the_side_of_the_longer_tail():
    # Student's sleep data (1908), differences of two drugs: mean 1.58, t interval 0.70 to 2.46. One of ten values
    # is far above the others: the upper side is up to three times as long, the lower side loses a twentieth.
    differences = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    found = interval(differences)
    assert found.mean == pytest.approx(1.58)
    assert found.low == pytest.approx(1.58 - 0.95 * 0.8798858)
    assert 1.58 + 2 * 0.8798858 < found.high <= 1.58 + 3 * 0.8798858
    down = interval([-one for one in differences])
    assert (down.low, down.high) == pytest.approx((-found.high, -found.low))


def test_symmetric_samples_have_students_t():
    # Mean 5, standard deviation 3.162, t of 4 degrees of freedom 2.776.
    found = interval([1.0, 3.0, 5.0, 7.0, 9.0])
    assert (found.low, found.high) == (pytest.approx(5 - 3.9264863), pytest.approx(5 + 3.9264863))


def test_the_longer_side_is_the_exponential_transformation_of_the_t_statistic():
    samples = np.array([1.0, 2.0, 3.0, 4.0, 7.0, 3.0, 2.0, 4.0, 5.0, 6.0])
    found = interval(samples)
    t, error = stdtrit(9, 0.975), samples.std(ddof=1) / math.sqrt(10)
    k = 2 / 3 * 2.5 * skew(samples) / math.sqrt(10)
    assert found.high == pytest.approx(samples.mean() + error * (math.exp(k * t) - 1) / k)
    longer = (math.exp(k * t) - 1) / (k * t)
    assert 1 < longer < 2
    assert found.low == pytest.approx(samples.mean() - error * t * (1 - 0.05 * (longer - 1)))


def test_times_of_transfers_expect_a_long_tail_that_few_runs_do_not_show():
    samples = [1.0, 3.0, 5.0, 7.0, 9.0]
    found = measures.completion("files").interval(samples)
    t, error = stdtrit(4, 0.975), math.sqrt(2)
    kt = 2 / 3 * 8 / 5 * t / math.sqrt(5)
    assert found.high == pytest.approx(5 + error * t * (math.exp(kt) - 1) / kt)
    assert 5 - t * error < found.low < 5
    assert measures.goodput("files").interval(samples) == interval(samples).clip((0, math.inf))
    tailed = [one for one in measures.STANDARD if measures.find(one, "files").has_long_tail]
    assert tailed == ["completion", "completion-median", "completion-p95", "slowdown"]


def test_a_spread_that_is_known_from_elsewhere_has_students_t_on_both_sides():
    found = interval([1.0, 2.0, 9.0], 0.95, (3.0, 20.0))
    half = stdtrit(20, 0.975) * 3 / math.sqrt(3)
    assert (found.low, found.high) == (pytest.approx(4 - half), pytest.approx(4 + half))


def test_the_lab_has_the_same_ends():
    # lab/test/parts.test.ts has the same numbers.
    mild = interval([1, 2, 3, 4, 7, 3, 2, 4, 5, 6])
    assert (mild.low, mild.high) == (pytest.approx(2.365, abs=1e-3), pytest.approx(5.377, abs=1e-3))


def test_many_samples_end_where_the_edgeworth_expansion_of_the_t_statistic_ends():
    # Upper end, to the order 1/n: t + γ (2 t² + 1)/(6 √n) (Hall 1992); the constant term stays below the rounding.
    samples = np.random.default_rng(5).exponential(size=200_000)
    found = interval(samples)
    z, gamma, root = ndtri(0.975), skew(samples), math.sqrt(len(samples))
    reach = (found.high - found.mean) / (samples.std(ddof=1) / root)
    assert reach == pytest.approx(z + gamma * 2 * z**2 / (6 * root), abs=1e-4)


def test_samples_that_differ_by_rounding_alone_have_no_spread():
    found = interval([180.0, 180.0 + 1e-13, 180.0 - 1e-13])
    assert (found.half_width, found.n) == (0.0, 3)
    assert interval([180.0, 180.0 + 1e-9]).half_width > 0


def test_samples_that_are_equal_have_no_interval():
    found = interval([0.0] * 10)
    assert found.is_identical
    assert found.ends == [None, None]
    assert str(found) == "0 (same in all 10)"
    assert found.text(2) == "0.00 (same in all 10)"
    assert not interval([0.0]).is_identical
    assert interval([1.0, 2.0]).ends == pytest.approx([1.5 - 6.3531, 1.5 + 6.3531], abs=1e-4)


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
    cut = wide.clip((0.0, 4.5))
    assert (cut.mean, cut.low, cut.high) == (1.5, 0.0, 4.5)
    assert interval([4.3, 4.49]).clip((1.0, 4.5)).high == 4.5
    assert str(interval([1.0, 52.0]).clip((0.0, 100.0))) == "26 [0, 100]"
    narrow = interval([1.0, 1.0, 1.001]).clip((1.0, 4.5))
    assert narrow.low == 1.0
    assert narrow.text(2) == "1.00 ± 0.00", "an end that is not to be seen is not told"
    assert str(interval([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])) == "1.58 [0.74, 3.98]"
    assert str(interval([50.0, 51.0]).clip((0.0, 100.0))) == "50.5 ± 6.4", "what is not cut is told as before"
    assert interval([1.0]).clip((0.0, 4.5)).high == math.inf, "one run has no interval"
    assert interval([100.0, 100.0]).clip((0.0, 100.0)).half_width == 0.0


def test_the_best_of_many_is_compared_at_a_level_that_makes_up_for_their_number():
    assert best_level(2) == 0.95
    assert best_level(11) == pytest.approx(0.995)
    assert best_level(1) == 0.95


@pytest.mark.parametrize("freedom", [1, 1.5, 2, 3, 4.7, 9, 29, 100, 1000, 1e5])
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.9, 0.95, 0.975, 0.995, 1 - 0.05 / 400, 1 - 1e-9])
def test_quantiles_of_students_t_are_scipys(probability, freedom):
    # The rounding of the probability moves the quantile, most in the tail.
    slack = 1e-10 + 4e-16 / (1 - probability)
    assert quantile(probability, freedom) == pytest.approx(
        stdtrit(freedom, probability), rel=slack, abs=1e-15
    )


def test_infinitely_many_degrees_of_freedom_are_the_normal_distribution():
    assert quantile(0.975, math.inf) == pytest.approx(ndtri(0.975), rel=1e-12)
