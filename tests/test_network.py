"""Calls across a whole network: topologies, demands, routes, results."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import fairwave
from fairwave.measuring.relevance import relevance
from fairwave.measuring.statistics import interval
from fairwave.tables import Column
from fairwave_network import (
    decomposing,
    demands,
    failing,
    language,
    linking,
    loads,
    measuring,
    mixes,
    ratings,
    topology,
    trusting,
    units,
    widening,
    wording,
    writing,
)  # fmt: skip
from fairwave_network.routing import Routes
from square import SQUARE, graph


@pytest.fixture
def square(tmp_path):
    nx.write_graphml(graph(), tmp_path / "net.graphml")
    (tmp_path / "demands.csv").write_text("from,to,demand\nA,C,3\nC,A,1\n", encoding="utf-8")
    (tmp_path / "net.toml").write_text(SQUARE, encoding="utf-8")
    return tmp_path


def changed(folder, **how):
    table = language.parse((folder / "net.toml").read_text(encoding="utf-8"))
    return language.parse_table(table | how, folder)


def test_a_file_becomes_an_explicit_scenario_whose_groups_are_pairs(square):
    network = language.load(square / "net.toml")
    assert list(network.groups) == ["calls_A_C", "calls_C_A", "downloads_A_C", "downloads_C_A"]
    scenario = fairwave.load(square / "net.toml")
    assert scenario == network.scenario
    assert scenario.to_dict()["flow"][0]["route"] == ["B"]
    offered = network.offered()
    assert offered["A>B"] == pytest.approx(1.2e6)
    assert offered["C>B"] == pytest.approx(0.4e6)
    assert offered["A>D"] == 0


def test_offered_loads_are_what_the_planned_flows_offer(square):
    """Compares the estimated load of a link with the drawn flows: the mean of ten seeds, within 10 %."""
    network = changed(square, duration="200 s")
    bits = 0.0
    for seed in range(10):
        for flow in network.scenario.plan(seed)["flows"]:
            if "A>B" in flow["forward"]:
                volume = flow["volume_bytes"]
                bits += volume * 8 * mixes.HEADERS if volume else flow["offered_bps"] * flow["on_s"]
    assert bits / 10 / 200 == pytest.approx(network.offered()["A>B"], rel=0.1)


def test_ecmp_divides_flows_among_paths_of_equal_cost(square):
    network = changed(square, routing={"ecmp": True})
    assert {group.path for group in network.groups.values() if group.pair == ("A", "C")} == {
        ("A", "B", "C"), ("A", "D", "C"),
    }  # fmt: skip
    assert network.offered()["A>B"] == pytest.approx(0.6e6)
    assert "calls_A_C_2" in network.groups


def test_check_shows_every_path_of_a_pair_with_its_share(square):
    _, tables = loads.summarise(changed(square, routing={"ecmp": True}))
    rows = next(rows for title, _, rows in tables if title.startswith("routes"))
    assert ["A", "C", "50%", "2", "A B C"] in rows
    assert ["A", "C", "50%", "2", "A D C"] in rows


def test_routes_are_as_short_as_networkx_finds_them():
    made = nx.random_geometric_graph(20, 0.4, seed=3)
    for one, other in made.edges:
        made.edges[one, other]["delay_ms"] = 1 + (one * 7 + other * 3) % 11
    net = topology.from_graph(made, "random", {"rate": "1 Mb/s"}, "topology")
    routes = Routes(net, ecmp=True)
    for from_ in (0, 5):
        lengths = nx.single_source_dijkstra_path_length(made, from_, weight="delay_ms")
        for to in made:
            if to == from_:
                continue
            paths = routes.paths(str(from_), str(to))
            assert sum(share for _, share in paths) == pytest.approx(1)
            every = sorted(
                tuple(map(str, path)) for path in nx.all_shortest_paths(made, from_, to, "delay_ms")
            )
            assert sorted(path for path, _ in paths) == every[: len(paths)] or len(every) > 8
            for path, _ in paths:
                length = sum(made.edges[int(a), int(b)]["delay_ms"] for a, b in itertools.pairwise(path))
                assert length == lengths[to]


def test_the_load_of_the_busiest_link_is_as_asked(square):
    network = changed(square, demands={"busiest": "80 %"})
    rates = network.rates()
    assert max(bits / rates[link] for link, bits in network.offered().items()) == pytest.approx(0.8)


def test_topohub_has_germany_with_its_own_demands():
    table = {
        "duration": "1 s", "topology": {"topohub": "sndlib/germany50"}, "links": {"rate": "100 Mb/s"},
        "demands": {"matrix": "topology", "load": "1 Gb/s"},
    }  # fmt: skip
    network = language.parse_table(table, None)
    assert (len(network.topology.nodes), len(network.topology.links)) == (50, 88)
    assert sum(group.offered_bps for group in network.groups.values()) == pytest.approx(1e9)
    link = network.topology.find_link("Frankfurt", "Darmstadt")
    assert 0.5e-4 < link.delay_s < 5e-4


def test_delay_follows_from_positions_at_five_microseconds_a_kilometre():
    # One degree of longitude on the equator: 111.19 km on a sphere of 6371 km.
    assert topology.kilometres((0, 0), (1, 0)) == pytest.approx(111.19, abs=0.01)
    made = nx.Graph()
    made.add_node("a", lon=0, lat=0)
    made.add_node("b", lon=1, lat=0)
    made.add_edge("a", "b", rate="1 Mb/s")
    net = topology.from_graph(made, "two", {}, "topology")
    assert net.links[0].delay_s == pytest.approx(111.19 * 5e-6, rel=1e-4)


def loop(made):
    made.add_edge(0, 0)


def piece(made):
    made.add_node(9, label="Z", Longitude=0.0, Latitude=0.0)
    made.add_node(8, label="Y", Longitude=0.0, Latitude=0.0)
    made.add_edge(8, 9)


def twice(made):
    made.nodes[1]["label"] = "A"


def placeless(made):
    del made.nodes[2]["Longitude"]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (loop, "'A' is joined to itself; remove that edge"),
        (piece, "the graph is in 2 pieces: no path leads from 'Y', 'Z' to the rest; add the edges"),
        (twice, "two nodes are called 'A'; give every node a `label`"),
        (placeless, "'C' has no position from which they follow; write under [links]"),
    ],
)
def test_a_graph_with_a_fault_is_refused_if_it_is_read_strictly(square, spoil, said):
    made = graph()
    spoil(made)
    nx.write_graphml(made, square / "net.graphml")
    with pytest.raises(fairwave.ScenarioError) as refused:
        changed(square, links={"rate": "2 Mb/s"}, topology={"file": "net.graphml", "strict": True})
    assert "topology.file" in str(refused.value)
    assert said in str(refused.value)


def test_parallel_edges_are_refused_if_the_graph_is_read_strictly(square):
    made = nx.MultiGraph(graph())
    made.add_edge(0, 1)
    nx.write_graphml(made, square / "net.graphml")
    with pytest.raises(
        fairwave.ScenarioError, match=r"'A' and 'B' are joined by more than one edge; join them by one"
    ):
        changed(square, topology={"file": "net.graphml", "strict": True})


BOMB = '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><graphml>&b;</graphml>'


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("net.graphml", BOMB, "declares a document type or an entity in line 1; remove the lines"),
        ("net.graphml", "no xml at all", "is no XML (syntax error"),
        ("net.graphml", "<html><body/></html>", "is no GraphML"),
        ("net.gml", "graph [ node [ id ", "is no GML"),
        ("net.json", "{", "net.json, line 1: no JSON"),
        ("net.json", "[1]", "is no node-link JSON"),
        ("net.json", '{"nodes": [1, 2], "edges": 3}', "is no node-link JSON"),
        ("net.txt", "", "has 0 nodes and 0 edges"),
        ("net.csv", "nonsense", "none of the endings"),
    ],
)
def test_a_file_that_holds_no_graph_is_refused(square, name, text, said):
    (square / name).write_text(text, encoding="utf-8")
    with pytest.raises(fairwave.ScenarioError) as refused:
        changed(square, topology={"file": name})
    assert said in str(refused.value)


def test_a_file_of_a_hundred_megabytes_is_refused_unread(square):
    with (square / "net.gml").open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(fairwave.ScenarioError, match="has 100 MB, but a topology at most 50 MB"):
        changed(square, topology={"file": "net.gml"})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("A,B,-1", "demands.csv:2: the demand is '-1'; write a number of 0 or more"),
        ("A,B,nan", "the demand is 'nan'"),
        ("A,X,1", "has no node 'X'"),
        ("A,A,1", "leads from 'A' to itself"),
        ("A,B,1\nA,B,2", "demands.csv:3: 'A' to 'B' stands twice"),
        ("A,B", "there are 2 columns"),
    ],
)
def test_a_demand_that_is_none_is_refused_with_its_line(square, line, said):
    (square / "demands.csv").write_text(f"from,to,demand\n{line}\n", encoding="utf-8")
    with pytest.raises(fairwave.ScenarioError) as refused:
        changed(square)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"topologie": 1}, "did you mean 'topology'?"),
        ({"topology": {"topohub": "sndlib/germany5"}}, "did you mean sndlib/germany50"),
        ({"topology": {"topohub": "../../secret"}}, "TopoHub has no topology"),
        ({"links": {"delay": "1 ms"}}, 'write under [links] for example rate = "100 Mb/s"'),
        ({"demands": {}}, "either `load` or `busiest`"),
        ({"demands": {"matrix": "topology", "load": "1 Mb/s"}}, "has no demands of its own"),
        ({"mix": [{"kind": "phones", "share": 1}]}, "write one of calls, conferences"),
        ({"mix": [{"kind": "calls"}]}, "either `share` or `busy`"),
        ({"link": [{"between": ["A", "C"], "rate": "1 Mb/s"}]}, "no link joins 'A' and 'C'"),
        ({"failure": [{"link": ["A", "C"], "at": "2 s"}]}, "no link joins 'A' and 'C'"),
        ({"failure": [{"node": "A"}]}, "not `at` when"),
        ({"routing": {"by": "colour"}}, 'write "delay", "weight" or "hops"'),
    ],
)
def test_a_wrong_key_is_refused_with_what_to_write(square, how, said):
    with pytest.raises(fairwave.ScenarioError) as refused:
        changed(square, **how)
    assert said in str(refused.value)


def test_one_link_may_differ(square):
    network = changed(square, link=[{"between": ["B", "A"], "rate": "8 Mb/s", "queue": "fq-codel"}])
    links = {one["from"] + one["to"]: one for one in network.scenario.to_dict()["link"]}
    assert links["AB"]["rate"] == "8 Mb/s"
    assert links["AB"]["queue"] == {"discipline": "fq-codel"}
    assert "queue" not in links["BC"]


def test_among_paths_of_as_many_hops_the_shorter_delay_decides():
    from fairwave_network.routing import Routes
    from fairwave_network.topology import Link, Topology

    ends = {("A", "B"): 5, ("B", "D"): 5, ("A", "C"): 5, ("C", "D"): 5, ("D", "E"): 2, ("A", "E"): 30}
    links = [Link(pair, 1e8, delay / 1e3) for pair, delay in ends.items()]
    topology = Topology("square", dict.fromkeys("ABCDE"), links)
    assert Routes(topology, "hops").paths("B", "E") == [(("B", "D", "E"), 1.0)]
    assert Routes(topology, "hops").paths("A", "E") == [(("A", "E"), 1.0)]


DEFAULTS = {
    "warmup": "0 s",
    "routing": {"by": "delay", "ecmp": False, "rerouting": "1 s"},
    "routing.by": "delay",
    "routing.ecmp": False,
    "routing.rerouting": "1 s",
    "mix": [{"kind": "calls", "share": 0.5}, {"kind": "downloads", "share": 0.5}],
    "mix.lasts": "3 min",
    "mix.size": "1 MB",
    "mix.name": "calls",
    "links.queue": "drop-tail",
    "link": [],
    "failure": [],
}
"""Each optional key with its default."""


def written(table, key, value):
    """A table with and without a key."""
    first, _, second = key.partition(".")
    without = {name: one for name, one in table.items() if name != first}
    if not second:
        return without | {first: value}, without
    place = table.get(first, {})
    if first == "mix":
        kinds = ["downloads", "calls"] if second == "size" else ["calls"]
        bare = [{"kind": kind, "share": 1} for kind in kinds]
        return without | {first: [{**bare[0], second: value}, *bare[1:]]}, without | {first: bare}
    bare = {name: one for name, one in place.items() if name != second}
    return without | {first: {**bare, second: value}}, without | {first: bare}


@pytest.mark.parametrize("key", DEFAULTS)
def test_a_key_left_out_is_its_default(square, key):
    """As a whole and link by link; a short run with loaded links."""
    table = language.parse((square / "net.toml").read_text(encoding="utf-8"))
    table |= {"duration": "4 s", "demands": {"load": "12 Mb/s"}}
    said, left_out = (language.parse_table(one, square) for one in written(table, key, DEFAULTS[key]))
    assert said.groups == left_out.groups
    assert measuring.simulate_whole([1])([said], None) == measuring.simulate_whole([1])([left_out], None)
    assert decomposing.run(said, [1]) == decomposing.run(left_out, [1])


def test_calls_without_a_packet_that_arrives_leave_the_others_their_opinion(square):
    """Link by link, 12 Mb/s of calls over links of 2 Mb/s."""
    network = changed(
        square, duration="4 s", demands={"load": "12 Mb/s"}, mix=[{"kind": "calls", "share": 1}]
    )
    pairs = decomposing.run(network, [1])[0].pairs
    assert all(math.isfinite(pair.mos) for pair in pairs.values())


def test_a_network_in_which_no_flow_arrives_has_an_answer(square):
    quiet = changed(square, demands={"matrix": "demands.csv", "load": "1 b/s"})
    for found in (measuring.simulate_whole([1])([quiet], None)[0], decomposing.run(quiet, [1])):
        assert measuring.combine_runs(found).links


def test_a_mix_without_a_share_offers_nothing(square):
    mixes = [{"kind": "calls", "share": 0}, {"kind": "downloads", "share": 1}]
    assert {group.mix.kind for group in changed(square, mix=mixes).groups.values()} == {"downloads"}
    with pytest.raises(fairwave.ScenarioError, match="nothing is offered"):
        changed(square, mix=mixes[:1])


def test_the_largest_pairs_are_found_without_all_pairs():
    from fairwave_network import demands

    rng = np.random.default_rng(5)
    for _ in range(30):
        weights = {f"n{number}": float(rng.integers(0, 4)) for number in range(12)}
        every = demands._gravity(weights, None)
        most = int(rng.integers(1, 40))
        kept = sorted(every, key=lambda pair: (-every[pair], pair))[:most]
        assert demands._gravity(weights, most) == {pair: every[pair] for pair in kept}
    many = {f"n{number:06}": 2.0 for number in range(100_000)}
    assert list(demands._gravity(many, 2)) == [("n000000", "n000001"), ("n000000", "n000002")]
    with pytest.raises(fairwave.ScenarioError, match="write the number of pairs"):
        demands._gravity(many, None)


def test_an_access_link_joins_hosts_to_their_node(square):
    network = changed(square, access={"rate": "1 Gb/s", "delay": "1 ms", "queue": "fq-codel"})
    assert network.crossed_links(network.groups["calls_A_C"]) == ["A-lan>A", "A>B", "B>C", "C>C-lan"]
    planned = network.scenario.plan(1)["flows"][0]
    assert planned["forward"] == ["A-lan>A", "A>B", "B>C", "C>C-lan"]


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("square")
    nx.write_graphml(graph(), folder / "net.graphml")
    (folder / "demands.csv").write_text("from,to,demand\nA,C,3\nC,A,1\n", encoding="utf-8")
    (folder / "net.toml").write_text(SQUARE.replace("1.6 Mb/s", "3 Mb/s"), encoding="utf-8")
    network = language.load(folder / "net.toml")
    return network, measuring.combine_runs(measuring.run(network, [network.scenario], [1, 2, 3])[0]), folder


def test_pairs_of_a_full_link_are_poor_and_the_link_is_the_one_to_widen(answered):
    """A to C offers 2.25 Mb/s on links of 2 Mb/s; C to A 0.75."""
    network, found, _ = answered
    assert found.pairs["C", "A"].mos.mean > 3.6
    assert found.pairs["C", "A"].band == "undecided", "the interval of three runs reaches below 3.60"
    assert found.pairs["A", "C"].mos.mean < found.pairs["C", "A"].mos.mean
    assert found.links["A>B"].utilisation > 0.9
    assert found.links["A>D"].utilisation == 0
    assert widening.candidates(network, found, 3)[0] == "A>B"
    (first,) = widening.try_widening(network, found, measuring.simulate_whole([1, 2, 3]), 1)
    assert first.link == "A>B"
    assert first.rate_bps == 4e6
    assert len(first.answer.runs) == 3
    said = wording.answer(network, found, [first])
    assert str(said.sentences[0]).startswith("Of 2 pairs of nodes, ")


def test_calls_are_counted_once_and_bands_agree_with_their_opinions(answered):
    _, found, _ = answered
    for run in found.runs:
        assert sum(run.calls.values()) == sum(pair.calls for pair in run.pairs.values())
    assert math.isclose(sum(share.mean for share in found.calls.values()), 1)


def test_the_graph_that_is_left_is_read_again(answered, tmp_path):
    network, found, _ = answered
    nx.write_graphml(writing.graph(network, found), tmp_path / "again.graphml")
    again = nx.read_graphml(tmp_path / "again.graphml")
    assert again.edges["A", "B"]["utilisation"] == pytest.approx(found.links["A>B"].utilisation)
    net = topology.from_graph(again, "again", {}, "topology")
    assert [link.rate_bps for link in net.links] == [2e6] * 4
    assert {link.delay_s for link in net.links} == {0.002}


def test_a_failed_link_is_avoided_after_the_time_of_rerouting(square):
    network = changed(square, routing={"rerouting": "500 ms"})
    failed = failing.scenario_of(network, {"link": ["A", "B"]})
    assert [name for name, _, _ in failing.list_failures(network, "nodes")] == list("ABCD")
    before, after = (
        measuring.combine_runs(measuring.run(network, [one.scenario], [1])[0]) for one in (network, failed)
    )
    assert before.links["A>D"].utilisation == 0
    assert after.links["A>D"].utilisation > after.links["A>B"].utilisation > 0
    assert after.pairs["A", "C"].loss > before.pairs["A", "C"].loss


def test_a_gravity_model_multiplies_weights(square):
    made = graph()
    for node, people in enumerate([4, 1, 2, 1]):
        made.nodes[node]["people"] = people
    net = topology.from_graph(made, "square", {"rate": "1 Mb/s"}, "topology")
    found = demands.matrix(net, {"weights": "people", "pairs": 2}, square)
    assert found == {("A", "C"): 8.0, ("C", "A"): 8.0}
    with pytest.raises(
        fairwave.ScenarioError, match="has no number 'cows'; nodes have Latitude, Longitude, people"
    ):
        demands.matrix(net, {"weights": "cows"}, square)


def test_the_command_answers_and_leaves_page_and_tables(square, monkeypatch, fairwave):
    import polars as pl

    monkeypatch.chdir(square)
    words = [
        "network",
        "net.toml",
        "-n",
        "2",
        "--widen",
        "1",
        "--failures",
        "links",
        "--out",
        "out",
        "--json",
    ]
    status, out, _ = fairwave(*words)
    assert status == 0
    document = json.loads(out)
    assert document["pairs"]["count"] == 2
    assert len(document["failures"]) == 4
    pairs = pl.read_parquet("out/pairs.parquet")
    assert set(pairs["failed"]) == {"", "A>B", "B>C", "C>D", "A>D"}
    assert (square / "out" / "network.graphml").is_file()
    assert 'id="atlas-failure"' in (square / "out" / "index.html").read_text(encoding="utf-8")


def test_nodes_without_positions_are_drawn_by_their_hops(square, monkeypatch, fairwave):
    made = graph()
    for node in made.nodes.values():
        del node["Longitude"], node["Latitude"]
    nx.write_graphml(made, square / "net.graphml")
    monkeypatch.chdir(square)
    status, _, err = fairwave("network", "net.toml", "-n", "1", "--widen", "0", "--out", "out")
    assert status == 0, err
    page = (square / "out" / "index.html").read_text(encoding="utf-8")
    assert all(f">{name}<" in page for name in "ABCD")


def test_the_command_answers_link_by_link_with_failures(square, monkeypatch, fairwave):
    monkeypatch.chdir(square)
    words = [
        "network",
        "net.toml",
        "-n",
        "2",
        "--widen",
        "1",
        "--failures",
        "nodes",
        "--link-by-link",
        "--trust",
    ]
    status, out, err = fairwave(*words, "--out", "out", "--json")
    assert status == 0, err
    document = json.loads(out)
    assert document["link_by_link"] >= 1
    assert len(document["failures"]) == 4
    assert document["errors"]["pairs"] == 2
    page = (square / "out" / "index.html").read_text(encoding="utf-8")
    assert "link by link less whole" in page


def test_check_says_what_links_would_carry(square, monkeypatch, fairwave):
    monkeypatch.chdir(square)
    status, out, _ = fairwave("check", "net.toml")
    assert status == 0
    assert "what links would carry" in out
    assert "60%" in out


def test_check_warns_where_a_link_would_carry_more_than_its_rate(square, monkeypatch, fairwave):
    (square / "net.toml").write_text(SQUARE.replace("1.6 Mb/s", "4 Mb/s"), encoding="utf-8")
    monkeypatch.chdir(square)
    _, _, err = fairwave("check", "net.toml")
    assert "A>B would carry 3 Mb/s, 150% of its 2 Mb/s" in err


def alone(network, name):
    return decomposing._loaded(network)[name]


def arrivals(flow):
    """Mean number of arriving flows per second."""
    table = flow["arrivals"]
    return float((table if isinstance(table, str) else table["rate"]).split()[0])


def test_a_link_alone_is_offered_what_it_is_offered_in_the_network(square):
    network = changed(square)
    data = alone(network, "A>B").scenario().to_dict()
    crossing = [group for group in network.groups.values() if "A>B" in network.crossed_links(group)]
    for kind in ("calls", "downloads"):
        per_second = sum(arrivals(flow) for flow in data["flow"] if kind in flow["name"])
        assert per_second == pytest.approx(
            sum(group.per_second for group in crossing if group.mix.kind == kind)
        )


def test_of_many_calls_some_are_rated_and_the_others_are_there_one_by_one_only_on_a_busy_link(square):
    mix = [{"kind": "calls", "busy": 400}]
    flows = {
        flow["name"]: flow for flow in alone(changed(square, mix=mix), "A>B").scenario().to_dict()["flow"]
    }
    assert set(flows) == {"calls_x", "calls_rest_x"}
    rates = {name: arrivals(flow) for name, flow in flows.items()}
    assert rates["calls_x"] * 180 == pytest.approx(linking.RATED)
    assert sum(rates.values()) * 180 == pytest.approx(300)
    for rate, slower in (("200 Mb/s", True), ("40 Mb/s", False)):
        network = changed(square, mix=mix, links={"rate": rate})
        link = alone(network, "A>B")
        data = link.scenario().to_dict()
        others = {flow["name"]: flow for flow in data["flow"] if flow["name"] != "calls_x"}
        (own,) = [one for one in data["link"] if one["from"] == "x"]
        left_out = (300 - linking.RATED) * link._calls[""][0].mix.bits
        assert (units.rate(own["rate"], "rate") < units.rate(rate, "rate")) == slower
        if slower:
            assert not others
            assert units.rate(own["rate"], "rate") == pytest.approx(200e6 - left_out, rel=1e-3)
        else:
            (rest,) = others.values()
            assert units.rate(rest["traffic"]["rate"], "rate") == pytest.approx(left_out, rel=1e-2)


def test_the_narrowest_other_links_of_a_path_are_there_with_what_others_take_of_them(square):
    network = changed(square)
    data = alone(network, "B>C").scenario().to_dict()
    (before,) = [one for one in data["link"] if one["to"] == "x"]
    assert before["from"] == "in-0"
    assert before["rate"] == "2 Mb/s"
    taken = sum(
        group.offered_bps
        for group in network.groups.values()
        if "A>B" in network.crossed_links(group)
        and ("B>C" not in network.crossed_links(group) or group.mix.kind == "calls")
    )
    (others,) = [flow for flow in data["flow"] if flow["name"].startswith("others_")]
    assert (others["from"], others["to"]) == ("in-0", "x")
    assert units.rate(others["traffic"]["rate"], "rate") == pytest.approx(taken, rel=1e-2)


def test_an_access_link_can_be_the_narrowest_of_a_path(square):
    network = changed(square, access={"rate": "1.5 Mb/s", "delay": "1 ms"})
    data = alone(network, "A>B").scenario().to_dict()
    others = [one for one in data["link"] if one["from"].startswith("in-") or one["to"].startswith("out-")]
    assert "1.5 Mb/s" in {one["rate"] for one in others}


def test_losses_of_the_rest_of_a_path_are_lost_before_the_link(square):
    network = changed(square, links={"rate": "2 Mb/s", "loss": {"model": "bernoulli", "rate": 0.02}})
    data = alone(network, "B>C").scenario().to_dict()
    (host,) = [one for one in data["link"] if one["from"].startswith("host-")]
    assert host["loss"]["rate"] == 0.02


def test_what_hosts_add_counts_once_for_a_path(square):
    network = changed(square)
    data = alone(network, "A>B").scenario().to_dict()
    assert data["hosts"]["send-jitter"] == "0 s"
    late = {flow["transport"]["send-jitter"] for flow in data["flow"] if "downloads" in flow["name"]}
    assert [units.span(one, "send-jitter") for one in late] == [1e-3]
    assert linking.send_jitter_s({"preset": "ns2"}) == 0
    assert linking.send_jitter_s({"preset": "ns2", "hosts": {"send-jitter": "3 ms"}}) == 0.003


def test_a_link_that_one_link_brings_all_to_waits_least(square):
    """All traffic of B>C arrives over A>B, which has the same rate; traffic of A>B begins there."""
    network = changed(square)
    assert alone(network, "B>C").wait_s < alone(network, "A>B").wait_s / 10


def test_a_loaded_link_is_simulated_longer_than_one_with_room(square):
    busy, idle = (
        alone(changed(square, duration="1000 s", demands={"busiest": share}), "A>B")
        for share in ("95 %", "60 %")
    )
    assert busy.relaxation_s() > 10 * idle.relaxation_s()
    assert busy.spans_s()[0] == math.ceil(linking.PERIODS * busy.relaxation_s())


def test_quantiles_of_waits_are_those_of_the_packets_that_arrived_after_the_warm_up():
    made = np.r_[0.5, np.arange(1, 101), np.arange(1, 51)].astype(float)
    waited = np.r_[9.0, np.arange(100)[::-1], np.full(50, np.nan)] / 1e3
    names = ["calls_x[0]"] * 101 + ["calls_x[1]"] * 50
    recorded = {
        "flow": Column.from_values(names), "created_s": Column.from_values(made.tolist()),
        "arrived_s": Column.from_values((made + 0.01 + waited).tolist()),
    }  # fmt: skip
    found = linking._waits(recorded, ["calls_x[0]", "calls_x[1]"], np.array([0.01, 0.01]), 1.0)
    assert found[0] == pytest.approx(np.arange(100) / 1e3)
    assert found[1] == pytest.approx(0)


class Counted(dict):
    """Keeps runs, and counts requests for missing ones."""

    made = 0

    def get(self, scenario, seed):
        return super().get((scenario, seed))

    def put(self, scenario, seed, tables):
        self.made += 1
        self[scenario, seed] = tables


def test_link_by_link_is_like_the_whole(answered):
    # A few files load each link, so three seeds would have a random error of ± 0.7.
    network, seeds = answered[0], list(range(1, 17))
    whole = measuring.combine_runs(measuring.run(network, [network.scenario], seeds)[0])
    found = measuring.combine_runs(decomposing.run(network, seeds))
    for pair, most in ((("C", "A"), 0.3), (("A", "C"), 0.5)):
        assert found.pairs[pair].mos.mean == pytest.approx(whole.pairs[pair].mos.mean, abs=most), pair


def test_a_changed_link_costs_only_itself(answered):
    network, whole, folder = answered
    keep = Counted()
    runs = decomposing.run(network, [1, 2, 3], keep=keep)
    found = measuring.combine_runs(runs)
    assert set(found.pairs) == set(whole.pairs)
    assert found.pairs["A", "C"].mos.mean < found.pairs["C", "A"].mos.mean
    first = keep.made
    assert decomposing.run(network, [1, 2, 3], keep=keep) == runs
    assert keep.made == first
    changed = language.parse_table(
        network.table | {"link": [{"between": ["C", "D"], "queue": "fq-codel"}]}, folder
    )
    decomposing.run(changed, [1, 2, 3], keep=keep)
    assert keep.made == first


def test_link_by_link_widens_links_and_lets_them_fail(answered):
    network, _, folder = answered
    wide = [{"between": ends, "rate": "8 Mb/s"} for ends in (["B", "C"], ["C", "D"])]
    network = language.parse_table(network.table | {"link": wide}, folder)
    links = decomposing.Decomposition([1, 2])
    found = measuring.combine_runs(links.answer([network])[0])
    first, *_ = widening.try_widening(network, found, links.answer, 1)
    assert first.link == "A>B"
    assert first.mos.mean > 0
    failed = {
        one.name: one.answer for one in failing.try_failures(network, "links", links.answer, at_once=False)
    }
    assert failed["A>B"].links["A>B"].utilisation == 0
    assert failed["A>B"].links["A>D"].utilisation > 0.7
    assert failed["A>D"].pairs == found.pairs  # nothing crosses it


def test_a_failure_leaves_pairs_without_a_path_out(answered):
    network, _, _ = answered
    without = failing.reroute(network, ["A>B", "A>D"])
    assert without.groups == {}


def test_ratings_are_those_of_the_simulator(answered):
    network, _, _ = answered
    rating = ratings.rate_calls(network, [], None, None)
    good, lossy = rating.opinion(np.array([0.0, 0.1]), np.array([0.03, 0.03]), np.zeros(2))
    assert good == pytest.approx(4.4, abs=0.05)
    assert lossy < 3.3
    assert rating.opinion(np.array([0.0]), np.array([0.4]), np.zeros(1))[0] < good - 0.8


def test_errors_of_an_answer_next_to_itself_are_none(answered):
    _, whole, _ = answered
    trust = trusting.compare_pairs(whole, whole)
    assert (trust.pairs, trust.mos_off, trust.p95_off) == (2, 0, 0)


def test_a_pair_whose_interval_touches_several_bands_counts_apart():
    def run(**pairs):
        made = {
            ("A", name): measuring.PairRun(1, mos, mos, 0, 0, 1, 0.01, 0.02, 0.0)
            for name, mos in pairs.items()
        }
        return measuring.RunAnswer(pairs=made)

    found = measuring.combine_runs([run(B=4.0, C=3.0, D=3.3), run(B=4.01, C=4.2, D=3.3)])
    assert found.bands == {"good": 1, "fair": 1, "poor": 0, "undecided": 1}
    assert found.pairs["A", "C"].band == "undecided"
    said = wording.answer(None, found)
    assert (
        said.sentences[0] == "Of 3 pairs of nodes, the calls are good for 1, fair for 1 and undecided for 1."
    )
    assert "Undecided pairs touch several bands" in said.sure
    alone = measuring.combine_runs([run(B=4.0, C=3.0)])
    assert alone.bands == {"good": 1, "fair": 0, "poor": 1, "undecided": 0}, "one run has no interval"


def test_a_wider_link_that_moves_no_call_makes_no_difference_that_counts(answered):
    """All calls move by 0.02 MOS: significant, but imperceptible."""
    network, found, _ = answered
    moved = [
        replace(run, pairs={name: replace(pair, mos=pair.mos + 0.02) for name, pair in run.pairs.items()})
        for run in found.runs
    ]

    def said(answer):
        mos = interval([new.mos - old.mos for new, old in zip(moved, found.runs, strict=True)])
        wide = widening.Widened("A>B", 4e6, mos, interval([0.0] * 3), 0.0, measuring.combine_runs(moved))
        return wording.answer(network, answer, [wide]).sentences[2], wording.document(network, answer, [wide])

    sentence, document = said(found)
    assert sentence.startswith("No single wider link makes a difference that counts; one link was tried")
    assert "Differences count from MOS 0.1 and 0.5 points of good calls." in sentence
    assert document["widening"][0]["mos"]["is"] == "alike"
    sentence, document = said(replace(found, relevance=relevance(["mos=0.01"])))
    assert sentence.startswith("Widen A–B first")
    assert document["widening"][0]["mos"]["is"] == "higher"


def test_a_failure_that_moves_no_call_leaves_the_mean_opinion_alike(answered):
    network, found, _ = answered
    failure = failing.Failure("A>D", ("A>D",), found)
    assert wording.opinion_lost(found, failure).outcome == "alike"
    said = " ".join(wording.answer(network, found, failures=[failure], kind="links").sentences)
    assert (
        "is alike after each failure: at worst +0.00 MOS (same in all 3) (differences count from 0.1)" in said
    )
