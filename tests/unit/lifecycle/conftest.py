"""Lets the tests of this folder import `world`, which stands beside them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from world import World


@pytest.fixture
def world() -> World:
    """An active session in which nothing has happened."""
    return World()
