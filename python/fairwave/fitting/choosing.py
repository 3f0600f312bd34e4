"""Chooses the best explanation: simulates each candidate and compares its receiver's view with the capture.

The comparison covers quantiles of the queueing delay, the share of lost packets and the rate of each download. Both
sides use the same definitions. The distance is the root mean square of the differences. The unit of each difference is
the larger of its tolerance (`SCALES`) and its standard deviation between seeds.

**Assumptions.** Downloads use CUBIC. Scales are choices, not estimates †.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairwave.capturing import capture
from fairwave.fitting.candidates import Candidate, candidates, scenario
from fairwave.fitting.observing import observed
from fairwave.fitting.packet_arrays import read

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairwave.fitting.observing import Observed
    from fairwave.fitting.packet_arrays import Numbers
    from fairwave.fitting.path import PathSeen

QUANTILES = (0.25, 0.5, 0.75, 0.95)
SCALES = {"delay": 0.15, "loss": 0.03, "rate": 0.15}
"""Tolerances: delays and rates within 15 %, losses within 0.1 % at 0 and 0.7 % at 1 %."""

SMALLEST_S = 0.005
"""Delays well below this count as alike."""

UNSEEN = (1, 2, 4)
"""Numbers of uncaptured downloads to try if the link was full and the captured traffic does not fill it."""

FULL = 0.85
"""Captured traffic fills the link from this share of the rate on, while packets queue."""

CERTAIN = 0.8
"""A family with at least this weight is reported alone; with less weight, the alternatives are listed too."""


@dataclass(frozen=True)
class Scored:
    """An explanation and how far it is from the capture.

    Attributes:
        candidate: The explanation.
        distance: Root mean square of differences, in units of tolerance.
        weight: Its share of all weights, exp(−n·distance²/2) with n features.
    """

    candidate: Candidate
    distance: float
    weight: float = 0.0


Features = dict[str, tuple[float, float]]
"""Feature name to value and tolerance."""


def delay_features(kind: str, raised: Numbers, found: Features) -> None:
    """Adds quantiles of queueing delays, in seconds, to the compared features."""
    for part in QUANTILES:
        value = float(np.quantile(raised, part)) if len(raised) else 0.0
        found[f"{kind} {part:g}"] = (float(np.log1p(value / SMALLEST_S)), SCALES["delay"])


def features(what: Observed) -> Features:
    """Returns the compared features of a capture."""
    found: Features = {}
    probe = what.probe
    if probe is not None:
        delay = probe.delay_s[~np.isnan(probe.delay_s)]
        delay_features("delay", delay - delay.min(), found)
        found["loss"] = (float(np.sqrt(probe.lost.mean())), SCALES["loss"])
    largest = next((one for one in what.transfers if len(one.delays_s)), None)
    if probe is None and largest is not None:
        delay_features("download's delay", largest.delays_s - largest.delays_s.min(), found)
    if what.transfers:
        first = what.transfers[0]
        segments = max(first.payload / max(first.segment, 1), 1)
        found["segments lost"] = (float(np.sqrt(first.lost / segments)), SCALES["loss"])
    for index, one in enumerate(what.transfers, 1):
        rate = 8 * one.payload / max(one.last_s - one.first_s, 0.1)
        found[f"rate {index}"] = (float(np.log(rate)), SCALES["rate"])
    return found


def simulated(what: Observed, path: PathSeen, one: Candidate, seed: int) -> Features:
    """Returns the same features for one run of a candidate."""
    made = scenario(what, path, one, name="candidate")
    found: Features = {}
    if what.probe is not None:
        results = made.run(seed)
        units = results.rows("units")
        flow = units.numbers("flow")
        chosen = flow == flow.min()
        created, arrived = (units.numbers(name)[chosen] for name in ("created_s", "arrived_s"))
        came = ~np.isnan(arrived)
        delay = (arrived - created)[came]
        delay_features("delay", delay - delay.min() if len(delay) else delay, found)
        # Packets on their way at the end are not lost.
        counted = units.numbers("counted")[chosen] > 0
        found["loss"] = (float(np.sqrt(1 - came[counted].mean())) if counted.any() else 0.0, SCALES["loss"])
        flows = results.rows("flows")
        groups = flows["group"].to_list()
        good = flows.numbers("goodput_bps")
        for index in range(1, len(what.transfers) + 1):
            rate = float(good[groups.index(f"download-{index}")])
            found[f"rate {index}"] = (float(np.log(max(rate, 1.0))), SCALES["rate"])
        if what.transfers:
            place = groups.index("download-1")
            sent, dropped, lost = (
                float(flows.numbers(name)[place]) for name in ("packets_sent", "dropped", "lost")
            )
            found["segments lost"] = (float(np.sqrt((dropped + lost) / max(sent, 1.0))), SCALES["loss"])
        return found

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "candidate.pcapng"
        capture(made, {"host:here": file}, seed=seed)
        return features(observed(read(file)))


def distance(wanted: Features, several: list[Features]) -> tuple[float, int]:
    """Returns the distance between a capture and a candidate's runs, and the number of compared features."""
    terms = []
    for name, (value, scale) in wanted.items():
        values = np.asarray([one[name][0] for one in several if name in one])
        if len(values):
            spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
            terms.append(((values.mean() - value) / max(scale, spread)) ** 2)
    return (float(np.sqrt(np.mean(terms))) if terms else float("inf")), len(terms)


def seen_share(what: Observed, path: PathSeen) -> float:
    """Returns the captured share of the bottleneck's traffic while packets queued."""
    if path.rate is None:
        return 1.0
    from fairwave.fitting.bottleneck import QUEUED_S

    gaps = np.diff(what.at_s)
    queued = what.raised(what.at_s)[1:] >= QUEUED_S
    span = float(gaps[queued].sum())
    if span < 1:
        return 1.0
    rate = np.asarray([one.value for one in path.rate.rates])
    index = np.clip(np.searchsorted(path.rate.from_s, what.at_s[1:][queued], "right") - 1, 0, len(rate) - 1)
    return float(8 * what.sizes[1:][queued].sum() / (rate[index] * gaps[queued]).sum())


def choose(
    what: Observed, path: PathSeen, seeds: int = 3, progress: Callable[[int, int], None] | None = None
) -> list[Scored]:
    """Returns all explanations with their weights, the best first.

    Args:
        what: The observed path.
        path: Direct estimates.
        seeds: Runs of each explanation.
        progress: Called with the number of tried explanations and their total.
    """
    wanted = features(what)
    tried = candidates(path)
    if seen_share(what, path) < FULL:
        tried += [replace(one, unseen=count) for one in list(tried) for count in UNSEEN]
    scored, sizes = [], []
    for index, one in enumerate(tried, 1):
        apart, size = distance(wanted, [simulated(what, path, one, seed) for seed in range(1, seeds + 1)])
        scored.append(Scored(one, apart))
        sizes.append(size)
        if progress is not None:
            progress(index, len(tried))
    logs = np.asarray([-size * one.distance**2 / 2 for one, size in zip(scored, sizes, strict=True)])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    found = [replace(one, weight=float(weight)) for one, weight in zip(scored, weights, strict=True)]
    return sorted(found, key=lambda one: (-one.weight, one.distance))


def families(scored: list[Scored]) -> dict[str, float]:
    """Returns the weight of each family of queues, the largest first."""
    found: dict[str, float] = {}
    for one in scored:
        found[one.candidate.family] = found.get(one.candidate.family, 0.0) + one.weight
    return dict(sorted(found.items(), key=lambda item: -item[1]))
