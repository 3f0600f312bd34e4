"""Walks through JSON value by value, so that a large file takes little memory beyond its text.

The text keeps one byte per character (Latin-1), whatever the file contains. :meth:`Walker.text` restores strings.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import TYPE_CHECKING, Any

from fairwave.foreign import PART, ForeignFileError, check_shape, json_hooks

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACE = re.compile(r"[ \t\r\n\x1e]*")


def check_text(data: bytes, name: str) -> None:
    """Refuses bytes that are no UTF-8, part by part.

    Raises:
        ForeignFileError: They are not; the message names the byte.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ForeignFileError(f"{name}: byte 0 begins text in UTF-16 or UTF-32: save it as UTF-8")
    decoder = codecs.getincrementaldecoder("utf-8")()
    for at in range(0, len(data), PART):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(data[at : at + PART], at + PART >= len(data))
        except UnicodeDecodeError as wrong:
            place = at - pending + wrong.start
            raise ForeignFileError(
                f"{name}: byte {place} belongs to no text in UTF-8: save it as UTF-8"
            ) from None


class Walker:
    """A position in a text of one or more JSON values.

    Attributes:
        name: The file, for messages.
        at: The position.
    """

    def __init__(self, data: bytes, name: str, kind: str) -> None:
        """Checks the text against the limits of its kind.

        Raises:
            ForeignFileError: It exceeds a limit, or is not UTF-8.
        """
        check_text(data, name)
        has_long = check_shape(data, name, kind)
        self._text = data.decode("latin-1")
        self.name = name
        self.at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        self._decoder = json.JSONDecoder(**json_hooks(self._text, name, kind, has_long=has_long))
        self._strict = json.JSONDecoder(**json_hooks("", name, kind, has_long=True))

    @staticmethod
    def text(value: str) -> str:
        """Returns a string of the walked text as the file has it."""
        if value.isascii():
            return value
        try:
            return value.encode("latin-1").decode("utf-8")
        except UnicodeError:  # it was written with escapes
            return value

    def skip_line(self, begin: str) -> bool:
        """Skips the first line if it is `begin`; returns whether it was."""
        if not self._text.startswith(begin, self.at):
            return False
        end = self._text.find("\n", self.at)
        self.at = len(self._text) if end < 0 else end + 1
        return True

    def peek(self) -> str:
        """Returns the next character that is no white space; empty at the end."""
        match = _SPACE.match(self._text, self.at)
        self.at = match.end() if match else self.at
        return self._text[self.at : self.at + 1]

    def value(self) -> Any:
        """Parses the value at the position, and moves behind it.

        Raises:
            ForeignFileError: There is none.
        """
        self.peek()
        try:
            found, self.at = self._decoder.raw_decode(self._text, self.at)
        except json.JSONDecodeError as wrong:
            raise self._refuse(wrong.msg, wrong.pos) from None
        except RecursionError:
            raise ForeignFileError(f"{self.name} has lists or tables too deep within each other") from None
        return found

    def inner(self, text: str) -> Any:
        """Parses JSON that a string holds; None if it is none.

        Raises:
            ForeignFileError: It has an impossible number.
        """
        try:
            return self._strict.decode(text)
        except (json.JSONDecodeError, RecursionError):
            return None

    def elements(self) -> Iterator[int]:
        """Yields the index of each element of the list at the position, which then is at the element.

        The loop's body may parse the element. Otherwise it is skipped.

        Raises:
            ForeignFileError: The list is damaged.
        """
        self._take("[")
        if self.peek() == "]":
            self.at += 1
            return
        number = 0
        while True:
            self.peek()
            before = self.at
            yield number
            if self.at == before:
                self.value()
            if self._take(",]") == "]":
                return
            number += 1

    def members(self) -> Iterator[str]:
        """Yields each key of the object at the position, which then is at the value, as :meth:`elements` does.

        Raises:
            ForeignFileError: The object is damaged, or has a key twice.
        """
        self._take("{")
        if self.peek() == "}":
            self.at += 1
            return
        seen: set[str] = set()
        while True:
            if self.peek() != '"':
                raise self._refuse("Expecting property name enclosed in double quotes", self.at)
            place = self.at
            key = self.value()
            if key in seen:
                raise ForeignFileError(
                    f"{self.name}, line {self._line(place)}: the key {key!r:.60} stands twice: leave one"
                )
            seen.add(key)
            self._take(":")
            self.peek()
            before = self.at
            yield self.text(key)
            if self.at == before:
                self.value()
            if self._take(",}") == "}":
                return

    def _take(self, allowed: str) -> str:
        found = self.peek()
        if not found or found not in allowed:
            raise self._refuse(f"Expecting {' or '.join(map(repr, allowed))}", self.at)
        self.at += 1
        return found

    def _line(self, place: int) -> int:
        return self._text.count("\n", 0, place) + 1

    def _refuse(self, words: str, place: int) -> ForeignFileError:
        return ForeignFileError(f"{self.name}, line {self._line(place)}: no JSON ({words})")
