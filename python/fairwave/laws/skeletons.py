"""Skeletons of custom laws and measures: working code, its test, and a scenario that uses it."""

from __future__ import annotations

import keyword
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from fairwave import _native
from fairwave.laws.registering import NAME
from fairwave.staging import write_text


@dataclass(frozen=True)
class SkeletonKind:
    """A kind of skeleton.

    Attributes:
        what: Name of the kind in a sentence.
        names: Kind of names in `fairwave.names()` that a new name must differ from.
        register: Rust function that registers the law; empty if there is none.
    """

    what: str
    names: str
    register: str = ""


KINDS = {
    "controller": SkeletonKind(
        "a controller", "transports", "fairwave_core::transport::tcp::control::register"
    ),
    "discipline": SkeletonKind("a queue discipline", "queues", "fairwave_core::queue::register"),
    "source": SkeletonKind("a traffic source", "traffic", "fairwave_core::traffic::register"),
    "loss-model": SkeletonKind("a loss model", "losses", "fairwave_core::loss::register"),
    "link-law": SkeletonKind("a link law", "rates", "fairwave_core::link::register"),
    "rate-controller": SkeletonKind("a rate controller", "controllers"),
    "measure": SkeletonKind("a measure", "measures"),
}

SHORT = {
    "loss": "loss-model",
    "link": "link-law",
    "queue": "discipline",
    "traffic": "source",
    "transport": "controller",
    "congestion-control": "controller",
    "control": "rate-controller",
}


class SkeletonError(ValueError):
    """No skeleton can be made; the message names the remedy."""


def begin(
    kind: str, name: str, folder: Path, *, rust: bool = False, checkout: Path | None = None
) -> tuple[list[Path], list[str]]:
    """Writes the files of a skeleton.

    Args:
        kind: One of `KINDS`.
        name: Name in scenarios.
        folder: Folder for the files; created if missing.
        rust: True to write a Rust program in a separate folder instead of a Python file.
        checkout: Fairwave's sources for a Rust program; when None, the sources that this package was built from.

    Returns:
        The files, and the commands to type next.

    Raises:
        SkeletonError: The kind or the name is not valid, the sources are missing, or a file exists.
    """
    kind = SHORT.get(kind, kind)
    if kind not in KINDS:
        from difflib import get_close_matches

        near = get_close_matches(kind, KINDS, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise SkeletonError(f"no kind {kind!r} of law; there are {', '.join(KINDS)}{hint}")
    module = _check_name(kind, name)
    if rust:
        if not KINDS[kind].register:
            raise SkeletonError(f"`fairwave new` writes {KINDS[kind].what} in Python alone: leave --rust out")
        return _write_rust(kind, name, module, folder, _sources(checkout))
    files = {
        f"{module}.py": f"{kind}.py.txt",
        f"test_{module}.py": f"test_{kind}.py.txt",
        f"{module}.toml": f"{kind}.toml.txt",
    }
    written = _write(folder, files, kind, name, module)
    code, test, scenario = (str(one) for one in written)
    return written, [
        f"pytest {test}",
        f"fairwave run {scenario} --laws {code}",
        f"fairwave explain {name} --laws {code}",
    ]


def _check_name(kind: str, name: str) -> str:
    """Checks the name and returns the name of the Python module."""
    from fairwave import _native
    from fairwave.measuring import measures

    if not NAME.fullmatch(name):
        raise SkeletonError(
            f"{name!r} is no name: use lower-case letters, digits and hyphens, as in 'my-law'"
        )
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or module in {"fairwave", "test", "law", "main"}:
        raise SkeletonError(f"{name!r} has a meaning of its own; take another name, as my-{name}")
    taken = (
        list(measures.STANDARD)
        if kind == "measure"
        else [one for one, _ in _native.names()[KINDS[kind].names]]
    )
    if {name, module, f"tcp/{name}"} & set(taken):
        raise SkeletonError(f"there is {KINDS[kind].what} named `{name}` already; give yours another name")
    return module


def _sources(checkout: Path | None) -> Path:
    """Returns the folder of fairwave's crates."""
    where = checkout if checkout is not None else Path(__file__).resolve().parents[3]
    if not (where / "crates/fairwave-core/Cargo.toml").is_file():
        hint = "" if checkout is not None else "; this installation has no source code"
        raise SkeletonError(
            f"{where} has no crates/fairwave-core{hint}: give --fairwave FOLDER, a checkout of fairwave"
        )
    return where.resolve()


def _write_rust(
    kind: str, name: str, module: str, folder: Path, checkout: Path
) -> tuple[list[Path], list[str]]:
    crate = folder / name
    files = {
        "Cargo.toml": "rust/Cargo.toml.txt",
        "src/main.rs": "rust/main.rs.txt",
        "src/law.rs": f"rust/{kind}.rs.txt",
        f"{module}.toml": f"{kind}.toml.txt",
    }
    written = _write(crate, files, kind, name, module, checkout)
    lock = checkout / "Cargo.lock"
    if lock.is_file():  # use the same versions of all dependencies
        (crate / "Cargo.lock").write_bytes(lock.read_bytes())
        written.append(crate / "Cargo.lock")
    return written, [f"cd {crate}", "cargo test", f"cargo run --release -- {module}.toml"]


def _write(
    folder: Path, files: dict[str, str], kind: str, name: str, module: str, checkout: Path | None = None
) -> list[Path]:
    """Writes all files from their templates, or none if one of them exists."""
    words = {
        "@NAME@": name,
        "@MODULE@": module,
        "@CLASS@": "".join(part.capitalize() for part in name.split("-")),
        "@TITLE@": name.replace("-", " ").capitalize(),
        "@WHAT@": KINDS[kind].what,
        "@REGISTER@": KINDS[kind].register,
        "@LANGUAGE@": _native.language,
        "@CHECKOUT@": str(checkout or "").replace("\\", "/"),
    }
    there = [folder / file for file in files if (folder / file).exists()]
    if there:
        raise SkeletonError(
            f"{there[0]} exists, and is left as it is; give another name, or another folder by --in"
        )
    templates = resources.files("fairwave.laws") / "templates"
    written = []
    for file, template in files.items():
        text = (templates / template).read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        where = folder / file
        write_text(where, text)
        written.append(where)
    return written
