"""Figures: queues by place, on both networks and with failures."""

from __future__ import annotations

from fairwave_studies.network import points as p
from fairwave_studies.network import quantities as q
from fairwave_study.parts import Figure

NODES = {
    p.GERMANY: "150 pairs of 50 nodes. Where the label names no place, the queue is on all links.",
    p.GEANT: "150 pairs of 37 nodes.",
}

FIGURES = (
    *(
        Figure(
            grid, f"Queues in {name}", grid, q.list_measures(), "queues", None, "queue, and where it is", kind="bar",
            caption=NODES[grid],
        )
        for grid, name in ((p.GERMANY, "Germany"), (p.GEANT, "GÉANT"))
    ),
    *(
        Figure(
            grid, f"{name} with a failure", grid, q.list_measures(), "failed", "queues", "link that fails", kind="bar",
            caption="The five most loaded links fail in turn.",
        )
        for grid, name in ((p.GERMANY_FAILS, "Germany"), (p.GEANT_FAILS, "GÉANT"))
    ),
)  # fmt: skip
"""In the order of the page."""
