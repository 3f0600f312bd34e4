"""Recognises streams that repair others: retransmissions (RTX, RFC 4588) and forward error correction (FEC).

A session description names them. Without one, their shape shows them:

- A retransmission has the timestamp of the repaired packet, and its payload is two bytes longer. Without encryption
  these two bytes are the repaired sequence number (OSN).
- FlexFEC names the protected source in its payload or in its list of sources (RFC 8627 §4.2). ULPFEC begins with the
  first protected sequence number (RFC 5109 §7.3). Encryption hides both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairwave.captures.payload_types import FORWARD_ERROR_CORRECTION, RETRANSMISSION, STATIC, PayloadFormat

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairwave.captures.payload_types import Description
    from fairwave.captures.streams import Role, Stream

    Records = NDArray[np.void]

ALIKE = 0.8
"""Share of the packets that must have the shape."""

EQUAL_SIZES = 0.5
"""Least share of encrypted retransmissions with an original, or an equal packet, that arrived."""

NEAR_TICKS = 1_000_000
"""Largest distance of a repaired timestamp from the current timestamp of the media: 11 s of video."""

NEAR_NUMBERS = 64
"""Largest distance of the first protected number from the last one sent: ULPFEC protects at most 48 packets."""

MOST_COMPARED = 40
"""Largest number of streams between two hosts that are compared by their shape."""


class Sample(NamedTuple):
    """First bytes of a packet: arrival in ns, header of RTP, payload."""

    at_ns: int
    header: bytes
    payload: bytes


class Candidate(NamedTuple):
    """A stream with its packets as they came."""

    stream: Stream
    records: Records
    samples: list[Sample]


def assign_roles(candidates: list[Candidate], known: Description) -> None:
    """Gives the streams between two hosts, in one direction, their roles and the repaired streams."""
    largest = sorted(candidates, key=lambda one: -len(one.records))[:MOST_COMPARED]
    undescribed = [one for one in candidates if not _assign_by_description(one, largest, known)]
    if len(undescribed) > MOST_COMPARED:
        undescribed = sorted(undescribed, key=lambda one: -len(one.records))[:MOST_COMPARED]
    for one in undescribed:
        for other in largest:
            if other.stream.role != "media" or one.stream.role != "media" or other.stream is one.stream:
                continue
            role = _compare(one, other)
            if role is not None:
                _assign(one.stream, role, other.stream)


def _assign(stream: Stream, role: Role, repaired: Stream) -> None:
    """Gives a stream a role; it has the clock of the repaired stream, if its few packets do not show one."""
    stream.role, stream.repairs = role, repaired.ssrc
    if stream.clock is None and repaired.clock is not None:
        stream.formats[stream.payload_type] = PayloadFormat(
            role, repaired.clock, repaired.payload_type, "timestamps"
        )


def _assign_by_description(one: Candidate, candidates: list[Candidate], known: Description) -> bool:
    """Assigns the role that a session description gives. Returns whether there is one."""
    stream = one.stream
    what = stream.format
    group = known.groups.get(stream.ssrc)
    codec = what.codec.lower() if what else ""
    if codec == RETRANSMISSION or (group and group[1] == "rtx"):
        stream.role = "rtx"
    elif codec in FORWARD_ERROR_CORRECTION or group:
        stream.role = "fec"
    else:
        return what is not None and what.origin == "SDP"
    if group:
        stream.repairs = group[0]
        return True
    protected = what.repairs if what else None
    fits = [
        other for other in candidates
        if other.stream is not stream and (protected is None or protected in other.stream.formats)
    ]  # fmt: skip
    shaped = next((other for other in fits if _compare(one, other) == stream.role), None)
    shaped = shaped or (fits[0] if len(fits) == 1 else None)
    stream.repairs = shaped.stream.ssrc if shaped else None
    return True


def _compare(one: Candidate, other: Candidate) -> Role | None:
    """Returns the role of a stream that repairs the other one; None if it does not."""
    same_flow = one.stream.flow == other.stream.flow
    if one.stream.payload_type in STATIC or (
        same_flow and one.stream.payload_type == other.stream.payload_type
    ):
        return None
    if _is_retransmission(one.records, other.records):
        return "rtx"
    return "fec" if _is_correction(one.samples, other) else None


def _is_retransmission(one: Records, other: Records) -> bool:
    used = one[one["padding"] == 0]
    if len(used) < 3:
        return False
    before = np.clip(np.searchsorted(other["at"], used["at"], "right") - 1, 0, None)
    distance = (used["stamp"].astype(np.int64) - other["stamp"][before] + (1 << 31)) % (1 << 32) - (1 << 31)
    if (np.abs(distance) < NEAR_TICKS).mean() < ALIKE:
        return False
    return _names_numbers(used, other) or _has_sizes(used, other)


def _names_numbers(used: Records, other: Records) -> bool:
    """Whether the payload begins with the number of a packet of that timestamp, or of a packet that is missing."""
    if len(np.unique(used["repaired"])) < len(used) / 2:
        return False
    named = np.isin(_pair(used["repaired"], used["stamp"]), _pair(other["sequence"], other["stamp"]))
    missing = ~np.isin(used["repaired"], other["sequence"])
    spans = int(other["sequence"].max()) - int(other["sequence"].min()) < 32768
    within = (used["repaired"] >= other["sequence"].min()) & (used["repaired"] <= other["sequence"].max())
    return bool((named | (missing & (within | (not spans)))).mean() >= ALIKE)


def _has_sizes(used: Records, other: Records) -> bool:
    """Whether packets of the same timestamp exist that are two bytes shorter."""
    longer = used["payload"].astype(np.int64) - 2
    found = np.isin(_pair(longer, used["stamp"]), _pair(other["payload"], other["stamp"]))
    return bool(found.mean() >= EQUAL_SIZES)


def _pair(numbers: NDArray[np.integer], stamps: NDArray[np.integer]) -> NDArray[np.int64]:
    return numbers.astype(np.int64) << 32 | stamps.astype(np.int64)


def _is_correction(samples: list[Sample], other: Candidate) -> bool:
    if not samples:
        return False
    ssrc = other.stream.ssrc.to_bytes(4, "big")
    # FlexFEC: draft 03 has the protected source in the payload, RFC 8627 in the list of sources.
    named = sum(one.payload[12:16] == ssrc or one.header[12:16] == ssrc for one in samples)
    if named >= ALIKE * len(samples):
        return True
    bases = [int.from_bytes(one.payload[2:4], "big") for one in samples if len(one.payload) >= 12]
    if len(bases) < len(samples) or len(set(bases)) < len(bases) / 2:
        return False
    at = np.asarray([one.at_ns for one in samples])
    before = np.clip(np.searchsorted(other.records["at"], at, "right") - 1, 0, None)
    behind = (other.records["sequence"][before].astype(np.int64) - np.asarray(bases)) % 65536
    is_plain = np.asarray([not one.payload[0] & 0x80 for one in samples])
    return bool(((behind < NEAR_NUMBERS) & is_plain).mean() >= ALIKE)
