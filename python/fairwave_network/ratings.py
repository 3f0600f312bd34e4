"""Opinions of calls that were not simulated, derived from simulated calls. No measure is defined here.

The simulator rates calls over paths with given delays and losses, one per path. These ratings determine the cost of
delay as a function of the mouth-to-ear time, and MOS as a function of R. The cost of loss has the form of the
E-model (ITU-T G.107 §7.5). Its one free parameter is fitted to the calls of the link runs, because their losses come in
bursts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.runs.replication import replicate
from fairwave.scenario import Scenario
from fairwave_network.units import error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairwave.runs.keeping import Keep
    from fairwave_network.language import Network
    from fairwave_network.linking import Link
    from fairwave_network.mixes import Mix

    Numbers = NDArray[np.float64]

DELAYS_MS = (1, 50, 90, 120, 150, 180, 220, 260, 300, 350, 400, 500, 700, 1000)
LOSSES = (0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.5)
"""Loss rates of the paths of the rated calls."""

LOST = 0.002
"""Calls with a lower loss are not used for the cost of loss."""


@dataclass(frozen=True)
class Rating:
    """R and MOS as functions of delay and loss.

    Attributes:
        best: R of a call without any impairment.
        ear_s, ear_cost: Mouth-to-ear time and its cost in points of R.
        r, mos: R and MOS.
        slope: Upper limit of the cost of loss, points of R.
        half: Lost share at which the cost is half of that.
        ahead_s: Mouth-to-ear time less the 95th percentile of delay, the median of calls.
    """

    best: float
    ear_s: Numbers
    ear_cost: Numbers
    r: Numbers
    mos: Numbers
    slope: float
    half: float
    ahead_s: float

    def opinion(self, lost: Numbers, p95_s: Numbers, late: Numbers) -> Numbers:
        """Returns the MOS of calls with this lost share, 95th percentile of delay, and cost of lateness."""
        delay = np.interp(p95_s + self.ahead_s, self.ear_s, self.ear_cost)
        r = self.best - delay - self.slope * lost / (lost + self.half) - late
        found: Numbers = np.interp(r, self.r, self.mos)
        return found


def mix_of(network: Network) -> Mix:
    """Returns the mix of the network's calls.

    Raises:
        fairwave.ScenarioError: The network has calls of more than one kind, or none.
    """
    mixes = {group.mix.name: group.mix for group in network.groups.values() if group.mix.kind == "calls"}
    if len(mixes) != 1:
        raise error(
            "mix",
            f"link by link there is one mix of calls, not {len(mixes)}",
            "simulate the network as a whole",
        )
    (mix,) = mixes.values()
    return mix


def rate_calls(network: Network, links: Sequence[Link], threads: int | None, keep: Keep | None) -> Rating:
    """Computes the rating of the network's calls, which have a single mix (`mix_of`)."""
    mix = mix_of(network)
    paths = [(delay, 0.0) for delay in DELAYS_MS] + [(1, lost) for lost in LOSSES]
    table: dict[str, Any] = {"name": "ratings", "duration": "20 s", "link": [], "flow": []}
    for number, (delay, lost) in enumerate(paths):
        ends = {"from": f"a{number}", "to": f"b{number}"}
        loss = {"loss": {"model": "bernoulli", "rate": lost}} if lost else {}
        table["link"].append({**ends, "rate": "100 Mb/s", "delay": f"{delay} ms", **loss})
        table["flow"].append({"name": f"call-{number}", **ends, **mix.flow, "count": 2})
    (tables,) = replicate([(Scenario.from_dict(table).native, 1)], threads=threads, keep=keep)
    flows = tables["flows"]
    names = (
        "r_factor",
        "mos",
        "mouth_to_ear_s",
        "r_cost_delay",
        "r_cost_loss",
        "r_cost_lateness",
        "units_lost",
        "units_sent",
    )
    of = {name: flows[name].numbers for name in names}
    there = np.isfinite(of["mos"])
    of = {name: values[there] for name, values in of.items()}
    best = float(np.median(of["r_factor"] + of["r_cost_delay"] + of["r_cost_loss"] + of["r_cost_lateness"]))
    ear = np.argsort(of["mouth_to_ear_s"])
    by_r = np.argsort(of["r_factor"])
    heard = np.concatenate([one.heard for one in links]) if links else np.zeros((0, 3))
    known = np.stack([of["units_lost"] / of["units_sent"], of["r_cost_loss"]], axis=1)
    known = np.concatenate([known[known[:, 0] > LOST], heard[heard[:, 0] > LOST, :2]])
    slope, half = _fitted(known)
    # A call without any received packet has no mouth-to-ear time.
    known_ahead = heard[np.isfinite(heard[:, 2]), 2]
    ahead = float(np.median(known_ahead if len(known_ahead) else of["mouth_to_ear_s"][:2] - 1e-3))
    return Rating(
        best,
        of["mouth_to_ear_s"][ear],
        of["r_cost_delay"][ear],
        of["r_factor"][by_r],
        of["mos"][by_r],
        slope,
        half,
        ahead,
    )


def _fitted(known: Numbers) -> tuple[float, float]:
    """Fits `slope` (20 to 95) and `half` (0.1 % to 1) by least squares."""
    lost, cost = known.T
    best = (np.inf, 95.0, 0.05)
    for half in np.geomspace(0.001, 1.0, 121):
        shape = lost / (lost + half)
        slope = float(np.clip((shape @ cost) / max(shape @ shape, 1e-12), 20.0, 95.0))
        error_ = float(((slope * shape - cost) ** 2).sum())
        if error_ < best[0]:
            best = (error_, slope, float(half))
    return best[1], best[2]
