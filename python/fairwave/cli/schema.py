"""`fairwave schema`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import fairwave
from fairwave._native import Scenario
from fairwave.cli.input import use_laws
from fairwave.errors import BadInputError
from fairwave.staging import write_text

if TYPE_CHECKING:
    from collections.abc import Sequence

FILE = Path(fairwave.__file__).with_name("scenario.schema.json")
"""The schema as a file, for editors. `make setup` writes it, and wheels contain it."""


def show_schema(laws: Sequence[Path] | None, *, path: bool) -> None:
    """Prints the JSON Schema of scenarios, or the path of the file that holds it.

    Raises:
        BadInputError: The file would lack your laws, or cannot be written.
    """
    if path and laws:
        raise BadInputError(
            "the file of --path has no laws of yours: leave --path out, and redirect the output to a file"
        )
    use_laws(laws)
    sys.stdout.write(f"{provide_file()}\n" if path else _text())


def provide_file() -> Path:
    """Returns the path of the schema file, and writes the file if it is missing or belongs to another build.

    Raises:
        BadInputError: It cannot be written.
    """
    text = _text()
    if not FILE.is_file() or FILE.read_text(encoding="utf-8") != text:
        try:
            write_text(FILE, text)
        except OSError as error:
            write = f"fairwave schema > {FILE.name}"
            raise BadInputError(
                f"{FILE} cannot be written ({error.strerror}); write the schema elsewhere: {write}"
            ) from None
    return FILE


def _text() -> str:
    return f"{Scenario.schema()}\n"
