"""`fairwave doctor`."""

from __future__ import annotations

from rich.markup import escape

from fairwave.cli import console


def show_components(*, json: bool) -> None:
    """Shows installed components, and missing ones with their purpose and remedy."""
    from fairwave.components import components

    found = components()
    if json:
        console.document([one.to_dict() for one in found])
        return
    for part in dict.fromkeys(one.part for one in found):
        there = [one for one in found if one.part == part and one.is_there]
        if there:
            console.pairs(f"installed: {part}", [(one.name, one.found) for one in there])
    missing = [one for one in found if not one.is_there]
    if missing:
        console.table(
            "missing", ["", "for", "to install"],
            [[escape(cell) for cell in (one.name, one.purpose, one.remedy)] for one in missing],
            left=True, caption="Fairwave runs without these. Each is needed for its purpose alone.",
        )  # fmt: skip
