"""What paper 003 leaves open or says in two ways, how it is closed here, and which factor of the readings varies it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairwave_studies.smoothness import names as n
from fairwave_studies.smoothness import points as p
from fairwave_studies.smoothness.claims import PUBLISHED, calibrated, level_of
from fairwave_studies.smoothness.names import RENO
from fairwave_study.study import Assumption, Calibration

if TYPE_CHECKING:
    from fairwave_study.readings import Reading
    from fairwave_study.study import Data

ASSUMPTIONS = [
    Assumption(
        "version",
        "Timers, windows, first decreases and rounding are those of ns-2 in January 2004 (least timeout 1 "
        "s, ticks of 10 ms, initial window 2). In ns-2 the first decrease, one out of slow start and one "
        "by timeout go to a half whatever β is.",
        "The paper used ns-2, names no version or setting, and was received in January 2004.",
        "version",
    ),
    Assumption(
        "round-trip",
        "The round trip without queueing is 100 ms: 30 ms between the routers and 10 ms on each access "
        "link, one way.",
        "Figure 1 is lost. 100 ms is the only round trip that the paper names (Observation 1); ten windows "
        "of 64 kB do not fill 100 Mb/s and twenty do (Figure 3), so it lies between 52 and 105 ms.",
        "round-trip, hops",
    ),
    Assumption(
        "buffers",
        "Every buffer, at hosts too, holds one product of its link's rate and the round trip, in packets "
        "of 1000 bytes; with spread round trips, of 30 ms.",
        "§II: 'set to the delay-bandwidth product'; §III: of the smallest round trip where they differ.",
        "buffers, buffer-unit",
    ),
    Assumption(
        "recovery",
        "All TCPs recover from losses as Reno does: one decrease per loss found, a stall on several.",
        "The paper calls TCP(1, 0.5) the standard TCP and, in §IV, Reno.",
        "recovery",
    ),
    Assumption(
        "acknowledgements",
        "Every segment is acknowledged.",
        "The paper does not give b of Eq. (1).",
        "acknowledgements",
    ),
    Assumption(
        "window",
        "Segments of 1000 bytes with 40 of headers, windows of at most 64 segments, and a first slow start "
        "up to there.",
        "The paper argues with 64 kB and gives no segment size; 1000 bytes are ns-2's default.",
        "headers, window",
    ),
    Assumption(
        "starts",
        "Flows begin within 100 ms.",
        "Figures 7 and 8 have N flows from t = 0; else it is not stated.",
        "starts",
    ),
    Assumption(
        "joining",
        "Where the number of flows changes, they begin within 100 ms of the change, and those that leave "
        "stop at once.",
        "§III gives the numbers alone.",
        "joining",
    ),
    Assumption(
        "phase",
        "Where there are several flows, every sending is delayed by a random time of up to a packet's at "
        "the bottleneck.",
        "Without it (ns-2's default) like flows move in step, an artefact of simulation that Floyd and "
        "Jacobson (1992) describe; one packet time is what they recommend against it.",
        "sending",
    ),
    Assumption(
        "clock",
        "TCP's clock ticks every 10 ms.",
        "ns-2's default when the paper was handed in; the paper says no more than that γ takes fine-grained times.",
        "clock",
    ),
    Assumption(
        "measured",
        "Goodput, overhead and long-term fairness are taken once flows have settled: from 15 s on, or from 5 s on in "
        "short runs.",
        "§II divides by connection time and measures often from 15 s on.",
        "measured",
    ),
    Assumption(
        "length",
        "Runs take 60 s at 10 Mb/s, 30 s at 100 Mb/s (20 s with packet errors or applications that read), "
        "40 s where smoothness is measured from 15 s on.",
        "Not stated but for Figures 7 and 8 (30 s). No factor: what starting up does to a mean is one (measured), and "
        "the exploration takes shorter runs as it is.",
    ),
    Assumption(
        "errors",
        "Packet errors strike data on its way to the sinks; acknowledgements come back unharmed.",
        "§II inserts ns-2's error models 'into the access links at the sink nodes'; ns-2 attaches one to "
        "one direction.",
        "errors",
    ),
    Assumption(
        "bursts",
        f"The two-state Markov model loses everything in its bad state, which lasts {p.BURST_MS} ms "
        f"on average: two or three "
        "packets of a flow that has 1 Mb/s.",
        "§II names the model and no parameter.",
        "bursts",
    ),
    Assumption(
        "wireless",
        "With 100 flows the wireless links have 10 Mb/s; 100 Mb/s are shown beside it.",
        "The captions of Figures 10 and 12, which belong to the same simulations, differ; Figure 15's has 10.",
        "wireless",
    ),
    Assumption(
        "rate-of-7",
        "Figure 7's bottleneck has 10 Mb/s as its caption says; the text's 100 Mb/s are shown beside it.",
        "Text and caption differ; at 100 Mb/s twelve windows of 64 kB meet no loss, so that α and β have "
        "nothing to act on.",
        "rate-of-7",
    ),
    Assumption(
        "bin",
        "Allotted goodput and fairness, short-term fairness and CoV are taken over 500 ms.",
        "§II: 'usually at a time scale of several RTTs'.",
        "bin",
    ),
    Assumption(
        "application",
        "The application writes 1000 bytes every 8 ms into a TCP whose buffer never ends, and first reads "
        "one second after it began.",
        "§II gives rate, playback buffer and formula.",
        "success, application",
    ),
    Assumption(
        "handoff",
        "Interruptions begin 5 s after the one before ended and are exponential, 500 ms or 1 s on average.",
        "The text on Figures 13 and 14; by §II connected times are exponential as well.",
        "handoffs",
    ),
    Assumption(
        "red",
        "RED is that of 1993 (largest probability 0.02, weight 0.002, not gentle, no wait), its thresholds "
        "a sixth and a half of the buffer.",
        "The paper cites Floyd and Jacobson 1993 and states no parameter.",
        "red, red-thresholds",
    ),
    Assumption(
        "gamma",
        "'After one RTT' is the round trip at detection; nothing is detected again before a segment sent "
        "after the decrease is acknowledged.",
        "§IV says no more than the equations.",
        "gamma",
    ),
    Assumption(
        "extremes",
        "A flow's extremes of the round trip are those of its whole life.",
        "§IV: 'the minimum RTT and the maximum RTT perceived'. No factor: the words set no period after which either "
        "would be forgotten.",
    ),
    Assumption("tfrc", "TFRC is ns-2's.", "The paper used ns-2.", "tfrc"),
    Assumption(
        "recovered",
        "A flow has recovered when a bin of 500 ms reaches 90 % of its goodput before the blackout.",
        "The paper says 'fully recover' and plots no threshold.",
        "recovered",
    ),
    Assumption(
        "path-of-20",
        "Figure 20's path has the round trip on which Reno takes 19 s.",
        "The paper prints the time and not the path.",
        "figure-20",
    ),
    Assumption(
        "window-of-20",
        f"Figure 20's windows may grow to {p.RECOVERY_PRODUCTS:g} bandwidth-delay products, which path and buffer hold "
        "without loss.",
        "With 64 segments nothing recovers to the full speed of a path on which Reno takes 19 s. No factor: less does "
        "not fill the path, and more overflows its buffer before the blackout; the path itself is one (figure-20).",
    ),
]


def _found(data: Data, *, full: float) -> str:
    levels = ", ".join(
        f"{calibrated(data, level):.0f} ms at {100 * level:g} %" for level in p.LEVELS if level != full
    )
    return (
        f"{calibrated(data, full):.0f} ms of round trip give {RENO} {PUBLISHED[RENO]:g} s to "
        f"{100 * full:g} % of full speed "
        f"(other levels: {levels})"
    )


def calibrations(reading: Reading) -> list[Calibration]:
    """What is set so that a published number comes out; every other number is a prediction."""
    if reading["figure-20"] != "calibrated":
        return []
    return [
        Calibration(
            "Reno's recovery time after a blackout of 1 s",
            f"{PUBLISHED[RENO]:g} s",
            "paper 003, Figure 20",
            "round trip of Figure 20 only; between the simulated ones it is interpolated",
            partial(_found, full=level_of(reading)),
            (n.RECOVERY,),
        )
    ]
