"""Foreign stacks: they run if they are built in; otherwise an error names the command to type."""

from pathlib import Path

import pytest

import fairwave
from fairwave import reference
from validation import kept

EXAMPLE = Path(__file__).parents[1] / "examples" / "stacks" / "quinn-beside-call.toml"
LINK = {"from": "a", "to": "b", "rate": "3 Mb/s", "delay": "20 ms"}


def scenario(transport, traffic="bulk"):
    flow = {"name": "x", "from": "a", "to": "b", "transport": transport, "traffic": traffic}
    return fairwave.Scenario.from_dict({"name": "x", "duration": "5 s", "link": [LINK], "flow": [flow]})


def is_built():
    return "quic/quinn" in [name for name, _ in reference.listed("transports")]


built = pytest.mark.skipif(not is_built(), reason="this build has no foreign stacks: make stacks")


@pytest.mark.skipif(is_built(), reason="this build has foreign stacks")
@pytest.mark.parametrize("transport", ["quic/quinn", "webrtc/str0m"])
def test_a_stack_that_is_absent_is_named_with_the_command_that_builds_it(transport):
    with pytest.raises(fairwave.ScenarioError, match="make stacks"):
        scenario(transport)
    with pytest.raises(LookupError, match="make stacks"):
        fairwave.explain(transport)


@pytest.mark.skipif(is_built(), reason="this build has foreign stacks")
def test_a_controller_that_is_absent_is_named_with_the_command_that_builds_it():
    with pytest.raises(fairwave.ScenarioError, match="make stacks"):
        scenario({"name": "webrtc", "control": "goog-cc"}, "media")
    with pytest.raises(LookupError, match="make stacks"):
        fairwave.explain("goog-cc")


@built
@pytest.mark.parametrize(("transport", "traffic"), [("quic/quinn", "bulk"), ("webrtc/str0m", "media")])
def test_the_same_scenario_and_seeds_give_the_same_results_on_any_number_of_threads(transport, traffic):
    one, many = (scenario(transport, traffic).replicate(3, threads=threads) for threads in (1, 3))
    for table in set(one.tables) - {"work"}:
        assert one.to_polars(table).equals(many.to_polars(table)), table
    assert one.to_polars("flows")["goodput_bps"].n_unique() == 3


@built
def test_the_controller_goog_cc_runs_a_session():
    runs = scenario({"name": "webrtc", "control": "goog-cc"}, "media").replicate(2)
    assert runs.to_polars("flows")["goodput_bps"].min() > 0


@built
def test_fair_queueing_saves_the_call_from_a_quinn_download():
    runs = fairwave.load(EXAMPLE).with_overrides({"duration": "25 s"})
    queues = [{"discipline": name, "capacity": {"bytes": 500_000}} for name in ("drop-tail", "fq-codel")]
    tail, fair = (
        runs.with_overrides({"link.isp>home.queue": queue}).run().measured("mos", "call").interval().mean
        for queue in queues
    )
    assert fair > tail + 0.2


def test_the_page_of_stacks_has_every_comparison_and_a_reason_for_each_difference():
    tomllib = pytest.importorskip("tomllib", reason="Python reads TOML from 3.11 on")
    from validation.compare import stacks

    page, measured = stacks.render(None), kept.read(stacks.KEPT)
    whys = tomllib.loads(stacks.WHYS.read_text(encoding="utf-8"))
    assert len(measured) == 8
    for one in measured:
        assert f"## {one['question']}\n\nMargin: {one['margin']}. Verdict: **{one['verdict']}**." in page
        if one["verdict"] == "differ":
            assert " ".join(whys[one["name"]]["why"].split()) in page
    (fast,) = [one["measured"] for one in measured if one["name"] == "speed"]
    assert fast["str0m"]["times faster than life"] >= 50
