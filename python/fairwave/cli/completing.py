"""Completion of names with the TAB key: each function lists the names with the typed prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def _begun(names: Iterable[str], incomplete: str) -> list[str]:
    return [one for one in names if one.startswith(incomplete)]


def _last(names: Iterable[str], incomplete: str) -> list[str]:
    """Completes the last of several names that are separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{one}" for one in _begun(names, last)]


def example_names(incomplete: str) -> list[str]:
    """Names of the examples that come with fairwave."""
    from fairwave.packaged import list_examples

    return _begun(list_examples(), incomplete)


def kinds(incomplete: str) -> list[str]:
    """Kinds of names."""
    from fairwave.cli.inspecting import KINDS

    return _begun(KINDS, incomplete)


def new_kinds(incomplete: str) -> list[str]:
    """Kinds of laws and measures for `fairwave new`."""
    from fairwave.laws.skeletons import KINDS

    return _begun(KINDS, incomplete)


def explained(incomplete: str) -> list[str]:
    """Names that can be explained."""
    from fairwave.reference import list_names

    return _begun(list_names(), incomplete)


def measures(incomplete: str) -> list[str]:
    """Measures, joined by commas."""
    from fairwave.measuring.measures import STANDARD

    return _last(STANDARD, incomplete)


def transports(incomplete: str) -> list[str]:
    """Transports, joined by commas."""
    from fairwave.reference import listed

    return _last((name for name, _ in listed("transports")), incomplete)


def figures(incomplete: str) -> list[str]:
    """Formats of figures, joined by commas."""
    return _last(("svg", "png", "pdf"), incomplete)
