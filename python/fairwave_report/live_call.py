"""Page of a real telephone's call and the simulated call of the same scenario: packets, sound and ratings of both.

Each side is one call, live or simulated: the delay of each packet, and the received sound. The same code measures
both. The simulator's receiver rates packets (`fairwave.live.rating`). The sound is aligned with the original
(`fairwave_speech.recorded`) and scored by ViSQOL if that is installed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairwave.live.packets import RecordingError, streams
from fairwave.live.rating import Rating, rate_stream, rated
from fairwave.provenance import Provenance
from fairwave.staging import staging
from fairwave_report import figures as drawing
from fairwave_report import style
from fairwave_report.call import wav
from fairwave_report.listening import Clip, places
from fairwave_report.page import Card, Page, TableView
from fairwave_speech import SpeechError
from fairwave_speech.recorded import AlignedRecording, align

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fairwave.live import Live
    from fairwave.live.packets import Stream
    from fairwave.scenario import Scenario
    from fairwave_speech import Recording
    from fairwave_speech.audio import Samples

PACKET_S = 0.02
"""Duration of speech in a packet, seconds."""

OTHERS = 9
"""Number of other seeds under which the call is simulated, to show how much its loss varies by chance."""

SOURCE = (
    "For a live call you hear the output of the telephone's playout buffer; for a simulated call you hear what "
    "NetEQ plays, with lost frames concealed by G.711 Appendix I. For both, fairwave finds each talkspurt of the "
    "original by cross-correlation and compares it there. Pauses that a buffer makes longer or shorter do not "
    "count; changes within a talkspurt do. ViSQOL scores clips of 8 s and ignores delay. The E-model rates the "
    "packets, by the simulator's receiver with NetEQ as playout buffer, for live and "
    "simulated calls alike; a telephone's own buffer may keep speech longer, as its delay from mouth to ear shows. "
    "A gap is 10 ms or more of digital silence during speech of the original; concealed speech is not a gap."
)
"""Description of the method, for the page."""


@dataclass(frozen=True)
class CallSide:
    """One call, live or simulated.

    Attributes:
        title: Its name.
        sent_s: Send time of each packet, in seconds from the beginning of the run.
        delay_s: One-way delay of each packet, in seconds; NaN for lost packets.
        rating: Rating by the E-model.
        sound: The received sound, aligned with the original.
        mouth_to_ear_s: Mean mouth-to-ear delay over the talkspurts, in seconds.
        visqol: ViSQOL score; None if it is not installed or has nothing to score.
        accounts: Timing accuracy of a live run.
        others: Share of a simulated call's packets that is lost, under other seeds.
    """

    title: str
    sent_s: NDArray[np.float64]
    delay_s: NDArray[np.float64]
    rating: Rating
    sound: AlignedRecording
    mouth_to_ear_s: float
    visqol: float | None
    accounts: Mapping[str, Any] = field(default_factory=dict)
    others: tuple[float, ...] = ()

    @property
    def lost_in_a_row(self) -> int:
        """Length of the longest run of lost packets."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], np.isnan(self.delay_s), [0]])))
        return int((edges[1::2] - edges[::2]).max(initial=0))

    @property
    def cells(self) -> list[str]:
        """Returns the value of each of `MEASURES` as text."""
        there = self.delay_s[~np.isnan(self.delay_s)]
        gaps = self.sound.gaps

        def number(value: float | None, digits: int) -> str:
            return "not defined" if value is None or math.isnan(value) else f"{value:.{digits}f}"

        return [
            f"{100 * float(np.isnan(self.delay_s).mean()):.2f}",
            str(self.lost_in_a_row),
            f"{1e3 * float(there.mean()):.1f}" if len(there) else "nothing arrived",
            f"{1e3 * float(np.percentile(there, 95)):.1f}" if len(there) else "nothing arrived",
            f"{1e3 * self.mouth_to_ear_s:.0f}",
            number(self.rating.r_factor, 1),
            number(self.rating.mos, 2),
            "not installed" if self.visqol is None else f"{self.visqol:.2f}",
            f"{self.sound.level_dbov:.1f}",
            str(gaps.count),
            f"{1e3 * gaps.longest_s:.0f}",
        ]

    def clip(self) -> Clip:
        """Returns the recording for the page's player."""
        said, heard = self.sound.line()
        mos = "not defined" if self.rating.mos is None else f"{self.rating.mos:.2f}"
        notes = [f"{100 * float(np.isnan(self.delay_s).mean()):.1f} % lost", f"E-model MOS {mos}"]
        if self.visqol is not None:
            notes.append(f"ViSQOL {self.visqol:.2f}")
        gaps = self.sound.gaps
        silent = f"gaps: {gaps.count}, the longest {1e3 * gaps.longest_s:.0f} ms" if gaps.count else "no gaps"
        notes.append(f"{self.sound.level_dbov:.1f} dBov, {silent}")
        return Clip(self.title, wav(self.sound.heard), "; ".join(notes), places=places(said, heard))


MEASURES = [
    "lost (%)",
    "most lost in a row",
    "one-way delay, mean (ms)",
    "one-way delay, 95th percentile (ms)",
    "mouth to ear (ms)",
    "E-model R",
    "MOS (E-model)",
    "MOS-LQO (ViSQOL)",
    "level (dBov)",
    "gaps",
    "longest gap (ms)",
]


def live_side(
    title: str, made: Live, recording: Path, caller: str, heard: Samples, original: Samples
) -> CallSide:
    """Measures a real call with a callee that sends back the sound that it receives.

    Args:
        title: Its name.
        made: The live run.
        recording: All its packets.
        caller: The caller's host.
        heard: The sound that the callee received; its stream carries these samples from the first packet on.
        original: The caller's speech from its first packet on.

    Raises:
        RecordingError: The recording has no call in both directions.
        SpeechError: Nothing of the original was received.
    """
    there, back = find_directions(streams(recording), caller)
    there = there.settled
    sound = align(original, heard)
    # The callee sends a sample back when it receives it. A spoken packet is sent only when it is full.
    mouth_to_ear = float(sound.lag_s.mean()) + back.sent_s[0] - there.sent_s[0] + PACKET_S
    delay = there.arrived_s - there.sent_s
    return CallSide(
        title,
        there.sent_s,
        delay,
        rate_stream(there, PACKET_S),
        sound,
        mouth_to_ear,
        _visqol(sound),
        made.report,
    )


def find_directions(found: Sequence[Stream], caller: str) -> tuple[Stream, Stream]:
    """Finds the longest stream that a host sends, and the stream that returns to its source address.

    Raises:
        RecordingError: One of the two is missing.
    """
    for there in found:
        for back in found:
            if there.host == caller and back.source == there.destination and back.destination == there.source:
                return there, back
    hosts = ", ".join(sorted({one.host for one in found})) or "nobody"
    raise RecordingError(
        f"no call there and back from {caller}: speech was sent by {hosts}; give the call more time, or read its log"
    )


def simulated_side(
    title: str, scenario: Scenario, flow: str, recording: Recording, begins_s: float
) -> CallSide:
    """Measures the call of a simulated run that carries the same recording.

    Args:
        title: Its name.
        scenario: A scenario that can be simulated.
        flow: The flow group of the call.
        recording: The speech.
        begins_s: Start of the speech, in seconds from the beginning of the run.
    """
    from fairwave_speech import render_call, script

    said = script(recording, PACKET_S, talk="all", pause_s=0.0)
    changes = {
        f"flow.{flow}.traffic": said.traffic("g711", repeat=False),
        f"flow.{flow}.start": f"{round(begins_s * 1e9)} ns",
        "record.units": [f"{flow}[0]"],
    }
    spoken = scenario.with_overrides(changes)
    units = spoken.run().to_polars("units").sort("unit")
    created, arrived = (units[name].fill_null(float("nan")).to_numpy() for name in ("created_s", "arrived_s"))
    others = [spoken.run(seed).to_polars("units")["arrived_s"] for seed in range(2, 2 + OTHERS)]
    call = render_call(units, said)
    sound = align(recording.samples, call.samples)
    delay = arrived - created
    losses = tuple(float(np.isnan(one.to_numpy()).mean()) for one in others)
    rating = rated(delay, PACKET_S)
    return CallSide(title, created, delay, rating, sound, call.mouth_to_ear_s, _visqol(sound), others=losses)


def write(
    sides: Sequence[CallSide],
    scenario: Scenario,
    recording: Recording,
    out: Path,
    *,
    title: str,
    lead: str,
    heard: Sequence[str] = (),
) -> Path:
    """Writes the page into the folder `out`, with figures, tables and recordings, all or nothing.

    Args:
        sides: Calls, in the order of the page.
        scenario: The scenario that ran.
        recording: The speech.
        out: The folder.
        title: The page's heading.
        lead: The paragraph below the heading.
        heard: Further remarks about the recordings.

    Returns:
        The page.
    """
    provenance = Provenance.collect({scenario.hash: scenario.name}, [1])
    original = align(recording.samples, recording.samples)
    with staging(out) as partial:
        (partial / "scenario.toml").write_text(scenario.to_toml(), encoding="utf-8")
        for side in sides:
            stem = re.sub(r"[^a-z0-9]+", "-", side.title.lower())
            (partial / f"{stem}.wav").write_bytes(wav(side.sound.heard))
        gaps = original.gaps
        end = [f"{original.level_dbov:.1f}", str(gaps.count), f"{1e3 * gaps.longest_s:.0f}"]
        rest = ["–"] * (len(MEASURES) - len(end))
        rows = [list(one) for one in zip(MEASURES, *(side.cells for side in sides), rest + end, strict=True)]
        heads = ["", *(side.title for side in sides), "The original"]
        spread = [
            f"{side.title}: {100 * min(side.others):.1f} to {100 * max(side.others):.1f} %"
            for side in sides
            if side.others and max(side.others) > 0
        ]
        caption = "Measured by the same code, live and simulated. Each is one call."
        if spread:
            caption += f" The losses depend on chance. Under {OTHERS} other seeds: {'; '.join(spread)}."
        tables = [TableView("calls", "The calls", heads, rows, caption=caption)]
        lived = [side for side in sides if side.accounts]
        if lived:
            tables.append(_truth(lived))
        first = Clip("The original", wav(recording.samples), "as spoken, without coding and losses")
        page = Page(
            title=title,
            kicker="Live and simulated",
            lead=lead,
            cards=[Card(str(len(sides)), "calls"), Card(f"{recording.duration_s:.0f} s", "of speech each")],
            clips=[first, *(side.clip() for side in sides)],
            heard=[one for one in (SOURCE, *heard, recording.attribution) if one],
            drawings=[_draw(sides, partial / "figures", provenance)],
            drawn="Every packet of each call.",
            tables=tables,
            scenario=scenario.to_toml(),
            provenance=provenance,
            tables_first=True,
        )
        (partial / "index.html").write_text(page.html(partial), encoding="utf-8")
    return out / "index.html"


def _truth(sides: Sequence[CallSide]) -> TableView:
    """Returns the table of the live runs' timing accuracy."""
    from fairwave.live import accounts

    columns = {side.title: dict(accounts(dict(side.accounts))) for side in sides}
    names = list(dict.fromkeys(name for one in columns.values() for name in one))
    rows = [[name, *(one.get(name, "") for one in columns.values())] for name in names]
    return TableView("accounts", "How true the live runs were", ["", *columns], rows)


def _visqol(sound: AlignedRecording) -> float | None:
    from fairwave_speech.score import is_visqol_installed, visqol

    if not is_visqol_installed():
        return None
    try:
        return visqol(sound.reference, sound.heard).mos
    except SpeechError:
        return None


def _draw(sides: Sequence[CallSide], folder: Path, provenance: Provenance) -> drawing.Drawing:
    """Draws the delay of each packet over time, a panel per call, with ticks at the bottom for lost packets."""
    looks = style.looks([side.title for side in sides])
    parts = [
        pl.DataFrame(
            {"call": [side.title] * len(side.sent_s), "sent_s": side.sent_s, "delay_ms": side.delay_s * 1e3}
        )
        for side in sides
    ]
    with drawing.canvas("live-call", (9.2, 0.9 + 1.5 * len(sides))) as canvas:
        grid = canvas.subplots(len(sides), 1, sharex=True, sharey=True, squeeze=False)
        for axes, side in zip(grid.flat, sides, strict=True):
            axes.plot(side.sent_s, side.delay_s * 1e3, ".", markersize=2.5, color=looks[side.title].colour)
            for at in side.sent_s[np.isnan(side.delay_s)].tolist():
                axes.axvline(at, 0, 0.08, color=style.INK, linewidth=0.8)
            axes.set_ylim(bottom=0)
            axes.set_title(side.title)
            axes.set_ylabel("ms")
        grid.flat[-1].set_xlabel("sent at (s)")
        means = "; ".join(f"{side.title} {1e3 * float(np.nanmean(side.delay_s)):.0f} ms" for side in sides)
        return drawing.save(
            canvas, folder, "live-call", pl.concat(parts), provenance,
            title="The call, packet by packet",
            caption="One-way delay of each packet; ticks at the foot: packets that were lost.",
            alt=f"One-way delay of each packet over time, a panel for each call. In the mean: {means}",
        )  # fmt: skip
