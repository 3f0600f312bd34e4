"""The command of a bundle as words: which words name files to read, and which are left out of a repetition.

A repetition writes to another folder and shows its result in another way, so it leaves out options that write files
elsewhere. A word that is not known here cannot be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from fairwave.bundles.archive import BundleError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Role(Enum):
    """Role of a word in a command."""

    VALUE = "a value"
    FLAG = "a flag"
    SCENARIO = "a scenario file"
    STUDY = "the name of a study, or its folder"
    FILE = "a file"
    LAWS = "a Python file, which runs"
    PERHAPS_FILES = "a value that may name files"
    RUNS = "a scenario file, or a folder of runs"
    DROPPED = "a value that does not change results, or names a place for other output"
    DROPPED_FLAG = "a flag that does not change results"


ARGUMENTS = {
    "run": Role.SCENARIO,
    "compare": Role.SCENARIO,
    "sweep": Role.SCENARIO,
    "find": Role.SCENARIO,
    "network": Role.SCENARIO,
    "study": Role.STUDY,
    "evaluate": Role.PERHAPS_FILES,
}
"""Commands that a bundle can repeat, with the role of their arguments."""

ASKING = ("run", "compare", "sweep")
"""Commands that ask before very many runs, and take `--yes`."""

OPTIONS = {
    "--against": Role.PERHAPS_FILES,
    "--audio": Role.FLAG,
    "--baseline": Role.RUNS,
    "--capture": Role.DROPPED,
    "--capture-payload": Role.FLAG,
    "--cluster": Role.DROPPED,
    "--doubt": Role.FLAG,
    "--explore": Role.VALUE,
    "--failures": Role.VALUE,
    "--figure": Role.VALUE,
    "--figures": Role.VALUE,
    "--flow": Role.VALUE,
    "--grid": Role.PERHAPS_FILES,
    "--groups": Role.VALUE,
    "--json": Role.DROPPED_FLAG,
    "--junit": Role.DROPPED,
    "--laws": Role.LAWS,
    "--link-by-link": Role.FLAG,
    "--loss-pattern": Role.DROPPED,
    "--measures": Role.VALUE,
    "--most": Role.VALUE,
    "--no-audio": Role.FLAG,
    "--no-page": Role.FLAG,
    "--out": Role.DROPPED,
    "--over": Role.VALUE,
    "--overwrite": Role.DROPPED_FLAG,
    "--page": Role.FLAG,
    "--playout": Role.VALUE,
    "--qlog": Role.DROPPED,
    "--qlog-flow": Role.DROPPED,
    "--queue": Role.PERHAPS_FILES,
    "--reading": Role.FILE,
    "--record": Role.VALUE,
    "--relevant": Role.VALUE,
    "--replications": Role.VALUE,
    "--require": Role.VALUE,
    "--seed": Role.VALUE,
    "--set": Role.PERHAPS_FILES,
    "--show": Role.VALUE,
    "--speech": Role.FILE,
    "--stats": Role.DROPPED,
    "--strict": Role.FLAG,
    "--style": Role.PERHAPS_FILES,
    "--threads": Role.DROPPED,
    "--trust": Role.FLAG,
    "--until": Role.VALUE,
    "--vary": Role.PERHAPS_FILES,
    "--why": Role.FLAG,
    "--widen": Role.VALUE,
    "--yes": Role.DROPPED_FLAG,
}
"""Options of these commands."""

SHORT = {"-n": "--replications", "-y": "--yes"}

FLAGS = (Role.FLAG, Role.DROPPED_FLAG)
DROPPED = (Role.DROPPED, Role.DROPPED_FLAG)


@dataclass(frozen=True)
class Part:
    """An argument or an option of a command.

    Attributes:
        role: Its role.
        value: Its value; empty for a flag.
        option: The option's long name; empty for an argument.
    """

    role: Role
    value: str
    option: str = ""

    @property
    def word(self) -> str:
        """The part as a word of a command line."""
        if not self.option:
            return self.value
        return self.option if self.role in FLAGS else f"{self.option}={self.value}"


def split_words(words: Sequence[str]) -> tuple[str, list[Part]]:
    """Splits the words of a command, without the program, into the command and its parts.

    Raises:
        BundleError: A bundle cannot repeat the command, or a word is not known.
    """
    name = words[0] if words else ""
    if name not in ARGUMENTS:
        raise BundleError(
            f"a bundle cannot repeat `fairwave {name[:40]}`; it can repeat `fairwave {'`, `'.join(ARGUMENTS)}`"
        )
    return name, list(_read_parts(name, iter(words[1:])))


def _read_parts(name: str, rest: Iterator[str]) -> Iterator[Part]:
    for word in rest:
        if word == "--":
            yield from (Part(ARGUMENTS[name], one) for one in rest)
        elif not word.startswith("-") or word == "-":
            yield Part(ARGUMENTS[name], word)
        elif word.startswith("--"):
            option, equals, value = word.partition("=")
            yield _read_option(name, option, value if equals else None, rest)
        else:
            yield from _read_short(name, word, rest)


def _read_option(name: str, option: str, value: str | None, rest: Iterator[str]) -> Part:
    role = OPTIONS.get(option)
    if role is None or (role in FLAGS and value is not None):
        raise BundleError(f"a bundle cannot repeat `fairwave {name} {option[:40]}`: the option is not known")
    if role in FLAGS:
        return Part(role, "", option)
    value = next(rest, None) if value is None else value
    if value is None:
        raise BundleError(
            f"a bundle cannot repeat `fairwave {name} … {option}`: the value of {option} is missing"
        )
    return Part(role, value, option)


def _read_short(name: str, word: str, rest: Iterator[str]) -> Iterator[Part]:
    """Reads short options, which may be joined: `-yn5`."""
    for at in range(1, len(word)):
        option = SHORT.get(f"-{word[at]}", f"-{word[at]}")
        if OPTIONS.get(option) in FLAGS:
            yield Part(OPTIONS[option], "", option)
            continue
        yield _read_option(name, option, word[at + 1 :].removeprefix("=") or None, rest)
        return
