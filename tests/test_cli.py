"""The command line: its output, its files, and its exit status."""

import json
import re
import signal
import subprocess
import sys
import time

import pytest

from fairwave.measuring.measures import CAUSES
from fairwave.runs.keeping import Folder
from fairwave.scenario import load
from scenarios import CALLS


@pytest.fixture
def scenario(tmp_path):
    file = tmp_path / "calls.toml"
    file.write_text(CALLS)
    return str(file)


def test_run_shows_flows_and_links(fairwave, scenario):
    status, out, _ = fairwave("run", scenario, "-n", 2)
    assert status == 0
    assert "voice: 4 × voice (speakers talk all the time) over udp — 2 replications" in out
    assert "r1>r2" in out


def test_run_says_what_the_rating_is_made_of(fairwave, scenario):
    _, out, _ = fairwave("run", scenario, "-n", 2)
    assert "late for playout (%)" in out
    assert "mouth to ear (ms)" in out
    told = re.search(r"^R (\d+): (.*)$", out, re.MULTILINE)
    assert told is not None
    assert re.fullmatch(r"\w+ costs \d+ points?(, \w+ \d+)*", told[2])
    _, out, _ = fairwave("run", scenario, "-n", 2, "--json")
    flows = [flow for flow in json.loads(out)["flows"] if flow["group"] == "voice"]
    points = [flow["r_factor"] + sum(flow[f"r_cost_{cause}"] for cause in CAUSES) for flow in flows]
    assert points == pytest.approx([93.2] * len(points), abs=0.1)


def test_run_leaves_tables_that_are_read_back(fairwave, scenario, tmp_path):
    from fairwave.results import Results

    status, _, _ = fairwave("run", scenario, "--out", tmp_path / "out", "--record", "voice[0]", "--seed", 5)
    assert status == 0
    results = Results.load(tmp_path / "out")
    assert results.provenance.seeds == (5,)
    assert results.provenance.command.startswith("fairwave run")
    assert results.units.num_rows > 0


def test_json_is_one_document_and_nothing_else(fairwave, scenario):
    status, out, _ = fairwave("run", scenario, "--json")
    assert status == 0
    document = json.loads(out)
    assert document["scenario"] == "calls"
    assert {"goodput-per-flow", "loss", "r-factor"} <= {row["measure"] for row in document["summary"]}


def test_a_flow_that_its_receivers_window_holds_back_is_told_of(fairwave, scenario):
    held = ("--set", "flow.files.transport={name='tcp/reno', preset='rfc', receiver-window=2}")
    _, out, _ = fairwave("run", scenario, *held, "--json")
    shares = json.loads(out)["limited"]
    assert next(iter(shares["files"])) == "receiver window", "what held it back longest comes first"
    assert sum(shares["files"].values()) == pytest.approx(1.0, abs=0.01)
    assert shares["voice"] == {}, "nothing holds UDP back"
    _, out, _ = fairwave("run", scenario, *held)
    assert re.search(r"limited by \(time\).*\d+% receiver window", out)


def test_settings_change_any_key(fairwave, scenario):
    _, out, _ = fairwave("check", scenario, "--set", "flow.voice.count=9", "--set", "duration=2 s", "--json")
    assert (json.loads(out)["flows"], json.loads(out)["duration_s"]) == (10, 2.0)


def test_compare_leaves_page_and_intervals(fairwave, scenario, tmp_path):
    out = tmp_path / "out"
    words = ("compare", scenario, "--over", "udp,tfrc", "-n", 3, "--out", out, "--no-audio", "--json")
    status, printed, _ = fairwave(*words)
    assert status == 0
    rows = {
        (row["measure"], row["transport"]): row
        for row in json.loads(printed)["comparison"]
        if row["group"] == "voice"
    }
    loss = rows["loss", "tfrc"]
    assert loss["interval"][0] <= loss["mean"] <= loss["interval"][1]
    assert rows["loss", "udp"]["difference_to_udp"] == 0
    svgs = (out / "index.html").read_text(encoding="utf-8").count("<svg")
    assert svgs == 6, "what users get, what it does to others, and four of how the runs are spread"
    assert (out / "flows.parquet").exists()


def test_compare_takes_the_group_with_voice_unless_told(fairwave, scenario, tmp_path):
    out = tmp_path / "out"
    _, printed, _ = fairwave("compare", scenario, "--over", "udp", "--no-audio", "-n", 2, "--out", out)
    assert "\nvoice " in printed
    assert "MOS (E-model)" in printed
    status, _, err = fairwave("compare", scenario, "--over", "udp", "--flow", "vice", "--out", out)
    assert status == 2
    assert "no flow group 'vice'; it has voice, files" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "nowhere.toml"), "no scenario file 'nowhere.toml'"),
        (("run", "{scenario}", "--set", "flow.voice.transport=upd"), "did you mean `udp`?"),
        (("run", "{scenario}", "--set", "count"), "--set takes KEY=VALUE"),
        (("run", "{scenario}", "-n", "0"), "must be 1 or more"),
        (("run", "{scenario}", "--set", "topology.bottleneck.rate=0 b/s"), "rate"),
        (("run", "{scenario}", "--set", "flow.voice.count=1000000000"), "flows"),
        (("compare", "{scenario}", "--over", ","), "--over names no transport"),
        (("compare", "{scenario}", "--over", "upd"), "did you mean `udp`?"),
        (("compare", "{scenario}", "--over", "udp", "--speech", "nowhere.wav"), "nowhere.wav"),
        (("study", "vice"), "no study 'vice'"),
        (("list", "things"), "there is no list of 'things'"),
        (("check", "{scenario}", "--no-such-option"), "--no-such-option"),
        (("dance",), "dance"),
    ],
)
def test_bad_input_ends_with_status_2_and_a_remedy(fairwave, scenario, tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    status, out, err = fairwave(*(word.format(scenario=scenario) for word in words))
    assert status == 2
    assert says in err
    assert "Traceback" not in err
    assert out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["calls.toml"]


def test_a_folder_that_cannot_be_written_is_named(fairwave, scenario, tmp_path):
    (tmp_path / "file").write_text("in the way")
    status, _, err = fairwave("run", scenario, "--out", tmp_path / "file" / "out")
    assert status == 2
    assert "file" in err


def test_ctrl_c_ends_with_status_130_and_keeps_what_had_finished(scenario, tmp_path):
    out = tmp_path / "out"
    words = ("run", scenario, "-n", "5000", "--set", "duration=20 s", "--out", str(out))
    digest = load(scenario).with_overrides({"duration": "20 s"}).hash
    process = subprocess.Popen(
        [sys.executable, "-m", "fairwave", *words],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # As at a keyboard, even if the tests run with the signal ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    try:
        assert process.stderr is not None
        while not Folder(out / ".cache").get(digest, 1):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "what had finished is kept" in err
    assert not (out / "flows.parquet").exists()
    assert Folder(out / ".cache").get(digest, 1)


def test_list_names_everything(fairwave):
    status, out, _ = fairwave("list", "--json")
    assert status == 0
    assert {"transports", "queues", "losses", "traffic", "measures", "studies"} <= set(json.loads(out))


def test_check_expands_to_what_a_run_executes(fairwave, scenario):
    _, out, _ = fairwave("check", scenario, "--expand", "--json")
    plan = json.loads(out)
    assert [flow["name"] for flow in plan["flows"]] == [
        "voice[0]",
        "voice[1]",
        "voice[2]",
        "voice[3]",
        "files[0]",
    ]
    assert all(flow["forward"] for flow in plan["flows"])


def test_a_queue_that_idles_the_link_under_udp_is_warned_of(fairwave, scenario):
    for command in ("check", "run"):
        avq = ("--set", "topology.bottleneck.queue.discipline=avq")
        status, out, err = fairwave(command, scenario, *avq)
        assert status == 0
        assert "warning: r1>r2: " in err
        assert 'preset = "ns2"' in err
        assert "warning" not in out
        _, _, err = fairwave(command, scenario, *avq, "--set", "topology.bottleneck.queue.preset=ns2")
        assert "warning" not in err


def test_schema_is_json(fairwave):
    _, out, _ = fairwave("schema")
    assert "properties" in json.loads(out)


def test_version(fairwave):
    from fairwave import __version__

    assert fairwave("--version")[1].strip() == f"fairwave {__version__}"


@pytest.fixture
def recording(tmp_path, monkeypatch):
    """Half a second of noise, half a second of silence, repeated: talkspurts without a voice."""
    import numpy as np

    from fairwave_speech import audio

    draw = np.random.default_rng(1)
    spurt = np.concatenate([draw.normal(0, 3000, 4000), np.zeros(4000)])
    monkeypatch.setattr("fairwave_speech.score.is_visqol_installed", lambda: False)
    return audio.write(tmp_path / "own.wav", np.tile(spurt, 6).astype(np.int16))


def loudest(clip):
    """The greatest amplitude of a clip."""
    import numpy as np

    from fairwave_speech import audio

    return np.abs(audio.read(clip).samples.astype(int)).max()


def test_compare_carries_a_recording_of_ones_own(fairwave, scenario, tmp_path, recording):
    out = tmp_path / "out"
    words = (
        "compare",
        scenario,
        "--over",
        "udp,tfrc",
        "-n",
        2,
        "--out",
        out,
        "--speech",
        recording,
        "--json",
    )
    status, printed, err = fairwave(*words)
    assert status == 0, err
    assert json.loads(printed)["audio"] == ["The original", "UDP", "TFRC"]
    page = (out / "index.html").read_text(encoding="utf-8")
    assert page.count("<audio") == 3
    assert "One call, packet by packet" in page
    assert loudest(out / "audio-2-udp.wav") > 1000


def test_run_carries_a_recording_of_ones_own(fairwave, scenario, tmp_path, recording):
    out = tmp_path / "out"
    status, printed, err = fairwave("run", scenario, "--out", out, "--speech", recording, "-n", 2)
    assert status == 0, err
    assert "page with audio:" in err
    page = (out / "index.html").read_text(encoding="utf-8")
    assert page.count("<audio") == 2
    assert "As it is heard" in page
    assert loudest(out / "audio-1-the-original.wav") > 1000
    assert loudest(out / "audio-2-as-it-is-heard.wav") > 1000
    assert "× voice" in printed, "the call that is heard counts among its group"
    assert "heard: " not in printed


def test_a_recording_needs_a_call_that_says_it(fairwave, scenario, tmp_path, recording):
    given = ("--out", tmp_path / "out", "--speech", recording)
    status, _, err = fairwave("run", scenario, *given, "--set", "flow.voice.traffic=video")
    assert (status, "--speech needs a call" in err) == (2, True), err


def test_a_playout_buffer_that_is_none_is_refused(fairwave, scenario, tmp_path):
    status, _, err = fairwave(
        "compare", scenario, "--over", "udp", "--playout", "soon", "--out", tmp_path / "out"
    )
    assert status == 2
    assert "must be neteq, adaptive, or a fixed delay such as '100 ms'" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "{scenario}", "--seed", "-1"), "--seed is -1, but must be a whole number from 0"),
        (("compare", "{scenario}", "--over", "udp", "--seed", "-1"), "--seed is -1"),
        (("check", "{scenario}", "--seed", "-1"), "--seed is -1"),
        (("run", "{scenario}", "--seed", str(2**63 - 1), "-n", "2"), "--seed is"),
        (("run", "{scenario}", "--threads", "0"), "--threads is 0, but must be 1 or more"),
        (("compare", "{scenario}", "--over", "udp", "--threads", "0"), "--threads is 0"),
        (("compare", "{scenario}"), "--vary KEY=VALUE,VALUE for any key"),
        (("compare", "{scenario}", "--over", "udp", "--vary", "duration=1 s"), "compare needs what to vary"),
        (("compare", "{scenario}", "--vary", "flow.voice.cuont=1,2"), "cuont"),
        (("sweep", "{scenario}"), "sweep needs --grid"),
        (("sweep", "{scenario}", "--grid", "duration=1 s", "--until", "mos"), "MEASURE:±HALF-WIDTH"),
        (("find", "{scenario}", "--vary", "duration", "--until", "mos >= 3"), "KEY=LOW..HIGH"),
        (("find", "{scenario}", "--vary", "flow.voice.count=1..9", "--until", "mos"), "MEASURE >= NUMBER"),
        (("find", "{scenario}", "--vary", "flow.voice.count=1..9", "--until", "mos.vice > 1"), "'voice'"),
        (("explain", "vegs"), "did you mean vegas"),
        (("list", "preset"), "presets"),
        (("run", "{scenario}", "--set", "topology.bottleneck.rate=['1 Mb/s','20 Mb/s']"), 'from = "1 Mb/s"'),
        (("run", "{scenario}", "--set", "flow.voice.start=['1 s','5 s']"), 'from = "1 s", to = "5 s"'),
    ],
)
def test_mistakes_in_what_is_asked_are_told_in_words(fairwave, scenario, tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    status, out, err = fairwave(*(word.format(scenario=scenario) for word in words))
    assert status == 2
    assert says in err
    assert "Traceback" not in err
    assert out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["calls.toml"]


def test_a_scenario_comes_from_standard_input(fairwave, monkeypatch):
    import io

    class Piped:
        def __init__(self, text):
            self.buffer = io.BytesIO(text.encode())

    for command in ("check", "run"):
        monkeypatch.setattr(sys, "stdin", Piped(CALLS))
        status, out, err = fairwave(command, "-", "--json")
        assert status == 0, err
        assert json.loads(out)
    monkeypatch.setattr(sys, "stdin", Piped('name = "x"\nduration = 5'))
    status, _, err = fairwave("check", "-")
    assert status == 2
    assert "-:2:12" in err


def test_a_file_that_is_too_large_is_refused_before_it_is_read(fairwave, tmp_path):
    import time

    huge = tmp_path / "huge.toml"
    with huge.open("wb") as file:
        file.truncate(3_000_000_000)
    before = time.process_time()
    status, _, err = fairwave("check", huge)
    assert status == 2
    assert "has 3000 MB, but a scenario at most 50 MB" in err
    assert time.process_time() - before < 1.0
    status, _, err = fairwave("check", "/dev/zero")
    assert status == 2
    assert "more than 50 MB" in err


def test_one_folder_belongs_to_one_piece_of_work(fairwave, scenario, tmp_path):
    out = tmp_path / "out"
    assert fairwave("run", scenario, "--out", out)[0] == 0
    kept = (out / "flows.parquet").read_bytes()
    assert fairwave("run", scenario, "--out", out)[0] == 0, "the same again is fine"
    status, _, err = fairwave("compare", scenario, "--over", "udp", "-n", 1, "--no-audio", "--out", out)
    assert status == 2
    assert "holds the run of 'calls' (fairwave run" in err
    assert (out / "flows.parquet").read_bytes() == kept
    words = ("compare", scenario, "--over", "udp", "-n", 1, "--no-audio", "--out", out, "--overwrite")
    assert fairwave(*words)[0] == 0


def test_a_page_that_is_not_ours_stays(fairwave, scenario, tmp_path):
    page = tmp_path / "out" / "index.html"
    page.parent.mkdir()
    page.write_text("my own page")
    status, _, err = fairwave(
        "compare", scenario, "--over", "udp", "-n", 1, "--no-audio", "--out", page.parent
    )
    assert status == 2
    assert "not written by fairwave" in err
    assert page.read_text() == "my own page"


def test_ctrl_c_without_a_folder_promises_nothing(fairwave, scenario, tmp_path, monkeypatch):
    from fairwave import _native, folders

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_native, "Batch", interrupted)
    monkeypatch.setattr(folders, "_last", [])
    status, _, err = fairwave("run", scenario)
    assert status == 130
    assert "nothing is kept without a folder" in err
    assert "what had finished is kept" not in err
    status, _, err = fairwave("run", scenario, "--out", tmp_path / "out")
    assert status == 130
    assert f"what had finished is kept in {tmp_path / 'out'}" in err


def test_compare_varies_any_key(fairwave, scenario, tmp_path):
    out = tmp_path / "out"
    queues = "topology.bottleneck.queue=drop-tail,{ discipline = 'codel', capacity = { packets = 20 } }"
    status, printed, err = fairwave("compare", scenario, "--vary", queues, "-n", 2, "--out", out, "--json")
    assert status == 0, err
    document = json.loads(printed)
    assert document["axis"] == "queue"
    assert [row["queue"] for row in document["comparison"] if row["measure"] == "mos"] == list(
        document["alternatives"]
    )
    assert (out / "index.html").exists()


def test_compare_varies_several_keys_in_every_combination(fairwave, scenario, tmp_path):
    words = ("--vary", "flow.voice.count=2,3", "--vary", "flow.files.transport=tfrc,tcp/reno")
    status, printed, err = fairwave(
        "compare", scenario, *words, "-n", 2, "--no-audio", "--out", tmp_path / "out", "--json"
    )
    assert status == 0, err
    document = json.loads(printed)
    assert list(document["alternatives"]) == [
        f"voice.count = {count}, files.transport = {name}"
        for count in (2, 3)
        for name in ("tfrc", "tcp/reno")
    ]
    assert document["alternatives"]["voice.count = 3, files.transport = tfrc"] == {
        "flow.voice.count": 3,
        "flow.files.transport": "tfrc",
    }


def test_sweep_and_find_answer_in_tables_and_as_json(fairwave, scenario, tmp_path):
    grid = (
        "sweep",
        scenario,
        "--grid",
        "flow.voice.count=2,4",
        "--until",
        "loss.voice:±0.001",
        "-n",
        2,
        "--most",
        3,
    )
    status, out, _ = fairwave(*grid, "--out", tmp_path / "sweep")
    assert status == 4
    assert re.search(r"^2 +\S.* 3\n +\S+ !", out, re.MULTILINE), "the cell takes two lines"
    assert "! less precise than loss.voice ± 0.001 after 3 runs" in out
    assert (tmp_path / "sweep" / "flows.parquet").exists()
    _, out, _ = fairwave(*grid, "--json")
    assert [point["reached"] for point in json.loads(out)["points"]] == [False, False]
    search = (
        "find",
        scenario,
        "--vary",
        "flow.voice.count=1..9",
        "--until",
        "loss.voice <= 60",
        "-n",
        4,
        "--most",
        4,
    )
    status, out, _ = fairwave(*search, "--out", tmp_path / "find")
    assert status == 0
    assert "loss.voice <= 60 % holds " in out
    assert "95 % confidence for the answer as a whole" in out
    answer = json.loads((tmp_path / "find" / "answer.json").read_text())
    assert answer["condition"] == "loss.voice <= 60"
    assert answer["tested"][0]["value"] == 1


def test_presets_are_listed_and_explained(fairwave):
    _, out, _ = fairwave("list", "presets")
    assert "two-bottleneck" in out
    status, out, _ = fairwave("explain", "red")
    assert status == 0
    assert "Floyd & Jacobson 1993" in out
    assert "max-threshold" in out
    example = out[out.index('name = "example"') :]
    assert load(example.strip() + "\n").plan()["links"]
    assert json.loads(fairwave("explain", "g729", "--json")[1])[0]["kind"] == "codecs"


def test_check_tells_load_bandwidth_delay_products_and_likely_mistakes(fairwave, scenario):
    _, out, _ = fairwave("check", scenario)
    assert re.search(r"r1>r2 +300 kb/s +107% \+ 1 bulk +60 +2\.25 +50", out)
    assert "likely mistake: r1>r2 is offered 320 kb/s" in out
    _, out, _ = fairwave("check", scenario, "--json")
    advice = json.loads(out)["advice"]
    assert advice["links"][0]["link"] == "r1>r2"
    assert len(advice["likely_mistakes"]) == 2


def test_help_has_examples_that_name_commands_and_options_that_exist(fairwave):
    for command in ("run", "compare", "sweep", "find", "study", "list", "explain", "check"):
        status, out, _ = fairwave(command, "--help")
        assert status == 0
        assert "Examples:" in out
        assert f"fairwave {command}" in out
        options = set(re.findall(r"--[a-z]+", out.split("Examples:")[0]))
        assert set(re.findall(r"--[a-z]+", out.split("Examples:")[1])) <= options


def test_run_draws_network_series_and_the_call_on_a_page(fairwave, scenario, tmp_path):
    out = tmp_path / "out"
    status, _, err = fairwave("run", scenario, "-n", 2, "--out", out)
    assert status == 0, err
    page = (out / "index.html").read_text(encoding="utf-8")
    for title in ("The network", "Over time", "The call voice[0], packet by packet"):
        assert title in page
    assert page.count("<svg") == 3
    assert sorted(path.name for path in (out / "figures").glob("*.png")) == [
        "call.png",
        "network.png",
        "series.png",
    ]
    drawn = (out / "figures" / "network.csv").read_text()
    assert '"r1>r2"' in drawn or "r1>r2" in drawn
    # The tables show the requested runs, not the drawn one.
    from fairwave.results import Results

    assert Results.load(out).provenance.seeds == (1, 2)
    assert "units" not in Results.load(out).tables
    status, _, _ = fairwave("run", scenario, "--no-page", "--out", tmp_path / "plain")
    assert status == 0
    assert not (tmp_path / "plain" / "index.html").exists()


def test_hosts_that_are_alike_are_drawn_as_one_beside_what_they_hang_on(scenario):
    from fairwave_report.network_picture import layout

    stands, places = layout(load(scenario).plan())
    assert {stands[f"voice-s{i}"] for i in range(4)} == {"voice-s0"}
    assert places["voice-s0"].label == "voice-s0…3"
    across = [places[node].x for node in ("voice-s0", "r1", "r2", "voice-d0")]
    assert across == sorted(across)
    stands, places = layout(load("examples/contested-call.toml").plan())
    assert places[stands["ftp-s0"]].x == places["r2"].x, "they hang on the router within"
    _, places = layout(load("examples/home-uplink.toml").plan())
    assert places["phone"].x < places["home"].x < places["isp"].x < places["peer"].x


def test_run_compare_and_sweep_begin_with_the_verdict_and_what_decides_it(fairwave, scenario, tmp_path):
    rows = ("MOS (E-model)", "E-model R", "mouth to ear (ms)", "packets missed (%)")
    _, out, _ = fairwave("run", scenario, "-n", 2, "--out", tmp_path / "run")
    first = out.strip().splitlines()[0]
    assert re.match(r"The 4 calls of voice are (good|fair|poor|undecided)", first)
    table = out[out.index("voice: 4 × voice") :].splitlines()[2:6]
    assert [line.startswith(row) for line, row in zip(table, rows, strict=True)] == [True] * 4
    page = (tmp_path / "run" / "index.html").read_text(encoding="utf-8")
    assert first.split(":")[0].split(" (")[0] in page, "the page says the same"

    words = ("compare", scenario, "--over", "udp,tfrc", "-n", 2, "--no-audio", "--out", tmp_path / "compare")
    _, out, _ = fairwave(*words)
    assert re.match(r"Over .* the 4 calls are ", out.strip())
    shown = [line.strip() for line in out.split("\nvoice ")[1].splitlines()[1:] if line.startswith("  ")]
    assert [line.startswith(row) for line, row in zip(shown, rows, strict=False)] == [True] * 4

    _, out, _ = fairwave("sweep", scenario, "--grid", "flow.voice.count=2,4", "-n", 2)
    assert re.match(r"With voice\.count = \d", out.strip())
    assert "packets missed" in out


def test_the_papers_indices_and_jain_of_one_flow_are_shown_only_on_request(fairwave, scenario):
    _, out, _ = fairwave("run", scenario)
    assert "index" not in out
    assert out.count("fairness (Jain)") == 1, "of the four calls, not of the single download"
    _, out, _ = fairwave("run", scenario, "--measures", "mos,index-gap", "--measures", "fairness.files")
    assert "index (gap of arrivals)" in out
    assert "mouth to ear" not in out
    assert out.count("fairness (Jain)") == 1
    _, out, _ = fairwave("run", scenario, "--measures", "all")
    assert "index (gap by number)" in out
    _, out, _ = fairwave("run", scenario, "--json")
    document = json.loads(out)
    assert {"index-gap", "fairness", "missed"} <= {row["measure"] for row in document["summary"]}
    assert document["verdict"][0].startswith("The 4 calls of voice are ")


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ("moss", "did you mean 'mos'"),
        ("mos.vioce", "no flow group 'vioce'; it has voice, files; did you mean 'voice'?"),
        (",", "--measures names no measure"),
        ("utilisation.r1>r2", "not of links"),
    ],
)
def test_a_measure_that_does_not_exist_is_refused_before_the_run(fairwave, scenario, names, says):
    status, out, err = fairwave("run", scenario, "--measures", names)
    assert (status, out) == (2, "")
    assert says in err


def test_a_comparison_of_competitors_says_which_key_was_varied(fairwave, scenario, tmp_path):
    words = ("--vary", "flow.files.transport=tcp/cubic,tcp/vegas", "-n", 2, "--no-audio")
    _, out, _ = fairwave("compare", scenario, *words, "--out", tmp_path / "out")
    assert re.match(r"With files\.transport = tcp/\w+( and tcp/\w+)? the 4 calls are ", out.strip())
    assert "Over " not in out


FILE = """
name = "a file"
duration = "20 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "10 Mb/s", delay = "20 ms" }
[[flow]]
name = "backup"
transport = "tcp/cubic"
traffic = { kind = "transfer", size = "1 MB" }
"""


def test_a_file_has_a_completion_time_and_no_rating(fairwave, tmp_path):
    file = tmp_path / "file.toml"
    file.write_text(FILE)
    _, out, _ = fairwave("run", file, "-n", 2)
    assert re.match(r"The file of backup takes [\d.]+ .*s, with .* Mb/s of goodput\.", out.strip())
    over = ("--vary", "topology.bottleneck.delay=10 ms,40 ms", "-n", 2, "--out", tmp_path / "out")
    _, compared, _ = fairwave("compare", file, *over)
    assert "completion time" in compared
    for told in (out, compared):
        assert not re.search(r"good\b|fair\b|poor|MOS|late |missed|fairness", told)
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "G.1010" not in page
    _, swept, _ = fairwave("sweep", file, "--grid", "topology.bottleneck.delay=10 ms,40 ms", "-n", 2)
    assert swept.strip().startswith("backup takes ")


def test_a_stream_that_waits_in_its_sender_is_not_called_good(fairwave, tmp_path):
    file = tmp_path / "stream.toml"
    stream = '{ kind = "cbr", rate = "12 Mb/s", payload = "1000 B" }'
    file.write_text(FILE.replace('{ kind = "transfer", size = "1 MB" }', stream))
    _, out, _ = fairwave("run", file)
    assert "The stream of backup is too late for a conversation: delay " in out


def test_what_waits_in_a_tcp_sender_is_missed_and_not_lost(fairwave, tmp_path):
    file = tmp_path / "call.toml"
    file.write_text(
        FILE.replace('{ kind = "transfer", size = "1 MB" }', '{ kind = "voice", always-on = true }')
    )
    cut = (
        "--set",
        "topology.bottleneck.rate=50 kb/s",
        "--set",
        "event=[{at='8 s', link='r1>r2', state='down'}]",
    )
    _, out, _ = fairwave("run", file, *cut)
    rows = dict(re.findall(r"^(packets missed|loss|overdue at the end) \(%\) +([\d.]+)", out, re.MULTILINE))
    assert float(rows["loss"]) == 0.0
    assert float(rows["packets missed"]) >= float(rows["overdue at the end"]) > 5.0
    assert out.strip().startswith("The call of backup is poor: MOS 1.00")
