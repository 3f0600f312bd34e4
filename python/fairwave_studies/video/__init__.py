"""Paper 002 (Papadimitriou, Tsaoussidis & Mamas): the receiver decides how many layers of a video it can take.

The study regenerates Figures 3 and 6–20 and tests claims D1 to D36.
"""

from functools import partial

from fairwave_study.study import from_folder

study = partial(from_folder, __name__)
