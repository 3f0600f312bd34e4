"""The statistics that fairwave reads: objects, members, their units and bounds, and the names of other browsers.

Names and units follow W3C's *Identifiers for WebRTC's Statistics API*. Names of old versions are mapped:
`outboundrtp`, `candidatepair`, `mediaType`, `mozRtt` and `isRemote` (Firefox before 68), and the objects of type
`track` (Chrome before 112, Safari).
"""

from __future__ import annotations

from typing import Any

LOCAL = frozenset({"outbound-rtp", "inbound-rtp", "candidate-pair", "transport", "media-source"})
"""Types with the time of the poll as time stamp."""

REMOTE = frozenset({"remote-inbound-rtp", "remote-outbound-rtp"})
"""Types that describe the other end; their time stamp is the arrival of its report."""

TYPES = LOCAL | REMOTE | {"track", "codec", "local-candidate", "remote-candidate"}
"""Types that fairwave reads."""

RENAMED_TYPES = {
    "outboundrtp": "outbound-rtp",
    "inboundrtp": "inbound-rtp",
    "remoteinboundrtp": "remote-inbound-rtp",
    "remoteoutboundrtp": "remote-outbound-rtp",
    "candidatepair": "candidate-pair",
    "localcandidate": "local-candidate",
    "remotecandidate": "remote-candidate",
}
"""Types of old versions of Firefox."""

RENAMED = {
    "mediaType": "kind",
    "framerateMean": "framesPerSecond",
    "droppedFrames": "framesDropped",
    "discardedPackets": "packetsDiscarded",
}
"""Members of old versions, used if the new member is missing."""

COUNT, SECONDS, RATE, SHARE = (0.0, 1e15), (0.0, 1e9), (0.0, 1e12), (0.0, 1.0)
REASONS = ("none", "cpu", "bandwidth", "other")
"""Reasons that limit a picture's quality."""

DURATIONS = "qualityLimitationDurations"

NUMBERS: dict[str, tuple[float, float]] = {
    **dict.fromkeys(
        (
            "bytesSent", "headerBytesSent", "packetsSent", "retransmittedBytesSent", "retransmittedPacketsSent",
            "framesEncoded", "framesSent", "keyFramesEncoded", "hugeFramesSent", "qpSum", "nackCount", "pliCount",
            "firCount", "qualityLimitationResolutionChanges", "encodingIndex", "bytesReceived", "headerBytesReceived",
            "packetsReceived", "packetsDiscarded", "framesReceived", "framesDecoded", "framesDropped",
            "framesRendered", "keyFramesDecoded", "freezeCount", "pauseCount", "jitterBufferEmittedCount",
            "totalSamplesReceived", "concealedSamples", "silentConcealedSamples", "concealmentEvents",
            "insertedSamplesForDeceleration", "removedSamplesForAcceleration", "retransmittedBytesReceived",
            "retransmittedPacketsReceived", "fecPacketsReceived", "roundTripTimeMeasurements", "ssrc", "frameWidth",
            "frameHeight", "width", "height", "frames", "selectedCandidatePairChanges", "clockRate",
        ),
        COUNT,
    ),
    **dict.fromkeys(
        (
            "totalFreezesDuration", "totalPausesDuration", "totalInterFrameDelay", "totalSquaredInterFrameDelay",
            "jitterBufferDelay", "jitterBufferTargetDelay", "totalDecodeTime", "totalEncodeTime",
            "totalPacketSendDelay", "totalProcessingDelay", "totalRoundTripTime", "totalSamplesDuration",
            *(f"{DURATIONS}.{reason}" for reason in REASONS),
        ),
        SECONDS,
    ),
    **dict.fromkeys(("targetBitrate", "availableOutgoingBitrate", "availableIncomingBitrate"), RATE),
    **dict.fromkeys(("roundTripTime", "currentRoundTripTime"), (0.0, 60.0)),
    **dict.fromkeys(("nominated", "selected", "active"), SHARE),
    "jitter": (0.0, 1e9),
    "packetsLost": (-1e12, 1e12),
    "fractionLost": (-1e3, 1e3),
    "framesPerSecond": (0.0, 1e4),
    "audioLevel": (0.0, 1e3),
}  # fmt: skip
"""Members with numbers or truth values, and the range of a possible value."""

TEXTS = frozenset({
    "kind", "rid", "mid", "trackIdentifier", "contentType", "qualityLimitationReason", "state",
    "selectedCandidatePairId", "localCandidateId", "remoteCandidateId", "candidateType", "protocol", "relayProtocol",
    "networkType", "mimeType", "codecId", "localId", "remoteId", "trackId", "mediaSourceId", "encoderImplementation",
    "decoderImplementation", "scalabilityMode",
})  # fmt: skip
"""Members with text."""

LEGACY = ("goog", "ssrc", "VideoBwe")
"""How the types of Chrome's statistics before the standard begin."""

OLD_MILLISECONDS = 5.0
"""Old versions of Firefox give round trips in milliseconds. A larger value of theirs cannot be seconds †."""


def is_legacy(kind: str) -> bool:
    """Whether a type belongs to Chrome's statistics before the standard (`googCandidatePair`, `ssrc`, `VideoBwe`)."""
    return kind.startswith(LEGACY)


def standard_type(kind: str, is_remote: object = False) -> str:
    """Returns the standard's name of a type.

    Args:
        kind: The name in the file.
        is_remote: Whether an old version marked the object as a report of the other end.
    """
    name = RENAMED_TYPES.get(kind, kind)
    return f"remote-{name}" if is_remote is True and name in {"inbound-rtp", "outbound-rtp"} else name


def modernise(report: dict[str, Any]) -> dict[str, Any]:
    """Returns a report with the standard's names and units."""
    found = report
    old = [name for name in RENAMED if name in report]
    if old or "mozRtt" in report or report.get("isRemote") is True:
        found = dict(report)
        for name in old:
            found.setdefault(RENAMED[name], report[name])
        trip = report.get("mozRtt", report.get("roundTripTime"))
        if isinstance(trip, (int, float)) and not isinstance(trip, bool):
            found["roundTripTime"] = trip / 1e3 if "mozRtt" in report or trip > OLD_MILLISECONDS else trip
    return found
