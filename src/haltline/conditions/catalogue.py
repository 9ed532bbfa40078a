"""The catalogue: every condition by name, in the order in which findings are reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from haltline.conditions import code_safety, environment, execution, scope, security, uncertainty
from haltline.conditions.condition import Condition, ConditionConfig
from haltline.domain import Severity

CATALOGUE: Final[dict[str, Condition]] = {
    condition.name: condition
    for module in (code_safety, scope, environment, execution, security, uncertainty)
    for condition in module.CONDITIONS
}

DEFAULT_ESCALATION_MINUTES: Final[Mapping[Severity, int]] = {Severity.CRITICAL: 30, Severity.HIGH: 240}
"""After how many minutes an unanswered halt escalates when no row says otherwise; others wait."""


def default_config(condition: Condition) -> ConditionConfig:
    """Return what a condition does when its row is missing: a deleted row does not switch it off."""
    return ConditionConfig(
        condition_name=condition.name,
        halt_type=condition.halt_type,
        severity=condition.severity,
        threshold={name: field.default for name, field in condition.threshold.items()},
        escalate_after_minutes=DEFAULT_ESCALATION_MINUTES.get(condition.severity),
    )
