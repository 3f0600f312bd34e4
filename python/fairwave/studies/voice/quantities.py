"""The quantities that papers 000 and 001 plot, as measures over the voice or the file transfers of a run.

The papers call the share of packets that come in time the *real-time performance index*, and average it over calls.
They leave three ways to read 'in time' (see `fairwave.study.measures.Reading`); each quantity that hangs on it exists
three times.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from fairwave.study import measures
from fairwave.study.measures import READINGS, Measure, Reading

if TYPE_CHECKING:
    from fairwave.results import Results

THRESHOLD_S = 0.3
"""The papers' threshold of timeliness unless they vary it."""

PRINTED: Reading = "gap"
"""Algorithm 1 as printed: what the papers' receivers must have computed, and so what verdicts rest on."""

NAMES: dict[Reading, str] = {
    "gap": "gap as printed",
    "excess-gap": "excess gap",
    "delay": "one-way delay",
}
"""The readings in words."""

GOODPUT = measures.goodput("voice")
FTP_GOODPUT = measures.goodput("ftp")
FAIRNESS = measures.fairness("voice")
LOSS = measures.loss("voice")
DELAY = measures.delay("voice")
DELAY_P95 = measures.delay_p95("voice")
R_FACTOR = measures.r_factor("voice")
MOS = measures.mos("voice")


def _timeouts(results: Results) -> pl.DataFrame:
    voice = results.to_polars("flows").filter(pl.col("group").cast(pl.String) == "voice")
    repaired = pl.col("timeouts") + pl.col("fast_retransmits")
    share = (
        pl.when(repaired.sum() > 0).then(pl.col("timeouts").sum() / repaired.sum() * 100).otherwise(math.nan)
    )
    return voice.group_by("run", maintain_order=True).agg(share.alias("value"))


TIMEOUTS = Measure("timeouts", "losses repaired by timeout", "%", _timeouts, "lower")
"""Of the losses that a TCP acted on (timeouts and fast retransmits), those that it found by its timer."""

FIRST_DROPS = measures.link("drop_rate", "r1>r2", "dropped at R1→R2", "%", 100)
SHARED_DROPS = measures.link("drop_rate", "r2>r3", "dropped at R2→R3", "%", 100)
FIRST_USE = measures.link("utilisation", "r1>r2", "use of R1→R2", "%", 100)
SHARED_USE = measures.link("utilisation", "r2>r3", "use of R2→R3", "%", 100)
FIRST_WAIT = measures.link("mean_wait_s", "r1>r2", "wait at R1→R2", "ms", 1e3)
SHARED_WAIT = measures.link("mean_wait_s", "r2>r3", "wait at R2→R3", "ms", 1e3)

INDEX = {one: measures.index("voice", one, THRESHOLD_S) for one in READINGS}
DELAYED = {one: measures.delayed("voice", one, THRESHOLD_S) for one in READINGS}
INDEX_BY_THRESHOLD = {one: measures.index_by_threshold("voice", one) for one in READINGS}
DELAYED_BY_THRESHOLD = {one: measures.delayed_by_threshold("voice", one) for one in READINGS}
