"""The catalogue: every condition by name, in the order in which findings are reported."""

from __future__ import annotations

from typing import Final

from haltline.conditions import code_safety, environment, execution, scope, security, uncertainty
from haltline.conditions.condition import Condition, ConditionConfig

CATALOGUE: Final[dict[str, Condition]] = {
    condition.name: condition
    for module in (code_safety, scope, environment, execution, security, uncertainty)
    for condition in module.CONDITIONS
}


def default_config(condition: Condition) -> ConditionConfig:
    """Return what a condition does when its row is missing: a deleted row does not switch it off."""
    return ConditionConfig(
        condition_name=condition.name,
        halt_type=condition.halt_type,
        severity=condition.severity,
        threshold={name: field.default for name, field in condition.threshold.items()},
    )
