"""`fairwave sweep` and `fairwave find`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from fairwave.cli import console
from fairwave.cli.input import BadInputError, groups, kept, kind, media_group, scenario, seeds, threads_or_all
from fairwave.cli.inspecting import warn

if TYPE_CHECKING:
    from pathlib import Path

    from fairwave.ask import Sweep
    from fairwave.ask.wording import Asked
    from fairwave.scenario import Scenario


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
) -> None:
    """Runs a grid until every point is precise enough."""
    from fairwave.ask import sweep
    from fairwave.ask.wording import measure, precision, variation
    from fairwave.folders import claimed

    if not grid:
        raise BadInputError("sweep needs --grid KEY=VALUE,VALUE; for example --grid flow.voice.count=5,10,20")
    seeds(seed, max(replications, most))
    threads = threads_or_all(threads)
    varied = [variation(one, "--grid") for one in grid]
    read = scenario(path, settings)
    warn(read, seed)
    goals = [precision(one, read) for one in until]
    shown = [measure(one, read) for one in show] or ([] if goals else _usual(read))
    axes = {key: {label: {key: value} for label, value in values.items()} for key, values in varied}
    points = 1
    for _, values in varied:
        points *= len(values)
    with claimed(out, "sweep", read.name, overwrite=overwrite) if out else nullcontext():
        keep = kept(out)
        with console.progress(f"{read.name}: {points} points", quiet=json) as progress:
            found = sweep(
                read, axes, goals, show=shown, n=replications, most=max(most, replications), seed=seed,
                threads=threads, keep=keep, progress=progress,
            )  # fmt: skip
        if out:
            found.results.save(out)
    if json:
        console.document(_sweep_document(read, found))
        return
    _show_sweep(read, found)
    if out:
        console.say(f"\ntables: {out}")


USUAL = {
    "voice": "mos", "recording": "mos", "conversation": "conversation_mos",
    "transfer": "completion", "web": "completion",
}  # fmt: skip
"""The measure that is told of a kind of traffic where nobody says which; goodput of all others."""


def _usual(read: Scenario) -> list[Asked]:
    """What is told where nobody says what to tell."""
    from fairwave.ask.wording import measure

    group = media_group(read)
    usual = USUAL.get(kind(groups(read)[group]), "goodput")
    return [measure(f"{usual}.{group}", read)]


def _show_sweep(read: Scenario, found: Sweep) -> None:
    asked = list(dict.fromkeys(cell.asked for cell in found.cells))
    labels = {cell.asked: cell.measure.label for cell in found.cells}
    axes = list(found.results.axes)
    rows = []
    each = [found.cells[at : at + len(asked)] for at in range(0, len(found.cells), len(asked))]
    for cells in each:
        marked = [f"{cell.interval}{'' if cell.reached else ' !'}" for cell in cells]
        runs = max(cell.interval.n + cell.interval.undefined for cell in cells)
        rows.append([*(str(cells[0].labels[axis]) for axis in axes), *marked, str(runs)])
    from fairwave.advice import activities

    said = [f"{name}: {words}" for name, words in activities(read).items()]
    if short := found.short:
        wanted = ", ".join(dict.fromkeys(f"{cell.asked} ± {cell.wanted:.3g}" for cell in short))
        said.append(
            f"! not as precise as asked for ({wanted}) within {found.most} replications, the most of a "
            "point: --most allows more"
        )
    console.table(
        f"{read.name} — mean ± 95 % interval",
        [*axes, *(labels[one] for one in asked), "replications"], rows,
        caption="\n".join(said),
    )  # fmt: skip


def _sweep_document(read: Scenario, found: Sweep) -> dict[str, Any]:
    return {
        "scenario": read.name,
        "activity": read.activities,
        "points": [
            {
                "labels": dict(cell.labels), "measure": cell.asked, "unit": cell.measure.unit,
                "mean": cell.interval.mean, "interval": [cell.interval.low, cell.interval.high],
                "replications": cell.interval.n, "undefined": cell.interval.undefined,
                "wanted": cell.wanted, "reached": cell.reached,
            }
            for cell in found.cells
        ],
        "most": found.most,
        "provenance": found.results.provenance.to_dict(),
    }  # fmt: skip


def find_value(
    path: str,
    vary: str,
    until: str,
    out: Path | None,
    seed: int,
    replications: int,
    most: int,
    settings: list[str],
    threads: int | None,
    *,
    json: bool,
    overwrite: bool,
) -> None:
    """Searches how far a value may go before a condition no longer holds."""
    from fairwave.advice import activities
    from fairwave.ask import find
    from fairwave.ask.wording import condition, steps
    from fairwave.folders import claimed
    from fairwave.provenance import Provenance
    from fairwave.staging import write_text

    key, equals, values = (part.strip() for part in vary.partition("="))
    if not equals or not key:
        raise BadInputError(
            f"--vary takes KEY=LOW..HIGH here, not {vary!r}; for example --vary flow.voice.count=1..200"
        )
    steps(values)
    seeds(seed, max(replications, most))
    threads = threads_or_all(threads)
    read = scenario(path, settings)
    warn(read, seed)
    wanted = condition(until, read)
    with claimed(out, "find", read.name, overwrite=overwrite) if out else nullcontext():
        keep = kept(out)
        with console.status(f"{read.name}: {wanted}", quiet=json) as tell:
            answer = find(
                read, key, values, wanted, n=replications, most=max(most, replications), seed=seed, threads=threads,
                keep=keep, tell=tell,
            )  # fmt: skip
        asked = range(seed, seed + max(one.interval.n for one in answer.tested))
        origin = Provenance.here({read.hash: read.name}, asked)
        document = {
            "scenario": read.name,
            "activity": read.activities,
            **answer.to_dict(),
            "provenance": origin.to_dict(),
        }
        if out:
            write_text(out / "answer.json", console.json_text(document))
    if json:
        console.document(document)
        return
    measure = wanted.of.measure
    marks = {"holds": "holds", "fails": "fails", "open": "open"}
    console.table(
        f"{read.name}: what was tried",
        [key, measure.label, "replications", str(wanted)],
        [
            [str(one.value), str(one.interval), str(one.interval.n), marks[one.verdict]]
            for one in answer.tested
        ],
    )
    console.out.print(f"\n[bold]{escape(str(answer))}[/]")
    for name, said in activities(read).items():
        console.out.print(f"{escape(name)}: {said}", highlight=False)
    console.out.print(
        f"[dim]{answer.level * 100:g} % confidence for the answer as a whole; {answer.runs} runs[/]"
    )
    for remark in answer.remarks:
        console.out.print(f"note: {escape(remark)}", highlight=False)
