"""Registration of laws: the decorators, and the description of a class for the compiled part."""

from __future__ import annotations

import atexit
import hashlib
import inspect
import json
import os
import re
import secrets
import sys
import types
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fairwave import _native
from fairwave.arguments import checked
from fairwave.laws.families import Controller, Discipline, Law, LinkLaw, LossModel, RateController, Source
from fairwave.laws.parameters import parameters_of

if TYPE_CHECKING:
    from collections.abc import Callable

    C = TypeVar("C", bound=Controller)
    D = TypeVar("D", bound=Discipline)
    S = TypeVar("S", bound=Source)
    M = TypeVar("M", bound=LossModel)
    R = TypeVar("R", bound=LinkLaw)
    E = TypeVar("E", bound=RateController)

KINDS = {
    "controller": "transports",
    "discipline": "queues",
    "source": "traffic",
    "loss": "losses",
    "link": "rates",
    "rate_controller": "controllers",
}
"""Families, each with the kind of names in `fairwave list` that its laws are."""

handed_in: dict[tuple[str, str], type[Law]] = {}
"""The laws of this process, by kind and name."""

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@checked
def controller(name: str) -> Callable[[type[C]], type[C]]:
    """Hands in a TCP controller, which scenarios name `tcp/NAME`: see `help(fairwave.Controller)`.

    Args:
        name: Lower-case letters, digits and hyphens. A class that has the name already is replaced; a built-in law
            cannot be.

    Raises:
        ValueError: The name cannot be one, or is that of a built-in law.
        TypeError: The class lacks a method, or has one or a parameter that cannot be.
    """
    plain = name.removeprefix("tcp/")
    return lambda law: _hand_in(law, Controller, f"tcp/{check_name(plain)}")


@checked
def discipline(name: str) -> Callable[[type[D]], type[D]]:
    """Hands in a queue discipline: see `help(fairwave.Discipline)`. Arguments and errors as for `controller`."""
    return lambda law: _hand_in(law, Discipline, check_name(name))


@checked
def source(name: str) -> Callable[[type[S]], type[S]]:
    """Hands in a traffic source: see `help(fairwave.Source)`. Arguments and errors as for `controller`."""
    return lambda law: _hand_in(law, Source, check_name(name))


@checked
def loss_model(name: str) -> Callable[[type[M]], type[M]]:
    """Hands in a loss model: see `help(fairwave.LossModel)`. Arguments and errors as for `controller`."""
    return lambda law: _hand_in(law, LossModel, check_name(name))


@checked
def link_law(name: str) -> Callable[[type[R]], type[R]]:
    """Hands in a link law: see `help(fairwave.LinkLaw)`. Arguments and errors as for `controller`."""
    return lambda law: _hand_in(law, LinkLaw, check_name(name))


@checked
def rate_controller(name: str) -> Callable[[type[E]], type[E]]:
    """Hands in a rate controller of media sessions: see `help(fairwave.RateController)`.

    Arguments and errors as for `controller`.
    """
    return lambda law: _hand_in(law, RateController, check_name(name))


def check_name(name: str) -> str:
    """Refuses what cannot be a name in scenarios.

    Raises:
        ValueError: It cannot.
    """
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name: use lower-case letters, digits and hyphens, as in 'my-law'")
    return name


def _hand_in(law: Any, base: type[Law], name: str) -> Any:
    if not (isinstance(law, type) and issubclass(law, base)):
        raise TypeError(f"`{name}` must be a class derived from fairwave.{base.__name__}, not {law!r}")
    said = _describe(law, base, name)
    said["fingerprint"] = _fingerprint(law, said)
    _native.register_law(base.family, json.dumps(said), law)
    handed_in[KINDS[base.family], name] = law
    _wait_at_exit()
    reference = sys.modules.get("fairwave.reference")
    if reference is not None:
        reference.forget()
    return law


@cache
def _wait_at_exit() -> None:
    """Runs under way end before the interpreter does, and in a copy of the process that a law makes by a fork."""
    atexit.register(_end_runs)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_native.note_fork)


def _end_runs() -> None:
    """Ends runs under way; a law that does not come back, as in an endless loop, is made to."""
    if not _native.end_runs():
        return
    import ctypes
    import threading

    known = {thread.ident for thread in threading.enumerate()}
    for ident in sys._current_frames().keys() - known:  # threads that are not Python's own
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(SystemExit))
    _native.end_runs()


def _describe(law: type[Law], base: type[Law], name: str) -> dict[str, Any]:
    for known in parameters_of(law, Law):
        if hasattr(base, known.attribute):
            raise ValueError(
                f"parameter `{known.attribute}`: this name has a meaning already in a {base.__name__}; "
                "give it another name"
            )
    own = [hook for hook in (*base.hooks, "check") if getattr(law, hook) is not getattr(base, hook)]
    _check_methods(law, base, own)
    about = inspect.cleandoc(law.__doc__ or "") if law.__doc__ != base.__doc__ else ""
    return {
        "name": name,
        "about": about or f"{law.__name__}, without a docstring.",
        "parameters": [known.to_dict() for known in parameters_of(law, Law)],
        "methods": own,
        "recovery": getattr(law, "recovery", None),
        "waves": getattr(law, "waves", False),
        "marks": getattr(law, "marks", "none") if base is Controller else "none",
        "own_victim": getattr(law, "own_victim", None),
        "not_fifo": not getattr(law, "fifo", True),
        "by_flow": getattr(law, "by_flow", False),
        "reaches_capacity": getattr(law, "reaches_capacity", False),
        "gives_marks": getattr(law, "marks", False) if base in (Discipline, RateController) else False,
        "bulk": getattr(law, "bulk", False),
        "steady": getattr(law, "steady", False),
    }


def _check_methods(law: type[Law], base: type[Law], own: list[str]) -> None:
    """Refuses a law that lacks a method, or has one that would not be called as it stands.

    Raises:
        TypeError: It does.
    """
    lacking = [hook for hook in base.needed if hook not in own]
    if base is Discipline and not {"arrive", "depart"} & set(own):
        lacking = ["arrive or depart"]
    if base is Source:
        wanted = "next_activity" if getattr(law, "bulk", False) else "next_unit"
        lacking = [] if wanted in own else [wanted]
    if lacking:
        raise TypeError(f"{law.__name__} lacks {', '.join(lacking)}; see help(fairwave.{base.__name__})")
    if "victim" in own and not getattr(law, "own_victim", None):
        raise TypeError(
            f"{law.__name__} has `victim`, so it must say why no victim rule goes with it: "
            'own_victim = "… drops from the longest flow"'
        )
    for hook in own:
        given = inspect.signature(getattr(law, hook))
        wanted_names = list(inspect.signature(getattr(base, hook)).parameters)
        try:
            given.bind(*wanted_names)
        except TypeError:
            raise TypeError(
                f"{law.__name__}.{hook} takes {given}, but is called with ({', '.join(wanted_names)})"
            ) from None
    misspelled = [name for name in vars(law) if name.startswith("on_") and name not in base.hooks]
    if misspelled:
        from difflib import get_close_matches

        near = get_close_matches(misspelled[0], base.hooks, 1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        raise TypeError(
            f"{law.__name__}.{misspelled[0]} would never be called: a {base.__name__} has "
            f"{', '.join(base.hooks)}{hint}"
        )


def _fingerprint(law: type[Law], said: dict[str, Any]) -> str:
    """What tells the law's code from another's, so that kept runs of other code are not taken for its own.

    It is the whole of the file that has the class, or the source of its methods, and what they compile to; where
    neither can be had, nothing that was kept fits. What the file imports is not looked at.
    """
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    own = [part for part in law.__mro__ if part.__module__ not in {Law.__module__, "builtins"}]
    methods = [one for part in own for one in vars(part).values() if inspect.isfunction(one)]
    for method in methods:
        _add_code(digest, method.__code__)
        digest.update(
            repr([cell.cell_contents for cell in method.__closure__ or () if _is_plain(cell)]).encode()
        )
    try:
        file = inspect.getsourcefile(law)
    except TypeError:  # of a session
        file = None
    try:
        if file is not None and Path(file).is_file():
            digest.update(Path(file).read_bytes())
        else:
            digest.update("".join(inspect.getsource(one) for one in methods).encode())
    except (OSError, TypeError):
        return secrets.token_hex(16)
    return digest.hexdigest()[:32]


def _add_code(digest: hashlib._Hash, code: types.CodeType) -> None:
    """What a function compiles to, which tells apart several that one place of a file makes."""
    digest.update(code.co_code + repr(code.co_names).encode())
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _add_code(digest, constant)
        else:
            digest.update(repr(constant).encode())


def _is_plain(cell: types.CellType) -> bool:
    try:
        return isinstance(cell.cell_contents, (bool, int, float, str, tuple, type(None)))
    except ValueError:  # empty as yet
        return False
