"""A session in which nothing has happened yet."""

import pytest
from tests.unit.lifecycle.world import World


@pytest.fixture
def world() -> World:
    """An active session in which nothing has happened."""
    return World()
