"""The camera's picture: a moving texture that makes the encoder use its whole rate.

Chrome's fake camera is so simple that the encoder stays far below its target; then the estimate does not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairwave_video import scenes

if TYPE_CHECKING:
    from pathlib import Path

SIZE = (640, 360)
"""Pixels across and down."""

RATE = 30
"""Frames per second."""

SECONDS = 4
"""Length; Chrome begins again at its end."""


def write(path: Path) -> Path:
    """Writes the clip as YUV4MPEG2, 4:2:0."""
    width, height = SIZE
    generator = np.random.default_rng(7)
    grey = np.full((height // 2, width // 2), 128, np.uint8).tobytes()
    with path.open("wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F{RATE}:1 Ip A1:1 C420mpeg2\n".encode())
        for number in range(SECONDS * RATE):
            shown = scenes.crop_texture(number, SECONDS * RATE, width, height) + generator.normal(
                0, 6, (height, width)
            )
            file.write(b"FRAME\n" + np.clip(shown, 16, 235).astype(np.uint8).tobytes() + 2 * grey)
    return path
