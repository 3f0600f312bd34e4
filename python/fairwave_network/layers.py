"""The layer `networks`: the functions of this package that commands of `fairwave` call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_network.language import parse_text
from fairwave_network.loads import tables
from fairwave_network.summarising import describe_topology

if TYPE_CHECKING:
    from pathlib import Path

    from fairwave.scenario import Scenario

__all__ = ["describe_topology", "scenario", "tables"]


def scenario(text: str, folder: Path, name: str) -> Scenario:
    """Returns the explicit scenario of a network's file."""
    return parse_text(text, folder, name).scenario
