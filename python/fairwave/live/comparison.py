"""A live run and a simulated one of the same plan, side by side, with margins that were fixed beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairwave._native import ScenarioError
from fairwave.live import kernel
from fairwave.measuring import measures

if TYPE_CHECKING:
    from fairwave.results import Results
    from fairwave.scenario import Scenario

SIMULATED: dict[str, dict[str, Any]] = {
    "host/cubic": {"name": "tcp/cubic", "preset": "linux", "alpha-one": False},
    "host/reno": {"name": "tcp/sack", "preset": "linux"},
    "host/bbr": {"name": "tcp/bbr1", "preset": "linux"},
}
"""What is simulated beside the kernel's transports. Linux (6.18) has CUBIC's α of before RFC 9438."""

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
class Quantity:
    """What is laid side by side: one measure of a run, None where it is not defined.

    Attributes:
        value: In the measure's unit.
        margin: How far live and simulated may be apart.
        scale: By which tables multiply the value.
        unit: Of the value, times the scale.
    """

    value: float | None
    margin: Margin
    scale: float
    unit: str


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
    """The scenario for the simulator: fairwave's transports that follow Linux replace the kernel's.

    Hosts neither run fast or slow nor send late on purpose, which live ones do not either.

    Raises:
        fairwave.ScenarioError: A flow is what programs send, or of a controller of which there is none simulated.
        fairwave.RunError: The controller's parameters cannot be read from the kernel.
    """
    changes: dict[str, Any] = {"hosts.clock-skew": "0 ppm", "hosts.send-jitter": "0 s"}
    for flow in scenario.to_dict().get("flow", []):
        name = _transport(flow)
        if name == "host/tcp":
            changes[f"flow.{flow['name']}.transport"] = _simulated(
                flow["name"], flow["transport"]["controller"]
            )
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
        raise ScenarioError(
            f"flow {flow}: no simulated controller corresponds to the kernel's `{controller}`; {help_}"
        )
    return ours[controller].simulated


def widening(scenario: Scenario) -> float:
    """By how much margins are wider for this scenario: :data:`KERNEL` where the kernel's TCP takes part."""
    flows = scenario.to_dict().get("flow", [])
    return KERNEL if any(_transport(flow).startswith("host/") for flow in flows) else 1.0


def quantities(scenario: Scenario, results: Results) -> dict[str, Quantity]:
    """Goodput, loss and quality of each group, queueing of each link, of one run or in the mean of several."""
    found = {}
    for flow in scenario.to_dict().get("flow", []):
        if flow.get("count") == 0:
            continue
        group = flow["name"]
        for measure, margin in (
            (measures.goodput(group), GOODPUT),
            (measures.packet_loss(group), LOSS),
            (measures.mos(group), MOS),
        ):
            per_cent = Margin(margin.part, 100.0 * margin.least) if measure.unit == "%" else margin
            title = f"{group}: {measure.title.removeprefix(f'{group} ')}"
            found[title] = Quantity(_mean(results, measure), per_cent, 1.0, measure.unit)
    for row in results.rows("links").to_dicts():
        found[f"{row['link']}: mean queueing"] = Quantity(row["mean_wait_s"], QUEUEING, 1e3, "ms")
    return found


def compared(scenario: Scenario, live: Results, other: Results) -> list[Row]:
    """Both side by side, without measures that neither defines and without links with almost no queueing in both."""
    wider = widening(scenario)
    rows = []
    theirs = quantities(scenario, other)
    for what, ours in quantities(scenario, live).items():
        there = theirs[what].value
        if ours.value is None or there is None:
            if ours.value is None and (there is None or ours.margin is QUEUEING):
                continue
            agrees = False
        elif ours.margin is QUEUEING and max(ours.value, there) < QUEUEING.least:
            continue
        else:
            agrees = ours.margin.allows(ours.value, there, wider)
        rows.append(Row(what, ours.value, there, ours.scale, ours.unit, agrees))
    return rows


def _transport(flow: dict[str, Any]) -> str:
    transport = flow["transport"]
    name: str = transport["name"] if isinstance(transport, dict) else transport
    return name


def _mean(results: Results, measure: measures.Measure) -> float | None:
    cell = measure.compute(results).interval()
    return cell.mean if cell.n else None
