"""Network map of a page: links coloured by use or discards, pairs by opinion, and one state per failure.

Python draws map and matrix for the network without failures. The page's script redraws them for a failure that the
reader chooses. All values are also in tables.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairwave_report import labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDTH, HEIGHT, MARGIN = 800.0, 720.0, 40.0
"""Size of the map, in map units."""

USED = (0.25, 0.5, 0.75, 0.9)
"""Bounds between the steps of a link's utilisation."""

DISCARDED = (0.0001, 0.001, 0.01, 0.05)
"""Bounds between the steps of a link's discarded share."""

LETTERS, ROOM = 11.0, 6.0
"""Letter size of node names on the map, and their distance from the nodes, in map units."""

MOST_NAMED = 60
"""A map with more nodes shows no names."""


@dataclass(frozen=True)
class State:
    """The network without failures, or with one failure.

    Attributes:
        name: What failed; empty for the network without failures.
        words: The effect, as a sentence.
        failed: Links that are down, `a>b`.
        links: Link direction to its utilisation and its discarded share.
        pairs: Pair to the mean opinion of its calls and its band, or `undecided`.
    """

    name: str
    words: str
    failed: Sequence[str]
    links: Mapping[str, tuple[float, float]]
    pairs: Mapping[tuple[str, str], tuple[float, str]]


@dataclass(frozen=True)
class WorstPair:
    """One of the worst pairs, with its path.

    Attributes:
        name: `a → b`.
        links: Link directions of the path.
        words: Opinion, loss and delay.
        parts: For each link of the path, its name and its loss and delay in words.
    """

    name: str
    links: Sequence[str]
    words: str
    parts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class HalfLink:
    """One direction of a link on the map: the half next to its first node.

    Attributes:
        name: `a>b`.
        x1, y1, x2, y2: Its ends on the map.
    """

    name: str
    x1: float
    y1: float
    x2: float
    y2: float


class Atlas:
    """The map, the matrix and the states.

    Args:
        places: Node to its position, in any unit. All positions share that unit.
        degrees: Whether positions are longitude and latitude.
        links: Links, `a>b` for both directions.
        states: The network without failures first, then the failures.
        worst: Pairs with the lowest opinion.
        kind: What fails: `links` or `nodes`.
    """

    def __init__(
        self, places: Mapping[str, tuple[float, float]], links: Sequence[str], states: Sequence[State],
        worst: Sequence[WorstPair], *, degrees: bool, kind: str = "",
    ) -> None:  # fmt: skip
        self.states = states
        self.worst = worst
        self.kind = kind
        self.nodes = _scaled(places, degrees=degrees)
        self.named = len(self.nodes) <= MOST_NAMED
        self.halves = [half for link in links for half in self._halves(link)]
        lines = [(half.x1, half.y1, half.x2, half.y2) for half in self.halves]
        self.labels = (
            labels.place(self.nodes, lines, LETTERS, ROOM, (0.0, 0.0, WIDTH, HEIGHT)) if self.named else []
        )
        pairs = states[0].pairs
        self.ends = sorted({end for pair in pairs for end in pair})
        self.pairs = sorted(pairs)
        self.size = max(6.0, min(16.0, 640.0 / max(len(self.ends), 1)))

    def _halves(self, link: str) -> list[HalfLink]:
        one, other = link.split(">")
        (x1, y1), (x2, y2) = self.nodes[one], self.nodes[other]
        x, y = (x1 + x2) / 2, (y1 + y2) / 2
        return [HalfLink(link, x1, y1, x, y), HalfLink(f"{other}>{one}", x2, y2, x, y)]

    @staticmethod
    def step(value: float, bounds: Sequence[float] = USED) -> int:
        """Returns the step of a value, 0 to 4."""
        return sum(value >= bound for bound in bounds)

    @staticmethod
    def band(mos: float | None) -> str:
        """Returns the band of an opinion (ITU-T G.109), or `none` without an opinion."""
        if mos is None or not math.isfinite(mos):
            return "none"
        return "good" if mos >= 3.6 else "fair" if mos >= 3.1 else "poor"

    @property
    def cells(self) -> list[tuple[float, float, str, str]]:
        """Returns the cells of the matrix without failures: position, band and words."""
        at = {end: index for index, end in enumerate(self.ends)}
        found = []
        for one, other in self.pairs:
            mos, band = self.states[0].pairs[one, other]
            words = f"{one} → {other}: {band}, MOS {mos:.2f}"
            found.append((at[other] * self.size, at[one] * self.size, band, words))
        return found

    @property
    def keys(self) -> list[tuple[str, list[str]]]:
        """Returns the legend of each way to colour links: its name and its five steps in words."""
        used = ["below 25 %", "25 to 50 %", "50 to 75 %", "75 to 90 %", "90 % or more"]
        lost = ["below 0.01 %", "0.01 to 0.1 %", "0.1 to 1 %", "1 to 5 %", "5 % or more"]
        return [("used", used), ("discarded", lost)]

    def to_json(self) -> str:
        """Returns the script's data as JSON, escaped so that it cannot end its `script` element."""
        data = {
            "bounds": [list(USED), list(DISCARDED)],
            "links": [half.name for half in self.halves],
            "pairs": [f"{one} → {other}" for one, other in self.pairs],
            "states": [
                {
                    "name": state.name, "words": state.words,
                    "failed": [
                        number for number, half in enumerate(self.halves)
                        if half.name in state.failed or ">".join(reversed(half.name.split(">"))) in state.failed
                    ],
                    "used": [round(state.links.get(half.name, (0.0, 0.0))[0], 4) for half in self.halves],
                    "lost": [round(state.links.get(half.name, (0.0, 0.0))[1], 6) for half in self.halves],
                    "mos": [_rounded(state.pairs.get(pair, (None, ""))[0]) for pair in self.pairs],
                    "bands": [state.pairs.get(pair, (None, "none"))[1] for pair in self.pairs],
                }
                for state in self.states
            ],
            "worst": [list(one.links) for one in self.worst],
        }  # fmt: skip
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _rounded(mos: float | None) -> float | None:
    return None if mos is None or not math.isfinite(mos) else round(mos, 3)


def _scaled(places: Mapping[str, tuple[float, float]], *, degrees: bool) -> dict[str, tuple[float, float]]:
    """Returns positions on the map. North is up; a degree of longitude has its length at the middle latitude."""
    if not places:
        return {}
    middle = sum(y for _, y in places.values()) / len(places)
    squeeze = math.cos(math.radians(max(-80.0, min(80.0, middle)))) if degrees else 1.0
    xs = [x * squeeze for x, _ in places.values()]
    ys = [y for _, y in places.values()]
    across, up = max(xs) - min(xs), max(ys) - min(ys)
    scale = min((WIDTH - 2 * MARGIN) / (across or 1), (HEIGHT - 2 * MARGIN) / (up or 1))
    left, top = (WIDTH - across * scale) / 2, (HEIGHT - up * scale) / 2
    return {
        name: (
            round(left + (x * squeeze - min(xs)) * scale, 1),
            round(HEIGHT - top - (y - min(ys)) * scale, 1),
        )
        for name, (x, y) in places.items()
    }
