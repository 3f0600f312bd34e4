"""Every situation, in the order of the page."""

from __future__ import annotations

from practice import losses, marks, measures, queues, rating, tcp, video, voice
from practice.situation import Situation

AREAS = {
    "voice": ("Calls on a wire", voice),
    "rating": ("What a call is worth", rating),
    "video": ("Video", video),
    "tcp": ("TCP and TFRC", tcp),
    "queue": ("Paths and queues", queues),
    "marks": ("Marks", marks),
    "loss": ("Links that lose", losses),
    "measure": ("Measures", measures),
}
"""First part of a key to the area's title and module."""


def situations() -> list[Situation]:
    """All of them, area by area."""
    return [one for _, area in AREAS.values() for one in area.situations()]
