"""Trace files: reads them by content, writes them by file name, and puts them into scenarios that name them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave import foreign
from fairwave.named_files import named_files
from fairwave.staging import open_named
from fairwave.traces import downloads, gnettrack, mahimahi, opennetlab, pensieve, rattan, sabre, table
from fairwave.traces.trace import Trace, TraceError, decimal, first_line

if TYPE_CHECKING:
    from types import ModuleType

MARKS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Characters for the number of opportunities in a millisecond."""

READERS: dict[str, ModuleType] = {
    "mahimahi": mahimahi, "pensieve": pensieve, "opennetlab": opennetlab, "rattan": rattan, "csv": table,
    "sabre": sabre, "downloads": downloads, "gnettrack": gnettrack,
}  # fmt: skip
"""Module of each format, with `fits` (whether a text may have the format), `parse` and `text`."""

FORMATS = tuple(READERS)

HEAD = 10_000
"""Number of leading characters that are used to recognise the format."""

SUFFIXES = {
    ".mahi": "mahimahi", ".mahimahi": "mahimahi", ".up": "mahimahi", ".down": "mahimahi", ".pensieve": "pensieve",
    ".txt": "pensieve", ".log": "pensieve", ".json": "opennetlab", ".toml": "rattan", ".csv": "csv",
}  # fmt: skip
"""Format for writing, by the suffix of the file name."""


@foreign.gated("trace", TraceError)
def read(path: str | Path, format: str | None = None, part: str | None = None) -> Trace:  # noqa: A002
    """Reads the trace of a file.

    Args:
        path: The file.
        format: One of `FORMATS`; needed if more than one fits.
        part: `uplink` or `downlink` of a file of OpenNetLab or G-NetTrack that has both.

    Raises:
        FileNotFoundError: There is no such file.
        TraceError: The file holds no trace, or more than one format fits; the message names the place and the remedy.
    """
    where = Path(path)
    if not where.is_file():
        raise FileNotFoundError(f"no file {str(path)!r} with a trace")
    return parse(foreign.read_bytes(where, "trace"), str(path), format, part)


def parse(data: bytes, name: str = "-", format: str | None = None, part: str | None = None) -> Trace:  # noqa: A002
    """Parses the trace in a file's bytes. Messages call the file `name`.

    Raises:
        TraceError: As `read`.
    """
    try:
        text = foreign.decode(data, name)
    except foreign.ForeignFileError as error:
        raise TraceError(f"{error}; {known()}") from None
    if not text.strip():
        raise TraceError(f"{name} is empty: {known()}")
    if format is not None and format not in READERS:
        raise TraceError(f"there is no format {format!r}: write one of {', '.join(FORMATS)}")
    if format is None:
        begins = text[:HEAD]
        fitting = [one for one in FORMATS if READERS[one].fits(begins)]
        if not fitting:
            raise TraceError(f"{name}, line 1: {first_line(text)!r} begins no trace that is known: {known()}")
        if len(fitting) > 1:
            both = " and ".join(fitting)
            raise TraceError(
                f'{name} can be read as {both}: say which by `format = "{fitting[0]}"` or another'
            )
        format = fitting[0]  # noqa: A001
    if part is not None and format not in {"opennetlab", "gnettrack"}:
        raise TraceError(
            f"{name}: only files of OpenNetLab and G-NetTrack have parts, and this is read as {format}: leave it out"
        )
    try:
        if format not in {"opennetlab", "rattan", "sabre"}:
            foreign.check_lines(data, name)
            kind = "mahimahi" if format == "mahimahi" else "trace"
            foreign.check_items(foreign.count_lines(data), name, kind)
        trace: Trace = READERS[format].parse(text, name, part)
    except foreign.ForeignFileError as error:
        raise error if isinstance(error, TraceError) else TraceError(str(error)) from None
    return trace


def known() -> str:
    """Returns a hint for messages: the supported formats."""
    formats = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
    return f"write a trace of {formats} (with a head such as {table.HEAD}; see docs/links.md)"


def as_law(trace: Trace) -> dict[str, str]:
    """Returns the trace as a key of the rate law `trace`: `opportunities` or `series`."""
    counts = trace.opportunities
    if counts is not None and counts.max() < len(MARKS):
        marks = np.frombuffer(MARKS.encode(), np.uint8)
        return {"opportunities": marks[counts].tobytes().decode()}
    steps = zip(trace.lengths.tolist(), trace.rates.tolist(), strict=True)
    return {"series": ",".join(f"{decimal(one, 6)} {decimal(rate, 3)}" for one, rate in steps)}


def write(path: str | Path, trace: Trace, format: str | None = None) -> Path:  # noqa: A002
    """Writes a trace in the given format, or in the format of the file name (`SUFFIXES`).

    Raises:
        TraceError: The name has no known suffix, or the format cannot hold the trace.
    """
    where = Path(path)
    format = format or SUFFIXES.get(where.suffix.lower())  # noqa: A001
    if format not in FORMATS:
        known = ", ".join(dict.fromkeys(SUFFIXES))
        raise TraceError(f"{path}: its name asks for no format: end it in one of {known}, or say --to FORMAT")
    text = READERS[format].text(trace)
    with open_named(where) as file:
        file.write(text.encode())
    return where


def resolved(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Returns the overrides that put the contents of trace files into a scenario.

    Args:
        table: The scenario as plain data.
        folder: Folder of the files.

    Returns:
        Overrides; empty if no trace names a file.

    Raises:
        TraceError: A file is missing or holds no trace; the message names the key.
    """
    changes: dict[str, Any] = {}
    known: dict[tuple[Any, ...], dict[str, str]] = {}
    for path, law in named_files(table, "trace"):
        asked = (law["file"], law.get("format"), law.get("part"))
        if asked not in known:
            known[asked] = _read_key(folder, asked, path)
        rest = {key: one for key, one in law.items() if key not in {"file", "format", "part"}}
        changes[path] = {**rest, **known[asked]}
    return changes


def _read_key(folder: Path, asked: tuple[Any, ...], key: str) -> dict[str, str]:
    file, format, part = asked  # noqa: A001
    try:
        return as_law(read(folder / file, format, part))
    except (FileNotFoundError, TraceError) as error:
        raise TraceError(f"{key}.file: {error}") from None
