"""Common forms of `fairwave run` and `fairwave check`, read without the library of the command line.

That library takes longer to start than a small scenario takes to run. Here are the options that most commands use.
Whatever else a command holds (another option, `--help`, a mistake) is left to the library, which knows all of it and
says what is wrong. A test compares both ways.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

RUN: dict[str, tuple[str, str]] = {
    "--seed": ("seed", "number"),
    "--replications": ("replications", "number"),
    "-n": ("replications", "number"),
    "--out": ("out", "path"),
    "--record": ("record", "texts"),
    "--set": ("settings", "texts"),
    "--threads": ("threads", "number"),
    "--measures": ("measures", "texts"),
    "--require": ("require", "texts"),
    "--no-page": ("page", "no"),
    "--yes": ("yes", "flag"),
    "--json": ("json", "flag"),
}
"""Options of `fairwave run`: the argument that each sets, and what it takes."""

CHECK: dict[str, tuple[str, str]] = {
    "--seed": ("seed", "number"),
    "--set": ("settings", "texts"),
    "--expand": ("expand", "flag"),
    "--json": ("json", "flag"),
}
"""Options of `fairwave check`."""

COMMANDS = {"run": RUN, "check": CHECK}


class _OtherError(ValueError):
    """Words that the library of the command line has to read."""


def arguments(words: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """The command and its arguments; None where the library of the command line has to read them."""
    if not words or words[0] not in COMMANDS or "_FAIRWAVE_COMPLETE" in os.environ:
        return None
    found: dict[str, Any] = {}
    rest = iter(words[1:])
    try:
        for word in rest:
            _take(word, rest, COMMANDS[words[0]], found)
    except _OtherError:
        return None
    return (words[0], found) if "scenario" in found else None


def _take(word: str, rest: Iterator[str], options: dict[str, tuple[str, str]], found: dict[str, Any]) -> None:
    """Reads a word, and of an option its value."""
    if word == "-" or not word.startswith("-"):
        if "scenario" in found:
            raise _OtherError
        found["scenario"] = word
        return
    name, equals, value = word.partition("=")
    argument, takes = options.get(name, ("", ""))
    is_flag = takes in {"flag", "no"}
    if not takes or (equals and (is_flag or not name.startswith("--"))):
        raise _OtherError
    if argument in found and takes not in {"texts", "flag"}:  # the library refuses a second value
        raise _OtherError
    if is_flag:
        found[argument] = takes == "flag"
        return
    value = value if equals else next(rest, "")
    if not value or value.startswith("-") or (takes == "number" and not re.fullmatch("[0-9]{1,18}", value)):
        raise _OtherError
    if takes == "texts":
        found.setdefault(argument, []).append(value)
    else:
        found[argument] = int(value) if takes == "number" else Path(value)


def command(words: Sequence[str]) -> Callable[[], None] | None:
    """What these words of a command line ask for; None where the library of the command line has to read them."""
    read = arguments(words)
    if read is None:
        return None
    name, given = read
    path, seed, settings = given.pop("scenario"), given.pop("seed", 1), given.pop("settings", [])
    json = given.pop("json", False)

    def work() -> None:
        if name == "check":
            from fairwave.cli.inspecting import check_scenario

            check_scenario(path, seed, settings, expand=given.get("expand", False), json=json)
            return
        from fairwave.cli.runs import run_scenario

        runs, out, record = given.pop("replications", 1), given.pop("out", None), given.pop("record", [])
        run_scenario(path, seed, runs, out, record, settings, given.pop("threads", None), json=json, **given)

    return work
