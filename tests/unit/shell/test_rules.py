from __future__ import annotations

import pytest

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
