"""Placement of names next to points, so that they cover neither each other nor points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Box = tuple[float, float, float, float]
"""Left, top, right and bottom; down is positive."""

LETTER = 0.66
"""Width of a letter as a share of its size; larger than for most names in the fonts of pages and figures."""

HEIGHT = 1.2
"""Height of a line of letters as a share of their size."""

PLACES: tuple[tuple[float, float], ...] = (
    (1, -1), (1, 1), (-1, -1), (-1, 1), (1, 0), (-1, 0), (0, -1), (0, 1),
)  # fmt: skip
"""Directions from the point, in order of preference."""

FAR = (1.0, 2.2)
"""Distances from the point, as multiples of the room."""


@dataclass(frozen=True)
class Label:
    """A placed name.

    Attributes:
        text: The name.
        x: Position of its anchor.
        y: Its baseline.
        anchor: The part of the name at `x`, in SVG's terms.
    """

    text: str
    x: float
    y: float
    anchor: Literal["start", "middle", "end"]

    def box(self, size: float) -> Box:
        """Returns the area that it covers with letters of this size."""
        wide = LETTER * size * len(self.text)
        left = self.x - {"start": 0.0, "middle": wide / 2, "end": wide}[self.anchor]
        return left, self.y - 0.95 * size, left + wide, self.y + (HEIGHT - 0.95) * size


def place(
    points: Mapping[str, tuple[float, float]],
    lines: Iterable[tuple[float, float, float, float]],
    size: float,
    room: float,
    within: Box,
) -> list[Label]:
    """Places a label for each point.

    Points with the nearest neighbours choose first. A label takes the position that covers the least of other labels
    and points, and then of lines.

    Args:
        points: Name to position.
        lines: Ends of lines, `x1, y1, x2, y2`.
        size: Size of the letters.
        room: Distance of a label from its point.
        within: Area that labels should not leave.
    """
    segments = list(lines)
    dots = {name: (x - room / 2, y - room / 2, x + room / 2, y + room / 2) for name, (x, y) in points.items()}
    taken: list[Box] = []
    found = {}
    for name in sorted(points, key=lambda one: (_nearest(points, one), one)):
        x, y = points[name]
        best: tuple[float, Label] | None = None
        for rank, (label, box) in enumerate(_candidates(name, x, y, size, room)):
            covered = sum(_overlap(box, other) for other in taken)
            covered += sum(_overlap(box, dot) for other, dot in dots.items() if other != name)
            outside = _area(box) - _overlap(box, within)
            crossed = sum(_length_within(box, line) for line in segments)
            cost = 100 * (covered + outside) + crossed + rank * size / 4
            if best is None or cost < best[0]:
                best = cost, label
        assert best is not None
        found[name] = best[1]
        taken.append(best[1].box(size))
    return [found[name] for name in points]


def overlaps(labels: Sequence[Label], size: float) -> int:
    """Counts the pairs of overlapping labels."""
    boxes = [one.box(size) for one in labels]
    return sum(_overlap(one, other) > 0 for at, one in enumerate(boxes) for other in boxes[:at])


def _candidates(name: str, x: float, y: float, size: float, room: float) -> Iterable[tuple[Label, Box]]:
    anchors: dict[int, Literal["start", "middle", "end"]] = {1: "start", 0: "middle", -1: "end"}
    for far in FAR:
        for across, down in PLACES:
            middle = y + down * (room * far + (size / 2 if not across else 0.0))
            label = Label(name, x + across * room * far, middle + 0.35 * size, anchors[int(across)])
            yield label, label.box(size)


def _nearest(points: Mapping[str, tuple[float, float]], name: str) -> float:
    x, y = points[name]
    return min(
        ((x - a) ** 2 + (y - b) ** 2 for other, (a, b) in points.items() if other != name), default=0.0
    )


def _area(box: Box) -> float:
    return max(box[2] - box[0], 0.0) * max(box[3] - box[1], 0.0)


def _overlap(one: Box, other: Box) -> float:
    return _area((max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])))


def _length_within(box: Box, line: tuple[float, float, float, float]) -> float:
    """Returns the length of the part of a line within a box (Liang and Barsky)."""
    x1, y1, x2, y2 = line
    begin, end = 0.0, 1.0
    for step, before, after in ((x2 - x1, x1 - box[0], box[2] - x1), (y2 - y1, y1 - box[1], box[3] - y1)):
        if step == 0:
            if before < 0 or after < 0:
                return 0.0
            continue
        near, far = sorted((-before / step, after / step))
        begin, end = max(begin, near), min(end, far)
    return max(end - begin, 0.0) * math.hypot(x2 - x1, y2 - y1)
