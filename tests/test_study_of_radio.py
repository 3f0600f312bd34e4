"""The study of radio links: links match their labels, and every claim can be judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairwave_studies.radio import points as p
from fairwave_studies.radio import quantities, study
from fairwave_study.parts import Data

GRIDS = {grid.id: grid for grid in study().grids}


def scenarios(grid):
    for point in GRIDS[grid].points():
        yield point.labels, point.scenario.to_dict()


def hop(table):
    return table["link"][1]


@pytest.mark.parametrize(("grid", "rate"), [(p.WIFI_LOSS, p.WIFI_RATE), (p.CELL_LOSS, p.CELL_RATE)])
def test_wires_have_the_losses_before_retransmission_or_those_after_it(grid, rate):
    for labels, table in scenarios(grid):
        link, error = labels["link"], labels["error"]
        if link not in (p.WIRE, p.BURSTS, p.RESIDUAL):
            assert hop(table)["medium"] == "air"
            assert "loss" not in hop(table)
            continue
        assert not table.get("medium")
        left = 1 - error if link == p.RESIDUAL else 1
        assert float(hop(table)["rate"].split()[0]) == pytest.approx(rate * left)
        loss = hop(table)["loss"]
        before = p.PACKET_LOSS[error] if grid == p.CELL_LOSS else error
        if link == p.RESIDUAL:
            assert loss.get("rate", 0.0) < 1e-6
        else:
            assert loss["rate"] == before
            assert loss.get("run") == (p.RUN if link == p.BURSTS else None)


def test_links_with_one_attempt_send_nothing_again():
    for labels, table in scenarios(p.WIFI_LOSS):
        if labels["link"] in (p.WIFI, p.WIFI_ONCE):
            air = table["medium"]["air"]
            assert air["retry-limit"] == (1 if labels["link"] == p.WIFI_ONCE else 7)
            assert air["channel"]["error"] == labels["error"]
            assert hop(table)["queue"]["capacity"]["packets"] + air["driver-buffer"] == p.BUFFER
    for labels, table in scenarios(p.CELL_LOSS):
        if labels["link"] == p.CELL_ONCE:
            assert table["medium"]["air"]["harq"]["retransmissions"] == 0
            assert table["medium"]["air"]["rlc"]["mode"] == "unacknowledged"


def test_a_neighbour_sends_and_a_laptop_receives():
    for labels, table in scenarios(p.HOME):
        air, flows = table["medium"]["air"], table["flow"]
        downloads = [flow for flow in flows if flow["name"].startswith("download")]
        assert len(downloads) == (4 if labels["who"] == p.NEIGHBOURS else 1)
        away = labels["who"] in (p.NEIGHBOUR, p.NEIGHBOURS)
        assert all((flow["to"] == "internet") == away for flow in downloads)
        assert air["queues"] == labels["queue"]
        points = [flow["dscp"] for flow in flows if flow["name"] in ("call", "video")]
        assert points == (["ef", "af41"] if labels["category"] == p.MARKED else ["df", "df"])


def test_packets_are_best_effort_where_no_category_is_said():
    """By default a call over UDP would have EF and one over TCP would not, so carriers would differ twice."""
    for grid in GRIDS.values():
        for point in grid.points():
            expected = {"ef", "af41", "df"} if point.labels.get("category") == p.MARKED else {"df"}
            assert {flow["dscp"] for flow in point.scenario.to_dict()["flow"]} == expected


def test_handoffs_lose_or_forward_and_last_as_long_as_they_say():
    for labels, table in scenarios(p.HANDOFF):
        users = table["medium"]["air"].get("users", {})
        if labels["handoff"] == p.NONE:
            assert not users
            continue
        for event in users["phone"]["handoffs"]:
            verb = "forwarded" if event["buffer"] == "forward" else "lost"
            assert labels["handoff"] == f"{event['gap']}, {verb}"


def test_the_wires_are_like_the_links_that_they_stand_for():
    """The tolerances of the calibrations, on fewer seeds: 1 % of goodput, 1 ms of delay, a tenth of the losses."""
    from fairwave.measuring import measures

    data = Data({name: GRIDS[name].run([1, 2]) for name in (p.IDEAL, p.DELAYED, p.ONCE)})
    goodput = data.measured(quantities.GOODPUT, p.IDEAL)
    for radio, wire in ((p.WIFI, p.WIFI_WIRE), (p.CELL, p.CELL_WIRE)):
        ratio = goodput.samples(link=wire).mean() / goodput.samples(link=radio).mean()
        assert ratio == pytest.approx(1.0, abs=0.01)
    for way in ("down", "up"):
        delay = data.measured(measures.delay(way), p.DELAYED)
        assert delay.samples(link=p.CELL).mean() == pytest.approx(
            delay.samples(link=p.CELL_WIRE).mean(), abs=1.0
        )
    lost = data.measured(measures.packet_loss("steady"), p.ONCE)
    for error in p.BLOCKS:
        measured = lost.samples(link=f"{p.CELL_ONCE}, {error:g}").mean() / 100
        assert measured == pytest.approx(p.PACKET_LOSS[error], rel=0.1)


@pytest.mark.slow
def test_every_claim_is_judged_on_a_short_run():
    """Runs of 4 s are too short for verdicts; here they show that each claim can be judged."""
    data = {
        name: replace(grid, base=grid.base.with_overrides({"duration": "4 s", "warmup": "1 s"})).run([1, 2])
        for name, grid in GRIDS.items()
    }
    assert [claim.id for claim in study().claims] == [f"A{number}" for number in range(1, 31)]
    for claim in study().claims:
        evidence = claim.evidence(Data(data))
        assert evidence.comparisons
        assert all(one.undefined == 0 for one in evidence.comparisons), claim.id
