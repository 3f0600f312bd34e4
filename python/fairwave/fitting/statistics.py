"""Fits a path to a browser's statistics: getStats() once a second, or a dump of chrome://webrtc-internals.

Such statistics have one value per second and no packets, so simulation finds rate, buffer and queue. It runs a
WebRTC session with the same highest rate over each candidate path. It then compares the statistics of both: quantiles
of the round trip above its least value, losses, the bandwidth estimate and the sent rate.

`fairwave.dumps` reads the files and lists their formats.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairwave.building import build
from fairwave.captures import CaptureError
from fairwave.dumps import from_polls, read_dump
from fairwave.dumps.connections import sum_series
from fairwave.dumps.rtcstats import MARK
from fairwave.fitting.bottleneck import Interval
from fairwave.fitting.choosing import Features, distance
from fairwave.foreign import check_gap, check_span, gated, peek

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairwave.dumps import Connection
    from fairwave.fitting.packet_arrays import Numbers
    from fairwave.scenario import Scenario

LEAST_SECONDS = 10
"""Shortest statistics that can be fitted, in seconds."""

SETTLED_S = 5
"""Seconds at the beginning that are left out, because the session starts up."""

QUEUES = ("drop-tail", "codel", "pie", "fq-codel")
RATES = (0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 4.0)
"""Rates to try, in units of the estimate's 90th percentile."""

ABOUT = 0.5
"""Explanations with a smaller difference in distance fit about equally well †."""

ONSET_S, RAISED_S, RAISED_SHARE = 5, 0.02, 0.15
"""Unseen traffic begins when round trips exceed the least for `ONSET_S` seconds, after a calm start: by `RAISED_S`,
and by `RAISED_SHARE` of the 95th percentile of the excess. Smaller excesses come from the call itself."""

LIMITED, LIMITED_S, LIMITED_LOSS = 0.9, 3, 0.01
USED, USED_SHARE = 0.8, 0.5
"""A session is limited if it sends at least `USED` of its estimate in the share `USED_SHARE` of all seconds, or if the
estimate, once high enough, stays below `LIMITED` of the highest target for `LIMITED_S` seconds. Without an estimate: if
round trips are raised for `ONSET_S` seconds, or if it loses `LIMITED_LOSS`."""

QUANTILES = (0.25, 0.5, 0.75, 0.95)

UNSEEN = (0, 1, 3)
"""Numbers of competing transfers to try."""

SCALES = {"delay": 0.2, "loss": 0.03, "rate": 0.2}
SMALLEST_S = 0.005


@dataclass(frozen=True)
class Seconds:
    """Statistics of a session at one end, one value per second; NaN for missing values.

    Attributes:
        time_s: Seconds since the first report.
        round_trip_s: Round trip, in seconds.
        available_bps: Bandwidth estimate, bit/s.
        sent_bps: Sent rate with headers, bit/s; the received rate if `is_received`.
        lost: Share of packets lost within the second, as the receiving end counts.
        most_bps: Highest sum of the encoders' target rates, bit/s; the highest sent rate if targets are missing.
        is_received: Whether the values describe received streams.
        notes: What the reader compensated for or left out, one sentence each.
    """

    time_s: Numbers
    round_trip_s: Numbers
    available_bps: Numbers
    sent_bps: Numbers
    lost: Numbers
    most_bps: float
    is_received: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def has_estimate(self) -> bool:
        """Whether the browser gave its bandwidth estimate."""
        return bool((~np.isnan(self.available_bps)).any())


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
    """Whether a file, compressed or not, looks like JSON or a file of rtcstats."""
    begin = peek(Path(path), 64)
    return begin.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in {b"{", b"["} or begin.startswith(MARK.encode())


@gated("statistics", CaptureError)
def read(path: str | Path, connection: str | None = None) -> Seconds:
    """Reads the statistics of a file: the media that it sends, or, if it sends none, the media that it receives.

    Args:
        path: The file.
        connection: Name of the connection. Default: the one that sends the most media.

    Raises:
        FileNotFoundError: There is no such file.
        CaptureError: The file has no statistics of a session; the message names the missing data.
    """
    dump = read_dump(path)
    is_sending = any(stream.has_media for one in dump.connections for stream in one.sent)
    if connection is None and not any(one.streams for one in dump.connections):
        raise CaptureError(f"{path} {MISSING}")
    chosen, notes = dump.choose(connection, is_sending=is_sending)
    check_times(chosen, str(path))
    found = summarise(chosen)
    if found is None:
        raise CaptureError(f"{path} {MISSING}")
    if found.is_received:
        notes.append("The connection sends no media: the received streams show the network toward this end.")
    for one in chosen.pair_changes[:5]:
        notes.append(
            f"The path of the call changed at {one.at_s:.3g} s, from ({one.before}) to ({one.after}); one network is "
            "fitted to all of the call."
        )
    streams = chosen.received if found.is_received else chosen.sent
    ended = [one for one in streams if one.has_media and one.end_s < chosen.time_s[-1] - LEAST_SECONDS]
    if ended:
        listed = ", ".join(f"{one.label} at {one.end_s:.3g} s" for one in ended[:5])
        notes.append(f"Streams ended before the call did: {listed}.")
    return replace(found, notes=[*dump.notes, *notes])


MISSING = (
    "has no session with media: needed are `outbound-rtp` with `bytesSent` or `inbound-rtp` with `bytesReceived`, and "
    "a round trip (`currentRoundTripTime` of a `candidate-pair`, or `roundTripTime` of `remote-inbound-rtp`), for at "
    f"least {LEAST_SECONDS} s"
)


def check_times(connection: Connection, name: str) -> None:
    """Refuses a call that pauses for too long, or lasts too long, to be simulated.

    Raises:
        ForeignFileError: It does.
    """
    times = connection.time_s
    for place, gap in enumerate(np.diff(times).tolist(), 2):
        check_gap(gap, name, f"report {place}", "statistics")
    if len(times):
        check_span(float(times[-1] - times[0]), name, "statistics")


def seconds(answers: Iterable[Any]) -> Seconds | None:
    """Converts getStats() results to values per second; None if nothing is sent or the session is too short."""
    connections = from_polls({"session": answers}).connections
    return summarise(connections[0]) if connections else None


USUAL_STEP_S = (0.75, 1.3)
"""Polls with an interval in this range count as one per second."""


def summarise(connection: Connection) -> Seconds | None:
    """Returns a connection's values per second; None if it has no media, no round trips, or is too short.

    If the connection sends no media, the values describe the received streams.
    """
    is_received = not any(one.has_media for one in connection.sent)
    trips, estimates = connection.round_trip_s, connection.available_bps
    if is_received:
        received = connection.received
        carried, lost = connection.received_bps, sum_series([one.lost for one in received], len(trips))
        packets = sum_series([one.packets for one in received], len(trips)) + np.nan_to_num(lost)
        targets, estimates = carried, np.full(len(trips), np.nan)
    else:
        carried, lost, packets = connection.sent_bps, connection.lost, connection.packets_sent
        targets = connection.target_bps
    times = connection.time_s
    if len(times) < 2 or times[-1] - times[0] < LEAST_SECONDS - 1:
        return None
    if np.isnan(trips).all() or not (carried > 0).any():
        return None
    step = float(np.median(np.diff(times)))
    at = times - times[0]
    if not USUAL_STEP_S[0] <= step <= USUAL_STEP_S[1]:
        at = np.arange(0, np.floor(times[-1] - times[0]) + 1)
        whole = at + times[0]
        index = np.minimum(np.searchsorted(times, whole - 1e-6), len(times) - 1)
        trips, estimates, targets = trips[index], estimates[index], targets[index]
        carried = _resample(carried * np.diff(times, prepend=np.nan), times, whole)
        lost, packets = (_resample(one, times, whole) for one in (lost, packets))
    shares = np.clip(lost / np.maximum(packets, 1), 0, 1)
    most = targets if (~np.isnan(targets)).any() else carried
    return Seconds(
        at[1:], trips[1:], estimates[1:], np.nan_to_num(carried)[1:], shares[1:], float(np.nanmax(most)), is_received
    )  # fmt: skip


def simulate(made: Scenario, seed: int, *, is_received: bool) -> Seconds | None:
    """Runs an explanation's scenario, and returns what the same end would see per second.

    A simulated receiver has no round trips, so the sender's count.
    """
    from fairwave.getstats import reports

    session = reports(made.run(seed))[0]
    dump = from_polls({"sender": session.sender, "receiver": session.receiver})
    ends = {one.name: one for one in dump.connections}
    if "sender" not in ends:
        return None
    found = summarise(ends["sender"])
    if found is None or not is_received:
        return found
    if "receiver" not in ends:
        return None
    far = ends["receiver"]
    at = found.time_s + ends["sender"].time_s[0]
    index = np.clip(np.searchsorted(far.time_s, at - USUAL_STEP_S[0] / 2), 0, len(far.time_s) - 1)
    lost = sum_series([one.lost for one in far.received], len(far.time_s))
    packets = sum_series([one.packets for one in far.received], len(far.time_s)) + np.nan_to_num(lost)
    shares = np.clip(lost / np.maximum(packets, 1), 0, 1)[index]
    return replace(
        found, sent_bps=np.nan_to_num(far.received_bps[index]), lost=shares, is_received=True,
        available_bps=np.full(len(at), np.nan),
    )  # fmt: skip


def _resample(grown: Numbers, times: Numbers, whole: Numbers) -> Numbers:
    """Returns how much a quantity grows before each full second, from its growth before each poll."""
    if np.isnan(grown).all():
        return np.full(len(whole), np.nan)
    return np.diff(np.interp(whole, times, np.nancumsum(grown)), prepend=np.nan)


def features(what: Seconds) -> Features:
    """Returns the compared features: quantiles of the round trip, losses, and rates in each third of the session."""
    chosen = what.time_s >= min(SETTLED_S, what.time_s[-1] / 4)
    found: Features = {}
    known = ~np.isnan(what.round_trip_s)
    raised = what.round_trip_s[chosen & known] - np.nanmin(what.round_trip_s)
    for part in QUANTILES:
        value = float(np.quantile(raised, part)) if len(raised) else 0.0
        found[f"round trip {part:g}"] = (float(np.log1p(value / SMALLEST_S)), SCALES["delay"])
    losses = what.lost[chosen & ~np.isnan(what.lost)]
    if len(losses):
        found["loss"] = (float(np.sqrt(losses.mean())), SCALES["loss"])
    thirds = np.array_split(np.flatnonzero(chosen), 3)
    for name, values in (("sent", what.sent_bps), ("estimate", what.available_bps)):
        for index, third in enumerate(thirds, 1):
            there = values[third][~np.isnan(values[third])]
            if len(there):
                found[f"{name} {index}"] = (float(np.log(max(there.mean(), 5e4))), SCALES["rate"])
    return found


def scenario(what: Seconds, one: Explanation, name: str) -> Scenario:
    """Builds the scenario of an explanation: the session over a bottleneck, from this end or toward it."""
    trip = float(np.nanmin(what.round_trip_s))
    start, end = ("far", "here") if what.is_received else ("here", "far")
    flows: list[dict[str, Any]] = [{
        "name": "call", "from": start, "to": end, "transport": "webrtc",
        "traffic": {"kind": "media", "video": {"most": f"{max(what.most_bps, 2e5):.6g} b/s"}},
    }]  # fmt: skip
    if one.unseen:
        flows.append({
            "name": "unseen", "from": start, "to": end, "count": one.unseen,
            "transport": "tcp/cubic", "traffic": "bulk",
            **({"start": f"{one.since_s:g} s"} if one.since_s else {}),
        })  # fmt: skip
    link = {
        "from": start, "to": end, "rate": f"{one.rate:.6g} b/s", "delay": f"{trip / 2 * 1e3:.4g} ms",
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
    least = max(RAISED_S, RAISED_SHARE * float(np.quantile(middle, 0.95)))
    for index in range(ONSET_S, len(middle) - ONSET_S):
        if (middle[index : index + ONSET_S] > least).all():
            calm = np.median(middle[:index]) < least / 2
            return float(what.time_s[index]) if calm else 0.0
    return 0.0


def is_limited(what: Seconds) -> bool:
    """Whether the session met the limit of a link: it was allowed less than it wanted to send."""
    settled = what.time_s >= min(SETTLED_S, what.time_s[-1] / 4)
    known = settled & ~np.isnan(what.available_bps)
    if known.any():
        uses_all = what.sent_bps[known] >= USED * what.available_bps[known]
        if uses_all.mean() >= USED_SHARE:
            return True
        least = what.available_bps[known] < LIMITED * what.most_bps
        # An estimate that only rises at the beginning is not a limit yet.
        return bool(least.all() or least[int((~least).argmax()) :].sum() >= LIMITED_S)
    trips = what.round_trip_s[settled & ~np.isnan(what.round_trip_s)]
    raised = trips > np.nanmin(what.round_trip_s) + RAISED_S
    runs = np.convolve(raised, np.ones(ONSET_S), "valid") if len(raised) >= ONSET_S else np.zeros(1)
    losses = what.lost[settled & ~np.isnan(what.lost)]
    return bool(runs.max() >= ONSET_S or (len(losses) > 0 and losses.mean() >= LIMITED_LOSS))


def estimate_range(what: Seconds) -> tuple[float, float]:
    """Returns the 5th and the 95th percentile of the browser's bandwidth estimate after the start, in bit/s."""
    settled = what.time_s >= min(SETTLED_S, what.time_s[-1] / 4)
    chosen = what.available_bps[settled]
    if np.isnan(chosen).all():
        chosen = what.available_bps
    low, high = np.nanquantile(chosen, [0.05, 0.95])
    return float(low), float(high)


def highest_rate(what: Seconds) -> float:
    """The highest rate of the session within a second, in bit/s."""
    return float(np.nanmax(what.sent_bps))


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
    wanted, tried = features(what), explanations(what, rate)
    apart, size = [], 1
    for index, one in enumerate(tried, 1):
        made = scenario(what, one, "candidate")
        several = []
        for seed in range(1, seeds + 1):
            got = simulate(made, seed, is_received=what.is_received)
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
    """Returns the best explanation's rate, with the range of explanations that fit about as well.

    The range ends midway (on a logarithmic scale) between the last rate that fits and the next rate that was tried.
    """
    best = found[0]
    return widen(best.rate, {one.rate for one in alike(found)}, {one.rate for one in found})


def buffer_interval(found: list[Explanation]) -> Interval | None:
    """Returns the best explanation's buffer, with the range of those that fit about as well; None without tail drop.

    With each rate, one buffer was tried: the one that gives the highest round trip.
    """
    tails = [one for one in found if one.queue == "drop-tail"]
    if found[0].queue != "drop-tail":
        return None
    return widen(
        found[0].buffer,
        {one.buffer for one in alike(found) if one.queue == "drop-tail"},
        {one.buffer for one in tails},
    )


def alike(found: list[Explanation]) -> list[Explanation]:
    """Returns the explanations that fit about as well as the best one, of any family."""
    return [one for one in found if one.distance <= found[0].distance + ABOUT]


def widen(value: float, fitting: set[float], tried: set[float]) -> Interval:
    """Returns the range of the fitting values, each end midway to the next tried value; marks ends of the grid."""
    grid = sorted(tried)
    first, last = grid.index(min(fitting)), grid.index(max(fitting))
    low = np.sqrt(grid[first] * grid[first - 1]) if first else grid[0]
    high = np.sqrt(grid[last] * grid[last + 1]) if last + 1 < len(grid) else grid[-1]
    at_low, at_high = not first, last + 1 == len(grid)
    edge: Literal["", "low", "high", "both"] = (
        "both" if at_low and at_high else "low" if at_low else "high" if at_high else ""
    )
    return Interval(value, float(low), float(high), edge)
