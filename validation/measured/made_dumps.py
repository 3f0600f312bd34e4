"""Statistics of calls as browsers and their tools write them, made from a few numbers."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from fairwave.dumps.rtcstats import MEMBER_CODES, TYPE_CODES

if TYPE_CHECKING:
    from collections.abc import Sequence

Polls = list[list[dict[str, Any]]]
"""Results of getStats(), each a list of reports."""

BEGIN_MS = 1_778_072_400_000.0
"""Time stamp of the first sample."""

KINDS = {
    "OT": "outbound-rtp", "IT": "inbound-rtp", "CP": "candidate-pair", "RI": "remote-inbound-rtp", "T0": "transport",
    "SV": "media-source", "CO": "codec", "IL": "local-candidate", "IR": "remote-candidate",
}  # fmt: skip
"""Beginning of Chrome's ids, and the type of their object."""


def series(
    name: str, since: float, members: dict[str, Any], *, every: float = 1.0, stamps: bool = True
) -> dict[str, Any]:
    """The series of one object in a dump: each member a list of values, from `since` seconds on.

    A member may be `(since, values)` to begin at another second than its object.
    """
    kind = KINDS[name[:2]]
    found: dict[str, Any] = {}
    count = max(len(one[1] if isinstance(one, tuple) else one) for one in members.values())
    if stamps:
        members = {"timestamp": [BEGIN_MS + 1e3 * (since + every * at) for at in range(count)], **members}
    for member, given in members.items():
        first, values = given if isinstance(given, tuple) else (since, given)
        found[f"{name}-{member}"] = {
            "startTime": iso(first), "endTime": iso(first + every * (len(values) - 1)), "statsType": kind,
            "values": json.dumps(values),
        }  # fmt: skip
    return found


def iso(second: float) -> str:
    """A second of the call as the dump writes times."""
    at = datetime.fromtimestamp(BEGIN_MS / 1e3 + second, timezone.utc)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def internals(*connections: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A dump of chrome://webrtc-internals: each connection a list of objects' series."""
    return {
        "getUserMedia": [],
        "PeerConnections": {
            f"{at}-1": {
                "pid": at, "url": "https://example.org/call", "updateLog": [{"type": "close", "value": "é"}],
                "stats": {key: one for each in objects for key, one in each.items()},
            }
            for at, objects in enumerate(connections, 1)
        },
        "UserAgent": "Chrome/149",
    }  # fmt: skip


def convert_polls(polls: Polls) -> dict[str, Any]:
    """The same as a dump: one series a member, without its missing values, as Chrome writes it."""
    found: dict[str, dict[str, Any]] = {}
    times: dict[str, list[float]] = {}
    for poll in polls:
        for report in poll:
            name = report["id"]
            for member, value in report.items():
                if member == "id":
                    continue
                key = f"{name}-{member}"
                one = found.setdefault(key, {"statsType": report["type"], "values": []})
                one["values"].append(value)
                times.setdefault(key, []).append((report["timestamp"] - BEGIN_MS) / 1e3)
    for key, one in found.items():
        one |= {
            "startTime": iso(times[key][0]),
            "endTime": iso(times[key][-1]),
            "values": json.dumps(one["values"]),
        }
    return internals([found])


def counted(rate: float, count: int, begin: int = 0) -> list[int]:
    """A counter of bytes at a rate in bit/s, once a second."""
    return [int(begin + rate / 8 * at) for at in range(count)]


def sending(
    count: int = 60, *, rates: Sequence[float] = (500_000,), trip: float = 0.05, estimate: float | None = 3e6
) -> Polls:
    """Polls of a sender, once a second, in Chrome's members: one video stream for each rate."""
    polls: Polls = []
    for at in range(count):
        stamp = BEGIN_MS + 1e3 * at
        reports: list[dict[str, Any]] = [
            {
                "id": f"OT01V{number}", "type": "outbound-rtp", "timestamp": stamp, "kind": "video", "ssrc": number,
                "bytesSent": int(rate / 8 * at), "packetsSent": 60 * at,
            }
            for number, rate in enumerate(rates, 1)
        ]  # fmt: skip
        reports += [
            {
                "id": f"RI{number}", "type": "remote-inbound-rtp", "timestamp": stamp - 300, "ssrc": number,
                "packetsLost": 3 * at, "roundTripTime": trip,
            }
            for number in range(1, len(rates) + 1)
        ]  # fmt: skip
        if estimate is not None:
            reports.append({
                "id": "CP1", "type": "candidate-pair", "timestamp": stamp, "state": "succeeded", "nominated": True,
                "availableOutgoingBitrate": estimate, "currentRoundTripTime": trip,
            })  # fmt: skip
        polls.append(reports)
    return polls


def receiving(count: int = 30, rate: float = 800_000) -> Polls:
    """Polls of a receiver that sends nothing."""
    return [
        [
            {
                "id": "IT01V9", "type": "inbound-rtp", "timestamp": BEGIN_MS + 1e3 * at, "kind": "video", "ssrc": 9,
                "bytesReceived": int(rate / 8 * at), "packetsReceived": 100 * at, "packetsLost": 2 * at, "jitter": 0.01,
                "framesDecoded": 25 * at, "frameHeight": 360, "freezeCount": at // 10,
                "totalFreezesDuration": 0.4 * (at // 10),
            }
        ]
        for at in range(count)
    ]  # fmt: skip


def jitsi(polls: Polls, connection: str = "PC_0") -> str:
    """The lines of a file of Jitsi's rtcstats: differences, and 0 for the time stamp of the poll."""
    lines: list[Any] = [["connectionInfo", None, {"userAgent": "Firefox/118.0"}, BEGIN_MS]]
    base: dict[str, dict[str, Any]] = {}
    for poll in polls:
        latest = max(report["timestamp"] for report in poll)
        delta: dict[str, Any] = {"timestamp": latest}
        for report in poll:
            old = base.get(report["id"], {})
            part = {key: value for key, value in report.items() if key != "id" and old.get(key) != value}
            base[report["id"]] = report
            if part.get("timestamp") == latest:
                part["timestamp"] = 0
            if set(part) - {"timestamp"}:
                delta[report["id"]] = part
        lines.append(["getstats", connection, delta, latest + 5])
    return "\n".join(map(json.dumps, lines)) + "\n"


def rtcstats3(polls: Polls, connection: str = "PC_0") -> str:
    """A file of rtcstats, version 3: short names, numbers as ids, removed objects, times as differences."""
    codes = {name: str(code) for code, name in MEMBER_CODES.items()}
    lines: list[Any] = [{"fileFormat": 3, "userAgent": "Chrome/150"}, ["create", connection, None, BEGIN_MS]]
    base: dict[str, dict[str, Any]] = {}
    numbers: dict[str, str] = {}
    before = BEGIN_MS
    for poll in polls:
        latest = max(report["timestamp"] for report in poll)
        delta: dict[str, Any] = {"t": latest}
        for report in poll:
            numbers.setdefault(report["id"], str(len(numbers)))
        for report in poll:
            number = numbers[report["id"]]
            old = base.get(number, {})
            part = {key: value for key, value in report.items() if key != "id" and old.get(key) != value}
            base[number] = report
            if part.get("timestamp") == latest:
                del part["timestamp"]
            if "type" in part:
                part["type"] = TYPE_CODES.index(part["type"]) + 1
            part = {key: numbers.get(one, one) if key.endswith("Id") else one for key, one in part.items()}
            if part:
                delta[number] = {codes.get(key, key): value for key, value in part.items()}
        for gone in set(base) - {numbers[report["id"]] for report in poll}:
            delta[gone] = None
            del base[gone]
        lines.append(["g", connection, delta, latest - before])
        before = latest
    return "RTCStatsDump\n" + "\n".join(map(json.dumps, lines)) + "\n"
