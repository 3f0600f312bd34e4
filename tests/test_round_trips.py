"""Round trips, responsiveness, Quality of Outcome, means over time and CAKE's tins, as users see them."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import fairwave
from fairwave.answers import tins
from fairwave.measuring import measures
from fairwave.tables import Table

LINE = """
name = "line"
duration = "20 s"
warmup = "2 s"
hosts = { clock-skew = "0 ppm", send-jitter = "0 s" }
[[link]]
from = "a"
to = "b"
rate = "1 Mb/s"
delay = "30 ms"
queue = { capacity = { packets = 50 } }
[[flow]]
name = "ping"
from = "a"
to = "b"
transport = "ping"
traffic = { kind = "ping", interval = "500 ms", phase = "zero" }
"""

UP = """
[[flow]]
name = "up"
from = "a"
to = "b"
transport = "tcp/cubic"
traffic = "bulk"
"""


def row_of(results, table, **wanted):
    rows = results.to_polars(table)
    for name, value in wanted.items():
        rows = rows.filter(pl.col(name).cast(pl.String) == value)
    return rows.to_dicts()[0]


def test_a_ping_on_an_empty_line_takes_both_delays_and_both_transmissions():
    row = row_of(fairwave.load(LINE).run(1), "round_trips")
    # 84 B at 1 Mb/s are 0.672 ms each way.
    assert row["mean_s"] == pytest.approx(0.060 + 2 * 0.000672, abs=1e-9)
    assert row["min_s"] == row["max_s"] == row["trimmed_mean_s"] == row["smoothed_s"]
    # Requests at 2.0, 2.5, … 19.5 s; the one at 20.0 s is in flight.
    assert (row["samples"], row["requests"], row["unanswered"]) == (36, 36, 0)


def test_measures_read_the_table_and_know_their_units():
    results = fairwave.load(LINE).run(1)
    value = {
        name: results.measured(name, "ping").values[0]
        for name in ("rtt", "rtt-median", "rtt-p95", "ping-loss", "responsiveness")
    }
    assert value["rtt"] == pytest.approx(61.344)
    assert value["rtt-median"] == value["rtt-p95"] == pytest.approx(61.344)
    assert value["ping-loss"] == 0
    assert value["responsiveness"] == pytest.approx(60 / 0.061344)


def test_lost_requests_and_lost_replies_are_without_reply():
    lossy = fairwave.load(LINE).with_overrides(
        {"link.a>b.loss": 0.2, "link.a>b.reverse.loss": 0.5, "duration": "500 s"}
    )
    row = row_of(lossy.run(1), "round_trips")
    share = row["unanswered"] / row["requests"]
    # 1 − 0.8 · 0.5 = 0.6; 996 requests: ± 3 · 0.0155.
    assert share == pytest.approx(0.6, abs=0.047)
    measured = lossy.run(1).measured("ping-loss", "ping").values[0]
    assert measured == pytest.approx(100 * share)


def test_tcp_s_round_trip_is_measured_where_it_is_asked_for():
    plain = fairwave.load(LINE + UP)
    assert "up" not in plain.run(1).to_polars("round_trips")["group"].to_list()
    results = plain.with_overrides({"record.round-trips": ["up"]}).run(1)
    up, ping = (row_of(results, "round_trips", group=name) for name in ("up", "ping"))
    # Both wait in the same queue of 50 packets: 50 · 1500 B at 1 Mb/s are 600 ms.
    assert 0.06 < up["min_s"] < up["mean_s"] < up["p95_s"] <= up["max_s"] < 0.06 + 0.63
    assert up["mean_s"] == pytest.approx(ping["mean_s"], rel=0.2)
    assert up["requests"] is None
    assert up["smoothed_s"] > 0.06
    assert (
        plain.run(1)
        .to_polars("flows")
        .select("goodput_bps")
        .equals(results.to_polars("flows").select("goodput_bps"))
    ), "looking changes nothing"


def test_responsiveness_leaves_out_the_longest_twentieth_and_divides_a_minute():
    table = Table.from_columns(
        {
            "run": [0, 0, 0],
            "group": ["p", "p", "p"],
            "trimmed_mean_s": [0.05, 0.1, 0.2],
            "requests": [10.0, 10.0, None],
        }
    )

    class Made:
        def rows(self, _name):
            return table

    value = measures.responsiveness("p").reduce(Made())["value"].values
    assert list(value) == [pytest.approx((1200 + 600) / 2)]


def test_quality_of_outcome_is_the_worst_of_its_parts():
    needs = {
        "of": "round-trip",
        "latency": [{"percentile": 50, "optimal": "0 ms", "unacceptable": "122.688 ms"}],
    }
    results = fairwave.load(LINE).with_overrides({"flow.ping.outcome": needs}).run(1)
    assert row_of(results, "outcomes")["score"] == pytest.approx(50.0)
    assert results.measured("qoo", "ping").values[0] == pytest.approx(50.0)
    one_way = {"latency": [{"percentile": 99, "optimal": "30.672 ms", "unacceptable": "40 ms"}]}
    lossy = {**one_way, "loss": {"optimal": 0.1, "unacceptable": 0.3}}
    base = fairwave.load(LINE).with_overrides({"duration": "500 s", "link.a>b.loss": 0.2})
    row = row_of(base.with_overrides({"flow.ping.outcome": lossy}).run(1), "outcomes")
    assert row["latency"] == pytest.approx(100)
    assert row["score"] == row["loss"] == pytest.approx(50, abs=19)
    assert row_of(base.with_overrides({"flow.ping.outcome": one_way}).run(1), "outcomes")[
        "score"
    ] == pytest.approx(100)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("flow.ping.outcome", {"latency": []}, "at least one percentile"),
        (
            "flow.ping.outcome",
            {"latency": [{"percentile": 0, "optimal": "1 ms", "unacceptable": "2 ms"}]},
            "above 0 and at most 100",
        ),
        (
            "flow.ping.outcome",
            {"latency": [{"percentile": 50, "optimal": "2 ms", "unacceptable": "2 ms"}]},
            "above `optimal`",
        ),
        ("flow.ping.traffic.interval", "0 s", "interval"),
        ("flow.ping.traffic.payload", "70000 B", "from 1 B to 65000 B"),
        ("record.round-trips", ["nobody"], "there is no group of flows named `nobody`"),
        ("record.series", ["ping"], "`bin`"),
    ],
)
def test_bad_input_is_refused_with_what_is_allowed(key, value, said):
    with pytest.raises(fairwave.ScenarioError) as caught:
        fairwave.load(LINE).with_overrides({key: value}).run(1)
    assert said in str(caught.value)


def test_series_are_means_per_bin_of_each_group_and_link():
    recorded = {"record.bin": "1 s", "record.series": ["*"], "record.queues": ["a>b"]}
    voice = """
[[flow]]
name = "call"
from = "a"
to = "b"
transport = "udp"
traffic = { kind = "voice", always-on = true, phase = "zero" }
"""
    scenario = fairwave.load(LINE + UP + voice)
    results = scenario.with_overrides(recorded).run(1)
    series = results.to_polars("series").with_columns(
        pl.col("kind").cast(pl.String), pl.col("name").cast(pl.String)
    )

    def select_series(kind, name):
        return series.filter((pl.col("kind") == kind) & (pl.col("name") == name))

    for name in ("ping", "up"):
        assert select_series("group_round_trip_s", name).height == 20
    assert select_series("group_mos", "call").height == 20
    assert select_series("group_mos", "up").height == 0, "what is not defined has no row"
    # The means over the bins of the window equal the run's means if bins have equal numbers of units.
    flows = row_of(results, "flows", group="call")
    window = pl.col("time_s") > 2.5
    delay = select_series("group_delay_s", "call").filter(window)["value"].mean()
    assert delay == pytest.approx(flows["delay_mean_s"], rel=0.03)
    goodput = select_series("group_goodput_bps", "up").filter(window)["value"].mean()
    assert goodput == pytest.approx(row_of(results, "groups", group="up")["goodput_bps"], rel=0.02)
    link = row_of(results, "links", link="a>b")
    wait = select_series("queueing_delay_s", "a>b").filter(window)["value"].mean()
    assert wait == pytest.approx(link["mean_wait_s"], rel=0.05)
    assert select_series("group_loss", "call")["value"].max() <= 1
    without = scenario.run(1)
    assert without.to_polars("flows").equals(results.to_polars("flows")), "recording changes nothing"


CAKE = {"discipline": "cake", "bandwidth": "900 kb/s"}


def test_cake_s_tins_are_those_of_tc_and_count_what_the_link_counts():
    results = fairwave.load(LINE + UP).with_overrides({"link.a>b.queue": CAKE, "warmup": "0 s"}).run(1)
    rows = results.to_polars("tins").with_columns(
        pl.col("link").cast(pl.String), pl.col("tin").cast(pl.String)
    )
    mine = rows.filter(pl.col("link") == "a>b")
    assert mine["tin"].to_list() == ["Best Effort", "Bulk", "Voice"]
    link = row_of(results, "links", link="a>b")
    assert mine["pkts"].sum() == link["arrivals"]
    assert mine["drops"].sum() == link["dropped_overflow"] + link["dropped_early"] > 0
    best, bulk, voice = mine.to_dicts()
    assert (best["thresh_bps"], bulk["thresh_bps"], voice["thresh_bps"]) == (900_000, 56_248, 225_000)
    # 1514 B take 13.5 ms at 900 kb/s, and 1.5 times that is the target.
    assert best["target_s"] == pytest.approx(1.5 * 1514 * 8 / 900e3, abs=1e-6)
    assert best["max_len"] == 1500
    assert best["way_miss"] >= 2
    assert 0 < best["sp_delay_s"] <= best["av_delay_s"] <= best["pk_delay_s"]
    assert voice["pkts"] == bulk["pkts"] == 0
    [(_, head, table), *_] = [one for one in tins.tables(results) if one[0] == "a>b"]
    assert head == ["", "Bulk", "Best Effort", "Voice"]
    shown = {row[0]: row[1:] for row in table}
    assert shown["pkts"][1] == str(best["pkts"])
    assert shown["ack_drop"] == ["0", "0", "0"]
    assert list(shown)[:7] == [
        "thresh (Mb/s)", "target (ms)", "interval (ms)", "pk_delay (ms)", "av_delay (ms)", "sp_delay (ms)",
        "backlog (B)",
    ]  # fmt: skip


def test_other_queues_have_no_tins():
    assert "tins" not in fairwave.load(LINE).run(1).tables


def cli(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "fairwave", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout + done.stderr


def test_the_command_line_measures_what_it_is_asked_for(tmp_path):
    file = tmp_path / "line.toml"
    file.write_text(LINE + UP, encoding="utf-8")
    status, said = cli("run", str(file), "--measures", "rtt,rtt-p95", "--json")
    assert status == 0, said
    found = {
        (one["group"], one["measure"])
        for one in json.loads(said)["summary"]
        if one["measure"].startswith("rtt")
    }
    assert {("up", "rtt"), ("up", "rtt-p95"), ("ping", "rtt")} <= found
    status, said = cli("run", str(file), "--measures", "qoo")
    assert status == 0
    assert "says in no `outcome` what it needs" in " ".join(said.split())


def test_rrul_has_flent_s_parts_and_cake_answers_pings_sooner():
    base = fairwave.load(Path(__file__).parents[1] / "examples" / "rrul.toml").with_overrides(
        {"duration": "20 s"}
    )
    marks = {flow["name"]: flow.get("dscp", "df") for flow in base.to_dict()["flow"]}
    each = {"be": "df", "bk": "cs1", "cs5": "cs5", "ef": "ef"}
    assert marks == {
        **{f"tcp-{way}-{name}": dscp for way in ("upload", "download") for name, dscp in each.items()},
        "ping-icmp": "df", **{f"ping-udp-{name}": each[name] for name in ("be", "bk", "ef")},
    }  # fmt: skip
    median = {}
    for queue in ("drop-tail", "fq-codel", "cake"):
        results = base.with_overrides({"link.modem>isp.queue": queue}).run(1)
        median[queue] = [
            results.measured("rtt-median", name).values[0] for name in ("ping-icmp", "ping-udp-ef")
        ]
        series = results.to_polars("series").filter(pl.col("kind").cast(pl.String) == "group_round_trip_s")
        assert series.height == 4 * 20 + 8 * 15, "a value per second; the load begins at 5 s"
        if queue == "cake":
            tins = results.to_polars("tins").filter(pl.col("link").cast(pl.String) == "modem>isp")
            sent = dict(tins.select(pl.col("tin").cast(pl.String), "pkts").iter_rows())
            assert len(sent) == 3
            assert min(sent.values()) > 100, "CS1 goes to bulk, CS5 and EF to voice"
    # Propagation is 30.2 ms both ways; a full modem adds up to 0.8 s up and 0.17 s down.
    assert min(median["drop-tail"]) > 300
    assert max(median["fq-codel"]) < 80
    assert max(median["cake"]) < 80
    assert all(one > 30 and math.isfinite(one) for each in median.values() for one in each)
