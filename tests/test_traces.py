"""Rate traces: equal content in all formats, round trips, and errors that name the position."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import fairwave
from fairwave import traces
from fairwave.cli.input import scenario
from fairwave.cli.tracing import show_trace
from fairwave.errors import BadInputError
from fairwave.scenario import load
from fairwave.scenario_files import prepared

ROOT = Path(__file__).resolve().parent.parent

SAME = {
    "pensieve": "10.0 9\n10.5 2\n11.5 0.85\n12 0\n",
    "opennetlab": json.dumps(
        {
            "type": "video",
            "downlink": {},
            "uplink": {
                "trace_pattern": [
                    {"duration": 500, "capacity": 2000, "loss": 0, "rtt": 40},
                    {"duration": 1000, "capacity": 850, "loss": 0.1, "rtt": 60},
                    {"duration": 500, "capacity": 0, "loss": 0, "rtt": 40},
                ]
            },
        }
    ),
    "rattan": """
        [RepeatedBwPatternConfig]
        count = 0
        [[RepeatedBwPatternConfig.pattern]]
        [RepeatedBwPatternConfig.pattern.StaticBwConfig]
        bw = "2Mbps"
        duration = "500ms"
        [[RepeatedBwPatternConfig.pattern]]
        [RepeatedBwPatternConfig.pattern.RepeatedBwPatternConfig]
        count = 2
        [[RepeatedBwPatternConfig.pattern.RepeatedBwPatternConfig.pattern]]
        TraceBwConfig = { pattern = [["0s 250ms", ["850kbps", "0.85 Mbps"]]] }
        [[RepeatedBwPatternConfig.pattern]]
        StaticBwConfig = { bw = "0bps", duration = "500ms" }
    """,
    "csv": "time_s,rate_mbps\n0,2\n0.5,0.85\n1.5,0\n2.0,0\n",
    "sabre": json.dumps(
        [
            {"duration_ms": 500, "bandwidth_kbps": 2000, "latency_ms": 40},
            {"duration_ms": 1000, "bandwidth_kbps": 850, "latency_ms": 60},
            {"duration_ms": 500, "bandwidth_kbps": 0, "latency_ms": 40},
        ]
    ),
    "downloads": "1289406399 1 59.85 10.78 125000 500\n1289406400 2 59.85 10.78 106250 1000\n"
    "1289406400 3 59.85 10.78 0 0\n1289406401 4 59.85 -10.78 0 500\n",
}
"""2 Mb/s for half a second, 850 kb/s for one, nothing for half a second."""


def merged(trace):
    """Lengths and rates, with adjacent steps of the same rate merged."""
    starts = np.flatnonzero(np.concatenate([[True], np.diff(trace.rates) != 0]))
    ends = np.concatenate([[0], np.cumsum(trace.lengths)])
    return np.diff(np.append(ends[starts], ends[-1])).tolist(), trace.rates[starts].tolist()


@pytest.mark.parametrize("kind", SAME)
def test_every_format_says_the_same(kind):
    trace = traces.parse(SAME[kind].encode())
    assert trace.format == kind
    lengths, rates = merged(trace)
    assert rates == [2_000_000, 850_000, 0]
    # The last row of a table by times lasts as long as the one before it.
    assert lengths == [500_000_000, 1_000_000_000, 1_000_000_000 if kind == "csv" else 500_000_000]


@pytest.mark.parametrize(
    "head",
    [
        "time_s,rate_kbps", "Time (s),Bandwidth [kb/s]", "timestamp_s;capacity_kbit/s;note", "t_s\trate_kbps",
        "time_s rate_kbps",
    ],
)  # fmt: skip
def test_heads_are_read_with_their_units(head):
    separator = next((one for one in (",", ";", "\t") if one in head), " ")
    more = f"{separator}x" if "note" in head else ""
    text = "\n".join([head, *(f"{at}{separator}{rate}{more}" for at, rate in ((0, 500), (2, 1500.125)))])
    trace = traces.parse(text.encode())
    assert trace.rates.tolist() == [500_000, 1_500_125]
    assert trace.lengths.tolist() == [2_000_000_000] * 2
    assert trace.left_out == (("note",) if more else ())


@pytest.mark.parametrize(
    ("head", "rates"),
    [
        ("time (s),rate (MB/s)", [40_000_000, 48_000_000]),
        ("time_s,rate_kB/s", [40_000, 48_000]),
        ("time_s,rate_MBps", [40_000_000, 48_000_000]),
        ("time_s,rate_bytes/s", [40, 48]),
        ("time_s,rate_Mbps", [5_000_000, 6_000_000]),
        ("TIME_S,rate_mb/s", [5_000_000, 6_000_000]),
    ],
)
def test_a_capital_b_counts_bytes(head, rates):
    assert traces.parse(f"{head}\n0,5\n1,6\n".encode()).rates.tolist() == rates


@pytest.mark.parametrize("unit", ["MBPS", "KB/S", "MiB/s"])
def test_a_unit_that_leaves_bits_or_bytes_open_is_refused(unit):
    with pytest.raises(traces.TraceError, match=f"has the unit '{unit}'.*Mb/s"):
        traces.parse(f"time_s,rate_{unit}\n0,5\n1,6\n".encode())


def test_delay_and_loss_are_read_where_they_are_said():
    trace = traces.parse(b"duration_ms,rate_mbps,delay_ms,loss_%\n100,1,20,0\n200,2,30.5,2.5\n")
    assert trace.delay.tolist() == pytest.approx([0.02, 0.0305])
    assert trace.loss.tolist() == pytest.approx([0, 0.025])
    gym = traces.parse(SAME["opennetlab"].encode())
    assert gym.delay.tolist() == pytest.approx([0.02, 0.03, 0.02])
    assert gym.loss.tolist() == pytest.approx([0, 0.1, 0])


def test_every_one_of_mahimahis_opportunities_is_kept():
    trace = traces.parse(b"0\n1\n1\n3\n3\n3\n7\n7\n")
    assert trace.opportunities.tolist() == [3, 0, 3, 0, 0, 0, 2]
    assert trace.size == 8 * 1504
    assert (trace.rates * trace.lengths).sum() == 8 * 1504 * 8 * 1_000_000_000
    assert traces.as_law(trace) == {"opportunities": "3030002"}
    assert traces.times_of_opportunities(trace).tolist() == [1, 1, 1, 3, 3, 3, 7, 7]


def test_more_opportunities_than_have_a_character_become_a_series():
    trace = traces.parse(b"1\n" * 62 + b"3\n")
    assert traces.as_law(trace) == {"series": "1 745984,1 0,1 12032"}
    assert traces.as_law(traces.parse(b"1\n" * 61)) == {"opportunities": "Z"}


@pytest.mark.parametrize("suffix", [".csv", ".pensieve", ".json", ".toml"])
def test_what_is_written_is_read_again(tmp_path, suffix):
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 3_000_000_000, 200)
    rates = rng.integers(0, 50_000_000, 200)
    again = traces.read(traces.write(tmp_path / f"x{suffix}", traces.Trace(lengths, rates, "csv")))
    assert again.lengths.tolist() == lengths.tolist()
    assert again.rates.tolist() == rates.tolist()


def test_delay_and_loss_are_written_where_the_format_has_them(tmp_path):
    trace = traces.parse(SAME["opennetlab"].encode())
    for suffix in (".csv", ".json"):
        again = traces.read(traces.write(tmp_path / f"x{suffix}", trace))
        assert again.delay.tolist() == pytest.approx(trace.delay.tolist())
        assert again.loss.tolist() == pytest.approx(trace.loss.tolist())


def test_opportunities_of_a_rate_are_those_that_it_has_let_through(tmp_path):
    # 3.008 Mb/s send 1504 B every 4 ms: 125 in half a second.
    path = traces.write(tmp_path / "x.mahi", traces.parse(b"duration_ms,rate_kbps\n500,3008\n"))
    assert [int(line) for line in path.read_text().split()] == list(range(4, 504, 4))
    trace = traces.read(path)
    assert traces.write(tmp_path / "y.mahi", trace).read_text() == path.read_text()


REFUSED = [
    (b"", "is empty"),
    (b" \n \n", "is empty"),
    (b"\xff\xfe", "byte 0"),
    (b"hello there world\n", "line 1: 'hello there world' begins no trace"),
    (b"5\n7\n6\n", "line 3: 6 ms comes after 7 ms"),
    (b"5\n-7\n", "line 2: '-7' is no time"),
    (b"5\n7.5\n", "line 2: '7.5' is no time"),
    (b"5\nnan\n", "line 2: 'nan' is no time"),
    (b"5\n99999999999999999999\n", "line 2: 99999999999999999999 ms is too late"),
    (b"0\n0\n", "lasts no time"),
    (b"0 1\n1 2\n1 3\n", "line 3: 1 s comes after 1 s"),
    (b"0 1\n1 -2\n", "line 2: '-2' is no number of Mb/s"),
    (b"0 1\n1 nan\n", "line 2: 'nan' is no number of Mb/s"),
    (b"0 1\n1 inf\n", "line 2: 'inf' is no number of Mb/s"),
    (b"0 1\n1 2 3\n", "line 2: '1 2 3' has 3 columns"),
    (b"0 1\n", "has 1 row"),
    (b"0 1\n1 0\n", "lets nothing through"),
    (b"time_s,rate_mbps\n0,1\n1,x\n", "line 3: 'x' is no number of rate_mbps"),
    (b"time_s,rate_mbps\n0,1\n1\n", "line 3: '' is no number"),
    (b"time_s,rate_mbps\n0,1\n-1,2\n", "line 3: -1 s comes after 0 s"),
    (b"time_s,rate_furlongs\n0,1\n", "unit 'furlongs'"),
    (b"rate_mbps\n1\n", "neither a time nor a duration"),
    (b"time_s,rate\n0,1\n", "write one of b/s"),
    (b"time_s,rate_mbps,bandwidth_mbps\n0,1,1\n", "two columns of rate"),
    (b"time_s,rate_mbps\n", "has no rows"),
    (b"duration_s,rate_mbps\n0,1\n", "a duration of 0"),
    (b"duration_s,rate_mbps,loss\n1,1,1.5\n", "'1.5' is no number of loss"),
    (b'{"uplink": {}}', "no `trace_pattern`"),
    (b'{"uplink": ', "no JSON"),
    (b'{"uplink": {"trace_pattern": [{"duration": 5}]}}', r"trace_pattern\[0\].capacity is None"),
    (b'{"uplink": {"trace_pattern": [{"duration": 0, "capacity": 5}]}}', r"\[0\].duration is 0"),
    (b'{"uplink": {"trace_pattern": [{"duration": 1, "capacity": -5}]}}', r"\[0\].capacity is -5"),
    (b'{"uplink": {"trace_pattern": [{"duration": 1, "capacity": 5, "loss": 7}]}}', "a share from 0 to 1"),
    (b'[NormalizedBwConfig]\nmean = "12Mbps"\n', "NormalizedBwConfig, which describes no steps"),
    (b'[StaticBwConfig]\nbw = "12Mbps"\n', "a duration of None"),
    (b'[StaticBwConfig]\nbw = "12"\nduration = "1s"\n', "a rate of '12'"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "said"), REFUSED)
def test_what_is_no_trace_is_refused_with_its_place(data, said):
    with pytest.raises(traces.TraceError, match=said):
        traces.parse(data, "trace")


def test_a_file_that_two_readers_fit_is_read_as_it_is_said():
    text = b"# time_s rate_mbps\n0 1\n1 2\n3 4\n"
    with pytest.raises(traces.TraceError, match="read as pensieve and csv: say which by `format"):
        traces.parse(text, "trace")
    assert traces.parse(text, format="pensieve").rates.tolist() == [2_000_000, 4_000_000]
    assert traces.parse(text, format="csv").rates.tolist() == [1_000_000, 2_000_000, 4_000_000]
    both = SAME["opennetlab"].replace(
        '"downlink": {}', '"downlink": {"trace_pattern": [{"duration": 1, "capacity": 7}]}'
    )
    with pytest.raises(traces.TraceError, match='part = "uplink"'):
        traces.parse(both.encode())
    assert traces.parse(both.encode(), part="downlink").rates.tolist() == [7_000]
    with pytest.raises(traces.TraceError, match="no format 'mahi'"):
        traces.parse(text, format="mahi")


def test_what_a_trace_comes_to():
    found = traces.summary(traces.parse(SAME["pensieve"].encode()))
    assert (found.duration, found.size) == (2.0, (1_000_000 + 850_000) // 8)
    assert found.mean == pytest.approx(925_000)
    assert (found.least, found.most) == (0.0, pytest.approx(2e6))
    assert found.percentiles[50] == pytest.approx(850_000)
    assert (found.without, found.longest) == (0.25, 0.5)
    # Milliseconds without an opportunity do not count as time without service.
    assert traces.summary(traces.parse(b"20\n40\n60\n80\n100\n")).without == 0


SCENARIO = """
name = "traced"
duration = "{duration}"

[topology]
preset = "dumbbell"
bottleneck = {{ rate = {{ law = "trace", file = "x.csv"{more} }}, delay = "10 ms" }}

[[flow]]
name = "flood"
transport = {{ name = "udp", header = "0 B" }}
traffic = {{ kind = "cbr", rate = "5 Mb/s", payload = "1000 B" }}
"""


@pytest.fixture
def traced(tmp_path):
    def traced(duration, more="", content=SAME["csv"]):
        (tmp_path / "x.csv").write_text(content)
        (tmp_path / "scenario.toml").write_text(SCENARIO.format(duration=duration, more=more))
        return load(tmp_path / "scenario.toml")

    return traced


def carried(results):
    """Bytes that left the bottleneck."""
    links = results.to_polars("links")
    return links.filter(links["link"] == "r1>r2")["wire_departed"].item()


def test_a_run_carries_what_its_trace_lets_through(traced):
    for more, size in ((', after = "repeat"', 2 * 231_250), (', after = "hold"', 231_250)):
        results = traced("5 s", more).run()
        # The first packet arrives after 5 ms on its host's link (1250 B); at the end one is in transmission (1000 B).
        assert size - 2_500 < carried(results) <= size


def test_a_trace_that_ends_before_the_run_must_say_what_comes_then(traced):
    with pytest.raises(fairwave.ScenarioError, match=r"lasts 2.5 s, the run 5 s") as error:
        traced("5 s")
    assert 'after = "repeat"' in str(error.value)
    assert 'after = "hold"' in str(error.value)
    assert traced("2 s").cautions() == [
        "r1>r2: the trace of its rate (and of 1 other link directions) lasts 2.5 s, the run 2 s: the rest is not used"
    ]
    assert traced("2500 ms").cautions() == []


def test_a_scenario_holds_its_trace_wherever_it_goes(traced, tmp_path):
    given = traced("2 s")
    (tmp_path / "x.csv").unlink()
    for again in (load(given.to_toml()), load(given.to_json())):
        assert again == given
        assert carried(again.run()) == carried(given.run())
    other = traced("2 s", content=SAME["csv"].replace("0.85", "0.86"))
    assert other != given


def test_a_trace_named_by_an_override_is_read_before_the_run(traced, tmp_path, monkeypatch):
    given = traced("2 s")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "y.pensieve").write_text("0 1\n2 1\n")
    other = given.with_overrides({"topology.bottleneck.rate": {"law": "trace", "file": "y.pensieve"}})
    assert prepared(other).to_dict()["topology"]["bottleneck"]["rate"] == {
        "law": "trace",
        "series": "2000 1000",
    }


def test_what_is_set_may_say_what_comes_after_the_trace(traced, tmp_path, monkeypatch):
    traced("2 s")
    path = str(tmp_path / "scenario.toml")
    longer = scenario(path, ["duration=5 s", "topology.bottleneck.rate.after=hold"])
    assert longer.to_dict()["topology"]["bottleneck"]["rate"]["after"] == "hold"
    with pytest.raises(fairwave.ScenarioError, match="nothing sets what follows its end"):
        scenario(path, ["duration=5 s"])
    # Files of `--set` are relative to the working folder, files of the scenario to its folder.
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here" / "y.pensieve").write_text("0 1\n2 1\n")
    other = scenario(path, ['topology.bottleneck.rate={ law = "trace", file = "y.pensieve" }'])
    assert other.to_dict()["topology"]["bottleneck"]["rate"]["series"] == "2000 1000"


def test_a_file_that_cannot_be_read_is_refused_with_its_key(traced):
    with pytest.raises(fairwave.ScenarioError, match=r"topology.bottleneck.rate.file: .*line 3: '-1'"):
        traced("2 s", content="time_s,rate_mbps\n0,1\n1,-1\n")


def test_an_hour_of_opportunities_is_read(tmp_path):
    rng = np.random.default_rng(1)
    (tmp_path / "x.csv").write_text(
        "\n".join(map(str, np.sort(rng.integers(1, 3_600_000, 2_500_000)).tolist())) + "\n"
    )
    (tmp_path / "scenario.toml").write_text(SCENARIO.format(duration="3599 s", more=""))
    # `make bench` measures the time, and fails above a second.
    given = load(tmp_path / "scenario.toml")
    assert "opportunities" in given.to_dict()["topology"]["bottleneck"]["rate"]


def test_the_command_shows_draws_and_converts(tmp_path, capsys):
    source = tmp_path / "x.pensieve"
    source.write_text(SAME["pensieve"])
    for name in ("x.png", "x.html"):
        show_trace(source, None, None, tmp_path / name, tmp_path / "x.trace", "rattan", json=False)
        assert (tmp_path / name).stat().st_size > 5000
    said = capsys.readouterr().out
    assert "pensieve" in said
    assert "25.00% of the time, longest 0.5 s" in said
    assert merged(traces.read(tmp_path / "x.trace")) == merged(traces.read(source))
    show_trace(source, None, None, None, None, None, json=True)
    assert json.loads(capsys.readouterr().out)["mean_bps"] == pytest.approx(925_000)
    with pytest.raises(BadInputError, match="no file"):
        show_trace(tmp_path / "gone", None, None, None, None, None, json=False)
    with pytest.raises(BadInputError, match="asks for no format"):
        show_trace(source, None, None, None, tmp_path / "x.xyz", None, json=False)
    with pytest.raises(BadInputError, match="--to says"):
        show_trace(source, None, None, None, None, "csv", json=False)


def test_the_example_is_what_its_script_draws():
    drawn = runpy.run_path(str(ROOT / "examples/lte.py"))["text"]()
    assert (ROOT / "examples/lte.csv").read_text() == drawn


GNETTRACK = """Timestamp,Longitude,Latitude,Speed,NetworkMode,RSRP,DL_bitrate,UL_bitrate,State
2018.01.18_09.57.54,-8.49,51.89,0,LTE,-101,-,7,D
2018.01.18_09.57.55,-8.49,51.89,0,LTE,-101,2000,10,D
2018.01.18_09.57.55,-8.49,51.89,0,LTE,-101,4000,30,D
2018.01.18_09.57.57,-8.49,51.89,0,LTE,-,500,-,D
2018.01.18_09.57.58,-8.49,51.89,0,LTE,-,0,5,D
"""


def test_a_log_of_gnettrack_has_both_directions():
    down = traces.parse(GNETTRACK.encode())
    assert (down.format, down.lengths.tolist()) == (
        "gnettrack",
        [2_000_000_000, 1_000_000_000, 1_000_000_000],
    )
    assert down.rates.tolist() == [3_000_000, 500_000, 0]
    up = traces.parse(GNETTRACK.replace(",", "\t").encode(), part="uplink")
    assert up.rates.tolist() == [7_000, 20_000, 30_000, 5_000]
    with pytest.raises(traces.TraceError, match="has no sidelink: write `part = "):
        traces.parse(GNETTRACK.encode(), part="sidelink")


def test_a_latency_of_sabre_is_shared_by_both_directions():
    assert traces.parse(SAME["sabre"].encode()).delay.tolist() == [0.02, 0.03, 0.02]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SAME["sabre"].replace("850", "-1"), r"\[1\].bandwidth_kbps is -1: write a number from 0"),
        (SAME["sabre"].replace("1000", "0"), r"\[1\].duration_ms is 0: write a number above 0"),
        (SAME["downloads"].replace("125000 500", "125000 0"), "line 1: 125000 bytes came in 0 ms"),
        (SAME["downloads"] + "1 2 3\n", "line 5: there are 3 columns"),
        (GNETTRACK.replace("57.57", "57.5x"), "line 5: '2018.01.18_09.57.5x' is no time"),
        (GNETTRACK.replace("57.57", "56.57"), "line 5: its time comes after a later one"),
    ],
)
def test_a_damaged_log_is_refused_with_its_place(text, said):
    with pytest.raises(traces.TraceError, match=said):
        traces.parse(text.encode())


def test_a_unit_in_bytes_counts_eight_bits():
    trace = traces.parse(b"time (s),rate (MB/s)\n0,5\n1,6\n2,7\n")
    assert trace.rates.tolist() == [40_000_000, 48_000_000, 56_000_000]
