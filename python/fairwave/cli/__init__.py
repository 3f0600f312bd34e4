"""The command line of fairwave.

Results for people go to standard output as tables, results for programs (`--json`) as one JSON document. Progress
and messages go to standard error. Exit status: 0 done, 1 failed, 2 bad input, 3 a requirement fails, 4 a requirement is
undecided, 130 stopped by the user (completed runs are kept if a folder was given).
"""

from __future__ import annotations

import os
import re
import sys

from fairwave.cli.statuses import BAD_INPUT, FAILED, STOPPED, StoppedError


def main() -> None:
    """Entry point: every error that a user can cause ends in a sentence, not in a traceback."""
    try:
        # NumPy's linear algebra starts a thread per core, which takes longer than a small run. Fairwave rarely uses it.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        if sys.platform == "win32":
            _write_utf8()
        _main()
    except KeyboardInterrupt:  # before the command started, or while it stopped
        from fairwave.cli.console import complain

        complain(_stopped())
        sys.exit(STOPPED)
    except BaseException as error:
        if not _lacks_memory(error):
            raise
        from fairwave.cli.console import complain

        _drop_output()
        complain(
            f"there is not enough memory; make fewer runs at once, record less, or use --threads 1; {_kept()}"
        )
        sys.exit(FAILED)


def _write_utf8() -> None:
    """Writes files and pipes in UTF-8: the code page of Windows lacks characters of tables. Its terminal has all."""
    import io

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8")


NO_MEMORY = (
    "PyObject pointer is null",
    "error return without exception set",
    "failed to map segment from shared object",
    "can't start new thread",
)
"""Messages of failed allocations: in the compiled part, the interpreter, the loader of libraries, threads."""


def _lacks_memory(error: BaseException) -> bool:
    """Whether an allocation failed: in Python, or in the compiled part on its way to Python."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in NO_MEMORY)


def _left(error: SystemExit) -> int:
    """The exit status of a command that something ended by `sys.exit`: Ctrl-C, a closed pipe, a library or a law."""
    from fairwave.cli.console import complain

    if isinstance(error, StoppedError):
        return STOPPED
    if isinstance(error.__context__, BrokenPipeError):  # the command-line library turns it into an exit
        return FAILED
    if not _comes_from_your_code(error):  # completion scripts end the process this way
        return error.code if isinstance(error.code, int) else FAILED if error.code else 0
    complain(
        f"code of yours ended the command by sys.exit({'' if error.code is None else repr(error.code)}); "
        "raise an error instead, for example ValueError('…')"
    )
    _trace(error)
    return FAILED


def _code_folder() -> str:
    """The folder of fairwave, which is also a prefix of the packages above it."""
    return os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120  # a start without pathlib is faster


def _comes_from_your_code(error: BaseException) -> bool:
    """True if a frame of the error belongs neither to fairwave nor to an installed library."""
    import sysconfig
    import traceback

    installed = [path for path in sysconfig.get_paths().values() if path]
    libraries = (_code_folder(), *installed, "<")
    return any(not one.filename.startswith(libraries) for one in traceback.extract_tb(error.__traceback__))


def _main() -> None:
    from fairwave._native import RunError, ScenarioError
    from fairwave.cli.console import complain
    from fairwave.errors import UserError

    _refuse_bytes(sys.argv[1:])
    try:
        status = _do(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = STOPPED
    except (ScenarioError, UserError) as error:
        complain(str(error))
        if "help: write one of the allowed names" in str(error) and "fairwave.laws" not in sys.modules:
            complain("a law of your own comes from a file: --laws FILE.py")
        _trace(error)
        sys.exit(BAD_INPUT)
    except RunError as error:
        complain(str(error))
        _trace(error)
        sys.exit(FAILED)
    except SystemExit as error:
        sys.exit(_left(error))
    except BrokenPipeError:
        # The reader of the output has closed the pipe.
        _drop_output()
        sys.exit(FAILED)
    except OSError as error:
        _drop_output()
        sys.exit(_failed(error))
    except Exception as error:
        if isinstance(error, MemoryError):
            raise
        from fairwave.cli.usage import refuse

        status = refuse(error, sys.argv[1:])
        if status is None:
            raise
    if status == STOPPED:  # typer returns this for Ctrl-C, too
        complain(_stopped())
    sys.exit(status if isinstance(status, int) else 0)


def _failed(error: OSError) -> int:
    """Reports an error of the system and returns the exit status."""
    from fairwave.cli.console import complain

    if _is_lost(error):
        complain(f"{error}; {_kept()}")
        return FAILED
    complain(_trouble(error))
    return FAILED if _shortage(error) else BAD_INPUT


def _shortage(error: OSError) -> str:
    """Returns the remedy if the system is short of a resource; empty if the error has another reason."""
    from fairwave.staging import remedy

    return remedy(error)


def _trouble(error: OSError) -> str:
    """Describes an error of the system in a sentence: failed operation, place, remedy, and kept work."""
    from fairwave.staging import final_path

    what = re.sub(r"/\.partial-[^'\s]*", "", error.strerror or str(error))
    where = (
        f": {final_path(os.fspath(error.filename))}" if isinstance(error.filename, (str, os.PathLike)) else ""
    )
    todo = _shortage(error)
    if todo:
        return f"{what}{where}; {todo}; {_kept()}"
    # A file that does not exist cannot be made there.
    is_new = bool(where) and isinstance(error, PermissionError) and not os.path.lexists(error.filename)
    return f"{what}{where}" + (
        "; go to a folder that you may write to, or name one with --out" if is_new else ""
    )


def _drop_output() -> None:
    """Drops output that is still in a buffer: the interpreter would try to write it at its end, and fail again."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _do(words: list[str]) -> object:
    """Executes a command line and returns its result: the exit status, if it is a number."""
    from fairwave.cli.plain import command

    work = command(words)
    if work is not None:
        return work()
    from fairwave.cli.app import app

    if words[:1] == ["help"]:  # like git and cargo
        words = [*words[1:], "--help"]
    return app(words, prog_name="fairwave", standalone_mode=False)


def _refuse_bytes(words: list[str]) -> None:
    """Ends the command if a word of it is not valid UTF-8."""
    from fairwave.cli.console import complain

    wrong = next((word for word in words if any("\ud800" <= sign <= "\udfff" for sign in word)), None)
    if wrong is not None:
        complain(f"{wrong!a} holds bytes that are no UTF-8; write it in UTF-8, or rename the file")
        sys.exit(BAD_INPUT)


def _trace(error: BaseException) -> None:
    """Shows the place in the user's code that raised the cause of an error."""
    cause = error.__cause__
    if cause is None or "fairwave.laws.registering" not in sys.modules:
        return
    import traceback

    from fairwave.cli.console import visible

    here = _code_folder()
    frames = [
        one
        for one in traceback.extract_tb(cause.__traceback__)
        if not one.filename.startswith((here, "<frozen"))
    ]
    if frames:
        last = "".join(traceback.format_exception_only(cause))
        told = f"Traceback (most recent call last):\n{''.join(traceback.format_list(frames))}{last}"
        sys.stderr.write(visible(told))


def _is_lost(error: OSError) -> bool:
    """Whether the cluster that made the runs was lost among them."""
    cluster = sys.modules.get("fairwave.cluster")
    return cluster is not None and isinstance(error, cluster.ClusterLostError)


def _stopped() -> str:
    """Message when the user stops a command."""
    return f"stopped; {_kept()}"


def _kept() -> str:
    """Describes the stored part of interrupted work, if any."""
    folders = sys.modules.get("fairwave.folders")
    kept = folders.keeps() if folders is not None else None
    if kept is None:
        return "nothing is kept without a folder: with --out the same command goes on from what had finished"
    return f"what had finished is kept in {kept}, and the same command goes on from it"
