"""Recognises the format of a file with statistics, and reads its objects value by value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fairwave.dumps.members import DURATIONS, NUMBERS, TEXTS, TYPES, is_legacy, standard_type
from fairwave.dumps.recording import KIND, Budget, Recorder, read_time
from fairwave.dumps.rtcstats import MARK, POLLS, Decompressor
from fairwave.dumps.walking import Walker
from fairwave.foreign import check_items, reach, read_bytes, unpack_gzip

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INTERNALS, RTCSTATS, POLLED = "webrtc-internals", "rtcstats", "getStats"
"""Formats."""

ENVELOPES = ("stats", "reports", "report", "getStats", "statsReport")
"""Members of a poll that may hold its reports."""

ENDS = ("sender", "receiver")
"""Connections of the files that `fairwave run --stats` writes."""

GZIP = b"\x1f\x8b"

ONLY = "only"
"""Name of the connection of a file that names none."""

LEGACY = (
    'has only Chrome\'s statistics from before the standard (goog…): choose "standardized" on '
    "chrome://webrtc-internals, or call getStats() without arguments, and save the statistics again"
)


class Intake:
    """Takes polls and events, and passes their reports to one recorder for each connection.

    Attributes:
        name: The file, for messages.
        format: The recognised format.
        agent: The browser, as the file names it; empty if it does not.
        recorders: Connection to its recorder.
        pages: Connection to the address of its page, if the file has it.
        has_legacy: Whether objects of Chrome's old statistics were left out.
        has_values: Whether the file has anything that may be statistics.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.format, self.agent = POLLED, ""
        self.recorders: dict[str, Recorder] = {}
        self.pages: dict[str, str] = {}
        self.has_legacy = self.has_values = False
        self._budget = Budget(self.name)
        self._decompressors: dict[str, Decompressor] = {}
        self._polls = 0
        self._is_short = False
        self._event_ms = 0.0

    def recorder(self, connection: str) -> Recorder:
        """Returns the recorder of a connection."""
        if connection not in self.recorders:
            self._budget.take_object()
            self.recorders[connection] = Recorder(self._budget)
        return self.recorders[connection]

    def add_event(self, event: list[Any]) -> None:
        """Adds an event of rtcstats."""
        if len(event) < 3:
            return
        method, connection, value = event[:3]
        stamp = event[-1] if len(event) > 3 else None
        if self._is_short:
            is_number = isinstance(stamp, (int, float)) and not isinstance(stamp, bool)
            self._event_ms += float(stamp or 0) if is_number else 0.0
        else:
            self._event_ms = read_time(stamp)
        if isinstance(value, dict) and isinstance(value.get("userAgent"), str):
            self.agent = Walker.text(value["userAgent"])[:200]
        if isinstance(method, bool) or not isinstance(method, (str, int)) or method not in POLLS:
            self.format = RTCSTATS if self.format == POLLED else self.format
            return
        self.format = RTCSTATS
        self._polls += 1
        if not isinstance(value, (dict, list)):
            return
        name = Walker.text(str(connection))[:200]
        if name not in self._decompressors:
            self._budget.take_object()
            self._decompressors[name] = Decompressor()
        if isinstance(value, list):
            value = dict(_reports(value))
        place = f"{self.name}: report {self._polls}"
        restored = self._decompressors[name].restore(value, self._event_ms, is_short=self._is_short)
        for key, report, time_ms in restored:
            self.add_report(name, key, report, time_ms, self._event_ms, place)

    def finish(self) -> None:
        """Adds samples that are known only at the end of the file."""
        place = f"{self.name}: report {self._polls}"
        for connection, decompressor in self._decompressors.items():
            for key, report, time_ms in decompressor.finish(is_short=self._is_short):
                self.add_report(connection, key, report, time_ms, time_ms, place)

    def add_poll(self, connection: str, found: Any, *, is_inner: bool = False) -> None:
        """Adds one poll: a table or a list of reports, perhaps in an envelope with a time.

        Args:
            connection: Name of the connection.
            found: The poll.
            is_inner: Whether it comes from within a list; lists of lists of polls are none.
        """
        at_ms = math.nan
        if isinstance(found, dict) and not _is_report(found):
            inner = next((one for key in ENVELOPES if isinstance(one := found.get(key), (dict, list))), None)
            if inner is not None:
                at_ms = _envelope_ms(found)
                found = inner
        reports = list(_reports(found))
        if not reports:
            for one in found if isinstance(found, list) and not is_inner else ():
                if isinstance(one, (dict, list)):
                    self.add_poll(connection, one, is_inner=True)
            return
        self.has_values = True
        self._polls += 1
        stamps = [read_time(report.get("timestamp")) for _, report in reports]
        known = [one for one in stamps if not math.isnan(one)]
        poll_ms = max(known) if known and math.isnan(at_ms) else at_ms
        if known and not math.isnan(at_ms) and abs(max(known) - at_ms) > 60_000:
            poll_ms = max(known)  # the envelope counts from another moment
        place = f"{self.name}: report {self._polls}"
        for (key, report), stamp in zip(reports, stamps, strict=True):
            self.add_report(connection, key, report, stamp, poll_ms, place)

    def add_report(
        self, connection: str, key: str, report: dict[str, Any], time_ms: float, poll_ms: float, place: str
    ) -> None:
        """Adds one report, if fairwave reads its type.

        Args:
            connection: Name of the connection.
            key: The object's id; empty if it has none.
            report: Its members.
            time_ms: Its time stamp; NaN if it has none.
            poll_ms: Time of the poll.
            place: The place in the file, for messages.
        """
        kind = report.get("type")
        if not isinstance(kind, str):
            return
        kind = standard_type(kind, report.get("isRemote"))
        if kind in TYPES:
            name = Walker.text(key) or _fallback(kind, report)
            self.recorder(connection).add(name[:200], kind, time_ms, report, poll_ms, place)
        elif is_legacy(kind):
            self.has_legacy = True


class Reader(Intake):
    """Reads a file, value by value."""

    def __init__(self, path: Path) -> None:
        """Reads the file.

        Raises:
            ForeignFileError: It is no statistics, or exceeds a limit.
        """
        super().__init__(str(path))
        data = read_bytes(path, KIND)
        data = unpack_gzip(data, str(path), KIND) if data.startswith(GZIP) else data
        self._walk = Walker(data, self.name, KIND)
        del data
        self._read()

    def _read(self) -> None:
        walk = self._walk
        reach(lambda: f"poll {self._polls}" if self._polls else "")
        if walk.skip_line(MARK):
            self.format, self._is_short = RTCSTATS, True
        while begin := walk.peek():
            if begin == "{":
                self._read_object()
            elif begin == "[":
                self._read_list()
            else:
                walk.value()
            if walk.peek() == ",":  # one value a line, with commas
                walk.at += 1
        self.finish()

    def _read_object(self) -> None:
        """Reads an object at the top: a dump, both ends of a session, or a poll."""
        walk = self._walk
        rest: dict[str, Any] = {}
        for key in walk.members():
            begin = walk.peek()
            if key == "PeerConnections" and begin == "{":
                self.format = INTERNALS
                self.has_values = True
                for connection in walk.members():
                    if walk.peek() == "{":
                        self._read_connection(connection)
            elif begin == "[" and key not in ENVELOPES and self.format == POLLED:
                self._read_polls(key)
            else:
                rest[key] = walk.value()
        if isinstance(rest.get("UserAgent"), str):
            self.agent = walk.text(rest["UserAgent"])[:200]
        if isinstance(rest.get("userAgent"), str):
            self.agent = walk.text(rest["userAgent"])[:200]
        if self.format == POLLED:
            self._add_rest(rest)

    def _add_rest(self, rest: dict[str, Any]) -> None:
        """Adds an object at the top that is a poll, or holds the polls of several connections."""
        nested = [one for one in rest.values() if isinstance(one, dict) and one]
        for group in nested:
            if all(isinstance(one, list) for one in group.values()):
                for connection, polls in group.items():
                    for one in polls:
                        self.add_poll(Walker.text(connection)[:200], one)
        self.add_poll(ONLY, rest)

    def _read_polls(self, connection: str) -> None:
        """Reads a list of polls under a name; other lists are skipped."""
        known = connection in ENDS
        self.has_values = self.has_values or known
        for _ in self._walk.elements():
            if self._walk.peek() in {"{", "["}:
                self.add_poll(connection, self._walk.value())

    def _read_list(self) -> None:
        """Reads a list at the top: an event of rtcstats, polls, or reports."""
        walk = self._walk
        event: list[Any] | None = None
        flat: list[Any] = []
        for number in walk.elements():
            self.has_values = True
            begin = walk.peek()
            if number == 0 and begin not in {"{", "["}:
                event = []
            if event is not None:
                event.append(walk.value())
                check_items(len(event), self.name, KIND)
            elif begin in {"{", "["}:
                self._add_element(walk.value(), flat)
        self.has_values = True
        if flat:
            self.add_poll(ONLY, flat)
        if event is not None:
            self.add_event(event)

    def _add_element(self, found: Any, flat: list[Any]) -> None:
        """Adds an element of a list at the top."""
        if isinstance(found, list) and len(found) >= 3 and isinstance(found[0], (str, int)):
            self.add_event(found)
        elif _is_entry(found) or _is_report(found):
            report = found[1] if isinstance(found, list) else found
            if math.isnan(read_time(report.get("timestamp"))):
                flat.append(found)
                check_items(len(flat), self.name, KIND)
            else:
                self.add_poll(ONLY, [found])
        elif isinstance(found, (dict, list)):
            self.add_poll(ONLY, found)

    def _read_connection(self, connection: str) -> None:
        """Reads a connection of a dump of webrtc-internals."""
        walk = self._walk
        recorder = self.recorder(connection[:200])
        for key in walk.members():
            if key == "stats" and walk.peek() == "{":
                for series in walk.members():
                    if walk.peek() == "{":
                        self._add_series(recorder, series, walk.value())
            elif key == "url" and walk.peek() == '"':
                self.pages[connection[:200]] = walk.text(walk.value())[:200]
        recorder.place_series()

    def _add_series(self, recorder: Recorder, key: str, found: dict[str, Any]) -> None:
        # Chrome computes members in brackets, and their names may have a dash.
        cut = key.rfind("-[") if key.endswith("]") else key.rfind("-")
        kind = found.get("statsType")
        if cut <= 0 or not isinstance(kind, str):
            return
        name, member = key[:cut], key[cut + 1 :]
        if is_legacy(kind):
            self.has_legacy = True
        kind = standard_type(kind)
        if kind not in TYPES:
            return
        if member == "[timestamp]":
            member = "timestamp"
        if not (member in NUMBERS or member in TEXTS or member in {"timestamp", DURATIONS, "mediaType"}):
            return
        values = found.get("values")
        if isinstance(values, str):
            check_items(values.count(","), self.name, KIND)
            values = self._walk.inner(values)
        if not isinstance(values, list) or (
            member == "timestamp" and not any(not math.isnan(read_time(one)) for one in values)
        ):
            return
        if member == DURATIONS:
            values = [self._walk.inner(one) if isinstance(one, str) else one for one in values]
        ends = (read_time(found.get("startTime")), read_time(found.get("endTime")))
        member = "kind" if member == "mediaType" else member
        recorder.add_series(Walker.text(name)[:200], kind, member, ends, values, f"{self.name}: {key:.80}")


def _is_report(found: Any) -> bool:
    return isinstance(found, dict) and isinstance(found.get("type"), str)


def _is_entry(found: Any) -> bool:
    """Whether this is an entry of a Map: id and report."""
    return isinstance(found, list) and len(found) == 2 and isinstance(found[0], str) and _is_report(found[1])


def _reports(found: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the id and the report of each object of a poll, whatever form the poll has."""
    if _is_report(found):
        yield _name(found), found
    elif isinstance(found, dict):
        for key, one in found.items():
            if _is_report(one):
                yield key, one
    elif isinstance(found, list):
        for one in found:
            if _is_entry(one):
                yield one[0], one[1]
            elif _is_report(one):
                yield _name(one), one


def _name(report: dict[str, Any]) -> str:
    name = report.get("id")
    return name if isinstance(name, str) else ""


def _fallback(kind: str, report: dict[str, Any]) -> str:
    """Returns a name for an object without an id."""
    return f"{kind} {report.get('ssrc', report.get('kind', report.get('mediaType', '')))!s:.20}".strip()


def _envelope_ms(found: dict[str, Any]) -> float:
    """Returns the time of a poll's envelope in milliseconds; NaN without one."""
    for key in ("timestamp", "time", "ts", "date"):
        stamp = read_time(found.get(key))
        if not math.isnan(stamp):
            return stamp
    for key in ("at_s", "at"):
        value = found.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            stamp = read_time(value)
            # A small value is the number of seconds since the beginning.
            return stamp if stamp > 1e11 else float(value) * 1e3
    return math.nan
