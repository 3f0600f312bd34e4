"""Figures: each case as rate and delay, by controller and queue."""

from __future__ import annotations

from fairwave_studies.conference import points as p
from fairwave_studies.conference import quantities as q
from fairwave_study.parts import Figure


def _figure(case: str, title: str, caption: str) -> Figure:
    panels = (q.rate(case), q.QUEUEING, q.audio(case), q.video(case))
    return Figure(
        case, f"§{p.SECTIONS[case]}: {title}", case, panels, "controller", "queue", "rate controller", kind="bar",
        caption=caption,
    )  # fmt: skip


FIGURES = (
    _figure(
        p.VARIABLE, "a capacity that changes", "1, 2.5, 0.6 and 1 Mb/s from 0, 40, 60 and 80 s. One session."
    ),
    _figure(p.SEVERAL, "two sessions", "4, 2, 3.5, 1 and 2 Mb/s from 0, 25, 50, 75 and 100 s."),
    _figure(p.FEEDBACK, "a congested way back", "A session each way; the way back has 2, 0.8 and 2 Mb/s."),
    _figure(p.COMPETING, "three sessions", "3.5 Mb/s. The sessions begin after 0, 20 and 40 s."),
    _figure(p.ROUND_TRIPS, "five round trips", "4 Mb/s. One-way delays of 10, 25, 50, 100 and 150 ms."),
    _figure(p.TCP, "beside a long TCP flow", "2 Mb/s, a queue of 300 ms, Reno."),
    _figure(p.TCP_DEEP, "beside a long TCP flow, deep queue", "2 Mb/s, a queue of 1000 ms, Reno."),
    _figure(p.WEB, "beside short TCP flows", "2 Mb/s. Two sessions and ten short TCP flows."),
    _figure(p.PAUSE, "a session pauses", "3.5 Mb/s. One of three sessions pauses from 40 to 60 s."),
    _figure(p.PRIORITY, "two priorities", "2 Mb/s. Two videos of one session, with priorities 2 and 1."),
    _figure(p.ECN, "queues that mark", "As §5.1, with marks for controllers that understand them."),
    _figure(
        p.BOTTLENECKS, "two bottlenecks", "2 and 1.5 Mb/s. One session crosses both, two cross one each."
    ),
)
"""In the order of the RFC."""
