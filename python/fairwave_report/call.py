"""Audible calls of a comparison: one recording, carried packet by packet through each alternative.

`fairwave_speech` does the coding, playout and concealment. `fairwave_report.recorded_call` chooses the call.
"""

from __future__ import annotations

import io
import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from fairwave.answers.labels import spelled
from fairwave_report import figures as drawing
from fairwave_report import style
from fairwave_report.listening import Clip, places

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.results import Results
    from fairwave.runs.replication import Progress
    from fairwave_report.recorded_call import RecordedCall
    from fairwave_speech import Playout, RenderedCall

SCORED = 2
"""ViSQOL scores at most this many clips of a call."""

LISTEN_S = 20.0
"""Seconds of each call that a page contains."""

APART = 0.5
"""If two opinion scores of the same call differ by more, the page explains why."""


def clips(
    heard: RecordedCall,
    results: Results,
    axis: str,
    labels: Sequence[Any],
    seed: int,
    playout: Playout | None = None,
    progress: Progress | None = None,
) -> tuple[list[Clip], list[str]]:
    """Renders the received call of each alternative in the run with this seed, the original first.

    The notes next to each clip describe the whole call: its units, R and MOS by the E-model, the mouth-to-ear delay,
    and the mean ViSQOL score of the received speech against the original.

    Args:
        heard: The call.
        results: Runs with one axis.
        axis: Its name.
        labels: The alternatives.
        seed: Seed of the run.
        playout: The playout buffer; the language's default when None.
        progress: Callback with the number of alternatives that are done.

    Returns:
        The clips, each with its positions in the original, and remarks: the chosen call, omissions, and the source of
        the recording.
    """
    from fairwave_speech import RATE, SpeechError, render_call

    runs = results.to_polars("runs")
    flows = results.to_polars("flows").filter(
        (pl.col("group").cast(pl.String) == heard.name) & (pl.col("flow") == 0)
    )
    found: list[Clip] = []
    ratings: list[RatingPair] = []
    spoken: Any = None
    for label in labels:
        run = runs.filter((pl.col(axis) == label) & (pl.col("seed") == seed))["run"][0]
        mine = heard.units(results, run)
        try:
            call = render_call(
                mine, heard.script, codec=heard.codec, playout=playout, concealment=heard.concealment,
                any_payload=True,
            )  # fmt: skip
            first, stop = _excerpt(mine["created_s"].to_list())
            samples, reference = call.segment(first, stop)
        except SpeechError as error:
            return found, [f"No audio over {label}: {error}"]
        if not found:
            found.append(Clip("The original", wav(reference), "as spoken, without coding and losses"))
        notes, pair = _notes(call, flows, run, spelled(label))
        ratings += [pair] if pair is not None else []
        spoken = call.reference_position[first:stop] if len(found) == 1 else spoken
        line = places((spoken - spoken[0]) / RATE, (call.position[first:stop] - call.position[first]) / RATE)
        found.append(Clip(spelled(label), wav(samples), "; ".join(notes), line))
        if progress is not None:
            progress(len(found) - 1, len(labels))
    recording = heard.script.recording
    said = [
        _describe_call(heard, seed),
        *explain_differences(ratings),
        heard.remark,
        *recording.warnings,
        recording.attribution,
    ]
    return found, [one for one in said if one]


def render_run(
    heard: RecordedCall, results: Results, seed: int, playout: Playout | None = None
) -> tuple[list[Clip], list[str]]:
    """Renders the call of one run: the original, the received call, and remarks. Arguments as for `clips`."""
    found, said = clips(heard, results, "seed", [seed], seed, playout)
    return [*found[:1], *(replace(one, title="As it is heard") for one in found[1:])], said


def _notes(
    call: RenderedCall, flows: pl.DataFrame, run: int, title: str
) -> tuple[list[str], RatingPair | None]:
    """Returns the notes next to a clip, about the whole call, and its two ratings if it has both."""
    from fairwave_speech import SpeechError
    from fairwave_speech.score import is_visqol_installed, visqol

    counts = call.counts
    shares = {fate: 100 * count / sum(counts.values()) for fate, count in counts.items()}
    notes = [
        ", ".join(f"{share:.1f} % {fate}" for fate, share in shares.items()),
        f"{call.mouth_to_ear_s:.2f} s from mouth to ear",
    ]
    row = flows.filter(pl.col("run") == run)
    opinion = row["mos"][0] if row.height else None
    if opinion is not None:
        rating = row["r_factor"][0]
        end = ", where the scale ends" if rating <= 0 else ""
        notes.append(f"E-model R {rating:.0f}{end}, MOS {opinion:.2f}")
    if row.height and row["quality_note"][0]:
        notes.append(str(row["quality_note"][0]))
    if not is_visqol_installed() or not counts["played"]:
        return notes, None
    try:
        score = visqol(call.reference, call.samples, most=SCORED).mos
    except SpeechError as error:
        notes.append(f"no ViSQOL: {error}")
        return notes, None
    if math.isnan(score):
        notes.append("no ViSQOL: a clip is silent")
        return notes, None
    cost = row["r_cost_delay"][0] if opinion is not None and "r_cost_delay" in row.columns else None
    pair = RatingPair(title, opinion, score, call.mouth_to_ear_s, cost) if opinion is not None else None
    notes.append(f"ViSQOL {score:.2f}{PARTED if pair is not None and pair.differs else ''}")
    return notes, pair


@dataclass(frozen=True)
class RatingPair:
    """Two ratings of one call.

    Attributes:
        title: Title of the recording.
        opinion: MOS of the whole call, estimated by the E-model.
        score: ViSQOL score of the received speech against the original.
        mouth_to_ear_s: Mean delay, seconds.
        delay_cost: Points of R that delay costs; None if unknown.
    """

    title: str
    opinion: float
    score: float
    mouth_to_ear_s: float
    delay_cost: float | None

    @property
    def differs(self) -> bool:
        """Whether the two differ by more than `APART`."""
        return abs(self.opinion - self.score) > APART


PARTED = " †"
"""Marks a ViSQOL score that a paragraph above the recordings explains."""


def explain_differences(several: Sequence[RatingPair]) -> list[str]:
    """Explains once, for all recordings concerned, why the E-model's MOS and the ViSQOL score differ."""
    differ = [one for one in several if one.differs]
    if not differ:
        return []
    said = ["† MOS and ViSQOL answer two questions."]
    higher = [one for one in differ if one.score > one.opinion]
    if higher:
        each = "; ".join(f"{one.title}: {_delay(one)}" for one in higher)
        said.append(
            "ViSQOL compares the received speech with the original and ignores delay; the E-model rates a "
            f"conversation, delay included ({each})."
        )
    if len(higher) < len(differ):
        each = ", ".join(one.title for one in differ if one not in higher)
        said.append(
            "ViSQOL scores the sound of a part of one call, including stretching, gaps and the codec; the E-model "
            f"estimates the whole call from its loss and delay ({each})."
        )
    return [" ".join(said)]


def _delay(one: RatingPair) -> str:
    cost = f", which costs {one.delay_cost:.0f} points of R" if one.delay_cost is not None else ""
    return f"{one.mouth_to_ear_s:.2g} s{cost}"


def _describe_call(heard: RecordedCall, seed: int) -> str:
    """States which call you hear."""
    codec = heard.scenario_codec
    tables = ""
    if heard.name == heard.group:
        whose = "" if heard.group == "call" else f" of {heard.group}"
        which = f"the call{whose} ({codec}, seed {seed})"
    else:
        which = f"one of the {heard.number + 1} calls of {heard.group} ({codec}, seed {seed})"
        tables = f" The tables list this call as the group {heard.name}; the rows for {heard.group} cover all calls."
    return (
        f"You hear {LISTEN_S:g} seconds of {which}, with all other traffic present.{tables} The notes next to a "
        "recording describe this one call; tables show means over all calls and replications."
    )


def draw_units(
    heard: RecordedCall, results: Results, axis: str, labels: Sequence[Any], seed: int, folder: Path
) -> drawing.Drawing:
    """Draws the delay of every unit in the audible excerpt, and the units that never arrived.

    One panel per alternative: time across, one-way delay up (logarithmic), missing units as ticks below.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    runs = results.to_polars("runs")
    looks = style.looks(labels)
    parts = []
    for label in labels:
        run = runs.filter((pl.col(axis) == label) & (pl.col("seed") == seed))["run"][0]
        mine = heard.units(results, run)
        first, stop = _excerpt(mine["created_s"].to_list())
        delay = pl.col("arrived_s") - pl.col("created_s")
        parts.append(
            mine[first:stop].select(pl.lit(label).alias(axis), "unit", "created_s", delay.alias("delay_s"))
        )
    data = pl.concat(parts)
    span = data.select(pl.col("delay_s").max() / pl.col("delay_s").min()).item()
    # Over many decades, numbers between the powers of ten would overlap.
    steps = (1.0,) if span is not None and span > 50 else (1.0, 2.0, 5.0)
    with drawing.canvas("units", (9.2, 0.9 + 1.35 * len(labels))) as canvas:
        grid = canvas.subplots(len(labels), 1, sharex=True, sharey=True, squeeze=False)
        for axes, label, part in zip(grid.flat, labels, parts, strict=True):
            arrived = part.filter(pl.col("delay_s").is_not_null())
            missing = part.filter(pl.col("delay_s").is_null())
            axes.plot(arrived["created_s"], arrived["delay_s"], ".", markersize=3, color=looks[label].colour)
            # Ticks along the lower edge, with heights in panel coordinates. Without missing units nothing is drawn,
            # because the layout would reserve room for it.
            for made in missing["created_s"]:
                axes.axvline(made, 0, 0.07, color=style.INK, linewidth=0.8)
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=steps))
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.set_title(spelled(label))
            axes.set_ylabel("s")
        grid.flat[-1].set_xlabel("made at (s)")
        return drawing.save(
            canvas, folder, "units", data, results.provenance,
            title="One call, packet by packet",
            caption=f"The call that you hear, seed {seed}: one-way delay per unit; ticks: units that had not arrived "
            "by the end of the run.",
            alt=f"One-way delay of each unit over time, one panel per {axis}: {_delays_in_words(data, axis)}",
        )  # fmt: skip


def _delays_in_words(data: pl.DataFrame, axis: str) -> str:
    """Returns the median delay and the number of missing units of each alternative, in words."""
    rows = data.group_by(axis, maintain_order=True).agg(
        pl.col("delay_s").median(), pl.col("delay_s").is_null().sum().alias("missing"), pl.len().alias("all")
    )
    return "; ".join(
        f"{spelled(row[axis])} median {drawing.format_value(row['delay_s'])} s, "
        f"{row['missing']} of {row['all']} missing"
        for row in rows.to_dicts()
    )


def _excerpt(created: list[float]) -> tuple[int, int]:
    """Returns the first unit of the page's excerpt and one past its last. The excerpt begins a third into the call."""
    begin = created[0] + (created[-1] - created[0]) / 3
    if created[-1] - begin < LISTEN_S:
        begin = max(created[0], created[-1] - LISTEN_S)
    chosen = [number for number, at in enumerate(created) if begin <= at < begin + LISTEN_S]
    return chosen[0], chosen[-1] + 1


def write_audio(clips: Sequence[Clip], folder: Path) -> None:
    """Writes recordings as files: `audio-1-the-original.wav` and so on."""
    for number, clip in enumerate(clips, 1):
        plain = re.sub(r"[^a-z0-9]+", "-", clip.title.lower()).strip("-")[:40] or "call"
        (folder / f"audio-{number}-{plain}.wav").write_bytes(clip.wav)


def wav(samples: Any) -> bytes:
    """Returns mono 16-bit samples at 8 kHz as a wav file."""
    import wave

    import numpy as np

    from fairwave_speech import RATE

    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.asarray(samples, dtype="<i2").tobytes())
    return buffer.getvalue()
