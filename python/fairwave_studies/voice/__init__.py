"""Papers 000 and 001 (Papadimitriou & Tsaoussidis): the best transport for a call, and its cost to others.

The study regenerates Figures 2–24 of 000 and 2–12 of 001 and tests claims V1 to V39.
"""

from functools import partial

from fairwave_study.study import from_folder

study = partial(from_folder, __name__)
