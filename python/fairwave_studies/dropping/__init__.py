"""Paper 004 (Alvarez-Flores, Ramos-Munoz, Ameigeiras & Lopez-Soler): which packet to drop, and the effect on speech.

The study regenerates Figures 4–9 and Tables 5–9 and tests claims Q1 to Q32. It also evaluates Voice-Guard, fairwave's
answer to the paper's future work, and two queues that the paper names and does not measure.
"""

from functools import partial

from fairwave_study.study import from_folder

study = partial(from_folder, __name__)
