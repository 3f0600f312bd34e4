"""Rendering of a call: the units of a simulated call become the sound that the listener hears.

Each unit carries the samples that the script assigns to it (:mod:`fairwave_speech.script`). They are coded
(:mod:`fairwave_speech.codec`). The playout buffer determines each unit's fate (:mod:`fairwave_speech.playout`).
Missing units are concealed (:mod:`fairwave_speech.concealment`).

The listener's clock starts when the first unit is made: a unit made at time t with playout delay D plays at t + D. A
buffer that stretches speech plays faster and slower meanwhile (:mod:`fairwave_speech.stretching`). In addition to the
received sound the call keeps the *reference*: the uncoded samples of every unit, talkspurt by talkspurt at the same
positions. So a score compares matching speech, sample by sample unless talkspurts were stretched.

**Assumptions**: silence between talkspurts is known to be silence (as from a silence descriptor) and is
never concealed; it is played as zeros, without comfort noise.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairwave_speech import audio
from fairwave_speech.audio import RATE, Recording, Samples
from fairwave_speech.codec import codec as make_codec
from fairwave_speech.concealment import DELAY_S, conceal
from fairwave_speech.errors import SpeechError
from fairwave_speech.playout import Fate, PieceKind, Playout, Schedule, Times, schedule
from fairwave_speech.script import Script
from fairwave_speech.script import script as make_script
from fairwave_speech.stretching import stretch

_RTP_HEADER = 12
"""Bytes of RTP's fixed header (RFC 3550 §5.1), which some scenarios count into the payload."""

LONGEST_S = 6 * 3600.0
"""Longest call that is rendered, in seconds."""


@dataclass(frozen=True)
class RenderedCall:
    """The received sound, and the fate of each unit.

    Attributes:
        samples: the received sound, 8 kHz, from the moment the first unit was made.
        reference: the sound without loss, lateness and coding, aligned with ``samples``.
        fate: per unit, a :class:`~fairwave_speech.playout.Fate`.
        position: per unit, index of its first sample in ``samples``; for a unit that was not played, its due position.
        reference_position: per unit, index of its first sample in ``reference``: the same unless speech was stretched.
        frame: samples per unit.
        ahead: samples after a unit that its encoder needs (look-ahead).
        offset_s: per unit, from making to playing, in seconds; NaN if it was not played.
        schedule: playout delays and talkspurts.
        codec: its name.
        concealment: its name.
        source: origin of the speech.
        attribution: licence note of the recording.
    """

    samples: Samples
    reference: Samples
    fate: NDArray[np.int8]
    position: NDArray[np.int64]
    reference_position: NDArray[np.int64]
    frame: int
    ahead: int
    offset_s: Times
    schedule: Schedule
    codec: str
    concealment: str
    source: str
    attribution: str

    @property
    def counts(self) -> dict[str, int]:
        """Number of units played, late and lost."""
        return {fate.name.lower(): int(np.count_nonzero(self.fate == fate)) for fate in Fate}

    @property
    def loss(self) -> float:
        """Share of the units that were not played, from 0 to 1."""
        return float(np.mean(self.fate != Fate.PLAYED)) if len(self.fate) else 0.0

    @property
    def playout_delay_s(self) -> float:
        """Mean time from making to playing a played unit, in seconds, without framing and concealment."""
        return float(np.nanmean(self.offset_s)) if self.counts["played"] else 0.0

    @property
    def mouth_to_ear_s(self) -> float:
        """Mean mouth-to-ear delay, in seconds: packetisation, look-ahead, transit and wait, concealment."""
        concealing = DELAY_S if self.concealment == "appendix-i" else 0.0
        return (self.frame + self.ahead) / RATE + self.playout_delay_s + concealing

    def segment(self, first: int, stop: int) -> tuple[Samples, Samples]:
        """Return the received sound and its reference from unit ``first`` up to but not including unit ``stop``.

        If speech was stretched in between, their lengths differ.

        Raises:
            SpeechError: the range is empty or exceeds the call.
        """
        if not 0 <= first < stop <= len(self.position):
            raise SpeechError(
                f"units {first} to {stop}: must be an ascending range within 0 to {len(self.position)}"
            )
        heard, said = (
            samples[int(position[first]) : int(position[stop - 1]) + self.frame]
            for samples, position in (
                (self.samples, self.position),
                (self.reference, self.reference_position),
            )
        )
        return heard, said

    def write(self, path: str | os.PathLike[str], *, reference: str | os.PathLike[str] | None = None) -> Path:
        """Write the received sound as a wav file, and the reference too if its path is given."""
        if reference is not None:
            audio.write(reference, self.reference)
        return audio.write(path, self.samples)


def render_call(
    units: Mapping[str, Any] | Any,  # noqa: ANN401 -- any table with columns that numpy understands
    speech: Script | Recording,
    *,
    codec: str = "g711u",
    playout: Playout | None = None,
    concealment: str = "appendix-i",
    any_payload: bool = False,
) -> RenderedCall:
    """Make the call audible.

    Args:
        units: table of the call's units in the order in which they were made: columns ``created_s``,
            ``arrived_s`` (seconds, NaN = never) and ``payload`` (bytes); a mapping of arrays, or an Arrow,
            polars or pandas table of one flow.
        speech: the speech. In a bare recording, voice activity detection finds the talk. The payload sets the length
            of its frames (one byte per sample, as in G.711).
        codec: one of :data:`fairwave_speech.codec.CODECS`.
        playout: the playout buffer: a policy, or the ``playout`` table of the scenario's flow; the scenario
            language's default (NetEQ) if not given.
        concealment: one of :data:`fairwave_speech.concealment.METHODS`.
        any_payload: accept packets of any size. Otherwise their size must be G.711's for the script's frames, which
            detects a script with another frame length.

    Raises:
        SpeechError: a table, name or value that cannot be used; the message names it and the allowed values.
    """
    created, arrived, payload = _columns(units)
    said = make_script(speech, _frame_s(payload)) if isinstance(speech, Recording) else speech
    coder = make_codec(codec)
    frame = said.frame
    expected = frame * coder.payload_per_sample
    fits = (payload == expected) | (payload == expected + _RTP_HEADER)
    if codec.startswith("g711") and not any_payload and not fits.all():
        odd = int(np.flatnonzero(~fits)[0])
        raise SpeechError(
            f"unit {odd}: payload of {payload[odd]:g} B, but the script's frames of "
            f"{said.frame_s * 1e3:g} ms make {expected} B in {codec}; "
            f"cut the script into frames of {payload[odd] / 8:g} ms"
        )
    plan = schedule(created, arrived, said.frame_s, playout)
    sent = said.frames[np.arange(len(created)) % len(said.frames)]
    played = plan.fate == Fate.PLAYED
    lay = _lay_talkspurts if plan.heard is None else _stretched
    heard, position, said_at = lay(created, plan, coder.transmit(sent, played), concealment)
    _check_length(int(said_at.max()) + frame)
    reference = np.zeros(max(len(heard), int(said_at.max()) + frame), np.int16)
    reference[said_at[:, None] + np.arange(frame)] = sent
    return RenderedCall(
        samples=np.pad(heard, (0, len(reference) - len(heard))),
        reference=reference,
        fate=plan.fate,
        position=position,
        reference_position=said_at,
        frame=frame,
        ahead=coder.ahead,
        offset_s=np.where(played, plan.played_s - created, np.nan),
        schedule=plan,
        codec=coder.name,
        concealment=concealment,
        source=said.recording.source,
        attribution=said.recording.attribution,
    )


Laid = tuple[Samples, NDArray[np.int64], NDArray[np.int64]]
"""The received sound, and the position of each unit in it and in the reference."""


def _lay_talkspurts(created: Times, plan: Schedule, decoded: Samples, concealment: str) -> Laid:
    """Places units unchanged at their times."""
    frame = decoded.shape[1]
    position = _positions(created, plan, frame)
    played = plan.fate == Fate.PLAYED
    length = int(position.max()) + frame
    _check_length(length)
    spread = position[:, None] + np.arange(frame)
    heard = np.zeros(length, np.int16)
    heard[spread] = np.where(played[:, None], decoded, np.int16(0))
    missing = np.zeros(length, np.bool_)
    missing[spread[~played]] = True
    return conceal(heard, missing, concealment), position, position


def _stretched(created: Times, plan: Schedule, decoded: Samples, concealment: str) -> Laid:
    """Renders the output of a buffer that stretches: joins its pieces, then changes their tempo."""
    frame = decoded.shape[1]
    pieces = plan.heard
    if pieces is None or not len(pieces.kind):
        position = _positions(created, plan, frame)
        return np.zeros(int(position.max()) + frame, np.int16), position, position
    kind, value = pieces.kind, pieces.value
    lead = round((pieces.begins_s - created[0]) * RATE)
    unit = kind == PieceKind.UNIT
    tempo = (kind == PieceKind.SHORTENED) | (kind == PieceKind.LENGTHENED)
    length = np.where(unit, frame, np.where(tempo, 0, value))
    place = lead + np.concatenate([[0], np.cumsum(length)])
    _check_length(int(place[-1]))
    line = np.zeros(int(place[-1]), np.int16)
    line[place[:-1][unit][:, None] + np.arange(frame)] = decoded[value[unit]]
    missing = np.zeros(len(line), np.bool_)
    for index in np.flatnonzero(kind == PieceKind.CONCEALED):
        missing[place[index] : place[index + 1]] = True
    sign = np.where(kind == PieceKind.SHORTENED, -1, 1)
    changes = np.stack([place[:-1][tempo], (sign * value)[tempo]], axis=1)
    silent = np.flatnonzero(kind == PieceKind.SILENCE)
    silences = np.stack([place[silent], place[silent + 1]], axis=1)
    heard, edits = stretch(conceal(line, missing, concealment), changes, silences)
    at = np.full(len(created), -1, np.int64)
    at[value[unit]] = edits.move(place[:-1][unit])
    position = _due(at, frame)
    return heard, position, _talkspurts_from(position, at, plan, frame)


def _due(at: NDArray[np.int64], frame: int) -> NDArray[np.int64]:
    """Completes the positions of all units. An unplayed unit is due before the next played one, else at the end."""
    known = np.flatnonzero(at >= 0)
    index = np.arange(len(at))
    after = np.minimum(np.searchsorted(known, index), len(known) - 1)
    place = at[known[after]] + (index - known[after]) * frame
    found: NDArray[np.int64] = np.maximum.accumulate(np.maximum(place, 0))
    return found


def _talkspurts_from(
    position: NDArray[np.int64], at: NDArray[np.int64], plan: Schedule, frame: int
) -> NDArray[np.int64]:
    """Positions of all units if talkspurts were unchanged: each begins with its first unit that is played."""
    spurt = plan.talkspurt
    first = np.searchsorted(spurt, np.arange(len(plan.delay_s)))
    within = np.arange(len(spurt)) - first[spurt]
    begin = position[first].copy()
    heard = np.flatnonzero(at >= 0)
    leaders, where = np.unique(spurt[heard], return_index=True)
    begin[leaders] = at[heard[where]] - within[heard[where]] * frame
    return _chain_units(begin, spurt, first, frame)


def _check_length(samples: int) -> None:
    if samples > LONGEST_S * RATE:
        raise SpeechError(f"call of {samples / RATE:g} s: longer than {LONGEST_S:g} s; render a part of it")


def _positions(created: Times, plan: Schedule, frame: int) -> NDArray[np.int64]:
    """First sample of each unit on the listener's clock. Talkspurts stay together and never overlap."""
    spurt = plan.talkspurt
    first = np.searchsorted(spurt, np.arange(len(plan.delay_s)))
    begin = np.rint((created[first] - created[0] + plan.delay_s) * RATE).astype(np.int64)
    return _chain_units(begin, spurt, first, frame)


def _chain_units(
    begin: NDArray[np.int64], spurt: NDArray[np.int64], first: NDArray[np.int64], frame: int
) -> NDArray[np.int64]:
    """Positions of all units, with talkspurts that begin there, or at the end of the one before."""
    units = np.diff(np.append(first, len(spurt)))
    free = 0
    for index, (start, count) in enumerate(zip(begin.tolist(), units.tolist(), strict=True)):
        begin[index] = max(start, free)
        free = int(begin[index]) + count * frame
    position: NDArray[np.int64] = begin[spurt] + (np.arange(len(spurt)) - first[spurt]) * frame
    return position


def _columns(units: Any) -> tuple[Times, Times, Times]:  # noqa: ANN401
    """The three columns, checked."""
    created, arrived, payload = (_column(units, name) for name in ("created_s", "arrived_s", "payload"))
    if not len(created) or not len(created) == len(arrived) == len(payload):
        raise SpeechError(
            f"units: {len(created)} created_s, {len(arrived)} arrived_s, {len(payload)} payload; a call "
            "has at least one unit and columns of one length; ask for this flow's units in the scenario's "
            "record section"
        )
    if not np.all(np.isfinite(created)) or created[0] < 0.0 or np.any(np.diff(created) < 0.0):
        raise SpeechError(
            "units: created_s must be finite, 0 or more, ascending; hand over one flow, in the order of its units"
        )
    early = np.flatnonzero(arrived < created)
    if len(early):
        raise SpeechError(
            f"unit {early[0]}: arrived at {arrived[early[0]]} s, before it was made at {created[early[0]]} s"
        )
    return created, arrived, payload


def _column(units: Any, name: str) -> Times:  # noqa: ANN401
    try:
        return np.asarray(units[name], dtype=np.float64)
    except Exception as error:  # table libraries raise different exceptions for a missing column
        raise SpeechError(
            f"units: no usable column {name!r} ({error}); a units table has the columns "
            "unit, created_s, arrived_s, payload"
        ) from error


def _frame_s(payload: Times) -> float:
    """Frame of a G.711 payload: one byte per sample."""
    return float(payload[0]) / RATE
