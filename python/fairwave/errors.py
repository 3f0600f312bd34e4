"""Errors that users cause. The command line answers each with its message and exit status 2."""

from __future__ import annotations


class UserError(Exception):
    """Base of errors whose message tells the user what to write instead."""


class BadInputError(UserError, ValueError):
    """Something in a command or in a call cannot be used; the message says what to write instead."""
