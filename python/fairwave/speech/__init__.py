"""Speech: recordings in, calls out, and how well they are understood.

A recording is read (:mod:`~fairwave.speech.audio`) and cut into frames (:mod:`~fairwave.speech.script`); a
simulated call carries them as units; :func:`render_call` decodes, plays out and conceals
(:mod:`~fairwave.speech.call`). Sources: ITU-T G.711 and its Appendix I, and those that each module names.
"""

from fairwave.speech.audio import RATE, Recording, normalise, read, write
from fairwave.speech.call import RenderedCall, render_call
from fairwave.speech.errors import SpeechError
from fairwave.speech.playout import Adaptive, Fate, Fixed, Neteq, Playout
from fairwave.speech.script import Script, script

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
