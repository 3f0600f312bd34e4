"""Packages that fairwave does without until somebody asks for what they bring, and the extras that install them."""

from __future__ import annotations

import importlib
from typing import Any

PURPOSES = {
    "anywidget": "the lab as a widget",
    "av": "reading, coding and decoding sound and pictures",
    "distributed": "making runs on a cluster",
    "pandas": "a table as pandas data frame",
}
"""Optional package to what it is needed for."""


def need(package: str, extra: str, error: type[Exception] = ImportError) -> Any:
    """An optional package, which is made sure to be there.

    Args:
        package: One of `PURPOSES`.
        extra: The extra of fairwave that brings it.
        error: What is raised where it is not there.

    Raises:
        Exception: `error`, whose message names the command that installs what is missing.
    """
    try:
        return importlib.import_module(package)
    except ImportError as missing:
        raise error(
            f"{PURPOSES[package]} needs the package {package!r}, which is not installed; "
            f"install it with: pip install 'fairwave[{extra}]'"
        ) from missing
