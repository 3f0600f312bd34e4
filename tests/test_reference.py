"""What everything that a scenario can name is: nothing is left out, and the examples are whole scenarios."""

import pytest

from fairwave import _native, reference
from fairwave.scenario import load


def every_entry():
    return [(kind, name) for kind in reference.ONE for name in reference._names(kind) if kind != "studies"]


@pytest.mark.parametrize(("kind", "name"), every_entry(), ids=str)
def test_every_name_is_explained_with_an_example_that_is_sound(kind, name):
    found = (
        next(one for one in reference.entries(name) if one.kind == kind)
        if kind != "measures"
        else (reference._entry(kind, name))
    )
    assert len(found.about) > 3
    assert found.example
    for key, value, default, about in (*found.parameters, *found.common):
        assert key
        assert value not in {"", "value"}, (key, value)
        assert default
        assert about, f"{name}: nothing is said of {key}"
    if found.how:
        scenario = load(found.example)
        assert name in found.example
        assert scenario.plan()["flows"]


def test_the_lists_are_those_of_the_simulator():
    for kind, names in _native.names().items():
        assert [name for name, _ in names] == [name for name, _ in reference.listed(kind)]


def test_vegas_is_explained_with_rule_source_and_defaults():
    (vegas,) = reference.entries("vegas")
    assert "Brakmo & Peterson 1995" in vegas.about
    assert [(row[0], row[2]) for row in vegas.parameters] == [("alpha", "1"), ("beta", "3"), ("gamma", "1")]
    assert "min-rto" in [row[0] for row in vegas.common]
    assert 'name = "tcp/vegas"' in vegas.example


def test_needed_and_default_parameters_are_told_apart():
    rows = {row[0]: row for row in reference.entries("markov")[0].parameters}
    assert rows["good"][1:3] == ("time", "needed")
    assert rows["bad-loss"][1:3] == ("number", "1.0")


def test_a_name_of_several_kinds_is_explained_as_each():
    assert {one.kind for one in reference.entries("voice")} == {"traffic", "studies"}


def test_a_name_that_nothing_has_gets_the_nearest():
    with pytest.raises(LookupError, match="did you mean vegas"):
        reference.entries("vegs")


def test_explain_prints(capsys):
    reference.explain("codel")
    assert "RFC 8289" in capsys.readouterr().out
