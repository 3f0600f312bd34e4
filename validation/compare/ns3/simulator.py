"""The same plan in ns-3: translated, run in separate processes, and read as the measures of ``cases.py``.

ns-3 is optional (``pip install 'ns3==3.44.*'``, Linux, Python 3.11). It need not be in fairwave's
environment: any
interpreter that can ``import ns3`` will do, named by the environment variable ``FAIRWAVE_NS3_PYTHON`` or
by an option.

**Equal.** Both have the same topology, rates, delays (drawn by the plan), starts, and queue laws with their constants.
They have the same segment and header sizes, initial window, delayed acknowledgements, SACK and PRR. The shortest
timeout is 200 ms above the smoothed round trip in both.

**Different.** A queue discipline of ns-3 has the device's queue below it, which holds at least one packet. That packet
counts as waiting, and a first-in-first-out queue of P packets is a discipline of P − 1 above it. Queue disciplines of
ns-3 count IP packets, 2 B less than on the wire (PPP), so a quantum is made 2 B smaller. ns-3 has no RACK, no tail
loss probes and no quick acknowledgements: the scenario must leave them out, too.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation.compare.measures import jain
from validation.compare.ns2.translate import quantity
from validation.compare.ns3.driver import PROGRAM
from validation.compare.unsupported import unsaid

if TYPE_CHECKING:
    from collections.abc import Sequence

Table = dict[str, Any]

DRIVER = Path(__file__).with_name("driver.py")
VARIABLE = "FAIRWAVE_NS3_PYTHON"
ABSENT = (
    "ns-3 is not installed (no interpreter here can `import ns3`): nothing to compare with. Install it with"
    f" `pip install 'ns3==3.44.*'` under Python 3.11, in .venv or elsewhere, and name that interpreter in {VARIABLE}"
)

#: Header bytes on the wire in addition to the payload: TCP with timestamps, IP, PPP; and UDP, IP, PPP.
TCP_HEADER, UDP_HEADER, PPP = 54, 30, 2

#: ns-3's class for a controller, and its attributes by the scenario's keys.
CONTROLLERS: dict[str, tuple[str, dict[str, str]]] = {
    "tcp/cubic": (
        "ns3::TcpCubic",
        {"c": "C", "beta": "Beta", "fast-convergence": "FastConvergence", "hystart": "HyStart"},
    ),
    "tcp/sack": ("ns3::TcpLinuxReno", {}),
    "tcp/bbr1": ("ns3::TcpBbr", {}),
}

#: Settings of a TCP's table that ns-3 supports. The table must have them, explicitly or by default.
CONNECTION: Table = {
    "preset": "linux",
    "recovery": "sack",
    "quick-acks": 0,
    "header": f"{TCP_HEADER} B",
    "acknowledgement": f"{TCP_HEADER} B",
}

#: ns-3's settings that belong to no law. Window scaling, SACK, timestamps, PRR and limited transmit are on
#: by default.
DEFAULTS = {
    "ns3::TcpSocket::SegmentSize": "1448",
    "ns3::TcpSocket::InitialCwnd": "10",
    "ns3::TcpSocket::DelAckCount": "2",
    "ns3::TcpSocket::DelAckTimeout": "40ms",
    "ns3::TcpSocket::SndBufSize": "8000000",
    "ns3::TcpSocket::RcvBufSize": "8000000",
    "ns3::TcpSocketBase::MinRto": "200ms",
    "ns3::TcpSocketBase::ClockGranularity": "200ms",
}


class Ns3Error(RuntimeError):
    """ns-3 is missing or failed. The message has the reason."""


class NotInNs3Error(ValueError):
    """The scenario has something that ns-3 does not have, or that is not compared."""


@lru_cache
def find(python: str | None = None) -> str | None:
    """An interpreter with ns-3: ``python``, else the one of the environment, else this one. None if it lacks ns-3."""
    chosen = python or os.environ.get(VARIABLE) or sys.executable
    path = shutil.which(chosen)
    if path is None:
        return None
    asked = [path, "-c", "import importlib.util as u, sys; sys.exit(u.find_spec('ns3') is None)"]
    return path if subprocess.run(asked, check=False, capture_output=True).returncode == 0 else None


def version(python: str) -> str:
    """The version of ns-3 that an interpreter has."""
    asked = [python, "-c", "import importlib.metadata as m; print(m.version('ns3'))"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


def translate(plan: Table, bottleneck: str, spacing: float) -> Table:
    """The driver's input for a plan of a dumbbell. It measures the queue of the direction ``bottleneck``.

    ``spacing`` are the seconds between samples of round trip and window.

    Raises:
        NotInNs3Error: Something in the plan is not compared.
    """
    if any(plan["hosts"].values()):
        raise NotInNs3Error(
            'hosts that are not in step; write `hosts = { clock-skew = "0 ppm", send-jitter = "0 s" }`'
        )
    links = plan["links"]
    place = next((i for i, link in enumerate(links) if link["name"] == bottleneck), None)
    if place is None:
        raise NotInNs3Error(
            f"no link `{bottleneck}`; there are {', '.join(link['name'] for link in links[:8])}"
        )
    if missing := unsaid(plan, "ns-3"):
        raise NotInNs3Error(missing)
    link = links[place]
    if link["loss"]["model"] not in ("none", "bernoulli") or link["rate"]["law"] != "constant":
        raise NotInNs3Error(f"{bottleneck}: only constant rates and losses `bernoulli` are compared")
    kind, defaults, quantum = _queue(link["queue"], bottleneck)
    flows = []
    marks = {
        flow["transport"].get("ecn", "none") for flow in plan["flows"] if flow["transport"]["name"] != "udp"
    }
    if len(marks) > 1 or marks - {"none", "classic"}:
        raise NotInNs3Error(f"transports with `ecn` {sorted(marks)}; give all TCPs `none` or all `classic`")
    defaults |= {"ns3::TcpSocketBase::UseEcn": "On" if marks == {"classic"} else "Off"}
    for flow in plan["flows"]:
        told, more = _flow(flow)
        near, middle, far = flow["forward"]
        if middle != place:
            raise NotInNs3Error(f"{flow['name']}: its second link is not `{bottleneck}`")
        flows.append(told | {"near": f"{links[near]['delay_ns']}ns", "far": f"{links[far]['delay_ns']}ns"})
        defaults |= more
    return {
        "seed": plan["seed"],
        "duration": plan["duration_ns"] / 1e9,
        "warmup": plan["warmup_ns"] / 1e9,
        "spacing": spacing,
        "defaults": DEFAULTS | defaults,
        "bottleneck": {
            "rate": f"{link['rate_bps']}bps",
            "delay": f"{link['delay_ns']}ns",
            "loss": link["loss"].get("rate", 0.0),
            "queue": kind,
            "quantum": quantum,
        },
        "flows": flows,
    }


def _queue(queue: Table, where: str) -> tuple[str, dict[str, str], int]:
    """ns-3's class of queue, its attributes, and the quantum (0 for none)."""
    capacity = queue["capacity"].get("packets")
    if capacity is None:
        raise NotInNs3Error(f"{where}: a capacity in bytes; write `capacity = {{ packets = 67 }}`")
    discipline = queue["discipline"]
    ecn = "true" if queue.get("ecn") else "false"

    def time(key: str) -> str:
        return f"{round(quantity(queue[key]) * 1e9)}ns"

    if discipline == "drop-tail":
        return "ns3::FifoQueueDisc", {"ns3::FifoQueueDisc::MaxSize": f"{capacity - 1}p"}, 0
    if discipline in ("codel", "fq-codel"):
        own = "CoDel" if discipline == "codel" else "FqCoDel"
        defaults = {
            f"ns3::{own}QueueDisc::MaxSize": f"{capacity}p",
            f"ns3::{own}QueueDisc::UseEcn": ecn,
            f"ns3::{own}QueueDisc::Interval": time("interval"),
            f"ns3::{own}QueueDisc::Target": time("target"),
        }
        if discipline == "codel":
            return "ns3::CoDelQueueDisc", defaults, 0
        defaults |= {
            "ns3::FqCoDelQueueDisc::Flows": str(queue["flows"]),
            "ns3::FqCoDelQueueDisc::DropBatchSize": str(queue["drop-batch"]),
        }
        return "ns3::FqCoDelQueueDisc", defaults, round(quantity(queue["quantum"])) - PPP
    if discipline == "pie":
        return (
            "ns3::PieQueueDisc",
            {
                "ns3::PieQueueDisc::MaxSize": f"{capacity}p",
                "ns3::PieQueueDisc::UseEcn": ecn,
                "ns3::PieQueueDisc::A": str(queue["alpha"]),
                "ns3::PieQueueDisc::B": str(queue["beta"]),
                "ns3::PieQueueDisc::Tupdate": time("update"),
                "ns3::PieQueueDisc::QueueDelayReference": time("target"),
                "ns3::PieQueueDisc::MaxBurstAllowance": time("max-burst"),
            },
            0,
        )
    raise NotInNs3Error(
        f"{where}: queue `{discipline}` is not compared; use drop-tail, codel, fq-codel or pie"
    )


def _flow(flow: Table) -> tuple[Table, dict[str, str]]:
    """The driver's input for a flow without its delays, and the attributes of its controller."""
    transport, traffic, name = flow["transport"], flow["traffic"], flow["name"]
    told = {"start": flow["start_ns"] / 1e9, "payload": 1448, "interval": 0.0}
    if transport["name"] == "udp":
        steady = traffic["kind"] == "cbr" and not traffic.get("jitter") and traffic["phase"] == "zero"
        if not steady or quantity(transport["header"]) != UDP_HEADER:
            raise NotInNs3Error(
                f'{name}: over UDP only `cbr` without jitter, with `phase = "zero"` and with '
                f'`header = "{UDP_HEADER} B"` is compared'
            )
        payload = round(quantity(traffic["payload"]))
        return told | {
            "kind": "udp",
            "payload": payload,
            "interval": payload * 8 / quantity(traffic["rate"]),
        }, {}
    if transport["name"] not in CONTROLLERS or traffic["kind"] != "bulk":
        raise NotInNs3Error(f"{name}: only bulk data over {', '.join(CONTROLLERS)} is compared")
    written = {"preset": "linux", **transport}
    for key, value in CONNECTION.items():
        if written.get(key) != value:
            raise NotInNs3Error(f"{name}: `{key}` is {written.get(key)!r}; ns-3 has {value!r}")
    if transport.get("prr") is False:
        raise NotInNs3Error(f"{name}: `prr` is false; ns-3 has true")
    kind, keys = CONTROLLERS[transport["name"]]
    attributes = {
        f"{kind}::{theirs}": str(transport[ours]).lower()
        for ours, theirs in keys.items()
        if ours in transport
    }
    return told | {"kind": kind}, attributes


def recall(runs: Sequence[Table], kept: Path, python: str, processes: int = 1) -> list[Table]:
    """The measurements of ns-3 for each run. Uses kept ones in ``kept``, if there are any.

    Raises:
        Ns3Error: ns-3 failed.
    """
    kept.mkdir(parents=True, exist_ok=True)
    files = [kept / f"{_digest(run)}.json" for run in runs]
    jobs = [
        json.dumps({"file": str(file.resolve()), "run": run})
        for run, file in zip(runs, files, strict=True)
        if not file.exists()
    ]
    with contextlib.ExitStack() as stack:
        drivers = []
        for place in range(min(processes, len(jobs))):
            work = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))
            work.write("".join(f"{job}\n" for job in jobs[place::processes]))
            work.seek(0)
            said = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))
            process = subprocess.Popen(
                [python, "-P", str(DRIVER)], stdin=work, stdout=subprocess.DEVNULL, stderr=said
            )
            drivers.append((process, said))
        failed = False
        for process, said in drivers:
            failed |= process.wait() != 0
            said.seek(0)
        words = " ".join(said.read() for _, said in drivers)
    if failed:
        raise Ns3Error(f"ns-3 failed: {words.strip()[-2000:]}")
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def _digest(run: Table) -> str:
    return hashlib.sha256(f"{PROGRAM}{json.dumps(run, sort_keys=True)}".encode()).hexdigest()[:32]


def measures(plan: Table, counted: Table) -> dict[str, float]:
    """The measures of a run of ns-3, by the names of :mod:`validation.compare.ns3.cases`."""
    span = (plan["duration_ns"] - plan["warmup_ns"]) / 1e9
    flows = counted["flows"]
    found: dict[str, float] = {}
    for number, group in enumerate(plan["groups"]):
        members = [i for i, flow in enumerate(plan["flows"]) if flow["group"] == number]
        rates = [flows[i]["payload"] * 8 / span / 1e6 for i in members]
        found[f"goodput_mbps/{group}"] = math.fsum(rates)
        if len(members) > 1:
            found[f"jain/{group}"] = jain(rates)
        if plan["flows"][members[0]]["transport"]["name"] != "udp":
            samples = sum(flows[i]["samples"] for i in members)
            found[f"rtt_ms/{group}"] = (
                1e3 * sum(flows[i]["rtt"] for i in members) / samples if samples else math.nan
            )
            windows = sum(flows[i]["window"] for i in members)
            found[f"window/{group}"] = windows / samples / 1448 if samples else math.nan
    received = counted["received"]
    found["drop_rate"] = counted["dropped"] / received if received else math.nan
    found["mark_rate"] = counted["marked"] / received if received else math.nan
    found["wait_ms"] = 1e3 * counted["waiting"] / counted["sent"] if counted["sent"] else math.nan
    return found
