"""`fairwave compare`."""

from __future__ import annotations

import json as json_
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.cli import console
from fairwave.cli.input import (
    affordable,
    check_varied,
    drawn_as,
    layer_or_note,
    media_group,
    scenario,
    seeds,
    threads_or_all,
    variations,
    warn_varied,
)
from fairwave.errors import BadInputError
from fairwave.flow_groups import group_table, groups, kind, written_playout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave.answers.answer import Answer
    from fairwave.answers.lines import MeasureLine
    from fairwave.measuring.relevance import Relevance
    from fairwave.results import Results
    from fairwave.runs.grid import Point
    from fairwave.scenario import Scenario

AXIS = "transport"

FOLDER = Path("out/compare")
"""Default folder of a comparison; the next comparison replaces it."""


@dataclass(frozen=True)
class Alternatives:
    """The alternatives of a comparison.

    Attributes:
        axis: Name of the axis: the key's last part, `transport`, or `alternative` if several keys vary.
        changes: Label to overrides.
        title: The varied parameters, in words.
        key: The key that takes the values; empty if several keys vary.
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
"""Keys of a flow group that define its calls."""

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


def alternatives(over: str | None, vary: list[str], group: str, settings: Sequence[str] = ()) -> Alternatives:
    """Reads the alternatives: transports of the group (`--over`), or combinations of the values of keys (`--vary`).

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
        transports = [one.strip() for one in over.split(",") if one.strip()]
        if not transports:
            raise BadInputError("--over names no transport; for example --over udp,tcp/vegas")
        if twice := [one for one in transports if transports.count(one) > 1]:
            raise BadInputError(f"--over names {twice[0]} twice; write each transport once")
        key = f"flow.{group}.transport"
        check_varied([key], "--over", settings)
        return Alternatives(AXIS, {one: {key: one} for one in transports}, "transports", key)
    from fairwave.answers.naming import short_key
    from fairwave.runs.axes import settings as sets
    from fairwave.runs.axes import tied

    varied = variations(vary, "--vary", settings)
    if len(varied) == 1:
        key, values = varied[0]
        axis = ", ".join(dict.fromkeys(one.rpartition(".")[2] for one in tied(key)))
        return Alternatives(
            key if axis in TAKEN else axis,
            {label: sets(key, value) for label, value in values.items()},
            f"values of {key}",
            key,
        )
    changes: dict[Any, dict[str, Any]] = {}
    for combination in product(*(values.items() for _, values in varied)):
        keys = [key for key, _ in varied]
        label = ", ".join(
            f"{short_key(key)} = {label}" for key, (label, _) in zip(keys, combination, strict=True)
        )
        changes[label] = {
            one: value for key, (_, value) in zip(keys, combination, strict=True) for one in tied(key)
        }
    return Alternatives("alternative", changes, " × ".join(key for key, _ in varied))


def _note(base: Scenario, asked: Alternatives, points: Sequence[Point], *, quiet: bool) -> None:
    """Prints the parameters that alternatives kept of replaced laws, and their keys with a new name."""
    warn_varied(base, asked.changes.values())
    for words in dict.fromkeys(said for point in points for said in point.scenario.kept()):
        console.say(f"note: {words}", quiet=quiet)


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
    require: Sequence[str] = (),
    junit: Path | None = None,
    style: str | None = None,
    figures: str | None = None,
    relevance: Relevance,
    page: bool = True,
) -> None:
    """Makes runs, compares them, and writes a page."""
    from fairwave.answers.lines import lines
    from fairwave.answers.verdict import judge_comparison
    from fairwave.ask.requiring import judge_results
    from fairwave.cli import requiring
    from fairwave.cli.input import kept, measure_names
    from fairwave.folders import claimed
    from fairwave.runs.grid import Grid

    chosen, threads = seeds(seed, replications), threads_or_all(threads)
    alternatives(over, vary, "any", settings)  # reports mistakes before the scenario's
    base = scenario(path, settings)
    names = measure_names(measures, base)
    wanted = requiring.conditions(require, junit, base, has_baseline=True)
    group = media_group(base, flow)
    asked = alternatives(over, vary, group, settings)
    _check_page({"--speech": speech, "--playout": playout}, page=page)
    pages: Any = (
        layer_or_note(needed=bool(playout or speech or style or figures), quiet=json) if page else None
    )
    look = drawn_as(style, figures, pages, FOLDER)
    buffer = pages.playout_buffer(playout) if playout else written_playout(group_table(base, group))
    affordable(base, len(asked.changes) * replications, seed, yes=yes)
    points = Grid("compare", base, {asked.axis: asked.changes}).points()
    _note(base, asked, points, quiet=json)
    heard, remarks = (
        _choose_call(pages, base, group, speech, asked, points) if pages and audio else (None, [])
    )
    if heard is not None:
        base = heard.scenario
    axes: dict[str, Any] = {
        asked.axis: {label: for_all_calls(changes, group, heard) for label, changes in asked.changes.items()}
    }
    grid = Grid("compare", base, axes)
    folder = out if out is not None else FOLDER
    with look, claimed(folder, "compare", base.name, overwrite=overwrite, scratch=out is None):
        with console.progress(
            f"{base.name}: {len(asked.changes)} {asked.title} × {replications}", quiet=json
        ) as progress:
            results = grid.run(chosen, threads=threads, keep=kept(folder), progress=progress)
        whole = heard.merge_group(results) if heard else results
        found = lines(whole, asked.axis, group, names=names, relevance=relevance)
        clips: list[Any] = []
        if heard is not None:
            with console.progress("making the calls audible", quiet=json) as progress:
                clips, remarks = pages.clips(
                    heard, results, asked.axis, list(asked.changes), seed, buffer, progress
                )
        shown = None
        if pages:
            with console.status("drawing the page", quiet=json):
                shown = pages.write_comparison(
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
        else:
            write_tables(results, found, asked.axis, folder, base.to_toml())
    answer, required = (
        judge_comparison(found, asked.axis, group, whole, asked.key),
        judge_results(wanted, whole, relevance=relevance),
    )  # fmt: skip
    if json:
        document = _document(base, asked, found, answer, results.provenance.to_dict(), shown, clips, remarks)
        console.document(document | requiring.as_data(required))
    else:
        _say(base, asked, found, answer, replications, shown, clips, remarks, folder)
    requiring.settle(required, base.name, junit, json=json)


def _check_page(options: Mapping[str, object], *, page: bool) -> None:
    """Refuses options about the page if there is none."""
    for option, given in options.items():
        if given and not page:
            raise BadInputError(f"{option} is about the call on the page: leave --no-page out")


def _say(
    base: Scenario,
    asked: Alternatives,
    found: list[MeasureLine],
    answer: Answer,
    replications: int,
    page: Path | None,
    clips: list[Any],
    remarks: list[str],
    folder: Path,
) -> None:
    """Prints the comparison for people."""
    console.answer(answer)
    _show(base, asked, found, replications)
    shown = f"Page{' with audio' if clips else ''}: {page}   " if page else ""
    for line in (*remarks, f"{shown}tables: {folder}"):
        console.say(f"\n{line}")


def for_all_calls(changes: Mapping[str, Any], group: str, heard: Any) -> dict[str, Any]:
    """Applies the overrides of a group also to the recorded call, which may be a separate group."""
    prefix = f"flow.{group}."
    return {
        (f"flow.{name}.{key.removeprefix(prefix)}" if key.startswith(prefix) else key): value
        for key, value in changes.items()
        for name in (heard.changed if heard is not None else (group,))
    }


def _choose_call(
    pages: Any, base: Scenario, group: str, speech: Path | None, asked: Alternatives, points: Sequence[Point]
) -> tuple[Any, list[str]]:
    """Returns the call for playback, or the reason why there is none.

    Raises:
        BadInputError: The requested recording cannot be used.
    """
    if group not in groups(base) or kind(groups(base)[group]) not in {"voice", "recording", "media"}:
        return None, []
    calls = [json_.dumps([groups(point.scenario)[group].get(key) for key in OWN]) for point in points]
    if len(set(calls)) > 1 or any(key in FRAME for key in asked.keys):
        why = "the varied key changes the calls themselves, so no call exists in every alternative"
        if speech is not None:
            raise BadInputError(f"--speech: {why}; vary something else, or leave --speech out")
        return None, [f"No audio: {why}."]
    found: tuple[Any, list[str]] = pages.heard(speech, base, group, console.complain)
    return found


def write_tables(results: Results, found: list[MeasureLine], axis: str, folder: Path, scenario: str) -> None:
    """Writes the tables without a page, all or nothing."""
    from fairwave.answers.lines import write_comparison
    from fairwave.staging import staging

    with staging(folder) as partial:
        results.write_into(partial)
        if scenario:
            (partial / "scenario.toml").write_text(scenario, encoding="utf-8")
        write_comparison(found, axis, partial, results)


def _show(base: Scenario, asked: Alternatives, found: list[MeasureLine], replications: int) -> None:
    from fairwave.answers.naming import short_key

    show_lines(f"{base.name}: {short_key(asked.key) or asked.title}", found, replications)


def show_lines(title: str, found: Sequence[MeasureLine], replications: int) -> None:
    """Shows a comparison as a table: a row per measure, a column per alternative."""
    from fairwave.answers.labels import spelled
    from fairwave.answers.lines import caption

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
        f"{title} — {replications} replication{'s' if replications > 1 else ''}, mean ± 95 % interval",
        ["", *(spelled(label) for label in labels)],
        rows,
        caption=caption(found),
    )


def _document(
    base: Scenario,
    asked: Alternatives,
    found: list[MeasureLine],
    answer: Answer,
    provenance: dict[str, Any],
    page: Path | None,
    clips: list[Any],
    remarks: list[str],
) -> dict[str, Any]:
    from fairwave.answers.lines import as_data

    return {
        "scenario": base.name,
        "verdict": list(answer.sentences),
        "axis": asked.axis,
        "alternatives": {str(label): changes for label, changes in asked.changes.items()},
        "comparison": as_data(found, asked.axis),
        "page": str(page) if page else None,
        "audio": [clip.title for clip in clips],
        "remarks": remarks,
        "provenance": provenance,
    }
