"""Synthetic voices, if flite is available, and the messages otherwise."""

import pytest
from speech_material import voiced

from fairwave_speech import SpeechError, write
from fairwave_speech.digits import WORDS
from fairwave_speech.voices import VOICES, synthetic_digits


def fake_flite(folder, voice: str, body: str) -> None:
    program = folder / f"flite_cmu_us_{voice}"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)


def test_every_digit_is_spoken_and_read(monkeypatch, tmp_path) -> None:
    spoken = write(tmp_path / "spoken.wav", voiced(0.4))
    fake_flite(tmp_path, "slt", f'test "$1" = -t && test -n "$2" && cp {spoken} "$4"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    digits = synthetic_digits("slt")
    assert tuple(digits) == WORDS
    assert all(abs(len(samples) - 3200) <= 160 for samples in digits.values())


def test_a_voice_that_fails_is_said(monkeypatch, tmp_path) -> None:
    fake_flite(tmp_path, "slt", "exit 3")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(SpeechError, match="could not say 'zero'"):
        synthetic_digits("slt")


def test_an_unknown_voice_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SpeechError, match=", ".join(VOICES)):
        synthetic_digits("hal")
