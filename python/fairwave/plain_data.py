"""Plain data of scenarios: dictionaries and lists as JSON for the compiled part, and as TOML in one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fairwave import _native


def as_json(table: Mapping[str, Any], what: str, *, indent: int | None = None) -> str:
    """Serialises a table as JSON for the compiled part; NumPy's numbers become plain numbers.

    Raises:
        fairwave.ScenarioError: A value cannot be part of a scenario.
    """
    try:
        return json.dumps(table, ensure_ascii=False, allow_nan=False, default=_number, indent=indent)
    except (TypeError, ValueError) as error:
        raise _native.ScenarioError(
            f"error: {what} holds what no scenario can: {error}; write quantities as text with a unit ('20 ms'), "
            "counts as whole numbers"
        ) from None


def _number(value: Any) -> Any:
    """Converts a NumPy scalar to a number."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return value.item()
    raise TypeError(f"{value!r:.60} is of the type {type(value).__name__}")


def as_plain(value: Any) -> Any:
    """Converts mappings to dictionaries and tuples to lists, recursively; other values are unchanged."""
    if hasattr(value, "items"):
        return {str(key): as_plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, (list, tuple)):
        return [as_plain(inner) for inner in value]
    return value


def inline(value: Any) -> str:
    """A value as one line of TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {inline(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)
