"""Networks fitted to captures and statistics: known truths are found, and unknowable properties are reported."""

import json

import numpy as np
import pytest

import fairwave
from fairwave import fitting, getstats
from fairwave.capturing import capture
from fairwave.cli.fitting import format_estimate, rows, title
from fairwave.fitting import bottleneck, fitted, observing, packet_arrays, statistics
from fairwave.replay import CaptureError
from validation import kept
from validation.measured import fitting as known
from validation.measured import idle_links
from validation.measured.made_captures import ethernet, ip4, pcap, rtp

TRUTH = {
    "rate": 3, "delay": 20, "queue": '{ discipline = "drop-tail", capacity = { bytes = 90000 } }',
    "discipline": "drop-tail", "buffer": 90_000, "downloads": 1, "loss": 0,
}  # fmt: skip


def network(flows=known.CALL, duration="20 s", **changes):
    text = (known.NETWORK + flows).format(**TRUTH | changes).replace('"60 s"', f'"{duration}"')
    return fairwave.load(
        text.replace('start = "5 s"', 'start = "2 s"').replace('start = "20 s"', 'start = "8 s"')
    )


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    file = tmp_path_factory.mktemp("fit") / "call.pcapng"
    capture(network(), {"host:here": file})
    return file


def test_a_tail_drop_queue_is_found_with_its_rate_buffer_and_round_trip(captured):
    found = fitting.fit(captured, seeds=2)
    assert found.family == "tail drop"
    assert found.rate.rates[0].value == pytest.approx(3e6, rel=0.05)
    assert found.buffer.value == pytest.approx(90_000, rel=0.2)
    assert found.round_trip_s == pytest.approx(0.045, abs=0.006)
    assert found.unseen == 0
    assert found.scenario.plan()["links"][0]["name"] == "far>here"


@pytest.mark.parametrize(("queue", "family"), [("codel", "active, one queue"), ("fq-codel", "fair queueing")])
def test_the_family_of_the_queue_is_found(tmp_path, queue, family):
    capture(network(queue=f'"{queue}"'), {"host:here": tmp_path / "a.pcapng"})
    found = fitting.fit(tmp_path / "a.pcapng", seeds=2)
    assert found.family == family
    assert found.buffer is None
    assert any(said.startswith("The buffer") for said in found.unknown)


def test_a_rate_that_changes_is_found_with_its_times(tmp_path):
    made = network().with_overrides(
        {"link.far>here.rate": [{"at": "0 s", "is": "3 Mb/s"}, {"at": "11 s", "is": "1.5 Mb/s"}]}
    )
    capture(made, {"host:here": tmp_path / "a.pcapng"})
    found = fitting.fit(tmp_path / "a.pcapng", seeds=1)
    assert [one.value for one in found.rate.rates] == pytest.approx([3e6, 1.5e6], rel=0.05)
    assert found.rate.from_s[1] == pytest.approx(11, abs=1.1)


def test_losses_of_the_link_are_told_from_those_of_the_queue(tmp_path):
    capture(network(duration="60 s", loss=0.02, queue='"fq-codel"'), {"host:here": tmp_path / "a.pcapng"})
    path = fitting.path.estimated(fitting.observing.observed(packet_arrays.read(tmp_path / "a.pcapng")))
    assert path.random_loss.low <= 0.02 <= path.random_loss.high


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    text = (known.NETWORK + known.CALL).format(**TRUTH)
    alone = text.partition('[[flow]]\nname = "download"')[0].replace('"60 s"', '"10 s"')
    file = tmp_path_factory.mktemp("calm") / "a.pcapng"
    capture(fairwave.load(alone), {"host:here": file})
    return file


def test_a_link_that_was_never_full_has_no_rate_but_a_lower_limit(calm):
    found = fitting.fit(calm)
    assert found.rate is None
    assert found.least_rate == pytest.approx(80e3, rel=0.05)
    assert found.families == {}
    assert found.distance is None
    assert found.scenario.plan()["links"][0]["rate_bps"] == 10e6
    assert dict(rows(found))["rate"].startswith("cannot determine the rate, at least 0.08")
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["rate_bps"] is None
    assert data["least_rate_bps"] == found.least_rate
    assert data["rate_doubt"].startswith("the link was never full")


def test_a_known_rate_fits_a_link_that_was_never_full(calm):
    found = fitting.fit(calm, rate=3e6, seeds=1)
    assert found.rate.rates[0].value == 3e6
    assert not found.has_queued
    assert "The buffer: no packet waited." in found.unknown
    shown = dict(rows(found))
    assert shown["rate"] == "3 Mb/s, given"
    assert shown["buffer"] == "not known: no packet waited"
    assert not found.is_certain
    assert shown["queue"].startswith("not certain: ")


def test_the_command_says_that_no_queue_matters_on_a_link_that_was_never_full(fairwave, calm, tmp_path):
    file = tmp_path / "n.toml"
    status, out, _ = fairwave("fit", str(calm), "--out", str(file))
    assert status == 0
    assert "cannot determine the rate, at least 0.08" in " ".join(out.split())
    assert "at which no packet waits" in file.read_text(encoding="utf-8")
    assert fairwave("check", str(file))[0] == 0
    status, _, err = fairwave(
        "fit", str(calm), "--out", str(file), "--overwrite", "--vary", "queue=drop-tail,fq-codel"
    )
    assert status == 2
    assert "add --rate" in err


@pytest.mark.parametrize("source", idle_links.SOURCES)
@pytest.mark.parametrize("kind", idle_links.KINDS)
def test_delays_that_are_no_queue_show_no_rate(tmp_path, kind, source):
    seen = observing.observed(
        packet_arrays.read(idle_links.write(tmp_path / "a.pcap", kind, source, 3, loss=0.01))
    )
    path = fitting.path.estimated(seen)
    assert path.rate is None
    assert path.doubt.startswith("the link was never full")
    assert 0 < path.least_rate <= idle_links.LINE
    assert 0.003 < path.random_loss.value < 0.02


def test_packets_that_swap_places_show_no_rate(tmp_path):
    """A capture that swaps two packets now and then has delays above and below the usual one."""
    order = [index + (index % 20 == 10) - (index % 20 == 11) for index in range(500)]
    frames = [(place * 20_000_000, ethernet(ip4(rtp(number)))) for place, number in enumerate(order)]
    path = fitting.path.estimated(observing.observed(packet_arrays.read(pcap(tmp_path / "a.pcap", frames))))
    assert path.rate is None


def test_a_full_link_is_confirmed_next_to_traffic_that_was_not_captured(tmp_path):
    """Others begin in the middle: the captured packets pass at lower rates, and the rate of the link stays."""
    text = known.SHARED.format(**TRUTH).replace('"40 s"', '"24 s"') + "".join(
        known.FLOW.format(name=name, to=to, transport="tcp/cubic", traffic="bulk", start=start)
        for name, to, start in (("mine", "here", 1), ("others", "there", 12))
    )
    capture(fairwave.load(text), {"host:here": tmp_path / "a.pcapng"})
    path = fitting.path.estimated(observing.observed(packet_arrays.read(tmp_path / "a.pcapng")))
    assert [one.value for one in path.rate.rates] == pytest.approx([3e6], rel=0.05)


def test_a_fair_share_of_a_link_may_be_its_rate_or_not():
    course = bottleneck.Steps(
        [0.0, 20.0], [bottleneck.Interval(2e6, 1.9e6, 2.1e6), bottleneck.Interval(1e6, 0.9e6, 1.1e6)]
    )
    assert [one.high for one in fitted._raise_limits(course).rates] == [2.1e6, 2.1e6]


def test_a_range_ends_midway_to_the_next_tried_value_and_marks_the_edge():
    inner = statistics.widen(2.0, {2.0}, {1.0, 2.0, 4.0})
    assert not inner.edge
    assert inner.low == pytest.approx(2**0.5)
    assert inner.high == pytest.approx(8**0.5)
    assert statistics.widen(4.0, {2.0, 4.0}, {1.0, 2.0, 4.0}).edge == "high"
    assert statistics.widen(1.0, {1.0}, {1.0, 2.0}).edge == "low"
    assert format_estimate(statistics.widen(4.0, {4.0}, {1.0, 4.0}), 1, "Mb/s", "95 %") == (
        "4 Mb/s (2 to 4 or more, 95 %, end of the tried values)"
    )


def test_a_session_that_no_link_limits_has_no_rate(tmp_path):
    text = (
        (known.NETWORK + known.SESSION)
        .format(**TRUTH | {"rate": 50})
        .partition('[[flow]]\nname = "upload"')[0]
    )
    results = fairwave.load(text.replace('"60 s"', '"20 s"')).run(1)
    file = tmp_path / "stats.json"
    file.write_text(json.dumps(getstats.reports(results)[0].sender), encoding="utf-8")
    found = fitting.fit(file)
    assert found.rate is None
    assert 1e6 < found.least_rate < 50e6
    assert found.scenario.plan()["links"][0]["rate_bps"] >= 10 * found.least_rate * 0.99


def test_an_explanation_that_is_far_away_has_no_weights(tmp_path, monkeypatch, captured):
    monkeypatch.setattr(fitted, "MISFIT", 0.01)
    found = fitting.fit(captured, seeds=1)
    assert not found.is_explained
    assert found.families == {}
    assert title(found, "a.pcapng").startswith("nothing that was tried explains this")
    assert "%" not in dict(rows(found))["queue"]


def test_statistics_of_a_session_show_its_network(tmp_path):
    results = network(known.SESSION, duration="40 s").run(1)
    file = tmp_path / "stats.json"
    file.write_text(json.dumps(getstats.reports(results)[0].sender), encoding="utf-8")
    found = fitting.fit(file, seeds=1)
    assert found.family == "tail drop"
    assert found.unseen >= 1
    assert found.unseen_from_s == pytest.approx(8, abs=2.5)
    assert found.rate.rates[0].low <= 3e6 * 1.25
    assert found.rate.rates[0].high >= 3e6 * 0.8


def test_statistics_of_a_receiver_show_the_network_toward_it(tmp_path):
    """The candidate pair of a browser that only receives has the round trip."""
    (session,) = getstats.reports(network(known.SESSION, duration="40 s").run(1))
    trips = {one["candidate-pair"]["timestamp"]: one["candidate-pair"] for one in session.sender}
    for stats in session.receiver:
        pair = trips.get(next(iter(stats.values()))["timestamp"], {})
        stats["pair"] = {
            key: pair[key] for key in ("id", "type", "timestamp", "currentRoundTripTime") if key in pair
        }
    file = tmp_path / "stats.json"
    file.write_text(json.dumps(session.receiver), encoding="utf-8")
    found = fitting.fit(file, seeds=1)
    assert found.link == "far>here"
    assert found.family == "tail drop"
    assert found.rate.rates[0].low <= 3e6 * 1.25
    assert found.rate.rates[0].high >= 3e6 * 0.5
    assert any("sends no media" in one for one in found.notes)
    assert found.scenario.with_overrides({f"link.{found.link}.queue": "fq-codel"}) is not None


def test_a_dump_has_the_same_seconds_as_the_reports(tmp_path):
    results = network(known.SESSION).run(1)
    (session,) = getstats.reports(results)
    dump = tmp_path / "dump.json"
    getstats.write(results, tmp_path / "all")
    dump = tmp_path / "all" / "webrtc-internals.json"
    wanted, found = statistics.seconds(session.sender), statistics.read(dump)
    np.testing.assert_allclose(found.sent_bps, wanted.sent_bps)
    np.testing.assert_allclose(found.round_trip_s, wanted.round_trip_s)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "no session with media"),
        ("{}", "has no statistics"),
        ("[1, null, []]", "no session with media"),
        ('{"PeerConnections": {"1": {"stats": {"a-b": {"values": "[["}}}}}', "no session with media"),
        ('{"sender": [{"a": {"type": "outbound-rtp", "timestamp": "x"}}]}', "no session with media"),
        ("{", "line 1: no JSON"),
        ("[" * 100_000, "more than 32 deep"),
    ],
)
def test_what_is_no_statistics_is_refused(tmp_path, content, said):
    (tmp_path / "a.json").write_text(content, encoding="utf-8")
    with pytest.raises(CaptureError, match=said):
        fitting.fit(tmp_path / "a.json")


def test_trains_show_the_rate_that_most_of_them_have():
    at = np.arange(400) * 0.004
    ended, rates, carried = bottleneck.trains(at, np.full(400, 1500.0), np.full(400, 0.1))
    assert bottleneck.mode(rates, carried) == pytest.approx(3e6, rel=0.01)
    assert len(bottleneck.trains(at, np.full(400, 1500.0), np.zeros(400))[0]) == 0
    assert len(ended) == len(rates)


def test_the_measured_fits_are_within_their_bounds():
    captures = kept.read(known.KEPT)["captures"]
    assert all(one["rate_ok"] for one in captures)
    assert all(one["buffer_ok"] for one in captures if one["buffer"] is not None)
    assert sum(one["family_ok"] for one in captures) >= known.FAMILY * len(captures)


def test_measured_intervals_contain_the_truth():
    fits = kept.read(known.KEPT)["coverage"]
    assert len(fits) >= 30
    assert sum(one["contains"] for one in fits) >= known.COVERAGE * len(fits)


def test_no_measured_control_claims_a_rate():
    controls = kept.read(known.KEPT)["controls"]
    assert len({one["kind"] for one in controls}) >= 12
    assert all(one["ok"] for one in controls)


def test_the_command_writes_a_scenario_that_runs(fairwave, captured, tmp_path):
    status, out, _ = fairwave("fit", str(captured), "--out", str(tmp_path / "n.toml"), "--seeds", "1")
    assert status == 0
    assert "drop-tail" in out
    assert fairwave("check", str(tmp_path / "n.toml"))[0] == 0
    assert fairwave("fit", str(captured), "--out", str(tmp_path / "n.toml"))[0] == 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            ("--vary", "queue=codel,fq-cordel"),
            "unknown queue `fq-cordel`\n --> --vary queue=codel,fq-cordel (link",
        ),
        (("--vary", "rate=1,2"), "`rate` is the number 1"),
        (("--vary", "queue"), "--vary takes KEY=VALUE,VALUE,…, not 'queue'"),
        (("--rate", "fast"), "--rate takes a rate such as '20 Mb/s', not 'fast'\n"),
    ],
)
def test_alternatives_that_no_link_can_have_are_refused_before_the_fit(
    fairwave, captured, tmp_path, wrong, said
):
    file = tmp_path / "n.toml"
    status, _, err = fairwave("fit", str(captured), "--out", str(file), *wrong)
    assert status == 2
    assert said in err
    assert "objects.json" not in err
    assert not file.exists(), "nothing was fitted"
