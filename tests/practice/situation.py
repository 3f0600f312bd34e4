"""Situations, and short ways to write their scenarios.

A situation is a question with an answer from a standard, a formula or plain experience. The expected value is computed
here from the named source without fairwave. Only the measured value comes from fairwave.
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
"""Hosts without clock skew and send jitter, which would be noise in exact answers."""


@dataclass(frozen=True)
class Situation:
    """A question with a known answer.

    Attributes:
        key: Area and name, `voice/twelve-calls-fit`.
        asked: The question in plain words.
        unit: Unit of all numbers, empty for plain ones.
        expected: The expected value.
        low: The least allowed value.
        high: The greatest allowed value.
        source: The standard, the formula or the experience.
        measured: Measures the value with fairwave.
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
    """Expected, least and greatest value: only rounding is allowed."""
    return expected, expected - 1e-9 * max(1.0, abs(expected)), expected + 1e-9 * max(1.0, abs(expected))


def near(expected: float, by: float) -> tuple[float, float, float]:
    """Expected, least and greatest value, with an absolute tolerance."""
    return expected, expected - by, expected + by


def about(expected: float, part: float) -> tuple[float, float, float]:
    """Expected, least and greatest value, with a relative tolerance."""
    return near(expected, abs(expected) * part)


def between(expected: float, low: float, high: float) -> tuple[float, float, float]:
    """Expected, least and greatest value, as given."""
    return expected, low, high


def link(rate: str, delay: str, packets: int = 1000, **more: Any) -> Table:
    """A link from a to b with drop-tail unless `queue` is given, and a lossless return path."""
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
    """The same stream with its first packet exactly at its start."""
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
    """The bottleneck from a to b, and flows with a separate sending host each, close to a."""
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
        """The rows with these values in their columns."""
        rows = self._results.tables[table].to_pylist()
        return [row for row in rows if all(row[column] == value for column, value in where.items())]

    def values(self, table: str, column: str, **where: Any) -> list[float]:
        """A column of those rows; undefined values are NaN."""
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
        """Sum of a column divided by the sum of another."""
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
    """Runs these flows over these links. Each scenario runs once, for any number of requests.

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
