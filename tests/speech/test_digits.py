"""Sentences of connected digits, and their transport in a call."""

import numpy as np
import pytest
from speech_material import voiced

from fairwave_speech import Fixed, SpeechError, render_call
from fairwave_speech.digits import LENGTHS, reading, sentences, trim
from fairwave_speech.recognise import ReadingCall

VOICE = {
    word: voiced(0.2 + 0.05 * index, 100.0 + 10 * index) for index, word in enumerate(("one", "two", "three"))
}


def units(count: int, frame: int = 160) -> dict[str, np.ndarray]:
    created = np.arange(count) * frame / 8000
    return {"created_s": created, "arrived_s": created + 0.01, "payload": np.full(count, frame)}


def test_the_same_seed_gives_the_same_sentences_and_another_gives_others() -> None:
    first, again, other = (sentences(VOICE, 20, seed) for seed in (1, 1, 2))
    assert [each.words for each in first] == [each.words for each in again]
    assert all(np.array_equal(a.samples, b.samples) for a, b in zip(first, again, strict=True))
    assert [each.words for each in first] != [each.words for each in other]


def test_sentences_have_the_lengths_of_tidigits() -> None:
    found = {len(each.words) for each in sentences(VOICE, 200, 1)}
    assert found == set(LENGTHS)


def test_a_sentence_contains_its_words_in_order() -> None:
    sentence = next(each for each in sentences(VOICE, 50, 1) if len(each.words) == 3)
    at = 0
    for word in sentence.words:
        piece = VOICE[word]
        match = next(
            start
            for start in range(at, len(sentence.samples) - len(piece) + 1)
            if sentence.samples[start + 5] == piece[5]
            and np.array_equal(sentence.samples[start : start + len(piece)], piece)
        )
        at = match + len(piece)


@pytest.mark.parametrize("frame_s", [0.01, 0.03, 0.06])
def test_every_sentence_is_heard_as_it_was_said_over_a_perfect_call(frame_s: float) -> None:
    read = reading(sentences(VOICE, 5, 3), frame_s)
    call = render_call(
        units(len(read.script.frames), round(frame_s * 8000)),
        read.script,
        codec="linear",
        playout=Fixed(0.1, "creation"),
    )
    heard = ReadingCall(call, read).sentences()
    assert len(heard) == 5
    for (words, samples), sentence in zip(heard, read.sentences, strict=True):
        assert words == sentence.words
        assert np.array_equal(samples[: len(sentence.samples)], sentence.samples)


def test_a_longer_call_says_the_sentences_again_and_a_shorter_one_says_whole_ones_alone() -> None:
    read = reading(sentences(VOICE, 4, 3))
    period = len(read.script.frames)
    assert len(read.complete_sentences(2 * period)) == 8
    assert len(read.complete_sentences(period - 1)) == 3
    assert [sentence for sentence, _, _ in read.complete_sentences(period + read.frames[0][1])] == [
        0,
        1,
        2,
        3,
        0,
    ]


def test_silence_around_a_word_is_cut_off() -> None:
    padded = np.concatenate([np.zeros(4000, np.int16), voiced(0.5), np.zeros(4000, np.int16)])
    assert len(trim(padded, 0.03)) == pytest.approx(4000 + 2 * 240, abs=80)


def test_no_sentences_are_refused() -> None:
    with pytest.raises(SpeechError, match="at least one"):
        sentences(VOICE, 0, 1)
    with pytest.raises(SpeechError, match="at least one"):
        reading([])
