"""Makes examples/lte.csv, a rate trace similar to a phone's in a moving car: drawn, not measured.

Every 100 ms the channel quality indicator stays or moves by one or two, with a pull towards 8. A handover comes every
20 s on average. It blocks the link for 200 to 600 ms and changes the phone's indicator. The phone gets between 10 and
50 % of the cell's rate (3GPP TS 36.213, 7.2.3-1, 10 MHz, a quarter of the symbols taken off). All these numbers except
the cell's rate are assumptions.

    python examples/lte.py
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CQI = [
    0.1523,
    0.2344,
    0.3770,
    0.6016,
    0.8770,
    1.1758,
    1.4766,
    1.9141,
    2.4063,
    2.7305,
    3.3223,
    3.9023,
    4.5234,
    5.1152,
    5.5547,
]
SYMBOLS = 50 * 12 * 14 * 1000 * 3 // 4
SECONDS, STEP_MS, SEED = 60, 100, 1


def rates(seed: int = SEED) -> Iterator[int]:
    """Yields rates in kb/s, one for each step."""
    draw = Random(seed)
    indicator, share, gap = 8, 0.3, 0
    for _ in range(SECONDS * 1000 // STEP_MS):
        if gap == 0 and draw.random() < STEP_MS / 20_000:
            gap, indicator = draw.randint(2, 6), draw.randint(5, 13)
        if gap > 0:
            gap -= 1
            yield 0
            continue
        pull = 0.06 * (8 - indicator)
        step = draw.choice([-2, -1, -1, 0, 0, 1, 1, 2]) + (
            1 if draw.random() < pull else -1 if draw.random() < -pull else 0
        )
        indicator = min(max(indicator + step, 1), 15)
        share = min(max(share + draw.uniform(-0.04, 0.04), 0.1), 0.5)
        yield round(CQI[indicator - 1] * SYMBOLS * share / 1000)


def text(seed: int = SEED) -> str:
    """Returns the file's content."""
    rows = (f"{place * STEP_MS / 1000:g},{rate}" for place, rate in enumerate(rates(seed)))
    return "\n".join(["# drawn by examples/lte.py", "time_s,rate_kbps", *rows]) + "\n"


if __name__ == "__main__":
    Path(__file__).with_suffix(".csv").write_text(text())
