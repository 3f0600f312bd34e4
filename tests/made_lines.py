"""Synthetic lines, and synthetic files of irtt, for tests."""

import gzip
import json

import numpy as np

from fairwave.linecheck.line import Line, Load, Probes, Span, arrival_places


def made_line(raised=None, trip=0.03, phases=("idle", "down", "up"), loads=None):
    """A line with delays by phase and direction; none elsewhere."""
    raised = raised or {}
    spans = [Span(name, 10.0 * index, 10.0 * index + 10) for index, name in enumerate(phases)]
    at = np.arange(0, 10.0 * len(phases), 0.02)
    probes = {}
    for direction in ("up", "down"):
        delay = np.zeros(len(at))
        for span in spans:
            chosen = (at >= span.from_s) & (at < span.to_s)
            delay[chosen] = np.resize(raised.get((span.name, direction), 0.0), chosen.sum())
        probes[direction] = Probes(at, delay, arrival_places(at + delay))
    return Line("made", 0.02, 200, spans, probes, at, np.full(len(at), trip), loads or {})


def load(span, rate, again=0.0):
    at = np.arange(span[0], span[1], 0.01)
    return Load(at, np.full(len(at), rate / 800), 0.01, 1448, again, 4, ("cubic",))


def trip(number, *, lost="false", up=10e6, down=12e6, wall=True):
    """A round trip in irtt's documented format; nanoseconds, with other zeros at the server."""
    sent = 1_000_000_000 + number * 20_000_000
    there, left = sent + int(up), sent + int(up) + 50_000
    stamps = {
        "client": {"receive": {"monotonic": left + int(down)}, "send": {"monotonic": sent}},
        "server": {
            "receive": {"monotonic": there + 777_000_000_000},
            "send": {"monotonic": left + 777_000_000_000},
        },
    }
    if wall:
        for end in stamps.values():
            for one in end.values():
                one["wall"] = one["monotonic"] + 1_528_621_979_000_000_000
    if lost != "false":
        stamps["client"]["receive"] = {}
        stamps["server"] = {"receive": {}, "send": {}}
    return {"seqno": number, "lost": lost, "timestamps": stamps, "delay": {}, "ipdv": {}}


def irtt_file(folder, trips, interval=20_000_000, name="line.json"):
    found = {
        "version": {"irtt": "0.9.1"},
        "config": {"params": {"interval": interval, "length": 172, "stamp_at": "both", "clock": "both"}},
        "stats": {"packets_sent": len(trips)},
        "round_trips": trips,
    }
    text = json.dumps(found).encode()
    file = folder / name
    file.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    return file
