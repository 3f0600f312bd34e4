"""The studies, one package each: `fairwave.studies.<name>` with a function `study()` that describes it."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairwave.study import Study


def names() -> list[str]:
    """Names of the studies that there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def find(name: str) -> Study:
    """The study of that name.

    Raises:
        LookupError: There is none; the message names the nearest and lists all.
    """
    if name not in names():
        import difflib

        near = difflib.get_close_matches(name, names(), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise LookupError(f"no study {name!r}; there are {', '.join(names()) or 'none'}{hint}")
    module = importlib.import_module(f"fairwave.studies.{name}")
    study: Study = module.study()
    return study
