"""Captures of a run's packets: pcapng files for Wireshark and similar tools, qlog, and patterns of loss.

Fairwave repeats one run with observers, which do not change it. Packets get the bytes of their protocols: IPv4, UDP or
TCP with options, ICMP echo, RTP and RTCP. Payload is written only on request. Calls begin and end with SIP, so that
Wireshark recognises their RTP. These SIP messages are written but not simulated. TFRC, RAP and DVRC use fairwave's
layouts above UDP; `lua()` names a dissector for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairwave import _native
from fairwave.arguments import checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fairwave.scenario import Scenario

CAPTURE_EXAMPLE = "link:r1>r2=up.pcapng"
PATTERN_EXAMPLE = "link:r1>r2=losses.txt"


@dataclass(frozen=True)
class CapturedFile:
    """A file that was written.

    Attributes:
        path: The file.
        packets: Number of packets of the run in it; messages of SIP do not count.
        lost: Number of lost packets in a pattern; 0 for captures.
    """

    path: Path
    packets: int
    lost: int = 0


@dataclass(frozen=True)
class CaptureOutcome:
    """Files that the observers wrote.

    Attributes:
        digest: Digest of the run; the same as without observers.
        captures: Captures, in the order of their files' first mention.
        patterns: Patterns of loss; those of links come first.
    """

    digest: str
    captures: tuple[CapturedFile, ...]
    patterns: tuple[CapturedFile, ...]


@checked
def capture(
    scenario: Scenario,
    captures: Sequence[tuple[str, str | Path]] | Mapping[str, str | Path] = (),
    patterns: Sequence[tuple[str, str | Path]] | Mapping[str, str | Path] = (),
    *,
    seed: int = 1,
    payload: bool = False,
    speech: NDArray[np.int16] | None = None,
    sip: bool = True,
) -> CaptureOutcome:
    """Makes one run and writes the packets at some places.

    Args:
        scenario: The scenario to run.
        captures: Pairs of place and pcapng file. Places: `link:r1>r2` (packets that a link transmits), `drops:r1>r2`
            (packets that its queue drops), `host:NODE` (packets that a node sends and receives); `*` for all. Places
            with the same file share it, each as an interface.
        patterns: Pairs of place (`link:r1>r2`, `flow:voice[0]`) and file. The file's name selects the format: see
            `fairwave.patterns`.
        seed: Seed of the run.
        payload: Also write payload: zeros, and for G.711 calls the speech.
        speech: Speech of G.711 calls, with `payload`: samples of 16 bits, 8000 per second. It repeats when it
            ends. Zeros when None.
        sip: Each call begins and ends with SIP, so that other programs know its RTP.

    Raises:
        fairwave.ScenarioError: The scenario cannot be planned.
        fairwave.RunError: The run failed.
        ValueError: A place is unknown; the message lists the places.
        OSError: A file cannot be written.
    """
    from fairwave import patterns as patterns_
    from fairwave.folders import check_way
    from fairwave.scenario_files import prepared

    for _, path in [*_pairs(captures), *_pairs(patterns)]:
        check_way(path)
    digest, written = _native.capture(
        prepared(scenario).native,
        seed,
        _pairs(captures),
        _patterns(patterns),
        payload=payload,
        speech=b"" if speech is None else _coded(speech),
        sip=sip,
    )
    files = [CapturedFile(Path(path), packets, lost) for path, packets, lost in written]
    names = {path for _, path in _pairs(patterns)}
    made = tuple(one for one in files if one.path in names)
    for one in made:
        if one.path.suffix.lower() in {".csv", ".g192", ".byte"} and one.packets:
            patterns_.write(one.path, patterns_.parse(one.path.read_bytes()))
    return CaptureOutcome(digest, tuple(one for one in files if one.path not in names), made)


@checked
def qlog(
    scenario: Scenario, folder: str | Path, flows: Sequence[str] = ("*",), *, seed: int = 1
) -> list[CapturedFile]:
    """Makes one run and writes the actions of its senders as qlog, one file per flow, for qvis.

    Args:
        scenario: The scenario to run.
        folder: Folder of the files: `up-0.qlog` for `up[0]`. It is created.
        flows: The flows: `up` for a group of one, `up[0]`, `*` for all.
        seed: Seed of the run.

    Returns:
        Each file with its number of events.

    Raises:
        fairwave.ScenarioError: The scenario cannot be planned.
        fairwave.RunError: The run failed.
        ValueError: A flow is unknown; the message lists the flows.
        OSError: A file cannot be written.
    """
    from fairwave.folders import check_way
    from fairwave.scenario_files import prepared

    check_way(Path(folder))
    read = prepared(scenario)
    _, written = _native.qlog(
        read.native, seed, [f"flow:{one}" for one in _spelled(read, flows, seed)], Path(folder)
    )
    return [CapturedFile(Path(path), events) for path, events in written]


def _spelled(scenario: Scenario, flows: Sequence[str], seed: int) -> list[str]:
    """Expands flows to their numbers; the name of a group stands for all its flows."""
    known = [str(flow["name"]) for flow in scenario.plan(seed)["flows"]]
    spelled: list[str] = []
    for one in flows:
        group = [name for name in known if name.rpartition("[")[0] == one]
        spelled.extend(group or [one])
    return spelled


def check(
    scenario: Scenario,
    captures: Sequence[tuple[str, str | Path]] | Mapping[str, str | Path] = (),
    patterns: Sequence[tuple[str, str | Path]] | Mapping[str, str | Path] = (),
    *,
    seed: int = 1,
) -> None:
    """Rejects arguments that `capture` would reject, without a run. Arguments as for `capture`.

    Raises:
        fairwave.ScenarioError: The scenario cannot be planned.
        ValueError: A place is unknown, or a file cannot be written there; the message gives the remedy.
    """
    from fairwave.scenario_files import prepared

    _native.check_capture(prepared(scenario).native, seed, _pairs(captures), _patterns(patterns))
    for _, path in [*_pairs(captures), *_pairs(patterns)]:
        if path.is_dir():
            raise ValueError(f"{path} is a folder; write a file in it, for example {path / 'up.pcapng'}")
        for part in path.parents:
            if part.exists() and not part.is_dir():
                raise ValueError(f"{path}: {part} is a file, not a folder; write for example {path.name}")


def _coded(speech: NDArray[np.int16]) -> bytes:
    """Speech by G.711, µ law."""
    codes, _ = _native.g711("u")
    return np.frombuffer(codes, dtype=np.uint8)[np.asarray(speech, dtype=np.int16).view(np.uint16)].tobytes()


def _pairs(wanted: Sequence[tuple[str, str | Path]] | Mapping[str, str | Path]) -> list[tuple[str, Path]]:
    """Places with their files.

    Raises:
        ValueError: A place is written twice: one of its files would stay empty.
    """
    pairs = [(place, Path(path)) for place, path in (wanted.items() if hasattr(wanted, "items") else wanted)]
    first: dict[str, Path] = {}
    for place, path in pairs:
        if place in first:
            raise ValueError(f"{place} goes to {first[place]} and to {path}; name one file for each place")
        first[place] = path
    for place, path in first.items():
        kind, _, name = place.partition(":")
        everywhere = first.get(f"{kind}:*")
        if everywhere is not None and name != "*" and everywhere != path:
            raise ValueError(
                f"{kind}:* includes {place}, whose packets go to one file alone; leave one of the two out"
            )
    return pairs


def _patterns(wanted: Sequence[tuple[str, str | Path]] | Mapping[str, str | Path]) -> list[tuple[str, Path]]:
    """Places with the files of their patterns.

    Raises:
        ValueError: A place is written twice, or two places have one file, which holds one pattern.
    """
    pairs = _pairs(wanted)
    first: dict[Path, str] = {}
    for place, path in pairs:
        if path in first:
            raise ValueError(
                f"{path} is the file of {first[path]} and of {place}, but holds one pattern; name a file for each"
            )
        first[path] = place
    return pairs


def lua() -> Path:
    """The dissector for Wireshark and tshark: `tshark -X lua_script:PATH …`."""
    return Path(__file__).parent / "wireshark" / "fairwave.lua"
