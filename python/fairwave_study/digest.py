"""A study's findings in Markdown: verdicts, tables and assumptions, for a repository's documentation.

It is written beside the page (`digest.md`), so that a document that is kept is a copy of what a run found.
"""

from __future__ import annotations

import itertools
import json
import shlex
from typing import TYPE_CHECKING, Any

from fairwave.provenance import seeds_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairwave.measuring.statistics import Interval
    from fairwave_report.page import TableView
    from fairwave_study.claims import Judgement
    from fairwave_study.experiments import FoundExperiment
    from fairwave_study.ledger import Ledger
    from fairwave_study.study import Study


def digest(study: Study, ledger: Ledger, tables: Sequence[TableView]) -> str:
    """The findings as Markdown."""
    parts = [f"# {study.title}", study.question, _how(study, ledger)]
    if ledger.reading and study.readings and (differs := study.readings.differs(ledger.reading)):
        changed = ", ".join(f"{factor} = {value}" for factor, value in differs.items())
        parts.append(f"**Another reading than the base:** {changed}.")
    if ledger.settings:
        changed = ", ".join(f"`{path} = {value}`" for path, value in ledger.settings.items())
        parts.append(f"**Made with other assumptions than the study's own:** {changed}.")
    if ledger.relevant:
        changed = ", ".join(f"{name} {least}" for name, least in ledger.relevant.items())
        parts.append(f"**Differences count from other values than usual:** {changed}.")
    for account in ledger.accounts:
        parts.append(f"## A fair account of paper {account.paper}")
        parts += [f"**{heading}.** " + " ".join(sentences) for heading, sentences in account.parts.items()]
    if ledger.claims:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(ledger.verdicts().items()))
        several = study.claims_are[1]
        parts += [
            f"## {several.capitalize()}",
            f"{len(ledger.claims)} {several}: {counts}.",
            _verdicts(ledger.claims, study.claims_are[0]),
        ]
        parts += ["### What the verdicts rest on", *(_claim(one) for one in ledger.claims)]
    if ledger.experiments:
        parts += ["## Why", *(_why(one) for one in ledger.experiments)]
    for table in tables:
        source = f" ({table.source})" if table.source else ""
        parts += [f"## {table.title}{source}", table.caption, _table(table.columns, table.rows)]
    if ledger.calibrations:
        columns = ("quantity", "published", "source", "set to", "measured here")
        keys = ("quantity", "target", "source", "setting", "measured")
        rows = [[str(one[key]) for key in keys] for one in ledger.calibrations]
        parts += ["## Calibrations", _table(columns, rows)]
    if ledger.assumptions:
        parts += ["## Assumptions", "\n".join(_assumption(one) for one in ledger.assumptions)]
    if ledger.figures:
        listed = "\n".join(
            f"- `{one['id']}` {one['title']}" + (f" ({one['source']})" if one["source"] else "")
            for one in ledger.figures
        )
        parts += ["## Figures", f"`{repeating(study, ledger, None, figure='ID')}` makes one.", listed]
    return "\n\n".join(part for part in parts if part) + "\n"


HANDED_ON = ("--reading", "--laws", "--against", "--queue")
"""Options of the command that the study's outcome depends on, and that a ledger does not hold."""


def repeating(
    study: Study, ledger: Ledger, replications: int | None, *, figure: str = "", explored: int | None = None
) -> str:
    """The command that carries a study out again, with every option that its outcome depends on."""
    words = [study.typed, *([f"--figure {figure}"] if figure else [])]
    words += [f"--replications {replications}"] if replications is not None else []
    words += [f"--explore {explored}"] if explored is not None else []
    words += [f"--set {shlex.quote(f'{key}={_value(value)}')}" for key, value in ledger.settings.items()]
    words += [f"--relevant {shlex.quote(f'{name}={least}')}" for name, least in ledger.relevant.items()]
    given = shlex.split(ledger.provenance.command)
    for option, value in itertools.pairwise(given):
        if option in HANDED_ON and option not in study.typed:
            words.append(f"{option} {shlex.quote(value)}")
    return " ".join(words)


def _value(value: Any) -> str:
    """A value as `--set` reads it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _how(study: Study, ledger: Ledger) -> str:
    seeds = ledger.provenance.seeds
    explored = ledger.exploration
    drawn = len(explored.drawn) if explored else None
    command = repeating(study, ledger, len(seeds), explored=drawn)
    return (
        f"Made by fairwave {ledger.provenance.version} with {len(seeds)} replications per point (seeds "
        f"{seeds_in_words(seeds)}); `{command}` makes it again, as `digest.md`. "
        "Intervals are 95 % confidence intervals; differences are taken seed by seed."
        + (
            f" Every claim was judged in {len(explored.judged)} readings as well: the base, each step from it to one "
            f"other value, pairs, and {len(explored.drawn)} drawn from all factors at once; their spreads are pooled."
            + (f" Its runs are smaller: {explored.readings.shortened}" if explored.readings.shortened else "")
            if explored
            else ""
        )
    )


def _verdicts(claims: Sequence[Judgement], called: str) -> str:
    rows = [
        [one.claim.id, one.claim.statement, f"**{one.word}**", _others(one), one.evidence.decided_by()]
        for one in claims
    ]
    columns = ["", called, "verdict", "by each reading", "hangs on"]
    if not any(one.wordings for one in claims):
        rows = [[*row[:3], row[4]] for row in rows]
        columns.remove("by each reading")
    return _table(columns, rows)


def _others(one: Judgement) -> str:
    return "; ".join(f"{name}: {evidence.verdict()}" for name, evidence in one.wordings.items())


def _claim(one: Judgement) -> str:
    apart = "".join(
        f" Part *{name}*: {evidence.verdict()}." for name, evidence in one.evidence.parts().items()
    )
    hangs = f" Hangs on: {', '.join(one.claim.assumptions)}." if one.claim.assumptions else ""
    return f"**{one.claim.id}** ({one.claim.source}): {one.word}.{apart} {one.explanation}{hangs}"


def _why(one: FoundExperiment) -> str:
    sides = [side.label for side in one.experiment.sides]
    rows = [
        [name, *(_ends(one.of(side, name)) for side in sides), _ends(one.change(name))]
        for name in (*one.labels()[:MOST_ROWS], *one.experiment.quantities)
    ]
    left = len(one.labels()) - MOST_ROWS
    more = f"\n\n{left} more comparisons are in `figures/{one.experiment.id}.csv`." if left > 0 else ""
    verdicts = ", ".join(f"{side}: {one.verdict(side)}" for side in sides)
    table = _table(["", *sides, "difference" if len(sides) == 2 else "last − first"], rows)
    seeds = ", ".join(map(str, one.seeds))
    return (
        f"**{one.experiment.claim}** {one.told()} ({verdicts}; seeds {seeds}.)"
        f"\n\n![{one.experiment.mechanism}](figures/{one.experiment.id}.png)\n\n{table}{more}"
    )


MOST_ROWS = 12
"""Comparisons of an experiment that a table shows."""


def _ends(one: Interval) -> str:
    return f"{one.mean:.3g} [{one.low:.3g}, {one.high:.3g}]"


def _assumption(one: dict[str, Any]) -> str:
    source = f" {one['source']}" if one["source"] else ""
    swept = f" Swept in *{one['swept']}*." if one["swept"] else " Not explored."
    return f"- **{one['id']}**: {one['statement']}{source}{swept}"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(columns), line(["---"] * len(columns)), *(line(row) for row in rows)])
