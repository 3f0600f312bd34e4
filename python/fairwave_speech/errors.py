"""What goes wrong with speech: one exception whose text says where, what, and what to do instead."""

from fairwave.foreign import ForeignFileError


class SpeechError(ForeignFileError):
    """A recording, a unit table or an option that cannot be used; the message names the remedy."""
