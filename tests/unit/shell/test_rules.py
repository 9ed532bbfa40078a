from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import haltline.shell
from haltline.shell import classify
from haltline.shell.book import built_in
from haltline.shell.rule import Rule

RULES = list(built_in().rules.values())
CASES = [
    (rule.rule_id, expected, command)
    for rule in RULES
    for expected, commands in rule.examples.items()
    for command in commands
]


@pytest.mark.parametrize(("rule_id", "expected", "command"), CASES)
def test_a_rule_decides_its_own_examples(rule_id: str, expected: str, command: str) -> None:
    verdict = classify(command)

    assert (verdict[0] if verdict is not None else "allow") == expected, (rule_id, verdict)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule_id)
def test_a_rule_explains_itself_and_shows_both_sides(rule: Rule) -> None:
    assert rule.decision in ("deny", "ask")
    assert rule.reason
    assert rule.advice.endswith(".")
    assert rule.examples.get("allow"), "a rule shows what it leaves alone"


def test_nothing_is_said_twice_of_one_program() -> None:
    """Of two entries with one name the later would win in silence, and options would no longer be known."""
    said: list[tuple[str, str]] = []

    def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)
        return dict(pairs)

    for path in sorted((Path(haltline.shell.__file__).parent / "rules").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=each_once)
        said += [
            (table, name) for table in ("grammars", "same", "wrappers") for name in content.get(table, ())
        ]
    assert sorted(said) == sorted(set(said))
