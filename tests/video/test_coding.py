"""Coding: the group's pattern, the constant quantiser, the requested rate."""

from __future__ import annotations

import pytest

from fairwave_video import VideoError, clips, coding


@pytest.fixture(scope="module")
def pictures():
    return list(clips.clip("bikes", pixels=176 * 144).pictures(most=37))


def test_groups_are_of_twelve_with_two_b_frames_between_anchors(pictures):
    assert coding.encode(pictures, 6).kinds == 3 * "IBBPBBPBBPBB" + "I"


def test_references_are_decoded_before_the_b_frames_between_them(pictures):
    assert coding.encode(pictures, 6).order[:7] == (0, 3, 1, 2, 6, 4, 5)


def test_a_coarser_quantiser_makes_smaller_frames_of_every_type(pictures):
    fine, coarse = (coding.encode(pictures, quantiser) for quantiser in (3, 12))
    for kind in "IPB":
        assert sum(coarse.sizes(kind)) < sum(fine.sizes(kind))


def test_the_same_pictures_give_the_same_bytes(pictures):
    assert coding.encode(pictures, 6) == coding.encode(pictures, 6)


def test_the_quantiser_is_chosen_for_the_rate(pictures):
    assert coding.code_rate(pictures, 120e3).rate == pytest.approx(120e3, rel=0.1)


def test_a_rate_within_a_step_of_whole_quantisers_is_met_between_them(pictures):
    finer, coarser = (coding.encode(pictures, quantiser) for quantiser in (2.0, 3.0))
    rate = (finer.rate * coarser.rate) ** 0.5
    (found,) = coding.code_rates(pictures, [rate], 0.01)
    assert found.rate == pytest.approx(rate, rel=0.01)
    assert found.kinds == finer.kinds
    (constant,) = coding.code_rates(pictures, [rate], 0.01, between=False)
    assert constant == coding.encode(pictures, constant.quantiser)


def test_a_rate_out_of_reach_is_refused_with_the_rates_that_are_not(pictures):
    with pytest.raises(VideoError, match=r"rate 1 kb/s: .* can be coded at \d+ to \d+ kb/s"):
        coding.code_rate(pictures, 1e3)


@pytest.mark.parametrize("quantiser", [0.5, 32, float("nan")])
def test_a_quantiser_out_of_range_is_refused(pictures, quantiser):
    with pytest.raises(VideoError, match="from 1 to 31"):
        coding.encode(pictures, quantiser)


def test_without_pictures_there_is_nothing_to_encode():
    with pytest.raises(VideoError, match="no pictures"):
        coding.encode([], 6)
