"""The texts and data of a study, in TOML files next to its code. `docs/add-a-study.md` describes each file.

A line break within a text counts as a space, so long texts can be wrapped. An empty line stays empty.

Texts have one language of places for numbers. A place is `{name}` or `{name:format}`, with a format as in Python. The
code gives the value of each name. The paragraphs of experiments know further places (`fairwave_study.paragraphs`).

Kept readings stay valid if these texts change (see `fairwave_study.shelf`), but not if the changes of a value in
`readings.toml` change. Files of scenarios have other names.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fairwave_study.accounts import Account
from fairwave_study.paragraphs import Paragraph
from fairwave_study.parts import Assumption
from fairwave_study.places import fill_values, names_of_places
from fairwave_study.readings import Factor, Value, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fairwave.scenario import Scenario
    from fairwave_study.readings import Changes

FILES = ("study", "claims", "readings", "assumptions", "accounts", "explanations", "experiments", "figures")
"""Stems of the files that hold a study's prose."""


class Title(NamedTuple):
    """The title and the question of a study.

    Attributes:
        title: One line.
        question: A paragraph.
    """

    title: str
    question: str


class ClaimText(NamedTuple):
    """A claim in words.

    Attributes:
        statement: The tested sentence.
        source: The place in the paper.
        grids: Ids of the grids that the test reads.
        wordings_grids: Ids of further grids that only other wordings read.
        assumptions: Ids of the assumptions that may decide the verdict.
    """

    statement: str
    source: str
    grids: tuple[str, ...]
    wordings_grids: tuple[str, ...]
    assumptions: tuple[str, ...]


class Refused(NamedTuple):
    """A way to close a gap that is not admitted.

    Attributes:
        what: The way.
        why: The words that rule it out.
    """

    what: str
    why: str


def title(package: str | Path) -> Title:
    """Title and question of a study, from its `study.toml`.

    Args:
        package: The study's folder, or a file in it: `__file__`.

    Raises:
        ValueError: A key is missing, unknown or of the wrong kind; the message names file and key. All functions of
            this module raise it.
        OSError: The file cannot be read. All functions of this module raise it.
    """
    table = _read(package, "study")
    table.allow("title", "question")
    return Title(table.text("title"), table.text("question"))


def claims(package: str | Path, tests: Iterable[str], *, essential: bool = False) -> dict[str, ClaimText]:
    """The texts of a study's claims, in the order of its `claims.toml`.

    Args:
        package: The study's folder, or a file in it: `__file__`.
        tests: The ids of all claims that have a test.
        essential: Leave out texts without a test: readings need not judge every claim.

    Raises:
        ValueError: A text has no test, or a test has no text.
    """
    table = _read(package, "claims")
    known = list(tests)
    found = {}
    for one in table.tables():
        one.allow("statement", "source", "grids", "wordings-grids", "assumptions")
        if not essential or one.name in known:
            found[one.name] = ClaimText(
                one.text("statement"),
                one.text("source"),
                one.names("grids"),
                one.names("wordings-grids"),
                one.names("assumptions"),
            )
    table.join(known, found, "claim", "a test")
    return found


def assumptions(package: str | Path) -> list[Assumption]:
    """A study's assumptions, in the order of its `assumptions.toml`."""
    found = []
    for one in _read(package, "assumptions").tables():
        one.allow("statement", "source", "swept")
        found.append(
            Assumption(one.name, one.text("statement"), one.text("source", ""), one.text("swept", ""))
        )
    return found


def factors(package: str | Path, changes: Mapping[str, Mapping[str, Changes]]) -> tuple[Factor, ...]:
    """A study's factors, in the order of its `readings.toml`.

    Args:
        package: The study's folder, or a file in it: `__file__`.
        changes: Factor to value to the change, for changes that only code can express.

    Raises:
        ValueError: Code changes a factor or a value that the file does not have, or one that the file changes too.
    """
    whole = _read(package, "readings")
    whole.allow("factors", "refused", "shortened")
    table = whole.table("factors")
    found = []
    for factor in table.tables():
        factor.allow("open", "ranking", "kind", "values")
        values = factor.table("values")
        coded = changes.get(factor.name, {})
        values.join_code(coded, "value")
        found.append(
            Factor(
                factor.name,
                factor.text("open"),
                tuple(_value(one, coded.get(one.name)) for one in values.tables()),
                factor.text("ranking"),
                factor.text("kind", ""),
            )
        )
    table.join_code(changes, "factor")
    return tuple(found)


def _value(table: Table, coded: Changes | None) -> Value:
    table.allow("admits", "flagged", "plausibility", "changes")
    written = table.plain("changes", {})
    if coded is not None and written:
        raise ValueError(f"{table.place()} has changes here and in readings.py; keep one of them")
    try:
        return Value(
            table.name,
            table.text("admits"),
            written if coded is None else coded,
            table.plain("plausibility", 1.0),
            table.text("flagged", ""),
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{table.place()}: {error}") from None


def written_changes(package: str | Path) -> dict[str, dict[str, Any]]:
    """Factor to value to the changes that `readings.toml` states."""
    table = _read(package, "readings").table("factors")
    return {
        factor.name: {one.name: one.plain("changes", {}) for one in factor.table("values").tables()}
        for factor in table.tables()
    }


def refused(package: str | Path) -> tuple[Refused, ...]:
    """The ways to close a gap that were considered and not admitted, from the study's `readings.toml`."""
    found = []
    for one in _read(package, "readings").listed("refused"):
        one.allow("what", "why")
        found.append(Refused(one.text("what"), one.text("why")))
    return tuple(found)


def shortened(package: str | Path) -> str:
    """How the exploration is smaller or shorter, from the study's `readings.toml`."""
    return _read(package, "readings").text("shortened")


def accounts(package: str | Path) -> list[Account]:
    """The accounts of a study's papers, in the order of its `accounts.toml`."""
    found = []
    for one in _read(package, "accounts").tables():
        one.allow("setup", "why", "closing", "words")
        setup, words = one.table("setup", optional=True), one.table("words", optional=True)
        found.append(
            Account(
                one.name,
                {factor: setup.text(factor) for factor in setup},
                one.text("why"),
                {kind: words.text(kind) for kind in words},
                one.text("closing", ""),
            )
        )
    return found


def paragraphs(package: str | Path, experiments: Iterable[str]) -> dict[str, Paragraph]:
    """The paragraphs of a study's experiments, from its `experiments.toml`.

    Args:
        package: The study's folder, or a file in it: `__file__`.
        experiments: The ids of all experiments.

    Raises:
        ValueError: A paragraph has no experiment, an experiment has no paragraph, or a place cannot be filled.
    """
    table = _read(package, "experiments")
    table.join(experiments, table, "experiment", "an `Experiment`")
    return {key: Paragraph(table.place(key), table.text(key)) for key in table}


def notes(package: str | Path, stem: str = "explanations") -> Notes:
    """The texts of a file, into which the code fills numbers.

    Args:
        package: The study's folder, or a file in it: `__file__`.
        stem: The file's name without `.toml`.
    """
    return Notes(_read(package, stem))


def load_scenario(package: str | Path, stem: str, **overrides: Any) -> Scenario:
    """A scenario in the study's folder.

    Args:
        package: The study's folder, or a file in it: `__file__`.
        stem: The file's name without `.toml`.
        overrides: Dotted paths to values.
    """
    from fairwave.scenario import load

    found = load((_folder(package) / f"{stem}.toml").read_text(encoding="utf-8"))
    return found.with_overrides(overrides) if overrides else found


class Notes:
    """Texts with places, such as "With 80 calls {mean:.1f} % are late"."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._texts = {key: table.text(key) for key in table}
        self._names = {key: names_of_places(text, table.place(key)) for key, text in self._texts.items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def names(self, key: str) -> set[str]:
        """The names of a text's places.

        Raises:
            ValueError: There is no such text; the message names the file.
        """
        if key not in self._texts:
            raise ValueError(f"{self._table.place()}: {unknown('there is no text', key, list(self._texts))}")
        return self._names[key]

    def fill(self, key: str, **values: Any) -> str:
        """A text with its values.

        Raises:
            ValueError: There is no such text, or its places have other names; the message names file and key.
        """
        wanted = self.names(key)
        if wanted != values.keys():
            missing, more = sorted(wanted - values.keys()), sorted(values.keys() - wanted)
            faults = [f"does not give {', '.join(missing)}"] if missing else []
            faults += [f"gives {', '.join(more)}, which the text does not have"] if more else []
            raise ValueError(f"{self._table.place(key)}: the code {', and '.join(faults)}")
        return fill_values(self._texts[key], values)


class Table:
    """A table of a file, with the words to name its keys."""

    def __init__(self, file: Path, path: tuple[str, ...], found: Mapping[str, Any]) -> None:
        self._file, self._path, self._found = file, path, found

    @property
    def name(self) -> str:
        """Its key."""
        return self._path[-1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def allow(self, *keys: str) -> None:
        """Refuses other keys."""
        for key in self._found:
            if key not in keys:
                raise ValueError(f"{self.place()}: {unknown('there is no key', key, keys)}")

    def text(self, key: str, default: str | None = None) -> str:
        """The text of a key with its line breaks folded; `default` if the key is missing."""
        found = self._found.get(key, default)
        if not isinstance(found, str) or (default is None and not found.strip()):
            was = "is missing" if found is None else f"is {found!r}"
            raise ValueError(f"{self.place(key)} {was}; write a text in quotation marks")
        return re.sub(r"(?<!\n)\n(?!\n)", " ", found)

    def plain(self, key: str, default: Any) -> Any:
        """The unchanged value of a key."""
        return self._found.get(key, default)

    def names(self, key: str) -> tuple[str, ...]:
        """A list of names; empty if the key is missing."""
        found = self._found.get(key, [])
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise ValueError(f'{self.place(key)} is {found!r}; write a list of names, such as ["timers"]')
        return tuple(found)

    def table(self, key: str, *, optional: bool = False) -> Table:
        """The table of a key; an empty one if it is optional and missing."""
        return self._enter((key,), self._found.get(key, {} if optional else None))

    def tables(self) -> list[Table]:
        """All tables in it, in order."""
        return [self._enter((key,), one) for key, one in self._found.items()]

    def listed(self, key: str) -> list[Table]:
        """The tables of a list; empty if the key is missing."""
        found = self._found.get(key, [])
        if not isinstance(found, list):
            raise ValueError(f"{self.place(key)} is {found!r}; write a list of tables: [[{key}]]")  # noqa: TRY004 - a file
        return [self._enter((key, str(place)), one) for place, one in enumerate(found, 1)]

    def join(self, known: Iterable[str], texts: Iterable[str], what: str, need: str) -> None:
        """Refuses texts without their counterpart in code, and the other way round."""
        has_code, has_text = list(known), list(texts)
        for name in has_text:
            if name not in has_code:
                raise ValueError(
                    f"{self.place(name)}: this {what} has a text and not {need} of that id in the study's code: "
                    "write one, or delete the text"
                )
        for name in has_code:
            if name not in has_text:
                raise ValueError(
                    f"{self._file}: {what} {name!r} has {need} in the study's code and no text: write a table "
                    f"{self._header(name)}"
                )

    def join_code(self, coded: Iterable[str], what: str) -> None:
        """Refuses names in code that are no keys of this table."""
        for name in coded:
            if name not in self._found:
                raise ValueError(
                    f"{self.place()}: {unknown(f'readings.py changes the {what}', name, list(self._found))}"
                )

    def _enter(self, path: tuple[str, ...], found: Any) -> Table:
        if not isinstance(found, dict):
            was = "is missing" if found is None else f"is {found!r}"
            raise ValueError(f"{self.place(*path)} {was}; write a table {self._header(*path)}")  # noqa: TRY004 - a file
        return Table(self._file, (*self._path, *path), found)

    def _header(self, *path: str) -> str:
        keys = (one if re.fullmatch(r"[\w-]+", one, re.ASCII) else f'"{one}"' for one in (*self._path, *path))
        return f"[{'.'.join(keys)}]"

    def place(self, *path: str) -> str:
        """The place of a key, for messages."""
        inner = self._header(*path).strip("[]")
        return f"{self._file}: {inner}" if inner else str(self._file)


def _folder(package: str | Path) -> Path:
    path = Path(package)
    return path.parent if path.suffix == ".py" else path


def _read(package: str | Path, stem: str) -> Table:
    try:
        import tomllib
    except ImportError:  # Python 3.10
        import tomli as tomllib  # type: ignore[no-redef,import-not-found]

    file = _folder(package) / f"{stem}.toml"
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is not TOML: {error}") from None
    return Table(file, (), found)
