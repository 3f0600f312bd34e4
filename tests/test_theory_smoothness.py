"""Paper 003's equations at the points with a published result."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairwave import theory

PAIRS = [(0.31, 0.875), (0.583, 0.75), (1.0, 0.5), (1.25, 0.25)]


@pytest.mark.parametrize(("alpha", "kept"), PAIRS)
def test_the_papers_pairs_are_friendly_where_timeouts_decide_and_only_there(alpha, kept):
    assert theory.friendly_alpha(kept) == pytest.approx(alpha, rel=0.01)

    def ratio_to_reno(loss):
        return theory.aimd_rate(loss, 0.1, 1.0, alpha=alpha, kept=kept) / theory.aimd_rate(loss, 0.1, 1.0)

    assert ratio_to_reno(0.1) == pytest.approx(1, abs=0.05)
    assert ratio_to_reno(1e-7) == pytest.approx((1 + kept) / 1.5, rel=0.01)


def test_a_window_of_64_segments_takes_32_round_trips_and_the_one_of_the_loss():
    assert theory.epoch_rounds(64) == 33
    assert theory.epoch_rounds(64, alpha=0.31, kept=0.875) == pytest.approx(26.8, abs=0.01)


def test_from_a_collapsed_window_the_additive_increase_alone_counts():
    assert theory.epoch_rounds_after_collapse(125) == 125
    assert theory.epoch_rounds_after_collapse(125, alpha=0.31) == 401


def test_one_bandwidth_delay_product_of_buffer_asks_for_a_half_and_a_gamma_of_two_thirds():
    k = theory.relative_buffer(buffer=800_000, rtt=0.08, rate=10e6)
    assert k == 1
    assert theory.efficient_decrease(k) == 0.5
    assert theory.gamma(k) == pytest.approx(2 / 3)


def test_a_flow_has_its_share_of_what_the_path_holds():
    assert theory.fair_window(1250, 0.08, 10) == 10


@settings(deadline=None)
@given(k=st.floats(0, 10), kept=st.floats(0.01, 0.99))
def test_the_bottleneck_is_full_exactly_from_the_efficient_decrease_on(k, kept):
    use = theory.sawtooth_use(k, kept=kept)
    assert 0 < use <= 1
    if kept >= theory.efficient_decrease(k):
        assert use == 1
    elif kept < 0.99 * theory.efficient_decrease(k):
        assert use < 1


@settings(deadline=None, max_examples=25)
@given(kept=st.floats(0.05, 0.95), k=st.floats(0, 2))
def test_the_use_of_a_sawtooth_is_that_of_its_round_trips_one_by_one(kept, k):
    window, sent, took = kept * (1 + k), 0.0, 0.0
    step = 1e-3
    for i in range(math.ceil((1 + k - window) / step)):
        w = window + (i + 0.5) * step
        sent += w
        took += max(1.0, w)
    assert theory.sawtooth_use(k, kept=kept) == pytest.approx(sent / took, abs=2e-3)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: theory.epoch_rounds(0), "window"),
        (lambda: theory.epoch_rounds(10, alpha=0), "alpha"),
        (lambda: theory.epoch_rounds(10, kept=1), "kept"),
        (lambda: theory.efficient_decrease(-1), "k is -1"),
        (lambda: theory.gamma(1, upper=0), "upper"),
        (lambda: theory.relative_buffer(1, 0, 1), "rtt"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(call, word):
    with pytest.raises(ValueError, match=word):
        call()
