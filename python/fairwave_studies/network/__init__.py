"""Paper 004's question on the networks of Germany and GÉANT: which queue helps calls, and where is it enough?"""

from fairwave.extras import need_all
from fairwave_study.study import Study, from_folder


def study() -> Study:
    """The study."""
    need_all("fairwave study network", "network")
    return from_folder(__name__)
