"""The study of the papers' future work from end to end, for seconds instead of minutes."""

import json
from dataclasses import replace

import pytest

from fairwave.layers import study as find
from fairwave.measuring import measures
from fairwave_studies.future import points as p
from page_links import problems


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    out = tmp_path_factory.mktemp("future")
    study = find("future")
    brief = {p.CALLS: "6 s", p.STREAMS: "14 s", p.VIDEO: "8 s", p.QUEUES: "9 s"}
    grids = [replace(one, base=one.base.with_overrides({"duration": brief[one.id]})) for one in study.grids]
    return replace(study, grids=grids).run(out, replications=2), out


def test_the_ledger_has_every_claim_figure_and_table(outcome):
    ledger = json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in ledger["claims"]] == [f"F{number}" for number in range(1, 27)]
    assert {one["id"] for one in ledger["figures"]} == {"calls", "streams", "video", "queues"}
    assert {one["id"] for one in ledger["tables"]} == {"verdicts", p.CALLS, p.STREAMS, p.VIDEO, p.QUEUES}
    assert all(one["interval"] != [None, None] for one in ledger["claims"])


def test_the_page_stands_alone(outcome):
    assert problems(outcome[1] / "index.html") == []


def test_every_queue_carries_every_case(outcome):
    measured = outcome[0].data.measured(measures.link("utilisation", "r1>r2", "u"), p.QUEUES)
    assert measured.labels("case") == list(p.CASES)
    assert measured.labels("queue") == list(p.SCHEMES)
    assert measured.frame["value"].is_between(0.5, 1.01).all()


def test_variants_that_are_compared_differ_in_the_idea_alone():
    def drop_keys(table, *keys):
        return {key: value for key, value in table.items() if key not in keys}

    pairs = ((p.TFRC, p.TFRC_SP), (p.SACK, p.SACK_PARTIAL), (p.REAL, p.REAL_PARTIAL), (p.RAP, p.RAP_GAMMA))
    ideas = ("small-packets", "deadline", "gamma")
    assert all(p.CARRIERS[plain] == drop_keys(p.CARRIERS[new], *ideas) for plain, new in pairs)
    for variant in (p.PROFILE, p.FINE):
        assert p.VARIANTS[p.LAYERS] == drop_keys(p.VARIANTS[variant], "answers", "allocation")


def test_each_claim_names_what_it_comes_from_and_tests_something():
    assert len({one.statement for one in find("future").claims}) == len(find("future").claims)
    assert all(one.source for one in find("future").claims)
