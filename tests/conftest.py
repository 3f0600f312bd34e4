"""What several tests need."""

import pytest

from made_up import made_up


@pytest.fixture
def results():
    """Made-up runs over two transports."""
    return made_up()
