"""The third and fourth opinions without ns-3 or root: their input, their parsed output, the relay."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import pytest

import fairwave
from validation import explanations, kept
from validation.compare import opinions
from validation.compare.kernel import cases as kernel_cases
from validation.compare.kernel import lab, sharing
from validation.compare.kernel.endpoint import LENGTH, TcpInfo
from validation.compare.kernel.relay import DelayLine
from validation.compare.measures import shares
from validation.compare.ns2.translate import NotInNs2Error, translate
from validation.compare.ns3 import cases as ns3_cases
from validation.compare.ns3 import simulator as ns3
from validation.verdict import Comparison, Estimate, compare

ROOT = Path(__file__).resolve().parents[1]


def plan(scenario: dict[str, object], seed: int = 1) -> dict[str, object]:
    return ns3_cases.plan_of(fairwave.load(json.dumps(scenario)), seed)


def case(key: str) -> ns3_cases.Case:
    return next(one for one in ns3_cases.cases() if one.key == key)


def run_request(key: str, **changes: object) -> dict[str, object]:
    one = case(key)
    return ns3.translate(plan(one.scenario | changes), one.bottleneck, ns3_cases.SPACING)


def test_every_case_can_be_told_to_ns3() -> None:
    for one in ns3_cases.cases():
        run = ns3.translate(plan(one.scenario), one.bottleneck, ns3_cases.SPACING)
        assert (run["duration"], run["warmup"]) == ((420.0, 120.0) if one.is_long else (50.0, 10.0)), one.key
        assert json.loads(json.dumps(run)) == run


def test_ns3_is_told_the_path_and_the_delays_that_the_plan_has_drawn() -> None:
    run = run_request("ns3/cubic/1bdp")
    assert run["bottleneck"] == {
        "rate": "20000000bps",
        "delay": "18000000ns",
        "loss": 0.0,
        "queue": "ns3::FifoQueueDisc",
        "quantum": 0,
    }
    drawn = plan(case("ns3/cubic/1bdp").scenario)
    near, _, far = (drawn["links"][place]["delay_ns"] for place in drawn["flows"][0]["forward"])
    (flow,) = run["flows"]
    assert (flow["near"], flow["far"]) == (f"{near}ns", f"{far}ns")
    assert flow["start"] == drawn["flows"][0]["start_ns"] / 1e9
    assert flow["kind"] == "ns3::TcpCubic"


def test_a_first_in_first_out_queue_leaves_one_packet_to_the_device_below_it() -> None:
    assert run_request("ns3/cubic/4bdp")["defaults"]["ns3::FifoQueueDisc::MaxSize"] == "267p"


def test_a_quantum_counts_two_bytes_less_where_packets_have_no_header_of_the_link() -> None:
    run = run_request("ns3/reno/fq-codel")
    assert run["bottleneck"]["quantum"] == 1500
    assert run["defaults"]["ns3::FqCoDelQueueDisc::Target"] == "5000000ns"
    assert run["defaults"]["ns3::FqCoDelQueueDisc::UseEcn"] == "true"


def test_marks_and_slow_start_are_switched_as_in_the_scenario() -> None:
    assert run_request("ns3/cubic/codel-ecn")["defaults"]["ns3::TcpSocketBase::UseEcn"] == "On"
    assert run_request("ns3/cubic/pie")["defaults"]["ns3::TcpSocketBase::UseEcn"] == "Off"
    assert run_request("ns3/cubic/1bdp")["defaults"]["ns3::TcpCubic::HyStart"] == "true"
    assert run_request("ns3/cubic/1bdp/no-hystart")["defaults"]["ns3::TcpCubic::HyStart"] == "false"


def test_a_stream_is_a_packet_per_interval() -> None:
    flood = run_request("ns3/cbr+cubic/fq-codel")["flows"][0]
    assert (flood["kind"], flood["payload"]) == ("udp", 1000)
    assert flood["interval"] == pytest.approx(8000 / 15e6)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hosts": {"send-jitter": "1 ms"}}, "not in step"),
        ({"flow": [ns3_cases.tcp("a", "tcp/vegas")]}, "tcp/vegas|only bulk data"),
        (
            {"flow": [ns3_cases.tcp("a", "tcp/cubic", recovery="rack")]},
            "`recovery` is 'rack'; ns-3 has 'sack'",
        ),
        ({"flow": [ns3_cases.tcp("a", "tcp/cubic", prr=False)]}, "`prr` is false"),
        (
            {"flow": [ns3_cases.tcp("a", "tcp/cubic", ecn="classic"), ns3_cases.tcp("b", "tcp/cubic")]},
            "give all TCPs",
        ),
    ],
)
def test_what_ns3_cannot_do_alike_is_refused_with_its_place(changes: dict[str, object], words: str) -> None:
    record = {"record": {}} if "flow" in changes else {}
    with pytest.raises(ns3.NotInNs3Error, match=words):
        run_request("ns3/cubic/1bdp", **changes, **record)


FLOWING = {"duration": "2 s", "warmup": "0 s", "hosts": {"clock-skew": "0 ppm", "send-jitter": "0 s"}}
CLASSES = [{"name": "voice", "match": {"dscp": "ef"}}, {"name": "data"}]
STAGE = {"rate": "500 kb/s", "burst": "10 kB"}


def network(near: dict[str, object], **flow: object) -> dict[str, object]:
    """Two hosts at two routers, with a second path between the routers."""
    pairs = [("a", "r1", near), ("r1", "r2", {}), ("r2", "b", {}), ("r1", "r3", {}), ("r3", "r2", {})]
    links = [
        {"from": one, "to": other, "rate": "1 Mb/s", "delay": "5 ms"} | more for one, other, more in pairs
    ]
    flows = [{"name": "f", "from": "a", "to": "b", "transport": "tcp/cubic", "traffic": "bulk"} | flow]
    return {"name": "n", "link": links, "flow": flows, **FLOWING}


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        (network({"police": STAGE}), r"a>r1: a policer \(`police`\), which is not compared with {}; leave `pol"),
        (network({"shape": STAGE}), r"a>r1: a shaper \(`shape`\), which is not compared with {}"),
        (
            network({"queue": {"discipline": "drr", "classes": CLASSES}}),
            r"a>r1: a class map \(`classes` of the queue `drr`\), which is not compared with {}",
        ),
        (
            network({}, failover="100 ms") | {"event": [{"at": "1 s", "link": "r1>r2", "state": "down"}]},
            r"f\[0\]: its route changes during the run \(`failover`\), which is not compared with {}",
        ),
    ],
)  # fmt: skip
def test_stages_class_maps_and_changing_routes_are_refused_not_left_out(
    scenario: dict[str, object], words: str
) -> None:
    drawn = json.loads(fairwave.load(json.dumps(scenario)).native.exact_plan(1))
    with pytest.raises(ns3.NotInNs3Error, match=words.format("ns-3")):
        ns3.translate(drawn, "r1>r2", 0.1)
    with pytest.raises(NotInNs2Error, match=words.format("ns-2")):
        translate(drawn, "r1>r2")


def test_a_queue_that_is_not_compared_is_refused() -> None:
    one = ns3_cases.dumbbell(
        "red", {"discipline": "red", "capacity": {"packets": 67}}, [ns3_cases.tcp("a", "tcp/cubic")]
    )
    with pytest.raises(ns3.NotInNs3Error, match="queue `red` is not compared"):
        ns3.translate(plan(one), "r1>r2", 0.1)
    with pytest.raises(ns3.NotInNs3Error, match="no link `r1>r3`"):
        ns3.translate(plan(case("ns3/cubic/1bdp").scenario), "r1>r3", 0.1)


def test_what_ns3_counted_becomes_measures() -> None:
    drawn = plan(case("ns3/cubic/two").scenario)
    counted = {
        "received": 1000, "sent": 990, "dropped": 10, "marked": 5, "waiting": 9.9,
        "flows": [
            {"payload": 40_000_000, "samples": 10, "rtt": 0.5, "window": 14480.0},
            {"payload": 20_000_000, "samples": 10, "rtt": 0.7, "window": 28960.0},
        ],
    }  # fmt: skip
    found = ns3.measures(drawn, counted)
    assert found == pytest.approx({
        "goodput_mbps/cubic": 12.0, "jain/cubic": 0.9, "rtt_ms/cubic": 60.0, "window/cubic": 1.5,
        "drop_rate": 0.01, "mark_rate": 0.005, "wait_ms": 10.0,
    })  # fmt: skip


def test_where_ns3_is_absent_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ns3.find.cache_clear()
    monkeypatch.setenv(ns3.VARIABLE, "/nowhere/python")
    assert ns3.find() is None
    assert "pip install 'ns3==3.44.*'" in ns3.ABSENT
    assert ns3.VARIABLE in ns3.ABSENT
    ns3.find.cache_clear()


def test_a_relay_releases_packets_in_order_and_not_before_their_time() -> None:
    now, sent = 0, []
    line = DelayLine(40)
    line.put(0, b"first")
    line.put(10, b"second")
    assert line.next_wait(30) == 10
    line.release(lambda: 39, sent.append)
    assert sent == []
    line.release(lambda: 43, sent.append)
    assert sent == [b"first"]
    assert line.next_wait(60) == 0
    line.release(lambda: 60, sent.append)
    assert sent == [b"first", b"second"]
    assert line.next_wait(now) is None


def test_a_relay_says_by_how_much_it_was_late() -> None:
    line = DelayLine(1_000_000)
    assert line.summary() == {"packets": 0}
    for late in (0, 2000, 4000):
        line.put(0, b"")
        line.release(lambda late=late: 1_000_000 + late, lambda _: None)  # type: ignore[misc]
    assert line.summary() == {"packets": 3, "mean_us": 2.0, "p99_us": 4.0, "most_us": 4.0}


def test_tcp_info_is_read_where_the_kernel_writes_it() -> None:
    data = bytearray(LENGTH)
    struct.pack_into("<I", data, 68, 41000)
    struct.pack_into("<I", data, 80, 12)
    struct.pack_into("<I", data, 100, 3)
    struct.pack_into("<Q", data, 120, 10**10)
    struct.pack_into("<I", data, 148, 40000)
    struct.pack_into("<I", data, 156, 1000)
    info = TcpInfo.from_bytes(bytes(data))
    assert (info.rtt_us, info.window, info.sent_again, info.acknowledged) == (41000, 12, 3, 10**10)
    assert (info.least_rtt_us, info.sent) == (40000, 1000)
    with pytest.raises(ValueError, match=r"has 104 bytes; 192 are needed"):
        TcpInfo.from_bytes(bytes(104))


def test_the_network_is_made_within_its_namespaces_alone() -> None:
    made = lab.commands(lab.KernelPath(20_000_000, 100_000, 40_000), ("a", "r", "b"))
    for command in made:
        inside = command[:2] == ["ip", "-n"] or command[:3] == ["ip", "netns", "exec"]
        assert inside, command
    assert made[-1][-7:] == ["tbf", "rate", "20000000bit", "burst", "3100", "limit", "100000"]


def test_without_root_the_kernel_is_not_asked_and_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(lab.shutil, "which", lambda _: None)
    lacks = lab.missing()
    assert lacks[0].startswith("root")
    assert any("iproute2" in one for one in lacks)


def sample(at: float, **values: int) -> dict[str, float]:
    return {"at": at, "rtt_us": 50_000, "window": 80, "sent_again": 0, "acknowledged": 0, "sent": 0} | values


def test_a_run_of_the_kernel_is_measured_after_its_warmup() -> None:
    one = next(one for one in kernel_cases.cases() if one.key == "kernel/cubic/1bdp")
    samples = [
        sample(1.0, rtt_us=900_000, window=900),
        sample(5.0, acknowledged=1_000_000, sent=1000, sent_again=100),
        sample(10.0, acknowledged=6_000_000, sent=4000, sent_again=110, rtt_us=70_000, window=100),
    ]
    found = kernel_cases.measure_kernel(one, {"flows": [samples]})
    assert found == pytest.approx({
        "goodput_mbps/cubic": 8.0, "rtt_ms/cubic": 60.0, "rtt_p95_ms/cubic": 70.0, "window/cubic": 90.0,
        "retransmissions/cubic": 0.0275, "retransmissions_steady/cubic": 10 / 3000,
    })  # fmt: skip


def test_fairwave_answers_with_the_kernels_measures() -> None:
    one = next(one for one in kernel_cases.cases() if one.key == "kernel/cubic+reno/1bdp")
    scenario = fairwave.load(json.dumps(one.scenario)).with_overrides({"duration": "8 s"})
    (ours,) = kernel_cases.measure_fairwave(
        one, scenario.replicate(seeds=[1]), scenario.with_overrides({"warmup": "0 s"}).replicate(seeds=[1])
    )
    assert sum(ours[f"goodput_mbps/{name}"] for name in one.flows) == pytest.approx(
        20 * 1448 / 1514, rel=0.02
    )
    # The path takes 40 ms, a full buffer another 40, a lone segment's acknowledgement 40 more.
    assert all(40 < ours[f"rtt_ms/{name}"] <= ours[f"rtt_p95_ms/{name}"] < 120 for name in one.flows)


def test_a_stalled_run_is_made_again_and_a_calm_one_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = next(iter(kernel_cases.cases()))
    lateness = iter([50_000.0, 10_001.0, 300.0])
    monkeypatch.setattr(lab, "run", lambda *_: {"relay": {"most_us": next(lateness)}})
    assert kernel_cases.recall(one, [1], tmp_path) == [{"relay": {"most_us": 300.0}}]
    assert kernel_cases.recall(one, [1], tmp_path) == [{"relay": {"most_us": 300.0}}], "kept, not made anew"
    monkeypatch.setattr(lab, "run", lambda *_: {"relay": {"most_us": 50_000.0}})
    with pytest.raises(lab.KernelError, match="calmer machine"):
        kernel_cases.recall(one, [2], tmp_path)


def test_a_long_case_has_a_path_of_its_own_and_allows_a_stall_but_no_lateness() -> None:
    longs = {one.products: one for one in kernel_cases.cases() if one.is_long}
    assert list(longs) == [2, 4, 16, 32]
    assert longs[4].path == lab.KernelPath(10_000_000, 4 * 50_000, 40_000)
    scenario = longs[4].scenario
    assert (scenario["duration"], scenario["warmup"]) == ("420 s", "120 s")
    assert scenario["link"][1]["rate"] == "10 Mb/s"
    for late, is_kept in ((190.0, True), (1_001.0, False)):
        assert longs[4].kept_promise({"relay": {"most_us": 26_000.0, "p99_us": late}}) is is_kept


def test_shares_are_parts_of_the_goodput_of_all() -> None:
    found = shares({"goodput_mbps/bbr": 6.0, "goodput_mbps/cubic": 2.0, "rtt_ms/bbr": 50.0})
    assert found == {"share/bbr": 0.75, "share/cubic": 0.25}
    assert all(math.isnan(value) for value in shares({"goodput_mbps/bbr": 0.0}).values())


def test_the_model_of_bbr_beside_cubic_is_that_of_its_paper_and_half_the_link_with_the_path_counted() -> None:
    depths = (2, 4, 16, 32)
    assert [round(sharing.modelled(depth), 2) for depth in depths] == [0.78, 0.63, 0.49, 0.44]
    # In ProbeRTT, every ten seconds: a full queue, 200 ms and a round trip.
    assert [round(sharing.with_the_path(depth), 3) for depth in depths] == [0.484, 0.48, 0.456, 0.424]


@pytest.mark.parametrize("products", [2, 4, 16, 32])
def test_bbr_and_cubic_of_linux_share_as_the_kernels_do(products: int) -> None:
    one = next(one for one in kernel_cases.cases() if one.is_long and one.products == products)
    case = kept.read(opinions.KEPT)["kernel"]["cases"][one.key]
    theirs, half, _ = case["measures"]["share/bbr"]["theirs"]
    rows = fairwave.load(json.dumps(one.scenario)).replicate(seeds=[1, 2, 3]).flows.to_pylist()
    goodputs = {name: sum(row["goodput_bps"] for row in rows if row["group"] == name) for name in one.flows}
    assert goodputs["bbr"] / sum(goodputs.values()) == pytest.approx(theirs, abs=0.05 * theirs + half)


def test_margins_are_the_measures_own() -> None:
    ours = [{"goodput_mbps/a": 104.0, "retransmissions_steady/a": 0.012, "other": 104.0}]
    theirs = [{"goodput_mbps/a": 100.0, "retransmissions_steady/a": 0.010, "other": 100.0}]
    verdicts = {one.measure: one.reason for one in compare(ours, theirs, kernel_cases.MARGINS)}
    assert verdicts == {"goodput_mbps/a": "margin", "retransmissions_steady/a": "margin", "other": ""}


def outcome(key: str, ours: float, theirs: float) -> opinions.Outcome:
    return opinions.Outcome(
        key,
        f"title of {key}",
        3,
        [Comparison("goodput_mbps/a", Estimate(ours, 0.1, 3), Estimate(theirs, 0.1, 3), 0.05)],
    )


def test_a_part_that_is_renewed_leaves_the_numbers_of_the_others() -> None:
    known = ["ns3/a", "ns3/b", "kernel/c"]
    before = opinions.data(
        [outcome("ns3/a", 1, 1), outcome("kernel/c", 2, 2)], {"ns3": "3.44", "kernel": "Linux"}
    )
    fresh = opinions.data([outcome("kernel/c", 3, 3)], {"kernel": "Linux 7"})
    parts = opinions.renewed(before, fresh, known)
    assert parts["ns3"] == before["ns3"]
    assert parts["kernel"] == fresh["kernel"]
    assert opinions.data(opinions.stored(parts), {"ns3": "3.44", "kernel": "Linux 7"}) == parts
    assert opinions.renewed(before, {}, ["ns3/a"]) == {"ns3": before["ns3"]}, (
        "what is not known any more goes"
    )


def test_a_difference_is_named_until_it_is_explained() -> None:
    parts = opinions.data([outcome("ns3/a", 10.0, 12.0)], {"ns3": "3.44"})
    (unexplained,) = opinions.unexplained(opinions.stored(parts), [])
    assert unexplained == ("ns3/a", "goodput_mbps/a")
    assert "✗ unexplained" in opinions.markdown(parts, [])
    reason = explanations.Explanation("why", ("ns3/*",), ("*",), "Because.")
    assert opinions.unexplained(opinions.stored(parts), [reason]) == []
    page = opinions.markdown(parts, [reason])
    assert "✗ [why](#why)" in page
    assert "Because." in page
    assert "Not measured yet." in page, "of the kernel"


def test_every_kept_comparison_has_a_margin() -> None:
    parts = kept.read(opinions.KEPT)
    assert all(math.isfinite(one.margin) for each in opinions.stored(parts) for one in each.comparisons)
