"""The measures: opinions of calls, decodable frames and layers of a video, and goodput."""

from __future__ import annotations

from fairwave.measuring import measures

MOS = measures.mos("call")
"""Mean opinion of the calls."""

MOUTH_TO_EAR = measures.mouth_to_ear("call")

SEEN = measures.decodable("video")
"""Share of frames with at least a decodable base layer at their display time, %."""

LAYERS = measures.decodable_layers("video")
"""Number of decodable layers, of five, at a frame's display time."""

SPEECH = measures.audio_mos("session")
"""MOS of the speech of a WebRTC session."""

SESSION_DELAY = measures.audio_delay("session")

MISSED = measures.missed("call")
"""Packets of the calls that were lost or came too late to be played, in % of those sent."""

FROZEN = measures.frozen("session")

GOODPUT = measures.goodput("transfer")

LOST = measures.packet_loss("transfer")
"""Packets that the queue dropped or the last hop lost, in % of those sent."""

UPDATE = measures.goodput("update")
