"""Events and schedules from Python and the command line: figures mark them, sweeps reach them."""

from __future__ import annotations

import json

import polars as pl
import pytest

import fairwave
from fairwave.cli.declarations import RunOptions
from fairwave.cli.runs import run_scenario
from fairwave_report import single

CALL = """
name = "events"
duration = "12 s"
[[link]]
from = "a"
to = "b"
rate = "1 Mb/s"
delay = "10 ms"
[[flow]]
name = "call"
from = "a"
to = "b"
transport = "udp"
traffic = { kind = "voice", always-on = true }
[[flow]]
name = "flood"
from = "a"
to = "b"
transport = { name = "udp", header = "0 B" }
traffic = { kind = "cbr", rate = "3 Mb/s", payload = "500 B" }
[[event]]
name = "slower"
at = "6 s"
link = "a>b"
rate = "500 kb/s"
[[event]]
at = "9 s"
link = "a>b"
state = "down"
[[event]]
at = "10 s"
link = "a>b"
state = "up"
"""


@pytest.fixture(scope="module")
def call():
    return fairwave.load(CALL)


def test_the_plan_tells_what_is_marked(call):
    assert call.plan()["marks"] == [
        {"at_s": 6.0, "label": "slower"},
        {"at_s": 9.0, "label": "a>b down"},
        {"at_s": 10.0, "label": "a>b up"},
    ]


def test_an_outage_leaves_a_row_and_a_run_without_one_no_table(call):
    outages = call.run().to_polars("outages")
    assert outages.height == 1
    assert outages["link"].cast(pl.String).to_list() == ["a>b"]
    assert outages["lost_waiting"][0] > 800  # 750 packets of the flood, 50 of the call, and the waiting ones
    assert outages["lost_in_transmission"].to_list() == [1]
    without = call.with_overrides({"event": []}).run()
    with pytest.raises(LookupError, match="left no outages"):
        without._table("outages")


def test_values_of_events_can_be_compared_and_swept(call):
    results = fairwave.compare(call, {"event.slower.rate": ["500 kb/s", "200 kb/s"]}, n=1)
    sent = results.to_polars("links").filter(pl.col("link").cast(pl.String) == "a>b")["wire_departed"]
    # 6 s at 1 Mb/s, 5 at the event's rate.
    for found, expected in zip(sent, (6e6 + 5 * 5e5, 6e6 + 5 * 2e5), strict=True):
        assert found * 8 == pytest.approx(expected, rel=2e-3)


def test_figures_over_time_mark_events_in_every_panel(call, tmp_path, monkeypatch):
    lines, told = [], []
    original = single.drawing.mark

    def mark(axes, marks, *, labels: bool):
        before = len(axes.lines)
        original(axes, marks, labels=labels)
        lines.append([line.get_xdata()[0] for line in axes.lines[before:]])
        told.append([text.get_text() for text in axes.texts if text.get_text()])

    monkeypatch.setattr(single.drawing, "mark", mark)
    run = single.repeat_run(call, call.run(), 1)
    assert single.draw_series(run, tmp_path) is not None
    assert len(lines) == 3  # goodput of fast and of slow flows, and queues
    assert all(one == [6.0, 9.0, 10.0] for one in lines)
    assert told == [["slower", "a>b down", "a>b up"], [], []]


def test_record_capture_is_written_with_the_tables(call, tmp_path, capsys):
    asked = call.with_overrides({"record.capture": ["link:a>b", "host:b=b.pcapng"]})
    file = tmp_path / "events.toml"
    file.write_text(asked.to_toml())
    run_scenario(RunOptions(scenario=str(file), out=tmp_path / "out", threads=1, json=True, page=False))
    document = json.loads(capsys.readouterr().out)
    names = {entry["file"].rpartition("/")[2]: entry["packets"] for entry in document["captures"]}
    assert set(names) == {"link-a-b.pcapng", "b.pcapng"}
    link = next(row for row in document["links"] if row["link"] == "a>b")
    assert names["link-a-b.pcapng"] == link["departures"]
    assert (tmp_path / "out" / "captures" / "b.pcapng").stat().st_size > 1000
    run_scenario(RunOptions(scenario=str(file), threads=1, json=True))
    assert "written with --out" in capsys.readouterr().err


def test_what_an_event_may_say_is_explained():
    from fairwave.reference import entries

    [event] = entries("event")
    told = {key: about for key, _, _, about in event.parameters}
    assert set(told) == {"name", "at", "link", "flow", "rate", "delay", "loss", "state"}
    assert "`voice[3]`" in told["flow"], "what stands in brackets stays"
    for name in ("event", "outages", "schedule"):
        for one in entries(name):
            assert fairwave.load(one.example).plan()["marks"], name
