"""`fairwave import`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from fairwave.cli import console
from fairwave.errors import BadInputError

if TYPE_CHECKING:
    from pathlib import Path


def show_import(file: Path, *, strict: bool, json: bool) -> None:
    """Shows the contents of a file, and the commands that can use it."""
    from fairwave.foreign import ForeignFileError
    from fairwave.importing import import_file

    try:
        found = import_file(file, strict=strict)
    except ForeignFileError as error:
        raise BadInputError(str(error)) from None
    if json:
        console.document(found.to_dict())
        return
    rows = [(name, _words(value)) for name, value in found.contents.items()]
    console.pairs(escape(f"{file}: {found.what}"), [(name, escape(value)) for name, value in rows])
    for note in found.notes:
        console.say(note)
    for title, lines in (
        ("commands", found.commands),
        ("in a scenario", [found.scenario] if found.scenario else []),
    ):
        if lines:
            console.out.print(f"\n[bold]{title}[/]")
            for line in lines:
                console.out.print(escape(f"  {line}"), soft_wrap=True)


def _words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {one}" for key, one in value.items())
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)
