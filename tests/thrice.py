"""Tests of what hangs on the time."""

import contextlib
import functools
import time

import pytest

#: Between the attempts: whoever keeps the machine busy, its host too, may have done by then.
PAUSES_S = (5, 20)


def thrice(test):
    """The outcome depends on timing, and others may use this machine: the test fails if it is wrong three times.

    The test is marked `live`: `make test` runs it when no other tests keep the machine busy.
    """

    @functools.wraps(test)
    def tried(*given, **named):
        for pause in PAUSES_S:
            with contextlib.suppress(AssertionError):
                return test(*given, **named)
            time.sleep(pause)
        return test(*given, **named)

    return pytest.mark.live(tried)
