"""Errors of speech: one exception with a text that states place, problem and remedy."""

from fairwave.foreign import ForeignFileError


class SpeechError(ForeignFileError):
    """A recording, a unit table or an option that cannot be used; the message names the remedy."""
