"""The sender of a browser's call in the seconds before the picture froze at the other end."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from validation.compare.chrome import call

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
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
            ours, theirs = (call.samples(folder / f"log-{role}{name}.jsonl") for role in (sender, receiver))
            frames: list[float] = []
            for at in range(1, min(len(ours), len(theirs))):
                sent = [call.report(ours[one], "outbound-rtp", kind="video") for one in (at - 1, at)]
                seen = [call.report(theirs[one], "inbound-rtp", kind="video") for one in (at - 1, at)]
                made = _grown(sent, "framesEncoded")
                frames.append(made)
                stood = _grown(seen, "totalFreezesDuration")
                frozen += stood
                few += stood if min(frames[-BEFORE:]) <= FEW else 0.0
                if made <= FEW:
                    pair = call.report(ours[at], "candidate-pair", nominated=True)
                    if estimate := pair.get("availableOutgoingBitrate"):
                        shares.append(sent[1].get("targetBitrate", 0.0) / estimate)
                    if made > 0:
                        quantisers.append(_grown(sent, "qpSum") / made)
    return Tally(frozen, few, median(shares) if shares else None, median(quantisers) if quantisers else None)


def _grown(reports: Sequence[dict[str, Any]], member: str) -> float:
    before, after = (one.get(member, 0) for one in reports)
    return float(after - before)
