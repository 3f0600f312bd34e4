"""Tests of what hangs on the time."""

import contextlib
import functools


def thrice(test):
    """Others may use this machine, and what is asked hangs on the time: it fails if wrong three times in a row."""

    @functools.wraps(test)
    def tried(*given, **named):
        for _ in range(2):
            with contextlib.suppress(AssertionError):
                return test(*given, **named)
        return test(*given, **named)

    return tried
