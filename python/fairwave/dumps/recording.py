"""Collects statistics objects over time, from polls or from series, and holds them as arrays.

Each object has separate times. A poll (one result of `getStats()`) adds one sample to each object in it. A dump of
chrome://webrtc-internals has one series for each member, with a separate start and end; :meth:`Recorder.finish` places
the values on the object's times.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.dumps.members import DURATIONS, NUMBERS, REASONS, REMOTE, TEXTS, modernise
from fairwave.dumps.walking import Walker
from fairwave.foreign import KINDS, ForeignFileError, check_items

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

KIND = "dump"
"""The kind of file, for its limits."""

MOST_OBJECTS = 20_000
"""Objects of a file. A call with a hundred participants who come and go has fewer."""

LATEST_MS = 1e15
"""Largest time stamp, in milliseconds since 1970."""

ANOTHER_CLOCK_MS = 86_400_000.0
"""A report of the other end that is a day away from its poll has the time of another clock †."""

SAME_SAMPLE = 0.4
"""Samples of objects belong to one poll if they are closer than this share of the usual interval †."""


@dataclass
class Budget:
    """Memory that a file has taken up, over all its connections."""

    source: str
    values: int = 0
    objects: int = 0

    def take(self, values: int) -> None:
        """Counts values.

        Raises:
            ForeignFileError: There are too many.
        """
        self.values += values
        check_items(self.values, self.source, KIND)

    def take_object(self) -> None:
        """Counts an object.

        Raises:
            ForeignFileError: There are too many.
        """
        self.objects += 1
        if self.objects > MOST_OBJECTS:
            raise ForeignFileError(
                f"{self.source} has more than {MOST_OBJECTS} statistics objects, but {KINDS[KIND].what} at most "
                f"{MOST_OBJECTS}; {KINDS[KIND].remedy.format(self.source)}"
            )


def read_time(value: Any) -> float:
    """Returns a time stamp in milliseconds; NaN if it is none.

    Accepts milliseconds, microseconds, seconds since 1970 and ISO 8601.
    """
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp() * 1e3
        except (ValueError, OverflowError, OSError):
            return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        return math.nan
    if 1e14 < value < 1e16:
        return value / 1e3
    return value * 1e3 if 9e8 < value < 1e10 else float(value)


STRICT = frozenset({
    "bytesSent", "headerBytesSent", "packetsSent", "bytesReceived", "headerBytesReceived", "packetsReceived",
    "packetsLost", "roundTripTime", "currentRoundTripTime", "availableOutgoingBitrate", "targetBitrate",
})  # fmt: skip
"""Members with values that must be possible. For others, browsers write nonsense: −1 for a level, 1e230 for a rate."""


def read_number(member: str, value: Any, place: str) -> float:
    """Returns a member's value; NaN if it is no number.

    Raises:
        ForeignFileError: It is out of range, and the path or the rate of a stream depends on it.
    """
    if isinstance(value, bool):
        return float(value) if NUMBERS[member][1] == 1.0 else math.nan
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 16:
        value = int(value)  # Firefox writes some numbers as text
    if not isinstance(value, (int, float)):
        return math.nan
    low, high = NUMBERS[member]
    if not low <= value <= high:
        if member not in STRICT:
            return math.nan
        raise ForeignFileError(
            f"{place} has {value:.6g} for {member}: write a value from {low:g} to {high:g}"
        )
    return float(value)


def read_text(value: Any) -> str | None:
    """Returns a text; None if it is none. Chrome's dumps have texts of digits (`rid`, `mid`) as numbers."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return Walker.text(value)[:200] if isinstance(value, str) else None


@dataclass(frozen=True)
class Counter:
    """A counter over time, with its restarts taken out.

    Attributes:
        time_s: Times of the samples.
        total: The growth since the first sample, plus the first value.
        restarts_s: Times of samples with a smaller value than the sample before: the counter began again.
    """

    time_s: Numbers
    total: Numbers
    restarts_s: Numbers


MAIN_COUNTERS = ("packetsSent", "packetsReceived", "bytesSent", "bytesReceived")
"""Counters that never fall unless the object began again."""


@dataclass(frozen=True)
class StatsObject:
    """An object of the statistics over time, for example one outbound stream.

    Attributes:
        name: Its id in the file.
        kind: Its type, for example `outbound-rtp`.
        time_s: Times of its samples, in seconds since the beginning of the dump.
        numbers: Member to values, one per sample; NaN for missing values.
        texts: Member to the times of its changes and its values since then.
    """

    name: str
    kind: str
    time_s: Numbers
    numbers: Mapping[str, Numbers]
    texts: Mapping[str, tuple[Numbers, list[str]]]

    def has(self, member: str) -> bool:
        """Whether any sample has this number."""
        return member in self.numbers

    def last(self, member: str) -> float:
        """Returns the last value of a number; NaN if there is none."""
        values = self.numbers.get(member, np.empty(0))
        known = values[~np.isnan(values)]
        return float(known[-1]) if len(known) else math.nan

    def text(self, member: str) -> str:
        """Returns the last value of a text; empty if there is none."""
        return self.texts[member][1][-1] if member in self.texts else ""

    def texts_at(self, member: str, at_s: Numbers) -> list[str]:
        """Returns the value of a text at each of these times; empty before the first."""
        if member not in self.texts:
            return [""] * len(at_s)
        since, values = self.texts[member]
        return [values[index] if index >= 0 else "" for index in np.searchsorted(since, at_s, "right") - 1]

    def covers(self, at_s: Numbers, slack_s: float) -> NDArray[np.bool_]:
        """Returns whether each of these times is between the first and the last sample."""
        if not len(self.time_s):
            return np.zeros(len(at_s), bool)
        found: NDArray[np.bool_] = (at_s >= self.time_s[0] - slack_s) & (at_s <= self.time_s[-1] + slack_s)
        return found

    def counter(self, member: str) -> Counter:
        """Returns a counter without its restarts. A counter of losses may fall without a restart."""
        values = self.numbers.get(member, np.empty(0))
        known = np.flatnonzero(~np.isnan(values))
        values, times = values[known], self.time_s[known]
        steps = np.diff(values)
        may_fall = NUMBERS[member][0] < 0
        began = np.isin(times[1:], self._restarts()) if may_fall else steps < 0
        steps[began] = values[1:][began]
        total = np.concatenate([values[:1], steps]).cumsum()
        return Counter(times, total, times[1:][began])

    def _restarts(self) -> Numbers:
        found = [self.counter(one).restarts_s for one in MAIN_COUNTERS if one in self.numbers]
        return np.unique(np.concatenate(found)) if found else np.empty(0)

    def growth(self, member: str, at_s: Numbers, slack_s: float) -> Numbers:
        """Returns by how much a counter grew before each time since the time before.

        NaN at the first time, and while the counter did not exist. Growth between two samples counts as even.

        Args:
            member: The counter.
            at_s: Times in ascending order.
            slack_s: Samples this much after a time belong to it.
        """
        counter = self.counter(member)
        if not len(counter.time_s):
            return np.full(len(at_s), np.nan)
        values = np.interp(at_s, counter.time_s, counter.total)
        first, last = counter.time_s[0] - slack_s, counter.time_s[-1] + slack_s
        values[(at_s < first) | (at_s > last)] = np.nan
        return np.concatenate([[np.nan], np.diff(values)])[: len(at_s)]

    def gauge(self, member: str, at_s: Numbers, slack_s: float, hold_s: float = 0.0) -> Numbers:
        """Returns the latest value of a number at each time; NaN without a sample.

        Args:
            member: The number.
            at_s: Times in ascending order.
            slack_s: Samples this far from a time belong to it.
            hold_s: How long a value stays valid without another one.
        """
        values = self.numbers.get(member, np.empty(0))
        known = np.flatnonzero(~np.isnan(values))
        if not len(known):
            return np.full(len(at_s), np.nan)
        times, values = self.time_s[known], values[known]
        index = np.searchsorted(times, at_s + slack_s, "right") - 1
        is_valid = (index >= 0) & (at_s - times[index] <= hold_s + slack_s)
        return np.where(is_valid, values[index], np.nan)


@dataclass
class _Samples:
    """Samples of one object while the file is read."""

    kind: str
    times: array[float] = field(default_factory=lambda: array("d"))
    numbers: dict[str, array[float]] = field(default_factory=dict)
    texts: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """Index of the sample with a change, and the value since then."""
    ssrc: Any = None

    def put(self, member: str, value: float) -> None:
        column = self.numbers.get(member)
        if column is None:
            column = self.numbers[member] = array("d", [math.nan]) * (len(self.times) - 1)
        column.extend([math.nan] * (len(self.times) - 1 - len(column)))
        if len(column) == len(self.times):
            column[-1] = value
        else:
            column.append(value)


@dataclass
class _Series:
    """One member of a dump of webrtc-internals."""

    start: float
    end: float
    numbers: array[float] | None
    texts: list[str | None] | None

    def __len__(self) -> int:
        return len(self.numbers if self.numbers is not None else self.texts or ())


class Recorder:
    """Collects the objects of one connection.

    Attributes:
        was_reordered: Whether samples came out of order.
        is_set_back: Whether the clock was set back during the call.
        timeless: Series without any time, which were left out.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._objects: dict[str, _Samples] = {}
        self._series: dict[str, tuple[str, dict[str, _Series]]] = {}
        self._latest: dict[str, str] = {}
        self.was_reordered = self.is_set_back = False
        self.timeless = 0

    def add(
        self, name: str, kind: str, time_ms: float, report: dict[str, Any], poll_ms: float, place: str
    ) -> None:
        """Adds a sample of an object.

        Args:
            name: The object's id.
            kind: Its type.
            time_ms: Its time stamp; NaN if it has none.
            report: Its members.
            poll_ms: Time of the poll.
            place: The place in the file, for messages.

        Raises:
            ForeignFileError: A value is out of range, or the file exceeds a limit.
        """
        if math.isnan(time_ms) or (kind in REMOTE and abs(time_ms - poll_ms) > ANOTHER_CLOCK_MS):
            time_ms = poll_ms
        if math.isnan(time_ms):
            self.timeless += 1
            return
        if not 0 <= time_ms <= LATEST_MS:
            raise ForeignFileError(
                f"{place} has {time_ms / 1e3:.6g} for timestamp (s): write a value from 0 to {LATEST_MS / 1e3:g}"
            )
        report = modernise(report)
        samples = self._samples(name, kind, report.get("ssrc"))
        times = samples.times
        if times and time_ms < times[-1]:
            self.was_reordered = True
        if not times or time_ms != times[-1]:
            times.append(time_ms)
        self._budget.take(1)
        for member, value in report.items():
            if member in NUMBERS:
                samples.put(member, read_number(member, value, place))
                self._budget.take(1)
            elif member in TEXTS and (value := read_text(value)) is not None:
                changes = samples.texts.setdefault(member, [])
                if not changes or changes[-1][1] != value:
                    changes.append((len(times) - 1, value))
                    self._budget.take(1)
            elif member == DURATIONS and isinstance(value, dict):
                for reason in REASONS:
                    inner = f"{DURATIONS}.{reason}"
                    samples.put(inner, read_number(inner, value.get(reason), place))

    def _samples(self, name: str, kind: str, ssrc: Any) -> _Samples:
        """Returns the samples of an object. An id with another SSRC is another object."""
        current = self._latest.get(name, name)
        samples = self._objects.get(current)
        if samples is not None and ssrc is not None and samples.ssrc not in {None, str(ssrc)}:
            current = f"{name} (SSRC {ssrc!s:.20})"
            self._latest[name] = current
            samples = self._objects.get(current)
        if samples is None:
            self._budget.take_object()
            samples = self._objects[current] = _Samples(kind)
        if ssrc is not None:
            samples.ssrc = str(ssrc)
        return samples

    def add_series(
        self, name: str, kind: str, member: str, ends: tuple[float, float], values: Sequence[Any], place: str
    ) -> None:
        """Adds all values of one member.

        Args:
            name: The object's id.
            kind: Its type.
            member: The member.
            ends: Times of the first and of the last value, in milliseconds; NaN without one.
            values: The values.
            place: The place in the file, for messages.

        Raises:
            ForeignFileError: A value is out of range, or the file exceeds a limit.
        """
        self._budget.take(len(values))
        if name not in self._series:
            self._budget.take_object()
            self._series[name] = (kind, {})
        series = self._series[name][1]
        if member == "timestamp":
            times = array("d", map(read_time, values))
            if any(one > LATEST_MS for one in times):
                raise ForeignFileError(
                    f"{place} has {max(times) / 1e3:.6g} for timestamp (s): write a value from 0 to {LATEST_MS / 1e3:g}"
                )
            series[member] = _Series(*ends, times, None)
        elif member == DURATIONS:
            for reason in REASONS:
                inner = f"{DURATIONS}.{reason}"
                parts = (one.get(reason) if isinstance(one, dict) else None for one in values)
                series[inner] = _Series(*ends, _floats(inner, parts, place), None)
        elif member in NUMBERS:
            series[member] = _Series(*ends, _floats(member, values, place), None)
        elif member in TEXTS:
            series[member] = _Series(*ends, None, list(map(read_text, values)))

    def starts_ms(self) -> float:
        """Returns the earliest time of an object of this end; NaN without one. Call it after :meth:`place_series`."""
        times = [min(one.times) for one in self._objects.values() if one.times and one.kind not in REMOTE]
        return min(times, default=math.nan)

    def place_series(self) -> None:
        """Places the values of all series on the times of their objects."""
        found = {name: _times(series) for name, (_, series) in self._series.items()}
        for name, (kind, series) in self._series.items():
            times = found[name]
            if not len(times):
                # A tool that left the spans out: an object with as many values as another has its times.
                longest = max(map(len, series.values()), default=0)
                times = next((one for one in found.values() if longest and len(one) == longest), times)
            if not len(times):
                self.timeless += len(series)
                continue
            samples = self._objects[name] = _Samples(kind, array("d", times))
            for member, one in series.items():
                if member == "timestamp" or not len(one):
                    continue
                index = _places(one, times)
                if one.numbers is not None:
                    values = np.full(len(times), np.nan)
                    values[index] = one.numbers
                    samples.numbers[member] = array("d", values)
                else:
                    samples.texts[member] = _changes(index, one.texts or [])
        self._series = {}

    def finish(self, start_ms: float) -> list[StatsObject]:
        """Returns the objects, with times in seconds since `start_ms`.

        Samples out of order and a clock that was set back both give falling times. Only in the second case, counters
        grow in the order of the file and would fall in the order of the times.
        """
        falls = [_count_falls(one) for one in self._objects.values()]
        self.is_set_back = sum(one for one, _ in falls) < sum(one for _, one in falls)
        return [
            _finish(name, one, start_ms, is_set_back=self.is_set_back)
            for name, one in self._objects.items()
            if one.times
        ]


def _count_falls(one: _Samples) -> tuple[int, int]:
    """Returns how often counters fall in the order of the file, and how often in the order of their times."""
    times = np.array(one.times)
    if not (np.diff(times) < 0).any():
        return 0, 0
    order = np.argsort(times, kind="stable")
    falls = [0, 0]
    for member in MAIN_COUNTERS:
        values = np.full(len(times), np.nan)
        written = one.numbers.get(member, array("d"))
        values[: len(written)] = written
        for way, column in enumerate((values, values[order])):
            falls[way] += int((np.diff(column[~np.isnan(column)]) < 0).sum())
    return falls[0], falls[1]


def _unwind(times: Numbers) -> Numbers:
    """Returns times without the steps of a clock that was set back."""
    steps = np.diff(times)
    usual = float(np.median(steps[steps > 0])) if (steps > 0).any() else 1e3
    found: Numbers = times[0] + np.concatenate([[0.0], np.where(steps < 0, usual, steps)]).cumsum()
    return found


def _finish(name: str, one: _Samples, start_ms: float, *, is_set_back: bool) -> StatsObject:
    written = np.array(one.times)
    times = ((_unwind(written) if is_set_back else written) - start_ms) / 1e3
    order = np.argsort(times, kind="stable")
    # Of samples with the same time, the last counts.
    order = order[np.concatenate([np.diff(times[order]) > 0, [True]])]
    numbers = {}
    for member, values in one.numbers.items():
        column = np.full(len(times), np.nan)
        column[: len(values)] = values
        column = column[order]
        if not np.isnan(column).all():
            numbers[member] = column
    texts = {}
    for member, changes in one.texts.items():
        ordered = sorted(changes, key=lambda change: times[change[0]])
        texts[member] = (times[[at for at, _ in ordered]], [value for _, value in ordered])
    return StatsObject(
        name, one.kind, times[order], numbers, {key: one for key, one in texts.items() if one[1]}
    )


def _floats(member: str, values: Iterable[Any], place: str) -> array[float]:
    return array(
        "d", (read_number(member, value, f"{place}, value {at},") for at, value in enumerate(values, 1))
    )


def _changes(index: NDArray[np.intp], values: list[str | None]) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for at, value in zip(index.tolist(), values, strict=True):
        if value is not None and (not found or found[-1][1] != value):
            found.append((at, value))
    return found


def _times(series: Mapping[str, _Series]) -> Numbers:
    """Returns the times of an object: its series of time stamps, or the times that the spans of all its series give."""
    stamps = series.get("timestamp")
    if stamps is not None and stamps.numbers is not None:
        times = np.array(stamps.numbers)
        known = ~np.isnan(times)
        if known.any():
            filled: Numbers = np.interp(np.arange(len(times)), np.flatnonzero(known), times[known])
            return filled
    spans = [
        np.linspace(one.start, one.end, len(one))
        for member, one in series.items()
        if member != "timestamp" and len(one) and not math.isnan(one.start + one.end) and one.end >= one.start
    ]
    if not spans:
        return np.empty(0)
    longest = max(spans, key=len)
    step = (longest[-1] - longest[0]) / max(len(longest) - 1, 1)
    times = np.unique(np.concatenate(spans))
    found: Numbers = times[np.concatenate([[True], np.diff(times) > SAME_SAMPLE * step])]
    return found


def _places(one: _Series, times: Numbers) -> NDArray[np.intp]:
    """Returns the index of the object's time for each value of a series.

    A member that appears later, or ends earlier, has a shorter series. One that is missing in between has fewer values
    than its span has times: they count as evenly spread.
    """
    count = len(one)
    if count == len(times):
        return np.arange(count)
    if math.isnan(one.start + one.end):
        # Without a span, a shorter series belongs to the end: members appear more often than they vanish †.
        return np.clip(np.arange(len(times) - count, len(times)), 0, None)
    # Several polls may have the same time stamp, from the other end's last report.
    starts, ends = (
        np.flatnonzero(apart == apart.min()) for apart in (abs(times - one.start), abs(times - one.end))
    )
    if ends[0] - starts[-1] < count <= ends[-1] - starts[0] + 1:
        first = int(np.clip(ends[-1] - count + 1, starts[0], starts[-1]))
        return np.arange(first, first + count)
    if ends[-1] - starts[0] + 1 >= count:
        return np.round(np.linspace(starts[0], ends[-1], count)).astype(np.intp)
    order = np.argsort(times, kind="stable")
    ordered, wanted = times[order], np.linspace(one.start, one.end, count)
    right = np.minimum(np.searchsorted(ordered, wanted), len(times) - 1)
    left = np.maximum(right - 1, 0)
    return order[np.where(wanted - ordered[left] <= ordered[right] - wanted, left, right)]
