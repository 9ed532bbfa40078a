"""Lets the tests of this folder import `judging`, and run as coroutines."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "conditions"))
