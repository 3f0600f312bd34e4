"""Parameters of a law: class attributes with a type become keys of its table in scenarios."""

from __future__ import annotations

import inspect
import math
import types
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from fairwave.arguments import checked

Kind = Literal["number", "whole", "flag", "text", "time", "rate", "size"]

Duration = Annotated[float, "time"]
"""A time: with a unit in scenarios (`"20 ms"`), in seconds for the law."""

Rate = Annotated[float, "rate"]
"""A rate: with a unit in scenarios (`"1 Mb/s"`), in bits per second for the law."""

Size = Annotated[int, "size"]
"""A size: with a unit in scenarios (`"1 kB"`), in bytes for the law."""

PLAIN: dict[Any, Kind] = {float: "number", int: "whole", bool: "flag", str: "text"}
QUANTITIES: dict[str, Kind] = {"time": "time", "rate": "rate", "size": "size"}
EXAMPLES: dict[Kind, Any] = {
    "number": 1.0, "whole": 1, "flag": True, "text": "…", "time": 0.01, "rate": 1e6, "size": 1000,
}  # fmt: skip
NEEDED: Any = object()


class Refusal(ValueError):  # noqa: N818  # the scenario language's term for a value that is not allowed
    """Raise this in a law's `check` for a value that is not allowed for a reason other than its range.

    Example:
        >>> raise Refusal("interval", "5 ms", "longer than `target` (10 ms)", 'interval = "100 ms"')
        Traceback (most recent call last):
        fairwave.laws.parameters.Refusal: `interval` is 5 ms, but must be longer than `target` (10 ms); ...

    Attributes:
        key: Key in the scenario.
        value: The value as given.
        allowed: Description of the allowed values.
        example: An accepted line of TOML.
    """

    def __init__(self, key: str, value: Any, allowed: str, example: str) -> None:
        super().__init__(f"`{key}` is {value}, but must be {allowed}; write for example `{example}`")
        self.key, self.value, self.allowed, self.example = key, str(value), allowed, example


@dataclass(frozen=True)
class Parameter:
    """Properties of a parameter other than its type; made by `parameter`."""

    default: Any = NEEDED
    doc: str = ""
    above: float | None = None
    least: float | None = None
    below: float | None = None
    most: float | None = None
    example: Any = None


@checked
def parameter(
    default: Any = NEEDED,
    *,
    doc: str = "",
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    example: Any = None,
) -> Any:
    """Declares a parameter of a law with range and description; its type is the attribute's annotation.

    Types are `float`, `int`, `bool`, `str`, `Literal["a", "b"]`, `fairwave.Duration` (seconds), `fairwave.Rate`
    (bits per second), `fairwave.Size` (bytes), a `list` of one of them, or one of them `| None`. An attribute
    with a plain default does not need this function: `gain: float = 0.1` is a parameter, too.

    Example:
        target: fw.Duration = fw.parameter(0.005, above=0, doc="Queueing delay that is aimed at.")

    Args:
        default: Value if a scenario leaves the key out, in the law's unit. Without a default, the key is required.
        doc: Description, for `fairwave explain` and editors.
        above: Lower limit that is not allowed itself.
        least: Smallest allowed value.
        below: Upper limit that is not allowed itself.
        most: Largest allowed value.
        example: Value for messages. Default: the parameter's default, or a value within the range.
    """
    return Parameter(default, doc, above, least, below, most, example)


@dataclass(frozen=True)
class ResolvedParameter:
    """A parameter with its type, in the form for the compiled part.

    Attributes:
        attribute: Name in the class.
        kind: Kind of value.
        several: Whether the value is a list.
        choices: Allowed texts; any text when None.
        given: Default, description and range.
    """

    attribute: str
    kind: Kind
    several: bool
    choices: tuple[str, ...] | None
    given: Parameter = field(default_factory=Parameter)

    @property
    def key(self) -> str:
        """Key in scenarios."""
        return self.attribute.replace("_", "-")

    def accepts(self, value: Any) -> bool:
        """Whether a value, or each value of a list, is within the bounds."""
        given = self.given
        if isinstance(value, list | tuple):
            return all(self.accepts(one) for one in value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return True
        return (
            (given.above is None or value > given.above)
            and (given.least is None or value >= given.least)
            and (given.below is None or value < given.below)
            and (given.most is None or value <= given.most)
        )

    def allowed(self) -> str:
        """Describes the bounds in words."""
        given = self.given
        bounds = (
            (given.above, "above"), (given.least, "at least"), (given.below, "below"), (given.most, "at most"),
        )  # fmt: skip
        return " and ".join(f"{word} {bound:g}" for bound, word in bounds if bound is not None)

    def example(self) -> Any:
        """Returns a value that would be accepted."""
        given = self.given
        if given.example is not None:
            return given.example
        return (
            given.default
            if given.default is not NEEDED and given.default is not None
            else self.make_example()
        )

    def make_example(self) -> Any:
        """Makes a value within the bounds."""
        given = self.given
        one: Any = self.choices[0] if self.choices else EXAMPLES[self.kind]
        if self.kind not in {"flag", "text"}:
            low = given.least if given.least is not None else given.above
            high = given.most if given.most is not None else given.below
            fits = (low is None or one > low) and (high is None or one < high)
            if not fits:
                low, high = (low if low is not None else high - 2), (high if high is not None else low + 2)  # type: ignore[operator]
                one = (low + high) / 2
                if self.kind in {"whole", "size"}:
                    one = next(
                        (near for near in (math.floor(one), math.ceil(one)) if self.accepts(near)), one
                    )
        return [one] if self.several else one

    def to_dict(self) -> dict[str, Any]:
        """Returns the parameter in the form for the compiled part."""
        given = self.given
        return {
            "key": self.key, "attribute": self.attribute, "kind": self.kind, "list": self.several,
            "needed": given.default is NEEDED, "default": None if given.default is NEEDED else given.default,
            "example": self.example(), "choices": self.choices,
            "about": given.doc or f"{self.attribute.replace('_', ' ').capitalize()}.",
            "above": given.above, "least": given.least, "below": given.below, "most": given.most,
        }  # fmt: skip


def parameters_of(law: type[Any], base: type[Any]) -> tuple[ResolvedParameter, ...]:
    """Returns the parameters of a law's class: annotations of the classes from `base` down to `law`, in that order.

    Raises:
        TypeError: An annotation has a type that scenarios cannot write, or a default or example is out of its bounds.
    """
    if "_parameters" in law.__dict__:
        return tuple(law.__dict__["_parameters"])
    try:
        hints = get_type_hints(law, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{law.__name__}: an annotation names something that its module does not have ({error}); import it there"
        ) from None
    found: dict[str, ResolvedParameter] = {}
    for part in reversed(law.__mro__):
        if not issubclass(part, base) or part.__module__ == base.__module__:
            continue
        for name in inspect.get_annotations(part):
            if name.startswith("_") or get_origin(hints[name]) is ClassVar or hints[name] is ClassVar:
                continue
            found[name] = _known(law, name, hints[name], getattr(law, name, NEEDED))
    for known in found.values():
        # Class attributes show the default, not its description.
        if known.given.default is not NEEDED:
            setattr(law, known.attribute, known.given.default)
        elif known.attribute in law.__dict__:
            delattr(law, known.attribute)
    law._parameters = tuple(found.values())
    return tuple(found.values())


def _known(law: type[Any], name: str, hint: Any, value: Any) -> ResolvedParameter:
    given = value if isinstance(value, Parameter) else Parameter(value)
    options = [hint]
    if get_origin(hint) in {Union, types.UnionType}:
        options = [one for one in get_args(hint) if one is not types.NoneType]
        if given.default is NEEDED and len(options) < len(get_args(hint)):
            given = Parameter(
                None, given.doc, given.above, given.least, given.below, given.most, given.example
            )
    inner, several = options[0], False
    if get_origin(inner) is list and get_args(inner):
        inner, several = get_args(inner)[0], True
    kind, choices = _kind(inner)
    if len(options) != 1 or kind is None:
        raise TypeError(
            f"{law.__name__}.{name}: {hint} is no type of a parameter; there are float, int, bool, str, Literal of "
            "texts, fairwave.Duration, fairwave.Rate and fairwave.Size, a list of one of them, or one of them | None. "
            "What the law remembers is no parameter: set it in `begin`, or annotate it as ClassVar"
        )
    known = ResolvedParameter(name, kind, several, choices, given)
    for what, one in (("default", given.default), ("example", given.example)):
        if not known.accepts(one):
            raise TypeError(
                f"{law.__name__}.{name}: its {what} {one!r} must be {known.allowed()}; write for example "
                f"{what}={known.make_example()!r}"
            )
    return known


def _kind(hint: Any) -> tuple[Kind | None, tuple[str, ...] | None]:
    if get_origin(hint) is Annotated:
        of, *marks = get_args(hint)
        marked = [QUANTITIES[mark] for mark in marks if isinstance(mark, str) and mark in QUANTITIES]
        return (marked[0], None) if marked else _kind(of)
    if get_origin(hint) is Literal and all(isinstance(one, str) for one in get_args(hint)):
        return "text", get_args(hint)
    try:
        return PLAIN.get(hint), None
    except TypeError:  # not hashable
        return None, None
