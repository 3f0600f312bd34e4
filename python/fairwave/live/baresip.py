"""A call between two baresip programs across a live network: configurations, commands and recordings.

The caller plays a file into the call, coded with G.711 (PCMU) in packets of 20 ms. The callee accepts the call and
sends back the sound that it receives. Its loudspeaker is its microphone (module `aubridge`), so it sends the output
of its playout buffer, frame by frame. Both record sent and decoded sound in files (module `sndfile`). There is
no registration, no server and no name lookup: the caller dials the callee's address. Packets of speech carry the
code point EF (`rtp_tos 184`), so queues of a live network can separate voice from other UDP.

Debian 12 has baresip 1.0, which reorders packets (`jitter_buffer_delay`) and plays from a buffer. Playout
begins when the buffer holds the lower limit of `BUFFER_MS`. After it runs dry, it plays silence until it holds that
much again. It discards audio above the upper limit. It does not adapt to the delay in any other way: it neither
stretches nor shortens speech. Lost frames are concealed (module `plc`).
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from fairwave.live.host import hand_over
from fairwave.live.packets import RecordingError

BUFFER_MS = (60, 400)
"""Lower and upper limit of the playout buffer, in milliseconds."""

ORDER_FRAMES = (1, 20)
"""Shortest and longest wait of the reordering buffer, in packets."""

CODEC = "PCMU/8000/1"
"""The codec that both offer: G.711, µ law (RFC 3551)."""

PORTS = (10000, 10010)
"""Range of UDP ports for speech."""

MODULES = ("g711", "aufile", "aubridge", "sndfile", "plc")
APPLICATIONS = ("account", "menu")
"""Modules that both need; the applications come last."""

_MODULE_PATHS = ("/usr/lib/baresip/modules", "/usr/local/lib/baresip/modules", "/usr/lib64/baresip/modules")

INSTALL = "on Debian and Ubuntu: apt install baresip"


def modules() -> Path | None:
    """Returns the folder of baresip's modules, or None if there is no such folder."""
    return next((Path(one) for one in _MODULE_PATHS if (Path(one) / "g711.so").is_file()), None)


def missing() -> str | None:
    """Names the missing parts for a call on this machine and how to install them; None if the machine has all."""
    if shutil.which("baresip") is None:
        return f"there is no program baresip; {INSTALL}"
    folder = modules()
    if folder is None:
        return f"baresip's modules are in none of {', '.join(_MODULE_PATHS)}; {INSTALL}"
    absent = [one for one in (*MODULES, *APPLICATIONS) if not (folder / f"{one}.so").is_file()]
    return f"baresip's modules {', '.join(absent)} are not in {folder}; {INSTALL}" if absent else None


@dataclass(frozen=True)
class Party:
    """One party of the call.

    Attributes:
        name: User name: letters, digits and hyphens.
        folder: Folder of its configuration and recordings.
        speaks: File to play into the call (WAV, 8 kHz, mono, 16 bits); None to send back the received sound.
        dials: SIP address to call, with `{to}` for the other host's address; None for the callee.
        seconds: Seconds until it hangs up and quits.
    """

    name: str
    folder: Path
    speaks: Path | None
    dials: str | None
    seconds: int

    def __post_init__(self) -> None:
        """Rejects values that would break a line of the configuration."""
        if not self.name or not all(letter.isalnum() or letter == "-" for letter in self.name):
            raise ValueError(f"the user {self.name!r}: must be letters, digits and hyphens, such as alice")
        if self.seconds < 1:
            raise ValueError(f"{self.name} runs for {self.seconds} s: must be at least 1; 8 is a short call")
        for path in (self.folder, self.speaks):
            if path is not None and any(letter in str(path) for letter in "\n\r,;"):
                raise ValueError(
                    f"{path}: a configuration of baresip takes no comma, semicolon or new line in paths"
                )

    @property
    def log(self) -> Path:
        """Log of its standard output and errors."""
        return self.folder / "baresip.log"

    def files(self) -> dict[str, str]:
        """Returns its configuration: file name to text."""
        source = f"aufile,{self.speaks}" if self.speaks else "aubridge,ear"
        folder = modules() or Path(_MODULE_PATHS[0])
        lines = [
            "sip_listen 0.0.0.0:5060",
            f"audio_source {source}",
            "audio_player aubridge,ear",
            "audio_alert aubridge,nobody",
            "audio_level no",
            f"audio_buffer {BUFFER_MS[0]}-{BUFFER_MS[1]}",
            "ausrc_srate 8000",
            "auplay_srate 8000",
            "rtp_tos 184",
            f"rtp_ports {PORTS[0]}-{PORTS[1]}",
            f"jitter_buffer_delay {ORDER_FRAMES[0]}-{ORDER_FRAMES[1]}",
            "rtp_stats yes",
            "statmode_default off",
            f"snd_path {self.folder}",
            f"module_path {folder}",
            *(f"module {one}.so" for one in MODULES),
            *(f"module_app {one}.so" for one in APPLICATIONS),
        ]
        answers = "" if self.dials else ";answermode=auto"
        account = f"<sip:{self.name}@{self.name}.invalid>;regint=0;audio_codecs={CODEC}{answers}"
        return {"config": "\n".join(lines) + "\n", "accounts": account + "\n", "contacts": ""}

    def write(self) -> None:
        """Writes its configuration; creates the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files().items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def command(self) -> list[str]:
        """Returns the command to run at its host, word by word. The output goes to `log`."""
        dial = ["-e", f"/dial {self.dials}"] if self.dials else []
        words = ["baresip", "-4", "-f", str(self.folder), *dial, "-t", str(self.seconds)]
        return ["sh", "-c", 'log=$1; shift; exec "$@" >"$log" 2>&1', "sh", str(self.log), *words]

    def recording(self, kind: str) -> Path:
        """Returns the latest recording: `enc` for the sent sound, `dec` for the decoded sound.

        Raises:
            RecordingError: There is none: the call was not established.
        """
        found = sorted(self.folder.glob(f"dump-*-{kind}.wav"))
        if not found:
            said = self.log.read_text(errors="replace").splitlines()[-5:] if self.log.exists() else []
            raise RecordingError(
                f"{self.name} recorded nothing, so there was no call; its last words: {' / '.join(said) or 'none'}; "
                "give the call more time, or read the whole log"
            )
        return found[-1]


@dataclass(frozen=True)
class Call:
    """A caller and a callee.

    Attributes:
        folder: Folder of all their files.
        caller: Plays the recording.
        callee: Sends back the sound that it receives.
    """

    folder: Path
    caller: Party
    callee: Party

    @classmethod
    def from_folder(cls, folder: Path, speech: Path, seconds: int) -> Call:
        """Creates a call with its files in `folder`.

        Args:
            folder: Folder of the call's files; `write` creates it.
            speech: File that the caller plays.
            seconds: Run time of the caller in seconds; the callee runs one second longer.
        """
        here = Path(os.path.realpath(folder))
        return cls(
            here,
            Party("alice", here / "alice", Path(os.path.realpath(speech)), "sip:bob@{to}", seconds),
            Party("bob", here / "bob", None, None, seconds + 1),
        )

    def transport(self) -> dict[str, object]:
        """Returns the flow's transport for a scenario that runs live."""
        return {"name": "host/program", "command": self.caller.command(), "serve": self.callee.command()}

    def write(self) -> None:
        """Writes both configurations and gives the folder to the user that runs the programs."""
        self.caller.write()
        self.callee.write()
        hand_over(self.folder)

    @property
    def heard(self) -> Path:
        """Recording of the callee's playout buffer output, as the callee sent it back."""
        return self.callee.recording("enc")

    @property
    def came_back(self) -> Path:
        """Recording of the returned sound, decoded by the caller: the whole round trip."""
        return self.caller.recording("dec")
