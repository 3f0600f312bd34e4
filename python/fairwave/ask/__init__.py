"""Questions of a scenario: how precise a grid is to be (`sweep`), and how far a value may go (`find`).

How measures, conditions and varied keys are written in a line of text is in `wording`.
"""

from fairwave.ask.finding import Answer, Tested, find
from fairwave.ask.sweeping import Cell, Sweep, sweep
from fairwave.ask.wording import AskError

__all__ = ["Answer", "AskError", "Cell", "Sweep", "Tested", "find", "sweep"]
