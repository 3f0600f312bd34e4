"""Synthetic clips: typical pictures of a camera and of a shared screen in a call.

Formulas and a fixed generator draw them, so they are the same everywhere and free to use. They contain the typical
input of a call's encoder: a talking head that moves a little, a textured room behind it and the grain of a sensor;
pages of text that rest, scroll and change; and a textured picture that moves as a whole, as from a moving camera.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from fairwave_video.errors import VideoError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import av
    from numpy.typing import NDArray

SIZE = (1280, 720)
"""Pixels across and down."""

FRAME_RATE = 30
"""Frames per second."""

GRAIN = 1.5
"""Standard deviation of the camera's grain, of 255 steps."""

LINE = 24
"""Pixels from one line of text to the next."""

SEED = 20
"""Seed of all drawings."""


def scene(name: str, frames: int) -> Iterator[av.VideoFrame]:
    """Yields the first frames of a scene, 4:2:0.

    Args:
        name: `talking-head`, `moving` or `screen`.
        frames: Number of frames.

    Raises:
        VideoError: The scene is unknown.
    """
    import av

    makers = {"talking-head": _head, "moving": _moving, "screen": _screen}
    if name not in makers:
        raise VideoError(f"scene {name!r}: unknown; take one of {', '.join(makers)}")
    for number in range(frames):
        yield av.VideoFrame.from_ndarray(makers[name](number), format="rgb24").reformat(format="yuv420p")


@cache
def _room() -> NDArray[np.float64]:
    """A wall with shelves: smooth light and fine texture."""
    width, height = SIZE
    x, y = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    generator = np.random.default_rng(SEED)
    texture = generator.normal(0, 6, (height // 2, width // 2)).repeat(2, 0).repeat(2, 1)
    shelves = 30 * ((y * 6 % 1) < 0.08) + 25 * np.sin(40 * np.pi * x) * ((y * 6 % 1) > 0.5)
    light = 150 - 60 * x + 30 * y + texture + shelves
    return np.stack([light, light * 0.92, light * 0.8], axis=-1)


@cache
def texture(width: int, height: int) -> NDArray[np.float64]:
    """Draws coarse squares with fine grain, twice the width and height of the visible part, of 255 steps."""
    generator = np.random.default_rng(7)
    coarse = generator.random((height // 4, width // 4)).repeat(8, 0).repeat(8, 1)
    fine = generator.random((2 * height, 2 * width))
    return 40 + 130 * coarse[: 2 * height, : 2 * width] + 50 * fine


def crop_texture(number: int, frames: int, width: int, height: int) -> NDArray[np.float64]:
    """Returns the visible part of the texture. It moves on a circle, once in `frames` frames."""
    angle = 2 * np.pi * number / frames
    left = int(width / 2 * (1 + 0.6 * np.cos(angle)))
    top = int(height / 2 * (1 + 0.6 * np.sin(angle)))
    return texture(width, height)[top : top + height, left : left + width]


def _moving(number: int) -> NDArray[np.uint8]:
    """Draws the camera's clip of the two browsers' calls, each pixel four times."""
    width, height = SIZE[0] // 2, SIZE[1] // 2
    grain = np.random.default_rng((SEED, number)).normal(0, 6, (height, width))
    grey = np.clip(crop_texture(number, 4 * FRAME_RATE, width, height) + grain, 16, 235).astype(np.uint8)
    return np.stack([grey.repeat(2, 0).repeat(2, 1)] * 3, axis=-1)


def _head(number: int) -> NDArray[np.uint8]:
    width, height = SIZE
    time = number / FRAME_RATE
    x, y = np.meshgrid(np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64))
    # The head sways slowly and nods; the shoulders follow.
    centre_x = width / 2 + 18 * np.sin(2 * np.pi * 0.23 * time) + 6 * np.sin(2 * np.pi * 0.9 * time)
    centre_y = height * 0.42 + 8 * np.sin(2 * np.pi * 0.4 * time)
    picture = _room().copy()
    shoulders = ((x - width / 2) / 330) ** 2 + ((y - height * 1.05) / 260) ** 2 < 1
    weave = 12 * np.sin(x / 2.5 + 2 * np.sin(2 * np.pi * 0.23 * time)) * np.sin(y / 2.5)
    picture[shoulders] = (np.stack([60 + weave, 70 + weave, 110 + weave], axis=-1))[shoulders]
    across, down = (x - centre_x) / 120, (y - centre_y) / 165
    face = across**2 + down**2 < 1
    shade = 205 - 40 * across - 25 * down**2
    picture[face] = np.stack([shade, shade * 0.8, shade * 0.68], axis=-1)[face]
    hair = (across**2 + (down + 0.15) ** 2 < 1.12) & (down < -0.45)
    strands = 45 + 18 * np.sin(x / 1.7 + 4 * np.sin(y / 30))
    picture[hair] = np.stack([strands, strands * 0.8, strands * 0.6], axis=-1)[hair]
    for side in (-0.38, 0.38):
        closed = (number % 97) < 4
        eye = ((across - side) / 0.14) ** 2 + ((down + 0.12) / (0.015 if closed else 0.07)) ** 2 < 1
        picture[eye] = 40
    # The mouth follows syllables, with pauses.
    talks = np.sin(2 * np.pi * 0.17 * time) > -0.6
    opening = 0.02 + (
        0.09 * abs(np.sin(2 * np.pi * 2.7 * time) * np.sin(2 * np.pi * 0.7 * time)) if talks else 0
    )
    mouth = (across / 0.3) ** 2 + ((down - 0.5) / opening) ** 2 < 1
    picture[mouth] = (110, 40, 45)
    grain = np.random.default_rng((SEED, number)).normal(0, GRAIN, (height, width, 1))
    return np.clip(picture + grain, 0, 255).astype(np.uint8)


@cache
def _page(which: int) -> NDArray[np.uint8]:
    """A page of words: dark strokes of a few pixels on white, in lines."""
    width, height = SIZE
    generator = np.random.default_rng((SEED, 1000 + which))
    page = np.full((3 * height, width), 250, np.uint8)
    for top in range(40, 3 * height - LINE, LINE):
        left = 80
        while left < width - 160:
            letters = int(generator.integers(2, 10))
            for letter in range(letters):
                glyph = generator.random((7, 5)) < 0.45
                place = left + letter * 11
                page[top : top + 14, place : place + 10][glyph.repeat(2, 0).repeat(2, 1)] = 40
            left += letters * 11 + 12
    return page


def _screen(number: int) -> NDArray[np.uint8]:
    _, height = SIZE
    # Ten seconds: a page rests, scrolls for a second, rests; then the next page.
    which, within = divmod(number, 300)
    scrolled = int(np.clip((within - 90) / 30, 0, 1) * 480) + int(np.clip((within - 210) / 30, 0, 1) * 480)
    shown = _page(which % 4)[scrolled : scrolled + height].copy()
    if within // 15 % 2:  # a blinking cursor
        shown[300:318, 400:402] = 0
    return np.stack([shown] * 3, axis=-1)
