"""Estimates a bottleneck from arrivals: its rate over time, the depth of its queue, and the losses of that queue.

**Rate.** While the bottleneck's queue is not empty, packets leave it back to back. So the bytes of a few
consecutive arrivals divided by their duration give its rate (packet trains, Dovrolis et al., IEEE/ACM ToN 2004).
Delays show when the queue was not empty. Traffic that the capture does not show makes some trains longer, so the rate
is the mode of all trains.

**Assumptions.** All traffic toward the host shares one bottleneck. Sizes count bytes of IP.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

TRAIN = 8
"""Number of packets in a train."""

QUEUED_S = 0.003
"""The queue counts as not empty while delays exceed the least delay by this many seconds."""

ALIKE = 0.05
"""Consecutive windows count as one rate if the natural logarithms of their rates differ by at most this."""

LEAST_TRAINS = 30
"""Smallest number of trains for a rate."""


@dataclass(frozen=True)
class Interval:
    """An estimate.

    Attributes:
        value: The most likely value.
        low: Lower end of the range that the data admit (95 %).
        high: Upper end.
        edge: `low` or `high` if the range reaches this end of the values that were tried, so that it may go on; `both`,
            or empty.
    """

    value: float
    low: float
    high: float
    edge: Literal["", "low", "high", "both"] = ""

    def to_dict(self) -> dict[str, float]:
        """Returns value and range as plain data."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Steps:
    """A rate over time.

    Attributes:
        from_s: Begin of each rate, in seconds; the first is 0.
        rates: The rates, bit/s of IP.
    """

    from_s: list[float]
    rates: list[Interval]


def format_least(rate: float) -> str:
    """Writes a lower limit in bit/s with two digits, rounded down."""
    if rate <= 0:
        return "0 Mb/s"
    digit = 10.0 ** (np.floor(np.log10(rate)) - 1)
    return f"{np.floor(rate / digit + 1e-9) * digit / 1e6:.2g} Mb/s"


def mode(values: Numbers, weights: Numbers) -> float:
    """Returns the value with the most weight around it, on a logarithmic scale (bins of 1 %); NaN for no values."""
    if not len(values):
        return float("nan")
    logs = np.log(values)
    bins = np.floor((logs - logs.min()) / 0.01).astype(np.int64)
    heights = np.convolve(np.bincount(bins, weights), np.ones(3), "same")
    centre = logs.min() + (heights.argmax() + 0.5) * 0.01
    near = np.abs(logs - centre) <= 0.03
    return float(np.exp(np.average(logs[near], weights=weights[near])))


def trains(at_s: Numbers, sizes: Numbers, queued: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Finds trains of consecutive arrivals while the queue was not empty.

    Args:
        at_s: Arrivals of all packets that crossed the bottleneck, in order.
        sizes: Bytes of IP of each packet.
        queued: Excess of the delay over the least delay at each arrival, in seconds.

    Returns:
        End time, rate in bit/s, and number of bytes of each train.
    """
    if len(at_s) <= TRAIN:
        return (np.empty(0),) * 3
    total = np.concatenate([[0.0], np.cumsum(sizes)])
    # The first packet only starts the clock: its bytes do not count.
    ends = np.arange(TRAIN, len(at_s))
    took = at_s[ends] - at_s[ends - TRAIN]
    carried = total[ends + 1] - total[ends - TRAIN + 1]
    # The queue must stay non-empty from the train's first arrival to its last.
    empty = np.concatenate([[0], np.cumsum(queued < np.maximum(QUEUED_S, 0))])
    busy = (empty[ends + 1] - empty[ends - TRAIN] == 0) & (took > 0)
    return at_s[ends][busy], 8 * carried[busy] / took[busy], carried[busy]


def rate_course(
    ended: Numbers, rates: Numbers, carried: Numbers, lasts_s: float, seed: int = 1
) -> Steps | None:
    """Returns the bottleneck's rate over time; None if the bottleneck was not full for long enough.

    Each window of one second (a sixtieth of the capture if that is longer) has a mode. Neighbours with similar modes
    are joined. The interval is a bootstrap interval over windows.
    """
    if len(rates) < LEAST_TRAINS:
        return None
    width = max(1.0, lasts_s / 60)
    window = (ended // width).astype(np.int64)
    pieces: list[tuple[float, NDArray[np.bool_], float]] = []
    for index in np.unique(window):
        chosen = window == index
        if chosen.sum() >= LEAST_TRAINS:
            pieces.append((float(index * width), chosen, mode(rates[chosen], carried[chosen])))
    if not pieces:
        return Steps([0.0], [Interval(mode(rates, carried), *_spread(rates))])
    joined: list[list[tuple[float, NDArray[np.bool_], float]]] = [[pieces[0]]]
    for one in pieces[1:]:
        usual = float(np.median([piece[2] for piece in joined[-1]]))
        if abs(np.log(one[2] / usual)) <= ALIKE:
            joined[-1].append(one)
        else:
            joined.append([one])
    joined = _drop_outliers(joined)
    steps = Steps([], [])
    for several in joined:
        chosen = np.logical_or.reduce([piece[1] for piece in several])
        value = mode(rates[chosen], carried[chosen])
        modes = np.asarray([piece[2] for piece in several])
        draw = np.random.default_rng(seed)
        means = np.median(modes[draw.integers(0, len(modes), (400, len(modes)))], axis=1)
        low, high = np.quantile(means, [0.025, 0.975])
        # A bin of the mode is 1 % wide.
        steps.from_s.append(several[0][0] if steps.from_s else 0.0)
        steps.rates.append(Interval(value, float(min(low, value * 0.99)), float(max(high, value * 1.01))))
    return steps


def _spread(rates: Numbers) -> tuple[float, float]:
    low, high = np.quantile(rates, [0.25, 0.75])
    return float(low), float(high)


def _drop_outliers(
    joined: list[list[tuple[float, NDArray[np.bool_], float]]],
) -> list[list[tuple[float, NDArray[np.bool_], float]]]:
    """Removes single windows between two similar neighbours, because they are chance, and joins the neighbours."""
    while True:
        for index in range(1, len(joined) - 1):
            before, here, after = joined[index - 1 : index + 2]
            left, right = (float(np.median([piece[2] for piece in side])) for side in (before, after))
            if len(here) < 2 and abs(np.log(left / right)) <= 2 * ALIKE:
                joined[index - 1 : index + 2] = [before + after]
                break
        else:
            return joined
