"""Speech: recordings in, calls out, and a count of the words that a recogniser understands.

A recording is read (:mod:`~fairwave_speech.audio`) and cut into frames (:mod:`~fairwave_speech.script`); a
simulated call carries them as units; :func:`render_call` decodes, plays out and conceals
(:mod:`~fairwave_speech.call`). Sources: ITU-T G.711 with its Appendix I, and the sources in each module's head.
"""

from fairwave_speech.audio import RATE, Recording, normalise, read, write
from fairwave_speech.call import RenderedCall, render_call
from fairwave_speech.errors import SpeechError
from fairwave_speech.playout import Adaptive, Fate, Fixed, Neteq, Playout
from fairwave_speech.script import Script, script

__all__ = [
    "RATE",
    "Adaptive",
    "Fate",
    "Fixed",
    "Neteq",
    "Playout",
    "Recording",
    "RenderedCall",
    "Script",
    "SpeechError",
    "normalise",
    "read",
    "render_call",
    "script",
    "write",
]
