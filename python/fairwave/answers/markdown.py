"""A comparison of scenarios with their baselines as Markdown, for a comment on a change or the summary of a build."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairwave.answers.naming import short_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave.answers.lines import MeasureLine
    from fairwave.ask.requiring import Requirement, Verdict

MARK = "<!-- fairwave guard -->"
"""The first line: it identifies the comment that a later build replaces."""

HEADINGS: dict[str, str] = {
    "holds": "No call gets worse",
    "fails": "A call gets worse",
    "undecided": "Undecided: more runs are needed to decide",
}
"""Heading for each verdict on the implied requirements."""

REQUIRED: dict[str, str] = {
    "holds": "All requirements hold",
    "fails": "A requirement fails",
    "undecided": HEADINGS["undecided"],
}
"""Heading for each verdict on the requirements of `--require`."""

MOST_KEYS = 20
"""Number of differing keys that are listed for a scenario."""


@dataclass(frozen=True)
class GuardedScenario:
    """A scenario, compared with its baseline.

    Attributes:
        name: Path of the scenario, as given.
        sentences: The answer in words.
        required: The requirements with their verdicts.
        found: The measures before and after; empty without a baseline.
        differ: Each differing key with its values before and after.
        pictures: Names of the pictures with their alternative texts.
        page: Path of the page; empty without one.
        note: A remark for the reader, for example that there is no baseline.
    """

    name: str
    sentences: Sequence[str]
    required: Sequence[Requirement]
    found: Sequence[MeasureLine] = ()
    differ: Mapping[str, Sequence[str]] | None = None
    pictures: Mapping[str, str] | None = None
    page: str = ""
    note: str = ""


def write_guard(
    scenarios: Sequence[GuardedScenario], verdict: Verdict, baseline: str, made_by: str, *, implied: bool
) -> str:
    """Writes the comment.

    Args:
        scenarios: The scenarios.
        verdict: The verdict on all of them.
        baseline: The baseline in words.
        made_by: Version and seeds.
        implied: Whether the requirements are those without `--require`.
    """
    parts = [MARK, f"### {(HEADINGS if implied else REQUIRED)[verdict]}"]
    rows = [
        [one.name, each.condition, f"**{each.verdict}**", " ".join(filter(None, [each.found, each.advice]))]
        for one in scenarios
        for each in one.required
    ]
    if rows:
        parts.append(_table(["scenario", "requirement", "verdict", "found"], rows))
    parts += [f"{_escape(one.name)}: {_escape(one.note)}" for one in scenarios if one.note]
    for one in scenarios:
        parts += _describe(one)
    parts.append(f"<sub>{_escape(made_by)}; baseline: {_escape(baseline)}.</sub>")
    return "\n\n".join(parts) + "\n"


def _describe(one: GuardedScenario) -> list[str]:
    """Pictures of a scenario, then its measures and changes, folded."""
    if not one.found:
        return []
    pictures = [f"![{_escape(text)}](pictures/{name})" for name, text in (one.pictures or {}).items()]
    differ = one.differ or {}
    inner = [_escape(sentence) for sentence in one.sentences]
    rows = [
        [line.measure.label, *(line.cell(label) for label in line.cells)] for line in one.found if line.usual
    ]
    inner.append(_table(["measure", "before", "after"], rows))
    if differ:
        keys = [[short_key(key), *values] for key, values in list(differ.items())[:MOST_KEYS]]
        inner.append(_table(["key that differs", "before", "after"], keys))
        if len(differ) > MOST_KEYS:
            inner.append(f"And {len(differ) - MOST_KEYS} further keys.")
    else:
        inner.append("The scenarios are the same, apart from names and records.")
    if one.page:
        inner.append(f"Page: `{_escape(one.page)}`")
    folded = "\n\n".join(inner)
    return [
        *pictures,
        f"<details><summary>{_escape(one.name)}: all measures</summary>\n\n{folded}\n\n</details>",
    ]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *[[_escape(cell) for cell in row] for row in rows]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escape(text: str) -> str:
    """Escapes markup of Markdown and HTML, except emphasis; names come from files of others."""
    flat = re.sub(r"\s+", " ", text)
    bold = re.fullmatch(r"\*\*(\w+)\*\*", flat)
    if bold:
        return flat
    return re.sub(r"([\\`*_\[\]|~@#])", r"\\\1", flat).replace("&", "&amp;").replace("<", "&lt;")
