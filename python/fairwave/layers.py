"""Finds the packages above this one by entry points; this package does not import them.

The distribution's entry points list the parts of each package:

- `fairwave.commands`: a command of the command line, a function with typer's annotations;
- `fairwave.studies`: a function that returns a `fairwave_study.Study`;
- `fairwave.layers`: a module that commands of this package call when it is installed. `LAYERS` lists those.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fairwave.extras import MissingExtraError, install, lacking
from fairwave.foreign import parse_toml

LAYERS = {
    "pages": ("a page with figures and audio", "report"),
    "clips": ("streaming a clip", "video"),
    "networks": ("a topology from a file", "network"),
}
"""For each layer, the commands that need it and the extra that installs it."""

COMMANDS = {"evaluate": "studies", "network": "network", "rfc8867": "studies", "study": "studies"}
"""Commands of packages above this one, each with the extra that brings it."""


@cache
def offered(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group by name, in the order of names."""
    return {one.name: one for one in sorted(entry_points(group=group), key=lambda one: one.name)}


def studies() -> list[str]:
    """Names of the studies that are installed."""
    return list(offered("fairwave.studies"))


def folder(study: str) -> Path | None:
    """The folder of a study's package; None if the package has no folder."""
    spec = find_spec(offered("fairwave.studies")[study].module)
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def title(study: str) -> str:
    """The title of a study, from the `study.toml` in its folder; empty if it has none. The study itself is not made."""
    place = folder(study)
    file = place / "study.toml" if place else None
    if file is None or not file.is_file():
        return ""
    return str(parse_toml(file.read_text(encoding="utf-8"), str(file), "scenario").get("title", ""))


def study(name: str) -> Any:
    """Returns the study with this name, a `fairwave_study.Study`.

    Raises:
        LookupError: No study has that name; the message names the nearest and lists all.
        MissingExtraError: A package that studies need is not installed.
    """
    entry = offered("fairwave.studies").get(name)
    if entry is None:
        import difflib

        near = difflib.get_close_matches(name, studies(), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise LookupError(f"no study {name!r}; there are {', '.join(studies()) or 'none'}{hint}")
    try:
        return entry.load()()
    except ImportError as error:
        raise lacking(error, f"study {name!r}", "studies") or error from error


def layer(name: str) -> Any:
    """Imports and returns the module of a layer.

    Raises:
        MissingExtraError: Its package, or a package that it needs, is not installed; the message names the extra.
    """
    what, extra = LAYERS[name]
    entry = offered("fairwave.layers").get(name)
    if entry is None:
        raise MissingExtraError(f"{what} needs a package that is not installed; {install(extra)}")
    try:
        return entry.load()
    except ImportError as error:
        raise lacking(error, what, extra) or error from error
