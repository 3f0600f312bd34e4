"""The laboratory's table compared with fairwave's: read completely, run as specified, and deviations have reasons."""

from __future__ import annotations

import sys

import pytest

if sys.version_info < (3, 11):
    pytest.skip("the reasons are TOML, read from 3.11 on", allow_module_level=True)

from validation.published import l4s
from validation.verdict import Estimate


def outcome(measured, shares, key=("cubic", 20)):
    row = l4s.Row(50, "dualpi2", key, ("prague", 20), measured)
    return l4s.Outcome(row, (10.0, 40.0), Estimate.from_values(shares), None)


def test_pairs_in_either_order_are_one_row_with_both_measurements():
    rows = {row.key: row for row in l4s.rows()}
    assert sum(len(row.measured) for row in rows.values()) == 144
    pair = rows["50 dualpi2, cubic 20 : prague 20"]
    assert pair.measured == ((14.94, 32.39), (15.51, 31.85))
    assert rows["50 dualpi2, prague 10 : prague 160"].measured == ((45.46, 1.56),)


def test_a_row_is_run_with_the_laboratorys_round_trips_rate_and_buffer():
    rows = {row.key: row for row in l4s.rows()}
    scenario = l4s.scenario(rows["10 pfifo, cubic 20 : prague 80"], today=False).to_dict()
    bottleneck, *access = scenario["link"]
    assert bottleneck["queue"] == {"discipline": "drop-tail", "capacity": {"packets": 200}}
    assert float(bottleneck["rate"].split()[0]) == pytest.approx(10 * 1500 / 1514, rel=1e-3)
    assert [flow["transport"].get("rtt-virtual") for flow in scenario["flow"]] == [None, "0 s"]
    one_way = [1 + float(access[2 * i]["delay"].split()[0]) + 0.01 for i in (0, 1)]
    assert one_way == pytest.approx([10, 40])
    today = l4s.scenario(rows["10 pfifo, cubic 20 : prague 80"], today=True).to_dict()
    assert "rtt-virtual" not in today["flow"][1]["transport"]


def test_shares_within_the_margin_are_alike_and_others_by_chance_only_where_runs_vary_so_much():
    assert outcome(((10, 40),), [0.29, 0.3, 0.28]).word == "alike"
    assert outcome(((10, 40), (20, 30)), [0.49, 0.5, 0.48]).word == "alike", "a tenth above the larger"
    assert outcome(((10, 40),), [0.31, 0.32, 0.33]).word == "off"
    assert outcome(((10, 40),), [0.2, 0.35, 0.5]).word == "chance"


def test_what_is_off_needs_a_reason_and_a_reason_something_that_is_off(monkeypatch):
    off, alike = outcome(((10, 40),), [0.5, 0.5]), outcome(((10, 40),), [0.2, 0.2], ("reno", 20))
    monkeypatch.setattr(l4s, "reasons", dict)
    assert list(l4s.problems([off, alike])) == [f"no reason in validation/published/l4s.toml: {off.row.key}"]
    monkeypatch.setattr(l4s, "reasons", lambda: {off.row.key: "why", alike.row.key: "why"})
    assert list(l4s.problems([off, alike])) == [f"needs no reason any more: {alike.row.key}"]
    page = l4s.page([off, alike], seeds=2)
    assert f"`{off.row.key}`: why" in page
    assert "1 share the link as the laboratory measured, 0 differ within chance, and 1 differ." in page


def test_every_reason_is_of_a_row():
    assert set(l4s.reasons()) <= {row.key for row in l4s.rows()}
