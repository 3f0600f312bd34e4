"""The measures in `docs/results.md`, as the list has them: `python -m validation measures` writes them anew."""

from __future__ import annotations

import json

from fairwave import _native
from fairwave.measuring import measures
from validation import DOCS, writing

PAGE = DOCS / "results.md"
BEGIN, END = "<!-- measures: written by make docs -->\n", "<!-- end of measures -->\n"
KINDS = {"stream": "calls, video, streams", "transfer": "files, pages", "bulk": "endless data"}
"""Kinds of groups, in words."""


def table() -> str:
    """A row for each measure: name, column, unit, kinds of groups that show it by default, and description."""
    columns = {one["name"]: one["column"] for one in json.loads(_native.group_measures())}
    rows = ["| measure | unit | shown unasked of | what |", "|---|---|---|---|"]
    for name, define in measures.STANDARD.items():
        if name in measures.OWN:
            continue
        about = " ".join((define.__doc__ or "").strip().split("\n\n")[0].split())
        if name in columns:
            about += f" Column `{columns[name]}` of `groups`."
        measure = define(None)
        kinds = ", ".join(words for kind, words in KINDS.items() if kind in measure.applies.to)
        rows.append(f"| `{name}` | {measure.unit} | {kinds} | {about} |")
    return "\n".join(rows) + "\n"


def written(page: str) -> str:
    """The page with the table in its place."""
    return writing.fill(page, BEGIN, END, table())


def main() -> None:
    """Writes the table into the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
