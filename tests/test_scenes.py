"""Synthetic scenes, and the fit of the encoders to them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("av")

from fairwave_report import encoder_fit
from fairwave_video import scenes
from fairwave_video.errors import VideoError

FIT = Path(__file__).parents[1] / encoder_fit.FIT_JSON


def luma(frame):
    return frame.to_ndarray(format="gray").astype(float)


@cache
def drawn(name):
    return list(scenes.scene(name, 2))


@pytest.mark.parametrize("name", ["talking-head", "screen"])
def test_scenes_are_the_same_each_time_and_of_the_size_that_is_said(name):
    (again,) = scenes.scene(name, 1)
    assert (again.width, again.height) == scenes.SIZE
    assert np.array_equal(luma(again), luma(drawn(name)[0]))


def test_a_head_moves_and_a_screen_stands_still():
    head, screen = ([luma(one) for one in drawn(name)] for name in ("talking-head", "screen"))
    assert 0.1 < np.abs(head[0] - head[1]).mean() < 20
    assert np.array_equal(screen[0], screen[1])


def test_an_unknown_scene_is_refused_with_those_that_there_are():
    with pytest.raises(VideoError, match="talking-head, moving, screen"):
        next(scenes.scene("kitchen", 1))


@pytest.mark.parametrize("codec", ["vp8", "h264", "av1"])
@pytest.mark.parametrize("scene", encoder_fit.SCENES)
def test_the_fit_gains_by_bits_and_key_frames_are_larger(codec, scene):
    fit = json.loads(FIT.read_text())[codec][scene]
    assert fit["key-ratio"] > 1
    assert [(one["width"], one["height"]) for one in fit["sizes"]] == list(encoder_fit.SIZES)
    for one in fit["sizes"]:
        assert one["psnr-per-doubling"] > 0
        assert 10 < one["psnr-at-one-bit"] < 60


def test_finer_quantisers_take_more_bits_and_look_better():
    pictures = drawn("talking-head") * 3
    try:
        coarse, fine = (encoder_fit.encode("vp8", pictures, (320, 180), one) for one in (60, 12))
    except Exception as error:  # noqa: BLE001  # PyAV without libvpx
        pytest.skip(str(error))
    assert sum(fine.sizes) > 2 * sum(coarse.sizes)
    assert np.mean(fine.psnr) > np.mean(coarse.psnr) + 3
