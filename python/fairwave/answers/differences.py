"""Lists the keys in which scenarios differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairwave.scenario import Scenario

NOT_ASKED = ("record.", "name", "description")
"""Keys that do not change a run."""

MISSING = "–"
"""The value of a key that a scenario does not have."""


def differences(scenarios: Mapping[str, Scenario]) -> dict[str, list[str]]:
    """Returns each differing key with its value in every scenario. Names or ends identify tables in lists."""
    flat = [_flat(one.to_dict()) for one in scenarios.values()]
    return {
        key: [one.get(key, MISSING) for one in flat]
        for key in dict.fromkeys(key for one in flat for key in one)
        if not key.startswith(NOT_ASKED) and len({one.get(key) for one in flat}) > 1
    }


def _flat(value: Any, key: str = "") -> dict[str, str]:
    """A scenario's keys with their values as text; tables in lists by their name, or by their ends."""
    if isinstance(value, dict):
        found: dict[str, str] = {}
        for name, one in value.items():
            found.update(_flat(one, f"{key}.{name}" if key else str(name)))
        return found
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        found = {}
        for at, one in enumerate(value):
            named = one.get("name") or (f"{one['from']}>{one['to']}" if {"from", "to"} <= set(one) else at)
            found.update(_flat(one, f"{key}.{named}"))
        return found
    return {key: ", ".join(map(str, value)) if isinstance(value, list) else str(value)}
