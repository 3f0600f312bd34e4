"""What paper 003 leaves open or says in two ways, how it is closed here, and where it is varied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.studies.smoothness import points as p
from fairwave.studies.smoothness.claims import FULL, PUBLISHED, calibrated
from fairwave.studies.smoothness.systems import RENO
from fairwave.study.study import Assumption, Calibration

if TYPE_CHECKING:
    from fairwave.study.study import Data

WIRED, CROWDED = "wired-settings", "crowded-settings"
APPLICATIONS, LOAD, LOSSY, MANY, FAR, SMOOTH = (
    "application-settings",
    "load-settings",
    "error-settings",
    "error-application-settings",
    "spread-settings",
    "smooth-settings",
)

ASSUMPTIONS = [
    Assumption(
        "round-trip",
        "The round trip without queueing is 80 ms: 20 ms between the routers and 10 ms on each access link, one way.",
        "Figure 1 is lost. Ten windows of 64 kB do not fill 100 Mb/s and twenty do (Figure 3), so it lies "
        "between 52 and 105 ms.",
        f"{WIRED}, {CROWDED}, {SMOOTH}",
    ),
    Assumption(
        "buffers",
        "Every buffer, at hosts too, holds one product of its link's rate and 80 ms, in packets of 1000 "
        "bytes; with spread round trips, of 30 ms.",
        "§II: 'set to the delay-bandwidth product'; §III: of the smallest round trip where they differ.",
        f"{WIRED}, {CROWDED}",
    ),
    Assumption(
        "recovery",
        "All TCPs recover from losses as Reno does: one decrease per loss found, a stall on several.",
        "The paper calls TCP(1, 0.5) the standard TCP and, in §IV, Reno. It counts on windows that several "
        "drops decrease several times.",
        f"{WIRED}, {CROWDED}, {APPLICATIONS}, {LOAD}, {LOSSY}, {MANY}, {FAR}, {SMOOTH}",
    ),
    Assumption(
        "timers",
        "Timers, windows and first decreases are those of ns-2.35 (least timeout 200 ms, ticks of 10 ms, "
        "initial window 2, no delayed "
        "acknowledgements). In ns-2 the first decrease, one out of slow start and one by timeout go to a "
        "half whatever β is.",
        "The paper used ns-2 and names no version or setting.",
        f"{WIRED}, {CROWDED}, {APPLICATIONS}, {LOAD}, {LOSSY}, {MANY}, {FAR}, {SMOOTH}",
    ),
    Assumption(
        "window",
        "Segments of 1000 bytes with 40 of headers, windows of at most 64 segments, and a first slow start "
        "up to there.",
        "The paper argues with 64 kB and gives no segment size.",
    ),
    Assumption(
        "starts",
        "Flows begin uniformly at random in the first second; where their number changes, within 100 ms of the change.",
        "Not stated.",
        f"{WIRED}, {LOAD}, {SMOOTH}",
    ),
    Assumption(
        "phase",
        "Where there are several flows, every sending is delayed by a random time of up to a packet's at the "
        "bottleneck.",
        "Without it (ns-2's default) like flows move in step, and drop-tail shuts some of them out for good, "
        "so that Jain's index is about a half "
        "even over a whole run; §IV says that by that index 'all protocols achieve high level of fairness'. "
        "One packet time is what Floyd and "
        "Jacobson (1992) recommend against it.",
        f"{WIRED}, {CROWDED}, {APPLICATIONS}, {LOAD}, {LOSSY}, {MANY}, {FAR}, {SMOOTH}",
    ),
    Assumption(
        "length",
        "Runs take 60 s at 10 Mb/s, 30 s at 100 Mb/s (20 s with packet errors or applications that read), 40 "
        "s where smoothness is measured from 15 s on.",
        "Not stated. A minute at 100 Mb/s costs a third of a CPU second per run, so the length is what keeps "
        "the study within minutes.",
        f"{WIRED}, {CROWDED}",
    ),
    Assumption(
        "errors",
        "Packet errors strike data on its way to the sinks; acknowledgements come back unharmed.",
        "§II inserts ns-2's error models 'into the access links at the sink nodes'; ns-2 attaches one to one "
        "direction.",
        f"{LOSSY}, {MANY}",
    ),
    Assumption(
        "wireless",
        "With 100 flows the wireless links have 100 Mb/s by one reading and 10 Mb/s by the other; both are "
        "shown, and claims need both.",
        "The captions of Figures 10 and 12, which belong to the same simulations, differ.",
    ),
    Assumption(
        "rate-of-7",
        "Figure 7's bottleneck has 100 Mb/s as the text says, and the claim's other reading is the caption's 10 Mb/s.",
        "Text and caption differ. At 10 Mb/s 100 flows have one packet each in the path's delay-bandwidth product.",
    ),
    Assumption(
        "bin",
        "Allotted goodput and fairness are taken over 1 s where flows come and go, and over 500 ms for "
        "short-term fairness and CoV.",
        "§II: 'usually at a time scale of several RTTs'.",
        SMOOTH,
    ),
    Assumption(
        "application",
        "The application writes 1000 bytes every 8 ms into a TCP whose buffer never ends, and first reads "
        "one second after it began.",
        "§II gives rate, playback buffer and formula. A buffer of one read holds nothing over, so formula "
        "and prose come to the same.",
        APPLICATIONS,
    ),
    Assumption(
        "handoff",
        "Connected and interrupted times are exponential, 5 s and 500 ms or 1 s on average.",
        "§II says both are; Figure 13's prose has an interruption every 5 s.",
    ),
    Assumption(
        "red",
        "RED's thresholds are a sixth and a half of the buffer, its largest probability 0.1, its weight 0.002, gentle.",
        "Not stated; thresholds 1 : 3 and the other values are those of RED's authors.",
        f"{FAR}, {SMOOTH}",
    ),
    Assumption(
        "gamma",
        "A flow's extremes of the round trip are those of its whole life, and 'after one RTT' is the round "
        "trip at detection; nothing is "
        "detected again before a segment sent after the decrease is acknowledged.",
        "§IV says no more than the equations.",
    ),
    Assumption(
        "recovered",
        f"A flow has recovered when a bin of 500 ms reaches {100 * FULL:g} % of its goodput before the blackout.",
        "The paper says 'fully recover' and plots no threshold. Other levels are readings of S15, each with "
        "a calibration of its own.",
    ),
    Assumption(
        "window-of-20",
        f"Figure 20's windows may grow to {p.RECOVERY_WINDOW} segments, which path and buffer hold without loss.",
        "10 Mb/s and the round trip that gives 19 s hold 160 segments; with 64 nothing recovers to full speed.",
    ),
]


def _found(data: Data) -> str:
    levels = ", ".join(
        f"{calibrated(data, level):.0f} ms at {100 * level:g} %" for level in p.LEVELS if level != FULL
    )
    return (
        f"{calibrated(data):.0f} ms of round trip give {RENO} {PUBLISHED[RENO]:g} s to {100 * FULL:g} % of full speed "
        f"(other levels: {levels})"
    )


CALIBRATIONS = [
    Calibration(
        "Reno's recovery time after a blackout of 1 s",
        f"{PUBLISHED[RENO]:g} s",
        "paper 003, Figure 20",
        "round trip of Figure 20 only; between the simulated ones it is interpolated",
        _found,
        (p.RECOVERY,),
    )
]
"""The only one: every other number is a prediction."""
