"""Why the numbers of the scenario are what they are."""

from __future__ import annotations

from fairwave_study.study import Assumption

ASSUMPTIONS = (
    Assumption(
        "line",
        "20 Mb/s and 40 ms of round trip: an ordinary access line and a server in the same country.",
        "no paper; at 100 Mb/s calls are harmed less by everything",
    ),
    Assumption(
        "buffer",
        "Four bandwidth-delay products: 160 ms, as modems and routers without active queue management have them, and "
        "more.",
        "Gettys & Nichols 2011 measured up to seconds",
    ),
    Assumption(
        "calls", "Four calls of G.711 with voice activity detection, played out as WebRTC does (NetEQ).", ""
    ),
    Assumption(
        "video",
        "One video of 2 Mb/s in three layers, the base a quarter of it; what cannot be decoded when it is shown is "
        "not seen.",
        "paper 002 has five layers of 1 Mb/s together",
    ),
    Assumption("rivals", "Four transfers that always have something to send, all of one kind.", ""),
    Assumption(
        "hosts",
        "Every transport has the same initial window and timers, those of `rfc`, and acknowledges every segment; only "
        "the controllers differ. Sources begin at their flow's start.",
        "",
    ),
    Assumption(
        "marks",
        "Only Prague's packets can be marked, as it asks for it; others are dropped.",
        "ECN is negotiated by default for connections that come in, and asked for by few",
    ),
    Assumption(
        "classes",
        "Drop-Sel and Voice-Guard know voice from other UDP and from TCP, as paper 004 assumes; calls over TCP are "
        "voice, too.",
        "",
    ),
)
