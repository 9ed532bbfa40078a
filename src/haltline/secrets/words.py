"""The long words of a text: the only places where a token can be, and a fifth of the text to search."""

from __future__ import annotations

SHORTEST_TOKEN = 16


class LongWords:
    """The words of a text that are long enough for a token.

    Splitting at blanks is many times faster than any expression, so expressions search `joined` and what they
    find is placed in the text afterwards, which is seldom needed.

    Attributes:
        text: the whole text.
        joined: its words of sixteen characters and more, in order, each after one blank.
        words: all of them, of any length.
    """

    __slots__ = ("_begin", "_end", "_offset", "joined", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        words = self.words = text.split()
        self.joined = " " + " ".join([word for word in words if len(word) >= SHORTEST_TOKEN])
        self._begin = self._end = self._offset = 0

    def place(self, position: int) -> int:
        """Return where a character of `joined` stands in the text; fast for positions in ascending order."""
        if not self._begin <= position < self._end:
            self._go_to(position)
        return position + self._offset

    def _go_to(self, position: int) -> None:
        cursor = self._end + self._offset if position >= self._end else 0
        self._begin = self.joined.rfind(" ", 0, position + 1) + 1
        end = self.joined.find(" ", self._begin)
        self._end = end if end >= 0 else len(self.joined)
        word = self.joined[self._begin : self._end]
        start = self.text.find(word, cursor)
        while not self._stands_alone(start, start + len(word)):
            start = self.text.find(word, start + 1)
        self._offset = start - self._begin

    def _stands_alone(self, start: int, end: int) -> bool:
        before, after = self.text[start - 1 : start], self.text[end : end + 1]
        return (start == 0 or before.isspace()) and (not after or after.isspace())
