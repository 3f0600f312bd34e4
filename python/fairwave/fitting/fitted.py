"""The network that explains a capture or the statistics of a call best, in words and as a scenario."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.captures import CaptureError, read_description
from fairwave.fitting import choosing, statistics
from fairwave.fitting.bottleneck import QUEUED_S, Interval, Steps
from fairwave.fitting.candidates import (
    AMPLE,
    AMPLE_BPS,
    AMPLE_S,
    FAMILIES,
    ample_rate,
    never_full,
    scenario,
)
from fairwave.fitting.observing import address, observed
from fairwave.fitting.packet_arrays import read
from fairwave.fitting.path import PathSeen, estimated
from fairwave.foreign import gated

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairwave.fitting.observing import Observed
    from fairwave.scenario import Scenario

LINKS = {"capture": "far>here", "statistics": "here>far"}
"""Bottleneck link by kind of file: toward the capturing host, or from the browser of the statistics.

Statistics that only receive show the link toward the browser, like a capture."""

MISFIT = 2.0
"""A best explanation at a larger distance explains nothing, and the fit gives no weights."""

POSSIBLE = 0.02
"""A family with at least this weight is possible."""

UNEXPLAINED = "nothing that was tried explains this"

PACKET = 1500
"""Bytes of a large packet: below this queue length, no packet waited for another."""


@dataclass(frozen=True)
class Fit:
    """A network that explains the file.

    Attributes:
        source: The file.
        kind: Kind of the file: `capture` or `statistics`.
        rate: The bottleneck's rate over time, bit/s of IP; None if the file shows no full link.
        least_rate: Lower limit of the rate, bit/s: the most bits within a second.
        doubt: Why the file shows no rate; empty if it does, or if the rate was given.
        is_rate_given: Whether the rate was given and not estimated.
        buffer: Bytes of the bottleneck's buffer; None if no overflow was seen.
        least_buffer: Bytes that the buffer holds at least.
        round_trip_s: Propagation delay in both directions together, in seconds.
        queue: The discipline that explains the file best. Without a rate, the discipline of the scenario.
        families: Weight of each family of queues, the largest first. Empty if nothing that was tried explains the file,
            or without a rate.
        random_loss: Share of packets lost while the queue is short; None if there were too few losses.
        loss_run: Mean length of runs of these losses, in packets.
        unseen: Number of uncaptured transfers that shared the bottleneck.
        unseen_from_s: Begin of these transfers, in seconds.
        distance: Distance of the best explanation, in units of tolerance; None without a rate.
        unknown: Properties that the file cannot show, one sentence each.
        notes: Repairs that the reader had to make, one sentence each.
        scenario: The network with the captured traffic.
        observed: The observed path, for captures only.
        seconds: The values per second, for statistics only.
    """

    source: str
    kind: str
    rate: Steps | None
    least_rate: float
    doubt: str
    is_rate_given: bool
    buffer: Interval | None
    least_buffer: float
    round_trip_s: float
    queue: str
    families: dict[str, float]
    random_loss: Interval | None
    loss_run: float
    unseen: int
    unseen_from_s: float
    distance: float | None
    unknown: list[str]
    notes: list[str]
    scenario: Scenario
    observed: Observed | None = None
    seconds: statistics.Seconds | None = None

    @property
    def family(self) -> str | None:
        """The most likely family of queues; None if there are no weights."""
        return next(iter(self.families), None)

    @property
    def is_explained(self) -> bool:
        """Whether the best explanation is near enough to be one. A link that was never full needs none."""
        return self.distance is None or self.distance <= MISFIT

    @property
    def is_certain(self) -> bool:
        """Whether the weight of the most likely family is large enough to leave out the others."""
        return next(iter(self.families.values()), 0.0) >= choosing.CERTAIN

    @property
    def has_queued(self) -> bool:
        """Whether packets waited behind others. Otherwise the file shows nothing of a buffer."""
        return self.buffer is not None or self.least_buffer >= PACKET

    @property
    def link(self) -> str:
        """The scenario's bottleneck link, as override keys name it."""
        return LINKS["capture" if self.seconds is not None and self.seconds.is_received else self.kind]

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as plain data."""
        return {
            "source": self.source, "kind": self.kind,
            "is_explained": self.is_explained,
            "rate_bps": None if self.rate is None else [
                {"from_s": at, **rate.to_dict(), "edge": rate.edge or None}
                for at, rate in zip(self.rate.from_s, self.rate.rates, strict=True)
            ],
            "least_rate_bps": self.least_rate, "rate_doubt": self.doubt or None, "is_rate_given": self.is_rate_given,
            "buffer_bytes": None if self.buffer is None else self.buffer.to_dict(),
            "least_buffer_bytes": self.least_buffer, "round_trip_s": self.round_trip_s, "queue": self.queue,
            "families": self.families,
            "random_loss": None if self.random_loss is None else self.random_loss.to_dict(),
            "loss_run": self.loss_run, "unseen": self.unseen, "unseen_from_s": self.unseen_from_s,
            "distance": self.distance, "unknown": self.unknown, "notes": self.notes,
        }  # fmt: skip


def fit(
    source: str | Path,
    *,
    host: str | None = None,
    connection: str | None = None,
    rate: float | None = None,
    seeds: int = 3,
    sdp: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Fits a network to a capture (pcap, pcapng) or to a browser's statistics (getStats(), webrtc-internals, rtcstats).

    Args:
        source: The file.
        host: Address of the capturing host. Default: the address with the most packets. Captures only.
        connection: Name of the connection, in statistics of several. Default: the one that sends the most media.
        rate: Known rate of the bottleneck in bit/s. A capture of a link that was never full cannot show it.
        seeds: Runs of each explanation, 1 to 20.
        sdp: File with the session description of the call, if the capture lacks its signalling. Captures only.
        progress: Called with the number of tried explanations and their total.

    Raises:
        FileNotFoundError: There is no such file.
        CaptureError: The file shows no path; the message names the missing data and the remedy.
        ValueError: `seeds` or `rate` is out of range.
    """
    if not 1 <= seeds <= 20:
        raise ValueError(f"seeds is {seeds}, but must be 1 to 20")
    if rate is not None and not 1e3 <= rate <= 1e12:
        raise ValueError(f"rate is {rate} bit/s, but must be 1 kb/s to 1 Tb/s")
    if statistics.is_statistics(source):
        if host is not None:
            raise ValueError("host is for captures; statistics of a browser have none")
        if sdp is not None:
            raise ValueError("sdp is for captures; statistics of a browser name their streams")
        return _fit_statistics(source, connection, rate, seeds, progress)
    if connection is not None:
        raise ValueError(
            "connection is for statistics of a browser; a capture has none (host chooses the end)"
        )
    return _fit_capture(source, host, rate, seeds, sdp, progress)


@gated("fitted capture", CaptureError)
def _fit_capture(
    source: str | Path,
    host: str | None,
    rate: float | None,
    seeds: int,
    sdp: str | Path | None,
    progress: Callable[[int, int], None] | None,
) -> Fit:
    seen = read(source, description=None if sdp is None else read_description(sdp))
    what = observed(seen, None if host is None else address(host, seen))
    if what.lasts_s < 5:
        raise CaptureError(f"{source} lasts {what.lasts_s:.3g} s: at least 5 s are needed")
    path = estimated(what)
    if rate is not None:
        path = _set_rate(path, rate)
    name = f"fitted to {Path(source).name}"
    if path.rate is None:
        only = never_full(path)
        return Fit(
            str(source), "capture", None, path.least_rate, path.doubt, False, None, 0.0, only.round_trip_s, only.queue,
            {}, path.random_loss, path.loss_run, 0, 0.0, None, _unknown_without_rate(what, path), what.notes,
            scenario(what, path, only, name=name, judge=True), what,
        )  # fmt: skip
    scored = choosing.choose(what, path, seeds, progress)
    best = scored[0]
    weights = choosing.families(scored)
    is_shared = rate is None and weights.get(FAMILIES["fq-codel"], 0.0) >= POSSIBLE
    return Fit(
        str(source), "capture", _raise_limits(path.rate) if is_shared else path.rate, path.least_rate, "",
        rate is not None, path.buffer if best.candidate.queue == "drop-tail" else None,
        path.least_buffer, best.candidate.round_trip_s, best.candidate.queue,
        weights if best.distance <= MISFIT else {},
        path.random_loss if best.candidate.random_loss else None, path.loss_run, best.candidate.unseen, 0.0,
        best.distance, _unknown(what, path, scored), what.notes,
        scenario(what, path, best.candidate, name=name, judge=True), what,
    )  # fmt: skip


def _raise_limits(rate: Steps) -> Steps:
    """Raises the upper ends of rates that follow a higher one.

    Behind fair queueing, traffic that was not captured leaves the captured flows an equal share of the same rate.
    """
    highest, rates = 0.0, []
    for one in rate.rates:
        highest = max(highest, one.high)
        rates.append(replace(one, high=highest))
    return Steps(rate.from_s, rates)


def _set_rate(path: PathSeen, rate: float) -> PathSeen:
    return replace(
        path,
        rate=Steps([0.0], [Interval(rate, rate, rate)]),
        doubt="",
        least_buffer=path.deepest_s * rate / 8,
    )


def _unknown_without_rate(what: Observed, path: PathSeen) -> list[str]:
    said = [
        _unknown_rate(ample_rate(path)),
        "The queue and the buffer: no captured packet waited for another captured packet.",
    ]
    if path.deepest_s >= QUEUED_S:
        said.append(
            f"The cause of the delays: they vary by up to {path.deepest_s * 1e3:.3g} ms, but not as the captured "
            "traffic does (jitter, another route, clocks, pauses, or traffic of others). The scenario has a constant "
            "delay."
        )
    if not path.round_trip_known:
        said.append(
            f"The propagation delay: no round trip was captured; {path.round_trip_s * 1e3:.3g} ms are assumed."
        )
    if not what.transfers:
        said.append("How other traffic reacts: no TCP was captured.")
    said.append("The other direction: only packets toward the place of the capture show a queue.")
    return said


def _unknown(what: Observed, path: PathSeen, scored: list[choosing.Scored]) -> list[str]:
    said = []
    if not path.round_trip_known:
        said.append("The propagation delay: no round trip was captured; 15, 40 and 100 ms were tried.")
    if path.least_buffer < PACKET and path.buffer is None:
        said.append("The buffer: no packet waited.")
    elif path.buffer is None or scored[0].candidate.queue != "drop-tail":
        said.append(
            f"The buffer: losses at its top were not seen. It holds at least {path.least_buffer / 1e3:.4g} kB."
        )
    weights = choosing.families(scored)
    family, weight = next(iter(weights.items()))
    if scored[0].distance > MISFIT:
        said.append(_misfit(scored[0].distance))
    elif weight < choosing.CERTAIN:
        others = ", ".join(f"{name} ({share:.0%})" for name, share in weights.items() if share >= 0.02)
        said.append(f"The queue: {family} explains the file best, but not certainly. Weights: {others}.")
    elif family != "tail drop":
        several = sorted(
            {one.candidate.queue for one in scored if one.candidate.family == family and one.weight > 0.02}
        )
        if len(several) > 1:
            said.append(f"Which discipline of the family it is: {' and '.join(several)} fit alike.")
    if path.rate is not None and len(path.rate.rates) > 1 and FAMILIES["fq-codel"] in weights:
        said.append(
            "Whether the rate itself fell: behind fair queueing, traffic that was not captured leaves the same share."
        )
    if not what.transfers:
        said.append("How other traffic reacts: no TCP was captured.")
    else:
        said.append("Which TCP the transfers use: CUBIC is assumed.")
    said.append("The other direction: only packets toward the place of the capture show a queue.")
    return said


def _unknown_rate(ample: float) -> str:
    return (
        f"The rate. The scenario has {ample / 1e6:.3g} Mb/s, at which no packet waits. If you know the rate of the "
        "line, add --rate, for example --rate '20 Mb/s'."
    )


def _misfit(distance: float) -> str:
    return (
        f"The network: the nearest of all that were tried is {distance:.1f} units away (1 is alike). Something else "
        "shaped the traffic. The scenario has the nearest one."
    )


UNLIMITED = "the link never limited the session"
EDGES = {"low": "lowest", "high": "highest", "both": "lowest and the highest"}


def _unlimited(source: str, what: statistics.Seconds) -> Fit:
    """Returns the fit of a session that no link limited."""
    least = statistics.highest_rate(what)
    ample = max(AMPLE * least, AMPLE_BPS)
    only = statistics.Explanation(ample, "drop-tail", int(ample * AMPLE_S / 8), 0)
    unknown = [
        _unknown_rate(ample),
        "The queue and the buffer: the session was never limited.",
        f"The other direction: only what this side {'receives' if what.is_received else 'sends'} is fitted.",
    ]
    return Fit(
        source, "statistics", None, least, UNLIMITED, False, None, 0.0, statistics.least_round_trip(what), only.queue,
        {}, None, 1.0, 0, 0.0, None, unknown, what.notes,
        statistics.scenario(what, only, f"fitted to {Path(source).name}"), seconds=what,
    )  # fmt: skip


@gated("statistics", CaptureError)
def _fit_statistics(
    source: str | Path,
    connection: str | None,
    rate: float | None,
    seeds: int,
    progress: Callable[[int, int], None] | None,
) -> Fit:
    what = statistics.read(source, connection)
    if rate is None and not statistics.is_limited(what):
        return _unlimited(str(source), what)
    found = statistics.choose(what, min(seeds, 2), progress, rate)
    best = found[0]
    weights: dict[str, float] = {}
    for one in found:
        family = FAMILIES[one.queue]
        weights[family] = weights.get(family, 0.0) + one.weight
    weights = dict(sorted(weights.items(), key=lambda item: -item[1]))
    unknown = [
        "Losses that no queue makes: a value per second does not separate them.",
        "The rate exactly: statistics per second leave a range. --rate fixes it where you know it.",
        "Changes of the rate within the call: one rate is fitted.",
        f"The other direction: only what this side {'receives' if what.is_received else 'sends'} is fitted.",
    ]
    if what.is_received:
        unknown.append(
            "The bandwidth estimate, and a rate above what was sent: the sender's statistics have both."
        )
    elif not what.has_estimate:
        unknown.append("The bandwidth estimate: this browser does not give it (Firefox never does).")
    if best.distance > MISFIT:
        unknown.insert(0, _misfit(best.distance))
        weights = {}
    if best.unseen == 0 and best.distance <= MISFIT:
        unknown.append("A rate above the session's own: a call that is never limited does not show it.")
    interval = statistics.rate_interval(found) if rate is None else Interval(rate, rate, rate)
    if interval.edge:
        unknown.insert(0, (
            f"Where the range of the rate ends: the {EDGES[interval.edge]} rate that was tried "
            "fits about as well."
        ))  # fmt: skip
    return Fit(
        str(source), "statistics", Steps([0.0], [interval]), statistics.highest_rate(what), "", rate is not None,
        statistics.buffer_interval(found), best.buffer,
        statistics.least_round_trip(what), best.queue, weights, None, 1.0, best.unseen, best.since_s, best.distance,
        unknown, what.notes, statistics.scenario(what, best, f"fitted to {Path(source).name}"), seconds=what,
    )  # fmt: skip
