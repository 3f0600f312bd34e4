"""Fairwave agrees with standards, formulas and experience, and the page lists all questions."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from practice import g107
from practice.page import MEASURED, page, rows
from practice.situation import Situation
from practice.situations import AREAS, situations
from validation import kept

ALL = situations()
ROOT = Path(__file__).parents[2]
ANSWERS = kept.read("practice")


@pytest.mark.parametrize("one", ALL, ids=[one.key for one in ALL])
def test_a_situation_has_its_known_answer(one: Situation) -> None:
    measured = one.measured()
    assert one.low <= measured <= one.high, (
        f"{one.asked} {one.expected:g} {one.unit} by {one.source}, from {one.low:g} to {one.high:g}: {measured:g}"
    )


def test_there_are_at_least_sixty_and_each_has_a_name_of_its_own() -> None:
    assert len({one.key for one in ALL}) == len(ALL) >= 60
    assert {one.area for one in ALL} == set(AREAS)


@pytest.mark.parametrize("one", ALL, ids=[one.key for one in ALL])
def test_what_is_allowed_is_bounded_and_allows_what_is_expected(one: Situation) -> None:
    assert math.isfinite(one.low)
    assert math.isfinite(one.high)
    assert one.low <= one.expected <= one.high
    assert one.asked
    assert one.source


def test_exactly_the_situations_have_a_kept_answer_and_each_is_allowed() -> None:
    assert set(ANSWERS) == {one.key for one in ALL}, "run `python -m validation practice`"
    text = page(ALL, lambda one: ANSWERS[one.key])
    assert [cells[0] for cells in rows(text) if cells[MEASURED + 1].endswith("✗")] == []
    assert f"**{len(ALL)} situations have a known result" in (ROOT / "docs" / "practice.md").read_text(
        encoding="utf-8"
    )


def test_a_wrong_answer_is_marked_on_the_page() -> None:
    off = page(ALL[:1], lambda one: one.high + 1)
    assert [cells[MEASURED + 1].endswith("✗") for cells in rows(off)] == [True]
    area = AREAS[ALL[0].area][0]
    (summary,) = (line for line in off.splitlines() if f">{area}</a>" in line)
    assert "| ✗\u00a01 |" in summary
    assert "Answers that are not allowed: 1." in off


# ITU-T G.107, Table B.1 and §7.7.
@pytest.mark.parametrize(("rating", "score"), [(90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58)])
def test_the_independent_score_is_that_of_the_recommendations_table(rating: float, score: float) -> None:
    assert g107.opinion(rating) == pytest.approx(score, abs=0.007)


def test_the_independent_rating_with_all_defaults_is_that_of_the_recommendation() -> None:
    assert g107.r_factor(1e-9) == pytest.approx(93.2, abs=0.05)
    assert g107.opinion(93.2) == pytest.approx(4.41, abs=0.005)
