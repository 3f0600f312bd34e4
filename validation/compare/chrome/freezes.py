"""The sender of a browser's call in the seconds before the picture froze at the other end."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.dumps import RECEIVED, SENT
from validation.compare.chrome import call

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from validation.compare.chrome.cases import Case

FEW = 15
"""With at most this number of frames in a second, an encoder skips half of the camera's 30 or more."""

BEFORE = 3
"""Number of seconds before the picture froze that count, with the second of the freeze."""


@dataclass(frozen=True)
class Tally:
    """Freezes of a case's calls.

    Attributes:
        frozen_s: Seconds with a frozen picture.
        few_s: Of them, those after a second with few frames.
        target_share: In seconds with few frames, the encoder's target as a share of the estimate: the median; None if
            there were none.
        quantiser: In seconds with few frames, the median of the mean quantiser of VP8's stream, 0 to 127; None
            likewise.
    """

    frozen_s: float
    few_s: float
    target_share: float | None
    quantiser: float | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self)


def count_freezes(case: Case, folders: Iterable[Path]) -> Tally:
    """The freezes of calls, each in its folder.

    Raises:
        call.ChromeError: Nothing was logged.
    """
    frozen = few = 0.0
    shares: list[float] = []
    quantisers: list[float] = []
    for folder in folders:
        for sender, receiver, name in call.ways(case):
            ours, theirs = (call.read_log(folder / f"log-{role}{name}.jsonl") for role in (sender, receiver))
            video, seen = ours.find_video(SENT), theirs.find_video(RECEIVED)
            if video is None or seen is None:
                continue
            made, quantised = video.count("framesEncoded"), video.count("qpSum")
            stood = call.align(seen.frozen_s, theirs, ours)
            estimates, targets = ours.connection.available_bps, video.target_bps
            for at in np.flatnonzero(~np.isnan(made)).tolist():
                now = float(np.nan_to_num(stood[at]))
                frozen += now
                few += now if np.nanmin(made[max(at - BEFORE + 1, 0) : at + 1]) <= FEW else 0.0
                if made[at] <= FEW:
                    if estimates[at] > 0:
                        shares.append(float(np.nan_to_num(targets[at]) / estimates[at]))
                    if made[at] > 0:
                        quantisers.append(float(quantised[at] / made[at]))
    return Tally(frozen, few, median(shares) if shares else None, median(quantisers) if quantisers else None)
