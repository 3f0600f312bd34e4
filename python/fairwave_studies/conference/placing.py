"""A rate controller of yours in the cases of RFC 8867, next to others: as the study has them, under drop-tail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave import policy_files
from fairwave.runs.grid import Grid
from fairwave_studies.conference import points as p
from fairwave_studies.conference import quantities as q
from fairwave_study.parts import Data

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairwave.runs.replication import Progress


def parse_controller(text: str) -> tuple[str, dict[str, Any]]:
    """A rate controller on the command line: its label, and its settings for a session.

    Args:
        text: A name, a table (`{ name = "fixed", rate = "1 Mb/s" }`), or the file of a policy.

    Raises:
        FileNotFoundError: There is no such file.
        fairwave.policy_files.PolicyError: The file holds no policy that steers a rate.
        ValueError: It is neither name nor table.
    """
    import json
    from pathlib import Path

    from fairwave import _native

    if text in p.CONTROLLERS:
        return text, dict(p.CONTROLLERS[text])
    if text.endswith(".json"):
        return Path(text).stem, {"control": policy_files.law(text, "rate")}
    value = json.loads(_native.Scenario.override_value(text))
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return text, {"control": value}
    if isinstance(value, str):
        return value, {"control": value}
    raise ValueError(f"{text!r} is neither a name nor a table with one; write '{{ name = \"NAME\", … }}'")


def grid(case: str, controllers: Mapping[str, Mapping[str, Any]]) -> Grid:
    """A case with these controllers, each in all of its sessions."""
    axis: dict[str, dict[str, Any]] = {}
    for name, table in controllers.items():
        transport = {"name": "webrtc", "start": p.START, "least": p.START, **table}
        axis[name] = {f"flow.{group}.transport": dict(transport) for group in p.sessions(case)}
    return Grid(case, p.scenario(case), {"controller": axis})


def rows(
    cases: Iterable[str],
    controllers: Mapping[str, Mapping[str, Any]],
    replications: int,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """A row for each case and controller: means with their 95 % intervals over replications."""
    found: list[dict[str, Any]] = []
    for case in cases:
        results = grid(case, controllers).run(range(1, replications + 1), threads=threads, progress=progress)
        data = Data({case: results})
        measured = [(one.label, one.unit, data.measured(one, case)) for one in q.list_measures(case)]
        for name in controllers:
            row: dict[str, Any] = {"section": p.SECTIONS[case], "controller": name}
            for label, unit, one in measured:
                value = one.interval(controller=name)
                row[label] = {"mean": value.mean, "unit": unit, "text": str(value)}
            found.append(row)
    return found


def cases_of(names: Sequence[str]) -> list[str]:
    """Cases by id or by section; all of them when none is named.

    Raises:
        ValueError: There is no such case.
    """
    chosen = []
    for name in names:
        there = [case for case, section in p.SECTIONS.items() if name in (case, section)]
        if not there:
            known = ", ".join(f"{case} ({section})" for case, section in p.SECTIONS.items())
            raise ValueError(f"there is no case {name!r}; there are {known}")
        chosen += there
    return chosen or list(p.SECTIONS)
