"""A study's findings in Markdown: verdicts, tables and assumptions, rendered from the plain data of a ledger.

A study writes it next to its page (`digest.md`). The same function renders the page of a kept ledger.
"""

from __future__ import annotations

import itertools
import json
import math
import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

from fairwave.provenance import seeds_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairwave_study.ledger import Ledger
    from fairwave_study.study import Study


def digest(ledger: Mapping[str, Any], figures: str = "figures") -> str:
    """Renders the findings.

    Args:
        ledger: What `ledger.json` holds.
        figures: Folder of the figures, relative to the page.
    """
    parts = [f"# {ledger['title']}", ledger["question"], _describe_runs(ledger)]
    if differs := _differs(ledger):
        changed = ", ".join(f"{factor} = {value}" for factor, value in differs.items())
        parts.append(f"**Another reading than the base:** {changed}.")
    if ledger["settings"]:
        changed = ", ".join(f"`{path} = {value}`" for path, value in ledger["settings"].items())
        parts.append(f"**Made with changed assumptions:** {changed}.")
    if relevant := ledger.get("relevant"):
        changed = ", ".join(f"{name} {least}" for name, least in relevant.items())
        parts.append(f"**Differences count from other values than usual:** {changed}.")
    for account in ledger["accounts"]:
        parts.append(f"## A fair account of paper {account['paper']}")
        parts += [f"**{part['heading']}.** " + " ".join(part["sentences"]) for part in account["parts"]]
    if claims := ledger["claims"]:
        one, several = ledger["claims_are"]
        parts += [
            f"## {several.capitalize()}",
            f"{len(claims)} {several}: {_counted(claims)}.",
            _verdicts(claims, one),
            "### Comparisons behind the verdicts",
            *(_claim(claim) for claim in claims),
        ]
    if ledger["experiments"]:
        parts += ["## Why", *(_explain(one, figures) for one in ledger["experiments"])]
    for table in ledger["tables"]:
        source = f" ({table['source']})" if table["source"] else ""
        parts += [f"## {table['title']}{source}", table["caption"], _table(table["columns"], table["rows"])]
    if ledger["calibrations"]:
        columns = ("quantity", "published", "source", "set to", "measured here")
        keys = ("quantity", "target", "source", "setting", "measured")
        rows = [[str(one[key]) for key in keys] for one in ledger["calibrations"]]
        parts += ["## Calibrations", _table(columns, rows)]
    if ledger["assumptions"]:
        parts += ["## Assumptions", "\n".join(_assumption(one) for one in ledger["assumptions"])]
    if ledger["figures"]:
        listed = "\n".join(
            f"- `{one['id']}` {one['title']}" + (f" ({one['source']})" if one["source"] else "")
            for one in ledger["figures"]
        )
        parts += ["## Figures", f"`{ledger['commands']['figure']}` makes one.", listed]
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


def _differs(ledger: Mapping[str, Any]) -> dict[str, str]:
    """The differences of the reading from the base, which takes the first value of each factor."""
    base = {factor["id"]: factor["values"][0]["name"] for factor in ledger["factors"]}
    return {name: value for name, value in ledger["reading"].items() if base[name] != value}


def _describe_runs(ledger: Mapping[str, Any]) -> str:
    made = ledger["provenance"]
    explored = ledger["exploration"]
    return (
        f"Made by fairwave {made['version']} with {len(made['seeds'])} replications per point (seeds "
        f"{seeds_in_words(made['seeds'])}); `{ledger['commands']['all']}` makes it again, as `digest.md`. "
        "Intervals are 95 % confidence intervals; differences are taken seed by seed."
        + (
            f" Every claim was judged in {explored['readings']} readings as well: the base, each step from it to one "
            f"other value, pairs, and {explored['drawn']} drawn from all factors at once; their spreads are pooled."
            + (f" Its runs are smaller: {explored['shortened']}" if explored["shortened"] else "")
            if explored
            else ""
        )
    )


def _counted(claims: Sequence[Mapping[str, Any]]) -> str:
    counts = Counter(one["verdict"] for one in claims)
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))


def _verdicts(claims: Sequence[Mapping[str, Any]], called: str) -> str:
    rows = [
        [
            one["id"],
            one["statement"],
            f"**{one['verdict']}**",
            "; ".join(f"{way['name']}: {way['verdict']}" for way in one["wordings"]),
            one["decided_by"],
        ]
        for one in claims
    ]
    columns = ["", called, "verdict", "by each reading", "hangs on"]
    if not any(one["wordings"] for one in claims):
        rows = [[*row[:3], row[4]] for row in rows]
        columns.remove("by each reading")
    return _table(columns, rows)


def _claim(one: Mapping[str, Any]) -> str:
    apart = "".join(f" Part *{part['name']}*: {part['verdict']}." for part in one["parts"])
    hangs = f" Hangs on: {', '.join(one['assumptions'])}." if one["assumptions"] else ""
    return f"**{one['id']}** ({one['source']}): {one['verdict']}.{apart} {one['explanation']}{hangs}"


def _explain(one: Mapping[str, Any], figures: str) -> str:
    sides = one["sides"]
    labels = [comparison["label"] for comparison in sides[0]["comparisons"]]
    quantities = [quantity["name"] for quantity in sides[0]["quantities"]]
    found = [{**_index(side["comparisons"], "label"), **_index(side["quantities"], "name")} for side in sides]
    last = _index([change for change in one["differences"] if change["side"] == sides[-1]["label"]], "of")
    rows = [
        [name, *(_ends(side[name]) for side in found), _ends(last[name])]
        for name in (*labels[:MOST_ROWS], *quantities)
    ]
    left = len(labels) - MOST_ROWS
    more = f"\n\n{left} more comparisons are in `figures/{one['id']}.csv`." if left > 0 else ""
    verdicts = ", ".join(f"{side['label']}: {side['verdict']}" for side in sides)
    heads = ["", *(side["label"] for side in sides), "difference" if len(sides) == 2 else "last − first"]
    seeds = ", ".join(map(str, one["seeds"]))
    return (
        f"**{one['claim']}** {one['words']} ({verdicts}; seeds {seeds}.)"
        f"\n\n![{one['mechanism']}]({figures}/{one['id']}.png)\n\n{_table(heads, rows)}{more}"
    )


MOST_ROWS = 12
"""Comparisons of an experiment that a table shows."""


def _index(several: Iterable[Mapping[str, Any]], key: str) -> dict[str, Mapping[str, Any]]:
    return {one[key]: one for one in several}


def _ends(one: Mapping[str, Any]) -> str:
    mean, low, high = (math.nan if value is None else value for value in (one["estimate"], *one["interval"]))
    return f"{mean:.3g} [{low:.3g}, {high:.3g}]"


def _assumption(one: Mapping[str, Any]) -> str:
    source = f" {one['source']}" if one["source"] else ""
    swept = f" Swept in *{one['swept']}*." if one["swept"] else " Not explored."
    return f"- **{one['id']}**: {one['statement']}{source}{swept}"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(columns), line(["---"] * len(columns)), *(line(row) for row in rows)])
