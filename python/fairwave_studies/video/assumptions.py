"""What paper 002 leaves open or says in two ways, how it is closed here, and which factor of `readings` varies it."""

from __future__ import annotations

from fairwave_study import texts

ASSUMPTIONS = texts.assumptions(__file__)
"""In the words of `assumptions.toml`."""
