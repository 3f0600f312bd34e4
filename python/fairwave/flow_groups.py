"""Flow groups of a scenario's file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairwave.scenario import Scenario


def groups(read: Scenario) -> dict[str, dict[str, Any]]:
    """The scenario's flow groups by name, as they are written."""
    return {flow["name"]: flow for flow in read.to_dict().get("flow", [])}


def pairs_of_calls(read: Scenario) -> dict[str, dict[str, Any]]:
    """The flow groups of the scenario's calls by name: those between participants first, then those to a server."""
    from fairwave.answers.conference import calls

    if not read.to_dict().get("call"):
        return {}
    planned = dict.fromkeys(str(flow["name"]).rpartition("[")[0] for flow in read.plan()["flows"])
    found = calls(planned)
    pairs = [group for call in found for of in call.pairs.values() for group in of.values()]
    names = [*pairs, *(group for call in found for group in call.uplinks.values())]
    return {name: {"name": name, "transport": "webrtc", "traffic": "media"} for name in names}


def group_table(read: Scenario, name: str) -> dict[str, Any]:
    """Returns the table of a flow group as written; for a pair of a call, the table of its media session."""
    return groups(read).get(name) or pairs_of_calls(read)[name]


def kind(flow: dict[str, Any]) -> str:
    """The kind of traffic of a flow group."""
    traffic = flow.get("traffic", "")
    return str(traffic.get("kind", "")) if isinstance(traffic, dict) else str(traffic)


def describe_count(flow: dict[str, Any], activity: str | None = None) -> str:
    """Describes the number or arrival rate of a group's flows and their kind: `3 × voice`, `transfer, 2 per s`.

    Args:
        flow: The group as in the scenario.
        activity: Talk share of its speakers, in words (`fairwave.advice.activities`), if they are calls.
    """
    arrivals = flow.get("arrivals")
    if arrivals is None:
        found = f"{flow.get('count', 1)} × {kind(flow)}"
    elif isinstance(arrivals, str):
        found = f"{kind(flow)}, {arrivals}"
    else:
        found = f"{kind(flow)}, {arrivals.get('rate') or arrivals.get('load')}"
    return f"{found} ({activity})" if activity else found


def is_clip(flow: dict[str, Any]) -> bool:
    """Whether a flow group streams a clip."""
    traffic = flow.get("traffic", "")
    return isinstance(traffic, dict) and bool(traffic.get("clip"))


def written_playout(flow: dict[str, Any]) -> Any:
    """The playout buffer in a flow group's table; None for the language's default."""
    written = flow.get("playout")
    return {"strategy": written} if isinstance(written, str) else written
