"""Rate controllers of calls in the cases of RFC 8867 §5.1 to §5.8 and §6.1 to §6.3, under several queues.

The claims are the expectations of RFC 8836 and RFC 8867, written before the first run. No complete table of these cases
was published before.
"""

from functools import partial

from fairwave_study.study import from_folder

study = partial(from_folder, __name__)
