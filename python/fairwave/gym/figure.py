"""Draws an episode: granted and delivered rate, queueing delay and loss, reward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.extras import need
from fairwave.gym import spaces

if TYPE_CHECKING:
    from numpy.typing import NDArray


def drawn(course: NDArray[np.float64], steers: str) -> NDArray[np.uint8]:
    """Draws the rows of an episode as pixels, height × width × 3."""
    need("matplotlib", "gym")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    time = course[:, spaces.TIME]
    figure = Figure(figsize=(8, 6), dpi=100, layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    axes: Any = figure.subplots(4 if steers == "window" else 3, 1, sharex=True)
    top, below, last = axes[0], axes[-2], axes[-1]
    if steers == "rate":
        top.plot(time, 2.0 ** course[:, 0], label="granted", color="tab:orange")
    else:
        axes[1].plot(time, 2.0 ** course[:, 0], color="tab:orange")
        axes[1].set_ylabel("window\n(segments)")
    top.plot(time, course[:, spaces.DELIVERED] / 1e6, label="delivered", color="tab:blue")
    top.set_ylabel("rate (Mb/s)")
    top.set_ylim(bottom=0)
    top.legend(loc="upper right", frameon=False)
    below.plot(time, 1e3 * course[:, spaces.QUEUEING], color="tab:red", label="queueing delay (ms)")
    below.plot(time, 1e2 * course[:, spaces.LOST], color="tab:gray", label="packets lost (%)")
    below.set_ylim(bottom=0)
    below.legend(loc="upper right", frameon=False)
    last.plot(time, course[:, spaces.REWARD], color="tab:green")
    last.set_ylabel("reward")
    last.set_xlabel("time (s)")
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
