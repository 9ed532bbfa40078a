"""Gitignore-style patterns, matched without regular expressions: no pattern and no path can make it slow.

Source: https://git-scm.com/docs/gitignore, "PATTERN FORMAT". The work is at most the length of the pattern
times the length of the path.
"""

from __future__ import annotations

from typing import NamedTuple


class PathPattern(NamedTuple):
    """One pattern.

    Attributes:
        text: as written, without `!` and slashes at its ends.
        negated: it began with `!`.
        anchored: it is compared from the top; else it may begin at any folder.
        parts: its components.
    """

    text: str
    negated: bool
    anchored: bool
    parts: tuple[str, ...]


def parse_pattern(text: str) -> PathPattern:
    """Return a pattern from its text; `/` at the start or inside anchors it, `/` at the end is optional."""
    negated = text.startswith("!")
    body = text.removeprefix("!").replace("\\", "/")
    trimmed = body.rstrip("/")
    anchored = "/" in trimmed
    parts = tuple(part for part in trimmed.split("/") if part and part != ".")
    return PathPattern("/".join(parts), negated, anchored, parts)


def matches(pattern: PathPattern, path: tuple[str, ...]) -> bool:
    """True when a pattern matches a path or a folder that the path lies in."""
    if pattern.anchored:
        return _match_parts(pattern.parts, path)
    [name] = pattern.parts or ("",)
    return name == "**" or any(match_component(name, component) for component in path)


def _match_parts(parts: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """True when the components match a beginning of the path: all of it, or a folder that holds it.

    `reachable` holds the numbers of path components that the pattern so far can have used.
    """
    reachable = {0}
    for part in parts:
        if part == "**":
            reachable = set(range(min(reachable), len(path) + 1)) if reachable else reachable
            continue
        reachable = {used + 1 for used in reachable if used < len(path) and match_component(part, path[used])}
        if not reachable:
            return False
    return bool(reachable)


def match_component(pattern: str, name: str) -> bool:
    """True when one component matches: `*` any characters, `?` one character, `[a-z]` one of a class."""
    at = position = 0
    star = resume = -1
    while position < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, resume = at, position
            at += 1
            continue
        width = _match_one(pattern, at, name[position])
        if width:
            at += width
            position += 1
        elif star >= 0:
            resume += 1
            at, position = star + 1, resume
        else:
            return False
    return not pattern[at:].strip("*")


def _match_one(pattern: str, at: int, character: str) -> int:
    """Return how many characters of the pattern match one character of the name, 0 when they do not."""
    if at >= len(pattern):
        return 0
    if pattern[at] == "[":
        closing = pattern.find("]", at + 2, at + 100)
        if closing > 0:
            inside = pattern[at + 1 : closing]
            wanted = not inside.startswith(("!", "^"))
            found = _in_class(inside if wanted else inside[1:], character)
            return closing + 1 - at if found is wanted else 0
    if pattern[at] == "\\" and at + 1 < len(pattern):
        return 2 if pattern[at + 1] == character else 0
    return 1 if pattern[at] in {"?", character} else 0


def _in_class(inside: str, character: str) -> bool:
    at = 0
    while at < len(inside):
        if at + 2 < len(inside) and inside[at + 1] == "-":
            if inside[at] <= character <= inside[at + 2]:
                return True
            at += 3
        elif inside[at] == character:
            return True
        else:
            at += 1
    return False
