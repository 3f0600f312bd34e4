"""Picture quality: PSNR by hand, SSIM at its ends."""

from __future__ import annotations

import av
import numpy as np
import pytest

from fairwave_video import VideoError
from fairwave_video.score import CEILING_DB, score


def picture(luma: np.ndarray) -> av.VideoFrame:
    height, width = luma.shape
    chroma = np.full((height // 2, width), 128)
    return av.VideoFrame.from_ndarray(np.vstack([luma, chroma]).astype(np.uint8), format="yuv420p")


RNG = np.random.default_rng(7)
ORIGINAL = RNG.integers(20, 200, (48, 64))


def test_equal_pictures_have_the_highest_scores():
    found = score([picture(ORIGINAL)], [picture(ORIGINAL)])
    assert found.psnr_db[0] == CEILING_DB
    assert found.ssim[0] == pytest.approx(1)


def test_psnr_is_that_of_the_mean_square_error_of_luma():
    noisy = ORIGINAL + RNG.integers(-9, 10, ORIGINAL.shape)
    by_hand = 10 * np.log10(255**2 / np.mean((noisy - ORIGINAL) ** 2))
    assert score([picture(noisy)], [picture(ORIGINAL)]).psnr_db[0] == pytest.approx(by_hand, abs=0.01)


def test_ssim_hardly_minds_brightness_but_minds_structure():
    other = RNG.integers(20, 200, ORIGINAL.shape)
    brighter, unlike = score([picture(ORIGINAL + 5), picture(other)], [picture(ORIGINAL)] * 2).ssim
    assert brighter > 0.95 > 0.3 > unlike


def test_each_frame_is_scored_against_its_own_original():
    other = 255 - ORIGINAL
    found = score([picture(ORIGINAL), picture(other)], [picture(ORIGINAL), picture(other)])
    assert found.psnr_db.tolist() == [CEILING_DB, CEILING_DB]


def test_pictures_of_other_sizes_or_numbers_are_refused():
    with pytest.raises(VideoError, match="64 × 48, the original 32 × 48"):
        score([picture(ORIGINAL)], [picture(ORIGINAL[:, :32])])
    with pytest.raises(VideoError, match="pictures and originals"):
        score([picture(ORIGINAL)] * 2, [picture(ORIGINAL)])
