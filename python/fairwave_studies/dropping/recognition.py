"""Speech recognition of CA7's calls: Tables 8 and 9.

Every call reads connected digits (real recordings) through G.711 in its packets of 10, 30 or 60 ms. The study takes a
few sentences of each call and replication, at times spread over the call's talk. Packets that were lost or late in the
simulated run are missing from the sound. The gap is concealed (G.711 Appendix I) or left silent, and a recogniser of
digits listens. The same sentences at the same times under every queue and victim, so differences are paired.

**Differences from the paper's corpus and recogniser.** The paper trained whole-word models on Aurora 2's clean
sentences and tested 4004 sentences of the same corpus; that corpus is not free. Here one voice reads, digits are joined
without coarticulation, and the model (PocketSphinx, TIDIGITS) was not trained on the voice. So it makes mistakes even
without losses (see `CLEAN`). Absolute numbers are lower than the paper's and rest on tens of sentences per flow, not
thousands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl

from fairwave_speech.wer import Alignment, align
from fairwave_studies.dropping import points as p
from fairwave_studies.dropping.published import FLOWS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fairwave_speech.audio import Samples
    from fairwave_speech.digits import Sentence
    from fairwave_study.parts import Data

CORPUS = 24
"""Number of different sentences; each call says some of them in each replication."""
CORPUS_SEED = 5
"""The sentences are drawn with this seed."""

SENTENCES = 5
"""Of each call in each replication."""

METHODS = ("appendix-i", "silence")
"""With and without concealment."""

PLACES: Mapping[str, str] = {
    **{f"A{i}": f"a[{i - 1}]" for i in (1, 2)},
    **{f"B{i}": f"b-near[{i - 1}]" for i in (1, 2, 3)},
    **{f"B{i}": f"b-far[{i - 4}]" for i in (4, 5, 6)},
    **{f"C{i}": f"c[{i - 1}]" for i in (1, 2)},
}
"""The paper's flows and ours."""

_FRAME_MS = {"A": 10, "B": 30, "C": 60}
_PLAYOUT_S = 0.3


@dataclass(frozen=True)
class RecognitionResult:
    """The recognition results.

    Attributes:
        frame: Columns `flow`, `queue`, `victim`, `method`, `seed`, `words`, `errors`, `sentences`, `correct`,
        `printed`.
        clean: Recognition of the corpus without losses.
        distinct: How many different sounds the recogniser listened to.
        missing: Why there is nothing, when recordings or recogniser are not there; else empty.
    """

    frame: pl.DataFrame
    clean: Alignment
    distinct: int = 0
    missing: str = ""


_known: WeakKeyDictionary[Any, RecognitionResult] = WeakKeyDictionary()


def heard(data: Data) -> RecognitionResult:
    """Recognises CA7's calls, once per study."""
    if data not in _known:
        _known[data] = _listen(data)
    return _known[data]


_EMPTY = pl.DataFrame(
    schema={
        **dict.fromkeys(("flow", "queue", "victim", "method"), pl.String),
        **dict.fromkeys(("seed", "words", "errors", "sentences", "correct", "printed"), pl.Int64),
    }
)


@dataclass(frozen=True)
class _SpokenSentence:
    """One sentence of one call in one run."""

    labels: tuple[str, str, str, str, int]
    sentence: int
    sound: bytes


def _listen(data: Data) -> RecognitionResult:
    from fairwave_speech import SpeechError
    from fairwave_speech.digits import digit_recordings, sentences
    from fairwave_speech.recognise import recognise_all

    results = data.results.get(p.ON_OFF)
    if results is None or "units" not in results.tables or not results.units.num_rows:
        return RecognitionResult(_EMPTY, Alignment(), 0, "no calls were recorded")
    try:
        corpus = sentences(digit_recordings(), CORPUS, CORPUS_SEED)
        said = _spoken(results, corpus)
        clean = [_transmitted(one.samples) for one in corpus]
        sounds = [np.frombuffer(one.sound, np.int16) for one in said]
        answers, distinct = recognise_all([*clean, *sounds])
    except (SpeechError, ImportError) as error:
        return RecognitionResult(_EMPTY, Alignment(), 0, str(error))
    total = Alignment()
    for sentence, words in zip(corpus, answers, strict=False):
        total += align(sentence.words, words)
    rows = []
    for one, words in zip(said, answers[len(clean) :], strict=True):
        found = align(corpus[one.sentence].words, words)
        errors = found.substitutions + found.deletions + found.insertions
        rows.append((*one.labels, found.words, errors, 1, found.correct, found.correct_as_printed))
    frame = pl.DataFrame(rows, schema=_EMPTY.schema, orient="row")
    by = ["flow", "queue", "victim", "method", "seed"]
    return RecognitionResult(frame.group_by(by, maintain_order=True).agg(pl.all().sum()), total, distinct)


def _transmitted(samples: Samples) -> Samples:
    from fairwave_speech.codec import codec

    sent: Samples = codec("g711u").transmit(samples)
    return sent


def _spoken(results: Any, corpus: Sequence[Sentence]) -> list[_SpokenSentence]:
    """Every sentence that is listened to, as it sounds."""
    runs = results.to_polars("runs").filter(pl.col("case") == p.SPOKEN_CASE)
    units = results.to_polars("units").with_columns(pl.col("flow").cast(pl.String))
    places = {group: name for name, group in PLACES.items()}
    found: list[_SpokenSentence] = []
    for (run, flow), part in units.partition_by("run", "flow", as_dict=True, maintain_order=True).items():
        name = places.get(str(flow))
        labels = runs.filter(pl.col("run") == run)
        if name is None or not len(labels):
            continue
        queue, victim, seed = (labels[column][0] for column in ("queue", "victim", "seed"))
        created, arrived = (part[column].to_numpy() for column in ("created_s", "arrived_s"))
        for sentence, window in _moments(created, name, int(seed), corpus):
            sounds = _sounds(corpus[sentence], created[window], arrived[window], _FRAME_MS[name[0]])
            for method, sound in zip(METHODS, sounds, strict=True):
                found.append(_SpokenSentence((name, queue, victim, method, seed), sentence, sound.tobytes()))
    return found


def _moments(
    created: NDArray[np.float64], name: str, seed: int, corpus: Sequence[Sentence]
) -> list[tuple[int, slice]]:
    """The time of each sentence: evenly over the call's talk, with an offset per seed."""
    frame_s = _FRAME_MS[name[0]] / 1e3
    place = FLOWS.index(name)
    found = []
    for number in range(SENTENCES):
        sentence = (seed * SENTENCES * len(FLOWS) + place * SENTENCES + number) % len(corpus)
        length = -(-len(corpus[sentence].samples) // round(8000 * frame_s))
        offset = (0.1 + 0.8 * ((seed * 0.6180339887) % 1.0)) / SENTENCES
        first = int((number / SENTENCES + offset) * (len(created) - length))
        first = max(min(first, len(created) - length), 0)
        # A sentence is not interrupted by the application's silence.
        window = created[first : first + length]
        pauses = np.flatnonzero(np.diff(window) > 1.5 * frame_s)
        if len(pauses):
            first += int(pauses[-1]) + 1
        if first + length <= len(created):
            found.append((sentence, slice(first, first + length)))
    return found


def _sounds(
    sentence: Sentence, created: NDArray[np.float64], arrived: NDArray[np.float64], frame_ms: int
) -> list[Samples]:
    """The recognised words of a sentence, by each method."""
    from fairwave_speech.call import render_call
    from fairwave_speech.digits import reading
    from fairwave_speech.playout import Fixed

    script = reading([sentence], frame_ms / 1e3).script
    table = {"created_s": created, "arrived_s": arrived, "payload": np.full(len(created), 8.0 * frame_ms)}
    playout = Fixed(_PLAYOUT_S, "creation")
    return [
        render_call(table, script, playout=playout, concealment=method).samples[: len(sentence.samples)]
        for method in METHODS
    ]


def accuracy(found: RecognitionResult, column: str, **labels: Any) -> NDArray[np.float64]:
    """Per seed, in %, over all sentences with these labels: `words`, `sentences`, or sentences as `printed`."""
    frame = found.frame
    for key, label in labels.items():
        wanted = list(label) if isinstance(label, (list, tuple)) else [label]
        frame = frame.filter(pl.col(key).is_in(wanted))
    whole = frame.group_by("seed", maintain_order=True).agg(
        pl.all().exclude("flow", "queue", "victim", "method").sum()
    )
    whole = whole.sort("seed")
    if not len(whole):
        return np.full(1, math.nan)
    good = {
        "words": pl.col("words") - pl.col("errors"),
        "sentences": pl.col("correct"),
        "printed": pl.col("printed"),
    }[column]
    out_of = pl.col("words") if column == "words" else pl.col("sentences")
    return whole.select(100 * good / out_of).to_series().to_numpy()
