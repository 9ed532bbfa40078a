"""Process settings: what makes no sense is refused, and nothing lets a failure pass."""

from __future__ import annotations

from typing import Any

import pytest

from haltline.domain import Severity
from haltline.errors import ConfigurationError
from haltline.settings import Settings
from haltline.verdict import VerdictRules


def test_the_defaults_are_the_specifications() -> None:
    assert Settings.from_mapping({}) == Settings()
    assert Settings().verdict_rules == VerdictRules(medium_findings_to_halt=2, auto_record_high=True)
    assert (Settings().deadline_seconds, Settings().configuration_seconds) == (0.8, 60)
    assert Settings().agents_may_settle == frozenset()
    assert Settings().allow_reads_while_halted


def test_settings_are_read_from_a_file() -> None:
    read = Settings.from_mapping(
        {
            "deadline_seconds": 2,
            "unknown_sessions": "reject",
            "medium_findings_to_halt": 3,
            "auto_record_high": False,
            "agents_may_settle": ["low", "medium"],
            "configuration_seconds": 0,
            "shell_rules": ["rules.toml", "more"],
        }
    )
    assert (read.deadline_seconds, read.unknown_sessions, read.configuration_seconds) == (2.0, "reject", 0)
    assert read.verdict_rules == VerdictRules(3, auto_record_high=False)
    assert read.shell_rules == ("rules.toml", "more")
    assert read.agents_may_settle == {Severity.LOW, Severity.MEDIUM}


NONSENSE: list[dict[str, Any]] = [
    {"deadline": 1},
    {"fail_open": True},
    {"deadline_seconds": 0},
    {"deadline_seconds": -1},
    {"deadline_seconds": "1"},
    {"deadline_seconds": True},
    {"deadline_seconds": None},
    {"deadline_seconds": float("inf")},
    {"deadline_seconds": float("nan")},
    {"deadline_seconds": 61},
    {"operation_deadline_seconds": float("inf")},
    {"operation_deadline_seconds": 0},
    {"configuration_seconds": float("nan")},
    {"configuration_seconds": float("inf")},
    {"configuration_seconds": -1},
    {"medium_findings_to_halt": 0},
    {"medium_findings_to_halt": 2.0},
    {"medium_findings_to_halt": True},
    {"medium_findings_to_halt": 101},
    {"unknown_sessions": "maybe"},
    {"unknown_sessions": None},
    {"auto_record_high": 0},
    {"allow_reads_while_halted": "yes"},
    {"agents_may_settle": "low"},
    {"agents_may_settle": ["severe"]},
    {"agents_may_settle": [["low"]]},
    {"agents_may_settle": [None]},
    {"shell_rules": "rules.toml"},
    {"shell_rules": [1]},
    {"shell_rules": [""]},
    {"shell_rules": ["a\0b"]},
    {"shell_rules": {"a": "b"}},
    {"shell_rules": None},
]


@pytest.mark.parametrize("values", NONSENSE, ids=str)
def test_a_value_that_makes_no_sense_is_refused_by_name(values: dict[str, Any]) -> None:
    (name,) = values
    with pytest.raises(ConfigurationError, match=name):
        Settings.from_mapping(values)


def test_rule_files_given_in_code_are_a_tuple_of_paths() -> None:
    with pytest.raises(ConfigurationError, match="shell_rules"):
        Settings(shell_rules="rules.toml")  # type: ignore[arg-type]
