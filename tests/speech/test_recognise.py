"""The recogniser, if it and its model are available, and the messages otherwise."""

import numpy as np
import pytest
from speech_material import voiced

from fairwave_speech import SpeechError, render_call
from fairwave_speech.digits import Sentence, digit_recordings, reading, sentences
from fairwave_speech.fetch import Recordings
from fairwave_speech.recognise import ReadingCall, Recogniser, accuracy, recognise_all

HAVE = Recordings()
needs_model = pytest.mark.skipif(HAVE.digit_model() is None, reason="the digit model has not been fetched")
needs_voice = pytest.mark.skipif(HAVE.prompts() is None, reason="the recordings have not been fetched")


def call(read, lost: float, concealment: str) -> ReadingCall:
    count = len(read.script.frames)
    created = np.arange(count) * 0.02
    arrived = created + 0.05
    arrived[np.random.default_rng(1).random(count) < lost] = np.nan
    table = {"created_s": created, "arrived_s": arrived, "payload": np.full(count, 160)}
    return ReadingCall(render_call(table, read.script, concealment=concealment), read)


def test_without_the_model_it_is_said_how_to_get_it(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("FAIRWAVE_DATA", str(tmp_path))
    if HAVE.digit_model() is not None and str(HAVE.digit_model()).startswith("/usr"):
        pytest.skip("the model is installed on this system")
    with pytest.raises(SpeechError, match="pocketsphinx-testdata is not there"):
        Recogniser()


def test_a_folder_that_holds_no_model_is_refused(tmp_path) -> None:
    pytest.importorskip("pocketsphinx")
    with pytest.raises(SpeechError, match="not an acoustic model"):
        Recogniser(tmp_path)


@needs_model
def test_recognition_answers_with_digits_or_nothing_and_always_the_same() -> None:
    listener = Recogniser()
    sound = np.concatenate([voiced(0.3, 110.0), np.zeros(2000, np.int16), voiced(0.4, 140.0)])
    first = listener.recognise(sound)
    listener.recognise(voiced(1.0))
    assert listener.recognise(sound) == first
    assert Recogniser().recognise(sound) == first


@needs_model
def test_errors_are_summed_per_call() -> None:
    said = [Sentence(("one",), voiced(0.4)), Sentence(("two", "three"), voiced(0.5))]
    found = accuracy(
        [call(reading(said), 0.0, "silence"), call(reading(said[:1]), 0.0, "silence")], workers=1
    )
    assert [each.words for each in found] == [3, 1]
    assert [each.sentences for each in found] == [2, 1]


@needs_model
@needs_voice
def test_clean_digits_are_understood_loss_hurts_and_concealment_helps() -> None:
    read = reading(sentences(digit_recordings(), 20, 5))
    clean, silent, concealed = accuracy(
        [call(read, 0.0, "silence"), call(read, 0.2, "silence"), call(read, 0.2, "appendix-i")], workers=1
    )
    assert clean.word_accuracy > 80.0
    assert silent.word_accuracy < clean.word_accuracy - 15.0
    assert concealed.word_accuracy > silent.word_accuracy + 10.0


@needs_model
@needs_voice
def test_processes_find_what_one_process_finds() -> None:
    read = reading(sentences(digit_recordings(), 8, 6))
    heard = call(read, 0.1, "silence")
    assert accuracy([heard], workers=2) == accuracy([heard], workers=1)


@needs_model
def test_sounds_that_are_alike_are_listened_to_once_and_answered_each() -> None:
    one, other = voiced(0.4, 110.0), voiced(0.5, 150.0)
    sounds = [one, other, one.copy(), other, one]
    alone = [Recogniser().recognise(sound) for sound in (one, other)]
    expected = [alone[index] for index in (0, 1, 0, 1, 0)]
    assert recognise_all(sounds, workers=1) == (expected, 2)
    assert recognise_all(sounds, workers=2) == (expected, 2)
