"""`fairwave new`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.cli import console
from fairwave.errors import BadInputError

if TYPE_CHECKING:
    from pathlib import Path


def begin(kind: str, name: str, folder: Path, *, rust: bool, checkout: Path | None) -> None:
    """Writes a law or measure that works, and shows the next command."""
    from fairwave.laws import skeletons

    if checkout is not None and not rust:
        raise BadInputError("--fairwave is for --rust: a Python law needs no sources")
    try:
        written, commands = skeletons.begin(kind, name, folder, rust=rust, checkout=checkout)
    except skeletons.SkeletonError as error:
        raise BadInputError(str(error)) from None
    for file in written:
        console.out.print(f"wrote {file}", highlight=False, markup=False, soft_wrap=True)
    console.out.print("\nnext:", highlight=False)
    for command in commands:
        console.out.print(f"  {command}", highlight=False, markup=False, soft_wrap=True)
