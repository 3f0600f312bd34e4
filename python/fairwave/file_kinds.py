"""Recognises files that users give to the wrong command, and names the command that reads them.

Fairwave looks at the contents, not at the name. It looks only after a reader has refused the file, so that files of
the right kind cost nothing.
"""

from __future__ import annotations

import bz2
import lzma
import re
import shlex
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

MOST = 4_000_000
"""Largest number of bytes that are read to recognise a file."""


@dataclass(frozen=True)
class FileKind:
    """A kind of file.

    Attributes:
        name: One word for code.
        what: Description of a file of this kind, continuing a sentence after "is".
        remedy: The command that reads it, or another remedy; `{0}` is replaced by the file's name.
        holds: Recognises contents.
    """

    name: str
    what: str
    remedy: str
    holds: Callable[[bytes], object]

    def sentence(self, file: str, wanted: str = "a scenario") -> str:
        """Returns a sentence with the file's kind, the wanted kind, and the command that reads the file."""
        no = "" if wanted in self.what or self.name == "empty" else f", not {wanted}"
        return f"{file} is {self.what}{no}; {self.remedy.format(shlex.quote(file))}"


def _begins(*marks: bytes) -> Callable[[bytes], object]:
    return lambda data: data.startswith(marks)


def _has(pattern: str) -> Callable[[bytes], object]:
    return re.compile(pattern.encode(), re.M | re.S).search


def _json(pattern: str) -> Callable[[bytes], object]:
    """Recognises JSON that contains a pattern."""
    found = _has(pattern)
    return lambda data: data.lstrip(b"\xef\xbb\xbf\x1e \t\r\n")[:1] in {b"{", b"["} and found(data)


def _lines(pattern: str) -> Callable[[bytes], object]:
    """Recognises text whose first 50 lines all match a pattern, apart from blank lines and comments."""
    one = re.compile(pattern.encode())

    def holds(data: bytes) -> bool:
        lines = [line.strip() for line in data[:20_000].splitlines()[:50]]
        lines = [line for line in lines if line and not line.startswith(b"#")]
        return bool(lines) and all(map(one.fullmatch, lines))

    return holds


NS2 = r"new Simulator|\$ns\w* (?:duplex-link|simplex-link|node|at|attach-agent)\b|Agent/(?:TCP|UDP)"
NS3 = r"#include [\"<]ns3/|^\s*(?:from|import) ns(?:3|\.)|NS_LOG_COMPONENT_DEFINE"
RTC = r"\"type\"\s*:\s*\"(?:in|out|remote-in|remote-out)bound-rtp\"|\"type\"\s*:\s*\"candidate-pair\""

RTCSTATS = (
    r"\ARTCStatsDump\s|\A\[\s*\"(?:[\w.]+)\",\s*(?:null|\"[^\"]*\"),.*^\[\s*\"(?:getstats|getStats|g)\",\s*\"|"
    r"\A\[\s*\"(?:getstats|getStats)\",\s*\""
)


def _is_picture(data: bytes) -> object:
    begin = r"\A\s*(?:<\?xml.*?\?>\s*)?(?:<!--.*?-->\s*|<!DOCTYPE svg[^>]*>\s*)*<svg\b"
    return _begins(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF")(data) or _has(begin)(data)


def _is_recording(data: bytes) -> object:
    return (data[:4] == b"RIFF" and data[8:12] == b"WAVE") or _begins(b"OggS", b"fLaC", b"ID3")(data)


def _is_clip(data: bytes) -> object:
    return data[4:8] == b"ftyp" or _begins(b"\x1aE\xdf\xa3", b"YUV4MPEG2")(data)


def _is_table(data: bytes) -> object:
    return b"\n" in data and _lines(r"[^=\[\]{}]*[,;\t][^=\[\]{}]*")(data)


def _is_yaml(data: bytes) -> object:
    keys = not _has(r"^[^#\n:]*=|^\s*\[")(data) and _has(r"^[\"\w.-]+:(?: |\s*$)")(data)
    return _has(r"\A---\s*$")(data) or keys


def _is_scenario(data: bytes) -> object:
    flows = r"^\s*\[\[(?:flow|call)\]\]|^\s*flow\s*=|\"(?:flow|call)\"\s*:"
    return _has(r"^\s*duration\s*=|\"duration\"\s*:")(data) and _has(flows)(data)


def _is_topology(data: bytes) -> object:
    marks = (
        r"<(?:\w+:)?graphml\b|\A\?SNDlib native|\ATopology:\s*\(|<network\b[^>]*sndlib|"
        r"\A[^<{]*^\s*graph\s*\[.*?\bnode\s*\["
    )
    tables = r"\"networkStructure\"\s*:|\"(?:edges|links)\"\s*:\s*\[\s*\{.{0,400}?\"(?:source|target)\"\s*:"
    return _has(marks)(data) or (_has(r"\"nodes\"\s*:")(data) and _json(tables)(data))


CAPTURES = (
    b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1", b"\x0a\x0d\x0d\x0a",
    b"\xa1\xb2\xcd\x34", b"\x34\xcd\xb2\xa1",
)  # fmt: skip
FIT = "`fairwave fit {0}` finds the network behind it"
JUDGED = f"`fairwave judge {{0}}` judges the call, and {FIT}"
TRACE = "`fairwave trace {0}` shows it"
TOML = "scenarios are TOML; `fairwave explain dumbbell` shows one"

KINDS = (
    FileKind(
        "empty",
        "empty",
        "`fairwave explain dumbbell` shows a scenario to begin with",
        lambda data: not data.strip(),
    ),
    FileKind(
        "capture",
        "a capture of packets",
        f"`fairwave replay {{0}}` lists its flows, {JUDGED}",
        _begins(*CAPTURES),
    ),
    FileKind("dump", "a dump of chrome://webrtc-internals", JUDGED, _json(r"\"PeerConnections\"")),
    FileKind("rtcstats", "a file of rtcstats", JUDGED, _has(RTCSTATS)),
    FileKind("getstats", "a list of statistics of getStats()", JUDGED, _json(RTC)),
    FileKind(
        "irtt", "a measurement by irtt", "`fairwave measure --irtt {0}` judges it", _json(r"\"irtt\"\s*:")
    ),
    FileKind(
        "flent",
        "a data file of Flent",
        "`flent -i {0}` plots it, and examples/rrul.toml is Flent's RRUL test as a scenario",
        _json(r"\"FLENT_VERSION\"|\"x_values\"\s*:"),
    ),
    FileKind(
        "iperf",
        "a report of iperf3",
        "`fairwave measure HOST` measures a line for calls",
        _json(r"\"iperf3? |\"sum_(?:sent|received)\"\s*:"),
    ),
    FileKind(
        "qlog",
        "a qlog file",
        "qvis shows it: https://qvis.quictools.info",
        _json(r"\"qlog_(?:version|format)\""),
    ),
    FileKind("notebook", "a Jupyter notebook", "`jupyter lab {0}` opens it", _json(r"\"nbformat\"\s*:")),
    FileKind("topology", "a topology", 'a scenario names it: topology = {{ file = "{0}" }}', _is_topology),
    FileKind("atlas", "results of RIPE Atlas", "`fairwave import {0}` counts them", _json(r"\"prb_id\"\s*:")),
    FileKind(
        "policy",
        "a policy",
        "`fairwave explain policy` shows a scenario that names it",
        _json(r"\"steers\"\s*:.*\"layers\"\s*:|\"layers\"\s*:.*\"steers\"\s*:"),
    ),
    FileKind("opennetlab", "a trace of a rate", TRACE, _json(r"\"trace_pattern\"\s*:")),
    FileKind("sabre", "a trace of a rate", TRACE, _json(r"\"bandwidth_kbps\"\s*:")),
    FileKind(
        "schema",
        "a JSON Schema",
        "editors complete scenarios with it",
        _json(r"\"\$defs\"\s*:|\"\$schema\"\s*:"),
    ),
    FileKind(
        "results",
        "a document with results of fairwave",
        "the folder of `--out` has the scenario, in scenario.toml",
        _json(r"\"provenance\"\s*:|\"scenarios\"\s*:"),
    ),
    FileKind("page", "a web page", "a browser opens it", _has(r"\A\s*<(?:!doctype html|!DOCTYPE html|html)")),
    FileKind("picture", "a picture", "a browser opens it", _is_picture),
    FileKind(
        "recording",
        "a recording",
        "`fairwave run SCENARIO --out FOLDER --speech {0}` sends it through a call",
        _is_recording,
    ),
    FileKind(
        "clip",
        "a video",
        'a scenario streams it: traffic = {{ kind = "video-trace", clip = "{0}" }}',
        _is_clip,
    ),
    FileKind(
        "table",
        "a table in Parquet",
        "`fairwave compare FOLDER FOLDER` reads folders of tables",
        _begins(b"PAR1"),
    ),
    FileKind(
        "bundle",
        "a bundle of results",
        "`fairwave repeat {0}` repeats it",
        lambda data: data.startswith(b"PK\x03\x04") and data[30:43] == b"manifest.json",
    ),
    FileKind("archive", "an archive", "unpack it first", _begins(b"PK\x03\x04", b"7z\xbc\xaf", b"Rar!")),
    FileKind("xml", "XML", "scenarios are TOML or JSON", _has(r"\A\s*<\?xml|\A\s*<testsuites?\b")),
    FileKind("ns2", "a script of ns-2", TOML, _has(NS2)),
    FileKind("ns3", "a program for ns-3", TOML, _has(NS3)),
    FileKind(
        "rattan",
        "a trace of a rate",
        TRACE,
        _has(r"\A(?:.*\n)?\s*type\s*=\s*\"(?:Repeat|Trace|Static|\w*Bw)"),
    ),
    FileKind(
        "pattern", "a pattern of loss", "`fairwave pattern {0}` shows it", _lines(r"[01](?:[\s,;]*[01])*")
    ),
    FileKind("mahimahi", "a trace of a rate", TRACE, _lines(r"\d+")),
    FileKind("pensieve", "a trace of a rate", TRACE, _lines(r"[\d.eE+-]+[ \t]+[\d.eE+-]+")),
    FileKind("downloads", "a log of a download", TRACE, _lines(r"-?[\d.]+(?:[ \t]+-?[\d.]+){5}")),
    FileKind(
        "gnettrack", "a log of G-NetTrack", TRACE, _has(r"\A[^\n]*\bTimestamp\b[^\n]*\b[DU]L_bitrate\b")
    ),
    FileKind(
        "rates",
        "a table (CSV)",
        "`fairwave trace {0}` reads the rates of a link, `fairwave pattern {0}` a pattern of loss",
        _is_table,
    ),
    FileKind(
        "yaml",
        "YAML",
        "scenarios are TOML or JSON; write `key = value`, or convert it: `yq -o json {0}`",
        _is_yaml,
    ),
)
"""Every kind except scenarios; the first match counts."""

SCENARIO = FileKind("scenario", "a scenario", "`fairwave run {0}` simulates it", _is_scenario)

NETWORK = FileKind(
    "network",
    "a network",
    "`fairwave network {0}` simulates it",
    _has(r"^\s*topology\s*=|^\s*\[topology\]|\"topology\"\s*:\s*\{"),
)

UNPACKED: dict[bytes, tuple[str, Callable[[bytes], bytes]]] = {
    b"\x1f\x8b": ("gunzip", lambda data: zlib.decompressobj(31).decompress(data, MOST)),
    b"BZh": ("bunzip2", lambda data: bz2.BZ2Decompressor().decompress(data, MOST)),
    b"\xfd7zXZ": ("unxz", lambda data: lzma.LZMADecompressor().decompress(data, MOST)),
}
"""First bytes of compressed files, each with the program and a function that unpack them."""


UNPACKED_BY_READERS = frozenset({"dump", "getstats", "rtcstats"})
"""Kinds with readers that unpack gzip."""


def recognise(data: bytes) -> FileKind | None:
    """Recognises the kind of file from its contents; None if it is unknown. Scenarios come last."""
    begins = data[:MOST]
    return next((kind for kind in (*KINDS, SCENARIO) if kind.holds(begins)), None)


def recognise_packed(data: bytes) -> FileKind | None:
    """Recognises the kind of a file, also a network's and a compressed one; None if it is unknown or damaged."""
    for mark, (_, unpack) in UNPACKED.items():
        if data.startswith(mark):
            try:
                return recognise_packed(unpack(data))
            except (OSError, ValueError, zlib.error, lzma.LZMAError, EOFError):
                return None
    return recognise(data) or (NETWORK if NETWORK.holds(data[:MOST]) else None)


def reader(path: Path, wanted: str = "a scenario", accepted: Collection[str] = ()) -> str:
    """Returns a sentence with a file's kind and the command that reads it. Empty without a file, and as `described`."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return described(file.read(MOST), str(path), wanted, accepted)


def described(
    data: bytes, name: str, wanted: str = "a scenario", accepted: Collection[str] = ("scenario",)
) -> str:
    """Returns a sentence about contents that a command refuses; empty for an accepted or unknown kind.

    Args:
        data: The contents, or their beginning.
        name: The file's name, for the sentence.
        wanted: Kind of file that the command reads, with its article.
        accepted: Names of the kinds that the command reads.
    """
    for mark, (program, unpack) in UNPACKED.items():
        if data.startswith(mark):
            try:
                inner = recognise(unpack(data))
            except (OSError, ValueError, zlib.error, lzma.LZMAError, EOFError):
                return f"{name} is compressed and damaged; copy it again"
            if (
                inner is not None
                and inner.name in accepted
                and inner.name in UNPACKED_BY_READERS
                and program == "gunzip"
            ):
                return ""
            if (
                inner is not None
                and inner.name in accepted
                and inner.name != "scenario"
                and program == "gunzip"
            ):
                return ""  # readers unpack gzip: their error is about the contents
            if inner is None or inner.name in accepted or inner.name == "scenario":
                return (
                    f"{name} is compressed; unpack it first, for example with `{program} {shlex.quote(name)}`"
                )
            return inner.sentence(name, wanted)
    found = recognise(data)
    return "" if found is None or found.name in accepted else found.sentence(name, wanted)
