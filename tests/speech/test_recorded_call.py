"""The audible call is the scenario's call: its flow, its unchanged properties, and its measures."""

import html
import re
import wave

import numpy as np
import polars as pl
import pytest
from speech_material import phrases, snr_db

from fairwave.answers.lines import lines
from fairwave.measuring import measures
from fairwave.results import Results
from fairwave.scenario import Scenario, load
from fairwave_report import call
from fairwave_report.recorded_call import RecordedCall, packet_time
from fairwave_speech import Recording, SpeechError

SPEECH = Recording(phrases(6.0))

CALLS = """
name = "calls"
duration = "8 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "300 kb/s", delay = "20 ms" }

[[flow]]
name = "voice"
transport = "udp"
traffic = { kind = "voice", codec = "g726-32" }

[[flow]]
name = "files"
transport = "tfrc"
traffic = "bulk"
"""


def calls(**overrides: object) -> Scenario:
    return load(CALLS).with_overrides({path.replace("__", "."): value for path, value in overrides.items()})


def heard(scenario: Scenario) -> RecordedCall:
    return RecordedCall.choose(SPEECH, scenario, "voice")


def flow(one: RecordedCall) -> dict:
    return next(flow for flow in one.scenario.to_dict()["flow"] if flow["name"] == one.name)


def compared(one: RecordedCall) -> Results:
    from fairwave.runs.grid import Grid

    axes = {
        "transport": {
            name: {f"flow.{group}.transport": name for group in one.changed} for name in ("udp", "tfrc")
        }
    }
    return Grid("compare", one.scenario, axes).run([1, 2])


def test_the_only_call_stays_in_its_group() -> None:
    one = heard(calls())
    assert [flow.get("count", 1) for flow in one.scenario.to_dict()["flow"]] == [1, 1]
    assert [flow["name"] for flow in one.scenario.to_dict()["flow"]] == ["voice", "files"]
    found = lines(one.merge_group(compared(one)), "transport", "voice")
    assert {"mos", "loss", "delay", "mouth-to-ear"} <= {
        line.measure.id for line in found if line.group == "voice"
    }


def test_of_several_calls_one_is_heard_and_the_group_is_measured_over_all() -> None:
    one = heard(calls(flow__voice__count=4))
    counts = {flow["name"]: flow.get("count", 1) for flow in one.scenario.to_dict()["flow"]}
    assert counts == {"voice": 3, "heard": 1, "files": 1}
    results = compared(one)
    whole = one.merge_group(results)
    assert results.to_polars("flows")["group"].cast(pl.String).unique(maintain_order=True).to_list() == [
        "voice", "heard", "files",
    ]  # fmt: skip
    mine = results.to_polars("flows").filter(pl.col("group").cast(pl.String) != "files")
    numbers = whole.to_polars("flows").filter((pl.col("run") == 0) & (pl.col("group") == "voice"))["flow"]
    assert numbers.to_list() == [0, 1, 2, 3]
    for measure, column in ((measures.mos, "mos"), (measures.goodput_per_flow, "goodput_bps")):
        expected = mine.group_by("run", maintain_order=True).agg(pl.col(column).mean())[column]
        scale = 1e-3 if column == "goodput_bps" else 1.0
        assert measure("voice").compute(whole).frame["value"].to_list() == pytest.approx(
            (expected * scale).to_list()
        )
    x = mine.group_by("run", maintain_order=True).agg(pl.col("goodput_bps"))["goodput_bps"]
    jain = [float(np.sum(one) ** 2 / (len(one) * np.square(one).sum())) for one in map(np.array, x)]
    assert measures.fairness("voice").compute(whole).frame["value"].to_list() == pytest.approx(jain)
    # An index is each flow's timely units over its sent ones, and the audible call counts among them.
    timely = results.to_polars("timeliness").filter(
        (pl.col("group").cast(pl.String) != "files") & (pl.col("reading").cast(pl.String) == "delay")
    )
    shares = timely.join(mine.select("run", "group", "flow", "units_sent"), on=["run", "group", "flow"])
    means = shares.group_by("run", maintain_order=True).agg((pl.col("timely") / pl.col("units_sent")).mean())
    assert measures.index("voice", "delay").compute(whole).frame["value"].to_list() == pytest.approx(
        means["timely"].to_list()
    )
    # Measures of other groups are unchanged.
    assert (
        measures.goodput("files")
        .compute(whole)
        .frame.equals(measures.goodput("files").compute(results).frame)
    )


@pytest.mark.parametrize(
    ("traffic", "seconds", "payload"),
    [
        ({"codec": "g711"}, 0.02, 160),
        ({"codec": "g729", "packet-time": "40 ms"}, 0.04, 40),
        ({"codec": "g723.1-6.3"}, 0.03, 24),
        ({"codec": "amr-12.2", "payload": "63 B"}, 0.04, 63),
        ({"codec": "g711", "payload": "172 B", "packet-time": "20 ms"}, 0.02, 172),
    ],
)
def test_codec_and_packets_are_the_scenarios(traffic: dict, seconds: float, payload: int) -> None:
    one = heard(calls(flow__voice__traffic={"kind": "voice", **traffic}))
    assert one.script.frame_s == pytest.approx(seconds)
    assert flow(one)["traffic"]["codec"] == traffic["codec"]
    units = one.units(one.scenario.run(1), 0)
    assert units["payload"].unique().to_list() == [payload]
    # Hosts have a clock skew.
    assert np.diff(units["created_s"].to_numpy()).min() == pytest.approx(seconds, rel=0.01)
    assert measures.mos("voice").compute(one.scenario.run(1)).frame["value"][0] is not None


def test_whoever_sends_silence_sends_it_when_heard() -> None:
    silent = heard(calls(flow__voice__traffic={"kind": "voice", "always-on": False}))
    usual = heard(calls(flow__voice__traffic={"kind": "voice", "codec": "g711"}))
    always = heard(calls(flow__voice__traffic={"kind": "voice", "always-on": True}))
    assert len(silent.script.talk) > 1
    assert always.script.talk.tolist() == usual.script.talk.tolist() == [[0, 300]]
    assert always.script.repeat_after == 300, "without a pause before it begins again"


def test_concealment_is_the_scenarios() -> None:
    assert heard(calls()).concealment == "appendix-i"
    assert heard(calls(flow__voice__concealment="none")).concealment == "silence"


def test_a_scenarios_own_recordings_of_units_stay() -> None:
    one = heard(calls(record__units=["files"]))
    assert one.scenario.to_dict()["record"]["units"] == ["files", "voice[0]"]
    units = one.units(one.scenario.run(1), 0)
    assert units["flow"].cast(pl.String).unique().to_list() == ["voice[0]"]


def test_the_heard_call_has_the_way_of_the_call_that_it_replaces() -> None:
    spelled = calls(flow__voice__count=3).expand_preset()
    one = heard(spelled)
    assert (flow(one)["from"], flow(one)["to"]) == ("voice-s2", "voice-d2")
    hops = """
name = "hops"
duration = "2 s"
topology = { preset = "multi-hop", hops = 3, bottleneck = { rate = "1 Mb/s", delay = "1 ms" } }

[[flow]]
name = "voice"
path = "each-hop"
transport = "udp"
traffic = "voice"
"""
    ways = {way["name"]: way["forward"] for way in load(hops).plan()["flows"]}
    now = {
        way["name"]: way["forward"]
        for way in RecordedCall.choose(SPEECH, load(hops), "voice").scenario.plan()["flows"]
    }
    assert now["heard[0]"] == ways["voice[2]"]
    assert [now[f"voice[{i}]"] for i in range(2)] == [ways[f"voice[{i}]"] for i in range(2)]


def test_of_calls_that_begin_one_after_the_other_the_last_is_heard() -> None:
    one = heard(calls(flow__voice__count=3, flow__voice__start={"from": "1 s", "every": "500 ms"}))
    begins = {way["name"]: way["start_s"] for way in one.scenario.plan()["flows"]}
    assert (begins["voice[1]"], begins["heard[0]"]) == (1.5, 2.0)


def test_a_scenario_with_a_group_of_that_name_keeps_it() -> None:
    one = heard(load(CALLS.replace('"files"', '"heard"')).with_overrides({"flow.voice.count": 2}))
    assert one.name == "heard-call"
    assert {flow["name"] for flow in one.scenario.to_dict()["flow"]} == {"voice", "heard-call", "heard"}


def test_calls_whose_number_follows_from_a_load_cannot_be_heard() -> None:
    with pytest.raises(SpeechError, match=r"\[load\].*count"):
        heard(calls(load={"total": "256 kb/s", "shares": {"voice": 100}}))


def test_a_group_without_calls_cannot_be_heard() -> None:
    with pytest.raises(SpeechError, match="no flows; give it a count"):
        heard(calls(flow__voice__count=0))


def test_packets_that_are_no_whole_samples_cannot_be_heard() -> None:
    with pytest.raises(SpeechError, match="packet-time = '20 ms'"):
        packet_time({"codec": "g711", "payload": "160 B", "packet-time": "20.03 ms"})


def test_what_is_heard_is_coded_by_the_scenarios_codec() -> None:
    def noise(codec: str) -> float:
        one = heard(
            calls(
                flow__voice__traffic={"kind": "voice", "codec": codec, "always-on": True, "phase": "zero"},
                flow__voice__playout={"strategy": "fixed", "delay": "100 ms"},
                flow__files__count=0,
            )
        )
        results = compared(one)
        clips, said = call.clips(
            one, results, "transport", ["udp"], 1, {"strategy": "fixed", "delay": "100 ms"}
        )
        assert any(codec in line for line in said)
        original, over_udp = (np.frombuffer(clip.wav[44:], "<i2").astype(np.int32) for clip in clips)
        return snr_db(original, over_udp)

    g711, fine, coarse = (noise(codec) for codec in ("g711", "g726-40", "g726-16"))
    assert g711 > fine + 1.0
    assert fine > coarse + 5.0
    assert noise("ilbc-20") == pytest.approx(g711, abs=0.2), "G.711 stands in for what cannot be coded"


def shown(page: str) -> Scenario:
    found = re.search(r"<pre tabindex=\"0\">(.*?)</pre>", page, re.DOTALL)
    assert found is not None
    return load(html.unescape(found[1]))


@pytest.mark.parametrize("count", [1, 3])
def test_page_and_terminal_show_the_scenario_that_ran_and_say_how_it_is_heard(
    count, tmp_path, monkeypatch, capsys
) -> None:
    import sys

    from fairwave.cli import main

    monkeypatch.setattr("fairwave_speech.score.is_visqol_installed", lambda: False)
    recording = tmp_path / "own.wav"
    with wave.open(str(recording), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(SPEECH.samples.astype("<i2").tobytes())
    path = tmp_path / "calls.toml"
    path.write_text(
        CALLS.replace("g726-32", "ilbc-20").replace('name = "voice"', f'name = "voice"\ncount = {count}')
    )
    out = tmp_path / "out"
    words = ["compare", path, "--over", "udp,tfrc", "-n", 2, "--out", out, "--speech", recording]
    monkeypatch.setattr(sys, "argv", ["fairwave", *map(str, words)])
    try:
        main()
    except SystemExit as end:
        assert not end.code  # noqa: PT017  # a command ends by it
    printed = capsys.readouterr()
    page = (out / "index.html").read_text(encoding="utf-8")
    remark = "heard as G.711: no coder for ilbc-20 here"
    assert remark in " ".join(printed.err.split())
    assert remark in page
    ran = Results.load(out).to_polars("runs")
    groups = ["voice"] if count == 1 else ["voice", "heard"]
    for transport in ("udp", "tfrc"):
        overrides = {f"flow.{group}.transport": transport for group in groups}
        hashes = ran.filter(pl.col("transport") == transport)["scenario"].cast(pl.String).unique().to_list()
        assert hashes == [shown(page).with_overrides(overrides).hash]
