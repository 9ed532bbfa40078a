"""Stored rows to configuration: what makes no sense halts, and nothing ever vanishes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.secrets.fake_tokens import github

from haltline.conditions.catalogue import CATALOGUE, default_config
from haltline.conditions.configuration import Configuration, parse_row, parse_rows
from haltline.conditions.evaluate import broken_configuration
from haltline.domain import HaltType, Severity
from haltline.errors import ConfigurationError
from haltline.records import ConditionRow

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def row(condition_name: str = "three_strikes", **columns: Any) -> ConditionRow:
    """Return a stored row that makes sense, with some columns changed."""
    condition = CATALOGUE.get(condition_name)
    given: dict[str, Any] = {
        "id": "1",
        "condition_name": condition_name,
        "halt_type": condition.halt_type.value if condition else "security",
        "enabled": True,
        "severity": "high",
        "threshold": None,
        "auto_escalate": False,
        "escalate_after_minutes": None,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return ConditionRow(**{**given, **columns})


def test_a_row_says_what_its_condition_does() -> None:
    config = parse_row(
        row(
            enabled=False,
            severity="critical",
            threshold='{"max_attempts": 5}',
            auto_escalate=True,
            escalate_after_minutes=7,
        )
    )
    assert (config.condition_name, config.halt_type, config.enabled, config.severity) == (
        "three_strikes",
        HaltType.EXECUTION,
        False,
        Severity.CRITICAL,
    )
    assert (config.threshold, config.auto_escalate, config.escalate_after_minutes) == (
        {"max_attempts": 5},
        True,
        7,
    )


@pytest.mark.parametrize("threshold", [None, "{}"])
def test_what_a_threshold_leaves_out_is_at_its_default(threshold: str | None) -> None:
    assert parse_row(row(threshold=threshold)).threshold == {"max_attempts": 3}


def test_one_value_of_a_threshold_may_be_given_alone() -> None:
    config = parse_row(row("repeated_failure", threshold='{"threshold": 5}'))
    assert config.threshold == {"threshold": 5, "stale_after_minutes": 10}


def test_a_null_of_minutes_never_escalates() -> None:
    assert parse_row(row("modifying_unread_code")).escalate_after_minutes is None


BROKEN: dict[str, dict[str, Any]] = {
    "unknown severity": {"severity": "severe"},
    "severity in capitals": {"severity": "HIGH"},
    "empty severity": {"severity": ""},
    "no severity": {"severity": None},
    "another type": {"halt_type": "security"},
    "unknown type": {"halt_type": "whatever"},
    "threshold that is no JSON": {"threshold": "{max_attempts: 3}"},
    "empty threshold": {"threshold": ""},
    "threshold that is a list": {"threshold": "[3]"},
    "threshold that is a number": {"threshold": "3"},
    "threshold that is null": {"threshold": "null"},
    "threshold nested too deep": {"threshold": "[" * 100_000},
    "unknown name": {"threshold": '{"max_attempt": 3}'},
    "a name too many": {"threshold": '{"max_attempts": 3, "off": true}'},
    "text for a number": {"threshold": '{"max_attempts": "3"}'},
    "null for a number": {"threshold": '{"max_attempts": null}'},
    "truth for a number": {"threshold": '{"max_attempts": true}'},
    "fraction for a whole number": {"threshold": '{"max_attempts": 3.5}'},
    "below its least value": {"threshold": '{"max_attempts": 0}'},
    "above its greatest value": {"threshold": '{"max_attempts": 1001}'},
    "enabled that is no switch": {"enabled": None},
    "enabled that is a number": {"enabled": 0},
    "enabled that is a word": {"enabled": "false"},
    "auto_escalate that is no switch": {"auto_escalate": "no"},
    "no time to answer": {"escalate_after_minutes": 0},
    "minutes below nothing": {"escalate_after_minutes": -5},
    "more than a year": {"escalate_after_minutes": 525_601},
    "minutes in words": {"escalate_after_minutes": "30"},
    "truth for minutes": {"escalate_after_minutes": True},
}


@pytest.mark.parametrize("columns", BROKEN.values(), ids=BROKEN)
def test_a_row_that_makes_no_sense_halts_its_condition(columns: dict[str, Any]) -> None:
    configuration = parse_rows((row(**columns),))
    assert list(configuration.broken) == ["three_strikes"]
    assert configuration.broken["three_strikes"].startswith("three_strikes: ")
    assert "three_strikes" not in configuration.conditions
    (finding,) = broken_configuration(configuration)
    assert (finding.condition_name, finding.halt_type, finding.severity, finding.reason_code) == (
        "three_strikes",
        "execution",
        "critical",
        "config_unreadable",
    )
    assert not finding.waivable
    assert finding.description.startswith("Halt check failed: configuration unreadable (three_strikes: ")
    assert len(finding.description) <= 1000


@pytest.mark.parametrize(
    ("name", "threshold", "fits"),
    [
        ("uncertainty_scale", '{"threshold": 0}', True),
        ("uncertainty_scale", '{"threshold": 10}', True),
        ("uncertainty_scale", '{"threshold": -1}', False),
        ("uncertainty_scale", '{"threshold": 11}', False),
        ("uncertainty_scale", '{"threshold": 7.0}', False),
        ("repeated_errors", '{"similarity_threshold": 0}', True),
        ("repeated_errors", '{"similarity_threshold": 1}', True),
        ("repeated_errors", '{"similarity_threshold": 0.85}', True),
        ("repeated_errors", '{"similarity_threshold": 1.01}', False),
        ("repeated_errors", '{"similarity_threshold": -0.01}', False),
        ("repeated_errors", '{"similarity_threshold": NaN}', False),
        ("repeated_errors", '{"similarity_threshold": Infinity}', False),
        ("repeated_errors", '{"similarity_threshold": 1e400}', False),
        ("cascading_failures", '{"max_chain_length": 1}', False),
        ("no_progress", '{"window": 1}', False),
        ("no_progress", '{"window": 2}', True),
        ("modifying_unread_code", '{"requires_read": false}', True),
        ("modifying_unread_code", '{"requires_read": 0}', False),
        ("modifying_unread_code", '{"requires_read": null}', False),
        ("breaking_changes", '{"requires_tests_pass": "yes"}', False),
        ("no_rollback_plan", '{"anything": 1}', False),
    ],
)
def test_a_threshold_keeps_its_bounds_and_types(name: str, threshold: str, fits: bool) -> None:
    configuration = parse_rows((row(name, threshold=threshold),))
    assert (name in configuration.conditions) is fits
    assert (name in configuration.broken) is not fits


def test_a_missing_row_is_the_default() -> None:
    configuration = parse_rows(())
    assert configuration.broken == {}
    assert configuration.conditions == {
        name: default_config(condition) for name, condition in CATALOGUE.items()
    }


def test_a_row_that_makes_sense_is_used() -> None:
    stored = row(severity="low", threshold='{"max_attempts": 9}')
    assert parse_rows((stored,)).conditions["three_strikes"] == parse_row(stored)


def test_conditions_are_in_the_order_of_the_catalogue_whatever_the_order_of_the_rows() -> None:
    configuration = parse_rows(tuple(row(name) for name in sorted(CATALOGUE)))
    assert list(configuration.conditions) == list(CATALOGUE)


@pytest.mark.parametrize("rows", [("good", "bad"), ("bad", "good")])
def test_of_two_rows_of_one_condition_the_senseless_one_halts(rows: tuple[str, str]) -> None:
    both = {"good": row(), "bad": row(severity="severe")}
    configuration = parse_rows(tuple(both[name] for name in rows))
    assert list(configuration.broken) == ["three_strikes"]
    assert "three_strikes" not in configuration.conditions


def test_a_condition_that_this_version_does_not_know_halts_too() -> None:
    configuration = parse_rows((row("moon_phase"),))
    (finding,) = broken_configuration(configuration)
    assert (finding.condition_name, finding.severity) == ("moon_phase", "critical")
    assert "no such condition" in finding.description
    assert list(configuration.conditions) == list(CATALOGUE)


def test_a_secret_in_a_row_is_not_repeated() -> None:
    token = github()
    configuration = parse_rows((row(severity=token), row("moon_phase", halt_type=token), row(token)))
    findings = str(tuple(broken_configuration(configuration)))
    assert "configuration unreadable" in findings
    assert token not in findings


@pytest.mark.parametrize(
    "columns",
    [
        {"enabled": False},
        {"severity": "low"},
        {"threshold": "{}"},
        {"auto_escalate": True},
        {"escalate_after_minutes": 1},
        {"updated_at": NOW + timedelta(microseconds=1)},
    ],
)
def test_every_column_changes_the_version(columns: dict[str, Any]) -> None:
    assert parse_rows((row(),)).version != parse_rows((row(**columns),)).version


def test_the_version_does_not_depend_on_the_order_of_the_rows() -> None:
    one, other = row(), row("no_progress", threshold="{}")
    assert parse_rows((one, other)).version == parse_rows((other, one)).version


columns = st.fixed_dictionaries(
    {},
    optional={
        "halt_type": st.sampled_from([*HaltType]) | st.text(),
        "enabled": st.booleans() | st.none() | st.integers(),
        "severity": st.sampled_from([*Severity]) | st.text(),
        "threshold": st.none() | st.text() | st.sampled_from(["{}", "[]", "NaN", '{"threshold": 5}']),
        "auto_escalate": st.booleans() | st.none(),
        "escalate_after_minutes": st.none() | st.integers(),
    },
)


@given(st.lists(st.tuples(st.sampled_from([*CATALOGUE, "moon_phase"]), columns), max_size=30))
def test_whatever_is_stored_each_condition_is_configured_or_broken(
    stored: list[tuple[str, dict[str, Any]]],
) -> None:
    configuration: Configuration = parse_rows(tuple(row(name, **given) for name, given in stored))
    assert {*configuration.conditions, *configuration.broken} >= set(CATALOGUE)
    assert not set(configuration.conditions) & set(configuration.broken)
    assert len(tuple(broken_configuration(configuration))) == len(configuration.broken)
    for config in configuration.conditions.values():
        assert set(config.threshold) == set(CATALOGUE[config.condition_name].threshold)
    assert {name for name, _ in stored} <= {*configuration.conditions, *configuration.broken}


def test_parsing_a_row_says_which_row_and_why() -> None:
    with pytest.raises(ConfigurationError, match="three_strikes: severity severe is none of low, medium"):
        parse_row(replace(row(), severity="severe"))
