"""A clip in cumulative layers: one coding per number of layers, and the bytes that each layer adds.

Layer rates l₁ … l_k make cumulative rates c_j = l₁ + … + l_j (paper 002 §3.3). The clip is coded k times, version j so
that its mean rate is c_j (:func:`fairwave_video.coding.code_rates`). Layer j of a frame carries the difference in bytes
between version j and version j − 1. A receiver of the first j layers of a frame sees version j of it. Each layer's rate
is met within a few per cent. A small error in a rate c_j would be a large error of a thin layer above many others.

**Assumptions.** No layered MPEG-4 encoder is available, so layers are emulated: a layered coder without overhead, which
predicts each layer from the same layer of the references (a loop per layer). So a frame is shown in the most layers
that arrived of it and of all its references (:func:`fairwave._native.decodable_layers`), without drift. If a frame is
smaller in a version than in the one below, its layer has one byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fairwave_video.clips import PIXELS, Clip, clip
from fairwave_video.coding import FRAME_RATE, Coded, code_rates
from fairwave_video.errors import VideoError

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST = 8
"""Most layers that a video may have."""

TOLERANCE = 0.004
"""Relative tolerance of a version's cumulative rate. Layers have lower rates, so their relative errors are larger."""


@dataclass(frozen=True)
class LayeredClip:
    """A clip in layers.

    Attributes:
        clip: The clip.
        versions: The coding for one layer, for two, and so on.
    """

    clip: Clip
    versions: tuple[Coded, ...]

    @property
    def kinds(self) -> str:
        """The frames' types, the same in every version."""
        return self.versions[0].kinds

    def sizes(self) -> list[list[int]]:
        """Per frame, the bytes of each layer."""
        found = []
        for frame in range(len(self.kinds)):
            upto, sizes = 0, []
            for version in self.versions:
                size = max(version.frames[frame].size, upto + 1)
                sizes.append(size - upto)
                upto = size
            found.append(sizes)
        return found

    def frames(self) -> list[dict[str, Any]]:
        """Returns the frames in the scenario language."""
        return [{"type": kind, "sizes": sizes} for kind, sizes in zip(self.kinds, self.sizes(), strict=True)]


def encode_layers(name: str, rates: Sequence[float]) -> LayeredClip:
    """Codes a clip in layers; the same clip and rates are coded once per process.

    Args:
        name: A packaged clip, or the path of a video file.
        rates: Contribution of each layer to the mean rate, base first, bits per second.

    Raises:
        VideoError: The clip cannot be read, there is no base layer, a layer adds nothing, or the clip cannot be coded
            at a requested rate.
    """
    if not rates:
        raise VideoError(
            'layers []: at least the base layer\'s rate; for example layers = ["128 kb/s", "128 kb/s"]'
        )
    if len(rates) > MOST:
        raise VideoError(f"layers: {len(rates)}, but at most {MOST} are allowed; leave some out")
    for place, rate in enumerate(rates):
        if not rate > 0:
            raise VideoError(
                f"layers[{place}] {rate:g} b/s: must be above 0, so that cumulative rates increase; "
                'for example layers = ["128 kb/s", "128 kb/s"]'
            )
    return _layered(str(name), tuple(rates))


@lru_cache(maxsize=4)
def _layered(name: str, rates: tuple[float, ...]) -> LayeredClip:
    found = clip(name, PIXELS)
    cumulative = [sum(rates[: place + 1]) for place in range(len(rates))]
    try:
        versions = code_rates(list(found.pictures()), cumulative, TOLERANCE)
    except VideoError as error:
        raise VideoError(f"clip {name!r}, the layers' cumulative rates: {error}") from None
    for place in range(1, len(rates)):
        finer = versions[place].quantiser < versions[place - 1].quantiser
        # A layer thinner than the codings' tolerance would be met only by chance.
        if not finer or rates[place] < 4 * TOLERANCE * cumulative[place]:
            raise VideoError(
                f"layers[{place}] {rates[place] / 1e3:g} kb/s: too little to code clip {name!r} any finer than "
                "without it; give this layer more"
            )
    return LayeredClip(found, tuple(versions))


def coded_scenario(flows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Returns the overrides that a scenario with clips needs: the frames of every clip without any.

    Args:
        flows: The scenario's flows as plain data.

    Returns:
        Overrides; empty if no flow streams a clip.

    Raises:
        VideoError: A clip cannot be coded as requested; the message names the flow.
    """
    changes = {}
    for flow in flows:
        traffic = streams_clip(flow)
        if traffic is None or traffic.get("frames"):
            continue
        try:
            of = encode_layers(traffic["clip"], [bits_per_second(rate) for rate in traffic["layers"]])
        except VideoError as error:
            raise VideoError(f"flow {flow['name']!r}, traffic: {error}") from None
        rest = {"frame-rate": FRAME_RATE, **traffic}
        changes[f"flow.{flow['name']}.traffic"] = {**rest, "frames": of.frames()}
    return changes


def streams_clip(flow: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the traffic of a flow that streams a clip; None for other flows."""
    traffic = flow.get("traffic")
    return traffic if isinstance(traffic, dict) and traffic.get("clip") else None


_UNITS = {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9}


def bits_per_second(text: str) -> float:
    """Reads a rate of the scenario language, `128 kb/s`."""
    number, unit = text.split()
    return float(number) * _UNITS[unit]
