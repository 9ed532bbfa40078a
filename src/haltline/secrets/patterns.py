"""Regular expressions, compiled when first used: compiling them all would dominate this floor's import."""

from __future__ import annotations

import re
from functools import cache


@cache
def compiled(expression: str) -> re.Pattern[str]:
    """Return an expression compiled; the second call for the same text costs one dictionary lookup."""
    return re.compile(expression)
