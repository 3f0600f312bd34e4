"""`fairwave sweep` and `fairwave find`."""

from __future__ import annotations

from contextlib import nullcontext
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.markup import escape

from fairwave.cli import console
from fairwave.cli.input import (
    affordable,
    check_varied,
    drawn_as,
    kept,
    layer_or_note,
    media_group,
    positive,
    save,
    scenario,
    seeds,
    threads_or_all,
    variations,
    warn_varied,
)
from fairwave.cli.inspecting import warn
from fairwave.errors import BadInputError
from fairwave.flow_groups import group_table, kind
from fairwave.measuring.relevance import USUAL, Contrast, Relevance, contrast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.answers.answer import Answer
    from fairwave.ask import Answer as Found
    from fairwave.ask import Sweep
    from fairwave.ask.sweeping import Cell
    from fairwave.ask.wording import MeasureRequest
    from fairwave.runs.axes import Label
    from fairwave.scenario import Scenario


def _axes(
    read: Scenario, varied: Sequence[tuple[str, dict[Label, Any]]]
) -> dict[str, dict[Label, dict[str, Any]]]:
    """The axes of a grid. Warns of keys with a new name."""
    from fairwave.runs.axes import settings as sets

    axes = {key: {label: sets(key, value) for label, value in values.items()} for key, values in varied}
    warn_varied(read, [change for changes in axes.values() for change in changes.values()])
    return axes


def sweep_grid(
    path: str,
    grid: list[str],
    until: list[str],
    show: list[str],
    out: Path | None,
    seed: int,
    replications: int,
    most: int,
    settings: list[str],
    threads: int | None,
    *,
    json: bool,
    overwrite: bool,
    measures: Sequence[str] = (),
    yes: bool = False,
    style: str | None = None,
    figures: str | None = None,
    relevance: Relevance = USUAL,
    require: Sequence[str] = (),
    junit: Path | None = None,
    baseline: str | None = None,
) -> None:
    """Runs a grid until every point is precise enough."""
    from fairwave.ask import sweep
    from fairwave.ask.requiring import STATUS
    from fairwave.ask.wording import measure, precision
    from fairwave.cli import requiring
    from fairwave.folders import claimed

    if not grid:
        raise BadInputError("sweep needs --grid KEY=VALUE,VALUE; for example --grid flow.voice.count=5,10,20")
    positive("--replications", replications)
    positive("--most", most)
    seeds(seed, max(replications, most))
    threads = threads_or_all(threads)
    varied = variations(grid, "--grid", settings)
    read = scenario(path, settings)
    warn(read, seed)
    wanted = requiring.conditions(require, junit, read, has_baseline=baseline is not None)
    goals = [precision(one, read) for one in until]
    shown = [measure(one, read) for one in show] + _named(measures, read)
    # The verdict needs them, even if they are not shown.
    telling = _usual(read)
    asked = [one.text for one in [*(goal.of for goal in goals), *shown]]
    axes = _axes(read, varied)
    points = prod(len(values) for _, values in varied)
    affordable(read, points * replications, seed, yes=yes)
    pages = layer_or_note(needed=bool(style or figures), quiet=json) if out else None
    columns = list(dict.fromkeys(asked if shown else [*asked, *(one.text for one in telling)]))
    page = None
    with (
        drawn_as(style, figures, pages, out),
        claimed(out, "sweep", read.name, overwrite=overwrite) if out else nullcontext(),
    ):
        keep = kept(out)
        with console.progress(f"{read.name}: {points} points", quiet=json) as progress:
            found = sweep(
                read, axes, goals, show=[*shown, *telling], n=replications, most=max(most, replications), seed=seed,
                threads=threads, keep=keep, progress=progress,
            )  # fmt: skip
        seen = range(seed, seed + max(cell.interval.n + cell.interval.undefined for cell in found.cells))
        before = requiring.baseline_runs(baseline, wanted, seen, threads, keep)
        required = requiring.met(wanted, found.results, before, relevance)
        answer = _verdict(read, found, varied, relevance)
        if out and pages:
            console.say("drawing …", quiet=json)
            page = pages.write_sweep(
                found, _leading(found, columns), answer, out,
                title=read.name, lead=str(read.to_dict().get("description", "")), scenario=read.to_toml(),
            )  # fmt: skip
        elif out:
            save(found.results, out, read)
    if json:
        chosen = asked or [one.text for one in telling]
        document = _sweep_document(read, found, answer, chosen, relevance)
        console.document(document | requiring.as_data(required))
    else:
        console.answer(answer)
        _show_sweep(read, found, columns)
        if out:
            console.say(f"\npage: {page}   tables: {out}" if page else f"\ntables: {out}")
    requiring.settle(required, read.name, junit, json=json, least=STATUS["undecided"] if found.short else 0)


def _named(given: Sequence[str], read: Scenario) -> list[MeasureRequest]:
    """Returns the measures of `--measures`; for the group that is swept, unless a name includes another group."""
    from fairwave.ask.wording import measure
    from fairwave.measuring.measures import STANDARD

    names = [one.strip() for text in given for one in text.split(",") if one.strip()]
    group = media_group(read)
    if "all" in names:
        names = list(STANDARD)
    return [measure(one if "." in one else f"{one}.{group}", read) for one in names]


def _usual(read: Scenario) -> list[MeasureRequest]:
    """Returns the usual measures of each point: the group's rating, and its causes."""
    from fairwave.answers import group_measures
    from fairwave.ask.wording import MeasureRequest
    from fairwave.measuring import measures

    group = media_group(read)
    what = kind(group_table(read, group))
    if what in group_measures.TRANSFERS:
        found = [measures.completion(group), measures.unfinished(group), measures.goodput(group)]
    elif what.startswith("bulk"):
        found = [measures.goodput(group)]
    else:
        found = [*group_measures.headline(group), measures.delay(group)]
    return [MeasureRequest(f"{one.id}.{group}", one) for one in found]


def _verdict(read: Scenario, found: Sweep, varied: Sequence[tuple[str, Any]], relevance: Relevance) -> Answer:
    """At which points the group fares well."""
    from fairwave.answers.events import Events
    from fairwave.answers.naming import VariedAxis, short_key
    from fairwave.answers.verdict import judge_points

    group = media_group(read)
    if len(varied) == 1:
        key = varied[0][0]
        under = VariedAxis(key, group, key).describe
    else:
        under = VariedAxis("alternative", group).describe
    by_measure: dict[str, dict[Any, Cell]] = {}
    for cell in found.cells:
        parts = [(short_key(axis), label) for axis, label in cell.labels.items()]
        label = parts[0][1] if len(parts) == 1 else ", ".join(f"{axis} = {one}" for axis, one in parts)
        if cell.asked == f"{cell.measure.id}.{group}":
            by_measure.setdefault(cell.measure.id, {})[label] = cell

    def comparing(measure: str, one: Any, other: Any, level: float) -> Contrast:
        # All points share the first seeds; some points may have more.
        first, second = (by_measure[measure][label] for label in (one, other))
        both = min(len(first.samples), len(second.samples))
        return contrast(
            np.asarray(first.samples[:both], dtype=float),
            np.asarray(second.samples[:both], dtype=float),
            relevance.find(first.measure),
            level,
        )

    events = Events.collect(found.results, group)
    points = [
        (
            measure,
            {label: events.hold(cell.interval, measure, **cell.labels) for label, cell in cells.items()},
        )
        for measure, cells in by_measure.items()
    ]
    return judge_points(points, under, group, found.results, comparing)


def _leading(found: Sweep, usual: Sequence[str]) -> list[str]:
    """The measures that are defined at some point; of calls the delay from mouth to ear instead of the network's."""
    defined = {cell.asked for cell in found.cells if cell.interval.n}
    asked = [one for one in usual if one in defined] or list(usual)
    if any(one.startswith("mouth-to-ear.") for one in asked):
        asked = [one for one in asked if not one.startswith("delay.") or one == usual[0]]
    return asked


def _show_sweep(read: Scenario, found: Sweep, usual: Sequence[str]) -> None:
    """A row per point, with the measures that are defined at some point."""
    asked = _leading(found, usual)
    owners = {one.partition(".")[2] for one in asked}
    (owner,) = owners if len(owners) == 1 else ("",)
    from fairwave.advice import activities

    heads, rows, notes = found.table(asked, owner)
    said = [*notes, *(f"{name}: {words}" for name, words in activities(read).items())]
    title = f"{f'{read.name}, {owner}' if owner else read.name} — mean ± 95 % interval"
    console.table(title, heads, rows, caption="\n".join(said))


def _sweep_document(
    read: Scenario, found: Sweep, answer: Answer, asked: Sequence[str], relevance: Relevance
) -> dict[str, Any]:
    defined = {cell.asked for cell in found.cells if cell.interval.n}
    return {
        "scenario": read.name,
        "activity": read.activities,
        "verdict": list(answer.sentences),
        "relevant": relevance.named(cell.measure for cell in found.cells if cell.asked in asked),
        "points": [
            {
                "labels": dict(cell.labels), "measure": cell.asked, "unit": cell.measure.unit,
                "mean": cell.interval.mean, "interval": cell.interval.ends, "identical": cell.interval.is_identical,
                "replications": cell.interval.n, "undefined": cell.interval.undefined,
                "wanted": cell.wanted, "reached": cell.reached,
            }
            for cell in found.cells
            if cell.asked in asked and (cell.asked in defined or cell.wanted is not None or len(asked) == 1)
        ],
        "most": found.most,
        "provenance": found.results.provenance.to_dict(),
    }  # fmt: skip


def find_value(
    path: str,
    vary: str,
    until: Sequence[str],
    out: Path | None,
    seed: int,
    replications: int,
    most: int,
    settings: list[str],
    threads: int | None,
    *,
    json: bool,
    overwrite: bool,
    require: Sequence[str] = (),
    junit: Path | None = None,
    style: str | None = None,
    figures: str | None = None,
    relevance: Relevance = USUAL,
    baseline: str | None = None,
) -> None:
    """Searches at which values conditions hold."""
    from fairwave.advice import activities
    from fairwave.ask import find
    from fairwave.ask.finding import baseline_of
    from fairwave.ask.requiring import STATUS, judge_key, split
    from fairwave.ask.wording import check_key, condition, steps
    from fairwave.cli import requiring
    from fairwave.folders import claimed
    from fairwave.provenance import Provenance
    from fairwave.staging import write_text

    key, equals, values = (part.strip() for part in vary.partition("="))
    if not equals or not key:
        raise BadInputError(
            f"--vary takes KEY=LOW..HIGH here, not {vary!r}; for example --vary flow.voice.count=1..200"
        )
    check_key(key)
    check_varied([key], "--vary", settings)
    steps(values)
    positive("--replications", replications)
    positive("--most", most)
    seeds(seed, max(replications, most))
    threads = threads_or_all(threads)
    read = scenario(path, settings)
    warn(read, seed)
    wanted = [condition(one, read) for one in until]
    requiring.check_junit(require, junit)
    of_keys, of_measures = split(require, key, read)
    requiring.check_baseline(
        [*wanted, *of_measures], has_baseline=baseline is not None, remedy="add --baseline old.toml"
    )
    before = scenario(baseline) if baseline is not None else None
    pages = layer_or_note(needed=bool(style or figures), quiet=json) if out else None
    page = None
    with (
        drawn_as(style, figures, pages, out),
        claimed(out, "find", read.name, overwrite=overwrite) if out else nullcontext(),
    ):
        keep = kept(out)
        with console.status(f"{read.name}: {' and '.join(map(str, wanted))}", quiet=json) as tell:
            answer = find(
                read, key, values, wanted, n=replications, most=max(most, replications), seed=seed, threads=threads,
                keep=keep, tell=tell, relevant=relevance, baseline=before,
            )  # fmt: skip
            required = [judge_key(one, answer) for one in of_keys]
            runs = max(most, replications)
            edges = sorted({one for edge in answer.limits for one in requiring.seeds_at(answer, edge, runs)})
            reference = baseline_of(of_measures, before, edges, threads=threads, keep=keep) if edges else None
            required += requiring.judge_limits(
                of_measures, answer, read, threads, keep, runs, reference, relevance
            )
        origin = Provenance.collect({read.hash: read.name}, answer.seeds)
        document = {
            "scenario": read.name,
            "activity": read.activities,
            **answer.to_dict(),
            **requiring.as_data(required),
            "provenance": origin.to_dict(),
        }
        if out and pages:
            console.say("drawing …", quiet=json)
            page = pages.write_find(
                answer, console.json_text(document), origin, out,
                title=read.name, lead=str(read.to_dict().get("description", "")), scenario=read.to_toml(),
                activities=[f"{name}: {said}." for name, said in activities(read).items()],
            )  # fmt: skip
        elif out:
            for name, text in {
                "answer.json": console.json_text(document),
                "scenario.toml": read.to_toml(),
            }.items():
                write_text(out / name, text)
    if json:
        console.document(document)
    else:
        _say_answer(read, answer, page, out)
    requiring.settle(required, read.name, junit, json=json, least=STATUS[answer.judged])


def _say_answer(read: Scenario, answer: Found, page: Path | None, out: Path | None) -> None:
    """Prints the result of a search for people."""
    from fairwave.advice import activities
    from fairwave.answers.naming import short_key

    heads, rows = answer.table()
    console.table(f"{read.name}: values tried", [short_key(heads[0]), *heads[1:]], rows)
    console.out.print(f"\n[bold]{escape(str(answer))}.[/]")
    for name, said in activities(read).items():
        console.out.print(f"{escape(name)}: {said}", highlight=False)
    console.out.print(
        f"[dim]{answer.level * 100:g} % confidence for the answer as a whole; {answer.runs} runs[/]"
    )
    for remark in answer.remarks:
        console.out.print(f"note: {escape(remark)}", highlight=False)
    if out:
        console.say(
            f"\npage: {page}   answer: {out / 'answer.json'}" if page else f"\nanswer: {out / 'answer.json'}"
        )
