"""Stored rows to configuration: what makes sense is used, what does not makes its condition halt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from haltline.conditions.catalogue import CATALOGUE, default_config
from haltline.conditions.condition import Condition, ConditionConfig, ThresholdField
from haltline.domain import Severity, canonical_json, digest
from haltline.errors import ConfigurationError
from haltline.records import ConditionRow

MAX_ESCALATION_MINUTES = 525_600
"""A year: the longest that a halt waits for an answer, where it is to escalate at all."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What every condition is to do.

    Attributes:
        conditions: the rows that make sense, by condition name, in the order of the catalogue.
        broken: what is wrong with the others, by condition name; such a condition halts.
        version: a digest of the stored rows; equal versions mean equal configurations.
    """

    conditions: Mapping[str, ConditionConfig]
    broken: Mapping[str, str]
    version: str


def parse_threshold(condition: Condition, threshold: Mapping[str, Any]) -> dict[str, Any]:
    """Return a whole threshold: the given values checked, the others at their defaults.

    Raises:
        ConfigurationError: a name is not known, a type is wrong or a number is out of bounds.
    """
    unknown = sorted(set(threshold) - set(condition.threshold))
    if unknown:
        known = ", ".join(condition.threshold) or "none"
        raise ConfigurationError(
            f"{condition.name}: threshold has no {', '.join(unknown)}; the names it knows: {known}"
        )
    return {
        name: _checked(condition.name, name, field, threshold.get(name, field.default))
        for name, field in condition.threshold.items()
    }


def _checked(condition_name: str, name: str, field: ThresholdField, value: Any) -> bool | int | float:
    place = f"{condition_name}: threshold.{name}"
    if isinstance(field.default, bool):
        if not isinstance(value, bool):
            raise ConfigurationError(f"{place}: expected true or false, got {type(value).__name__}")
        return value
    expected = int if isinstance(field.default, int) else (int, float)
    if isinstance(value, bool) or not isinstance(value, expected):
        kind = "a whole number" if expected is int else "a number"
        raise ConfigurationError(f"{place}: expected {kind}, got {type(value).__name__}")
    low = field.minimum is None or value >= field.minimum
    high = field.maximum is None or value <= field.maximum
    if not (low and high):
        raise ConfigurationError(f"{place}: expected {field.minimum} to {field.maximum}, got {value}")
    return value


def parse_row(row: ConditionRow) -> ConditionConfig:
    """Return what a stored row says.

    Raises:
        ConfigurationError: the row does not make sense; the message says why.
    """
    condition = CATALOGUE.get(row.condition_name)
    if condition is None:
        raise ConfigurationError(f"{row.condition_name}: no such condition")
    if row.halt_type != condition.halt_type:
        raise ConfigurationError(
            f"{row.condition_name}: halt_type is {row.halt_type}, expected {condition.halt_type}"
        )
    if row.severity not in set(Severity):
        known = ", ".join(Severity)
        raise ConfigurationError(f"{row.condition_name}: severity {row.severity} is none of {known}")
    threshold = _parsed_threshold(row)
    for name in ("enabled", "auto_escalate"):
        if not isinstance(getattr(row, name), bool):
            raise ConfigurationError(f"{row.condition_name}: {name} is neither true nor false")
    for name in ("created_at", "updated_at"):
        if not isinstance(getattr(row, name), datetime):
            raise ConfigurationError(f"{row.condition_name}: {name} is no time")
    _require_minutes(row)
    return ConditionConfig(
        condition_name=row.condition_name,
        halt_type=condition.halt_type,
        severity=Severity(row.severity),
        threshold=parse_threshold(condition, threshold),
        enabled=row.enabled,
        auto_escalate=row.auto_escalate,
        escalate_after_minutes=row.escalate_after_minutes,
    )


def _parsed_threshold(row: ConditionRow) -> dict[str, Any]:
    if row.threshold is None:
        return {}
    if not isinstance(row.threshold, str):
        raise ConfigurationError(f"{row.condition_name}: threshold is no text")
    try:
        threshold = json.loads(row.threshold)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{row.condition_name}: threshold is not JSON ({error})") from error
    if not isinstance(threshold, dict):
        raise ConfigurationError(
            f"{row.condition_name}: threshold is {type(threshold).__name__}, expected an object"
        )
    return threshold


def _require_minutes(row: ConditionRow) -> None:
    minutes: Any = row.escalate_after_minutes
    if minutes is None:
        return
    if (
        isinstance(minutes, bool)
        or not isinstance(minutes, int)
        or not 1 <= minutes <= MAX_ESCALATION_MINUTES
    ):
        raise ConfigurationError(
            f"{row.condition_name}: escalate_after_minutes: expected 1 to {MAX_ESCALATION_MINUTES} or nothing"
        )


def _values(row: ConditionRow) -> dict[str, str]:
    """Return a row's columns as texts, whatever they are."""
    return {field.name: str(getattr(row, field.name)) for field in fields(row)}


def parse_rows(rows: tuple[ConditionRow, ...]) -> Configuration:
    """Return the configuration that the rows make: a missing row is the default, a senseless one is broken.

    Rows of conditions that this version does not know are broken too: what somebody configured never
    vanishes.
    """
    configs: dict[str, ConditionConfig] = {}
    broken: dict[str, str] = {}
    for row in rows:
        try:
            configs[row.condition_name] = parse_row(row)
        except ConfigurationError as error:
            broken[row.condition_name] = str(error)
    ordered = {
        name: configs.get(name) or default_config(condition)
        for name, condition in CATALOGUE.items()
        if name not in broken
    }
    version = digest(sorted(canonical_json(_values(row)) for row in rows))
    return Configuration(conditions=ordered, broken=broken, version=version)
