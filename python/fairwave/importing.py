"""What a file from others contains, and the commands that can use it: `fairwave import`.

The contents decide about the kind (`file_kinds`). A reader of that kind then reads the file, so that a damaged file is
an error here as in the command that uses it. Statistics of other tools without a reader are counted only.
"""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairwave.errors import BadInputError
from fairwave.file_kinds import MOST, FileKind, reader, recognise_packed
from fairwave.foreign import KINDS, ForeignFileError, check_file, gated, parse_json, read_bytes

RATE = ("fairwave trace {0}", "fairwave trace {0} --out rates.csv")
CALL = ("fairwave judge {0}", "fairwave fit {0}")

TRACES = ("opennetlab", "sabre", "rattan", "mahimahi", "pensieve", "downloads", "gnettrack", "rates")
"""Kinds of rate traces."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "capture": ("fairwave judge {0}", "fairwave replay {0}", "fairwave fit {0}", "fairwave pattern {0}"),
    "dump": CALL, "getstats": CALL, "rtcstats": CALL,
    "irtt": ("fairwave measure --irtt {0}",),
    "pattern": ("fairwave pattern {0}", "fairwave pattern {0} --draw losses.png"),
    "bundle": ("fairwave repeat {0}",),
    "scenario": ("fairwave check {0}", "fairwave run {0}"),
    "network": ("fairwave check {0}", "fairwave network {0}"),
    **dict.fromkeys(TRACES, RATE),
}  # fmt: skip
"""Commands that use a file of each kind; `{0}` is replaced by its name."""


@dataclass(frozen=True)
class ImportedFile:
    """The contents of a file in a few lines.

    Attributes:
        file: The file.
        kind: Name of its kind.
        what: The kind in words, with its article.
        contents: Names and values of the contents.
        notes: Everything that its reader changed or left out.
        commands: Commands that can use the file.
        scenario: Key of a scenario that names the file; empty if none does.
    """

    file: str
    kind: str
    what: str
    contents: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    scenario: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "file": self.file, "kind": self.kind, "what": self.what, "contents": self.contents, "notes": self.notes,
            "commands": self.commands, "scenario": self.scenario,
        }  # fmt: skip


Contents = tuple[dict[str, Any], list[str]]


def import_file(path: Path, *, strict: bool = False) -> ImportedFile:
    """Recognises a file, reads it, and lists what can use it.

    Args:
        path: The file.
        strict: Whether a fault of a topology is an error instead of a repair.

    Raises:
        BadInputError: There is no such file, its kind is unknown, or no command of fairwave uses it.
        fairwave.foreign.ForeignFileError: It is damaged, or exceeds a limit.
    """
    if not path.is_file():
        check_file(path, "scenario", BadInputError)
        raise BadInputError(
            f"there is no file {str(path)!r}; give the path of a file, for example call.pcapng"
        )
    with path.open("rb") as file:
        kind = recognise_packed(file.read(MOST))
    if kind is None:
        raise BadInputError(
            f"{path} is of no kind that fairwave reads: captures, statistics of calls, topologies, rate traces, loss "
            "patterns, measurements, bundles and scenarios; docs/files.md lists them"
        )
    if strict and kind.name != "topology":
        raise BadInputError(f"--strict is for topologies, and {path} is {kind.what}: leave --strict out")
    read = READERS.get(kind.name)
    if kind.name == "topology":
        contents, notes = _topology(path, strict=strict)
    elif read is None:
        raise BadInputError(reader(path, "a file that fairwave reads") or f"{path} is {kind.what}")
    else:
        contents, notes = read(path)
    return _describe(path, kind, contents, notes)


def _describe(path: Path, kind: FileKind, contents: dict[str, Any], notes: list[str]) -> ImportedFile:
    quoted = shlex.quote(str(path))
    commands = [words.format(quoted) for words in COMMANDS.get(kind.name, ())]
    scenario = f'topology = {{ file = "{path}" }}' if kind.name == "topology" else ""
    if COMMANDS.get(kind.name) is RATE:
        scenario = f'rate = {{ law = "trace", file = "{path}", after = "repeat" }}'
    if kind.name == "topology":
        commands = ["fairwave check NETWORK.toml", "fairwave network NETWORK.toml"]
    if not commands:
        notes = [*notes, f"No command simulates it: {kind.remedy.format(quoted)}."]
    return ImportedFile(str(path), kind.name, kind.what, contents, notes, commands, scenario)


def _capture(path: Path) -> Contents:
    from fairwave import captures

    found = captures.read(path)
    media = list(found.media)
    return {
        "flows": len(found.flows), "packets": sum(one.packets for one in found.flows), "streams of RTP": len(media),
        "duration (s)": round(max((one.last_ns for one in found.flows), default=0) / 1e9
        - min((one.first_ns for one in found.flows), default=0) / 1e9, 3),
    }, list(found.notes.sentences())  # fmt: skip


def _statistics(path: Path) -> Contents:
    from fairwave.dumps import read_dump

    found = read_dump(path)
    contents: dict[str, Any] = {
        "format": found.format,
        "connections": [one.summary for one in found.connections],
    }
    return contents | ({"browser": found.browser} if found.browser else {}), list(found.notes)


def _irtt(path: Path) -> Contents:
    from fairwave.linecheck import irtt

    line = irtt.read(path)
    probes = {way: len(one.sent_s) for way, one in line.probes.items()}
    contents: dict[str, Any] = {
        "round trips": len(line.trip_s),
        "interval (s)": line.interval_s,
        "probes": probes,
    }
    return contents, list(line.notes)


def _pattern(path: Path) -> Contents:
    from fairwave import patterns

    found = patterns.summary(patterns.read(path))
    return {"packets": found.packets, "lost": found.lost}, []


def _trace(path: Path) -> Contents:
    from fairwave import traces

    trace = traces.read(path)
    found = traces.summary(trace)
    notes = [f"Left out: {', '.join(trace.left_out)}."] if trace.left_out else []
    return {
        "format": found.format, "duration (s)": found.duration, "steps": found.steps, "mean (b/s)": round(found.mean),
    }, notes  # fmt: skip


def _topology(path: Path, *, strict: bool) -> Contents:
    from fairwave.layers import layer

    found: Contents = layer("networks").describe_topology(path, strict=strict)
    return found


def _scenario(path: Path) -> Contents:
    from fairwave.scenario import load

    read = load(path)
    return {"name": read.name, "flow groups": len(read.to_dict()["flow"])}, []


def _bundle(path: Path) -> Contents:
    from fairwave.bundles.archive import Archive
    from fairwave.bundles.manifest import Manifest

    with Archive(path) as archive:
        found = Manifest.from_json(archive.read_manifest(KINDS["bundle"].bytes // 100), path)
    return {
        "name": found.name,
        "command": found.command,
        "files": len(found.files),
        "seeds": len(found.seeds),
    }, []


def _policy(path: Path) -> Contents:
    from fairwave import policy_files

    found = policy_files.read(path)
    return {"steers": found["steers"], "layers": len(found["layers"])}, []


def _numbers(rows: list[Any], key: str) -> list[float]:
    found = [row.get(key) for row in rows if isinstance(row, dict)]
    return [
        float(value) for value in found if isinstance(value, (int, float)) and not isinstance(value, bool)
    ]


@gated("session")
def _read_json(path: Path) -> Any:
    return parse_json(read_bytes(path, "session"), str(path), "session")


def _read_object(path: Path) -> dict[str, Any]:
    table = _read_json(path)
    if not isinstance(table, dict):
        raise ForeignFileError(f"{path} is no JSON object: let the program write it again")
    return table


def _iperf(path: Path) -> Contents:
    table = _read_object(path)
    rows = [one.get("sum", {}) for one in table.get("intervals") or [] if isinstance(one, dict)]
    rates = _numbers(rows, "bits_per_second")
    contents: dict[str, Any] = {"intervals": len(rates)}
    if rates:
        contents |= {"mean (b/s)": round(statistics.fmean(rates)), "least (b/s)": round(min(rates))}
    again = _numbers(rows, "retransmits")
    return contents | ({"retransmitted segments": int(sum(again))} if again else {}), []


def _atlas(path: Path) -> Contents:
    table = _read_json(path)
    rows = [one for one in (table if isinstance(table, list) else [table]) if isinstance(one, dict)]
    kinds = sorted({str(one.get("type")) for one in rows})
    answers = [one["result"] for one in rows if isinstance(one.get("result"), list)]
    trips = [value for each in answers for value in _numbers(each, "rtt")]
    sent, received = sum(_numbers(rows, "sent")), sum(_numbers(rows, "rcvd"))
    contents: dict[str, Any] = {
        "results": len(rows), "types": kinds, "probes": len({str(one.get("prb_id")) for one in rows}),
    }  # fmt: skip
    if sent:
        contents["lost"] = f"{int(sent - received)} of {int(sent)}"
    if trips:
        contents |= {
            "median round trip (ms)": round(statistics.median(trips), 3),
            "least (ms)": round(min(trips), 3),
        }
    return contents, []


def _flent(path: Path) -> Contents:
    table = _read_object(path)
    metadata, series = table.get("metadata"), table.get("results")
    test = str(metadata.get("NAME", "")) if isinstance(metadata, dict) else ""
    contents: dict[str, Any] = {"test": test, "samples": len(table.get("x_values") or [])}
    series = series if isinstance(series, dict) else {}
    for name, values in list(series.items())[:12]:
        known = (
            [float(one) for one in values if isinstance(one, (int, float))]
            if isinstance(values, list)
            else []
        )
        if known:
            contents[f"mean of {name}"] = round(statistics.fmean(known), 3)
    return contents, []


READERS: dict[str, Callable[[Path], Contents]] = {
    "capture": _capture, "dump": _statistics, "getstats": _statistics, "rtcstats": _statistics, "irtt": _irtt,
    "pattern": _pattern, "policy": _policy, "scenario": _scenario, "network": _scenario, "iperf": _iperf,
    "atlas": _atlas, "flent": _flent,
    **dict.fromkeys(TRACES, _trace),
}  # fmt: skip
"""Reader of each kind."""
