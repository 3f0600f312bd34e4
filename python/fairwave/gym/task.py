"""Learning tasks: a scenario, the steered flow, and the networks that episodes are drawn from.

A task is a TOML file:

    scenario = "call.toml"       # relative to the task's folder
    flow = "call"                # may be left out where only one flow can be steered
    interval = "50 ms"           # the monitor interval

    [vary]                       # training: drawn anew for each episode
    "link.a>b.rate" = { least = "0.3 Mb/s", most = "6 Mb/s", scale = "log" }
    "link.a>b.loss" = { one-of = ["none", { model = "bernoulli", rate = 0.01 }] }

    [test]                       # networks that training never shows
    "link.a>b.rate" = { one-of = ["1 Mb/s", { law = "trace", file = "lte.csv" }] }

Paths have the form of `--set`. A path that is missing in `test` is drawn as in training.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave import _native
from fairwave.foreign import ForeignFileError, decode, gated, parse_toml, read_bytes
from fairwave.scenario import Scenario, load
from fairwave.scenario_files import with_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import numpy as np

SPLITS = ("train", "test")
"""Sets of networks that episodes are drawn from."""

INTERVAL = "50 ms"
"""Default monitor interval of a task."""

_QUANTITY = re.compile(r"\s*([-+0-9.eE]+)\s*(.*?)\s*")
_SPANS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


class TaskError(ForeignFileError):
    """A task cannot be used; the message names the place and the reason."""


def nanoseconds(span: str, key: str = "interval") -> int:
    """Converts a span of time to nanoseconds, from 1 ms to 10 s.

    Raises:
        TaskError: The text is no such span.
    """
    found = _QUANTITY.fullmatch(span) if isinstance(span, str) else None
    try:
        value = float(found.group(1)) * _SPANS[found.group(2)] if found else math.nan
    except (ValueError, KeyError):
        value = math.nan
    if not 1e6 <= value <= 1e10:
        raise TaskError(f'{key}: {span!r} is no span from 1 ms to 10 s; write {key} = "50 ms"')
    return round(value)


@dataclass(frozen=True)
class Range:
    """Values between two quantities of one unit, uniform or (with `log`) log-uniform.

    Attributes:
        least: The lower bound.
        most: The upper bound.
        unit: The unit of both; empty for bare numbers.
        log: True to draw logarithms uniformly.
        whole: True to draw integers.
    """

    least: float
    most: float
    unit: str = ""
    log: bool = False
    whole: bool = False

    def draw(self, random: np.random.Generator) -> Any:
        """Draws a value in the form of scenarios."""
        if self.log:
            value = math.exp(random.uniform(math.log(self.least), math.log(self.most)))
        else:
            value = float(random.uniform(self.least, self.most))
        if self.whole:
            return min(max(round(value), math.ceil(self.least)), math.floor(self.most))
        return f"{value:.9g} {self.unit}" if self.unit else value


@dataclass(frozen=True)
class Choice:
    """One of several values with equal probability.

    Attributes:
        values: Values in the form of scenarios.
    """

    values: tuple[Any, ...]

    def draw(self, random: np.random.Generator) -> Any:
        """Draws one of the values."""
        return self.values[int(random.integers(len(self.values)))]


@dataclass(frozen=True, eq=False)
class Task:
    """A learning task.

    Attributes:
        scenario: The network and all flows. Draws override some of its values.
        index: Place of the steered flow among all flows of the run.
        flow: Name of the steered flow.
        steers: `rate` or `window`.
        interval: The monitor interval, a span.
        train: Dotted path to the range or choice for training.
        test: Dotted path to the range or choice for tests.
    """

    scenario: Scenario
    index: int
    flow: str
    steers: str
    interval: str = INTERVAL
    train: Mapping[str, Range | Choice] = field(default_factory=dict)
    test: Mapping[str, Range | Choice] = field(default_factory=dict)

    @classmethod
    def create(
        cls,
        scenario: Scenario,
        flow: str | None = None,
        *,
        steers: str | None = None,
        interval: str = INTERVAL,
        vary: Mapping[str, Any] | None = None,
        test: Mapping[str, Any] | None = None,
        folder: Path | None = None,
    ) -> Task:
        """Creates a task from its parts.

        Args:
            scenario: The scenario.
            flow: Name of the steered flow, or of its group if the group has only one flow. Optional if only one flow
                can be steered.
            steers: `rate` or `window`: kind of flows that count; both when None.
            interval: The monitor interval.
            vary: Dotted path to `{"least": …, "most": …, "scale": "log"}` or `{"one-of": […]}`.
            test: The same for tests; a missing path is drawn as in training.
            folder: Folder of the files that values name; the current folder when None.

        Raises:
            TaskError: No flow can be steered, several can, or a value does not fit the scenario.
        """
        nanoseconds(interval)
        scenario = with_files(scenario, folder or Path())
        able = [
            (index, name, what)
            for index, name, what in _native.Episodes.steerable(scenario.native)
            if steers in (None, what)
        ]
        wanted = [one for one in able if flow is None or flow in (one[1], one[1].split("[")[0])]
        if len(wanted) != 1:
            names = ", ".join(repr(name) for _, name, _ in able) or "none"
            need = (
                {"rate": '"webrtc"', "window": '"tcp/policy"'}[steers]
                if steers
                else '"webrtc" or "tcp/policy"'
            )
            raise TaskError(
                f"flow: {'none is named' if flow is None else repr(flow) + ' is not one flow'} that an agent can "
                "steer; "
                f"flows with transport = {need}: {names}"
            )
        index, name, what = wanted[0]
        group = name.split("[")[0]
        if sum(other.split("[")[0] == group for _, other, _ in able) == 1:
            name = group
        train = _spread(vary or {}, "vary")
        task = cls(scenario, index, name, what, interval, train, {**train, **_spread(test or {}, "test")})
        for split in SPLITS:
            task._check(split, folder or Path())
        return task

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Task:
        """Reads a task from a file.

        Raises:
            FileNotFoundError: The file or its scenario does not exist.
            TaskError: The file is no task; the message names the place and the reason.
            fairwave.ScenarioError: The scenario is invalid.
        """
        where = Path(path)
        if not where.is_file():
            raise FileNotFoundError(f"no task file {str(path)!r}: give the path of a .toml file")
        table = _toml(where)
        unknown = table.keys() - {"scenario", "flow", "interval", "vary", "test"}
        if unknown:
            raise TaskError(
                f"{path}: unknown key {min(unknown)!r}; allowed: scenario, flow, interval, vary, test"
            )
        name = table.get("scenario")
        if not isinstance(name, str):
            raise TaskError(f'{path}: lacks the key `scenario`; write scenario = "call.toml"')
        try:
            return cls.create(
                load(where.parent / name),
                table.get("flow"),
                interval=table.get("interval", INTERVAL),
                vary=table.get("vary"),
                test=table.get("test"),
                folder=where.parent,
            )
        except TaskError as error:
            raise TaskError(f"{path}: {error}") from None

    def draw(
        self, random: np.random.Generator, split: str = "train", extra: Mapping[str, Any] | None = None
    ) -> tuple[Scenario, dict[str, Any]]:
        """Draws the scenario of an episode and returns it with the drawn values.

        Args:
            random: Random number generator.
            split: `train` or `test`.
            extra: Values to set instead of drawn values.
        """
        ranges = self.train if split == "train" else self.test
        drawn = {path: one.draw(random) for path, one in ranges.items()} | dict(extra or {})
        if not drawn:
            return self.scenario, drawn
        return self.scenario.with_overrides(drawn), drawn

    def _check(self, split: str, folder: Path) -> None:
        """Checks every bound and every value separately against the scenario."""
        ranges = self.train if split == "train" else self.test
        for path, one in ranges.items():
            if isinstance(one, Range):
                texts = [f"{bound:.9g} {one.unit}" if one.unit else bound for bound in (one.least, one.most)]
                values: list[Any] = [round(text) if one.whole else text for text in texts]  # type: ignore[arg-type]
            else:
                values = []
                for value in one.values:
                    if isinstance(value, dict) and "file" in value:
                        made = with_files(self.scenario.with_overrides({path: value}), folder)
                        value = _look_up(made.to_dict(), path, value)  # noqa: PLW2901
                    values.append(value)
                object.__setattr__(one, "values", tuple(values))
            for value in values:
                try:
                    changed = self.scenario.with_overrides({path: value})
                    able = _native.Episodes.steerable(changed.native)
                except _native.ScenarioError as error:
                    raise TaskError(
                        f"{'vary' if split == 'train' else 'test'}.{path}: {value!r:.60} does not fit the scenario: "
                        f"{error}"
                    ) from None
                if (self.index, self.steers) not in [(index, what) for index, _, what in able]:
                    raise TaskError(f"{path}: with {value!r:.60} the flow {self.flow!r} cannot be steered")


def _look_up(table: dict[str, Any], path: str, otherwise: Any) -> Any:
    """Returns the value at a dotted path of links or flows, by name."""
    kind, name, *keys = path.split(".")
    for place, one in enumerate(table.get(kind, [])):
        if name in (one.get("name"), f"{one.get('from')}>{one.get('to')}", str(place)):
            value: Any = one
            for key in keys:
                value = value[key] if isinstance(value, dict) and key in value else otherwise
            return value
    return otherwise


def _spread(table: Mapping[str, Any], key: str) -> dict[str, Range | Choice]:
    if not hasattr(table, "items"):
        raise TaskError(f"{key}: {table!r:.60} is no table of paths")
    return {path: _parse_values(value, f"{key}.{path}") for path, value in table.items()}


def _parse_values(value: Any, where: str) -> Range | Choice:
    example = '{ least = "1 Mb/s", most = "5 Mb/s", scale = "log" } or { one-of = ["1 Mb/s", "2 Mb/s"] }'
    if isinstance(value, (Range, Choice)):
        return value
    if isinstance(value, dict) and value.keys() == {"one-of"}:
        values = value["one-of"]
        if not isinstance(values, (list, tuple)) or not values:
            raise TaskError(
                f"{where}.one-of: {values!r:.60} is no list of at least one value; write {example}"
            )
        return Choice(tuple(values))
    if not isinstance(value, dict) or not {"least", "most"} <= value.keys() <= {"least", "most", "scale"}:
        raise TaskError(f"{where}: {value!r:.80} is no range; write {example}")
    scale = value.get("scale", "linear")
    if scale not in {"linear", "log"}:
        raise TaskError(f"{where}.scale: {scale!r}, but must be 'linear' or 'log'")
    bounds, units = [], []
    for bound in ("least", "most"):
        text = value[bound]
        found = _QUANTITY.fullmatch(text) if isinstance(text, str) else None
        try:
            number = float(found.group(1)) if found else float(text)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number) or isinstance(text, bool):
            raise TaskError(f"{where}.{bound}: {text!r:.60} is no quantity; write {example}")
        bounds.append(number)
        units.append(found.group(2) if found else "")
    if units[0] != units[1]:
        raise TaskError(f"{where}: `least` and `most` must have one unit, not {units[0]!r} and {units[1]!r}")
    if not bounds[0] <= bounds[1]:
        raise TaskError(f"{where}: `least` ({bounds[0]:g}) is above `most` ({bounds[1]:g})")
    if scale == "log" and bounds[0] <= 0:
        raise TaskError(f"{where}: with scale = 'log', `least` must be above 0, not {bounds[0]:g}")
    whole = not units[0] and all(isinstance(value[bound], int) for bound in ("least", "most"))
    return Range(bounds[0], bounds[1], units[0], scale == "log", whole)


@gated("task", TaskError)
def _toml(path: Path) -> dict[str, Any]:
    return parse_toml(decode(read_bytes(path, "task"), str(path)), str(path), "task")


_CALL = """
name = "a call over a network of many kinds"
duration = "30 s"

[[link]]
from = "a"
to = "b"
rate = "2 Mb/s"
delay = "30 ms"
queue = { discipline = "drop-tail", capacity = { bytes = 50000 } }

[[flow]]
name = "call"
from = "a"
to = "b"
transport = "webrtc"
traffic = { kind = "media", video = { least = "100 kb/s", most = "6 Mb/s" } }
"""

_DOWNLOAD = """
name = "a download over a network of many kinds"
duration = "30 s"

[[link]]
from = "a"
to = "b"
rate = "10 Mb/s"
delay = "20 ms"
queue = { discipline = "drop-tail", capacity = { packets = 60 } }

[[flow]]
name = "download"
from = "a"
to = "b"
transport = "tcp/policy"
traffic = "bulk"
"""

_VARY = {
    "rate": {
        "link.a>b.rate": {"least": "0.2 Mb/s", "most": "5 Mb/s", "scale": "log"},
        "link.a>b.delay": {"least": "5 ms", "most": "100 ms"},
        "link.a>b.queue.capacity.bytes": {"least": 8000, "most": 150000, "scale": "log"},
        "link.a>b.loss": {"one-of": ["none", "none", "none", {"model": "bernoulli", "rate": 0.01}]},
    },
    "window": {
        "link.a>b.rate": {"least": "1 Mb/s", "most": "20 Mb/s", "scale": "log"},
        "link.a>b.delay": {"least": "5 ms", "most": "80 ms"},
        "link.a>b.queue.capacity.packets": {"least": 10, "most": 200, "scale": "log"},
        "link.a>b.loss": {"one-of": ["none", "none", "none", {"model": "bernoulli", "rate": 0.001}]},
    },
}
_TEST = {
    "rate": {
        "link.a>b.rate": {
            "one-of": [
                [
                    {"at": "0 s", "is": "1 Mb/s"},
                    {"at": "10 s", "is": "2.5 Mb/s"},
                    {"at": "20 s", "is": "0.6 Mb/s"},
                ],
                [{"at": "0 s", "is": "3 Mb/s"}, {"at": "12 s", "is": "0.8 Mb/s"}],
                "1.7 Mb/s",
            ]
        }
    },
    "window": {
        "link.a>b.rate": {
            "one-of": [
                [
                    {"at": "0 s", "is": "8 Mb/s"},
                    {"at": "10 s", "is": "2 Mb/s"},
                    {"at": "20 s", "is": "12 Mb/s"},
                ],
                "6 Mb/s",
            ]
        }
    },
}


def default(steers: str) -> Task:
    """Returns the default task: one flow alone on a link with varying rate, delay, buffer and loss.

    In tests the rate also changes during an episode, which training never shows.
    """
    scenario = load(_CALL if steers == "rate" else _DOWNLOAD)
    return Task.create(scenario, vary=_VARY[steers], test=_TEST[steers])
