"""`fairwave compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.cli import console
from fairwave.cli.input import (
    BadInputError,
    groups,
    kind,
    media_group,
    playout_buffer,
    positive,
    scenario,
    written_playout,
)

if TYPE_CHECKING:
    from fairwave.report.comparison import Line
    from fairwave.report.heard import Heard
    from fairwave.scenario import Scenario
    from fairwave.study.study import Clip

AXIS = "transport"


def compare_transports(
    path: str,
    over: str,
    flow: str | None,
    speech: Path | None,
    out: Path,
    seed: int,
    replications: int,
    settings: list[str],
    threads: int | None,
    *,
    json: bool,
    audio: bool,
    playout: str | None,
) -> None:
    """Runs, compares, and leaves a page."""
    from fairwave.report import call, comparison
    from fairwave.study.grid import Grid
    from fairwave.study.replication import Folder

    positive("--replications", replications)
    transports = list(dict.fromkeys(one.strip() for one in over.split(",") if one.strip()))
    if not transports:
        raise BadInputError("--over names no transport; for example --over udp,tcp/vegas")
    base = scenario(path, settings)
    group = media_group(base, flow)
    buffer = playout_buffer(playout) if playout else written_playout(groups(base)[group])
    voice = kind(groups(base)[group]) in {"voice", "recording"}
    heard, remarks = _heard(base, group, speech) if audio and voice else (None, [])
    if heard is not None:
        base = heard.scenario
    changed = [group] if heard is None else heard.changed
    axes: dict[str, Any] = {
        AXIS: {one: {f"flow.{name}.transport": one for name in changed} for one in transports}
    }
    grid = Grid("compare", base, axes)
    seeds = range(seed, seed + replications)
    with console.progress(
        f"{base.name}: {len(transports)} transports × {replications}", quiet=json
    ) as progress:
        results = grid.run(seeds, threads=threads, keep=Folder(out / ".cache"), progress=progress)
    found = comparison.lines(heard.whole(results) if heard else results, AXIS, group)
    clips: list[Clip] = []
    if heard is not None:
        console.say("making the calls audible …", quiet=json)
        clips, remarks = call.clips(heard, results, AXIS, transports, seed, buffer)
    page = comparison.write(
        results, AXIS, group, out,
        title=base.name,
        lead=str(base.to_dict().get("description", "")),
        clips=clips,
        notes=remarks,
        scenario=base.to_toml(),
        found=found,
        heard=heard if clips else None,
        seed=seed,
    )  # fmt: skip
    if json:
        console.document(_document(base, found, results.provenance.to_dict(), page, clips, remarks))
        return
    _show(base, found, replications)
    for remark in remarks:
        console.say(f"\n{remark}")
    console.say(f"\nPage{' with audio' if clips else ''}: {page}   tables: {out}")


def _heard(base: Scenario, group: str, speech: Path | None) -> tuple[Heard | None, list[str]]:
    """The call that is to be heard; or why there is none.

    Raises:
        BadInputError: The recording that was asked for cannot be used.
    """
    from fairwave.report.heard import Heard
    from fairwave.speech import SpeechError
    from fairwave.speech.fetch import speech as recording

    try:
        return Heard.of(recording(speech), base, group), []
    except SpeechError as error:
        if speech is not None:
            raise BadInputError(str(error)) from None
        return None, [f"No audio: {error}"]


def _show(base: Scenario, found: list[Line], replications: int) -> None:
    from fairwave.report import style
    from fairwave.report.comparison import footnotes, starred

    labels = list(found[0].cells) if found else []
    rows: list[list[str]] = []
    last = None
    for line in found:
        if last != line.group:
            rows.append([f"[bold]{line.group}[/]", *([""] * len(labels))])
        last = line.group
        cells = [
            f"[bold]{line.cell(label)} *[/bold]" if label in line.best else f"{line.cell(label)}  "
            for label in line.cells
        ]
        rows.append([f"  {line.label}", *cells])
    console.table(
        f"{base.name} — {replications} replication{'s' if replications > 1 else ''}, mean ± 95 % interval",
        ["", *(style.title(label) for label in labels)],
        rows,
        caption=f"{starred(AXIS)}\n{footnotes(found)}".rstrip(),
    )


def _document(
    base: Scenario,
    found: list[Line],
    provenance: dict[str, Any],
    page: Path,
    clips: list[Clip],
    remarks: list[str],
) -> dict[str, Any]:
    from fairwave.report import comparison

    return {
        "scenario": base.name,
        "comparison": comparison.as_data(found, AXIS),
        "page": str(page),
        "audio": [clip.title for clip in clips],
        "remarks": remarks,
        "provenance": provenance,
    }
