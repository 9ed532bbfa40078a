"""Run the conditions over the facts: one that fails halts, the others still report."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from haltline.conditions.catalogue import CATALOGUE
from haltline.conditions.condition import ConditionConfig, quoted
from haltline.conditions.configuration import Configuration
from haltline.conditions.facts import Facts, NotAnalysed
from haltline.domain import Finding, HaltType, ReasonCode, Severity, canonical_json
from haltline.errors import Interrupted, text_of
from haltline.secrets import redact

logger = logging.getLogger(__name__)

_MOST_PROBLEM = 3_000
"""Characters of an error's text that its finding quotes; a description has 4,000 at most."""

_FIELD_TYPES = {
    "condition_name": str,
    "halt_type": HaltType,
    "severity": Severity,
    "description": str,
    "evidence": Mapping,
    "waivable": bool,
    "reason_code": ReasonCode | None,
    "annotations": Mapping,
    "causes": frozenset,
}


def evaluate(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Run one condition; a failure of it is a critical finding, and every text of a finding is redacted.

    A failure is whatever it raises, an exit or an interrupt included, and anything that it returns but None
    and a finding that can be reported and stored.
    """
    try:
        found = CATALOGUE[config.condition_name].check(facts, config)
        return None if found is None else _sound(found, config)
    except Interrupted:
        raise
    except NotAnalysed as error:
        return failed_check(config.condition_name, config.halt_type, str(error), ReasonCode.DEADLINE_EXCEEDED)
    except BaseException as error:  # noqa: BLE001 - a check that fails must halt, and not end the process
        problem = redact(text_of(error))[:_MOST_PROBLEM]
        logger.error("condition %s failed: %s", config.condition_name, problem)  # noqa: TRY400 - no traceback: unredacted
        return failed_check(config.condition_name, config.halt_type, problem)


def _sound(found: Finding, config: ConditionConfig) -> Finding:
    """Return a finding redacted.

    Raises:
        TypeError: it is none, or a field is of the wrong type or another condition's, or JSON cannot tell it.
        ValueError: its evidence holds a number that JSON has no text for.
    """
    if not isinstance(found, Finding):
        raise TypeError(f"expected a finding or None, got {type(found).__name__}")
    for name, kind in _FIELD_TYPES.items():
        if not isinstance(getattr(found, name), kind):
            raise TypeError(f"{name} of the finding is {type(getattr(found, name)).__name__}")
    if found.condition_name != config.condition_name:
        raise TypeError("the finding names another condition")
    for values in found.annotations.values():
        if not all(isinstance(value, str) for value in values):
            raise TypeError("an annotation of the finding is no text")
    redacted = _redacted(found)
    canonical_json(redacted.evidence)  # what has no JSON could neither be stored nor recognised again
    return redacted


def failed_check(
    condition_name: str,
    halt_type: HaltType,
    problem: str,
    reason: ReasonCode = ReasonCode.CHECK_FAILED,
) -> Finding:
    """Return the finding for a condition that could not be checked (specification, Error Handling)."""
    return Finding(
        condition_name=condition_name,
        halt_type=halt_type,
        severity=Severity.CRITICAL,
        description=f"Halt check failed: {quoted(problem)}",
        evidence={"problem": problem},
        waivable=False,
        reason_code=reason,
    )


def late_check(config: ConditionConfig, seconds: float, others: int = 0) -> Finding:
    """Return the finding for a condition that did not answer in time, and how many others did not either."""
    late = config.condition_name if not others else f"{config.condition_name} and {others} more conditions"
    return Finding(
        condition_name=config.condition_name,
        halt_type=config.halt_type,
        severity=Severity.CRITICAL,
        description=f"Halt check failed: {late} did not answer in {seconds * 1000:.0f} ms",
        waivable=False,
        reason_code=ReasonCode.DEADLINE_EXCEEDED,
    )


def broken_configuration(configuration: Configuration) -> Iterator[Finding]:
    """Yield a critical finding for every row that does not make sense: it never vanishes."""
    for name, problem in configuration.broken.items():
        condition = CATALOGUE.get(name)
        yield Finding(
            condition_name=redact(name),
            halt_type=condition.halt_type if condition else HaltType.EXECUTION,
            severity=Severity.CRITICAL,
            description=f"Halt check failed: configuration unreadable ({quoted(redact(problem))})",
            evidence={"problem": redact(problem)},
            waivable=False,
            reason_code=ReasonCode.CONFIGURATION_UNREADABLE,
        )


def _redacted(found: Finding) -> Finding:
    return Finding(
        condition_name=found.condition_name,
        halt_type=found.halt_type,
        severity=found.severity,
        description=_storable(redact(found.description)),
        evidence=_storable(redact(found.evidence)),
        waivable=found.waivable,
        reason_code=found.reason_code,
        annotations=_storable(redact(found.annotations)),
        causes=found.causes,
    )


def _storable(value: Any) -> Any:
    """Return a value with texts that every database takes: what escapes spell out need not be Unicode."""
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_storable(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return value
