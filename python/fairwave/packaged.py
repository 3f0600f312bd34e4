"""Examples that come with fairwave: scenarios that you can name without a path, such as `home-call`.

A wheel has them next to this module; in a checkout they are the files of `examples/`.
"""

from __future__ import annotations

import re
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def examples_folder() -> Path | None:
    """The folder of the examples; None if this installation has none."""
    checkout, beside = _HERE.parents[1], _HERE / "examples"
    if (checkout / "Cargo.toml").is_file() and (checkout / "examples").is_dir():
        return checkout / "examples"
    return beside if beside.is_dir() else None


def list_examples() -> list[str]:
    """Names of the examples, in alphabetical order."""
    folder = examples_folder()
    return sorted(one.stem for one in folder.glob("*.toml")) if folder is not None else []


def find_example(text: str) -> Path | None:
    """Returns the file of an example that is written as `home-call` or `examples/home-call.toml`; None without one."""
    path, folder = Path(text), examples_folder()
    is_path = len(path.parts) == 2 and path.parent.name == "examples" and path.suffix == ".toml"
    name = path.stem if is_path else text
    return folder / f"{name}.toml" if folder is not None and name in list_examples() else None


def find_scenario(text: str) -> Path | None:
    """Returns the file that is meant by a path or by the name of an example; None without one. A file comes first."""
    path = Path(text)
    return path if path.exists() and not path.is_dir() else find_example(text)


def summarise(file: Path) -> str:
    """The first sentence of the comment at the top of an example: the question that it asks."""
    lines = file.read_text(encoding="utf-8").splitlines()
    head = next((place for place, line in enumerate(lines) if not line.startswith("#")), len(lines))
    text = " ".join(line.lstrip("# ") for line in lines[:head])
    found = re.match(r".*?[.?](?=\s|$)", text)
    return found[0] if found else text
