"""Properties of G.711 Appendix I."""

import numpy as np
import pytest
from speech_material import RATE, phrases, snr_db, voiced

from fairwave_speech import SpeechError
from fairwave_speech.concealment import conceal, pitch_period


def gap(length: int, first: int, count: int) -> np.ndarray:
    missing = np.zeros(length, np.bool_)
    missing[first : first + count] = True
    return missing


def test_speech_without_gaps_passes_bit_by_bit() -> None:
    speech = phrases()
    assert np.array_equal(conceal(speech, np.zeros(len(speech), np.bool_)), speech)


@pytest.mark.parametrize("pitch_hz", [70.0, 100.0, 125.0, 160.0, 200.0])
def test_pitch_of_a_vowel_is_found(pitch_hz: float) -> None:
    found = pitch_period(voiced(0.1, pitch_hz).astype(float))
    periods = found * pitch_hz / RATE
    # A multiple of the period within 15 ms matches as well as the period.
    assert abs(periods - round(periods)) < 0.02 * round(periods)


@pytest.mark.parametrize("milliseconds", [10, 20])
def test_a_short_gap_in_a_steady_vowel_is_hardly_audible(milliseconds: int) -> None:
    speech = voiced(0.5, 118.0)
    missing = gap(len(speech), 2000, milliseconds * 8)
    concealed = snr_db(speech, conceal(speech, missing))
    silent = snr_db(speech, conceal(speech, missing, "silence"))
    assert concealed > silent + 8.0


def test_a_gap_in_a_sine_of_whole_samples_continues_it() -> None:
    # 100 Hz has a period of exactly 80 samples, so the first 10 ms differ by rounding alone.
    sine = np.rint(8000 * np.sin(2 * np.pi * np.arange(4000) / 80)).astype(np.int16)
    heard = conceal(sine, gap(4000, 2000, 80))
    assert np.abs(heard.astype(int) - sine).max() <= 2


def test_samples_away_from_the_gap_stay_as_they_are() -> None:
    speech = phrases()
    first, count = 9000, 320
    heard = conceal(speech, gap(len(speech), first, count))
    # A quarter of the longest period before, 10 ms after.
    assert np.array_equal(heard[: first - 30], speech[: first - 30])
    assert np.array_equal(heard[first + count + 80 :], speech[first + count + 80 :])


def test_a_long_gap_fades_by_a_fifth_each_10_ms_to_silence_at_60() -> None:
    sine = np.rint(8000 * np.sin(2 * np.pi * np.arange(8000) / 80)).astype(np.int16)
    heard = conceal(sine, gap(8000, 2000, 800)).astype(float)
    peaks = [np.abs(heard[2000 + 80 * k : 2080 + 80 * k]).max() / 8000 for k in range(10)]
    # A frame's peak is a quarter into it, at a quarter of the frame's fade.
    assert peaks[:6] == pytest.approx([1.0, 0.95, 0.75, 0.55, 0.35, 0.15], abs=0.02)
    assert peaks[6:] == [0.0] * 4


def test_there_is_no_click_at_either_end_of_a_gap() -> None:
    speech = voiced(0.5)
    steepest = np.abs(np.diff(speech.astype(int))).max()
    heard = conceal(speech, gap(len(speech), 2011, 160)).astype(int)
    assert np.abs(np.diff(heard))[1950:2300].max() <= 1.2 * steepest


def test_a_gap_at_the_beginning_is_silent() -> None:
    speech = voiced(0.2)
    assert not conceal(speech, gap(len(speech), 0, 160))[:160].any()


def test_silence_leaves_gaps_empty_and_the_rest_alone() -> None:
    speech = voiced(0.2)
    missing = gap(len(speech), 400, 160)
    heard = conceal(speech, missing, "silence")
    assert not heard[missing].any()
    assert np.array_equal(heard[~missing], speech[~missing])


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9, 1.0])
def test_any_pattern_of_gaps_gives_finite_speech_of_the_same_length(share: float) -> None:
    speech = phrases()
    rng = np.random.default_rng(3)
    missing = np.repeat(rng.random(len(speech) // 37 + 1) < share, 37)[: len(speech)]
    heard = conceal(speech, missing)
    assert heard.shape == speech.shape
    assert np.abs(heard.astype(int)).max() <= 1.5 * np.abs(speech.astype(int)).max()


def test_what_lies_in_a_gap_does_not_matter() -> None:
    speech = phrases()
    missing = gap(len(speech), 4000, 160)
    other = np.where(missing, np.int16(12345), speech)
    assert np.array_equal(conceal(speech, missing), conceal(other, missing))


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(SpeechError, match="appendix-i, silence"):
        conceal(voiced(0.1), np.zeros(800, np.bool_), "magic")


def test_flags_that_do_not_match_are_refused() -> None:
    with pytest.raises(SpeechError, match="need one flag"):
        conceal(voiced(0.1), np.zeros(7, np.bool_))
