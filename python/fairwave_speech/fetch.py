"""Location of recordings and models, and their download at set-up.

Two packages of Debian are unpacked, without installing them and without root, into the ignored folder
``data/recordings``:

- ``asterisk-core-sounds-en-wav``: telephone prompts spoken by Allison Smith, 8 kHz, CC-BY-SA-3.0 (the
  licence asks to name her with every playback, see :data:`ATTRIBUTION`): the default call, and the
  digits 0 to 9.
- ``pocketsphinx-testdata``: acoustic model of connected digits trained on TIDIGITS, BSD-2-Clause, for the
  recogniser.

``python -m fairwave_speech.fetch`` does it. A wheel carries the default call. If the packages are unavailable (another
system, no package lists), it explains how to supply a recording and succeeds, because everything else works without
them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fairwave_speech.audio import Recording, read
from fairwave_speech.errors import SpeechError

SPEECH_PACKAGE = "asterisk-core-sounds-en-wav"
MODEL_PACKAGE = "pocketsphinx-testdata"
PACKAGES = (SPEECH_PACKAGE, MODEL_PACKAGE)

ATTRIBUTION = (
    "Speech: Asterisk core sounds, recorded by Allison Smith (theivrvoice.com), contributed by Digium, Inc.; "
    "licensed CC-BY-SA-3.0. Changed by fairwave: coded, cut into packets, sent through a network."
)
"""Attribution on pages that play the default recordings. The pages' audio has the same licence."""

DEFAULT_SPEECH = "demo-instruct"
"""Prompt of 73 s for the default call."""

_PROMPTS = "usr/share/asterisk/sounds/en_US_f_Allison"
_MODEL = "usr/share/pocketsphinx/test/data/tidigits"
_PATIENCE_S = 300


def data_dir() -> Path:
    """The folder for data that is not part of the project: ``FAIRWAVE_DATA``, or ``data`` in the checkout.

    Outside a checkout (an installed package) it is ``data`` in the current folder.
    """
    given = os.environ.get("FAIRWAVE_DATA")
    if given:
        return Path(given)
    for parent in Path(__file__).resolve().parents:
        if (parent / "ARCHITECTURE.md").is_file() and (parent / "Cargo.toml").is_file():
            return parent / "data"
    return Path.cwd() / "data"


@dataclass(frozen=True)
class Recordings:
    """Finds recordings and models, in the data folder or installed on the system."""

    data: Path = field(default_factory=data_dir)

    def prompts(self) -> Path | None:
        """Folder of the Asterisk prompts, or None if they are missing."""
        return self._first(SPEECH_PACKAGE, _PROMPTS, "demo-congrats.wav")

    def digit_model(self) -> Path | None:
        """Folder of the digit recogniser's model, or None if it is missing."""
        return self._first(MODEL_PACKAGE, _MODEL, "hmm/means")

    def prompt(self, name: str = DEFAULT_SPEECH) -> Recording:
        """Read a prompt, such as ``demo-instruct`` or ``digits/7``.

        Raises:
            SpeechError: the prompts are missing, or none has that name.
        """
        folder = self.prompts() or packaged_prompts()
        if folder is None:
            raise SpeechError(f"no recordings under {self.data}; {HOW_TO_SUPPLY}")
        path = folder / f"{name}.wav"
        if not path.is_file():
            some = ", ".join(sorted(file.stem for file in folder.glob("demo-*.wav"))[:6])
            raise SpeechError(f"prompt {name!r}: not among the recordings; there are for example {some}")
        return read(path, attribution=ATTRIBUTION)

    def _first(self, package: str, inside: str, proof: str) -> Path | None:
        for root in (self.data / "recordings" / package, Path("/")):
            if (root / inside / proof).is_file():
                return root / inside
        return None


def packaged_prompts() -> Path | None:
    """Folder of the default prompt that a wheel carries, or None without it. It has no other prompt."""
    folder = Path(__file__).resolve().parent / "recordings"
    return folder if (folder / f"{DEFAULT_SPEECH}.wav").is_file() else None


HOW_TO_SUPPLY = (
    "supply a recording of your own with --speech FILE (wav, flac, mp3, …), or set FAIRWAVE_DATA to a folder "
    f"that holds recordings/{SPEECH_PACKAGE}/{_PROMPTS}; "
    "on Debian or Ubuntu 'python -m fairwave_speech.fetch' brings it"
)


def speech(path: str | os.PathLike[str] | None = None) -> Recording:
    """The recording for a call: the given file, else the default prompt.

    Raises:
        SpeechError: the file cannot be used, or there is neither a file nor the default; the message explains how
            to supply one.
    """
    return read(path) if path is not None else Recordings().prompt()


def fetch(packages: Sequence[str] = PACKAGES, data: Path | None = None) -> list[Path]:
    """Download packages with the system's package tool and unpack them; existing files are kept.

    Args:
        packages: names of Debian packages.
        data: the data folder; :func:`data_dir` if not given.

    Returns:
        The folder of each unpacked package.

    Raises:
        SpeechError: ``apt-get`` or ``dpkg`` is missing, or the package cannot be downloaded.
    """
    home = (data_dir() if data is None else data) / "recordings"
    return [_unpacked(package, home) for package in packages]


def _unpacked(package: str, home: Path) -> Path:
    place = home / package
    if place.is_dir():
        return place
    for tool in ("apt-get", "dpkg"):
        if shutil.which(tool) is None:
            raise SpeechError(f"{package}: cannot be fetched, as this system has no {tool}; {HOW_TO_SUPPLY}")
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{package}-", dir=home) as scratch:
        work = Path(scratch)
        archive = _download(package, work)
        _run(["dpkg", "-x", str(archive), str(work / "files")], work)
        try:
            # Move into place in one step, so that an interrupted set-up leaves nothing half unpacked.
            (work / "files").rename(place)
        except OSError as error:
            if not place.is_dir():
                raise SpeechError(f"{place}: cannot be written ({error}); {HOW_TO_SUPPLY}") from error
    return place


def _download(package: str, work: Path) -> Path:
    """The package's archive. Package lists are updated only if the download fails and the user has the permission."""
    command = ["apt-get", "download", "-q", package]
    try:
        _run(command, work)
    except SpeechError:
        if os.name != "posix" or os.geteuid() != 0:
            raise
        _run(["apt-get", "update", "-q"], work)
        _run(command, work)
    archives = sorted(work.glob("*.deb"))
    if not archives:
        raise SpeechError(f"{package}: apt-get left no archive; {HOW_TO_SUPPLY}")
    return archives[0]


def _run(command: list[str], work: Path) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=work,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SpeechError(f"{' '.join(command)}: {error}; {HOW_TO_SUPPLY}") from error
    if done.returncode != 0:
        complaint = [line for line in done.stderr.splitlines() if line.startswith("E:")][:1] or ["it failed"]
        raise SpeechError(f"{' '.join(command[:2])}: {complaint[0]}; {HOW_TO_SUPPLY}")


def main() -> int:
    """Download recordings and models. Print their location or the reason for a failure; never fail."""
    sys.stdout.writelines(_report(package) for package in PACKAGES)
    return 0


def _report(package: str) -> str:
    try:
        return f"fairwave: {package} is in {fetch([package])[0]}\n"
    except SpeechError as error:
        return f"fairwave: without {package}: {error}\n"


if __name__ == "__main__":
    sys.exit(main())
