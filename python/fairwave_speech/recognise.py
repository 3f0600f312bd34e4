"""An automatic listener: a recogniser of connected digits.

PocketSphinx with an acoustic model of digits at 8 kHz trained on TIDIGITS (Debian's
``pocketsphinx-testdata``, BSD) and a grammar of one or more digits. The grammar has no 'oh', because the voices here
never use it. The model needs a wide search and a word insertion penalty. With the engine's defaults most sentences are
wrong.

Paper 004 trains eleven whole-word models of 16 states and three Gaussians on Aurora 2's clean sentences and tests on
the same kind of speech. Here the model was not trained on the voice, so it recognises clean speech less often than the
paper's 99 %. Differences between networks count, not absolute numbers.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from fairwave_speech.audio import RATE, Samples
from fairwave_speech.call import RenderedCall
from fairwave_speech.digits import WORDS, Reading
from fairwave_speech.errors import SpeechError
from fairwave_speech.fetch import HOW_TO_SUPPLY, MODEL_PACKAGE, Recordings
from fairwave_speech.wer import Alignment, align

_GRAMMAR = "#JSGF V1.0;\ngrammar digits;\npublic <digits> = ( {} )+ ;\n"

_NOISE = 20.0
"""Standard deviation of the listener's room noise: −64 dBov, as in quiet recordings."""


class Recogniser:
    """A digit recogniser; one per process, used for one sentence at a time."""

    def __init__(self, model: Path | None = None) -> None:
        """Load the model.

        Args:
            model: folder with ``hmm`` and ``lm/tidigits.dic``; the fetched one if not given.

        Raises:
            SpeechError: engine or model are missing; the message explains how to get them.
        """
        folder = model or Recordings().digit_model()
        if folder is None:
            raise SpeechError(f"no acoustic model of digits: {MODEL_PACKAGE} is not there; {HOW_TO_SUPPLY}")
        self._decoder = _decoder(folder)

    def recognise(self, samples: Samples) -> tuple[str, ...]:
        """Words of one sentence at 8 kHz; empty if no path through the grammar fits."""
        # The front end takes logarithms, so digital silence needs a little noise, the same for every sentence.
        noise = np.rint(np.random.default_rng(0).normal(0.0, _NOISE, len(samples)))
        noisy = np.clip(samples + noise, -32768, 32767).astype("<i2")
        self._decoder.start_utt()
        self._decoder.process_raw(noisy.tobytes(), full_utt=True)
        self._decoder.end_utt()
        best = self._decoder.hyp()
        return tuple(best.hypstr.split()) if best else ()


@dataclass(frozen=True)
class ReadingCall:
    """A call that carried a reading.

    Attributes:
        call: the received call.
        reading: the transmitted speech.
    """

    call: RenderedCall
    reading: Reading

    def sentences(self) -> list[tuple[tuple[str, ...], Samples]]:
        """Spoken words and received sound, sentence by sentence."""
        whole = self.reading.complete_sentences(len(self.call.position))
        return [
            (self.reading.sentences[index].words, self.call.segment(first, stop)[0])
            for index, first, stop in whole
        ]


def accuracy(
    calls: Sequence[ReadingCall], workers: int | None = None, model: Path | None = None
) -> list[Alignment]:
    """Recognise every sentence of every call, and count errors.

    Args:
        calls: the calls.
        workers: processes to use, 1 to stay in this one; by default one per core if there are enough sentences.
        model: as in :class:`Recogniser`.

    Returns:
        Per call the errors, summed over its sentences.

    Raises:
        SpeechError: engine or model are missing.
    """
    work = [(index, spoken, heard) for index, call in enumerate(calls) for spoken, heard in call.sentences()]
    # The start of a process takes about as long as the recognition of fifty sentences.
    count = min(os.cpu_count() or 1, len(work) // 50) if workers is None else min(workers, len(work))
    if count <= 1:
        found = _listen(work, model)
    else:
        # Equal shares, dealt out so that long and short sentences mix.
        shares = [work[share::count] for share in range(count)]
        with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
            found = [each for part in pool.map(_listen, shares, [model] * count) for each in part]
    totals = [Alignment() for _ in calls]
    for index, alignment in found:
        totals[index] += alignment
    return totals


def recognise_all(
    sounds: Sequence[Samples], workers: int | None = None, model: Path | None = None
) -> tuple[list[tuple[str, ...]], int]:
    """Recognise many sentences. Bit-identical sounds are recognised once.

    Args:
        sounds: one sentence each, at 8 kHz.
        workers: as in :func:`accuracy`.
        model: as in :class:`Recogniser`.

    Returns:
        The words of each, and the number of different sounds.

    Raises:
        SpeechError: engine or model are missing.
    """
    different = {sound.tobytes(): index for index, sound in reversed(list(enumerate(sounds)))}
    work = [sounds[index] for index in sorted(different.values())]
    count = min(os.cpu_count() or 1, len(work) // 50) if workers is None else min(workers, len(work))
    if count <= 1:
        words = _words(work, model)
    else:
        shares = [work[share::count] for share in range(count)]
        with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
            parts = list(pool.map(_words, shares, [model] * count))
        words = [parts[place % count][place // count] for place in range(len(work))]
    known = {sound.tobytes(): found for sound, found in zip(work, words, strict=True)}
    return [known[sound.tobytes()] for sound in sounds], len(work)


def _words(sounds: Sequence[Samples], model: Path | None) -> list[tuple[str, ...]]:
    """One process's share of sentences."""
    listener = Recogniser(model)
    return [listener.recognise(sound) for sound in sounds]


def _listen(
    work: Iterable[tuple[int, tuple[str, ...], Samples]], model: Path | None
) -> list[tuple[int, Alignment]]:
    """One process's share."""
    listener = Recogniser(model)
    return [(index, align(spoken, listener.recognise(heard))) for index, spoken, heard in work]


def _decoder(folder: Path) -> Any:  # noqa: ANN401 -- the engine has no types
    try:
        from pocketsphinx import Decoder
    except ImportError as error:
        raise SpeechError(
            "recognition needs the package pocketsphinx: pip install 'fairwave[speech]'"
        ) from error
    with tempfile.TemporaryDirectory() as scratch:
        grammar = Path(scratch) / "digits.gram"
        grammar.write_text(_GRAMMAR.format(" | ".join(WORDS)), encoding="ascii")
        try:
            acoustic = _disable_dither(folder / "hmm", Path(scratch))
            return Decoder(
                hmm=str(acoustic),
                dict=str(folder / "lm" / "tidigits.dic"),
                jsgf=str(grammar),
                lm=None,
                samprate=RATE,
                beam=1e-200,
                wbeam=1e-150,
                pbeam=1e-200,
                maxhmmpf=-1,
                bestpath=False,
                wip=1e-10,
                loglevel="FATAL",
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise SpeechError(f"{folder}: not an acoustic model that can be loaded ({error})") from error


def _disable_dither(model: Path, scratch: Path) -> Path:
    """A copy of the model without dithering, because its seed is the clock and would make runs differ."""
    copy = scratch / "hmm"
    shutil.copytree(model, copy)
    parameters = copy / "feat.params"
    lines = parameters.read_text(encoding="ascii").splitlines()
    kept = [line for line in lines if not line.startswith("-dither")]
    parameters.write_text("\n".join([*kept, "-dither no", ""]), encoding="ascii")
    return copy
