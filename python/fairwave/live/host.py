"""The process that makes a live run: `python -m fairwave.live.host JOB RESULT`, with two open file descriptors.

It reads a job as JSON from JOB and writes the pickled result to RESULT. It stays single-threaded until the run
begins, because only a single-threaded process may create a user namespace. It ends with its parent; namespaces,
devices and programs of the run end with it.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
from pathlib import Path

from fairwave import _native

CHILD = Path(__file__).with_name("child.py")


def user() -> tuple[int, int] | None:
    """Returns the user who called `sudo`, if any: programs run as this user."""
    if os.geteuid() != 0 or "SUDO_UID" not in os.environ:
        return None
    return _identity("SUDO_UID"), _identity("SUDO_GID")


LARGEST_ID = 2**32 - 2
"""Largest number of a user or group; the next number means none."""


def _identity(name: str) -> int:
    """Reads the number of a user or group that `sudo` put into the environment.

    Raises:
        fairwave.RunError: The variable holds no such number.
    """
    said = os.environ.get(name, "")
    if not (said.isascii() and said.isdigit() and len(said) <= 10 and int(said) <= LARGEST_ID):
        raise _native.RunError(
            f"{name} is {said!r}, but must be a whole number from 0 to {LARGEST_ID}, as sudo sets it; "
            f"start fairwave by sudo, or without it: env -u SUDO_UID -u SUDO_GID fairwave …"
        )
    return int(said)


def hand_over(folder: Path) -> None:
    """Gives a folder and its contents to the user of the programs, so that programs can write there."""
    asked = user()
    if asked is not None:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, *asked, follow_symlinks=False)


def main() -> None:
    """Makes the run."""
    job_from, result_to = (int(word) for word in sys.argv[1:])
    with os.fdopen(job_from, "rb") as stream:
        job = json.load(stream)
    os.set_inheritable(result_to, False)
    # With commands, Ctrl-C is for the program in the shell; otherwise it ends this process and the run.
    signal.signal(signal.SIGINT, (lambda *_: None) if job["commands"] else signal.SIG_DFL)
    try:
        asked = user()
        _native.live_alone()
        for file in job["laws"]:
            from fairwave.laws import load_laws

            load_laws(Path(file))
        made = _native.live(
            _native.Scenario.from_text(job["scenario"], job["file"]),
            job["seed"],
            [(host, command) for host, command in job["commands"]],
            [sys.executable, "-I", "-S", str(CHILD), str(_native.__file__)],
            flows=job["flows"],
            duration=job["duration"],
            user=asked,
            recording=job["recording"],
        )
        result: tuple[str, object] = ("made", made)
    except (_native.RunError, _native.ScenarioError) as error:
        result = (type(error).__name__, str(error))
    with os.fdopen(result_to, "wb") as stream:
        pickle.dump(result, stream)


if __name__ == "__main__":
    main()
