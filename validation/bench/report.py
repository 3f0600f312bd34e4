"""The page of the benchmarks: a report of the kept numbers."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from validation import kept
from validation.bench import (
    cores,
    history,
    instructions,
    others,
    overhead,
    radio,
    rates,
    recovery,
    scale,
    speed,
    starting,
    threads,
)

if TYPE_CHECKING:
    from pathlib import Path

KEPT = "bench/performance"
SECTIONS: dict[str, ModuleType] = {
    "speed": speed,
    "instructions": instructions,
    "rates": rates,
    "recovery": recovery,
    "scale": scale,
    "others": others,
    "cores": cores,
    "overhead": overhead,
    "starting": starting,
    "threads": threads,
    "radio": radio,
}
"""The parts of the benchmark in the order of the page. Each module has `measure` and `describe`, and `list_exceeded` if
it has limits."""


def list_exceeded(results: dict[str, Any]) -> list[str]:
    """Lists all limits that the measurements exceed, with the part."""
    return [
        f"{part}: {text}"
        for part, module in SECTIONS.items()
        if part in results and hasattr(module, "list_exceeded")
        for text in module.list_exceeded(results[part])
    ]


def markdown(results: dict[str, Any]) -> str:
    """The report in Markdown."""
    return "\n".join(_lines(results)) + "\n"


def _lines(results: dict[str, Any]) -> Iterator[str]:
    machine = results["machine"]
    yield "# Performance"
    yield ""
    yield "`make bench` measured the numbers of this page."
    yield ""
    yield (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory']}, {machine['system']},"
        f" {machine['compiler']}, commit {machine['commit']}."
    )
    yield ""
    exceeded = list_exceeded(results)
    yield f"Limits exceeded: {'; '.join(exceeded)}." if exceeded else "All limits are met."
    for part, module in SECTIONS.items():
        if part in results:
            yield ""
            yield from module.describe(results[part])
        if part == "scale" and "memory" in results:
            yield ""
            yield from scale.describe_memory(results["memory"])
    yield ""
    yield from history.describe()


def render(_: Path) -> str:
    """Renders the page from the kept numbers."""
    return markdown(kept.read(KEPT))
