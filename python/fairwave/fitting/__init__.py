"""A network fitted to what you saw: a capture, or the statistics of a browser's call.

`fairwave fit FILE` proposes the scenario that explains the file best, says how certain each of its values is and what
the file cannot tell, and with `--vary queue=fq-codel` runs the call again under another queue.
"""

from fairwave.fitting.bottleneck import Interval, Steps
from fairwave.fitting.fitted import Fit, fit

__all__ = ["Fit", "Interval", "Steps", "fit"]
