"""Effect of loss on speech, with and without concealment.

``python -m validation speech`` measures it. Units of 20 ms over G.711 µ law are lost independently of one another;
nothing is late. Every replication draws new digits and new losses. The prompt of the score stays the same, with new
losses.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fairwave import _native
from fairwave.measuring.statistics import interval
from fairwave_speech.call import RenderedCall, render_call
from fairwave_speech.digits import Reading, digit_recordings, reading, sentences
from fairwave_speech.errors import SpeechError
from fairwave_speech.fetch import Recordings
from fairwave_speech.playout import Fixed
from fairwave_speech.recognise import ReadingCall, accuracy
from fairwave_speech.score import is_visqol_installed, segmental_snr_db, visqol
from fairwave_speech.script import Script, script
from fairwave_speech.voices import VOICES, synthetic_digits
from validation import kept, writing

LOSSES = (0.0, 0.01, 0.05, 0.1, 0.2)
REPLICATIONS = 5
SENTENCES = 20

KEPT = "measured/speech"
ABOUT = """Units have 20 ms of G.711 µ-law. They are lost independently, and none is late. ViSQOL and segmental SNR
use 8 s of the default prompt. The second table adds synthetic voices (Debian's `flite`)."""


def lossy_call(
    said: Script, loss: float, concealment: str, seed: int, units: int | None = None
) -> RenderedCall:
    """A call over a path with independent losses of units and a constant delay.

    Args:
        said: the speech.
        loss: probability that a unit is lost.
        concealment: see :func:`fairwave_speech.render_call`.
        seed: equal seeds lose equal units at equal loss.
        units: length of the call; by default the script once.
    """
    count = len(said.frames) if units is None else units
    created = np.arange(count) * said.frame_s
    arrived = created + 0.05
    arrived[np.random.default_rng(seed).random(count) < loss] = np.nan
    table = {"created_s": created, "arrived_s": arrived, "payload": np.full(count, said.frame)}
    return render_call(table, said, concealment=concealment, playout=Fixed())


def rows(replications: int = REPLICATIONS, count: int = SENTENCES) -> list[dict[str, str]]:
    """Measure all conditions.

    Args:
        replications: number of draws of sentences and losses, at least 2 for intervals.
        count: sentences in each.

    Raises:
        SpeechError: recordings, model or recogniser are missing.
    """
    conditions = [
        (loss, concealment)
        for loss in LOSSES
        for concealment in (("silence", "appendix-i") if loss else ("silence",))
    ]
    voice = digit_recordings()
    readings = [reading(sentences(voice, count, seed)) for seed in range(replications)]
    prompt = script(Recordings().prompt(), talk="all")
    calls = [
        ReadingCall(lossy_call(said.script, loss, concealment, seed), said)
        for loss, concealment in conditions
        for seed, said in enumerate(readings)
    ]
    found = accuracy(calls)
    table = []
    for index, (loss, concealment) in enumerate(conditions):
        mine = found[index * replications : (index + 1) * replications]
        heard = [lossy_call(prompt, loss, concealment, seed, units=400) for seed in range(replications)]
        scores = [visqol(call.reference, call.samples).mos for call in heard] if is_visqol_installed() else []
        table.append(
            {
                "lost units": f"{100 * loss:g} %",
                "concealment": {"silence": "none", "appendix-i": "Appendix I"}[concealment] if loss else "—",
                "word accuracy, %": str(interval([each.word_accuracy for each in mine])),
                "correct sentences, %": str(interval([each.sentence_accuracy for each in mine])),
                "the same as printed in 004, %": str(
                    interval([each.sentence_accuracy_as_printed for each in mine])
                ),
                "ViSQOL MOS-LQO": str(interval(scores)) if scores else "not installed",
                "segmental SNR, dB": str(
                    interval([segmental_snr_db(call.reference, call.samples) for call in heard])
                ),
            }
        )
    return [*table, {"note": _note(readings, replications, count)}]


def voice_rows(replications: int = 3, count: int = SENTENCES, loss: float = 0.1) -> list[dict[str, str]]:
    """Measure the effect of the voice: the recordings and each synthetic voice, clean and at one loss.

    Raises:
        SpeechError: recordings, voices, model or recogniser are missing.
    """
    conditions = ((0.0, "silence"), (loss, "silence"), (loss, "appendix-i"))
    speakers = {
        "recordings": digit_recordings(),
        **{f"flite {name}": synthetic_digits(name) for name in VOICES},
    }
    readings = {
        name: [reading(sentences(voice, count, seed)) for seed in range(replications)]
        for name, voice in speakers.items()
    }
    calls = [
        ReadingCall(lossy_call(said.script, lost, concealment, seed), said)
        for several in readings.values()
        for lost, concealment in conditions
        for seed, said in enumerate(several)
    ]
    found = accuracy(calls)
    table = []
    for index, name in enumerate(readings):
        mine = found[index * 3 * replications : (index + 1) * 3 * replications]
        cells = [
            str(interval([each.word_accuracy for each in mine[at * replications : (at + 1) * replications]]))
            for at in range(3)
        ]
        table.append(
            {
                "voice": name,
                "clean, % words": cells[0],
                f"{100 * loss:g} % lost, none": cells[1],
                f"{100 * loss:g} % lost, Appendix I": cells[2],
            }
        )
    return [
        *table,
        {"note": _note([one for several in readings.values() for one in several], replications, count)},
    ]


def _note(readings: Sequence[Reading], replications: int, count: int) -> str:
    words = sum(len(sentence.words) for each in readings for sentence in each.sentences)
    return (
        f"Fairwave {_native.version}; {replications} replications with seeds 0 to {replications - 1}, in each {count} "
        f"sentences per voice ({words} words in all); means with 95 % intervals."
    )


def markdown(table: Sequence[dict[str, str]]) -> str:
    """The rows as a table for a page."""
    *body, note = table
    head = list(body[0])
    lines = [" | ".join(head), " | ".join("---" for _ in head), *(" | ".join(row.values()) for row in body)]
    return "\n".join([*(f"| {line} |" for line in lines), "", note["note"]])


def render(_: Path) -> str:
    """Renders the page from the kept rows."""
    found = kept.read(KEPT)
    parts = ["# Effect of loss on speech", ABOUT, markdown(found["losses"]), markdown(found["voices"])]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    """Measures and keeps the rows."""
    writing.parser(__doc__).parse_args()
    try:
        kept.write(KEPT, {"losses": list(rows()), "voices": list(voice_rows())})
    except SpeechError as error:
        sys.stderr.write(f"fairwave: {error}\n")
        return 2
    return 0
