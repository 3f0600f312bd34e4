"""Video: real clips in, received pictures out, and their quality.

A clip's pictures (:mod:`~fairwave_video.clips`) are coded (:mod:`~fairwave_video.coding`). The sizes of coded frames
determine the simulator's video model (:mod:`~fairwave_video.tes`, :mod:`~fairwave_report.video_fit`).
"""

from fairwave_video.clips import Clip, clip
from fairwave_video.coding import Coded, CodedFrame, code_rate, encode
from fairwave_video.errors import VideoError

__all__ = ["Clip", "Coded", "CodedFrame", "VideoError", "clip", "code_rate", "encode"]
