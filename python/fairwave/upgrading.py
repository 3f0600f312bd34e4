"""Old scenarios in the current version of the language.

The compiled part rewrites the text: it has the table of renamed keys, and changes nothing but these keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from fairwave import _native
from fairwave.file_kinds import described
from fairwave.foreign import gated
from fairwave.scenario import names_a_topology, text_of


@dataclass(frozen=True)
class Upgrade:
    """A scenario in the current version of the language.

    Attributes:
        name: Name of the file.
        before: Its text.
        after: The text in the current version; the same text if nothing was changed.
        changes: Line and words of each change.
        rest: The message about mistakes that the author must correct; empty if fairwave reads `after`.
    """

    name: str
    before: str
    after: str
    changes: tuple[tuple[int, str], ...]
    rest: str

    @property
    def state(self) -> str:
        """`current` if nothing was to do, `changed`, or `by hand` if the author must correct a mistake."""
        return "by hand" if self.rest else "changed" if self.changes else "current"

    def diff(self) -> str:
        """The changes as a unified diff, for people and for `patch`."""
        old, new = (text.splitlines(keepends=True) for text in (self.before, self.after))
        lines = unified_diff(old, new, self.name, self.name)
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
        )


@gated("scenario", _native.ScenarioError)
def upgrade(name: str, text: str) -> Upgrade:
    """Rewrites the text of a scenario or a network in the current version of the language.

    Raises:
        fairwave.ScenarioError: The text is neither TOML nor JSON, of another kind of file, or of a newer version.
    """
    if said := described(text.encode(), name):
        raise _native.ScenarioError(f"error: {said}")
    after, changes, rest = _native.Scenario.upgrade(text, name)
    if names_a_topology(after):
        rest = _check_network(after, name)
    return Upgrade(name, text, after, tuple(changes), rest or "")


def _check_network(text: str, name: str) -> str:
    """The message about a network's mistakes; empty if it has none."""
    from fairwave.layers import layer

    try:
        layer("networks").scenario(text, Path(name).parent, name)
    except _native.ScenarioError as error:
        return str(error)
    return ""


def upgrade_file(path: Path) -> Upgrade:
    """Rewrites the text of a file. The file stays as it is.

    Raises:
        FileNotFoundError: There is no such file.
        fairwave.ScenarioError: See `upgrade`.
    """
    with path.open("rb") as file:
        return upgrade(str(path), text_of(file, str(path)))


def write_file(made: Upgrade) -> None:
    """Replaces the file by its text in the current version, in one step. A link stays a link.

    Raises:
        OSError: It cannot be written.
    """
    from fairwave.staging import write_text

    path = Path(made.name).resolve()
    mode = path.stat().st_mode & 0o777
    write_text(path, made.after)
    path.chmod(mode)
