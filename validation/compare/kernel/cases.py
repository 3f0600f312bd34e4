"""The kernel's experiments: the same path and flows in the namespaces and as a scenario with the preset ``linux``.

Measures, each a number per run and flow, after the warm-up unless stated otherwise:

* ``goodput_mbps/F``: payload acknowledged (in fairwave: delivered)
* ``rtt_ms/F``, ``rtt_p95_ms/F``: the sender's smoothed round-trip time, sampled every 100 ms: mean, 95th
  percentile
* ``window/F``: its congestion window in segments, sampled likewise
* ``retransmissions/F``: data segments sent again / data segments sent, from the beginning of the run
* ``retransmissions_steady/F``: the same after the warm-up
* ``share/F``: its part of all flows' goodput (long cases only)
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fairwave
from fairwave.staging import write_text
from validation.compare.kernel import lab
from validation.compare.measures import shares

if TYPE_CHECKING:
    from fairwave.results import Results

Table = dict[str, Any]

RATE, DELAY_US, SPACING = 20_000_000, 40_000, 0.1
DURATION, WARMUP = 30, 5

#: The long cases: rate, buffers in bandwidth-delay products, seconds and warm-up.
LONG_RATE, LONG_PRODUCTS, LONG = 10_000_000, (2, 4, 16, 32), (420, 120)

#: An Ethernet frame with a full segment. `tbf` counts Ethernet's header, and lets a frame go when its time
#: of transmission is over, so that
#: its limit includes the frame that a simulator counts as being sent.
FRAME = 1514

#: The kernel's name of a controller, and fairwave's.
CONTROLLERS = {"reno": "tcp/sack", "cubic": "tcp/cubic", "bbr": "tcp/bbr1"}

#: Maximum lateness of the relay in microseconds. A later relay means that the machine stalled, and the run is
#: repeated.
STALL = 10_000
ATTEMPTS = 5

#: The same at the 99th percentile, as for a live run, for the long cases: no shared machine runs them without a stall.
LATE = 1000

#: Allowed differences, fixed before the first run, as parts of the kernel's value.
MARGINS = {
    "goodput_mbps": 0.05, "share": 0.05, "rtt_ms": 0.10, "rtt_p95_ms": 0.10, "window": 0.10, "retransmissions": 0.25,
}  # fmt: skip


@dataclass(frozen=True)
class KernelCase:
    """One experiment: the kernel's controllers, a flow each, and the buffer in bandwidth-delay products."""

    key: str
    title: str
    flows: tuple[str, ...]
    products: int
    runs: int = 5
    rate: int = RATE
    duration: int = DURATION
    warmup: int = WARMUP
    #: Flows start within this time, s.
    starts: float = 0.5

    @property
    def is_long(self) -> bool:
        """Whether it is about who shares how in the long run."""
        return self.duration > DURATION

    @property
    def path(self) -> lab.KernelPath:
        """The path in the namespaces."""
        return lab.KernelPath(self.rate, self.rate * DELAY_US // 8_000_000 * self.products, DELAY_US)

    def kept_promise(self, run: Table) -> bool:
        """Whether the relay was punctual enough for the run to count."""
        late = run["relay"]
        return bool(late["p99_us"] <= LATE if self.is_long else late["most_us"] <= STALL)

    @property
    def scenario(self) -> Table:
        """The same for fairwave."""
        wide = {"discipline": "drop-tail", "capacity": {"packets": 10000}}
        buffer = {"discipline": "drop-tail", "capacity": {"bytes": self.path.buffer - FRAME}}
        return {
            "name": self.title,
            "preset": "linux",
            "duration": f"{self.duration} s",
            "warmup": f"{self.warmup} s",
            "hosts": {"clock-skew": "0 ppm", "send-jitter": "0 s"},
            "link": [
                {"from": "a", "to": "r", "rate": "10 Gb/s", "delay": "1 us", "queue": wide},
                {
                    "from": "r", "to": "b", "rate": f"{self.rate // 1_000_000} Mb/s", "delay": "1 us", "queue": buffer,
                    "reverse": {"rate": "10 Gb/s", "delay": f"{DELAY_US} us", "queue": wide},
                },
            ],
            "flow": [
                {
                    "name": name, "from": "a", "to": "b", "traffic": "bulk",
                    "start": {"from": "0 s", "to": f"{self.starts:g} s"},
                    "transport": {"name": CONTROLLERS[name], "header": "66 B", "acknowledgement": "66 B"},
                }
                for name in self.flows
            ],
            "record": {"window-interval": f"{SPACING * 1e3:g} ms", "windows": list(self.flows)},
        }  # fmt: skip


def cases() -> Iterator[KernelCase]:
    """Every experiment, in the order of the report."""
    names = {"reno": "Reno", "cubic": "CUBIC", "bbr": "BBR"}
    for flows in (("reno",), ("cubic",), ("bbr",), ("cubic", "reno"), ("cubic", "bbr")):
        for products in (1, 3):
            words = " beside ".join(names[name] for name in flows) + (" alone" if len(flows) == 1 else "")
            yield KernelCase(
                f"kernel/{'+'.join(flows)}/{products}bdp",
                f"{words}, drop-tail of {products} BDP",
                flows,
                products,
            )
    for products in LONG_PRODUCTS:
        yield KernelCase(
            f"kernel/long/cubic+bbr/{products}bdp",
            f"CUBIC beside BBR for {LONG[0]} s, drop-tail of {products} BDP",
            ("cubic", "bbr"),
            products,
            rate=LONG_RATE,
            duration=LONG[0],
            warmup=LONG[1],
            starts=10.0,
        )


def recall(case: KernelCase, seeds: Sequence[int], kept: Path, at_once: int = 1) -> list[Table]:
    """The kernel's measurements of each run. Uses kept ones in ``kept``, if there are any.

    The kernel is not deterministic: the seed chooses starting times and distinguishes runs.
    """
    scenario = fairwave.load(json.dumps(case.scenario))

    def run_seed(seed: int) -> Table:
        plan = json.loads(scenario.native.exact_plan(seed))
        flows = [
            {"control": name, "start": flow["start_ns"] / 1e9}
            for name, flow in zip(case.flows, plan["flows"], strict=True)
        ]
        about = json.dumps(
            [flows, case.rate, case.products, seed, case.duration, SPACING, lab.BURST, platform.release()]
        )
        file = kept / f"{case.key.replace('/', '-')}-{hashlib.sha256(about.encode()).hexdigest()[:16]}.json"
        for _ in range(ATTEMPTS):
            if file.exists():
                data: Table = json.loads(file.read_text(encoding="utf-8"))
            else:
                data = lab.run(case.path, flows, case.duration, SPACING, f"{case.products}-{seed}")
            if case.kept_promise(data):
                kept.mkdir(parents=True, exist_ok=True)
                write_text(file, json.dumps(data))
                return data
            file.unlink(missing_ok=True)
        raise lab.KernelError(f"{case.key}: the relay was too late in {ATTEMPTS} runs; use a calmer machine")

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(run_seed, seeds))


def measure_kernel(case: KernelCase, run: Table) -> dict[str, float]:
    """The measures of a run of the kernel."""
    found: dict[str, float] = {}
    for name, samples in zip(case.flows, run["flows"], strict=True):
        kept = [sample for sample in samples if sample["at"] >= case.warmup - SPACING / 2]
        first, last = kept[0], kept[-1]
        bits = (last["acknowledged"] - first["acknowledged"]) * 8
        found[f"goodput_mbps/{name}"] = bits / (last["at"] - first["at"]) / 1e6
        found |= _sampled(
            name, [1e-3 * sample["rtt_us"] for sample in kept], [sample["window"] for sample in kept]
        )
        found[f"retransmissions/{name}"] = _share(last["sent_again"], last["sent"])
        found[f"retransmissions_steady/{name}"] = _share(
            last["sent_again"] - first["sent_again"], last["sent"] - first["sent"]
        )
    return found | (shares(found) if case.is_long else {})


def measure_fairwave(case: KernelCase, results: Results, whole: Results) -> list[dict[str, float]]:
    """The measures of each run of fairwave; ``whole`` are the same runs measured from their beginning."""
    flows, sent = results.flows.to_pylist(), whole.flows.to_pylist()
    series = results.to_polars("series").to_dicts()
    runs = []
    for run in dict.fromkeys(row["run"] for row in flows):
        found: dict[str, float] = {}
        for name in case.flows:
            row = next(row for row in flows if row["run"] == run and row["group"] == name)
            found[f"goodput_mbps/{name}"] = row["goodput_bps"] / 1e6
            own = [
                row
                for row in series
                if row["run"] == run and row["name"] == f"{name}[0]" and row["time_s"] >= case.warmup
            ]
            found |= _sampled(
                name,
                [1e3 * row["value"] for row in own if row["kind"] == "srtt_s"],
                [row["value"] for row in own if row["kind"] == "window"],
            )
            all_ = next(row for row in sent if row["run"] == run and row["group"] == name)
            found[f"retransmissions/{name}"] = _share(all_["packets_retransmitted"], all_["packets_sent"])
            found[f"retransmissions_steady/{name}"] = _share(
                row["packets_retransmitted"], row["packets_sent"]
            )
        runs.append(found | (shares(found) if case.is_long else {}))
    return runs


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _sampled(name: str, trips: Sequence[float], windows: Sequence[float]) -> dict[str, float]:
    ordered = sorted(trips)
    return {
        f"rtt_ms/{name}": math.fsum(trips) / len(trips),
        f"rtt_p95_ms/{name}": ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)],
        f"window/{name}": math.fsum(windows) / len(windows),
    }
