"""Places in the texts of studies: `{name}` or `{name:format}`, with a format as in Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PLACE = re.compile(r"\{([^{}]*)\}")


def list_places(text: str) -> list[str]:
    """The places of a text, without their braces."""
    return _PLACE.findall(text)


def names_of_places(text: str, where: str) -> set[str]:
    """The names of a text's places.

    Raises:
        ValueError: A brace stands alone; the message begins with `where`.
    """
    if re.search(r"[{}]", _PLACE.sub("", text)):
        raise ValueError(f"{where} is no text with names in braces: a brace stands alone")
    return {place.partition(":")[0] for place in list_places(text)}


def fill_places(text: str, show: Callable[[str], str]) -> str:
    """The text with what `show` returns for each place."""
    return _PLACE.sub(lambda match: show(match[1]), text)


def fill_values(text: str, values: Mapping[str, Any]) -> str:
    """The text with the values of its names."""

    def show(place: str) -> str:
        name, _, form = place.partition(":")
        return format(values[name], form)

    return fill_places(text, show)
