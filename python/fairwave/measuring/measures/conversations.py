"""Conversations: both directions of a call together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairwave.measuring.measure import MOS, PERCENT, POSITIVE, STREAM, Applies, measure

if TYPE_CHECKING:
    from fairwave.measuring.measure import Numbers
    from fairwave.measuring.parts import Parts
    from fairwave.tables import Table


TABLE = "conversations"


@measure(
    "round-trip", "ms", POSITIVE, title="round trip, mouth to ear", better="lower", table=TABLE, applies=Applies(STREAM)
)  # fmt: skip
def round_trip(rows: Table, parts: Parts) -> Numbers:
    """Delay from mouth to ear and back, in ms: sum over both directions of a conversation, mean over conversations."""
    return parts.mean(rows.numbers("round_trip_s")) * 1e3


@measure(
    "conversation-mos", "", MOS, title="MOS of the conversation (E-model)", better="higher", table=TABLE, scale="mos",
    applies=Applies(STREAM, headline=True, figure="call"),
)  # fmt: skip
def conversation_mos(rows: Table, parts: Parts) -> Numbers:
    """MOS of the worse direction of a conversation, by the E-model, mean over conversations."""
    return parts.mean(rows.numbers("mos"))


@measure(
    "conversation-mos-mean", "", MOS, title="MOS, mean of both directions", better="higher", table=TABLE, scale="mos",
    applies=Applies(STREAM),
)  # fmt: skip
def conversation_mos_mean(rows: Table, parts: Parts) -> Numbers:
    """Mean of the MOS of both directions of a conversation, mean over conversations."""
    return parts.mean(rows.numbers("mos_mean"))


@measure(
    "double-talk", "%", PERCENT, title="both talk, as meant", table=TABLE, scale="double-talk", applies=Applies(STREAM)
)  # fmt: skip
def double_talk(rows: Table, parts: Parts) -> Numbers:
    """Share of the time in which both parties of a conversation talk at once, timed by one clock, in %."""
    return parts.mean(rows.numbers("double_talk_meant")) * 100


@measure(
    "double-talk-heard", "%", PERCENT, title="both talk, as heard", better="lower", table=TABLE, scale="double-talk",
    applies=Applies(STREAM),
)  # fmt: skip
def double_talk_heard(rows: Table, parts: Parts) -> Numbers:
    """Share of the time in which a party talks while it hears the other party, in %, mean over both parties."""
    one, other = (rows.numbers(name) for name in ("double_talk_heard_from", "double_talk_heard_to"))
    return 50 * parts.mean(one) + 50 * parts.mean(other)
