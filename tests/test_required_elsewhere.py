"""Requirements of networks, studies and evaluations, and the exit status of these commands."""

import json

import networkx as nx
import numpy as np
import pytest

import fairwave as fw
from fairwave.ask.wording import AskError
from fairwave_network import language, requiring
from fairwave_study import Claim, Grid, Study, vary
from fairwave_study.claims import Comparison, Evidence
from scenarios import CALLS
from square import SQUARE, graph


@pytest.fixture
def square(tmp_path, monkeypatch):
    nx.write_graphml(graph(), tmp_path / "net.graphml")
    (tmp_path / "demands.csv").write_text("from,to,demand\nA,C,3\nC,A,1\n", encoding="utf-8")
    (tmp_path / "net.toml").write_text(SQUARE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return language.load(tmp_path / "net.toml")


def test_a_network_is_judged_by_all_calls_by_pairs_and_by_links(fairwave, square):
    words = ("network", "net.toml", "-n", "3", "--widen", "0", "--json")
    holds = ("--require", "utilisation.A>B < 100", "--require", "mos.A>C > 1", "--require", "mos.C>A > 1")
    status, said, _ = fairwave(*words, *holds, "--junit", "report.xml")
    assert status == 0, said
    assert [one["verdict"] for one in json.loads(said)["requirements"]] == ["holds"] * 3
    status, said, _ = fairwave(*words, *holds, "--require", "mean-wait.A>D > 1000")
    assert status == 3
    assert json.loads(said)["required"] == "fails"


def test_one_run_of_a_network_is_undecided(fairwave, square):
    status, said, _ = fairwave("network", "net.toml", "-n", "1", "--widen", "0", "--require", "mos > 1")
    assert status == 4
    assert "try `-n 10`" in said


def test_a_network_is_judged_after_each_failure_too(fairwave, square):
    words = ("network", "net.toml", "-n", "4", "--widen", "0", "--failures", "links", "--json")
    _, said, _ = fairwave(*words, "--require", "utilisation.A>B < 100")
    found = {one["alternative"]: one["verdict"] for one in json.loads(said)["requirements"]}
    assert found[None] == "holds"
    assert len(found) == 1 + len(json.loads(said)["failures"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mso >= 3", "a network has no measure 'mso'; it has mos, good"),
        ("mos.A>X >= 3", "no pair with calls 'A>X'; it has A>C, C>A"),
        ("utilisation.A>X <= 80", "no link direction 'A>X'"),
        ("good.A>C >= 3", "good is of all calls"),
        ("good >= 101", "never holds"),
        ("mos >= baseline", "has none; write a number"),
    ],
)
def test_what_a_network_cannot_be_asked_is_refused(square, text, says):
    with pytest.raises(AskError) as error:
        requiring.read([text], square)
    assert says in str(error.value)


def judged_as(values):
    """A claim that numbers are above 0."""
    return lambda _: Evidence([Comparison("a − b", np.array(values))])


@pytest.fixture
def study(monkeypatch):
    base = fw.load(CALLS).with_overrides({"duration": "2 s"})
    claims = [
        Claim(name, f"Statement {name}.", "nowhere", ("main",), judged_as(values))
        for name, values in (("yes", [1.0, 1.1]), ("no", [-1.0, -1.1]), ("open", [-1.0, 1.3]))
    ]
    made = Study(
        name="small", title="Small", question="Which?", claims=claims,
        grids=[Grid("main", base, {"flows": vary("flow.voice.count", [1])})],
    )  # fmt: skip
    monkeypatch.setattr("fairwave.layers.study", lambda _: made)
    return made


@pytest.mark.parametrize(
    ("require", "status"),
    [
        ([], 0),
        (["yes"], 0),
        (["no"], 3),
        (["open"], 4),
        (["yes", "open"], 4),
        (["open", "no"], 3),
        (["all"], 3),
    ],
)
def test_a_study_ends_with_the_status_of_the_claims_that_are_required(
    fairwave, study, tmp_path, require, status
):
    words = [word for one in require for word in ("--require", one)]
    found, said, _ = fairwave("study", "small", "-n", "2", "--out", tmp_path / "out", *words)
    assert found == status
    if "open" in require:
        assert "Try `-n " in said


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--require", "maybe"], "--require is 'maybe', but there are the claims yes, no, open, and all"),
        (["--junit", "report.xml"], "--junit writes requirements, and there are none"),
    ],
)
def test_a_claim_that_a_study_does_not_have_is_refused(fairwave, study, words, says):
    status, _, complaint = fairwave("study", "small", *words)
    assert status == 2
    assert says in complaint


def test_an_evaluation_refuses_a_criterion_that_it_does_not_have(fairwave):
    status, _, complaint = fairwave("evaluate", "tcp/reno", "--require", "nonsense")
    assert status == 2
    assert "--require is 'nonsense', but there are the criteria " in complaint
