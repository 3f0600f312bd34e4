"""A scenario in Python: a value that you can read, vary and run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from fairwave import _native
from fairwave.arguments import check_seed, checked, checked_methods, shortened
from fairwave.foreign import KINDS, ForeignFileError, check_shape, gated, parse_json, parse_toml
from fairwave.packaged import find_scenario
from fairwave.plain_data import as_json, as_plain
from fairwave.scenario_files import with_files

if TYPE_CHECKING:
    from fairwave.results import Results
    from fairwave.runs.axes import Axes
    from fairwave.runs.replication import Progress


MOST_BYTES = KINDS["scenario"].bytes
"""Largest size of a scenario file; larger ones are refused before they are read."""


@dataclass(frozen=True)
class Cost:
    """Upper limit of the cost of a run, estimated without a run.

    Attributes:
        packet_hops: Packets times the links that each crosses, and other events of similar cost.
        seconds: Computing time on one core; a round figure.
        memory: Bytes of flows, links, and the state of flows.
        words: All of it in words.
    """

    packet_hops: float
    seconds: float
    memory: float
    words: str

    @property
    def is_large(self) -> bool:
        """True if a run takes a minute or more, or a gigabyte."""
        return self.seconds >= LONG or self.memory >= LARGE

    def __str__(self) -> str:
        return self.words


LONG = 60.0
LARGE = 1e9
"""Seconds and bytes from which the cost of a run is worth a warning."""


@checked_methods
@dataclass(frozen=True, eq=False)
class Scenario:
    """A checked scenario. Equal scenarios have equal hashes, however they were written.

    Attributes:
        native: The compiled part's scenario.
    """

    native: _native.Scenario

    def __post_init__(self) -> None:
        """Rejects a value that is not a compiled scenario.

        Raises:
            TypeError: It is not one.
        """
        if not isinstance(self.native, _native.Scenario):
            raise TypeError(
                f"a scenario is read by fairwave.load, not made of {self.native!r:.60}; "
                "write fairwave.load('calls.toml'), or fairwave.build for one of objects"
            )

    @property
    def name(self) -> str:
        """The scenario's name, for reports."""
        return self.native.name

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that are the same for the same scenario, however it was written."""
        return self.native.hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        return f"Scenario({self.name!r}, {self.hash})"

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Scenario:
        """Reads a scenario from plain data in the shape of its TOML, such as the result of `to_dict`.

        See also `fairwave.build`.

        Raises:
            fairwave.ScenarioError: The scenario is wrong; the message gives the place and the remedy.
        """
        text, plain = _native.Scenario.from_text, as_plain(table)
        with suppress(_native.ScenarioError):
            return Scenario(text(as_json(plain, "this scenario"), "objects.json"))
        # Parsed again with one value per line, so that the message shows the wrong line, not the whole scenario.
        return Scenario(text(as_json(plain, "this scenario", indent=1), "objects.json"))

    def _repr_html_(self) -> str:
        """For notebooks: network and flows at a glance, the text below."""
        from fairwave.notebook import scenario

        return scenario(self)

    def to_dict(self) -> dict[str, Any]:
        """The scenario as plain data, in the shape of its TOML."""
        data: dict[str, Any] = json.loads(self.native.to_json())
        return data

    def to_json(self) -> str:
        """The scenario as JSON text."""
        return self.native.to_json()

    def to_toml(self) -> str:
        """The scenario as TOML text."""
        return self.native.to_toml()

    def with_overrides(self, overrides: Mapping[str, Any]) -> Scenario:
        """Returns a scenario with other values at dotted paths: `{"flow.voice.transport": "tcp/vegas"}`.

        The name of a law alone replaces the law and keeps the common parameters: `"codel"` for a queue keeps the buffer
        (`kept` lists them). A table replaces the whole previous value.

        Raises:
            fairwave.ScenarioError: A path does not exist or a value does not fit.
        """
        if not hasattr(overrides, "items"):
            raise TypeError(
                f"overrides are {overrides!r:.60}, but must be a dictionary; write {{'flow.voice.count': 5}}"
            )
        return Scenario(self.native.with_overrides(as_json(dict(overrides), "an override")))

    def with_(self, **overrides: Any) -> Scenario:
        """Like `with_overrides` with keywords; a double underscore is the dot: `with_(duration="10 s")`."""
        return self.with_overrides({path.replace("__", "."): value for path, value in overrides.items()})

    def expand_preset(self) -> Scenario:
        """The same scenario with its topology's preset written out link by link, to be looked at and changed.

        Raises:
            fairwave.ScenarioError: A path that the preset has not.
        """
        return Scenario(self.native.expand_preset())

    def plan(self, seed: int = 1) -> dict[str, Any]:
        """Returns the plan of a run with this seed: nodes, links and flows with all values.

        Raises:
            fairwave.ScenarioError: It cannot be planned.
        """
        check_seed(seed)
        spelled_out: dict[str, Any] = json.loads(self.native.plan(seed))
        return spelled_out

    @property
    def activities(self) -> dict[str, float]:
        """The groups of calls, each with the mean share of the time that its speakers talk: above 0, at most 1."""
        return dict(self.native.activities())

    def cautions(self, seed: int = 1) -> list[str]:
        """Returns keys with a new name, and limits of the simulation for links or groups of flows, with alternatives.

        Raises:
            fairwave.ScenarioError: It cannot be planned.
        """
        check_seed(seed)
        return [f"{link}: {words}" for link, words in self.native.cautions(seed)]

    def renamed_keys(self) -> list[str]:
        """Lists the keys with a new name, each with a sentence: they work in this version and not in the next."""
        return [f"{place}: {words}" for place, words in self.native.renamed_keys()]

    def kept(self) -> list[str]:
        """Lists the parameters that overrides by name alone kept of the previous law, or dropped: a sentence each."""
        return self.native.kept()

    def cost(self, seed: int = 1) -> Cost:
        """Estimates the upper limit of the cost of a run with this seed, without a run.

        Raises:
            fairwave.ScenarioError: It cannot be planned.
        """
        return Cost(*self.native.cost(seed))

    def run(self, seed: int = 1) -> Results:
        """Makes one run.

        Raises:
            ValueError: The seed is invalid.
            fairwave.RunError: The run was refused or failed.
        """
        return self.replicate(seeds=[seed])

    def replicate(
        self,
        n: int = 10,
        *,
        seeds: list[int] | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Results:
        """Makes independent replications: the same scenario with other random numbers.

        Args:
            n: Number of replications, with seeds 1 to `n`.
            seeds: The seeds themselves, instead of `n`.
            threads: Number of threads; all cores when None. Runs use them first, and parts of a run if runs are fewer.
            progress: Called with the number of completed runs.
        """
        return compare(self, {}, n=n, seeds=seeds, threads=threads, progress=progress)


@checked
def load(source: str | PathLike[str]) -> Scenario:
    """Reads a scenario.

    Args:
        source: Path of a file (`.toml` or `.json`), the name of an example (`home-call`), or the text itself. A source
            with several lines, or with a brace at its beginning, is text.

    Raises:
        FileNotFoundError: There is no such file.
        TypeError: It is neither path nor text.
        fairwave.ScenarioError: The scenario is wrong; the message gives the place and the remedy.
    """
    given: object = source
    if not isinstance(given, (str, PathLike)):
        known = isinstance(given, Scenario)
        write = "it is a scenario already" if known else "fairwave.Scenario.from_dict reads a dictionary"
        raise TypeError(f"fairwave.load takes a path or a scenario's text, not {source!r:.60}; {write}")
    text = str(source)
    if isinstance(source, str) and ("\n" in text or text.lstrip().startswith("{")):
        return Scenario(_native.Scenario.from_text(text))
    found = find_scenario(text)
    if found is None:
        raise FileNotFoundError(
            f"no scenario file {text!r}: give the path of a .toml or .json file, or the name of an example"
        )
    with found.open("rb") as file:
        return with_files(read(file, str(found)), found.parent)


def read(file: IO[bytes], name: str) -> Scenario:
    """Reads a scenario from an open file, pipe or standard input; messages call it `name`.

    Raises:
        fairwave.ScenarioError: It is too large to be a scenario, not text, or wrong.
    """
    return _parse_content(name, text_of(file, name))


@gated("scenario", _native.ScenarioError)
def _parse_content(name: str, content: str) -> Scenario:
    if names_a_topology(content):
        from fairwave.layers import layer

        scenario: Scenario = layer("networks").scenario(content, Path(name).parent, name)
        return scenario
    try:
        return Scenario(_native.Scenario.from_text(content, name))
    except _native.ScenarioError:
        _refuse_other(content.encode(), name)
        raise


def _refuse_other(data: bytes, name: str) -> None:
    """Refuses a file of another kind, and names the command that reads it.

    Raises:
        fairwave.ScenarioError: It is such a file.
    """
    from fairwave.file_kinds import described

    if said := described(data, name):
        raise _native.ScenarioError(f"error: {said}") from None


def text_of(file: IO[bytes], name: str) -> str:
    """Reads the text of an open file, pipe or standard input.

    Raises:
        fairwave.ScenarioError: It is too large to be a scenario, or not text.
    """
    try:
        size = os.fstat(file.fileno()).st_size
    except OSError:  # not a file of the system's
        size = 0
    data = file.read(MOST_BYTES + 1) if size <= MOST_BYTES else b""
    if max(size, len(data)) > MOST_BYTES:
        most = f"{MOST_BYTES / 1e6:.0f} MB"
        has = f"{size / 1e6:.0f} MB" if size else f"more than {most}"
        _refuse_other(data or file.read(MOST_BYTES), name)
        raise _native.ScenarioError(
            f"error: {name} has {has}, but a scenario at most {most}: give the path of a .toml or .json file"
        )
    if b"\0" in data:
        _refuse_other(data, name)
        raise _native.ScenarioError(f"{name} holds no text; give the path of a .toml or .json file")
    try:
        check_shape(data, name, "scenario")
    except ForeignFileError as error:
        _refuse_other(data, name)
        raise _native.ScenarioError(f"error: {error}") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse_other(data, name)
        raise _native.ScenarioError(
            f"{name} is no text in UTF-8 (byte {error.start}): save it as UTF-8"
        ) from None


def names_a_topology(content: str) -> bool:
    """Whether a scenario's text is a network file whose `topology` names a file or a topology of TopoHub.

    False for text that is neither TOML nor JSON: the scenario language reports its errors better.
    """
    if "topology" not in content or not ("topohub" in content or "file" in content):
        return False
    topology = plain(content).get("topology")
    return isinstance(topology, dict) and not {"file", "topohub"}.isdisjoint(topology)


def plain(content: str) -> dict[str, Any]:
    """Reads TOML or JSON as plain data; empty if it is neither."""
    is_json = content.lstrip().startswith("{")
    try:
        table = (
            parse_json(content.encode(), "-", "network") if is_json else parse_toml(content, "-", "network")
        )
    except ForeignFileError:
        return {}
    return table if isinstance(table, dict) else {}


def check_scenario(value: object, call: str) -> None:
    """Rejects a value that is not a scenario; `call` is the function that takes it.

    Raises:
        TypeError: It is not one.
    """
    if isinstance(value, Scenario):
        return
    if isinstance(value, (str, PathLike)):
        what, write = f"the path {str(value)!r}", f"fairwave.load({str(value)!r})"
    elif isinstance(value, Mapping):
        what, write = "a dictionary", "fairwave.Scenario.from_dict(…)"
    else:
        what, write = f"{shortened(value)} ({type(value).__name__})", "fairwave.load('calls.toml')"
    raise TypeError(f"{call} takes a scenario, not {what}; write {call}({write}, …)")


@checked
def compare(
    scenario: Scenario,
    over: Axes | Mapping[str, Any],
    *,
    n: int = 10,
    seeds: list[int] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Runs a scenario varied along one or more axes, every point under the same seeds.

    Args:
        scenario: The scenario to vary.
        over: Either a dotted path and its values (`{"flow.voice.transport": ["udp", "tcp/vegas"]}`), or an axis name
            and its labels, each with the overrides that it applies.
        n: Number of replications, with seeds 1 to `n`.
        seeds: The seeds themselves, instead of `n`.
        threads: Number of threads; all cores when None. Runs use them first, and parts of a run if runs are fewer.
        progress: Called with the number of completed runs.

    Raises:
        TypeError: An argument of the wrong kind; the message gives the remedy.
        ValueError: No value, no seed, or `n` below 1.
        fairwave.ScenarioError: A value does not fit the scenario.
        fairwave.RunError: A run was refused or failed.
    """
    from fairwave import arguments
    from fairwave.runs.axes import read_axes
    from fairwave.runs.grid import Grid

    check_scenario(scenario, "fairwave.compare")
    grid = Grid("compare", scenario, read_axes(over, "fairwave.compare"))
    return grid.run(arguments.seeds(n, seeds), threads=threads, progress=progress)
