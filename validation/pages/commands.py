"""The page of all commands with their options, as `fairwave COMMAND --help` shows them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from validation import ROOT


def render(_: Path) -> str:
    """Renders the page.

    Raises:
        subprocess.CalledProcessError: The commands could not be read.
    """
    with TemporaryDirectory() as name:
        file = Path(name) / "commands.md"
        words = ["typer", "fairwave.cli.app", "utils", "docs", "--name", "fairwave", "--output", str(file)]
        subprocess.run([sys.executable, "-m", *words], check=True, capture_output=True, cwd=ROOT)
        return file.read_text(encoding="utf-8")
