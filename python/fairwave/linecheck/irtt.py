"""Reads irtt measurements: `irtt client -i 20ms -l 172 -o line.json HOST` (heistp/irtt), with times of `round_trips`.

Delays are differences of monotonic clocks if both ends have them, otherwise of wall clocks. One-way delays count
from the least of their direction. A user or NTP may set a wall clock during the measurement. Each round trip bounds
the offset of the two clocks: the offset is between minus the delay back and the delay there. If two round trips leave
no common offset, a clock was set between them, and delays count anew from that packet on. A packet that irtt calls lost
without a direction counts as lost in both.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.foreign import ForeignFileError, check_span, gated, parse_json, read_bytes, unpack_gzip
from fairwave.linecheck.line import Line, Probes, Span, arrival_places
from fairwave.linecheck.verdict import PACKET_S
from fairwave.live.rating import MOST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LEAST = 50
"""Smallest number of round trips for a verdict on calls."""


DRIFT = 500e-6
"""Largest drift between two clocks, as a share of the time. Quartz clocks have a tenth of it."""

SLACK_NS = 1_000_000
"""Accuracy of a program's time stamps, in nanoseconds."""


class IrttError(ForeignFileError):
    """The file cannot be read as irtt's; the message says what to do."""


@gated("irtt", IrttError)
def read(path: str | Path) -> Line:
    """Reads a line measured by irtt.

    Raises:
        FileNotFoundError: There is no such file.
        IrttError: The file is not irtt's, or lacks data that a verdict needs.
    """
    path = Path(path)
    found = _document(path)
    trips = found.get("round_trips")
    if not isinstance(trips, list):
        raise IrttError(f"{path} has no list round_trips: give what `irtt client -o FILE.json HOST` writes")
    interval = _interval(path, found)
    notes = ["irtt puts no load on the line: whether a transfer spoils calls, the file does not say."]
    if len(trips) > MOST:
        notes.append(f"Of {len(trips)} packets the first {MOST} count.")
        trips = trips[:MOST]
    rows = []
    try:
        for one in trips:
            rows.append(_row(one))  # noqa: PERF401 -- the error message needs the number of rows so far
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise IrttError(
            f"{path}: round_trips[{len(rows)}] has not the fields that irtt writes (seqno, lost, timestamps)"
        ) from None
    if sum(row["came"] for row in rows) < LEAST:
        raise IrttError(
            f"{path} has {sum(row['came'] for row in rows)} answered packets, but {LEAST} are needed: measure for "
            "longer, for example `irtt client -i 20ms -l 172 -d 60s -o line.json HOST`"
        )
    clock = next(
        (one for one in ("monotonic", "wall") if all(_has(row, one) for row in rows if row["came"])), None
    )
    if clock is None:
        raise IrttError(
            f"{path} has no times of the server: run `irtt client` with --tstamp=both (its default) and --clock=both"
        )
    _check_times(path, rows)
    unknown = sum(row["lost"] == "true" for row in rows)
    if unknown:
        notes.append(f"{unknown} losses have no direction in the file: they count in both.")
    length = found["config"]["params"].get("length")
    size = length if isinstance(length, int) and 0 < length < 1 << 16 else 172
    line = _line(path, rows, clock, interval, 28 + size, notes)
    check_span(line.spans[-1].to_s, str(path), "irtt")
    return line


def _line(
    path: Path, rows: Sequence[dict[str, Any]], clock: str, interval: float, size: int, notes: list[str]
) -> Line:
    parts = _parts(rows, clock)
    if steps := int(parts[-1]):
        notes.append(
            f"A clock was set during the measurement ({steps} time{'s' if steps > 1 else ''}). Delays count from the "
            "least of each part between."
        )
    sent = _sent(rows, clock, parts, interval)
    there = [row["there"].get(clock) if row["lost"] in {"false", "true_down"} else None for row in rows]
    up = _delays(there, [row["sent"][clock] for row in rows], parts)
    is_replied = np.asarray([row["lost"] != "true_up" for row in rows])
    replied = [row for row in rows if row["lost"] != "true_up"]
    down = _delays(
        [row["back"].get(clock) if row["came"] else None for row in replied],
        [row["left"].get(clock) for row in replied],
        parts[is_replied],
    )
    # irtt drops the server's times of packets that were lost on the way back, although they arrived at the server.
    known = np.asarray([row["lost"] != "true_down" for row in rows])
    up_known = Probes(sent[known], up[known], arrival_places(sent[known] + up[known]))
    went = sent[is_replied]
    came = np.asarray([row["came"] for row in rows])
    trips = np.asarray([_trip(row, clock) for row in rows if row["came"]]) / 1e9
    whole = trips > -SLACK_NS / 1e9
    if not whole.all():
        notes.append(
            f"{np.count_nonzero(~whole)} round trips were negative, because a clock was set: they do not count."
        )
    if not trips[whole].any():
        notes.append("All round trips are 0: the clocks are too coarse to tell the delay of the line.")
    return Line(
        path.name, interval, size, [Span("recorded", 0.0, float(sent[-1]) + interval)],
        {"up": up_known, "down": Probes(went, down, arrival_places(went + down))},
        sent[came][whole], np.maximum(trips[whole], 0.0), {}, notes,
    )  # fmt: skip


def _trip(row: dict[str, Any], clock: str) -> int:
    """Returns the round trip without the wait at the server, in nanoseconds."""
    trip: int = row["back"][clock] - row["sent"][clock] - (row["left"][clock] - row["there"][clock])
    return trip


def _parts(rows: Sequence[dict[str, Any]], clock: str) -> NDArray[np.int64]:
    """Returns for each row how often a clock was set before it."""
    found = np.zeros(len(rows), dtype=np.int64)
    part, low, high, last = 0, -np.inf, np.inf, 0
    for place, row in enumerate(rows):
        if row["came"] and _trip(row, clock) > -SLACK_NS:
            # Subtract integers: a float has too few digits for nanoseconds since 1970.
            most = row["there"][clock] - row["sent"][clock]
            least = row["left"][clock] - row["back"][clock]
            drift = DRIFT * abs(row["sent"][clock] - last)
            low, high = max(low - drift, least - SLACK_NS), min(high + drift, most + SLACK_NS)
            if low > high:
                part, low, high = part + 1, least - SLACK_NS, most + SLACK_NS
            last = row["sent"][clock]
        found[place] = part
    return found


def _sent(
    rows: Sequence[dict[str, Any]], clock: str, parts: NDArray[np.int64], interval: float
) -> NDArray[np.float64]:
    """Returns the sending time of each packet, in seconds from the first, without jumps of a clock."""
    steady = "monotonic" if all("monotonic" in row["sent"] for row in rows) else clock
    times = np.asarray([row["sent"][steady] for row in rows], dtype=np.int64)
    steps = np.diff(times) / 1e9
    if steady != "monotonic":
        is_set = (np.diff(parts) > 0) | (steps < 0)
        steps[is_set] = interval
    return np.concatenate([[0.0], np.cumsum(steps)])


def _delays(to: Sequence[int | None], since: Sequence[int | None], parts: NDArray[np.int64]) -> Any:
    """Returns differences above the least of their part, in seconds; NaN if a time is missing."""
    # Subtract integers: a float has too few digits for nanoseconds since 1970.
    both = [
        None if one is None or other is None else one - other for one, other in zip(to, since, strict=True)
    ]
    found = np.full(len(both), np.nan)
    for part in np.unique(parts):
        places = [place for place in np.flatnonzero(parts == part).tolist() if both[place] is not None]
        if places:
            known = [both[place] or 0 for place in places]
            least = min(known)
            found[places] = [(one - least) / 1e9 for one in known]
    return found


def _document(path: Path) -> dict[str, Any]:
    data = read_bytes(path, "irtt")
    if data[:2] == b"\x1f\x8b":
        data = unpack_gzip(data, str(path), "irtt")
    found = parse_json(data, str(path), "irtt")
    if not isinstance(found, dict):
        raise IrttError(f"{path} is no JSON object: give what `irtt client -o FILE.json HOST` writes")
    return found


def _interval(path: Path, found: dict[str, Any]) -> float:
    try:
        interval = float(found["config"]["params"]["interval"]) / 1e9
    except (KeyError, TypeError, ValueError, OverflowError):
        raise IrttError(
            f"{path} has no config.params.interval: give what `irtt client -o FILE.json HOST` writes"
        ) from None
    if not PACKET_S[0] <= interval <= PACKET_S[1]:
        raise IrttError(
            f"{path} has a packet every {interval * 1e3:g} ms, but a call's packets come every {PACKET_S[0] * 1e3:g} "
            f"to {PACKET_S[1] * 1e3:g} ms: measure with `irtt client -i 20ms -l 172 -o line.json HOST`"
        )
    return interval


def _row(one: dict[str, Any]) -> dict[str, Any]:
    """Parses one round trip: its fate, and its times in whole nanoseconds."""
    lost = str(one["lost"]).lower()
    if lost not in {"false", "true", "true_up", "true_down"}:
        raise ValueError(lost)
    client, server = one["timestamps"]["client"], one["timestamps"].get("server") or {}
    there, left = _times(server.get("receive")), _times(server.get("send"))
    # With --tstamp=receive, send or midpoint, the server reports only one time: use it for both.
    there, left = {**left, **there}, {**there, **left}
    sent, back = _times(client["send"]), _times(client.get("receive"))
    if not sent:
        raise ValueError("never sent")
    return {
        "lost": lost, "came": lost == "false", "sent": sent, "back": back, "there": there, "left": left,
    }  # fmt: skip


LATEST_NS = 2**62
"""Limit on the absolute value of times in nanoseconds: the year 2116. So differences fit 64 bits."""


def _check_times(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Rejects times that no clock shows."""
    for number, row in enumerate(rows):
        for name, several in ((name, row[name]) for name in ("sent", "there", "left", "back")):
            for clock, time in several.items():
                if abs(time) >= LATEST_NS:
                    raise IrttError(
                        f"{path}: round_trips[{number}] has the {clock} time {time} ({name}): irtt writes "
                        f"nanoseconds below {LATEST_NS}"
                    )


def _times(found: dict[str, Any] | None) -> dict[str, int]:
    return {name: int(found[name]) for name in ("wall", "monotonic") if found and found.get(name)}


def _has(row: dict[str, Any], clock: str) -> bool:
    return all(clock in row[name] for name in ("sent", "there", "left", "back"))
