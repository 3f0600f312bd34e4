"""Impairment factors of Opus, determined here: `python -m validation opus`.

It codes recordings with libopus, loses packets, scores what a listener hears with ViSQOL, and fits Ie,wb and Bpl,wb
(:mod:`validation.measured.opus_fit`). Codecs whose Ie,wb are in ITU-T G.113 Appendix IV take the same way and calibrate
the scores, as ITU-T P.834.1 requires. `results/measured/opus.json.gz` keeps every score.

**Material.** Four speakers, 8 s a clip, 16 kHz, -26 dBov. Debian packages, downloaded and unpacked but not installed
and not part of fairwave: `pocketsphinx-testdata` (LibriVox, an English woman, public domain) and
`fillets-ng-data-cs`, `-nl` (a Czech man, a Czech woman and a Dutch woman, GPL-2). `libvo-amrwbenc0` (Apache-2.0)
encodes AMR-WB.
"""

from __future__ import annotations

import ctypes
import sys
import time
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.signal import correlate, fftconvolve, firwin

from fairwave_speech import opus
from fairwave_speech.audio import Samples, active_level_dbov
from fairwave_speech.fetch import fetch
from validation import writing
from validation.measured import opus_fit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


CLIP = 8 * opus.RATE
PAUSE = 3 * opus.RATE // 10
LEVEL_DBOV = -26.0
BAND_HZ = (50, 7000)
"""The band of wideband telephony (ITU-T P.341), before the encoder and after the decoder."""
WARM_UP = opus.RATE
"""Speech that codecs hear before a clip, so that none is scored for its first frames."""

GAMES = "usr/share/games/fillets-ng/sound"
SPEAKERS = {
    "English woman": ("pocketsphinx-testdata", "usr/share/pocketsphinx/test/data/librivox", "*.wav", 3),
    "Czech man": ("fillets-ng-data-cs", GAMES, "*/cs/*-v-*.ogg", 3),
    "Czech woman": ("fillets-ng-data-cs", GAMES, "*/cs/*-m-*.ogg", 3),
    "Dutch woman": ("fillets-ng-data-nl", GAMES, "*/nl/*-m-*.ogg", 3),
}
"""Per speaker: package, folder, files, clips."""

RATES = (6, 8, 12, 16, 24, 32, 64, 96)
WITH_COPIES = (24, 32, 64, 96)
"""Rates at which libopus adds in-band FEC at losses of up to 20 %. At all others it changes nothing."""
LOSSES = ((1, 1), (3, 1), (10, 1), (20, 1), (3, 2), (10, 2))
"""Packets lost in percent, and burst ratio: 1 of independent losses, 2 of runs that are twice as long."""

G722 = {64: 8, 56: 7, 48: 6}
AMR_WB = {
    "6.60": 0,
    "8.85": 1,
    "12.65": 2,
    "14.25": 3,
    "15.85": 4,
    "18.25": 5,
    "19.85": 6,
    "23.05": 7,
    "23.85": 8,
}
LOSSY_REFERENCES = ("12.65", "23.05", "23.85")
"""Modes with a Bpl,wb in G.113 Table IV.4."""
REFERENCE_LOSSES = (3, 10)


@dataclass(frozen=True)
class Condition:
    """A codec and the losses of its packets.

    Attributes:
        codec: `direct`, `g722-64`, `amr-wb-12.65`, `opus-24`.
        fec: Opus has in-band FEC.
        loss: Packets lost, percent.
        burst: Burst ratio.
        reported: Loss that the receiver reports to Opus' encoder, percent. Without a loss, it shows the price of the
            encoder's precautions.
    """

    codec: str
    fec: bool = False
    loss: float = 0
    burst: float = 1
    reported: float = 0


def conditions() -> list[Condition]:
    """Every condition of the experiment."""
    found = [Condition("direct"), *(Condition(f"g722-{rate}") for rate in G722)]
    found += [Condition(f"amr-wb-{mode}") for mode in AMR_WB]
    found += [
        Condition(f"amr-wb-{mode}", loss=loss) for mode in LOSSY_REFERENCES for loss in REFERENCE_LOSSES
    ]
    for rate in RATES:
        found.append(Condition(f"opus-{rate}"))
        for fec in (False, True) if rate in WITH_COPIES else (False,):
            found += [Condition(f"opus-{rate}", fec, loss, burst, reported=loss) for loss, burst in LOSSES]
            # The cost of copies without a loss. A reported loss alone changes nothing measurable.
            found += [
                Condition(f"opus-{rate}", fec, reported=loss) for loss, burst in LOSSES if fec and burst == 1
            ]
    return found


@dataclass(frozen=True)
class Clip:
    """Speech of one speaker: 16 kHz, `WARM_UP` samples and then 8 s that are scored."""

    speaker: str
    files: tuple[str, ...]
    samples: Samples


def clips(speaker: str, data: Path | None = None) -> list[Clip]:
    """The clips of a speaker, the same in every run.

    Raises:
        SpeechError: The package cannot be downloaded.
    """
    package, folder, pattern, count = SPEAKERS[speaker]
    root = fetch([package], data)[0] / folder
    # Spoken lines of some length. Lines of games can also be shouts.
    files = [path for path in sorted(root.glob(pattern)) if path.stat().st_size > 35_000]
    pieces: list[tuple[str, Samples]] = []
    for path in files:
        samples = _read(path)
        # Clipped recordings would hide the effect of codecs on loud speech.
        if speaker == "English woman" or (
            4.0 < len(samples) / opus.RATE < 9.0 and np.abs(samples).max() < 32_700
        ):
            pieces.append((path.name, _level(samples)))
    found = []
    stream = iter(pieces)
    for _ in range(count):
        names: list[str] = []
        parts: list[Samples] = []
        while sum(map(len, parts)) < WARM_UP + CLIP:
            piece = next(stream, None)
            if piece is None:
                # The last clip of a short recording begins again with its first sentence.
                stream = iter(pieces)
                continue
            names.append(piece[0])
            parts += [piece[1], np.zeros(PAUSE, np.int16)]
        found.append(Clip(speaker, tuple(names), _filter_band(np.concatenate(parts)[: WARM_UP + CLIP])))
    return found


def _read(path: Path) -> Samples:
    import av
    import av.audio.resampler

    resampler = av.audio.resampler.AudioResampler(format="s16", layout="mono", rate=opus.RATE)
    with av.open(str(path)) as container:
        pieces = [piece for frame in container.decode(audio=0) for piece in resampler.resample(frame)]
    pieces += resampler.resample(None)
    sound: Samples = np.concatenate([piece.to_ndarray().reshape(-1) for piece in pieces]).astype(np.int16)
    return sound


def _filter_band(samples: Samples) -> Samples:
    """The signal within `BAND_HZ`, not delayed."""
    taps = firwin(401, BAND_HZ, pass_zero=False, fs=opus.RATE)
    filtered = np.rint(fftconvolve(samples.astype(float), taps, mode="same")).clip(-32768, 32767)
    sound: Samples = filtered.astype(np.int16)
    return sound


def _level(samples: Samples) -> Samples:
    gain = 10.0 ** ((LEVEL_DBOV - active_level_dbov(samples)) / 20.0)
    levelled: Samples = np.rint(samples * gain).clip(-32768, 32767).astype(np.int16)
    return levelled


def lost(frames: int, loss: float, burst: float, seed: int) -> NDArray[np.bool_]:
    """The lost frames: exactly `loss` percent, in runs `burst` times as long as with independent losses.

    The same seed loses the same frames for all codecs, so that comparisons between codecs are paired.
    """
    count = round(frames * loss / 100)
    flags = np.zeros(frames, np.bool_)
    if count == 0:
        return flags
    random = np.random.default_rng([seed, round(100 * loss), round(100 * burst)])
    if burst == 1:
        flags[random.choice(frames, count, replace=False)] = True
        return flags
    leave = (1 - loss / 100) / burst
    enter = leave * loss / 100 / (1 - loss / 100)
    while np.count_nonzero(flags) != count:
        state = False
        for place, value in enumerate(random.random(frames)):
            state = value >= leave if state else value < enter
            flags[place] = state
    return flags


def heard(clip: Samples, condition: Condition, seed: int) -> tuple[Samples, dict[str, float]]:
    """The received speech of a clip, aligned with it, and facts about its packets."""
    missing = np.concatenate(
        [
            np.zeros(WARM_UP // opus.FRAME, np.bool_),
            lost(CLIP // opus.FRAME, condition.loss, condition.burst, seed),
        ]
    )
    name, _, mode = condition.codec.rpartition("-")
    if name == "opus":
        packets = opus.encode(
            clip, 1000 * int(mode), in_band_fec=condition.fec, loss_percent=round(condition.reported)
        )
        decoded = opus.decode(
            [None if gone else packet for packet, gone in zip(packets, missing, strict=True)]
        )
        facts = {
            "kbps": sum(map(len, packets)) * 8 / (20.0 * len(packets)),
            "copies": float(np.mean([opus.has_copy(packet) for packet in packets])),
        }
        return _shifted(decoded, opus.look_ahead(), len(clip)), facts
    if name == "g722":
        return _aligned(_g722(clip, G722[int(mode)]), clip), {}
    if name == "amr-wb":
        return _aligned(_amr_wb(clip, AMR_WB[mode], missing), clip), {}
    return clip, {}


def _shifted(samples: Samples, late: int, length: int) -> Samples:
    padded = np.concatenate([samples[late:], np.zeros(max(0, length + late - len(samples)), np.int16)])
    return padded[:length]


def _aligned(samples: Samples, clip: Samples) -> Samples:
    """Removes the codec's delay: the lag of 0 to 20 ms at which both agree best."""
    length = min(len(samples), len(clip))
    likeness = correlate(
        samples[:length].astype(float), clip[:length].astype(float), mode="full", method="fft"
    )
    late = int(np.argmax(likeness[length - 1 : length - 1 + opus.FRAME]))
    return _shifted(samples, late, len(clip))


def _g722(clip: Samples, bits: int) -> Samples:
    import av

    encoder = av.CodecContext.create("g722", "w")
    encoder.sample_rate, encoder.layout, encoder.format = opus.RATE, "mono", "s16"
    decoder = av.CodecContext.create("g722", "r")
    # The lower modes of G.722 leave out the last bits of the lower band at the decoder (clause 1.3).
    decoder.sample_rate, decoder.layout, decoder.options = opus.RATE, "mono", {"bits_per_codeword": str(bits)}
    frame = av.AudioFrame.from_ndarray(clip.reshape(1, -1), format="s16", layout="mono")
    frame.sample_rate, frame.pts = opus.RATE, 0
    packets = [*encoder.encode(frame), *encoder.encode(None)]
    pieces = [piece.to_ndarray().reshape(-1) for packet in packets for piece in decoder.decode(packet)]
    return np.concatenate(pieces).astype(np.int16)


@cache
def _amr_wb_library() -> ctypes.CDLL:
    root = fetch(["libvo-amrwbenc0"])[0]
    library = ctypes.CDLL(str(next(root.glob("usr/lib/*/libvo-amrwbenc.so.0.*"))))
    library.E_IF_init.restype = ctypes.c_void_p
    return library


def _amr_wb(clip: Samples, mode: int, missing: NDArray[np.bool_]) -> Samples:
    import av

    library = _amr_wb_library()
    encoder = ctypes.c_void_p(library.E_IF_init())
    decoder: Any = av.CodecContext.create("libopencore_amrwb", "r")
    decoder.sample_rate, decoder.layout = opus.RATE, "mono"
    whole = np.concatenate([clip, np.zeros(-len(clip) % opus.FRAME, np.int16)])
    buffer = ctypes.create_string_buffer(128)
    heard: list[Samples] = []
    for place, first in enumerate(range(0, len(whole), opus.FRAME)):
        frame = np.ascontiguousarray(whole[first : first + opus.FRAME])
        pointer = frame.ctypes.data_as(ctypes.POINTER(ctypes.c_int16))
        size = library.E_IF_encode(encoder, mode, pointer, buffer, 0)
        # Frame type 14 (RFC 4867 §4.3.2): speech lost. The decoder conceals it.
        packet = bytes([14 << 3 | 4]) if missing[place] else buffer.raw[:size]
        heard += [piece.to_ndarray().reshape(-1) for piece in decoder.decode(av.Packet(packet))]
    library.E_IF_exit(encoder)
    return np.concatenate(heard).astype(np.int16)


ORIGINAL_SPECTROGRAM: list[Any] = []
"""ViSQOL's method for spectrograms, once the quick one has replaced it."""


@cache
def _visqol() -> Any:  # noqa: ANN401  # the package is optional
    from visqol.gammatone import GammatoneSpectrogramBuilder

    from fairwave_speech.score import visqol_api

    builder: Any = GammatoneSpectrogramBuilder
    if not ORIGINAL_SPECTROGRAM:
        ORIGINAL_SPECTROGRAM.append(builder._build_scipy)
        builder._build_scipy = _build_at_once
    return visqol_api()


def _build_at_once(
    _self: object,
    sig: NDArray[np.float64],
    window: Any,
    coefficients: NDArray[np.float64],
    hop: int,
    columns: int,
    bands: int,
) -> NDArray[np.float64]:
    """ViSQOL's spectrogram with all frames at once: the same filters and the same numbers in a tenth of the time."""
    from scipy.signal import sosfilt

    places = np.arange(columns)[:, None] * hop + np.arange(window.size)[None, :]
    frames = sig[places] * window.hann_window
    first, second, third, fourth, fifth, last, b0, b1, b2, gain = coefficients
    out = np.zeros((bands, columns))
    for band in range(bands):
        rows = [[first, above, last, b0, b1, b2] for above in (second, third, fourth, fifth)]
        sections = np.ascontiguousarray(np.array(rows)[:, :, band])
        sections[0, :3] /= gain[band]
        out[band] = np.sqrt(np.mean(sosfilt(sections, frames, axis=1) ** 2, axis=1))
    return out


def score(clip: Samples, heard: Samples) -> float:
    """MOS-LQO of a clip by ViSQOL (speech mode), without the warm-up."""
    reference, degraded = (samples[WARM_UP:] / 32768.0 for samples in (clip, _filter_band(heard)))
    return float(_visqol().measure_from_arrays(reference, degraded, opus.RATE).moslqo)


def measure(wanted: list[Condition], material: list[Clip]) -> Iterator[dict[str, Any]]:
    """Scores of every condition, one per clip."""
    for condition in wanted:
        scores, facts = [], []
        for seed, clip in enumerate(material):
            sound, found = heard(clip.samples, condition, seed)
            scores.append(round(score(clip.samples, sound), 4))
            facts.append(found)
        mean = {key: round(float(np.mean([one[key] for one in facts])), 3) for key in facts[0]}
        yield {**condition.__dict__, "mos": scores, **mean}


def main() -> int:
    """Runs the experiment and keeps its scores."""
    writing.parser(__doc__).parse_args()
    began = time.process_time()
    material = [clip for speaker in SPEAKERS for clip in clips(speaker)]
    wanted = conditions()
    scores: dict[str, Any] = {
        "library": opus.version(),
        "visqol": version("visqol-python"),
        "clips": [{"speaker": clip.speaker, "files": list(clip.files)} for clip in material],
        "conditions": [],
    }
    for done, found in enumerate(measure(wanted, material)):
        scores["conditions"].append(found)
        print(f"{done + 1} of {len(wanted)}: {found}", file=sys.stderr, flush=True)
    scores["cpu_minutes"] = round((time.process_time() - began) / 60, 1)
    opus_fit.keep(scores)
    return 0
