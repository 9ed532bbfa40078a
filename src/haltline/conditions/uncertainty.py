"""Uncertainty: the agent's own score, in the bands of the specification's uncertainty scale."""

from __future__ import annotations

from haltline.conditions.condition import Condition, ConditionConfig, ThresholdField, finding
from haltline.conditions.facts import Facts
from haltline.domain import Finding, HaltType, Severity

_CRITICAL_SCORE = 9
_MEDIUM_SCORE = 5


def uncertainty_scale(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find a score in a band that matters: from 9 critical, from the threshold high, from 5 medium.

    The threshold moves the high band alone.
    """
    score = facts.uncertainty
    threshold = config.threshold["threshold"]
    if score is None or score < min(_MEDIUM_SCORE, threshold):
        return None
    evidence = {"score": score, "action": facts.action.digest}
    if score >= _CRITICAL_SCORE:
        text = f"Uncertainty is {score:g} of 10: halt immediately"
        return finding(config, text, evidence, severity=Severity.CRITICAL)
    if score >= threshold:
        return finding(config, f"Uncertainty is {score:g} of 10: halt and ask", evidence)
    text = f"Uncertainty is {score:g} of 10: proceed with caution, note uncertainty"
    return finding(config, text, evidence, severity=Severity.MEDIUM)


CONDITIONS = (
    Condition(
        name="uncertainty_scale",
        halt_type=HaltType.UNCERTAINTY,
        severity=Severity.HIGH,
        summary="The uncertainty score reaches the threshold; 9 and 10 are critical, 5 and 6 medium.",
        advice="Ask the user about what is uncertain.",
        check=uncertainty_scale,
        threshold={
            "threshold": ThresholdField(7, "score from 0 to 10 at which it halts", minimum=0, maximum=10),
        },
    ),
)
