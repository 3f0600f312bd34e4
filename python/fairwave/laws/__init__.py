"""Custom laws and measures as Python classes: controllers, queue disciplines, sources, loss models, links.

A class with a few methods becomes a law that scenarios name like any other:

    import fairwave as fw

    @fw.controller("gentle")
    class Gentle(fw.Controller):
        '''Grows by a segment per round trip, and keeps seven eighths on loss.'''

        kept: float = fw.parameter(0.875, above=0, below=1, doc="Part of the window kept on loss.")

        def on_ack(self, path, window):
            window.congestion += 1 if window.in_slow_start else 1 / window.congestion

        def on_loss(self, path, window):
            window.threshold = max(2.0, self.kept * path.in_use)
            window.congestion = window.threshold

        def on_timeout(self, path, window):
            self.on_loss(path, window)
            window.congestion = 1.0

From then on, `transport = "tcp/gentle"` and `{ name = "tcp/gentle", kept = 0.9 }` work in every scenario of the
process. Fairwave checks, lists and explains them. Commands take laws from a file:
`fairwave run calls.toml --laws gentle.py`.

A law gets and returns the same values as the traits of fairwave's core, under the same names. Times are in seconds
since the beginning of the run, as floats: exact to the nanosecond, the simulator's unit of time, for runs of up to
three weeks. Rates are in bits per second, sizes in bytes, windows in segments. Each flow, queue or link of each run
has a separate instance. `self.random` is the instance's stream of random numbers, so the same scenario and seed give
the same bytes.

`fairwave new controller NAME` writes a law, its test and a scenario to begin with; `docs/extend.md` shows one of each.
"""

from fairwave._native import (
    Arrival,
    Buffer,
    MediaFeedback,
    MediaPacket,
    Packet,
    Path,
    Place,
    Random,
    RateSample,
    Unit,
    Window,
)
from fairwave.laws.families import Controller, Discipline, Law, LinkLaw, LossModel, RateController, Source
from fairwave.laws.files import LawFileError, load_laws
from fairwave.laws.measuring import MeasuredRun, Undefined, measure
from fairwave.laws.parameters import Duration, Rate, Refusal, Size, parameter
from fairwave.laws.registering import controller, discipline, link_law, loss_model, rate_controller, source

__all__ = [
    "Arrival",
    "Buffer",
    "Controller",
    "Discipline",
    "Duration",
    "Law",
    "LawFileError",
    "LinkLaw",
    "LossModel",
    "MeasuredRun",
    "MediaFeedback",
    "MediaPacket",
    "Packet",
    "Path",
    "Place",
    "Random",
    "Rate",
    "RateController",
    "RateSample",
    "Refusal",
    "Size",
    "Source",
    "Undefined",
    "Unit",
    "Window",
    "controller",
    "discipline",
    "link_law",
    "load_laws",
    "loss_model",
    "measure",
    "parameter",
    "rate_controller",
    "source",
]
