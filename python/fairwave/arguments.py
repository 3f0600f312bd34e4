"""Checks the arguments of the Python API; the message for a wrong one lists the allowed values and a remedy."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, ParamSpec, SupportsIndex, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Sequence


P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)

MEANT = {
    "condition": "until",
    "confidence": "level",
    "cores": "threads",
    "dict": "table",
    "file": "source",
    "flow": "group",
    "folder": "out",
    "format": "save",
    "jobs": "threads",
    "max": "most",
    "measure": "show",
    "metric": "measure",
    "path": "source",
    "processes": "threads",
    "range": "values",
    "replications": "n",
    "repetitions": "n",
    "reps": "n",
    "requirement": "until",
    "runs": "n",
    "seed": "seeds",
    "seeds": "seed",
    "vary": "over",
    "workers": "threads",
}
"""Argument names that users try, with the names in fairwave."""


def checked(call: Callable[P, R]) -> Callable[P, R]:
    """Wraps a function so that a wrong argument raises an error with the allowed ones."""

    @functools.wraps(call)
    def checking(*given: P.args, **named: P.kwargs) -> R:
        try:
            return call(*given, **named)
        except Exception as error:
            inside = error.__traceback__ is not None and error.__traceback__.tb_next is not None
            if isinstance(error, TypeError) and not inside:
                raise TypeError(_describe_misfit(call, len(given), dict(named), str(error))) from None
            if wrong := _find_wrong_type(call, given, dict(named), str(error)):
                raise TypeError(wrong) from error
            raise

    return cast("Callable[P, R]", checking)


def checked_methods(kind: C) -> C:
    """A class whose public methods are `checked`."""
    for name, method in list(vars(kind).items()):
        if name.startswith("_"):
            continue
        if inspect.isfunction(method):
            setattr(kind, name, checked(method))
        elif isinstance(method, classmethod):
            setattr(kind, name, classmethod(checked(method.__func__)))
    return kind


def _describe_misfit(call: Callable[..., Any], given: int, named: dict[str, Any], why: str) -> str:
    """Names the argument that does not fit, and the valid ones."""
    from difflib import get_close_matches

    parameters = inspect.signature(call).parameters
    is_method = next(iter(parameters), "") in {"self", "cls"}
    known = [name for name, one in parameters.items() if one.kind is not one.VAR_KEYWORD][is_method:]
    where = f"{'' if is_method else 'fairwave.'}{call.__qualname__}"
    takes = f"it takes {', '.join(known)}" if known else "it takes none"
    wrong = next((name for name in named if name not in known), None)
    if wrong is not None:
        meant = MEANT.get(wrong)
        near = [meant] if meant in known else get_close_matches(wrong, known, 1)
        hint = f"did you mean {near[0]}? " if near and near[0] not in named else ""
        return f"{where} has no argument {wrong!r}; {hint}{takes}"
    positional = [
        name
        for name in known
        if parameters[name].kind
        in {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    ]
    if given - is_method > len(positional):
        rest = [f"{name}=…" for name in known if name not in positional]
        named_as = f"; write the others by name: {', '.join(rest)}" if rest else ""
        order = f" ({', '.join(positional)})" if positional else ""
        count = f"{len(positional)} argument{'' if len(positional) == 1 else 's'}"
        return f"{where} takes at most {count} without a name{order}{named_as}"
    lacking = [
        name
        for name in known[max(given - is_method, 0) :]
        if name not in named and parameters[name].default is inspect.Parameter.empty
    ]
    if lacking:
        return f"{where} lacks {' and '.join(lacking)}; {takes}"
    return f"{where}: {why}; {takes}"


KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "None": ("None", lambda value: value is None),
    "str": ("a text", lambda value: isinstance(value, str)),
    "int": ("a whole number", lambda value: hasattr(value, "__index__") and not isinstance(value, bool)),
    "float": ("a number", lambda value: hasattr(value, "__float__") and not isinstance(value, bool)),
    "bool": ("True or False", lambda value: isinstance(value, bool)),
    "Path": ("a path", lambda value: isinstance(value, (str, PathLike))),
    "Mapping": ("a dictionary", lambda value: hasattr(value, "items")),
    "Sequence": ("a list", lambda value: isinstance(value, Iterable) and not isinstance(value, str)),
    "Callable": ("a function", callable),
    "Progress": ("a function", callable),
    "Scenario": ("a scenario", lambda value: hasattr(value, "to_toml")),
    "Measure": ("a measure", lambda value: hasattr(value, "compute")),
    "Keep": ("a folder of runs, as fairwave.runs.keeping.Folder('out')", lambda value: hasattr(value, "get")),
}
"""For each annotation: description of the expected value, and the check of a value."""


def _find_wrong_type(
    call: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any], why: str
) -> str:
    """Names an argument with a wrong type by its annotation, if the error `why` does not name it; else empty."""
    signature = inspect.signature(call)
    for name, value in signature.bind(*given, **named).arguments.items():
        annotation = signature.parameters[name].annotation
        wanted = [one.partition("[")[0].strip() for one in _alternatives(str(annotation))]
        if name in why or not set(wanted) <= set(KINDS) or any(KINDS[one][1](value) for one in wanted):
            continue
        words = list(dict.fromkeys(KINDS[one][0] for one in wanted if one != "None"))
        return f"{call.__qualname__}: {name} is {shortened(value)}, but must be {' or '.join(words)}"
    return ""


def _alternatives(annotation: str) -> list[str]:
    """The types that an annotation allows: those between bars outside of brackets."""
    parts, depth = [""], 0
    for sign in annotation:
        depth += (sign == "[") - (sign == "]")
        if sign == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def check_count(name: str, value: object, example: int = 10) -> int:
    """Checks a whole number of 1 or more.

    Raises:
        TypeError: It is not a whole number.
        ValueError: It is less.
    """
    try:
        found = operator.index(value)  # type: ignore[arg-type]  # that is what is asked
    except TypeError:
        found = None
    if found is None or isinstance(value, bool):
        raise TypeError(
            f"{name} is {shortened(value)}, but must be a whole number; write for example {name}={example}"
        )
    if found < 1:
        raise ValueError(f"{name} is {found}, but must be 1 or more; write for example {name}={example}")
    return found


LARGEST_SEED = 2**63 - 1
"""Tables hold seeds as 64-bit integers with a sign."""


def check_seed(seed: int) -> None:
    """Rejects a value that is not a seed.

    Raises:
        TypeError: It is not a whole number.
        ValueError: It is negative, or too large for the tables.
    """
    if not isinstance(seed, SupportsIndex) or isinstance(seed, bool):
        raise TypeError(
            f"a seed is a whole number from 0 to {LARGEST_SEED}, not {seed!r:.60}; write for example 1"
        )
    if not 0 <= operator.index(seed) <= LARGEST_SEED:
        raise ValueError(f"a seed is a whole number from 0 to {LARGEST_SEED}, not {seed}")


def seeds(n: object, given: object) -> Sequence[int]:
    """Returns the requested seeds, from their number or from the list itself.

    Raises:
        TypeError: They are not whole numbers.
        ValueError: The list is empty.
    """
    if given is None:
        return range(1, check_count("n", n) + 1)
    if isinstance(given, range):
        found: Sequence[int] = given
    elif isinstance(given, Iterable) and not isinstance(given, (str, Mapping)):
        found = list(given)
        for seed in found:
            check_seed(seed)
    else:
        raise TypeError(
            f"seeds are {shortened(given)}, but must be a list; write seeds=[1, 2, 3], or n=10 for the first ten"
        )
    if not found:
        raise ValueError(
            "seeds are empty: nothing would run; write seeds=[1, 2, 3], or n=10 for the first ten"
        )
    return found


def shortened(value: object) -> str:
    """A value as Python writes it, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
