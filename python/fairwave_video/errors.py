"""What goes wrong with video: one exception whose text says where, what, and what to do instead."""

from fairwave.foreign import ForeignFileError


class VideoError(ForeignFileError):
    """A clip, a layer or an option that cannot be used; the message names the remedy."""
