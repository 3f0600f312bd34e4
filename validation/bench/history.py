"""Measurements that no command repeats: changes that were not kept, and one change of the interface to Python."""

from __future__ import annotations

from collections.abc import Iterator

from validation.writing import table

TRIED = (
    ("a page of the calendar's entries prefetched when it is taken", "not counted", "129 → 137", "–"),
    (
        "packets kept apart from the other fields of their entries, one cache line each",
        "+2.3",
        "150 → 160",
        "–",
    ),
    ("entries of 80 bytes instead of 96: the next link is looked up", "+5.8", "125 → 130", "1 % less memory"),
    (
        "link-time optimisation of the whole program (`fat`)",
        "−3.6",
        "not measured",
        "building takes twice as long",
    ),
    ("days of 4 events, or of 16, instead of 8", "+4.8, +5.0", "not measured", "–"),
    (
        "optimisation by a profile of the dumbbell of 100 and of 1000 flows",
        "−23.0",
        "not measured; 33.6 → 30.4 at 100 flows",
        "builds twice, needs a tool besides Rust; a profile kept instead is out of date at each change",
    ),
    (
        "the start of a day and all that an acknowledgement sends compiled into the loop",
        "+11.7",
        "not measured",
        "–",
    ),
    ("version 3 of mimalloc instead of 2", "not counted", "not measured", "20 MB more at 10,000 flows"),
    (
        "pages of 16 entries instead of 8, and of 32",
        "not counted",
        "65 → 61, 65 → 67",
        "10 % and 87 % more memory",
    ),
    (
        "a heap with eight children a node instead of four",
        "+0.1",
        "60 → 59",
        "+0.9 instructions at 1000 flows",
    ),
)
"""Rejected changes: instructions per packet-hop, ns per packet-hop at 100,000 flows, other effects."""

GROUPED = (
    ("`fairwave sweep`, 2000 runs of 1 s at 100 points", "8.44", "3.57", "3.87", "4.88 ± 0.81"),
    ("`fairwave find`, 500 runs of 1 s at 10 points, up to 60 calls", "3.16", "2.66", "2.88", "0.48 ± 0.37"),
    ("`fairwave compare`, 800 runs of 1 s at 4 points", "7.45", "5.13", "5.23", "2.50 ± 1.20"),
    ("one reading of `fairwave study smoothness`, runs of 7 to 200 s", "8.00", "7.55", "7.54", "0.65 ± 0.83"),
)
"""Processor time of commands, s: before, after, later, mean of before − after with its 95 % interval."""

WINDOWS = (
    ("100", "1,024", "51.3", "39.2", "80.5", "1.83", "2.09", "2.09"),
    ("1,000", "1,024", "55.1", "44.7", "47.5", "1.79", "2.23", "2.23"),
    ("10,000", "1,024", "65.8", "50.3", "42.2", "1.73", "2.25", "2.25"),
    ("100,000", "1,024", "110.8", "56.3", "47.1", "1.74", "2.2", "2.2"),
    ("100", "8,192", "53.1", "40.2", "104.3", "1.83", "2.14", "2.14"),
    ("1,000", "8,192", "69.2", "53.2", "57.6", "1.82", "2.62", "2.62"),
    ("10,000", "8,192", "120.0", "81.8", "79.1", "1.83", "3.13", "3.67"),
    ("100,000", "8,192", "201.7", "130.0", "139.1", "1.88", "3.34", "5.13"),
)
"""A model of windows of time: flows, bytes of a flow, ns per event by time, by windows, by windows on two threads, and
bounds of the gain of 2, 4 and 64 threads."""


def describe() -> Iterator[str]:
    """Yields the lines of the report's last sections."""
    yield "## Tried and not kept"
    yield ""
    yield (
        "Measured in November 2026 on the dumbbell: instructions at 100 flows, time at 100,000 flows (minimum of 2 to 5"
        " runs in turns). Each row has its own runs, because the machine's speed changed from hour to hour. Differences"
        " below a tenth are noise. The code of these changes was not kept."
    )
    yield ""
    yield from table(
        ("change", "instructions per packet-hop", "ns per packet-hop, before → after", "besides"), TRIED
    )
    yield ""
    yield (
        "Why the time grows with the flows, measured by hand with programs that were not kept. At 4000 flows"
        " cachegrind counts 1.3 lines per packet-hop that miss a cache of 512 KiB, and 350 instructions instead of"
        " 266 at 100 flows: the others prefetch and sort. A line of 640 MiB of huge pages takes 161 ns if each access"
        " waits for the one before, and 12 to 19 ns if none does (30 ns with 3.2 GiB). A program that works 97 ns for"
        " each ten lines of 400 MiB takes 133 ns if it prefetches them some events before, and 500 to 640 ns if it"
        " does not. So no line may be left out. The simulator does not prefetch lines of segments out of order, and"
        " pages that are filled in two steps. A profile of a run of a million flows (perf, sampled by time) has a"
        " fifth of its samples at two kinds of instruction: the first store to a calendar entry, and the first"
        " prefetch of one. Each entry is on another page of memory, so the processor probably waits for the page's"
        " address."
    )
    yield ""
    yield "## Runs that reach Python in groups"
    yield ""
    yield (
        "Until November 2026 each run reached Python by itself. Since then all runs that end within 50 ms are one set"
        " of tables. User and system time of the whole process in s, median of 5 turns in which the versions alternated"
        " (commits 38a00eeaad9a, 26d9da160827, a5297652a1e9). `find` makes fewer runs with many calls, and a study's"
        " runs are long, so both gain little. An exploration of one reading took 519 s before and 536 s after, one run"
        " each."
    )
    yield ""
    yield from table(("command", "before", "after", "later", "before − after"), GROUPED)
    yield ""
    yield "## A model of windows of time"
    yield ""
    yield (
        "A model program preceded the islands (November 2026, commit fed88511b462). It ran a dumbbell of simple flows"
        " event by event in order of time, and window by window of 5 ms with the hosts' events flow by flow. Both ways"
        " gave the same bytes. Wall time per event in ns, minimum of 9 runs. The bounds follow from the parts on one"
        " thread: the hand-over runs alone, the router is one island, the hosts are divided among all threads. The"
        " router limits the gain, because every packet of a dumbbell passes its queue."
    )
    yield ""
    bounds = (f"{count} threads, bound" for count in (2, 4, 64))
    head = ("flows", "bytes of a flow", "by time", "by windows", "2 threads, measured")
    yield from table((*head, *bounds), ((*row[:5], *(f"{gain}×" for gain in row[5:])) for row in WINDOWS))
