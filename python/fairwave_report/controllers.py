"""TCP controllers page: one flow alone on a fixed path under each controller, with its window drawn and measured.

`render` makes the page and its pictures. Each controller has a *characteristic number* that its source predicts for
this path. The page compares it with the measured number, and `tests/test_controllers.py` checks that they agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from fairwave.scenario import load

if TYPE_CHECKING:
    from fairwave.results import Results

mpl.use("Agg")

RATE = 10e6
"""Rate of the path's bottleneck, bits per second on the wire."""

ROUND_TRIP = 0.1
"""Round-trip time of the empty path, seconds."""

BUFFER = 120
"""Buffer of the bottleneck, packets: about one bandwidth-delay product."""

PAYLOAD = 1000
"""Bytes of payload in a segment."""

PACKET = 1040
"""Bytes of a segment on the wire. Vegas is an exception, because ns-2 adds no header there."""

SETTLED = 40.0
"""Start of the measurement of the characteristic numbers, seconds."""

PATH = """
name = "one flow on a fixed path"
duration = "120 s"
warmup = "40 s"
preset = "ns2"

[topology]
preset = "dumbbell"
bottleneck = { rate = "10 Mb/s", delay = "30 ms", queue = { discipline = "drop-tail", capacity = { packets = 120 } } }
access = { rate = "100 Mb/s", delay = "10 ms" }

[[flow]]
name = "one"
count = 1
transport = "tcp/reno"
traffic = "bulk"

[record]
window-interval = "20 ms"
windows = ["one"]
bin = "500 ms"
queues = ["r1>r2"]
goodput = ["one"]
"""


@dataclass(frozen=True)
class Trace:
    """A series of one run: times in seconds and values."""

    times: np.ndarray
    values: np.ndarray

    def settled(self) -> np.ndarray:
        """Returns the values after the start phase."""
        return self.values[self.times >= SETTLED]


@dataclass(frozen=True)
class Characteristic:
    """A characteristic number.

    Attributes:
        what: Its name, with unit.
        source: Equation or section that predicts it.
        predicted: The prediction for this path.
        measured: The number in the run.
        tolerance: Largest relative difference that the test accepts.
    """

    what: str
    source: str
    predicted: float
    measured: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the measured number is within the tolerance of the prediction."""
        return abs(self.measured - self.predicted) <= self.tolerance * abs(self.predicted)


@dataclass(frozen=True)
class Controller:
    """A controller's section of the page.

    Attributes:
        name: Its transport.
        title: Heading.
        transport: The scenario's value.
        about: Description of the figure.
        estimate: Name of the sender's estimate, with unit; None to omit it.
        numbers: Computes the characteristic numbers from the run's traces.
    """

    name: str
    title: str
    transport: dict[str, object]
    about: str
    estimate: str | None
    numbers: Callable[[dict[str, Trace]], list[Characteristic]]


def traces(results: Results) -> dict[str, Trace]:
    """Returns the series of the flow and of the bottleneck's queue, by kind."""
    table = results.to_polars("series")
    return {
        str(kind[0]): Trace(rows["time_s"].to_numpy(), rows["value"].to_numpy())
        for kind, rows in table.group_by("kind", maintain_order=True)
    }


def run(controller: Controller) -> dict[str, Trace]:
    """Runs the controller's flow with seed 1 and returns its traces."""
    return traces(load(PATH).with_overrides({"flow.one.transport": controller.transport}).run(seed=1))


def cycles(window: Trace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the peaks, the following troughs, and the periods (s) of a saw-tooth, after the start phase."""
    times, values = window.times[window.times >= SETTLED], window.settled()
    falls = [i for i in range(1, len(values)) if values[i] < 0.95 * values[i - 1]]
    # A recovery appears as several steps. Steps within a second count as one reduction.
    groups: list[list[int]] = []
    for fall in falls:
        if groups and times[fall] - times[groups[-1][-1]] < 1.0:
            groups[-1].append(fall)
        else:
            groups.append([fall])
    peaks = np.array([values[group[0] - 1] for group in groups])
    troughs = np.array([values[group[0] : group[-1] + 10].min() for group in groups])
    starts = np.array([times[group[-1]] for group in groups])
    return peaks, troughs, np.diff(starts)


def full_pipe() -> float:
    """Returns the number of segments that fill the path and its queue."""
    return RATE * ROUND_TRIP / 8 / PACKET + BUFFER


def saw_tooth(alpha: float, beta: float) -> Callable[[dict[str, Trace]], list[Characteristic]]:
    """Returns a function for the numbers of AIMD(α, β): window share kept after a loss, cycle length."""

    def numbers(of: dict[str, Trace]) -> list[Characteristic]:
        peaks, troughs, periods = cycles(of["window"])
        top = full_pipe()
        # The queue grows with the window, so a cycle's mean round-trip time is its mean window divided by the rate.
        mean_round_trip = (1 + beta) / 2 * top * PACKET * 8 / RATE
        return [
            Characteristic(
                "window kept after a loss, share of the peak",
                "paper 003 Eq. (1)",
                beta,
                float(np.mean(troughs / peaks)),
                0.04,
            ),
            Characteristic(
                "peak of the window, segments", "path and queue full", top, float(np.mean(peaks)), 0.05
            ),
            Characteristic(
                "period of the saw-tooth, s",
                "paper 003 §II: (1 − β)W/α round trips",
                (1 - beta) * top / alpha * mean_round_trip,
                float(np.mean(periods)),
                0.10,
            ),
        ]

    return numbers


def vegas_numbers(of: dict[str, Trace]) -> list[Characteristic]:
    """Computes Vegas' segments in the queue (between α = 1 and β = 3) and its window."""
    return [
        Characteristic(
            "segments that it keeps in the queue (between α = 1 and β = 3)",
            "Brakmo & Peterson 1995 §4; paper 000 §3.3",
            2.0,
            float(np.mean(of["queue_packets"].settled())),
            0.75,
        ),
        Characteristic(
            "window, segments: what the path holds, and two",
            "as above",
            RATE * ROUND_TRIP / 8 / PAYLOAD + 2,  # ns-2's Vegas counts no header
            float(np.mean(of["window"].settled())),
            0.03,
        ),
    ]


def bandwidth_numbers(of: dict[str, Trace]) -> list[Characteristic]:
    """Compares Westwood's estimate with the arrival rate of data."""
    return [
        Characteristic(
            "bandwidth estimate over the flow's goodput",
            "paper 000 Algorithm 1; Mascolo et al. 2001; Grieco & Mascolo 2004",
            1.0,
            float(np.mean(of["estimate"].settled()) / np.mean(of["goodput_bps"].settled())),
            0.10,
        )
    ]


def real_numbers(of: dict[str, Trace]) -> list[Characteristic]:
    """Compares TCP-Real's wave rate with the rate of the bottleneck."""
    return [
        Characteristic(
            "median rate of a wave over the payload rate of the bottleneck",
            "papers 000 §3.1, 003 §IV; Tsaoussidis & Zhang 2002",
            1.0,
            float(np.median(of["estimate"].settled()) / (RATE * 1000 / PACKET)),
            0.10,
        )
    ]


def cubic_numbers(of: dict[str, Trace]) -> list[Characteristic]:
    """Computes the share of CUBIC's window kept after a loss, and the time until it is restored."""
    peaks, troughs, periods = cycles(of["window"])
    top = full_pipe()
    return [
        Characteristic(
            "window kept after a loss, share of the peak",
            "RFC 9438 §4.6",
            0.7,
            float(np.mean(troughs / peaks)),
            0.04,
        ),
        Characteristic(
            "peak of the window, segments", "path and queue full", top, float(np.mean(peaks)), 0.05
        ),
        Characteristic(
            "period, s",
            "RFC 9438 Eq. (2): ∛((1 − β)·peak/C)",
            float(np.cbrt(0.3 * top / 0.4)),
            float(np.mean(periods)),
            0.10,
        ),
    ]


def background_numbers(of: dict[str, Trace]) -> list[Characteristic]:
    """Computes the 90th percentile of LEDBAT++'s queueing delay, which is near its target, and its goodput."""
    delays = of["queue_packets"].settled() * PACKET * 8 / RATE * 1e3
    return [
        Characteristic(
            "queueing delay that nine tenths of the time stay below, ms",
            "its target",
            60.0,
            float(np.quantile(delays, 0.9)),
            0.10,
        ),
        Characteristic(
            "goodput over the payload rate of the bottleneck",
            "slowing down takes a tenth of the time at most",
            0.95,
            float(np.mean(of["goodput_bps"].settled()) / (RATE * PAYLOAD / PACKET)),
            0.06,
        ),
    ]


def model_numbers(of: dict[str, Trace]) -> list[Characteristic]:
    """Compares BBR's bandwidth estimate with the bottleneck's rate, and measures its queue."""
    return [
        Characteristic(
            "bandwidth that it believes in over the payload rate of the bottleneck",
            "the largest delivery rate",
            1.0,
            float(np.median(of["estimate"].settled()) / (RATE * PAYLOAD / PACKET)),
            0.02,
        ),
        Characteristic(
            "goodput over the payload rate of the bottleneck",
            "ProbeRTT takes a fiftieth, the pace's margin a hundredth",
            0.97,
            float(np.mean(of["goodput_bps"].settled()) / (RATE * PAYLOAD / PACKET)),
            0.03,
        ),
    ]


def tcp(name: str, **options: object) -> dict[str, object]:
    """Returns a transport with a receiver window that does not limit it on this path."""
    return {"name": name, "receiver-window": 1000, **options}


CONTROLLERS = (
    Controller(
        "reno",
        "Reno: AIMD(1, 0.5)",
        tcp("tcp/newreno"),
        "The window climbs by one segment per round trip until path and queue are full, and halves. (NewReno's "
        "recovery, so that several losses of one window cost one decrease.)",
        None,
        saw_tooth(1.0, 0.5),
    ),
    Controller(
        "aimd",
        "A smoother pair: AIMD(0.31, 0.875)",
        tcp("tcp/aimd", alpha=0.31, beta=0.875, recovery="newreno"),
        "The TCP-friendly partner of Reno that gives up an eighth and climbs at a third of the pace.",
        None,
        saw_tooth(0.31, 0.875),
    ),
    Controller(
        "vegas",
        "Vegas between α and β",
        tcp("tcp/vegas"),
        "After its own slow start the window stays where between one and three segments wait in the queue; nothing is "
        "lost.",
        None,
        vegas_numbers,
    ),
    Controller(
        "westwood",
        "Westwood: the bandwidth it believes in",
        tcp("tcp/westwood"),
        "The estimate from acknowledgements and the rate at which the receiver gets data. After a loss the "
        "threshold is estimate times least round-trip time: the pipe without the queue.",
        "bandwidth estimate, b/s",
        bandwidth_numbers,
    ),
    Controller(
        "westwood-plus",
        "Westwood+: one sample per round trip",
        tcp("tcp/westwood+"),
        "The same with a sample of what was acknowledged in a whole round trip, which does not mistake bunched "
        "acknowledgements for bandwidth.",
        "bandwidth estimate, b/s",
        bandwidth_numbers,
    ),
    Controller(
        "real",
        "TCP-Real: the rates of waves",
        tcp("tcp/real"),
        "The receiver measures how fast each wave, the segments of one window, arrives, and returns the rate. A wave "
        "that finds the bottleneck busy arrives at the bottleneck's pace.",
        "rate of the last wave, b/s",
        real_numbers,
    ),
    Controller(
        "cubic",
        "CUBIC: flat around the last loss",
        tcp("tcp/cubic", **{"preset": "rfc", "delayed-ack": False, "fast-convergence": False}),
        "The window comes back fast at first, then ever more slowly to where the last loss happened. (Without fast "
        "convergence, which RFC 9438 §4.7 advises against for a flow alone.)",
        None,
        cubic_numbers,
    ),
    Controller(
        "ledbat",
        "LEDBAT++: in the background",
        tcp("tcp/ledbat++", **{"preset": "rfc", "delayed-ack": False}),
        "The queue grows to the target of 60 ms; from time to time the window falls to two segments, so that it "
        "empties and the path is measured without it.",
        None,
        background_numbers,
    ),
    Controller(
        "bbr",
        "BBR, version 3: a model of the path",
        tcp("tcp/bbr", **{"preset": "rfc", "delayed-ack": False}),
        "It sends at the rate that the path was seen to deliver, probes for more every two to three seconds, and "
        "halves what is in flight every five seconds to measure the path without a queue.",
        "bandwidth of the path, b/s",
        model_numbers,
    ),
    Controller(
        "bbr1",
        "BBR, version 1: eight phases",
        tcp("tcp/bbr1", **{"preset": "rfc", "delayed-ack": False}),
        "A quarter faster for a round trip, a quarter slower for the next, and six at the rate; every ten seconds four "
        "segments in flight.",
        "bandwidth of the path, b/s",
        model_numbers,
    ),
)


def draw(controller: Controller, of: dict[str, Trace], path: Path) -> None:
    """Draws window and queue over time, and the estimate with the true rate if the controller has one."""
    from matplotlib import pyplot as plt

    rows = 2 if controller.estimate is None else 3
    figure, axes = plt.subplots(rows, 1, sharex=True, figsize=(9, 2.1 * rows + 0.6), layout="constrained")
    window = of["window"]
    axes[0].plot(window.times, window.values, color="#0072b2", linewidth=1)
    axes[0].set_ylabel("window\n(segments)")
    queue = of["queue_packets"]
    axes[1].plot(queue.times, queue.values, color="#d55e00", linewidth=1)
    axes[1].set_ylabel("mean queue\n(packets)")
    if controller.estimate is not None:
        estimate, goodput = of["estimate"], of["goodput_bps"]
        axes[2].plot(
            estimate.times,
            estimate.values / 1e6,
            color="#009e73",
            linewidth=0.8,
            label=controller.estimate[:-5],
        )
        axes[2].plot(
            goodput.times,
            goodput.values / 1e6,
            color="#555555",
            linewidth=1,
            label="goodput in half a second",
        )
        axes[2].set_ylabel("rate\n(Mb/s)")
        axes[2].set_ylim(0, 1.6 * RATE / 1e6)
        axes[2].legend(loc="lower right", fontsize=8, framealpha=0.9)
    for axis in axes:
        axis.grid(alpha=0.3)
        axis.set_ylim(bottom=0)
    axes[-1].set_xlabel("time (s)")
    axes[0].set_title(controller.title, loc="left", fontsize=11)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def render(folder: Path, *, quick: bool = False) -> str:
    """Renders the page of all controllers. Each runs alone, for a second of CPU time.

    Args:
        folder: Its subfolder ``figures`` gets the pictures.
        quick: Makes no picture.
    """
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    lines = [
        "# Controllers on a fixed path",
        "",
        "`tests/test_controllers.py` holds the numbers of this page.",
        "",
        (
            f"One flow alone: bottleneck {RATE / 1e6:g} Mb/s, {ROUND_TRIP * 1e3:g} ms round trip, drop-tail queue of "
            f"{BUFFER} packets of {PACKET} bytes on the wire (1000 of payload), details as in ns-2, no limit by the "
            f"receiver. Path and queue hold {full_pipe():.0f} segments. Numbers are taken from {SETTLED:g} s on."
        ),
    ]
    for controller in CONTROLLERS:
        of = run(controller)
        name = f"controller-{controller.name}.png"
        lines += ["", f"## {controller.title}", "", controller.about, ""]
        if not quick:
            draw(controller, of, folder / "figures" / name)
            lines += [f"![{controller.title}](figures/{name})", ""]
        lines += [
            "| characteristic number | source | predicted | measured | holds within |",
            "|---|---|---|---|---|",
        ]
        for number in controller.numbers(of):
            verdict = f"{number.tolerance:.0%}" if number.holds else f"**no** ({number.tolerance:.0%})"
            lines.append(
                f"| {number.what} | {number.source} | {number.predicted:.4g} | {number.measured:.4g} | {verdict} |"
            )
    return "\n".join(lines) + "\n"
