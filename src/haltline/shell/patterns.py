r"""Regular expressions of users' rules: only those that cannot take long, whatever they are tried on.

Python's `re` tries every way in which repetitions can share a text: `(a+)+b` takes time exponential in the
length of a word, `a.*b.*c` time that grows with its third power. Nothing interrupts it, not even the
deadline of a check. So a pattern is refused unless the time grows at most with the square of the length, and
a word that is longer than its growth allows counts as one that matches.
"""

from __future__ import annotations

import re
import warnings
from importlib import import_module
from typing import Any

_parser: Any = import_module("re._parser")  # Python has no public one

MAX_PATTERN = 1_000
"""Characters of a pattern."""

_MAX_WIDTH = 256
_MAX_WAYS = 128
_SMALL = 8
"""A repetition that varies by at most this much is counted by its ways, and not as one that grows."""

_LONGEST = {0: 8_192, 1: 8_192, 2: 1_024}
"""By the power with which the time grows: the longest word that is tried."""

_FLAGS = re.compile(r"\(\?([ais]+)\)")
_ADVICE = "a pattern is searched anywhere in a word, so leave out what only fills it up: `.*` at an end, say"


def bounded(pattern: str) -> str:
    """Return a pattern that holds where the given one does, and for words too long to try.

    Raises:
        ValueError: it is none, or it could take long; the text says why, and goes on after the pattern.
    """
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"has more than {MAX_PATTERN} characters")
    flags = _FLAGS.match(pattern)
    scoped = f"(?{flags[1] if flags else ''}:{pattern[flags.end() :] if flags else pattern})"
    tree = _parsed(pattern)
    if tree.state.flags & (re.VERBOSE | re.MULTILINE):
        raise ValueError("has a flag that is not taken; (?i), (?s) and (?a) are, at its beginning")
    if tree.getwidth()[0] > _MAX_WIDTH:
        raise ValueError(f"needs more than {_MAX_WIDTH} characters to match")
    power, ways = _cost(tree, repeated=False)
    power += not _anchored(tree)
    if power not in _LONGEST:
        raise ValueError(f"has too many open repetitions; {_ADVICE}")
    if ways > _MAX_WAYS:
        raise ValueError("has too many optional parts")
    return rf"\A(?s:.{{{_LONGEST[power] + 1}}})|{scoped}"


def _parsed(pattern: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what may mean something else tomorrow is refused today
        try:
            re.compile(pattern)
            return _parser.parse(pattern)
        except (re.error, RecursionError, OverflowError, Warning) as problem:
            raise ValueError(f"is no regular expression: {problem}") from None


def _cost(tree: Any, *, repeated: bool) -> tuple[int, int]:
    """Return with which power of the length the ways to match grow, and how many there are beside that."""
    power, ways = 0, 1
    for operation, value in tree:
        name = str(operation)
        if name in {"GROUPREF", "GROUPREF_EXISTS"}:
            raise ValueError("refers back to a group")
        inner = (0, 1)
        if name.endswith("_REPEAT"):
            inner = _repetition(*value, repeated=repeated)
        elif name == "BRANCH":
            inner = _choice(value[1], repeated=repeated)
        elif name in {"SUBPATTERN", "ASSERT", "ASSERT_NOT"}:
            inner = _cost(value[-1], repeated=repeated)
        elif name == "ATOMIC_GROUP":
            inner = _cost(value, repeated=repeated)
        power, ways = power + inner[0], ways * inner[1]
    return power, ways


def _repetition(least: int, most: int, tree: Any, *, repeated: bool) -> tuple[int, int]:
    varies = least != most
    if varies and repeated:
        raise ValueError(
            "has a repetition inside another one; write `[a-z.]+` in place of `([a-z]+\\.?)+`, say"
        )
    power, ways = _cost(tree, repeated=repeated or (varies and most > 1))
    if not varies:
        return power * least, min(ways**least, _MAX_WAYS + 1) if ways > 1 else 1
    if most - least <= _SMALL:
        return power, ways * (most - least + 1)
    return power + 1, ways


def _choice(branches: list[Any], *, repeated: bool) -> tuple[int, int]:
    if repeated:
        firsts = [str(branch[0]).lower() if len(branch) else "" for branch in branches]
        if not all(len(b) and str(b[0][0]) == "LITERAL" for b in branches) or len({*firsts}) < len(firsts):
            raise ValueError("has a choice inside a repetition, of alternatives that may begin alike")
    costs = [_cost(branch, repeated=repeated) for branch in branches]
    return max(power for power, _ in costs), sum(ways for _, ways in costs) if not repeated else 1


def _anchored(tree: Any) -> bool:
    """Return whether it can only match at the beginning of a word."""
    while len(tree) and str(tree[0][0]) == "SUBPATTERN":
        tree = tree[0][1][-1]
    return bool(len(tree)) and str(tree[0][0]) == "AT" and str(tree[0][1]).startswith("AT_BEGINNING")
