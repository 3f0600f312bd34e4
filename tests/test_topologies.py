"""Topologies as collections publish them: every fault is repaired and listed, or refused."""

from __future__ import annotations

import json

import pytest

import fairwave
from fairwave_network import reading, topology
from fairwave_network.speeds import read_rate
from made_graphs import (
    BRITE,
    format_gml,
    format_graphml,
    format_native,
    format_node_link,
    format_sndlib_json,
    format_sndlib_xml,
)


def read(path, *, strict=False, **common):
    return topology.from_graph(
        reading.from_file(path, "topology.file"),
        path.name,
        {"rate": "1 Gb/s"} | common,
        "topology.file",
        strict=strict,
    )


ZOO = {"a.gml": format_gml(), "a.graphml": format_graphml(), "a.json": json.dumps(format_node_link())}


@pytest.mark.parametrize("name", ZOO)
def test_a_graph_of_the_zoo_is_repaired_and_each_change_is_listed(tmp_path, name):
    (tmp_path / name).write_text(ZOO[name], encoding="utf-8")
    found = read(tmp_path / name)
    assert list(found.nodes) == ["Lisboa", "Porto", "Faro", "GEANT", "GEANT-2", "Old-core"]
    rates = {link.ends: link.rate_bps for link in found.links}
    assert rates == {
        ("Lisboa", "Porto"): 12.5e9, ("Lisboa", "Faro"): 155e6, ("Porto", "Faro"): pytest.approx(2.48832e9),
        ("Lisboa", "GEANT"): 1e9, ("Porto", "GEANT-2"): 8e9, ("Faro", "Old-core"): 34e6,
    }  # fmt: skip
    placed = {"Lisboa", "Porto", "Faro"}
    known = sorted(link.delay_s for link in found.links if set(link.ends) <= placed)
    assert known[0] == pytest.approx(topology.kilometres((-9.13, 38.72), (-7.93, 37.02)) * 5e-6)
    assert [link.delay_s for link in found.links if not set(link.ends) <= placed] == pytest.approx(
        [known[1]] * 3
    )
    said = "\n".join(found.changes)
    for fault in (
        "two nodes are called 'GEANT': the second is 'GEANT-2'",
        "'Faro' is joined to itself: that edge is left out",
        "'Lisboa' and 'Porto' are joined by more than one edge: one link has the rates of all 2 together",
        "no path leads from 'Funchal', 'Horta' to the rest: they are left out",
        "'Lisboa' to 'Porto' is only described: LinkLabel '<2.5 Gbps' is read as 2.5 Gb/s",
        "at the edge between 'Lisboa' and 'GEANT'; 'Porto' and 'GEANT (GEANT-2)'; 'Faro' and 'Old \"core\"', and",
    ):
        assert fault in said
    assert len(found.changes) == 10
    with pytest.raises(
        fairwave.ScenarioError, match=r"two nodes are called 'GEANT'; give every node .* or leave out strict"
    ):
        read(tmp_path / name, strict=True)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("10 Gbps", 10e9), ("<2.5 Gbps", 2.5e9), ("155M-2.5 Gbps", 155e6), ("1-4.999Gbps", 1e9), ("10GEx4", 40e9),
        ("STM-64x2", 2 * 64 * 155.52e6), ("OC-192 (Future)", 192 * 51.84e6), ("2 x 1 Gb/s", 2e9), ("E3", 34.368e6),
        ("128 Kbps", 128e3), ("CENIC  10Gbit/s", 10e9), ("120 km", None), ("10 m", None), ("DWDM", None),
        ("Red Colour", None), ("0 Gbps", None), ("", None), ("9" * 300, None),
    ],
)  # fmt: skip
def test_the_rate_in_a_text(text, rate):
    assert read_rate(text) == (None if rate is None else pytest.approx(rate))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", format_native()), ("a.native", format_native()), ("a.xml", format_sndlib_xml()),
        ("a.json", json.dumps(format_sndlib_json())), ("a.graph", format_native()),
    ],
)  # fmt: skip
def test_sndlib_has_its_demands_in_every_form(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = read(tmp_path / name)
    assert found.demands == {("Berlin", "Koeln"): 30, ("Koeln", "Berlin"): 10, ("Hamburg", "Koeln"): 5}
    assert [link.rate_bps for link in found.links] == [1e9] * 3
    distance = topology.kilometres((13.48, 52.52), (10.08, 53.55))
    assert found.links[0].delay_s == pytest.approx(distance * 5e-6)
    assert found.changes == ()


def test_capacities_of_sndlib_are_rates_if_the_file_names_the_unit(tmp_path):
    (tmp_path / "a.txt").write_text(format_native(unit="MBITPERSEC"), encoding="utf-8")
    rates = {link.name: link.rate_bps for link in read(tmp_path / "a.txt").links}
    assert rates == {"Berlin>Hamburg": 9920e6, "Hamburg>Koeln": 155e6, "Berlin>Koeln": 40e6}


def test_brite(tmp_path):
    (tmp_path / "a.brite").write_text(BRITE, encoding="utf-8")
    found = read(tmp_path / "a.brite")
    assert [link.rate_bps for link in found.links] == [10e6, 512.5e6, 1e9]
    assert [link.delay_s for link in found.links] == pytest.approx([1.481e-3, 1.384e-3, 1.4325e-3])
    assert len(found.changes) == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "a.txt",
            format_native().replace("( Berlin Koeln ) 1 30", "( Berlin Bonn ) 1 30"),
            "there is no node 'Bonn'",
        ),
        ("a.txt", format_native().replace("13.48", "east"), "'east' is no number"),
        (
            "a.xml",
            format_sndlib_xml().replace("networkStructure", "structure"),
            "it has no `networkStructure`",
        ),
        ("a.brite", BRITE.replace("1.481", "fast"), "'fast' is no number"),
        ("a.brite", BRITE.replace("0\t0\t1\t", "0\t0\t9\t"), "there is no node '9'"),
        ("a.csv", "time_s,rate_mbps\n0,1\n", "a.csv is a table (CSV), not a topology"),
    ],
)
def test_a_damaged_file_is_refused_with_its_place(tmp_path, name, text, said):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(fairwave.ScenarioError) as refused:
        read(tmp_path / name)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_directions_that_differ_share_the_lower_rate(tmp_path):
    table = {
        "directed": True, "graph": {}, "nodes": [{"id": "A"}, {"id": "B"}],
        "edges": [
            {"source": "A", "target": "B", "rate_bps": 9e6, "delay_ms": 1},
            {"source": "B", "target": "A", "rate_bps": 2e6, "delay_ms": 4},
        ],
    }  # fmt: skip
    (tmp_path / "a.json").write_text(json.dumps(table), encoding="utf-8")
    (link,) = (found := read(tmp_path / "a.json")).links
    assert (link.rate_bps, link.delay_s) == (2e6, 4e-3)
    assert len(found.changes) == 1
    table["edges"][1] |= {"rate_bps": 9e6, "delay_ms": 1}
    (tmp_path / "a.json").write_text(json.dumps(table), encoding="utf-8")
    assert read(tmp_path / "a.json", strict=True).changes == ()


NETWORK = """
name = "zoo"
duration = "4 s"
topology = { file = "a.gml" }
[links]
rate = "1 Gb/s"
[demands]
pairs = 4
load = "1 Mb/s"
[[mix]]
kind = "calls"
share = "100 %"
"""


def test_commands_list_the_changes_or_refuse_them(tmp_path, monkeypatch, fairwave):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.gml").write_text(ZOO["a.gml"], encoding="utf-8")
    (tmp_path / "net.toml").write_text(NETWORK, encoding="utf-8")
    status, _, err = fairwave("check", "net.toml")
    assert status == 0, err
    assert "two nodes are called 'GEANT': the second is 'GEANT-2'" in " ".join(err.split())
    status, out, err = fairwave("network", "net.toml", "-n", "1", "--widen", "0", "--json")
    assert status == 0, err
    assert len(json.loads(out)["changes"]) == 10
    status, _, err = fairwave("network", "net.toml", "--strict")
    assert status == 2
    assert "two nodes are called 'GEANT'; give every node a `label` of its own" in " ".join(err.split())
