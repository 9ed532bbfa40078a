"""Users' own rule files: read, checked, and tried against their own examples before they are used."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haltline.errors import ConfigurationError
from haltline.shell.book import Book, built_in, built_in_files
from haltline.shell.detectors import DETECTORS
from haltline.shell.engine import Engine
from haltline.shell.vocabulary import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_EFFECTS = word_set(
    "delete overwrite write read execute network_in network_out privilege history_rewrite remote_change"
)
_TOP = word_set("rules grammars same")
_RULE = word_set("id decision effect reversible reason advice when examples")
_REQUIRED = ("id", "decision", "reason", "advice", "effect", "when", "examples")
_CONDITION = word_set("programs words options without value argument least none")
_GRAMMAR = word_set("values flags greedy joined verbs")
_ID = re.compile(r"[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*)+\Z")
_DECISIONS = ("deny", "ask", "allow")


def load_rules(*paths: str | Path) -> Book:
    """Return the built-in book with the rules of these files added.

    A file is JSON, or TOML when its name ends in `.toml`; `docs/shell.md` describes its form.

    Raises:
        ConfigurationError: a file cannot be read, a rule does not have the form, or an example does not get
        the
            decision that it is listed under. The message names file, rule and example.
    """
    contents = [(str(path), _read(Path(path))) for path in paths]
    problems = [problem for name, content in contents for problem in _form(name, content)]
    _refuse(problems)
    book = Book([*built_in_files(), *(content for _, content in contents)], DETECTORS)
    _refuse([problem for name, content in contents for problem in _examples(name, content, book)])
    return book


def _refuse(problems: list[str]) -> None:
    if problems:
        raise ConfigurationError("; ".join(problems), tuple(problems))


def _read(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".toml":
            import tomllib  # noqa: PLC0415  loaded only where it is needed

            content: Any = tomllib.loads(text)
        else:
            content = json.loads(text)
    except (OSError, ValueError) as problem:
        raise ConfigurationError(f"{path}: the rule file cannot be read: {problem}") from problem
    if not isinstance(content, dict):
        raise ConfigurationError(
            f"{path}: a rule file is one object with a list `rules`, not {type(content).__name__}"
        )
    return content


def _form(name: str, content: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted(content.keys() - _TOP):
        yield f"{name}: unknown key `{key}`; a rule file has {', '.join(sorted(_TOP))}"
    rules = content.get("rules")
    if not isinstance(rules, list) or not rules:
        yield f"{name}: `rules` must be a list with at least one rule"
        return
    seen = set(built_in().rules)
    for number, rule in enumerate(rules, 1):
        if not isinstance(rule, dict):
            yield f"{name}: rule {number} is not an object"
            continue
        label = f"{name}: rule {rule.get('id', number)}"
        yield from _rule_form(label, rule)
        if rule.get("id") in seen:
            yield f"{label}: another rule has this id"
        seen.add(str(rule.get("id")))
    for program, grammar in content.get("grammars", {}).items():
        if not isinstance(grammar, dict) or grammar.keys() - _GRAMMAR:
            yield f"{name}: grammar of {program}: expected an object with {', '.join(sorted(_GRAMMAR))}"


def _rule_form(label: str, rule: Mapping[str, Any]) -> Iterator[str]:
    for key in _REQUIRED:
        if not rule.get(key):
            yield f"{label}: `{key}` is missing"
    for key in sorted(rule.keys() - _RULE):
        yield f"{label}: unknown key `{key}`; a rule has {', '.join(sorted(_RULE))}"
    if "id" in rule and not (isinstance(rule["id"], str) and _ID.match(rule["id"])):
        yield f"{label}: `id` must look like family.name, in lower case"
    if rule.get("decision") not in ("deny", "ask"):
        yield f"{label}: `decision` must be deny or ask, not {rule.get('decision')!r}"
    if rule.get("effect") not in _EFFECTS:
        yield f"{label}: `effect` must be one of {', '.join(sorted(_EFFECTS))}, not {rule.get('effect')!r}"
    yield from _when_form(label, rule.get("when"))
    examples = rule.get("examples")
    if not isinstance(examples, dict) or not all(
        key in _DECISIONS and isinstance(value, list) and all(isinstance(one, str) for one in value)
        for key, value in examples.items()
    ):
        yield f"{label}: `examples` must have lists of commands under {', '.join(_DECISIONS)}"
    elif not examples.get(str(rule.get("decision"))) or not examples.get("allow"):
        yield f"{label}: `examples` must show a command that the rule is for and one that it allows"


def _when_form(label: str, when: Any) -> Iterator[str]:  # noqa: C901  one check for each key
    if not isinstance(when, list) or not all(isinstance(condition, dict) for condition in when):
        yield f"{label}: `when` must be a list of conditions"
        return
    for number, condition in enumerate(when, 1):
        place = f"{label}: condition {number}"
        if not isinstance(condition.get("programs"), str) or not condition["programs"].split():
            yield f"{place}: `programs` must name at least one program"
        for key in sorted(condition.keys() - _CONDITION):
            yield f"{place}: unknown key `{key}`; a condition has {', '.join(sorted(_CONDITION))}"
        for key in ("words", "options", "without", "argument"):
            if key in condition and not isinstance(condition[key], str):
                yield f"{place}: `{key}` must be a text"
        if not isinstance(condition.get("least", 0), int) or not isinstance(
            condition.get("none", False), bool
        ):
            yield f"{place}: `least` must be a number and `none` true or false"
        if not isinstance(condition.get("value", {}), dict):
            yield f"{place}: `value` must map options to patterns"
            continue
        for pattern in [condition.get("argument", ""), *condition.get("value", {}).values()]:
            try:
                re.compile(pattern)
            except (re.error, TypeError) as problem:
                yield f"{place}: `{pattern}` is no regular expression: {problem}"


def _examples(name: str, content: Mapping[str, Any], book: Book) -> Iterator[str]:
    for rule in content["rules"]:
        for expected, commands in rule["examples"].items():
            yield from _tried(name, rule["id"], expected, commands, book)


def _tried(name: str, rule_id: str, expected: str, commands: Sequence[str], book: Book) -> Iterator[str]:
    label = f"{name}: rule {rule_id}"
    for command in commands:
        engine = Engine(book)
        engine.judge(command)
        decisions = {verdict[0] for verdict in engine.verdicts if verdict[1].rule_id == rule_id}
        if expected == "allow" and decisions:
            yield f"{label}: example `{command}` is listed under allow, but the rule holds for it"
        elif expected != "allow" and expected not in decisions:
            found = " and ".join(sorted(decisions)) or "nothing"
            yield f"{label}: example `{command}` should get {expected} from this rule, but gets {found}"
