"""The systems of paper 003: four TCP(α, β), and the systems that §IV compares with them.

Labels are the paper's names. All TCPs recover like Reno unless a reading changes that, and have windows of 64 kB. SQRT,
IIAD (binomial controllers) and RAP (a rate for streams) are smooth alternatives of the time, in addition to the
paper's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave_studies.smoothness.names import (
    GAMMA,
    GAMMA_DELTA,
    GAMMA_STREAM,
    IIAD,
    RAP,
    RENO,
    RENO_RED,
    RENO_STREAM,
    RESPONSIVE,
    SMOOTH,
    SMOOTHEST,
    SQRT,
    STANDARD,
    TFRC,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairwave.runs.axes import Label, Overrides

    Labels = dict[str, Label]
    Megabits = float | Callable[[Labels], float]

PAIRS: Mapping[str, tuple[float, float]] = {
    SMOOTHEST: (0.31, 0.875),
    SMOOTH: (0.583, 0.75),
    STANDARD: (1.0, 0.5),
    RESPONSIVE: (1.25, 0.25),
}
"""α and β of each, from the smoothest to the most responsive."""

WINDOW = 64
"""The largest window that TCP's standard header allows, segments of 1000 bytes: the paper's 64 kB."""

FLAVOURS = {
    RENO: "tcp/reno",
    RENO_RED: "tcp/reno",
    GAMMA: "tcp/gamma",
    GAMMA_DELTA: "tcp/gamma-delta",
    SQRT: "tcp/sqrt",
    IIAD: "tcp/iiad",
    RENO_STREAM: "tcp/reno",
    GAMMA_STREAM: "tcp/gamma",
}
"""Names of the other TCPs in scenarios."""

EACH_SEGMENT: Mapping[str, Any] = {"delayed-ack": False, "byte-counting": False}
"""Every segment is acknowledged, and every acknowledgement opens the window: ns-2's, with the RFCs' details, too."""

DEADLINE = "1 s"
"""Time after which a stream discards a unit: an application that reads 1 Mb/s has 125 kB, a second, to play from."""

WIRE_BITS = 8 * 1040
"""A full segment on the wire."""


def transport(name: str, **parameters: Any) -> dict[str, Any]:
    """A system's transport as a scenario writes it; `parameters` with underscores for dashes."""
    if name in (TFRC, RAP):
        return {"name": name.lower()}
    more: dict[str, Any] = {"receiver-window": WINDOW, **EACH_SEGMENT}
    more |= {key.replace("_", "-"): value for key, value in parameters.items()}
    if name in PAIRS:
        alpha, beta = PAIRS[name]
        return {"name": "tcp/aimd", "alpha": alpha, "beta": beta, "recovery": "reno", **more}
    if name in (RENO_STREAM, GAMMA_STREAM):
        more["deadline"] = DEADLINE
    return {"name": FLAVOURS[name], "recovery": "reno", **more}


def system(
    name: str, megabits: Megabits | None = None, *, flows: str = "*", **parameters: Any
) -> Callable[[Labels], Overrides]:
    """The changes of one system's label.

    Args:
        name: The system.
        megabits: Rate of the bottleneck, Mb/s: each sending is delayed by up to the time that a packet takes
        there, without which
            drop-tail shuts some of several like flows out for good (phase effects). None where there is a single flow.
        flows: The flows that run it; all unless a group is named.
        parameters: Of its transport.
    """

    def changes(labels: Labels) -> Overrides:
        found = transport(name, **parameters)
        if megabits is not None and name not in (TFRC, RAP):
            rate = megabits(labels) if callable(megabits) else megabits
            found["send-jitter"] = f"{WIRE_BITS / 1000 / rate:.6g} ms"
        return {f"flow.{flows}.transport": found}

    return changes


def family(megabits: Megabits | None = None, **parameters: Any) -> dict[str, Callable[[Labels], Overrides]]:
    """The four TCP(α, β), as labels of an axis. Arguments as for :func:`system`."""
    return {name: system(name, megabits, **parameters) for name in PAIRS}
