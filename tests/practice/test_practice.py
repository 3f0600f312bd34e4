"""Fairwave answers as standards, formulas and experience do."""

from __future__ import annotations

import pytest

from practice.situation import Situation
from practice.situations import AREAS, situations

ALL = situations()


@pytest.mark.parametrize("one", ALL, ids=[one.key for one in ALL])
def test_a_situation_has_its_known_answer(one: Situation) -> None:
    measured = one.measured()
    assert one.low <= measured <= one.high, (
        f"{one.asked} {one.expected:g} {one.unit} by {one.source}, at most from {one.low:g} to {one.high:g}: {measured:g}"
    )
