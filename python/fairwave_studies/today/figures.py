"""Figures: calls and transfers by queue and rival, carriers of a call, carriers of a video, γ among CUBIC."""

from __future__ import annotations

from fairwave.measuring import measures
from fairwave_studies.today import points as p
from fairwave_studies.today.claims import MOS, SEEN, SMOOTH, TRANSFERS
from fairwave_study.parts import Figure

WAIT = measures.link("mean_wait_s", "r1>r2", "mean wait in the queue", "ms", 1e3)

FIGURES = (
    Figure(
        "calls",
        "Calls beside what is deployed",
        p.QUEUES,
        (MOS, TRANSFERS, WAIT),
        "queue",
        "rival",
        "queue",
        fix={"rival": list(p.DEPLOYED)},
        kind="bar",
        caption="Four calls over UDP, four transfers, a video. Better is a higher MOS and a higher goodput.",
    ),
    Figure(
        "others",
        "What transfers leave to calls",
        p.QUEUES,
        (MOS, TRANSFERS, WAIT),
        "rival",
        None,
        "transport of the transfers",
        fix={"queue": p.TAIL},
        kind="bar",
        caption="Drop-tail; all transfers use the same transport.",
    ),
    Figure(
        "carriers",
        "What carries a call",
        p.CARRIERS,
        (MOS, measures.goodput("transfer")),
        "carrier",
        "queue",
        "transport of the calls",
        fix={"rival": "tcp/cubic"},
        kind="bar",
        caption="Beside CUBIC.",
    ),
    Figure(
        "video",
        "What carries a video",
        p.VIDEO,
        (SEEN, measures.goodput("video")),
        "carrier",
        "queue",
        "transport of the video",
        fix={"rival": "tcp/cubic"},
        kind="bar",
        caption="Beside CUBIC: frames of which at least the base layer can be decoded when they are shown.",
    ),
    Figure(
        "among",
        "The papers' transports among CUBIC",
        p.AMONG,
        (SMOOTH, TRANSFERS),
        "smooth",
        "queue",
        "transport of the other two",
        kind="bar",
        caption="Two transfers over CUBIC, two over what the papers propose.",
    ),
)
"""In the order of the page."""
