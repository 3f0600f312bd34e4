"""Recordings in, files out, voice activity, scripts."""

import wave
from pathlib import Path

import av
import numpy as np
import pytest
from speech_material import RATE, phrases, snr_db, voiced

from fairwave_speech import Recording, SpeechError, normalise, read, script, write
from fairwave_speech.audio import active_level_dbov
from fairwave_speech.vad import activity, talk_intervals


def test_what_is_written_is_read_back_bit_by_bit(tmp_path) -> None:
    speech = phrases(1.0)
    recording = read(write(tmp_path / "deep" / "a.wav", speech))
    assert np.array_equal(recording.samples, speech)
    assert recording.notes == ()


def test_stereo_at_another_rate_is_converted_with_a_note(tmp_path) -> None:
    time = np.arange(44100) / 44100
    tone = np.rint(8000 * np.sin(2 * np.pi * 440 * time)).astype("<i2")
    with wave.open(str(tmp_path / "stereo.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(44100)
        file.writeframes(np.repeat(tone, 2).tobytes())
    recording = read(tmp_path / "stereo.wav")
    assert abs(len(recording.samples) - RATE) <= 16
    assert any("2 channels" in note for note in recording.notes)
    assert any("44100" in note for note in recording.notes)
    spectrum = np.abs(np.fft.rfft(recording.samples[: RATE - 16]))
    assert abs(int(np.argmax(spectrum)) - 440) <= 1
    assert np.abs(recording.samples.astype(int)).max() == pytest.approx(8000, rel=0.02)


def test_flac_is_read_losslessly(tmp_path) -> None:
    speech = phrases(1.0)
    with av.open(str(tmp_path / "a.flac"), "w") as container:
        stream = container.add_stream("flac", rate=RATE, layout="mono", format="s16")
        frame = av.AudioFrame.from_ndarray(speech.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = RATE
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)
    recording = read(tmp_path / "a.flac")
    assert np.array_equal(recording.samples, speech)
    assert recording.notes == ("decoded from flac",)


@pytest.mark.parametrize("content", [b"", b"this is not sound", b"RIFF\x00\x00\x00\x00WAVEfmt "])
def test_a_file_without_sound_is_refused_with_the_line_that_converts(tmp_path, content: bytes) -> None:
    path = tmp_path / "odd.wav"
    path.write_bytes(content)
    with pytest.raises(SpeechError, match=r"ffmpeg -i .*odd.wav -ac 1 -ar 8000 -c:a pcm_s16le"):
        read(path)


def test_a_missing_file_is_refused(tmp_path) -> None:
    with pytest.raises(SpeechError, match="no such file"):
        read(tmp_path / "none.wav")


def test_a_silent_file_is_refused(tmp_path) -> None:
    with pytest.raises(SpeechError, match="silent"):
        read(write(tmp_path / "silent.wav", np.zeros(RATE, np.int16)))


def test_nothing_is_left_of_a_write_that_fails(tmp_path) -> None:
    with pytest.raises((TypeError, ValueError)):
        write(tmp_path / "a.wav", np.array(["x"]))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_normalising_reaches_the_level_and_keeps_the_shape() -> None:
    quiet = Recording(voiced(1.0, level=300.0))
    louder = normalise(quiet)
    assert active_level_dbov(louder.samples) == pytest.approx(-26.0, abs=0.1)
    gain = 10 ** ((-26.0 - active_level_dbov(quiet.samples)) / 20)
    assert snr_db(quiet.samples * gain, louder.samples) > 50.0


def test_normalising_never_clips() -> None:
    peaky = np.zeros(RATE, np.int16)
    peaky[::400] = 2000
    assert np.abs(normalise(Recording(peaky), 0.0).samples.astype(int)).max() <= 32767


def test_talk_is_found_between_pauses() -> None:
    pause = np.random.default_rng(1).integers(-3, 4, 4000).astype(np.int16)
    speech = np.concatenate([pause, voiced(0.5), pause, voiced(0.3), pause])
    intervals = talk_intervals(speech, 160, hangover_s=0.1, lead_s=0.04)
    # Vowels are frames 25–50 and 75–90; two frames of lead, five of hangover.
    assert intervals.tolist() == [[23, 55], [73, 95]]
    assert activity(intervals, 115) == pytest.approx(54 / 115)


def test_pauses_shorter_than_the_hangover_do_not_end_talk() -> None:
    pause = np.zeros(640, np.int16)
    speech = np.concatenate(
        [np.zeros(8000, np.int16), voiced(0.4), pause, voiced(0.4), np.zeros(8000, np.int16)]
    )
    assert len(talk_intervals(speech, 160, hangover_s=0.1)) == 1
    assert len(talk_intervals(speech, 160, hangover_s=0.0, lead_s=0.0)) == 2


def test_steady_speech_is_talk_throughout() -> None:
    assert talk_intervals(voiced(1.0), 160).tolist() == [[0, 50]]


def test_a_script_cuts_talk_into_frames_in_order() -> None:
    speech = phrases(3.0)
    said = script(Recording(speech), 0.02)
    joined = np.concatenate([speech[first * 160 : stop * 160] for first, stop in said.talk.tolist()])
    assert np.array_equal(said.frames.reshape(-1), joined)


def test_a_script_of_everything_pads_the_last_frame() -> None:
    said = script(Recording(voiced(0.05)), 0.03, talk="all")
    assert said.frames.shape == (2, 240)
    assert not said.frames[1, 160:].any()


def test_a_script_drives_the_simulators_recording_source() -> None:
    said = script(Recording(phrases(3.0)), 0.03, pause_s=0.6)
    table = said.traffic()
    assert table["kind"] == "recording"
    assert table["packet-time"] == "30 ms"
    assert table["talk"] == said.talk.tolist()
    assert table["repeat-after"] == 100 + 20
    assert "repeat-after" not in said.traffic(repeat=False)


def test_a_script_repeats_after_whole_frames() -> None:
    said = script(Recording(voiced(0.05)), 0.03, talk="all", pause_s=0.1)
    assert said.period_s == pytest.approx(2 * 0.03 + 3 * 0.03)


@pytest.mark.parametrize("frame_s", [0.0, -1.0, float("nan"), 1.0])
def test_a_frame_out_of_range_is_refused(frame_s: float) -> None:
    with pytest.raises(SpeechError, match=r"at most 0\.5 s"):
        script(Recording(voiced(0.1)), frame_s)


def stereo(path, left: np.ndarray, right: np.ndarray, rate: int = RATE) -> Path:
    """A wav file of two channels."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.stack([left, right], axis=1).astype("<i2").tobytes())
    return path


@pytest.mark.parametrize("gain", [1.0, 0.9])
def test_channels_in_opposite_phase_are_not_silence(tmp_path, gain: float) -> None:
    speech = phrases(3.0)
    recording = read(stereo(tmp_path / "opposite.wav", speech, np.rint(-gain * speech)))
    assert np.abs(recording.samples - speech.astype(int)).max() <= 1
    assert any("channel 1 of 2 is used alone" in note for note in recording.notes)
    assert recording.warnings == ()


def test_channels_that_do_not_cancel_are_mixed(tmp_path) -> None:
    speech, other = phrases(3.0), voiced(3.0)
    same = read(stereo(tmp_path / "same.wav", speech, speech))
    assert np.abs(same.samples - speech.astype(int)).max() <= 1
    one = read(stereo(tmp_path / "left.wav", speech, 0 * speech))
    assert snr_db(speech / 2, one.samples) > 40.0
    both = read(stereo(tmp_path / "both.wav", speech, other[: len(speech)]))
    for recording in (same, one, both):
        assert recording.notes == ("2 channels were mixed into one",)
        assert recording.warnings == ()


@pytest.mark.parametrize("rate", [RATE, 48000])
@pytest.mark.parametrize("gain", [1.0, 0.4])
def test_a_clipped_recording_is_warned_of_whatever_its_level(tmp_path, rate: int, gain: float) -> None:
    loud = np.interp(np.arange(3 * rate) / rate, np.arange(3 * RATE) / RATE, phrases(3.0).astype(float))
    clipped = gain * np.clip(12.0 * loud, -32768, 32767)
    recording = read(write(tmp_path / "clipped.wav", np.rint(clipped).astype(np.int16), rate))
    (warning,) = recording.warnings
    assert "clipped.wav: is clipped" in warning
    assert f"{100 * gain:.3g} % of full scale" in warning


def test_a_constant_recording_is_warned_of(tmp_path) -> None:
    (warning,) = read(write(tmp_path / "flat.wav", np.full(2 * RATE, 4000, np.int16))).warnings
    assert "is constant from beginning to end" in warning


def test_a_nearly_silent_recording_is_warned_of(tmp_path) -> None:
    speech = np.rint(phrases(3.0) / 400.0).astype(np.int16)
    assert any("is nearly silent" in one for one in read(write(tmp_path / "quiet.wav", speech)).warnings)


def test_an_offset_is_removed_with_a_note(tmp_path) -> None:
    speech = phrases(3.0)
    recording = read(write(tmp_path / "offset.wav", (speech.astype(int) + 3000).astype(np.int16)))
    assert abs(float(recording.samples.mean())) < 2.0
    assert snr_db(speech - speech.mean(), recording.samples) > 40.0
    assert any("offset of 9.1" in note for note in recording.notes)


@pytest.mark.parametrize(
    ("rate", "seconds", "said"), [(RATE, 0.3, "too short"), (4000, 3.0, "no sound above 2000 Hz")]
)
def test_a_short_and_a_slow_recording_are_warned_of(tmp_path, rate: int, seconds: float, said: str) -> None:
    speech = phrases(3.0)[: round(seconds * rate)]
    assert any(said in one for one in read(write(tmp_path / "odd.wav", speech, rate)).warnings)


def test_a_sample_that_is_no_number_is_refused_with_its_place(tmp_path) -> None:
    path, samples = tmp_path / "nan.wav", phrases(1.0).astype(np.float32) / 32768
    samples[4000] = np.nan
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_f32le", rate=RATE, layout="mono", format="flt")
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="flt", layout="mono")
        frame.sample_rate = RATE
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)
    with pytest.raises(SpeechError, match=r"sample 4000 \(0\.500 s\) is not a finite number"):
        read(path)


@pytest.mark.parametrize("signal", ["speech", "tone", "hum"])
def test_a_sound_recording_has_no_warning(tmp_path, signal: str) -> None:
    time = np.arange(2 * 48000) / 48000
    tones = {"tone": 440.0, "hum": 50.0}
    sound = phrases(2.0) if signal == "speech" else np.rint(32767 * np.sin(2 * np.pi * tones[signal] * time))
    rate = RATE if signal == "speech" else 48000
    assert read(write(tmp_path / "sound.wav", sound.astype(np.int16), rate)).warnings == ()
