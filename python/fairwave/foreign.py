"""Protects readers of files from other sources: one gate before every reader, and one table of limits.

A file may come from a stranger. It may be damaged, or made to use up memory or time. Therefore every function that
reads such a file has the decorator :func:`gated`, which names the kind of file. The gate

- refuses special files, and a file with too many bytes, before the reader opens it;
- turns an exception that the reader does not expect into a :class:`ForeignFileError`: *damaged*, with the place and
  with a remedy.

:data:`KINDS` holds the limits of each kind. Readers parse bytes, JSON and TOML with the functions of this module, which
apply the limits before they allocate memory. `make results` renders the table.
"""

from __future__ import annotations

import functools
import io
import json
import re
import stat
import sys
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from fairwave._native import RunError, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import BinaryIO

    F = TypeVar("F", bound=Callable[..., Any])

MB = 1_000_000
HOUR = 3600.0


class ForeignFileError(ValueError):
    """A file cannot be read: it is damaged, exceeds a limit, or is of another kind; the message names the remedy."""


@dataclass(frozen=True)
class ForeignKind:
    """A kind of file from other sources, with the limits of its contents. None: the limit does not apply to this kind.

    Attributes:
        what: Name of the kind for messages, with its article.
        remedy: Remedy for a damaged file; `{0}` is replaced by its name.
        bytes: Most bytes of a file; of a compressed file also of its contents.
        items: Most items that a file lists.
        item: Name of an item.
        digits: Most digits of a number in text.
        depth: Deepest nesting of lists and tables.
        span_s: Longest time that the contents may cover, in seconds.
        gap_s: Longest time without an item, in seconds.
    """

    what: str
    remedy: str
    bytes: int
    items: int | None = None
    item: str = ""
    digits: int | None = None
    depth: int | None = None
    span_s: float | None = None
    gap_s: float | None = None


DIGITS = 40
"""Largest number of digits that programs write: 17 suffice for a float, 39 for 128 bits."""

KINDS: dict[str, ForeignKind] = {
    "scenario": ForeignKind(
        "a scenario", "give the path of a .toml or .json file", 50 * MB, 1_000_000, "values", DIGITS, 64
    ),
    "network": ForeignKind(
        "a network", "write it anew; docs/networks.md shows one", 50 * MB, 1_000_000, "values", DIGITS, 64
    ),
    "topology": ForeignKind(
        "a topology", "write it anew with NetworkX, for example nx.write_graphml(graph, path)", 50 * MB, 2_000_000,
        "values", DIGITS, 32,
    ),
    "demands": ForeignKind(
        "a table of demands", "write the columns from,to,demand", 50 * MB, 2_000_000, "rows", DIGITS
    ),
    "trace": ForeignKind(
        "a trace of a rate", "write it anew; docs/links.md shows the formats", 100 * MB, 2_000_000, "rows", DIGITS, 32,
        7 * 24 * HOUR,
    ),
    "mahimahi": ForeignKind(
        "a trace of mahimahi", "write times in ms, one a line", 100 * MB, 20_000_000, "times", DIGITS, None, 4 * HOUR
    ),
    "pattern": ForeignKind(
        "a pattern of loss", "write 0 (arrives) or 1 (lost) for each packet", 100 * MB, 20_000_000, "packets"
    ),
    "capture": ForeignKind(
        "a capture", "keep what comes before the damage: `editcap -r {0} part.pcapng 1-N`", 64_000 * MB, 100_000,
        "flows", None, None, 7 * 24 * HOUR,
    ),
    "fitted capture": ForeignKind(
        "a capture to fit", "keep the part with the call: `editcap -A START -B END {0} part.pcapng`", 64_000 * MB,
        10_000_000, "packets", None, None, 2 * HOUR,
    ),
    "session description": ForeignKind(
        "a session description", "copy the SDP of the offer or answer into a file", MB
    ),
    "statistics": ForeignKind(
        "statistics of a call", "save them again from the browser, or keep the reports of one call", 250 * MB,
        20_000_000, "values", DIGITS, 32, 2 * HOUR, 60.0,
    ),
    "dump": ForeignKind(
        "statistics of a call", "save them again from the browser, or keep the reports of one call", 250 * MB,
        20_000_000, "values", DIGITS, 32,
    ),
    "irtt": ForeignKind(
        "a measurement by irtt", "measure again: `irtt client -i 20ms -l 172 -o line.json HOST`", 200 * MB, 6_000_000,
        "values", 19, 32, 4 * HOUR,
    ),
    "policy": ForeignKind(
        "a policy", "write it anew with fairwave.gym (docs/gym.md)", 16 * 2**20, 2_000_000, "values", DIGITS, 16
    ),
    "task": ForeignKind("a task", "write it anew; docs/gym.md shows one", 10 * MB, 200_000, "values", DIGITS, 32),
    "recording": ForeignKind(
        "a recording", "convert it: `ffmpeg -i {0} -ac 1 -ar 8000 -c:a pcm_s16le part.wav`", 2_000 * MB, 32, "channels",
        None, None, HOUR,
    ),
    "clip": ForeignKind(
        "a video", "convert it: `ffmpeg -i {0} -vf scale=1280:-2 part.mp4`", 4_000 * MB, 36_000_000, "pixels"
    ),
    "results": ForeignKind(
        "a folder of results", "make the results again", 4_000 * MB, 100_000_000, "cells of tables", DIGITS, 32
    ),
    "bundle": ForeignKind(
        "a bundle", "make it again: `fairwave bundle FOLDER`", 2_000 * MB, 1_000_000, "values", DIGITS, 16
    ),
    "kept runs": ForeignKind(
        "a file of kept runs", "remove it; the same command makes the runs again", 64_000 * MB, 1_000_000_000,
        "bytes of a run",
    ),
    "reading": ForeignKind(
        "a reading of a study", "write a JSON object of factors to values", MB, 10_000, "values", DIGITS, 8
    ),
    "kept reading": ForeignKind(
        "a kept reading", "remove it; the same command judges the reading again", 200 * MB, 10_000_000, "values",
        DIGITS, 32,
    ),
    "live recording": ForeignKind(
        "a recording of a live run", "record again: `fairwave live … --capture`", 1_000 * MB, 2_000_000, "packets",
        None, None, 4 * HOUR,
    ),
    "session": ForeignKind(
        "statistics of a session", "let the program write them again", 100 * MB, 3_000_000, "values", DIGITS, 32
    ),
    "note": ForeignKind("a note of a folder", "remove it", 65_536, 1_000, "values", DIGITS, 8),
    "key": ForeignKind("a key", "write the key in the first line", 4_096),
    "style": ForeignKind("a style sheet", "write the keys of matplotlib's rcParams", 100_000),
}  # fmt: skip
"""Every kind of file from other sources that fairwave reads, with its limits."""

LANGUAGES = frozenset({"scenario", "network", "topology", "demands"})
"""Kinds with the errors of the scenario language, which give places in the user's text."""

TOML = frozenset({"scenario", "network", "task", "trace"})
"""Kinds that may be TOML, which has four forms of strings, and comments."""

GATED: dict[str, list[str]] = {}
"""The kinds and the functions that read them, `module.function`; filled as modules are imported."""

_places: list[str | Callable[[], str]] = []
"""Places of the active readers, innermost last."""


def reach(place: str | Callable[[], str]) -> None:
    """Notes the current place of a reader; the gate names it if the reader fails there."""
    if _places:
        _places[-1] = place


def gated(kind: str, error: type[Exception] = ForeignFileError) -> Callable[[F], F]:
    """Puts the gate before a reader, a function whose first argument is the path of a file.

    Args:
        kind: One of :data:`KINDS`.
        error: Exception of the reader for an unreadable file. The gate raises the same.
    """

    def decorate(function: F) -> F:
        GATED.setdefault(kind, []).append(f"{function.__module__}.{function.__qualname__}")

        @functools.wraps(function)
        def read(path: Any, *rest: Any, **named: Any) -> Any:
            with gate(kind, path, error):
                return function(path, *rest, **named)

        return cast("F", read)

    return decorate


@contextmanager
def gate(kind: str, path: Any, error: type[Exception] = ForeignFileError) -> Iterator[None]:
    """The gate for a block that reads a file, or processes its contents.

    Raises:
        Exception: `error`: the path is a special file, exceeds a limit, or made the block fail.
        FileNotFoundError: As the block raises it.
        fairwave.ScenarioError: Likewise.
    """
    if kind not in {"scenario", "network"}:  # these may be pipes; their readers apply the limit
        check_file(Path(path), kind, error)
    _places.append("")

    def made(words: str) -> Exception:
        return error(_mark(error) + words)

    try:
        yield
    except (ScenarioError, RunError) as wrong:
        if kind in LANGUAGES:
            raise
        # Fairwave made this scenario from the file, so its places mean nothing to the user.
        why = str(wrong).splitlines()[0].removeprefix("error: ")
        raise made(
            f"{path}: what it holds cannot be simulated ({why:.200}); {KINDS[kind].remedy.format(path)}"
        ) from wrong
    except (error, ForeignFileError, FileNotFoundError, ImportError) as wrong:
        if isinstance(wrong, ForeignFileError) and not isinstance(wrong, error):
            raise made(str(wrong)) from wrong.__cause__
        raise
    except MemoryError as wrong:
        raise made(f"{path} needs more memory than there is; {KINDS[kind].remedy.format(path)}") from wrong
    except OSError as wrong:
        raise made(f"{path} cannot be read: {wrong.strerror or wrong}") from wrong
    except BaseException as wrong:
        # A panic of the compiled part is not an Exception.
        if not isinstance(wrong, Exception) and type(wrong).__name__ != "PanicException":
            raise
        raise made(_damaged(kind, path, wrong)) from wrong
    finally:
        _places.pop()


def _damaged(kind: str, path: Any, wrong: BaseException) -> str:
    place = _places[-1]
    where = place() if callable(place) else place
    why = " ".join(str(wrong).split())[:120]
    return (
        f"{path} is damaged{f', at {where}' if where else ''}: it is not {KINDS[kind].what} as programs write it "
        f"({type(wrong).__name__}{f': {why}' if why else ''}; in {_code(wrong.__traceback__)}); "
        f"{KINDS[kind].remedy.format(path)}"
    )


def _code(trace: TracebackType | None) -> str:
    """Returns the line of fairwave's code in which an exception arose, for reports of faulty readers."""
    found = "unknown code"
    while trace is not None:
        code = trace.tb_frame.f_code
        if "fairwave" in code.co_filename and not code.co_filename.endswith("foreign.py"):
            found = f"{Path(code.co_filename).name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return found


def check_file(path: Path, kind: str, error: type[Exception] = ForeignFileError) -> None:
    """Rejects devices, pipes and files with too many bytes. The reader reports missing files.

    Raises:
        Exception: `error`, if the file is refused.
    """
    try:
        found = path.stat()
    except (OSError, ValueError):
        return
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise error(
            f"{_mark(error)}{path} is a device or a pipe, not a file; copy its contents to a file first"
        )
    if stat.S_ISREG(found.st_mode):
        check_size(found.st_size, str(path), kind, error)


def _mark(error: type[Exception]) -> str:
    """Prefix of messages of the scenario language."""
    return "error: " if error is ScenarioError else ""


def check_size(size: int, name: str, kind: str, error: type[Exception] = ForeignFileError) -> None:
    """Refuses too many bytes."""
    limits = KINDS[kind]
    if size > limits.bytes:
        raise error(
            f"{_mark(error)}{name} has {format_bytes(size, up=True)}, "
            f"but {limits.what} at most {format_bytes(limits.bytes)}; "
            f"{limits.remedy.format(name)}"
        )


def format_bytes(size: int, *, up: bool = False) -> str:
    """A number of bytes in words. `up` rounds up, so that a size above a limit never reads as the limit."""
    for unit, name in ((1_000 * MB, "GB"), (MB, "MB"), (1_000, "kB")):
        if size >= unit:
            value = -(-size // unit) if up else size / unit
            return f"{value:g} {name}" if up or value == int(value) else f"{value:.3g} {name}"
    return f"{size} B"


def check_items(count: int, name: str, kind: str) -> None:
    """Refuses too many items.

    Raises:
        ForeignFileError: There are too many.
    """
    limits = KINDS[kind]
    if limits.items is not None and count > limits.items:
        raise ForeignFileError(
            f"{name} has {count} {limits.item}, but {limits.what} at most {limits.items}; {limits.remedy.format(name)}"
        )


def check_span(seconds: float, name: str, kind: str) -> None:
    """Refuses contents that cover too long a time.

    Raises:
        ForeignFileError: They do.
    """
    limits = KINDS[kind]
    if limits.span_s is not None and not seconds <= limits.span_s:
        raise ForeignFileError(
            f"{name} lasts {seconds:.6g} s, but {limits.what} at most {limits.span_s:g} s; {limits.remedy.format(name)}"
        )


def check_gap(seconds: float, name: str, place: str, kind: str) -> None:
    """Refuses too long a time without an item.

    Raises:
        ForeignFileError: It is too long.
    """
    limits = KINDS[kind]
    if limits.gap_s is not None and not seconds <= limits.gap_s:
        raise ForeignFileError(
            f"{name}: nothing for {seconds:.6g} s before {place}, but {limits.what} may pause for {limits.gap_s:g} s "
            "at most; keep the part before or after the gap"
        )


def read_bytes(path: Path, kind: str) -> bytes:
    """The bytes of a file, unpacked if they are compressed with gzip; never more than the kind may have.

    Raises:
        ForeignFileError: There are more, or the compressed data are damaged.
    """
    most = KINDS[kind].bytes
    with path.open("rb") as file:
        data = file.read(most + 1)
    check_size(len(data), str(path), kind)
    return unpack_gzip(data, str(path), kind) if data.startswith(GZIP) else data


GZIP = b"\x1f\x8b"
"""First bytes of a file that gzip compressed (RFC 1952 §2.3.1)."""

MOST_EXPANSION = 300
"""Largest ratio of unpacked to packed bytes of a large file. Captures with zeros as payload reach 100, deflate 1032."""

UNCHECKED = 16 * MB
"""Unpacked bytes from which the ratio counts."""


def unpack_gzip(data: bytes, name: str, kind: str) -> bytes:
    """Decompresses gzip data, up to the size limit of the kind of file.

    Raises:
        ForeignFileError: It is larger, or damaged.
    """
    inside = UnpackedFile(io.BytesIO(data), name, kind)
    parts: list[bytes] = []
    while part := inside.read(PART):
        parts.append(part)
    if inside.is_cut:
        raise ForeignFileError(f"{name} is compressed and ends too early; copy it again")
    return b"".join(parts)


class UnpackedFile(io.RawIOBase):
    """The contents of a file that gzip compressed, perhaps in several members, within the limits of its kind.

    Attributes:
        is_cut: Whether the compressed data ended too early. Only then the contents are incomplete.
    """

    def __init__(self, packed: BinaryIO, name: str, kind: str) -> None:
        super().__init__()
        self._packed, self._name, self._kind = packed, name, kind
        self._inside: zlib._Decompress | None = None
        self._rest = b""
        self._taken = self._given = 0
        self.is_cut = False

    def readable(self) -> bool:
        """Whether the file can be read: always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills the buffer; returns the number of bytes, 0 at the end.

        Raises:
            ForeignFileError: The data are damaged, or exceed a limit.
        """
        while not self.is_cut:
            if not self._rest:
                self._rest = self._packed.read(PART)
                self._taken += len(self._rest)
            is_last = not self._rest
            if self._inside is None:
                # After the last member may come padding.
                if is_last or not self._rest.startswith(GZIP[: len(self._rest)]):
                    return 0
                self._inside = zlib.decompressobj(wbits=31)
            part = self._unpack(self._inside, min(len(buffer), KINDS[self._kind].bytes + 1 - self._given))
            if part:
                self._given += len(part)
                self._check()
                buffer[: len(part)] = part
                return len(part)
            self.is_cut = is_last and self._inside is not None
        return 0

    def _unpack(self, inside: zlib._Decompress, most: int) -> bytes:
        try:
            part = inside.decompress(self._rest, most)
        except zlib.error as wrong:
            raise ForeignFileError(
                f"{self._name} is compressed and damaged ({wrong}); copy it again"
            ) from None
        self._rest = inside.unconsumed_tail
        if inside.eof:
            self._rest, self._inside = inside.unused_data, None
        return part

    def _check(self) -> None:
        """Refuses a bomb: contents that exceed the size of the kind, or are far larger than the packed bytes."""
        check_size(self._given, f"{self._name}, unpacked,", self._kind)
        if self._given > UNCHECKED and self._given > MOST_EXPANSION * self._taken:
            limits = KINDS[self._kind]
            raise ForeignFileError(
                f"{self._name} unpacks to more than {MOST_EXPANSION} times its size: it is not {limits.what} as "
                f"programs write it; {limits.remedy.format(self._name)}"
            )


def peek(path: Path, count: int) -> bytes:
    """The first bytes of a file's contents, unpacked if they are compressed; empty if they cannot be read.

    Pipes and devices are not opened: a pipe without a writer would block, and its bytes can be read only once.
    """
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            data = file.read(count)
            if not data.startswith(GZIP):
                return data
            data += file.read(4096)
        return zlib.decompressobj(wbits=31).decompress(data, count)
    except (OSError, ValueError, zlib.error):
        return b""


def decode(data: bytes, name: str) -> str:
    """Decodes bytes as UTF-8 text.

    Raises:
        ForeignFileError: They are text in another encoding, or binary; the message names the byte.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ForeignFileError(f"{name}: byte 0 begins text in UTF-16 or UTF-32: save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise ForeignFileError(
            f"{name}: byte {wrong.start} belongs to no text in UTF-8: save it as UTF-8"
        ) from None
    return text


LINE = 100_000
"""Most bytes of a line."""


def check_lines(data: bytes, name: str) -> None:
    """Refuses lines that are too long, before anything splits them.

    Raises:
        ForeignFileError: There is one.
    """
    at = 0
    while len(data) - at > LINE:
        end = max(data.rfind(b"\n", at, at + LINE + 1), data.rfind(b"\r", at, at + LINE + 1))
        if end < 0:
            line = data.count(b"\n", 0, at) + 1
            raise ForeignFileError(f"{name}, line {line}: it has more than {LINE} bytes: write shorter lines")
        at = end + 1


_ENDS = (
    b"\n",
    b"\r",
    b"\x0b",
    b"\x0c",
    b"\x1c",
    b"\x1d",
    b"\x1e",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\xe2\x80\xa9",
)
"""Line ends of `str.splitlines`."""


def count_lines(data: bytes) -> int:
    """The number of lines that `str.splitlines` makes of a text, or a few more."""
    return 1 + sum(map(data.count, _ENDS))


_OF_TOML = re.compile(
    b"|".join((
        rb'"""(?:[^\\]|\\.)*?"""', rb"'''.*?'''", rb'"(?:[^"\\\n]|\\.)*"', rb"'[^'\n]*'", rb"#[^\n]*",
    )),
    re.S,
)  # fmt: skip
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
PART = 1 << 20
"""Bytes of a text that are processed at once."""


def _strip_strings(data: bytes) -> Iterator[bytes]:
    """Yields JSON without its strings, part by part: a part takes little memory for any number of strings."""
    at, is_within = 0, False
    while at < len(data):
        end = at + PART
        while end < len(data) and data[end - 1] in b"\\0123456789":  # do not cut an escape or a number
            end += 1
        pieces = data[at:end].replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')
        yield b" ".join(pieces[is_within::2])
        is_within ^= len(pieces) % 2 == 0
        at = end


def check_shape(data: bytes, name: str, kind: str) -> bool:
    """Refuses text with brackets (JSON, TOML, GML) that lists too many values or nests too deep, before it is parsed.

    Returns:
        Whether some number may have more digits than its kind may have, or may be too large for a float.

    Raises:
        ForeignFileError: It lists too many, or nests too deep.
    """
    limits = KINDS[kind]
    depth = limits.depth or sys.maxsize
    long = re.compile(rb"\d{%d}|[eE]\+?\d{3}" % min(limits.digits or DIGITS, 300))
    parts: Iterator[bytes] | list[bytes]
    if kind in TOML and data.lstrip()[:1] not in {b"{", b""}:
        # A value has at most two quotation marks.
        check_items(sum(map(data.count, (b'"', b"'", b"#"))) // 4, name, kind)
        parts = [_OF_TOML.sub(b"", data)]
    else:
        parts = _strip_strings(data)
    level = count = 0
    has_long = False
    for part in parts:
        count += sum(map(part.count, (b",", b"[", b"{")))
        check_items(count, name, kind)
        has_long = has_long or long.search(part) is not None
        for step in map(_STEPS.__getitem__, part.translate(None, _NOT_BRACKETS)):
            level += step
            if level > depth:
                raise ForeignFileError(
                    f"{name} has lists or tables more than {depth} deep within each other; {limits.remedy.format(name)}"
                )
    return has_long


def json_hooks(text: str, name: str, kind: str, *, has_long: bool) -> dict[str, Any]:
    """Returns the hooks of a JSON decoder that refuses what is no plain data: infinite numbers, keys that stand twice.

    Args:
        text: The text that will be parsed, for the line in messages.
        name: Name of the file in messages.
        kind: One of :data:`KINDS`.
        has_long: Whether numbers may be too long or too large, as :func:`check_shape` answers.
    """
    digits = KINDS[kind].digits or DIGITS

    def line(part: str) -> str:
        at = text.find(part)
        return f"{name}, line {text.count(chr(10), 0, max(at, 0)) + 1}"

    def parse_whole(word: str) -> int:
        if len(word) > digits + 1:
            raise ForeignFileError(f"{line(word)}: a number of {len(word)} digits: write at most {digits}")
        return int(word)

    def real(word: str) -> float:
        if len(word) > digits + 24:  # with sign, point and exponent
            raise ForeignFileError(f"{line(word)}: a number of {len(word)} digits: write at most {digits}")
        found = float(word)
        if found in (float("inf"), float("-inf")):
            raise ForeignFileError(f"{line(word)}: {word} is too large for a number: write at most 1.8e308")
        return found

    def constant(word: str) -> float:
        raise ForeignFileError(f"{line(word)}: {word} is no number of JSON: write null, or leave the key out")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise ForeignFileError(
                f"{line(json.dumps(twice))}: the key {twice!r:.60} stands twice: leave one"
            )
        return found

    # Calls for each number are slow, and only such numbers need them.
    long: dict[str, Any] = {"parse_int": parse_whole, "parse_float": real} if has_long else {}
    return {"parse_constant": constant, "object_pairs_hook": once, **long}


def parse_json(data: bytes, name: str, kind: str, *, inner: bool = False) -> Any:
    """Parses JSON as plain data: finite numbers, unique keys in each object, all limits kept.

    Args:
        data: The text in UTF-8.
        name: Name of the file in messages.
        kind: One of :data:`KINDS`.
        inner: The text comes from within a file that was checked already.

    Raises:
        ForeignFileError: It is not JSON, or exceeds a limit; the message names the line.
    """
    text = decode(data, name)
    has_long = inner or check_shape(data, name, kind)
    try:
        return json.loads(text, **json_hooks(text, name, kind, has_long=has_long))
    except json.JSONDecodeError as wrong:
        raise ForeignFileError(f"{name}, line {wrong.lineno}: no JSON ({wrong.msg})") from None
    except RecursionError:
        raise ForeignFileError(f"{name} has lists or tables too deep within each other") from None


def parse_toml(text: str, name: str, kind: str) -> dict[str, Any]:
    """Parses TOML as plain data; all limits kept.

    Raises:
        ForeignFileError: It is no TOML, or exceeds a limit.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    check_shape(text.encode(), name, kind)
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise ForeignFileError(f"{name} has lists or tables too deep within each other") from None
    except ValueError as wrong:
        raise ForeignFileError(f"{name}: no TOML ({wrong})") from None
    check_values(found, name, kind)
    return found


def check_values(found: Any, name: str, kind: str) -> None:
    """Refuses plain data that nests too deep, or with numbers of too many digits.

    Raises:
        ForeignFileError: It does, or has one.
    """
    depth, digits = KINDS[kind].depth or sys.maxsize, KINDS[kind].digits or DIGITS
    waiting: list[tuple[Any, str, int]] = [(found, "", 1)]
    while waiting:
        value, place, level = waiting.pop()
        if isinstance(value, dict):
            several: Any = ((f"{place}.{key}".lstrip("."), one) for key, one in value.items())
        elif isinstance(value, (list, tuple)):
            several = ((f"{place}[{at}]", one) for at, one in enumerate(value))
        else:
            if isinstance(value, int) and abs(value) >= 10**digits:
                raise ForeignFileError(
                    f"{name}: {place:.80} has more than {digits} digits: write at most {digits}"
                )
            continue
        if level > depth:
            raise ForeignFileError(
                f"{name}: {place:.80} is more than {depth} lists or tables deep: write it flatter"
            )
        waiting += [(one, where, level + 1) for where, one in several]
