"""The command line: what it prints, what it leaves, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from fairwave.cli import main
from fairwave.scenario import load
from fairwave.study.replication import Folder
from scenarios import CALLS


@pytest.fixture
def scenario(tmp_path):
    file = tmp_path / "calls.toml"
    file.write_text(CALLS)
    return str(file)


@pytest.fixture
def fairwave(monkeypatch, capsys):
    """Runs a command line; answers with exit status, standard output and standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["fairwave", *map(str, words)])
        try:
            main()
            status = 0
        except SystemExit as end:
            status = end.code or 0
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def test_run_shows_flows_and_links(fairwave, scenario):
    status, out, _ = fairwave("run", scenario, "-n", 2)
    assert status == 0
    assert "voice: 4 × voice over udp — 2 replications" in out
    assert "r1>r2" in out


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
    assert {"goodput_per_flow", "loss", "r_factor"} <= {row["measure"] for row in document["summary"]}


def test_a_flow_that_its_receivers_window_holds_back_is_told_of(fairwave, scenario):
    held = ("--set", "flow.files.transport={name='tcp/reno', receiver-window=2}")
    _, out, _ = fairwave("run", scenario, *held, "--json")
    shares = json.loads(out)["limited"]
    assert shares["files"]["receiver window"] > 0.7
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
    assert (out / "index.html").read_text(encoding="utf-8").count("<svg") == 2
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
    process = subprocess.Popen(
        [sys.executable, "-m", "fairwave", *words],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # As at a keyboard, even where the tests themselves run with the signal ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    try:
        assert process.stderr is not None
        while not list(out.glob(".cache/*.arrow")):
            assert process.poll() is None, process.stderr.read()
            os.sched_yield()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "what had finished is kept" in err
    assert not (out / "flows.parquet").exists()
    digest = load(scenario).with_overrides({"duration": "20 s"}).hash
    assert any(Folder(out / ".cache").get(digest, seed) for seed in range(1, 5001))


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


def test_schema_is_json(fairwave):
    _, out, _ = fairwave("schema")
    assert "properties" in json.loads(out)


def test_version(fairwave):
    from fairwave import __version__

    assert fairwave("--version")[1].strip() == f"fairwave {__version__}"


def test_compare_carries_a_recording_of_ones_own(fairwave, scenario, tmp_path, monkeypatch):
    import io
    import wave

    import numpy as np

    # Half a second of noise, half a second of silence, over and over: talkspurts without a voice.
    draw = np.random.default_rng(1)
    spurt = np.concatenate([draw.normal(0, 3000, 4000), np.zeros(4000)])
    recording = tmp_path / "own.wav"
    with wave.open(str(recording), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(np.tile(spurt, 6).astype("<i2").tobytes())
    monkeypatch.setattr("fairwave.speech.score.visqol_is_there", lambda: False)
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
    with wave.open(io.BytesIO((out / "audio-2-udp.wav").read_bytes())) as heard:
        samples = np.frombuffer(heard.readframes(heard.getnframes()), "<i2")
    assert np.abs(samples).max() > 1000


def test_a_playout_buffer_that_is_none_is_refused(fairwave, scenario, tmp_path):
    status, _, err = fairwave(
        "compare", scenario, "--over", "udp", "--playout", "soon", "--out", tmp_path / "out"
    )
    assert status == 2
    assert "must be adaptive, or a fixed delay such as '100 ms'" in err
