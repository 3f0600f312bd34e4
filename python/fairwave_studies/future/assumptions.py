"""Why the numbers of the scenarios are what they are."""

from __future__ import annotations

from fairwave_study import texts

ASSUMPTIONS = texts.assumptions(__file__)
"""In the words of `assumptions.toml`."""
