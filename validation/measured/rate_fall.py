"""BBR after a fall of the link's rate before a deep buffer: ``python -m validation rate-fall`` measures it.

One bulk flow crosses a link of 20 Mb/s (round trip 50 ms, drop-tail of 4 MB). At 20 s the rate falls. The
time of adaptation is the first time, after the fall, from which the sender's estimate of bandwidth stays
within 1.25 times the new rate for 5 s.

BBR v3 forgets its largest rate after two cycles of probing. A cycle needs a wait of two to three seconds and
at least four round trips. The full buffer makes a round trip a second or longer, so ProbeRTT, due every five
seconds, ends each cycle before it is complete, and the samples of ProbeRTT do not count. If this is the
reason, a longer interval of ProbeRTT or a smaller fall (a shorter queue) lets the flow adapt; the rows test
both. The pseudocode of the draft of August 2026 (``CheckProbeRTT``, ``AdaptLongTermModel``) and version 3 in
``google/bbr`` (``bbr_update_min_rtt``, ``bbr_adapt_upper_bounds``) have this interplay.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import fairwave
from validation import kept, writing

KEPT = "measured/rate-fall"
SEEDS = 5
FALL = 20
"""Time of the fall, s."""
END = 80
STEADY = 5
"""The estimate must stay near the new rate for this long, s."""
NEAR = 1.25
NEVER = 1e9
"""Seconds that stand for an adaptation after the end of the run."""

V3 = "BBR v3 (`tcp/bbr`)"
LAWS: tuple[tuple[str, Any], ...] = (
    (V3, "tcp/bbr"),
    (
        "BBR v3, ProbeRTT every 10 s",
        {"name": "tcp/bbr", "probe-rtt-interval": "10 s", "min-rtt-window": "20 s"},
    ),
    (
        "BBR v3, ProbeRTT every 30 s",
        {"name": "tcp/bbr", "probe-rtt-interval": "30 s", "min-rtt-window": "30 s"},
    ),
    ("BBR v1 (`tcp/bbr1`)", "tcp/bbr1"),
    ("CUBIC (`tcp/cubic`)", "tcp/cubic"),
)
RATES = (2, 5, 10, 15)
"""Rates after the fall, Mb/s."""


def scenario(transport: Any, rate: float) -> fairwave.Scenario:
    """The flow over a link that falls from 20 to `rate` Mb/s."""
    series = f"{FALL * 1000} 20000, {(END - FALL) * 1000} {rate * 1000:.0f}"
    return fairwave.Scenario.from_dict(
        {
            "name": f"the rate falls from 20 to {rate} Mb/s",
            "duration": f"{END} s",
            "preset": "linux",
            "link": [
                {
                    "from": "a",
                    "to": "b",
                    "rate": {"law": "trace", "series": series},
                    "delay": "25 ms",
                    "queue": {"discipline": "drop-tail", "capacity": {"bytes": 4_000_000}},
                }
            ],
            "flow": [{"name": "app", "from": "a", "to": "b", "transport": transport, "traffic": "bulk"}],
            "record": {
                "bin": "100 ms",
                "window-interval": "100 ms",
                "windows": ["app"],
                "queues": ["a>b"],
                "series": ["app"],
            },
        }
    )


def measure(transport: Any, rate: float, seed: int) -> dict[str, float | None]:
    """Measures one run.

    Returns:
        Seconds from the fall until the estimate has adapted (`NEVER`: not before the end; None: the law has no
        estimate), and the mean queueing delay after the fall, s.
    """
    import polars as pl

    series = scenario(transport, rate).run(seed).to_polars("series")
    series = series.with_columns(pl.col("kind").cast(pl.String)).filter(pl.col("time_s") > FALL)
    waits = series.filter(pl.col("kind") == "queueing_delay_s")["value"]
    estimate = series.filter(pl.col("kind") == "estimate").sort("time_s")
    adapted: float | None = None
    high = estimate.filter(pl.col("value") > NEAR * rate * 1e6)["time_s"].to_list()
    if estimate.height:
        edges = [float(FALL), *high, float(END)]
        steady = (one - FALL for one, then in pairwise(edges) if then - one >= STEADY)
        adapted = round(next(steady, NEVER), 1)
    return {"adapted": adapted, "delay": float(waits.mean() or 0.0)}  # type: ignore[arg-type]


def main() -> int:
    """Runs all cases and keeps the numbers."""
    writing.parser(__doc__).parse_args()
    rows = []
    for name, transport in LAWS:
        for rate in RATES:
            runs = [measure(transport, rate, seed) for seed in range(1, SEEDS + 1)]
            rows.append({"law": name, "rate": rate, "runs": runs})
            print(name, rate, runs, flush=True)
    kept.write(KEPT, rows)
    return 0


def render(_: Path) -> str:
    """Renders the page from the kept numbers."""
    found = kept.read(KEPT)
    lines = [
        "# BBR after a fall of the rate",
        "",
        (
            f"One flow, round trip 50 ms, drop-tail of 4 MB; the link falls from 20 Mb/s at {FALL} s."
            f" {SEEDS} runs of {END} s. In each cell: seconds until the estimate of bandwidth stays within"
            f" {NEAR} times the new rate for {STEADY} s (first to last run), and the mean queueing delay from"
            " the fall to the end."
        ),
        "",
    ]
    cells = {(one["law"], one["rate"]): describe(one["runs"]) for one in found}
    rows = ([law, *(cells[law, rate] for rate in RATES)] for law, _transport in LAWS)
    lines += writing.table(["law", *(f"to {rate} Mb/s" for rate in RATES)], rows)
    lines.append("")
    lines += writing.method("Method and reason", __doc__)
    return "\n".join(lines)


def describe(runs: list[dict[str, float | None]]) -> str:
    """Returns one cell of the table."""
    delay = sum(one["delay"] or 0.0 for one in runs) / len(runs)
    times = [one["adapted"] for one in runs if one["adapted"] is not None]
    waits = f"{delay:.2g} s" if delay >= 1 else f"{1000 * delay:.0f} ms"
    if not times:
        return f"no estimate; {waits}"
    first, last = (f"{time:.1f}" if time < NEVER else "not by the end" for time in (min(times), max(times)))
    span = first if first == last else f"{first} to {last}"
    return f"{span}; {waits}"
