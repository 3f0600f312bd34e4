"""Embedding of files in a page, so that one HTML file contains its figures, audio and data.

Files that would make the page large are left out and listed by name. They remain in the page's folder.
"""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

TYPES = {
    "csv": "text/csv",
    "flac": "audio/flac",
    "json": "application/json",
    "md": "text/markdown",
    "mp4": "video/mp4",
    "parquet": "application/vnd.apache.parquet",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "toml": "application/toml",
    "wav": "audio/wav",
    "woff2": "font/woff2",
}
"""File extension to media type."""

MOST_EACH = 400_000
"""Largest file in a page, bytes."""

MOST_ALL = 1_500_000
"""Largest total of the files in a page's data section, bytes. Figures and audio are extra."""

MOST_CSV = 150_000
"""Above this size in bytes, a page contains a table as Parquet instead of CSV, about a fifth of the size."""

COLOURS = 96
"""Number of colours of a drawing in a page, including the shades of letters and bands."""


@dataclass(frozen=True)
class Download:
    """A file that a page contains.

    Attributes:
        name: Name of the saved file.
        uri: Its content.
        size: Its size in words.
    """

    name: str
    uri: str
    size: str

    @property
    def kind(self) -> str:
        """File extension in capitals."""
        return self.name.rsplit(".", 1)[-1].upper()


def data_uri(content: bytes, ending: str) -> str:
    """Encodes bytes as a data URI.

    Raises:
        KeyError: `ending` is not in `TYPES`.
    """
    return f"data:{TYPES[ending]};base64,{base64.b64encode(content).decode('ascii')}"


def format_size(size: int) -> str:
    """Formats a size in bytes for people."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1e3:.0f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"


def download(file: Path) -> Download:
    """Reads a file for a page."""
    content = file.read_bytes()
    return Download(file.name, data_uri(content, file.suffix[1:]), format_size(len(content)))


def list_downloads(folder: Path, names: Iterable[str]) -> list[Download]:
    """Returns the downloads of a figure or table: its picture, and its numbers as CSV or, if large, Parquet.

    The picture is PDF and PNG if they exist, and SVG otherwise.
    """
    files = {name.rsplit(".", 1)[-1]: folder / name for name in names}
    numbers = [files[ending] for ending in ("csv", "parquet") if ending in files]
    chosen = [one for one in numbers if one.stat().st_size <= MOST_CSV][:1] or numbers[-1:]
    carried = [download(one) for one in chosen if one.stat().st_size <= MOST_EACH]
    wanted = ("pdf", "png") if {"pdf", "png"} & set(files) else ("svg",)
    endings = [one for one in wanted if one in files]
    pictures = [
        _picture(files[one]) if one == "png" else download(files[one])
        for one in endings
        if one == "png" or files[one].stat().st_size <= MOST_EACH
    ]
    return [*pictures, *carried]


def _picture(file: Path) -> Download:
    """Encodes a drawing with a small palette, which takes a quarter of the size of the file in the folder."""
    from PIL import Image

    packed = io.BytesIO()
    with Image.open(file) as image:
        image.convert("RGB").quantize(COLOURS, method=Image.Quantize.FASTOCTREE).save(packed, "PNG")
    content = min(packed.getvalue(), file.read_bytes(), key=len)
    return Download(file.name, data_uri(content, "png"), format_size(len(content)))


def gather_data(folder: Path) -> tuple[list[Download], list[str]]:
    """Returns the data files of a page's folder, smallest first, and the names of files that are too large.

    A table that exists as CSV and as Parquet is included once.
    """
    by_stem: dict[str, list[Path]] = {}
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.suffix[1:] in {"csv", "parquet", "json", "md", "toml"}:
            by_stem.setdefault(file.stem, []).append(file)
    chosen = [_lightest(files) for files in by_stem.values()]
    carried, left, spent = [], [], 0
    for file in sorted(chosen, key=lambda one: (one.stat().st_size, one.name)):
        size = file.stat().st_size
        if size <= MOST_EACH and spent + size <= MOST_ALL:
            spent += size
            carried.append(download(file))
        else:
            left.append(f"{file.name} ({format_size(size)})")
    return sorted(carried, key=lambda one: one.name), left


def _lightest(files: Sequence[Path]) -> Path:
    """Chooses among a table's files: the CSV if it is small, else the Parquet."""
    text = next((one for one in files if one.suffix == ".csv"), None)
    if text is not None and (len(files) == 1 or text.stat().st_size <= MOST_CSV):
        return text
    return next(one for one in files if one.suffix != ".csv")


def sound(wav: bytes) -> str:
    """Encodes a recording for a page: FLAC (lossless and shorter) if PyAV is installed, else wav."""
    import importlib.util

    if importlib.util.find_spec("av") is None:
        return data_uri(wav, "wav")
    packed = _flac(wav)
    return data_uri(packed, "flac") if packed and len(packed) < len(wav) else data_uri(wav, "wav")


def _flac(wav: bytes) -> bytes:
    """Encodes a mono 16-bit wav file as FLAC. Returns nothing for any other file."""
    import wave

    import av
    import numpy as np

    try:
        with wave.open(io.BytesIO(wav)) as file:
            if (file.getnchannels(), file.getsampwidth()) != (1, 2) or not file.getnframes():
                return b""
            rate, samples = file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), "<i2")
    except (wave.Error, EOFError):
        return b""
    packed = io.BytesIO()
    with av.open(packed, "w", format="flac") as container:
        stream = container.add_stream("flac", rate=rate, layout="mono", format="s16")
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1).copy(), format="s16", layout="mono")
        frame.sample_rate = rate
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)
    return packed.getvalue()
