"""Verdicts that are true: gaps cap a call below good, codecs without factors are not rated, delay is visible."""

from __future__ import annotations

import pytest

import fairwave
from fairwave.answers.bands import Held, scale_of
from fairwave.answers.events import held
from fairwave.answers.results_api import answer
from fairwave.measuring.statistics import Interval
from fairwave_network import measuring as network

MOS = scale_of("mos")

WIRE = """
name = "wire"
duration = "{seconds} s"
hosts = {{ clock-skew = "0 ppm", send-jitter = "0 s" }}
[[link]]
from = "a"
to = "b"
rate = "10 Mb/s"
delay = "{delay} ms"
{link}
[[flow]]
name = "{name}"
from = "a"
to = "b"
transport = "udp"
traffic = {traffic}
{flow}
"""

G711 = '{ kind = "voice", codec = "g711", always-on = true }'
UNRATED = '{ kind = "voice", codec = "evs-13.2", always-on = true }'
CBR = '{ kind = "cbr", rate = "200 kb/s", payload = "500 B" }'


def wire(traffic, *, delay=20, hole=0, seconds=30, name="call", link="", flow=""):
    """One flow over a link that is down from 10 s on, for `hole` ms."""
    link = f"{link}\noutages = [{{ from = '10 s', to = '{10_000 + hole} ms' }}]" if hole else link
    return fairwave.load(
        WIRE.format(traffic=traffic, delay=delay, seconds=seconds, name=name, link=link, flow=flow)
    )


def first(results):
    return answer(results).sentences[0]


@pytest.mark.parametrize(
    ("hole", "word", "share"),
    [(0, "good", 0.0), (400, "good", 0.0), (600, "fair", 100.0), (2000, "fair", 100.0)],
)
def test_a_call_with_a_gap_above_half_a_second_is_not_good(hole, word, share):
    results = wire(G711, hole=hole).run(1)
    assert first(results).startswith(f"The call is {word}: MOS ")
    assert results.measured("gap-calls", "call").interval().mean == share
    assert results.measured("longest-gap", "call").interval().mean == pytest.approx(hole / 1e3, abs=0.041)
    assert results.measured("gaps-per-hour", "call").interval().mean == pytest.approx(1.2 * share)
    silence = results.measured("silence", "call").interval().mean
    assert silence == pytest.approx(max(hole - 60, 0) / 1e3, abs=0.041)
    assert ("gap above 0.5 s" in first(results)) == (share > 0)


def test_a_gap_in_some_calls_is_told_with_their_share():
    late = fairwave.load(wire(G711, hole=2000).to_toml())
    both = late.to_dict()
    both["flow"].append(dict(both["flow"][0]) | {"start": "15 s"})
    both["flow"][0]["name"], both["flow"][1]["name"] = "early", "late"
    results = fairwave.Scenario.from_dict(both).run(1)
    early, later = answer(results).sentences
    assert early.startswith("The call of early is fair")
    assert later.startswith("The call of late is good")
    four = wire(
        G711, hole=2000, flow='count = 4\nstart = { from = "0 s", to = "18 s", spread = "even" }'
    ).run(1)
    share = four.measured("gap-calls", "call").interval().mean
    assert share in {25, 50, 75}
    assert f"{share:.0f} % of the calls have a gap above 0.5 s, the longest 2.0" in first(four)


def test_time_that_a_stall_makes_up_is_a_gap_too():
    """Nothing is lost: from 10 s on, all packets take 2 s longer."""
    steps = [{"at": "0 s", "is": "20 ms"}, {"at": "10 s", "is": "2020 ms"}]
    results = wire(G711).with_overrides({"link.a>b.delay": steps}).run(1)
    assert results.measured("loss", "call").interval().mean == 0
    assert results.measured("longest-gap", "call").interval().mean > 1.5
    assert not first(results).startswith("The call is good")


def test_conversations_have_gaps_too():
    talk = '{ kind = "conversation", codec = "g711" }'
    results = wire(talk, hole=4000, seconds=60, name="talk").run(1)
    assert results.measured("longest-gap", "talk").interval().mean > 0.5
    assert not first(results).startswith("The conversation is good")
    assert "gap above 0.5 s" in first(results)


def test_requirements_and_searches_take_gaps(tmp_path):
    from typer.testing import CliRunner

    from fairwave.cli.app import app

    file = tmp_path / "wire.toml"
    file.write_text(wire(G711, hole=2000).to_toml(), encoding="utf-8")
    run = CliRunner()
    statuses = {
        wanted: run.invoke(app, ["run", str(file), "-n", "2", "--no-page", "--require", wanted]).exit_code
        for wanted in (
            "longest-gap.call <= 0.5", "gap-calls.call <= 0", "silence.call <= 0.5", "gaps-per-hour.call <= 60",
            "longest-gap.call <= 2.5", "silence.call >= 1.5",
        )
    }  # fmt: skip
    assert list(statuses.values()) == [3, 3, 3, 3, 0, 0]
    found = fairwave.find(
        wire(G711, hole=2000),
        "link.a>b.outages.0.to",
        "10.1 s..12 s",
        "longest-gap.call <= 0.5",
        n=3,
        most=12,
    )
    assert "holds on link.a>b.outages.0.to = 10.1 s..10.4" in str(found)


def test_a_mean_that_is_held_is_fair_at_best():
    mean = Interval(4.0, 3.9, 4.1, 10)
    assert MOS.bands(mean) == ["good"]
    assert MOS.bands(held(mean, "a gap")) == ["fair"]
    assert MOS.bands(held(Interval(3.2, 2.9, 3.7, 10), "a gap")) == ["fair", "poor"]
    assert MOS.bands(held(Interval(2.0, 1.9, 2.1, 10), "a gap")) == ["poor"]
    assert held(mean, "") is mean
    assert held(held(mean, "a gap"), "a freeze") == Held(4.0, 3.9, 4.1, 10, because="a gap; a freeze")


def test_a_comparison_and_a_sweep_hold_what_has_gaps():
    base = wire(G711, hole=2000)
    results = fairwave.compare(base, {"link.a>b.outages.0.to": ["10100 ms", "12 s"]}, n=2, threads=1)
    said = " ".join(answer(results).sentences)
    assert "10100 ms the call is good: MOS" in said
    assert "12 s it is fair: MOS" in said
    assert "each call has a gap above 0.5 s, the longest 2.0" in said


def test_a_codec_without_factors_is_not_rated_and_shows_delay_loss_and_gaps():
    results = wire(UNRATED, delay=390, link='loss = "0.5 %"').run(1)
    said = answer(results)
    assert said.sentences[0].startswith("The call is not rated (no impairment factor for evs-13.2 is known")
    for part in (
        "mouth to ear 4",
        "of the packets missed after playout",
        "% lost",
        "of the others late",
        "longest gap",
    ):
        assert part in said.sentences[0]
    assert said.pictures == []
    assert not any(word in said.sentences[0] for word in ("good", "fair", "poor"))
    assert results.measured("mouth-to-ear", "call").interval().mean > 390
    assert results.measured("mos", "call").interval().n == 0


def test_lateness_counts_for_a_codec_without_factors():
    """With a fixed playout of 60 ms, packets with a higher jitter (up to 200 ms) are not played."""
    jitter = 'jitter = { model = "uniform", up-to = "200 ms" }'
    results = wire(UNRATED, link=jitter, flow='playout = { strategy = "fixed", delay = "60 ms" }').run(1)
    missed, lost = (results.measured(name, "call").interval().mean for name in ("missed", "loss"))
    assert lost == 0
    assert missed > 20
    assert f"{missed:.3g} % of the packets missed after playout" in first(results)


def test_a_comparison_of_codecs_names_those_without_a_rating():
    base = wire(G711, delay=100)
    results = fairwave.compare(base, {"flow.call.traffic.codec": ["g711", "evs-13.2"]}, n=2, threads=1)
    said = answer(results).sentences
    assert said[0].startswith("With call.traffic.codec = g711 the call is good")
    assert any("evs-13.2 the call is not rated (" in one and "mouth to ear" in one for one in said)
    both = fairwave.compare(base, {"flow.call.traffic.codec": ["evs-13.2", "evs-24.4"]}, n=2, threads=1)
    said = " ".join(answer(both).sentences)
    assert said.count("not rated") == 2
    assert "best" not in said
    assert "good" not in said


@pytest.mark.parametrize(
    ("delay", "said"),
    [
        (20, "is good: 0 % of the packets missed (delay 2"),
        (200, "is fair: "),
        (500, "is too late for a conversation"),
    ],
)
def test_a_stream_that_is_no_call_has_its_delay_in_its_verdict(delay, said):
    sentence = first(wire(CBR, delay=delay, name="stream").run(1))
    assert said in sentence
    assert f"delay {'2' if delay == 20 else str(delay)[:1]}" in sentence
    assert ("above 150 ms one way" in sentence) == (delay == 200)


def test_a_pair_with_a_gap_is_not_good():
    def run(gaps, longest):
        pair = network.PairRun(4, 4.2, 4.1, 4 - gaps, gaps, 0, 0.01, 0.02, 0.0, gaps, longest)
        return network.RunAnswer(pairs={("A", "B"): pair})

    clean = network.combine_runs([run(0, 0.1), run(0, 0.2)])
    assert clean.pairs["A", "B"].band == "good"
    cut = network.combine_runs([run(0, 0.1), run(1, 2.0)])
    assert (cut.pairs["A", "B"].band, cut.pairs["A", "B"].interrupted, cut.pairs["A", "B"].gap_s) == (
        "fair",
        1,
        2.0,
    )


TWELVE = """
name = "twelve"
duration = "20 s"
[[call]]
name = "team"
participants = [{names}]
server = {{ node = "sfu" }}
media = {{ video = {{ most = "700 kb/s", width = 640, height = 360, simulcast = 2 }} }}
[[link]]
from = "p{{i}}"
to = "sfu"
count = 12
rate = "100 Mb/s"
delay = "10 ms"
"""


def test_in_a_call_of_twelve_on_clean_lines_nobody_is_frozen():
    results = fairwave.load(TWELVE.format(names=", ".join(f'"p{at}"' for at in range(12)))).run(1)
    rows = [one for one in results.tables["media"].to_pylist() if not one["group"].endswith("-to-sfu")]
    pictures = [one for one in rows if one["stream"] == "video"]
    # The remaining cause is the server's estimate, which dips: it stops some cameras for less than a second.
    assert sum(one["freeze_ratio"] for one in pictures) / len(pictures) < 0.01
    assert max(one["freeze_ratio"] for one in pictures) < 0.1
    assert min(one["frames_shown"] for one in pictures) < 400, (
        "some cameras are left out for a part of the time"
    )
    assert max(one["concealed_ratio"] for one in rows if one["stream"] == "audio") < 0.01
    assert first(results) == "Of the 12 participants, the call team is good for 12."


def test_a_frozen_picture_holds_a_session_below_good():
    text = TWELVE.format(names='"p0", "p1"').replace("count = 12", "count = 2")
    base = fairwave.load(text).to_dict()
    base["link"][0]["outages"] = [{"from": "10 s", "to": "12 s"}]
    results = fairwave.Scenario.from_dict(base).run(1)
    assert results.measured("longest-freeze", "team-p0-to-p1").interval().mean > 1.5
    said = " ".join(answer(results).sentences)
    assert "is good" not in said
    assert "a picture was frozen for" in said
