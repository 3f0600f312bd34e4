"""The prose of a study, in TOML files beside its code: what it claims, assumes and leaves open, in words.

A study's package holds up to eight such files:

- `study.toml`: `title` and `question`.
- `claims.toml`: a table per claim with `statement`, `source` and `assumptions`. Its test stays in Python, under the
  same id.
- `readings.toml`: `factors.ID` with `open` and `ranking`, `factors.ID.values."NAME"` with `admits` and `flagged`,
  `refused` (a list of `what` and `why`), and `shortened`.
- `assumptions.toml`: a table per assumption with `statement`, `source` and `swept`.
- `accounts.toml`: a table per paper with `why`, `closing` and `words`.
- `experiments.toml`: a paragraph per experiment, see `fairwave_study.paragraphs`.
- `figures.toml`: the long captions of figures, by figure.
- `explanations.toml`: a text per key. Names in braces, with a format as in Python, are what the code fills in.

A line break within a text stands for a space, so that long texts can be wrapped. An empty line stays an empty line.

These files decide nothing that a run or a verdict is made of. So kept readings outlive a change to them (see
`fairwave_study.shelf`). Files of scenarios have other names.
"""

from __future__ import annotations

import re
import string
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fairwave_study.readings import unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fairwave_study.accounts import Account
    from fairwave_study.readings import Factor
    from fairwave_study.study import Assumption

FILES = ("study", "claims", "readings", "assumptions", "accounts", "explanations", "experiments", "figures")
"""Stems of the files that hold a study's prose."""


class Title(NamedTuple):
    """What a study is called, and what it asks.

    Attributes:
        title: One line.
        question: A paragraph.
    """

    title: str
    question: str


class ClaimText(NamedTuple):
    """A claim in words.

    Attributes:
        statement: The sentence that is put to the test.
        source: Where the paper says so.
        assumptions: Ids of the assumptions on which the test may hang.
    """

    statement: str
    source: str
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


def claims(package: str | Path, tests: Iterable[str]) -> dict[str, ClaimText]:
    """The texts of a study's claims, in the order of its `claims.toml`.

    Args:
        package: The study's folder, or a file in it: `__file__`.
        tests: The ids of all claims that have a test.

    Raises:
        ValueError: A text has no test, or a test has no text.
    """
    table = _read(package, "claims")
    found = {}
    for one in table.tables():
        one.allow("statement", "source", "assumptions")
        found[one.name] = ClaimText(one.text("statement"), one.text("source"), one.names("assumptions"))
    table.join(tests, found, "claim", "a test")
    return found


def assumptions(package: str | Path) -> list[Assumption]:
    """A study's assumptions, in the order of its `assumptions.toml`."""
    from fairwave_study.study import Assumption

    found = []
    for one in _read(package, "assumptions").tables():
        one.allow("statement", "source", "swept")
        found.append(
            Assumption(one.name, one.text("statement"), one.text("source", ""), one.text("swept", ""))
        )
    return found


def factors(package: str | Path, bare: Sequence[Factor]) -> tuple[Factor, ...]:
    """Factors with their words, from the study's `readings.toml`.

    Args:
        package: The study's folder, or a file in it: `__file__`.
        bare: Factors without words: what they change, how plausible each value is.

    Raises:
        ValueError: A factor or a value has no text, or a text has no factor or value.
    """
    whole = _read(package, "readings")
    whole.allow("factors", "refused", "shortened")
    table = whole.table("factors")
    texts = {one.name: one for one in table.tables()}
    table.join([one.id for one in bare], texts, "factor", "a `Factor`")
    found = []
    for factor in bare:
        words = texts[factor.id]
        words.allow("open", "ranking", "values")
        reasons = words.table("values")
        named = {one.name: one for one in reasons.tables()}
        reasons.join([one.name for one in factor.values], named, "value", "a `Value`")
        for one in named.values():
            one.allow("admits", "flagged")
        values = tuple(
            replace(
                value, admits=named[value.name].text("admits"), flagged=named[value.name].text("flagged", "")
            )
            for value in factor.values
        )
        found.append(replace(factor, open=words.text("open"), ranking=words.text("ranking"), values=values))
    return tuple(found)


def refused(package: str | Path) -> tuple[Refused, ...]:
    """What was considered and not admitted, from the study's `readings.toml`."""
    found = []
    for one in _read(package, "readings").listed("refused"):
        one.allow("what", "why")
        found.append(Refused(one.text("what"), one.text("why")))
    return tuple(found)


def shortened(package: str | Path) -> str:
    """What the exploration makes smaller or shorter, from the study's `readings.toml`."""
    return _read(package, "readings").text("shortened")


def accounts(package: str | Path, setups: Mapping[str, Mapping[str, str]]) -> list[Account]:
    """The accounts of a study's papers, in the order of `setups`, in the words of its `accounts.toml`.

    Args:
        package: The study's folder, or a file in it: `__file__`.
        setups: Paper to the likely set-up of its authors: factor to value.

    Raises:
        ValueError: A paper has no text, or a text has no set-up.
    """
    from fairwave_study.accounts import Account

    table = _read(package, "accounts")
    texts = {one.name: one for one in table.tables()}
    table.join(setups, texts, "account", "a set-up")
    found = []
    for paper, setup in setups.items():
        one = texts[paper]
        one.allow("why", "closing", "words")
        words = one.table("words", optional=True)
        kinds = {kind: words.text(kind) for kind in words}
        found.append(Account(paper, setup, one.text("why"), kinds, one.text("closing", "")))
    return found


def notes(package: str | Path, stem: str = "explanations") -> Notes:
    """The texts of a file, into which the code fills numbers.

    Args:
        package: The study's folder, or a file in it: `__file__`.
        stem: The file's name without `.toml`.
    """
    return Notes(_read(package, stem))


class Notes:
    """Texts with names in braces, such as "With 80 calls {mean:.1f} % are late"."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._texts = {key: table.text(key) for key in table}
        for key, text in self._texts.items():
            self._check(key, text)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def _check(self, key: str, text: str) -> None:
        try:
            self._names(text)
        except ValueError as error:
            raise ValueError(f"{self._table.place(key)} is no text with names in braces: {error}") from None

    @staticmethod
    def _names(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}

    def names(self, key: str) -> set[str]:
        """The names that a text wants filled in.

        Raises:
            ValueError: There is no such text; the message names the file.
        """
        if key not in self._texts:
            raise ValueError(f"{self._table.place()}: {unknown('there is no text', key, list(self._texts))}")
        return self._names(self._texts[key])

    def fill(self, key: str, **values: Any) -> str:
        """A text with its values.

        Raises:
            ValueError: There is no such text, or it wants other values; the message names file and key.
        """
        wanted = self.names(key)
        if wanted != values.keys():
            missing, more = sorted(wanted - values.keys()), sorted(values.keys() - wanted)
            told = [f"does not give {', '.join(missing)}"] if missing else []
            told += [f"gives {', '.join(more)}, which the text does not have"] if more else []
            raise ValueError(f"{self._table.place(key)}: the code {', and '.join(told)}")
        return self._texts[key].format(**values)


def table(package: str | Path, stem: str) -> Table:
    """A file of texts as it is.

    Args:
        package: The study's folder, or a file in it: `__file__`.
        stem: The file's name without `.toml`.
    """
    return _read(package, stem)


class Table:
    """A table of a file, with the words to name its keys."""

    def __init__(self, file: Path, path: tuple[str, ...], found: Mapping[str, Any]) -> None:
        self._file, self._path, self._found = file, path, found

    @property
    def name(self) -> str:
        """Its own key."""
        return self._path[-1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def allow(self, *keys: str) -> None:
        """Refuses other keys."""
        for key in self._found:
            if key not in keys:
                raise ValueError(f"{self.place()}: {unknown('there is no key', key, keys)}")

    def text(self, key: str, default: str | None = None) -> str:
        """The text of a key, its line breaks folded; `default` where it has none."""
        found = self._found.get(key, default)
        if not isinstance(found, str) or (default is None and not found.strip()):
            was = "is missing" if found is None else f"is {found!r}"
            raise ValueError(f"{self.place(key)} {was}; write a text in quotation marks")
        return re.sub(r"(?<!\n)\n(?!\n)", " ", found)

    def names(self, key: str) -> tuple[str, ...]:
        """A list of names; empty where the key is missing."""
        found = self._found.get(key, [])
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise ValueError(f'{self.place(key)} is {found!r}; write a list of names, such as ["timers"]')
        return tuple(found)

    def table(self, key: str, *, optional: bool = False) -> Table:
        """The table of a key; an empty one where it is optional and missing."""
        return self._below((key,), self._found.get(key, {} if optional else None))

    def tables(self) -> list[Table]:
        """All tables in it, in order."""
        return [self._below((key,), one) for key, one in self._found.items()]

    def listed(self, key: str) -> list[Table]:
        """The tables of a list; empty where the key is missing."""
        found = self._found.get(key, [])
        if not isinstance(found, list):
            raise ValueError(f"{self.place(key)} is {found!r}; write a list of tables: [[{key}]]")  # noqa: TRY004 - a file
        return [self._below((key, str(place)), one) for place, one in enumerate(found, 1)]

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

    def _below(self, path: tuple[str, ...], found: Any) -> Table:
        if not isinstance(found, dict):
            was = "is missing" if found is None else f"is {found!r}"
            raise ValueError(f"{self.place(*path)} {was}; write a table {self._header(*path)}")  # noqa: TRY004 - a file
        return Table(self._file, (*self._path, *path), found)

    def _header(self, *path: str) -> str:
        keys = (one if re.fullmatch(r"[\w-]+", one, re.ASCII) else f'"{one}"' for one in (*self._path, *path))
        return f"[{'.'.join(keys)}]"

    def place(self, *path: str) -> str:
        """Where a key of it stands, for messages."""
        inner = self._header(*path).strip("[]")
        return f"{self._file}: {inner}" if inner else str(self._file)


def _read(package: str | Path, stem: str) -> Table:
    try:
        import tomllib
    except ImportError:  # Python 3.10
        import tomli as tomllib  # type: ignore[no-redef,import-not-found]

    folder = Path(package)
    file = (folder.parent if folder.suffix == ".py" else folder) / f"{stem}.toml"
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is not TOML: {error}") from None
    return Table(file, (), found)
