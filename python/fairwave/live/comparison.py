"""Compares a run in real time with a simulated run of the same plan, with margins that were fixed beforehand."""

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
"""Simulated transport for each kernel transport. Linux (6.18) still has CUBIC's α from before RFC 9438."""

KERNEL = 2.0
"""Factor on all margins if the kernel's TCP takes part, because that sender is not fairwave code."""


@dataclass(frozen=True)
class Margin:
    """Largest allowed difference: a share of the simulated value or an absolute value, whichever is larger."""

    part: float
    least: float

    def allows(self, live: float, simulated: float, wider: float = 1.0) -> bool:
        """Whether two values agree within the margin."""
        return abs(live - simulated) <= wider * max(self.part * abs(simulated), self.least)


GOODPUT = Margin(0.05, 0.0)
LOSS = Margin(0.10, 0.01)
QUEUEING = Margin(0.10, 2e-3)
MOS = Margin(0.0, 0.1)


@dataclass(frozen=True)
class Quantity:
    """One compared measure of a run.

    Attributes:
        value: Value in the measure's unit; None if not defined.
        margin: Largest allowed difference between live and simulated.
        scale: Factor on the value in tables.
        unit: Unit of the scaled value.
    """

    value: float | None
    margin: Margin
    scale: float
    unit: str


@dataclass(frozen=True)
class Row:
    """One measure of one group or link, live and simulated; a value is None if not defined."""

    what: str
    live: float | None
    simulated: float | None
    scale: float
    unit: str
    agrees: bool | None

    @property
    def cells(self) -> list[str]:
        """Cells of the table row."""

        def text(value: float | None) -> str:
            return "not defined" if value is None else f"{value * self.scale:.4g} {self.unit}".rstrip()

        verdict = {True: "within", False: "OUTSIDE", None: ""}[self.agrees]
        return [self.what, text(self.live), text(self.simulated), verdict]


def simulated(scenario: Scenario) -> Scenario:
    """Returns the scenario for the simulator, with fairwave's models of Linux TCP in place of kernel transports.

    Clock skew and send jitter of the hosts are off, as in live runs.

    Raises:
        fairwave.ScenarioError: A flow is made by programs, or its controller has no simulated counterpart.
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
    """Returns the simulated transport for a kernel controller. Parameters of `fw_` controllers come from the kernel."""
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
    """Returns the factor on all margins: :data:`KERNEL` if the kernel's TCP takes part, otherwise 1."""
    flows = scenario.to_dict().get("flow", [])
    return KERNEL if any(_transport(flow).startswith("host/") for flow in flows) else 1.0


def quantities(scenario: Scenario, results: Results) -> dict[str, Quantity]:
    """Returns goodput, loss and MOS per group and queueing delay per link, of one run or the mean of several."""
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
    """Compares all quantities. Skips measures that neither run defines and links with almost no queueing in both."""
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
