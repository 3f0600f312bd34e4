"""Parts of a plan that the descriptions of other simulators cannot express. They are rejected, not silently dropped."""

from __future__ import annotations

from typing import Any

STAGES = {"police": "a policer", "shape": "a shaper"}
"""Keys of a link in a plan, with their names in a message."""


def unsaid(plan: dict[str, Any], simulator: str) -> str:
    """Describes the first policer, shaper, class map or changing route of a plan. Empty without any.

    Args:
        plan: Of `exact_plan`.
        simulator: The other simulator: `ns-2`, `ns-3`.
    """
    for link in plan["links"]:
        for key, what in STAGES.items():
            if link.get(key):
                return f"{link['name']}: {what} (`{key}`), which is not compared with {simulator}; leave `{key}` out"
        if link["queue"].get("classes"):
            return (
                f"{link['name']}: a class map (`classes` of the queue `{link['queue']['discipline']}`), which is not "
                f"compared with {simulator}; write a queue without classes"
            )
    for flow in plan["flows"]:
        if flow.get("reroutes"):
            return (
                f"{flow['name']}: its route changes during the run (`failover`), which is not compared with "
                f"{simulator}; leave `failover` and the link's events out"
            )
    return ""
