"""Policies in files: learned controllers that scenarios name.

A policy is a small network. It sees ten numbers at the end of each monitor interval, and multiplies the rate of a media
session, or the window of a TCP, by a factor from one half to two. `fairwave.gym` trains policies and writes them;
`control = { name = "policy", file = "mine.json" }` in a session, or `transport = { name = "tcp/policy", file = … }`,
puts them to work. docs/gym.md describes the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.foreign import ForeignFileError, gated, parse_json, read_bytes
from fairwave.named_files import named_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

FORMAT = "fairwave policy 1"
"""Required value of the key `format` of a policy file."""

OBSERVATION = (
    "granted",
    "delivered",
    "used",
    "lost",
    "marked",
    "queueing",
    "change",
    "round-trip",
    "held",
    "silence",
)
"""Names of the ten inputs of a policy, in order."""

STEERS = {"rate": "policy", "window": "tcp/policy"}
"""Law that applies the policy, for each quantity that a policy can steer."""


class PolicyError(ForeignFileError):
    """A file without a usable policy; the message explains the error."""


@gated("policy", PolicyError)
def read(path: str | PathLike[str], steers: str | None = None) -> dict[str, Any]:
    """Reads a policy file and returns its keys. `interval` and `layers` are the policy itself.

    Args:
        path: The file.
        steers: `rate` or `window`; either when None.

    Raises:
        FileNotFoundError: There is no such file.
        PolicyError: It holds no policy, or one that steers something else.
    """
    where = Path(path)
    if not where.is_file():
        raise FileNotFoundError(f"no policy file {str(path)!r}: give the path of a .json file")
    found = parse_json(read_bytes(where, "policy"), str(path), "policy")
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise PolicyError(f"{path}: no policy; its key `format` must be {FORMAT!r}")
    what = found.get("steers")
    if not isinstance(what, str) or what not in STEERS:
        raise PolicyError(f"{path}: `steers` is {what!r:.60}, but must be 'rate' or 'window'")
    if steers is not None and what != steers:
        raise PolicyError(
            f"{path}: this policy steers a {what}, not a {steers}; name it as {STEERS[what]!r} instead of "
            f"{STEERS[steers]!r}"
        )
    if found.get("observation") != list(OBSERVATION):
        raise PolicyError(f"{path}: `observation` must list {', '.join(OBSERVATION)}")
    unknown = found.keys() - {"format", "steers", "observation", "interval", "layers", "trained"}
    if unknown:
        raise PolicyError(f"{path}: unknown key {min(unknown)!r}")
    missing = {"interval", "layers"} - found.keys()
    if missing:
        raise PolicyError(f"{path}: lacks the key {min(missing)!r}")
    return found


def law(path: str | PathLike[str], steers: str | None = None) -> dict[str, Any]:
    """A policy's file as the table of a law: `{"name": "policy", "policy": {…}}`, or `tcp/policy`.

    Raises:
        FileNotFoundError: There is no such file.
        PolicyError: It holds no policy, or one that steers something else.
    """
    found = read(path, steers)
    return {
        "name": STEERS[found["steers"]],
        "policy": {"interval": found["interval"], "layers": found["layers"]},
    }


def resolved(table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Returns the overrides that put the contents of policy files into a scenario.

    Args:
        table: The scenario as plain data.
        folder: Folder of the files.

    Returns:
        Overrides; empty if no policy names a file.

    Raises:
        PolicyError: A file is missing or holds no policy; the message names the key.
    """
    changes: dict[str, Any] = {}
    for path, one in named_files(table, "policy"):
        steers = "window" if path.endswith(".transport") else "rate"
        try:
            found = law(folder / one["file"], steers)
        except (FileNotFoundError, PolicyError) as error:
            raise PolicyError(f"{path}.file: {error}") from None
        changes[path] = {**{key: value for key, value in one.items() if key != "file"}, **found}
    return changes
