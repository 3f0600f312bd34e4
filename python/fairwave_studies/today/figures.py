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
        "Calls next to current transfers",
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
        "Calls next to transfers",
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
        caption="Next to CUBIC: frames with at least a decodable base layer at their display time.",
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
        caption="Two transfers over CUBIC, two over the papers' proposals.",
    ),
)
"""In the order of the page."""
