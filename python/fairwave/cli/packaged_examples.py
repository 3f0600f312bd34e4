"""`fairwave examples`."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING

from fairwave.cli import console
from fairwave.errors import BadInputError
from fairwave.foreign import parse_toml
from fairwave.named_files import named_files
from fairwave.packaged import examples_folder, list_examples, summarise
from fairwave.staging import write_bytes

if TYPE_CHECKING:
    from pathlib import Path


def show_examples(name: str | None, out: Path | None, *, json: bool) -> None:
    """Lists the examples, prints one, or copies them to a folder."""
    folder, names = examples_folder(), list_examples()
    if folder is None:
        raise BadInputError("this installation has no examples; a wheel and a checkout of fairwave have them")
    if name is not None and name not in names:
        near = get_close_matches(name, names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise BadInputError(f"no example {name!r}; there are {', '.join(names)}{hint}")
    if json and (name is not None or out is not None):
        raise BadInputError("--json is for the list of all examples; leave out NAME and --out")
    files = {one: folder / f"{one}.toml" for one in (names if name is None else [name])}
    if out is not None:
        copy_examples(list(files.values()), out)
    elif name is not None:
        sys.stdout.write(files[name].read_text(encoding="utf-8"))
    elif json:
        console.document([{"name": one, "question": summarise(file)} for one, file in files.items()])
    else:
        console.pairs("examples", [(one, summarise(file)) for one, file in files.items()])
        console.note(
            "Run one with `fairwave run NAME` (germany: `fairwave network germany`), open it with `fairwave lab NAME`, "
            "read its text with `fairwave examples NAME`, and copy it with `--out FOLDER` to change it."
        )


def copy_examples(files: list[Path], out: Path) -> None:
    """Copies examples, and the files that they name, into a folder.

    Raises:
        BadInputError: A file of that name exists there.
    """
    sources = {one.name: one for one in files}
    for one in files:
        for _, table in named_files(parse_toml(one.read_text(encoding="utf-8"), str(one), "scenario")):
            beside = one.parent / table["file"]
            if beside.is_file():
                sources[table["file"]] = beside
    for name in sources:
        if (out / name).exists():
            raise BadInputError(f"{out / name} exists and would be replaced; give another folder to --out")
    out.mkdir(parents=True, exist_ok=True)
    for name, source in sources.items():
        write_bytes(out / name, source.read_bytes())
        console.out.print(str(out / name), soft_wrap=True, markup=False)
