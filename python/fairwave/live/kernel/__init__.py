"""Fairwave's controllers in the kernel: AIMD(α, β), Reno+γ and Reno+γ+δ for its TCP, by BPF `struct_ops`.

Fairwave compiles the C source next to this module for the machine's kernel, with the kernel's types from its BTF. It
registers the controller under a name that begins with ``fw_``. The parameters stay readable in the kernel, so fairwave
keeps no other record of them.

    >>> from fairwave.live import kernel
    >>> kernel.load("aimd", {"alpha": 0.31, "beta": 0.875})  # doctest: +SKIP
    >>> kernel.unload("fw_aimd")  # doctest: +SKIP

Needs Linux, root, and clang, bpftool and libbpf's headers.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave._native import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SOURCE = Path(__file__).with_name("controllers.bpf.c")
BTF = Path("/sys/kernel/btf/vmlinux")
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
HEADERS = (Path("/usr/include"), Path("/usr/local/include"))

PREFIX = "fw_"
"""Prefix of fairwave's names. Fairwave never changes a controller without it."""

NAME = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{1,12}}")
"""Pattern of fairwave's names; the kernel has room for 15 bytes."""

MILLION = 1_000_000
"""Parameters are kept in millionths."""

STRUCT_OPS = "fairwave"
"""Name of the table of functions in the C source."""

ASKED = struct.Struct("=6I16s")
"""Layout of the source's `struct fairwave_parameters`."""

PATIENCE_S = 120.0
"""Longest run time of an external tool, in seconds."""

NEEDED = (21,), (12, 38, 39)
"""Capabilities, one set or the other (linux/capability.h): SYS_ADMIN, or NET_ADMIN, PERFMON and BPF."""

LAST_LINES = 6
"""Number of lines of a tool's error output that are shown."""


class ParameterError(ValueError):
    """A parameter or name is not allowed; the message lists the allowed values."""


@dataclass(frozen=True)
class Parameter:
    """Range of one parameter of a law.

    Attributes:
        default: Default value.
        most: Upper limit. Values are above 0 and below this limit; a limit above 1 is itself allowed.
    """

    default: float
    most: float


PARAMETERS = {
    "alpha": Parameter(1.0, 100.0),
    "beta": Parameter(0.5, 1.0),
    "upper": Parameter(0.5, 1.0),
    "lower": Parameter(0.1, 1.0),
    "delta": Parameter(2.0, 100.0),
}
"""Parameters in the order of the kernel's struct: segments per round trip, or shares."""

LAWS = {
    "aimd": ("alpha", "beta"),
    "gamma": ("alpha", "beta", "upper"),
    "gamma-delta": ("alpha", "beta", "upper", "lower", "delta"),
}
"""Parameters of each law, the same as for `tcp/aimd`, `tcp/gamma` and `tcp/gamma-delta`."""


@dataclass(frozen=True)
class Controller:
    """A controller of fairwave in the kernel.

    Attributes:
        name: Name in the kernel.
        law: One of `LAWS`.
        parameters: All parameters of the law.
        number: The kernel's number of the controller.
    """

    name: str
    law: str
    parameters: dict[str, float]
    number: int

    @property
    def simulated(self) -> dict[str, Any]:
        """The simulated counterpart: Linux's rules, with RACK recovery as the kernel uses it."""
        return {"name": f"tcp/{self.law}", "preset": "linux", "recovery": "rack", **self.parameters}


def default_name(law: str) -> str:
    """Returns the default name of a law in the kernel."""
    return PREFIX + law.replace("-", "_")


def checked(law: str, given: Mapping[str, float]) -> dict[str, float]:
    """Returns all parameters of a law: the given ones, rounded to millionths, and defaults for the rest.

    Raises:
        ParameterError: There is no such law, it has no such parameter, or a value is out of range.
    """
    if law not in LAWS:
        raise ParameterError(f"there is no controller {law!r} for the kernel: write one of {', '.join(LAWS)}")
    for name in given:
        if name not in LAWS[law]:
            known = ", ".join(f"--{one}" for one in LAWS[law])
            raise ParameterError(f"{law} has no --{name}: it has {known}")
    found: dict[str, float] = {}
    for name in LAWS[law]:
        range_ = PARAMETERS[name]
        value = given.get(name, range_.default)
        most = found["upper"] if name == "lower" else range_.most
        closed = most > 1
        millionths = round(value * MILLION) if abs(value) < MILLION else 0
        if not (0 < millionths < round(most * MILLION) + closed):
            allowed = f"at least 0.000001 and {'at most' if closed else 'below'} {most:g}"
            beyond = " (--upper)" if name == "lower" else ""
            example = min(range_.default, most / 2)
            raise ParameterError(
                f"--{name} is {value:g}, but must be {allowed}{beyond}; write for example --{name} {example:g}"
            )
        found[name] = millionths / MILLION
    return found


def available() -> list[str]:
    """Returns all congestion controls that the kernel has now; empty on systems other than Linux."""
    return AVAILABLE.read_text(encoding="utf-8").split() if AVAILABLE.exists() else []


def missing(*, compiles: bool = True) -> str | None:
    """Returns why controllers cannot be loaded (without `compiles`: listed) on this machine, or None if they can."""
    if sys.platform != "linux":
        return "it needs Linux"
    wanted, packages = [], []
    if compiles:
        if not BTF.exists():
            wanted.append(f"the kernel does not tell its types ({BTF}: CONFIG_DEBUG_INFO_BTF)")
        if shutil.which("clang") is None:
            packages.append(("clang", "clang"))
        if not any((folder / "bpf" / "bpf_helpers.h").exists() for folder in HEADERS):
            packages.append(("libbpf's headers", "libbpf-dev"))
    if shutil.which("bpftool") is None:
        packages.append(("bpftool", "bpftool"))
    wanted += [f"{what} is missing (Debian's package {package})" for what, package in packages]
    if not _able():
        wanted.append("it must be root's (or have CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN)")
    install = f": apt install {' '.join(package for _, package in packages)}" if packages else ""
    return "; ".join(wanted) + install if wanted else None


def _able() -> bool:
    """Whether this process has the capabilities that loading needs."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    found = re.search(r"^CapEff:\s*([0-9a-f]+)", status, re.MULTILINE)
    able = int(found[1], 16) if found else 0
    return any(all(able >> one & 1 for one in needed) for needed in NEEDED)


def load(
    law: str, parameters: Mapping[str, float] | None = None, name: str | None = None, *, verbose: bool = False
) -> Controller:
    """Loads a law into the kernel, where it stays until you unload it or restart the machine.

    Args:
        law: One of `LAWS`.
        parameters: Parameters that differ from the defaults.
        name: Name in the kernel: `fw_` and at most twelve letters, digits, `_` and `-`. Default: the law's name.
        verbose: True to show all compiler and verifier messages instead of the last lines.

    Raises:
        ParameterError: A name or value is not allowed.
        fairwave.RunError: A tool is missing, the name is taken, or the kernel refuses the controller.
    """
    asked = checked(law, parameters or {})
    name = default_name(law) if name is None else name
    if not NAME.fullmatch(name):
        raise ParameterError(
            f"--name is {name!r}, but must be {PREFIX} and 1 to 12 letters, digits, _ and -; "
            f"write for example --name {default_name(law)}"
        )
    why = missing()
    if why:
        raise RunError(f"no controller can be brought into the kernel: {why}")
    if name in available():
        raise RunError(
            f"the kernel has a congestion control {name} already: write `fairwave kernel unload {name}` first, "
            f"or another name (--name {PREFIX}other)"
        )
    types = _run("the kernel's types cannot be read", ["bpftool", *_TYPES], verbose=verbose)
    with _memory_file(types) as file:
        command = _compiler(law, name, asked, _path(file))
        built = _run("the controller cannot be compiled", command, verbose=verbose, file=file)
    with _memory_file(built) as file:
        command = ["bpftool", "struct_ops", "register", _path(file)]
        _run("the kernel does not take the controller", command, verbose=verbose, file=file)
    found = {one.name: one for one in loaded()}
    if name not in found:
        raise RunError(f"the kernel has taken {name} and does not list it: see `bpftool struct_ops list`")
    return found[name]


_TYPES = ("btf", "dump", "file", str(BTF), "format", "c")


@contextmanager
def _memory_file(content: bytes) -> Iterator[int]:
    """Opens a file without a name, which the kernel removes even if this process is killed."""
    file = os.memfd_create("fairwave")
    try:
        with os.fdopen(os.dup(file), "wb") as stream:
            stream.write(content)
        yield file
    finally:
        os.close(file)


def _path(file: int) -> str:
    """Returns the path under which a tool that inherits the open file can read it."""
    return f"/proc/self/fd/{file}"


def _compiler(law: str, name: str, asked: Mapping[str, float], types: str) -> list[str]:
    """Returns the command of a compiler that reads the kernel's types from a file and writes the object to stdout."""
    numbers = {one: round(asked.get(one, PARAMETERS[one].default) * MILLION) for one in PARAMETERS}
    constants = [f"-DFAIRWAVE_{one.upper()}={value}U" for one, value in numbers.items()]
    constants += [f"-DFAIRWAVE_LAW={list(LAWS).index(law)}", f'-DFAIRWAVE_NAME="{name}"']
    constants.append(f'-DFAIRWAVE_TYPES="{types}"')
    # The dump of the kernel's types contains declarations that declare nothing.
    flags = ["-O2", "-g", "-target", "bpf", "-Wall", "-Werror", "-Wno-missing-declarations"]
    return ["clang", *flags, *constants, "-c", str(SOURCE), "-o", "-"]


def loaded() -> list[Controller]:
    """Lists fairwave's controllers in the kernel.

    Raises:
        fairwave.RunError: The kernel cannot be queried.
    """
    why = missing(compiles=False)
    if why:
        raise RunError(f"the kernel cannot be asked for its controllers: {why}")
    maps = _asked("map", "show")
    types = {
        one.get("btf_id"): one["id"]
        for one in maps
        if (one["type"], one.get("name")) == ("struct_ops", STRUCT_OPS)
    }
    names = available()
    found = {}
    # A name can occur twice while connections still use the older controller. The later one is in force.
    for one in sorted(maps, key=lambda one: int(one["id"])):
        ours = one["type"] == "array" and one.get("name", "").endswith(".rodata")
        if not ours or one.get("bytes_value") != ASKED.size or one.get("btf_id") not in types:
            continue
        (entry,) = _asked("map", "dump", "id", str(one["id"]))
        law, *numbers, name = ASKED.unpack(bytes(int(byte, 16) for byte in entry["value"]))
        called = name.rstrip(b"\0").decode("ascii", "replace")
        if called in names and law < len(LAWS):
            which = list(LAWS)[law]
            values = dict(zip(PARAMETERS, numbers, strict=True))
            kept = {one: values[one] / MILLION for one in LAWS[which]}
            found[called] = Controller(called, which, kept, int(types[one["btf_id"]]))
    return sorted(found.values(), key=lambda one: one.name)


def unload(name: str) -> Controller:
    """Unloads a controller of fairwave from the kernel; connections that use it keep it until they end.

    Raises:
        fairwave.RunError: The controller was not loaded by `load`, or the kernel keeps it.
    """
    ours = {one.name: one for one in loaded()}
    if name not in ours:
        there = "is not ours" if name in available() else "is not in the kernel"
        which = f"write one of {', '.join(ours)}" if ours else "nothing of ours is loaded"
        raise RunError(f"{name} {there}: {which}")
    command = ["bpftool", "struct_ops", "unregister", "id", str(ours[name].number)]
    _run("the kernel keeps the controller", command, verbose=False)
    if name in available():
        raise RunError(f"the kernel still lists {name}: see `bpftool struct_ops list`")
    return ours[name]


def _asked(*words: str) -> list[dict[str, Any]]:
    """Runs bpftool and returns its JSON output as a list."""
    answer = json.loads(
        _run("the kernel cannot be asked for its controllers", ["bpftool", "-j", *words], verbose=False)
    )
    return answer if isinstance(answer, list) else [answer]


def _run(trouble: str, command: Sequence[str], *, verbose: bool, file: int | None = None) -> bytes:
    """Runs a tool and returns its output. An error shows the last lines of the tool's messages, or all if `verbose`.

    `file` is an open file that the tool reads.
    """
    files = () if file is None else (file,)
    try:
        done = subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE_S, pass_fds=files)
    except subprocess.TimeoutExpired:
        raise RunError(f"{trouble}: {command[0]} took longer than {PATIENCE_S:g} s") from None
    if done.returncode == 0:
        return done.stdout
    said = (done.stderr.strip() or done.stdout.strip()).decode(errors="replace")
    lines = (said or f"exit status {done.returncode}").splitlines()
    left_out = len(lines) - LAST_LINES
    if left_out > 0 and not verbose:
        lines = [f"({left_out} lines before; --verbose shows them)", *lines[-LAST_LINES:]]
    raise RunError("\n".join([f"{trouble}: {command[0]} says", *(f"  {line}" for line in lines)]))
