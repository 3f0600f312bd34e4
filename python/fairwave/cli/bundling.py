"""`fairwave bundle` and `fairwave repeat`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from fairwave.cli import console
from fairwave.cli.statuses import FAILED
from fairwave.errors import BadInputError
from fairwave.foreign import format_bytes

if TYPE_CHECKING:
    from fairwave.bundles.manifest import Manifest


def make_bundle(folder: Path, out: Path | None, *, overwrite: bool, json: bool) -> None:
    """Makes a bundle and shows its contents."""
    from fairwave.bundles.packing import bundle

    made = bundle(folder, out, overwrite=overwrite)
    if json:
        console.document(made.to_dict())
        return
    _show_contents(made.manifest)
    for remark in made.remarks:
        console.say(f"note: {remark}")
    console.say(f"\n{made.file} ({format_bytes(made.file.stat().st_size)}), SHA-256 {made.sha256}")
    console.say(f"Check it: fairwave repeat {shlex.quote(str(made.file))}")


def repeat_file(
    file: Path,
    out: Path | None,
    unpack: Path | None,
    threads: int | None,
    *,
    trust: bool,
    yes: bool,
    json: bool,
) -> int:
    """Repeats a bundle, or unpacks it, and returns the exit status."""
    from fairwave.bundles import repeating

    if unpack is not None:
        if out is not None or trust or yes or threads is not None:
            raise BadInputError("--unpack repeats nothing: leave --out, --trust, --threads and --yes out")
        manifest = repeating.unpack(file, unpack)
        if json:
            console.document({"folder": str(unpack), "manifest": manifest.to_dict()})
        else:
            _show_contents(manifest)
            console.say(f"\nEvery file has its SHA-256. Unpacked: {unpack}")
        return 0
    try:
        found = repeating.repeat_bundle(
            file, out=out, trust=trust, threads=threads, yes=yes,
            shown=not json and console.err.is_terminal,
        )  # fmt: skip
    except repeating.RepetitionError as error:
        console.complain(str(error))
        return FAILED
    if json:
        console.document(found.to_dict())
    else:
        console.out.print(
            f"\n[bold]{escape(found.manifest.name)}[/]: {escape(found.manifest.command)}", soft_wrap=True
        )
        console.out.print(escape(str(found)), soft_wrap=True)
        console.say(
            f"results of the repetition: {out}" if out else "--out FOLDER keeps the results of the repetition"
        )
    return 0 if found.is_same else FAILED


def _show_contents(manifest: Manifest) -> None:
    from fairwave.bundles.comparing import is_compared
    from fairwave.bundles.inputs import INPUTS
    from fairwave.provenance import seeds_in_words

    origin = manifest.origin
    inputs = [name for name in manifest.files if name.startswith(f"{INPUTS}/")]
    tables = [name for name in manifest.files if name not in inputs and is_compared(name)]
    rest = len(manifest.files) - len(inputs) - len(tables)
    console.pairs(
        manifest.name,
        [
            ("command", manifest.command),
            ("seeds", seeds_in_words(manifest.seeds)),
            (
                "made by",
                f"fairwave {origin.version}, commit {origin.commit}, build {origin.build.partition('+')[2]}",
            ),
            ("", f"Python {origin.python}, {origin.system}"),
            ("reads", ", ".join(inputs) or "no file"),
            ("results", f"{len(tables)} tables, {rest} figures, pages and other files"),
        ],
    )
