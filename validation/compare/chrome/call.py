"""One call of two browsers behind a network: makes it and reads both logs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation.compare.chrome import clip
from validation.compare.chrome.cases import MOST
from validation.compare.chrome.peer import CONNECTED

if TYPE_CHECKING:
    from validation.compare.chrome.cases import Case

NAMES = ("chromium", "chromium-browser", "google-chrome")
"""Programs that will do, in this order."""

BEFORE = 8
"""Seconds that browsers take to begin; the network exists that much longer than the call."""


class ChromeError(Exception):
    """A call could not be made. The message has the reason."""


@dataclass(frozen=True)
class Call:
    """The samples of a call.

    Attributes:
        time_s: Seconds since the network's beginning, one per sample.
        estimate_bps: `availableOutgoingBitrate`, or None.
        target_bps: `targetBitrate` of the video.
        sent_bps: Payload that the caller sent, by difference.
        received_bps: Payload that the other one received.
        round_trip_s: `currentRoundTripTime`.
        lost: `packetsLost` of the video at the receiver, cumulative.
        freezes: `freezeCount`, cumulative.
        frozen_s: `totalFreezesDuration`, cumulative.
        frames: `framesDecoded`, cumulative.
        height: `frameHeight` at the receiver.
        packets: Packets of the video that the receiver got, at the end.
    """

    time_s: list[float]
    estimate_bps: list[float | None]
    target_bps: list[float | None]
    sent_bps: list[float | None]
    received_bps: list[float | None]
    round_trip_s: list[float | None]
    lost: list[float | None]
    freezes: list[float | None]
    frozen_s: list[float | None]
    frames: list[float | None]
    height: list[float | None]
    packets: int = 0


def chromium() -> str | None:
    """The browser's program, or None."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def make(case: Case, seed: int, folder: Path) -> list[Call]:
    """Makes a call through the case's network in real time and returns its sessions.

    Args:
        case: The network.
        seed: Of the network's random events.
        folder: Where the scenario, the camera's clip and both logs go.

    Raises:
        ChromeError: There is no browser, the network could not be made, or the browsers did not connect.
    """
    program = chromium()
    if program is None:
        raise ChromeError("no Chromium: install the package chromium, or put google-chrome on the path")
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("*.jsonl"), folder / CONNECTED):
        old.unlink(missing_ok=True)
    clip.write(folder / "camera.y4m")
    scenario = case.scenario().to_dict()
    # A scenario needs a flow. If nothing shares the network, this flow does not run.
    stand_in = {"name": "browsers", "from": "a", "to": "b", "transport": "udp", "traffic": "voice"}
    scenario["flow"] = [flow for flow in scenario["flow"] if flow["name"] not in {"call", "back"}] or [
        stand_in
    ]
    scenario["duration"] = f"{case.seconds + BEFORE} s"
    path = folder / "scenario.json"
    path.write_text(json.dumps(scenario), encoding="utf-8")
    seconds = str(case.seconds + BEFORE - 2)
    parts = [str(folder), seconds, program, str(MOST), str(int(bool(case.back))), str(case.sessions)]
    peer = [sys.executable, str(Path(__file__).with_name("peer.py"))]
    command = [
        sys.executable, "-m", "fairwave", "shell", str(path), "--seed", str(seed), "--for",
        str(case.seconds + BEFORE + 4), *(() if case.beside else ("--no-flows",)), "--at", "a", "--", *peer, "caller",
        *parts, "--at", "b", "--", *peer, "callee", *parts,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    (folder / "shell.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    try:
        return read(case, folder)
    except ChromeError as error:
        raise ChromeError(f"{error}; see {folder / 'shell.txt'}, {folder / 'caller.txt'}") from None


def read(case: Case, folder: Path) -> list[Call]:
    """Reads a call's folder: each session of the caller, then, in a call both ways, the callee's session.

    Raises:
        ChromeError: Nothing was logged.
    """
    for role in ("caller", "callee"):
        error = folder / f"error-{role}.jsonl"
        if error.is_file():
            raise ChromeError(f"the page of the {role} failed: {error.read_text(encoding='utf-8')[:200]}")
    return [_session(folder, *way) for way in ways(case)]


def ways(case: Case) -> list[tuple[str, str, str]]:
    """The sender and the receiver of each session, and the part of its logs' names."""
    names = ["", *(f"-{number}" for number in range(1, case.sessions))]
    found = [("caller", "callee", name) for name in names]
    return [*found, ("callee", "caller", "")] if case.back else found


def _session(folder: Path, sender: str, receiver: str, name: str) -> Call:
    """One session, from its sender's log and its receiver's."""
    ours, theirs = (samples(folder / f"log-{role}{name}.jsonl") for role in (sender, receiver))
    if not ours or not theirs:
        raise ChromeError("the browsers did not connect: nothing was logged")
    count = min(len(ours), len(theirs))
    connected = float((folder / CONNECTED).read_text(encoding="utf-8"))
    rows = [
        _row(ours[at], theirs[at], ours[at - 1] if at else None, theirs[at - 1] if at else None)
        for at in range(count)
    ]
    columns = [[row[at] for row in rows] for at in range(11)]
    columns[0] = [at + connected for at in columns[0]]
    last = report(theirs[count - 1], "inbound-rtp", kind="video").get("packetsReceived", 0)
    return Call(*columns, int(last))  # type: ignore[arg-type, call-arg]  # columns are in the fields' order


def samples(path: Path) -> list[dict[str, Any]]:
    """A browser's log, a sample a second. Empty without a file."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def report(sample: dict[str, Any], type_: str, **wanted: Any) -> dict[str, Any]:
    """The first report of a type with these members, or an empty one."""
    for one in sample["stats"].values():
        if one["type"] == type_ and all(one.get(key) == value for key, value in wanted.items()):
            return dict(one)
    return {}


def _sum(sample: dict[str, Any], kind: str, member: str) -> float:
    return float(sum(report.get(member, 0) for report in sample["stats"].values() if report["type"] == kind))


def _rate(sample: dict[str, Any], before: dict[str, Any] | None, kind: str, member: str) -> float | None:
    if before is None or sample["at"] <= before["at"]:
        return None
    return 8 * (_sum(sample, kind, member) - _sum(before, kind, member)) / float(sample["at"] - before["at"])


def _row(ours: dict[str, Any], theirs: dict[str, Any], our_last: Any, their_last: Any) -> tuple[Any, ...]:
    pair = report(ours, "candidate-pair", nominated=True)
    video, seen = report(ours, "outbound-rtp", kind="video"), report(theirs, "inbound-rtp", kind="video")
    return (
        ours["at"],
        pair.get("availableOutgoingBitrate"),
        video.get("targetBitrate"),
        _rate(ours, our_last, "outbound-rtp", "bytesSent"),
        _rate(theirs, their_last, "inbound-rtp", "bytesReceived"),
        pair.get("currentRoundTripTime"),
        seen.get("packetsLost"),
        seen.get("freezeCount"),
        seen.get("totalFreezesDuration"),
        seen.get("framesDecoded"),
        seen.get("frameHeight"),
    )
