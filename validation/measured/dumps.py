"""Statistics of browsers with known values: kinds of calls, written in every format, and read again.

Run `python -m validation dumps` to see the table. Each file is made from a few numbers, and the right values follow
from these numbers, not from fairwave.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.dumps import read_dump
from fairwave.foreign import ForeignFileError
from validation.measured.made_dumps import (
    BEGIN_MS,
    convert_polls,
    jitsi,
    receiving,
    rtcstats3,
    sending,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairwave.dumps import Connection

Polls = list[list[dict[str, Any]]]

COUNT = 60
"""Polls of a call, once a second."""

FORMATS: dict[str, Callable[[Polls], str]] = {
    "webrtc-internals": lambda polls: json.dumps(convert_polls(polls)),
    "lists of reports": json.dumps,
    "tables by id": lambda polls: json.dumps([{one["id"]: one for one in poll} for poll in polls]),
    "[id, report]": lambda polls: json.dumps([[[one["id"], one] for one in poll] for poll in polls]),
    "one poll a line": lambda polls: "\n".join(map(json.dumps, polls)),
    "rtcstats (Jitsi)": jitsi,
    "rtcstats 3": rtcstats3,
}

CLOSE = 0.01
"""Values within 1 % are right."""


@dataclass(frozen=True)
class Case:
    """A kind of call.

    Attributes:
        what: The kind, as a phrase.
        polls: Results of getStats().
        right: Quantity and time to the right value.
        formats: The formats that can show it.
    """

    what: str
    polls: Polls
    right: dict[str, float]
    formats: tuple[str, ...] = field(default_factory=lambda: tuple(FORMATS))


def read_values(connection: Connection, wanted: dict[str, float]) -> dict[str, float]:
    """The values of a connection, for keys such as `sent 10` (Mb/s at 10 s), `lost` or `streams`."""
    series = {
        "sent": connection.sent_bps / 1e6, "received": connection.received_bps / 1e6,
        "estimate": connection.available_bps / 1e6, "trip": connection.round_trip_s * 1e3,
    }  # fmt: skip
    counts = {
        "streams": len(connection.streams), "changes": len(connection.pair_changes), "gaps": len(connection.gaps),
        "lost": float(np.nansum([one.lost_total for one in connection.streams])),
        "restarts": sum(len(one.restarts_s) for one in connection.streams),
    }  # fmt: skip
    found = {}
    for key in wanted:
        name, _, at = key.partition(" ")
        if at:
            index = int(np.abs(connection.time_s - float(at)).argmin())
            found[key] = float(series[name][index])
        else:
            found[key] = float(counts[name])
    return found


def change(polls: Polls, name: str, alter: Callable[[int, dict[str, Any]], dict[str, Any] | None]) -> Polls:
    """Replaces an object in each poll; None removes it."""
    found: Polls = []
    for at, poll in enumerate(polls):
        reports = (alter(at, dict(one)) if one["id"] == name else one for one in poll)
        found.append([one for one in reports if one is not None])
    return found


def between(polls: Polls, name: str, first: int, end: int) -> Polls:
    """Keeps an object only from one poll to another."""
    return change(polls, name, lambda at, one: one if first <= at < end else None)


def restart(at: int, one: dict[str, Any]) -> dict[str, Any]:
    """Lets the counters of a stream begin again at 30 s, one second's growth above 0."""
    seconds = at % 30 + at // 30
    return one | {"bytesSent": 62_500 * seconds, "packetsSent": 60 * seconds}


def hide_estimate(at: int, one: dict[str, Any]) -> dict[str, Any]:
    """Leaves the estimate out before 15 s."""
    return {key: value for key, value in one.items() if at >= 15 or key != "availableOutgoingBitrate"}


def make_cases() -> list[Case]:
    """Every kind of call."""
    two = sending(COUNT, rates=(5e5, 2e6))
    whole = tuple(one for one in FORMATS if one != "rtcstats (Jitsi)")
    listed = tuple(
        one for one in FORMATS if one not in {"webrtc-internals", "rtcstats (Jitsi)", "rtcstats 3"}
    )
    cell = [
        [*poll, {
            "id": "CP2", "type": "candidate-pair", "timestamp": BEGIN_MS + 1e3 * at, "state": "succeeded",
            "nominated": True, "availableOutgoingBitrate": 1e6, "currentRoundTripTime": 0.2,
        }]
        for at, poll in enumerate(sending(COUNT))
    ]  # fmt: skip
    path = [
        [*poll, {
            "id": "T01", "type": "transport", "timestamp": BEGIN_MS + 1e3 * at,
            "selectedCandidatePairId": "CP1" if at < 25 else "CP2", "bytesSent": 70_000 * at,
        }]
        for at, poll in enumerate(cell)
    ]  # fmt: skip
    swapped = sending(COUNT)
    for at in (10, 30, 44):
        swapped[at], swapped[at + 1] = swapped[at + 1], swapped[at]
    paused = sending(COUNT)
    del paused[20:45]
    return [
        Case("nothing happens", sending(COUNT), {"sent 30": 0.5, "estimate 30": 3, "trip 30": 50, "streams": 1}),
        Case("a stream ends at 30 s", between(two, "OT01V2", 0, 31), {"sent 20": 2.5, "sent 40": 0.5, "streams": 2}),
        Case("a stream begins at 20 s", between(two, "OT01V2", 20, COUNT), {"sent 10": 0.5, "sent 40": 2.5}),
        Case("three streams", sending(COUNT, rates=(1e5, 9e5, 5e5)), {"sent 5": 1.5, "sent 55": 1.5, "streams": 3}),
        Case(
            "another candidate pair from 30 s on",
            between(between(cell, "CP1", 0, 30), "CP2", 30, COUNT),
            {"estimate 10": 3, "estimate 50": 1, "trip 10": 50, "trip 50": 200, "changes": 1},
        ),
        Case(
            "the transport selects another pair at 25 s",
            path,
            {"estimate 20": 3, "estimate 30": 1, "changes": 1},
        ),
        Case(
            "a pair that stays nominated, and a younger one",
            between(cell, "CP2", 30, COUNT),
            {"estimate 10": 3, "estimate 50": 1, "changes": 1},
        ),
        Case(
            "counters begin again at 30 s",
            change(sending(COUNT), "OT01V1", restart),
            {"sent 20": 0.5, "sent 30": 0.5, "sent 40": 0.5, "restarts": 1},
        ),
        Case("5 % lost", sending(COUNT), {"lost": 3 * (COUNT - 1), "sent 30": 0.5}),
        Case("late packets take losses back", change(
            sending(COUNT), "RI1", lambda at, one: one | {"packetsLost": min(at, 20) - 5 * (at >= 40)}
        ), {"lost": 15, "restarts": 0}),
        Case("a viewer: only received streams", receiving(COUNT), {"received 30": 0.8, "lost": 2 * (COUNT - 1)}),
        Case("Firefox: no estimate", sending(COUNT, estimate=None), {"sent 30": 0.5, "trip 30": 50, "streams": 1}),
        Case(
            "the estimate appears at 15 s",
            change(sending(COUNT), "CP1", hide_estimate),
            {"estimate 15": 3, "estimate 59": 3},
        ),
        Case("the browser sleeps from 19 to 45 s", paused, {"gaps": 1, "sent 18": 0.5, "sent 45": 0.5, "sent 50": 0.5}),
        Case("polls every 5 s", sending(COUNT)[::5], {"sent 10": 0.5, "sent 50": 0.5}),
        Case("polls in another order", swapped, {"sent 11": 0.5, "sent 31": 0.5, "restarts": 0}, listed),
        Case(
            "a stream pauses from 20 to 40 s",
            change(
                sending(COUNT), "OT01V1",
                lambda at, one: one | dict.fromkeys(("bytesSent",), 62_500 * (min(at, 20) + max(at - 40, 0))),
            ),
            {"sent 10": 0.5, "sent 30": 0, "sent 50": 0.5},
        ),
        Case(
            "another SSRC from 30 s on",
            change(sending(COUNT), "OT01V1", lambda at, one: one | {"ssrc": 1 if at < 30 else 9}),
            {"streams": 2, "sent 20": 0.5, "sent 40": 0.5},
            tuple(one for one in whole if one != "webrtc-internals"),
        ),
    ]  # fmt: skip


def try_file(case: Case, name: str, folder: Path) -> dict[str, float] | str:
    """Writes a call in one format and reads it; a message if it was refused."""
    path = folder / "file.json"
    data = FORMATS[name](case.polls).encode()
    path.write_bytes(gzip.compress(data) if len(data) % 2 else data)
    try:
        connection, _ = read_dump(path).choose()
    except ForeignFileError as error:
        return str(error)
    return read_values(connection, case.right)


def is_right(found: dict[str, float] | str, right: dict[str, float]) -> bool:
    """Whether all values are right."""
    return not isinstance(found, str) and all(
        abs(found[key] - value) <= CLOSE * max(abs(value), 1) for key, value in right.items()
    )


def describe(values: dict[str, float]) -> str:
    """Values in words: `sent 20: 2.5`."""
    return ", ".join(f"{key}: {value:.3g}" for key, value in values.items())


ABOUT = """Each row is a kind of call, each column a format. The files are made from a few numbers, so the right
values are known: rates and the estimate in Mb/s and round trips in ms at a second of the call, the number of
streams, of changes of the path, of gaps and of restarts, and the packets lost. About half of the files are
compressed. Values within 1 % are right. A dash is a format that cannot show the kind."""


def render(_: Path) -> str:
    """Makes and reads all files, and renders the table."""
    lines, right, total = [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        for case in make_cases():
            cells = []
            for form in FORMATS:
                if form not in case.formats:
                    cells.append("–")
                    continue
                found = try_file(case, form, Path(name))
                fine = is_right(found, case.right)
                right, total = right + fine, total + 1
                cells.append(
                    "right" if fine else f"**{found if isinstance(found, str) else describe(found)}**"
                )
            lines.append(f"| {case.what} | {describe(case.right)} | {' | '.join(cells)} |")
    head = f"| call | right values | {' | '.join(FORMATS)} |\n|---|---|{'---|' * len(FORMATS)}"
    said = f"{right} of {total} files have the right values."
    return "\n".join(
        ["# Statistics of browsers with known values", "", ABOUT, "", said, "", head, *lines, ""]
    )


def main() -> int:
    """Prints the table; the status is 1 if a value is wrong."""
    text = render(Path())
    sys.stdout.write(text)
    return int("**" in text)
