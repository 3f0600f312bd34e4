"""Which link to widen first: candidates are widened one by one, in both directions, under the same random numbers.

Candidates are the links with the greatest harm to the calls of fair and poor pairs: the sum over those pairs' calls of
the link's discarded share, with its mean wait as a tie-break (1 s of waiting counts as much as the loss of all
packets †). Each candidate's rate is doubled and the network runs again. The gain is computed, not estimated: the paired
difference of the mean opinion of all calls, and the number of calls that leave the bands fair and poor. A gain counts
if the mean opinion or the share of good calls rises by the smallest relevant difference
(`fairwave.measuring.relevance`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairwave.measuring.statistics import interval
from fairwave_network.measuring import NetworkAnswer, combine_runs

if TYPE_CHECKING:
    from fairwave.measuring.statistics import Interval
    from fairwave.runs.replication import Progress
    from fairwave_network.language import Network
    from fairwave_network.measuring import Answers

FACTOR = 2.0
"""Factor of a candidate's rate."""


@dataclass(frozen=True)
class Widened:
    """A link with a higher rate, and its effect.

    Attributes:
        link: The link, `a>b` for both directions.
        rate_bps: Its new rate.
        mos: Change of the mean opinion of all calls, paired by seed.
        good: Change of the share of good calls, in points, paired by seed.
        better: Mean number of calls per run that become good; negative if fewer calls are good.
        answer: Result of the network with it.
    """

    link: str
    rate_bps: float
    mos: Interval
    good: Interval
    better: float
    answer: NetworkAnswer


def candidates(network: Network, answer: NetworkAnswer, most: int) -> list[str]:
    """Returns the links with the greatest harm to calls of pairs that are not good."""
    costs: dict[str, float] = {}
    for group in network.groups.values():
        pair = answer.pairs.get(group.pair)
        if group.mix.kind != "calls" or pair is None or pair.band == "good":
            continue
        for one, other in zip(group.path, group.path[1:], strict=False):
            link = network.topology.find_link(one, other)
            found = answer.links.get(f"{one}>{other}")
            if link is not None and found is not None:
                costs[link.name] = costs.get(link.name, 0.0) + group.busy * (found.dropped + found.wait_s)
    ranked = sorted((name for name, cost in costs.items() if cost > 0), key=lambda name: (-costs[name], name))
    return ranked[:most]


def widen_link(network: Network, link: str, factor: float = FACTOR) -> Network:
    """Returns the network with a higher rate of one link in both directions."""
    links = [
        replace(one, rate_bps=one.rate_bps * factor) if one.name == link else one
        for one in network.topology.links
    ]
    return replace(network, topology=replace(network.topology, links=links), written=None)


def try_widening(
    network: Network, answer: NetworkAnswer, answers: Answers, most: int, *, progress: Progress | None = None
) -> list[Widened]:
    """Tries the candidates and returns the best first. `answers` makes the runs, under the seeds of `answer`."""
    names = candidates(network, answer, most)
    made = [widen_link(network, name) for name in names]
    found = []
    for name, wide, runs in zip(names, made, answers(made, progress) if made else [], strict=True):
        mos = interval([new.mos - old.mos for new, old in zip(runs, answer.runs, strict=True)])
        good = interval([100 * (new.good - old.good) for new, old in zip(runs, answer.runs, strict=True)])
        better = sum(
            new.calls["good"] - old.calls["good"] for new, old in zip(runs, answer.runs, strict=True)
        )
        found.append(Widened(name, wide.rates()[name], mos, good, better / len(runs), combine_runs(runs)))
    return sorted(found, key=lambda one: (-one.mos.mean, one.link))
