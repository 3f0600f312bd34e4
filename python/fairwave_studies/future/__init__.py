"""Ideas that papers 000 to 004 leave for later, each in the scenario of its paper.

Papers 000 and 001: TFRC for small packets, and partial reliability for calls. Paper 002: AIAMD as a DCCP profile, and
layers that are cut anywhere. Paper 003: γ for unreliable streams. Paper 004: AFD and CSFQ next to Drop-Sel. The claims
were written before the first run.
"""

from functools import partial

from fairwave_study.study import from_folder

study = partial(from_folder, __name__)
