"""The configuration as a file: written by `haltline config export`, read by `haltline config import`.

Pure but for reading the file: from a configuration to a mapping and back, and the difference between the two.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from haltline.conditions.catalogue import CATALOGUE
from haltline.conditions.condition import ConditionConfig
from haltline.conditions.configuration import Configuration, parse_threshold
from haltline.errors import ConfigurationError, InvalidInput
from haltline.faces.cli.yaml_file import read_mapping
from haltline.wire import UpdateHaltConfigInput, parse

_TOP = "conditions"
_HEADER = "# What each condition of Haltline does; read it back with `haltline config import FILE`.\n"


@dataclass(frozen=True, slots=True)
class Change:
    """What an import changes of one condition: each field with its value before and after."""

    condition_name: str
    fields: Mapping[str, tuple[Any, Any]]

    def lines(self) -> list[str]:
        """Return the difference, for people."""
        return [f"{name}: {_text(before)} -> {_text(after)}" for name, (before, after) in self.fields.items()]

    def request(self) -> dict[str, Any]:
        """Return the request that makes it."""
        return {
            "condition_name": self.condition_name,
            **{name: after for name, (_, after) in self.fields.items()},
        }


def values_of(config: ConditionConfig) -> dict[str, Any]:
    """Return the fields of a condition that a file holds."""
    return {
        "enabled": config.enabled,
        "severity": str(config.severity),
        "threshold": dict(config.threshold),
        "auto_escalate": config.auto_escalate,
        "escalate_after_minutes": config.escalate_after_minutes,
    }


def as_yaml(configuration: Configuration) -> str:
    """Return a configuration as a file; a row that makes no sense is a comment."""
    conditions = {name: values_of(config) for name, config in configuration.conditions.items()}
    text = yaml.safe_dump({_TOP: conditions}, sort_keys=False, default_flow_style=False, allow_unicode=True)
    broken = "".join(
        f"# {name} is missing here: {json.dumps(why)}\n" for name, why in configuration.broken.items()
    )
    return f"{_HEADER}{broken}{text}"


def read_changes(path: Path, configuration: Configuration) -> list[Change]:
    """Return what a file changes, after every value in it was found to fit.

    Raises:
        ConfigurationError: the file or a value in it does not hold; nothing was changed.
    """
    values = read_mapping(path)
    conditions = values.get(_TOP)
    unknown = sorted(set(values) - {_TOP})
    if unknown or not isinstance(conditions, dict):
        got = ", ".join(unknown) or "no mapping there"
        raise ConfigurationError(
            f"{path}: expected one name, {_TOP}, with the conditions under it; got {got}"
        )
    problems: list[str] = []
    changes: list[Change] = []
    for name, wanted in conditions.items():
        try:
            change = _change(name, wanted, configuration)
        except InvalidInput as error:
            problems += error.problems
            continue
        if change.fields:
            changes.append(change)
    if problems:
        raise ConfigurationError(f"{path}: {'; '.join(problems)}. Nothing was changed.", tuple(problems))
    return changes


def _change(name: str, wanted: Any, configuration: Configuration) -> Change:
    condition = CATALOGUE.get(name)
    if condition is None:
        raise ConfigurationError(f"{name}: no such condition; known are {', '.join(CATALOGUE)}")
    if not isinstance(wanted, dict):
        raise ConfigurationError(f"{name}: expected fields with values, got {type(wanted).__name__}")
    current = configuration.conditions.get(name)
    before: Mapping[str, Any] = values_of(current) if current else {}
    _require_possible(name, wanted, before)
    stated = {field: value for field, value in wanted.items() if value is not None}
    try:
        parse(UpdateHaltConfigInput, {**stated, "condition_name": name}, {})
    except InvalidInput as error:
        raise ConfigurationError(
            f"{name}: {error}", tuple(f"{name}: {item}" for item in error.problems)
        ) from None
    if "threshold" in stated:
        stated["threshold"] = parse_threshold(condition, stated["threshold"])
    return Change(
        name,
        {field: (before.get(field), value) for field, value in stated.items() if before.get(field) != value},
    )


def _require_possible(name: str, wanted: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Refuse a null that would have to take a value away: an update cannot do that."""
    for field, value in wanted.items():
        if field == "condition_name":
            raise ConfigurationError(f"{name}: condition_name is the name above the fields, and no field")
        if value is None and before.get(field) is not None:
            raise ConfigurationError(
                f"{name}: {field}: expected a value, got null; "
                f"it is {_text(before[field])} and cannot be taken away"
            )


def _text(value: Any) -> str:
    return "unset" if value is None else json.dumps(value)
