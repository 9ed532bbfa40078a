"""Finds vendor tokens in linear time.

Long token runs are found first; documented literals are looked for only inside those runs, all of them by
one expression; at each literal one bounded, anchored expression is matched; then an offline check decides
the tier.
Literals with other characters than a run's are looked for by plain substring search.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from haltline.secrets.model import Format, Hit, Tier
from haltline.secrets.patterns import compiled
from haltline.secrets.placeholders import is_placeholder, is_sequence
from haltline.secrets.validators import VALIDATORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_RUN = r"[A-Za-z0-9_.\-]{16,}"
_RUN_LITERAL = r"[A-Za-z0-9_.\-]+"
_BLOB = r"[A-Za-z0-9+/=_-]{1024,}"
_BLOB_LENGTH = 1024
_STRONG_LITERAL = 6
_CHECKED = frozenset({"crc32-hex", "discord", "github", "jwt", "pypi"})


class _Catalogue(NamedTuple):
    """The formats, arranged for searching."""

    expression: re.Pattern[str]
    by_literal: dict[str, tuple[Format, ...]]
    needles: tuple[str, ...]


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
    in_runs = {literal for literal in literals if compiled(_RUN_LITERAL).fullmatch(literal)}
    # A token begins where no letter or digit stands before it: `task-…` is not `sk-…`.
    expression = f"(?<![A-Za-z0-9]){trie_expression(in_runs - inside)}|{trie_expression(in_runs & inside)}"
    by_literal = {
        literal: tuple(
            form
            for begun in sorted(literals, key=len, reverse=True)
            if literal.startswith(begun)
            for form in FORMATS
            if begun in form.literals
        )
        for literal in literals
    }
    return _Catalogue(re.compile(expression), by_literal, tuple(sorted(literals - in_runs)))


@cache
def _bodies(form: Format) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (literal, re.compile(re.escape(literal) + form.body + form.right))
        for literal in sorted(form.literals, key=len, reverse=True)
    )


@cache
def _lead(form: Format) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){form.lead}\Z")


def find_tokens(text: str) -> list[Hit]:
    """Return the vendor tokens of a text, in no particular order; the same token may be matched twice."""
    catalogue = _catalogue()
    hits: list[Hit] = []
    blobs: list[tuple[int, int]] | None = None
    for start, literal in _literals(text, catalogue):
        for form in catalogue.by_literal[literal]:
            hit = _match(text, start, form)
            if hit is None:
                continue
            if _is_weak(form, literal) and len(text) >= _BLOB_LENGTH:
                blobs = _blobs(text) if blobs is None else blobs
                if any(begin <= start < end for begin, end in blobs):
                    continue
            hits.append(hit)
            break
    return hits


def _literals(text: str, catalogue: _Catalogue) -> Iterator[tuple[int, str]]:
    search = catalogue.expression.finditer
    for run in compiled(_RUN).finditer(text):
        for found in search(text, run.start(), run.end()):
            yield found.start(), found[0]
    for needle in catalogue.needles:
        position = text.find(needle)
        while position >= 0:
            yield position, needle
            position = text.find(needle, position + len(needle))


def _blobs(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in compiled(_BLOB).finditer(text)]


def _is_weak(form: Format, literal: str) -> bool:
    """True when a literal is short enough to occur in random base64, and no checksum guards it."""
    return len(literal) < _STRONG_LITERAL and form.validator not in _CHECKED


def _match(text: str, position: int, form: Format) -> Hit | None:
    for literal, body in _bodies(form):
        if text.startswith(literal, position):
            match = body.match(text, position)
            return None if match is None else _judge(text, match, form)
    return None


def _judge(text: str, match: re.Match[str], form: Format) -> Hit | None:
    start, end = match.span(form.group)
    if form.lead:
        begin = max(0, start - form.lead_limit - 1)
        lead = _lead(form).search(text[begin:start])
        if lead is None:
            return None
        start = begin + lead.start()
    value = text[start:end]
    tier = VALIDATORS[form.validator](value) if form.validator else form.tier
    if tier is None:
        return None
    if tier is not Tier.PROOF:
        random_part = value[max(map(len, form.literals)) if not form.group and not form.lead else 0 :]
        if is_placeholder(random_part or value):
            return None
        if is_sequence(random_part):
            tier = Tier.CONTEXT
    return Hit(form.kind, tier, start, end, value)
