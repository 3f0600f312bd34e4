"""Exit statuses of the command line."""

STOPPED = 130
BAD_INPUT = 2
FAILED = 1


class StoppedError(SystemExit):
    """Ctrl-C for which a command has already printed a message."""
