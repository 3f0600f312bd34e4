"""Figures: queues by place, on both networks and with failures."""

from __future__ import annotations

from fairwave_studies.network import points as p
from fairwave_studies.network import quantities as q
from fairwave_study.parts import Figure

FIGURES = (
    Figure(
        p.GERMANY, "Queues in Germany", p.GERMANY, q.shown(), "queues", None, "queue, and where it is", kind="bar",
        caption="150 pairs of 50 nodes. Where the label names no place, the queue is on all links.",
    ),
    Figure(
        p.GEANT, "Queues in GÉANT", p.GEANT, q.shown(), "queues", None, "queue, and where it is", kind="bar",
        caption="150 pairs of 37 nodes.",
    ),
    Figure(
        p.GERMANY_FAILS, "Germany with a failure", p.GERMANY_FAILS, q.shown(), "failed", "queues", "link that fails",
        kind="bar", caption="The five most loaded links fail in turn.",
    ),
    Figure(
        p.GEANT_FAILS, "GÉANT with a failure", p.GEANT_FAILS, q.shown(), "failed", "queues", "link that fails",
        kind="bar", caption="The five most loaded links fail in turn.",
    ),
)  # fmt: skip
"""In the order of the page."""
