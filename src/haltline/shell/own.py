"""What users' rule files add to the book.

It is kept beside the built-in rules and not among them: whatever a file says, what the book says without it
stays. A program that only users' rules speak of stays as unknown as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haltline.shell.book import Program
from haltline.shell.options import PLAIN, Grammar
from haltline.shell.patterns import bounded
from haltline.shell.rule import Condition, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from haltline.shell.book import Book

_SCRIPTS = frozenset({"py", "pyz", "sh", "bash", "js", "mjs", "cjs", "ts", "rb", "pl", "php", "lua"})


class OwnRules:
    """The rules of users' files, by the programs that they speak of.

    Attributes:
        rules: every rule by its id.
        sources: the file of each rule.
        programs: what they say of each program.
        same: other names of programs.
    """

    __slots__ = ("programs", "rules", "same", "sources")

    def __init__(self, book: Book, contents: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        self.rules: dict[str, Rule] = {}
        self.sources: dict[str, str] = {}
        self.programs: dict[str, Program] = {}
        self.same: dict[str, str] = {}
        grammars: dict[str, Grammar] = {}
        for _, content in contents:
            grammars.update({name: Grammar(**raw) for name, raw in content.get("grammars", {}).items()})
            self.same.update(content.get("same", {}))
        for name, content in contents:
            for raw in content["rules"]:
                self._take(book, grammars, Rule(raw))
                self.sources[raw["id"]] = name

    def _take(self, book: Book, grammars: Mapping[str, Grammar], rule: Rule) -> None:
        self.rules[rule.rule_id] = rule
        for raw in rule.when:
            condition = Condition(rule, _bounded(raw))
            for name in raw["programs"].split():
                program = self.programs.get(name)
                if program is None:
                    known = book.program(name)
                    grammar = known.grammar if known is not None else grammars.get(name, PLAIN)
                    program = self.programs[name] = Program(name, grammar)
                program.add(condition)

    def spoken_of(self, base: str) -> str | None:
        """Return the name under which a file speaks of a program or script: with or without its ending."""
        stem, dot, ending = base.rpartition(".")
        for name in (base, stem) if dot and ending in _SCRIPTS else (base,):
            if self.speak_of(name):
                return name
        return None

    def speak_of(self, name: str) -> bool:
        """Return whether a file has something to say about a program of this name."""
        return name in self.programs or name in self.same


def _bounded(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a condition with patterns that cannot take long."""
    changed = dict(raw)
    if "argument" in raw:
        changed["argument"] = bounded(raw["argument"])
    if "value" in raw:
        changed["value"] = {names: bounded(pattern) for names, pattern in raw["value"].items()}
    return changed
