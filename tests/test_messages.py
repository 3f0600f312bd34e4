"""Messages for inputs that fairwave cannot use: short, and what they suggest is right."""

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
    """A folder with one scenario, in which commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def fits(message):
    """Whether a message fits on a screen."""
    lines, columns = SCREEN
    return sum(max(1, -(-len(line) // columns)) for line in message.splitlines()) <= lines


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
    """Each kind of file is refused by every command that cannot read it, and by none that the message names."""
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
