"""Finds vendor tokens in linear time.

Tokens are long and hold no blanks. So only words of sixteen characters and more are looked at, and in them
one expression looks for the documented literals where a token can begin; on nearly every text that ends it.
Where a literal stands, one bounded, anchored expression is matched and an offline check decides the tier.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from haltline.secrets.model import UNSCANNED, Format, Hit, Tier
from haltline.secrets.patterns import compiled
from haltline.secrets.placeholders import is_filler, is_placeholder, is_sequence
from haltline.secrets.validators import VALIDATORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from haltline.secrets.words import LongWords

_BLOB = r"[A-Za-z0-9+/=_-]{1024,}"
_BLOB_LENGTH = 1024
# More tokens than this in one text are no longer told apart: the rest counts as one that was not looked at.
MAXIMUM_HITS = 1000
_STRONG_LITERAL = 6
_CHECKED = frozenset({"crc32-hex", "discord", "github", "jwt", "pypi"})


class _Candidate(NamedTuple):
    """One format at one of its literals.

    Attributes:
        form: the format.
        literal: where the match begins; shorter than the literal found when that begins with it.
        expression: the literal and what follows it.
        lead: what precedes the literal, up to it; empty when the token begins with the literal.
    """

    form: Format
    literal: str
    expression: str
    lead: str


class _Catalogue(NamedTuple):
    """The formats, arranged for searching.

    Attributes:
        expression: finds, after any character that is no letter and no digit, a literal that begins a token.
        by_literal: what to try at each literal, longer literals first.
        needles: literals that stand inside tokens.
        spaced: literals that hold a blank.
    """

    expression: re.Pattern[str]
    by_literal: dict[str, tuple[_Candidate, ...]]
    needles: tuple[str, ...]
    spaced: tuple[str, ...]


def trie_expression(literals: Iterable[str]) -> str:
    """Return one expression that matches any of some literals, longest first, without trying each in turn."""
    tree: dict[str, dict[str, str]] = {}
    for literal in sorted(set(literals)):
        tree.setdefault(literal[:1], {})[literal[1:]] = ""
    branches = []
    for first, rests in tree.items():
        longer = [rest for rest in rests if rest]
        tail = trie_expression(longer) if longer else ""
        branches.append(re.escape(first) + (f"{tail}?" if tail and "" in rests else tail))
    return f"(?:{'|'.join(branches)})"


@cache
def _catalogue() -> _Catalogue:
    from haltline.secrets.formats import FORMATS  # noqa: PLC0415 - the tables load with the first scan

    literals = {literal for form in FORMATS for literal in form.literals}
    inside = {literal for form in FORMATS if form.lead for literal in form.literals}
    by_literal = {
        literal: tuple(
            _candidate(form, begun)
            for begun in sorted(literals, key=len, reverse=True)
            if literal.startswith(begun)
            for form in FORMATS
            if begun in form.literals
        )
        for literal in literals
    }
    spaced = tuple(literal for literal in literals if " " in literal)
    # A token begins where no letter or digit stands before it: `task-…` is not `sk-…`. Only that character
    # is consumed, since the last one of a literal may be what the next one follows.
    expression = f"[^A-Za-z0-9](?=({trie_expression(literals - inside - set(spaced))}))"
    return _Catalogue(re.compile(expression), by_literal, tuple(inside), spaced)


@cache
def literal_starts() -> frozenset[str]:
    """Return the first three characters of every literal that begins a token."""
    return frozenset(
        literal[:3]
        for literal, candidates in _catalogue().by_literal.items()
        if not all(candidate.lead for candidate in candidates)
    )


def is_literal(text: str) -> bool:
    """True when a text is a literal of some format, as in a table of formats."""
    return text in _catalogue().by_literal


def _candidate(form: Format, literal: str) -> _Candidate:
    lead = rf"(?<![A-Za-z0-9]){form.lead}\Z" if form.lead else ""
    return _Candidate(form, literal, re.escape(literal) + f"(?:{form.body}){form.right}", lead)


class Tokens(NamedTuple):
    """What was found in one text.

    Attributes:
        hits: the tokens, in no particular order; the same token may be matched twice.
        begun: where a literal stands that no token follows; the rest may stand elsewhere.
    """

    hits: list[Hit]
    begun: list[int]


def find_tokens(words: LongWords) -> Tokens:
    """Return the vendor tokens of a text."""
    catalogue = _catalogue()
    text = words.text
    tokens = Tokens([], [])
    blobs = _Blobs(text)
    for start, literal in _literals(words, catalogue):
        for candidate in catalogue.by_literal[literal]:
            if _is_weak(candidate) and blobs.cover(start):
                continue
            hit = _match(text, start, candidate)
            if hit is not None:
                tokens.hits.append(hit)
                break
        else:
            tokens.begun.append(start)
        if len(tokens.hits) >= MAXIMUM_HITS:
            tokens.hits.append(Hit(UNSCANNED, Tier.FORMAT, start, len(text), text[start:]))
            break
    return tokens


def _literals(words: LongWords, catalogue: _Catalogue) -> Iterator[tuple[int, str]]:
    joined = words.joined
    if len(joined) > 1:
        for found in catalogue.expression.finditer(joined):
            yield words.place(found.start() + 1), found[1]
        for needle in catalogue.needles:
            if needle in joined:
                yield from _everywhere(words.text, needle)
    for literal in catalogue.spaced:
        if literal in words.text:
            for position, _ in _everywhere(words.text, literal):
                if not words.text[position - 1 : position].isalnum():
                    yield position, literal


def _everywhere(text: str, literal: str) -> Iterator[tuple[int, str]]:
    position = text.find(literal)
    while position >= 0:
        yield position, literal
        position = text.find(literal, position + len(literal))


class _Blobs:
    """The long base64 runs of a text, found when they are first asked for."""

    __slots__ = ("_starts", "_stops", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] | None = [] if len(text) < _BLOB_LENGTH else None
        self._stops: list[int] = []

    def cover(self, position: int) -> bool:
        """True when a position lies inside one of them."""
        if self._starts is None:
            spans = [match.span() for match in compiled(_BLOB).finditer(self._text)]
            self._starts = [start for start, _ in spans]
            self._stops = [stop for _, stop in spans]
        index = bisect_right(self._starts, position) - 1
        return index >= 0 and position < self._stops[index]


def _is_weak(candidate: _Candidate) -> bool:
    """True when a literal is short enough to occur in random base64, and no checksum guards it."""
    return len(candidate.literal) < _STRONG_LITERAL and candidate.form.validator not in _CHECKED


def _match(text: str, position: int, candidate: _Candidate) -> Hit | None:
    match = compiled(candidate.expression).match(text, position)
    if match is None:
        return None
    form = candidate.form
    start, end = match.span(form.group)
    if form.lead:
        begin = max(0, start - form.lead_limit - 1)
        lead = compiled(candidate.lead).search(text[begin:start])
        if lead is None:
            return None
        start = begin + lead.start()
    value = text[start:end]
    tier = VALIDATORS[form.validator](value) if form.validator else form.tier
    if tier is None or tier is Tier.PROOF:
        return None if tier is None else Hit(form.kind, tier, start, end, value)
    random_part = value if form.group or form.lead else value[len(candidate.literal) :]
    if is_filler(random_part):
        return None
    if is_sequence(random_part):
        tier = Tier.CONTEXT
    elif is_placeholder(random_part):
        return None
    return Hit(form.kind, tier, start, end, value)
