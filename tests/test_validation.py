"""The comparison with ns-2: the generated Tcl, the parsed output, and the criterion of agreement."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from validation import kept
from validation.compare import closed_forms as opinion
from validation.compare.measures import jain, variation
from validation.compare.ns2 import references, report
from validation.compare.ns2 import simulator as ns2
from validation.compare.ns2.case import NsCase, NsFlow, NsLink, NsQueue
from validation.compare.ns2.cases import cases
from validation.compare.ns2.measures import measure_ns2
from validation.compare.ns2.tcl import tcl
from validation.compare.ns2.translate import NotInNs2Error, translate
from validation.verdict import Comparison, Estimate, compare

needs_ns2 = pytest.mark.skipif(ns2.find() is None, reason=ns2.ABSENT)


def single_hop(**changes: object) -> NsCase:
    """A constant stream of 1000-byte packets, 0.4 Mb/s, over 1 Mb/s and 10 ms."""
    stream = NsFlow(
        name="stream[0]",
        group="stream",
        source=0,
        target=1,
        forward=(0,),
        backward=(1,),
        agent="Agent/UDP",
        sink="Agent/LossMonitor",
        application="Application/Traffic/CBR",
        start=0.0,
        agent_settings={"packetSize_": "1000"},
        application_settings={"packetSize_": "1000", "rate_": "400000"},
    )
    links = (NsLink(0, 1, 1e6, 0.01, NsQueue("DropTail", 50)), NsLink(1, 0, 1e6, 0.01))
    case = NsCase("one hop", ("a", "b"), links, (stream,), 20.0, 10.0, 1, bottlenecks=(0,))
    return replace(case, **changes)  # type: ignore[arg-type]


@needs_ns2
def test_a_stream_below_the_rate_arrives_whole() -> None:
    run, _ = ns2.execute(single_hop())
    measures = measure_ns2(run)
    assert measures["goodput_steady_mbps/stream"] == pytest.approx(0.4, rel=0.002)
    assert measures["utilisation"] == pytest.approx(0.4, rel=0.002)
    assert measures["drop_rate"] == 0.0
    assert measures["mean_queue"] == 0.0


@needs_ns2
def test_loss_on_the_wire_is_lost_after_transmission_and_is_no_drop() -> None:
    case = single_hop()
    lossy = replace(case, links=(replace(case.links[0], loss=0.5), case.links[1]))
    run, _ = ns2.execute(lossy)
    measures = measure_ns2(run)
    assert measures["goodput_steady_mbps/stream"] == pytest.approx(0.2, abs=0.03)
    assert measures["utilisation"] == pytest.approx(0.4, rel=0.002)
    assert measures["drop_rate"] == 0.0


@needs_ns2
def test_overload_drops_the_excess_and_fills_the_queue_to_its_limit_less_one() -> None:
    case = single_hop()
    flow = replace(case.flows[0], application_settings={"packetSize_": "1000", "rate_": "2000000"})
    run, _ = ns2.execute(replace(case, flows=(flow,)))
    measures = measure_ns2(run)
    assert measures["drop_rate_steady"] == pytest.approx(0.5, abs=0.005)
    assert measures["mean_queue_steady"] == pytest.approx(49, abs=1.0)


@needs_ns2
def test_a_program_that_fails_says_what_ns2_said() -> None:
    with pytest.raises(ns2.NsError, match="NoSuch"):
        ns2.execute(
            single_hop(links=(NsLink(0, 1, 1e6, 0.01, NsQueue("NoSuch", 50)), NsLink(1, 0, 1e6, 0.01)))
        )


def test_two_ways_to_one_destination_are_refused() -> None:
    case = single_hop()
    links = (*case.links, NsLink(0, 1, 1e6, 0.02))
    other = replace(case.flows[0], forward=(2,))
    with pytest.raises(ValueError, match="destination"):
        tcl(replace(case, links=links, flows=(case.flows[0], other)))


def test_the_timed_program_measures_nothing() -> None:
    assert "snapshot" not in tcl(single_hop(plain=True))


def test_without_ns2_the_message_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ns2.NsError, match="Debian's package is `ns2`"):
        ns2.execute(single_hop())


def test_jain_is_one_for_equals_and_one_nth_for_a_monopoly() -> None:
    assert jain([3.0, 3.0, 3.0]) == 1.0
    assert jain([1.0, 0.0, 0.0, 0.0]) == 0.25
    assert math.isnan(jain([0.0, 0.0]))


def test_variation_of_one_and_three_is_a_half() -> None:
    assert variation([1.0, 3.0]) == 0.5


def test_an_interval_is_students() -> None:
    estimate = Estimate.from_values([1.0, 2.0, 3.0])
    assert estimate.mean == 2.0
    assert estimate.half == pytest.approx(4.303 / math.sqrt(3), rel=1e-3)
    assert Estimate.from_values([5.0]).half == math.inf


@pytest.mark.parametrize(
    ("ours", "theirs", "reason"),
    [
        (Estimate(1.02, 0.001, 5), Estimate(1.0, 0.001, 5), "margin"),
        (Estimate(1.2, 0.3, 5), Estimate(1.0, 0.25, 5), "intervals"),
        (Estimate(1.2, 0.3, 5), Estimate(1.0, 0.1, 5), ""),
        (Estimate(1.2, math.inf, 1), Estimate(1.0, math.inf, 1), ""),
    ],
)
def test_agreement_is_by_margin_or_by_both_intervals(ours: Estimate, theirs: Estimate, reason: str) -> None:
    assert Comparison("goodput_mbps/tcp", ours, theirs).reason == reason


def test_drop_rates_of_one_packet_agree() -> None:
    assert compare([{"drop_rate": 0.0}], [{"drop_rate": 1e-4}])[0].reason == "resolution"


def test_a_difference_whose_own_interval_contains_zero_is_undecided() -> None:
    ours, theirs = Estimate.from_values([10.0, 12.0, 14.0]), Estimate.from_values([8.0, 8.1, 8.2])
    assert Comparison("goodput_mbps/tcp", ours, theirs).undecided
    far = Estimate.from_values([20.0, 21.0, 22.0])
    assert not Comparison("goodput_mbps/tcp", ours, far).undecided


def test_what_agrees_is_not_undecided() -> None:
    ours, theirs = Estimate.from_values([1.0, 1.0, 1.01]), Estimate.from_values([1.0, 1.01, 1.01])
    assert not Comparison("goodput_mbps/tcp", ours, theirs).undecided


def test_a_reference_is_found_by_name_and_its_spread_becomes_an_interval(tmp_path: Path) -> None:
    metrics = {"drop_rate": {"mean": 0.02, "std": 0.001}}
    file = tmp_path / "some.json"
    file.write_text(json.dumps({"seeds": [1, 2, 3, 4], "results": [{"name": "one", "results": metrics}]}))
    (found,) = references.compare([{"drop_rate": 0.02}, {"drop_rate": 0.021}], file, "one")
    assert found.theirs == Estimate(0.02, pytest.approx(3.182 * 0.001 / 2, rel=1e-3), 4)
    with pytest.raises(LookupError, match="other"):
        references.compare([{"drop_rate": 0.02}], file, "other")


@needs_ns2
def test_what_ns2_printed_is_kept_and_not_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = measure_ns2(ns2.recall(single_hop(), tmp_path))
    monkeypatch.setenv("PATH", "")
    assert measure_ns2(ns2.recall(single_hop(), tmp_path)) == once


ROOT = Path(__file__).parents[1]


def kept_numbers() -> dict[str, object]:
    """The numbers of the report."""
    numbers: dict[str, object] = kept.read(report.KEPT)
    return numbers


def test_the_report_says_what_was_settled_after_a_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opinion, "lines", lambda: iter([]))
    written = report.markdown(report.stored(kept_numbers(), cases()), [], "make validate")
    said = written.split("**What was fixed in advance.**")[1].split("\n")[0]
    assert "After a first look" in said
    assert "*undecided*" in said
    assert "numbers of runs" in said


def test_every_case_has_kept_numbers_which_read_back_as_they_were() -> None:
    assert list(kept_numbers()) == [case.key for case in cases()]
    assert report.data(report.stored(kept_numbers(), cases())) == kept_numbers()


def red(queue: dict[str, object]) -> NsQueue:
    """The ns-2 queue for a RED before the only link of a plan."""
    link = {
        "name": "a>b",
        "from": 0,
        "to": 1,
        "rate_bps": 1_000_000,
        "rate": {"law": "constant", "rate": "1 Mb/s"},
        "delay_ns": 0,
        "loss": {"model": "none"},
    }
    plan = {
        "name": "red",
        "nodes": ["a", "b"],
        "groups": [],
        "links": [link | {"queue": {"discipline": "red", "victim": "tail"} | queue}],
        "flows": [],
        "hosts": {"clock_skew_ppb": 0, "send_jitter_ns": 0},
        "duration_ns": 1,
        "warmup_ns": 0,
        "seed": 1,
        "record": {"bin_ns": 0, "window_interval_ns": 0, "windows": []},
    }
    return translate(plan, "a>b").links[0].queue


def test_reds_two_switches_for_bytes_are_ns2s() -> None:
    given = {"preset": "ns2", "min-threshold": 4, "max-threshold": 12, "weight": 0.02, "max-p": 0.1}
    queue = red(given | {"capacity": {"bytes": 10000}})
    assert (queue.limit, queue.settings["bytes_"], queue.settings["queue_in_bytes_"]) == (20, "true", "true")
    assert (queue.settings["thresh_"], queue.settings["maxthresh_"], queue.settings["wait_"]) == (
        "4",
        "12",
        "true",
    )
    queue = red(given | {"capacity": {"bytes": 10000}, "drop-by-size": False})
    assert (queue.settings["bytes_"], queue.settings["queue_in_bytes_"]) == ("false", "true")
    queue = red(given | {"capacity": {"packets": 20}, "mode": "packets", "drop-by-size": True})
    assert (queue.limit, queue.settings["bytes_"], queue.settings["queue_in_bytes_"]) == (20, "true", "false")
    queue = red(given | {"capacity": {"packets": 20}, "mode": "packets"})
    assert (queue.settings["bytes_"], queue.settings["queue_in_bytes_"]) == ("false", "false")


def test_a_red_that_ns2_cannot_be_told_of_is_refused() -> None:
    with pytest.raises(NotInNs2Error, match="whole mean packets"):
        red({"preset": "ns2", "capacity": {"bytes": 10100}})
    with pytest.raises(NotInNs2Error, match="ns-2's details only"):
        red(
            {
                "mode": "bytes",
                "capacity": {"bytes": 10000},
                "min-threshold": 4,
                "max-threshold": 12,
                "weight": 0.1,
            }
        )
    with pytest.raises(NotInNs2Error, match="`weight` given"):
        red({"capacity": {"packets": 100}, "min-threshold": 4, "max-threshold": 12})
