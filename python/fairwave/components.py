"""Installed and missing components, with the purpose of each, for `fairwave doctor`."""

from __future__ import annotations

import os
import re
import shutil
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave import _native
from fairwave.extras import PACKAGES, is_there

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Component:
    """A part of an installation.

    Attributes:
        name: Name of the component.
        part: The part of fairwave that it belongs to: a group of lines.
        purpose: Purpose of the component.
        found: Version or place; empty if it is missing.
        remedy: How to install it, if it is missing.
    """

    name: str
    part: str
    purpose: str
    found: str
    remedy: str = ""

    @property
    def is_there(self) -> bool:
        """Whether it is installed."""
        return bool(self.found)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "installed": self.is_there}


EXTRAS = {
    "tables": "tables as Polars and Parquet, folders of results that fairwave reads back",
    "pandas": "tables as pandas",
    "report": "pages with figures and audio, for `--out`",
    "studies": "`fairwave study`, `evaluate` and `rfc8867`",
    "speech": "reading any recording, recognising digits",
    "video": "streaming real clips",
    "explore": "`fairwave study --explore`: the factors that decide a claim",
    "cluster": "`--cluster`: runs on other machines",
    "network": "`fairwave network`, topologies from files and TopoHub",
    "gym": "environments in which controllers learn",
    "lab": "the lab as a widget in notebooks",
    "scoring": "ViSQOL: scoring what is heard against the original",
}
"""Extras of the package, with the purpose of each."""

PROGRAMS = (
    (("chromium", "google-chrome", "chrome"), "pictures of pages and tests in a browser", "apt install chromium"),
    (("wireshark", "tshark"), "reading captures of `--capture`", "apt install wireshark"),
    (("ffmpeg",), "converting recordings and clips that fairwave cannot read", "apt install ffmpeg"),
    (("irtt",), "measurements for `fairwave measure --irtt`", "apt install irtt"),
    (("node",), "building and testing the lab", "apt install nodejs, or https://nodejs.org"),
    (("cargo",), "laws in Rust (`fairwave new --rust`) and building fairwave", "https://rustup.rs"),
    (("ns",), "comparison with ns-2 (`make validate`)", "https://www.nsnam.org/wiki/User_Information"),
    (("clang",), "`fairwave kernel load`: controllers in the kernel", "apt install clang libbpf-dev"),
    (("bpftool",), "`fairwave kernel`: controllers in the kernel", "apt install bpftool"),
    (("baresip",), "telephones in live runs", "apt install baresip"),
)  # fmt: skip
"""Programs by name, with purpose and the package that installs each."""


def components() -> list[Component]:
    """Every component, installed or missing."""
    return [*_core(), *_extras(), *_files(), *_live(), *_programs()]


def _core() -> Iterator[Component]:
    from fairwave.provenance import describe_commit
    from fairwave.runs.keeping import engine

    core = "fairwave"
    yield Component("fairwave", core, "the package", f"{_native.version}, commit {describe_commit()}")
    yield Component(
        "simulator", core, "the compiled part", f"build {engine().partition('+')[2]}, {_native.__file__}"
    )
    yield Component("python", core, "the interpreter", f"{sys.version.split()[0]}, {sys.executable}")
    names = {name for kind in ("transports", "controllers") for name, _ in _native.names()[kind]}
    for name, what in (
        ("quic/quinn", "QUIC by quinn, as a transport"),
        ("webrtc/str0m", "WebRTC by str0m, as a transport"),
        ("goog-cc", "libwebrtc's controller by goog_cc"),
    ):
        found = "built in" if name in names else ""
        yield Component(name, core, what, found, "in a checkout: make stacks")


def _extras() -> Iterator[Component]:
    for extra, purpose in EXTRAS.items():
        wanted = requirements(extra)
        missing = [name for name in wanted if not is_there(PACKAGES.get(name, name.replace("-", "_")))]
        found = (
            "" if missing or not wanted else ", ".join(f"{name} {_version(name)}".strip() for name in wanted)
        )
        lacks = f" (missing: {', '.join(missing)})" if missing else ""
        yield Component(extra, "extras", purpose, found, f"pip install 'fairwave[{extra}]'{lacks}")


def requirements(extra: str) -> list[str]:
    """Returns the packages of an extra, including those of the extras that it contains."""
    try:
        lines = metadata.requires("fairwave") or []
    except metadata.PackageNotFoundError:
        return []
    found: list[str] = []
    for line in lines:
        name, _, condition = line.partition(";")
        if re.search(rf"extra\s*==\s*['\"]{extra}['\"]", condition) is None:
            continue
        inner = re.match(r"fairwave\[([\w,-]+)\]", name.strip())
        if inner:
            found += [one for part in inner[1].split(",") for one in requirements(part)]
        elif package := re.match(r"[\w.-]+", name.strip()):
            found.append(package[0].lower())
    return list(dict.fromkeys(found))


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _files() -> Iterator[Component]:
    from fairwave import lab, layers
    from fairwave.extras import MissingExtraError

    built = lab.built()
    yield Component(
        "lab page", "files", "`fairwave lab`: the simulator in a page", str(built) if built else "",
        "in a checkout: make lab",
    )  # fmt: skip
    recordings = ""
    with suppress(MissingExtraError):
        recordings = "the default prompt" if layers.layer("pages").speech(None) is not None else ""
    yield Component(
        "recordings", "files", "audible calls on pages without a recording of yours", recordings,
        "python -m fairwave_speech.fetch (Debian, Ubuntu), or --speech FILE",
    )  # fmt: skip
    studies = layers.studies()
    yield Component(
        "studies", "files", "`fairwave study`", ", ".join(studies), "pip install 'fairwave[studies]'"
    )


def _live() -> Iterator[Component]:
    purpose = "`fairwave live` and `shell`: real packets between network namespaces"
    remedy = "Linux, as root or with user namespaces: sysctl -w user.max_user_namespaces=10000"
    yield Component("namespaces", "live runs", purpose, _namespaces(), remedy)
    tun = "/dev/net/tun"
    found = tun if os.access(tun, os.R_OK | os.W_OK) else ""
    yield Component(
        "tun device", "live runs", purpose, found, "modprobe tun; in a container: --device /dev/net/tun"
    )


def _namespaces() -> str:
    """Why this process may make network namespaces; empty if it may not."""
    if sys.platform != "linux":
        return ""
    if os.geteuid() == 0:
        return "root"

    def setting(path: str, default: int) -> int:
        try:
            return int(Path(path).read_text(encoding="ascii"))
        except (OSError, ValueError):
            return default

    allowed = (
        setting("/proc/sys/user/max_user_namespaces", 0) > 0
        and setting("/proc/sys/kernel/unprivileged_userns_clone", 1) > 0
        and setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0) == 0
    )
    return "user namespaces" if allowed else ""


def _programs() -> Iterator[Component]:
    for names, purpose, remedy in PROGRAMS:
        found = next((path for name in names if (path := shutil.which(name))), "")
        yield Component(names[0], "programs", purpose, found or "", remedy)
    found = "installed" if is_there("ns") or is_there("ns3") else ""
    yield Component("ns-3", "programs", "comparison with ns-3 (`make validate`)", found, "pip install ns3")
