"""Labels as people write them."""

from __future__ import annotations

from typing import Any


def spelled(label: Any) -> str:
    """A label as people write it: "tcp/vegas" is "Vegas", "udp" is "UDP"."""
    text = str(label)
    short = text.removeprefix("tcp/")
    known = {
        "udp": "UDP",
        "udp, redundant": "UDP, redundant",
        "real, partial": "TCP-Real, partial",
        "vegas": "Vegas",
        "westwood": "Westwood",
        "westwood+": "Westwood+",
        "real": "TCP-Real",
        "reno": "Reno",
        "newreno": "NewReno",
        "sack": "SACK",
        "tahoe": "Tahoe",
        "tfrc": "TFRC",
        "dvrc": "DVRC",
        "sqrt": "SQRT",
        "iiad": "IIAD",
        "rap": "RAP",
        "other-udp": "other UDP",
        "tcp": "TCP",
    }
    return known.get(short.lower(), text)
