"""What papers 000 and 001 assert, V1 to V39, in words of ours; the tests are in `contention` and `varying`."""

from __future__ import annotations

from typing import NamedTuple


class Assertion(NamedTuple):
    """What a paper asserts, where, and the assumptions on which the test may hang."""

    statement: str
    source: str
    assumptions: tuple[str, ...]


STATEMENTS: dict[str, Assertion] = {
    "V1": Assertion(
        "UDP's goodput is slightly higher than the TCPs': higher than each on the mean over the numbers of "
        "calls, and "
        "nowhere lower by more than 2 %.",
        "000 §5.1, Figure 2; 001 §IV.A, Figure 2",
        ("rates", "headers", "rate-reading"),
    ),
    "V2": Assertion(
        "At high contention Westwood's goodput is the lowest of the four.",
        "000 §5.1, Figure 2; 001 §IV.A, Figure 2",
        ("rates", "buffers", "timers"),
    ),
    "V3": Assertion(
        "At high contention Westwood loses most of the three TCPs.",
        "000 §5.1, Figure 6; 001 §IV.A, Figure 6",
        ("rates", "buffers", "sent"),
    ),
    "V4": Assertion(
        "With 80 and 120 calls Real and Vegas have a higher real-time index than UDP and Westwood, Real "
        "the highest.",
        "000 §5.1, Figure 3",
        ("timely", "buffers", "real"),
    ),
    "V5": Assertion(
        "The share of UDP's packets that come late rises steeply: with 80 calls (000: and 120) it is more "
        "than twice that with 40, and above 5 %.",
        "000 §5.1, Figure 5; 001 §IV.A, Figure 5",
        ("timely", "buffers", "rates"),
    ),
    "V6": Assertion(
        "Real is nowhere less fair than another by more than 0.01, and the fairest of the four at high "
        "contention.",
        "000 §5.1, Figure 4; 001 §IV.A, Figure 4",
        ("real", "entering"),
    ),
    "V7": Assertion(
        "Vegas's fairness is lower with 120 calls than with 80.",
        "000 §5.1, Figure 4",
        ("buffers", "rates"),
    ),
    "V8": Assertion(
        "UDP's loss is not excessive beside the TCPs': at no number of calls more than 5 points above any.",
        "000 §5.1, Figure 6",
        ("sent", "rates", "buffers"),
    ),
    "V9": Assertion(
        "Payloads of 500 bytes instead of 160 raise the goodput of Westwood, Real and UDP, but not that "
        "of Vegas (mean over numbers of calls).",
        "000 §5.2, Figures 7, 9, 11, 13",
        ("headers", "buffers"),
    ),
    "V10": Assertion(
        "Payloads of 500 bytes instead of 160 lower the real-time index of Vegas, Real and UDP (mean over "
        "numbers of calls).",
        "000 §5.2, Figures 8, 12, 14",
        ("timely", "headers", "buffers"),
    ),
    "V11": Assertion(
        "With 80 calls and more UDP leaves the least goodput to file transfers; beside UDP they keep less, "
        "the more calls there are; and Real mostly leaves the most (mean over numbers of calls).",
        "000 §5.3 and §6, Figures 15–16; 001 §IV.B, Figures 7–8",
        ("rates", "headers", "transfers"),
    ),
    "V12": Assertion(
        "Goodput and real-time index of every TCP fall with the packet error rate, with 80 calls by more "
        "than with 120.",
        "000 §5.4, Figures 17–20",
        ("timely", "rates", "errors"),
    ),
    "V13": Assertion(
        "With 80 calls Vegas and Westwood are less sensitive to packet errors than Real, whose goodput "
        "and index suffer at 0.03 to 0.05.",
        "000 §5.4, Figures 17–18",
        ("real", "timely", "timers"),
    ),
    "V14": Assertion(
        "UDP's goodput and real-time index are less sensitive to packet errors than those of every TCP.",
        "000 §5.4, Figures 17–20",
        ("timely", "errors"),
    ),
    "V15": Assertion(
        "Vegas and Real gain most from a longer threshold, and gain from 200 ms on; UDP gains least.",
        "000 §5.5, Figures 21–24; 001 §IV.C, Figures 9–12",
        ("timely", "buffers"),
    ),
    "V16": Assertion(
        "From 160 to 500 bytes of payload Westwood's goodput grows most of the four (mean over numbers of "
        "calls).",
        "000 §5.2, Figures 7, 9, 11, 13",
        ("headers", "buffers"),
    ),
    "V17": Assertion(
        "With packet errors of 0.03 and more Real stands better beside Vegas and Westwood, by its index, "
        "with 120 "
        "calls than with 80.",
        "000 §5.4, Figures 18 and 20",
        ("real", "timely", "timers"),
    ),
    "V18": Assertion(
        "With nothing beside the calls UDP is satisfactory at low contention only: its index exceeds 0.9 "
        "with up to 40 calls and not with "
        "80 and more.",
        "000 §6, Figure 3",
        ("timely", "rates", "buffers"),
    ),
    "V19": Assertion(
        "Beside 10 transfers Vegas trades fairness: with 60 calls and more it is less fair than Real.",
        "001 §IV.A, Figure 4",
        ("rates", "buffers"),
    ),
    "V20": Assertion(
        "Beside 10 transfers UDP loses less than every TCP (mean over numbers of calls).",
        "001 §IV.A, Figure 6",
        ("sent", "rates"),
    ),
    "V21": Assertion(
        "Westwood's goodput falls behind the others' as contention grows: from 40 calls to 120 (001: 80) it "
        "grows least.",
        "000 §5.1, Figure 2; 001 §IV.A, Figure 2",
        ("rates", "buffers", "recovery"),
    ),
    "V22": Assertion(
        "Vegas and especially Real reach remarkable goodputs: both more than Westwood, Real more than Vegas "
        "(mean over numbers of calls).",
        "000 §5.1, Figure 2; 001 §IV.A, Figure 2",
        ("rates", "buffers", "real", "headers"),
    ),
    "V23": Assertion(
        "Beside 10 transfers Real's real-time index is superior and Vegas's remarkable: both higher than "
        "those of UDP and Westwood, Real's the highest (mean over numbers of calls).",
        "001 §IV.A, Figure 3",
        ("timely", "sent", "buffers", "real"),
    ),
    "V24": Assertion(
        "Beside 10 transfers UDP does not satisfy: its index is below 0.9, and lower with 80 calls than with 40.",
        "001 §IV.A, Figure 3",
        ("timely", "rates", "buffers"),
    ),
    "V25": Assertion(
        "At high contention more of Westwood's packets come late than of Vegas's and Real's.",
        "000 §5.1, Figure 5; 001 §IV.A, Figure 5",
        ("timely", "sent", "timers", "clock"),
    ),
    "V26": Assertion(
        "With 80 and 120 calls UDP keeps R1 overflowed: packets wait longer, and more of them are dropped there, "
        "than under any TCP.",
        "000 §5.1",
        ("rates", "buffers", "headers"),
    ),
    "V27": Assertion(
        "Payloads of 500 bytes instead of 160 improve Westwood's real-time index, though not noticeably: by "
        "no more than 0.05 (mean over numbers of calls).",
        "000 §5.2, Figure 10",
        ("timely", "headers", "buffers"),
    ),
    "V28": Assertion(
        "From 160 to 500 bytes of payload the goodputs of Real and UDP gain slightly: by no more than 10 % "
        "(mean over numbers of calls).",
        "000 §5.2, Figures 11 and 13",
        ("headers", "buffers", "rates"),
    ),
    "V29": Assertion(
        "Long packets are more sensitive to packet errors: from none to 0.01 the index of Vegas, Real and UDP "
        "falls by more with 500 bytes than with 160 (80 calls).",
        "000 §5.2",
        ("timely", "errors"),
    ),
    "V30": Assertion(
        "Of the four, longer payloads cost Vegas's real-time index most (mean over numbers of calls).",
        "000 §6, Figures 8, 10, 12, 14",
        ("timely", "headers", "buffers"),
    ),
    "V31": Assertion(
        "All TCPs are relatively fair to file transfers: beside each a transfer keeps at least what a call gets.",
        "000 §5.3, Figures 15–16; 001 §IV.B, Figures 7–8",
        ("rates", "transfers"),
    ),
    "V32": Assertion(
        "Especially Westwood does not respond to packet errors: its goodput and real-time index are less "
        "sensitive to them than Vegas's.",
        "000 §5.4, Figures 17–20",
        ("timely", "timers", "recovery"),
    ),
    "V33": Assertion(
        "To UDP packet errors have minor implications: from none to 0.05 its goodput and real-time index fall "
        "by less than 10 %.",
        "000 §5.4, Figures 17–20",
        ("timely", "errors"),
    ),
    "V34": Assertion(
        "Every TCP is slightly inefficient below 200 ms: at a threshold of 100 ms more packets come late than "
        "at 200, by no more than 5 % of those sent.",
        "000 §5.5, Figures 22 and 24; 001 §IV.C, Figures 10 and 12",
        ("timely", "sent", "clock"),
    ),
    "V35": Assertion(
        "Who is content with 200 ms is satisfied, who wants 100 ms finds the quality acceptable only, and the "
        "difference is significant over Vegas and Real (80 calls; 001: over Vegas with 40): an index of 0.9 and more "
        "at 200 ms, of less at 100 ms, and 0.05 between them.",
        "000 §5.5, Figures 21–22; 001 §IV.C, Figures 9–10",
        ("timely", "sent", "clock"),
    ),
    "V36": Assertion(
        "In periods of congestion UDP's loss is high: with 80 and 120 calls it exceeds 5 %.",
        "000 §6, Figure 6",
        ("rates", "buffers"),
    ),
    "V37": Assertion(
        "Congestion control does not hurt a time-sensitive application: at no number of calls is the mean index of "
        "the three TCPs below UDP's by more than 0.05.",
        "000 §6, Figure 3; 001 §V, Figure 3",
        ("timely", "sent", "buffers"),
    ),
    "V38": Assertion(
        "On occasion congestion control gains: at some number of calls some TCP's index is higher than UDP's.",
        "000 §6, Figure 3; 001 §V, Figure 3",
        ("timely", "sent"),
    ),
    "V39": Assertion(
        "Entering times and errors drawn at random vary the results insignificantly: goodput and real-time index of a "
        "run lie within 5 % of their mean over runs.",
        "000 §4.2",
        ("periods", "entering"),
    ),
}
"""The claims in words of ours."""
