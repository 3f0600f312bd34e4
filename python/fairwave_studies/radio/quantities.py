"""What is measured: opinions of calls, what is seen of a video, and goodput."""

from __future__ import annotations

from fairwave.measuring import measures

MOS = measures.mos("call")
"""Mean opinion of the calls."""

MOUTH_TO_EAR = measures.mouth_to_ear("call")

SEEN = measures.decodable("video")
"""Frames of which at least the base layer could be decoded when they were shown, in %."""

LAYERS = measures.decodable_layers("video")
"""Layers, of five, in which a frame could be decoded when it was shown."""

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
