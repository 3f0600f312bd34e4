"""The fit that comes with fairwave: TES processes of the I, P and B frames of real pictures, encoded here.

`python -m fairwave_report.video_fit` (a part of `make docs`) writes `fit.json` beside the source that uses it and
`docs/video-fit.md` with its figure. Nothing is drawn at random; the same pictures and coder give the same file.

Pictures: the packaged clips `bikes` (several scenes of a street) and `bigbuckbunny` (an animation), one after the
other, at CIF, 15 s in all at 25/s. They are coded twelve times, beginning one frame later each time, so that every
picture is an I frame once: the histograms do not hang on which few pictures happened to be I frames.

**Assumptions.** Paper 002 does not say what its trace shows, nor its quantiser: ours brings the mean rate nearest to
:data:`RATE`, the sum of the default layers. The three processes are independent of each other, as in the paper.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairwave_video import clips, coding, tes

if TYPE_CHECKING:
    from collections.abc import Iterator

    import av

CLIPS = ("bikes", "bigbuckbunny")
"""The pictures, in this order."""

CIF = (352, 288)
"""Size of the pictures."""

RATE = 1.024e6
"""Mean rate that the quantiser is chosen for, bits per second."""

CELLS = 16
"""Cells of equal probability in a histogram."""

LAGS = {"I": 8, "P": 24, "B": 40}
"""Up to what lag the autocorrelation is fitted: a quarter of the frames, or less."""

FIT_JSON = Path("crates/fairwave-media/src/traffic/video/fit.json")
"""Where the fit is compiled from."""


@dataclass(frozen=True)
class Material:
    """The coded pictures.

    Attributes:
        phases: One coding per frame that begins a group.
    """

    phases: tuple[coding.Coded, ...]

    def sizes(self, kind: str) -> list[list[int]]:
        """The sizes of one type of frames, one sequence per coding."""
        return [coded.sizes(kind) for coded in self.phases]


def pictures() -> Iterator[av.VideoFrame]:
    """The pictures that are fitted.

    Raises:
        VideoError: The package that carries them is not installed.
    """
    for name in CLIPS:
        clip = dataclasses.replace(clips.clip(name), width=CIF[0], height=CIF[1])
        yield from clip.pictures()


def material() -> Material:
    """Encodes the pictures: the quantiser by rate, then from every beginning."""
    shown = list(pictures())
    coded = coding.code_rate(shown, RATE)
    later = (coding.encode(shown[first:], coded.quantiser) for first in range(1, coding.GROUP))
    return Material((coded, *later))


def fitted(of: Material) -> dict[str, tes.Tes]:
    """The three processes."""
    return {kind: tes.fit(of.sizes(kind), CELLS, lags) for kind, lags in LAGS.items()}


def document(of: Material, processes: dict[str, tes.Tes]) -> dict[str, Any]:
    """What `fit.json` holds."""
    first = of.phases[0]
    about = (
        f"TES processes fitted by `python -m fairwave_report.video_fit` to {len(first.frames)} pictures of the clips "
        f"{' and '.join(CLIPS)} (package {clips.CARRIER}), MPEG-4 part 2 at {first.width} x {first.height}, "
        f"{coding.FRAME_RATE} frames/s, groups of {coding.GROUP} with {coding.B_FRAMES} B frames between anchors, "
        f"quantiser {first.quantiser:.2f}, {first.rate / 1e3:.0f} kb/s; see docs/video-fit.md."
    )
    return {"about": about, **{kind.lower(): process.to_dict() for kind, process in processes.items()}}


def text(content: dict[str, Any]) -> str:
    """JSON with one line per cell."""
    blocks = [f' "about": {json.dumps(content["about"])}']
    for kind in "ipb":
        process = dict(content[kind])
        cells = ",\n".join(f"   {json.dumps(cell)}" for cell in process.pop("histogram"))
        rest = json.dumps(process)[1:-1]
        blocks.append(f' "{kind}": {{\n  {rest},\n  "histogram": [\n{cells}\n  ]\n }}')
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def main(root: Path) -> None:
    """Writes the fit, and the page that shows how good it is."""
    from fairwave.staging import write_text
    from fairwave_report import video_goodness as goodness

    coded = material()
    content = document(coded, fitted(coded))
    write_text(root / FIT_JSON, text(content))
    goodness.page(root / "docs", coded, content)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
