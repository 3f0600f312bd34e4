"""Codecs with memory, and the codec for the sound of a scenario's call."""

import numpy as np
import pytest
from scipy.signal import lfilter
from speech_material import snr_db

from fairwave import codecs
from fairwave_speech import Fixed, Recording, SpeechError, coders, render_call, script
from fairwave_speech.codec import STAND_IN, audible_codec, codec
from fairwave_speech.coders import CODERS


def spoken(seconds: float = 6.0) -> np.ndarray:
    """Pulses of a wavering pitch through three formants, louder and softer, as in the model of speech coders."""
    rng = np.random.default_rng(3)
    pulses = np.zeros(round(seconds * 8000))
    at = 0
    while at < len(pulses):
        pulses[at] = rng.uniform(0.5, 1.0)
        at += int(rng.uniform(55, 90))
    for formant, width in ((500, 80), (1500, 120), (2500, 160)):
        radius = np.exp(-np.pi * width / 8000)
        pulses = lfilter([1.0], [1.0, -2 * radius * np.cos(2 * np.pi * formant / 8000), radius**2], pulses)
    loudness = np.repeat(rng.uniform(0.05, 1.0, len(pulses) // 800 + 1), 800)[: len(pulses)]
    return np.rint(12000 * pulses * loudness / np.abs(pulses * loudness).max()).astype(np.int16)


SPEECH = spoken()

there = [
    pytest.param(name, marks=pytest.mark.skipif(not coder.is_available, reason=f"no {coder.library} here"))
    for name, coder in CODERS.items()
]


def packets(name: str) -> np.ndarray:
    """The speech in packets of the codec's default length."""
    return SPEECH.reshape(-1, round(codecs.find(name).packet_ms * 8))


def likeness(said: np.ndarray, heard: np.ndarray, shift: int) -> float:
    inner = slice(400, -400)
    moved = np.roll(heard.astype(float), -shift)[inner]
    return float(np.corrcoef(said[inner].astype(float), moved)[0, 1])


@pytest.mark.parametrize("name", there)
def test_speech_comes_back_where_it_was_said(name: str) -> None:
    heard = CODERS[name].transmit(packets(name)).reshape(-1)
    by_shift = {shift: likeness(SPEECH, heard, shift) for shift in range(-70, 71)}
    best = max(by_shift, key=lambda shift: by_shift[shift])
    assert by_shift[best] > 0.75
    assert abs(best) <= 1


@pytest.mark.parametrize("name", there)
def test_a_packet_weighs_what_the_scenario_says(name: str) -> None:
    sizes = {len(packet) for packet in CODERS[name].encode(packets(name))}
    # ffmpeg's AMR has the file format: an octet before 31 of speech. The payload format is equal except for GSM-EFR.
    expected = 32 if CODERS[name].library == coders._AMR else codecs.find(name).payload
    assert sizes == {expected}


@pytest.mark.parametrize(
    ("more", "less"), [("g726-40", "g726-24"), ("g726-24", "g726-16"), ("g722", "g726-32")]
)
def test_more_bits_sound_better(more: str, less: str) -> None:
    better, worse = (
        snr_db(SPEECH, CODERS[name].transmit(packets(name)).reshape(-1)) for name in (more, less)
    )
    assert better > worse + 1.5


@pytest.mark.parametrize("name", there)
def test_the_decoder_does_not_see_what_is_not_played_and_what_follows_bears_the_trace(name: str) -> None:
    sent = packets(name)
    played = np.ones(len(sent), np.bool_)
    played[20:23] = False
    whole, broken = CODERS[name].transmit(sent), CODERS[name].transmit(sent, played)
    assert np.array_equal(broken[:19], whole[:19])
    assert not broken[20:23].any()
    assert not np.array_equal(broken[23], whole[23])


def test_a_rendered_call_has_the_trace_of_what_it_did_not_play() -> None:
    created = np.arange(100) * 0.02
    arrived = created + 0.01
    arrived[40:42] = np.nan
    arrived[60] += 0.5
    table = {"created_s": created, "arrived_s": arrived, "payload": np.full(100, 40)}
    said = script(Recording(SPEECH), 0.02, talk="all")
    call = render_call(table, said, codec="g726-16", playout=Fixed(0.1, "creation"), concealment="silence")
    played = np.ones(100, np.bool_)
    played[[40, 41, 60]] = False
    expected = CODERS["g726-16"].transmit(said.frames[:100], played).reshape(-1)
    assert np.array_equal(call.samples[800:], expected)


@pytest.mark.parametrize("name", ["g723.1-6.3", "amr-12.2"])
def test_mouth_to_ear_counts_what_the_coder_looks_ahead(name: str) -> None:
    assert CODERS[name].ahead / 8 == codecs.find(name).look_ahead_ms
    created = np.arange(50) * codecs.find(name).packet_ms / 1e3
    table = {"created_s": created, "arrived_s": created + 0.01, "payload": np.full(50, 20)}
    said = script(Recording(SPEECH), codecs.find(name).packet_ms / 1e3, talk="all")
    call = render_call(table, said, codec=name, playout=Fixed(0.1, "creation"))
    ahead = codecs.find(name).look_ahead_ms / 1e3
    assert call.mouth_to_ear_s == pytest.approx(said.frame_s + ahead + 0.1 + 0.00375)


def test_packets_that_are_no_whole_frames_are_refused_with_the_frame() -> None:
    with pytest.raises(SpeechError, match=r"packets of 20 ms .* frames of 30 ms"):
        codec("g723.1-6.3").transmit(SPEECH.reshape(-1, 160))


def test_every_codec_of_scenarios_is_heard_as_itself_or_says_why_not() -> None:
    for one in codecs.known():
        name, why = audible_codec(one.codec, round(one.packet_ms * 8))
        own = name == one.codec or one.codec == "g711"
        assert own != bool(why), one.codec
        assert own or (name == STAND_IN and one.codec in why)
        codec(name)


def test_packets_that_a_coder_cannot_fill_are_heard_by_another() -> None:
    assert audible_codec("g723.1-6.3", 160) == (
        STAND_IN,
        "packets of 20 ms are no whole number of g723.1-6.3's frames of 30 ms",
    )


def test_libraries_without_an_encoder_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not coders._has_both_directions("gsm"), "ffmpeg decodes it and does not encode it"
    assert not coders._has_both_directions("no such codec")
    monkeypatch.setattr(coders, "_has_both_directions", lambda library: library != "g722")
    assert audible_codec("g722", 160) == (STAND_IN, "no coder for g722 here")
