"""Figures: Wi-Fi at home, transports, the edge of a cell, handoffs, and losses by kind of link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairwave_studies.radio import points as p
from fairwave_studies.radio import quantities as q
from fairwave_study.parts import Figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairwave.measuring.measures import Measure


SIZE = (9.6, 4.4)
"""Inches: room for long labels, with one panel or two."""


def _bars(
    name: str, title: str, grid: str, measures: Sequence[Measure], x: str, series: str | None, x_label: str,
    caption: str, fix: Mapping[str, Any] | None = None,
) -> Figure:  # fmt: skip
    return Figure(
        name, title, grid, measures, x, series, x_label, fix=fix or {}, kind="bar", caption=caption, size=SIZE
    )


FIGURES = (
    _bars(
        "home", "Queues at the access point", p.HOME, (q.MOS, q.SEEN), "who", "queue", "who downloads",
        "Two calls and a video over UDP, all best effort.", {"category": p.PLAIN},
    ),
    _bars(
        "categories", "Access categories in a FIFO", p.HOME, (q.MOS, q.SEEN), "who", "category", "who downloads",
        "Marked: calls in the voice category, the video in the video category.", {"queue": p.FIFO},
    ),
    _bars(
        "wifi-calls", "Carriers of calls next to a slow laptop", p.WIFI_CALLS, (q.MOS,), "carrier", "queue",
        "transport of the calls", "The laptop downloads over CUBIC.",
    ),
    _bars(
        "wifi-video", "Carriers of a video next to a slow laptop", p.WIFI_VIDEO, (q.SEEN, q.LAYERS), "carrier",
        "queue", "transport of the video", "The laptop downloads over CUBIC.",
    ),
    _bars(
        "edge", "Queues at the edge of a cell", p.EDGE, (q.MOS, q.SEEN), "queue", "update",
        "queue of the phone at the base station", "Next to an update on the same phone, or none.",
    ),
    _bars(
        "edge-video", "Carriers of a video at the edge of a cell", p.EDGE_VIDEO, (q.SEEN, q.LAYERS), "carrier",
        "queue", "transport of the video", "Next to an update over CUBIC on the same phone.",
    ),
    _bars(
        "handoff", "Handoffs every five seconds", p.HANDOFF, (q.MOS, q.SEEN), "handoff", "carrier", "handoff",
        "Calls over UDP; the video over each transport.",
    ),
    _bars(
        "handoff-transfer", "A transfer through handoffs", p.HANDOFF_TRANSFER, (q.GOODPUT,), "transport",
        "handoff", "transport", "Alone in the cell.",
    ),
    _bars(
        "losses", "Losses of 3 % on Wi-Fi and on wires", p.WIFI_LOSS, (q.GOODPUT,), "transport", "link",
        "transport", "3 % of the frames or packets are lost before retransmission.", {"error": 0.03},
    ),
    _bars(
        "cell-losses", "Losses of 10 % of the blocks in a cell", p.CELL_LOSS, (q.GOODPUT,), "transport", "link",
        "transport", "10 % of the blocks fail before retransmission.", {"error": 0.1},
    ),
    _bars(
        "video-losses", "A video next to two transfers, with losses of 3 %", p.VIDEO_LOSS, (q.LAYERS,), "carrier",
        "link", "transport of the video", "3 % of the frames or packets are lost before retransmission.",
        {"error": 0.03},
    ),
)  # fmt: skip
"""In the order of the page."""
