"""Where a scenario names files: patterns of loss, traces of rates, captures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMERS = {"model": "pattern", "law": "trace", "kind": "replay"}
"""A table names a file where one of these keys has this value."""


def named_files(table: Any, kind: str | None = None, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The tables of a scenario that name a file, each with its dotted path.

    Args:
        table: The scenario as plain data, or a part of it.
        kind: Only `pattern`, only `trace` or only `replay`; all when None.
        path: Where the part stands.
    """
    if isinstance(table, dict):
        if isinstance(table.get("file"), str):
            named = {value for key, value in NAMERS.items() if table.get(key) == value}
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
