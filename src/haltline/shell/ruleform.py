"""The form of users' rule files (`docs/shell.md`): what is wrong with a file, in sentences that name it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from haltline.shell.patterns import bounded
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from haltline.shell.book import Book

DECISIONS = ("deny", "ask", "allow")
MAX_SENTENCE = 500
"""Characters of a reason or an advice: people read them in a halt."""

_EFFECTS = word_set(
    "delete overwrite write read execute network_in network_out privilege history_rewrite remote_change"
)
_TOP = word_set("rules grammars same")
_RULE = word_set("id decision effect reversible reason advice when examples")
_REQUIRED = ("id", "decision", "reason", "advice", "effect", "when", "examples")
_CONDITION = word_set("programs words options without value argument least none")
_GRAMMAR = word_set("values flags greedy joined verbs")
_ID = re.compile(r"[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*)+\Z")


def problems_of(contents: Sequence[tuple[str, Mapping[str, Any]]], book: Book) -> list[str]:
    """Return what is wrong with files, each given with its name, that are to be added to a book."""
    problems: list[str] = []
    taken = dict.fromkeys(book.rules, "the built-in rules")
    named: dict[str, str] = {}
    for name, content in contents:
        problems.extend(_file(name, content, book, taken, named))
    speaking = _programs_of(contents)
    for name, content in contents:
        problems.extend(_same(name, content.get("same", {}), book, speaking))
    return problems


def _file(
    name: str, content: Mapping[str, Any], book: Book, taken: dict[str, str], named: dict[str, str]
) -> Iterator[str]:
    yield from _unknown_keys(name, content, _TOP, "a rule file has")
    rules = content.get("rules")
    if not isinstance(rules, list) or not rules:
        yield f"{name}: `rules` must be a list with at least one rule"
    else:
        for number, rule in enumerate(rules, 1):
            yield from _numbered(name, number, rule, book, taken)
    for table in ("grammars", "same"):
        entries = content.get(table, {})
        if not isinstance(entries, dict):
            yield f"{name}: `{table}` must map names of programs, not be {_kind(entries)}"
            continue
        for program in entries:
            if named.setdefault(f"{table} {program}", name) != name:
                yield f"{name}: `{table}`: {program} stands in {named[f'{table} {program}']} as well"
            if book.program(program) is not None:
                yield (
                    f"{name}: `{table}`: the built-in rules know `{program}`, and no file may change how "
                    "they read it"
                )
    if isinstance(content.get("grammars", {}), dict):
        for program, grammar in content.get("grammars", {}).items():
            yield from _grammar(f"{name}: grammar of {program}", grammar)


def _numbered(name: str, number: int, rule: Any, book: Book, taken: dict[str, str]) -> Iterator[str]:
    if not isinstance(rule, dict):
        yield f"{name}: rule {number} must be an object, not {_kind(rule)}"
        return
    rule_id = rule.get("id")
    label = f"{name}: rule {rule_id if isinstance(rule_id, str) and rule_id else number}"
    yield from _rule(label, rule, book)
    if isinstance(rule_id, str):
        if rule_id in taken:
            yield f"{label}: another rule has this id, in {taken[rule_id]}"
        taken.setdefault(rule_id, name)


def _rule(label: str, rule: Mapping[str, Any], book: Book) -> Iterator[str]:
    yield from (f"{label}: `{key}` is missing" for key in _REQUIRED if not rule.get(key))
    yield from _unknown_keys(label, rule, _RULE, "a rule has")
    if "id" in rule and not (isinstance(rule["id"], str) and _ID.match(rule["id"])):
        yield f"{label}: `id` must look like family.name, in lower case"
    decision, effect = rule.get("decision"), rule.get("effect")
    if decision not in ("deny", "ask"):
        yield f"{label}: `decision` must be deny or ask, not {decision!r}"
    if not isinstance(effect, str) or effect not in _EFFECTS:
        yield f"{label}: `effect` must be one of {', '.join(sorted(_EFFECTS))}, not {effect!r}"
    if not isinstance(rule.get("reversible", False), bool):
        yield f"{label}: `reversible` must be true or false, not {rule['reversible']!r}"
    for key in ("reason", "advice"):
        text = rule.get(key, "")
        if not isinstance(text, str) or not text.isprintable() or len(text) > MAX_SENTENCE:
            yield f"{label}: `{key}` must be one line of text, of at most {MAX_SENTENCE} characters"
    yield from _when(label, rule.get("when"), book)
    yield from _examples(label, rule.get("examples"), decision)


def _examples(label: str, examples: Any, decision: Any) -> Iterator[str]:
    if not isinstance(examples, dict) or not all(
        key in DECISIONS and isinstance(value, list) and all(isinstance(one, str) and one for one in value)
        for key, value in examples.items()
    ):
        yield f"{label}: `examples` must have lists of commands under {', '.join(DECISIONS)}"
    elif not examples.get(str(decision)) or not examples.get("allow"):
        yield f"{label}: `examples` must show a command that the rule is for and one that it allows"


def _when(label: str, when: Any, book: Book) -> Iterator[str]:
    if not isinstance(when, list) or not all(isinstance(condition, dict) for condition in when):
        yield f"{label}: `when` must be a list of conditions"
        return
    for number, condition in enumerate(when, 1):
        place = f"{label}: condition {number}"
        yield from _unknown_keys(place, condition, _CONDITION, "a condition has")
        yield from _names(place, condition.get("programs"), book)
        for key in ("words", "options", "without", "argument"):
            if not isinstance(condition.get(key, ""), str):
                yield f"{place}: `{key}` must be a text, not {_kind(condition[key])}"
        least = condition.get("least", 0)
        if not isinstance(least, int) or isinstance(least, bool) or least < 0:
            yield f"{place}: `least` must be a number of words, not {least!r}"
        if not isinstance(condition.get("none", False), bool):
            yield f"{place}: `none` must be true or false, not {condition['none']!r}"
        values = condition.get("value", {})
        if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
            yield f"{place}: `value` must map options to patterns"
            values = {}
        yield from _patterns(place, [condition.get("argument"), *values.values()])


def _names(place: str, programs: Any, book: Book) -> Iterator[str]:
    if not isinstance(programs, str) or not programs.split():
        yield f"{place}: `programs` must name at least one program"
        return
    for name in programs.split():
        known = book.program(name)
        if "/" in name:
            yield f"{place}: `programs` must have names without directories, not `{name}`"
        elif known is not None and known.name != name:
            yield f"{place}: `{name}` is known as `{known.name}`; name that one"


def _patterns(place: str, patterns: Sequence[Any]) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, str):
            try:
                bounded(pattern)
            except ValueError as problem:
                yield f"{place}: `{pattern[:80]}` {problem}"


def _grammar(label: str, grammar: Any) -> Iterator[str]:
    if not isinstance(grammar, dict):
        yield f"{label}: expected an object with {', '.join(sorted(_GRAMMAR))}, not {_kind(grammar)}"
        return
    yield from _unknown_keys(label, grammar, _GRAMMAR, "a grammar has")
    for key in sorted(grammar.keys() & _GRAMMAR):
        expected, what = (bool, "true or false") if key in ("greedy", "joined") else (str, "a text")
        if not isinstance(grammar[key], expected):
            yield f"{label}: `{key}` must be {what}, not {_kind(grammar[key])}"


def _same(name: str, same: Any, book: Book, speaking: frozenset[str]) -> Iterator[str]:
    if not isinstance(same, dict):
        return  # said already
    for other, program in same.items():
        label = f"{name}: `same`: {other}"
        if "/" in other or other.split() != [other]:
            yield f"{label}: expected the name of a program, without its directory"
        if other in speaking:
            yield f"{label}: a rule speaks of it under this name"
        if not isinstance(program, str) or not (program in speaking or book.program(program) is not None):
            yield f"{label}: expected a program that a rule speaks of, not {program!r}"


def _programs_of(contents: Sequence[tuple[str, Mapping[str, Any]]]) -> frozenset[str]:
    found: set[str] = set()
    for _, content in contents:
        rules = content.get("rules")
        for rule in rules if isinstance(rules, list) else ():
            when = rule.get("when") if isinstance(rule, dict) else None
            for condition in when if isinstance(when, list) else ():
                programs = condition.get("programs") if isinstance(condition, dict) else None
                found.update(programs.split() if isinstance(programs, str) else ())
    return frozenset(found)


def _unknown_keys(
    label: str, content: Mapping[str, Any], known: frozenset[str], holder: str
) -> Iterator[str]:
    for key in sorted(content.keys() - known):
        yield f"{label}: unknown key `{key}`; {holder} {', '.join(sorted(known))}"


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), f"a value of type {type(value).__name__}")
