"""The namespaces, and one run in them: made, used, removed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parent
PORT = 5001

#: Bytes that ``tbf`` may send at once: two Ethernet frames, so that a timer that is late costs no rate.
BURST = 3100


class KernelError(RuntimeError):
    """Something that a run needs failed; the message has the command and its words."""


@dataclass(frozen=True)
class KernelPath:
    """The path of a run: the bottleneck's rate and buffer (bytes of Ethernet frames), and the delay of the way back."""

    rate_bps: int
    buffer: int
    delay_us: int


def missing() -> list[str]:
    """Lists requirements that this machine does not meet. Empty if the kernel can be compared."""
    lacks = []
    if not sys.platform.startswith("linux"):
        return ["Linux"]
    if os.geteuid() != 0:
        lacks.append("root (network namespaces and devices are made)")
    lacks += [f"`{name}` (Debian's package iproute2)" for name in ("ip", "tc") if shutil.which(name) is None]
    if not Path("/dev/net/tun").exists():
        lacks.append("/dev/net/tun (the kernel's module tun)")
    if lacks:
        return lacks
    name = f"fairwave{os.getpid()}-try"
    try:
        _do(["ip", "netns", "add", name])
        try:
            _do(["ip", "-n", name, "link", "add", "one", "type", "veth", "peer", "name", "other"])
            _do(
                [
                    "ip",
                    "netns",
                    "exec",
                    name,
                    "tc",
                    "qdisc",
                    "add",
                    "dev",
                    "one",
                    "root",
                    *tbf(KernelPath(10**6, 10**4, 0)),
                ]
            )
        finally:
            _do(["ip", "netns", "del", name])
    except KernelError as error:
        return [f"network namespaces with veth and tbf ({error})"]
    return []


def controllers() -> list[str]:
    """The controllers that this kernel can use at once."""
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()


def tbf(path: KernelPath) -> list[str]:
    """The bottleneck's queue in the words of ``tc``."""
    return ["tbf", "rate", f"{path.rate_bps}bit", "burst", str(BURST), "limit", str(path.buffer)]


def commands(path: KernelPath, names: Sequence[str]) -> list[list[str]]:
    """The commands that connect sender, router and receiver, once the relay's device is in the router."""
    sender, router, receiver = names
    settings = {
        sender: {"tcp_no_metrics_save": "1", "tcp_ecn": "0", "tcp_wmem": "4096 1000000 16000000"},
        router: {
            "ip_forward": "1",
            "conf.all.rp_filter": "0",
            "conf.default.rp_filter": "0",
            "conf.delay.rp_filter": "0",
        }
        | {"conf.to-sender.rp_filter": "0", "conf.to-receiver.rp_filter": "0"},
        # A window that never limits, so that the receiver's tuning has no effect.
        receiver: {"tcp_no_metrics_save": "1", "tcp_ecn": "0", "tcp_rmem": "4096 8000000 16000000"},
    }
    made = [
        [
            "ip",
            "-n",
            sender,
            "link",
            "add",
            "to-router",
            "type",
            "veth",
            "peer",
            "name",
            "to-sender",
            "netns",
            router,
        ],
        [
            "ip",
            "-n",
            receiver,
            "link",
            "add",
            "to-router",
            "type",
            "veth",
            "peer",
            "name",
            "to-receiver",
            "netns",
            router,
        ],
    ]
    for namespace, device, address in (
        (sender, "to-router", "10.77.1.1/24"),
        (router, "to-sender", "10.77.1.2/24"),
        (router, "to-receiver", "10.77.2.1/24"),
        (receiver, "to-router", "10.77.2.2/24"),
        (router, "delay", "10.77.3.1/24"),
    ):
        # One segment per buffer, so that packets are packets.
        made.append(["ip", "-n", namespace, "link", "set", device, "gso_max_segs", "1", "txqueuelen", "5000"])
        made.append(["ip", "-n", namespace, "address", "add", address, "dev", device])
        made.append(["ip", "-n", namespace, "link", "set", device, "up"])
    for namespace, keys in settings.items():
        for key, value in keys.items():
            made.append(["ip", "netns", "exec", namespace, "sysctl", "-qw", f"net.ipv4.{key}={value}"])
    return [
        *made,
        ["ip", "-n", sender, "route", "add", "default", "via", "10.77.1.2"],
        ["ip", "-n", receiver, "route", "add", "default", "via", "10.77.2.1"],
        ["ip", "-n", router, "rule", "add", "iif", "to-receiver", "lookup", "100"],
        ["ip", "-n", router, "route", "add", "default", "dev", "delay", "table", "100"],
        ["ip", "netns", "exec", router, "tc", "qdisc", "add", "dev", "to-receiver", "root", *tbf(path)],
    ]


@contextmanager
def network(path: KernelPath, label: str) -> Iterator[tuple[str, str, str, subprocess.Popen[str]]]:
    """Three namespaces and the relay, which ends when its standard input is closed. All are removed at the end."""
    sender, router, receiver = (f"fairwave{os.getpid()}-{label}-{end}" for end in ("a", "r", "b"))
    with ExitStack() as stack:
        for name in (sender, router, receiver):
            _do(["ip", "netns", "add", name])
            stack.callback(_do, ["ip", "netns", "del", name])
        relay = program(router, "relay.py", "delay", str(path.delay_us))
        stack.callback(_end, relay)
        _await(relay)
        for command in commands(path, (sender, router, receiver)):
            _do(command)
        yield sender, router, receiver, relay


def run(
    path: KernelPath, flows: Sequence[dict[str, Any]], duration: float, spacing: float, label: str
) -> dict[str, Any]:
    """One run: samples of each flow, counts of the bottleneck, lateness of the relay.

    Args:
        path: The path.
        flows: Of each flow its controller, as the kernel calls it (``control``), and its start in seconds.
        duration: Seconds; the run takes this long in real time, and a second more.
        spacing: Seconds between samples.
        label: Tells namespaces of runs at the same time apart.

    Raises:
        KernelError: A command or program failed.
    """
    with network(path, label) as (sender, router, receiver, relay):
        sink = program(receiver, "endpoint.py", "receive", str(PORT), str(len(flows)))
        try:
            _await(sink)
            job = {
                "to": "10.77.2.2",
                "port": PORT,
                "flows": list(flows),
                "duration": duration,
                "spacing": spacing,
            }
            source = program(sender, "endpoint.py", "send", json.dumps(job))
            try:
                samples = _words(source, duration + 20)
            finally:
                _end(source)
        finally:
            _end(sink)
        counted = json.loads(
            _do(["ip", "netns", "exec", router, "tc", "-s", "-j", "qdisc", "show", "dev", "to-receiver"])
        )[0]
        assert relay.stdin is not None
        relay.stdin.close()
        relay.stdin = None
        late = _words(relay, 10)
    return {
        "flows": json.loads(samples),
        "sent": counted["packets"],
        "bytes": counted["bytes"],
        "dropped": counted["drops"],
        "relay": json.loads(late),
    }


def program(namespace: str, file: str, *arguments: str) -> subprocess.Popen[str]:
    """Starts one of this folder's programs in a namespace."""
    command = ["ip", "netns", "exec", namespace, sys.executable, "-S", str(HERE / file), *arguments]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _await(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    if process.stdout.readline() != "ready\n":
        raise KernelError(f"{process.args!r} did not start: {process.communicate()[1].strip()}")


def _words(process: subprocess.Popen[str], patience: float) -> str:
    try:
        out, words = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired as error:
        raise KernelError(f"{process.args!r} did not end in {patience:g} s") from error
    if process.returncode != 0:
        raise KernelError(f"{process.args!r} failed: {words.strip()[-1000:]}")
    return out


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _do(command: list[str]) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise KernelError(f"`{' '.join(command)}`: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
