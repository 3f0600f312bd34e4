"""The verdict on some runs and their tables of flow groups, conversations and links, for terminal and pages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairwave.answers import conference, fates, group_measures
from fairwave.answers.answer import LIVE
from fairwave.answers.verdict import judge_run, made_of
from fairwave.flow_groups import groups, kind
from fairwave.measuring.measures import MOS, PERCENT, POSITIVE, R, mean
from fairwave.measuring.relevance import USUAL
from fairwave.measuring.remarks import NOT_DEFINED, bistable, list_notes, undefined, unmeasured
from fairwave.measuring.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from fairwave.answers.answer import Answer
    from fairwave.results import Results
    from fairwave.scenario import Scenario

LEAST_WAIT_S = 1e-5
"""Smallest mean waiting time of a link that is listed, in seconds."""


LIMITS = (
    ("limited_receiver_s", "receiver window"),
    ("limited_congestion_s", "congestion control"),
    ("limited_application_s", "application"),
)
"""Reasons that hold a sender back, in the order of the table."""


LEAST_SHARE = 0.005
"""Smallest share of the senders' time that is reported for a limit."""


LINKS = (
    ("utilisation", "utilisation %", 100.0, PERCENT),
    ("mean_queue_packets", "mean queue, packets", 1.0, POSITIVE),
    ("drop_rate", "dropped %", 100.0, PERCENT),
    ("mean_wait_s", "mean wait, ms", 1e3, POSITIVE),
)
"""Columns of the table of links: name, title, factor, least and greatest value."""


BOTH = ("", "there", "back", "together")
"""Columns of the table that shows a conversation as a whole with two directions."""


_BOTH = (
    ("mouth to ear, ms", "mouth_to_ear_there_s", "mouth_to_ear_back_s", "round_trip_s", 1e3, POSITIVE),
    ("R (E-model)", "r_there", "r_back", "", 1.0, R),
    ("MOS (E-model); together: the worse", "mos_there", "mos_back", "mos", 1.0, MOS),
    ("MOS; together: the mean", "mos_there", "mos_back", "mos_mean", 1.0, MOS),
    (
        "double talk in % of the time, at each listener; together: as generated",
        "double_talk_heard_to", "double_talk_heard_from", "double_talk_meant", 100.0, PERCENT,
    ),
)  # fmt: skip


def judge_groups(read: Scenario, results: Results, only: Sequence[str] = ()) -> Answer:
    """Returns the first part of a page: the verdict on the flow groups `only`, or on every group if `only` is `all`."""
    kinds = {name: kind(flow) for name, flow in groups(read).items()}
    for call in conference.find_calls(results):
        kinds.update(dict.fromkeys(call.groups, "media"))
    every = list(only) == ["all"]
    if only and not every:
        left_out = [name for name in kinds if name not in only]
        kinds = {name: kind for name, kind in kinds.items() if name in only}
    answer = judge_run(
        results,
        kinds,
        lambda name: made_of(name, results) or fates.summed_up(results, name),
        every=bool(only),
    )
    if only and not every:
        answer = replace(answer, left_out=left_out)
    return (
        answer.with_more_runs_by(LIVE) if results.provenance.command.startswith("fairwave live") else answer
    )


def list_conversations(results: Results, group: str) -> list[list[str]]:
    """The conversations of a group, each direction and both together: means over conversations, then runs."""
    if "conversations" not in results.tables:
        return []
    rows = results.rows("conversations").only(group=group)

    def cell(column: str, scale: float, ends: tuple[float, float]) -> str:
        if not column:
            return ""
        each = [mean(part.numbers(column)) * scale for part in rows.parted("run")]
        each = [one for one in each if not np.isnan(one)]
        return str(interval(each).clip(ends)) if each else "not defined"

    if not rows.num_rows:
        return []
    return [
        [title, *(cell(column, scale, ends) for column in (there, back, whole))]
        for title, there, back, whole, scale, ends in _BOTH
    ]


def measure_groups(
    read: Scenario, results: Results, names: Sequence[str] = (), left_out: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Returns every measure of every group, in order; `usual` marks the measures that people see.

    Args:
        read: The scenario.
        results: The runs.
        names: Measures to show to people instead of the usual ones.
        left_out: Flow groups that have no rows, unless `names` has a measure of them.

    Raises:
        BadInputError: No measure has such a name.
    """
    rows = []
    # Matrices show the quality of the pairs of a call. Requested measures of pairs have rows, too.
    of_calls = [name for call in conference.find_calls(results) for name in call.groups] if names else []
    asked_of = {name.partition(".")[2] for name in names}
    skipped = {name for name in left_out if name not in asked_of}
    for name in dict.fromkeys([*groups(read), *of_calls]):
        if name in skipped:
            continue
        wanted = [] if name in of_calls else group_measures.list_measures(results, name)
        if names:
            asked = group_measures.asked(results, names, name)
            ids = {one.measure.id for one in asked}
            wanted = [*asked, *(replace(one, usual=False) for one in wanted if one.measure.id not in ids)]
        for one in wanted:
            measure = one.measure
            measured = measure.compute(results) if measure.table in results.tables else None
            cell = measured.interval() if measured else interval([])
            why = unmeasured(results, measure.id, name) if names and one.usual else ""
            if cell.n or why or undefined(results, measure.id, name):
                notes = [
                    *list_notes(results, measure.id, name),
                    *(bistable(measured, USUAL) if measured else []),
                ]
                rows.append(
                    {
                        "group": name, "measure": measure.id, "title": measure.title, "unit": measure.unit,
                        "mean": cell.mean, "interval": cell.ends, "identical": cell.is_identical,
                        "undefined": cell.undefined,
                        "remarks": [*map(str, notes), *([why] if why else [])],
                        "usual": one.usual and (bool(names) or measure.applies.is_worth_a_row([cell.mean])),
                        "text": str(cell) if cell.n else NOT_DEFINED,
                    }
                )  # fmt: skip
    return rows


def measure_limits(results: Results, group: str) -> dict[str, float]:
    """Returns the limits of a group's senders, as shares of their active time, over all flows and runs.

    The result is empty for transports without limits. The largest share comes first.
    """
    flows = results.rows("flows").only(group=group)
    times = {name: float(np.nansum(flows.numbers(column))) for column, name in LIMITS}
    whole = sum(times.values())
    shares = {name: time / whole for name, time in times.items() if whole > 0 and time / whole >= LEAST_SHARE}
    return dict(sorted(shares.items(), key=lambda share: -share[1]))


def list_busy_links(results: Results, most: int = 8) -> list[tuple[str, list[str]]]:
    """The links that queue most, with means over replications."""
    found = [(str(part["link"].to_list()[0]), part) for part in results.rows("links").parted("link")]
    waits = {name: mean(part.numbers("mean_wait_s")) for name, part in found}
    queueing = [(name, part) for name, part in found if waits[name] > LEAST_WAIT_S]
    queueing.sort(key=lambda one: -waits[one[0]])
    rows = []
    for name, part in queueing[:most]:
        cells = [interval(part.numbers(column) * scale).clip(ends) for column, _, scale, ends in LINKS]
        rows.append((name, [str(cell) for cell in cells]))
    return rows
