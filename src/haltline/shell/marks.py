"""The characters that stand for what an expansion leaves open; none of them can occur in a Bash word.

`display` turns a text that may hold them into one that a person can read.
"""

from __future__ import annotations

import re

UNKNOWN = "\x00"  # a value that nobody assigned in the text: anything, and perhaps nothing
PRESENT = "\x02"  # a value that nobody knows, but that is not empty
TEMPORARY_HINT = "\x05"  # follows UNKNOWN where the variable's name says that it is a temporary place
OWN_KEY = "\x06"  # follows UNKNOWN where the variable holds the key of a person or agent at Haltline
SECRET_VALUE = "\x07"  # noqa: S105  a mark that follows UNKNOWN: a variable of a sourced file of credentials
HOME = "\x03"  # the home directory of whoever runs the command

_SPOKEN: dict[int, str | None] = {
    ord(UNKNOWN): "…",
    ord(PRESENT): "…",
    ord(HOME): "~",
    ord(TEMPORARY_HINT): None,
    ord(OWN_KEY): None,
    ord(SECRET_VALUE): None,
}
_CONTROL = {
    ord(mark): "\N{REPLACEMENT CHARACTER}"
    for mark in (UNKNOWN, PRESENT, HOME, TEMPORARY_HINT, OWN_KEY, SECRET_VALUE)
}
_ANY = re.compile("[\x00\x02\x03\x05\x06\x07]")


def display(text: str) -> str:
    """Return the text with its marks written as a person would: `~` for home, `…` for what is not known."""
    # no mark is printable, and asking for that costs a fifth of the search
    return text if text.isprintable() or _ANY.search(text) is None else text.translate(_SPOKEN)


def without_marks(text: str) -> str:
    """Return a text from outside in which nothing can be taken for a mark."""
    return text if text.isprintable() or _ANY.search(text) is None else text.translate(_CONTROL)


def known(text: str) -> bool:
    """Return whether the text holds no unknown part."""
    return UNKNOWN not in text and PRESENT not in text


def undecided(text: str) -> bool:
    """Return whether nothing of the text is known."""
    return not known(text) and not text.strip(UNKNOWN + PRESENT + SECRET_VALUE + " ")
