"""Compares a WebRTC session's statistics (getStats) with the router's recording of the same streams.

Both ends write their statistics as lines of JSON, `{"at_s": 3.0, "stats": [{"type": "outbound-rtp", …}]}`, with the
names of the W3C's *Identifiers for WebRTC's Statistics API*. Streams are recognised in the recording by their
synchronisation source, because SRTP leaves the RTP header readable. The authentication tag of SRTP counts among the
recording's bytes. A session counts losses among the packets that its receiver had expected by its last report, so its
numbers end a little earlier than the recording's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.foreign import check_items, count_lines, decode, gated, parse_json, read_bytes
from fairwave.live.packets import RecordingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fairwave.live.packets import Stream

CLOCKS = {"audio": 48_000, "video": 90_000}
"""Units of RTP timestamps per second: Opus has one rate for all audio bandwidths."""


@dataclass(frozen=True)
class Row:
    """One quantity of one stream.

    Attributes:
        kind: `audio` or `video`.
        what: The quantity, with its unit.
        said: Value reported by the session; None if the session did not report it.
        seen: Value from the recording; None if the recording cannot give it.
    """

    kind: str
    what: str
    said: float | None
    seen: float | None

    @property
    def cells(self) -> list[str]:
        """Cells of the table row."""

        def text(value: float | None) -> str:
            return "not said" if value is None else f"{value:.6g}"

        return [self.kind, self.what, text(self.said), text(self.seen)]


@gated("session", RecordingError)
def last(path: Path) -> list[dict[str, Any]]:
    """Returns the last report of each object of an end. A stream that ended before the others has its last report, too.

    Raises:
        RecordingError: The file has none, or a line is not in this format.
    """
    if not path.is_file():
        raise RecordingError(
            f"{path}: there are no statistics; read the program's output, and give it more time"
        )
    found: dict[str, dict[str, Any]] = {}
    has_streams = False
    data = read_bytes(path, "session")
    check_items(count_lines(data), str(path), "session")
    for number, line in enumerate(decode(data, str(path)).splitlines(), 1):
        try:
            report = parse_json(line.encode(), str(path), "session")["stats"]
            has_streams = has_streams or any(one["type"].endswith("-rtp") for one in report)
            latest = {str(one.get("id", f"{one['type']} {one.get('ssrc')}")): one for one in report}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RecordingError(
                f'{path}: line {number} is no statistics ({error!r}); write {{"at_s": 1.0, "stats": [...]}} a line'
            ) from error
        found.update(latest)
    if not has_streams:
        raise RecordingError(f"{path}: no line describes a stream; the session was not established")
    return list(found.values())


def compare_ends(
    sender: Sequence[Mapping[str, Any]],
    receiver: Sequence[Mapping[str, Any]],
    streams: Sequence[Stream],
    ways: Mapping[tuple[str, str], NDArray[np.float64]],
) -> list[Row]:
    """Compares each sent stream as seen by the two ends and by the router.

    Args:
        sender: The sending end's last statistics.
        receiver: The receiving end's last statistics.
        streams: Streams of the recording.
        ways: One-way delays of the recording's other datagrams, by source and destination address.

    Raises:
        RecordingError: A stream of the session is not in the recording.
    """
    rows: list[Row] = []
    for out in (one for one in sender if one["type"] == "outbound-rtp"):
        kind, clock = str(out["kind"]), CLOCKS.get(str(out["kind"]), 90_000)
        stream = next((one for one in streams if one.ssrc == out["ssrc"]), None)
        if stream is None:
            raise RecordingError(
                f"the {kind} with synchronisation source {out['ssrc']} is not in the recording; "
                "take the statistics and the recording of one run"
            )
        # A sender that retransmits has a second stream of the same kind.
        inbound = next(
            (one for one in receiver if one["type"] == "inbound-rtp" and one["ssrc"] == out["ssrc"]), {}
        )
        reported = next(
            (one for one in sender if one["type"] == "remote-inbound-rtp" and one["kind"] == kind), {}
        )
        lost, arrived = float(stream.lost), float(len(stream.delay_s))
        pair = (stream.source[0], stream.destination[0])
        there, back = (ways.get(one, np.zeros(0)) for one in (pair, pair[::-1]))
        known = bool(len(there) and len(back))
        around = float(np.median(there) + np.median(back)) * 1e3 if known else None
        slowest = float(there.max() + back.max()) * 1e3 if known else None
        rows += [
            Row(kind, "packets sent", out.get("packetsSent"), float(len(stream.sequence))),
            Row(kind, "bytes sent", out.get("bytesSent"), float(sum(len(one) for one in stream.payload))),
            Row(kind, "packets received", inbound.get("packetsReceived"), arrived),
            Row(kind, "packets lost", inbound.get("packetsLost"), lost),
            Row(kind, "jitter (ms)", _ms(inbound.get("jitter"), clock), _jitter_ms(stream, clock)),
            Row(kind, "lost, as reported to the sender", reported.get("packetsLost"), lost),
        ]
        said = reported.get("roundTripTime")
        rows.append(
            Row(kind, "round trip, smoothed; median (ms)", None if said is None else said * 1e3, around)
        )
        rows.append(Row(kind, "round trip, slowest (ms)", None, slowest))
    return rows


def _ms(jitter: float | None, clock: int) -> float | None:
    """Converts a jitter to milliseconds: browsers report seconds, aiortc whole units of the RTP clock."""
    if jitter is None:
        return None
    return jitter / clock * 1e3 if isinstance(jitter, int) else jitter * 1e3


def _jitter_ms(stream: Stream, clock: int) -> float:
    """Computes interarrival jitter at the end (RFC 3550 §6.4.1), only between packets of different timestamps."""
    there = ~np.isnan(stream.arrived_s)
    transit = stream.arrived_s[there] - stream.timestamp[there] / clock
    counts = np.diff(stream.timestamp[there]) != 0
    jitter = 0.0
    for difference in np.abs(np.diff(transit))[counts].tolist():
        jitter += (difference - jitter) / 16
    return jitter * 1e3
