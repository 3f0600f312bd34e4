"""The papers' mechanisms next to current ones: calls and a layered video share a line with CUBIC, BBR and Prague.

The queues are drop-tail, CoDel, FQ-CoDel, CAKE and DualPI2, with and without Drop-Sel and Voice-Guard (paper 004). UDP,
TCP-Real (000), γ and γ+δ (003) and DVRC (002) carry the calls and the video.
"""

from functools import partial

from fairwave_study.study import from_folder

study = partial(from_folder, __name__)
