"""`fairwave compare out/a out/b` compares saved runs; `fairwave compare old.toml new.toml` runs first."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from fairwave import ScenarioError
from fairwave.answers.naming import shortened
from fairwave.cli import console
from fairwave.cli.input import drawn_as, layer_or_note
from fairwave.errors import BadInputError
from fairwave.foreign import ForeignFileError, decode, gate, read_bytes
from fairwave.packaged import find_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave.answers.lines import MeasureLine
    from fairwave.ask.wording import Condition, Sign
    from fairwave.measuring.relevance import Relevance
    from fairwave.results import Results
    from fairwave.runs.keeping import Keep

EXAMPLE = "write for example `fairwave compare out/a out/b`, or `fairwave compare old.toml new.toml`"

FOLDER_OPTIONS = (
    "--flow", "--out", "--overwrite", "--measures", "--json", "--style", "--figures", "--require", "--junit",
    "--relevant", "--page", "--no-page", "--laws",
)  # fmt: skip
"""Options of `compare` that folders accept; the others concern new runs."""

ALTERNATIVE_OPTIONS = ("--over", "--vary", "--speech", "--playout", "--audio", "--no-audio")
"""Options of `compare` for alternatives of one scenario only."""

MOST = 12
"""Largest number of alternatives: more could not be distinguished."""

Kind = Literal["scenario", "scenarios", "folders"]


def kind_of(words: Sequence[str]) -> Kind:
    """Returns the kind of comparison: alternatives of one scenario, several scenarios, or folders of runs.

    Raises:
        BadInputError: There is one folder alone, a folder next to something else, or a word that is not a file.
    """
    folders = [word for word in words if Path(word).is_dir()]
    if len(folders) == len(words) > 1:
        return "folders"
    if not folders and len(words) == 1:
        return "scenario"
    if len(words) == 1:
        raise BadInputError(f"{words[0]} is one folder; compare takes two or more, or a scenario: {EXAMPLE}")
    if folders:
        wrong = next(word for word in words if word not in folders)
        raise BadInputError(f"{wrong} is no folder with results, but {folders[0]} is one; {EXAMPLE}")
    lacking = next((word for word in words[1:] if find_scenario(word) is None), None)
    if lacking is not None:
        raise BadInputError(
            f"nothing takes {lacking!r}, and no file has that name. Join several values by commas "
            f"(--over udp,tcp/vegas), or {EXAMPLE}"
        )
    return "scenarios"


@dataclass(frozen=True)
class Comparing:
    """Options of a comparison of folders or of scenarios.

    Attributes:
        axis: Name of the axis along which they are compared.
        flow: The flow group; the first that is rated if None.
        out: The folder of the page; a scratch folder if None.
        overwrite: Whether to take over a folder that holds something else.
        measures: Measures that people see instead of the usual.
        json: Whether a document for programs is written instead of tables.
        style: Style of the figures.
        figures: Formats of the figures.
        require: Requirements.
        junit: The file of JUnit XML.
        relevance: The smallest differences that count.
        page: Whether a page is drawn.
    """

    axis: str
    flow: str | None
    out: Path | None
    overwrite: bool
    measures: Sequence[str]
    json: bool
    style: str | None
    figures: str | None
    require: Sequence[str]
    junit: Path | None
    relevance: Relevance
    page: bool = True

    @property
    def folder(self) -> Path:
        """The folder of the page."""
        from fairwave.cli.comparing import FOLDER

        return self.out if self.out is not None else FOLDER


def compare_folders(words: Sequence[str], asked: Comparing, given: Sequence[str]) -> None:
    """Compares saved runs and writes the page of a comparison."""
    for option in given:
        if option not in FOLDER_OPTIONS:
            raise BadInputError(
                f"{option} is for a scenario that is run; the runs of {words[0]} are made already. Leave it out"
            )
    folders = [Path(word) for word in words]
    for one in folders:
        if one.resolve() == asked.folder.resolve():
            raise BadInputError(
                f"{one} would be replaced by its own comparison; give another folder with --out"
            )
    where = dict(zip(label_paths(folders), folders, strict=True))
    scenarios = {label: text for label, one in where.items() if (text := read_saved_scenario(one))}

    def saved(_: Keep | None) -> dict[str, Results]:
        found = {label: saved_runs(one) for label, one in where.items()}
        _alike(found, where)
        return found

    _compare(where, saved, scenarios, asked)


def compare_scenarios(
    words: Sequence[str],
    asked: Comparing,
    chosen: range,
    settings: Sequence[str],
    threads: int | None,
    *,
    yes: bool,
    given: Sequence[str],
) -> None:
    """Runs scenarios under the same seeds and compares them; the later ones must not be worse than the first."""
    from fairwave.ask.wording import measure
    from fairwave.cli.input import affordable, measure_names, scenario
    from fairwave.cli.requiring import conditions
    from fairwave.flow_groups import groups
    from fairwave.runs.grid import Grid

    for option in given:
        if option in ALTERNATIVE_OPTIONS:
            raise BadInputError(
                f"{option} is for alternatives of one scenario, and {len(words)} are compared; leave it out, or write "
                f"fairwave compare {words[0]} {option} …"
            )
    where = {
        label: Path(word)
        for label, word in zip(label_paths([Path(word) for word in words]), words, strict=True)
    }
    read = {label: scenario(str(path), list(settings)) for label, path in where.items()}
    first, *others = read.values()
    for one in conditions(asked.require, None, first, has_baseline=True):
        for other in others:
            measure(one.of.text, other)
    measure_names(asked.measures, first)
    for label, each in read.items():
        if asked.flow is not None and asked.flow not in (known := list(groups(each))) and known:
            raise BadInputError(f"{label} has no flow group {asked.flow!r}; it has {shortened(known)}")
    affordable(first, len(read) * len(chosen), chosen[0], yes=yes)

    def made(keep: Keep | None) -> dict[str, Results]:
        found = {}
        for label, one in read.items():
            with console.progress(f"{label} × {len(chosen)}", quiet=asked.json) as progress:
                found[label] = Grid("compare", one, {}).run(
                    chosen, threads=threads, keep=keep, progress=progress
                )
        return found

    _compare(where, made, {label: one.to_toml() for label, one in read.items()}, asked)


def _compare(
    where: Mapping[str, Path],
    results_of: Callable[[Keep | None], dict[str, Results]],
    scenarios: Mapping[str, str],
    asked: Comparing,
) -> None:
    """Compares results without a common axis: the page, the table, the requirements."""
    from fairwave.answers.answer import SAVED, more_runs_by
    from fairwave.answers.lines import as_data, lines
    from fairwave.answers.verdict import judge_comparison
    from fairwave.ask.requiring import judge_results
    from fairwave.cli import requiring
    from fairwave.cli.comparing import show_lines, write_tables
    from fairwave.cli.input import kept
    from fairwave.folders import claimed

    wanted = requiring.conditions(asked.require, None, None, has_baseline=True)
    requiring.check_junit(asked.require or ["implied"] * (asked.axis == "scenario"), asked.junit)
    is_run = asked.axis == "scenario"
    pages: Any = (
        layer_or_note(needed=bool(asked.style or asked.figures), quiet=asked.json) if asked.page else None
    )
    title = " and ".join(where)
    folder, page = asked.folder, None

    def read(saved: dict[str, Results]) -> tuple[dict[str, Results], Results, Any, str, list[MeasureLine]]:
        whole, parts = lay_over(saved, asked.axis)
        group = choose_group(whole, asked.flow)
        try:
            found = lines(whole, asked.axis, group, names=_names(asked.measures), relevance=asked.relevance)
        except KeyError as error:
            raise BadInputError(f"--measures: {error.args[0]}") from None
        return saved, whole, parts, group, found

    # Mistakes in saved runs are reported before a folder is made; runs are stored in the folder.
    ready = None if is_run else _read_gated(lambda: read(results_of(None)), where)
    with (
        drawn_as(asked.style, asked.figures, pages, folder),
        claimed(folder, "compare", title, overwrite=asked.overwrite, scratch=asked.out is None),
    ):
        saved, whole, parts, group, found = ready or read(results_of(kept(folder)))
        notes = _versions(saved)
        if pages:
            console.say("drawing …", quiet=asked.json)
            page = pages.write_overlay(
                whole, parts, group, folder, title=title, found=found, notes=notes, name=asked.axis,
                varied=next(iter(saved.values())).axes, scenarios=scenarios,
            )  # fmt: skip
        else:
            write_tables(whole, found, asked.axis, folder, "")
    answer = judge_comparison(found, asked.axis, group, whole)
    if not is_run:
        answer = answer.with_more_runs_by(SAVED)
    if is_run and not wanted:
        wanted = forbid_worse(found, group, asked.relevance)
    required = judge_results(wanted, whole, relevance=asked.relevance)
    if not is_run:
        required = [replace(one, advice=more_runs_by(SAVED, one.advice)) for one in required]
    differ = list_differences(scenarios)
    if asked.json:
        rows = [{"key": key, **dict(zip(scenarios, values, strict=True))} for key, values in differ.items()]
        document = {
            f"{asked.axis}s": {label: str(one) for label, one in where.items()},
            "verdict": list(answer.sentences),
            "axis": asked.axis,
            "differences": rows,
            "comparison": as_data(found, asked.axis),
            "page": str(page) if page else None,
            "remarks": notes,
            "provenance": whole.provenance.to_dict(),
        }
        console.document(document | requiring.as_data(required))
    else:
        console.answer(answer)
        _show_differences(differ, list(scenarios), is_run=is_run)
        show_lines(title, found, len(set(whole.rows("runs")["seed"].to_list())))
        for note in [*notes, f"page: {page}   tables: {folder}" if page else f"tables: {folder}"]:
            console.say(f"\n{note}")
    requiring.settle(required, title, asked.junit, json=asked.json)


T = TypeVar("T")


def _read_gated(read: Callable[[], T], where: Mapping[str, Path]) -> T:
    """Reads saved folders; reports an error if their tables do not have fairwave's format."""
    with gate("results", f"one of {', '.join(map(str, where.values()))}", BadInputError):
        return read()


def list_differences(scenarios: Mapping[str, str]) -> dict[str, list[str]]:
    """Lists the keys in which scenarios differ; empty if they do not, or if one cannot be read."""
    from fairwave import load
    from fairwave.answers.differences import differences

    try:
        return differences({label: load(text) for label, text in scenarios.items()})
    except (ScenarioError, OSError, ValueError):
        return {}


def _show_differences(differ: Mapping[str, Sequence[str]], labels: Sequence[str], *, is_run: bool) -> None:
    from fairwave.answers.naming import short_key

    if differ:
        cells = [[short_key(key), *values] for key, values in differ.items()]
        console.table("What differs in the scenarios", ["key", *labels], cells, left=True)
    elif is_run:
        console.say("\nThe scenarios are the same, apart from names and records.")


def forbid_worse(found: Sequence[MeasureLine], group: str, relevance: Relevance) -> list[Condition]:
    """The condition that a scenario is not worse than the first by a difference that counts, in the first measure."""
    from fairwave.ask.wording import Condition, MeasureRequest

    for line in found:
        measure = line.measure
        if (
            line.group != group
            or line.undefined
            or not measure.better
            or not all(cell.n for cell in line.cells.values())
        ):
            continue
        counts = relevance.find(measure)
        sign: Sign = ">=" if measure.better == "higher" else "<="
        bound = -counts.amount if measure.better == "higher" else counts.amount
        asked = MeasureRequest(f"{measure.id}.{group}", measure)
        return [Condition(asked, sign, bound, has_baseline=True, is_share=counts.is_share)]
    return []


def _names(given: Sequence[str]) -> list[str]:
    return [one.strip() for text in given for one in text.split(",") if one.strip()]


def saved_runs(folder: Path) -> Results:
    """Reads the runs of a folder.

    Raises:
        BadInputError: It holds none, or they are damaged.
    """
    from contextlib import suppress

    from fairwave.folders import NOTE, WORDS, read_note
    from fairwave.results import DamagedResultsError, Results

    try:
        return Results.load(folder)
    except FileNotFoundError as error:
        kind = ""
        if (folder / NOTE).is_file():
            with suppress(ForeignFileError):
                kind = read_note(folder / NOTE).get("kind", "")
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


def label_paths(folders: Sequence[Path]) -> list[str]:
    """Names each folder by the shortest end of its path that is unique."""
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
        BadInputError: They differ; the message lists the differences, and explains how to make the second again.
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
    """The flow groups with the kind of their traffic."""
    from fairwave.answers import group_measures

    return {
        name: group_measures.kind_of(results, name)
        for name in sorted(results.rows("flows")["group"].unique())
    }


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
    """Adds a remark if versions differ: a difference may then come from fairwave itself."""
    if len({one.provenance.version for one in saved.values()}) < 2:
        return []
    return [f"Made by different versions ({_made_by(saved)}): differences may come from that."]


def lay_over(
    saved: Mapping[str, Results], axis: str
) -> tuple[Results, dict[str, tuple[str, tuple[Any, ...]]]]:
    """Merges all runs along one axis. Each label maps to its folder and to the labels of its point there.

    Raises:
        BadInputError: There are more alternatives than can be distinguished.
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
        table = Table.from_columns({axis: labels})
        tables = {key: one.rows(key) for key in one.tables}
        tables["runs"] = Table({**columns, axis: table[axis]})
        each.append(Results(tables, (axis,), one.provenance))
    if len(parts) > MOST:
        raise BadInputError(
            f"these folders hold {len(parts)} alternatives together, but at most {MOST} can be compared; choose "
            "folders with fewer values"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a message reports different versions
        return Results.concatenate(each), parts


def choose_group(results: Results, wanted: str | None) -> str:
    """The flow group that is compared: the one wanted, else the first with an opinion score, else the first stream."""
    from fairwave.answers import group_measures
    from fairwave.measuring import measures

    names = results.rows("flows")["group"].unique()
    if wanted is not None:
        if wanted not in names:
            raise BadInputError(f"these runs have no flow group {wanted!r}; they have {shortened(names)}")
        return wanted
    scores = {name: measures.find("mos", name).compute(results).values for name in names}
    rated = [name for name, values in scores.items() if any(one is not None for one in values)]
    streams = [name for name in names if group_measures.kind_of(results, name) == "stream"]
    return str([*rated, *streams, *names][0])


def read_saved_scenario(folder: Path) -> str:
    """The text of the scenario in a folder; empty if there is none."""
    try:
        return decode(read_bytes(folder / "scenario.toml", "scenario"), str(folder / "scenario.toml"))
    except (OSError, ValueError):
        return ""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
