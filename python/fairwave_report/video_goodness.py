"""Goodness of the video fit: the clip's frame sizes compared with the simulator's draws, as a page with a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave_report.video_fit import LAGS, Material
from fairwave_video import coding, tes

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Values = NDArray[np.float64]

DRAWN = 20_000
"""Frames that are drawn from each process."""

COLOURS = {"clip": "#0072b2", "TES": "#d55e00"}


def draw_sizes(process: dict[str, Any], frames: int = DRAWN, seed: int = 1) -> Values:
    """Draws frame sizes in bytes from one TES process by running the simulator's video source.

    The run has a video with only this type of frames, in one layer of the process's mean rate, over a fast link.
    """
    from fairwave.scenario import load

    cells = process["histogram"]
    weight = sum(cell["weight"] for cell in cells)
    mean = sum(cell["weight"] * (cell["low"] + cell["high"]) / 2 for cell in cells) / weight
    traffic = {
        "kind": "video",
        "group": "I",
        "layers": [f"{round(8 * coding.FRAME_RATE * mean)} b/s"],
        "fit": {"i": process, "p": process, "b": process},
    }
    duration = frames / coding.FRAME_RATE
    scenario = load(
        f'name = "one type of frames"\nduration = "{duration} s"\n'
        '[topology]\npreset = "dumbbell"\nbottleneck = { rate = "10 Gb/s", delay = "1 ms" }\n'
        'access = { rate = "10 Gb/s", delay = "1 ms" }\n'
        '[[flow]]\nname = "video"\ntransport = "udp"\ntraffic = "video"\n'
    ).with_overrides({"flow.video.traffic": traffic, "record.units": ["video[0]"]})
    return np.asarray(scenario.run(seed).to_polars("units")["payload"].to_numpy(), dtype=np.float64)


def kolmogorov(one: Values, other: Values) -> float:
    """Returns the largest distance between two samples' distribution functions, 0 to 1."""
    from scipy.stats import ks_2samp

    return float(ks_2samp(one, other).statistic)


def page(folder: Path, material: Material | None, content: dict[str, Any]) -> str:
    """The page; with material also the comparison and its picture, which goes into the folder's ``figures``."""
    lines = ["# How well the video model fits a clip", "", content["about"], ""]
    if material is None:
        return "\n".join(lines)
    samples = {kind: draw_sizes(content[kind.lower()]) for kind in LAGS}
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    draw(material, samples, folder / "figures" / "video-fit.png")
    lines += [
        (
            "Only the proportions are used: the simulator scales sizes to the layers' rates. The clip's numbers are "
            f"over {coding.GROUP} codings, each beginning a frame later, so that every picture is an I frame once; the "
            f"TES numbers are over {DRAWN} frames that the simulator's source made in a run."
        ),
        "",
        "![Frame sizes of clip and TES: quantiles, distributions and autocorrelations](figures/video-fit.png)",
        "",
        (
            "| frames | α | φ | ξ | mean, clip (B) | mean, TES (B) | deviation, clip (B) | deviation, TES (B) | "
            "Kolmogorov distance | lag 1, clip | lag 1, TES | rms difference of autocorrelation up to lag |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for kind, lags in LAGS.items():
        process, clip, sample = content[kind.lower()], np.concatenate(material.sizes(kind)), samples[kind]
        ours, theirs = (
            tes.autocorrelation(material.sizes(kind), lags),
            tes.autocorrelation([list(sample)], lags),
        )
        lines.append(
            f"| {kind} | {process['alpha']:g} | {process['phi']:g} | {process['xi']:g} "
            f"| {clip.mean():.0f} | {sample.mean():.0f} | {clip.std():.0f} | {sample.std():.0f} "
            f"| {kolmogorov(clip, sample):.3f} | {ours[1]:.2f} | {theirs[1]:.2f} "
            f"| {np.sqrt(np.mean((ours - theirs) ** 2)):.3f} ({lags}) |"
        )
    return "\n".join(lines) + "\n"


def draw(material: Material, samples: dict[str, Values], path: Path) -> None:
    """Draws, per type of frame: quantiles against quantiles, distribution functions, autocorrelations."""
    from fairwave_report import figures

    with figures.canvas("video-fit", (9.2, 8.4)) as canvas:
        grid = canvas.subplots(3, 3)
        for row, kind in zip(grid, LAGS, strict=True):
            clip, sample = np.sort(np.concatenate(material.sizes(kind))) / 1e3, np.sort(samples[kind]) / 1e3
            probability = np.linspace(0.005, 0.995, 100)
            row[0].plot(*(np.quantile(one, probability) for one in (clip, sample)), ".", color=COLOURS["TES"])
            edge = [0, max(clip[-1], sample[-1])]
            row[0].plot(edge, edge, color="#555555", linewidth=0.8)
            row[0].set_title(f"{kind} frames: quantiles, kB")
            row[0].set_xlabel("clip")
            row[0].set_ylabel("TES")
            for label, values in (("clip", clip), ("TES", sample)):
                row[1].plot(values, np.linspace(0, 1, len(values)), color=COLOURS[label], label=label)
            row[1].set_title(f"{kind} frames: distribution")
            row[1].set_xlabel("size (kB)")
            lags = LAGS[kind]
            for label, found in (
                ("clip", tes.autocorrelation(material.sizes(kind), lags)),
                ("TES", tes.autocorrelation([list(samples[kind])], lags)),
            ):
                row[2].plot(range(lags + 1), found, ".-", color=COLOURS[label], label=label)
            row[2].axhline(0, color="#555555", linewidth=0.8)
            row[2].set_title(f"{kind} frames: autocorrelation")
            row[2].set_xlabel(f"lag ({kind} frames)")
            row[2].set_ylim(-0.5, 1.05)
        canvas.legend(*grid[0, 1].get_legend_handles_labels(), loc="outside upper left", ncols=2)
        canvas.savefig(path, dpi=110)
