"""Draws a fit: queueing delay over time (measured and simulated), and the rate of arrivals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairwave.extras import need
from fairwave.fitting.bottleneck import format_least
from fairwave.fitting.statistics import least_round_trip, simulate
from fairwave.staging import save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fairwave.fitting.fitted import Fit

MOST_POINTS = 4000


def draw(fit: Fit, path: str | Path) -> Path:
    """Draws a fit.

    Args:
        fit: The fit to draw.
        path: File of the figure; its suffix chooses the format.
    """
    need("matplotlib", "report")
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    if fit.observed is not None:
        _capture(fit, above, below)
    else:
        _statistics(fit, above, below)
    name = Path(fit.source).name
    if fit.rate is None or fit.distance is None:
        above.set_title(f"{name}: at least {format_least(fit.least_rate)}")
    else:
        above.set_title(f"{name}: {fit.queue}, {fit.distance:.2f} from what was seen (1: alike)")
    above.legend(loc="upper right")
    below.legend(loc="upper right")
    below.set_xlabel("time, s")
    below.set_ylim(bottom=0)
    above.set_ylim(bottom=0)
    where = Path(path)
    save_figure(figure, where)
    return where


def _capture(fit: Fit, above: Axes, below: Axes) -> None:
    what = fit.observed
    assert what is not None
    at = what.at_s[:: max(1, len(what.at_s) // MOST_POINTS)]
    above.plot(at, 1e3 * what.raised(at), ".", color="0.6", markersize=2, label="seen")
    results = fit.scenario.run(1)
    units = results.rows("units") if "units" in results.tables else None
    if units is not None and units.num_rows:
        flow = units.numbers("flow")
        chosen = (flow == flow.min()) & ~np.isnan(units.numbers("arrived_s"))
        arrived = units.numbers("arrived_s")[chosen]
        delay = arrived - units.numbers("created_s")[chosen]
        above.plot(arrived, 1e3 * (delay - delay.min()), "-", linewidth=0.8, label="best explanation, seed 1")
    above.set_ylabel("queueing delay, ms")
    width = max(0.2, what.lasts_s / 200)
    carried = np.bincount(np.floor(what.at_s / width).astype(np.int64), what.sizes)
    below.step(
        width * np.arange(len(carried)), 8e-6 * carried / width, where="post", color="0.5", label="arrived"
    )
    if fit.rate is not None:
        starts = [*fit.rate.from_s, what.lasts_s]
        rates = [one.value / 1e6 for one in fit.rate.rates]
        below.step(starts, [*rates, rates[-1]], where="post", linewidth=1.5, label="fitted rate")
    below.set_ylabel("Mb/s of IP")


def _statistics(fit: Fit, above: Axes, below: Axes) -> None:
    what = fit.seconds
    assert what is not None
    again = simulate(fit.scenario, 1, is_received=what.is_received)
    above.plot(what.time_s, 1e3 * what.round_trip_s, color="0.5", label="seen")
    if what.has_estimate:
        below.plot(what.time_s, what.available_bps / 1e6, color="0.5", label="estimate, seen")
    else:
        way = "received" if what.is_received else "sent"
        below.plot(what.time_s, what.sent_bps / 1e6, color="0.5", label=f"{way}, seen")
    if again is not None:
        above.plot(again.time_s, 1e3 * again.round_trip_s, label="best explanation, seed 1")
        values, what_is_drawn = (
            (again.available_bps, "estimate") if what.has_estimate else (again.sent_bps, way)
        )
        below.plot(again.time_s, values / 1e6, label=f"{what_is_drawn}, best explanation")
    if fit.rate is not None:
        below.axhline(
            fit.rate.rates[0].value / 1e6, color="0.2", linewidth=0.8, linestyle=":", label="fitted rate"
        )
    above.axhline(1e3 * least_round_trip(what), color="0.8", linewidth=0.8)
    above.set_ylabel("round trip, ms")
    below.set_ylabel("Mb/s")
