"""Files of rtcstats: one event a line, `[method, connection, value, time]`, with statistics as differences.

Two formats exist. Files of rtcstats-server and of Jitsi's version have the method `getstats` and times since 1970. An
object that did not change is left out, and a time stamp of 0 means the time of the poll. Files that begin with
`RTCStatsDump` (version 3, also written by current versions of Chrome) have shorter names of methods, types and members,
`null` for an object that was removed, and times as differences.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fairwave.dumps.members import LOCAL, standard_type
from fairwave.dumps.recording import read_time

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "RTCStatsDump"
"""First line of a file of version 3."""

POLLS = frozenset({"getstats", "getStats", "g", 1})
"""Methods of events with statistics."""

PATHS = frozenset({"candidate-pair", "transport"})
"""Types that exist as long as the connection."""

TYPE_CODES = (
    "inbound-rtp", "outbound-rtp", "remote-inbound-rtp", "remote-outbound-rtp", "transport", "candidate-pair",
    "local-candidate", "remote-candidate", "data-channel", "peer-connection", "certificate", "media-source",
    "media-playout", "codec",
)  # fmt: skip
"""Types by their number in version 3, from 1 on."""

MEMBER_CODES = {
    "t": "timestamp", 6: "mimeType", 7: "clockRate", 10: "ssrc", 11: "kind", 12: "codecId", 14: "packetsReceived",
    15: "packetsLost", 16: "jitter", 17: "trackIdentifier", 18: "mid", 19: "remoteId", 20: "framesDecoded",
    21: "keyFramesDecoded", 22: "framesDropped", 23: "frameWidth", 24: "frameHeight", 25: "framesPerSecond",
    26: "qpSum", 27: "totalDecodeTime", 28: "totalInterFrameDelay", 29: "totalSquaredInterFrameDelay",
    30: "pauseCount", 31: "totalPausesDuration", 32: "freezeCount", 33: "totalFreezesDuration",
    35: "headerBytesReceived", 36: "packetsDiscarded", 37: "fecPacketsReceived", 41: "bytesReceived",
    42: "nackCount", 43: "firCount", 44: "pliCount", 45: "totalProcessingDelay", 47: "jitterBufferDelay",
    48: "jitterBufferTargetDelay", 49: "jitterBufferEmittedCount", 51: "totalSamplesReceived",
    52: "concealedSamples", 53: "silentConcealedSamples", 54: "concealmentEvents",
    55: "insertedSamplesForDeceleration", 56: "removedSamplesForAcceleration", 57: "audioLevel",
    59: "totalSamplesDuration", 60: "framesReceived", 61: "decoderImplementation", 66: "contentType",
    68: "retransmittedPacketsReceived", 69: "retransmittedBytesReceived", 74: "localId", 75: "roundTripTime",
    76: "totalRoundTripTime", 77: "fractionLost", 78: "roundTripTimeMeasurements", 79: "packetsSent",
    80: "bytesSent", 81: "mediaSourceId", 82: "rid", 83: "encodingIndex", 84: "headerBytesSent",
    85: "retransmittedPacketsSent", 86: "retransmittedBytesSent", 87: "targetBitrate", 89: "framesSent",
    90: "hugeFramesSent", 91: "framesEncoded", 92: "keyFramesEncoded", 93: "totalEncodeTime",
    94: "totalPacketSendDelay", 95: "qualityLimitationReason", 96: "qualityLimitationDurations",
    97: "qualityLimitationResolutionChanges", 98: "encoderImplementation", 100: "active", 101: "scalabilityMode",
    106: "width", 107: "height", 108: "frames", 116: "protocol", 118: "state", 125: "selectedCandidatePairId",
    132: "selectedCandidatePairChanges", 136: "candidateType", 139: "relayProtocol", 145: "networkType",
    148: "localCandidateId", 149: "remoteCandidateId", 150: "nominated", 152: "currentRoundTripTime",
    153: "availableOutgoingBitrate", 154: "availableIncomingBitrate",
}  # fmt: skip
"""Members by their code in version 3: those that fairwave reads."""

_MEMBERS = {str(code): name for code, name in MEMBER_CODES.items()}


class Decompressor:
    """Restores the reports of one connection from differences."""

    def __init__(self) -> None:
        self._base: dict[str, dict[str, Any]] = {}
        self._seen: dict[str, int] = {}
        self._polls_ms: list[float] = []

    def restore(
        self, delta: dict[str, Any], event_ms: float, *, is_short: bool
    ) -> Iterator[tuple[str, dict[str, Any], float]]:
        """Yields the id, the report and the time in milliseconds of each object that a poll changed.

        An object that did not change until this poll also comes with its old values at each poll in between. An object
        that never changes again may have ended: files of Jitsi do not show it.

        Args:
            delta: The value of the event.
            event_ms: The time of the event.
            is_short: Whether the file has version 3, with its short names.
        """
        stamp = delta.get("timestamp", delta.get("t") if is_short else None)
        poll_ms = read_time(stamp)
        poll_ms = event_ms if math.isnan(poll_ms) else poll_ms
        # A difference never repeats a type. Chrome writes whole polls, without the objects that were removed.
        is_whole = any(
            "type" in part for name, part in delta.items() if isinstance(part, dict) and name in self._base
        )
        gone = set(self._base) - set(delta) if is_whole else set()
        for name in (*gone, *(name for name, part in delta.items() if part is None)):
            yield from self._repeat(name)
            self._base.pop(name, None)
            self._seen.pop(name, None)
        for name, part in delta.items():
            if not isinstance(part, dict):
                continue
            changed = _lengthen(part) if is_short else part
            old = self._base.get(name)
            time_ms = read_time(changed.get("timestamp"))
            time_ms = poll_ms if math.isnan(time_ms) else time_ms
            yield from self._repeat(name)
            report = _merged(old or {}, changed)
            self._base[name], self._seen[name] = report, len(self._polls_ms)
            yield name, report, time_ms
        self._polls_ms.append(poll_ms)

    def finish(self, *, is_short: bool) -> Iterator[tuple[str, dict[str, Any], float]]:
        """Yields the same for objects that did not change any more, but still exist at the end.

        Version 3 lists each removed object. In other files, streams without a change may have ended.

        Args:
            is_short: Whether the file has version 3.
        """
        for name, report in self._base.items():
            if is_short or standard_type(str(report.get("type"))) in PATHS:
                yield from self._repeat(name)

    def _repeat(self, name: str) -> Iterator[tuple[str, dict[str, Any], float]]:
        """Yields an object of this end with its old values at each poll since its last change."""
        report = self._base.get(name)
        if report is not None and standard_type(str(report.get("type")), report.get("isRemote")) in LOCAL:
            for unchanged_ms in self._polls_ms[self._seen[name] + 1 :]:
                yield name, report, unchanged_ms


def _lengthen(part: dict[str, Any]) -> dict[str, Any]:
    """Returns a report with the standard's names."""
    found = {_MEMBERS.get(name, name): value for name, value in part.items()}
    code = found.get("type")
    if isinstance(code, int) and not isinstance(code, bool) and 1 <= code <= len(TYPE_CODES):
        found["type"] = TYPE_CODES[code - 1]
    return found


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    found = {**old, **new}
    for name, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(name), dict):
            found[name] = {**old[name], **value}
    return found
