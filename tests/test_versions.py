"""`fairwave compare old.toml new.toml`: the differences, their effect, and the exit status."""

import json

import pytest

from test_baseline import OLD


@pytest.fixture
def files(tmp_path):
    for name, delay, rate in (("old", 20, 10), ("near", 30, 10), ("far", 320, 10), ("thin", 20, 5)):
        text = OLD.replace('"20 ms"', f'"{delay} ms"').replace('"10 Mb/s"', f'"{rate} Mb/s"')
        (tmp_path / f"{name}.toml").write_text(text.replace('name = "calls"', f'name = "{name}"'))
    return tmp_path


@pytest.fixture
def compare(fairwave, files, monkeypatch):
    monkeypatch.chdir(files)

    def ask(*words):
        out = files / "-".join(word for word in words if word.endswith(".toml"))
        status, said, complaint = fairwave("compare", *words, "-n", "2", "--out", out, "--json")
        return status, json.loads(said) if said else {}, complaint

    return ask


def test_a_change_that_costs_less_than_counts_is_accepted(compare):
    status, told, _ = compare("old.toml", "near.toml")
    assert status == 0
    assert told["differences"] == [{"key": "link.a>b.delay", "old.toml": "20 ms", "near.toml": "30 ms"}]
    (one,) = told["requirements"]
    assert (one["condition"], one["verdict"]) == ("mos.call >= baseline - 0.1", "holds")
    assert one["mean"] == pytest.approx(-0.005, abs=0.005)


def test_a_change_that_costs_more_fails(compare):
    status, told, _ = compare("old.toml", "far.toml")
    assert status == 3
    assert [one["verdict"] for one in told["requirements"]] == ["fails"]


def test_an_improvement_is_accepted(compare):
    assert compare("far.toml", "old.toml")[0] == 0


def test_requirements_replace_the_usual_one(compare):
    assert compare("old.toml", "far.toml", "--require", "mos.call >= baseline - 3")[0] == 0
    assert compare("old.toml", "near.toml", "--require", "delay.call <= baseline + 5")[0] == 3


def test_each_of_several_scenarios_is_compared_with_the_first(compare):
    status, told, _ = compare("old.toml", "near.toml", "far.toml", "thin.toml")
    assert status == 3
    assert {one["alternative"]: one["verdict"] for one in told["requirements"]} == {
        "near.toml": "holds",
        "far.toml": "fails",
        "thin.toml": "holds",
    }
    assert {one["key"] for one in told["differences"]} == {"link.a>b.rate", "link.a>b.delay"}


def test_the_page_and_the_terminal_list_the_differences(fairwave, files):
    words = ("compare", files / "old.toml", files / "thin.toml", "-n", "2", "--out", files / "out")
    status, said, _ = fairwave(*words)
    assert status == 0
    assert "What differs in the scenarios" in said
    assert "a>b.rate" in said
    assert "5 Mb/s" in (files / "out" / "index.html").read_text(encoding="utf-8")


def test_settings_apply_to_all_scenarios(compare):
    status, told, _ = compare("old.toml", "far.toml", "--set", "link.a>b.delay=20 ms")
    assert (status, told["differences"]) == (0, [])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["old.toml", "gone.toml"], "nothing takes 'gone.toml', and no file has that name"),
        (["old.toml", "old.toml"], "is given twice"),
        (
            ["old.toml", "near.toml", "--vary", "flow.call.count=1,2"],
            "--vary is for alternatives of one scenario",
        ),
        (["old.toml", "near.toml", "--require", "mos.cal >= 3"], "no flow group 'cal'"),
        (["old.toml", "near.toml", "--flow", "cal"], "old.toml has no flow group 'cal'; it has call"),
        (["old.toml", "near.toml", "--measures", "mso"], "did you mean 'mos'"),
    ],
)
def test_scenarios_that_cannot_be_compared_are_refused(compare, words, says):
    status, _, complaint = compare(*words)
    assert status == 2
    assert says in complaint
