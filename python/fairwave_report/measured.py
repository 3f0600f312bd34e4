"""Page of a measured line: the verdict, delay and load over time, the phases in numbers, the fitted network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fairwave.answers.answer import Answer, Mark, Picture
from fairwave.answers.bands import scale_of
from fairwave.linecheck.fitted_network import SEGMENT
from fairwave.provenance import Provenance
from fairwave_report import figures as drawing
from fairwave_report import style
from fairwave_report.page import Page, TableView

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairwave.linecheck import Line, Verdict

LOOKS = {"up": 0, "down": 1}
TITLES = {"idle": "idle", "down": "download", "up": "upload", "recorded": "recorded"}
WIDTH_S = 0.25
"""Rates are drawn as means over intervals of this length, seconds."""


def write_line(
    line: Line,
    verdict: Verdict,
    folder: Path,
    *,
    phases: tuple[Sequence[str], Sequence[Sequence[str]], str],
    network: Sequence[tuple[str, str]] = (),
    alternatives: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None,
    unknown: Sequence[str] = (),
    scenario: str = "",
) -> None:
    """Writes page and figure of a measured line into a folder that already has the tables.

    Args:
        line: The measurement.
        verdict: Its result.
        folder: Folder of the page.
        phases: Header, rows and caption of the table of phases.
        network: The fitted network, a line each.
        alternatives: Header and rows of the call under other queues.
        unknown: Properties that the measurement cannot determine, a sentence each.
        scenario: The fitted network's scenario.
    """
    provenance = Provenance.collect({}, [])
    heads, rows, caption = phases
    tables = [
        TableView("phases", "The phases", heads, rows, ("phases.csv", "packets.csv"), caption=caption),
    ]
    if network:
        tables.append(
            TableView("network", "The network that explains it best", ["", ""], network, ("network.toml",))
        )
    if alternatives is not None:
        tables.append(
            TableView(
                "alternatives", "The same call under other queues, simulated", *alternatives,
                caption="Opinion scores by the E-model, medians of the runs.",
            )
        )  # fmt: skip
    page = Page(
        title=f"The line to {line.source}", kicker="Measured line",
        lead="Packets of a call over the idle line, and while it is loaded.",
        answer=Answer(tuple(verdict.sentences), pictures=_pictures(verdict)),
        notes=[*line.notes, *(f"The measurement cannot tell: {one[:1].lower()}{one[1:]}" for one in unknown)],
        drawings=[draw(line, folder / "figures", provenance)],
        drawn="A point for each packet. Delays count from the least of their direction.",
        tables=tables, scenario=scenario, provenance=provenance, live=True,
    )  # fmt: skip
    (folder / "index.html").write_text(page.html(folder), encoding="utf-8")


def _pictures(verdict: Verdict) -> list[Picture]:
    scale = scale_of("mos")
    assert scale is not None
    marks = [
        Mark(
            f"{TITLES.get(one.phase, one.phase)}: call {one.direction}ward", f"{one.mos:.2f}", [one.band],
            scale.locate(one.mos), scale.locate(one.mos), scale.locate(one.mos),
        )
        for one in verdict.voice if one.mos is not None
    ]  # fmt: skip
    return [Picture(scale, marks)] if marks else []


def draw(line: Line, folder: Path, provenance: Provenance) -> drawing.Drawing:
    """Draws the delay of each direction over time, losses, and the throughput of the load."""
    data = pl.concat([
        pl.DataFrame({
            "direction": direction, "sent_s": probes.sent_s,
            "delay_above_least_s": pl.Series(probes.raised_s).fill_nan(None),
        })
        for direction, probes in line.probes.items()
    ])  # fmt: skip
    with drawing.canvas("delay", (9.2, 5.6 if line.loads else 3.2)) as canvas:
        axes = canvas.subplots(2 if line.loads else 1, 1, sharex=True, squeeze=False)[:, 0]
        above = axes[0]
        for direction, probes in line.probes.items():
            look = style.look(LOOKS[direction])
            above.plot(
                probes.sent_s, 1e3 * probes.raised_s, ".", markersize=2, color=look.colour, rasterized=True,
                label=f"{direction}ward",
            )  # fmt: skip
            lost = probes.sent_s[np.isnan(probes.raised_s)]
            if len(lost):
                above.plot(
                    lost,
                    np.zeros(len(lost)),
                    "x",
                    color=look.colour,
                    markersize=5,
                    label=f"lost {direction}ward",
                )
        top = 1.15 * max(above.get_ylim()[1], 10.0)
        above.set_ylim(-top / 40, top)
        for span in line.spans:
            for one in axes:
                one.axvspan(span.from_s, span.to_s, color="#8888881e", zorder=0)
            above.text(
                (span.from_s + span.to_s) / 2, 0.92 * top, TITLES.get(span.name, span.name), ha="center",
                fontsize=style.points(8.5),
            )  # fmt: skip
        above.set_ylabel("delay above the least, ms")
        above.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), markerscale=2)
        for direction, load in line.loads.items():
            edges = np.arange(load.at_s[0], load.at_s[-1] + WIDTH_S, WIDTH_S) if load.carried else np.empty(0)
            if len(edges) > 1:
                arrived = load.arrived(edges, load.segment or SEGMENT)
                axes[1].stairs(
                    8e-6 * arrived / WIDTH_S, edges, color=style.look(LOOKS[direction]).colour,
                    label=f"load {direction}ward",
                )  # fmt: skip
        if line.loads:
            axes[1].set_ylabel("load above TCP, Mb/s")
            axes[1].set_ylim(bottom=0)
            axes[1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        axes[-1].set_xlabel("time, s")
        most = {
            f"{one.direction}ward {TITLES.get(one.phase, one.phase)}": 1e3 * one.p95_s
            for one in line.numbers()
        }
        return drawing.save(
            canvas, folder, "delay", data, provenance,
            title="Delay over time" + (", and the load" if line.loads else ""),
            caption="Shaded: the phases. Crosses: lost packets.",
            alt="Delay above the least, 95th percentile: "
            + ", ".join(f"{where}: {drawing.format_value(value)} ms" for where, value in most.items()),
        )  # fmt: skip
