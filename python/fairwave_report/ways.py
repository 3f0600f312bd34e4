"""Paths of flows through the network: the first, and those after a failure or on another network."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairwave.scenario import Scenario


@dataclass(frozen=True)
class Way:
    """A path of a flow's packets.

    Attributes:
        flow: The flow.
        since_s: First time at which its packets take it, seconds from the start of the run.
        links: Names of the links, from sender to receiver.
        is_first: Whether the flow begins on it.
    """

    flow: str
    since_s: float
    links: tuple[str, ...]
    is_first: bool


def ways(scenario: Scenario, seed: int) -> list[Way]:
    """Returns all paths of all flows under a seed, in order of time for each flow."""
    plan = json.loads(scenario.native.exact_plan(seed))
    names = [link["name"] for link in plan["links"]]

    def named(links: list[int]) -> tuple[str, ...]:
        return tuple(names[link] for link in links)

    found = []
    for flow in plan["flows"]:
        found.append(Way(flow["name"], 0.0, named(flow["forward"]), is_first=True))
        found += [
            Way(flow["name"], one["at_ns"] / 1e9, named(one["forward"]), is_first=False)
            for one in flow["reroutes"]
        ]
    return found
