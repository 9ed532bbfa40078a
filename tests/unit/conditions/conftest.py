"""Lets the tests of this folder import `judging`, which stands beside them, and the fake tokens."""

import sys
from pathlib import Path

HERE = Path(__file__).parent

sys.path[:0] = [str(HERE), str(HERE.parent / "secrets")]
