"""The paragraphs of a study's experiments, in `experiments.toml`: every number in them is measured.

A paragraph has places in braces, with parts between bars:

- `{mean | SIDE | LABEL | 2}`: the mean of a comparison or quantity on a side.
- `{mean | LABEL | 2}`: the mean on the first side, then the means on sides with another value: "0.97 (0.94: SACK)".
- `{interval | SIDE | LABEL | 2}`: the mean with its 95 % interval: "0.97 [0.95, 0.99]".
- `{change | SIDE | LABEL | 2}`: how much higher the side has it than the first, with its interval.
- `{change | LABEL | 2}`: the same of the last side.
- `{difference | SIDE | LABEL | OTHER | 2}`: the mean minus the mean of another comparison or quantity on the same side.
- `{each | LABEL | 2}`: the mean on every side: "0.97 (Reno), 0.94 (SACK)".
- `{verdict | SIDE}` and `{verdict | SIDE | PART}`: the verdict of the claim, or of one of its parts, on a side.
- `{verdicts}`: a sentence with the verdict on every side; `{parts}`: the same with the verdicts of its parts.

Sides and labels are those of the experiment; the last number is the number of decimals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairwave_study.places import fill_places, list_places

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairwave_study.experiments import Experiment, FoundExperiment

BAR = " | "


def _mean(found: FoundExperiment, *parts: str) -> str:
    *side, label, digits = parts
    if side:
        return f"{found.interval(side[0], label).mean:.{int(digits)}f}"
    first, *others = [(name, f"{found.interval(name, label).mean:.{int(digits)}f}") for name in found.sides()]
    differ = ", ".join(f"{value}: {name}" for name, value in others if value != first[1])
    return f"{first[1]} ({differ})" if differ else first[1]


def _interval(found: FoundExperiment, side: str, label: str, digits: str) -> str:
    return found.with_interval(side, label, int(digits))


def _change(found: FoundExperiment, *parts: str) -> str:
    *side, label, digits = parts
    return found.moves(label, side[0] if side else None, int(digits))


def _difference(found: FoundExperiment, side: str, one: str, other: str, digits: str) -> str:
    return f"{found.interval(side, one).mean - found.interval(side, other).mean:.{int(digits)}f}"


def _list_sides(found: FoundExperiment, label: str, digits: str) -> str:
    return found.list_sides(label, int(digits))


def _verdict(found: FoundExperiment, side: str, part: str = "") -> str:
    return found.part(side, part) if part else found.verdict(side)


def _verdicts(found: FoundExperiment) -> str:
    return f"The claim is {', '.join(f'{found.verdict(side)} ({side})' for side in found.sides())}."


def _parts(found: FoundExperiment) -> str:
    def list_parts(side: str) -> str:
        return ", ".join(f"{name} {one.verdict()}" for name, one in found.evidence[side].parts().items())

    several = "; ".join(f"{side}: {found.verdict(side)} ({list_parts(side)})" for side in found.sides())
    return f"The claim with each, and its parts: {several}."


KINDS: Mapping[str, tuple[Callable[..., str], tuple[int, ...], int | None]] = {
    "mean": (_mean, (2, 3), 3),
    "interval": (_interval, (3,), 3),
    "change": (_change, (2, 3), 3),
    "difference": (_difference, (4,), 4),
    "each": (_list_sides, (2,), None),
    "verdict": (_verdict, (1, 2), 1),
    "verdicts": (_verdicts, (0,), None),
    "parts": (_parts, (0,), None),
}
"""Kind of a place to the function that fills it, the allowed numbers of parts, and the number of parts from which the
first one is a side."""


def _fits(kind: str, parts: Sequence[str]) -> bool:
    """Whether a place has a known kind, the right number of parts, and a number of decimals if it shows a number."""
    if kind not in KINDS or len(parts) not in KINDS[kind][1]:
        return False
    return kind in ("verdict", "verdicts", "parts") or parts[-1].isdecimal()


@dataclass(frozen=True)
class Paragraph:
    """The words of an experiment.

    Attributes:
        place: File and key, for messages.
        text: The text, with places in braces.
    """

    place: str
    text: str

    def __post_init__(self) -> None:
        """Refuses places that cannot be filled.

        Raises:
            ValueError: A place is of no kind, or has too few or too many parts. The message names file and key.
        """
        for place in list_places(self.text):
            kind, *parts = place.split(BAR)
            if not _fits(kind, parts):
                raise ValueError(
                    f"{self.place}: there is no place {{{place}}}; there are {', '.join(KINDS)}, each with its parts"
                )

    def __call__(self, found: FoundExperiment) -> str:
        """The paragraph with the numbers that the experiment found."""

        def show(place: str) -> str:
            kind, *parts = place.split(BAR)
            return KINDS[kind][0](found, *parts)

        return fill_places(self.text, show)

    def unknown(self, experiment: Experiment) -> list[str]:
        """Places that name a side which the experiment does not have."""
        sides = {one.label for one in experiment.sides}
        found = []
        for place in list_places(self.text):
            kind, *parts = place.split(BAR)
            least = KINDS[kind][2]
            if least is not None and len(parts) >= least and parts[0] not in sides:
                found.append(place)
        return found
