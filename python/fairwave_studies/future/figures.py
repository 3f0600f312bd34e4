"""Figures: carriers of a call, streams with γ, DVRC's variants, queues."""

from __future__ import annotations

from fairwave_studies.future import points as p
from fairwave_studies.future.claims import (
    CALL_MOS,
    MOS,
    OTHER,
    PICTURE,
    RETURN,
    SEEN,
    STREAM,
    STREAM_LOSS,
    TIMELY,
    TRANSFERS,
    WAIT,
)
from fairwave_study.parts import Figure

FIGURES = (
    Figure(
        "calls",
        "Carriers of a contested call",
        p.CALLS,
        (CALL_MOS, TIMELY, TRANSFERS),
        "carrier",
        "flows",
        "transport of the calls",
        kind="bar",
        caption="20 or 80 calls and 20 transfers over Reno. Better is higher in each panel.",
    ),
    Figure(
        "streams",
        "γ for unreliable streams",
        p.STREAMS,
        (WAIT, STREAM_LOSS, STREAM, TRANSFERS),
        "carrier",
        "line",
        "transport of the streams",
        kind="bar",
        caption="Five streams, alone or with five transfers over Reno.",
    ),
    Figure(
        "video",
        "DVRC unchanged, as a profile, and with layers that are cut anywhere",
        p.VIDEO,
        (PICTURE, SEEN, TRANSFERS, RETURN),
        "carrier",
        "ftp",
        "variant of DVRC",
        kind="bar",
        caption="One video and one or three transfers over Reno at 1 Mb/s.",
    ),
    Figure(
        "queues",
        "Queues that share by flow, next to Drop-Sel",
        p.QUEUES,
        (MOS, TRANSFERS, OTHER, WAIT),
        "queue",
        "case",
        "queue",
        kind="bar",
        caption="Paper 004, S1. In CA1 other UDP dominates, in CA2 voice, in CA3 and CA4 TCP.",
    ),
)
"""In the order of the page."""
