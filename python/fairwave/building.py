"""Builds scenarios from plain objects: keyword arguments make the tables of the scenario language.

This module does not know the keys of the language. They are the scenario's keys, with an underscore for the hyphen,
and the scenario is checked like a file. `Scenario.to_dict` returns the same tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave.arguments import checked
from fairwave.plain_data import as_plain
from fairwave.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


Table = dict[str, Any]


@checked
def build(
    name: str,
    duration: str,
    *,
    flows: Iterable[Mapping[str, Any]],
    links: Iterable[Mapping[str, Any]] = (),
    topology: Mapping[str, Any] | str | None = None,
    **more: Any,
) -> Scenario:
    """Builds a scenario from plain objects.

    Args:
        name: Name in reports.
        duration: Simulated time, as text with a unit: `"60 s"`.
        flows: Groups of flows, as `flow` makes them.
        links: Links, as `link` makes them.
        topology: A network by name, or its table.
        more: Further top-level keys, an underscore for the hyphen: `warmup="5 s"`, `preset="ns2"`,
            `record={"bin": "1 s"}`, `event=[{"at": "20 s", "link": "r1>r2", "rate": "500 kb/s"}]`.

    Raises:
        fairwave.ScenarioError: The scenario is wrong; the message gives the place and the remedy.
    """
    table: Table = {"name": name, "duration": duration, **_hyphenated(more)}
    if topology is not None:
        table["topology"] = {"preset": topology} if isinstance(topology, str) else as_plain(topology)
    if several := [as_plain(one) for one in links]:
        table["link"] = several
    if hasattr(flows, "items") or not hasattr(flows, "__iter__"):
        raise TypeError(
            f"flows are {flows!r:.60}, but must be a list; write flows=[fairwave.flow('voice', 'udp', 'voice')]"
        )
    table["flow"] = [as_plain(one) for one in flows]
    return Scenario.from_dict(table)


@checked
def flow(
    name: str, transport: str | Mapping[str, Any], traffic: str | Mapping[str, Any], **more: Any
) -> Table:
    """Makes a group of flows.

    Args:
        name: Name of the group; its flows are `name[0]`, `name[1]`, …
        transport: `"udp"`, `"tcp/vegas"`, …, or a table with parameters: `{"name": "tcp/vegas", "alpha": 2}`.
        traffic: `"voice"`, `"bulk"`, …, or a table with parameters: `{"kind": "cbr", "rate": "1 Mb/s"}`.
        more: Further keys, an underscore for the hyphen; a trailing one for Python's keywords: `count=10`,
            `from_="phone"`, `to="peer"`, `timely=["150 ms", "300 ms"]`, `sink_access={"loss": …}`.
    """
    return {"name": name, "transport": transport, "traffic": traffic, **_hyphenated(more)}


@checked
def link(from_: str, to: str, rate: Any, delay: Any, **more: Any) -> Table:
    """A link between two nodes, in both directions unless `duplex=False`.

    Args:
        from_: One end.
        to: The other.
        rate: `"10 Mb/s"`, or a table: a range `{"from": …, "to": …}` or a law; or a list of steps
            `{"at": "20 s", "is": "500 kb/s"}`.
        delay: `"10 ms"`, a range, or a list of steps.
        more: Further keys, an underscore for the hyphen: `queue="codel"`, `loss={…}`, `reverse={"rate": "20 Mb/s"}`.
    """
    return {"from": from_, "to": to, "rate": rate, "delay": delay, **_hyphenated(more)}


def _hyphenated(keywords: Mapping[str, Any]) -> Table:
    return {key.rstrip("_").replace("_", "-"): value for key, value in keywords.items()}
