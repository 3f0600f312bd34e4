"""Is my line good, before I call?

`fairwave reflector` answers at one end; `fairwave measure HOST` sends a call's packets both ways from the other, over
the idle line and over the line loaded each way. It says whether voice and video would be good, fair or poor, why, and
what would help: the fitted network carries the call under other queues. What irtt wrote is read, too.
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
