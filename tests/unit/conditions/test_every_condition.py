"""What holds for every condition over any facts: it answers, always the same, and tells no secrets."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.secrets.fake_tokens import github

from haltline.conditions.catalogue import CATALOGUE, default_config
from haltline.conditions.condition import ConditionConfig
from haltline.conditions.evaluate import evaluate
from haltline.conditions.facts import Action, Facts, ProposedChanges, ToolCall
from haltline.domain import Finding
from haltline.wire import MAX_DESCRIPTION

TOKEN = github()

words = st.sampled_from(
    [
        *(
            "src/auth.js",
            "./src/auth.js",
            "../x",
            "/etc/passwd",
            "a\\b",
            "~/.ssh/id_rsa",
            ".env.production",
            "*",
        ),
        *(
            "rm -rf /",
            "ls",
            "sudo ls",
            "$(",
            "echo x > a",
            "kubectl --context prod delete pod x",
            "pytest",
            '"',
        ),
        *(
            "production",
            "test",
            "prod-db.internal",
            "TypeError: x is null",
            "No module named 'flask'",
            "é",
            "🛑",
        ),
        *(
            "Never push to main",
            "Push to main",
            "Fix it",
            "only src/**",
            "host:a.example",
            "!verb:delete",
            ",",
        ),
        *("4111 1111 1111 1111", TOKEN, "\n", " ", "x" * 700),
    ]
)
texts = st.text(max_size=20) | st.lists(words, max_size=4).map(" ".join)
some = st.lists(texts, max_size=4).map(tuple)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
proposals = st.builds(
    ProposedChanges,
    files_to_modify=some,
    has_tests=st.booleans(),
    has_rollback_plan=st.booleans(),
    tests_pass=st.none() | st.booleans(),
    contents=st.dictionaries(texts, texts, max_size=2),
    dependents=st.dictionaries(texts, some, max_size=2),
)
actions = st.builds(
    Action,
    operation=texts,
    target_files=some,
    commands=some,
    environment=st.none() | texts,
    changes=st.none() | proposals,
    tool_arguments=json_values,
)
any_facts = st.builds(
    Facts,
    action=actions,
    task_id=st.none() | texts,
    files_read=some,
    absent_files=some.map(frozenset),
    real_paths=st.dictionaries(texts, texts, max_size=2),
    declared_attempts=st.none() | st.integers(0, 10),
    recorded_attempts=st.integers(0, 10),
    errors=some,
    uncertainty=st.none() | st.floats(0, 10),
    scope_boundary=st.none() | texts,
    instructions=some,
    outputs=some,
    credentials=some,
    services=st.dictionaries(texts, some, max_size=3),
    recent_responses=some,
    recent_calls=st.lists(st.builds(ToolCall, texts, json_values, st.booleans()), max_size=4).map(tuple),
    workspace=st.none() | st.just("/work"),
)
thorough = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def configs() -> list[ConditionConfig]:
    return [default_config(condition) for condition in CATALOGUE.values()]


def judged(facts: Facts) -> list[Finding | None]:
    return [evaluate(facts, config) for config in configs()]


@thorough
@given(any_facts)
def test_every_condition_answers_and_answers_the_same_again(facts: Facts) -> None:
    first = judged(facts)
    assert judged(replace(facts)) == first
    assert [found for found in first if found and found.reason_code] == []


@thorough
@given(any_facts)
def test_every_finding_can_be_shown_stored_and_recognised(facts: Facts) -> None:
    for found in filter(None, judged(facts)):
        assert 0 < len(found.description) <= MAX_DESCRIPTION
        assert (found.condition_name in CATALOGUE) is True
        assert found.halt_type is CATALOGUE[found.condition_name].halt_type
        text = json.dumps([found.description, found.evidence, found.annotations], ensure_ascii=False)
        assert "\x00" not in text
        text.encode()
        assert len(found.evidence_digest) == 64
        assert TOKEN not in text


@thorough
@given(any_facts, st.data())
def test_a_finding_about_an_action_is_not_that_of_another_action(facts: Facts, data: st.DataObject) -> None:
    other = replace(facts, action=replace(facts.action, operation=facts.action.operation + " again"))
    for one, another in zip(judged(facts), judged(other), strict=True):
        if one is not None and another is not None and "action" in one.evidence:
            assert one.evidence_digest != another.evidence_digest


LONG = "word " * 12_000
BIG: dict[str, dict[str, Any]] = {
    "operation": {"action": Action(LONG[:4000])},
    "command": {"action": Action("x", commands=(f"echo {LONG}",))},
    "one endless word": {"action": Action("x", commands=("rm -rf /" + "a" * 60_000,))},
    "paths": {"action": Action("x", target_files=tuple("p" * 4000 + str(n) for n in range(16)))},
    "errors": {"action": Action("x"), "errors": (LONG,) * 10},
    "instructions": {"action": Action("x"), "instructions": (f"Fix it {LONG}", f"Never fix it {LONG}") * 5},
    "boundary": {"action": Action("x", target_files=("a",)), "scope_boundary": LONG[:20_000]},
    "environment": {"action": Action("x", environment="prod" + "x" * 490)},
    "outputs": {"action": Action("x"), "outputs": (LONG,) * 10},
    "services": {"action": Action("x"), "services": {"prod": (LONG[:500],) * 9, "test": (LONG[:500],)}},
    "arguments": {"action": Action("x", tool_arguments=[LONG] * 5)},
}


@pytest.mark.parametrize("given_", BIG.values(), ids=BIG)
def test_very_large_facts_are_judged_and_described_briefly(given_: dict[str, Any]) -> None:
    for found in filter(None, judged(Facts(**given_))):
        assert len(found.description) <= MAX_DESCRIPTION


def test_conditions_change_nothing_that_they_are_given() -> None:
    arguments = {"list": [TOKEN], "nested": {"a": [1]}}
    services = {"prod": ("db",), "test": ("db",)}
    contents = {"a": TOKEN}
    before = json.dumps([arguments, services, contents])
    changes = ProposedChanges(("a",), contents=contents)
    judged(Facts(Action("x", changes=changes, tool_arguments=arguments), services=services))
    assert json.dumps([arguments, services, contents]) == before
