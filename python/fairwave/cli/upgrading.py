"""`fairwave upgrade`."""

from __future__ import annotations

import os
import sys
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave import upgrading
from fairwave._native import ScenarioError
from fairwave.cli import console
from fairwave.cli.input import use_laws
from fairwave.cli.statuses import BAD_INPUT, FAILED
from fairwave.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.upgrading import Upgrade


def upgrade_scenarios(files: Sequence[str], laws: Sequence[Path] | None, *, write: bool, json: bool) -> int:
    """Shows old scenarios in the current version of the language, or writes them, and returns the exit status.

    Raises:
        BadInputError: Standard input is combined with a file or with an option that writes.
    """
    if "-" in files and (len(files) > 1 or write):
        raise BadInputError(
            "- reads standard input and writes the new text to standard output; give it alone"
        )
    use_laws(laws)
    status, documents = 0, []
    for name in dict.fromkeys(one for given in files for one in _expand(given)):
        try:
            made = _read(name)
            if write and made.changes:
                _write(made)
        except (ScenarioError, BadInputError) as error:
            status = max(status, BAD_INPUT)
            if not json:
                console.complain(str(error))
            documents.append({"file": name, "state": "bad input", "changes": [], "message": str(error)})
            continue
        status = max(status, FAILED if made.rest else 0)
        documents.append(_describe(made))
        if not json:
            _show(made, is_written=write)
    if json:
        console.document(documents)
    return status


def _expand(given: str) -> list[str]:
    """The files that a pattern matches, for shells that leave patterns to the program; else the name itself."""
    is_pattern = "*" in given and not Path(given).exists()
    return (sorted(glob(given, recursive=True)) if is_pattern else []) or [given]  # noqa: PTH207  # may be absolute


def _read(name: str) -> Upgrade:
    if name == "-":
        from fairwave.scenario import text_of

        return upgrading.upgrade("-", text_of(sys.stdin.buffer, "-"))
    path = Path(name)
    if path.is_dir():
        raise BadInputError(f"{name} is a folder: name its files, for example {path / '*.toml'}")
    if not path.exists():
        raise BadInputError(f"no scenario file {name!r}: give the path of a .toml or .json file")
    return upgrading.upgrade_file(path)


def _write(made: Upgrade) -> None:
    if not os.access(made.name, os.W_OK):
        raise BadInputError(
            f"{made.name} is read-only: allow writing, or leave --write out to see the changes"
        )
    try:
        upgrading.write_file(made)
    except PermissionError as error:
        raise BadInputError(
            f"{made.name} cannot be written ({error.strerror}): allow writing to its folder"
        ) from None


def _describe(made: Upgrade) -> dict[str, Any]:
    changes = [{"line": line, "change": words} for line, words in made.changes]
    return {"file": made.name, "state": made.state, "changes": changes, "message": made.rest}


def _show(made: Upgrade, *, is_written: bool) -> None:
    if made.name == "-":
        sys.stdout.write(made.after)
    elif is_written:
        for line, words in made.changes:
            console.out.print(f"{made.name}:{line}: {words}", markup=False, soft_wrap=True)
    else:
        sys.stdout.write(made.diff())
    count = len(made.changes)
    changes = f"{count} change{'' if count == 1 else 's'}"
    if made.rest:
        console.complain(made.rest)
        console.say(f"{made.name}: {changes}; correct the mistake by hand")
    elif count == 0:
        console.say(f"{made.name}: nothing to change")
    elif is_written or made.name == "-":
        console.say(f"{made.name}: {changes}{', written' if is_written else ''}")
    else:
        console.say(f"{made.name}: {changes}; add --write to make {'it' if count == 1 else 'them'}")
