"""Why claims of paper 004 come out as they do: a mechanism on and off, on seeds that nothing else uses."""

from __future__ import annotations

from fairwave_study.experiments import Experiment


def experiments() -> list[Experiment]:
    """All experiments."""
    return []
