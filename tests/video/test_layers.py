"""Layers: one coding per number of layers, sizes that add up, and refusals."""

from __future__ import annotations

import pytest

from fairwave_video import VideoError, layers
from fairwave_video.coding import FRAME_RATE

RATES = (60e3, 60e3, 120e3)


@pytest.fixture(scope="module")
def source() -> layers.LayeredClip:
    return layers.encode_layers("carphone", RATES)


def test_each_number_of_layers_has_its_rate(source):
    for version, rate in zip(source.versions, (60e3, 120e3, 240e3), strict=True):
        assert version.rate == pytest.approx(rate, rel=0.005)


def test_each_layer_has_its_own_rate_also_where_whole_quantisers_are_far_apart():
    # 512 kb/s of this clip is within a step of fine quantisers, at which the upper layer alone would have a large
    # error.
    rates = (128e3, 128e3, 256e3)
    found = layers.encode_layers("carphone", rates)
    frames = len(found.kinds)
    for place, rate in enumerate(rates):
        own = 8 * FRAME_RATE * sum(sizes[place] for sizes in found.sizes()) / frames
        assert own == pytest.approx(rate, rel=0.03)


def test_a_layer_between_two_quantisers_keeps_its_groups(source):
    assert {version.kinds for version in source.versions} == {source.kinds}


def test_the_layers_of_a_frame_add_up_to_its_versions(source):
    for place, version in enumerate(source.versions, start=1):
        sums = [sum(sizes[:place]) for sizes in source.sizes()]
        larger = [total - frame.size for total, frame in zip(sums, version.frames, strict=True)]
        assert min(larger) == 0
        assert sum(larger) < 0.02 * sum(sums)


def test_every_layer_of_every_frame_has_something(source):
    assert min(min(sizes) for sizes in source.sizes()) >= 1


def test_the_frames_are_written_as_the_scenario_language_has_them(source):
    first = source.frames()[0]
    assert (first["type"], len(first["sizes"])) == ("I", 3)


def test_only_clips_without_frames_are_coded():
    voice = {"name": "voice", "traffic": "voice"}
    coded = {"name": "film", "traffic": {"clip": "carphone", "layers": ["60 kb/s"], "frames": [{}]}}
    assert layers.coded_scenario([voice, coded]) == {}


def test_a_scenarios_clip_is_coded_at_the_rates_that_it_names():
    flow = {"name": "film", "traffic": {"clip": "carphone", "layers": ["60 kb/s", "0.06 Mb/s", "120 kb/s"]}}
    traffic = layers.coded_scenario([flow])["flow.film.traffic"]
    assert traffic["frames"] == layers.encode_layers("carphone", RATES).frames()
    assert traffic["frame-rate"] == FRAME_RATE


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ([], "base layer"),
        ([60e3, 0], r"layers\[1\] 0 b/s: must be above 0, so that cumulative rates increase"),
        ([1e3] * 9, "at most 8"),
        ([1e3], "can be coded at"),
        ([60e3, 1], r"layers\[1\] .* give this layer more"),
    ],
)
def test_layers_that_cannot_be_are_refused_with_the_remedy(rates, words):
    with pytest.raises(VideoError, match=words):
        layers.encode_layers("carphone", rates)
