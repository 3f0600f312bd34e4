"""Pages in tests: the command line within this process, and a recording that needs no download."""

import sys
import wave

import numpy as np


def command(*words):
    """Runs the command line; its status."""
    from fairwave.cli import main

    before, sys.argv = sys.argv, ["fairwave", *map(str, words)]
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    finally:
        sys.argv = before
    return 0


def recording(path):
    """Twelve different bursts of noise of half a second, each with half a second of silence: talkspurts."""
    draw = np.random.default_rng(1)
    spurts = [np.concatenate([draw.normal(0, 500 * (1 + at), 4000), np.zeros(4000)]) for at in range(12)]
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(np.clip(np.concatenate(spurts), -32000, 32000).astype("<i2").tobytes())
    return path
