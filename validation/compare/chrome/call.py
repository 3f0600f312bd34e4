"""One call of two browsers behind a network: makes it and reads both logs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairwave.dumps import RECEIVED, SENT, read_dump
from fairwave.dumps.connections import sum_series
from validation.compare.chrome import clip
from validation.compare.chrome.cases import MOST
from validation.compare.chrome.peer import CONNECTED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairwave.dumps import Connection, Stream
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


@dataclass(frozen=True)
class Log:
    """The log of one browser's session.

    Attributes:
        start_s: Time of its first sample; both browsers have the same clock.
        connection: Its statistics.
    """

    start_s: float
    connection: Connection

    @property
    def time_s(self) -> NDArray[np.float64]:
        """Times of the samples on the clock of both browsers."""
        return self.start_s + self.connection.time_s

    def find_video(self, direction: str) -> Stream | None:
        """Returns the session's video, or None."""
        return next(
            (one for one in self.connection.streams if one.direction == direction and one.kind == "video"),
            None,
        )


FAR_S = 0.75
"""Samples of the two browsers further apart than this do not belong together."""


def read_log(path: Path) -> Log:
    """Reads a browser's log.

    Raises:
        ChromeError: Nothing was logged.
    """
    dump = read_dump(path) if path.is_file() and path.stat().st_size else None
    if dump is None or not dump.connections:
        raise ChromeError("the browsers did not connect: nothing was logged")
    return Log(dump.start_ms / 1e3, dump.connections[0])


def align(values: NDArray[np.float64], theirs: Log, ours: Log) -> NDArray[np.float64]:
    """Returns the other browser's values at our times; NaN where it has no sample near."""
    times = theirs.time_s
    index = np.abs(ours.time_s[:, None] - times[None, :]).argmin(axis=1)
    return np.where(np.abs(times[index] - ours.time_s) <= FAR_S, values[index], np.nan)


def _session(folder: Path, sender: str, receiver: str, name: str) -> Call:
    """One session, from its sender's log and its receiver's."""
    ours, theirs = (read_log(folder / f"log-{role}{name}.jsonl") for role in (sender, receiver))
    connected = float((folder / CONNECTED).read_text(encoding="utf-8"))
    with (folder / f"log-{sender}{name}.jsonl").open(encoding="utf-8") as file:
        first = float(json.loads(file.readline())["at"])
    near, far = ours.connection, theirs.connection
    video, seen = ours.find_video(SENT), theirs.find_video(RECEIVED)
    unknown = np.full(len(ours.time_s), np.nan)

    def counter(member: str) -> NDArray[np.float64]:
        if seen is None:
            return unknown
        return align(seen.item.gauge(member, far.time_s, far.slack_s), theirs, ours)

    sent, received = (
        sum_series([8 * one.count(member) / one.step_s for one in several], len(connection.time_s))
        for connection, several, member in (
            (near, near.sent, "bytesSent"),
            (far, far.received, "bytesReceived"),
        )
    )
    packets = 0.0 if seen is None else seen.item.last("packetsReceived")
    losses, freezes, frozen, frames, height = map(
        counter, ("packetsLost", "freezeCount", "totalFreezesDuration", "framesDecoded", "frameHeight")
    )
    return Call(
        time_s=(connected + first + near.time_s).tolist(),
        estimate_bps=_optional(near.available_bps),
        target_bps=_optional(unknown if video is None else video.target_bps),
        sent_bps=_optional(sent),
        received_bps=_optional(align(received, theirs, ours)),
        round_trip_s=_optional(near.pair_round_trip_s),
        lost=_optional(losses),
        freezes=_optional(freezes),
        frozen_s=_optional(frozen),
        frames=_optional(frames),
        height=_optional(height),
        packets=int(np.nan_to_num(packets)),
    )


def _optional(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(one) else one for one in values.tolist()]
