"""What commands of `fairwave` ask of this package: the layer `networks`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_network.language import parse_text
from fairwave_network.loads import tables

if TYPE_CHECKING:
    from pathlib import Path

    from fairwave.scenario import Scenario

__all__ = ["scenario", "tables"]


def scenario(text: str, folder: Path, name: str) -> Scenario:
    """The explicit scenario of a network's file."""
    return parse_text(text, folder, name).scenario
