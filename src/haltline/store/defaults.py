"""The configuration rows of a new database: the specification's, with those that DESIGN §8 adds.

The migration that creates the table has its own frozen copy; a test keeps the two alike.
"""

from __future__ import annotations

from dataclasses import dataclass

ESCALATE_AFTER_MINUTES = {"critical": 30, "high": 240}
"""An unanswered halt of these severities escalates after so many minutes; others wait."""


@dataclass(frozen=True, slots=True)
class DefaultCondition:
    """A row of `halt_conditions_config` before it has an identifier and times."""

    condition_name: str
    halt_type: str
    severity: str
    threshold: str

    @property
    def escalate_after_minutes(self) -> int | None:
        """When an unanswered halt of this condition escalates."""
        return ESCALATE_AFTER_MINUTES.get(self.severity)


DEFAULT_CONDITIONS = tuple(
    DefaultCondition(*row)
    for row in (
        ("modifying_unread_code", "code_safety", "critical", '{"requires_read": true}'),
        ("breaking_changes", "code_safety", "high", '{"requires_tests_pass": true}'),
        ("no_rollback_plan", "code_safety", "high", "{}"),
        ("unknown_dependencies", "code_safety", "medium", "{}"),
        ("out_of_scope", "scope", "high", "{}"),
        ("ambiguous_requirements", "scope", "medium", "{}"),
        ("conflicting_instructions", "scope", "high", "{}"),
        ("unauthorized_production", "scope", "critical", "{}"),
        ("test_production_mix", "environment", "critical", "{}"),
        ("credential_confusion", "environment", "high", "{}"),
        ("shared_instances", "environment", "medium", "{}"),
        ("production_test_data", "environment", "high", "{}"),
        ("three_strikes", "execution", "high", '{"max_attempts": 3}'),
        ("repeated_errors", "execution", "medium", '{"similarity_threshold": 0.8}'),
        ("cascading_failures", "execution", "high", '{"max_chain_length": 3}'),
        ("unknown_errors", "execution", "medium", "{}"),
        ("no_progress", "execution", "high", '{"window": 5}'),
        ("repeated_failure", "execution", "high", '{"threshold": 3, "stale_after_minutes": 10}'),
        ("secrets_exposure", "security", "critical", "{}"),
        ("privilege_escalation", "security", "critical", "{}"),
        ("data_exposure", "security", "high", "{}"),
        ("unknown_commands", "security", "medium", "{}"),
        ("destructive_command", "security", "critical", "{}"),
        ("uncertainty_scale", "uncertainty", "high", '{"threshold": 7}'),
    )
)
