"""Opus: packets with copies of frames before them, and the decoder's treatment of losses."""

import numpy as np
import pytest
from scipy.signal import correlate, resample_poly
from speech_material import phrases

from fairwave_speech import opus
from fairwave_speech.errors import SpeechError

pytestmark = pytest.mark.skipif(not opus.is_installed(), reason="libopus is not installed (fairwave[speech])")

SPEECH = np.rint(resample_poly(phrases(6.0).astype(float), 2, 1)).astype(np.int16)


def decoded(packets: list[bytes], lost: set[int]) -> np.ndarray:
    return opus.decode([None if place in lost else packet for place, packet in enumerate(packets)])


def snr_db(packets: list[bytes], lost: set[int], where: set[int]) -> float:
    """Signal-to-noise ratio of some frames, compared with a decoder that receives all packets."""
    whole, heard = opus.decode(packets), decoded(packets, lost)
    chosen = np.repeat([place in where for place in range(len(packets))], opus.FRAME)
    noise = np.square(whole[chosen].astype(float) - heard[chosen]).sum()
    return float(10 * np.log10(np.square(whole[chosen].astype(float)).sum() / noise))


def copied(packets: list[bytes]) -> list[int]:
    """Frames with a copy in the next packet, far apart from each other."""
    places = [place for place in range(10, len(packets) - 1) if opus.has_copy(packets[place + 1])]
    return [place for index, place in enumerate(places) if index % 12 == 0]


def test_packets_have_at_most_the_rate_that_was_asked_for():
    for rate in (12_000, 24_000, 64_000):
        packets = opus.encode(SPEECH, rate)
        assert len(packets) == len(SPEECH) // opus.FRAME
        # Pauses take fewer bits.
        assert 0.6 * rate < sum(map(len, packets)) * 8 / (len(packets) * 0.02) < 1.05 * rate


def test_decoded_speech_is_the_original_later_by_the_look_ahead():
    heard = opus.decode(opus.encode(SPEECH, 64_000))
    likeness = correlate(heard.astype(float), SPEECH.astype(float), method="fft")
    assert opus.look_ahead() == 104, "6.5 ms of 16 kHz"
    assert int(np.argmax(likeness)) - (len(SPEECH) - 1) == pytest.approx(opus.look_ahead(), abs=2)


def test_copies_come_only_with_in_band_fec_reported_losses_and_enough_bits():
    def share(rate: int, *, in_band_fec: bool, loss_percent: int) -> float:
        packets = opus.encode(SPEECH, rate, in_band_fec=in_band_fec, loss_percent=loss_percent)
        return float(np.mean([opus.has_copy(packet) for packet in packets]))

    assert share(32_000, in_band_fec=True, loss_percent=5) > 0.2
    assert share(32_000, in_band_fec=True, loss_percent=0) == 0
    assert share(32_000, in_band_fec=False, loss_percent=5) == 0
    assert share(12_000, in_band_fec=True, loss_percent=20) == 0
    assert share(16_000, in_band_fec=True, loss_percent=10) == 0


def test_the_flag_of_copies_is_read_from_packets_as_libopus_reads_it():
    packets = opus.encode(SPEECH, 32_000, in_band_fec=True, loss_percent=5)
    found = [opus._copy_flag(packet) for packet in packets]
    assert found == [opus.has_copy(packet) for packet in packets]
    assert any(found)
    assert not all(found)


def test_a_copy_replaces_a_single_lost_frame_better_than_concealment():
    with_copies = opus.encode(SPEECH, 32_000, in_band_fec=True, loss_percent=10)
    without = opus.encode(SPEECH, 32_000, loss_percent=10)
    lost = set(copied(with_copies))
    assert len(lost) > 5
    assert snr_db(with_copies, lost, lost) > snr_db(without, lost, lost) + 5


def test_of_a_run_of_losses_only_the_last_frame_has_a_copy():
    packets = opus.encode(SPEECH, 32_000, in_band_fec=True, loss_percent=10)
    last = copied(packets)[2]
    run = decoded(packets, {last - 1, last}).reshape(-1, opus.FRAME)
    concealed = opus.decode([*packets[: last - 1], None, None]).reshape(-1, opus.FRAME)
    assert (run[last - 1] == concealed[last - 1]).all(), "concealed: the next packet is lost too"
    assert (run[last] != concealed[last]).any(), "restored from the packet after it"


def test_values_that_opus_does_not_have_are_refused():
    with pytest.raises(SpeechError, match="6000 to 510000"):
        opus.encode(SPEECH, -5)
    with pytest.raises(SpeechError, match="0 to 100"):
        opus.encode(SPEECH, 32_000, loss_percent=101)
