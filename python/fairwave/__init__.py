"""Fairwave: will voice and video over this network be good?

A laboratory for real-time media over best-effort networks. Describe a network and its flows in a scenario, run it
packet by packet, and see the quality at the receivers.

Ask
---

Read a scenario from a file or a text, or build it from plain objects:
    import fairwave as fw

    call = fw.load("examples/contested-call.toml")
    line = fw.build(
        "ten calls", "60 s",
        topology={"preset": "dumbbell", "bottleneck": {"rate": "1 Mb/s", "delay": "20 ms"}},
        flows=[fw.flow("voice", "udp", "voice", count=10), fw.flow("download", "tcp/reno", "bulk")],
    )

`line.to_toml()` writes it as TOML, `line.to_dict()` returns plain data, `line.with_overrides({"flow.voice.count": 20})`
changes one key. Then run it, once or with ten seeds, or vary it:

    results = line.replicate(10)
    results = fw.compare(line, {"flow.voice.transport": ["udp", "tcp/vegas"]}, n=10)
    results = fw.sweep(line, {"flow.voice.count": [5, 10, 20]}, until="mos.voice:±0.05")
    answer = fw.find(line, "flow.voice.count", "1..40", "mos.voice >= 3.6")
    answer.regions                                               # how many calls does it carry?
    print(fw.doubt(line))                                        # which defaults would change the verdict?

Read
----

    results.measured("mos.voice").summary()     # mean and 95 % interval per point, a polars frame
    results.to_polars("flows")                  # every flow of every run
    results.flows                               # the same as a pyarrow table

`"mos.voice"` is a measure of one flow group, `"mos"` of all flows, `"utilisation.r1>r2"` of a link. Every table is
Arrow: `pl.DataFrame(results.flows)`, `duckdb.sql("from flows")` and `results.to_pandas("flows", arrow=True)` read it
without copying. In a notebook scenarios, results, measures, sweeps and searches show tables. `results.save("out")`
writes Parquet, CSV and provenance; `fw.Results.load("out")` reads them.

Add
---

A custom controller, queue discipline, source, loss model or link is a class with a few methods. A custom measure is a
function. Scenarios name them like any other:

    @fw.controller("mine")
    class Mine(fw.Controller): ...  # help(fw.Controller) shows one; also Discipline, Source, LossModel, …
    fw.compare(line, {"flow.download.transport": ["tcp/reno", "tcp/mine"]})

    @fw.measure("deepest-wait", unit="ms")
    def deepest_wait(run): return 1e3 * run.flows["delay_max_s"].max()
    results.measured("deepest-wait.voice")

Look up
-------

    fw.explain("vegas")       # rule, source, parameters with defaults, an example
    fw.names()["queues"]      # what a scenario can name
    help(fw.Scenario), help(fw.Results)

The same questions from a shell: `fairwave --help`. The language of scenarios is in `docs/scenario-language.md`, the
columns of the tables in `docs/results.md`.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

# pip refuses older versions; sources on `PYTHONPATH` come here.
if sys.version_info < (3, 10):  # noqa: UP036
    raise ImportError(
        f"fairwave needs Python 3.10 or newer, and this is Python {sys.version_info[0]}.{sys.version_info[1]}"
    )

from fairwave._native import RunError, ScenarioError, names
from fairwave._native import version as __version__

if TYPE_CHECKING:
    from fairwave.ask import Answer, find, sweep
    from fairwave.building import build, flow, link
    from fairwave.bundles.packing import bundle
    from fairwave.bundles.repeating import repeat
    from fairwave.doubting import Doubt, doubt
    from fairwave.laws import (
        Arrival,
        Buffer,
        Controller,
        Discipline,
        Duration,
        LinkLaw,
        LossModel,
        MeasuredRun,
        MediaFeedback,
        MediaPacket,
        Packet,
        Path,
        Place,
        Random,
        Rate,
        RateController,
        RateSample,
        Refusal,
        Size,
        Source,
        Undefined,
        Unit,
        Window,
        controller,
        discipline,
        link_law,
        load_laws,
        loss_model,
        measure,
        parameter,
        rate_controller,
        source,
    )
    from fairwave.provenance import MixedProvenanceWarning, Provenance
    from fairwave.reference import explain
    from fairwave.results import DamagedResultsError, Results
    from fairwave.scenario import Scenario, compare, load

__all__ = [
    "Answer",
    "Arrival",
    "Buffer",
    "Controller",
    "DamagedResultsError",
    "Discipline",
    "Doubt",
    "Duration",
    "LinkLaw",
    "LossModel",
    "MeasuredRun",
    "MediaFeedback",
    "MediaPacket",
    "MixedProvenanceWarning",
    "Packet",
    "Path",
    "Place",
    "Provenance",
    "Random",
    "Rate",
    "RateController",
    "RateSample",
    "Refusal",
    "Results",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Size",
    "Source",
    "Undefined",
    "Unit",
    "Window",
    "__version__",
    "build",
    "bundle",
    "compare",
    "controller",
    "discipline",
    "doubt",
    "explain",
    "find",
    "flow",
    "link",
    "link_law",
    "load",
    "load_laws",
    "loss_model",
    "measure",
    "names",
    "parameter",
    "rate_controller",
    "repeat",
    "source",
    "sweep",
]

_HOMES = {
    "Answer": "ask",
    "Arrival": "laws",
    "Buffer": "laws",
    "Controller": "laws",
    "DamagedResultsError": "results",
    "Discipline": "laws",
    "Doubt": "doubting",
    "Duration": "laws",
    "LinkLaw": "laws",
    "LossModel": "laws",
    "MeasuredRun": "laws",
    "MixedProvenanceWarning": "provenance",
    "Packet": "laws",
    "Path": "laws",
    "Place": "laws",
    "Provenance": "provenance",
    "Random": "laws",
    "Rate": "laws",
    "RateController": "laws",
    "MediaFeedback": "laws",
    "MediaPacket": "laws",
    "RateSample": "laws",
    "Refusal": "laws",
    "Results": "results",
    "Scenario": "scenario",
    "Size": "laws",
    "Source": "laws",
    "Undefined": "laws",
    "Unit": "laws",
    "Window": "laws",
    "build": "building",
    "bundle": "bundles.packing",
    "compare": "scenario",
    "controller": "laws",
    "discipline": "laws",
    "doubt": "doubting",
    "explain": "reference",
    "find": "ask",
    "flow": "building",
    "link": "building",
    "link_law": "laws",
    "load": "scenario",
    "load_laws": "laws",
    "loss_model": "laws",
    "measure": "laws",
    "parameter": "laws",
    "rate_controller": "laws",
    "repeat": "bundles.repeating",
    "source": "laws",
    "sweep": "ask",
}
"""Module of each name; modules are imported on first access, so that `import fairwave` takes no time."""


def _meant(name: str) -> str:
    """Returns the likely correct spelling of an unknown name, if it can be guessed."""
    from difflib import get_close_matches

    if name in {"run", "replicate", "simulate"}:
        return "; a scenario has it: write fairwave.load('calls.toml').run()"
    near = get_close_matches(name, __all__, 1)
    return f"; did you mean fairwave.{near[0]}?" if near and not name.startswith("_") else ""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        if (
            find_spec(f"fairwave.{name}") is not None
        ):  # `from fairwave import …` asks here before it imports a module.
            raise AttributeError(name)
        raise AttributeError(f"module 'fairwave' has no attribute {name!r}{_meant(name)}")
    found = getattr(import_module(f"fairwave.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
