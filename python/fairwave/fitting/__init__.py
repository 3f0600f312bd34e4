"""Fits a network to a measured call: a capture, or the statistics of a browser.

`fairwave fit FILE` proposes the scenario that explains the file best. It gives the certainty of each value and lists
the values that the file cannot show. `--vary queue=fq-codel` then runs the call again under another queue.
"""

from fairwave.fitting.bottleneck import Interval, Steps
from fairwave.fitting.fitted import Fit, fit

__all__ = ["Fit", "Interval", "Steps", "fit"]
