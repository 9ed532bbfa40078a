"""Puts tokens together that were split over string literals or shell variables.

Only looked at when the beginning of a token stands in the text, so ordinary texts do not pay for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from haltline.secrets.patterns import compiled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PIECE = r"(?<![A-Za-z0-9_])([\"'`])([A-Za-z0-9_.+/=\-]{2,512})\1(?![ \t]*:)"
_FURTHEST = 96
_MOST_PIECES = 256
_ASSIGNED = (
    r"(?:^|[\s;&|({])(?:export[ \t]+|local[ \t]+"
    r"|declare[ \t]+)?([A-Za-z_][A-Za-z0-9_]{0,63})=[\"']?([A-Za-z0-9_.+/=\-]{1,512})"
)
_REFERENCES = r"(?:\$\{?[A-Za-z_][A-Za-z0-9_]{0,63}\}?[\"']{0,2}){2,16}"
_REFERENCE = r"\$\{?([A-Za-z_][A-Za-z0-9_]{0,63})\}?"


_LEAF = r"[A-Za-z0-9_.+/=\-]{6,512}"
_MOST_LEAVES_JOINED = 8


class Piece(NamedTuple):
    """A part of something that was split, and where it stands."""

    text: str
    start: int
    end: int


def joined_pieces(text: str) -> Iterator[Sequence[Piece]]:
    """Yield groups of pieces that a program may put together, in their order."""
    yield from _literals(text)
    if "$" in text and "=" in text:
        yield from _variables(text)


def _literals(text: str) -> Iterator[Sequence[Piece]]:
    """Yield runs of neighbouring string literals; names before a colon are left out."""
    group: list[Piece] = []
    for match in compiled(_PIECE).finditer(text):
        piece = Piece(match[2], *match.span(2))
        if group and (piece.start - group[-1].end > _FURTHEST or len(group) >= _MOST_PIECES):
            yield group
            group = []
        group.append(piece)
    yield group


def _variables(text: str) -> Iterator[Sequence[Piece]]:
    """Yield the values of shell variables that stand side by side, as in `$A$B`."""
    together = list(compiled(_REFERENCES).finditer(text))
    if not together:
        return
    values = {match[1]: Piece(match[2], *match.span(2)) for match in compiled(_ASSIGNED).finditer(text)}
    for references in together:
        names = re.findall(_REFERENCE, references[0])
        if all(name in values for name in names):
            yield [values[name] for name in names]


def covered(pieces: Sequence[Piece], start: int, end: int) -> list[Piece]:
    """Return the pieces that a span of their concatenation touches."""
    touched = []
    position = 0
    for piece in pieces:
        if position < end and position + len(piece.text) > start:
            touched.append(piece)
        position += len(piece.text)
    return touched


def neighbouring_leaves(
    leaves: Sequence[str], starts: frozenset[str]
) -> Iterator[tuple[int, Sequence[Piece]]]:
    """Yield runs of neighbouring texts that could be parts of one token, each with the number of its first.

    Args:
        leaves: the texts of an object, in order.
        starts: the first three characters of every literal; only there a token can begin.
    """
    pattern = compiled(_LEAF)
    for index, leaf in enumerate(leaves):
        if leaf[:3] not in starts or pattern.fullmatch(leaf) is None:
            continue
        pieces = []
        for text in leaves[index : index + _MOST_LEAVES_JOINED]:
            if pattern.fullmatch(text) is None:
                break
            pieces.append(Piece(text, 0, len(text)))
        if len(pieces) > 1:
            yield index, pieces
