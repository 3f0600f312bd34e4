"""Patterns of loss: reading, writing, fitting; and a recorded pattern reproduces the same losses."""

from __future__ import annotations

import json

import numpy as np
import pytest

import fairwave
from fairwave import patterns
from fairwave.capturing import capture
from fairwave.cli.patterns import show_pattern
from fairwave.errors import BadInputError

LOST = np.array([0, 1, 1, 0, 0, 0, 1, 0], bool)


@pytest.mark.parametrize("name", ["x.txt", "x.csv", "x.g192", "x.byte", "x"])
def test_what_is_written_is_read_again(tmp_path, name):
    rng = np.random.default_rng(1)
    for lost in (LOST, np.zeros(3, bool), np.ones(5, bool), rng.random(1000) < 0.1):
        assert (patterns.read(patterns.write(tmp_path / name, lost)) == lost).all()


@pytest.mark.parametrize(
    "data",
    [
        b"0110 0010",
        b"# recorded\n0110\n0010\n",
        b"\xef\xbb\xbf01100010",
        b"packet,lost,delay\n0,0,5\n1,1,\n2,1,\n3,0,5\n4,0,5\n5,0,5\n6,1,\n7,0,5\n",
        b"0;0\n1;1\n2;1\n3;0\n4;0\n5;0\n6;1\n7;0\n",
        b"n,gone\n"
        + b"\n".join(b"%d,%s" % (i, str(bool(one)).lower().encode()) for i, one in enumerate(LOST)),
        np.where(LOST, 0x6B20, 0x6B21).astype("<u2").tobytes(),
        np.where(LOST, 0x0081, 0x007F).astype("<u2").tobytes(),
        np.where(LOST, 0x20, 0x21).astype("u1").tobytes(),
        np.where(LOST, 0x81, 0x7F).astype("u1").tobytes(),
    ],
)
def test_every_format_says_the_same(data):
    assert patterns.parse(data).tolist() == LOST.tolist()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"# nothing\n", "has no packets"),
        (b"0101\n01x1\n", "line 2: 'x' is neither"),
        (b"packet,lost\n0,0\n1,2\n", "row 3: '2' is neither"),
        (b"packet,lost\n", "has no packets"),
        (b"\x00\xff\xfe\xff", "byte 1"),
    ],
)
def test_what_is_no_pattern_is_refused_with_its_place(data, said):
    with pytest.raises(patterns.PatternError, match=said):
        patterns.parse(data, "losses")


def test_gilberts_model_is_fitted_by_the_shares_of_transitions():
    fit = patterns.gilbert(LOST)
    # After 4 of the 5 packets that arrived (the last has none after it), 2 are lost; after 3 lost ones, 2 arrive.
    assert (fit.p, fit.q) == (pytest.approx(2 / 4), pytest.approx(2 / 3))
    assert fit.loss == pytest.approx(0.5 / (0.5 + 2 / 3))
    assert fit.burst == pytest.approx(1.5)
    assert (patterns.gilbert(np.zeros(5, bool)).p, patterns.gilbert(np.zeros(5, bool)).q) == (0.0, None)
    assert patterns.gilbert(np.ones(1, bool)).p is None
    rng, state, chain = np.random.default_rng(2), False, []
    for draw in rng.random(200_000):
        state = draw >= 0.3 if state else draw < 0.02
        chain.append(state)
    fit = patterns.gilbert(np.array(chain))
    assert fit.p == pytest.approx(0.02, abs=2 * (fit.p_interval[1] - fit.p_interval[0]))
    assert fit.q == pytest.approx(0.3, abs=2 * (fit.q_interval[1] - fit.q_interval[0]))
    assert fit.p_interval[1] - fit.p_interval[0] < 2e-3


def test_one_transition_gives_no_interval_and_no_loss_in_the_long_run():
    fit = patterns.gilbert(np.array([False] * 16 + [True, True]))
    assert (fit.q, fit.q_interval, fit.loss, fit.law) == (0.0, None, None, None)
    assert fit.p == 1 / 16


def test_an_interval_has_a_width_if_no_packet_is_lost():
    low, high = patterns.wilson(0.0, 100)
    assert (low, high) == (0.0, pytest.approx(0.0370, abs=1e-4))


def test_runs_are_counted():
    found = patterns.summary(LOST)
    assert (found.packets, found.lost, found.bursts) == (8, 3, {1: 1, 2: 1})
    assert found.gaps == (pytest.approx(5 / 3), 1.0, 3)
    assert patterns.summary(np.ones(2, bool)).gaps is None


def test_the_command_shows_draws_and_converts(tmp_path, capsys):
    file = patterns.write(tmp_path / "x.txt", LOST)
    show_pattern(file, None, None, json=True)
    document = json.loads(capsys.readouterr().out)
    assert (document["lost"], document["bursts"], document["gilbert"]["p"]) == (3, {"1": 1, "2": 1}, 0.5)
    show_pattern(file, tmp_path / "x.png", tmp_path / "y.g192", json=False)
    shown = capsys.readouterr().out
    assert "3 (37.500%)" in shown
    assert "p = 0.5" in shown
    assert (tmp_path / "x.png").stat().st_size > 5000
    assert patterns.read(tmp_path / "y.g192").tolist() == LOST.tolist()
    with pytest.raises(BadInputError, match="no file"):
        show_pattern(tmp_path / "none", None, None, json=False)


CALL = """
name = "call"
duration = "20 s"
[[link]]
from = "a"
to = "b"
rate = "1 Mb/s"
delay = "10 ms"
loss = LOSS
[[flow]]
name = "voice"
from = "a"
to = "b"
transport = "udp"
traffic = { kind = "voice", always-on = true }
[record]
units = ["voice"]
"""


@pytest.mark.parametrize("name", ["losses.txt", "losses.csv", "losses.g192"])
def test_what_a_run_leaves_loses_the_same_packets_again(tmp_path, name):
    markov = '{ model = "markov", good = "900 ms", bad = "100 ms", bad-loss = 0.5 }'
    first = fairwave.load(CALL.replace("LOSS", markov))
    made = capture(first, patterns={"link:a>b": tmp_path / name, "flow:voice": tmp_path / f"flow-{name}"})
    assert made.digest == first.run().to_polars("work")["digest"][0]
    assert made.patterns[0].lost == first.run().to_polars("flows")["lost"][0] > 10
    (tmp_path / "again.toml").write_text(
        CALL.replace("LOSS", f'{{ model = "pattern", file = "{name}" }}'), encoding="utf-8"
    )
    again = fairwave.load(tmp_path / "again.toml")
    fates = [one.run().to_polars("units")["fate"].to_list() for one in (first, again)]
    assert fates[0] == fates[1]
    third = capture(again, patterns={"link:a>b": tmp_path / f"x-{name}"})
    assert (tmp_path / f"x-{name}").read_bytes() == (tmp_path / name).read_bytes()
    assert third.patterns[0].packets == made.patterns[0].packets
    # One flow, one lossy link: the flow's pattern is the link's, except for packets in flight at the end.
    of_link, of_flow = patterns.read(tmp_path / name), patterns.read(tmp_path / f"flow-{name}")
    assert of_link.tolist() == of_flow[: len(of_link)].tolist()


def test_a_pattern_file_is_read_with_the_scenario_and_errors_name_the_key(tmp_path):
    patterns.write(tmp_path / "losses.txt", LOST)
    file = tmp_path / "call.toml"
    file.write_text(CALL.replace("LOSS", '{ model = "pattern", file = "losses.txt", repeat = false }'))
    read = fairwave.load(file)
    assert read.to_dict()["link"][0]["loss"] == {"model": "pattern", "pattern": "01100010", "repeat": False}
    file.write_text(CALL.replace("LOSS", '{ model = "pattern", file = "none.txt" }'))
    with pytest.raises(fairwave.ScenarioError, match=r"link\.0\.loss\.file: no file '.*none\.txt'"):
        fairwave.load(file)
    (tmp_path / "none.txt").write_text("01a")
    with pytest.raises(fairwave.ScenarioError, match=r"none\.txt, line 1: 'a' is neither"):
        fairwave.load(file)


def test_a_flow_over_tcp_has_no_pattern(tmp_path):
    call = fairwave.load(CALL.replace("LOSS", '"none"')).with_overrides(
        {"flow.voice.transport": "tcp/sack", "record.units": []}
    )
    with pytest.raises(ValueError, match="numbers segments, not packets"):
        capture(call, patterns={"flow:voice": tmp_path / "x.txt"})
