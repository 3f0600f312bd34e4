"""Readings on the command line: refusals list the allowed values, and papers' studies can be explored."""

import pytest

from fairwave import layers
from fairwave_study import design


@pytest.mark.parametrize("count", [0, -3])
def test_no_readings_cannot_be_explored(fairwave, count):
    status, _, words = fairwave("study", "voice", "--explore", count)
    assert status == 2
    assert "1 or more (128 are usual)" in words


def test_an_exploration_goes_without_a_figure_and_without_settings(fairwave):
    for more in (["--figure", "000-2"], ["--set", "duration=1 s"]):
        status, _, words = fairwave("study", "voice", "--explore", 4, *more)
        assert status == 2
        assert "without --figure, --set and --relevant" in words


def test_a_reading_file_that_does_not_fit_is_refused_with_what_is_allowed(fairwave, tmp_path):
    file = tmp_path / "reading.json"
    for text, expected in (
        ('{"bufers": "50 kB"}', "no factor 'bufers' (did you mean 'buffers'?)"),
        ('{"buffers": "5 kB"}', "factor 'buffers' has no value '5 kB'"),
        ("[1]", "a JSON object of factors to values"),
        ("{", "no JSON"),
    ):
        file.write_text(text)
        status, _, words = fairwave("study", "voice", "--reading", file)
        assert status == 2
        assert expected in " ".join(words.split())
    status, _, words = fairwave("study", "voice", "--reading", tmp_path / "none.json")
    assert status == 2
    assert "none.json" in words


OF_PAPERS = [
    name for name in layers.studies() if name not in ("today", "future", "conference", "network", "radio")
]
"""Studies of papers. The other studies were designed here, so they leave nothing open."""


@pytest.mark.parametrize("name", OF_PAPERS)
def test_every_study_can_be_read_in_many_ways_each_admitted_by_something(name):
    readings = layers.study(name).readings
    assert readings is not None
    assert len(readings.factors) >= 8
    for factor in readings.factors:
        assert len(factor.values) >= 2, factor.id
        assert len({value.name for value in factor.values}) == len(factor.values), factor.id
        assert factor.ranking, factor.id
        assert all(value.admits for value in factor.values), factor.id
    assert not readings.refuses(readings.base())
    assert len(design.draw_readings(readings, 128)) == 128


@pytest.mark.parametrize("name", OF_PAPERS)
def test_every_assumption_that_is_said_to_vary_is_a_factor(name):
    study = layers.study(name)
    factors = {factor.id for factor in study.readings.factors}
    varied = {name for one in study.assumptions if one.swept for name in one.swept.split(", ")}
    assert varied <= factors
    known = {one.id for one in study.assumptions}
    assert {name for claim in study.claims for name in claim.assumptions} <= known | factors
