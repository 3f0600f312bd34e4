"""The camera's picture: a textured one that moves, so that the encoder needs all the rate that it may have.

Chrome's own fake camera is so simple that the encoder stays far below its target; then the estimate stands still.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
    # A picture larger than what is shown, of which the camera sees a part that moves on a circle.
    coarse = generator.random((height // 4, width // 4)).repeat(8, 0).repeat(8, 1)
    fine = generator.random((2 * height, 2 * width))
    whole = 40 + 130 * coarse[: 2 * height, : 2 * width] + 50 * fine
    grey = np.full((height // 2, width // 2), 128, np.uint8).tobytes()
    with path.open("wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F{RATE}:1 Ip A1:1 C420mpeg2\n".encode())
        for number in range(SECONDS * RATE):
            angle = 2 * np.pi * number / (SECONDS * RATE)
            left = int(width / 2 * (1 + 0.6 * np.cos(angle)))
            top = int(height / 2 * (1 + 0.6 * np.sin(angle)))
            shown = whole[top : top + height, left : left + width] + generator.normal(0, 6, (height, width))
            file.write(b"FRAME\n" + np.clip(shown, 16, 235).astype(np.uint8).tobytes() + 2 * grey)
    return path
