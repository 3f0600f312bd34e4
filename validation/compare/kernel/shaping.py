"""Fairwave's shapers and classes next to Linux' `tbf` and `htb`: the same datagrams at the same times.

A sender's device has the kernel's queue; a receiver in another namespace notes when the kernel took each datagram.
Fairwave then replays the datagrams at the times at which they were really sent, through the same shaper or classes. A
sender that was late is so late on both sides. Frames with Ethernet's header count, as `tbf` and `htb` count them.

`python -m validation shaping` runs all cases and prints the tables of `docs/queues.md`.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fairwave
from fairwave.capturing import capture
from fairwave.replay import Notes, packets
from validation.compare.kernel import lab
from validation.compare.kernel.lab import KernelError, _await, _do, _end, _words, program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PORT = 5002
#: Bytes of Ethernet, IPv4 and UDP before the payload.
HEADERS = 14 + 20 + 8
#: Bytes that fairwave's UDP puts before a replayed payload.
OURS = 40
#: Of the receiver's device.
ADDRESS = "02:00:00:00:00:02"
#: The real device is not limited; fairwave's link is so fast that a frame takes about a microsecond.
FAST = "10 Gb/s"

Sent = tuple[int, int, int]
"""Microseconds since the beginning, bytes of the frame, class (0: none)."""


@dataclass(frozen=True)
class ShaperCase:
    """Datagrams through `tbf` and through `shape`.

    Attributes:
        key: Its name.
        rate_bps: Rate of the bucket.
        burst: Its depth, bytes.
        arrivals: Packets to send.
        peak_bps: Rate of a second bucket of one frame; 0 without it.
        limit: Bytes that may wait.
    """

    key: str
    rate_bps: int
    burst: int
    arrivals: tuple[Sent, ...]
    peak_bps: int = 0
    limit: int = 10_000_000

    def tc(self) -> list[str]:
        """The queue as `tc` reads it."""
        peak = ["peakrate", f"{self.peak_bps}bit", "mtu", "1514"] if self.peak_bps else []
        return [
            "tbf",
            "rate",
            f"{self.rate_bps}bit",
            "burst",
            str(self.burst),
            "limit",
            str(self.limit),
            *peak,
        ]

    def ours(self) -> dict[str, Any]:
        """The keys of fairwave's link."""
        peak = {"peak": f"{self.peak_bps} b/s", "peak-burst": "1514 B"} if self.peak_bps else {}
        # `tbf` counts the frame that waits for tokens as waiting; a shaper here has taken it out of the queue.
        waiting = self.limit - max(size for _, size, _ in self.arrivals)
        return {
            "shape": {"rate": f"{self.rate_bps} b/s", "burst": f"{self.burst} B", **peak},
            "queue": {"discipline": "drop-tail", "capacity": {"bytes": waiting}},
        }


@dataclass(frozen=True)
class ClassCase:
    """Datagrams of several classes through `htb` and through weighted classes behind a shaper.

    Attributes:
        key: Its name.
        rate_bps: Rate of all classes together.
        shares: Rates of the classes, over that.
        offered: Rate that each class sends, over that.
        seconds: For how long.
    """

    key: str
    rate_bps: int
    shares: tuple[float, ...]
    offered: tuple[float, ...]
    seconds: float = 3.0

    @property
    def arrivals(self) -> tuple[Sent, ...]:
        """Each class sends frames of 1000 B, evenly."""
        every = [1000 * 8 / (self.rate_bps * part) for part in self.offered]
        made = [
            (round((number + place / 7) * gap * 1e6), 1000, place + 1)
            for place, gap in enumerate(every)
            for number in range(int(self.seconds / gap))
        ]
        return tuple(sorted(made))

    def tc(self) -> list[list[str]]:
        """Queue and classes as `tc` reads them."""
        whole = f"{self.rate_bps}bit"
        made = [
            ["qdisc", "add", "root", "handle", "1:", "htb"],
            ["class", "add", "parent", "1:", "classid", "1:1", "htb", "rate", whole, "ceil", whole],
        ]
        for place, share in enumerate(self.shares):
            own = [f"1:{place + 2}", "htb", "rate", f"{round(self.rate_bps * share)}bit", "ceil", whole]
            # Classes share unused rate by quantum, by default in proportion to their rates.
            own += ["quantum", str(round(20_000 * share))]
            made.append(["class", "add", "parent", "1:1", "classid", *own])
            made.append(["qdisc", "add", "parent", f"1:{place + 2}", "bfifo", "limit", "30000"])
        return made

    def ours(self) -> dict[str, Any]:
        """The keys of fairwave's link."""
        classes = [
            {"name": f"c{place + 1}", "weight": round(10 * share), "match": {"dscp": [place + 1]}}
            | {"queue": {"discipline": "drop-tail", "capacity": {"bytes": 30_000}}}
            for place, share in enumerate(self.shares)
        ]
        queue = {"discipline": "drr", "capacity": {"bytes": 100_000}, "classes": classes}
        return {"shape": {"rate": f"{self.rate_bps} b/s", "burst": "1600 B"}, "queue": queue}


def _trains(count: int, frames: int, size: int, every_us: int) -> tuple[Sent, ...]:
    return tuple((train * every_us, size, 0) for train in range(count) for _ in range(frames))


def _poisson(seconds: float, bps: float, seed: int) -> tuple[Sent, ...]:
    """Frames of 100 to 1514 B at exponential gaps."""
    chance, at, made = random.Random(seed), 0.0, []
    while at < seconds:
        size = chance.randint(100, 1514)
        made.append((round(at * 1e6), size, 0))
        at += chance.expovariate(bps / 8 / 807)
    return tuple(made)


SHAPERS = (
    ShaperCase("one long burst", 10_000_000, 15_000, _trains(1, 300, 1514, 0)),
    ShaperCase("trains of 20 frames", 10_000_000, 15_000, _trains(50, 20, 1000, 20_000)),
    ShaperCase("trains within the burst", 5_000_000, 20_000, _trains(20, 15, 1000, 60_000)),
    ShaperCase("Poisson, load 0.9", 2_000_000, 10_000, _poisson(2.0, 1_800_000, 1)),
    ShaperCase("Poisson, load 1.2", 20_000_000, 3_028, _poisson(0.8, 24_000_000, 2)),
    ShaperCase("small frames", 1_000_000, 3_000, _trains(40, 20, 200, 40_000)),
    ShaperCase("peak rate", 5_000_000, 40_000, _trains(6, 60, 1514, 250_000), peak_bps=20_000_000),
    ShaperCase("overflow", 5_000_000, 10_000, _trains(30, 30, 1000, 40_000), limit=20_000),
)
CLASSES = (
    ClassCase("two classes", 10_000_000, (0.7, 0.3), (1.2, 1.2)),
    ClassCase("three classes", 10_000_000, (0.5, 0.3, 0.2), (1.0, 1.0, 1.0)),
    ClassCase("one leaves something", 10_000_000, (0.5, 0.3, 0.2), (0.2, 1.0, 1.0)),
)


@contextmanager
def pair(queue: Sequence[Sequence[str]], label: str) -> Iterator[tuple[str, str]]:
    """Two namespaces, joined by a device each; the first one's has the queue. Removed at the end."""
    sender, receiver = (f"fairwave{os.getpid()}-{label}-{end}" for end in ("a", "b"))
    with ExitStack() as stack:
        for name in (sender, receiver):
            _do(["ip", "netns", "add", name])
            stack.callback(_do, ["ip", "netns", "del", name])
        _do(
            [
                "ip",
                "-n",
                sender,
                "link",
                "add",
                "out",
                "type",
                "veth",
                "peer",
                "name",
                "in",
                "netns",
                receiver,
            ]
        )
        _do(["ip", "-n", receiver, "link", "set", "in", "address", ADDRESS])
        for name, device, address in ((sender, "out", "10.78.1.1/24"), (receiver, "in", "10.78.1.2/24")):
            _do(["ip", "-n", name, "address", "add", address, "dev", device])
            _do(["ip", "-n", name, "link", "set", device, "up"])
        # No question for the address, which would take tokens.
        _do(["ip", "-n", sender, "neighbour", "add", "10.78.1.2", "lladdr", ADDRESS, "dev", "out"])
        for words in queue:
            _do(["ip", "netns", "exec", sender, "tc", *words[:2], "dev", "out", *words[2:]])
        yield sender, receiver


def run_in_kernel(
    queue: Sequence[Sequence[str]], arrivals: Sequence[Sent], label: str
) -> tuple[list[int], dict[int, int]]:
    """One run in the kernel.

    Args:
        queue: Arguments of `tc`, without the device.
        arrivals: Packets to send.
        label: Distinguishes the namespaces of simultaneous runs.

    Returns:
        When each datagram was sent, and by its number when it came, nanoseconds since the first was sent.

    Raises:
        KernelError: A command or program failed.
    """
    with pair(queue, label) as (sender, receiver):
        sink = program(receiver, "datagrams.py", "receive", str(PORT))
        try:
            _await(sink)
            job = {"to": "10.78.1.2", "port": PORT}
            job["packets"] = [
                (at, size - HEADERS, 0x10000 + place + 1 if place else 0) for at, size, place in arrivals
            ]
            source = program(sender, "datagrams.py", "send")
            try:
                assert source.stdin is not None
                source.stdin.write(json.dumps(job))
                source.stdin.close()
                source.stdin = None
                sent = json.loads(_words(source, 60))
            finally:
                _end(source)
            _await_quiet(sender)
            assert sink.stdin is not None
            sink.stdin.close()
            sink.stdin = None
            came = json.loads(_words(sink, 10))
        finally:
            _end(sink)
    return [at - sent[0] for at in sent], {number: at - sent[0] for number, at in came}


def _await_quiet(sender: str) -> None:
    """Waits until nothing waits in the sender's queue, at most ten seconds."""
    for _ in range(200):
        queues = json.loads(
            _do(["ip", "netns", "exec", sender, "tc", "-s", "-j", "qdisc", "show", "dev", "out"])
        )
        time.sleep(0.05)
        if not any(queue.get("backlog", 0) for queue in queues):
            return
    raise KernelError("packets still wait after ten seconds")


def scenario(link: dict[str, Any], arrivals: Sequence[Sent], sent: Sequence[int]) -> fairwave.Scenario:
    """The same datagrams at the times at which they were sent, through fairwave's link.

    Args:
        link: Keys of the link besides its rate.
        arrivals: Packets to send; the first number of each is not used.
        sent: When each was, nanoseconds.
    """
    flows = []
    for place in sorted({place for _, _, place in arrivals}):
        words, before = [], 0
        for at, (_, size, whose) in zip(sent, arrivals, strict=True):
            if whose == place:
                words.append(f"{(at - before) / 1000:.3f}:{size - OURS}")
                before = at
        flows.append({
            "name": f"c{place}", "from": "a", "to": "b", "start": "0 s",
            "transport": {"name": "udp", "max-payload": "2000 B"},
            "traffic": {"kind": "replay", "packets": " ".join(words)},
        } | ({"dscp": place} if place else {}))  # fmt: skip
    return fairwave.Scenario.from_dict({
        "name": "shaping", "duration": f"{sent[-1] / 1e9 + 5:.3f} s", "warmup": "0 s",
        "hosts": {"clock-skew": "0 ppm", "send-jitter": "0 s"},
        "link": [{"from": "a", "to": "b", "rate": FAST, "delay": "1 us", **link}],
        "flow": flows,
    })  # fmt: skip


def replay_in_fairwave(
    link: dict[str, Any], arrivals: Sequence[Sent], sent: Sequence[int]
) -> list[tuple[int, str, int]]:
    """The link's packets: sending time (nanoseconds), flow, bytes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "out.pcapng"
        capture(scenario(link, arrivals, sent), {"link:a>b": file}, sip=False)
        return [(one.at_ns, one.flow.name, one.length) for one in packets(file, Notes())]


@dataclass(frozen=True)
class ShaperFinding:
    """How far `tbf` and `shape` are apart.

    Attributes:
        packets: Datagrams that were sent.
        kernel_dropped: Those that the kernel dropped.
        our_dropped: Those that fairwave dropped.
        held: The share that fairwave held back by a millisecond or more: without any the case shows nothing.
        apart_us: 95 % of the datagrams are at most this far apart. A datagram's time at the sender is the middle of
            its call: single ones look early where it loses the processor within the call.
        early_us: How much earlier than fairwave the kernel sent a datagram, at most; at least 0.
        median_us: The median of kernel − fairwave.
        late_us: Its 99th percentile.
        last_us: Kernel − fairwave for the last datagram of each side.
    """

    packets: int
    kernel_dropped: int
    our_dropped: int
    held: float
    apart_us: float
    early_us: float
    median_us: float
    late_us: float
    last_us: float


def compare_shaper(case: ShaperCase, label: str = "s") -> ShaperFinding:
    """Runs a case on both sides. Compares datagrams one by one if none is dropped, otherwise by rank from the end.

    Raises:
        KernelError: The kernel's run failed.
    """
    sent, came = run_in_kernel([["qdisc", "add", "root", *case.tc()]], case.arrivals, label)
    ours = replay_in_fairwave(case.ours(), case.arrivals, sent)
    if any(length != size for (_, _, length), (_, size, _) in zip(ours, case.arrivals, strict=False)):
        raise KernelError(f"{case.key}: frames have other sizes in fairwave: {ours[0][2]}")
    kernel = [came[number] for number in sorted(came)]
    both = min(len(kernel), len(ours))
    first = ours[0][0] - sent[0]
    apart = sorted((kernel[place] - (ours[place][0] - first)) / 1000 for place in range(both))
    waits = [ours[place][0] - first - sent[place] for place in range(both)] if both == len(sent) else []
    return ShaperFinding(
        packets=len(sent),
        kernel_dropped=len(sent) - len(kernel),
        our_dropped=len(sent) - len(ours),
        held=sum(wait >= 1_000_000 for wait in waits) / len(waits) if waits else 1.0,
        apart_us=sorted(map(abs, apart))[both * 95 // 100],
        early_us=max(0.0, -apart[0]),
        median_us=apart[len(apart) // 2],
        late_us=apart[len(apart) * 99 // 100],
        last_us=(kernel[-1] - (ours[-1][0] - first)) / 1000,
    )


def compare_classes(case: ClassCase, label: str = "c") -> list[tuple[float, float]]:
    """Of each class, its share of the bytes while it and the others are offered: in the kernel, in fairwave.

    Raises:
        KernelError: The kernel's run failed.
    """
    arrivals = case.arrivals
    sent, came = run_in_kernel(case.tc(), arrivals, label)
    ours = replay_in_fairwave(case.ours(), arrivals, sent)
    begin, end = 0.1 * case.seconds * 1e9, case.seconds * 1e9
    names = {name: place for place, name in enumerate(sorted({name for _, name, _ in ours}))}
    bytes_of = [[0, 0] for _ in case.shares]
    for number, at in came.items():
        if begin <= at < end:
            bytes_of[arrivals[number][2] - 1][0] += arrivals[number][1]
    for at, name, length in ours:
        if begin <= at - ours[0][0] < end:
            bytes_of[names[name]][1] += length
    totals = [sum(one[side] for one in bytes_of) or 1 for side in (0, 1)]
    return [(kernel / totals[0], own / totals[1]) for kernel, own in bytes_of]


def main() -> int:
    """Runs all cases and prints both tables."""
    if lacks := lab.missing():
        print("This needs " + ", ".join(lacks) + ".", file=sys.stderr)
        return 1
    print(
        "| case | rate, burst | packets | dropped: `tbf`, fairwave | earlier, at most | median | 99 % | last packet |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for shaper in SHAPERS:
        one = compare_shaper(shaper)
        peak = f", peak {shaper.peak_bps / 1e6:g} Mb/s" if shaper.peak_bps else ""
        print(
            f"| {shaper.key} | {shaper.rate_bps / 1e6:g} Mb/s, {shaper.burst} B{peak} | {one.packets} "
            f"| {one.kernel_dropped}, {one.our_dropped} | {one.early_us:.0f} µs | {one.median_us:.0f} µs "
            f"| {one.late_us:.0f} µs | {one.last_us:.0f} µs |",
            flush=True,
        )
    print("\n| case | rates of the classes | offered | share: `htb` | share: `drr` |")
    print("|---|---|---|---|---|")
    for classes in CLASSES:
        found = compare_classes(classes)
        rates, offered = (
            ", ".join(f"{part * classes.rate_bps / 1e6:g}" for part in parts)
            for parts in (classes.shares, classes.offered)
        )
        kernel, own = (", ".join(f"{100 * one[side]:.1f} %" for one in found) for side in (0, 1))
        print(f"| {classes.key} | {rates} Mb/s | {offered} Mb/s | {kernel} | {own} |", flush=True)
    return 0
