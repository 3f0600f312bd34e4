"""Files that scenarios name: loss patterns, rate traces, captures, policies and clips."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave import _native
from fairwave.flow_groups import is_clip
from fairwave.foreign import ForeignFileError
from fairwave.named_files import kinds_of_files, named_files

if TYPE_CHECKING:
    from fairwave.scenario import Scenario


def prepared(scenario: Scenario) -> Scenario:
    """The scenario as it can be run: with the content of its files, and with the coded frames of its clips.

    Files that an override named are sought from the working directory.

    Raises:
        fairwave.ScenarioError: A file or a clip cannot be read, or a clip cannot be coded in the given layers.
    """
    table = scenario.to_dict()
    scenario = _with_files(scenario, table, Path())
    flows = table.get("flow", [])
    if not any(is_clip(flow) for flow in flows):
        return scenario
    from fairwave.layers import layer

    clips = layer("clips")
    try:
        frames = clips.coded_scenario(flows)
    except clips.VideoError as error:
        raise _native.ScenarioError(f"error: {error}") from None
    return scenario.with_overrides(frames) if frames else scenario


def with_files(scenario: Scenario, folder: Path) -> Scenario:
    """Returns the scenario with the contents of its files (loss patterns, rate traces, captures, policies).

    Args:
        scenario: The scenario.
        folder: Folder of the files.

    Raises:
        fairwave.ScenarioError: A file is missing or of another kind.
    """
    return _with_files(scenario, scenario.to_dict(), folder)


def _with_files(scenario: Scenario, table: dict[str, Any], folder: Path) -> Scenario:
    kinds = kinds_of_files(table)
    if not kinds:
        return scenario
    from fairwave import patterns, policy_files, replay, traces

    readers = {
        "pattern": patterns.resolved,
        "trace": traces.resolved,
        "replay": replay.resolved,
        "policy": policy_files.resolved,
    }
    changes: dict[str, Any] = {}
    try:
        for kind, resolved in readers.items():
            if kind in kinds:
                changes |= resolved(table, folder)
    except ForeignFileError as error:
        raise _native.ScenarioError(f"error: {error}") from None
    return scenario.with_overrides(changes) if changes else scenario


def located(scenario: Scenario, folder: Path) -> Scenario:
    """The scenario with file names that count from the working directory instead of `folder`."""
    changes = {
        path: {**law, "file": str(folder / law["file"])} for path, law in named_files(scenario.to_dict())
    }
    return scenario.with_overrides(changes) if changes else scenario
