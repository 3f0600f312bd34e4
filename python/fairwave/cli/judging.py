"""`fairwave judge`."""

from __future__ import annotations

import csv
import math
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from fairwave.cli import console
from fairwave.cli.input import layer_or_note, refuse_other
from fairwave.errors import BadInputError

if TYPE_CHECKING:
    from fairwave.judging import Judgement, WhatIf

SHOWN = 30
"""Largest number of streams, and of events, in the tables."""

READ = ("capture", "dump", "getstats", "rtcstats")
"""Kinds of files that the command reads."""

HEADS = [
    "stream", "verdict", "codec", "seconds", "rate, kb/s", "lost", "jitter, ms", "round trip, ms", "freezes",
    "longest freeze, s", "longest gap, s", "MOS",
]  # fmt: skip


EVENTS = ["seconds", "event", "stream"]
EFFECTS = ["change", "measure", "as fitted", "changed", "difference (95 %)", "result"]


def show_judgement(
    file: Path,
    *,
    connection: str | None,
    sdp: Path | None,
    out: Path | None,
    overwrite: bool,
    json: bool,
    what_if: bool = False,
) -> None:
    """Judges a file, prints the verdict, and writes the requested folder."""
    from fairwave.captures import CaptureError
    from fairwave.folders import claimed
    from fairwave.judging import explore_changes, judge_file

    if file.is_dir():
        raise BadInputError(f"{file} is a folder; give a capture or the statistics of a call")
    try:
        with console.progress(f"judging {file.name}", quiet=json) as progress:
            found = judge_file(file, connection=connection, sdp=sdp, progress=progress)
        explored = None
        if what_if:
            with console.progress(f"fitting {file.name}, trying changes", quiet=json) as progress:
                explored = explore_changes(file, connection=connection, sdp=sdp, progress=progress)
    except (FileNotFoundError, CaptureError, ValueError) as error:
        refuse_other(file, "a capture or statistics of a call", READ)
        raise BadInputError(str(error)) from None
    pages = layer_or_note(needed=False, quiet=json) if out is not None else None
    with claimed(out, "judge", str(file), overwrite=overwrite) if out else nullcontext():
        if out is not None:
            _write(found, explored, out, pages, quiet=json)
    if json:
        console.document(_as_document(found, explored) | ({"written": str(out)} if out else {}))
        return
    _show(found)
    if explored is not None:
        _show_changes(explored)
    if out is not None:
        console.say(f"\npage: {out / 'index.html'}   tables: {out}" if pages else f"\ntables: {out}")


def _show(found: Judgement) -> None:
    from fairwave.answers.answer import Answer

    console.answer(Answer(found.sentences))
    more = len(found.streams) - SHOWN
    console.table(
        f"streams of {found.source}, {found.lasts_s:.4g} s", HEADS,
        [[escape(cell) for cell in row] for row in list_rows(found)[:SHOWN]],
        caption=f"and {more} more streams" if more > 0 else "",
    )  # fmt: skip
    if found.incidents:
        more = len(found.incidents) - SHOWN
        console.table(
            "events", EVENTS, [[escape(cell) for cell in row] for row in _list_events(found)],
            left=True, caption=f"and {more} more events, in --json and --out" if more > 0 else "",
        )  # fmt: skip
    for one in found.limits[:SHOWN]:
        console.say(f"{one.factor}, {one.start_s:.1f} to {one.end_s:.1f} s: {one.evidence}")
    for text in (*_list_unknown(found), *found.notes):
        console.say(text)


def _as_document(found: Judgement, explored: WhatIf | None) -> dict[str, Any]:
    return found.to_dict() | ({"what_if": explored.to_dict()} if explored is not None else {})


def _show_changes(explored: WhatIf) -> None:
    """Prints what would have helped."""
    from fairwave.answers.answer import Answer

    first, *rest = explored.sentences
    console.answer(Answer((first,)))
    if explored.effects:
        rows = [[escape(cell) for cell in row] for row in _list_effects(explored)]
        console.table("what would have helped", EFFECTS, rows, left=True)
    for text in rest:
        console.say(text)


def _list_effects(explored: WhatIf) -> list[list[str]]:
    """Returns the table of changes: a row for each measure of each call."""
    return [
        [
            one.change,
            f"{one.group}: {one.label}",
            f"{one.fitted:.3g}",
            f"{one.changed:.3g}",
            one.text,
            one.outcome,
        ]
        for one in explored.effects
    ]


def _list_events(found: Judgement) -> list[list[str]]:
    """Returns the table of the first events."""
    return [
        [f"{one.start_s:.1f} to {one.end_s:.1f}", one.words, one.stream] for one in found.incidents[:SHOWN]
    ]


def _list_unknown(found: Judgement) -> list[str]:
    """Returns the values that the file does not show, and the assumptions."""
    return [*(text for stream in found.streams for text in stream.unknown), *found.assumptions]


def list_rows(found: Judgement) -> list[list[str]]:
    """Returns the table of streams: a row of text for each."""
    return [
        [
            f"{one.name} ({one.direction})" if not one.name.startswith(one.direction) else one.name, one.word,
            one.codec or "unknown", f"{one.start_s:.1f} to {one.end_s:.1f}", _text(one.rate_bps / 1e3),
            _text(100 * one.loss, " %"), _text(1e3 * one.jitter_s), _text(1e3 * one.round_trip_s),
            _text(one.freezes), _text(one.longest_freeze_s), _text(one.longest_gap_s),
            "–" if math.isnan(one.mos) else f"{one.mos:.2f}",
        ]
        for one in found.streams
    ]  # fmt: skip


def _text(value: float, unit: str = "") -> str:
    return "–" if math.isnan(value) else f"{value:{'.3g' if abs(value) < 1000 else '.0f'}}{unit}"


def _write(found: Judgement, explored: WhatIf | None, out: Path, pages: Any, *, quiet: bool) -> None:
    """Writes the tables, the document and, with the layer `pages`, the page into a folder, all or nothing."""
    from fairwave.judging.courses import TITLES
    from fairwave.staging import staging

    with staging(out) as folder:
        (folder / "judgement.json").write_text(
            console.json_text(_as_document(found, explored)), encoding="utf-8"
        )
        if explored is not None and explored.scenario:
            (folder / "fitted.toml").write_text(explored.scenario, encoding="utf-8")
        files: list[tuple[str, list[str], list[list[Any]]]] = [
            ("streams.csv", HEADS, list_rows(found)),
            ("events.csv", ["start_s", "end_s", "kind", "event", "stream"],
             [[one.start_s, one.end_s, one.kind, one.words, one.stream] for one in found.incidents]),
            ("limits.csv", ["start_s", "end_s", "factor", "evidence"],
             [[one.start_s, one.end_s, one.factor, one.evidence] for one in found.limits]),
            ("courses.csv", ["stream", "measure", "unit", "time_s", "value"],
             [
                 [one.stream, *TITLES[one.measure], at, "" if math.isnan(value) else value]
                 for one in found.courses
                 for at, value in zip(one.time_s.tolist(), one.values.tolist(), strict=True)
             ]),
            *([("what-if.csv", EFFECTS, _list_effects(explored))] if explored is not None else []),
        ]  # fmt: skip
        for name, heads, rows in files:
            with (folder / name).open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(heads)
                writer.writerows(rows)
        if pages:
            with console.status("drawing the page", quiet=quiet):
                pages.write_judgement(
                    found, folder, streams=(HEADS, list_rows(found)), events=(EVENTS, _list_events(found)),
                    unknown=_list_unknown(found), explored=explored,
                    effects=(EFFECTS, _list_effects(explored)) if explored is not None else None,
                )  # fmt: skip
