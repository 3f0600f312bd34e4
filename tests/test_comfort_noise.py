"""Comfort noise in calls: it costs packets, and no measure of the call includes it."""

import json

import polars as pl
import pytest

import fairwave
from validation.compare.ns2.translate import NotInNs2Error, translate

LINE = """
name = "line"
duration = "40 s"
seed = 3
hosts = { clock-skew = "0 ppm", send-jitter = "0 s" }

[[link]]
from = "a"
to = "b"
rate = "1 Mb/s"
delay = "20 ms"
reverse = { loss = { model = "none" } }

[[flow]]
name = "call"
from = "a"
to = "b"
transport = "udp"
traffic = { kind = "voice", codec = "amr-12.2", comfort-noise = true }

[record]
units = ["call[0]"]
"""


def run(**changes):
    return (
        fairwave.load(LINE)
        .with_overrides({key.replace("__", "."): value for key, value in changes.items()})
        .run()
    )


def fates(results):
    return results.to_polars("units").with_columns(pl.col("fate").cast(pl.String))


@pytest.fixture(scope="module")
def quiet():
    return run(flow__call__traffic={"kind": "voice", "codec": "amr-12.2"})


@pytest.fixture(scope="module")
def noisy():
    return run()


SPEECH = (
    "mos",
    "r_factor",
    "missed_ratio",
    "mouth_to_ear_s",
    "units_sent",
    "units_received",
    "units_lost",
    "delay_mean_s",
)


def call_row(results, columns=SPEECH):
    row = results.rows("flows").only(group="call")
    return {column: row.numbers(column)[0] for column in columns}


def test_noise_is_on_the_wire_and_in_no_measure_of_speech(quiet, noisy):
    assert call_row(noisy) == pytest.approx(call_row(quiet), rel=1e-12)
    noise = fates(noisy).filter(pl.col("fate") == "noise")
    assert noise.height > 100
    # RFC 4867: 4 + 6 + 39 bits fill 7 octets; with RTP, UDP and IP 47.
    assert noise["payload"].unique().to_list() == [7]
    extra = call_row(noisy, ("packets_sent", "wire_sent", "payload_received"))
    plain = call_row(quiet, ("packets_sent", "wire_sent", "payload_received"))
    assert extra["packets_sent"] - plain["packets_sent"] == noise.height
    assert extra["wire_sent"] - plain["wire_sent"] == 47 * noise.height
    assert extra["payload_received"] - plain["payload_received"] == 7 * noise.height


def test_lost_noise_costs_the_call_nothing_and_lost_speech_does(noisy):
    units = fates(noisy)
    places = {fate: units.filter(pl.col("fate") == fate)["unit"].to_list() for fate in ("noise", "played")}
    count = units.height + 100

    def losing(lost):
        marks = "".join("1" if number in lost else "0" for number in range(count))
        return run(link__0__loss={"model": "pattern", "pattern": marks})

    no_noise = losing(set(places["noise"]))
    assert call_row(no_noise) == pytest.approx(call_row(noisy), rel=1e-12)
    assert fates(no_noise).filter(pl.col("fate") == "lost-noise").height == len(places["noise"])
    assert call_row(no_noise, ("lost",))["lost"] == len(places["noise"])
    some_speech = losing(set(places["played"][: len(places["noise"])]))
    assert call_row(some_speech)["mos"] < call_row(noisy)["mos"] - 0.5
    assert call_row(some_speech)["units_lost"] == len(places["noise"])


def test_both_parties_of_a_conversation_send_it_and_their_talk_is_the_same():
    traffic = {"kind": "conversation", "codec": "amr-wb-23.05"}
    without, with_noise = (
        run(flow__call__traffic=one) for one in (traffic, {**traffic, "comfort-noise": True})
    )
    columns = ("double_talk_meant", "mutual_silence_meant", "mos_there", "mos_back", "double_talk_heard_from")
    told = [
        {name: one.rows("conversations").numbers(name)[0] for name in columns}
        for one in (without, with_noise)
    ]
    assert told[1] == pytest.approx(told[0], rel=1e-12)
    more = with_noise.rows("flows").numbers("packets_sent") - without.rows("flows").numbers("packets_sent")
    assert (more > 50).all()


def test_the_means_over_time_of_a_group_do_not_know_noise():
    recorded = {"record__series": ["call"], "record__bin": "2 s"}
    plain = {"kind": "voice", "codec": "amr-12.2"}
    one, other = run(**recorded, flow__call__traffic=plain), run(**recorded)
    for kind in ("group_mos", "group_loss", "group_delay_s"):
        means = [
            found.to_polars("series").filter(pl.col("kind").cast(pl.String) == kind) for found in (one, other)
        ]
        assert means[0].height > 5
        assert means[1]["value"].to_list() == pytest.approx(means[0]["value"].to_list(), rel=1e-12), kind


def test_silent_speakers_load_a_link_with_their_noise():
    # The frames of sixty silent speakers: 47 B each 160 ms are 141 kb/s.
    silent = {"distribution": "constant", "mean": "30 s"}
    traffic = {
        "kind": "voice",
        "codec": "amr-12.2",
        "comfort-noise": True,
        "first": "silence",
        "silence": silent,
    }
    calls = {"flow__call__traffic": traffic, "flow__call__count": 60, "duration": "20 s", "record": {}}
    found = run(**calls, link__0__rate="1 Mb/s").rows("links").only(link="a>b")
    assert 8 * found.numbers("wire_departed").sum() / 20 == pytest.approx(141e3, rel=0.02)


def test_ns2_has_no_comfort_noise_and_the_translation_says_so():
    said = {"distribution": "exponential", "mean": "1 s"}
    traffic = {"kind": "voice", "talk": said, "silence": said, "first": "silence"}
    plain = fairwave.load(LINE).with_overrides({"preset": "ns2", "record": {}, "flow.call.traffic": traffic})

    def translated(scenario):
        return translate(json.loads(scenario.native.exact_plan(1)), "a>b")

    translated(plain)
    with pytest.raises(NotInNs2Error, match="without comfort noise"):
        translated(plain.with_overrides({"flow.call.traffic.comfort-noise": True}))
