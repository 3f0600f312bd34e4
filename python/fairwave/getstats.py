"""Statistics of media sessions in the format of WebRTC applications.

- :func:`reports`: results of `getStats()`, once per second, at the sender and at the receiver of a session.
- :func:`internals`: the same as a dump of `chrome://webrtc-internals`, for tools that read such dumps.
- :func:`write`: both as files.

Members have the names and units of W3C's webrtc-stats. Values without a member in the specification are left out (the
tables `media_outbound` and `media_inbound` have them). Time stamps are milliseconds since the beginning of the run,
which is mapped to the first instant of 2000.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from fairwave.results import Results
    from fairwave.tables import Table

BEGIN = datetime(2000, 1, 1, tzinfo=timezone.utc)
"""Time stamp of the beginning of a run."""

Report = dict[str, Any]
"""One dictionary of webrtc-stats."""

Stats = dict[str, Report]
"""Id to report: the result of one call of `getStats()`."""

OWN = {
    "run", "group", "flow", "time_s", "stream", "encoding", "fec_packets_sent", "fec_bytes_sent",
    "padding_packets_sent", "padding_bytes_sent", "padding_packets_received", "packets_duplicated",
    "packets_recovered", "limited_none_s", "limited_bandwidth_s", "limited_other_s",
}  # fmt: skip
"""Columns without a corresponding member."""

NAMES = {
    "target_bps": "targetBitrate",
    "last_packet_received_s": "lastPacketReceivedTimestamp",
    "estimated_playout_s": "estimatedPlayoutTimestamp",
    "remote_round_trip_s": "roundTripTime",
    "remote_fraction_lost": "fractionLost",
    "remote_packets_lost": "packetsLost",
    "remote_jitter_s": "jitter",
    "packets_received_with_ect1": "packetsReceivedWithEct1",
    "packets_received_with_ce": "packetsReceivedWithCe",
}
"""Members whose name does not follow from the column's name."""

MOMENTS = ("last_packet_received_s", "estimated_playout_s")
"""Columns with times: members in milliseconds since 1970."""

VIDEO_ONLY = (
    "frame", "freeze", "pause", "key_frames", "pli", "fir", "huge", "total_inter", "total_squared",
    "total_freezes", "total_pauses", "quality",
)  # fmt: skip
"""Prefixes of columns for pictures only."""

AUDIO_ONLY = ("concealed", "concealment", "silent", "inserted", "removed", "total_samples")
"""Prefixes of columns for speech only."""


@dataclass(frozen=True)
class Session:
    """A media session of one run.

    Attributes:
        group: Its flow group.
        flow: Its index within the group.
        sender: Results of `getStats()` at its sender, once per second.
        receiver: The same at its receiver.
    """

    group: str
    flow: int
    sender: list[Stats]
    receiver: list[Stats]


def _member(column: str) -> str:
    """A column's member: `bytes_sent` is `bytesSent`, `jitter_s` is `jitter`."""
    if column in NAMES:
        return NAMES[column]
    stem = column.removesuffix("_s2").removesuffix("_s")
    first, *rest = stem.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _stamp(seconds: float) -> float:
    return (BEGIN + timedelta(seconds=seconds)).timestamp() * 1e3


def _rows(table: Table) -> Iterator[dict[str, Any]]:
    names = table.column_names
    columns = [table[name].to_list() for name in names]
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))


def _value(column: str, value: Any) -> Any:
    return _stamp(value) if column in MOMENTS else value


def _is_present(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def _report(row: Mapping[str, Any], kind: str, prefix: str, skip: str = "") -> Report:
    """The dictionary of a stream: its present members that apply to its kind."""
    audio = row["stream"] == "audio"
    others = VIDEO_ONLY if audio else AUDIO_ONLY
    media = "audio" if audio else "video"
    report: Report = {
        "id": f"{prefix}-{row['stream']}-{row['encoding']}",
        "timestamp": _stamp(row["time_s"]),
        "type": kind,
        "kind": media,
        "mediaType": media,
        "ssrc": 1000 + 10 * ("audio", "video", "screen").index(row["stream"]) + int(row["encoding"]),
        "mid": str(("audio", "video", "screen").index(row["stream"])),
    }
    for column, value in row.items():
        if (
            column in OWN
            or column.startswith(others)
            or (skip and column.startswith(skip))
            or not _is_present(value)
        ):
            continue
        report[_member(column)] = _value(column, value)
    return report


def _outbound(row: Mapping[str, Any], stats: Stats) -> None:
    report = _report(row, "outbound-rtp", "outbound", "remote_")
    if row["stream"] != "audio":
        report["qualityLimitationDurations"] = {
            "none": row["limited_none_s"],
            "cpu": 0.0,
            "bandwidth": row["limited_bandwidth_s"],
            "other": row["limited_other_s"],
        }
        report["encodingIndex"] = row["encoding"]
    remote = {
        column: value for column, value in row.items() if column.startswith("remote_") and _is_present(value)
    }
    if remote:
        report["remoteId"] = f"remote-{row['stream']}-{row['encoding']}"
        stats[report["remoteId"]] = {
            **{key: report[key] for key in ("timestamp", "kind", "ssrc")},
            "id": report["remoteId"],
            "type": "remote-inbound-rtp",
            "localId": report["id"],
            **{_member(column): value for column, value in remote.items()},
        }
    stats[report["id"]] = report


def _transport(row: Mapping[str, Any], stats: Stats) -> None:
    sent = [one for one in stats.values() if one["type"] == "outbound-rtp"]
    report: Report = {
        "id": "candidate-pair",
        "timestamp": _stamp(row["time_s"]),
        "type": "candidate-pair",
        "state": "succeeded",
        "nominated": True,
        "availableOutgoingBitrate": row["available_bps"],
        "packetsSent": sum(one["packetsSent"] for one in sent),
        "bytesSent": sum(one["bytesSent"] + one["headerBytesSent"] for one in sent),
    }
    if _is_present(row["round_trip_s"]):
        report["currentRoundTripTime"] = row["round_trip_s"]
    stats["candidate-pair"] = report


def reports(results: Results) -> list[Session]:
    """Returns the results of `getStats()` at both ends of each media session of the first run, once per second.

    Args:
        results: Runs with media sessions.

    Raises:
        LookupError: No flow of the first run is a media session.
    """
    if "media_outbound" not in results.tables:
        raise LookupError(
            'no flow of these runs is a media session; one is made by traffic = "media", transport = "webrtc"'
        )
    sides: dict[tuple[str, int], tuple[dict[float, Stats], dict[float, Stats]]] = {}
    for side, (name, add) in enumerate((("media_outbound", _outbound), ("media_inbound", None))):
        # A receiver has no report of a stream until a packet arrives.
        for row in _rows(results.rows(name)) if name in results.tables else ():
            if row["run"] != 0:
                continue
            at = sides.setdefault((row["group"], row["flow"]), ({}, {}))[side].setdefault(row["time_s"], {})
            if add is not None:
                add(row, at)
            else:
                report = _report(row, "inbound-rtp", "inbound")
                at[report["id"]] = report
    for row in _rows(results.rows("media_transport")):
        if row["run"] == 0 and (row["group"], row["flow"]) in sides:
            _transport(row, sides[row["group"], row["flow"]][0].setdefault(row["time_s"], {}))
    return [
        Session(group, flow, *([side[time] for time in sorted(side)] for side in both))
        for (group, flow), both in sides.items()
    ]


def internals(sessions: list[Session]) -> dict[str, Any]:
    """A dump of `chrome://webrtc-internals` with two peer connections per session: sender and receiver."""
    connections = {}
    for number, session in enumerate(sessions):
        for end, (side, samples) in enumerate((("sender", session.sender), ("receiver", session.receiver))):
            name = f"{session.group}[{session.flow}] {side}"
            connections[f"{number + 1}-{end + 1}"] = {
                "pid": number + 1,
                "lid": end + 1,
                "rid": 1,
                "url": f"fairwave: {name}",
                "rtcConfiguration": "{}",
                "constraints": "",
                "updateLog": [],
                "stats": _series(samples),
            }
    return {"getUserMedia": [], "PeerConnections": connections, "UserAgent": "fairwave", "UserAgentData": []}


def _series(samples: list[Stats]) -> dict[str, Any]:
    """Converts every member of every report to a series, as in the dump: a span, and values as text of a JSON list."""
    values: dict[tuple[str, str], list[Any]] = {}
    kinds: dict[str, str] = {}
    times: dict[str, list[float]] = {}
    for stats in samples:
        for name, report in stats.items():
            kinds[name] = report["type"]
            times.setdefault(name, []).append(report["timestamp"])
            for member, value in report.items():
                if member not in ("id", "type"):
                    series = values.setdefault((name, member), [None] * (len(times[name]) - 1))
                    series.extend([None] * (len(times[name]) - 1 - len(series)))
                    series.append(json.dumps(value) if isinstance(value, dict) else value)
    found = {}
    for (name, member), series in values.items():
        present = [at for at, value in enumerate(series) if value is not None]
        if not present:
            continue
        first, last = present[0], present[-1]
        found[f"{name}-{member}"] = {
            "startTime": _iso(times[name][first]),
            "endTime": _iso(times[name][last]),
            "statsType": kinds[name],
            "values": json.dumps(series[first : last + 1]),
        }
    return found


def _iso(stamp: float) -> str:
    return (
        datetime.fromtimestamp(stamp / 1e3, timezone.utc)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )


def write(results: Results, folder: Path) -> list[Path]:
    """Writes the statistics of each media session of the first run, and the dump of all of them.

    Args:
        results: Runs with media sessions.
        folder: Folder of the files: `call-0.json` for `call[0]`, `webrtc-internals.json`. It is created.

    Returns:
        The files.

    Raises:
        LookupError: No flow of the first run is a media session.
    """
    from fairwave.folders import check_way
    from fairwave.staging import write_text

    check_way(folder)
    sessions = reports(results)
    made = []
    for session in sessions:
        path = folder / f"{session.group}-{session.flow}.json"
        write_text(path, json.dumps({"sender": session.sender, "receiver": session.receiver}) + "\n")
        made.append(path)
    write_text(folder / "webrtc-internals.json", json.dumps(internals(sessions)) + "\n")
    return [*made, folder / "webrtc-internals.json"]
