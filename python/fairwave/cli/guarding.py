"""`fairwave guard`: fails if a call gets worse than in a baseline, and reports it for people and for CI.

Each scenario runs twice under the same seeds: as it is, and as the baseline has it. The runs are separate processes, so
each side can have its version of a law in Python. A scenario fails if the 95 % interval of the difference, paired by
seed, is worse by at least the smallest difference that counts: a difference can be significant and still not count.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fairwave.cli import console
from fairwave.errors import BadInputError
from fairwave.packaged import find_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairwave.answers.lines import MeasureLine
    from fairwave.answers.markdown import GuardedScenario
    from fairwave.ask.requiring import Requirement
    from fairwave.ask.wording import Condition
    from fairwave.measuring.relevance import Relevance
    from fairwave.results import Results

FOLDER = Path("out/guard")
"""Default folder of the report; the next guard replaces it."""

REPORT = "guard.md"
"""File of the report in Markdown."""

AXIS = "version"
BEFORE, AFTER = "before", "after"

PICTURES = {"differences": "differences from the baseline, seed by seed", "call": "the call before and after"}
"""Figures of the page that the report shows, with their content in words."""

Kind = Literal["scenario", "runs", "files"]


@dataclass(frozen=True)
class GuardOptions:
    """Options of `fairwave guard`.

    Attributes:
        scenarios: Paths of the scenarios.
        baseline: A revision of git, a scenario, a folder of runs, or a folder with the files of another version.
        require: Requirements in place of the implied ones.
        out: Folder of the report; `FOLDER` if None.
        seeds: The seeds of both sides.
        settings: Overrides of `--set`, on both sides.
        threads: Number of threads; all cores if None.
        laws: Files of laws in Python.
        junit: The file of JUnit XML.
        relevance: The smallest differences that count.
        overwrite: Whether to take over a folder that holds something else.
        yes: Whether to make very many runs without a question.
        page: Whether to draw a page and pictures for each scenario.
        json: Whether to print a document for programs instead of tables.
    """

    scenarios: Sequence[str]
    baseline: str
    require: Sequence[str]
    out: Path | None
    seeds: range
    settings: Sequence[str]
    threads: int | None
    laws: Sequence[Path]
    junit: Path | None
    relevance: Relevance
    overwrite: bool
    yes: bool
    page: bool
    json: bool


@dataclass(frozen=True)
class _Baseline:
    """Where the baseline's scenarios are.

    Attributes:
        kind: One scenario, saved runs, or the files of another version.
        path: The scenario or folder.
        root: The folder of the current version that corresponds to `path`, if that has files of another version.
        words: Name of the baseline for people.
    """

    kind: Kind
    path: Path
    root: Path
    words: str

    def find(self, file: Path) -> Path | None:
        """Returns the baseline's version of a file; None if it has none."""
        if self.kind != "files":
            return file
        found = self.path / file.resolve().relative_to(self.root)
        return found if found.is_file() else None


def guard_scenarios(options: GuardOptions) -> None:
    """Runs each scenario and its baseline, reports the differences, and ends with the status of the verdict.

    Raises:
        BadInputError: A scenario, the baseline or a requirement cannot be used.
        fairwave.extras.MissingExtraError: A package of the extra `report` is missing.
        typer.Exit: A call gets worse (3), that is undecided (4), or a run failed (its status).
    """
    from fairwave.ask.requiring import overall, write_suites
    from fairwave.cli.overlaying import label_paths
    from fairwave.extras import MissingExtraError, install, is_there
    from fairwave.folders import claimed

    if not is_there("pyarrow"):
        raise MissingExtraError(
            f"fairwave guard keeps runs as Parquet, which needs the package 'pyarrow'; {install('report')}"
        )
    paths = _read_paths(options.scenarios)
    _check(paths, options)
    names = label_paths(paths)
    if options.junit is not None and options.junit.is_dir():
        raise BadInputError(
            f"--junit is {options.junit}, a folder; give a file: {options.junit / 'report.xml'}"
        )
    out = options.out if options.out is not None else FOLDER
    with (
        _baseline(options.baseline, paths) as baseline,
        claimed(out, "guard", ", ".join(names), overwrite=options.overwrite, scratch=options.out is None),
    ):
        found = [
            _guard(path, _slug(name), baseline, out, options) for name, path in zip(names, paths, strict=True)
        ]
        required = [each for one in found for each in one.required]
        verdict = overall(required)
        report = _write_report(found, verdict, baseline, out, options)
    if options.junit is not None:
        write_suites(options.junit, {one.name: one.required for one in found})
    if options.json:
        console.document(_document(found, verdict, baseline, report))
    else:
        _show(found, report)
    _finish(required)


def _read_paths(words: Sequence[str]) -> list[Path]:
    paths = []
    for word in words:
        path = find_scenario(word)
        if path is None:
            raise BadInputError(f"there is no scenario {word}; write for example `fairwave guard calls.toml`")
        paths.append(path)
    return paths


def _check(paths: Sequence[Path], options: GuardOptions) -> None:
    """Reads the scenarios and the requirements on them before anything runs.

    Raises:
        BadInputError: A scenario or a law cannot be used.
        fairwave.ScenarioError: A scenario is wrong.
        fairwave.ask.AskError: A requirement is no condition, or names a flow group that is not there.
    """
    from fairwave.cli.input import scenario, use_laws
    from fairwave.cli.requiring import conditions

    use_laws(options.laws)
    for path in paths:
        conditions(options.require, None, scenario(str(path), list(options.settings)), has_baseline=True)


@contextmanager
def _baseline(given: str, scenarios: Sequence[Path]) -> Iterator[_Baseline]:
    """Yields the baseline; files of a revision exist during the block only.

    Raises:
        BadInputError: There is no such baseline, or it has one scenario for several.
    """
    from fairwave.folders import NOTE
    from fairwave.revisions import checkout, find_commit, find_repository

    path = Path(given)
    if path.is_file() or (path / NOTE).is_file() or (path / "provenance.json").is_file():
        if len(scenarios) > 1:
            raise BadInputError(
                f"--baseline {given} is one scenario or its runs, and {len(scenarios)} scenarios are guarded; guard "
                "one, or give a revision or a folder with the files of another version"
            )
        yield _Baseline("scenario" if path.is_file() else "runs", path, path, given)
        return
    if path.is_dir():
        yield _Baseline("files", path, _shared_root(scenarios, Path.cwd().resolve()), given)
        return
    top = find_repository(scenarios[0])
    if top is None:
        raise BadInputError(
            f"--baseline is {given}, which is neither a file nor a folder, and {scenarios[0]} is in no git "
            "repository; give for example --baseline old.toml"
        )
    commit = find_commit(top, given)
    if commit is None:
        raise BadInputError(
            f"--baseline is {given}, which is neither a file nor a folder, and {top} has no such revision; fetch it "
            f"(`git fetch --depth 1 origin {given}`, then --baseline FETCH_HEAD), or give a scenario"
        )
    with checkout(top, commit) as files:
        words = commit[:12] if commit.startswith(given) else f"{given} ({commit[:12]})"
        yield _Baseline("files", files, _shared_root(scenarios, top), words)


def _shared_root(scenarios: Sequence[Path], root: Path) -> Path:
    """Returns `root`.

    Raises:
        BadInputError: A scenario is not below it.
    """
    for path in scenarios:
        if root not in path.resolve().parents:
            raise BadInputError(
                f"{path} is not below {root}, so the baseline has no version of it; give its baseline as a file"
            )
    return root


def _slug(name: str) -> str:
    """Name of a scenario's folder."""
    return re.sub(r"[^\w.-]+", "-", name.removesuffix(".toml").removesuffix(".json")) or "scenario"


def _guard(path: Path, slug: str, baseline: _Baseline, out: Path, options: GuardOptions) -> GuardedScenario:
    """Runs a scenario and its baseline, and judges the difference."""
    from fairwave.answers.markdown import GuardedScenario
    from fairwave.answers.verdict import judge_comparison
    from fairwave.ask.requiring import judge_results, read
    from fairwave.cli.overlaying import choose_group, lay_over, list_differences, read_saved_scenario
    from fairwave.cli.requiring import saved_baseline

    folder = out / slug
    runs = folder / "runs"
    old = baseline.path if baseline.kind == "scenario" else baseline.find(path)
    if baseline.kind == "runs":
        before: Results | None = saved_baseline(str(baseline.path), options.seeds)
    elif old is not None:
        before = _run(old, f"the baseline of {path}", BEFORE, runs, baseline, options)
    else:
        before = None
    after = _run(path, str(path), AFTER, runs, baseline, options)
    if before is None:
        wanted = [one for one in read(options.require, None) if not one.has_baseline]
        required = judge_results(wanted, after, relevance=options.relevance)
        note = f"new: {baseline.words} has no such file, so there is nothing to compare with."
        return GuardedScenario(str(path), [], required, note=note)
    whole, _ = lay_over({BEFORE: before, AFTER: after}, AXIS)
    group = choose_group(whole, None)
    from fairwave.answers.lines import lines

    found = lines(whole, AXIS, group, relevance=options.relevance)
    wanted = read(options.require, None) or _forbid_worse(found, group, options.relevance)
    required = judge_results(wanted, after, baseline=before, relevance=options.relevance)
    where = {BEFORE: baseline.path if baseline.kind == "runs" else runs / BEFORE, AFTER: runs / AFTER}
    texts = {side: text for side, at in where.items() if (text := read_saved_scenario(at))}
    page = _draw(whole, found, group, folder, str(path), texts, options)
    return GuardedScenario(
        str(path),
        judge_comparison(found, AXIS, group, whole).sentences,
        required,
        found,
        list_differences(texts),
        _copy_pictures(folder, out, slug) if page else {},
        str(page or ""),
        note="" if wanted else "no measure of a call is defined, so nothing is required; add --require.",
    )


def _run(path: Path, name: str, side: str, runs: Path, baseline: _Baseline, options: GuardOptions) -> Results:
    """Runs a scenario in a separate process, and returns its results.

    Args:
        path: The scenario.
        name: Its name for people.
        side: `BEFORE` or `AFTER`.
        runs: Folder of both sides.
        baseline: The baseline, which has its version of the laws.
        options: Options of the command.

    Raises:
        typer.Exit: The run failed; its message is shown.
    """
    import typer

    from fairwave.cli.overlaying import saved_runs

    folder = runs / side
    laws = [baseline.find(one) if side == BEFORE else one for one in options.laws]
    words = [
        sys.executable, "-m", "fairwave", "run", str(path),
        "--seed", str(options.seeds[0]), "-n", str(len(options.seeds)),
        *(word for setting in options.settings for word in ("--set", setting)),
        *(word for law in laws if law is not None for word in ("--laws", str(law))),
        *(("--threads", str(options.threads)) if options.threads is not None else ()),
        *(("--yes",) if options.yes else ()), "--no-page", "--overwrite", "--json", "--out", str(folder),
    ]  # fmt: skip
    # A file of the user next to the working folder, as `rich.py`, must not replace a library of fairwave.
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    with console.status(f"{name}: {len(options.seeds)} runs", quiet=options.json):
        done = subprocess.run(
            words, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True, encoding="utf-8", errors="replace", env=environment,
        )  # fmt: skip
    if done.returncode:
        console.complain(done.stderr)
        console.say(f"The runs of {name} failed.")
        raise typer.Exit(done.returncode if 0 < done.returncode < 128 else 1)
    return saved_runs(folder)


def _forbid_worse(found: Sequence[MeasureLine], group: str, relevance: Relevance) -> list[Condition]:
    """The condition that each rated call is not worse, or the first measure of `group` if no call is rated."""
    from fairwave.cli.overlaying import forbid_worse

    rated = {
        line.group
        for line in found
        if "mos" in line.measure.id.split("-")
        and not line.undefined
        and any(cell.n for cell in line.cells.values())
    }
    groups = [one for one in dict.fromkeys(line.group for line in found) if one in rated] or [group]
    return [condition for one in groups for condition in forbid_worse(found, one, relevance)]


def _draw(
    whole: Results,
    found: list[MeasureLine],
    group: str,
    folder: Path,
    title: str,
    texts: Mapping[str, str],
    options: GuardOptions,
) -> Path | None:
    """Writes the page of a scenario, or only tables without the extra `report`."""
    from fairwave.cli.comparing import write_tables
    from fairwave.cli.input import layer_or_note

    quiet = options.json
    pages: Any = layer_or_note(needed=False, quiet=quiet) if options.page else None
    if pages is None:
        write_tables(whole, found, AXIS, folder, "")
        return None
    with console.status(f"{title}: drawing", quiet=quiet), pages.styled(None, "png"):
        page: Path = pages.write_overlay(
            whole, {BEFORE: (BEFORE, ()), AFTER: (AFTER, ())}, group, folder, title=title, found=found, notes=[],
            name=AXIS, varied=(), scenarios=texts,
        )  # fmt: skip
    return page


def _copy_pictures(folder: Path, out: Path, slug: str) -> dict[str, str]:
    """Copies the figures for the report into one folder; returns their names with their content in words."""
    from fairwave.staging import write_bytes

    shown = {}
    for figure, words in PICTURES.items():
        source = folder / "figures" / f"{figure}.png"
        if source.is_file():
            name = f"{slug}-{figure}.png"
            write_bytes(out / "pictures" / name, source.read_bytes())
            shown[name] = f"{slug}: {words}"
    return shown


def _write_report(
    found: Sequence[GuardedScenario], verdict: Any, baseline: _Baseline, out: Path, options: GuardOptions
) -> Path:
    from fairwave._native import version
    from fairwave.answers.markdown import write_guard
    from fairwave.provenance import seeds_in_words
    from fairwave.staging import write_text

    made_by = f"fairwave {version}, seeds {seeds_in_words(list(options.seeds))}"
    text = write_guard(found, verdict, baseline.words, made_by, implied=not options.require)
    write_text(out / REPORT, text)
    return out / REPORT


def _document(
    found: Sequence[GuardedScenario], verdict: str, baseline: _Baseline, report: Path
) -> dict[str, Any]:
    from fairwave.answers.lines import as_data

    return {
        "verdict": verdict,
        "baseline": baseline.words,
        "report": str(report),
        "scenarios": [
            {
                "scenario": one.name,
                "verdict": list(one.sentences),
                "note": one.note or None,
                "requirements": [each.to_dict() for each in one.required],
                "differences": {key: list(values) for key, values in (one.differ or {}).items()},
                "comparison": as_data(one.found, AXIS),
                "pictures": list(one.pictures or {}),
                "page": one.page or None,
            }
            for one in found
        ],
    }


def _show(found: Sequence[GuardedScenario], report: Path) -> None:
    """Prints the report for people: one table of all requirements."""
    rows = [[one.name, each.condition, each.verdict, each.found] for one in found for each in one.required]
    advice = dict.fromkeys(
        f"{each.name}: {each.advice}" for one in found for each in one.required if each.advice
    )
    if rows:
        console.table(
            "Requirements",
            ["scenario", "requirement", "verdict", "found"],
            rows,
            caption="\n".join(advice),
            left=True,
        )
    for one in found:
        if one.note:
            console.say(f"\n{one.name}: {one.note}")
    console.say(f"\nReport: {report}")


def _finish(required: Sequence[Requirement]) -> None:
    from fairwave.ask.requiring import STATUS, overall

    if status := STATUS[overall(required)]:
        import typer

        raise typer.Exit(status)
