"""Statistics of calls as browsers and their tools write them, made from a few numbers."""

from __future__ import annotations

import json
from datetime import datetime, timezone

BEGIN_MS = 1_778_072_400_000.0
"""Time stamp of the first sample."""

KINDS = {
    "OT": "outbound-rtp", "IT": "inbound-rtp", "CP": "candidate-pair", "RI": "remote-inbound-rtp", "T0": "transport",
    "SV": "media-source", "CO": "codec", "IL": "local-candidate", "IR": "remote-candidate",
}  # fmt: skip
"""Beginning of Chrome's ids, and the type of their object."""


def series(name, since, members, *, every=1.0, stamps=True):
    """The series of one object in a dump: each member a list of values, from `since` seconds on.

    A member may be `(since, values)` to begin at another second than its object.
    """
    kind, found = KINDS[name[:2]], {}
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


def iso(second):
    """A second of the call as the dump writes times."""
    at = datetime.fromtimestamp(BEGIN_MS / 1e3 + second, timezone.utc)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def internals(*connections):
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


def counted(rate, count, begin=0):
    """A counter of bytes at a rate in bit/s, once a second."""
    return [int(begin + rate / 8 * at) for at in range(count)]


def sending(count=60, *, rates=(500_000,), trip=0.05, estimate=3e6):
    """Polls of a sender, once a second, in Chrome's members: one video stream for each rate."""
    polls = []
    for at in range(count):
        stamp = BEGIN_MS + 1e3 * at
        reports = [
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


def receiving(count=30, rate=800_000):
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


def jitsi(polls, connection="PC_0"):
    """The lines of a file of Jitsi's rtcstats: differences, and 0 for the time stamp of the poll."""
    lines, base = [["connectionInfo", None, {"userAgent": "Firefox/118.0"}, BEGIN_MS]], {}
    for poll in polls:
        latest = max(report["timestamp"] for report in poll)
        delta = {"timestamp": latest}
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


def rtcstats3(polls, connection="PC_0"):
    """A file of rtcstats, version 3: short names, removed objects, times as differences."""
    from fairwave.dumps.rtcstats import MEMBER_CODES, TYPE_CODES

    codes = {name: str(code) for code, name in MEMBER_CODES.items()}
    lines, base, numbers, before = [json.dumps({"fileFormat": 3, "userAgent": "Chrome/150"})], {}, {}, 0.0
    lines.append(json.dumps(["create", connection, None, BEGIN_MS]))
    before = BEGIN_MS
    for poll in polls:
        latest = max(report["timestamp"] for report in poll)
        delta = {"t": latest}
        for report in poll:
            number = numbers.setdefault(report["id"], str(len(numbers)))
            old = base.get(number, {})
            part = {key: value for key, value in report.items() if key != "id" and old.get(key) != value}
            base[number] = report
            if part.get("timestamp") == latest:
                del part["timestamp"]
            if "type" in part:
                part["type"] = TYPE_CODES.index(part["type"]) + 1
            if part:
                delta[number] = {codes.get(key, key): value for key, value in part.items()}
        for gone in set(base) - {numbers[report["id"]] for report in poll}:
            delta[gone] = None
            del base[gone]
        lines.append(json.dumps(["g", connection, delta, latest - before]))
        before = latest
    return "RTCStatsDump\n" + "\n".join(lines) + "\n"
