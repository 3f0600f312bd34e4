"""The measures of each case, after RFC 8868 §3."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from fairwave.measuring import measures
from fairwave.measuring.measures import POSITIVE, RATIO, Measure
from fairwave_studies.conference import points as p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairwave.measuring.measure import RunValue
    from fairwave.tables import Table

SETTLED = 0.25
"""A target is settled within this share of its mean over the last seconds of its phase."""

LAST = 10.0
"""How many of the last seconds of a phase are its steady state."""


def _mean_over_sessions(case: str, column: str, scale: float) -> measures.Reduction:
    """The mean over all sessions of a case."""
    groups = p.sessions(case)

    def value(rows: Table) -> float:
        there = np.isin(np.array(rows["group"].to_list()), groups)
        return measures.mean(rows.numbers(column)[there]) * scale

    return lambda results: _run_values(results, "flows", value)


def _run_values(results: object, table: str, value: RunValue) -> dict[str, list[float]]:
    made = [(int(part["run"].values[0]), value(part)) for part in results.rows(table).parted("run")]  # type: ignore[attr-defined]  # Results
    return {"run": [run for run, _ in made], "value": [one for _, one in made]}


@cache
def rate(case: str) -> Measure:
    """Goodput of a session, mean over sessions, Mb/s of payload."""
    return Measure(
        f"rate_{case}",
        "goodput per session",
        "Mb/s",
        _mean_over_sessions(case, "goodput_bps", 1e-6),
        "higher",
        limits=POSITIVE,
    )


USED = measures.link("utilisation", p.LINK, "utilisation")
"""Share of the bottleneck's capacity that all flows together use over the run, 0 to 1."""

QUEUEING = measures.link("mean_wait_s", p.LINK, "queueing delay", "ms", 1e3)
"""Mean time that packets wait at the bottleneck, ms."""


@cache
def lost(case: str) -> Measure:
    """Data packets of the sessions that queues dropped, in % of those sent."""
    groups = p.sessions(case)

    def value(rows: Table) -> float:
        there = np.isin(np.array(rows["group"].to_list()), groups)
        gone = rows.numbers("dropped")[there] + rows.numbers("lost")[there]
        return measures.share(gone, rows.numbers("packets_sent")[there], 100.0)

    return Measure(
        f"lost_{case}", "packets lost", "%", lambda results: _run_values(results, "flows", value), "lower",
        limits=measures.PERCENT,
    )  # fmt: skip


def _media(case: str, streams: Sequence[str], column: str, scale: float) -> measures.Reduction:
    groups = p.heard(case)

    def value(rows: Table) -> float:
        mine = np.isin(np.array(rows["group"].to_list()), groups)
        kind = np.isin(np.array(rows["stream"].to_list()), streams)
        return measures.mean(rows.numbers(column)[mine & kind]) * scale

    return lambda results: _run_values(results, "media", value)


@cache
def audio(case: str) -> Measure:
    """MOS of speech, mean over sessions."""
    return Measure(
        f"audio_{case}", "MOS of audio", "", _media(case, ("audio",), "mos", 1.0), "higher", table="media",
        limits=measures.MOS,
    )  # fmt: skip


@cache
def video(case: str) -> Measure:
    """MOS of pictures with freezes, mean over sessions."""
    return Measure(
        f"video_{case}", "MOS of video", "", _media(case, ("video",), "mos", 1.0), "higher", table="media",
        limits=measures.OPINION,
    )  # fmt: skip


@cache
def frozen(case: str) -> Measure:
    """Time in freezes, in %, mean over sessions."""
    return Measure(
        f"frozen_{case}", "frozen", "%", _media(case, ("video",), "freeze_ratio", 100.0), "lower", table="media",
        limits=measures.PERCENT,
    )  # fmt: skip


@cache
def video_delay(case: str) -> Measure:
    """From capture to rendering, ms, mean over sessions."""
    return Measure(
        f"video_delay_{case}", "capture to screen", "ms", _media(case, ("video",), "delay_s", 1e3), "lower",
        table="media", limits=POSITIVE,
    )  # fmt: skip


STEADY = 40.0
"""How many of the last seconds of a case count for how its sessions share: nothing changes in them."""


@cache
def balance(case: str) -> Measure:
    """The least rate of a session over the largest in the last seconds, 0 to 1. RFC 8868 §3 asks for a third."""
    groups = p.sessions(case)

    def value(rows: Table) -> float:
        end = float(rows.numbers("time_s").max()) - 1.0
        got = [
            _rate_between(mine, end - STEADY, end)
            for group in groups
            for mine in rows.only(group=group).parted("flow")
        ]
        return min(got) / max(got) if len(got) > 1 and max(got) > 0 else math.nan

    return Measure(
        f"balance_{case}", "least session over largest", "",
        lambda results: _run_values(results, "media_inbound", value), "higher", table="media_inbound", limits=RATIO,
    )  # fmt: skip


@cache
def goodput_of_rest(case: str) -> Measure:
    """Goodput of everything that is not a session, Mb/s of payload."""
    groups = p.sessions(case)

    def value(rows: Table) -> float:
        rest = ~np.isin(np.array(rows["group"].to_list()), groups)
        return measures.total(rows.numbers("goodput_bps")[rest]) / 1e6 if rest.any() else math.nan

    return Measure(
        f"others_{case}", "goodput of TCP", "Mb/s", lambda results: _run_values(results, "groups", value), "higher",
        table="groups", limits=POSITIVE,
    )  # fmt: skip


def phases(case: str) -> list[tuple[float, float]]:
    """From when to when the capacity of a case is constant, seconds."""
    starts = [float(at) for at, _ in p.RATES[case]]
    ends = [*starts[1:], {p.VARIABLE: 99.0, p.SEVERAL: 124.0, p.FEEDBACK: 99.0}[case]]
    return list(zip(starts, ends, strict=True))


def settling(times: np.ndarray, targets: np.ndarray, begins: float, ends: float) -> float:
    """How long after its begin a phase's target stays within :data:`SETTLED` of its steady state."""
    mine = (times > begins) & (times <= ends)
    times, targets = times[mine], targets[mine]
    steady = targets[times > ends - LAST]
    if not len(steady):
        return math.nan
    off = np.abs(targets / steady.mean() - 1) > SETTLED
    if not off.any():
        return 0.0
    return float(times[np.flatnonzero(off)[-1]] - begins)


@cache
def convergence(case: str) -> Measure:
    """Time until the target of a session settles after each change of capacity, s: mean over phases and sessions."""
    spans = phases(case)

    def value(rows: Table) -> float:
        found = []
        flows, groups = np.array(rows["flow"].to_list()), np.array(rows["group"].to_list())
        times, targets = rows.numbers("time_s"), rows.numbers("target_bps")
        for group in p.sessions(case)[:1]:
            for flow in np.unique(flows[groups == group]):
                mine = (groups == group) & (flows == flow)
                found += [settling(times[mine], targets[mine], *span) for span in spans]
        return measures.mean(np.array(found, dtype=float))

    return Measure(
        f"convergence_{case}", "convergence", "s", lambda results: _run_values(results, "media_transport", value),
        "lower",
        table="media_transport", limits=POSITIVE,
    )  # fmt: skip


def _rate_between(rows: Table, begins: float, ends: float) -> float:
    """Payload bits per second that the streams of a session received between two times."""
    times, got = rows.numbers("time_s"), rows.numbers("bytes_received")
    total = [got[(times > at - 0.5) & (times <= at + 0.5)].sum() for at in (begins, ends)]
    return 8 * float(total[1] - total[0]) / (ends - begins)


@cache
def regained() -> Measure:
    """§5.8: rate of the paused session in the last 30 s over its rate in the 20 s before its pause."""

    def value(rows: Table) -> float:
        mine = rows.only(group=p.PAUSED)
        before = _rate_between(mine, 20.0, 39.0)
        after = _rate_between(mine, 88.0, 118.0)
        return after / before if before > 0 else math.nan

    return Measure(
        "regained", "rate after the pause over before", "",
        lambda results: _run_values(results, "media_inbound", value), "higher", table="media_inbound", limits=POSITIVE,
    )  # fmt: skip


@cache
def preference() -> Measure:
    """§6.1: received rate of the video with priority 2 over the video with priority 1, in the last seconds."""

    def value(rows: Table) -> float:
        end = float(rows.numbers("time_s").max()) - 1.0
        first, second = (
            _rate_between(rows.only(stream=one), end - STEADY, end) for one in ("video", "screen")
        )
        return first / second if second > 0 else math.nan

    return Measure(
        "preference", "priority 2 over priority 1", "",
        lambda results: _run_values(results, "media_inbound", value), "higher", table="media_inbound", limits=POSITIVE,
    )  # fmt: skip


def list_measures(case: str) -> list[Measure]:
    """The columns of a case's table, in order."""
    of_case = [one(case) for one in (rate, lost, audio, video, frozen, video_delay)]
    more = [
        one(case)
        for one, there in (
            (balance, len(p.sessions(case)) > 1 or case in p.MULTIPLE),
            (goodput_of_rest, case in p.BESIDE_TCP),
            (convergence, case in p.RATES),
        )
        if there
    ]
    if case == p.PRIORITY:
        more.append(preference())
    return [USED, QUEUEING, *of_case, *more]
