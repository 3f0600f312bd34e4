"""Inputs that fairwave cannot use: its suggestion, the length of the message, and the exit status."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from unittest import mock

import fairwave
from practice.situation import Situation, between, exactly

CALLS = """
name = "calls"
duration = "1 s"
topology = { preset = "dumbbell", bottleneck = { rate = "1 Mb/s", delay = "20 ms" } }

[[flow]]
name = "voice"
count = 2
transport = "udp"
traffic = "voice"
"""

DUMP = json.dumps({"PeerConnections": {"1": {"stats": {"bytes": {"values": str([0.5] * 400_000)}}}}})
"""About 2 MB in one line, as Chromium writes dumps."""

MISTAKEN = "\n".join(f"key{number} = {number}" for number in range(40))

UNITS = {"kb/s": 1e-3, "Mb/s": 1.0, "Gb/s": 1e3, "ms": 1.0, "s": 1e3, "min": 6e4}
"""Value of a unit in Mb/s or ms."""


@cache
def _answer(*words: str, environment: str = "") -> tuple[int, str, str]:
    """Exit status, standard output and error of a command line in a folder with a scenario, a dump and other files."""
    from fairwave.cli import main

    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"calls.toml": CALLS, "dump.json": DUMP, "mistaken.toml": MISTAKEN}.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        out, err = io.StringIO(), io.StringIO()
        completing = dict(one.split("=", 1) for one in environment.split("|") if one)
        with (
            mock.patch.object(sys, "argv", ["fairwave", *words]),
            mock.patch.dict(os.environ, completing),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            os.chdir(folder)
            try:
                main()
                status = 0
            except SystemExit as end:
                status = int(end.code or 0)
            finally:
                os.chdir(here)
        return status, out.getvalue(), err.getvalue()


def _refusal(**overrides: object) -> str:
    """The message for values that do not fit the scenario."""
    try:
        fairwave.load(CALLS).with_(**overrides)
    except fairwave.ScenarioError as error:
        return str(error)
    return ""


def _suggested(key: str, value: object) -> float:
    """The first quantity that a message suggests, in Mb/s or ms."""
    help_line = _refusal(**{key: value}).partition("help:")[2]
    found = re.search(r"([\d.]+) ?([a-zA-Z/]+)", help_line.split("`")[1].rpartition("= ")[2].strip('"'))
    return float(found[1]) * UNITS[found[2]] if found else float("nan")


def _capacity(value: object) -> float:
    """The number in the capacity that a message suggests."""
    help_line = _refusal(topology__bottleneck__queue__capacity=value).partition("help:")[2]
    found = re.search(r"(?:packets|bytes) = (\d+)", help_line)
    return float(found[1]) if found else float("nan")


def _lines(*words: str) -> int:
    """Lines of a command's message."""
    return len(_answer(*words)[2].splitlines())


def _status(*words: str, environment: str = "") -> int:
    return _answer(*words, environment=environment)[0]


def _heeded() -> int:
    """The exit status of a run with the `traffic` that the message for `g711` suggests."""
    traffic = re.search(r"`traffic = (\{.*?\})`", _refusal(flow__voice__traffic="g711"))
    return _status("run", "calls.toml", "--set", f"flow.voice.traffic={traffic[1]}") if traffic else -1


RATE, DELAY = "topology__bottleneck__rate", "topology__bottleneck__delay"


def situations() -> Iterator[Situation]:
    """The messages and their suggestions."""
    for name, key, value, expected, unit, why in (
        ("bits", RATE, 2_000_000, 2, "Mb/s", "2 000 000 b/s"),
        ("voice-rate", RATE, 64_000, 0.064, "Mb/s", "64 000 b/s, one channel of G.711"),
        ("gigabit", RATE, 1_000_000_000, 1000, "Mb/s", "10⁹ b/s"),
        ("small-rate", RATE, 20, 20, "Mb/s", "no link has 20 b/s"),
        ("mega", RATE, "10M", 10, "Mb/s", "ns-2 writes 10Mb so"),
        ("tc-unit", RATE, "10mbit", 10, "Mb/s", "tc(8): mbit is 10⁶ bits per second"),
        ("bytes", RATE, "10 MB", 80, "Mb/s", "8 bits in a byte"),
        ("delay", DELAY, 20, 20, "ms", "delays of links are milliseconds"),
        ("delay-in-seconds", DELAY, 0.1, 100, "ms", "0.1 s"),
        ("tc-delay", DELAY, "20msec", 20, "ms", "tc(8): msec"),
        ("duration", "duration", 60, 60_000, "ms", "60 s"),
        ("duration-in-ms", "duration", 60_000, 60_000, "ms", "60 000 ms are a minute"),
    ):
        yield Situation(
            f"message/{name}", f"`{key.rpartition('__')[2]} = {json.dumps(value)}`: the quantity that fairwave suggests", unit,
            *exactly(expected), why, partial(_suggested, key, value),
        )  # fmt: skip
    yield Situation(
        "message/packets", "`capacity = 120`: the packets that fairwave suggests", "", *exactly(120),
        "buffers count packets unless they have a unit", partial(_capacity, 120),
    )  # fmt: skip
    yield Situation(
        "message/buffer-bytes", '`capacity = "96 kB"`: the bytes that fairwave suggests', "", *exactly(96_000),
        "1 kB is 1000 B", partial(_capacity, "96 kB"),
    )  # fmt: skip
    yield Situation(
        "message/dump", "A dump of 2 MB given to `run`: lines of the message", "", *exactly(1), "one sentence",
        partial(_lines, "run", "dump.json"),
    )  # fmt: skip
    yield Situation(
        "message/dump-size", "The same: characters of the message", "", *between(165, 30, 300), "a sentence fits in 300",
        lambda: len(_answer("run", "dump.json")[2]),
    )  # fmt: skip
    yield Situation(
        "message/screen", "A file with 40 mistakes given to `run`: lines of the message", "", *between(24, 5, 24),
        "a terminal has 24 lines", partial(_lines, "run", "mistaken.toml"),
    )  # fmt: skip
    yield Situation(
        "message/heeded", "A codec in place of traffic: exit status of a run that takes the suggestion", "", *exactly(0),
        "a suggestion is accepted", _heeded,
    )  # fmt: skip
    yield Situation(
        "message/null", "`--set flow.voice.count=null`: flows of the group", "", *exactly(1),
        "a group without `count` has one flow",
        lambda: len(fairwave.load(CALLS).with_overrides({"flow.voice.count": None}).plan()["flows"]),
    )  # fmt: skip
    for name, words, expected, why in (
        ("help-run", ("help", "run"), 0, "help is no mistake"),
        ("misspelt", ("runn", "calls.toml"), 2, "bad input"),
        ("measure", ("run", "calls.toml", "--require", "MOS.voice >= 3"), 2, "bad input"),
        ("title", ("explain", "mouth", "to", "ear"), 0, "a title of fairwave's tables"),
        ("doctor", ("doctor", "--json"), 0, "missing parts are no failure"),
    ):
        yield Situation(
            f"message/{name}", f"Exit status of `fairwave {' '.join(words)}`", "", *exactly(expected), why,
            partial(_status, *words),
        )  # fmt: skip
    yield Situation(
        "message/completion", "Exit status of completion in bash", "", *exactly(0), "a shell shows nothing else",
        partial(_status, environment="_FAIRWAVE_COMPLETE=complete_bash|COMP_WORDS=fairwave co|COMP_CWORD=1"),
    )  # fmt: skip
