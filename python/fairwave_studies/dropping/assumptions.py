"""What paper 004 leaves open, how it is closed here, and which factor of `readings` varies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave_studies.dropping import points as p
from fairwave_studies.dropping import published
from fairwave_studies.dropping import quantities as q
from fairwave_study.study import Assumption, Calibration

if TYPE_CHECKING:
    from fairwave_study.readings import Reading
    from fairwave_study.study import Data

ASSUMPTIONS = [
    Assumption(
        "rate",
        "The dumbbell's bottleneck has L1's 3.5 Mb/s; every other link 10 Mb/s.",
        "Figure 2 is lost. S3's first scarce link is the only one of the paper with a rate that one router "
        "serves alone.",
    ),
    Assumption(
        "total",
        "In S1 all sources offer 1.24 times the bottleneck. In S2 CA7's ten calls are 13 % of the mean load "
        "over a run. In S3 the half of the sources that is behind L1 offers 1.24 times its rate in the mean.",
        "No offered total is printed. §4.2 and §4.4.2 print what these are reckoned from.",
        "load-s1, load-s2, load-s3",
    ),
    Assumption(
        "transfers",
        "A file transfer counts for 262 kb/s while it is on and takes what TCP gives it (Reno as in ns-2, "
        "1460-byte "
        "segments, a window of 20, a clock of 10 ms, every segment acknowledged).",
        "What share of the load a transfer is, is not said; TCP has no rate of its own, and the paper names none of "
        "its details.",
        "transfer, tcp, clock, acknowledgements, window",
    ),
    Assumption(
        "red",
        "RED is that of Floyd & Jacobson 1993 in ns-2: max_p 1/50, weight 0.002, not gentle, no wait; it "
        "counts bytes in "
        "packets of 500; min-threshold is a third of max-threshold, which is calibrated; its victim rule is asked "
        "for every drop.",
        "§2 names its source; the paper prints no parameters. §3 asks the rule whenever something is dropped.",
        "red, red-unit, thresholds, victim-drops",
    ),
    Assumption(
        "buffers",
        "Each queue holds what its link sends in 300 ms, counted in bytes; AVQ's holds 30 ms.",
        "The paper prints none. RED at 83 ms needs more than a bandwidth-delay product, and what waits "
        "longer than 300 ms "
        "is of no use. For AVQ see there.",
        "buffer, avq-buffer, buffer-unit",
    ),
    Assumption(
        "avq",
        "AVQ has its authors' α 0.15 and γ 0.98, and adapts as ns-2's does, by what is admitted; its queues, "
        "real and "
        "virtual, hold 30 ms; where a victim goes instead of the arrival the virtual queue forgets both, as "
        "ns-2's does.",
        "Table 6 prints next to no late voice under AVQ, which leaves its queue no more than 31 ms: that row "
        "is no "
        "prediction. ns-2's queue/vq.cc drops from the front so.",
        "avq-buffer, avq-law",
    ),
    Assumption(
        "rem",
        "REM has its authors' parameters and counts bytes in packets of 500.",
        "Counting packets it would take a call's packets, a tenth of TCP's in size, for ten times the load; "
        "500 bytes is "
        "RED's mean in ns-2.",
        "rem",
    ),
    Assumption(
        "punsi",
        "PUNSI compares an arriving UDP packet with one drawn from the ten that joined the queue last, and "
        "drops both if "
        "both are UDP; it has RED's thresholds and max_p.",
        "Its algorithm is not at hand, only its abstract and what paper 004 says of it.",
        "punsi",
    ),
    Assumption(
        "periods",
        "On and off, voice lasts exactly 180 and 100 s, other UDP 300 and 200 s; sources begin on, within 15 "
        "s.",
        "§4.1: 'the ON period lasts 180 seconds'. With so few periods in 500 s the load goes through phases.",
        "periods",
    ),
    Assumption(
        "delays",
        "In S2 applications have 39, 116, 192 and 269 ms one way (A; B1–B3; C; B4–B6), transfers the same "
        "range evenly.",
        "§4.1 gives the range, §4.4.2 that B4 to B6 are farthest. Where A, B1 to B3 and C are, no number tells.",
        "tcp-delays",
    ),
    Assumption(
        "mix",
        "Calls are of applications A, B and C as 2 to 6 to 2 in every case.",
        "Said of CA7 only.",
        "mix",
    ),
    Assumption(
        "other-udp",
        "Other UDP comes from sources of 64 kb/s, packets of 1500 bytes at equal distances, that begin "
        "within a second in "
        "S1.",
        "§4.1 gives the packet size and that they are on and off. It has all of S1 begin at 0 s; how many "
        "sources there "
        "are, and thus how large a burst that would be for ever, it does not say.",
        "phases",
    ),
    Assumption(
        "senders",
        "Senders add no random time to packets.",
        "ns-2 adds none unless asked, and the paper does not speak of it.",
        "send-jitter",
    ),
    Assumption(
        "headers",
        "Packet sizes are those on the wire.",
        "Table 1 prints packet sizes that are G.711's and RTP's bytes.",
        "headers",
    ),
    Assumption(
        "routers",
        "In S3 R0, R1 and R2 feed L1; what crosses it and R3, R4 and R5 feed L2; the four sink nodes are "
        "behind R6; every "
        "link delays by 10 ms; sources are dealt out to R0 to R5 in turn.",
        "Figure 3 is lost, and the distribution of sources is that of a reference. How the routers hang together and "
        "where sources are is no factor: no other drawing can be reckoned from the text.",
        "hops",
    ),
    Assumption(
        "unresponsive",
        "Of the 66 % of unresponsive UDP in Figure 7b half is voice.",
        "The text does not divide them.",
        "unresponsive",
    ),
    Assumption(
        "e-model",
        "Eq. (1) is taken with the natural logarithm, for the mean delay and total loss of all voice of a "
        "run.",
        "The paper writes 'log'; its source (Cole & Rosenbluth) has the natural one.",
        "logarithm",
    ),
    Assumption(
        "speech",
        "Calls of CA7 read connected digits, one voice, several sentences per call and replication, played "
        "300 ms after "
        "they were spoken.",
        "Aurora 2 is not free; see the table of what was spoken.",
    ),
]


def _found(data: Data) -> str:
    measured = data.measured(q.QUEUEING, p.ALWAYS_ON)
    if "CA1" not in measured.labels("case"):
        return "not simulated for this figure"
    wait = measured.interval(case="CA1", queue="RED", victim=p.TAIL)
    return f"{wait} ms of queueing delay"


def calibrations(reading: Reading) -> list[Calibration]:
    """What was set so that a printed number comes out, under a reading."""
    chosen = p.thresholds(reading)
    return [
        Calibration(
            "mean queueing delay of voice in CA1 under RED with Drop-Tail",
            f"{published.QUEUEING_MS['CA1'][p.TAIL]:g} ms",
            "paper 004, Table 5",
            f"RED's max-threshold, {chosen['max-threshold']:g} packets of {p.MEAN_PACKET} bytes, and "
            f"min-threshold, "
            f"{reading['thresholds']} of it (python -m fairwave_studies.dropping.calibration)",
            _found,
            (p.ALWAYS_ON,),
        )
    ]
