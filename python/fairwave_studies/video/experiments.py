"""Why claims of paper 002 come out as they do: a mechanism on and off, under seeds that nothing else uses."""

from __future__ import annotations

from fairwave_study.experiments import Experiment

EXPERIMENTS: list[Experiment] = []
"""All of them."""
