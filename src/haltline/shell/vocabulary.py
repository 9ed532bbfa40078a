"""Sets of command words, written as the text that a person would read."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, separated by blanks, as a set."""
    return frozenset(text.split())
