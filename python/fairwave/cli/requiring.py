"""`--require` and `--junit`: what runs are to meet, shown and as an exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.cli import console
from fairwave.cli.input import BadInputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.ask import Answer
    from fairwave.ask.requiring import Requirement
    from fairwave.ask.wording import Condition
    from fairwave.results import Results
    from fairwave.runs.keeping import Keep
    from fairwave.scenario import Scenario


def conditions(texts: Sequence[str], junit: Path | None, read: Scenario | None) -> list[Condition]:
    """Reads the requirements of a command, before anything is run.

    Raises:
        BadInputError: `--junit` has nothing to write.
        fairwave.ask.AskError: A requirement is no condition.
    """
    check_junit(texts, junit)
    if not texts:
        return []
    from fairwave.ask.requiring import read as conditions_of

    return conditions_of(texts, read)


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


def at_limits(
    wanted: Sequence[Condition],
    answer: Answer,
    read: Scenario,
    seed: int,
    threads: int | None,
    keep: Keep,
) -> list[Requirement]:
    """Judges measures at the edges of the regions of a search, by the runs that the search made there."""
    from dataclasses import replace

    from fairwave.answers.verdict import short_key
    from fairwave.ask.finding import runs_at
    from fairwave.ask.requiring import at_no_limit, of_results

    if not answer.regions:
        return [at_no_limit(one, answer) for one in wanted]
    found: list[Requirement] = []
    for value in answer.limits if wanted else ():
        runs = next(one.runs for one in answer.tested if one.value == value)
        there = runs_at(read, answer.key, value, range(seed, seed + runs), threads=threads, keep=keep)
        where = f"{short_key(answer.key)} = {value}"
        found += [replace(one, alternative=where) for one in of_results(wanted, there)]
    return found


def met(wanted: Sequence[Condition], results: Results) -> list[Requirement]:
    """How far results meet requirements; nothing without any."""
    if not wanted:
        return []
    from fairwave.ask.requiring import of_results

    return list(of_results(wanted, results))


def as_data(found: Sequence[Requirement]) -> dict[str, Any]:
    """What a document for programs says of requirements; nothing without any."""
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
        import typer  # only now: it takes longer to import than a small scenario to run

        raise typer.Exit(status)


def status_of(found: Sequence[Requirement], suite: str, junit: Path | None, *, json: bool) -> int:
    """Shows requirements and writes them as JUnit XML; their exit status, 0 without any."""
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
