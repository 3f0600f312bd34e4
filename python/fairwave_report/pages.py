"""The layer `pages`: the functions of this package that `fairwave` calls. They do not write to a terminal."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairwave.advice import activities
from fairwave.answers import fates
from fairwave.answers.run_tables import (
    BOTH,
    LINKS,
    judge_groups,
    list_busy_links,
    list_conversations,
    measure_groups,
)
from fairwave.answers.tins import tables as tin_tables
from fairwave.defaults import HEADS as DEFAULTS
from fairwave.defaults import used_defaults
from fairwave.doubting import HEADS as DOUBTS
from fairwave.errors import BadInputError
from fairwave.flow_groups import describe_count, groups, written_playout
from fairwave_report import chosen_style, single, style
from fairwave_report.call import clips
from fairwave_report.call import render_run as listened
from fairwave_report.comparison import write as write_comparison
from fairwave_report.demo import write_demo
from fairwave_report.grids import write_sweep
from fairwave_report.judged import write_judgement
from fairwave_report.limits import write_find
from fairwave_report.measured import write_line
from fairwave_report.overlay import write_overlay
from fairwave_report.page import Part, TableView
from fairwave_report.plotting import figure
from fairwave_report.recorded_call import RecordedCall
from fairwave_report.single import draw_live, to_draw
from fairwave_report.video import show as shown
from fairwave_speech import Adaptive, Fixed, Neteq, SpeechError
from fairwave_speech.fetch import speech as recording
from fairwave_video import VideoError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from fairwave.doubting import Doubt
    from fairwave.results import Results
    from fairwave.scenario import Scenario
    from fairwave_report.single import DrawnRun
    from fairwave_report.video import ViewedClip
    from fairwave_speech import Playout, Recording

    Tell = Callable[[str], None]
    """Receives a warning for people."""

__all__ = [
    "Part",
    "clips",
    "draw_live",
    "drawn",
    "figure",
    "heard",
    "playout_buffer",
    "speech",
    "spoken",
    "styled",
    "to_draw",
    "watch",
    "write_comparison",
    "write_demo",
    "write_find",
    "write_judgement",
    "write_line",
    "write_overlay",
    "write_sweep",
]


@contextmanager
def styled(wanted: str | None, formats: str | None) -> Iterator[None]:
    """Draws in the style of `--style` and saves in the formats of `--figures` within the block.

    Raises:
        BadInputError: The style or format is unknown.
    """
    try:
        found = chosen_style.read(wanted, formats)
    except chosen_style.StyleError as error:
        raise BadInputError(str(error)) from None
    with style.using(found):
        yield


def _ignore(_: str) -> None:
    """Drops a warning."""


def _recording(path: Path | None, tell: Tell) -> Recording:
    """Reads the recording of a file, or the default prompt; `tell` receives its warnings."""
    found = recording(path)
    for one in found.warnings:
        tell(f"warning: {one}")
    return found


def spoken(read: Scenario, speech: Path, call: str, tell: Tell = _ignore) -> RecordedCall:
    """Returns the first call of a group, with the recording as its speech; `tell` receives the recording's warnings.

    Raises:
        BadInputError: The recording cannot be used.
    """
    try:
        return RecordedCall.choose(_recording(speech, tell), read, call)
    except SpeechError as error:
        raise BadInputError(str(error)) from None


def speech(path: Path | None, tell: Tell = _ignore) -> NDArray[np.int16] | None:
    """Returns the samples of a recording, 8000 per second: the file's, else the default prompt's; None without either.

    Raises:
        BadInputError: The given recording cannot be used.
    """
    try:
        return _recording(path, tell).samples
    except SpeechError as error:
        if path is not None:
            raise BadInputError(str(error)) from None
        return None


def heard(
    speech: Path | None, base: Scenario, group: str, tell: Tell = _ignore
) -> tuple[RecordedCall | None, list[str]]:
    """Returns the call of a comparison that carries a recording (the default prompt when None), or the reason for none.

    Raises:
        BadInputError: The given recording cannot be used.
    """
    try:
        return RecordedCall.choose(_recording(speech, tell), base, group), []
    except SpeechError as error:
        if speech is not None:
            raise BadInputError(str(error)) from None
        return None, [f"No audio: {error}"]


def drawn(
    read: Scenario,
    saved: Results,
    seed: int,
    out: Path,
    films: list[ViewedClip],
    heard: RecordedCall | None = None,
    *,
    names: Sequence[str] = (),
    only: Sequence[str] = (),
    run: DrawnRun | None = None,
    doubted: Doubt | None = None,
) -> Path:
    """Writes the run as a page, with its tables, and with the audio of `heard`.

    One run is repeated for the figures, unless `run` is given. The page lists the relevant defaults. With `doubted`, it
    names those that would change the verdict.
    """
    results = heard.merge_group(saved) if heard is not None else saved
    buffer = written_playout(groups(read)[heard.group]) if heard is not None else None
    clips, said = listened(heard, saved, seed, buffer) if heard is not None else ([], [])
    tables, notes = [], []
    of_runs = "mean ± 95 % interval" if results.rows("runs").num_rows > 1 else "value of the one run"
    answer = judge_groups(read, results, only)
    rows_of: dict[str, list[dict[str, Any]]] = {}
    for row in measure_groups(read, results, names, answer.left_out):
        rows_of.setdefault(row["group"], []).append(row)
    activity, left_out = activities(read), set(answer.left_out) - rows_of.keys()
    if left_out:
        notes.append(
            f"{len(left_out)} flow groups have no table here. The files flows and groups have the numbers of all; "
            "`fairwave run --groups all` shows every group."
        )
    for name, flow in groups(read).items():
        if name in left_out:
            continue
        mine = [row for row in rows_of.get(name, []) if row["usual"]]
        rows = [
            [row["title"].removeprefix(f"{name} "), f"{row['text']} {row['unit']}".rstrip()] for row in mine
        ]
        head = f"{name}: {describe_count(flow, activity.get(name))}"
        if rows:
            tables.append(TableView(f"group-{name}", head, ["", of_runs], rows))
        if both := list_conversations(results, name):
            tables.append(TableView(f"both-{name}", f"{name}: both directions", list(BOTH), both))
        if counts := fates.missed(results, name):
            title = f"{name}: what became of its packets"
            tables.append(TableView(f"fates-{name}", title, list(fates.HEADS), fates.table(counts)))
        notes += [f"{name}: {said}." for said in dict.fromkeys(one for row in mine for one in row["remarks"])]
    links = [[name, *cells] for name, cells in list_busy_links(results)]
    if links:
        tables.append(
            TableView("links", "Busiest links", ["link", *(title for _, title, _, _ in LINKS)], links)
        )
    tables += [
        TableView(f"tins-{at}", f"{link}: CAKE's tins, as tc -s qdisc shows them", head, rows)
        for at, (link, head, rows) in enumerate(tin_tables(results))
    ]
    if doubted is not None:
        tables.append(TableView("doubt", " ".join(doubted.sentences()[:1]), list(DOUBTS), doubted.rows()))
    elif defaults := used_defaults(read, seed):
        tables.append(
            TableView(
                "defaults", "Defaults that this scenario uses", DEFAULTS, [one.cells for one in defaults]
            )
        )
    description = str(read.to_dict().get("description", ""))
    run = run or single.repeat_run(heard.scenario if heard is not None else read, saved, seed)
    return single.write(
        run, saved, tables, out, title=read.name, lead=description, answer=answer, notes=notes, films=films,
        clips=clips, heard=said,
    )  # fmt: skip


def watch(read: Scenario, results: Results, clips: list[str], out: Path) -> list[ViewedClip]:
    """Writes the received video of each streamed clip and its quality into `out`, for the first flow of each group.

    Raises:
        BadInputError: The clip cannot be shown.
    """
    try:
        return [shown(results, name, groups(read)[name], out) for name in clips]
    except VideoError as error:
        raise BadInputError(str(error)) from None


def playout_buffer(text: str) -> Playout:
    """Reads a playout buffer: `neteq`, `adaptive`, or a fixed delay such as `100 ms`."""
    if text.strip() in {"neteq", "adaptive"}:
        return Neteq() if text.strip() == "neteq" else Adaptive()
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*ms\s*", text)
    if not found:
        raise BadInputError(
            f"--playout is {text!r}, but must be neteq, adaptive, or a fixed delay such as '100 ms'"
        )
    try:
        return Fixed(float(found[1]) / 1e3)
    except SpeechError as error:
        raise BadInputError(str(error)) from None
