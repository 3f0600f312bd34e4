"""`--require` and `--junit`: shows requirements on runs, and returns their exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.cli import console
from fairwave.errors import BadInputError
from fairwave.measuring.relevance import USUAL, Relevance

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.ask import Answer
    from fairwave.ask.requiring import Requirement
    from fairwave.ask.wording import Condition
    from fairwave.results import Results
    from fairwave.runs.axes import Label
    from fairwave.runs.keeping import Keep
    from fairwave.scenario import Scenario


REMEDY = "add --baseline old.toml, or use `fairwave compare old.toml new.toml`"
"""Remedy if a condition needs a baseline."""


def conditions(
    texts: Sequence[str],
    junit: Path | None,
    read: Scenario | None,
    *,
    has_baseline: bool,
    remedy: str = REMEDY,
) -> list[Condition]:
    """Reads the requirements of a command, before anything is run.

    Args:
        texts: The requirements.
        junit: The file of JUnit XML.
        read: The scenario with their flow groups and links, if there is one.
        has_baseline: Whether there is a baseline to compare with.
        remedy: How to give a baseline.

    Raises:
        BadInputError: `--junit` has nothing to write, or a condition needs a baseline and there is none.
        fairwave.ask.AskError: A requirement is no condition.
    """
    check_junit(texts, junit)
    if not texts:
        return []
    from fairwave.ask.requiring import read as conditions_of

    wanted = conditions_of(texts, read)
    check_baseline(wanted, has_baseline=has_baseline, remedy=remedy)
    return wanted


def check_baseline(wanted: Sequence[Condition], *, has_baseline: bool, remedy: str = REMEDY) -> None:
    """Refuses a condition next to a baseline that is missing.

    Raises:
        BadInputError: There is one.
    """
    lacking = next((one for one in wanted if one.has_baseline and not has_baseline), None)
    if lacking is not None:
        raise BadInputError(f"'{lacking}' needs a baseline; {remedy}")


def baseline_runs(
    given: str | None, wanted: Sequence[Condition], chosen: range, threads: int | None, keep: Keep | None
) -> Results | None:
    """Returns the runs of `--baseline`: those of a folder, or of a scenario under the same seeds.

    Raises:
        BadInputError: No condition compares with it, or it lacks a seed, a flow group or a link.
    """
    if given is None:
        return None
    beside = [one for one in wanted if one.has_baseline]
    if not beside:
        raise BadInputError(
            f"--baseline is {given}, but no condition compares with it; add for example "
            "--require 'mos.voice >= baseline - 0.1'"
        )
    from pathlib import Path

    from fairwave.answers.results_api import asked

    if not Path(given).is_dir():
        from fairwave.ask.finding import baseline_of
        from fairwave.cli.input import scenario

        return baseline_of(beside, scenario(given), chosen, threads=threads, keep=keep)
    found = saved_baseline(given, chosen)
    try:
        for one in beside:
            asked(found, one.of.text, None)
    except LookupError as error:
        raise BadInputError(f"--baseline {given}: {error}") from None
    return found


def saved_baseline(given: str, chosen: range) -> Results:
    """Reads the runs of a folder that serve as baseline.

    Raises:
        BadInputError: It holds no runs, those of several alternatives, or it lacks a seed.
    """
    from pathlib import Path

    from fairwave.cli.overlaying import saved_runs
    from fairwave.provenance import seeds_in_words

    found = saved_runs(Path(given))
    if found.axes:
        raise BadInputError(f"{given} varies {', '.join(found.axes)}; a baseline is the runs of one scenario")
    seeds = {int(one) for one in found.rows("runs")["seed"].to_list()}
    if not seeds >= set(chosen):
        raise BadInputError(
            f"{given} has runs with the seeds {seeds_in_words(sorted(seeds))}, but {seeds_in_words(list(chosen))} are "
            "compared; give --baseline its scenario, or the same --seed and -n"
        )
    return found


def check_junit(texts: Sequence[str], junit: Path | None) -> None:
    """Refuses a file that cannot be written.

    Raises:
        BadInputError: There is no requirement to write, or the path is a folder.
    """
    if junit is None:
        return
    if not texts:
        raise BadInputError(
            "--junit writes requirements, and there are none; for example "
            "--require 'mos.voice >= 3.6' --junit report.xml"
        )
    if junit.is_dir():
        raise BadInputError(
            f"--junit is {junit}, which is a folder; give a file, for example {junit / 'report.xml'}"
        )


def judge_limits(
    wanted: Sequence[Condition],
    answer: Answer,
    read: Scenario,
    threads: int | None,
    keep: Keep,
    most: int,
    baseline: Results | None = None,
    relevance: Relevance = USUAL,
) -> list[Requirement]:
    """Judges measures at the edges of the regions of a search: by the search's runs there, and at least `most` runs.

    A curve through the runs of other values may have decided an edge, so that the edge itself has few runs.
    """
    from dataclasses import replace

    from fairwave.answers.naming import short_key
    from fairwave.ask.finding import runs_at
    from fairwave.ask.requiring import judge_results, judge_without_limit

    if not answer.regions:
        return [judge_without_limit(one, answer) for one in wanted]
    found: list[Requirement] = []
    for value in answer.limits if wanted else ():
        seeds = seeds_at(answer, value, most)
        there = runs_at(read, answer.key, value, seeds, threads=threads, keep=keep)
        where = f"{short_key(answer.key)} = {value}"
        found += [
            replace(one, alternative=where)
            for one in judge_results(wanted, there, baseline=baseline, relevance=relevance)
        ]
    return found


def seeds_at(answer: Answer, value: Label, most: int) -> list[int]:
    """The seeds of a search's runs at a value, plus new ones until there are `most`."""
    known = next(list(one.seeds) for one in answer.tested if one.value == value)
    behind = answer.seeds[-1] + 1
    return [*known, *range(behind, behind + max(most - len(known), 0))]


def met(
    wanted: Sequence[Condition],
    results: Results,
    baseline: Results | None = None,
    relevance: Relevance = USUAL,
) -> list[Requirement]:
    """Judges results by requirements; nothing without any."""
    if not wanted:
        return []
    from fairwave.ask.requiring import judge_results

    return judge_results(wanted, results, baseline=baseline, relevance=relevance)


def as_data(found: Sequence[Requirement]) -> dict[str, Any]:
    """Requirements for a document for programs; empty without any."""
    if not found:
        return {}
    from fairwave.ask.requiring import overall

    return {"requirements": [one.to_dict() for one in found], "required": overall(found)}


def settle(
    found: Sequence[Requirement], suite: str, junit: Path | None, *, json: bool, least: int = 0
) -> None:
    """Shows requirements, writes them as JUnit XML, and ends the command with their exit status.

    Args:
        found: The requirements.
        suite: Name of the JUnit suite.
        junit: The file of JUnit XML.
        json: Whether a document for programs has been written instead of tables.
        least: The exit status if all requirements hold.

    Raises:
        typer.Exit: A requirement fails (3) or is undecided (4), or `least` is not 0.
    """
    status = status_of(found, suite, junit, json=json) or least
    if status:
        import typer  # imported late: its import takes longer than a small scenario

        raise typer.Exit(status)


def status_of(found: Sequence[Requirement], suite: str, junit: Path | None, *, json: bool) -> int:
    """Shows requirements, writes them as JUnit XML, and returns their exit status, 0 without any."""
    if not found:
        return 0
    from fairwave.ask.requiring import STATUS, overall, write_junit

    if not json:
        with_labels = any(one.alternative for one in found)
        rows = [
            [one.condition, *([one.alternative] if with_labels else []), one.verdict, one.found]
            for one in found
        ]
        advice = dict.fromkeys(f"{one.name}: {one.advice}" for one in found if one.advice)
        heads = ["requirement", *(["alternative"] if with_labels else []), "verdict", "found"]
        console.table("Requirements", heads, rows, caption="\n".join(advice))
    if junit is not None:
        write_junit(junit, suite, found)
    return STATUS[overall(found)]
