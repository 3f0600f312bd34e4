"""The page of measures, as the list has them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fairwave import _native
from fairwave.measuring import measures

if TYPE_CHECKING:
    from pathlib import Path

KINDS = {"stream": "calls, video, streams", "transfer": "files, pages", "bulk": "endless data"}
"""Kinds of groups, in words."""


def table() -> str:
    """A row for each measure: name, column, unit, kinds of groups that show it by default, and description."""
    columns = {one["name"].replace("_", "-"): one["column"] for one in json.loads(_native.group_measures())}
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


def render(_: Path) -> str:
    """Renders the page."""
    return (
        f"# Measures\n\n[Results](results.md) describes the tables that they are computed from.\n\n{table()}"
    )
