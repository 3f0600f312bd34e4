"""Reads and checks the user's input; errors give the remedy."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave import _native
from fairwave.arguments import LARGEST_SEED
from fairwave.errors import BadInputError
from fairwave.flow_groups import groups, kind, pairs_of_calls
from fairwave.packaged import find_scenario, list_examples
from fairwave.scenario import Scenario, load
from fairwave.scenario import read as read_open
from fairwave.scenario_files import located, with_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairwave.results import Results
    from fairwave.runs.axes import Label
    from fairwave.runs.keeping import Keep


def scenario(path: str, settings: Sequence[str] | None = None) -> Scenario:
    """Reads a scenario, given by its file or by the name of an example, and applies `KEY=VALUE` settings to it.

    Warns of keys with a new name.
    """
    read = _scenario(path, settings)
    for words in dict.fromkeys(read.renamed_keys()):
        _warn(words)
    return read


def _warn(words: str) -> None:
    from fairwave.cli import console

    console.complain(f"warning: {words}")


def warn_varied(read: Scenario, changes: Iterable[dict[str, Any]]) -> None:
    """Warns of keys with a new name among the keys that a command varies. Wrong changes are reported elsewhere."""
    known = read.renamed_keys()
    found: dict[str, None] = {}
    for change in changes:
        with suppress(_native.ScenarioError):
            found |= dict.fromkeys(read.with_overrides(change).renamed_keys())
    for words in found:
        if words not in known:
            _warn(words)


def _scenario(path: str, settings: Sequence[str] | None = None) -> Scenario:
    if path == "-":
        import sys

        given = read_open(sys.stdin.buffer, "-")
        return with_files(given.with_overrides(overrides(settings)) if settings else given, Path())
    if path.endswith(".py"):
        raise BadInputError(f"{path} is a Python file, not a scenario; laws of your own go to --laws {path}")
    found = find_scenario(path)
    if found is None:
        hint = _suggest(Path(path))
        raise BadInputError(f"no scenario file {path!r}: give the path of a .toml or .json file{hint}")
    if not settings:
        return load(found)
    # A file may need the settings to be valid. Paths in the scenario are relative to it, paths in settings to here.
    with found.open("rb") as file:
        read = located(read_open(file, str(found)), found.parent)
    return with_files(read.with_overrides(overrides(settings)), Path())


def _suggest(path: Path) -> str:
    """Suggests scenarios for a path that does not exist."""
    from difflib import get_close_matches

    folder = path if path.is_dir() else path.parent
    there = (
        [str(one) for kind in ("*.toml", "*.json") for one in folder.glob(kind)] if folder.is_dir() else []
    )
    packaged = list_examples()
    if near := get_close_matches(str(path), [*there, *packaged], 1):
        return f"; did you mean {near[0]}?"
    if there:
        return f"; there are {', '.join(sorted(there)[:8])}"
    return ", or the name of an example: `fairwave examples` lists them" if packaged else ""


def overrides(settings: Sequence[str]) -> dict[str, Any]:
    """Reads `KEY=VALUE` settings as overrides. A value that is valid TOML is parsed, any other is text."""
    found: dict[str, Any] = {}
    for setting in settings:
        path, equals, value = setting.partition("=")
        if not equals or not path.strip():
            raise BadInputError(
                f"--set takes KEY=VALUE, not {setting!r}; for example --set 'flow.voice.count=20'"
            )
        key = path.strip()
        lost = next((one for one in found if one == key or one.startswith(f"{key}.")), None)
        if lost is not None:
            order = "" if lost == key else f", or put {key} first"
            raise BadInputError(
                f"--set {key}={value.strip():.60} would replace --set {lost}=…; keep one of the two{order}"
            )
        found[key] = json.loads(_native.Scenario.override_value(value.strip()))
    return found


def variations(
    given: Sequence[str], option: str, settings: Sequence[str] = ()
) -> list[tuple[str, dict[Label, Any]]]:
    """The keys that an option varies, each with its values; none of them varies or is set a second time.

    Raises:
        BadInputError: A key is given twice.
        fairwave.ask.AskError: One names no key or no value.
    """
    from fairwave.ask.wording import variation

    found = [variation(one, option) for one in given]
    check_varied([key for key, _ in found], option, settings)
    return found


def check_varied(keys: Sequence[str], option: str, settings: Sequence[str]) -> None:
    """Refuses a key that is varied twice, or set and varied: one of the two would be lost.

    Raises:
        BadInputError: There is one.
    """
    from fairwave.runs.axes import tied

    seen: set[str] = set()
    for one in (key for several in keys for key in tied(several)):
        if one in seen:
            raise BadInputError(
                f"{option} names {one} twice; write all its values in one {option}, joined by commas: "
                f"{option} '{one}=A,B,C'"
            )
        seen.add(one)
    for key in overrides(list(settings)):
        lost = next((one for one in seen if key == one or key.startswith(f"{one}.")), None)
        if lost is not None:
            raise BadInputError(
                f"{option} {lost}=… would replace --set {key}=…; leave --set {key} out, or vary another key"
            )


def run_place(cluster: str | None) -> AbstractContextManager[None]:
    """Context in which runs are made: by a cluster's workers, or on this machine."""
    if cluster is None:
        return nullcontext()
    import re

    from fairwave.cluster import on

    if not re.fullmatch(r"([a-z]+://)?.+:\d+", cluster):
        raise BadInputError(
            f"--cluster is {cluster!r}, but must be the address that `dask scheduler` says; "
            "for example --cluster tcp://host:8786"
        )
    return on(cluster)


def kept(out: Path | None) -> Keep:
    """Store of runs: in the folder of results, so that the same command can resume; else in memory."""
    from fairwave.cli import console
    from fairwave.runs.memory import Memory

    if out is None:
        return Memory()
    from fairwave.folders import CACHE
    from fairwave.runs.keeping import Folder

    folder = Folder(out / CACHE)
    if folder.stale is not None:
        console.say(
            f"{out} keeps runs of another build of fairwave ({folder.stale}); they are not mixed with those of this "
            "one, but made again"
        )
    return folder


def refuse_other(file: Path, wanted: str, accepted: Sequence[str]) -> None:
    """Refuses a file of a kind that the command does not read, and names the command that reads it.

    Raises:
        BadInputError: It is such a file.
    """
    from fairwave.file_kinds import reader

    if said := reader(file, wanted, accepted):
        raise BadInputError(said) from None


def use_laws(files: Sequence[Path] | None) -> None:
    """Registers the laws and measures of each file."""
    if files:
        from fairwave.laws import load_laws

        for file in files:
            load_laws(file)


def no_effect(option: str, others: Sequence[str]) -> BadInputError:
    """The error for an option that has no effect without one of the others."""
    return BadInputError(
        f"{option} has no effect without {' or '.join(others)}: add it, or leave {option} out"
    )


def positive(name: str, value: int) -> int:
    """A count that must be 1 or more."""
    if value < 1:
        raise BadInputError(
            f"{name} is {value}, but must be 1 or more; for example {name} {10 if 'rep' in name else 2}"
        )
    return value


def seeds(first: int, count: int) -> range:
    """The seeds of a command: `count` seeds starting at `first`."""
    positive("--replications", count)
    if first < 0 or first + count - 1 > LARGEST_SEED:
        raise BadInputError(
            f"--seed is {first}, but must be a whole number from 0 to {LARGEST_SEED - count + 1}; for example --seed 1"
        )
    return range(first, first + count)


def threads_or_all(threads: int | None) -> int | None:
    """Number of concurrent runs."""
    return None if threads is None else positive("--threads", threads)


MANY_RUNS = 10_000
LONG_S = 10_800.0
"""More runs, or a longer computing time on one core, need the user's consent."""


def affordable(read: Scenario, runs: int, seed: int, *, yes: bool) -> None:
    """Names the cost of very many runs and asks whether to make them.

    Raises:
        BadInputError: The user does not want them, or there is no terminal to ask at.
    """
    import sys

    from fairwave.cli import console

    if yes:
        return
    read.native.check_runs(min(runs, 2**63), seed)
    seconds, cost = read.native.cost_of_runs(runs, seed)
    if runs <= MANY_RUNS and seconds <= LONG_S:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInputError(f"{cost}; add --yes to make them, or ask for fewer")
    console.say(f"{cost}. Make them? [y/N] ")
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise BadInputError("nothing was run; ask for fewer values, fewer replications or a shorter duration")


def media_group(read: Scenario, wanted: str | None = None) -> str:
    """The group of flows that is compared: the one wanted, else the first with voice or video, else the first."""
    known = groups(read) or pairs_of_calls(read)
    if wanted is not None:
        if wanted not in known:
            from fairwave.answers.naming import shortened

            raise BadInputError(
                f"the scenario has no flow group {wanted!r}; it has {shortened(list(known)) or 'none'}"
            )
        return wanted
    if not known:
        raise BadInputError("the scenario has no flows; add a [[flow]] or a [[call]]")
    for name, flow in known.items():
        if kind(flow) in {"voice", "recording", "conversation", "media", "video", "video-trace"}:
            return name
    return next(iter(known))


def measure_names(given: Sequence[str], read: Scenario) -> list[str]:
    """Returns the measures of `--measures`, in order: `mos`, `loss.voice` or `all`, separated by commas.

    Raises:
        BadInputError: No measure or flow group has such a name; the message lists them.
    """
    from fairwave.ask.wording import measure

    names = [one.strip() for text in given for one in text.split(",") if one.strip()]
    if given and not names:
        raise BadInputError("--measures names no measure; write for example --measures mos,missed, or all")
    for name in names:
        if ">" in name:
            raise BadInputError(
                f"--measures takes measures of flow groups, not of links ({name!r}); fairwave sweep --show takes both"
            )
        if name != "all":
            measure(name, read)
    return list(dict.fromkeys(names))


def shown_groups(given: Sequence[str], read: Scenario, *, is_used: bool) -> list[str]:
    """Returns the flow groups of `--groups`, separated by commas, or `all` alone; empty without the option.

    Args:
        given: Values of the option.
        read: The scenario.
        is_used: Whether the output is for people: documents for programs have every group.

    Raises:
        BadInputError: The scenario has no such group, or nothing uses the option.
    """
    if given and not is_used:
        raise BadInputError("--json has every flow group; leave out --groups")
    names = list(dict.fromkeys(one.strip() for text in given for one in text.split(",") if one.strip()))
    if given and not names:
        raise BadInputError("--groups names no flow group; write for example --groups voice,files, or all")
    known = [*groups(read), *pairs_of_calls(read)]
    if "all" in names and "all" not in known:
        if len(names) > 1:
            raise BadInputError("--groups all shows every flow group; leave out the other names")
        return names
    for name in names:
        if name not in known:
            from difflib import get_close_matches

            from fairwave.answers.naming import shortened

            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise BadInputError(
                f"--groups: the scenario has no flow group {name!r}; it has {shortened(known)}{hint}"
            )
    return names


def layer_or_note(*, needed: bool, quiet: bool) -> Any:
    """Returns the layer that makes pages. If it is missing, prints how to install it and returns None.

    Raises:
        fairwave.extras.MissingExtraError: It is not installed, and `needed`.
    """
    from fairwave.cli import console
    from fairwave.extras import MissingExtraError
    from fairwave.layers import layer

    try:
        return layer("pages")
    except MissingExtraError as error:
        if needed:
            raise
        console.say(f"tables only: {error}", quiet=quiet)
        return None


def save(results: Results, out: Path, read: Scenario) -> None:
    """Writes tables and the scenario to a folder, all or nothing: the files of a page, without the page."""
    from fairwave.staging import staging

    with staging(out) as partial:
        results.write_into(partial)
        (partial / "scenario.toml").write_text(read.to_toml(), encoding="utf-8")


def drawn_as(
    style: str | None, figures: str | None, pages: Any, out: Path | None
) -> AbstractContextManager[None]:
    """Applies `--style` and `--figures` to figures within the context.

    Args:
        style: Value of `--style`.
        figures: Value of `--figures`.
        pages: The layer that makes pages; None if it is missing.
        out: The folder of the page.

    Raises:
        BadInputError: There is no such style or format, or no page is made.
    """
    if style is None and figures is None:
        return nullcontext()
    option = "--style" if style is not None else "--figures"
    if out is None or pages is None:
        raise BadInputError(f"{option} is about the figures of a page: add --out FOLDER, without --no-page")
    found: AbstractContextManager[None] = pages.styled(style, figures)
    return found
