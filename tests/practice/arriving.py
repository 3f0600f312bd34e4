"""Calls and files that arrive and leave: their number, the refused ones, and the completion time of concurrent files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import accumulate
from math import exp, factorial

from practice.situation import (
    IN_STEP,
    Outcome,
    Situation,
    Table,
    about,
    cbr,
    flow,
    link,
    near,
    ran,
)

STAY = 10
"""Mean duration of a call, seconds."""


def situations() -> Iterator[Situation]:
    """Every situation of this area."""
    yield from _calls()
    yield from _files()


def erlang_b(load: float, lines: int) -> float:
    """Share of calls that find all lines busy (Erlang 1917): B(n) = A B(n − 1)/(n + A B(n − 1)), B(0) = 1."""
    blocked = 1.0
    for line in range(1, lines + 1):
        blocked = load * blocked / (line + load * blocked)
    return blocked


def _called(load: float, lines: int | None, seconds: float, lengths: str = "exponential") -> Outcome:
    """Calls of a packet per second with random arrivals, at most `lines` at once."""
    arrivals: Table = {
        "rate": f"{load / STAY:g} per s",
        "lasts": {"distribution": lengths, "mean": f"{STAY} s"},
    }
    if lines is not None:
        arrivals["at-most"] = lines
    calls = cbr("calls", "800 b/s", 100, arrivals=arrivals)
    return ran(link("1 Mb/s", "1 ms"), calls, seconds, warmup="100 s", hosts=IN_STEP)


def _blocked(load: float, lines: int, lengths: str) -> float:
    outcome = _called(load, lines, 20_000, lengths)
    return 100 * outcome.share("refused", "transfers", "completions")


def _time_by_calls() -> list[tuple[float, int]]:
    """Time with each number of calls after the warm-up, over an hour and a half, without a limit."""
    outcome = _called(8, None, 5_500)
    begins, ends = outcome.values("flows", "start_s"), outcome.values("flows", "stop_s")
    changes = sorted([(time, 1) for time in begins] + [(time, -1) for time in ends])
    counts = accumulate(change for _, change in changes)
    times = [max(100.0, time) for time, _ in changes] + [5_500.0]
    return [(after - before, count) for before, after, count in zip(times, times[1:], counts, strict=False)]


def _mean_at_once() -> float:
    there = _time_by_calls()
    return sum(time * count for time, count in there) / sum(time for time, _ in there)


def _often_beyond(most: int) -> float:
    there = _time_by_calls()
    return 100 * sum(time for time, count in there if count > most) / sum(time for time, _ in there)


def _calls() -> Iterator[Situation]:
    for load, lines, lengths, off in (
        (8, 10, "exponential", 2.5),
        (8, 10, "constant", 2.5),
        (2, 5, "exponential", 1.8),
        (3, 3, "exponential", 4),
    ):
        how = "10 s, exponential" if lengths == "exponential" else "10 s each"
        yield Situation(
            f"arrive/erlang-b-{load}-{lines}-{lengths}", f"{lines} lines, {load} erlangs of calls ({how}): turned away", "%",
            *near(100 * erlang_b(load, lines), off), "Erlang 1917: (Aᴺ/N!)/Σ Aⁿ/n!, whatever the lengths' distribution; ± 4 σ",
            partial(_blocked, load, lines, lengths),
        )  # fmt: skip
    yield Situation(
        "arrive/at-once", "8 erlangs of calls that nobody turns away: calls at once, on the mean", "calls",
        *near(8, 0.7), "M/G/∞, Little's law: arrivals per second times their length; ± 4 σ", _mean_at_once,
    )  # fmt: skip
    tail = 1 - sum(exp(-8) * 8**count / factorial(count) for count in range(13))
    yield Situation(
        "arrive/beyond-twelve", "The same: how often more than twelve are there", "%",
        *near(100 * tail, 4.5), "M/G/∞: Poisson, Σ e⁻⁸ 8ⁿ/n! over n > 12; ± 4 σ of 5400 s",
        partial(_often_beyond, 12),
    )  # fmt: skip


def _shared(load: float, size: Table | str, queue: Table) -> Outcome:
    """Files with random arrivals that are handed over as a whole, over 2 Mb/s; `load` of the link with headers."""
    # Waits of seconds must not cause retransmissions.
    whole = {
        "name": "tcp/newreno", "handshake": False, "initial-window": 5000, "delayed-ack": False, "initial-rto": "60 s", "min-rto": "60 s",
    }  # fmt: skip
    files = flow(
        "files", whole, {"kind": "transfer", "size": size},
        arrivals={"load": f"{2e6 * load / 1.04:.0f} b/s"},
    )  # fmt: skip
    return ran(link("2 Mb/s", "0.2 ms", 5000, queue=queue), files, 1200 / load, warmup="50 s", hosts=IN_STEP)


def _files() -> Iterator[Situation]:
    tail = {"discipline": "drop-tail", "capacity": {"packets": 5000}}
    # Processor sharing: in turn, and without CoDel's drops.
    turns = {"discipline": "fq-codel", "capacity": {"packets": 5000}, "target": "100 s", "interval": "200 s"}
    alone = 20_800 * 8 / 2e6 * 1e3
    drawn = {"distribution": "exponential", "mean": "20 kB"}
    for load, off in ((0.5, 0.12), (0.8, 0.32)):
        yield Situation(
            f"arrive/files-{load:g}", f"Files of 20 kB, exponential, at load {load:g} of 2 Mb/s, drop-tail: mean time", "ms",
            *about(alone / (1 - load), off), "S/(C − λS): M/M/1, whoever is served first; ± 4 σ",
            lambda load=load: 1e3 * _shared(load, drawn, tail).mean("completions", "mean_s"),  # type: ignore[misc]
        )  # fmt: skip
    yield Situation(
        "arrive/sharing", "Files of 20 kB each at load 0.5, FQ-CoDel that never drops: mean time", "ms",
        *about(alone / (1 - 0.5), 0.12), "processor sharing: S/(C − λS), whatever the sizes' distribution",
        lambda: 1e3 * _shared(0.5, "20 kB", turns).mean("completions", "mean_s"),
    )  # fmt: skip
    yield Situation(
        "arrive/offered", "Files of 20 kB, exponential, at load 0.5: use of the link", "%",
        *near(50, 5), "λ S/C; ± 4 σ",
        lambda: 100 * _shared(0.5, drawn, tail).mean("links", "utilisation", link="a>b"),
    )  # fmt: skip
