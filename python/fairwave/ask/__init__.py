"""Questions on a scenario: grids of a wanted precision (`sweep`), and values at which conditions hold (`find`).

`wording` parses measures, conditions and varied keys.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairwave.ask.finding import Answer, Region, Tested, find
    from fairwave.ask.sweeping import Cell, Sweep, sweep
    from fairwave.ask.wording import AskError

__all__ = ["Answer", "AskError", "Cell", "Region", "Sweep", "Tested", "find", "sweep"]

_HOMES = {
    "Answer": "finding",
    "AskError": "wording",
    "Cell": "sweeping",
    "Region": "finding",
    "Sweep": "sweeping",
    "Tested": "finding",
    "find": "finding",
    "sweep": "sweeping",
}
"""Module of each name; modules are imported on first access."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fairwave.ask' has no attribute {name!r}")
    found = getattr(import_module(f"fairwave.ask.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
