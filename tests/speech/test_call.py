"""Rendering of a call, from a table of units."""

import numpy as np
import polars as pl
import pytest
from speech_material import phrases, snr_db, voiced

from fairwave_speech import Adaptive, Fate, Fixed, Neteq, Recording, SpeechError, read, render_call, script
from fairwave_speech.codec import G711

FRAME = 160


def units(count: int, delay_s: float = 0.05, start_s: float = 2.0) -> dict[str, np.ndarray]:
    created = start_s + np.arange(count) * 0.02
    return {
        "unit": np.arange(count),
        "created_s": created,
        "arrived_s": created + delay_s,
        "payload": np.full(count, FRAME),
    }


def everything(samples: np.ndarray):
    return script(Recording(samples), 0.02, talk="all")


def test_a_perfect_path_gives_the_recording_later_and_coded() -> None:
    speech = phrases(2.0)
    call = render_call(units(100), everything(speech), playout=Fixed(0.1, "creation"))
    delay = 800
    assert not call.samples[:delay].any()
    assert np.array_equal(call.reference[delay:], speech)
    assert np.array_equal(call.samples[delay:], G711("u").transmit(speech))
    assert call.counts == {"played": 100, "late": 0, "lost": 0}


def test_mouth_to_ear_delay_counts_frame_playout_and_concealment() -> None:
    call = render_call(units(10), everything(voiced(1.0)), playout=Fixed(0.1, "creation"))
    assert call.playout_delay_s == pytest.approx(0.1)
    assert call.mouth_to_ear_s == pytest.approx(0.02 + 0.1 + 0.00375)


def test_lost_and_late_units_are_missing_where_they_belong() -> None:
    table = units(50)
    table["arrived_s"][10] = np.nan
    table["arrived_s"][20] += 0.2
    call = render_call(
        table, everything(voiced(1.0)), codec="linear", playout=Fixed(0.1, "creation"), concealment="silence"
    )
    assert call.fate[10] == Fate.LOST
    assert call.fate[20] == Fate.LATE
    differs = (call.samples != call.reference).reshape(-1, FRAME).any(axis=1)
    assert np.flatnonzero(differs).tolist() == [5 + 10, 5 + 20]
    assert call.loss == pytest.approx(2 / 50)


def test_concealment_is_closer_to_the_original_than_silence() -> None:
    table = units(300)
    table["arrived_s"][np.random.default_rng(1).random(300) < 0.1] = np.nan
    speech = everything(phrases(6.0))
    concealed = render_call(table, speech, playout=Fixed())
    silent = render_call(table, speech, playout=Fixed(), concealment="silence")
    assert snr_db(concealed.reference, concealed.samples) > snr_db(silent.reference, silent.samples) + 3.0


def test_a_call_longer_than_the_recording_repeats_it() -> None:
    speech = voiced(0.5, 110.0)
    call = render_call(units(60), everything(speech), codec="linear", playout=Fixed(0.06, "creation"))
    heard = call.samples[480:]
    assert np.array_equal(heard[:4000], speech)
    assert np.array_equal(heard[4000:8000], speech)


def test_an_on_off_source_pauses_the_speech_and_skips_none_of_it() -> None:
    speech = voiced(0.4, 110.0)
    table = units(20)
    table["created_s"][10:] += 0.5
    table["arrived_s"][10:] += 0.5
    call = render_call(table, everything(speech), codec="linear", playout=Fixed(0.06, "creation"))
    first, second = call.samples[480 : 480 + 1600], call.samples[480 + 1600 + 4000 :]
    assert np.array_equal(np.concatenate([first, second]), speech)
    assert not call.samples[480 + 1600 : 480 + 1600 + 4000].any()


def test_adaptive_playout_moves_talkspurts_of_reference_and_call_alike() -> None:
    table = units(40)
    table["created_s"][20:] += 1.0
    table["arrived_s"] = table["created_s"] + np.where(np.arange(40) < 20, 0.03, 0.2)
    call = render_call(
        table, everything(voiced(1.0)), codec="linear", playout=Adaptive(safety=0.0, least_s=0.01)
    )
    assert call.counts["played"] == 40
    assert np.array_equal(call.samples, call.reference)
    assert call.position[20] - call.position[19] > FRAME + 8000


def test_a_jitter_buffer_plays_slower_until_it_has_its_delay_and_loses_nothing() -> None:
    speech = voiced(4.0, 110.0)
    call = render_call(units(200), everything(speech), codec="linear", playout=Neteq(min_delay_s=0.15))
    assert call.counts == {"played": 200, "late": 0, "lost": 0}
    length = np.diff(call.position)
    assert 0.13 * 8000 < (length - FRAME).sum() < 0.2 * 8000
    assert np.abs(length - FRAME).max() <= 120
    # Drawn out, never broken: the voice is as strong in every 20 ms as in the recording.
    begin, end = int(call.position[0]), int(call.position[-1])
    power = (
        np.square(call.samples[begin:end].astype(float))[: (end - begin) // 160 * 160]
        .reshape(-1, 160)
        .mean(1)
    )
    assert power.min() > 0.4 * np.square(speech[800:-800].astype(float)).mean()
    # The reference is the original recording.
    assert np.array_equal(call.reference[begin : begin + len(speech)], speech)
    heard, said = call.segment(0, 200)
    assert len(heard) > len(said) == len(speech)


def test_what_the_law_says_is_where_units_are_heard() -> None:
    rng = np.random.default_rng(5)
    table = units(400)
    table["created_s"][200:] += 1.0
    table["arrived_s"] = table["created_s"] + rng.uniform(0.02, 0.12, 400)
    call = render_call(table, everything(phrases(4.0)))
    played = call.fate == Fate.PLAYED
    law = (call.schedule.played_s - table["created_s"][0]) * 8000
    assert np.abs(call.position - law)[played].max() <= 121
    # After a silence call and law are synchronous again.
    assert call.position[200] == pytest.approx(law[200], abs=1)
    assert call.mouth_to_ear_s == pytest.approx(
        0.02 + np.nanmean(call.schedule.played_s - table["created_s"]) + 0.00375
    )


def test_made_up_sound_fills_the_wait_for_a_late_unit() -> None:
    table = units(100)
    table["arrived_s"][50:55] = table["arrived_s"][50] + 0.1
    playout = {"strategy": "neteq", "stretch": False}
    call = render_call(table, everything(voiced(2.0, 110.0)), codec="linear", playout=playout)
    assert call.counts["late"] == 0
    gap = slice(int(call.position[49]) + FRAME, int(call.position[50]))
    assert gap.stop - gap.start == pytest.approx(0.1 * 8000, abs=80)
    assert call.samples[gap][:160].any()
    silent = render_call(
        table, everything(voiced(2.0, 110.0)), codec="linear", playout=playout, concealment="silence"
    )
    assert not silent.samples[gap].any()


def test_a_call_of_which_nothing_arrives_is_silent() -> None:
    table = units(20)
    table["arrived_s"][:] = np.nan
    call = render_call(table, everything(voiced(1.0)))
    assert not call.samples.any()
    assert call.counts["lost"] == 20
    assert call.reference.any()


def test_a_segment_is_what_was_heard_of_those_units() -> None:
    speech = phrases(1.0)
    call = render_call(units(50), everything(speech), codec="linear", playout=Fixed())
    heard, reference = call.segment(7, 12)
    assert np.array_equal(heard, speech[7 * FRAME : 12 * FRAME])
    assert np.array_equal(reference, heard)


def test_a_bare_recording_is_cut_by_the_payload() -> None:
    table = units(30)
    table["payload"][:] = 240
    table["created_s"] = np.arange(30) * 0.03
    table["arrived_s"] = table["created_s"] + 0.01
    call = render_call(table, Recording(voiced(2.0)))
    assert call.frame == 240
    assert len(call.schedule.delay_s) == 1


def test_a_polars_table_will_do() -> None:
    speech = everything(voiced(1.0))
    table = units(30)
    assert np.array_equal(
        render_call(pl.DataFrame(table), speech).samples, render_call(table, speech).samples
    )


def test_both_files_are_written(tmp_path) -> None:
    call = render_call(units(50), everything(voiced(1.0)))
    path = call.write(tmp_path / "call.wav", reference=tmp_path / "original.wav")
    assert np.array_equal(read(path).samples, call.samples)
    assert np.array_equal(read(tmp_path / "original.wav").samples, call.reference)


def test_a_table_without_a_column_is_refused_by_name() -> None:
    table = units(5)
    del table["arrived_s"]
    with pytest.raises(SpeechError, match="arrived_s"):
        render_call(table, everything(voiced(1.0)))


def test_a_polars_table_without_a_column_is_refused_by_name() -> None:
    with pytest.raises(SpeechError, match="payload"):
        render_call(pl.DataFrame(units(5)).drop("payload"), everything(voiced(1.0)))


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(SpeechError, match="at least one unit"):
        render_call(units(0), everything(voiced(1.0)))


def test_units_that_arrive_before_they_are_made_are_refused() -> None:
    with pytest.raises(SpeechError, match="unit 0: arrived"):
        render_call(units(5, delay_s=-0.1), everything(voiced(1.0)))


def test_units_of_several_flows_are_refused() -> None:
    table = {name: np.concatenate([column, column]) for name, column in units(5).items()}
    with pytest.raises(SpeechError, match="one flow"):
        render_call(table, everything(voiced(1.0)))


def test_an_rtp_header_counted_into_the_payload_is_understood() -> None:
    table = units(5)
    table["payload"][:] = FRAME + 12
    assert render_call(table, everything(voiced(1.0))).counts["played"] == 5


def test_a_payload_that_does_not_fit_the_frames_is_refused_with_the_frame_that_would() -> None:
    table = units(5)
    table["payload"][:] = 80
    with pytest.raises(SpeechError, match="frames of 10 ms"):
        render_call(table, everything(voiced(1.0)))
