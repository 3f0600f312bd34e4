"""The process in which a live run is made: `python -m fairwave.live.host JOB RESULT`, two open descriptors.

It reads a job as JSON from the one and writes what came of it to the other, pickled. It has a single thread until the
run begins, because a process that makes a user namespace must. It ends with its parent; namespaces, devices and
programs of the run end with it.
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
    """The user who called `sudo`, if any: programs run as this user."""
    if os.geteuid() != 0 or "SUDO_UID" not in os.environ:
        return None
    return _identity("SUDO_UID"), _identity("SUDO_GID")


LARGEST_ID = 2**32 - 2
"""The largest number of a user or group; the next one means none."""


def _identity(name: str) -> int:
    """The number of a user or group that `sudo` left in the environment.

    Raises:
        fairwave.RunError: It left none.
    """
    said = os.environ.get(name, "")
    if not (said.isascii() and said.isdigit() and len(said) <= 10 and int(said) <= LARGEST_ID):
        raise _native.RunError(
            f"{name} is {said!r}, but must be a whole number from 0 to {LARGEST_ID}, as sudo sets it; "
            f"start fairwave by sudo, or without it: env -u SUDO_UID -u SUDO_GID fairwave …"
        )
    return int(said)


def hand_over(folder: Path) -> None:
    """Gives a folder and its contents to the user of the programs, so that they can write there."""
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
    # In a shell Ctrl-C is for the program that runs there; otherwise it ends this process, and all with it.
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
