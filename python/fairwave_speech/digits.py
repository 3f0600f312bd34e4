"""Connected digits: sentences with known words, for a recogniser after a call.

Digits are real recordings, one per digit and voice, trimmed of silence and joined with short pauses.
Sentences have 1, 2, 3, 4, 5 or 7 digits as in TIDIGITS, the source of Aurora 2. Sentences are drawn from a seed.

Paper 004 uses Aurora 2: many American speakers, digits spoken fluently into one another, 'oh' as well as 'zero', and a
test set of 4004 sentences. That corpus is not free. Here one woman speaks (Debian's Asterisk prompts), each digit
always in the same way, without coarticulation and without 'oh' (and by default without 'two', see :data:`MISHEARD`).

**Assumptions**: pauses within a sentence are uniform from 20 to 120 ms, and 300 ms separate sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from fairwave_speech.audio import RATE, Recording, Samples
from fairwave_speech.errors import SpeechError
from fairwave_speech.fetch import Recordings
from fairwave_speech.script import Script, script
from fairwave_speech.vad import talk_intervals

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

LENGTHS = (1, 2, 3, 4, 5, 7)
"""Digits in a sentence (TIDIGITS)."""

_SILENCE_S = 0.3
_PAUSE_S = (0.02, 0.12)

MISHEARD = frozenset({"two"})
"""Words that sentences leave out: the recogniser takes the one recording of 'two' for 'zero' even when it is clean,
which is independent of the network.
"""


@dataclass(frozen=True)
class Sentence:
    """A sequence of digits.

    Attributes:
        words: its words.
        samples: its sound, with silence before and after.
    """

    words: tuple[str, ...]
    samples: Samples


@dataclass(frozen=True)
class Reading:
    """Sentences read one after another: the speech of one party of a call.

    Attributes:
        script: all of it, to be sent without suppressing silence.
        sentences: the sentences.
        frames: per sentence, its first frame in the script and the one past its last.
    """

    script: Script
    sentences: tuple[Sentence, ...]
    frames: tuple[tuple[int, int], ...]

    def complete_sentences(self, units: int) -> list[tuple[int, int, int]]:
        """Sentences that a call of this many units carries completely: (sentence, first unit, one past the last)."""
        period = len(self.script.frames)
        found = []
        for start in range(0, units, period):
            for index, (first, stop) in enumerate(self.frames):
                if start + stop <= units:
                    found.append((index, start + first, start + stop))
        return found


def digit_recordings(
    recordings: Recordings | None = None, *, leave_out: Set[str] = MISHEARD
) -> dict[str, Samples]:
    """The digits of the Asterisk prompts, by word, trimmed of silence.

    Args:
        recordings: their source.
        leave_out: words not to speak.

    Raises:
        SpeechError: the prompts are missing; the message explains how to get them.
    """
    source = Recordings() if recordings is None else recordings
    return {
        word: trim(source.prompt(f"digits/{digit}").samples)
        for digit, word in enumerate(WORDS)
        if word not in leave_out
    }


def trim(samples: Samples, margin_s: float = 0.1) -> Samples:
    """Cut silence off both ends, except for a margin in seconds."""
    frame = RATE // 100
    intervals = talk_intervals(samples, frame, hangover_s=margin_s, lead_s=margin_s)
    return samples[intervals[0, 0] * frame : intervals[-1, 1] * frame]


def sentences(voice: Mapping[str, Samples], count: int, seed: int) -> list[Sentence]:
    """Draw sentences.

    Args:
        voice: a recording per word.
        count: number of sentences.
        seed: equal seeds draw equal sentences.

    Raises:
        SpeechError: no words, or a count below 1.
    """
    if count < 1 or not voice:
        raise SpeechError(f"{count} sentences of {len(voice)} words: need at least one of each")
    draw = np.random.default_rng(seed)
    words = list(voice)
    return [_sentence(voice, words, draw) for _ in range(count)]


def reading(spoken: Sequence[Sentence], frame_s: float = 0.02) -> Reading:
    """Join sentences, each starting at a frame boundary.

    Args:
        spoken: the sentences, at least one.
        frame_s: length of a frame in seconds.

    Raises:
        SpeechError: no sentence, or a frame out of range.
    """
    if not spoken:
        raise SpeechError("a reading needs at least one sentence")
    size = max(round(frame_s * RATE), 1)
    pieces, frames, at = [], [], 0
    for sentence in spoken:
        whole = -(-len(sentence.samples) // size)
        piece = np.zeros(whole * size, np.int16)
        piece[: len(sentence.samples)] = sentence.samples
        pieces.append(piece)
        frames.append((at, at + whole))
        at += whole
    said = script(Recording(np.concatenate(pieces), "connected digits"), frame_s, talk="all", pause_s=0.0)
    return Reading(said, tuple(spoken), tuple(frames))


def _sentence(voice: Mapping[str, Samples], words: Sequence[str], draw: np.random.Generator) -> Sentence:
    length = LENGTHS[int(draw.integers(len(LENGTHS)))]
    chosen = [words[int(index)] for index in draw.integers(len(words), size=length)]
    silence = np.zeros(round(_SILENCE_S * RATE / 2), np.int16)
    pieces = [silence]
    for position, word in enumerate(chosen):
        if position:
            pieces.append(np.zeros(round(draw.uniform(*_PAUSE_S) * RATE), np.int16))
        pieces.append(voice[word])
    return Sentence(tuple(chosen), np.concatenate([*pieces, silence]))
