"""Errors that users cause. The command line prints the message and exits with status 2."""

from __future__ import annotations


class UserError(Exception):
    """Base of errors with a remedy in the message."""


class BadInputError(UserError, ValueError):
    """An invalid argument of a command or a call; the message gives the remedy."""
