"""`fairwave compare out/a out/b`: saved runs laid over each other, without running anything."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.cli import console
from fairwave.cli.input import BadInputError, drawn_as, layer_or_note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave.measuring.relevance import Relevance
    from fairwave.results import Results

AXIS = "folder"
"""The axis along which saved runs are compared."""

EXAMPLE = "write for example `fairwave compare out/a out/b`"

MOST = 12
"""So many alternatives are compared at most: more could not be told apart."""


def are_folders(words: Sequence[str]) -> bool:
    """Whether folders are compared, rather than alternatives of a scenario.

    Raises:
        BadInputError: There is one folder alone, a folder next to something else, or several scenarios.
    """
    folders = [word for word in words if Path(word).is_dir()]
    if len(folders) == len(words) > 1:
        return True
    if not folders and len(words) == 1:
        return False
    if len(words) == 1:
        raise BadInputError(f"{words[0]} is one folder; compare takes two or more, or a scenario: {EXAMPLE}")
    wrong = next(word for word in words if word not in folders)
    if not folders:
        raise BadInputError(
            f"compare takes one scenario, or folders with results; nothing takes {words[1]!r}. "
            f"Join several values by commas (--over udp,tcp/vegas), or {EXAMPLE}"
        )
    raise BadInputError(f"{wrong} is no folder with results, but {folders[0]} is one; {EXAMPLE}")


def compare_folders(
    words: Sequence[str],
    flow: str | None,
    out: Path | None,
    *,
    overwrite: bool,
    measures: Sequence[str],
    json: bool,
    style: str | None,
    figures: str | None,
    require: Sequence[str],
    junit: Path | None,
    relevance: Relevance,
    unused: Mapping[str, Any],
) -> None:
    """Lays saved runs over each other: the page of a comparison."""
    from fairwave.answers.lines import lines
    from fairwave.answers.verdict import of_comparison
    from fairwave.ask.requiring import of_results
    from fairwave.cli import requiring
    from fairwave.cli.comparing import FOLDER, show_lines, write_tables
    from fairwave.folders import claimed

    for option, given in unused.items():
        if given:
            raise BadInputError(
                f"{option} is for a scenario that is run; the runs of {words[0]} are made already. Leave it out"
            )
    wanted = requiring.conditions(require, junit, None, has_baseline=True)
    folders = [Path(word) for word in words]
    folder = out if out is not None else FOLDER
    for one in folders:
        if one.resolve() == folder.resolve():
            raise BadInputError(
                f"{one} would be replaced by its own comparison; give another folder with --out"
            )
    saved = {label: saved_runs(one) for label, one in zip(_labels(folders), folders, strict=True)}
    where = dict(zip(saved, folders, strict=True))
    _alike(saved, where)
    whole, parts = _laid_over(saved)
    group = _group(whole, flow)
    try:
        found = lines(whole, AXIS, group, names=_names(measures), relevance=relevance)
    except KeyError as error:
        raise BadInputError(f"--measures: {error.args[0]}") from None
    notes = _versions(saved)
    pages = layer_or_note(needed=bool(style or figures), quiet=json)
    title = " and ".join(saved)
    page = None
    with (
        drawn_as(style, figures, pages, folder),
        claimed(folder, "compare", title, overwrite=overwrite, scratch=out is None),
    ):
        if pages:
            console.say("drawing …", quiet=json)
            page = pages.write_overlay(
                whole, parts, group, folder, title=title, found=found, notes=notes, name=AXIS,
                varied=next(iter(saved.values())).axes,
                scenarios={label: text for label, one in where.items() if (text := _scenario(one))},
            )  # fmt: skip
        else:
            write_tables(whole, found, AXIS, folder, "")
    answer = of_comparison(found, AXIS, group, whole)
    required = of_results(wanted, whole, relevance=relevance)
    if json:
        from fairwave.answers.lines import as_data

        console.document(
            {
                "folders": {label: str(one) for label, one in where.items()},
                "verdict": list(answer.sentences),
                "axis": AXIS,
                "comparison": as_data(found, AXIS),
                "page": str(page) if page else None,
                "remarks": notes,
                "provenance": whole.provenance.to_dict(),
                **requiring.as_data(required),
            }
        )
        requiring.settle(required, title, junit, json=json)
        return
    console.answer(answer)
    runs = len(set(whole.rows("runs")["seed"].to_list()))
    show_lines(title, found, runs)
    for note in notes:
        console.say(f"\n{note}")
    console.say(f"\npage: {page}   tables: {folder}" if page else f"\ntables: {folder}")
    requiring.settle(required, title, junit, json=json)


def _names(given: Sequence[str]) -> list[str]:
    return [one.strip() for text in given for one in text.split(",") if one.strip()]


def saved_runs(folder: Path) -> Results:
    """The runs that a folder holds.

    Raises:
        BadInputError: It holds none, or what it holds is damaged.
    """
    import json

    from fairwave.folders import NOTE, WORDS
    from fairwave.results import DamagedResultsError, Results

    try:
        return Results.load(folder)
    except FileNotFoundError as error:
        kind = ""
        if (folder / NOTE).is_file():
            try:
                kind = json.loads((folder / NOTE).read_bytes() or b"{}").get("kind", "")
            except (ValueError, AttributeError):
                kind = ""
        if kind in {"find", "study"}:
            raise BadInputError(
                f"{folder} holds a {WORDS[kind]}, which keeps no runs to compare; compare takes folders of "
                "`fairwave run`, `live`, `compare` and `sweep`"
            ) from None
        raise BadInputError(f"{error}; {EXAMPLE}") from None
    except DamagedResultsError as error:
        raise BadInputError(str(error)) from None
    except (KeyError, ValueError, OSError) as error:
        raise BadInputError(
            f"{folder} cannot be read as results of fairwave ({error}); make them again"
        ) from None


def _labels(folders: Sequence[Path]) -> list[str]:
    """A name for each folder: its own, or as much of its path as tells it from the others."""
    whole = [one.resolve() for one in folders]
    if len(set(whole)) < len(whole):
        twice = next(one for at, one in enumerate(folders) if whole[at] in whole[:at])
        raise BadInputError(f"{twice} is given twice; compare needs different folders")
    for depth in range(1, max(len(one.parts) for one in whole) + 1):
        names = ["/".join(one.parts[-depth:]) for one in whole]
        if len(set(names)) == len(names):
            return names
    return [str(one) for one in whole]


def _alike(saved: Mapping[str, Results], where: Mapping[str, Path]) -> None:
    """Refuses results that cannot be compared: other axes, flow groups, columns or seeds.

    Raises:
        BadInputError: They differ; the message says in what, and how to make the second anew.
    """
    (first, ours), *others = saved.items()
    for other, theirs in others:
        pair = f"{where[first]} and {where[other]}"
        if ours.axes != theirs.axes:
            raise BadInputError(
                f"{pair} do not vary the same: {_listed(ours.axes) or 'nothing'}, and "
                f"{_listed(theirs.axes) or 'nothing'}; compare folders of the same question"
            )
        mine, yours = (_kinds(one) for one in (ours, theirs))
        if mine != yours:
            told = " and ".join(
                _listed([f"{name} ({kind})" for name, kind in one.items()]) for one in (mine, yours)
            )
            raise BadInputError(
                f"{pair} do not have the same measures: their flow groups are {told}; compare runs of the same flow "
                "groups"
            )
        for table in ("flows", "groups"):
            columns = [set(one.rows(table).column_names) for one in (ours, theirs)]
            if columns[0] != columns[1]:
                only = sorted(columns[0] ^ columns[1])
                has, lacks = (first, other) if only[0] in columns[0] else (other, first)
                raise BadInputError(
                    f"{pair} do not have the same measures: {where[lacks]} has no {only[0]} in its table {table}, "
                    f"{where[has]} has ({_made_by(saved)}); {_again(saved[lacks])}"
                )
        for point, seeds in _seeds(ours).items():
            found = _seeds(theirs).get(point)
            if found is None:
                raise BadInputError(
                    f"{where[other]} has no runs of {', '.join(map(str, point))}; {_again(theirs)}"
                )
            if found != seeds:
                from fairwave.provenance import seeds_in_words

                at = f" at {', '.join(map(str, point))}" if point else ""
                raise BadInputError(
                    f"{pair} do not have the same seeds{at}: {seeds_in_words(seeds)}, and {seeds_in_words(found)}. A "
                    "comparison pairs runs by seed; run one again with --seed and -n of the other"
                )
        extra = next((point for point in _seeds(theirs) if point not in _seeds(ours)), None)
        if extra is not None:
            raise BadInputError(f"{where[first]} has no runs of {', '.join(map(str, extra))}; {_again(ours)}")


def _kinds(results: Results) -> dict[str, str]:
    """The flow groups and what each carries."""
    from fairwave.answers import shown

    return {name: shown.kind_of(results, name) for name in sorted(results.rows("flows")["group"].unique())}


def _seeds(results: Results) -> dict[tuple[Any, ...], list[int]]:
    """The seeds of each point."""
    runs = results.rows("runs")
    points = zip(*(runs[axis].to_list() for axis in results.axes), strict=True) if results.axes else None
    found: dict[tuple[Any, ...], list[int]] = {}
    for point, seed in zip(points or [()] * runs.num_rows, runs["seed"].to_list(), strict=True):
        found.setdefault(tuple(point), []).append(int(seed))
    return {point: sorted(each) for point, each in found.items()}


def _again(results: Results) -> str:
    command = results.provenance.command
    return f"make them again: {command}" if command.startswith("fairwave ") else "make them again"


def _made_by(saved: Mapping[str, Results]) -> str:
    return ", ".join(f"{label}: fairwave {one.provenance.version}" for label, one in saved.items())


def _versions(saved: Mapping[str, Results]) -> list[str]:
    """A remark where versions differ: a difference may then come from fairwave itself."""
    if len({one.provenance.version for one in saved.values()}) < 2:
        return []
    return [f"Made by different versions ({_made_by(saved)}): differences may come from that."]


def _laid_over(saved: Mapping[str, Results]) -> tuple[Results, dict[str, tuple[str, tuple[Any, ...]]]]:
    """All runs with one axis, and for each label of it the folder and the labels of its point there.

    Raises:
        BadInputError: There are more alternatives than can be told apart.
    """
    from fairwave.results import Results
    from fairwave.tables import Table

    parts: dict[str, tuple[str, tuple[Any, ...]]] = {}
    each = []
    for name, one in saved.items():
        runs = one.rows("runs")
        points = list(zip(*(runs[axis].to_list() for axis in one.axes), strict=True)) or [()] * runs.num_rows
        labels = [f"{name}: {', '.join(map(str, point))}" if point else name for point in points]
        parts.update({label: (name, tuple(point)) for label, point in zip(labels, points, strict=True)})
        columns = {key: column for key, column in runs.columns.items() if key not in one.axes}
        table = Table.of({AXIS: labels})
        tables = {key: one.rows(key) for key in one.tables}
        tables["runs"] = Table({**columns, AXIS: table[AXIS]})
        each.append(Results(tables, (AXIS,), one.provenance))
    if len(parts) > MOST:
        raise BadInputError(
            f"these folders hold {len(parts)} alternatives together, but at most {MOST} can be compared; choose "
            "folders with fewer values"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the versions differ is said in words
        return Results.concatenate(each), parts


def _group(results: Results, wanted: str | None) -> str:
    """The flow group that is compared: the one wanted, else the first with an opinion score, else the first stream."""
    from fairwave.answers import shown
    from fairwave.measuring import measures

    names = results.rows("flows")["group"].unique()
    if wanted is not None:
        if wanted not in names:
            raise BadInputError(
                f"these runs have no flow group {wanted!r}; they have {', '.join(map(str, names))}"
            )
        return wanted
    scores = {name: measures.find("mos", name).over(results).values for name in names}
    rated = [name for name, values in scores.items() if any(one is not None for one in values)]
    streams = [name for name in names if shown.kind_of(results, name) == "stream"]
    return str([*rated, *streams, *names][0])


def _scenario(folder: Path) -> str:
    """The text of the scenario in a folder; empty where there is none."""
    try:
        return (folder / "scenario.toml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
