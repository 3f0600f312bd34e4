"""Files that scenarios name: loss patterns, rate traces, captures, policies and clips."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave import _native
from fairwave.named_files import named_files

if TYPE_CHECKING:
    from fairwave.scenario import Scenario


def prepared(scenario: Scenario) -> Scenario:
    """The scenario as it can be run: clips coded, their frames filled in, patterns of loss and traces of rates read.

    What names a file since the scenario was loaded, by an override, is sought from where the program runs.

    Raises:
        fairwave.ScenarioError: A clip cannot be read, or not be coded in the layers that are asked for.
    """
    text = scenario.to_json()
    if '"file"' in text:
        scenario = with_files(scenario, Path())
    if '"clip"' not in text:
        return scenario
    from fairwave.layers import layer

    clips = layer("clips")
    try:
        frames = clips.coded_scenario(scenario.to_dict().get("flow", []))
    except clips.VideoError as error:
        raise _native.ScenarioError(f"error: {error}") from None
    return scenario.with_overrides(frames) if frames else scenario


def with_files(scenario: Scenario, folder: Path) -> Scenario:
    """The scenario with what its files hold, sought from `folder`.

    Patterns of loss, traces of rates, captured packets, policies.

    Raises:
        fairwave.ScenarioError: A file is not there, or holds no pattern, trace or capture.
    """
    text = scenario.to_json()
    if '"file"' not in text:
        return scenario
    from fairwave import patterns, policy_files, replay, traces

    table = scenario.to_dict()
    changes: dict[str, Any] = {}
    try:
        if '"pattern"' in text:
            changes |= patterns.resolved(table, folder)
        if '"trace"' in text:
            changes |= traces.resolved(table, folder)
        if '"replay"' in text:
            changes |= replay.resolved(table, folder)
        if 'policy"' in text:
            changes |= policy_files.resolved(table, folder)
    except (
        patterns.PatternError,
        policy_files.PolicyError,
        traces.TraceError,
        replay.CaptureError,
    ) as error:
        raise _native.ScenarioError(f"error: {error}") from None
    return scenario.with_overrides(changes) if changes else scenario


def located(scenario: Scenario, folder: Path) -> Scenario:
    """The scenario whose files, sought from `folder` so far, are sought from where the program runs."""
    if '"file"' not in scenario.to_json():
        return scenario
    changes = {
        path: {**law, "file": str(folder / law["file"])} for path, law in named_files(scenario.to_dict())
    }
    return scenario.with_overrides(changes) if changes else scenario
