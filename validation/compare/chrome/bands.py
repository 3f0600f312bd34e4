"""Browsers and simulation: quantities over time as bands over runs, and their comparison."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fairwave.results import Results
    from fairwave.tables import Table
    from validation.compare.chrome.call import Call
    from validation.compare.chrome.cases import Case

    Series = NDArray[np.float64]


@dataclass(frozen=True)
class Quantity:
    """A quantity of the figures and of the comparison.

    Attributes:
        name: In words.
        unit: Of the values.
        margin: Allowed difference of the means, as a share of the browsers' mean; stated before the first call.
        floor: Differences below this, in the unit, do not count.
    """

    name: str
    unit: str
    margin: float
    floor: float


QUANTITIES = (
    Quantity("estimate", "Mb/s", 0.20, 0.05),
    Quantity("received", "Mb/s", 0.20, 0.05),
    Quantity("round trip", "ms", 0.25, 15.0),
    Quantity("lost packets", "%", 0.50, 1.0),
    Quantity("frozen", "%", 0.50, 3.0),
)
"""The quantities with their margins, fixed after a look at half a minute of one call, before all others."""

TRACES = ("estimate", "received", "round trip")
"""Those that are drawn over time."""


@dataclass(frozen=True)
class Runs:
    """Several runs of one side.

    Attributes:
        times: Whole seconds.
        traces: Name of a quantity to a row per session, a column per second; NaN for missing values.
        means: Name of a quantity to a value per session, over the time in which all calls are there.
        begins: When calls begin, mean, seconds.
        latest: When the latest begins.
    """

    times: Series
    traces: dict[str, NDArray[np.float64]]
    means: dict[str, Series]
    begins: float
    latest: float


def _sample(times: Sequence[float], values: Sequence[float | None], seconds: Series) -> Series:
    """The latest value at or before each second; NaN before the first."""
    known = [(at, one) for at, one in zip(times, values, strict=True) if one is not None]
    if not known:
        return np.full(len(seconds), math.nan)
    where = np.array([at for at, _ in known])
    what = np.array([one for _, one in known], dtype=float)
    place = np.searchsorted(where, seconds + 0.5, side="right") - 1
    return np.where(place >= 0, what[np.clip(place, 0, None)], math.nan)


@dataclass(frozen=True)
class Side:
    """One side of a case as the page has it, and keeps it.

    Attributes:
        count: How many calls.
        times: Whole seconds.
        bands: Name of a quantity to its minimum, median and maximum in each second; NaN for missing values.
        intervals: Name of a quantity to its mean over calls, and the half width of the 95 % interval.
        begins: When calls begin, mean, seconds.
        latest: When the latest begins.
    """

    count: int
    times: Series
    bands: dict[str, NDArray[np.float64]]
    intervals: dict[str, tuple[float, float]]
    begins: float
    latest: float

    def to_dict(self) -> dict[str, Any]:
        """As plain data, to be kept."""
        bands = {
            name: [[None if math.isnan(one) else round(float(one), 4) for one in row] for row in rows]
            for name, rows in self.bands.items()
        }
        return {
            "calls": self.count, "begins": self.begins, "latest": self.latest, "seconds": len(self.times),
            "intervals": self.intervals, "bands": bands,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> Side:
        """What `to_dict` wrote."""
        bands = {name: np.array(rows, dtype=float) for name, rows in table["bands"].items()}
        intervals = {name: (float(mean), float(half)) for name, (mean, half) in table["intervals"].items()}
        times = np.arange(1.0, table["seconds"] + 1)
        return cls(table["calls"], times, bands, intervals, table["begins"], table["latest"])


def summarise(runs: Runs, sessions: int = 1) -> Side:
    """Bands over all sessions, and intervals over calls of ``sessions`` sessions each."""
    from fairwave.measuring.statistics import interval

    with warnings.catch_warnings():  # before the first sample there is nothing
        warnings.simplefilter("ignore", RuntimeWarning)
        bands = {
            name: np.array([np.nanmin(rows, axis=0), np.nanmedian(rows, axis=0), np.nanmax(rows, axis=0)])
            for name, rows in runs.traces.items()
        }
    intervals = {}
    for name, values in runs.means.items():
        cell = interval(values.reshape(-1, sessions).mean(axis=1))
        intervals[name] = (float(cell.mean), float(cell.high - cell.low) / 2)
    count = len(next(iter(runs.means.values()))) // sessions
    return Side(count, runs.times, bands, intervals, runs.begins, runs.latest)


def measure_browsers(case: Case, calls: Sequence[Call]) -> Runs:
    """The quantities of browsers' calls, session by session."""
    seconds = np.arange(1.0, case.seconds - 1)
    begins = np.array([one.time_s[0] - 1 for one in calls])
    traces = {
        "estimate": np.array([_sample(one.time_s, one.estimate_bps, seconds) for one in calls]) / 1e6,
        "received": np.array([_sample(one.time_s, one.received_bps, seconds) for one in calls]) / 1e6,
        "round trip": np.array([_sample(one.time_s, one.round_trip_s, seconds) for one in calls]) * 1e3,
    }
    late = seconds >= begins.max() + 1
    means = {name: np.nanmean(trace[:, late], axis=1) for name, trace in traces.items()}
    lasted = [one.time_s[-1] - begin for one, begin in zip(calls, begins, strict=True)]
    means["frozen"] = np.array(
        [100 * _last(one.frozen_s) / span for one, span in zip(calls, lasted, strict=True)]
    )
    means["lost packets"] = np.array([100 * _last(one.lost) / max(one.packets, 1) for one in calls])
    return Runs(seconds, traces, means, float(begins.mean()), float(begins.max()))


def measure_simulation(case: Case, results: Results, browsers: Runs | Side) -> Runs:
    """The quantities of simulated calls of the same case, over the time that all browsers' calls cover."""
    seconds = np.arange(1.0, case.seconds - 1)
    traces: dict[str, list[Any]] = {name: [] for name in TRACES}
    frozen, lost = [], []
    transport, inbound, media = (results.rows(name) for name in ("media_transport", "media_inbound", "media"))
    for own in _sessions(transport):
        times = own.numbers("time_s").tolist()
        traces["estimate"].append(_sample(times, own.numbers("available_bps").tolist(), seconds) / 1e6)
        traces["round trip"].append(_sample(times, own.numbers("round_trip_s").tolist(), seconds) * 1e3)
    for own in _sessions(inbound):
        whole = np.unique(own.numbers("time_s"))
        grown = np.zeros(len(whole))
        for stream in own.parted("stream"):
            # A stream begins at 0, and after its end it grows no more.
            got = np.interp(whole, stream.numbers("time_s"), stream.numbers("bytes_received"), left=0)
            grown += np.diff(got, prepend=0)
        rate = [None, *(8 * grown[1:] / np.diff(whole) / 1e6).tolist()]
        traces["received"].append(_sample(whole.tolist(), rate, seconds))
    for own in _sessions(media):
        video = np.array(own["stream"].to_list()) == "video"
        frozen.append(100 * float(own.numbers("freeze_ratio")[video][0]))
        lost.append(
            100
            * float(own.numbers("packets_lost")[video][0] / max(own.numbers("packets_received")[video][0], 1))
        )
    arrays = {name: np.array(rows) for name, rows in traces.items()}
    late = seconds >= browsers.latest + 1
    means = {name: np.nanmean(rows[:, late], axis=1) for name, rows in arrays.items()}
    means |= {"frozen": np.array(frozen), "lost packets": np.array(lost)}
    return Runs(seconds, arrays, means, browsers.begins, browsers.latest)


def _sessions(rows: Table) -> Iterator[Table]:
    """The rows of each session of each run, in the same order in all tables."""
    for run in rows.parted("run"):
        pairs = set(zip(run["group"].to_list(), run["flow"].to_list(), strict=True))
        for group, flow in sorted(pairs, key=lambda pair: (pair[0] != "call", pair[1])):
            yield run.only(group=group, flow=flow)


def _last(values: Sequence[float | None]) -> float:
    """The latest value that there is."""
    return float(next((one for one in reversed(values) if one is not None), math.nan))


@dataclass(frozen=True)
class Verdict:
    """One quantity of one case, compared.

    Attributes:
        quantity: Which.
        browsers: Mean over calls, and the half width of its 95 % interval.
        simulated: The same of the simulation.
        agrees: Whether the means differ by at most the margin or the floor.
    """

    quantity: Quantity
    browsers: tuple[float, float]
    simulated: tuple[float, float]
    agrees: bool


def compare(browsers: Side, simulated: Side) -> list[Verdict]:
    """The verdict on each quantity."""
    found = []
    for one in QUANTITIES:
        theirs, ours = browsers.intervals[one.name], simulated.intervals[one.name]
        agrees = abs(theirs[0] - ours[0]) <= max(one.floor, one.margin * abs(theirs[0]))
        found.append(Verdict(one, theirs, ours, agrees))
    return found
