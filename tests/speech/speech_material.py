"""Synthetic signals, so that no test depends on installed recordings."""

import numpy as np

RATE = 8000


def voiced(seconds: float, pitch_hz: float = 125.0, level: float = 6000.0) -> np.ndarray:
    """A steady vowel: harmonics of a pitch, weaker the higher."""
    time = np.arange(round(seconds * RATE)) / RATE
    harmonics = [np.sin(2 * np.pi * pitch_hz * h * time + h) / h for h in range(1, 12)]
    return np.rint(level * np.sum(harmonics, axis=0) / 2.0).astype(np.int16)


def phrases(seconds: float = 6.0, seed: int = 1) -> np.ndarray:
    """Half-second vowels of changing pitch with quarter-second pauses of faint noise."""
    rng = np.random.default_rng(seed)
    pieces: list[np.ndarray] = []
    while sum(map(len, pieces)) < seconds * RATE:
        pieces.append(voiced(0.5, float(rng.uniform(90, 190))))
        pieces.append(rng.integers(-3, 4, RATE // 4).astype(np.int16))
    return np.concatenate(pieces)[: round(seconds * RATE)]


def snr_db(reference: np.ndarray, heard: np.ndarray) -> float:
    """Signal-to-noise ratio in dB."""
    noise = np.square(reference.astype(float) - heard).sum()
    return float(10 * np.log10(np.square(reference.astype(float)).sum() / noise))
