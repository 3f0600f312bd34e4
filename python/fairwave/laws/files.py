"""Laws from files: the option `--laws FILE`.

A scenario never names such a file. Scenarios are data, which people share and open without a thought. Code runs only
when the user's command or program names its file.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from fairwave.arguments import checked
from fairwave.errors import UserError

if TYPE_CHECKING:
    from types import CodeType


class LawFileError(UserError, ValueError):
    """A file of laws cannot be used; the message gives the reason and the line of the file."""


class _Uncached(SourceFileLoader):
    """Compiles a file at each load. Python's cache takes a change of the same length within a second for no change."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return self.source_to_code(self.get_data(self.path), self.path)


@checked
def load_laws(path: str | Path) -> list[str]:
    """Runs a Python file, which registers laws and measures with the decorators of `fairwave`.

    The file may import others from its folder. It is code and runs with your rights.

    Args:
        path: The file.

    Returns:
        Names of the registered laws and measures.

    Raises:
        fairwave.laws.LawFileError: There is no such file, it fails, or it registers nothing.
    """
    file = Path(path)
    if not file.is_file():
        raise LawFileError(
            f"no file {str(path)!r} of laws: give the path of a Python file, as --laws my_laws.py"
        )
    name = f"fairwave_laws_of_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file, loader=_Uncached(name, str(file)))
    if file.suffix != ".py" or spec is None or spec.loader is None:
        raise LawFileError(f"{path} is no Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    before = _known()
    folder = str(file.resolve().parent)
    sys.modules[name] = module
    sys.path.insert(0, folder)
    _keep_alive(os.getpid())
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise LawFileError(f"{path} cannot be used: {_describe_error(error, file)}") from error
    finally:
        sys.path.remove(folder)
    found = [key for key, value in _known().items() if before.get(key) is not value]
    if not found:
        raise LawFileError(
            f'{path} hands in no law and no measure: decorate a class, for example with @fairwave.controller("my-law")'
        )
    return [name for _, name in found]


@cache
def _keep_alive(process: int) -> None:
    """Makes `os._exit` in this process print an error and end with a failure status.

    `os._exit` ends a process at once, so nothing afterwards could report that results are lost. Processes forked from
    this one end as usual.
    """
    end = os._exit

    def _exit(status: int) -> NoReturn:
        if os.getpid() == process:
            sys.stderr.write(
                f"error: your own code ended the process by os._exit({status}), and what it was making is lost; "
                "raise an error instead, for example ValueError('…')\n"
            )
            sys.stderr.flush()
            end(status or 1)
        end(status)

    os._exit = _exit


def _known() -> dict[tuple[str, str], object]:
    """Returns all registered laws and measures, by kind and name."""
    from fairwave.laws import registering
    from fairwave.measuring import measures

    return {**registering.handed_in, **{("measures", name): law for name, law in measures.OWN.items()}}


def _describe_error(error: BaseException, file: Path) -> str:
    """Describes an error, with the line of the file."""
    if isinstance(error, SyntaxError):
        return f"{error.msg} (line {error.lineno})"
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).resolve() == file.resolve()
    ]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {error}{where}"
