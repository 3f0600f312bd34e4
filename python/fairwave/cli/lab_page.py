"""`fairwave lab`."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path

from fairwave import lab
from fairwave.cli import console
from fairwave.cli.input import scenario as read
from fairwave.errors import BadInputError


def open_lab(path: str | None, settings: list[str], out: Path | None) -> None:
    """Opens the lab with a scenario, or writes a page that does."""
    if path is None and settings:
        raise BadInputError("--set changes a scenario: name one, for example fairwave lab calls.toml --set …")
    toml = None if path is None else read(path, settings).to_toml()
    try:
        # The ways to open a file in a browser lose the part after `#`, so the scenario goes into the page.
        target = out or Path(tempfile.mkdtemp(prefix="fairwave-lab-")) / lab.NAME
        lab.write(target, toml)
    except lab.LabError as error:
        raise BadInputError(str(error)) from None
    if out is None:
        webbrowser.open(target.resolve().as_uri())
    console.out.print(f"the lab: {target}", soft_wrap=True)
