"""RED's thresholds from the one cell that is calibrated on: CA1 with Drop-Tail, 83 ms of mean queueing delay (Table 5).

`python -m fairwave_studies.dropping.calibration` finds them anew for every reading that RED's law, its unit, the rule
of its thresholds and the load of S1 make, the other factors being the base reading's, and prints `points.CALIBRATED`.
"""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING

from fairwave_studies.dropping import points as p
from fairwave_studies.dropping import published
from fairwave_studies.dropping import quantities as q
from fairwave_study import texts

if TYPE_CHECKING:
    from fairwave_study.readings import Reading

OVER = [one for one in texts.factors(__file__, {}) if one.id in ("red", "red-unit", "thresholds", "load-s1")]
"""The factors with different thresholds for each value."""

TARGET_MS = published.QUEUEING_MS["CA1"][p.TAIL]
"""Table 5."""


def wait_ms(reading: Reading, most: float, duration: float = 200, replications: int = 2) -> float:
    """Mean queueing delay of voice in CA1 with Drop-Tail, in ms, under a max-threshold of `most` packets."""
    queue = p.queue("RED", p.TAIL, reading=reading, most=most)
    extent = p.Extent(duration=duration)
    scenario = p.dumbbell(extent, reading, **p.loads("CA1", reading), **{p.BEFORE_BOTTLENECK: queue})
    found = q.QUEUEING.compute(scenario.replicate(replications)).frame["value"].mean()
    return float(found) if isinstance(found, (int, float)) else float("nan")


def calibrate(reading: Reading, steps: int = 6) -> float:
    """The max-threshold, in packets, at which the cell comes out as printed: by secants from a first guess."""
    low, high = 40.0, 120.0
    at_low, at_high = wait_ms(reading, low), wait_ms(reading, high)
    for _ in range(steps):
        if abs(at_high - at_low) < 1e-6:
            break
        guess = high + (TARGET_MS - at_high) * (high - low) / (at_high - at_low)
        guess = min(max(guess, 10.0), 250.0)
        low, at_low, high, at_high = high, at_high, guess, wait_ms(reading, guess)
        if abs(at_high - TARGET_MS) < 0.3:
            break
    return round(high, 1)


def main() -> None:
    """Prints `points.CALIBRATED`."""
    for values in itertools.product(*(one.values for one in OVER)):
        names = tuple(one.name for one in values)
        reading = {**p.BASE, **dict(zip((one.id for one in OVER), names, strict=True))}
        words = ", ".join(f'"{one}"' for one in names)
        sys.stdout.write(f"    ({words}): {calibrate(reading)},\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
