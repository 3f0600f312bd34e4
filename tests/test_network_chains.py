"""Link by link on chains: packets that waited before one link do not wait again at the next."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import pytest

from fairwave.answers.bands import Held
from fairwave_network import decomposing, language, linking, measuring, trusting, units
from validation import kept
from validation.measured import networks

SEEDS = list(range(1, 9))


def network_of(tmp_path, edges, demands, *, load, **more):
    """A network of links with 10 Mb/s and 2 ms by default; 30 % of the load are calls."""
    graph = nx.Graph()
    for ends, rate in edges.items():
        graph.add_edge(*ends, delay_ms=2.0, rate_bps=rate)
    nx.write_graphml(graph, tmp_path / "net.graphml")
    lines = [f"{pair[0]},{pair[1]},{amount}" for pair, amount in demands.items()]
    (tmp_path / "demands.csv").write_text("\n".join(["from,to,demand", *lines]), encoding="utf-8")
    table = {
        "name": "chain", "duration": "22 s", "warmup": "2 s", "preset": "rfc", "topology": {"file": "net.graphml"},
        "links": {"queue": {"discipline": "drop-tail", "capacity": {"packets": 170}}},
        "demands": {"matrix": "demands.csv", "load": load},
        "mix": [
            {"kind": "calls", "share": "30 %"},
            {"kind": "downloads", "size": "200 kB", "share": "70 %"},
        ],
    }  # fmt: skip
    return language.parse_table(table | more, tmp_path)


def chain(nodes="ABCD", rate=1e7):
    return dict.fromkeys([one + other for one, other in itertools.pairwise(nodes)], rate)


def run_both_ways(network):
    """The results link by link and of the whole network, and the number of simulated links."""
    links = decomposing.Decomposition(SEEDS)
    found = measuring.combine_runs(links.answer([network])[0])
    whole = measuring.combine_runs(measuring.run(network, [network.scenario], SEEDS)[0])
    return found, whole, links.simulated


def alone(network, name):
    return decomposing._loaded(network)[name]


def test_later_links_of_a_chain_are_not_simulated_and_add_no_queue(tmp_path):
    """9 Mb/s cross three links of 10 Mb/s; only the first link queues."""
    found, whole, simulated = run_both_ways(network_of(tmp_path, chain(), {"AD": 1}, load="9 Mb/s"))
    assert simulated == 1
    for name in ("B>C", "C>D"):
        assert whole.links[name].wait_s < 0.6e-3
        assert found.links[name].wait_s < 1e-3, "it was 30 ms when calls came without the link before"
        assert found.links[name].dropped == 0
    assert found.links["A>B"].wait_s > 20e-3
    assert trusting.compare_pairs(found, whole).p95_off < 0.15


def test_a_little_traffic_of_a_node_does_not_bring_the_queue_of_the_link_before_again(tmp_path):
    """At B, 0.2 Mb/s join A's traffic. So B>C is simulated, behind A>B. Small files reduce random variation."""
    mix = [{"kind": "calls", "share": "30 %"}, {"kind": "downloads", "size": "50 kB", "share": "70 %"}]
    more = {"duration": "62 s", "mix": mix}
    network = network_of(tmp_path, chain("ABC"), {"AC": 44, "BC": 1}, load="8.5 Mb/s", **more)
    found, whole, simulated = run_both_ways(network)
    assert simulated == 2
    for name in ("A>B", "B>C"):
        assert found.links[name].wait_s == pytest.approx(whole.links[name].wait_s, rel=0.4), name


def test_calls_that_a_busy_link_gets_come_over_the_link_before(tmp_path):
    """A fixed number of the 30 calls from A>B to B>C is rated. All calls together keep their offered load."""
    network = network_of(tmp_path, chain("ABC"), {"AC": 8, "BC": 1}, load="9 Mb/s")
    link = alone(network, "B>C")
    flows = {flow["name"]: flow for flow in link.scenario().to_dict()["flow"]}
    here = sum(group.busy for group in link._calls[""])
    assert set(link._calls) == {"A>B", ""}
    fixed = flows["calls_brought"]["count"]
    assert fixed == round(linking.RATED - here)
    assert "arrivals" not in flows["calls_brought"]
    assert (flows["calls_rest_in-0"]["from"], flows["calls_rest_in-0"]["to"]) == ("in-0", "y")
    rest = float(flows["calls_rest_in-0"]["arrivals"]["rate"].split()[0]) * 180
    assert rest + fixed == pytest.approx(sum(group.busy for group in link._calls["A>B"]))
    taken = units.rate(flows["others_in-0-x"]["traffic"]["rate"], "rate")
    assert taken == pytest.approx(fixed * 80_000, rel=1e-3), "nothing else of A>B is missing here"


def test_inflow_is_limited_by_the_links_before():
    rates = {"a": 4.0, "b": 3.0, "c": 10.0, "d": 1.0}
    assert linking._inflow({("a",), ("b",)}, rates) == 7
    assert linking._inflow({("a", "c"), ("b", "c")}, rates) == 7, "c is wider than what reaches it"
    assert linking._inflow({("c", "a"), ("d", "b")}, rates) == 5
    assert linking._inflow({("a", "c"), ("c",)}, rates) == 10, "traffic begins before c"
    assert linking._inflow({("a",), ()}, rates) == math.inf


def test_access_links_can_leave_nothing_to_simulate(tmp_path):
    """Hosts behind 2 Mb/s cannot fill links of 10 Mb/s."""
    network = network_of(
        tmp_path, chain(), {"AD": 1}, load="1.8 Mb/s", access={"rate": "2 Mb/s", "delay": "1 ms"}
    )
    assert all(link.is_limited for link in decomposing._loaded(network).values())
    found, whole, simulated = run_both_ways(network)
    assert simulated == 0
    assert found.links["A>B"].utilisation == pytest.approx(0.18)
    assert set(found.pairs) == set(whole.pairs)


@pytest.mark.parametrize(
    ("more", "is_plain"),
    [
        ({"queue": "fq-codel"}, True),
        ({"jitter": "gaussian"}, False),
        ({"loss": {"model": "bernoulli", "rate": 0.02}}, False),
        ({"shape": {"rate": "5 Mb/s", "burst": "10 kB"}}, False),
        ({"police": {"rate": "5 Mb/s", "burst": "15 kB"}}, False),
        ({"queue": {"discipline": "cake", "bandwidth": "5 Mb/s"}}, False),
    ],
)
def test_a_link_that_does_more_than_queue_is_simulated(tmp_path, more, is_plain):
    """With 0.5 Mb/s on 10 Mb/s there is no other reason to simulate it."""
    network = network_of(
        tmp_path, chain("ABC"), {"AC": 1}, load="0.5 Mb/s", link=[{"between": ["B", "C"], **more}]
    )
    assert alone(network, "B>C").is_plain == is_plain
    links = decomposing.Decomposition([1])
    plan = links._planned(decomposing._loaded(network))
    assert ("B>C" in plan) == (not is_plain)


def test_a_jittery_link_with_room_delays_calls_as_in_the_whole_network(tmp_path):
    link = [{"between": ["A", "B"], "jitter": {"model": "gaussian", "deviation": "8 ms"}}]
    mix = [{"kind": "calls", "share": 1}]
    network = network_of(tmp_path, chain("AB"), {"AB": 1}, load="0.5 Mb/s", link=link, mix=mix)
    found, whole, _ = run_both_ways(network)
    assert trusting.compare_pairs(found, whole).p95_off < 0.15


def test_a_much_faster_link_before_is_no_limit_and_costs_no_packets(tmp_path):
    """1 Gb/s carries 800 Mb/s to another node and 8 Mb/s to a link of 10 Mb/s."""
    edges = {"AB": 1e9, "BC": 1e7, "BD": 1e9}
    network = network_of(tmp_path, edges, {"AC": 1, "AD": 100}, load="808 Mb/s")
    data = alone(network, "B>C").scenario().to_dict()
    assert not [one for one in data["link"] if one["from"].startswith("in-")]
    assert (
        sum(units.rate(flow["traffic"]["rate"], "rate") for flow in data["flow"] if "others" in flow["name"])
        == 0
    )


def test_a_full_faster_link_before_is_slower_by_what_it_carries_elsewhere(tmp_path):
    """Other traffic takes 960 Mb/s of 1 Gb/s, which leaves TCP less than ten times the link's rate."""
    edges = {"AB": 1e9, "BC": 1e7, "BD": 1e9}
    network = network_of(tmp_path, edges, {"AC": 1, "AD": 120}, load="968 Mb/s")
    data = alone(network, "B>C").scenario().to_dict()
    (before,) = [one for one in data["link"] if one["from"].startswith("in-")]
    assert units.rate(before["rate"], "rate") == pytest.approx(40e6, rel=0.05)
    assert not [flow for flow in data["flow"] if flow["name"].startswith("others")]


def test_two_mixes_of_calls_are_refused_before_a_link_is_simulated(tmp_path, monkeypatch):
    mix = [{"kind": "calls", "share": "30 %"}, {"kind": "calls", "name": "more", "share": "30 %"}]
    network = network_of(tmp_path, chain(), {"AD": 1}, load="9 Mb/s", mix=mix)
    monkeypatch.setattr(decomposing, "replicate", None)
    with pytest.raises(Exception, match="one mix of calls, not 2"):
        decomposing.run(network, [1])


def test_acknowledgements_of_the_other_direction_cross_a_link(tmp_path):
    """In the whole network they take a little more, because packets after a loss are acknowledged one by one."""
    network = network_of(tmp_path, chain("AB"), {"AB": 1}, load="8 Mb/s")
    both = network_of(tmp_path, chain("AB"), {"AB": 1, "BA": 1}, load="16 Mb/s")
    (acks,) = [flow for flow in alone(both, "B>A").scenario().to_dict()["flow"] if flow["name"] == "acks_x-y"]
    whole = measuring.combine_runs(measuring.run(network, [network.scenario], SEEDS)[0])
    taken = whole.links["B>A"].utilisation * 1e7
    assert 0.5 * taken < units.rate(acks["traffic"]["rate"], "rate") < taken


def test_gaps_of_calls_are_those_of_the_links_of_their_path(tmp_path):
    """The second link loses everything for 0.8 s, every 20 s on average."""
    loss = {"model": "markov", "good": "20 s", "bad": "800 ms"}
    mix = [{"kind": "calls", "share": 1}]
    link = [{"between": ["B", "C"], "loss": loss}]
    network = network_of(tmp_path, chain("ABC"), {"AC": 1, "AB": 1}, load="2 Mb/s", mix=mix, link=link)
    found, whole, _ = run_both_ways(network)
    for answer in (found, whole):
        assert answer.pairs["A", "B"].gap_s < measuring.GAP_S
        assert answer.pairs["A", "B"].interrupted == 0
    ours, theirs = (answer.pairs["A", "C"] for answer in (found, whole))
    assert ours.gap_s > measuring.GAP_S
    assert ours.interrupted / ours.calls == pytest.approx(theirs.interrupted / theirs.calls, abs=0.25)
    assert found.calls["good"].mean < 1
    assert ours.band != "good"
    assert isinstance(ours.mos, Held)


def test_other_traffic_of_links_before_is_in_few_packets_where_most_of_it_goes_elsewhere(tmp_path):
    """A>B brings 1 of its 9.2 Mb/s to B>C, and 8.2 to B>D. There other traffic has packets of mean size."""
    network = network_of(
        tmp_path,
        {"AB": 1e7, "BC": 1e7, "BD": 1e7, "EB": 1e7},
        {"AC": 1, "AD": 8.2, "EC": 7.5},
        load="16.7 Mb/s",
    )
    sizes = {}
    for name in ("B>C", "B>D"):
        flows = alone(network, name).scenario().to_dict()["flow"]
        sizes[name] = [
            int(flow["traffic"]["payload"].split()[0]) for flow in flows if flow["name"].startswith("others")
        ]
    assert linking.BUNDLE in sizes["B>C"]
    assert max(sizes["B>D"]) < 1500


def test_chains_and_meshes_were_measured_with_errors_of_at_most_15_percent():
    beside = kept.read(networks.KEPT)["beside"]
    assert len(networks.CHAINS) == len(networks.MESHES) == 5
    for name in (*networks.CHAINS, *networks.MESHES):
        assert beside[name]["links"]["p95_off"] <= 0.15, name
    for name in networks.CHAINS:
        assert beside[name]["of_two"] / beside[name]["nodes"] > 0.4, name
