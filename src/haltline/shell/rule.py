"""One rule, and its conditions as they are compiled for a program."""

from __future__ import annotations

import re
from fnmatch import translate

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from haltline.shell.options import Options
    from haltline.shell.trigger import Need


_WILD = re.compile(r"[*?\[\]]")
# Patterns by their text: rules share many, and each is compiled when it first decides something. Compiling
# one takes 100 to 400 µs, longer than the whole analysis of a command.
_patterns: dict[str, re.Pattern[str]] = {}


def _compiled(pattern: str) -> re.Pattern[str]:
    found = _patterns.get(pattern)
    if found is None:
        found = _patterns[pattern] = re.compile(pattern)
    return found


class Names:
    """The names that a word may have, some with wildcards; beginnings and ends need no regular expression."""

    __slots__ = ("ends", "exact", "pattern", "starts")

    def __init__(self, names: Sequence[str]) -> None:
        starts, ends, exact, others = [], [], [], []
        for name in names:
            if not _has_pattern(name):
                exact.append(name)
            elif not _has_pattern(name[:-1]) and name[-1] == "*":
                starts.append(name[:-1])
            elif not _has_pattern(name[1:]) and name[0] == "*":
                ends.append(name[1:])
            else:
                others.append(name)
        self.exact = frozenset(exact)
        self.starts = tuple(starts)
        self.ends = tuple(ends)
        self.pattern = "|".join(translate(name) for name in others)

    def __contains__(self, word: str) -> bool:
        return (
            word in self.exact
            or word.startswith(self.starts)
            or word.endswith(self.ends)
            or (self.pattern != "" and _compiled(self.pattern).match(word) is not None)
        )


class Rule:
    """One rule: what it is called, what it decides, and how it explains itself.

    Attributes:
        rule_id: `family.name`.
        decision: `deny` or `ask`.
        reason: what would happen, in one sentence.
        advice: what to do instead.
        effect: the kind of effect, as in `EffectKind`.
        reversible: whether the effect can be undone without a backup.
        examples: command lines by the decision that is expected for them.
    """

    __slots__ = ("advice", "decision", "effect", "examples", "reason", "reversible", "rule_id", "when")

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.rule_id: str = raw["id"]
        self.decision: str = raw["decision"]
        self.reason: str = raw["reason"]
        self.advice: str = raw["advice"]
        self.effect: str = raw["effect"]
        self.reversible: bool = raw.get("reversible", False)
        self.examples: Mapping[str, Sequence[str]] = raw["examples"]
        self.when: Sequence[Mapping[str, Any]] = raw.get("when", ())


class Condition:
    """One alternative of a rule's `when`; compiled when it is first tried, as most never are."""

    __slots__ = (
        "argument",
        "compiled",
        "least",
        "none",
        "options",
        "raw",
        "rule",
        "values",
        "without",
        "words",
    )

    def __init__(self, rule: Rule, raw: Mapping[str, Any]) -> None:
        self.rule = rule
        self.raw = raw
        self.compiled = False
        self.words: list[frozenset[str] | Names | None] = []
        self.options: list[tuple[str, ...]] = []
        self.without: tuple[str, ...] = ()
        self.values: list[tuple[tuple[str, ...], str]] = []
        self.argument: str | None = None
        self.least: int = 0
        self.none: bool = False

    def compile(self) -> None:
        """Make what `holds` looks at."""
        raw = self.raw
        self.compiled = True
        self.words = [_word_test(token) for token in raw.get("words", "").split()]
        self.options = [tuple(group.split("|")) for group in raw.get("options", "").split()]
        self.without = tuple(raw.get("without", "").replace("|", " ").split())
        self.values = [(tuple(n.split("|")), p) for n, p in raw.get("value", {}).items()]
        self.argument = raw.get("argument")
        self.least = raw.get("least", 0)
        self.none = raw.get("none", False)

    def first_words(self) -> Sequence[str] | None:
        """Return the words of which the first must be one, or None when it may be others."""
        first = self.raw.get("words", "").partition(" ")[0]
        return None if not first or _has_pattern(first) else first.split("|")

    def needs(self) -> Need | None:
        """Return what every command that the condition holds for contains; None when that is not known.

        The longest of the words and options that it names says most; of a group the shortest name counts.
        """
        raw = self.raw
        size, best = 0, None
        for word in raw.get("words", "").split():
            names = word.split("|")
            literals = [max(_WILD.split(name), key=len) for name in names] if _has_pattern(word) else names
            shortest = min(map(len, literals))
            if shortest and shortest >= size:
                size, best = shortest, (names, literals)
        for group in (*raw.get("options", "").split(), *raw.get("value", ())):
            names = group.split("|")
            shortest = min(map(len, names))
            if shortest >= size:
                size, best = shortest, (names, None)
        return best

    def holds(self, options: Options, verbs: frozenset[str] = frozenset()) -> int:  # noqa: C901  one check for each key
        """Return how many words were used by the match, or -1; nothing is skipped past one of the `verbs`."""
        if not self.compiled:
            self.compile()
        used = _match_words(self.words, options.words, verbs)
        if used < 0:
            return -1
        for group in self.options:
            if not options.has(*group):
                return -1
        if self.without and options.has(*self.without):
            return -1
        for names, pattern in self.values:
            if not any(_compiled(pattern).search(value) for value in options.all_values(*names)):
                return -1
        rest = options.words[used:]
        if self.none and rest:
            return -1
        if len(rest) < self.least:
            return -1
        if self.argument is not None and not any(_compiled(self.argument).search(word) for word in rest):
            return -1
        return used


def _word_test(pattern: str) -> frozenset[str] | Names | None:
    """Return the names that a word may have, or None for `**` (any number of words)."""
    if pattern == "**":
        return None
    names = pattern.split("|")
    if not _has_pattern(pattern):
        return frozenset(names)
    return Names(names)


def _has_pattern(text: str) -> bool:
    return "*" in text or "?" in text or "[" in text


def _match_words(tests: list[frozenset[str] | Names | None], words: list[str], verbs: frozenset[str]) -> int:
    position, skipping = 0, False
    for test in tests:
        if test is None:
            skipping = True
            continue
        while True:
            if position >= len(words):
                return -1
            word = words[position]
            position += 1
            if word in test:
                break
            if not skipping or word in verbs:
                return -1
        skipping = False
    return position
