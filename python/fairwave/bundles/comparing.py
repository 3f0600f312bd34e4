"""Compares the tables of a bundle and of its repetition: byte for byte, then value by value."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import asdict, dataclass, field
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, TextIO

from fairwave.bundles.archive import BundleError
from fairwave.foreign import MB, format_bytes, gate, parse_json, read_bytes
from fairwave.results import hash_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DOCUMENTS = ("answer.json", "ledger.json")
"""Results in JSON. Their provenance is not compared, since it names the command's folder."""

SKIPPED = frozenset({"provenance", "command", "commands", "version", "commit"})
"""Keys of documents about the origin of results."""

SHOWN = 5
"""Differences of a table that are listed."""

MOST_LINE = 1_000_000
"""Most characters of a line of a table."""

MOST_DOCUMENT = 50 * MB
LABELS = ("run", "group", "flow", "link", "kind", "name", "measure", "time_s")
"""Columns that identify rows."""

SAME = "same"
SAME_VALUES = "same values"
DIFFERENT = "different"
MISSING = "missing"
ADDITIONAL = "additional"


def is_compared(name: str) -> bool:
    """Whether a file of results is a table, or a document with results."""
    return name.endswith(".csv") or name.rpartition("/")[2] in DOCUMENTS


@dataclass(frozen=True)
class Difference:
    """A value that differs.

    Attributes:
        row: Number of the row from 1, without the heads.
        labels: The row's labels: `run 0, group voice`.
        column: The column.
        bundled: The value in the bundle.
        repeated: The value of the repetition.
    """

    row: int
    labels: str
    column: str
    bundled: str
    repeated: str

    def __str__(self) -> str:
        where = f"row {self.row}{f' ({self.labels})' if self.labels else ''}"
        return f"{where}, {self.column}: {self.bundled or 'nothing'} → {self.repeated or 'nothing'}"


@dataclass
class TableComparison:
    """A table of a bundle next to the same table of the repetition.

    Attributes:
        name: The table's file.
        status: `same` (every byte), `same values` (other bytes), `different`, `missing` (only the bundle has it) or
            `additional` (only the repetition has it).
        values: Number of compared values.
        different: Number of values that differ.
        shape: Difference of columns or rows, in words; empty if there is none.
        first: The first differences.
        largest: Largest relative difference of two numbers; None if no numbers differ.
        largest_at: The column with the largest relative difference.
    """

    name: str
    status: str = SAME
    values: int = 0
    different: int = 0
    shape: str = ""
    first: list[Difference] = field(default_factory=list)
    largest: float | None = None
    largest_at: str = ""

    @property
    def is_same(self) -> bool:
        """Whether all values are the same."""
        return self.status in {SAME, SAME_VALUES}

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    def describe(self) -> list[str]:
        """Describes the comparison, a line for the table and one for each of the first differences."""
        if self.status == MISSING:
            return [f"{self.name}: the repetition does not have it"]
        if self.status == ADDITIONAL:
            return [f"{self.name}: only the repetition has it"]
        if self.is_same:
            return [f"{self.name}: {self.status}"]
        line = f"{self.name}: {self.different} of {self.values} values differ"
        if self.shape:
            line += f"; {self.shape}"
        if self.largest is not None:
            line += f"; largest relative difference {100 * self.largest:.3g} %, in {self.largest_at}"
        return [line, *(f"  {one}" for one in self.first)]

    def _add(self, row: int, labels: str, column: str, bundled: str, repeated: str) -> None:
        """Counts a pair of values."""
        self.values += 1
        if bundled == repeated:
            return
        one, other = _read_number(bundled), _read_number(repeated)
        if one is not None and one == other:
            return
        self.different += 1
        if len(self.first) < SHOWN:
            self.first.append(Difference(row, labels, column, bundled[:80], repeated[:80]))
        if one is not None and other is not None:
            relative = abs(one - other) / max(abs(one), abs(other))
            if self.largest is None or relative > self.largest:
                self.largest, self.largest_at = relative, column


def compare_tables(bundled: Path, repeated: Path, name: str) -> TableComparison:
    """Compares a table, or a document.

    Raises:
        BundleError: One of the two is damaged.
    """
    if not repeated.is_file():
        return TableComparison(name, MISSING)
    if not bundled.is_file():
        return TableComparison(name, ADDITIONAL)
    found = TableComparison(name)
    if hash_file(bundled) == hash_file(repeated):
        return found
    with gate("results", name, BundleError):
        (_compare_csv if name.endswith(".csv") else _compare_documents)(found, bundled, repeated)
    found.status = DIFFERENT if found.different or found.shape else SAME_VALUES
    return found


def _read_number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _compare_csv(found: TableComparison, bundled: Path, repeated: Path) -> None:
    """Compares row by row, so that no table has to fit the memory."""
    with (
        bundled.open("r", encoding="utf-8", newline="") as one,
        repeated.open("r", encoding="utf-8", newline="") as other,
    ):
        ours, theirs = csv.reader(_read_lines(one)), csv.reader(_read_lines(other))
        heads, others = next(ours, []), next(theirs, [])
        if heads != others:
            lost, new = (
                [f"{one!r:.40}" for one in a if one not in b] for a, b in ((heads, others), (others, heads))
            )
            found.shape = (
                "; ".join(
                    f"{words} {', '.join(names[:SHOWN])}"
                    for words, names in (
                        ("columns only in the bundle:", lost),
                        ("columns only in the repetition:", new),
                    )
                    if names
                )
                or "the columns have another order"
            )
        places = [
            (head, heads.index(head), others.index(head)) for head in dict.fromkeys(heads) if head in others
        ]
        for number, (row, opposite) in enumerate(zip_longest(ours, theirs), 1):
            if row is None or opposite is None:
                more = 1 + sum(1 for _ in (ours if opposite is None else theirs))
                side = "the bundle" if opposite is None else "the repetition"
                found.shape = "; ".join(filter(None, [found.shape, f"{side} has {more} more rows"]))
                return
            labels = None
            for head, at, there in places:
                pair = (row[at] if at < len(row) else "", opposite[there] if there < len(opposite) else "")
                if labels is None and pair[0] != pair[1] and len(found.first) < SHOWN:
                    labels = ", ".join(f"{key} {row[place]}" for key, place, _ in places if key in LABELS)
                found._add(number, labels or "", head, *pair)


def _read_lines(file: TextIO) -> Iterator[str]:
    """Yields the lines of a table.

    Raises:
        BundleError: A line is too long to be read into memory.
    """
    while line := file.readline(MOST_LINE + 1):
        if len(line) > MOST_LINE:
            raise BundleError(
                f"{file.name} has a line of more than {MOST_LINE} characters, as no table of fairwave has"
            )
        yield line


def _compare_documents(found: TableComparison, bundled: Path, repeated: Path) -> None:
    for path in (bundled, repeated):
        if path.stat().st_size > MOST_DOCUMENT:
            raise BundleError(
                f"{path} has more than {format_bytes(MOST_DOCUMENT)}, as no document of fairwave has"
            )
    one, other = (
        dict(_leaves(parse_json(read_bytes(path, "results"), found.name, "results")))
        for path in (bundled, repeated)
    )
    lost, new = ([key for key in a if key not in b] for a, b in ((one, other), (other, one)))
    found.shape = "; ".join(
        f"{words} {', '.join(islice(names, SHOWN))}"
        for words, names in (("keys only in the bundle:", lost), ("keys only in the repetition:", new))
        if names
    )
    for number, key in enumerate((key for key in one if key in other), 1):
        found._add(number, "", key, one[key], other[key])


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yields the values of a document that are neither lists nor tables, each with its path."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key not in SKIPPED:
                yield from _leaves(one, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from _leaves(one, f"{path}[{at}]")
    else:
        yield path, value if isinstance(value, str) else json.dumps(value)
