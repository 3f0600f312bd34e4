"""Video: real clips in, pictures out, and how good they are.

A clip's pictures (:mod:`~fairwave.video.clips`) are coded (:mod:`~fairwave.video.coding`); from the sizes of coded
frames comes the model that the simulator draws from (:mod:`~fairwave.video.tes`, :mod:`~fairwave.video.fit`).
"""

from fairwave.video.clips import Clip, clip
from fairwave.video.coding import Coded, CodedFrame, at_rate, encode
from fairwave.video.errors import VideoError

__all__ = ["Clip", "Coded", "CodedFrame", "VideoError", "at_rate", "clip", "encode"]
