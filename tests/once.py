"""Expensive preparations run once for all tests, also with several processes (`pytest -n`)."""

import fcntl
import os
import shutil


def once(tmp_path_factory, name, make):
    """The folder that `make(folder)` fills; later or concurrent processes get the same folder."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent  # the parent of all processes' folders
    folder, made = root / name, root / f"{name}.made"
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            made.touch()
    return folder
