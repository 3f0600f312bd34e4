"""Is my line good, before I call?

Run `fairwave reflector` at one end and `fairwave measure HOST` at the other. `measure` sends a call's packets both ways
over the idle line, and over the line loaded in each direction. It rates voice and video as good, fair or poor, gives
the reasons, and suggests remedies: it simulates the call over the fitted network with other queues. It also reads
measurements by irtt.
"""

from fairwave.linecheck.fitted_network import Alternative, Network, alternatives, fitted, least_rate
from fairwave.linecheck.irtt import IrttError
from fairwave.linecheck.irtt import read as read_irtt
from fairwave.linecheck.line import Line, PhaseNumbers
from fairwave.linecheck.measuring import MeasureError, Target, measure, resolved
from fairwave.linecheck.reflector import Limits, Reflector
from fairwave.linecheck.verdict import Verdict, judge_line
from fairwave.linecheck.wire import Plan, WireError

__all__ = [
    "Alternative",
    "IrttError",
    "Limits",
    "Line",
    "MeasureError",
    "Network",
    "PhaseNumbers",
    "Plan",
    "Reflector",
    "Target",
    "Verdict",
    "WireError",
    "alternatives",
    "fitted",
    "judge_line",
    "least_rate",
    "measure",
    "read_irtt",
    "resolved",
]
