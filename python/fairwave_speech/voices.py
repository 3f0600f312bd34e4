"""Synthetic voices for connected digits, if more than one speaker is needed.

Flite (Carnegie Mellon University, BSD-like licence) has several voices; Debian's ``flite`` and
``libflite1`` are unpacked without installing them, as :mod:`fairwave_speech.fetch` does with recordings, or
found on the system. Synthetic speech complements the human recordings and never replaces them: it shows the influence
of the voice.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from fairwave_speech.audio import Samples, read
from fairwave_speech.digits import WORDS, trim
from fairwave_speech.errors import SpeechError
from fairwave_speech.fetch import fetch

PACKAGES = ("flite", "libflite1")

VOICES = ("awb", "kal16", "rms", "slt")
"""Flite's English voices: two American men, one American woman, one Scottish man."""

_PATIENCE_S = 60


def synthetic_digits(voice: str, data: Path | None = None) -> dict[str, Samples]:
    """The ten digits in a synthetic voice, by word.

    Args:
        voice: one of :data:`VOICES`.
        data: the data folder, as in :func:`fairwave_speech.fetch.fetch`.

    Raises:
        SpeechError: an unknown voice, or flite is unavailable.
    """
    if voice not in VOICES:
        raise SpeechError(f"voice {voice!r}: not known; choose one of {', '.join(VOICES)}")
    name = f"flite_cmu_us_{voice}"
    program = shutil.which(name)
    libraries = ""
    if program is None:
        binaries, shared = fetch(PACKAGES, data)
        program = str(binaries / "usr" / "bin" / name)
        libraries = os.pathsep.join(
            str(folder) for folder in sorted((shared / "usr" / "lib").glob("*-linux-*"))
        )
    environment = dict(os.environ)
    if libraries:
        environment["LD_LIBRARY_PATH"] = libraries
    with tempfile.TemporaryDirectory() as scratch:
        return {word: trim(_speak(program, word, Path(scratch), environment)) for word in WORDS}


def _speak(program: str, word: str, scratch: Path, environment: dict[str, str]) -> Samples:
    path = scratch / f"{word}.wav"
    try:
        subprocess.run(
            [program, "-t", word, "-o", str(path)],
            check=True,
            capture_output=True,
            timeout=_PATIENCE_S,
            env=environment,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SpeechError(
            f"{program}: could not say {word!r} ({error}); recorded digits do without it"
        ) from error
    return read(path).samples
