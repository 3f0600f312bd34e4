"""Many mutants in one build: each is compiled next to the original, and an environment variable switches one on.

A mutant inside a function becomes a branch of that function's body. A mutant of a constant turns the constant into a
function. A mutant cannot have a switch elsewhere, nor in a `const fn`, which cannot read the variable.
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

#: Holds the number of the mutant that is switched on.
VARIABLE = "FAIRWAVE_CLAUSE"

#: In every crate: whether a mutant is switched on.
SWITCH = f"""
pub(crate) fn clause_on(number: u32) -> bool {{
    static ON: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {{
        std::env::var("{VARIABLE}").map_or(0, |on| on.parse().expect("a mutant's number"))
    }});
    *ON == number
}}
"""
#: Comments, strings and characters: their braces and names are not code.
_NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\[^\']*.|[^\'\\])\'', re.DOTALL
)
_FUNCTION = re.compile(r"(?<!const )\bfn\s+\w+")
_CONSTANT = re.compile(r"\b(?:const|static)\s+([A-Z]\w*)\s*:\s*((?:\[[^=]*?\]|[^=;])*?)\s*=(?=\s)")
_IMPORT = re.compile(r"\buse\s[^;]*;")


class Patch(Protocol):
    """A mutant: a file, and a text in it with its replacement."""

    @property
    def file(self) -> str:
        """The file, from the root of the tree."""

    @property
    def before(self) -> str:
        """The text to replace. It occurs once."""

    @property
    def after(self) -> str:
        """The replacement."""


@dataclass(frozen=True)
class Place:
    """A part of a file that can be switched: a function's body, or a constant's value, which has a name and a type."""

    begins: int
    ends: int
    #: Where the item begins and ends, for a constant; as ``begins`` and ``ends`` for a body.
    item: tuple[int, int]
    name: str = ""
    type: str = ""


@dataclass
class Switched:
    """The files of one build by path, and the mutants of their lines."""

    texts: dict[str, str] = field(default_factory=dict)
    #: By file: first line, last line, the mutants that an error there belongs to.
    lines: dict[str, list[tuple[int, int, tuple[int, ...]]]] = field(default_factory=dict)
    #: The constants that have become functions, by file that calls them and name: their mutants.
    names: dict[tuple[str, str], set[int]] = field(default_factory=dict)

    def blamed(self, file: str, line: int, source: str) -> set[int]:
        """The mutants that can cause an error in this line: those of the smallest part around it, or of its names."""
        around = [part for part in self.lines.get(file, ()) if part[0] <= line <= part[1]]
        if around:
            return set(min(around, key=lambda part: part[1] - part[0])[2])
        words = set(re.findall(r"\w+", source))
        here = [numbers for (user, name), numbers in self.names.items() if user == file and name in words]
        return set().union(*(here or [numbers for (_, name), numbers in self.names.items() if name in words]))


@cache
def masked(text: str) -> str:
    """The text with everything that is no code blanked out, as long as before."""
    return _NO_CODE.sub(lambda found: re.sub(r"[^\n]", "_", found[0]), text)


@cache
def places(text: str) -> list[Place]:
    """The outermost function bodies of a file, and the constants outside of them."""
    code = masked(text)
    found: list[Place] = []
    for function in _FUNCTION.finditer(code):
        opened = _end_of(code, function.end(), "{;")
        if code[opened] == "{" and not (found and opened < found[-1].ends):
            closed = _end_of(code, opened + 1, "}")
            found.append(Place(opened + 1, closed, (opened + 1, closed)))
    bodies = list(found)
    for constant in _CONSTANT.finditer(code):
        if not any(body.begins <= constant.start() < body.ends for body in bodies):
            ends = _end_of(code, constant.end(), ";")
            item = (constant.start(), ends + 1)
            found.append(Place(constant.end(), ends, item, constant[1], constant[2]))
    return found


def _end_of(code: str, start: int, wanted: str) -> int:
    """The position of one of these characters outside all brackets that open after the start."""
    depth = 0
    for place in range(start, len(code)):
        character = code[place]
        if depth == 0 and character in wanted:
            return place
        depth += (character in "([{") - (character in ")]}")
    return len(code) - 1


def place_of(patch: Patch, text: str, found: Sequence[Place]) -> Place | None:
    """The part of the file that contains the patch, if it can have a switch."""
    begins, ends = _changed(patch, text)
    return next((place for place in found if place.begins <= begins and ends <= place.ends), None)


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def _changed(patch: Patch, text: str) -> tuple[int, int]:
    """Where the text changes, without what ``before`` and ``after`` begin and end with alike."""
    before, after = patch.before, patch.after
    same = _alike(before, after)
    tail = _alike(before[same:][::-1], after[same:][::-1])
    at = text.index(before)
    return at + same, at + len(before) - tail


def switched(
    patches: Mapping[int, Patch], read: Callable[[str], str], crate_files: Sequence[str]
) -> Switched:
    """The files with all patches that can have a switch, by number. ``read`` returns a file's text."""
    result = Switched()
    by_place: dict[str, dict[Place, list[int]]] = {}
    for number, patch in patches.items():
        text = read(patch.file)
        place = place_of(patch, text, places(text))
        if place:
            by_place.setdefault(patch.file, {}).setdefault(place, []).append(number)
    # Constants that are functions now are called wherever their module sees them.
    calls: dict[str, set[str]] = {}
    for file, here in by_place.items():
        for place, numbers in here.items():
            if place.name:
                for user in _users(file, place.name, read, crate_files):
                    calls.setdefault(user, set()).add(place.name)
                    result.names.setdefault((user, place.name), set()).update(numbers)
    for file in sorted({*by_place, *calls}):
        _write(result, file, read(file), by_place.get(file, {}), patches, calls.get(file, set()))
    return result


def _users(file: str, name: str, read: Callable[[str], str], crate_files: Sequence[str]) -> Iterator[str]:
    """The file that declares a constant, and the files of its crate that import or name it."""
    yield file
    source, below = file.split("/src/", maxsplit=1)[0] + "/", re.sub(r"(/mod)?\.rs$", "", file)
    for other in crate_files:
        if other != file and other.startswith(source) and name in (text := read(other)):
            text = masked(text)
            part = (
                rf"\b{name}\b"
                if other.startswith((f"{below}/", f"{below}_"))
                else rf"(?<=[a-z_]::)(?<!super::){name}\b"
            )
            named = re.search(rf"\buse\s[^;]*\b{name}\b|{part}", text)
            if named and not re.search(rf"\b(?:const|static)\s+{name}\b", text):
                yield other


def _write(
    result: Switched,
    file: str,
    text: str,
    here: dict[Place, list[int]],
    patches: Mapping[int, Patch],
    calls: set[str],
) -> None:
    parts: list[str] = []
    spans: list[tuple[int, int, tuple[int, ...]]] = []
    line = 1

    def add(part: str, numbers: tuple[int, ...] = ()) -> None:
        nonlocal line
        parts.append(part)
        last = line + part.count("\n")
        if numbers:
            spans.append((line, last, numbers))
        line = last

    end = 0
    for place in sorted(here, key=lambda place: place.begins):
        numbers = here[place]
        add(_called(text[end : place.item[0]], calls))
        first = line
        if place.name:
            kind = re.sub(r"&(?!')", "&'static ", place.type)
            add(f"#[allow(non_snake_case)] fn {place.name}() -> {kind} {{\n")
        for number in numbers:
            add(f"if crate::clause_on({number}) {{\n")
            add(_called(_body(place, text, patches[number]), calls) + "\n", (number,))
            add("} else ")
        add("{\n" + _called(text[place.begins : place.ends], calls) + "\n}" + ("}" if place.name else "\n"))
        spans.append((first, line, tuple(numbers)))
        end = place.item[1]
    add(_called(text[end:], calls))
    result.texts[file] = "".join(parts)
    result.lines[file] = spans


def _body(place: Place, text: str, patch: Patch) -> str:
    """The part as the patch leaves it."""
    changed = text.replace(patch.before, patch.after, 1)
    return changed[place.begins : place.ends + len(changed) - len(text)]


def _called(text: str, names: set[str]) -> str:
    """The text with a call of each of these names, but in imports."""
    if not names:
        return text
    code = masked(text)
    imports = [(found.start(), found.end()) for found in _IMPORT.finditer(code)]
    starts = [start for start, _ in imports]

    def is_imported(at: int) -> bool:
        before = bisect.bisect(starts, at) - 1
        return before >= 0 and at < imports[before][1]

    pieces, end = [], 0
    for found in re.finditer(rf"\b(?:{'|'.join(sorted(names))})\b(?!\s*\()", code):
        # `Law::NAME` is another's.
        of_type = re.search(r"\b(?!Self::)[A-Z]\w*::$", code[max(0, found.start() - 60) : found.start()])
        if not of_type and not is_imported(found.start()):
            pieces += [text[end : found.end()], "()"]
            end = found.end()
    return "".join([*pieces, text[end:]])


def errors(output: str) -> Iterator[tuple[str, int, str, str]]:
    """Of cargo's messages in JSON: file, line, the line's text and the message of every place that an error names."""
    for message in _messages(output):
        detail = message.get("message")
        if message.get("reason") != "compiler-message" or detail["level"] != "error":
            continue
        for span in detail["spans"]:
            place = span
            while place["expansion"] and not place["file_name"].startswith("crates/"):
                place = place["expansion"]["span"]
            source = " ".join(part["text"] for part in place["text"])
            yield place["file_name"], place["line_start"], source, detail["rendered"]


def executables(output: str) -> dict[str, Path]:
    """Of cargo's messages in JSON: the binary of unit tests of each package."""
    return {
        message["target"]["name"].replace("_", "-"): Path(message["executable"])
        for message in _messages(output)
        if message.get("reason") == "compiler-artifact"
        and message["profile"]["test"]
        and message["executable"]
    }


def _messages(output: str) -> Iterator[Any]:
    for line in output.splitlines():
        if line.startswith("{"):
            yield json.loads(line)
