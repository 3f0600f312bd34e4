"""Scores against the original."""

import numpy as np
import pytest
from speech_material import phrases, voiced

from fairwave_speech import Fixed, SpeechError, render_call, script
from fairwave_speech.audio import Recording
from fairwave_speech.score import is_visqol_installed, segmental_snr_db, visqol

needs_visqol = pytest.mark.skipif(
    not is_visqol_installed(), reason="ViSQOL is not installed (fairwave[scoring])"
)


def call(lost: float, seconds: float = 8.0):
    said = script(Recording(phrases(seconds)), 0.02, talk="all")
    count = len(said.frames)
    created = np.arange(count) * 0.02
    arrived = created + 0.05
    arrived[np.random.default_rng(1).random(count) < lost] = np.nan
    table = {"created_s": created, "arrived_s": arrived, "payload": np.full(count, 160)}
    return render_call(table, said, playout=Fixed())


def test_segmental_ratio_of_known_noise_is_that_ratio() -> None:
    speech = voiced(2.0)
    noisy = speech + np.where(np.arange(len(speech)) % 2, 60, -60).astype(np.int16)
    level = 10 * np.log10(np.mean(np.square(speech.astype(float))) / 3600.0)
    assert segmental_snr_db(speech, noisy) == pytest.approx(level, abs=0.3)


def test_identical_speech_reaches_the_ceiling() -> None:
    assert segmental_snr_db(voiced(1.0), voiced(1.0)) == 35.0


def test_segmental_ratio_falls_with_loss() -> None:
    ratios = [segmental_snr_db(each.reference, each.samples) for each in map(call, (0.0, 0.05, 0.2))]
    assert ratios[0] > ratios[1] > ratios[2]


def test_silence_between_words_does_not_count() -> None:
    speech = np.concatenate([voiced(1.0), np.zeros(8000, np.int16)])
    heard = speech.copy()
    heard[8000:] = 20
    assert segmental_snr_db(speech, heard) == 35.0


def test_signals_of_different_length_are_refused() -> None:
    with pytest.raises(SpeechError, match="same length"):
        segmental_snr_db(voiced(1.0), voiced(0.5))


def test_a_silent_reference_is_refused() -> None:
    with pytest.raises(SpeechError, match="the reference has no speech"):
        segmental_snr_db(np.zeros(800, np.int16), voiced(0.1))


@needs_visqol
def test_visqol_falls_with_loss() -> None:
    lossy = call(0.2, 4.0)
    clean, lost = (
        visqol(lossy.reference, heard, clip_s=4.0).mos for heard in (lossy.reference, lossy.samples)
    )
    assert 5.0 >= clean > lost + 0.3 >= 1.3


@needs_visqol
def test_a_call_too_short_to_score_is_refused() -> None:
    with pytest.raises(SpeechError, match="second of speech"):
        visqol(voiced(0.5), voiced(0.5))


@needs_visqol
def test_clips_of_silence_are_left_out() -> None:
    speech = np.concatenate([phrases(2.0), np.zeros(16000, np.int16), phrases(2.0, seed=2)])
    assert len(visqol(speech, speech, clip_s=2.0).clips) == 2
