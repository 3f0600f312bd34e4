"""Speech at a faster and a slower tempo."""

import numpy as np
import pytest
from speech_material import phrases, voiced

from fairwave_speech import RATE
from fairwave_speech.stretching import Edits, pitch_period, stretch

NONE = np.zeros((0, 2), np.int64)


def changes(*rows: tuple[int, int]) -> np.ndarray:
    return np.array(rows, np.int64).reshape(-1, 2)


def steady(period: int, count: int = 1600) -> np.ndarray:
    """A voice with identical periods: four harmonics of a pitch of `period` samples."""
    phase = 2 * np.pi * np.arange(count) / period
    return np.rint(3000 * sum(np.sin(k * phase + k) / k for k in range(1, 5))).astype(np.int16)


@pytest.mark.parametrize("period", [25, 40, 50, 73, 100])
def test_the_pitch_period_is_found(period: int) -> None:
    assert pitch_period(steady(period)[:240]) == period


def test_a_period_left_out_of_a_steady_voice_is_not_heard() -> None:
    line = steady(50)
    heard, edits = stretch(line, changes((800, -50)), NONE)
    assert len(heard) == len(line) - 50
    assert np.abs(heard.astype(int) - line[: len(heard)]).max() <= 1
    assert (edits.at.tolist(), edits.change.tolist()) == ([680], [-50])


def test_a_period_heard_twice_in_a_steady_voice_is_not_heard_either() -> None:
    line = steady(50, 1650)
    heard, edits = stretch(line[:1600], changes((800, 50)), NONE)
    assert np.abs(heard.astype(int) - line).max() <= 1
    assert (edits.at.tolist(), edits.change.tolist()) == ([680], [50])


def test_the_pitch_stays_while_the_tempo_changes() -> None:
    line = steady(64, 16000)
    every = changes(*((place, -50) for place in range(1000, 16000, 480)))
    heard, _ = stretch(line, every, NONE)
    assert len(line) - len(heard) > 1400
    spectrum = np.abs(np.fft.rfft(heard * np.hanning(len(heard))))
    assert np.argmax(spectrum) * RATE / len(heard) == pytest.approx(RATE / 64, abs=1.0)


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_call_stays_within_a_pitch_period_of_the_law(sign: int) -> None:
    line = phrases(6.0)
    every = changes(*((place, sign * 50) for place in range(800, len(line), 480)))
    _, edits = stretch(line, every, NONE)
    asked = np.array([np.count_nonzero(every[:, 0] - 120 <= at) * sign * 50 for at in edits.at.tolist()])
    assert np.abs(np.cumsum(edits.change) - asked).max() <= 120
    assert len(edits.at) > 20


def test_what_the_voice_could_not_change_is_taken_out_of_the_next_silence() -> None:
    line = np.concatenate([steady(73, 1600), np.zeros(800, np.int16), steady(73, 1600)])
    silence = np.array([[1600, 2400]], np.int64)
    heard, edits = stretch(line, changes((800, -50)), silence)
    assert edits.change.sum() == -50
    assert edits.change.tolist() == [-73, 23]
    assert np.array_equal(heard[-1600:], line[-1600:])
    heard, edits = stretch(line, changes((800, 50)), silence)
    assert edits.change.tolist() == [73, -23]
    assert len(heard) == len(line) + 50


def test_a_change_before_there_is_30_ms_of_speech_waits() -> None:
    _, edits = stretch(steady(50), changes((200, -50), (700, -50)), NONE)
    assert edits.at.tolist() == [580]


def test_nothing_to_change_changes_nothing() -> None:
    line = voiced(0.5)
    heard, edits = stretch(line, NONE, np.array([[100, 200]], np.int64))
    assert np.array_equal(heard, line)
    assert not len(edits.at)


def test_places_move_with_what_is_changed_before_them() -> None:
    edits = Edits(np.array([100, 300]), np.array([-50, 80]))
    assert edits.move(np.array([0, 100, 101, 300, 301])).tolist() == [0, 100, 51, 250, 331]
