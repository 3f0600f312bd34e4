"""Sound files: everything that ffmpeg's libraries decode becomes mono, 8 kHz, 16 bit.

Telephony codecs of this package work on linear samples of 16 bits at 8000 per second (ITU-T G.711). A recording of
another form is converted, with a note. An unreadable one is refused, and the message contains the ``ffmpeg`` line that
would convert it. Files are written to a temporary file and then moved, so a reader never sees half a file. Suspect
properties of a recording are warnings (:mod:`fairwave_speech.flaws`).
"""

from __future__ import annotations

import os
import tempfile
import wave
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairwave.extras import need
from fairwave.foreign import KINDS, check_items, gated
from fairwave_speech.errors import SpeechError
from fairwave_speech.flaws import LEAST_OFFSET, Flaws, find_cancelled, scale_samples

if TYPE_CHECKING:
    import av

Samples = NDArray[np.int16]

RATE = 8000
"""Samples per second of everything in this package."""

NOMINAL_LEVEL_DBOV = -26.0
"""Active level at which telephony tests play speech, in dB relative to overload (ITU-T P.800, G.191)."""

LONGEST_S = KINDS["recording"].span_s or 0.0
"""Longest recording that is read, in seconds, because all of it is in memory."""


@dataclass(frozen=True)
class Recording:
    """Speech as samples.

    Attributes:
        samples: mono, :data:`RATE` per second, 16 bits.
        source: its origin, for messages and reports.
        notes: conversions, one sentence each.
        attribution: author and licence to name with every playback; empty if none is required.
        warnings: suspect properties, one sentence each: clipped, constant, nearly silent, short.
    """

    samples: Samples
    source: str = "samples"
    notes: tuple[str, ...] = field(default=())
    attribution: str = ""
    warnings: tuple[str, ...] = field(default=())

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / RATE


@gated("recording", SpeechError)
def read(path: str | os.PathLike[str], *, attribution: str = "") -> Recording:
    """Read a sound file as mono, 8 kHz, 16 bit.

    Args:
        path: wav, flac, mp3, ogg, … : any format that ffmpeg's libraries decode.
        attribution: licence note to keep with the recording.

    Returns:
        The recording, with notes about conversions and warnings about suspect properties.

    Raises:
        SpeechError: the file does not exist or has no decodable sound, is empty or silent, has samples that are not
            finite numbers, or is longer than :data:`LONGEST_S`.
    """
    need("av", "speech", SpeechError)
    import av.error

    path = Path(path)
    if not path.is_file():
        raise SpeechError(f"{path}: there is no such file; give the path of a recording (wav, flac, mp3, …)")
    try:
        samples, notes, flaws = _decode(path)
    except (av.error.FFmpegError, ValueError, OSError) as error:
        if isinstance(error, SpeechError):
            raise
        raise SpeechError(f"{path}: not a recording that can be read ({error}); {_remedy(path)}") from error
    if len(samples) == 0:
        raise SpeechError(f"{path}: holds no samples; {_remedy(path)}")
    if flaws.is_silent or not np.any(samples):
        raise SpeechError(f"{path}: is silent from beginning to end; give a recording with speech")
    offset = float(np.mean(samples))
    if abs(offset) >= LEAST_OFFSET * 32768 and not flaws.is_constant:
        samples = np.clip(np.rint(samples - offset), -32768, 32767).astype(np.int16)
        notes.append(f"an offset of {offset / 327.68:.3g} % of full scale was removed")
    warnings = flaws.warnings(active_level_dbov(samples))
    return Recording(samples, str(path), tuple(notes), attribution, tuple(warnings))


def write(path: str | os.PathLike[str], samples: Samples, rate: int = RATE) -> Path:
    """Write mono 16-bit samples as a wav file, completely or not at all.

    Args:
        path: the file; a missing folder is created.
        samples: one dimension, 16 bits.
        rate: samples per second.

    Returns:
        The path.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream, wave.open(stream, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(np.ascontiguousarray(samples, dtype="<i2").tobytes())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def active_level_dbov(samples: Samples) -> float:
    """Level during speech, in dB relative to overload; minus infinity without speech.

    **Assumption**: the mean power of the 10 ms frames with a power within 40 dB of the loudest, in place of the
    envelope method of ITU-T P.56. On recordings of a single close voice the two differ by fractions of a dB.
    """
    frames = _frames(samples, RATE // 100)
    power = np.mean(np.square(frames, dtype=np.float64), axis=1) if len(frames) else np.zeros(0)
    loudest = power.max(initial=0.0)
    if loudest <= 0.0:
        return float("-inf")
    return float(10.0 * np.log10(power[power > loudest * 1e-4].mean() / 32768.0**2))


def normalise(recording: Recording, level_dbov: float = NOMINAL_LEVEL_DBOV) -> Recording:
    """Scale a recording to a common active level, so that calls from different recordings are comparable.

    Scores and recognisers depend on the level too. A quiet recording would get a lower score because of its level and
    not because of the network. The gain is reduced if it would clip. A note states the change.

    Args:
        recording: the recording to scale.
        level_dbov: active level to reach, in dB relative to overload, at most 0.

    Raises:
        SpeechError: a level above 0 dBov, or a recording without any sound.
    """
    if not level_dbov <= 0.0:
        raise SpeechError(
            f"level {level_dbov} dBov: must be 0 or below; "
            f"telephony's nominal level is {NOMINAL_LEVEL_DBOV:g}"
        )
    now = active_level_dbov(recording.samples)
    if not np.isfinite(now):
        raise SpeechError(f"{recording.source}: is silent, so it has no level to change")
    gain = 10.0 ** ((level_dbov - now) / 20.0)
    peak = float(np.abs(recording.samples.astype(np.int32)).max())
    gain = min(gain, 32767.0 / peak)
    scaled = np.rint(recording.samples * gain).astype(np.int16)
    note = f"level changed by {20.0 * np.log10(gain):+.1f} dB"
    return replace(recording, samples=scaled, notes=(*recording.notes, note))


def _decode(path: Path) -> tuple[Samples, list[str], Flaws]:
    import av
    import av.audio.resampler

    notes: list[str] = []
    with av.open(str(path)) as container:
        if not container.streams.audio:
            raise SpeechError(f"{path}: has no sound track; {_remedy(path)}")
        stream = container.streams.audio[0]
        if stream.codec_context is None:
            raise SpeechError(f"{path}: its sound is in a coding that is not known here; {_remedy(path)}")
        rate, channels, codec = stream.rate, stream.channels, stream.codec_context.name
        check_items(channels, str(path), "recording")
        if rate != RATE:
            notes.append(f"{rate} samples per second were converted to {RATE}")
        if codec != "pcm_s16le":
            notes.append(f"decoded from {codec}")
        flaws = Flaws(str(path), rate)
        mixer = av.audio.resampler.AudioResampler(format="s16", layout="mono", rate=RATE)
        splitter = av.audio.resampler.AudioResampler(format="s16p", rate=RATE)
        pieces: list[Samples] = []
        apart: list[Samples] = []
        total = 0
        for frame in container.decode(stream):
            flaws.examine(scale_samples(frame.to_ndarray(), frame.format.name, channels))
            for piece in mixer.resample(frame):
                pieces.append(_linear(piece)[0])
                total += pieces[-1].size
            if channels > 1:
                apart.extend(_linear(piece) for piece in splitter.resample(frame))
            if total > LONGEST_S * RATE:
                raise SpeechError(
                    f"{path}: is longer than {LONGEST_S:g} s; cut it: "
                    f"ffmpeg -i {path} -t {LONGEST_S:g} -ac 1 -ar {RATE} cut.wav"
                )
        pieces.extend(_linear(piece)[0] for piece in mixer.resample(None))
        if channels > 1:
            apart.extend(_linear(piece) for piece in splitter.resample(None))
    samples = np.concatenate(pieces) if pieces else np.zeros(0, np.int16)
    if apart:
        split = np.concatenate(apart, axis=1)
        loudest = find_cancelled(samples, split)
        if loudest is None:
            notes.insert(0, f"{channels} channels were mixed into one")
        else:
            samples = np.ascontiguousarray(split[loudest])
            notes.insert(
                0, f"channel {loudest + 1} of {channels} is used alone: mixed, the channels cancel each other"
            )
    return samples, notes, flaws


def _linear(frame: av.AudioFrame) -> Samples:
    """Samples of 16 bits, one row per channel."""
    return frame.to_ndarray().astype(np.int16, copy=False)


def _remedy(path: Path) -> str:
    target = path.with_name(f"{path.stem}-8k.wav")
    return f"convert it: ffmpeg -i {path} -ac 1 -ar {RATE} -c:a pcm_s16le {target}"


def _frames(samples: Samples, size: int) -> Samples:
    """Complete frames of the signal, one per row, without an incomplete last one."""
    whole = len(samples) // size
    return samples[: whole * size].reshape(whole, size)
