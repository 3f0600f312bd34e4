"""What a situation is, and the short way to write its scenario.

A situation is a question that has an answer from a standard, a formula or plain experience. What is expected is worked
out here, from the source that is named, without fairwave: only what is measured comes from it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import fairwave
from fairwave.answers.results_api import answer

Table = dict[str, Any]

IN_STEP: Table = {"clock-skew": "0 ppm", "send-jitter": "0 s"}
"""Hosts without clock skew and send jitter: where an answer is exact, they would be noise."""


@dataclass(frozen=True)
class Situation:
    """A question with a known answer.

    Attributes:
        key: Area and name, `voice/twelve-calls-fit`.
        asked: The question, as one would ask it.
        unit: Of all numbers, empty for plain ones.
        expected: The answer.
        low: The least that is allowed.
        high: The most that is allowed.
        source: The standard, the formula or the experience.
        measured: Asks fairwave.
    """

    key: str
    asked: str
    unit: str
    expected: float
    low: float
    high: float
    source: str
    measured: Callable[[], float]

    @property
    def area(self) -> str:
        """The first part of the key."""
        return self.key.partition("/")[0]


def exactly(expected: float) -> tuple[float, float, float]:
    """Expected, least and most: nothing but rounding is allowed."""
    return expected, expected - 1e-9 * max(1.0, abs(expected)), expected + 1e-9 * max(1.0, abs(expected))


def near(expected: float, by: float) -> tuple[float, float, float]:
    """Expected, least and most: so much off, in the answer's own unit."""
    return expected, expected - by, expected + by


def about(expected: float, part: float) -> tuple[float, float, float]:
    """Expected, least and most: so much off, as a part of what is expected."""
    return near(expected, abs(expected) * part)


def between(expected: float, low: float, high: float) -> tuple[float, float, float]:
    """Expected, least and most, as given."""
    return expected, low, high


def link(rate: str, delay: str, packets: int = 1000, **more: Any) -> Table:
    """A link from a to b, drop-tail unless `queue` says otherwise; nothing is lost on the way back."""
    queue = {"discipline": "drop-tail", "capacity": {"packets": packets}}
    back = {"queue": queue, "loss": {"model": "none"}}
    return {"from": "a", "to": "b", "rate": rate, "delay": delay, "queue": queue, "reverse": back} | more


def flow(name: str, transport: str | Table, traffic: str | Table, **more: Any) -> Table:
    """Flows from a to b."""
    return {"name": name, "from": "a", "to": "b", "transport": transport, "traffic": traffic} | more


def cbr(name: str, rate: str, payload: int = 1000, **more: Any) -> Table:
    """A constant stream over UDP without headers, so that its rate is the rate on the wire."""
    traffic = {"kind": "cbr", "rate": rate, "payload": f"{payload} B"}
    return flow(name, {"name": "udp", "header": "0 B", "max-payload": "1500 B"}, traffic, **more)


def in_step(stream: Table) -> Table:
    """The same stream, beginning exactly at its start."""
    return {**stream, "traffic": {**stream["traffic"], "phase": "zero"}}


def poisson(name: str, per_second: float, payload: int = 1000) -> Table:
    """A Poisson stream over UDP without headers: bursts of one packet, exponential gaps."""
    traffic = {
        "kind": "burst",
        "rate": "1000 Gb/s",
        "payload": f"{payload} B",
        "on": {"distribution": "constant", "mean": "1 ns"},
        "off": {"distribution": "exponential", "mean": f"{1e9 / per_second:.0f} ns"},
        "first": "silence",
    }
    return flow(name, {"name": "udp", "header": "0 B"}, traffic)


def apart(bottleneck: Table, flows: Table | list[Table]) -> tuple[list[Table], list[Table]]:
    """The bottleneck from a to b and flows whose senders are hosts of their own, close to a."""
    links, moved = [bottleneck], []
    for one in flows if isinstance(flows, list) else [flows]:
        host = f"{one['name']}-{{i}}"
        near = {"discipline": "drop-tail", "capacity": {"packets": 1000}}
        links.append(
            {
                "from": host,
                "to": "a",
                "rate": "100 Gb/s",
                "delay": "1 us",
                "queue": near,
                "count": one.get("count", 1),
            }
        )
        moved.append(one | {"from": host})
    return links, moved


class Outcome:
    """Tables of one scenario under one or several seeds."""

    def __init__(self, results: fairwave.Results) -> None:
        self._results = results

    def rows(self, table: str, **where: Any) -> list[Table]:
        """The rows whose columns have these values."""
        rows = self._results.tables[table].to_pylist()
        return [row for row in rows if all(row[column] == value for column, value in where.items())]

    def values(self, table: str, column: str, **where: Any) -> list[float]:
        """A column of those rows; what is not defined is NaN."""
        columns = self._results.tables[table].select([column, *where]).to_pydict()
        chosen = [
            value
            for value, *others in zip(*columns.values(), strict=True)
            if all(other == wanted for other, wanted in zip(others, where.values(), strict=True))
        ]
        return [math.nan if value is None else float(value) for value in chosen]

    def mean(self, table: str, column: str, **where: Any) -> float:
        """Its mean."""
        values = self.values(table, column, **where)
        return math.fsum(values) / len(values)

    def total(self, table: str, column: str, **where: Any) -> float:
        """Its sum."""
        return math.fsum(self.values(table, column, **where))

    def measured(self, name: str, group: str) -> float:
        """The mean of a measure of a flow group."""
        return self._results.measured(name, group).interval().mean

    def verdict(self, group: str) -> str:
        """The first sentence about a flow group."""
        return str(answer(self._results, group).sentences[0])

    def share(self, part: str, whole: str, table: str = "flows", **where: Any) -> float:
        """Sum of a column over that of another."""
        return self.total(table, part, **where) / self.total(table, whole, **where)


@cache
def _ran(text: str, seeds: int) -> Outcome:
    return Outcome(fairwave.load(text).replicate(seeds=list(range(1, seeds + 1)), threads=1))


def ran(
    links: Table | list[Table],
    flows: Table | list[Table],
    seconds: float,
    *,
    seeds: int = 1,
    preset: str | None = "rfc",
    **more: Any,
) -> Outcome:
    """What becomes of these flows over these links; each scenario is run once, however often it is asked for.

    The preset is `rfc`, so that protocol arithmetic has small numbers. `preset=None` leaves the preset out.
    """
    data = {
        "name": "practice",
        "duration": f"{seconds:g} s",
        "link": links if isinstance(links, list) else [links],
        "flow": flows if isinstance(flows, list) else [flows],
    }
    named = {} if preset is None else {"preset": preset}
    return _ran(json.dumps(data | named | more), seeds)
