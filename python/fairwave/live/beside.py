"""A live run and a simulated one of the same plan, side by side, with margins that were fixed beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairwave._native import ScenarioError
from fairwave.live import kernel
from fairwave.study import measures

if TYPE_CHECKING:
    from fairwave.results import Results
    from fairwave.scenario import Scenario

SIMULATED = {
    "host/cubic": {"name": "tcp/cubic", "preset": "linux"},
    "host/reno": {"name": "tcp/sack", "preset": "linux"},
    "host/bbr": {"name": "tcp/bbr1", "preset": "linux"},
}
"""What is simulated beside the kernel's transports."""

KERNEL = 2.0
"""Margins are so many times as wide where the kernel's TCP takes part: it is not our code that sends there."""


@dataclass(frozen=True)
class Margin:
    """How far two values may be apart: a part of the simulated one, or an absolute difference, whichever is more."""

    part: float
    least: float

    def allows(self, live: float, simulated: float, wider: float = 1.0) -> bool:
        """Whether they agree."""
        return abs(live - simulated) <= wider * max(self.part * abs(simulated), self.least)


GOODPUT = Margin(0.05, 0.0)
LOSS = Margin(0.10, 0.01)
QUEUEING = Margin(0.10, 2e-3)
MOS = Margin(0.0, 0.1)


@dataclass(frozen=True)
class Row:
    """One measure of one group or link, live and simulated; None where it is not defined."""

    what: str
    live: float | None
    simulated: float | None
    scale: float
    unit: str
    agrees: bool | None

    @property
    def cells(self) -> list[str]:
        """As a table shows it."""

        def text(value: float | None) -> str:
            return "not defined" if value is None else f"{value * self.scale:.4g} {self.unit}".rstrip()

        verdict = {True: "within", False: "OUTSIDE", None: ""}[self.agrees]
        return [self.what, text(self.live), text(self.simulated), verdict]


def simulated(scenario: Scenario) -> Scenario:
    """The scenario as it can be simulated: the kernel's transports by ours that follow Linux.

    Hosts neither run fast or slow nor send late on purpose, which live ones do not either.

    Raises:
        fairwave.ScenarioError: A flow is what programs send, or of a controller of which there is none simulated.
        fairwave.RunError: The kernel cannot be asked with what a controller of ours was loaded.
    """
    changes: dict[str, Any] = {"hosts.clock-skew": "0 ppm", "hosts.send-jitter": "0 s"}
    for flow in scenario.to_dict().get("flow", []):
        transport = flow["transport"]
        name = transport["name"] if isinstance(transport, dict) else transport
        if name == "host/tcp":
            changes[f"flow.{flow['name']}.transport"] = _simulated(flow["name"], transport["controller"])
        elif name in SIMULATED:
            changes[f"flow.{flow['name']}.transport"] = SIMULATED[name]
    return scenario.with_overrides(changes)


def _simulated(flow: str, controller: str) -> dict[str, Any]:
    """What is simulated beside a controller of the kernel: the kernel itself knows with what one of ours was loaded."""
    known = SIMULATED.get(f"host/{controller}")
    if known is not None:
        return known
    ours = {one.name: one for one in kernel.loaded()} if controller.startswith(kernel.PREFIX) else {}
    if controller not in ours:
        help_ = (
            "write `fairwave kernel load …` first"
            if controller.startswith(kernel.PREFIX)
            else "leave out --beside, or write reno, cubic, bbr, or one that `fairwave kernel load` has loaded"
        )
        raise ScenarioError(f"flow {flow}: nothing simulated is beside the kernel's `{controller}`; {help_}")
    return ours[controller].simulated


def compared(scenario: Scenario, live: Results, other: Results) -> list[Row]:
    """Goodput, loss and quality of each group, queueing of each link where packets wait."""
    flows = scenario.to_dict().get("flow", [])
    names = [
        one["transport"]["name"] if isinstance(one["transport"], dict) else one["transport"] for one in flows
    ]
    wider = KERNEL if any(name.startswith("host/") for name in names) else 1.0
    rows = []
    for flow in flows:
        if flow.get("count") == 0:
            continue
        group = flow["name"]
        for measure, margin, scale, unit in (
            (measures.goodput(group), GOODPUT, 1.0, "kb/s"),
            (measures.packet_loss(group), LOSS, 1.0, "%"),
            (measures.mos(group), MOS, 1.0, ""),
        ):
            ours, theirs = _mean(live, measure), _mean(other, measure)
            if ours is None and theirs is None:
                continue
            least = margin.least * (100.0 if unit == "%" else 1.0)
            both = ours is not None and theirs is not None
            agrees = Margin(margin.part, least).allows(ours, theirs, wider) if both else False  # type: ignore[arg-type]
            rows.append(
                Row(
                    f"{group}: {measure.title.removeprefix(f'{group} ')}",
                    ours,
                    theirs,
                    scale,
                    measure.unit,
                    agrees,
                )
            )
    mine, others = ({row["link"]: row for row in one.links.to_pylist()} for one in (live, other))
    for link, row in others.items():
        ours, theirs = mine[link]["mean_wait_s"], row["mean_wait_s"]
        if ours is None or theirs is None or max(ours, theirs) < QUEUEING.least:
            continue
        rows.append(
            Row(f"{link}: mean queueing", ours, theirs, 1e3, "ms", QUEUEING.allows(ours, theirs, wider))
        )
    return rows


def _mean(results: Results, measure: measures.Measure) -> float | None:
    cell = measure.over(results).interval()
    return cell.mean if cell.n else None
