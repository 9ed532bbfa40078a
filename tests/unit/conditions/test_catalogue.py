"""The catalogue: every condition of the specification, under its name, type and severity."""

from __future__ import annotations

import json

import pytest

from haltline.conditions.catalogue import CATALOGUE, default_config
from haltline.conditions.condition import Condition, ThresholdField
from haltline.store.defaults import DEFAULT_CONDITIONS

SPECIFIED = {
    "modifying_unread_code": ("code_safety", "critical", {"requires_read": True}),
    "breaking_changes": ("code_safety", "high", {"requires_tests_pass": True}),
    "no_rollback_plan": ("code_safety", "high", {}),
    "unknown_dependencies": ("code_safety", "medium", {}),
    "out_of_scope": ("scope", "high", {}),
    "ambiguous_requirements": ("scope", "medium", {}),
    "conflicting_instructions": ("scope", "high", {}),
    "unauthorized_production": ("scope", "critical", {}),
    "test_production_mix": ("environment", "critical", {}),
    "credential_confusion": ("environment", "high", {}),
    "shared_instances": ("environment", "medium", {}),
    "three_strikes": ("execution", "high", {"max_attempts": 3}),
    "repeated_errors": ("execution", "medium", {"similarity_threshold": 0.8}),
    "cascading_failures": ("execution", "high", {"max_chain_length": 3}),
    "unknown_errors": ("execution", "medium", {}),
    "secrets_exposure": ("security", "critical", {}),
    "privilege_escalation": ("security", "critical", {}),
    "data_exposure": ("security", "high", {}),
    "unknown_commands": ("security", "medium", {}),
    "uncertainty_scale": ("uncertainty", "high", {"threshold": 7}),
}
"""Conditions of the specification, with the type, severity and threshold that it gives them."""

ADDED = {
    "production_test_data": ("environment", "high", {}),
    "no_progress": ("execution", "high", {"window": 5}),
    "repeated_failure": ("execution", "high", {"threshold": 3, "stale_after_minutes": 10}),
    "destructive_command": ("security", "critical", {}),
}

CONDITIONS = pytest.mark.parametrize("condition", CATALOGUE.values(), ids=CATALOGUE)


def test_the_catalogue_has_the_specifications_conditions_and_four_more() -> None:
    assert set(CATALOGUE) == {*SPECIFIED, *ADDED}
    assert len(CATALOGUE) == 24


@pytest.mark.parametrize(("name", "expected"), [*SPECIFIED.items(), *ADDED.items()], ids=[*SPECIFIED, *ADDED])
def test_a_condition_has_its_type_severity_and_threshold(
    name: str, expected: tuple[str, str, dict[str, object]]
) -> None:
    config = default_config(CATALOGUE[name])
    assert (config.halt_type, config.severity, config.threshold) == expected
    assert config.enabled


def test_conditions_are_reported_by_type_in_the_order_of_the_specification() -> None:
    types = list(dict.fromkeys(condition.halt_type for condition in CATALOGUE.values()))
    assert types == ["code_safety", "scope", "environment", "execution", "security", "uncertainty"]
    names = list(CATALOGUE)
    for before, after in (
        ("modifying_unread_code", "no_rollback_plan"),
        ("three_strikes", "repeated_errors"),
    ):
        assert names.index(before) < names.index(after)


@CONDITIONS
def test_a_condition_is_named_as_its_check_and_says_what_it_is(condition: Condition) -> None:
    assert condition.check.__name__ == condition.name
    for sentence in (condition.summary, condition.advice):
        assert sentence[0].isupper()
        assert sentence.endswith(".")


@CONDITIONS
def test_each_value_of_a_threshold_says_what_it_does_and_stands_within_its_bounds(
    condition: Condition,
) -> None:
    for value in condition.threshold.values():
        assert value.meaning
        assert is_within(value)


def is_within(value: ThresholdField) -> bool:
    if isinstance(value.default, bool):
        return value.minimum is None and value.maximum is None
    assert value.minimum is not None
    assert value.maximum is not None
    return value.minimum <= value.default <= value.maximum


@CONDITIONS
def test_a_missing_row_does_what_the_row_of_a_new_database_does(condition: Condition) -> None:
    row = next(row for row in DEFAULT_CONDITIONS if row.condition_name == condition.name)
    config = default_config(condition)
    assert (row.halt_type, row.severity, json.loads(row.threshold), row.escalate_after_minutes) == (
        config.halt_type,
        config.severity,
        config.threshold,
        config.escalate_after_minutes,
    )


def test_what_judges_the_course_of_a_session_is_settled_for_one_check_whatever_its_severity() -> None:
    single = [name for name, condition in CATALOGUE.items() if condition.single_use_waiver]
    assert single == ["three_strikes", "cascading_failures", "no_progress", "repeated_failure"]
