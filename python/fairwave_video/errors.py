"""Errors of video: one exception with a text that states place, problem and remedy."""

from fairwave.foreign import ForeignFileError


class VideoError(ForeignFileError):
    """A clip, a layer or an option that cannot be used; the message names the remedy."""
