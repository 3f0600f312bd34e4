"""Mistakes at the command line: each ends with one sentence that names the remedy, never with a traceback."""

import os
import struct
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

TEXT = """
name = "calls"
duration = "4 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }

[[flow]]
name = "voice"
count = 2
transport = "udp"
traffic = "voice"

[[flow]]
name = "download"
transport = "tcp/reno"
traffic = "bulk"
"""


CAPTURE = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101) + struct.pack("<IIII", 1, 0, 28, 28)
CAPTURE += struct.pack(">BBHIBBH", 0x45, 0, 28, 0, 64, 17, 0) + bytes(8) + struct.pack(">HHHH", 1, 2, 8, 0)
"""One datagram over raw IP."""


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """A scenario file, in the command's working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.toml").write_text(TEXT, encoding="utf-8")
    (tmp_path / "night.pcap").write_bytes(CAPTURE)
    (tmp_path / "good.key").write_text("a-key-for-the-tests\n", encoding="utf-8")
    (tmp_path / "short.key").write_text("short\n", encoding="utf-8")
    return "calls.toml"


def sentence(status, err):
    """The single error of a refused command, without a traceback."""
    errors = [line for line in err.splitlines() if line.startswith("error:")]
    assert status in (1, 2), (status, err)
    assert "Traceback" not in err, err
    assert len(errors) == 1, err
    return err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("sweep calls.toml --grid x=,,,", ["no value between its commas", "--grid flow.voice.count=5,10,20"]),
        ("compare calls.toml --vary flow.voice.count=,", ["no value between its commas"]),
        (f"find calls.toml --vary flow.voice.count=1..{'9' * 5000} --until mos>=3", ["LOW..HIGH", "'1..200"]),
        (f"compare calls.toml --vary flow.voice.count=1..{'9' * 5000}", ["no range of whole numbers"]),
        (f"run calls.toml --set flow.voice.count={'9' * 500}", ["`count`", "a whole number"]),
        (f"run calls.toml --set {'9' * 500}=1", ["unknown key"]),
        ("run calls.toml -n ten", ["--replications is 'ten'", "a whole number", "--replications 10"]),
        (f"run calls.toml -n {'9' * 5000}", ["(5000 characters)", "a whole number"]),
        ("shell calls.toml --for soon", ["--for is 'soon'", "a number", "--for 60"]),
        ("run calls.toml -n 0", ["--replications is 0", "1 or more", "--replications 10"]),
        ("sweep calls.toml --grid flow.voice.count=1 -n -1", ["--replications is -1", "1 or more"]),
        (
            "find calls.toml --vary flow.voice.count=1..3 --until mos>=3 --most 0",
            ["--most is 0", "1 or more"],
        ),
        ("live calls.toml --seed -1", ["--seed is -1", "a whole number from 0"]),
        ("shell calls.toml --seed -1", ["--seed is -1", "a whole number from 0"]),
        ("run calls.toml --set flow.voice.count 20", ["nothing takes '20'", "--set KEY=VALUE"]),
        ("compare calls.toml --over udp tcp/vegas", ["nothing takes 'tcp/vegas'", "--over udp,tcp/vegas"]),
        ("sweep calls.toml --grid flow.voice.count=1..20..5", ["no range of whole numbers", "5..20"]),
        (
            "find calls.toml --vary a=1..9 --until delay.voice<=0.15s",
            ["is in ms, not in s", "'delay.voice <= 150'"],
        ),
        ("run cals.toml", ["no scenario file 'cals.toml'", "did you mean calls.toml?"]),
        ("run .", ["no scenario file '.'", "there are calls.toml"]),
        ("run law.py", ["a Python file", "--laws law.py"]),
        ("run calls.toml --cluster localhost", ["--cluster is 'localhost'", "tcp://host:8786"]),
        ("list queue", ["did you mean 'queues'?"]),
        ("run calls.toml --threads 0", ["--threads is 0", "1 or more", "--threads 2"]),
        ("run calls.toml --sped x", ["--sped", "--speech", "fairwave run --help"]),
        ("rnu calls.toml", ["rnu", "run"]),
        ("run", ["SCENARIO", "fairwave run --help"]),
        ("run calls.toml --out calls.toml", ["calls.toml is a file", "calls-results"]),
        ("run calls.toml --out calls.toml/deep", ["calls.toml is a file", "calls-results"]),
        ("sweep calls.toml --grid flow.voice.count=1,2 --out calls.toml", ["is a file"]),
        (
            "find calls.toml --vary flow.voice.count=1..9 --until mos.voice>9",
            ["from 1 to 4.5", "never holds"],
        ),
        (
            "find calls.toml --vary flow.voice.count=1..9 --until loss.voice<=200",
            ["0 to 100 %", "always holds"],
        ),
        (
            "find calls.toml --vary flow.voice.count=1..9 --until delay.voice<-1",
            ["0 ms or more", "never holds"],
        ),
        (
            "run calls.toml --capture lnk:r1>r2=up.pcapng",
            ["does not say where", "did you mean `link:r1>r2`?"],
        ),
        ("run calls.toml --capture r1>r2=up.pcapng", ["did you mean `link:r1>r2`?"]),
        ("run calls.toml --capture link:r1>r3=up.pcapng", ["no link direction `r1>r3`", "`r1>r2`"]),
        ("run calls.toml --capture flow:voice[0]=up.pcapng", ["`voice[0]`", "host:voice-s0"]),
        ("run calls.toml --capture link:r1>r2=.", [". is a folder", "up.pcapng"]),
        ("run calls.toml --capture link:r1>r2=calls.toml/up.pcapng", ["calls.toml is a file"]),
        ("run calls.toml --loss-pattern flow:voic[0]=lost.txt", ["did you mean `voice[0]`?"]),
        ("run calls.toml --speech calls.toml", ["add --out FOLDER"]),
        ("run calls.toml --speech calls.toml --out o", ["not a recording"]),
        ("explain wlan", ["share a radio channel", 'law = "wifi"', 'preset = "wifi"', "explain trace"]),
        ("explain starlink", ['network = "low-orbit"']),
        ("explain 4G", ['network = "lte"', "share a radio channel", 'law = "cell"', 'preset = "lte"']),
        ("explain speex", ["describe the codec by its numbers", "bpl = 19"]),
        ("explain tcp", ["tcp/cubic"]),
        ("explain queues", ["`fairwave list queues`"]),
        ("evaluate calls.toml", ["the file 'calls.toml'", "evaluate tcp/cubic", "fairwave compare"]),
        ("evaluate cubc", ["did you mean 'tcp/cubic'?", "--laws FILE.py"]),
        ("evaluate --queue nope", ["drop-tail", "--laws FILE.py"]),
        ("run calls.toml --laws calls.toml", ["must end in .py"]),
        ("list transport", ["no list of 'transport'", "transports"]),
        ("new controler mine", ["controller"]),
        ("pattern calls.toml", ["a scenario, not a pattern of loss", "fairwave run"]),
        ("trace calls.toml", ["calls.toml"]),
        ("pattern nowhere.txt", ["no file 'nowhere.txt'"]),
        ("measure", ["HOST", "--irtt FILE", "fairwave reflector"]),
        ("measure far --irtt line.json", ["HOST or --irtt FILE, not both"]),
        ("measure --irtt nowhere.json", ["no file 'nowhere.json'"]),
        ("measure --irtt calls.toml", ["a scenario, not a measurement by irtt", "fairwave run"]),
        ("measure localhost", ["no key", "--key-file FILE", "FAIRWAVE_KEY"]),
        ("measure localhost --key-file short.key", ["has 5 characters", "12 or more"]),
        ("measure localhost --key-file nowhere.key", ["no file 'nowhere.key'"]),
        ("measure localhost:99999 --key-file good.key", ["'99999' is no port", "1 to 65535"]),
        ("measure ho/st --key-file good.key", ["'ho/st' is no host", "far.example"]),
        ("measure localhost --key-file good.key", ["It sends to nothing else", "add --yes"]),
        ("measure localhost:9 --key-file good.key --yes", ["nothing listens", "fairwave reflector"]),
        ("measure localhost --key-file good.key --for 1", ["--for is 1 s", "2 to 60", "--for 10"]),
        (
            "measure localhost --key-file good.key --most 0",
            ["--most is 0 MB", "0.1 to 10000", "--most 50"],
        ),
        ("measure localhost --key-file good.key --vary rate=1", ["--vary queue=fq-codel"]),
        (
            "measure localhost --key-file good.key --vary queue=nope --yes",
            ["no queue 'nope'", "fq-codel"],
        ),
        (
            "measure localhost --key-file good.key --vary queue=drr",
            ["queue=drr", "lacks the key `classes`"],
        ),
        ("reflector --key-file short.key", ["has 5 characters", "12 or more"]),
        ("reflector --key-file good.key --port 70000", ["--port is 70000", "1 to 65535"]),
        (
            "reflector --key-file good.key --listen 192.0.2.77",
            ["192.0.2.77", "address of this computer"],
        ),
        ("reflector --key-file good.key --for 0", ["--for is 0 s", "more than 0"]),
    ],
)
def test_a_mistake_is_answered_in_a_sentence(fairwave, calls, words, says):
    status, _, err = fairwave(*words.split())
    said = sentence(status, err)
    for word in says:
        assert word in said


def test_a_misspelt_place_is_refused_before_anything_runs(fairwave, calls, monkeypatch):
    from fairwave.runs.grid import Grid

    monkeypatch.setattr(Grid, "run", lambda *_, **__: pytest.fail("it ran"))
    status, _, err = fairwave("run", calls, "--capture", "link:r1>r3=up.pcapng")
    assert "`r1>r2`" in sentence(status, err)


@pytest.mark.parametrize(
    "words",
    [
        ["sweep", "calls.toml", "--grid", "flow.voice.count=1..100000", "-n", "1"],
        ["compare", "calls.toml", "--vary", "flow.voice.count=1..2000"],
        ["run", "calls.toml", "-n", "20000"],
        ["run", "calls.toml", "-n", "400", "--set", "duration=3000000 s"],
    ],
)
def test_very_many_runs_are_not_made_unasked(fairwave, calls, words):
    status, _, err = fairwave(*words)
    said = sentence(status, err)
    assert "of tables and take up to" in said
    assert "--yes" in said


@pytest.mark.parametrize(("answer", "runs"), [("y\n", True), ("n\n", False), ("", False)])
def test_at_a_terminal_the_user_is_asked(calls, monkeypatch, capsys, answer, runs):
    from io import StringIO

    from fairwave.cli import input as given

    terminal = StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    read = given.scenario(calls)
    with nullcontext() if runs else pytest.raises(given.BadInputError, match="nothing was run"):
        given.affordable(read, 100_000, 1, yes=False)
    assert "100000 runs would leave about 3.0 GB" in capsys.readouterr().err


def test_with_yes_nobody_asks(calls):
    from fairwave.cli import input as given

    given.affordable(given.scenario(calls), 100_000, 1, yes=True)


def test_a_law_is_evaluated_by_its_short_name(fairwave, calls, monkeypatch):
    from fairwave_evaluation import command as evaluating

    chosen = []
    monkeypatch.setattr(evaluating, "carry_out", lambda study, *_, **__: chosen.append(study.name))
    assert fairwave("evaluate", "cubic")[0] == 0
    assert fairwave("evaluate", "{ name = 'aimd', alpha = 0.31 }", "--against", "reno")[0] == 0
    assert chosen == ["evaluate tcp/cubic", "evaluate tcp/aimd"]


def test_a_short_name_is_that_of_the_simulators_law_not_of_the_kernels():
    from fairwave._native import Scenario

    full_name = Scenario.full_name
    assert full_name("cubic") == "tcp/cubic"
    assert full_name("host/cubic") == "host/cubic"
    assert full_name("program") == "program"
    assert full_name("pie", "queue") == "pie"


def test_carriage_returns_alone_end_the_rows_of_a_pattern(tmp_path):
    from fairwave import patterns

    assert patterns.parse(b"packet,lost\r0,1\r1,0\r", "x.csv").tolist() == [True, False]
    assert patterns.parse(b"01\r10\n").tolist() == [False, True, True, False]
    with pytest.raises(patterns.PatternError, match="line 2: it has more than 100000 bytes"):
        patterns.parse(b"packet,lost\n" + b"0" * 200_000 + b",1\n", "x.csv")


def test_a_recording_whose_head_is_damaged_is_refused(tmp_path):
    import numpy as np

    from fairwave_speech import SpeechError, audio

    whole = audio.write(tmp_path / "whole.wav", np.arange(8000, dtype=np.int16)).read_bytes()
    damaged = tmp_path / "damaged.wav"
    for place in range(44):
        for byte in (0, 1, 2, 127, 255):
            damaged.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
            try:
                audio.read(damaged)
            except SpeechError as error:
                assert "damaged.wav" in str(error)  # noqa: PT017  # most of them can be read


@pytest.mark.parametrize("given", ["abc", "", "-1", "4294967295", "9" * 30, "١"])
def test_what_sudo_did_not_set_is_refused(monkeypatch, given):
    import fairwave
    from fairwave.live import host

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", given)
    monkeypatch.delenv("SUDO_GID", raising=False)
    with pytest.raises(fairwave.RunError, match=r"SUDO_UID is .* must be a whole number"):
        host.user()
    monkeypatch.setenv("SUDO_UID", "1000")
    with pytest.raises(fairwave.RunError, match="SUDO_GID is ''"):
        host.user()


LAW = """
import os, sys
import fairwave

@fairwave.controller("quitter")
class Quitter(fairwave.Controller):
    def on_ack(self, path, window):
        {}
    def on_loss(self, path, window):
        return "congestion"
    def on_timeout(self, path, window):
        return "congestion"
"""


def alone(folder, law, *words):
    """Runs a command in a separate process with a file of laws."""
    (folder / "law.py").write_text(law, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "fairwave", *words, "--laws", "law.py"],
        cwd=folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("does", "says"),
    [
        ("sys.exit()", "law `tcp/quitter`, on_ack"),
        ("sys.exit(0)", "SystemExit: 0"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("os._exit(0)", "os._exit(0)"),
    ],
)
def test_a_law_that_ends_the_process_ends_the_command_with_an_error(calls, tmp_path, does, says):
    done = alone(tmp_path, LAW.format(does), "run", calls, "--set", "flow.download.transport=tcp/quitter")
    assert done.returncode == 1, done.stderr
    assert says in done.stderr


@pytest.mark.parametrize("does", ["sys.exit()", "sys.exit(0)", "os._exit(0)"])
def test_a_file_of_laws_that_ends_the_process_ends_the_command_with_an_error(calls, tmp_path, does):
    done = alone(tmp_path, f"import os, sys\n{does}\n", "run", calls)
    assert done.returncode in (1, 2), done.stderr
    assert done.stderr.startswith("error:")


def test_a_measure_that_ends_the_process_ends_the_command_with_an_error(calls, tmp_path):
    law = "import sys, fairwave\n@fairwave.measure('gone')\ndef gone(run):\n    sys.exit(0)\n"
    done = alone(
        tmp_path, law, "sweep", calls, "--grid", "flow.voice.count=1", "--show", "gone.voice", "-n", "1"
    )
    assert done.returncode == 1, done.stderr
    assert "error:" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="file names are text there")
def test_words_that_are_no_text_are_refused(calls, tmp_path):
    for words in ([b"run", b"\xff.toml"], [b"run", b"calls.toml", b"--set", b"name=\xff"]):
        done = subprocess.run(
            [sys.executable.encode(), b"-m", b"fairwave", *words],
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr.count(b"\n")) == (2, 1), done.stderr
        assert b"no UTF-8" in done.stderr


ODD = [
    "",
    " ",
    "x",
    "-1",
    "0",
    "9" * 30,
    "nan",
    "1e999",
    "a=b",
    "=",
    "a=",
    "=b",
    ",",
    "..",
    "\x00",
    "\x1b[31m",
    "\n",
    "é",
    ".",
]
"""Values that users type or scripts paste, for any option."""

SLOW = {"--out", "--speech"}
FEW = ["", "\x00", "calls.toml", "calls.toml/x"]
"""Options with expensive values, and the values to try for them."""

TOO_MUCH = {"--for", "--in", "--fairwave"}
"""Options that would start something long, or write to other places."""


def options():
    """Every command with every option that takes a value."""
    from typer.main import get_command

    from fairwave.cli.app import app

    found = []
    for name, command in sorted(get_command(app).commands.items()):
        for one in command.params:
            if (
                hasattr(command, "commands")
                or getattr(one, "is_flag", False)
                or not one.opts[0].startswith("-")
            ):
                continue
            if one.opts[0] not in TOO_MUCH and one.name != "help":
                found.append((name, one.opts[0]))
    return found


FIRST = {
    "run": ["calls.toml"], "check": ["calls.toml"], "live": ["calls.toml"], "shell": ["calls.toml", "--no-flows"],
    "trace-packet": ["calls.toml"],
    "compare": ["calls.toml", "--vary", "flow.voice.count=1,2", "-n", "2", "--no-audio", "--out", "."],
    "sweep": ["calls.toml", "--grid", "flow.voice.count=1", "-n", "2"],
    "find": ["calls.toml", "--vary", "flow.voice.count=1..3", "--until", "mos.voice>=3", "-n", "2", "--most", "2"],
    "evaluate": ["nothing"], "study": ["nothing"], "explain": ["udp"], "list": ["queues"], "lab": ["calls.toml"],
    "import": ["calls.toml"], "pattern": ["calls.toml"], "trace": ["calls.toml"], "new": ["controller", "mine"],
    "schema": [],
    "upgrade": ["nothing.toml"], "network": ["calls.toml"], "bundle": ["out"], "repeat": ["night.pcap"],
    "guard": ["nothing", "--baseline", "calls.toml"],
    "rfc8867": ["nothing"], "demo": [], "examples": [],
    "fit": ["night.pcap", "--out", "fitted.toml"], "judge": ["night.pcap"],
    "measure": ["localhost:9", "--key-file", "good.key"],
    "reflector": ["--key-file", "good.key", "--port", "70000"],
    "replay": ["night.pcap", "--rate", "2 Mb/s", "--out", "slower.toml"],
}  # fmt: skip


@pytest.mark.parametrize(("command", "option"), options())
def test_no_value_of_any_option_leaves_a_traceback(fairwave, calls, monkeypatch, command, option):
    """With any value of an option, the command works or ends with a sentence."""
    import webbrowser

    from fairwave import live

    monkeypatch.setattr(webbrowser, "open", lambda *_: True)
    monkeypatch.setattr(live, "live", lambda *_, **__: pytest.skip("it would run live"))
    monkeypatch.setattr("fairwave.cli.demo.answer_question", lambda *_: (None, None))
    monkeypatch.setattr("fairwave.cli.demo.layer_or_note", lambda **_: None)
    monkeypatch.setattr("fairwave.cli.lab_page.serve_lab", lambda *_: None)
    for value in FEW if option in SLOW else ODD:
        status, _, err = fairwave(
            command, *FIRST[command], f"{option}={value}" if option[1] == "-" else f"{option}{value}"
        )
        judged = command == "find" and status in (3, 4)
        assert status in (0, 1, 2) or judged, (value, err)
        assert "Traceback" not in err, (value, err)
        if status and not judged:
            assert err.count("error:") >= 1, (value, err)


@pytest.mark.parametrize("command", sorted(FIRST))
@pytest.mark.parametrize("value", ODD)
def test_no_argument_leaves_a_traceback(fairwave, calls, monkeypatch, command, value):
    import webbrowser

    monkeypatch.setattr(webbrowser, "open", lambda *_: True)
    status, _, err = fairwave(command, value)
    assert status in (0, 1, 2), err
    assert "Traceback" not in err, err


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_cannot_be_read_is_named(fairwave, calls):
    Path(calls).chmod(0)
    status, _, err = fairwave("run", calls)
    assert "calls.toml" in sentence(status, err)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["list", "queues"], ["--version"], ["schema"]])
def test_a_full_disk_is_an_error(tmp_path, unbuffered, words):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "fairwave", *words], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE,
            check=False, env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert done.returncode in (1, 2)
    assert b"Traceback" not in done.stderr
    assert b"ignored" not in done.stderr
    assert b"error:" in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["list", "queues"], ["schema"]])
def test_a_reader_that_has_seen_enough_is_no_traceback(tmp_path, unbuffered, words):
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(
        [sys.executable, "-m", "fairwave", *words],
        cwd=tmp_path,
        stdout=writes,
        stderr=subprocess.PIPE,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )
    os.close(writes)
    assert (done.returncode, done.stderr) == (1, b"")
