"""Common forms of `fairwave run` and `fairwave check`, parsed without the command-line library.

That library takes longer to start than a small scenario takes to run. Both parsers read the options of `declarations`.
The library handles everything else (`--help`, short options joined with values, a mistake) and explains errors. A test
compares both parsers.
"""

from __future__ import annotations

import os
import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from fairwave.cli.declarations import CheckOptions, RunOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

COMMANDS: dict[str, type[RunOptions | CheckOptions]] = {"run": RunOptions, "check": CheckOptions}

TAKES: dict[object, str] = {
    bool: "flag",
    int: "number",
    int | None: "number",
    str | None: "text",
    Path | None: "path",
    list[str]: "texts",
    list[Path]: "paths",
}
"""Value of an option, by the type of its field."""


class _OtherError(ValueError):
    """Words that the command-line library has to parse."""


def options_of(command: str) -> dict[str, tuple[str, str]]:
    """The options of a command: for each name its field and its value; `no` for a negated flag."""
    found = {}
    for one in fields(COMMANDS[command]):
        kind, declared = get_args(one.type)
        for name in declared.names:
            found[name] = (one.name, "no" if name.startswith("--no-") else TAKES[kind])
    return found


def arguments(words: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """Parses the command and its arguments; None if the command-line library has to parse them."""
    if not words or words[0] not in COMMANDS or "_FAIRWAVE_COMPLETE" in os.environ:
        return None
    found: dict[str, Any] = {}
    rest, options = iter(words[1:]), options_of(words[0])
    try:
        for word in rest:
            _take(word, rest, options, found)
    except _OtherError:
        return None
    return (words[0], found) if "scenario" in found else None


def _take(word: str, rest: Iterator[str], options: dict[str, tuple[str, str]], found: dict[str, Any]) -> None:
    """Parses a word, and the value of an option."""
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
    has_one_sense = takes == "flag" and f"--no-{name[2:]}" not in options
    if argument in found and takes not in {"texts", "paths"} and not has_one_sense:
        raise _OtherError  # the library refuses a second value
    if is_flag:
        found[argument] = takes == "flag"
        return
    value = value if equals else next(rest, "")
    if not value or value.startswith("-") or (takes == "number" and not re.fullmatch("[0-9]{1,18}", value)):
        raise _OtherError
    if takes in {"texts", "paths"}:
        found.setdefault(argument, []).append(Path(value) if takes == "paths" else value)
    else:
        found[argument] = int(value) if takes == "number" else Path(value) if takes == "path" else value


def command(words: Sequence[str]) -> Callable[[], None] | None:
    """Returns the action of a command line; None if the command-line library has to parse it."""
    read = arguments(words)
    if read is None:
        return None
    name, given = read

    def work() -> None:
        if name == "check":
            from fairwave.cli.inspecting import check_scenario

            check_scenario(CheckOptions(**given))
            return
        from fairwave.cli.runs import run_scenario

        run_scenario(RunOptions(**given))

    return work
