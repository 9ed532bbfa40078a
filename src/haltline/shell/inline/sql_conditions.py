"""Whether the condition of a DELETE or UPDATE leaves any row out: `WHERE 1 = 1` does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haltline.shell.scanner import LimitReached
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from collections.abc import Callable


MAX_CONDITIONS = 64
_ENDS = word_set("RETURNING ORDER LIMIT GROUP OPTION OUTPUT SETTINGS")


def top_level(words: list[str], wanted: str) -> int:
    """Return where a word stands outside of brackets, or -1."""
    depth = 0
    for index, word in enumerate(words):
        if word == "(":
            depth += 1
        elif word == ")":
            depth -= 1
        elif word == wanted and depth <= 0:
            return index
    return -1


def unfiltered(words: list[str]) -> bool:
    """Return whether a DELETE or UPDATE has no WHERE, or one that is always true."""
    at = top_level(words, "WHERE")
    if at < 0:
        return "LIMIT" not in words and not ({"USING", "JOIN"} & set(words) and "ON" in words)
    rest = words[at + 1 :]
    end = next((i for i, word in enumerate(rest) if word in _ENDS), len(rest))
    return _always(rest[:end], 0)


def _always(words: list[str], depth: int) -> bool:  # noqa: C901  one case for each form of a condition
    """Return whether a condition holds for every row."""
    while len(words) > 1 and words[0] == "(" and _matching(words) == len(words) - 1:
        if depth > MAX_CONDITIONS:
            raise LimitReached(f"more than {MAX_CONDITIONS} conditions inside one another")
        words, depth = words[1:-1], depth + 1
    if not words:
        return True
    choices = _split(words, "OR")
    if len(choices) > 1:
        return any(_always(choice, depth + 1) for choice in choices)
    every = _split(words, "AND") if "BETWEEN" not in words else []
    if len(every) > 1:
        return all(_always(part, depth + 1) for part in every)
    if words[0] == "NOT":
        return words[1:] in (["FALSE"], ["0"]) or (words[1:2] == ["("] and words[2:-1] in (["FALSE"], ["0"]))
    if len(words) == 1:
        return (
            words[0] == "TRUE" or (words[0][0].isdigit() and words[0].strip("0.") != "") or words[0] == "'t"
        )
    if words[1:] in (["=", "TRUE"], ["IS", "TRUE"]):
        return words[0] in ("TRUE", "1")
    for operator, test in _COMPARISONS.items():
        at = top_level(words, operator)
        if at > 0:
            left, right = words[:at], words[at + 1 :]
            return test(left, right)
    return False


def _split(words: list[str], separator: str) -> list[list[str]]:
    """Return what stands between the separators that no bracket holds; a first word is never one."""
    parts: list[list[str]] = []
    depth = start = 0
    for index, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if word == separator and depth <= 0 and index > start:
            parts.append(words[start:index])
            start = index + 1
    return [*parts, words[start:]]


def _matching(words: list[str]) -> int:
    depth = 0
    for index, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if depth == 0:
            return index
    return -1


def _constant(words: list[str]) -> bool:
    return len(words) == 1 and (words[0][0].isdigit() or words[0][0] == "'")


def _order(words: list[str]) -> tuple[int, float, str]:
    word = words[0]
    try:
        return (0, float(word), "")
    except ValueError:
        return (1, 0.0, word)


_COMPARISONS: dict[str, Callable[[list[str], list[str]], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: _constant(a) and _constant(b) and a != b,
    "!=": lambda a, b: _constant(a) and _constant(b) and a != b,
    ">=": lambda a, b: a == b or (_constant(a) and _constant(b) and _order(a) >= _order(b)),
    "<=": lambda a, b: a == b or (_constant(a) and _constant(b) and _order(a) <= _order(b)),
    ">": lambda a, b: _constant(a) and _constant(b) and _order(a) > _order(b),
    "<": lambda a, b: _constant(a) and _constant(b) and _order(a) < _order(b),
    "LIKE": lambda _a, b: bool(b) and b[0][:1] == "'" and b[0].strip("'%") == "" and b[0] != "'",
}
