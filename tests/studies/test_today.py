"""The study of current transports and queues from end to end, for seconds instead of minutes."""

import json
from dataclasses import replace

import pytest

from fairwave.layers import study as find
from fairwave.measuring import measures
from fairwave_studies.today import points as p
from page_links import problems


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    out = tmp_path_factory.mktemp("today")
    study = find("today")
    brief = {"duration": "3 s", "warmup": "1 s"}
    grids = [replace(one, base=one.base.with_overrides(brief)) for one in study.grids]
    return replace(study, grids=grids).run(out, replications=2), out


def test_the_ledger_has_every_claim_figure_and_table(outcome):
    ledger = json.loads((outcome[1] / "ledger.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in ledger["claims"]] == [f"N{number}" for number in range(1, 15)]
    assert {one["id"] for one in ledger["figures"]} == {"calls", "others", "carriers", "video", "among"}
    assert {one["id"] for one in ledger["tables"]} == {p.QUEUES, p.CARRIERS, p.VIDEO, p.AMONG}
    assert all(one["interval"] != [None, None] for one in ledger["claims"])


def test_the_page_stands_alone(outcome):
    assert problems(outcome[1] / "index.html") == []


def test_every_queue_stands_beside_every_rival_and_carries_what_it_can(outcome):
    measured = outcome[0].data.measured(measures.link("utilisation", "r1>r2", "u"), p.QUEUES)
    assert measured.labels("rival") == list(p.RIVALS)
    assert measured.labels("queue") == list(p.SCHEMES)
    assert measured.frame["value"].is_between(0.3, 1.01).all()


def test_each_claim_names_what_it_comes_from_and_tests_something():
    assert len({one.statement for one in find("today").claims}) == len(find("today").claims)
    assert all(one.source for one in find("today").claims)
