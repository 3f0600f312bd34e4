"""All measures, one file for each family: from tables of rows to one number for each run.

The simulator measures single flows (delay, jitter, timeliness, R) and groups as such (fairness), and defines each
measure once. This package combines the flows of a group as papers 000–004 do: totals, and shares of the units that the
application sent. A measure that is not defined for a run (no flow of the group, nothing sent) is null, never NaN. Means
leave it out and count the omissions.

`docs/add-a-measure.md` shows how to add a measure.
"""

from __future__ import annotations

from fairwave.measuring.measure import (
    BULK,
    EVERY,
    MOS,
    OWN,
    PERCENT,
    POSITIVE,
    RATIO,
    STANDARD,
    STREAM,
    TRANSFER,
    UNBOUNDED,
    Applies,
    Definition,
    Kind,
    Limits,
    Measure,
    R,
    Reduction,
    mean,
    share,
    total,
)  # fmt: skip
from fairwave.measuring.measures.calls import CAUSES, mos, mouth_to_ear, r_cost, r_factor, worst_mos
from fairwave.measuring.measures.columns import group_column, link, mean_of, reduce_flows, share_of
from fairwave.measuring.measures.conversations import (
    conversation_mos,
    conversation_mos_mean,
    double_talk,
    double_talk_heard,
    round_trip,
)
from fairwave.measuring.measures.gaps import GAP_S, gap_calls, gaps_per_hour, longest_gap, silence
from fairwave.measuring.measures.media_sessions import (
    CAMERAS,
    OPINION,
    SPEECH,
    audio_delay,
    audio_mos,
    concealed,
    encoder_target,
    frame_rate,
    freezes,
    frozen,
    layer_switches,
    lip_sync,
    longest_freeze,
    longest_without_video,
    picture_height,
    session_mos,
    video_delay,
    video_mos,
    video_outage,
)
from fairwave.measuring.measures.packets import (
    delay,
    delay_p95,
    jitter,
    late_for_playout,
    loss,
    missed,
    packet_loss,
    waiting,
    worst_loss,
)
from fairwave.measuring.measures.round_trips import (
    NO_REQUIREMENT,
    NOT_MEASURED,
    ping_loss,
    qoo,
    responsiveness,
    rtt,
    rtt_median,
    rtt_p95,
)
from fairwave.measuring.measures.simulated import (
    SIMULATED,
    cov,
    fairness,
    overhead,
    short_term_fairness,
    worst_case_fairness,
)
from fairwave.measuring.measures.streaming import experience, stalled, stalls, start_up, switches, video_rate
from fairwave.measuring.measures.throughput import goodput, goodput_per_flow, retransmitted, worst_goodput
from fairwave.measuring.measures.timeliness import (
    IN_DOCUMENTS,
    READINGS,
    TIMELINESS,
    Reading,
    delayed,
    delayed_by_threshold,
    index,
    index_by_threshold,
    index_excess_gap,
    index_gap,
    index_sequence,
)
from fairwave.measuring.measures.transfers import (
    completion,
    completion_median,
    completion_p95,
    refused,
    slowdown,
    unfinished,
)
from fairwave.measuring.measures.video import decodable, decodable_layers, late, sender_wait

ORDER = (
    "conversation-mos", "session-mos", "audio-mos", "video-mos", "frozen", "freezes", "without-video",
    "longest-freeze", "longest-without-video", "layer-switches", "frame-rate", "picture-height", "audio-delay",
    "video-delay", "lip-sync", "concealed", "encoder-target", "mos", "r-factor", "mouth-to-ear", "decodable",
    "decodable-layers", "missed", "longest-gap", "gap-calls", "gaps-per-hour", "silence", "worst-mos",
    "conversation-mos-mean", "round-trip", "double-talk", "double-talk-heard", "responsiveness", "ping-loss",
    "loss", "worst-loss", "late-for-playout", "late", "waiting", "sender-wait", "delay", "delay-p95", "jitter",
    "goodput-per-flow", "video-rate", "stalled", "stalls", "start-up", "switches", "experience", "completion",
    "completion-median", "completion-p95", "slowdown", "unfinished", "goodput", "worst-goodput", "packet-loss",
    "retransmitted", "qoo", "rtt", "rtt-median", "rtt-p95", *SIMULATED, "refused", "index", "index-gap",
    "index-excess-gap", "index-sequence", "delayed",
)  # fmt: skip
"""Order of measures on pages and in tables. Others follow in the order of their definition."""

STANDARD.update(
    {name: STANDARD.pop(name) for name in (*ORDER, *(one for one in STANDARD if one not in ORDER))}
)


def list_measures(group: str, kind: Kind, *, beside: bool = False) -> list[Measure]:
    """Measures in documents about a group of this kind, in order; `beside` if another group is compared."""

    def is_in(applies: Applies) -> bool:
        return kind in (applies.beside if beside else applies.to | applies.documents)

    # Standard definitions declare their groups before they are called; custom ones declare them in the measure.
    wanted = (
        define for define in STANDARD.values() if is_in(getattr(define, "applies", Applies(EVERY, EVERY)))
    )
    return [one for one in (define(group) for define in wanted) if is_in(one.applies)]


SYNONYMS = {
    "mos": ("quality", "score", "opinion", "visqol", "pesq", "polqa", "emodel", "qoe"),
    "r-factor": ("r", "rfactor", "rvalue", "rating"),
    "delay": ("latency", "lag", "owd", "onewaydelay", "networkdelay", "delaymean"),
    "mouth-to-ear": ("m2e", "endtoend", "endtoenddelay", "e2e", "mouthtoear"),
    "rtt": ("ping", "roundtriptime", "srtt", "pingtime"),
    "goodput": ("throughput", "bandwidth", "bitrate", "rate", "speed", "datarate", "bps"),
    "packet-loss": ("plr", "lossrate", "packetlossrate", "lost", "per", "lossratio"),
    "missed": ("discarded", "gone", "effectiveloss", "lossandlate"),
    "jitter": ("pdv", "delayvariation", "ipdv", "variation"),
    "concealed": ("concealment", "plc", "glitches"),
    "frame-rate": ("fps", "framerate"),
    "picture-height": ("resolution", "height"),
    "frozen": ("freeze", "freezetime", "freezing"),
    "stalled": ("rebuffering", "buffering", "stall", "rebufferingratio"),
    "start-up": ("startup", "startupdelay", "joiningtime", "ttff"),
    "experience": ("p1203", "streamingquality"),
    "completion": (
        "fct",
        "flowcompletiontime",
        "downloadtime",
        "pageload",
        "pageloadtime",
        "plt",
        "loadtime",
        "duration",
    ),
    "retransmitted": ("retransmissions", "retransmits", "retrans", "rtx"),
    "fairness": ("jain", "jainindex", "fairnessindex"),
    "lip-sync": ("avsync", "lipsync", "skew"),
    "responsiveness": ("rpm", "workinglatency"),
    "qoo": ("qualityofoutcome",),
    "utilisation.r1>r2": ("utilization", "util", "load", "occupancy", "utilisation"),
    "mean-wait.r1>r2": ("queueingdelay", "queuedelay", "qdelay", "wait", "sojourn", "meanwait"),
    "mean-queue.r1>r2": ("queue", "queuelength", "backlog", "qlen", "buffer", "meanqueue"),
    "drop-rate.r1>r2": ("drops", "dropped", "droprate"),
}
"""Common names of measures, letters only; those of links are written with a link direction."""


def _unknown(name: str, group: str | None) -> str:
    """The message for a measure that does not exist: the likely one, or the nearest names."""
    from difflib import get_close_matches

    letters = "".join(filter(str.isalnum, name.casefold()))
    same = [one for one in STANDARD if one.replace("-", "") == letters]
    meant = same or [one for one, words in SYNONYMS.items() if letters in words]
    near = meant or get_close_matches(name.casefold().replace(" ", "-").replace("_", "-"), STANDARD, 1)
    every = f"`fairwave list measures` shows all {len(STANDARD)}"
    if not near:
        return f"no measure {name!r}; {every}"
    write = f" Write '{near[0]}.{group}';" if group and ">" not in near[0] else ""
    return f"no measure {name!r}; did you mean {' or '.join(map(repr, near))}?{write} {every}"


def find(name: str, group: str | None = None) -> Measure:
    """Returns the measure with this name.

    Raises:
        KeyError: There is no such measure; the message lists the names.
    """
    if name not in STANDARD:
        raise KeyError(_unknown(name, group))
    return STANDARD[name](group)


__all__ = [
    "BULK",
    "CAMERAS",
    "CAUSES",
    "EVERY",
    "GAP_S",
    "IN_DOCUMENTS",
    "MOS",
    "NOT_MEASURED",
    "NO_REQUIREMENT",
    "OPINION",
    "ORDER",
    "OWN",
    "PERCENT",
    "POSITIVE",
    "RATIO",
    "READINGS",
    "SIMULATED",
    "SPEECH",
    "STANDARD",
    "STREAM",
    "SYNONYMS",
    "TIMELINESS",
    "TRANSFER",
    "UNBOUNDED",
    "Applies",
    "Definition",
    "Kind",
    "Limits",
    "Measure",
    "R",
    "Reading",
    "Reduction",
    "audio_delay",
    "audio_mos",
    "completion",
    "completion_median",
    "completion_p95",
    "concealed",
    "conversation_mos",
    "conversation_mos_mean",
    "cov",
    "decodable",
    "decodable_layers",
    "delay",
    "delay_p95",
    "delayed",
    "delayed_by_threshold",
    "double_talk",
    "double_talk_heard",
    "encoder_target",
    "experience",
    "fairness",
    "find",
    "frame_rate",
    "freezes",
    "frozen",
    "gap_calls",
    "gaps_per_hour",
    "goodput",
    "goodput_per_flow",
    "group_column",
    "index",
    "index_by_threshold",
    "index_excess_gap",
    "index_gap",
    "index_sequence",
    "jitter",
    "late",
    "late_for_playout",
    "layer_switches",
    "link",
    "lip_sync",
    "list_measures",
    "longest_freeze",
    "longest_gap",
    "longest_without_video",
    "loss",
    "mean",
    "mean_of",
    "missed",
    "mos",
    "mouth_to_ear",
    "overhead",
    "packet_loss",
    "picture_height",
    "ping_loss",
    "qoo",
    "r_cost",
    "r_factor",
    "reduce_flows",
    "refused",
    "responsiveness",
    "retransmitted",
    "round_trip",
    "rtt",
    "rtt_median",
    "rtt_p95",
    "sender_wait",
    "session_mos",
    "share",
    "share_of",
    "short_term_fairness",
    "silence",
    "slowdown",
    "stalled",
    "stalls",
    "start_up",
    "switches",
    "total",
    "unfinished",
    "video_delay",
    "video_mos",
    "video_outage",
    "video_rate",
    "waiting",
    "worst_case_fairness",
    "worst_goodput",
    "worst_loss",
    "worst_mos",
]
