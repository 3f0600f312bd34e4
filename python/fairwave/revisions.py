"""Files of another revision of a git repository, for comparisons with an earlier state."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fairwave.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Iterator


def find_repository(path: Path) -> Path | None:
    """Returns the top folder of the git repository that holds a path; None if there is none, or no git.

    Raises:
        BadInputError: The repository belongs to another user, and git does not read it.
    """
    folder = path if path.is_dir() else path.parent
    if shutil.which("git") is None:
        return None
    done = _git(folder, "rev-parse", "--show-toplevel")
    if "dubious ownership" in done.stderr:
        raise BadInputError(
            f"git does not read {folder.resolve()}, which belongs to another user; if you trust it: "
            f"git config --global --add safe.directory {folder.resolve()}"
        )
    return Path(done.stdout.strip()).resolve() if done.returncode == 0 else None


def find_commit(top: Path, revision: str) -> str | None:
    """Returns the commit of a revision (`main`, `HEAD^`, `v0.1.0`); None if the repository has none."""
    done = _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return done.stdout.strip() if done.returncode == 0 else None


@contextmanager
def checkout(top: Path, commit: str) -> Iterator[Path]:
    """Yields a temporary folder with the files of a commit. No hook of the repository runs.

    Raises:
        BadInputError: Git cannot check the commit out.
    """
    with tempfile.TemporaryDirectory(prefix="fairwave-") as temporary:
        folder = Path(temporary) / "files"
        done = _git(top, "worktree", "add", "--quiet", "--detach", str(folder), commit)
        if done.returncode:
            raise BadInputError(
                f"git cannot check out {commit[:12]} of {top}: {done.stderr.strip()}; give a folder with its files "
                "as --baseline"
            )
        try:
            yield folder
        finally:
            _git(top, "worktree", "remove", "--force", str(folder))


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs git in a folder, without hooks and without questions."""
    return subprocess.run(
        ["git", "-C", str(folder), "-c", f"core.hooksPath={os.devnull}", *words],
        check=False, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
        env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
    )  # fmt: skip
