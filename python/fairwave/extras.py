"""Optional packages, imported only when needed, and the extras that install them."""

from __future__ import annotations

import importlib
from typing import Any

from fairwave.errors import UserError

PURPOSES = {
    "anywidget": "the lab as a widget",
    "av": "reading, coding and decoding sound and pictures",
    "distributed": "making runs on a cluster",
    "matplotlib": "drawing a figure",
    "networkx": "a topology from a file",
    "pandas": "a table as pandas data frame",
    "polars": "a table as polars data frame",
    "pyarrow": "a table as pyarrow table",
    "topohub": "a topology of TopoHub",
}
"""Purpose of each optional package."""

BRING = {
    "jinja2": "report",
    "matplotlib": "report",
    "networkx": "network",
    "pandas": "pandas",
    "polars": "tables",
    "pyarrow": "tables",
    "scipy": "report",
    "sklearn": "explore",
    "topohub": "network",
}
"""Smallest extra with each optional package."""


class MissingExtraError(UserError, ImportError):
    """An optional package is missing; the message names the command that installs it."""


PACKAGES = {
    "pillow": "PIL",
    "scikit-learn": "sklearn",
    "scikit-video": "skvideo",
    "visqol-python": "visqol",
}
"""Module of each package that has another name."""


def install(extra: str) -> str:
    """Returns the advice how to install an extra."""
    return f"install it with: pip install 'fairwave[{extra}]'"


def need(package: str, extra: str, error: type[Exception] = MissingExtraError) -> Any:
    """Imports an optional package.

    Args:
        package: One of `PURPOSES`.
        extra: The extra of fairwave that contains it.
        error: Type of the exception if it is missing.

    Raises:
        Exception: `error`; its message names the command that installs the package.
    """
    if package == "matplotlib":
        silence_matplotlib()
    try:
        return importlib.import_module(package)
    except ImportError as missing:
        raise error(
            f"{PURPOSES[package]} needs the package {package!r}, which is not installed; {install(extra)}"
        ) from missing


def silence_matplotlib() -> None:
    """Keeps Matplotlib from warning about a home folder that is read-only: it works with a temporary folder then."""
    import logging

    def is_shown(record: logging.LogRecord) -> bool:
        message = record.getMessage()
        return "MPLCONFIGDIR" not in message and not message.startswith("mkdir -p failed")

    logging.getLogger("matplotlib").addFilter(is_shown)


CARRIED = {
    "report": ("jinja2", "matplotlib", "polars", "pyarrow", "scipy"),
    "network": ("jinja2", "matplotlib", "networkx", "polars", "pyarrow", "scipy"),
    "studies": ("jinja2", "matplotlib", "polars", "pyarrow", "scipy"),
}
"""Packages that each extra installs."""


def need_all(what: str, extra: str) -> None:
    """Refuses a command whose extra is not installed.

    Args:
        what: The command: "fairwave study".
        extra: One of `CARRIED`.

    Raises:
        MissingExtraError: A package of the extra is missing; the message names it and the command that installs it.
    """
    for package in CARRIED[extra]:
        if not is_there(package):
            raise MissingExtraError(
                f"{what} needs the package {package!r}, which is not installed; {install(extra)}"
            )


def is_there(package: str) -> bool:
    """Whether a package is installed; does not import it."""
    from importlib.util import find_spec

    try:
        return find_spec(package) is not None
    except ImportError:
        return False


def lacking(error: ImportError, what: str, extra: str = "") -> MissingExtraError | None:
    """Returns an error that names the extra if the failed import is an optional package; None otherwise.

    Args:
        error: The failed import.
        what: The feature that needed it, in words: "pages with figures and audio".
        extra: The extra with all packages that the feature needs; when empty, the one that contains the package.
    """
    package = (error.name or "").partition(".")[0]
    if isinstance(error, MissingExtraError):
        return error
    if package not in PURPOSES and package not in BRING:
        return None
    return MissingExtraError(
        f"{what} needs the package {package!r}, which is not installed; {install(extra or BRING.get(package, 'all'))}"
    )
