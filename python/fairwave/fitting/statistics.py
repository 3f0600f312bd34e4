"""Fits a path to a browser's statistics: getStats() once a second, or a dump of chrome://webrtc-internals.

Such statistics have one value per second and no packets, so simulation finds rate, buffer and queue. It runs a
WebRTC session with the same highest rate over each candidate path. It then compares the statistics of both: quantiles
of the round trip above its least value, losses, the bandwidth estimate and the sent rate.

Three kinds of files can be read: output of `fairwave run --stats` (`{"sender": […], "receiver": […]}`), a list of
getStats() results (each a table or a list of reports), and a dump of chrome://webrtc-internals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.building import build
from fairwave.fitting.bottleneck import Interval
from fairwave.fitting.candidates import FAMILIES
from fairwave.fitting.choosing import Features, distance
from fairwave.foreign import (
    ForeignFileError,
    check_gap,
    check_items,
    check_span,
    gated,
    parse_json,
    read_bytes,
)
from fairwave.replay.packets import CaptureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fairwave.fitting.packet_arrays import Numbers
    from fairwave.scenario import Scenario

LEAST_SECONDS = 10
"""Shortest statistics that can be fitted, in seconds."""

ALLOWED = {
    "at": 1e12,
    "trip": 60.0,
    "available": 1e12,
    "bytes": 1e15,
    "packets": 1e12,
    "lost": 1e12,
    "target": 1e12,
}
"""The largest value of each quantity, in seconds, bit/s, bytes and packets; none is negative, except for losses."""

SETTLED_S = 5
"""Seconds at the beginning that are left out, because the session starts up."""

QUEUES = ("drop-tail", "codel", "pie", "fq-codel")
RATES = (0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 4.0)
"""Rates to try, in units of the estimate's 90th percentile."""

ABOUT = 0.5
"""Explanations with a smaller difference in distance fit about equally well †."""

ONSET_S, RAISED_S, CALM_S = 5, 0.02, 0.01
"""Unseen traffic begins when round trips exceed the least by `RAISED_S` for `ONSET_S` seconds, after a calm start."""

QUANTILES = (0.25, 0.5, 0.75, 0.95)

UNSEEN = (0, 1, 3)
"""Numbers of competing transfers to try."""

SCALES = {"delay": 0.2, "loss": 0.03, "rate": 0.2}
SMALLEST_S = 0.005


@dataclass(frozen=True)
class Seconds:
    """Statistics of a session's sending side, one value per second; NaN for missing values.

    Attributes:
        time_s: Seconds since the first report.
        round_trip_s: Round trip, in seconds.
        available_bps: Bandwidth estimate, bit/s.
        sent_bps: Sent rate with headers, bit/s.
        lost: Share of packets that the other end reports lost within the second.
        most_bps: Highest sum of the encoders' target rates, bit/s.
    """

    time_s: Numbers
    round_trip_s: Numbers
    available_bps: Numbers
    sent_bps: Numbers
    lost: Numbers
    most_bps: float


@dataclass(frozen=True)
class Explanation:
    """A path that may explain the statistics.

    Attributes:
        rate: Rate of the bottleneck, bit/s.
        queue: Discipline of the bottleneck.
        buffer: Bytes of the bottleneck's buffer.
        unseen: Number of competing CUBIC transfers.
        since_s: Begin of these transfers, in seconds.
        distance: Distance from the statistics, in units of tolerance.
        weight: Its share of all weights.
    """

    rate: float
    queue: str
    buffer: int
    unseen: int
    since_s: float = 0.0
    distance: float = float("inf")
    weight: float = 0.0


def is_statistics(path: str | Path) -> bool:
    """Whether a file looks like JSON."""
    try:
        with Path(path).open("rb") as file:
            return file.read(64).lstrip()[:1] in (b"{", b"[")
    except OSError:
        return False


@gated("statistics", CaptureError)
def read(path: str | Path) -> Seconds:
    """Reads the statistics of a file.

    Raises:
        FileNotFoundError: There is no such file.
        CaptureError: The file has no statistics of a sending session; the message names the missing data.
    """
    where = Path(path)
    if not where.is_file():
        raise FileNotFoundError(f"no file {str(path)!r}")
    found = parse_json(read_bytes(where, "statistics"), str(path), "statistics")
    if isinstance(found, dict) and isinstance(found.get("PeerConnections"), dict):
        several = [
            _from_dump(one, str(path)) for one in found["PeerConnections"].values() if isinstance(one, dict)
        ]
    elif isinstance(found, dict) and isinstance(found.get("sender"), list):
        several = [found["sender"]]
    elif isinstance(found, list):
        several = [found]
    else:
        raise CaptureError(
            f"{path} has no statistics: write a list of what getStats() answered once a second, or a dump of "
            "chrome://webrtc-internals"
        )
    several = [checked(one, str(path)) for one in several]
    sending = [one for one in map(seconds, several) if one is not None]
    if not sending:
        raise CaptureError(
            f"{path} has no session that sends: needed are `outbound-rtp` with `bytesSent`, and `candidate-pair` with "
            f"`currentRoundTripTime` and `availableOutgoingBitrate`, for at least {LEAST_SECONDS} s"
        )
    # Among several connections, choose the one with the least bandwidth.
    return min(
        sending, key=lambda one: float(np.nanmean(one.available_bps)) if len(one.available_bps) else 0.0
    )


def _reports(answer: Any) -> Iterable[Mapping[str, Any]]:
    values = answer.values() if isinstance(answer, dict) else answer if isinstance(answer, list) else ()
    return (one for one in values if isinstance(one, dict) and isinstance(one.get("type"), str))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else float("nan")


def checked(answers: list[Any], name: str) -> list[Any]:
    """Returns getStats() results after checking that their values can be those of a call.

    Raises:
        ForeignFileError: A value is out of range, or a pause or the whole session is too long.
    """
    last = first = None
    for place, row in enumerate(_rows(answers)):
        for key, most in ALLOWED.items():
            if row[key] > most or (row[key] < 0 and key not in {"lost", "at"}) or np.isinf(row[key]):
                raise CaptureError(
                    f"{name}: report {place + 1} has {row[key]:.6g} for {NAMES[key]}: write a value from 0 to {most:g}"
                )
        first = row["at"] if first is None else first
        if last is not None:
            check_gap(row["at"] - last, name, f"report {place + 1}", "statistics")
        last = row["at"]
        check_span(last - first, name, "statistics")
    return answers


NAMES = {
    "at": "timestamp (s)", "trip": "the round trip (s)", "available": "availableOutgoingBitrate", "bytes": "bytesSent",
    "packets": "packetsSent", "lost": "packetsLost", "target": "targetBitrate",
}  # fmt: skip
"""Names of the values in messages."""


def _rows(answers: Iterable[Any]) -> Iterator[dict[str, float]]:
    """Yields the values of each getStats() result that has a time."""
    for answer in answers:
        row = {
            "at": np.nan,
            "trip": np.nan,
            "available": np.nan,
            "bytes": 0.0,
            "packets": 0.0,
            "lost": 0.0,
            "target": 0.0,
        }
        for report in _reports(answer):
            kind = report["type"]
            if kind == "outbound-rtp":
                row["at"] = _number(report.get("timestamp")) / 1e3
                row["bytes"] += _or_zero(report, "bytesSent") + _or_zero(report, "headerBytesSent")
                row["packets"] += _or_zero(report, "packetsSent")
                row["target"] += _or_zero(report, "targetBitrate")
            elif kind == "remote-inbound-rtp":
                row["lost"] += _or_zero(report, "packetsLost")
                if np.isnan(row["trip"]):
                    row["trip"] = _number(report.get("roundTripTime"))
            elif kind == "candidate-pair" and not np.isnan(_number(report.get("availableOutgoingBitrate"))):
                row["available"] = _number(report.get("availableOutgoingBitrate"))
                trip = _number(report.get("currentRoundTripTime"))
                row["trip"] = row["trip"] if np.isnan(trip) else trip
        if not np.isnan(row["at"]):
            yield row


def seconds(answers: list[Any]) -> Seconds | None:
    """Converts getStats() results to values per second; None if nothing is sent or the session is too short."""
    rows = list(_rows(answers))
    if len(rows) < LEAST_SECONDS:
        return None
    column = {name: np.asarray([row[name] for row in rows], float) for name in rows[0]}
    gaps = np.diff(column["at"])
    keep = np.concatenate([[True], gaps > 0])
    column = {name: values[keep] for name, values in column.items()}
    gaps = np.diff(column["at"])
    if len(gaps) < LEAST_SECONDS - 1 or np.isnan(column["trip"]).all() or np.isnan(column["available"]).all():
        return None
    packets = np.maximum(np.diff(column["packets"]), 1)
    return Seconds(
        column["at"][1:] - column["at"][0], column["trip"][1:], column["available"][1:],
        8 * np.diff(column["bytes"]) / gaps, np.clip(np.diff(column["lost"]) / packets, 0, 1),
        float(np.nanmax(column["target"])),
    )  # fmt: skip


def _or_zero(report: Mapping[str, Any], name: str) -> float:
    value = _number(report.get(name))
    return 0.0 if np.isnan(value) else value


def _from_dump(peer: Mapping[str, Any], name: str) -> list[dict[str, dict[str, Any]]]:
    """Converts a peer connection of a dump to the form of getStats() results, one per sample."""
    stats = peer.get("stats")
    answers: list[dict[str, dict[str, Any]]] = []
    count = 0
    for key, one in stats.items() if isinstance(stats, dict) else ():
        report, dash, member = key.rpartition("-")
        if not dash or not isinstance(one, dict):
            continue
        written = one.get("values", "[]")
        if not isinstance(written, str):
            continue
        try:
            values = parse_json(written.encode(), name, "statistics")
        except ForeignFileError:
            continue
        if not isinstance(values, list):
            continue
        count += len(values)
        check_items(count, name, "statistics")
        member = "timestamp" if member == "[timestamp]" else member
        for index, value in enumerate(values):
            while len(answers) <= index:
                answers.append({})
            answers[index].setdefault(report, {"type": one.get("statsType", "")})[member] = value
    return answers


def features(what: Seconds) -> Features:
    """Returns the compared features: quantiles of the round trip, losses, and rates in each third of the session."""
    chosen = what.time_s >= min(SETTLED_S, what.time_s[-1] / 4)
    found: Features = {}
    known = ~np.isnan(what.round_trip_s)
    raised = what.round_trip_s[chosen & known] - np.nanmin(what.round_trip_s)
    for part in QUANTILES:
        value = float(np.quantile(raised, part)) if len(raised) else 0.0
        found[f"round trip {part:g}"] = (float(np.log1p(value / SMALLEST_S)), SCALES["delay"])
    found["loss"] = (float(np.sqrt(max(np.nanmean(what.lost[chosen]), 0.0))), SCALES["loss"])
    thirds = np.array_split(np.flatnonzero(chosen), 3)
    for name, values in (("sent", what.sent_bps), ("estimate", what.available_bps)):
        for index, third in enumerate(thirds, 1):
            there = values[third][~np.isnan(values[third])]
            if len(there):
                found[f"{name} {index}"] = (float(np.log(max(there.mean(), 5e4))), SCALES["rate"])
    return found


def scenario(what: Seconds, one: Explanation, name: str) -> Scenario:
    """Builds the scenario of an explanation: the session over a bottleneck."""
    trip = float(np.nanmin(what.round_trip_s))
    flows: list[dict[str, Any]] = [{
        "name": "call", "from": "here", "to": "far", "transport": "webrtc",
        "traffic": {"kind": "media", "video": {"most": f"{max(what.most_bps, 2e5):.6g} b/s"}},
    }]  # fmt: skip
    if one.unseen:
        flows.append({
            "name": "unseen", "from": "here", "to": "far", "count": one.unseen,
            "transport": "tcp/cubic", "traffic": "bulk",
            **({"start": f"{one.since_s:g} s"} if one.since_s else {}),
        })  # fmt: skip
    link = {
        "from": "here", "to": "far", "rate": f"{one.rate:.6g} b/s", "delay": f"{trip / 2 * 1e3:.4g} ms",
        "queue": {"discipline": one.queue, "capacity": {"bytes": one.buffer}},
        "reverse": {"rate": "100 Mb/s", "queue": "drop-tail"},
    }  # fmt: skip
    return build(name, f"{np.ceil(what.time_s[-1]):g} s", links=[link], flows=flows, preset="linux")


def onset(what: Seconds) -> float:
    """Returns when round trips begin to stay above the least after a calm start, in seconds; 0 if they do not."""
    trips = what.round_trip_s
    raised = np.interp(what.time_s, what.time_s[~np.isnan(trips)], trips[~np.isnan(trips)]) - np.nanmin(trips)
    # A value can date from the second before, so smooth with the median of three.
    middle = np.median(np.lib.stride_tricks.sliding_window_view(np.pad(raised, 1, "edge"), 3), axis=1)
    for index in range(ONSET_S, len(middle) - ONSET_S):
        if (middle[index : index + ONSET_S] > RAISED_S).all():
            calm = np.median(middle[:index]) < CALM_S
            return float(what.time_s[index]) if calm else 0.0
    return 0.0


def least_round_trip(what: Seconds) -> float:
    """The least round trip, in seconds."""
    return float(np.nanmin(what.round_trip_s))


def explanations(what: Seconds, rate: float | None = None) -> list[Explanation]:
    """Returns all explanations to try; only those of `rate` if it is given."""
    chosen = what.available_bps[~np.isnan(what.available_bps)]
    highest = float(np.quantile(chosen if len(chosen) else what.sent_bps, 0.9))
    trips = what.round_trip_s[~np.isnan(what.round_trip_s)]
    deepest = max(float(np.quantile(trips, 0.98) - trips.min()), 0.01)
    found = []
    since = onset(what)
    for tried in [rate] if rate else [highest * part for part in RATES]:
        for unseen in UNSEEN:
            for queue in QUEUES:
                buffer = (
                    int(tried * deepest / 8) if queue == "drop-tail" else int(max(tried * 0.5 / 8, 30_000))
                )
                found.append(Explanation(tried, queue, max(buffer, 3_000), unseen, since if unseen else 0.0))
    return found


def choose(
    what: Seconds,
    seeds: int = 2,
    progress: Callable[[int, int], None] | None = None,
    rate: float | None = None,
) -> list[Explanation]:
    """Returns all explanations with their weights, the best first."""
    from fairwave.getstats import reports

    wanted, tried = features(what), explanations(what, rate)
    apart, size = [], 1
    for index, one in enumerate(tried, 1):
        made = scenario(what, one, "candidate")
        several = []
        for seed in range(1, seeds + 1):
            got = seconds(reports(made.run(seed))[0].sender)
            if got is not None:
                several.append(features(got))
        far, size = distance(wanted, several) if several else (float("inf"), size)
        apart.append(far)
        if progress is not None:
            progress(index, len(tried))
    logs = -size * np.square(apart) / 2
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    found = [
        replace(one, distance=float(far), weight=float(weight))
        for one, far, weight in zip(tried, apart, weights, strict=True)
    ]
    return sorted(found, key=lambda one: (-one.weight, one.distance))


def rate_interval(found: list[Explanation]) -> Interval:
    """Returns the best explanation's rate, with the range of its family's explanations that fit about as well."""
    best = found[0]
    alike = [
        one.rate
        for one in found
        if FAMILIES[one.queue] == FAMILIES[best.queue] and one.distance <= best.distance + ABOUT
    ]
    return Interval(best.rate, min(alike), max(alike))
