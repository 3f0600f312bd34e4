"""The quantities that papers 000 and 001 plot, as measures over the voice or the file transfers of a run.

The papers call the share of packets that come in time the *real-time performance index*, and average it over calls.
They leave four ways to read 'in time' (see `fairwave.measuring.measures.Reading`) and two to read 'sent'; each quantity
that hangs on them exists in each way.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple
from weakref import ref

import polars as pl

from fairwave.measuring import measures
from fairwave.measuring.measures import Measure, Reading

if TYPE_CHECKING:
    from fairwave.results import Results
    from fairwave_study import readings

THRESHOLD_S = 0.3
"""The papers' threshold of timeliness unless they vary it."""

Sent = Literal["application", "transport"]


class ShareDefinition(NamedTuple):
    """How a share of packets in time is read.

    Attributes:
        timely: The meaning of a packet in time.
        sent: Of which packets the share is: those that the application made, or those that were put on the wire.
    """

    timely: Reading = "sequence"
    sent: Sent = "application"


TIMELY: dict[str, Reading] = {
    "gap to the packet numbered before": "sequence",
    "gap to the arrival before": "gap",
    "one-way delay": "delay",
    "gap beyond the sender's": "excess-gap",
}
"""The values of the factor `timely`, in its order."""

SENT: dict[str, Sent] = {"by the application": "application", "by the transport": "transport"}
"""The values of the factor `sent`."""


def define_shares(reading: readings.Reading) -> ShareDefinition:
    """A reading's meaning of shares of packets in time."""
    return ShareDefinition(TIMELY[reading["timely"]], SENT[reading["sent"]])


GOODPUT = measures.goodput("voice")
FTP_GOODPUT = measures.goodput("ftp")
FAIRNESS = measures.fairness("voice")
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


def _wire(results: Results) -> pl.DataFrame:
    voice = results.to_polars("flows").filter(pl.col("group").cast(pl.String) == "voice")
    rate = pl.col("wire_sent").sum() * 8 / pl.col("measured_s").max() / 1e6
    return voice.group_by("run", maintain_order=True).agg(rate.alias("value"))


WIRE = Measure("wire", "calls on the wire", "Mb/s", _wire, limits=measures.POSITIVE)
"""The calls' rate on the wire, with headers, copies and retransmissions."""

FIRST_DROPS = measures.link("drop_rate", "r1>r2", "dropped at R1→R2", "%", 100)
SHARED_DROPS = measures.link("drop_rate", "r2>r3", "dropped at R2→R3", "%", 100)
FIRST_USE = measures.link("utilisation", "r1>r2", "use of R1→R2", "%", 100)
SHARED_USE = measures.link("utilisation", "r2>r3", "use of R2→R3", "%", 100)
FIRST_WAIT = measures.link("mean_wait_s", "r1>r2", "wait at R1→R2", "ms", 1e3)
FIRST_QUEUE = measures.link("mean_queue_packets", "r1>r2", "queue at R1→R2", "packets", 1)
SHARED_WAIT = measures.link("mean_wait_s", "r2>r3", "wait at R2→R3", "ms", 1e3)

WIRED = "of packets put on the wire"


def _carried(results: Results, sent: Sent) -> pl.DataFrame:
    """Per call, of how many packets shares are taken, and how many arrived.

    `application`: all packets that it made. A packet that has not arrived at the end of the run is lost: over TCP most
    of these wait in the sender (over UDP a packet or two are under way). `transport`: packets put on the wire, each
    counted once, without the SYN. Over UDP every packet of the application leaves.
    """
    voice = results.to_polars("flows").filter(pl.col("group").cast(pl.String) == "voice")
    made = pl.col("units_sent") + pl.col("units_in_flight")
    once = pl.col("packets_sent") - pl.col("packets_retransmitted") - 1
    tcp = pl.col("transport").cast(pl.String).str.starts_with("tcp")
    wired = pl.when(tcp).then(pl.max_horizontal(once, "units_received")).otherwise(made)
    return voice.select(
        "run", "flow", "units_received", (made if sent == "application" else wired).alias("sent")
    )


_SHARES: dict[int, tuple[ref[Results], pl.DataFrame]] = {}
"""What `_shares` found, by the results' identity, as long as they are there."""


def _shares(results: Results) -> pl.DataFrame:
    """Shares of packets in time and of late ones at every threshold, by every meaning of *timely* and *sent*.

    Packets in time are the mean of the calls' shares (both papers), late ones the share of all. Computed together,
    since the table is long.
    """
    key = id(results)
    if key not in _SHARES:
        rows = results.to_polars(measures.TIMELINESS)
        rows = rows.filter(pl.col("group").cast(pl.Categorical) == "voice").with_columns(
            (pl.col("threshold_s") * 1e3).round(3).alias("threshold"), pl.col("reading").cast(pl.Categorical)
        )
        keys = ["run", "threshold", "reading"]
        found = []
        for sent in SENT.values():
            whole = pl.col("sent")
            joined = rows.join(_carried(results, sent), on=["run", "flow"], how="left", maintain_order="left")
            shares = joined.group_by(keys, maintain_order=True).agg(
                (pl.col("timely") / whole).filter(whole > 0).mean().alias("timely"),
                pl.when(whole.sum() > 0).then(pl.col("delayed").sum() / whole.sum() * 100).alias("delayed"),
            )
            found.append(shares.with_columns(pl.lit(sent).alias("sent"), pl.col("reading").cast(pl.String)))
        _SHARES[key] = (ref(results, lambda _: _SHARES.pop(key, None)), pl.concat(found))
    return _SHARES[key][1]


def _share(
    part: Literal["timely", "delayed"], how: ShareDefinition, *, by_threshold: bool = False
) -> measures.Reduction:
    """One of the shares, at the papers' threshold or at all."""

    def reduce(results: Results) -> pl.DataFrame:
        rows = _shares(results).filter((pl.col("reading") == how.timely) & (pl.col("sent") == how.sent))
        if not by_threshold:
            rows = rows.filter((pl.col("threshold") - THRESHOLD_S * 1e3).abs() < 1e-3)
        return rows.select("run", "threshold", pl.col(part).alias("value"))

    return reduce


def _share_measure(plain: Measure, sent: Sent, reduce: measures.Reduction) -> Measure:
    """A measure of the framework's by this study's shares, named accordingly."""
    if sent == "application":
        return replace(plain, reduce=reduce)
    return replace(plain, id=f"{plain.id}_wire", title=f"{plain.title}, {WIRED}", reduce=reduce)


@cache
def loss(sent: Sent = "application") -> Measure:
    """Packets that did not arrive, in % of those sent."""

    def reduce(results: Results) -> pl.DataFrame:
        whole = pl.col("sent").sum()
        share = pl.when(whole > 0).then((1 - pl.col("units_received").sum() / whole) * 100)
        return _carried(results, sent).group_by("run", maintain_order=True).agg(share.alias("value"))

    return _share_measure(measures.loss("voice"), sent, reduce)


@cache
def index(how: ShareDefinition) -> Measure:
    """The real-time performance index at the papers' threshold."""
    return _share_measure(measures.index("voice", how.timely, THRESHOLD_S), how.sent, _share("timely", how))


@cache
def delayed(how: ShareDefinition) -> Measure:
    """Packets that came late, in % of those sent, at the papers' threshold."""
    return _share_measure(
        measures.delayed("voice", how.timely, THRESHOLD_S), how.sent, _share("delayed", how)
    )


@cache
def index_by_threshold(how: ShareDefinition) -> Measure:
    """The index at every threshold, the axis `threshold` (in ms)."""
    plain = measures.index_by_threshold("voice", how.timely)
    return _share_measure(plain, how.sent, _share("timely", how, by_threshold=True))


@cache
def delayed_by_threshold(how: ShareDefinition) -> Measure:
    """The delayed share at every threshold, the axis `threshold` (in ms)."""
    plain = measures.delayed_by_threshold("voice", how.timely)
    return _share_measure(plain, how.sent, _share("delayed", how, by_threshold=True))
