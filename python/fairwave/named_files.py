"""Finds the files that a scenario names: patterns of loss, traces of rates, captures, policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMERS = {
    ("model", "pattern"): "pattern",
    ("law", "trace"): "trace",
    ("kind", "replay"): "replay",
    ("name", "policy"): "policy",
    ("name", "tcp/policy"): "policy",
}
"""Kind of file that a table names, by key and value."""


def kinds_of_files(table: Any) -> set[str]:
    """The kinds of files that a scenario, given as plain data, names."""
    return {
        kind
        for _, one in named_files(table)
        for (key, value), kind in NAMERS.items()
        if one.get(key) == value
    }


def named_files(table: Any, kind: str | None = None, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the tables of a scenario that name a file, each with its dotted path.

    Args:
        table: The scenario as plain data, or a part of it.
        kind: Only `pattern`, `trace`, `replay` or `policy`; all when None.
        path: Dotted path of the part.
    """
    if isinstance(table, dict):
        if isinstance(table.get("file"), str):
            named = {kind for (key, value), kind in NAMERS.items() if table.get(key) == value}
            if named and kind in (None, *named):
                yield path, table
                return
        places: Any = table.items()
    elif isinstance(table, list):
        places = enumerate(table)
    else:
        return
    for key, one in places:
        yield from named_files(one, kind, f"{path}.{key}" if path else str(key))
