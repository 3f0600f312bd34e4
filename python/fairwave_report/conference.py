"""Conference matrix: the video and audio that each participant received from each other one, and their limits."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

import polars as pl

from fairwave.answers import conference
from fairwave_report import figures as drawing
from fairwave_report import style

if TYPE_CHECKING:
    from pathlib import Path

    from fairwave.results import Results

WORDY = 6
"""With at most this many participants each cell shows the details; with up to twice as many, the MOS."""

LEAST_SILENCE = 0.1
"""A cell omits shorter silence, seconds."""

BANDS = {"good": "#8fd3b8", "fair": "#f1dc82", "poor": "#f2b48e", "undecided": "#cfd8e6", "": "#e4e7ea"}
"""Colour of each band. The last two: the interval touches several bands; nothing was measured."""


def draw_matrices(results: Results, folder: Path) -> list[drawing.Drawing]:
    """Draws a matrix for each call. Draws nothing without calls."""
    return [_draw(results, call, folder) for call in conference.find_calls(results)]


def _describe(one: conference.Received, words: bool) -> str:
    score = "–" if math.isnan(one.worst) else f"{one.worst:.2f}"
    if not words:
        return score
    parts = []
    if not math.isnan(one.speech):
        parts.append(f"speech {one.speech:.1f}")
    if not math.isnan(one.picture):
        height = "" if math.isnan(one.height) else f" at {one.height:.0f}p"
        parts.append(f"picture {one.picture:.1f}{height}")
    if not math.isnan(one.without_s):
        parts.append(f"{one.without_s:.1f} s without")
    if one.silence_s >= LEAST_SILENCE:
        parts.append(f"{one.silence_s:.1f} s of silence")
    if one.limited_by:
        parts.append(one.limited_by)
    return "\n".join(parts) or "nothing received"


def _draw(results: Results, call: conference.Call, folder: Path) -> drawing.Drawing:
    names = call.participants
    cells = conference.received(results, call)
    wordy = len(names) <= WORDY
    side = 1.0 if wordy else max(0.16, 0.55 - 0.012 * len(names))
    name = f"call-{call.name}"
    with drawing.canvas(name, (11.4, 1.1 + side * len(names))) as canvas:
        axes = canvas.subplots(1, 1)
        for one in cells:
            x, y = names.index(one.sender) if one.sender in names else -1, names.index(one.receiver)
            axes.fill_between([x - 0.48, x + 0.48], y - 0.46, y + 0.46, color=BANDS[one.band], linewidth=0)
            if len(names) <= 2 * WORDY:
                axes.text(
                    x,
                    y,
                    _describe(one, wordy),
                    ha="center",
                    va="center",
                    fontsize="small" if wordy else "x-small",
                    color=style.DARK_TEXT,
                )
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xticks(range(len(names)), names, rotation=0 if len(names) <= 2 * WORDY else 90)
        axes.set_yticks(range(len(names)), names)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set_xlabel("… saw and heard of")
        axes.set_ylabel("what …")
        axes.grid(visible=False)
        rows = [asdict(one) | {"limited_by": one.limited_by} for one in cells]
        worst = min(
            (one for one in cells if not math.isnan(one.worst)), key=lambda one: one.worst, default=None
        )
        told = (
            f" The worst: {worst.receiver} of {worst.sender}, MOS {worst.worst:.2f}"
            + (f"; its picture was limited by {worst.limited_by} of the time." if worst.limited_by else ".")
            if worst is not None
            else ""
        )
        return drawing.save(
            canvas, folder, name, pl.DataFrame(rows), results.provenance,
            title=f"What each participant of {call.name} saw and heard of each other one",
            caption="A row is who saw and heard, a column whom. Colours: good, fair, poor or undecided by the MOS of "
            "the worst stream. Without: seconds in which nothing moved though the camera was on. Last line: what "
            f"limited the picture for the longest time, and for which share of it.{told}",
            alt=f"A matrix of {len(names)} participants.{told}",
        )  # fmt: skip
