"""Reads instructions into slots and finds those that contradict each other.

Precision comes first: a contradiction is reported only when two unconditional clauses ask for opposite things
of the same object in the same scope, for incompatible numbers of the same thing, or for the two sides of one
antinomy. What needs knowledge of the world ("Python 3.8" and "match statements") is not seen.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from haltline.text.instruction_lexicon import (
    ANTINOMIES,
    CONDITIONS,
    DIRECTED_VERBS,
    EMPTY_SCOPES,
    EMPTY_WORDS,
    NEGATIONS,
    OWN_MEANING_UNITS,
    PRODUCTS,
    UNITS,
    VERB_CLASSES,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAXIMUM_INSTRUCTION = 8_000
MAXIMUM_CLAUSES = 64
_MAXIMUM_QUOTE = 300

_CLASS_OF_VERB = {form: name for name, forms in VERB_CLASSES.items() for form in forms}
_SPLIT = (
    r"(?<=[.!?;])\s+|\n+|;\s*|,?\s+but\s+"
    r"|,?\s+and\s+(?=(?:never|always|do not|don't|must|should)\b)|,\s+(?=(?:never|always|do not|don't)\b)"
)
_PATH = (
    r"(?<![\w/])(?:[\w.@*\-]{0,80}/[\w.@*/\-]{0,200}|[\w\-]{1,80}\.(?:py|js|ts|tsx|jsx|go|rs|java"
    r"|rb|json|ya?ml|toml|md|txt|sh|sql|css|html|cfg|ini|lock|env)|\.[a-z][\w.\-]{2,40})"
)
_SCOPE = (
    r"\b(in|on|under|inside|within|to|into|for|from)\s+(?:the\s+|our\s+|your\s+"
    r"|all\s+)?([\w.\-/]{1,80})(?:\s+(?:branch|folder|directory|module|package|service|files?"
    r"|environment|tests?))?"
)
_WORD = r"[a-z][a-z0-9_'+.\-]*[a-z0-9+]|[a-z]"
_TIME = r"\b(?:now|later|today|tomorrow|immediately|first|last|finally|next|tonight|eventually|right away)\b"
_BOUND = (
    r"(?:(at most|max(?:imum)?(?: of)?|no more than|not exceed|up to|under|less than|fewer than"
    r"|within|limit(?:ed)? to)|(at least|min(?:imum)?(?: of)?|no less than|no fewer than|more than"
    r"|over))?"
)
_NUMBER_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ten": 10}


class Quantity(NamedTuple):
    """A number that an instruction asks for, as the interval of what it allows.

    `unit` is a unit of measure, or "version" with the product's name in `of`.
    """

    unit: str
    low: float
    high: float
    of: str = ""


class Slot(NamedTuple):
    """What one clause of an instruction says.

    Attributes:
        text: the clause, quoted.
        positive: false when the clause forbids.
        verb: class of its verb (`edit`, `push`), empty when it has none of the table.
        object: the words of what it is about, without endings and empty words.
        scope: paths, and names after "in", "to", "for".
        quantities: numbers and versions that it asks for.
        condition: the words that limit it ("unless …"), empty when it holds always.
        time: when, in its own word.
    """

    text: str
    positive: bool
    verb: str
    object: frozenset[str]
    scope: frozenset[str]
    quantities: tuple[Quantity, ...] = ()
    condition: str = ""
    time: str = ""


class Conflict(NamedTuple):
    """Two instructions that cannot both be followed.

    Attributes:
        earlier: the clause that came first, quoted.
        later: the clause that came after it, quoted.
        slot: what they disagree on: a verb class, a unit, or the name of an antinomy.
        earlier_index: number of the instruction that holds the earlier clause.
        later_index: likewise for the later one.
    """

    earlier: str
    later: str
    slot: str
    earlier_index: int
    later_index: int


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def parse(instruction: str) -> tuple[Slot, ...]:
    """Return what an instruction's clauses say; at most 64 clauses of its first 8,000 characters are read."""
    text = instruction[:MAXIMUM_INSTRUCTION].replace("’", "'")
    clauses = [clause.strip(" \t-*•,.;") for clause in _compiled(_SPLIT).split(text)]
    return tuple(_slot(clause) for clause in clauses if clause)[:MAXIMUM_CLAUSES]


def _slot(clause: str) -> Slot:
    lowered = clause.lower()
    condition = _compiled(rf"\b(?:{CONDITIONS})\b.*").search(lowered)
    main = lowered[: condition.start()] if condition else lowered
    negation = _compiled(rf"(?<!if )\b(?:{NEGATIONS})\b").search(main)
    start = negation.end() if negation else 0
    verb, after = _verb(main, start)
    if not verb and negation:
        verb, after = _verb(main, 0)
    negative = bool(negation) or _compiled(r"^no\s").match(main) is not None
    paths = frozenset(path.strip("./") for path in _compiled(_PATH).findall(main))
    scopes = {
        match[2] for match in _compiled(_SCOPE).finditer(main) if match[1] != "to" or verb in DIRECTED_VERBS
    }
    scopes -= EMPTY_WORDS | EMPTY_SCOPES
    scopes = {scope for scope in scopes if scope.strip("./") not in paths and not scope.isdigit()}
    time = _compiled(_TIME).search(main)
    return Slot(
        clause[:_MAXIMUM_QUOTE],
        not negative,
        verb,
        _content(main[after:], paths, scopes),
        paths | frozenset(scopes),
        tuple(_quantities(main)),
        condition[0] if condition else "",
        time[0] if time else "",
    )


def _verb(text: str, start: int) -> tuple[str, int]:
    """Return the class of the first known verb from a position, and where it ends."""
    for match in _compiled(_WORD).finditer(text, start):
        name = _CLASS_OF_VERB.get(match[0]) or _CLASS_OF_VERB.get(_without_ending(match[0]))
        if name:
            return name, match.end()
    return "", start


def _without_ending(word: str) -> str:
    """Return a word without its commonest endings, so that `files` and `file` compare equal."""
    for ending, replacement in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):  # noqa: PLR2004 - shorter stems lose their meaning
            stem = word[: len(word) - len(ending)] + replacement
            return stem[:-1] if ending == "ing" and stem[-1:] == stem[-2:-1] else stem
    return word


def _content(text: str, paths: frozenset[str], scopes: set[str]) -> frozenset[str]:
    text = _compiled(_PATH).sub(" ", text) if paths else text
    words = (match[0] for match in _compiled(_WORD).finditer(text))
    kept = {_without_ending(word) for word in words if word not in EMPTY_WORDS and word not in scopes}
    prepositions = {"in", "on", "under", "inside", "within", "to", "into", "for", "from", "not", "no"}
    return frozenset(kept - prepositions - EMPTY_WORDS)


def _quantities(text: str) -> Iterator[Quantity]:
    for match in _compiled(
        rf"{_BOUND}\s*(?<![\w.])(\d{{1,9}}(?:\.\d{{1,4}})?|one|two|three|four|five|six|eight"
        rf"|ten)[ -]?({UNITS})\b"
    ).finditer(text):
        number = float(_NUMBER_WORDS.get(match[3], 0) or match[3])
        yield _interval(match[4], number, upper=bool(match[1]), lower=bool(match[2]))
    for match in _compiled(
        rf"(?<![\w.])({PRODUCTS})\s+(?:version\s+)?v?(\d{{1,4}}(?:\.\d{{1,3}})?)(\+|\s+or (?:later"
        rf"|newer|above|higher))?"
    ).finditer(text):
        major, _, minor = match[2].partition(".")
        version = int(major) + int(minor or 0) / 1000
        top = math.inf if match[3] else version if minor else version + 0.999
        yield Quantity("version", version, top, match[1])


def _interval(unit: str, number: float, *, upper: bool, lower: bool) -> Quantity:
    unit = {"chars": "characters", "columns": "characters", "%": "percent", "attempts": "retries"}.get(
        unit, unit
    )
    if upper:
        return Quantity(unit, 0, number)
    return Quantity(unit, number, math.inf if lower else number)


def conflicts(instructions: Sequence[str]) -> tuple[Conflict, ...]:
    """Return the contradictions among instructions, given in the order in which they were spoken.

    Each pair of instructions is reported once, for the first slot that they disagree on. A clause with a
    condition ("unless", "except", "only", "until") is an exception and contradicts nothing.
    """
    clauses = [(index, slot) for index, text in enumerate(instructions) for slot in parse(text)]
    found: dict[tuple[int, int], Conflict] = {}
    for number, (later_index, later) in enumerate(clauses):
        for earlier_index, earlier in clauses[:number]:
            pair = earlier_index, later_index
            if earlier_index == later_index or pair in found:
                continue
            slot = _disagreement(earlier, later)
            if slot:
                found[pair] = Conflict(earlier.text, later.text, slot, *pair)
    return tuple(found.values())


def _disagreement(earlier: Slot, later: Slot) -> str:
    if not earlier.condition and not later.condition:
        if _opposite(earlier, later):
            return earlier.verb
        quantity = _incompatible_quantity(earlier, later)
        if quantity:
            return quantity
    return _antinomy(earlier, later)


def _opposite(one: Slot, other: Slot) -> bool:
    """True when one clause forbids what the other one asks for.

    What is asked for must lie wholly in what is forbidden: "never commit generated files" leaves "commit the
    fix" alone, and "do not push to main" leaves "push the branch" alone.
    """
    if one.positive is other.positive or not one.verb or one.verb != other.verb:
        return False
    asked, forbidden = (one, other) if one.positive else (other, one)
    if not forbidden.object <= asked.object:
        return False
    if (
        not forbidden.object
        and not forbidden.scope
        and asked.verb in {"use", "add", "write", "keep", "expose"}
    ):
        return False
    return not forbidden.scope or _overlap(asked.scope, forbidden.scope)


def _overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    return any(_within(first, second) or _within(second, first) for first in one for second in other)


def _within(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith(outer.rstrip("/*") + "/")


def _incompatible_quantity(one: Slot, other: Slot) -> str:
    if not (one.positive and other.positive):
        return ""
    for first in one.quantities:
        for second in other.quantities:
            if (first.unit, first.of) != (second.unit, second.of):
                continue
            if not (first.high < second.low or second.high < first.low):
                continue
            shared = (one.object & other.object) - {_without_ending(first.unit)}
            same_scope = one.scope == other.scope or _overlap(one.scope, other.scope)
            if same_scope and (shared or first.unit in OWN_MEANING_UNITS):
                return first.of or first.unit
    return ""


def _antinomy(one: Slot, other: Slot) -> str:
    if one.scope != other.scope and not _overlap(one.scope, other.scope):
        return ""
    for antinomy in ANTINOMIES:
        sides = _side(antinomy.first, antinomy.second, one), _side(antinomy.first, antinomy.second, other)
        if set(sides) == {1, 2}:
            return antinomy.name
    return ""


def _side(first: str, second: str, slot: Slot) -> int:
    """Return 1 or 2 for the side of an antinomy that a clause asks for, 0 for none or both."""
    asked = [_asks_for(side, slot) for side in (first, second)]
    if asked[0] == asked[1]:
        return 0
    return 1 if asked[0] else 2


def _asks_for(side: str, slot: Slot) -> bool:
    text = slot.text.lower()
    match = _compiled(rf"(?<![\w-])(?:{side})(?![\w-])").search(text)
    if match is None or _forbidden(text, match):
        return False
    # "Ask me before …" and "only the standard library" hold their condition word as part of the phrase.
    rest = text[match.end() :]
    limited = slot.condition and not _compiled(rf"\b(?:{CONDITIONS})\b").search(match[0])
    return not limited and _compiled(r"\b(?:unless|except|until|if)\b").search(rest) is None


def _forbidden(text: str, match: re.Match[str]) -> bool:
    """True when a negation stands before a phrase that has none of its own."""
    own = _compiled(rf"^(?:{NEGATIONS}|no)\b").match(match[0])
    before = text[max(0, match.start() - 40) : match.start()]
    return (
        own is None
        and _compiled(rf"\b(?:{NEGATIONS}|no|instead of|over|rather than)\b").search(before) is not None
    )
