"""Tests that depend on timing."""

import contextlib
import functools
import time

import pytest

# : Pauses between the attempts, so that other load on the machine or its host may end.
PAUSES_S = (5, 20)


def thrice(test):
    """Marks a test that depends on timing, on a shared machine: it fails if it is wrong three times.

    The test is marked `live`: `make test` runs it without other tests at the same time.
    """

    @functools.wraps(test)
    def tried(*given, **named):
        for pause in PAUSES_S:
            with contextlib.suppress(AssertionError):
                return test(*given, **named)
            time.sleep(pause)
        return test(*given, **named)

    return pytest.mark.live(tried)
