"""Conferences on page and terminal: the media that each participant received from each other one, and their limits."""

from __future__ import annotations

import math

import pytest
from typer.testing import CliRunner

import fairwave
from fairwave.answers import conference
from fairwave.answers.conference import Received
from fairwave.cli.app import app
from validation import kept
from validation.pages import render


def star(people, seconds, **call):
    """Participants around a server: name to rate up and rate down in Mb/s."""
    links = [
        {
            "from": name, "to": "sfu", "rate": f"{up} Mb/s", "delay": "10 ms", "reverse": {"rate": f"{down} Mb/s"},
        }
        for name, (up, down) in people.items()
    ]  # fmt: skip
    made = {"name": "team", "participants": list(people), "server": {"node": "sfu"}, **call}
    return fairwave.Scenario.from_dict(
        {"name": "a conference", "duration": f"{seconds} s", "call": [made], "link": links}
    )


PEOPLE = {"ann": (20, 20), "ben": (20, 0.6), "cho": (0.3, 20)}


@pytest.fixture(scope="module")
def results():
    return star(PEOPLE, 25).run()


def cells(results):
    (call,) = conference.find_calls(results)
    return {(one.receiver, one.sender): one for one in conference.received(results, call)}


def test_each_pair_has_what_was_seen_and_heard_and_what_limited_it(results):
    found = cells(results)
    assert set(found) == {(a, b) for a in PEOPLE for b in PEOPLE if a != b}
    assert found["ann", "cho"].limited_by.startswith("cho's uplink")
    assert found["ben", "ann"].limited_by.startswith("ben's downlink")
    assert found["cho", "ann"].height > 2 * found["ben", "ann"].height
    for one in found.values():
        assert 1 <= one.worst <= min(one.speech, one.picture) + 1e-9
        assert 0 <= one.longest_s <= one.without_s <= 25
        assert 0 <= one.uplink <= 1
        assert 0 <= one.path + one.left_out <= 1 + 1e-9


def test_the_terminal_has_a_matrix_of_quality_of_limits_and_of_time_without_video(results):
    titles = [title for title, *_ in conference.matrices(results)]
    assert titles == [
        "team: who sees and hears whom",
        "team: what limits the picture",
        "team: seconds without video, layer switches a minute",
    ]
    for _, heads, rows, _ in conference.matrices(results):
        assert heads == ["", *PEOPLE]
        assert [row[0] for row in rows] == list(PEOPLE)
        assert all(row[place + 1] == "–" for place, row in enumerate(rows))


def test_what_limits_for_little_time_is_left_out():
    def make_received(**shares):
        nothing = dict.fromkeys(Received.__dataclass_fields__, math.nan)
        return Received(**(nothing | {"receiver": "ben", "sender": "ann"} | shares))

    assert make_received(uplink=0.04, path=0.02, left_out=0.0).limited_by == ""
    assert make_received(uplink=0.3, path=0.6, left_out=0.0).limited_by == "ben's downlink 60%"
    assert make_received(path=0.5, left_out=0.0).limited_by == "the path 50%"
    assert make_received(uplink=0.0, path=0.1, left_out=0.8).limited_by == "other cameras 80%"


def test_the_page_begins_with_the_matrix(tmp_path):
    file = tmp_path / "call.toml"
    file.write_text(star(PEOPLE, 8).to_toml(), encoding="utf-8")
    done = CliRunner().invoke(app, ["run", str(file), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    title = "What each participant of team saw and heard of each other one"
    assert title in page
    assert page.index(title) < page.index('id="tables"')
    assert (tmp_path / "out" / "figures" / "call-team.csv").exists()


def test_measures_of_pairs_can_be_asked_for(results):
    assert results.measured("without-video", "team-ann-to-cho").interval().mean < 5
    assert results.measured("longest-without-video", "team-ann-to-cho").interval().mean < 5
    assert results.measured("layer-switches", "team-ann-to-ben").interval().mean >= 0


def test_the_page_has_the_report_of_every_named_case(tmp_path):
    measured = kept.read("measured/sfu")
    page = render.PAGES["conferences"].render(tmp_path, quick=True)
    found = measured["cases"]
    assert [one["name"] for one in found] == [
        "above", "below", "path-above", "path-below", "suspension", "lossy-publisher", "probes-at-capacity",
    ]  # fmt: skip
    for one in found:
        switches, half = one["layer switches a minute"]
        assert f"| {one['what']} | {one['picture']} | {switches:.3g} ± {half:.3g} |" in page
    by_name = {one["name"]: one for one in found}
    assert by_name["suspension"]["until it moves, s"][0] < 15
    assert by_name["below"]["seconds without video"][0] > by_name["above"]["seconds without video"][0]


def test_everybody_may_leave_and_fifty_may_join_at_once():
    gone = star(PEOPLE, 6, participant=[{"name": name, "leave": "3 s"} for name in PEOPLE]).run()
    assert all(one.without_s <= 3 for one in cells(gone).values())
    crowd = {f"p{place}": (20, 20) for place in range(50)}
    whole = star(crowd, 2, server={"node": "sfu", "videos": 4}).run()
    (call,) = conference.find_calls(whole)
    assert len(call.participants) == 50
    assert conference.matrices(whole) == []
