"""Why claims of paper 003 come out as they do: a mechanism on and off, under seeds that nothing else uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairwave_study.experiments import Experiment

EXPERIMENTS: list[Experiment] = []
"""All of them."""
