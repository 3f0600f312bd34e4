"""Quality that each participant of a call receives, from the flow groups `CALL-FROM-to-TO` that `[[call]]` makes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairwave.answers.bands import scale_of
from fairwave.answers.events import Events
from fairwave.measuring import measures
from fairwave.measuring.measures import CAMERAS, mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from fairwave.results import Results
    from fairwave.tables import Table

WIDEST = 12
"""Largest number of participants with a matrix; a larger one does not fit a terminal."""

BETWEEN = "-to-"
"""Between sender and receiver in the name of a group."""


@dataclass(frozen=True)
class Call:
    """A call, reconstructed from the names of its flow groups.

    Attributes:
        name: Name of the call.
        pairs: Flow group by receiver and sender.
        uplinks: Flow group from each participant to the server; empty without a server.
    """

    name: str
    pairs: dict[str, dict[str, str]]
    uplinks: dict[str, str]

    @property
    def participants(self) -> list[str]:
        """All receivers, in the order of their uplinks if the call has a server."""
        return sorted(self.pairs, key=[*self.uplinks, *self.pairs].index)

    @property
    def groups(self) -> list[str]:
        """All its flow groups."""
        return [*self.uplinks.values(), *(group for of in self.pairs.values() for group in of.values())]


def calls(groups: Iterable[str]) -> list[Call]:
    """Finds the calls among flow groups. A participant that only receives is a server.

    >>> [found] = calls(
    ...     ["team-ann-to-sfu", "team-ben-to-sfu", "team-ann-to-ben", "team-ben-to-ann", "file", "way-to-go"]
    ... )
    >>> found.pairs
    {'ben': {'ann': 'team-ann-to-ben'}, 'ann': {'ben': 'team-ben-to-ann'}}
    >>> found.uplinks
    {'ann': 'team-ann-to-sfu', 'ben': 'team-ben-to-sfu'}
    """
    parted = [(group, *group.rpartition(BETWEEN)[::2]) for group in groups if BETWEEN in group]
    receivers = {receiver for _, _, receiver in parted}
    found: dict[str, dict[tuple[str, str], str]] = {}
    for group, left, receiver in parted:
        # Each participant receives, so the sender is one of the receivers: the longest one that fits the end.
        ends_ = (left[at + 1 :] for at, sign in enumerate(left) if sign == "-")
        sender = next((one for one in ends_ if one in receivers), None)
        if sender:
            found.setdefault(left.removesuffix(f"-{sender}"), {})[sender, receiver] = group
    told = []
    for name, ends in found.items():
        senders = {sender for sender, _ in ends}
        pairs: dict[str, dict[str, str]] = {}
        uplinks: dict[str, str] = {}
        for (sender, receiver), group in ends.items():
            if receiver in senders:
                pairs.setdefault(receiver, {})[sender] = group
            else:
                uplinks[sender] = group
        # A single direction is not a call.
        if len(ends) > 1 and pairs:
            told.append(Call(name, pairs, uplinks))
    return told


def find_calls(results: Results) -> list[Call]:
    """The calls of some runs."""
    if "media" not in results.tables:
        return []
    return calls(dict.fromkeys(str(name) for name in results.rows("media")["group"].to_list()))


LEAST_SHARE = 0.05
"""Smallest share of the time for which a limit of the picture is reported."""


@dataclass(frozen=True)
class Received:
    """Quality at one participant of another's streams: means over runs. NaN if there was nothing to measure.

    Attributes:
        receiver: The receiving participant.
        sender: The sending participant.
        worst: MOS of the worst stream.
        band: The band that contains the whole 95 % interval, or `undecided`; empty if nothing was measured.
        speech: MOS of the speech.
        picture: MOS of the pictures: the worst of camera and screen.
        height: Height of the pictures, pixels.
        silence_s: Seconds without speech after the end of concealment.
        without_s: Seconds without a new picture while the camera was on.
        longest_s: The longest period without a new picture, seconds.
        switches_per_min: Changes of layer or size per minute.
        uplink: Share of the time that the sender's path to the server limited the picture; NaN without a server.
        path: The same for the path to the receiver.
        left_out: Share of the time that the server did not forward the camera, because others spoke later.
    """

    receiver: str
    sender: str
    worst: float
    band: str
    speech: float
    picture: float
    height: float
    silence_s: float
    without_s: float
    longest_s: float
    switches_per_min: float
    uplink: float
    path: float
    left_out: float

    @property
    def limited_by(self) -> str:
        """The longest-lasting limit of the picture, with its share; empty if there was none."""
        onward = f"{self.receiver}'s downlink" if not math.isnan(self.uplink) else "the path"
        shares = {
            f"{self.sender}'s uplink": self.uplink,
            onward: self.path,
            "other cameras": self.left_out,
        }
        told = {what: share for what, share in shares.items() if share >= LEAST_SHARE}
        if not told:
            return ""
        most = max(told, key=lambda one: told[one])
        return f"{most} {told[most]:.0%}"


def _parts(results: Results, table: str) -> dict[str, Table]:
    if table not in results.tables:
        return {}
    return results.rows(table).derived(
        _parts, lambda rows: {str(part["group"].to_list()[0]): part for part in rows.parted("group")}
    )


def _limited(part: Table | None) -> tuple[float, float]:
    """Shares of the time that bandwidth, or another cause, limited the cameras of a session."""
    if part is None:
        return math.nan, math.nan
    part = part.take(np.isin(np.array(part["stream"].to_list()), CAMERAS))
    if not part.num_rows:
        return math.nan, math.nan
    # Counters: the last sample has the sums. All encodings of a camera share them.
    last = part.take(part.numbers("time_s") == part.numbers("time_s").max())
    times = [last.numbers(f"limited_{name}_s").mean() for name in ("none", "bandwidth", "other")]
    whole = sum(times)
    return (times[1] / whole, times[2] / whole) if whole > 0 else (0.0, 0.0)


def received(results: Results, call: Call) -> list[Received]:
    """Quality that each participant receives from each other one, by receiver and sender."""
    media, outbound = _parts(results, "media"), _parts(results, "media_outbound")
    uplinks = {sender: _limited(outbound.get(group))[0] for sender, group in call.uplinks.items()}
    found = []
    scale = scale_of("session-mos")
    assert scale is not None
    for receiver in call.pairs:
        for sender, group in call.pairs[receiver].items():
            if group not in media:
                continue
            streams = np.array(media[group]["stream"].to_list())
            speech, pictures = (media[group].take(np.isin(streams, kinds)) for kinds in (("audio",), CAMERAS))
            scores = pictures.numbers("mos")
            worst = Events.collect(results, group).hold(
                measures.session_mos(group).compute(results).interval()
            )
            path, left_out = _limited(outbound.get(group))
            found.append(
                Received(
                    receiver,
                    sender,
                    worst.mean,
                    scale.word(worst) if worst.n else "",
                    mean(speech.numbers("mos")),
                    mean(scores),
                    mean(pictures.numbers("height")),
                    mean(speech.numbers("silence_s")),
                    mean(pictures.numbers("without_s")),
                    mean(pictures.numbers("longest_without_s")),
                    mean(pictures.numbers("switches_per_min")),
                    uplinks.get(sender, math.nan),
                    path,
                    left_out,
                )
            )
    return found


def matrices(
    results: Results, left_out: Collection[str] = ()
) -> list[tuple[str, list[str], list[list[str]], str]]:
    """Returns the quality matrix of each call, with the limits of each pair: title, heads, rows and caption of tables.

    A row is a receiver, a column a sender. Calls with flow groups in `left_out` have no tables.
    """
    tables = []
    for call in find_calls(results):
        names = call.participants
        if not 2 < len(names) <= WIDEST or call.groups[0] in left_out:
            continue
        cells = {(one.receiver, one.sender): one for one in received(results, call)}
        ways: list[tuple[str, str, Callable[[Received], str]]] = [
            ("who sees and hears whom", "MOS of the worst stream", lambda one: _number(one.worst, 2)),
            (
                "what limits the picture",
                "what limits it for the longest time, with its share of the time",
                lambda one: one.limited_by or "–",
            ),
            (
                "seconds without video, layer switches a minute",
                "seconds in which nothing moved though the camera was on; changes of layer or size each minute",
                lambda one: f"{_number(one.without_s, 1)} s, {_number(one.switches_per_min, 1)}",
            ),
        ]
        for title, what, shown in ways:
            rows = [
                [
                    receiver,
                    *(shown(cells[receiver, one]) if (receiver, one) in cells else "–" for one in names),
                ]
                for receiver in names
            ]
            caption = f"A row is a participant, a column one whom they see and hear: {what}."
            tables.append((f"{call.name}: {title}", ["", *names], rows, caption))
    return tables


def _number(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"
