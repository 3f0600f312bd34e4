"""Files with traces: read by what they hold, written by their names, and put into scenarios that name them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave import foreign
from fairwave.named_files import named_files
from fairwave.staging import open_named
from fairwave.traces import mahimahi, opennetlab, pensieve, rattan, table
from fairwave.traces.trace import Trace, TraceError, decimal, first_line

if TYPE_CHECKING:
    from types import ModuleType

MARKS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Numbers of opportunities in a millisecond as one character each."""

READERS: dict[str, ModuleType] = {
    "mahimahi": mahimahi, "pensieve": pensieve, "opennetlab": opennetlab, "rattan": rattan, "csv": table,
}  # fmt: skip
"""Of each format the module that has `fits` (whether a text may be of it), `parse` and `text`."""

FORMATS = tuple(READERS)

HEAD = 10_000
"""By so many characters it is told which format a file has."""

SUFFIXES = {
    ".mahi": "mahimahi", ".mahimahi": "mahimahi", ".up": "mahimahi", ".down": "mahimahi", ".pensieve": "pensieve",
    ".txt": "pensieve", ".log": "pensieve", ".json": "opennetlab", ".toml": "rattan", ".csv": "csv",
}  # fmt: skip
"""What a file's name asks for on writing."""


@foreign.gated("trace", TraceError)
def read(path: str | Path, format: str | None = None, part: str | None = None) -> Trace:  # noqa: A002
    """The trace that a file holds.

    Args:
        path: The file.
        format: One of `FORMATS`, where more than one fits.
        part: `uplink` or `downlink` of an OpenNetLab file that has both.

    Raises:
        FileNotFoundError: There is no such file.
        TraceError: It holds no trace, or more than one format fits; the message says where, and what to write.
    """
    where = Path(path)
    if not where.is_file():
        raise FileNotFoundError(f"no file {str(path)!r} with a trace")
    return parse(foreign.read_bytes(where, "trace"), str(path), format, part)


def parse(data: bytes, name: str = "-", format: str | None = None, part: str | None = None) -> Trace:  # noqa: A002
    """The trace in a file's bytes; `name` is what messages call it.

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
    if part is not None and format != "opennetlab":
        raise TraceError(
            f"{name}: only OpenNetLab's files have parts, and this is read as {format}: leave `part` out"
        )
    try:
        if format not in {"opennetlab", "rattan"}:
            foreign.check_lines(data, name)
            kind = "mahimahi" if format == "mahimahi" else "trace"
            foreign.check_items(foreign.count_lines(data), name, kind)
        trace: Trace = READERS[format].parse(text, name, part)
    except foreign.ForeignFileError as error:
        raise error if isinstance(error, TraceError) else TraceError(str(error)) from None
    return trace


def known() -> str:
    """What to write instead of what is no trace."""
    formats = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
    return f"write a trace of {formats} (with a head such as {table.HEAD}; see docs/links.md)"


def as_law(trace: Trace) -> dict[str, str]:
    """What the rate law `trace` holds of it: `opportunities` or `series`."""
    counts = trace.opportunities
    if counts is not None and counts.max() < len(MARKS):
        marks = np.frombuffer(MARKS.encode(), np.uint8)
        return {"opportunities": marks[counts].tobytes().decode()}
    steps = zip(trace.lengths.tolist(), trace.rates.tolist(), strict=True)
    return {"series": ",".join(f"{decimal(one, 6)} {decimal(rate, 3)}" for one, rate in steps)}


def write(path: str | Path, trace: Trace, format: str | None = None) -> Path:  # noqa: A002
    """Writes a trace in a format, or in the one that the file's name asks for (`SUFFIXES`).

    Raises:
        TraceError: The name asks for none, or the format cannot hold the trace.
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
    """What must be set in a scenario so that its traces hold what their files do.

    Args:
        table: The scenario as plain data.
        folder: Where files are sought.

    Returns:
        Overrides; empty where no trace names a file.

    Raises:
        TraceError: A file is not there or holds no trace; the message names the key.
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
