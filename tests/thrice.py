"""Tests of what hangs on the time."""

import contextlib
import functools

import pytest


def thrice(test):
    """The outcome depends on timing, and others may use this machine: the test fails if it is wrong three times.

    The test is marked `live`: `make test` runs it when no other tests keep the machine busy.
    """

    @functools.wraps(test)
    def tried(*given, **named):
        for _ in range(2):
            with contextlib.suppress(AssertionError):
                return test(*given, **named)
        return test(*given, **named)

    return pytest.mark.live(tried)
