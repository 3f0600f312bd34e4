"""The page of columns: the tables of a run, from the documentation of their rows in Rust."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from validation import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = ROOT / "crates" / "fairwave-sim" / "src"
FILES = ("result.rs", "classes.rs", "media_rows.rs", "service_classes.rs")
"""Files with rows. The table `groups` has a column per measure, which the page of measures describes."""

STRUCT = re.compile(r"((?:^///.*\n)+)(?:^#\[.*\n)*^pub struct (\w+) \{\n([\s\S]*?)^\}", re.M)
FIELD = re.compile(r"((?:^ {4}///.*\n)+)(?:^ {4}#\[.*\n)*^ {4}pub (\w+): ([^\n]+),\n", re.M)


class Table(NamedTuple):
    """A table: its row, and the text about each column by name."""

    about: str
    columns: dict[str, str]


def _text(comment: str) -> str:
    """The sentences of a documentation comment, for a cell of a table."""
    text = " ".join(line.strip().removeprefix("///").strip() for line in comment.splitlines())
    return re.sub(r"\[(`[^`]+`)\]", r"\1", text).replace("`None`", "null").replace("|", "\\|").strip()


def tables() -> dict[str, Table]:
    """Every table of a run by name, except `groups`."""
    rows, listed = {}, ""
    for file in FILES:
        for comment, name, body in STRUCT.findall((SOURCE / file).read_text(encoding="utf-8")):
            rows[name] = Table(
                _text(comment), {field: _text(about) for about, field, _ in FIELD.findall(body)}
            )
            listed = body if name == "RunResult" else listed
    return {
        table: Table(_text(about), rows[kind[4:-1]].columns)
        for about, table, kind in FIELD.findall(listed)
        if kind.startswith("Vec<") and kind[4:-1] in rows
    }


def render(_: Path) -> str:
    """Renders the page."""
    parts = [
        "# Columns",
        "[Results](results.md#the-tables) has the rules of all tables, [Measures](measures.md) those of `groups`.",
    ]
    for name, table in tables().items():
        rows = "\n".join(f"| `{column}` | {about} |" for column, about in table.columns.items())
        parts += [f"## `{name}`", table.about, f"| column | what |\n|---|---|\n{rows}"]
    return "\n\n".join(parts) + "\n"
