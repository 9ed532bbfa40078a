"""The rule book: every program that is known, and the rules that speak of it.

Rules are data (`rules/*.json`); their form is described in `docs/shell.md` and is the same for a user's own
file. Files are read once, and the rules of a program are compiled when the program is first seen.
"""

from __future__ import annotations

import os
import re
from copy import copy
from importlib import import_module

from haltline.shell.detectors import DETECTORS, TRIGGERS
from haltline.shell.options import PLAIN, Grammar, Options
from haltline.shell.rule import Condition, Rule
from haltline.shell.trigger import Trigger
from haltline.shell.vocabulary import word_set

TYPE_CHECKING = False  # type checkers know the name; importing `typing` costs more than these modules
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from haltline.shell.call import Call, Flow
    from haltline.shell.engine import Engine
    from haltline.shell.own import OwnRules
    from haltline.shell.trigger import Need

    Detector = Callable[[Engine, Call], Flow | None]

# Making a trigger costs about 4 µs for each condition, and it saves 10 µs for a command: programs with many
# conditions get theirs when they have been seen often enough, and most processes judge a handful of commands.
CONDITIONS_FOR_A_SIGHT = 4
_GIT = "detectors.git:git"

_VERSIONED = re.compile(r"([a-z]+?)-?[0-9][0-9.]*\Z")
_VERSIONED_STEMS = word_set("python pip ruby perl php node lua pypy gcc clang java postgres pg_dump")
_BETWEEN = frozenset("@#:")
# A package that a runner fetches: `prisma@5`, `npm:prisma`, `nixpkgs#terraform`.
_FETCHED = re.compile(r"(?:npm:|[a-z][\w.-]*#)?([a-z][\w.+-]*)(?:@[\w.^~*+-]+)?\Z")
_EXECUTABLE_SUFFIXES = (".exe", ".cmd", ".bat", ".com", ".ps1")


class Program:
    """What the book knows of one program."""

    __slots__ = (
        "_readers",
        "by_word",
        "detectors",
        "effect",
        "grammar",
        "name",
        "reading",
        "reads",
        "wildcard",
    )

    def __init__(self, name: str, grammar: Grammar) -> None:
        self.name = name
        self.grammar = grammar
        self.by_word: dict[str, list[Condition]] = {}
        self.wildcard: list[Condition] = []
        self.detectors: list[Detector] = []
        self.effect = ""
        self.reads = False
        self.reading: Sequence[Mapping[str, Any]] = ()
        self._readers: list[Condition] | None = None

    @property
    def readers(self) -> list[Condition]:
        """What of this program only reads; made at first use, as a verdict does not need it."""
        if self._readers is None:
            self._readers = [Condition(_READER, entry) for entry in self.reading]
        return self._readers

    @property
    def conditions(self) -> list[Condition]:
        """Every condition of every rule that speaks of this program."""
        return [*self.wildcard, *(condition for found in self.by_word.values() for condition in found)]

    @property
    def has_rules(self) -> bool:
        """Whether a rule speaks of this program."""
        return bool(self.by_word or self.wildcard)

    def add(self, condition: Condition) -> None:
        """Keep a condition where its first word will be looked up."""
        first = condition.first_words()
        if first is None:
            self.wildcard.append(condition)
            return
        for word in first:
            self.by_word.setdefault(word, []).append(condition)

    def matches(self, options: Options) -> list[tuple[Rule, int]]:
        """Return the rules that hold, each with the number of words that its match used."""
        found = []
        for condition in self.by_word.get(options.words[0], ()) if options.words and self.by_word else ():
            used = condition.holds(options, self.grammar.verbs)
            if used >= 0:
                found.append((condition.rule, used))
        for condition in self.wildcard:
            used = condition.holds(options, self.grammar.verbs)
            if used >= 0:
                found.append((condition.rule, used))
        return found


class Book:
    """All rules, and all programs that they, the wrappers and the detectors speak of."""

    def __init__(self, files: Sequence[Mapping[str, Any]], detectors: Mapping[str, str]) -> None:
        self.rules: dict[str, Rule] = {}
        self.wrappers: dict[str, Mapping[str, Any]] = {}
        self._detectors = detectors
        self._conditions: dict[str, list[Condition]] = {}
        self._grammars: dict[str, Mapping[str, Any]] = {}
        self._same: dict[str, str] = {}
        self._effects: dict[str, str] = {}
        self._readers: dict[str, list[Mapping[str, Any]]] = {}
        self._programs: dict[str, Program | None] = {}
        self._triggers: dict[str, Trigger | None] = {}
        self._sights: dict[str, int] = {}
        self.own: OwnRules | None = None
        for content in files:
            self._take(content)

    def with_own(self, own: OwnRules) -> Book:
        """Return a book that says what this one says, and what users' rules add to it."""
        book = copy(self)
        book.own = own
        book.rules = {**self.rules, **own.rules}
        return book

    def _take(self, content: Mapping[str, Any]) -> None:
        self._grammars.update(content.get("grammars", {}))
        self._same.update(content.get("same", {}))
        self.wrappers.update(content.get("wrappers", {}))
        for effect, names in content.get("programs", {}).items():
            self._effects.update(dict.fromkeys(names.split(), effect))
        for entry in content.get("reads", ()):
            for name in entry["programs"].split():
                self._readers.setdefault(name, []).append(entry)
        for raw in content.get("rules", ()):
            rule = Rule(raw)
            self.rules[rule.rule_id] = rule
            for when in rule.when:
                condition = Condition(rule, when)
                for name in when["programs"].split():
                    self._conditions.setdefault(name, []).append(condition)

    def program(self, name: str) -> Program | None:
        """Return what is known of a program by its base name, or None when the book does not know it."""
        try:
            return self._programs[name]
        except KeyError:
            pass
        program = self._known(name)
        if program is None and not (name.islower() and name.isalpha()):  # else its only spelling
            for other in _other_names(name):
                program = self._known(other)
                if program is not None:
                    break
        if program is not None and _BETWEEN.isdisjoint(name):  # of versions there is no end
            self._programs[name] = program
        return program

    def known(self, name: str) -> bool:
        """Return whether the book has a program of this name or path."""
        return self.program(name.rpartition("/")[2]) is not None

    def trigger(self, name: str) -> Trigger | None:
        """Return what must occur in a command of a program for any rule to hold.

        None when anything may, and the first few times that a program with many conditions is seen.
        """
        try:
            return self._triggers[name]
        except KeyError:
            pass
        program = self.program(name.rpartition("/")[2])
        if program is None:
            return None
        if program.name in self._triggers:  # kept by that name alone: of paths there is no end
            return self._triggers[program.name]
        sights = self._sights[program.name] = self._sights.get(program.name, 0) + 1
        if sights * CONDITIONS_FOR_A_SIGHT <= len(self._conditions.get(program.name, ())):
            return None
        found = self._triggers[program.name] = self._trigger(program)
        return found

    def _trigger(self, program: Program) -> Trigger | None:
        spec = self.wrappers.get(program.name)
        if spec is not None and ("after" not in spec or "direct" in spec):
            return None
        references = self._detectors.get(program.name, "").split()
        if not all(reference in TRIGGERS or reference == _GIT for reference in references):
            return None
        needs: list[Need] = []
        for condition in program.conditions:
            need = condition.needs()
            if need is None:
                return None
            needs.append(need)
        trigger = Trigger()
        trigger.add(needs)
        if spec is not None:
            trigger.words.update(re.split(r"[+ ]", spec["after"]))
        for reference in references:
            if reference == _GIT:
                self._add_git(trigger)
            else:
                trigger.add_pattern(TRIGGERS[reference])
        return trigger

    def _add_git(self, trigger: Trigger) -> None:
        """Add the subcommands that rules or detectors speak of, and the options that bring in others."""
        trigger.words.update(
            name[4:] for name in {*self._conditions, *self._detectors} if name.startswith("git-")
        )
        trigger.words.update(("remote", "fetch", "pull", "clone"))
        trigger.starts += ("-c", "--exec", "--conf")

    def names(self) -> set[str]:
        """Return the names of all programs that the book knows."""
        return {
            *self._effects,
            *self._conditions,
            *self._readers,
            *self.wrappers,
            *self._detectors,
            *self._same,
        }

    def _known(self, name: str) -> Program | None:
        name = self._same.get(name, name)
        detectors = self._detectors.get(name)
        known = (
            detectors
            or name in self._conditions
            or name in self.wrappers
            or name in self._effects
            or name in self._readers
        )
        if not known:
            return None
        if name in self._programs:
            return self._programs[name]
        raw = self._grammars.get(name)
        program = Program(name, PLAIN if raw is None else Grammar(**raw))
        for condition in self._conditions.get(name, ()):
            program.add(condition)
        effect = self._effects.get(name, "")
        program.effect = effect
        program.reads = effect == "read"
        program.reading = self._readers.get(name, ())
        if name in self.wrappers:
            program.detectors.append(_load("unwrap:prefix"))
        for reference in (detectors or "").split():
            program.detectors.append(_load(reference))
        self._programs[name] = program
        return program


_READER = Rule(
    {"id": "read", "decision": "ask", "reason": "", "advice": "", "effect": "read", "examples": {}}
)


def _load(reference: str) -> Detector:
    module, _, function = reference.partition(":")
    detector: Detector = getattr(import_module("haltline.shell." + module), function)
    return detector


def _other_names(name: str) -> list[str]:
    lowered = name.lower()
    suffixes = [suffix for suffix in _EXECUTABLE_SUFFIXES if lowered.endswith(suffix)]
    others = [lowered, *(lowered[: -len(suffix)] for suffix in suffixes)]
    fetched = _FETCHED.match(lowered) if not _BETWEEN.isdisjoint(lowered) else None
    if fetched is not None:
        others.append(fetched[1])
    for other in list(others):
        match = _VERSIONED.match(other)
        if match is not None and match[1] in _VERSIONED_STEMS:
            others.append(match[1])
    return others


_built_in: Book | None = None


def built_in() -> Book:
    """Return the book of the rules that come with Haltline."""
    global _built_in  # noqa: PLW0603  read at first use
    if _built_in is None:
        _built_in = Book(built_in_files(), DETECTORS)
    return _built_in


def built_in_files() -> list[Mapping[str, Any]]:
    """Return the content of the rule files that come with Haltline."""
    import json  # noqa: PLC0415  loaded only where it is needed

    directory = os.path.join(os.path.dirname(__file__), "rules")  # noqa: PTH118, PTH120  pathlib takes as long to import as all the rules to read
    contents = []
    for name in sorted(os.listdir(directory)):  # noqa: PTH208  likewise
        with open(os.path.join(directory, name), encoding="utf-8") as file:  # noqa: PTH118, PTH123  likewise
            contents.append(json.load(file))
    return contents
