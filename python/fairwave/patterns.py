"""Patterns of loss: which packets were lost, one after the other, in files that other tools know.

Formats, recognised by the file's contents, and for writing by its name:

- text: a character for each packet, `1` lost, `0` not; blanks and lines that begin with `#` do not count;
- CSV (`.csv`): a packet per line; of several columns the one named `lost`, else the last; `0` and `1`, or `false`
  and `true`;
- a capture (pcap or pcapng): of its largest flow of RTP, which packets are missing by their numbers, from the first
  to the last that came;
- the error patterns of ITU-T G.191 (STL): words of 16 bits, little-endian (`.g192`). 0x6B21 is a good frame and 0x6B20
  a lost one, or 0x007F and 0x0081 as for bits. `.byte` has the low bytes of these alone.

G.191's third format, eight packets a byte, cannot be recognised by its contents and is not read.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave import captures
from fairwave.extras import need
from fairwave.foreign import ForeignFileError, check_items, check_lines, gated, read_bytes
from fairwave.named_files import named_files
from fairwave.staging import open_named, save_figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from fairwave.captures import Capture, FlowSummary

    Pattern = NDArray[np.bool_]
    """For each packet, whether it is lost."""

WORDS = {0x6B21: False, 0x6B20: True, 0x007F: False, 0x0081: True}
"""G.192 words of a frame or a bit, with True for lost."""

BYTES = {word & 0xFF: lost for word, lost in WORDS.items()}
"""The same for the byte-oriented format."""

LINE = 80
"""Packets per line of text."""


class PatternError(ForeignFileError):
    """A file that is not a pattern of loss; the message gives the place and the readable formats."""


READ = "a text of 0 and 1, a CSV table, or a pattern of ITU-T G.191 in words of 16 bits or bytes"


@gated("pattern", PatternError)
def read(path: str | Path) -> Pattern:
    """Reads the pattern of a file; of a capture, the missing packets of its largest stream of media over RTP.

    Raises:
        FileNotFoundError: There is no such file.
        PatternError: It holds no pattern; the message gives the place of the error.
    """
    where = Path(path)
    if not where.is_file():
        raise FileNotFoundError(f"no file {str(path)!r} with a pattern of loss")
    if captures.is_capture(where):
        try:
            capture = captures.read(path)
        except captures.CaptureError as error:
            raise PatternError(str(error)) from None
        return choose_stream(capture)[1]
    return parse(read_bytes(where, "pattern"), str(path))


def choose_stream(capture: Capture, select: str | None = None) -> tuple[FlowSummary, Pattern]:
    """Returns a stream of a capture and its pattern of loss.

    Args:
        capture: The capture.
        select: Number or name of the stream. Default: the largest stream of speech or video.

    Raises:
        PatternError: There is no such stream of RTP.
    """
    try:
        found = capture.find(select) if select else next(iter(capture.media), None)
    except captures.CaptureError as error:
        raise PatternError(str(error)) from None
    lost = found.losses() if found else None
    if found is None or lost is None:
        what = f"{capture.path}: {found.name} is" if found else f"{capture.path} has"
        raise PatternError(
            f"{what} no flow of RTP: only its packets are numbered, so that losses are known; "
            f"`fairwave replay {capture.path}` lists its flows"
        )
    return found, lost


def parse(data: bytes, name: str = "-") -> Pattern:
    """Reads the pattern from a file's bytes; messages call it `name`.

    Raises:
        PatternError: As `read`.
    """
    # If all frames are lost, a G.191 byte file has only blanks. In other formats such a file is a mistake.
    if not data or (not data.strip() and not name.lower().endswith(".byte")):
        raise PatternError(f"{name} is empty: write {READ}")
    try:
        found = _parsed(data, name)
        check_items(len(found), name, "pattern")
    except ForeignFileError as error:
        raise error if isinstance(error, PatternError) else PatternError(str(error)) from None
    return found


def _parsed(data: bytes, name: str) -> Pattern:
    found = _g191(data)
    if found is not None:
        return found
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PatternError(
            f"{name}: byte {error.start} belongs to no pattern that is known: write {READ}"
        ) from None
    if name.lower().endswith(".csv") or "," in text or ";" in text:
        check_lines(data, name)
        return _table(text, name)
    return _text(text, name)


def _g191(data: bytes) -> Pattern | None:
    """Reads a pattern of G.191; None if the data are not one."""
    for kind, known in (("<u2", WORDS), ("u1", BYTES)):
        if len(data) % np.dtype(kind).itemsize:
            continue
        values = np.frombuffer(data, kind)
        # 0x20 and 0x21 are also blank and exclamation mark: text of 0 and 1 has no exclamation mark, nor blanks only.
        if set(np.unique(values).tolist()) <= set(known):
            return np.isin(values, [value for value, lost in known.items() if lost])
    return None


def _text(text: str, name: str) -> Pattern:
    check_items(text.count("0") + text.count("1"), name, "pattern")
    lines = [line if not line.lstrip().startswith("#") else "" for line in text.splitlines()]
    marks = "".join("".join(line.split()) for line in lines)
    values = np.frombuffer(marks.encode(), np.uint8)
    if ((values != ord("0")) & (values != ord("1"))).any():
        row, wrong = next(
            (row, one)
            for row, line in enumerate(lines, 1)
            for one in line
            if one not in "01" and not one.isspace()
        )
        raise PatternError(f"{name}, line {row}: {wrong!r} is neither 0 (arrives) nor 1 (lost): write {READ}")
    if not values.size:
        raise PatternError(f"{name} has no packets: write 0 (arrives) or 1 (lost) for each")
    return np.asarray(values == ord("1"), bool)


SAID = {"0": False, "1": True, "false": False, "true": True, "0.0": False, "1.0": True}


def _table(text: str, name: str) -> Pattern:
    separator = ";" if ";" in text and "," not in text else ","
    try:
        # Without `newline`, a single carriage return does not end a line.
        lost = _column(csv.reader(io.StringIO(text, newline=None), delimiter=separator), name)
    except csv.Error as error:
        raise PatternError(
            f"{name} is no CSV table ({error}): write 0 (arrives) or 1 (lost) in each row"
        ) from None
    if not lost:
        raise PatternError(f"{name} has no packets: write 0 (arrives) or 1 (lost) in each row")
    return np.frombuffer(lost, np.bool_)


def _column(each: Iterable[list[str]], name: str) -> bytes:
    """Finds the column with the lost packets. One byte per packet, so that a long table takes little memory."""
    lost = bytearray()
    column, number = -1, 0
    for row in each:
        if not any(cell.strip() for cell in row):
            continue
        number += 1
        if number == 1 and row[-1].strip().lower() not in SAID:
            heads = [cell.strip().lower() for cell in row]
            column = heads.index("lost") if "lost" in heads else -1
            continue
        cell = row[column].strip().lower() if len(row) > max(column, 0) else ""
        if cell not in SAID:
            raise PatternError(f"{name}, row {number}: {cell!r:.60} is neither 0 (arrives) nor 1 (lost)")
        lost.append(SAID[cell])
    return bytes(lost)


def as_text(lost: Pattern) -> str:
    """One character for each packet, as in the loss model `pattern`."""
    return np.where(np.asarray(lost, bool), "1", "0").astype("S1").tobytes().decode()


def write(path: str | Path, lost: Pattern | Sequence[bool]) -> Path:
    """Writes a pattern in the format of the file's extension: `.csv`, `.g192`, `.byte`, text for any other."""
    where, values = Path(path), np.asarray(lost, bool)
    kind = where.suffix.lower()
    if kind == ".csv":
        rows = ["packet,lost", *(f"{number},{int(one)}" for number, one in enumerate(values))]
        data = ("\n".join(rows) + "\n").encode()
    elif kind == ".g192":
        data = np.where(values, 0x6B20, 0x6B21).astype("<u2").tobytes()
    elif kind == ".byte":
        data = np.where(values, 0x20, 0x21).astype(np.uint8).tobytes()
    else:
        marks = as_text(values)
        lines = [marks[at : at + LINE] for at in range(0, len(marks), LINE)]
        data = ("\n".join(lines) + "\n").encode()
    with open_named(where) as file:
        file.write(data)
    return where


@dataclass(frozen=True)
class Gilbert:
    """Gilbert's model with the maximum-likelihood parameters for a pattern.

    There are two states: one loses every packet, the other none. p is the probability that a packet is lost after one
    that arrived; q is the probability that a packet arrives after one that was lost. The likeliest values are the
    shares of such transitions in the pattern. Without a transition from a state its parameter is undefined, and None.

    Attributes:
        p: From arriving to lost.
        q: From lost to arriving.
        p_interval: 95 % interval of p (Wilson), from the packets after one that arrived; None for fewer than two.
        q_interval: The same for q.
    """

    p: float | None
    q: float | None
    p_interval: tuple[float, float] | None
    q_interval: tuple[float, float] | None

    @property
    def loss(self) -> float | None:
        """Loss in the long run, p / (p + q); None if the pattern shows no return from a state."""
        if self.p is None or not self.q:
            return None
        return self.p / (self.p + self.q)

    @property
    def burst(self) -> float | None:
        """Mean length of a run of losses, 1 / q."""
        return 1 / self.q if self.q else None

    @property
    def law(self) -> dict[str, Any] | None:
        """The loss model `gilbert` of a scenario; None if a parameter is not defined, or nothing is lost."""
        if not self.loss or self.burst is None:
            return None
        return {
            "model": "gilbert",
            "rate": float(f"{self.loss:.6g}"),
            "run": max(float(f"{self.burst:.6g}"), 1.0),
        }


def gilbert(lost: Pattern) -> Gilbert:
    """Fits Gilbert's model by maximum likelihood."""
    before, after = lost[:-1], lost[1:]

    def share(
        of: NDArray[np.bool_], which: NDArray[np.bool_]
    ) -> tuple[float | None, tuple[float, float] | None]:
        n = int(of.sum())
        if n == 0:
            return None, None
        p = float((of & which).sum()) / n
        return p, wilson(p, n) if n > 1 else None

    (p, p_interval), (q, q_interval) = share(~before, after), share(before, ~after)
    return Gilbert(p, q, p_interval, q_interval)


def wilson(share: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval (1927) of a share of `n` trials; `z` is the normal quantile, 1.96 for 95 %.

    Unlike the normal interval, it has a width if nothing or everything succeeds.
    """
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def runs(lost: Pattern, of: bool = True) -> NDArray[np.int64]:
    """Lengths of the runs of lost packets, or of arrived packets, in order."""
    edges = np.flatnonzero(
        np.diff(np.concatenate([[False], np.asarray(lost, bool) == of, [False]]).astype(np.int8))
    )
    return np.asarray(edges[1::2] - edges[::2], np.int64)


@dataclass(frozen=True)
class Summary:
    """Summary of a pattern.

    Attributes:
        packets: Number of packets.
        lost: Number of lost packets.
        bursts: Number of runs of losses of each length.
        gaps: Mean, median and longest run of packets that arrived; None without one.
        fit: Gilbert's model.
    """

    packets: int
    lost: int
    bursts: dict[int, int]
    gaps: tuple[float, float, int] | None
    fit: Gilbert

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        gaps = dict(zip(("mean", "median", "longest"), self.gaps, strict=True)) if self.gaps else None
        return {
            "packets": self.packets,
            "lost": self.lost,
            "loss": self.lost / self.packets,
            "bursts": {str(length): count for length, count in self.bursts.items()},
            "gaps": gaps,
            "gilbert": {
                "p": self.fit.p, "q": self.fit.q, "p_interval": self.fit.p_interval, "q_interval": self.fit.q_interval,
                "loss": self.fit.loss, "burst": self.fit.burst, "law": self.fit.law,
            },
        }  # fmt: skip


def summary(lost: Pattern) -> Summary:
    """Counts a pattern's losses and runs, and fits Gilbert's model."""
    lengths, counts = np.unique(runs(lost), return_counts=True)
    arrived = runs(lost, of=False)
    gaps = (float(arrived.mean()), float(np.median(arrived)), int(arrived.max())) if arrived.size else None
    bursts = {int(length): int(count) for length, count in zip(lengths, counts, strict=True)}
    return Summary(len(lost), int(lost.sum()), bursts, gaps, gilbert(lost))


def draw(lost: Pattern, path: str | Path, title: str) -> Path:
    """Draws a pattern: every packet in rows, and the lengths of runs next to Gilbert's and to independent losses'."""
    need("matplotlib", "report")
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib.figure import Figure

    found = summary(lost)
    width = 200 if len(lost) <= 40_000 else math.ceil(math.sqrt(5 * len(lost)))
    rows = math.ceil(len(lost) / width)
    picture = np.full(rows * width, np.nan)
    picture[: len(lost)] = lost
    figure = Figure(figsize=(10, 6), layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=(3, 2))
    above.imshow(
        picture.reshape(rows, width), aspect="auto", cmap="gray_r", interpolation="nearest", vmin=0, vmax=1
    )
    above.set_title(f"{title}: {found.lost} of {found.packets} packets lost (black), {width} a row")
    above.set_xlabel("packet within the row")
    above.set_ylabel("row")
    lengths = np.arange(1, max(found.bursts, default=1) + 2)
    total = sum(found.bursts.values())
    below.bar(list(found.bursts), list(found.bursts.values()), color="0.6", label="in the pattern")
    for label, q, line in (
        ("Gilbert's model", found.fit.q, "-"),
        ("chance alone", 1 - found.lost / found.packets, ":"),
    ):
        if q:
            below.plot(lengths, total * q * (1 - q) ** (lengths - 1), f"k{line}o", markersize=3, label=label)
    below.set_xlabel("packets lost in a row")
    below.set_ylabel("runs")
    below.set_xlim(0.4, lengths[-1] + 0.6)
    if found.bursts:
        below.set_yscale("symlog", linthresh=1)
        below.legend()
    where = Path(path)
    save_figure(figure, where)
    return where


def resolved(flows_and_links: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Returns the overrides that put the contents of pattern files into a scenario.

    Args:
        flows_and_links: The scenario as plain data.
        folder: Folder of the files.

    Returns:
        Overrides; empty if no pattern names a file.

    Raises:
        PatternError: A file is missing or holds no pattern; the message names the key.
    """
    return {
        path: {
            **{key: one for key, one in table.items() if key != "file"},
            "pattern": as_text(_read_key(folder / table["file"], path)),
        }
        for path, table in named_files(flows_and_links, "pattern")
    }


def _read_key(path: Path, key: str) -> Pattern:
    try:
        return read(path)
    except (FileNotFoundError, PatternError) as error:
        raise PatternError(f"{key}.file: {error}") from None
