"""Which readings are judged: the base, every step from it to one other value, and many that vary everything at once.

Changing one assumption at a time shows the nearest change of a verdict to the base, but no joint effects. So a
quasi-random design varies all factors at once: the points of a scrambled Sobol sequence. Every prefix of it fills the
space of readings evenly: each value of a factor, and each pair of values of two, comes up nearly equally often.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from fairwave_study.readings import Reading, Readings

SEED = 20041011
"""Scrambles the sequence, the same in every exploration."""

Kind = Literal["base", "neighbour", "drawn", "pair", "likely"]


@dataclass(frozen=True)
class Candidate:
    """A reading to be judged, and why.

    Attributes:
        reading: Factor to value, all of them.
        kind: The base; a neighbour, one factor away from it; drawn from the sequence; a pair of changes to the base;
            the authors' likely set-up.
    """

    reading: Reading
    kind: Kind

    @property
    def key(self) -> str:
        """The reading as text, the same however it came about."""
        return key(self.reading)


def key(reading: Reading) -> str:
    """A reading as text, the same for the same reading."""
    return json.dumps(dict(sorted(reading.items())), ensure_ascii=False)


def list_neighbours(readings: Readings) -> list[Candidate]:
    """Every admissible reading that differs from the base in one factor."""
    base = readings.base()
    found = []
    for factor in readings.factors:
        for value in factor.values[1:]:
            reading = {**base, factor.id: value.name}
            if not readings.refuses(reading):
                found.append(Candidate(reading, "neighbour"))
    return found


def draw_readings(readings: Readings, count: int) -> list[Candidate]:
    """Up to `count` admissible readings from a scrambled Sobol sequence over all factors.

    Skips contradictory readings and readings that were drawn before.
    """
    from scipy.stats import qmc

    sizes = [len(factor.values) for factor in readings.factors]
    sequence = qmc.Sobol(d=len(sizes), scramble=True, seed=SEED)
    found: dict[str, Candidate] = {}
    batch = max(4, math.ceil(math.log2(max(count, 2))))
    possible = math.prod(sizes)
    tried = 0
    while len(found) < min(count, possible) and tried < 64 * max(count, 64):
        for point in sequence.random(2**batch):
            tried += 1
            chosen = [min(int(u * size), size - 1) for u, size in zip(point, sizes, strict=True)]
            reading = {
                factor.id: factor.values[level].name
                for factor, level in zip(readings.factors, chosen, strict=True)
            }
            if len(found) < count and not readings.refuses(reading):
                found.setdefault(key(reading), Candidate(reading, "drawn"))
    return list(found.values())


def design(readings: Readings, count: int) -> list[Candidate]:
    """The base, its neighbours and `count` readings drawn from all."""
    return [Candidate(readings.base(), "base"), *list_neighbours(readings), *draw_readings(readings, count)]
