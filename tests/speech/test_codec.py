"""ITU-T G.711: code points and properties."""

import numpy as np
import pytest

from fairwave_speech import SpeechError
from fairwave_speech.codec import CODECS, G711, codec

ALL = np.arange(-32768, 32768).astype(np.int16)


@pytest.mark.parametrize(
    ("code", "value"),
    # Table 2 of the Recommendation has values on a scale of 8159; linear samples are four times that.
    # Bits are inverted on the line: 0xFF is the first positive value, 0x00 the last negative one.
    [
        (0xFF, 0),
        (0x7F, 0),
        (0xFE, 2),
        (0x7E, -2),
        (0xEF, 33),
        (0xDF, 99),
        (0x8F, 4191),
        (0x80, 8031),
        (0x00, -8031),
    ],
)
def test_mu_law_decodes_the_code_points_of_table_2(code: int, value: int) -> None:
    assert G711("u").decode(np.array([code], np.uint8))[0] == 4 * value


@pytest.mark.parametrize(
    ("code", "value"),
    # Table 1 has values on a scale of 4096; linear samples are eight times that. Even bits are inverted.
    [(0xD5, 1), (0x55, -1), (0xD4, 3), (0xC5, 33), (0xF5, 66), (0xE5, 132), (0xAA, 4032), (0x2A, -4032)],
)
def test_a_law_decodes_the_code_points_of_table_1(code: int, value: int) -> None:
    assert G711("a").decode(np.array([code], np.uint8))[0] == 8 * value


@pytest.mark.parametrize("law", ["u", "a"])
def test_every_code_survives_decoding_and_encoding(law: str) -> None:
    coder = G711(law)
    codes = np.arange(256, dtype=np.uint8)
    again = coder.decode(coder.encode(coder.decode(codes)))
    assert np.array_equal(again, coder.decode(codes))


@pytest.mark.parametrize("law", ["u", "a"])
def test_error_is_at_most_half_a_step_of_the_segment(law: str) -> None:
    heard = G711(law).transmit(ALL).astype(int)
    within = np.abs(ALL.astype(int)) < 31000
    # A step is a sixteenth of its segment, which begins at a power of two: half of it is under 1/32 of the
    # value, in addition to the bits by which 16 linear bits exceed the law's 14 or 13.
    allowed = np.abs(ALL.astype(int) + np.where(ALL < 0, -132, 132)) / 32 + 8
    assert np.all(np.abs(heard - ALL)[within] <= allowed[within])


@pytest.mark.parametrize(("law", "name"), [("u", "pcm_mulaw"), ("a", "pcm_alaw")])
def test_both_tables_are_those_of_ffmpegs_libraries(law: str, name: str) -> None:
    av = pytest.importorskip("av")
    frame = av.AudioFrame.from_ndarray(ALL.reshape(1, -1), format="s16", layout="mono")
    frame.sample_rate = 8000
    encoder, decoder = (av.CodecContext.create(name, mode) for mode in "wr")
    for context in (encoder, decoder):
        context.sample_rate = 8000
        context.layout = "mono"
    encoder.format = "s16"
    theirs = b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])
    coder = G711(law)
    assert coder.encode(ALL).tobytes() == theirs
    codes = np.arange(256, dtype=np.uint8)
    decoded = np.concatenate(
        [one.to_ndarray().reshape(-1) for one in decoder.decode(av.Packet(codes.tobytes()))]
    )
    assert np.array_equal(coder.decode(codes), decoded.astype(np.int16))


@pytest.mark.parametrize("law", ["u", "a"])
def test_quantisation_is_monotone(law: str) -> None:
    assert np.all(np.diff(G711(law).transmit(ALL).astype(int)) >= 0)


def test_linear_changes_nothing() -> None:
    assert np.array_equal(codec("linear").transmit(ALL), ALL)


def test_an_unknown_codec_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SpeechError, match=", ".join(CODECS)):
        codec("g711x")
