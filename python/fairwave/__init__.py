"""Fairwave: will voice and video over this network be good?

A laboratory for real-time media over best-effort networks. Describe a network and its flows in a scenario, run it
packet by packet, and see what the receivers make of it:

    import fairwave

    call = fairwave.load("examples/contested-call.toml")
    results = fairwave.compare(call, {"flow.voice.transport": ["udp", "tcp/vegas"]}, n=10)
    print(results.measured("mos", "voice").summary())
"""

from fairwave._native import RunError, ScenarioError, names
from fairwave._native import version as __version__
from fairwave.provenance import MixedProvenanceWarning, Provenance
from fairwave.results import Results
from fairwave.scenario import Scenario, compare, load

__all__ = [
    "MixedProvenanceWarning",
    "Provenance",
    "Results",
    "RunError",
    "Scenario",
    "ScenarioError",
    "__version__",
    "compare",
    "load",
    "names",
]
