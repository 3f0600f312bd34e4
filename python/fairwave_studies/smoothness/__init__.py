"""Paper 003 (Tsaoussidis & Zhang): the cost of smoothness in responsiveness, on wires and over radio.

The study regenerates Figures 2–20, compares Eqs. (1)–(4), (13) and (16) with measurement, and tests claims S1 to S36.
It also asks the paper's questions of SQRT, IIAD and RAP.
"""

from functools import partial

from fairwave_study.study import from_folder

study = partial(from_folder, __name__)
