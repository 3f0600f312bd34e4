"""Puts the packets of captures into the replays of a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.captures import CaptureError, read
from fairwave.named_files import named_files

if TYPE_CHECKING:
    from pathlib import Path


def resolved(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Returns the overrides that put the packets of captures into a scenario's replays.

    Args:
        table: The scenario as plain data.
        folder: Folder to search for the files.

    Returns:
        Overrides; empty if no replay names a file.

    Raises:
        CaptureError: A file is missing, is no capture, or has no such flow; the message names the key.
    """
    laws = list(named_files(table, "replay"))
    by_file: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for path, law in laws:
        by_file.setdefault(law["file"], []).append((path, law))
    changes = {}
    for file, several in by_file.items():
        key = several[0][0]
        try:
            names = {" ".join(str(law.get("select", "1")).split()) for _, law in several}
            capture = read(folder / file, {name for name in names if not name.isdigit()})
            numbered = {capture.find(name).name for name in names if name.isdigit()}
            if missing := {name for name in numbered if not len(capture.find(name).at_ns)}:
                capture = read(folder / file, missing | names)
            for path, law in several:
                key = path
                rest = {name: one for name, one in law.items() if name not in {"file", "select"}}
                changes[path] = {**rest, "packets": capture.find(law.get("select")).text()}
        except (FileNotFoundError, CaptureError) as error:
            raise CaptureError(f"{key}.file: {error}") from None
    return changes
