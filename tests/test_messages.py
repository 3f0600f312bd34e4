"""Messages for inputs that fairwave cannot use: short, and with correct suggestions."""

import gzip
import json
import re
from pathlib import Path

import pytest

SCREEN = (24, 120)
"""Lines and columns of a screen."""

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
"""

DUMP = json.dumps({"PeerConnections": {"1": {"stats": {"o-bytes": {"values": str([1.5] * 100_000)}}}}})
GETSTATS = json.dumps([[{"id": "o", "type": "outbound-rtp", "bytesSent": n}] for n in range(100)])
FLENT = json.dumps(
    {"results": {"Ping (ms)": [1.5] * 1000}, "x_values": [0.2], "metadata": {"FLENT_VERSION": "2"}}
)
FILES = {
    "dump.json": (DUMP, "a dump of chrome://webrtc-internals", "`fairwave fit dump.json`"),
    "stats.json": (GETSTATS, "statistics of getStats()", "`fairwave fit stats.json`"),
    "meet.json": ('["create","PC_0",{}]\n["getstats","PC_0",{},2]\n', "a file of rtcstats", "`fairwave fit meet.json`"),
    "call.rtcstats": ('RTCStatsDump\n{"fileFormat":3}\n', "a file of rtcstats", "`fairwave fit call.rtcstats`"),
    "line.json": ('{"version": {"irtt": "0.9.1"}, "round_trips": []}', "irtt", "`fairwave measure --irtt line.json`"),
    "rrul.flent": (FLENT, "Flent", "examples/rrul.toml"),
    "iperf.json": ('{"start": {}, "end": {"sum_sent": {"bytes": 3}}}', "iperf3", "fairwave measure HOST"),
    "night.pcap": (b"\xd4\xc3\xb2\xa1" + bytes(20), "a capture of packets", "`fairwave replay night.pcap`"),
    "night.pcapng": (b"\x0a\x0d\x0d\x0a" + bytes(24), "a capture of packets", "`fairwave fit night.pcapng`"),
    "net.yaml": ("name: calls\nduration: 4 s\nlinks:\n  - a: x\n", "YAML", "TOML or JSON"),
    "old.tcl": ("set ns [new Simulator]\n$ns node\n", "ns-2", "`fairwave explain dumbbell`"),
    "third.cc": ('#include "ns3/core-module.h"\nint main() { return 0; }\n', "ns-3", "`fairwave explain dumbbell`"),
    "rates.csv": ("time_s,rate_mbps\n0,1\n1,2\n", "a table (CSV)", "`fairwave trace rates.csv`"),
    "up.mahi": ("1\n5\n9\n12\n", "a trace of a rate", "`fairwave trace up.mahi`"),
    "lost.txt": ("0\n0\n1\n0\n", "a pattern of loss", "`fairwave pattern lost.txt`"),
    "page.html": ("<!doctype html><html></html>", "a web page", "a browser"),
    "plot.png": (b"\x89PNG\r\n\x1a\n\0\0", "a picture", "a browser"),
    "plot.svg": ('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>', "a picture", "a browser"),
    "voice.wav": (b"RIFF\0\0\0\0WAVEfmt ", "a recording", "--speech voice.wav"),
    "runs.parquet": (b"PAR1" + bytes(8), "a table in Parquet", "fairwave compare"),
    "net.graphml": ('<?xml version="1.0"?><graphml></graphml>', "a topology", "topology = { file"),
    "work.ipynb": ('{"cells": [], "nbformat": 4}', "a Jupyter notebook", "jupyter"),
    "empty.toml": ("", "empty", "`fairwave explain dumbbell`"),
    "calls.toml.gz": (gzip.compress(TEXT.encode()), "compressed", "`gunzip calls.toml.gz`"),
    "dump.json.gz": (gzip.compress(DUMP.encode()), "a dump of", "`fairwave fit dump.json.gz`"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with one scenario."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def fits(message):
    """Whether a message fits on a screen after its long lines are wrapped."""
    lines, columns = SCREEN
    return len(message.splitlines()) <= lines and len(message) <= lines * columns


def place(folder, name):
    content = FILES[name][0]
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("command", ["run", "check", "lab", "live", "sweep --grid a=1,2"])
@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_kind_is_recognised_and_its_command_is_named(fairwave, folder, name, command):
    place(folder, name)
    status, out, err = fairwave(*command.split(), name)
    assert (status, out, len(err.splitlines())) == (2, "", 1), err
    assert len(err) < 300
    assert FILES[name][1] in err
    assert FILES[name][2] in err


@pytest.mark.parametrize("name", FILES)
def test_a_file_in_place_of_a_command_names_the_command_that_reads_it(fairwave, folder, name):
    place(folder, name)
    status, _, err = fairwave(name)
    assert status == 2
    assert FILES[name][2] in err


@pytest.mark.parametrize(
    ("command", "name"),
    [
        *(
            (command, name)
            for command in ("fit", "replay", "trace", "pattern", "measure --irtt")
            for name in FILES
        ),
    ],
)
def test_commands_that_read_other_files_say_which_one_they_got(fairwave, folder, command, name):
    """Each kind of file is refused by every command that cannot read it, and by no command in the message."""
    place(folder, name)
    status, _, err = fairwave(*command.split(), name)
    if status == 0:
        return
    assert fits(err), err
    assert "Traceback" not in err
    named = re.findall(r"`fairwave (\w+(?: --irtt)?) ", err)
    assert command not in named, err


@pytest.mark.parametrize("command", ["fit", "replay", "trace", "pattern", "measure --irtt"])
def test_a_scenario_is_recognised_by_commands_that_read_other_files(fairwave, folder, command):
    status, _, err = fairwave(*command.split(), "calls.toml")
    assert status == 2
    assert "calls.toml is a scenario" in err
    assert "`fairwave run calls.toml`" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("sweep calls.toml --vary a=1", "did you mean --grid KEY=A,B,…?"),
        ("find calls.toml --grid a=1 --until mos>1", "did you mean --vary"),
        ("run calls.toml --vary a=1", "belongs to `compare`, `find`"),
        ("run calls.toml --runs 3", "did you mean --replications?"),
        ("run calls.toml -j 3", "did you mean --threads?"),
        ("run calls.toml -o x", "did you mean --out?"),
        ("compare calls.toml --grid a=1", "did you mean --vary"),
        ("simulate calls.toml", "did you mean `fairwave run calls.toml`?"),
        ("runn calls.toml", "did you mean `fairwave run calls.toml`?"),
        ("plot calls.toml", "did you mean `fairwave run calls.toml`?"),
        ("validate calls.toml", "did you mean `fairwave check calls.toml`?"),
        ("version", "did you mean `fairwave --version`?"),
        ("ls", "did you mean `fairwave list`?"),
        ("init", "did you mean `fairwave new`?"),
        ("calls.toml", "`fairwave run calls.toml`"),
        ("./calls.toml", "`fairwave run calls.toml`"),
        ("cals.toml", "neither a command nor a file"),
        (".", "a command comes first"),
        ("help nothing", "there is no command 'nothing'"),
        ("kernel drop", "there are load, list, unload"),
    ],
)
def test_a_mistaken_command_or_option_names_the_right_one(fairwave, folder, words, says):
    status, _, err = fairwave(*words.split())
    assert status == 2
    assert says in err
    assert len(err.splitlines()) == 1


def test_help_with_a_command_is_that_commands_help(fairwave):
    shown = {
        words: fairwave(*words.split())
        for words in ("help", "--help", "help run", "run --help", "help kernel load")
    }
    assert shown["help"] == shown["--help"]
    assert shown["help run"] == shown["run --help"]
    assert shown["help kernel load"][0] == 0


def test_every_word_that_stands_for_a_command_names_one_that_exists():
    from typer.main import get_command

    from fairwave.cli import app, usage

    there = {*get_command(app.app).commands, "--version"}
    assert set(usage.COMMANDS) <= there
    words = [word for others in usage.COMMANDS.values() for word in others]
    assert not set(words) & there
    assert len(words) == len(set(words))


def test_the_help_has_every_command_in_a_group(fairwave):
    from fairwave.cli.app import app
    from fairwave.cli.options import PANELS

    assert {str(one.rich_help_panel) for one in [*app.registered_commands, *app.registered_groups]} == set(
        PANELS
    )
    shown = fairwave("--help")[1]
    assert [title for title in re.findall(r"╭─ (.*?) ─", shown) if title != "Options"] == list(PANELS)


def test_an_examples_file_that_messages_name_is_there():
    assert (Path(__file__).parents[1] / "examples" / "rrul.toml").is_file()


def refused(**overrides):
    """The message for values that do not fit the scenario."""
    import fairwave

    with pytest.raises(fairwave.ScenarioError) as error:
        fairwave.load(TEXT).with_(**overrides)
    return str(error.value)


RATE, DELAY, QUEUE = (f"topology__bottleneck__{key}" for key in ("rate", "delay", "queue"))
TRANSPORT, TRAFFIC = "flow__voice__transport", "flow__voice__traffic"


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        (RATE, 2_000_000, '`rate = "2 Mb/s"`'),
        (RATE, 20, '`rate = "20 Mb/s"` or `rate = "20 kb/s"`'),
        (RATE, "2000000", "write `2 Mb/s`"),
        (RATE, "10M", "write `10 Mb/s`"),
        (RATE, "10mbit", "write `10 Mb/s`"),
        (RATE, "10mbps", "write `10 Mb/s`"),
        (RATE, "10 MB", "write `80 Mb/s` or `10 Mb/s`"),
        (DELAY, 20, '`delay = "20 ms"`'),
        (DELAY, 0.1, '`delay = "100 ms"`'),
        (DELAY, "20", "write `20 ms`"),
        (DELAY, "20msec", "write `20 ms`"),
        (DELAY, "20m", "write `20 ms` or `20 min`"),
        ("duration", 10, '`duration = "10 s"`'),
        ("duration", 60_000, '`duration = "60 s"`'),
        ("duration", "10 seconds", "write `10 s`"),
        ("topology__bottleneck__queue__capacity", 100, "`capacity = { packets = 100 }`"),
        ("topology__bottleneck__queue__capacity", "100 packets", "`capacity = { packets = 100 }`"),
        ("topology__bottleneck__queue__capacity", "64 kB", "`capacity = { bytes = 64000 }`"),
        ("topology__bottleneck__capacity", 100, "the buffer belongs to the queue"),
        ("topology__bottleneck__bandwidth", "1 Mb/s", '`rate = "10 Mb/s"`'),
        ("topology__bottleneck__latency", "1 ms", '`delay = "20 ms"`'),
        ("link__r1>r2__rate", "2 Mb/s", "write `topology.bottleneck.rate`"),
        ("link__r2>r1__queue", "red", "write `topology.bottleneck.reverse.queue`"),
        ("voice__count", 3, "`flow.voice.`"),
        ("count", 3, "`flow.NAME.count`"),
        (TRANSPORT, "quic", "quic/quinn"),
        (TRANSPORT, "rtp", '`transport = "udp"`'),
        (TRANSPORT, "http", '`transport = "tcp/cubic"`'),
        (TRANSPORT, "tcp", '`transport = "tcp/cubic"`'),
        (TRANSPORT, "gcc", 'control = "gcc"'),
        (TRANSPORT, "dccp", '`transport = "tfrc"`'),
        (TRANSPORT, "TcpCubic", "did you mean `tcp/cubic`?"),
        (TRANSPORT, "Agent/TCP/Sack1", "did you mean `tcp/sack`?"),
        (TRANSPORT, "cubik", "did you mean `tcp/cubic`?"),
        (TRANSPORT, "voice", '`traffic = "voice"`'),
        (TRAFFIC, "g711", '`traffic = { kind = "voice", codec = "g711" }`'),
        (TRAFFIC, "G.729", '`traffic = { kind = "voice", codec = "g729" }`'),
        (TRAFFIC, "h264", '`traffic = "video"`'),
        (TRAFFIC, "webrtc", '`traffic = "media"`'),
        (TRAFFIC, "zoom", '`traffic = "media"`'),
        (TRAFFIC, "skype", '`traffic = "media"`'),
        (TRAFFIC, "voip", '`traffic = "voice"`'),
        (TRAFFIC, "ftp", '`traffic = "bulk"`'),
        (TRAFFIC, "http", '`traffic = "web"`'),
        (TRAFFIC, "youtube", '`traffic = "stream"`'),
        (TRAFFIC, "streaming", "stream"),
        (QUEUE, "pfifo_fast", "`priority`"),
        (QUEUE, "fifo", "`drop-tail`"),
        (QUEUE, "DropTail", "did you mean `drop-tail`?"),
        (QUEUE, "FqCoDelQueueDisc", "did you mean `fq-codel`?"),
        (QUEUE, "fq_codel", "did you mean `fq-codel`?"),
        (QUEUE, "sfq", "`fq-codel`"),
        (QUEUE, "htb", "`shape = "),
        (QUEUE, "netem", "`jitter`"),
        (QUEUE, "cubic", '`transport = "tcp/cubic"`'),
        ("flow__voice__traffic__codec", "pcmu", "`g711`"),
        ("flow__voice__traffic__codec", "G.711", "did you mean `g711`?"),
        ("flow__voice__traffic__codec", "h264", '`traffic = "video"`'),
    ],
)
def test_a_value_of_another_tool_is_answered_with_what_it_is_here(key, value, says):
    message = refused(**{key: value})
    assert says in message
    assert fits(message), message


def test_no_suggestion_is_a_word_of_another_tool():
    """A value in a remedy is a name that its key accepts."""
    from fairwave import _native

    names = {kind: {name for name, _ in each} for kind, each in _native.names().items()}
    kinds = {"transport": "transports", "traffic": "traffic", "queue": "queues", "control": "controllers"}
    for of, word in _native.foreign_words():
        remedy = _native.instead(of, word)
        assert remedy, word
        for key, name in re.findall(r'`?(\w+) = "([^"]+)"', remedy):
            if key in kinds:
                assert name in names[kinds[key]], (word, key, name)
        assert len(remedy) < 300
        if of in kinds and word not in {"quic/quinn", "webrtc/str0m", "goog-cc"}:
            assert word not in names[kinds[of]], (of, word)


@pytest.mark.parametrize("word", ["quic", "rtp", "http", "h264", "zoom", "ping-pong", "blub"])
def test_nothing_far_away_is_suggested(word):
    for key in (TRANSPORT, TRAFFIC, QUEUE):
        near = re.findall(r"did you mean `(.*?)`", refused(**{key: word}))
        assert near in ([], ["ping"]), (key, word, near)


def test_many_mistakes_fit_on_a_screen_and_are_counted(fairwave, folder):
    (folder / "wrong.toml").write_text("\n".join(f"key{n} = {n}" for n in range(30)), encoding="utf-8")
    status, _, err = fairwave("check", "wrong.toml")
    assert status == 2
    assert fits(err), err
    assert re.search(r"and \d+ more mistakes$", err.strip())


def test_a_long_line_is_shown_in_part(fairwave, folder):
    line = f'name = "calls"\nduration = "4 s"\nhosts = {{ {"x" * 5000} = 1 }}\n'
    (folder / "long.toml").write_text(line, encoding="utf-8")
    status, _, err = fairwave("check", "long.toml")
    assert status == 2
    assert max(map(len, err.splitlines())) < 5200  # the name itself is in the message once
    assert sum(len(one) > 130 for one in err.splitlines()) <= 2


@pytest.mark.parametrize("words", ["--set flow.voice.count=null", "--set flow.voice.count= null "])
def test_null_removes_a_key_so_that_its_default_applies(fairwave, folder, words):
    option, value = words.split(" ", 1)
    status, out, err = fairwave("check", "calls.toml", "--expand", "--json", option, value)
    assert status == 0, err
    assert len(json.loads(out)["flows"]) == 1
    assert fairwave("check", "calls.toml", "--set", "flow.voice.transport=null")[0] == 2


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("MOS.voice", "'mos.voice'"),
        ("latency.voice", "'delay.voice'"),
        ("bandwidth.voice", "'goodput.voice'"),
        ("throughput.voice", "'goodput.voice'"),
        ("ping.voice", "'rtt.voice'"),
        ("packet loss.voice", "'packet-loss.voice'"),
        ("R.voice", "'r-factor.voice'"),
        ("jain.voice", "'fairness.voice'"),
        ("fps.voice", "'frame-rate.voice'"),
        ("util.voice", "'utilisation.r1>r2'"),
        ("mss.voice", "`fairwave list measures`"),
    ],
)
def test_a_measure_of_another_name_is_answered_with_ours(fairwave, folder, asked, meant):
    for words in (["--require", f"{asked} >= 3"], ["--measures", asked]):
        status, _, err = fairwave("run", "calls.toml", *words)
        assert status == 2
        assert meant in err
        assert len(err) < 200


def test_every_synonym_of_a_measure_names_a_measure():
    from fairwave.ask.wording import LINKS
    from fairwave.measuring import measures

    words = [word for each in measures.SYNONYMS.values() for word in each]
    assert len(words) == len(set(words))
    for name in measures.SYNONYMS:
        assert name in measures.STANDARD or name.partition(".")[0] in LINKS
