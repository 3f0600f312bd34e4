"""Wi-Fi: the comparisons with published results, and the example."""

from __future__ import annotations

import pytest

import fairwave
from validation import kept
from validation.published import rows as published
from validation.published import wifi
from validation.verdict import Estimate


def test_bianchis_equations_hold_at_their_fixed_point():
    for stations, stages in ((5, 5), (20, 3), (50, 5)):
        tau = wifi.tau(stations, 32, stages)
        p = 1 - (1 - tau) ** (stations - 1)
        expected = 2 * (1 - 2 * p) / ((1 - 2 * p) * 33 + p * 32 * (1 - (2 * p) ** stages))
        assert tau == pytest.approx(expected, rel=1e-9)


def test_one_station_has_no_collisions_in_the_formulas():
    # The mean backoff is 15.5 slots of 50 µs.
    frame = 128e-6 + (272 + 8184) / 1e6 + 28e-6 + 240e-6 + 128e-6
    assert wifi.bianchi(1, 5, announced=False) == pytest.approx(8184 / (frame + 15.5 * 50e-6), rel=1e-3)


def test_a_row_agrees_within_its_margin():
    def row(mean, margin, *, relative):
        return published.Row(
            "saturation", "a", "Mb/s", 2.0, Estimate.from_values([mean, mean]), margin, relative
        )

    assert row(2.03, 0.02, relative=True).agrees
    assert not row(2.05, 0.02, relative=True).agrees
    assert row(2.04, 0.05, relative=False).agrees


def test_the_kept_numbers_have_every_part():
    rows = published.stored(kept.read(wifi.KEPT)["rows"])
    assert all(
        row.agrees for row in rows if row.part in ("saturation", "delay", "anomaly", "latency", "small")
    )
    assert len({(row.part, row.name) for row in rows}) == len(rows)
    assert {row.part for row in rows} == set(wifi.PARTS)


@pytest.mark.parametrize(("stations", "announced"), [(5, False), (20, True)])
def test_stations_that_always_send_have_bianchis_throughput(stations, announced):
    rows = {row.name: row for row in wifi.saturation([1], 1, [(stations, 5, announced)])}
    (row,) = rows.values()
    assert abs(row.difference) < 0.03


def test_queues_per_station_save_the_call_of_the_example():
    home = fairwave.load("examples/wifi-home.toml")
    mos = {}
    for queues in ("fifo", "airtime"):
        result = home.with_overrides({"medium.air.queues": queues, "duration": "25 s"}).run()
        mos[queues] = result.measured("mos", "call").interval().mean
    assert mos["airtime"] > 4.2
    assert mos["fifo"] < 3


def _neighbours(**air):
    links = [
        {"from": "server", "to": "left", "rate": "100 Mb/s", "delay": "5 ms"},
        {"from": "store", "to": "right", "rate": "100 Mb/s", "delay": "5 ms"},
        {"from": "left", "to": "phone", "medium": "air"},
        {"from": "right", "to": "laptop", "medium": "air"},
    ]
    downloads = [
        {"name": name, "from": source, "to": to, "transport": "tcp/cubic", "traffic": "bulk"}
        for name, source, to in (("own", "server", "phone"), ("other", "store", "laptop"))
    ]
    return fairwave.Scenario.from_dict(
        {
            "name": "neighbours",
            "duration": "6 s",
            "warmup": "2 s",
            "medium": {"air": {"law": "wifi", "access-points": ["left", "right"], **air}},
            "link": links,
            "flow": downloads,
        }
    )


def _goodputs(scenario):
    rows = scenario.run().flows.to_pylist()
    return {row["group"]: row["goodput_bps"] for row in rows}


def test_two_access_points_on_one_channel_share_it():
    both = _goodputs(_neighbours())
    apart = _goodputs(_neighbours(hears={"left": [], "phone": [], "right": [], "laptop": []}))
    assert both["own"] == pytest.approx(both["other"], rel=0.25)
    assert both["own"] + both["other"] < 1.05 * apart["own"]
    assert apart["own"] == pytest.approx(apart["other"], rel=0.02)


def test_a_channel_without_a_shared_node_names_the_key_for_several_access_points():
    with pytest.raises(fairwave.RunError, match="several access points write `access-points`"):
        _neighbours(**{"access-points": []}).run()


def test_an_access_point_without_a_link_of_the_channel_is_refused_at_its_place():
    with pytest.raises(fairwave.RunError, match=r"medium\.air\.access-points"):
        _neighbours(**{"access-points": ["left", "right", "attic"]}).run()
