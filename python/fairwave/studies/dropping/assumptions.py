"""What paper 004 leaves open, how it is closed here, and in which sensitivity table it is varied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.studies.dropping import points as p
from fairwave.studies.dropping import quantities as q
from fairwave.study.study import Assumption, Calibration

if TYPE_CHECKING:
    from fairwave.study.study import Data

ASSUMPTIONS = [
    Assumption(
        "rate",
        "The dumbbell's bottleneck has L1's 3.5 Mb/s; every other link 10 Mb/s.",
        "Figure 2 is lost. CA7's ten calls are then 13 % of 1.5 times the bottleneck.",
    ),
    Assumption(
        "total",
        "All sources together offer 5.24 Mb/s while on, of which CA7's ten calls (682 kb/s) are 13 %; in S1 and "
        "S2 alike.",
        "No offered total is printed. That shares count sources while on is assumed.",
        "always-on, on-off",
    ),
    Assumption(
        "transfers",
        "A file transfer counts for a twentieth of the total, 262 kb/s, and takes what TCP gives it (Reno as in "
        "ns-2, 1460-byte "
        "segments).",
        "What share of the load a transfer is, is not said; TCP has no rate of its own.",
        "always-on, on-off",
    ),
    Assumption(
        "red",
        "RED is ns-2's: gentle, it counts bytes in packets of 500, max_p 0.1, weight as ns-2 computes it; "
        "min-threshold is a third of "
        "max-threshold, which is calibrated.",
        "The paper used ns-2 and prints no parameters.",
        "always-on",
    ),
    Assumption(
        "buffers",
        "Each queue holds what its link sends in 300 ms, counted in bytes.",
        "The paper prints none. RED at 83 ms needs more than a bandwidth-delay product, and what waits longer "
        "is of no use.",
        "always-on, on-off",
    ),
    Assumption(
        "avq",
        "AVQ has its authors' α 0.15 and γ 0.98, and adapts as ns-2's does, by what is admitted; its virtual "
        "buffer is the "
        "real one.",
        "As its authors' pseudo-code is printed, sources that do not yield drive the virtual capacity to nothing.",
        "on-off",
    ),
    Assumption(
        "rem",
        "REM has its authors' parameters and counts bytes in packets of 1000.",
        "Counting packets it would take a call's packets, a tenth of TCP's in size, for ten times the load.",
        "on-off",
    ),
    Assumption(
        "punsi",
        "PUNSI compares an arriving UDP packet with one drawn from the ten that joined the queue last, and "
        "drops both if they are "
        "of one flow (CHOKe's rule) or, in the other reading, if both are UDP; it has RED's thresholds.",
        "Its algorithm is not at hand, only its abstract and what paper 004 says of it.",
    ),
    Assumption(
        "periods",
        "On and off, voice lasts exactly 180 and 100 s, other UDP 300 and 200 s; sources begin on, within 15 s.",
        "§4.1: 'the ON period lasts 180 seconds'. With so few periods in 500 s the load goes through phases.",
        "on-off",
    ),
    Assumption(
        "delays",
        "In S2 applications have 39, 116, 192 and 269 ms one way (A; B1–B3; C; B4–B6), transfers the same range "
        "evenly.",
        "§4.1 gives the range, §4.4.2 that B4 to B6 are farthest.",
        "on-off",
    ),
    Assumption(
        "mix",
        "Calls are of applications A, B and C as 2 to 6 to 2 in every case.",
        "Said of CA7 only.",
    ),
    Assumption(
        "other-udp",
        "Other UDP comes from sources of 64 kb/s, packets of 1500 bytes at equal distances, that begin within a "
        "second in S1.",
        "§4.1 gives the packet size and that they are on and off.",
    ),
    Assumption(
        "routers",
        "In S3 R0, R1 and R2 feed L1; what crosses it and R3, R4 and R5 feed L2; all sinks are behind R6; every "
        "link delays by 10 ms; "
        "sources are dealt out to R0 to R5 in turn; the total is 1.5 times L2's rate.",
        "Figure 3 is lost, and the distribution of sources is that of a reference.",
    ),
    Assumption(
        "unresponsive",
        "Of the 66 % of unresponsive UDP in Figure 7b half is voice.",
        "The text does not divide them.",
    ),
    Assumption(
        "e-model",
        "Eq. (1) is taken with the natural logarithm, for the mean delay and total loss of all voice of a run.",
        "The paper writes 'log'; its source (Cole & Rosenbluth) has the natural one.",
    ),
    Assumption(
        "speech",
        "Calls of CA7 read connected digits, one voice, three sentences per call and replication, played 300 ms "
        "after they were "
        "spoken.",
        "Aurora 2 is not free; see the table of what was spoken.",
    ),
]


def _found(data: Data) -> str:
    measured = data.measured(q.QUEUEING, p.ALWAYS_ON)
    if "CA1" not in measured.labels("case"):
        return "not simulated for this figure"
    wait = measured.interval(case="CA1", queue="RED", victim=p.TAIL)
    return f"{wait} ms of queueing delay"


CALIBRATIONS = [
    Calibration(
        "mean queueing delay of voice in CA1 under RED with Drop-Tail",
        "83 ms",
        "paper 004, Table 5",
        f"RED's max-threshold, {p.CALIBRATED:g} packets of {p.MEAN_PACKET} bytes, and min-threshold, a third of "
        f"it; the offered total is "
        "5.24 Mb/s by CA7's ten calls",
        _found,
        (p.ALWAYS_ON,),
    )
]
"""The only one: every other number is a prediction."""
