"""Makes facts and runs one condition of the catalogue over them, at its default configuration or another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from haltline.conditions.catalogue import CATALOGUE, default_config
from haltline.conditions.condition import ConditionConfig
from haltline.conditions.evaluate import evaluate
from haltline.conditions.facts import Action, Facts, ProposedChanges
from haltline.domain import Finding, Severity

LOW, MEDIUM, HIGH, CRITICAL = Severity

_OF_ACTION = ("operation", "target_files", "commands", "environment", "changes", "tool_arguments")


def facts(*commands: str, **given: Any) -> Facts:
    """Return facts of an action with these commands; keywords are fields of the action or of the facts."""
    action = {name: given.pop(name) for name in _OF_ACTION if name in given}
    return Facts(action=Action(**{"operation": "work", "commands": commands, **action}), **given)


def changes(*files: str, **given: Any) -> ProposedChanges:
    """Return proposed changes of files, with tests and a rollback plan unless told otherwise."""
    return ProposedChanges(files_to_modify=files, **given)


def config(name: str, *, severity: Severity | None = None, **threshold: Any) -> ConditionConfig:
    """Return a condition's configuration with some values of its threshold changed."""
    default = default_config(CATALOGUE[name])
    return replace(
        default, severity=severity or default.severity, threshold={**default.threshold, **threshold}
    )


def judge(name: str, of: Facts, **options: Any) -> Finding | None:
    """Run one condition as a check does."""
    return evaluate(of, config(name, **options))


def found(name: str, of: Facts, **options: Any) -> Finding:
    """Run one condition that must trigger, and must not fail."""
    finding = judge(name, of, **options)
    assert finding is not None, f"{name} did not trigger"
    assert finding.reason_code is None, finding.description
    assert (finding.condition_name, finding.halt_type) == (name, CATALOGUE[name].halt_type)
    return finding


def said(name: str, of: Facts, **options: Any) -> tuple[Severity, str]:
    """Return how severe a finding is and what it says."""
    finding = found(name, of, **options)
    return finding.severity, finding.description
