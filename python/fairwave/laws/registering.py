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
"""Kind of names in `fairwave list` for the laws of each family."""

handed_in: dict[tuple[str, str], type[Law]] = {}
"""Registered laws of this process, by kind and name."""

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@checked
def controller(name: str) -> Callable[[type[C]], type[C]]:
    """Registers a TCP controller under the scenario name `tcp/NAME`: see `help(fairwave.Controller)`.

    Args:
        name: Lower-case letters, digits and hyphens. It replaces a custom class of this name; a built-in law
            cannot be replaced.

    Raises:
        ValueError: The name is not valid, or belongs to a built-in law.
        TypeError: The class lacks a method, or has an invalid method or parameter.
    """
    plain = name.removeprefix("tcp/")
    return lambda law: _hand_in(law, Controller, f"tcp/{check_name(plain)}")


@checked
def discipline(name: str) -> Callable[[type[D]], type[D]]:
    """Registers a queue discipline: see `help(fairwave.Discipline)`. Arguments and errors as for `controller`."""
    return lambda law: _hand_in(law, Discipline, check_name(name))


@checked
def source(name: str) -> Callable[[type[S]], type[S]]:
    """Registers a traffic source: see `help(fairwave.Source)`. Arguments and errors as for `controller`."""
    return lambda law: _hand_in(law, Source, check_name(name))


@checked
def loss_model(name: str) -> Callable[[type[M]], type[M]]:
    """Registers a loss model: see `help(fairwave.LossModel)`. Arguments and errors as for `controller`."""
    return lambda law: _hand_in(law, LossModel, check_name(name))


@checked
def link_law(name: str) -> Callable[[type[R]], type[R]]:
    """Registers a link law: see `help(fairwave.LinkLaw)`. Arguments and errors as for `controller`."""
    return lambda law: _hand_in(law, LinkLaw, check_name(name))


@checked
def rate_controller(name: str) -> Callable[[type[E]], type[E]]:
    """Registers a rate controller of media sessions: see `help(fairwave.RateController)`.

    Arguments and errors as for `controller`.
    """
    return lambda law: _hand_in(law, RateController, check_name(name))


def check_name(name: str) -> str:
    """Returns the name, and rejects text that cannot be a name in scenarios.

    Raises:
        ValueError: The text cannot be a name.
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
    """Ends active runs before the interpreter exits, and marks processes that a law forks."""
    atexit.register(_end_runs)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_native.note_fork)


def _end_runs() -> None:
    """Ends active runs, with an exception in the thread of a law that does not return (an endless loop)."""
    if not _native.end_runs():
        return
    import ctypes
    import threading

    known = {thread.ident for thread in threading.enumerate()}
    for ident in sys._current_frames().keys() - known:  # threads that Python did not start
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
    """Rejects a law that lacks a method, or has a method with wrong arguments or an unknown name.

    Raises:
        TypeError: The law has such a mistake.
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
    """Returns a fingerprint of the law's code, so that stored runs of other code are not reused.

    It covers the compiled methods and the whole file of the class. Without a file, it covers the methods' source. If
    neither is available, the fingerprint is random, so no stored run matches. Imported files are not covered.
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
    except TypeError:  # a class from an interactive session
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
    """Adds a function's compiled code, which differs between functions made at the same place of a file."""
    digest.update(code.co_code + repr(code.co_names).encode())
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _add_code(digest, constant)
        else:
            digest.update(repr(constant).encode())


def _is_plain(cell: types.CellType) -> bool:
    try:
        return isinstance(cell.cell_contents, (bool, int, float, str, tuple, type(None)))
    except ValueError:  # the cell is still empty
        return False
