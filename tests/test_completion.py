"""Completion at the TAB key, in the supported shells."""

import os
import re
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")

PROGRAM = Path(sys.executable).parent
START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
READY = {
    "bash": "PS1='READY> '; bind 'set bell-style none'",
    "zsh": "PS1='READY> '; autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' menu no",
    "fish": "function fish_prompt; echo 'READY> '; end",
}
LOAD = {
    "bash": "fairwave --show-completion > ./script && source ./script; echo LOADED $?",
    "zsh": "fairwave --show-completion > ./script && source ./script; echo LOADED $?",
    "fish": "fairwave --show-completion > ./script && source ./script; echo LOADED $status",
}


COMPLETED = {
    "fairwave swe": "ep",
    "fairwave run --overw": "rite",
    "fairwave explain dumbb": "ell",
    "fairwave run calls-of": "-today.toml",
    "fairwave run x --measures mouth-to": "-ear",
    "fairwave compare x --over tcp/cub": "ic",
}
"""Input before the TAB key, and the completion."""


class Shell:
    """An interactive shell in a pseudo-terminal."""

    def __init__(self, name, folder):
        environment = {
            **os.environ, "HOME": str(folder), "PATH": f"{PROGRAM}:{os.environ['PATH']}", "TERM": "dumb",
            "COLUMNS": "200", "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder), "SHELL": shutil.which(name),
        }  # fmt: skip
        self.process, self.here = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(START[name][0], START[name], environment)
        self.seen = ""

    def type(self, text):
        os.write(self.here, text.encode())

    def read_until(self, pattern, seconds=15.0):
        """Reads until a pattern appears, and returns all output since the last call."""
        while not (found := re.search(pattern, self.seen)):
            ready, _, _ = select.select([self.here], [], [], seconds)
            assert ready, f"{pattern!r} does not appear in {self.seen!r}"
            try:
                self.seen += os.read(self.here, 65536).decode(errors="replace")
            except OSError:
                raise AssertionError(f"the shell ended: {self.seen!r}") from None
        begun, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        return begun

    def close(self):
        os.close(self.here)
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


@pytest.fixture(params=list(START))
def shell(request, tmp_path):
    """A shell with fairwave's completion, in a folder with one scenario."""
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    if not (PROGRAM / "fairwave").exists():
        pytest.skip("the command fairwave is not installed")
    (tmp_path / "calls-of-today.toml").write_text("")
    found = Shell(request.param, tmp_path)
    try:
        found.type(READY[request.param] + "\n")
        found.type(LOAD[request.param] + "\n")
        found.read_until(r"LOADED 0")
        yield found
    finally:
        found.close()


def test_tab_completes_commands_options_names_and_files(shell):
    for typed, completed in COMPLETED.items():
        shell.type(f"{typed}\t")
        said = shell.read_until(re.escape(completed))
        assert "error" not in said, said
        assert "Traceback" not in said, said
        shell.type("\x15")  # Ctrl-U clears the line


POWERSHELLS = ("powershell", "pwsh")
"""Windows PowerShell 5 and PowerShell 7. No test starts them: no package for tests brings the shell."""


@pytest.mark.parametrize("name", [*START, *POWERSHELLS])
def test_the_script_is_shown_without_an_error(name):
    done = subprocess.run(
        [sys.executable, "-m", "fairwave"],
        env={**os.environ, "_FAIRWAVE_COMPLETE": f"source_{name}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "fairwave" in done.stdout


def test_completion_answers_with_status_0_and_nothing_on_standard_error():
    environment = {
        **os.environ,
        "_FAIRWAVE_COMPLETE": "complete_bash",
        "COMP_WORDS": "fairwave co",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "fairwave"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["compare"], "")


@pytest.mark.parametrize("name", POWERSHELLS)
@pytest.mark.parametrize(("typed", "completed"), COMPLETED.items())
def test_powershell_gets_the_completions_of_the_other_shells(name, typed, completed, tmp_path):
    word = typed.rpartition(" ")[2]
    environment = {
        **os.environ, "_FAIRWAVE_COMPLETE": f"complete_{name}",
        "_TYPER_COMPLETE_ARGS": typed, "_TYPER_COMPLETE_WORD_TO_COMPLETE": word,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "fairwave"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = [line.partition(":::")[0] for line in done.stdout.splitlines() if line]
    # Without an answer PowerShell completes names of files itself.
    assert found == [] if completed.endswith(".toml") else word + completed in found


@pytest.mark.parametrize("name", POWERSHELLS)
def test_the_script_of_powershell_asks_for_completions_by_the_names_that_the_command_reads(name):
    done = subprocess.run(
        [sys.executable, "-m", "fairwave"],
        env={**os.environ, "_FAIRWAVE_COMPLETE": f"source_{name}"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for asked in (
        '_FAIRWAVE_COMPLETE = "complete_powershell"',
        "_TYPER_COMPLETE_ARGS",
        "_TYPER_COMPLETE_WORD_TO_COMPLETE",
    ):
        assert asked in done.stdout
    assert "Register-ArgumentCompleter -Native -CommandName fairwave" in done.stdout
