"""`fairwave compare`."""

from __future__ import annotations

import json as json_
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.cli import console
from fairwave.cli.input import (
    BadInputError,
    affordable,
    groups,
    kind,
    media_group,
    playout_buffer,
    scenario,
    seeds,
    threads_or_all,
    written_playout,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.report.answer import Answer
    from fairwave.report.comparison import Line
    from fairwave.report.heard import Heard
    from fairwave.scenario import Scenario
    from fairwave.study.grid import Point
    from fairwave.study.study import Clip

AXIS = "transport"

FOLDER = Path("out/compare")
"""Where a comparison is left that names no folder; the next one replaces it."""


@dataclass(frozen=True)
class Alternatives:
    """What is compared.

    Attributes:
        axis: Name of the axis: the key's last part, `transport`, or `alternative` where several keys vary.
        changes: Label to what it sets.
        title: What varies, in words.
        key: The key that takes the values; empty where several keys vary.
    """

    axis: str
    changes: dict[Any, dict[str, Any]]
    title: str
    key: str = ""

    @property
    def keys(self) -> set[str]:
        """Every key that is set."""
        return {key for one in self.changes.values() for key in one}


OWN = ("traffic", "count", "playout", "concealment", "start", "from", "to", "path")
"""Keys of a flow group that make its calls what they are."""

FRAME = {"duration", "load"}
"""Keys of the scenario that change which packets a call has."""

TAKEN = {
    "run",
    "seed",
    "scenario",
    "value",
    "group",
    "measure",
    "title",
    "unit",
    "mean",
    "interval",
    "flow",
    "best",
}
"""Names of columns that an axis cannot have."""


def alternatives(over: str | None, vary: list[str], group: str) -> Alternatives:
    """What is compared: transports of the group (`--over`), or every combination of the values of keys (`--vary`).

    Raises:
        BadInputError: Both or neither is given, or one is empty.
    """
    from itertools import product

    if (over is None) == (not vary):
        raise BadInputError(
            "compare needs what to vary: --over udp,tcp/vegas for transports, or --vary KEY=VALUE,VALUE for any key, "
            "as --vary 'flow.voice.count=5,10,20'"
        )
    if over is not None:
        transports = dict.fromkeys(one.strip() for one in over.split(",") if one.strip())
        if not transports:
            raise BadInputError("--over names no transport; for example --over udp,tcp/vegas")
        key = f"flow.{group}.transport"
        return Alternatives(AXIS, {one: {key: one} for one in transports}, "transports", key)
    from fairwave.ask.wording import variation
    from fairwave.report.verdict import short_key

    varied = [variation(one) for one in vary]
    if len(varied) == 1:
        key, values = varied[0]
        axis = key.rpartition(".")[2]
        return Alternatives(
            key if axis in TAKEN else axis,
            {label: {key: value} for label, value in values.items()},
            f"values of {key}",
            key,
        )
    changes: dict[Any, dict[str, Any]] = {}
    for combination in product(*(values.items() for _, values in varied)):
        keys = [key for key, _ in varied]
        label = ", ".join(
            f"{short_key(key)} = {label}" for key, (label, _) in zip(keys, combination, strict=True)
        )
        changes[label] = {key: value for key, (_, value) in zip(keys, combination, strict=True)}
    return Alternatives("alternative", changes, " × ".join(key for key, _ in varied))


def compare_alternatives(
    path: str,
    over: str | None,
    vary: list[str],
    flow: str | None,
    speech: Path | None,
    out: Path | None,
    seed: int,
    replications: int,
    settings: list[str],
    threads: int | None,
    *,
    json: bool,
    audio: bool,
    playout: str | None,
    overwrite: bool = False,
    measures: Sequence[str] = (),
    yes: bool = False,
) -> None:
    """Runs, compares, and leaves a page."""
    from fairwave.cli.input import kept, measure_names
    from fairwave.folders import claimed
    from fairwave.report import call, comparison
    from fairwave.report.verdict import of_comparison
    from fairwave.study.grid import Grid

    chosen, threads = seeds(seed, replications), threads_or_all(threads)
    alternatives(over, vary, "any")  # mistakes are told before the scenario's
    base = scenario(path, settings)
    names = measure_names(measures, base)
    group = media_group(base, flow)
    asked = alternatives(over, vary, group)
    buffer = playout_buffer(playout) if playout else written_playout(groups(base)[group])
    voice = kind(groups(base)[group]) in {"voice", "recording"}
    affordable(base, len(asked.changes) * replications, seed, yes=yes)
    points = Grid("compare", base, {asked.axis: asked.changes}).points()
    for words in dict.fromkeys(said for point in points for said in point.scenario.kept()):
        console.say(f"note: {words}", quiet=json)
    heard, remarks = _heard(base, group, speech, asked, points) if audio and voice else (None, [])
    if heard is not None:
        base = heard.scenario
    axes: dict[str, Any] = {
        asked.axis: {label: _for_all(changes, group, heard) for label, changes in asked.changes.items()}
    }
    grid = Grid("compare", base, axes)
    folder = out if out is not None else FOLDER
    with claimed(folder, "compare", base.name, overwrite=overwrite, scratch=out is None):
        with console.progress(
            f"{base.name}: {len(asked.changes)} {asked.title} × {replications}", quiet=json
        ) as progress:
            results = grid.run(chosen, threads=threads, keep=kept(folder), progress=progress)
        whole = heard.whole(results) if heard else results
        found = comparison.lines(whole, asked.axis, group, names=names)
        clips: list[Clip] = []
        if heard is not None:
            console.say("making the calls audible …", quiet=json)
            clips, remarks = call.clips(heard, results, asked.axis, list(asked.changes), seed, buffer)
        page = comparison.write(
            results, asked.axis, group, folder,
            title=base.name,
            lead=str(base.to_dict().get("description", "")),
            clips=clips,
            notes=remarks,
            scenario=base.to_toml(),
            found=found,
            heard=heard if clips else None,
            seed=seed,
            key=asked.key,
        )  # fmt: skip
    answer = of_comparison(found, asked.axis, group, whole, asked.key)
    if json:
        provenance = results.provenance.to_dict()
        console.document(_document(base, asked, found, answer, provenance, page, clips, remarks))
        return
    console.answer(answer)
    _show(base, asked, found, replications)
    for remark in remarks:
        console.say(f"\n{remark}")
    console.say(f"\nPage{' with audio' if clips else ''}: {page}   tables: {folder}")


def _for_all(changes: dict[str, Any], group: str, heard: Heard | None) -> dict[str, Any]:
    """What is said of the group said of the call that is heard, too, which may be a group of its own."""
    prefix = f"flow.{group}."
    return {
        (f"flow.{name}.{key.removeprefix(prefix)}" if key.startswith(prefix) else key): value
        for key, value in changes.items()
        for name in (heard.changed if heard is not None else (group,))
    }


def _heard(
    base: Scenario, group: str, speech: Path | None, asked: Alternatives, points: Sequence[Point]
) -> tuple[Heard | None, list[str]]:
    """The call that is to be heard; or why there is none.

    Raises:
        BadInputError: The recording that was asked for cannot be used.
    """
    from fairwave.report.heard import Heard
    from fairwave.speech import SpeechError
    from fairwave.speech.fetch import speech as recording

    calls = [json_.dumps([groups(point.scenario)[group].get(key) for key in OWN]) for point in points]
    if len(set(calls)) > 1 or any(key in FRAME for key in asked.keys):
        why = "what varies changes the calls themselves, so that none of them can be heard throughout"
        if speech is not None:
            raise BadInputError(f"--speech: {why}; vary something else, or leave --speech out")
        return None, [f"No audio: {why}."]
    try:
        return Heard.of(recording(speech), base, group), []
    except SpeechError as error:
        if speech is not None:
            raise BadInputError(str(error)) from None
        return None, [f"No audio: {error}"]


def _show(base: Scenario, asked: Alternatives, found: list[Line], replications: int) -> None:
    from fairwave.report import style
    from fairwave.report.comparison import STARRED, footnotes
    from fairwave.report.verdict import short_key

    labels = list(found[0].cells) if found else []
    rows: list[list[str]] = []
    last = None
    for line in (one for one in found if one.usual):
        if last != line.group:
            rows.append([f"[bold]{line.group}[/]", *([""] * len(labels))])
        last = line.group
        cells = [
            f"[bold]{line.cell(label)} *[/bold]" if label in line.best else f"{line.cell(label)}  "
            for label in line.cells
        ]
        rows.append([f"  {line.label}", *cells])
    console.table(
        f"{base.name}: {short_key(asked.key) or asked.title} — {replications} replication"
        f"{'s' if replications > 1 else ''}, mean ± 95 % interval",
        ["", *(style.title(label) for label in labels)],
        rows,
        caption=f"{STARRED}\n{footnotes(found)}".rstrip(),
    )


def _document(
    base: Scenario,
    asked: Alternatives,
    found: list[Line],
    answer: Answer,
    provenance: dict[str, Any],
    page: Path,
    clips: list[Clip],
    remarks: list[str],
) -> dict[str, Any]:
    from fairwave.report import comparison

    return {
        "scenario": base.name,
        "verdict": list(answer.sentences),
        "axis": asked.axis,
        "alternatives": {str(label): changes for label, changes in asked.changes.items()},
        "comparison": comparison.as_data(found, asked.axis),
        "page": str(page),
        "audio": [clip.title for clip in clips],
        "remarks": remarks,
        "provenance": provenance,
    }
