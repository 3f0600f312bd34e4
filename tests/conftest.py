"""What several tests need."""

import sys

import pytest

from made_up import made_up


@pytest.fixture
def results():
    """Made-up runs over two transports."""
    return made_up()


@pytest.fixture
def fairwave(monkeypatch, capsys):
    """Runs a command line; answers with exit status, standard output and standard error."""
    from fairwave.cli import main

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["fairwave", *map(str, words)])
        try:
            main()
            status = 0
        except SystemExit as end:
            status = end.code or 0
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run
