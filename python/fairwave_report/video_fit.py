"""Fit of the video source in fairwave: TES processes of the I, P and B frames of real pictures, encoded here.

`python -m fairwave_report.video_fit` writes `fit.json` next to the source that uses it. `render` makes the page that
shows how good the fit is. Nothing is drawn at random; the same pictures and coder give the same file.

Pictures: the packaged clips `bikes` (several scenes of a street) and `bigbuckbunny` (an animation), one after the
other, at CIF, 15 s in all at 25/s. They are coded twelve times, beginning one frame later each time, so that every
picture is an I frame once. So the histograms do not depend on which few pictures happened to be I frames.

**Assumptions.** Paper 002 states neither the content of its trace nor its quantiser. Here the quantiser is the one with
the mean rate nearest to :data:`RATE`, the sum of the default layers. The three processes are independent of each
other, as in the paper.
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
"""Mean rate for the choice of the quantiser, bits per second."""

CELLS = 16
"""Cells of equal probability in a histogram."""

LAGS = {"I": 8, "P": 24, "B": 40}
"""Greatest lag of the fitted autocorrelation: a quarter of the frames, or less."""

FIT_JSON = Path("crates/fairwave-media/src/traffic/video/fit.json")
"""The compiled file of the fit."""


@dataclass(frozen=True)
class Material:
    """The coded pictures.

    Attributes:
        phases: One coding per frame that begins a group.
    """

    phases: tuple[coding.Coded, ...]

    def sizes(self, kind: str) -> list[list[int]]:
        """Returns the sizes of one type of frames, one sequence per coding."""
        return [coded.sizes(kind) for coded in self.phases]


def pictures() -> Iterator[av.VideoFrame]:
    """Yields the pictures for the fit.

    Raises:
        VideoError: The package with the pictures is not installed.
    """
    for name in CLIPS:
        clip = dataclasses.replace(clips.clip(name), width=CIF[0], height=CIF[1])
        yield from clip.pictures()


def material() -> Material:
    """Encodes the pictures: chooses the quantiser by rate, then codes from every beginning."""
    shown = list(pictures())
    coded = coding.code_rate(shown, RATE)
    later = (coding.encode(shown[first:], coded.quantiser) for first in range(1, coding.GROUP))
    return Material((coded, *later))


def fit_processes(of: Material) -> dict[str, tes.Tes]:
    """Fits the three processes."""
    return {kind: tes.fit(of.sizes(kind), CELLS, lags) for kind, lags in LAGS.items()}


def document(of: Material, processes: dict[str, tes.Tes]) -> dict[str, Any]:
    """Returns the content of `fit.json`."""
    first = of.phases[0]
    about = (
        f"TES processes fitted by `python -m fairwave_report.video_fit` to {len(first.frames)} pictures of the clips "
        f"{' and '.join(CLIPS)} (package {clips.CARRIER}), MPEG-4 part 2 at {first.width} x {first.height}, "
        f"{coding.FRAME_RATE} frames/s, groups of {coding.GROUP} with {coding.B_FRAMES} B frames between anchors, "
        f"quantiser {first.quantiser:.2f}, {first.rate / 1e3:.0f} kb/s; see docs/video.md."
    )
    return {"about": about, **{kind.lower(): process.to_dict() for kind, process in processes.items()}}


def text(content: dict[str, Any]) -> str:
    """Formats JSON with one line per cell."""
    blocks = [f' "about": {json.dumps(content["about"])}']
    for kind in "ipb":
        process = dict(content[kind])
        cells = ",\n".join(f"   {json.dumps(cell)}" for cell in process.pop("histogram"))
        rest = json.dumps(process)[1:-1]
        blocks.append(f' "{kind}": {{\n  {rest},\n  "histogram": [\n{cells}\n  ]\n }}')
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def main(root: Path) -> None:
    """Writes the fit."""
    from fairwave.staging import write_text

    coded = material()
    write_text(root / FIT_JSON, text(document(coded, fit_processes(coded))))


def render(folder: Path, *, quick: bool = False) -> str:
    """Renders the page that shows how good the fit is. It needs `FIT_JSON` in the current folder.

    Args:
        folder: Its subfolder ``figures`` gets the picture.
        quick: Encodes nothing: the page then has the fit without the comparison.
    """
    from fairwave_report import video_goodness as goodness

    content = json.loads(FIT_JSON.read_text(encoding="utf-8"))
    return goodness.page(folder, None if quick else material(), content)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
