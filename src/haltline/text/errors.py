"""Compares and classifies error messages.

Two failures are the same failure when their messages differ only in what changes from run to run; so numbers,
times, paths and identifiers are masked before messages are compared.
"""

from __future__ import annotations

import re
from functools import cache

from haltline.text.error_patterns import PHRASES, ErrorClass

__all__ = ["ErrorClass", "classify_error", "headline", "mask_volatile", "names_in", "similarity"]

MAXIMUM_COMPARED = 2_000
MAXIMUM_CLASSIFIED = 20_000
_MINIMUM_HEADLINE = 12

# In this order; every expression is one bounded run between literals, so each pass is linear.
_VOLATILE = (
    (r"\x1b\[[0-9;]{0,20}[A-Za-z]", ""),
    (r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b", "<uuid>"),
    (
        (
            r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]{1,9})?)?"
            r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?\b"
        ),
        "<time>",
    ),
    (r"\b[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?\b", "<time>"),
    (r"\b0x[0-9a-fA-F]{1,64}\b", "<hex>"),
    (
        r"(?:(?<=[\s\"'(=:])|^)(?:file://|[A-Za-z]:)?(?:\.{0,2}|~)[/\\](?:[\w.@+\-]{1,255}[/\\]?){1,64}",
        "<path>",
    ),
    (r"\b(?:[\w.@+\-]{1,255}/){1,32}[\w.@+\-]{1,255}\.[A-Za-z]{1,5}\b", "<path>"),
    (r"\b(?=[0-9a-f]{0,63}[0-9])[0-9a-f]{7,64}\b", "<hex>"),
    (r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?\b", "<address>"),
    (r"[0-9]+(?:\.[0-9]+)*", "<n>"),
    (r"[ \t\r\f\v]+", " "),
)
_QUOTED = r"[\"'`‘“]([^\"'`’”\n]{1,200})[\"'`’”]"
_FILE = (
    r"(?<![\w])((?:[\w.@+\-]{1,100}[/\\]){0,16}"
    r"[\w@+\-]{1,100}(?:\.[\w\-]{1,20}){0,3}\.[A-Za-z][A-Za-z0-9]{0,7})(?![\w])"
)
_CALL = r"\b([A-Za-z_$][\w$]{2,80})\("
_MODULE = (
    r"\b(?:module|package|import|symbol|variable|function|method|table|column|relation)(?: named)?"
    r"[ :]{1,3}([\w.$@/\-]{2,120})"
)
_IDENTIFIER = r"[A-Za-z_$@./][\w.$@/\\:\-]{1,160}"
_EXCEPTION = r"(?:[\w.]{0,120}(?:Error|Exception|Warning|Interrupt)|[a-z]{1,3}|[A-Z]{1,2})"
_ERROR_LINE = (
    r"(?i)(?:^|[\s\[(])(?:[\w.:]{0,80}(?:error|exception)\b|fatal|panic|failed|failure|cannot|can't|denied)"
)

# Words that messages quote without naming anything.
_EMPTY_WORDS = """
null undefined none nil true false string str int integer float number object list dict array bool boolean
function nonetype bytes tuple error exception traceback self this main module test the and not file line utf-8
expected received actual named
"""
_EMPTY_NAMES = frozenset(_EMPTY_WORDS.split())


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def mask_volatile(text: str) -> str:
    """Return a text with what changes from run to run replaced by its kind.

    Masked are times, UUIDs, addresses in memory, hexadecimal digests, paths, network addresses and numbers
    (process ids, ports, line numbers, sizes). Terminal colours and repeated blanks vanish.
    """
    for expression, kind in _VOLATILE:
        text = _compiled(expression).sub(kind, text)
    return text.strip()


def headline(text: str) -> str:
    """Return the line of an error message that says what went wrong.

    For a Python traceback that is the last line; else the first line that speaks of an error; else the
    first.
    """
    lines = [line.strip() for line in text[:MAXIMUM_CLASSIFIED].splitlines() if line.strip()]
    if not lines:
        return ""
    if any(line.startswith("Traceback (most recent call last)") for line in lines[:200]):
        return lines[-1]
    return next((line for line in lines if _compiled(_ERROR_LINE).search(line[:500])), lines[0])


def similarity(first: str, second: str) -> float:
    """Return how alike two error messages are, from 0 (nothing in common) to 1 (the same).

    The lines that say what went wrong are compared when both messages have one of some length, else all;
    after masking, on at most 2,000 characters, as a normalised indel similarity.
    """
    one, other = headline(first), headline(second)
    if min(len(one), len(other)) < _MINIMUM_HEADLINE:
        one, other = first, second
    one = mask_volatile(one[: 2 * MAXIMUM_COMPARED])[:MAXIMUM_COMPARED]
    other = mask_volatile(other[: 2 * MAXIMUM_COMPARED])[:MAXIMUM_COMPARED]
    if one == other:
        return 1.0
    from rapidfuzz import fuzz  # noqa: PLC0415 - loaded only where two different messages are compared

    return fuzz.ratio(one, other) / 100


def classify_error(text: str) -> ErrorClass:
    """Return the class of an error message, `ErrorClass.UNKNOWN` when no phrase of the table is in it.

    The line that says what went wrong decides; only if it belongs to no class does the rest of the message
    (its first and last 10,000 characters). `ErrorClass.infrastructure` tells whether the agent can help it.
    """
    if len(text) > MAXIMUM_CLASSIFIED:
        half = MAXIMUM_CLASSIFIED // 2
        text = f"{text[:half]}\n{text[-half:]}"
    for part in (headline(text), text):
        lowered = part.lower()
        for error_class, phrases in PHRASES:
            if any(phrase in lowered for phrase in phrases):
                return error_class
    return ErrorClass.UNKNOWN


def names_in(text: str) -> frozenset[str]:
    """Return what an error message names: quoted identifiers, files, modules, functions; in lower case.

    Two errors that name the same thing may be cause and effect. Types of exceptions, literals and words that
    any message may contain are left out. A file is named by its last component.
    """
    text = text[:MAXIMUM_CLASSIFIED]
    found: set[str] = set()
    for expression in (_QUOTED, _FILE, _CALL, _MODULE):
        for match in _compiled(expression).finditer(text):
            name = match[1].strip().strip(".:")
            if _compiled(_IDENTIFIER).fullmatch(name) and not _compiled(_EXCEPTION).fullmatch(name):
                found.add(re.split(r"[/\\]", name)[-1].lower())
    return frozenset(name for name in found if len(name) > 1 and name not in _EMPTY_NAMES)
