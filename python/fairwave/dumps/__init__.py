"""Statistics of WebRTC sessions that browsers wrote, in one form: streams and network path over time.

:func:`read_dump` reads a file and returns a :class:`Dump`. It recognises the format by the contents:

- a dump of chrome://webrtc-internals (also as `.gz`), with a separate span for each member of each object;
- results of `getStats()`, as tables, as lists of reports, or as `[id, report]` entries; in a list, one a line, or under
  the name of their connection; each bare or with a time next to its reports (`{"at_s": 3, "stats": […]}`);
- files of rtcstats: of Jitsi, of rtcstats-server, and files that begin with `RTCStatsDump`.

**How to use it.** `dump.choose()` picks the connection with the most media and adds a note if there are others.
A :class:`Connection` has the path: `available_bps` (the estimate of the candidate pair in use), `round_trip_s`,
`pair_changes`, `gaps`, `limited_s`. Its `streams` (:class:`Stream`) have `rate_bps`, `loss`, `jitter_s`,
`round_trip_s`, `frames_per_second`, `height`, `freezes`, `frozen_s`, `concealed`, `buffer_s`, `target_bps`,
`limited_s`, and `count(member)` or `value(member)` for any other. All series of a connection have one value for each
entry of `connection.time_s`, in seconds since the first sample of the dump. A value of a counter belongs to the
interval that ends at this time. NaN means that the value is not known, or that the stream did not exist.

`fairwave.dumps.events` finds events in a connection (freezes, losses, pauses, changes of the path, …), the limiting
factor over time, and the worst ten seconds.

**Assumptions.** Between two samples, a counter grows evenly. A counter that falls began again at zero; one of losses
may fall, because late packets arrive. The values of a series are evenly spread over its span where its object has no
time stamps, or more of them than values. Thresholds marked † are choices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave.dumps.connections import Connection, PairChange
from fairwave.dumps.reading import ENDS, LEGACY, Intake, Reader
from fairwave.dumps.recording import KIND, StatsObject
from fairwave.dumps.streams import RECEIVED, SENT, Span, Stream
from fairwave.foreign import ForeignFileError, gated

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "RECEIVED", "SENT", "Connection", "Dump", "DumpError", "PairChange", "Span", "StatsObject", "Stream", "from_polls",
    "read_dump",
]  # fmt: skip


class DumpError(ForeignFileError):
    """A file has no statistics that can be read; the message names the missing data."""


@dataclass(frozen=True, eq=False)
class Dump:
    """Statistics of one file.

    Attributes:
        source: The file.
        format: `webrtc-internals`, `getStats` or `rtcstats`.
        browser: The browser, as the file names it; empty if it does not.
        start_ms: Time of the first sample, in milliseconds since 1970 or since the browser's start.
        connections: The connections with objects, in the order of the file.
        notes: Compensations and omissions of the reader, one sentence each.
    """

    source: str
    format: str
    browser: str
    start_ms: float
    connections: list[Connection]
    notes: list[str] = field(default_factory=list)

    def choose(self, name: str | None = None, *, is_sending: bool = False) -> tuple[Connection, list[str]]:
        """Returns the connection of this name, or the one with the most media; and a note if there were others.

        Args:
            name: Name of the connection in the file.
            is_sending: Count only the media that this end sends.

        Raises:
            DumpError: There is no such connection, or none has media.
        """
        listed = "; ".join(one.summary for one in self.connections[:8])
        if name is not None:
            found = next((one for one in self.connections if one.name == name), None)
            if found is None:
                raise DumpError(f"{self.source} has no connection {name!r}; it has {listed or 'none'}")
            return found, []
        sized = [(one.sent_bytes if is_sending else one.media_bytes, one) for one in self.connections]
        sized = [one for one in sized if (one[1].sent if is_sending else one[1].streams)]
        if not sized:
            raise DumpError(f"{self.source} has no session that {'sends' if is_sending else 'has media'}")
        best = max(sized, key=lambda one: one[0])[1]
        if len(self.connections) == 1 or {one.name for one in self.connections} == set(ENDS):
            return best, []
        note = (
            f"The file has {len(self.connections)} connections: {listed}. {best.name} has the most media and was "
            "chosen; --connection chooses another one."
        )
        return best, [note]


@gated(KIND, DumpError)
def read_dump(path: str | Path) -> Dump:
    """Reads the statistics of a file.

    Args:
        path: The file; compressed with gzip or not.

    Raises:
        FileNotFoundError: There is no such file.
        DumpError: The file has no statistics, or exceeds a limit; the message names the place and the remedy.
    """
    where = Path(path)
    if not where.is_file():
        raise FileNotFoundError(f"no file {str(path)!r}")
    return _assemble(Reader(where))


def from_polls(polls: Mapping[str, Iterable[Any]], name: str = "statistics") -> Dump:
    """Returns the same from results of `getStats()` in memory.

    Args:
        polls: Name of a connection to its results, in the order of time.
        name: Name for messages.

    Raises:
        ForeignFileError: A value is out of range.
    """
    intake = Intake(name)
    for connection, several in polls.items():
        for one in several:
            intake.add_poll(connection, one)
    intake.has_values = True
    return _assemble(intake)


def _assemble(read: Intake) -> Dump:
    starts = [one.starts_ms() for one in read.recorders.values()]
    start_ms = min((one for one in starts if not math.isnan(one)), default=0.0)
    connections = []
    for name, recorder in read.recorders.items():
        objects = {one.name: one for one in recorder.finish(start_ms)}
        connection = Connection(name, read.pages.get(name, ""), objects)
        if len(connection.time_s):
            connections.append(connection)
    if not any(one.streams for one in connections):
        if read.has_legacy:
            raise DumpError(f"{read.name} {LEGACY}")
        if not read.has_values:
            raise DumpError(
                f"{read.name} has no statistics: write a list of what getStats() answered once a second, or a dump of "
                "chrome://webrtc-internals"
            )
    return Dump(read.name, read.format, read.agent, start_ms, connections, _notes(read, connections))


def _notes(read: Intake, connections: list[Connection]) -> list[str]:
    """Returns compensations and omissions of the reader."""
    notes = []
    if any(one.is_set_back for one in read.recorders.values()):
        notes.append(
            "The clock was set back during the call; times after that continue at the usual interval."
        )
    elif any(one.was_reordered for one in read.recorders.values()):
        notes.append("Some samples came in another order than their time stamps; the time stamps count.")
    timeless = sum(one.timeless for one in read.recorders.values())
    if timeless:
        notes.append(f"{timeless} samples or series have no time and were left out.")
    if read.has_legacy:
        notes.append("Chrome's statistics from before the standard (goog…) were left out.")
    restarted = [stream.name for one in connections for stream in one.streams if stream.restarts_s]
    if restarted:
        notes.append(
            f"Counters of {', '.join(restarted[:5])} began again; their growth since then counts from 0."
        )
    return notes
