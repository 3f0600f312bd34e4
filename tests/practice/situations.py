"""Every situation, in the order of the page."""

from __future__ import annotations

from practice import (
    alike,
    arriving,
    classes,
    commands,
    defaults,
    fates,
    finish,
    losses,
    marks,
    measures,
    messages,
    opus,
    phases,
    pictures,
    queues,
    rating,
    repairs,
    sessions,
    sharing,
    sources,
    switch,
    tcp,
    verdicts,
    video,
    voice,
    waiting,
    wires,
)
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
    "wire": ("Bytes on the wire", wires),
    "wait": ("Waiting by the book", waiting),
    "arrive": ("Calls and files that come and go", arriving),
    "finish": ("How long a file takes", finish),
    "share": ("Who gets what", sharing),
    "switch": ("A switch that marks", switch),
    "repair": ("Losses repaired, and what looks like one", repairs),
    "class": ("Classes, token buckets and routes", classes),
    "phase": ("Sources out of step", phases),
    "source": ("Sources and codecs", sources),
    "session": ("Calls over WebRTC", sessions),
    "picture": ("What pictures show", pictures),
    "alike": ("Differences that count", alike),
    "fate": ("What became of packets", fates),
    "command": ("What commands answer, and how they end", commands),
    "opus": ("Opus", opus),
    "message": ("Inputs that fairwave cannot use", messages),
    "default": ("Defaults", defaults),
    "verdict": ("Verdicts", verdicts),
}
"""First part of a key to the area's title and module."""


def situations() -> list[Situation]:
    """All of them, area by area."""
    return [one for _, area in AREAS.values() for one in area.situations()]
