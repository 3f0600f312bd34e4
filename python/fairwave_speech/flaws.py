"""Flaws of a sound file that could be taken for the network's: clipping, a constant, near silence, cancelling channels.

The samples are examined as they are in the file, channel by channel, before conversion, because a converted clipped
wave is no longer flat.

**Assumptions** (no standard fixes them): a wave is clipped if it stays at its largest value for at least 0.375 ms
(three samples at 8 kHz), if that is above a tenth of full scale and happens to one sample in 10 000. Speech below
−50 dBov is nearly silent (telephony plays it at −26 dBov). An offset counts from 2 % of full scale. Channels cancel
each other if their mix has less than a tenth of the loudest channel's power. Independent channels keep more of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairwave_speech.errors import SpeechError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Channels = NDArray[np.float64]
    """One row per channel, full scale is 1."""

FLAT_S = 0.375e-3
"""Least time at the largest value of a clipped wave, in seconds."""

STEP = 1 / 32768
"""A step of 16 bits: the largest positive sample is one step below full scale."""

LEAST_PEAK = 0.1
"""The least peak of a clipped wave, relative to full scale."""

LEAST_CLIPPED = 1e-4
"""The least share of clipped samples for a warning."""

QUIET_DBOV = -50.0
"""Speech below this level is nearly silent, in dB relative to overload."""

LEAST_OFFSET = 0.02
"""The least offset that is removed, relative to full scale."""

CANCELLED = 0.1
"""Channels cancel each other if their mix keeps less than this part of the loudest channel's power."""

SHORT_S = 1.0
"""A shorter recording is too short to rate a call by, in seconds."""

_ZERO = {"u8": 128.0}
_FULL = {"u8": 128.0, "s16": 32768.0, "s32": 2.0**31, "s64": 2.0**63}


def scale_samples(samples: NDArray[np.generic], form: str, channels: int) -> Channels:
    """Decoded samples, one row per channel, relative to full scale.

    Args:
        samples: As decoded: a row per channel if the format ends in `p`, else one row that alternates.
        form: ffmpeg's name of the sample format: `s16`, `fltp`, …
        channels: Number of channels.
    """
    rows = samples if form.endswith("p") else samples.reshape(-1, channels).T
    bare = form.removesuffix("p")
    return (rows.astype(np.float64) - _ZERO.get(bare, 0.0)) / _FULL.get(bare, 1.0)


@dataclass
class Flaws:
    """Suspect properties of a sound file, collected piece by piece.

    Attributes:
        source: The file.
        rate: Its samples per second.
    """

    source: str
    rate: int
    count: int = 0
    peak: float = 0.0
    clipped: int = 0
    low: float = np.inf
    high: float = -np.inf
    channels: int = 1

    def examine(self, channels: Channels) -> None:
        """Examines the next piece.

        Raises:
            SpeechError: A sample is not a number.
        """
        if not channels.size:
            return
        if not np.isfinite(channels).all():
            at = self.count + int(np.flatnonzero(~np.isfinite(channels).all(axis=0))[0])
            raise SpeechError(
                f"{self.source}: sample {at} ({at / self.rate:.3f} s) is not a finite number; write the file again "
                "with finite samples"
            )
        size = np.abs(channels)
        largest = float(size.max())
        # Values beyond full scale are cut off by the conversion to 16 bits.
        limit = min(max(self.peak, largest), 1.0)
        if limit > self.peak:
            self.peak, self.clipped = limit, 0
        if largest >= self.peak >= LEAST_PEAK:
            self.clipped += _flat(size >= self.peak - STEP, max(3, round(self.rate * FLAT_S)))
        self.low, self.high = min(self.low, float(channels.min())), max(self.high, float(channels.max()))
        self.channels = channels.shape[0]
        self.count += channels.shape[1]

    @property
    def is_silent(self) -> bool:
        """Whether every sample is 0."""
        return self.low == self.high == 0.0

    @property
    def is_constant(self) -> bool:
        """Whether every sample is the same, and not 0."""
        return self.low == self.high != 0.0

    def warnings(self, level_dbov: float) -> list[str]:
        """Returns suspect properties, one sentence each.

        Args:
            level_dbov: Active level of the converted recording.
        """
        found = []
        if self.is_constant:
            return [f"{self.source}: is constant from beginning to end: it holds no speech"]
        clipped = self.clipped / max(self.count * self.channels, 1)
        if clipped >= LEAST_CLIPPED:
            found.append(
                f"{self.source}: is clipped: {100 * clipped:.2g} % of its samples stay at {100 * self.peak:.3g} % of "
                "full scale; record it at a lower level"
            )
        if level_dbov < QUIET_DBOV:
            found.append(
                f"{self.source}: is nearly silent: {level_dbov:.0f} dBov while somebody speaks, where telephony has "
                "−26; record it at a higher level"
            )
        if self.count < SHORT_S * self.rate:
            found.append(
                f"{self.source}: lasts {self.count / self.rate:.2g} s: too short to judge a call by; use a few seconds"
            )
        if self.rate < 8000:
            found.append(
                f"{self.source}: has {self.rate} samples per second: no sound above {self.rate // 2} Hz; record it at "
                "8000 or more"
            )
        return found


def find_cancelled(mixed: NDArray[np.int16], apart: NDArray[np.int16]) -> int | None:
    """Returns the loudest channel if the mix of all keeps little of it; otherwise None.

    Args:
        mixed: The mix.
        apart: The channels, one per row.
    """
    power = np.mean(np.square(apart, dtype=np.float64), axis=1)
    loudest = int(np.argmax(power))
    return loudest if np.mean(np.square(mixed, dtype=np.float64)) < CANCELLED * power[loudest] else None


def _flat(at_peak: NDArray[np.bool_], least: int) -> int:
    """Counts the samples in runs of at least `least` samples at the peak."""
    total = 0
    for row in at_peak:
        edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(np.int8)))
        lengths = edges[1::2] - edges[::2]
        total += int(lengths[lengths >= least].sum())
    return total
