"""From wire models to facts and records, and back. Nothing here decides anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haltline.conditions.facts import Action, Facts, ProposedChanges, ToolCall
from haltline.domain import Finding, utc_text
from haltline.records import ConditionRow, Halt, Message, SessionView
from haltline.wire import (
    CheckHaltConditionsInput,
    ContextAnnotations,
    CurrentContext,
    Guidance,
    HaltEvent,
    HaltReason,
    ProposedChangesInput,
)

if TYPE_CHECKING:
    from haltline.shell.book import Book


def action_of(request: CheckHaltConditionsInput) -> Action:
    """Return the action that a request asks about."""
    context = request.current_context
    return Action(
        operation=context.operation,
        target_files=tuple(context.target_files or ()),
        commands=tuple(context.commands or ()),
        environment=context.environment,
        changes=_changes_of(request.proposed_changes),
        tool_arguments=context.tool_arguments,
    )


def facts_of(
    request: CheckHaltConditionsInput, view: SessionView, workspace: str | None, rules: Book | None = None
) -> Facts:
    """Return the facts of a request: what it declares, and what the session has recorded.

    Where an adapter keeps a ledger of reads it wins over what the agent declares to have read.
    """
    context = request.current_context
    declared_reads = tuple(context.files_read or ())
    return Facts(
        action=action_of(request),
        task_id=request.task_id,
        files_read=tuple(read.path for read in view.reads) or declared_reads,
        declared_attempts=context.attempt_number,
        recorded_attempts=view.strikes.attempts if view.strikes else 0,
        errors=_errors(context, view),
        recorded_errors=view.recent_errors,
        uncertainty=context.uncertainty_score,
        scope_boundary=context.scope_boundary,
        instructions=tuple(context.user_instructions or ()),
        outputs=tuple(context.outputs or ()),
        credentials=tuple(context.credentials or ()),
        services={name: tuple(services) for name, services in (context.services or {}).items()},
        recent_responses=tuple(context.recent_responses or ()),
        recent_calls=tuple(ToolCall(c.tool, c.arguments, c.failed) for c in context.recent_calls or ()),
        workspace=workspace,
        rules=rules,
    )


def _changes_of(changes: ProposedChangesInput | None) -> ProposedChanges | None:
    if changes is None:
        return None
    return ProposedChanges(
        files_to_modify=tuple(changes.files_to_modify),
        has_tests=changes.has_tests,
        has_rollback_plan=changes.has_rollback_plan,
        tests_pass=changes.tests_pass,
        contents=changes.contents or {},
        dependents={path: tuple(users) for path, users in (changes.dependents or {}).items()},
    )


def _errors(context: CurrentContext, view: SessionView) -> tuple[str, ...]:
    """Return the errors of the task, the oldest first: recorded ones, then declared ones not recorded yet."""
    recorded = list(view.recent_errors)
    left = recorded.copy()
    declared = []
    for error in context.previous_errors or ():
        if error in left:
            left.remove(error)
        else:
            declared.append(error)
    return (*recorded, *declared)


def reason_of(found: Finding, halt_id: str | None) -> HaltReason:
    """Return a finding as the check reports it."""
    return HaltReason(
        halt_type=found.halt_type,
        condition_name=found.condition_name,
        severity=found.severity,
        description=found.description,
        auto_recorded=halt_id is not None,
        halt_id=halt_id,
    )


def reason_of_halt(halt: Halt) -> HaltReason:
    """Return a halt that is open already as the check reports it."""
    return HaltReason(
        halt_type=halt.halt_type,
        condition_name=halt.reported_name or halt.halt_type,
        severity=halt.severity,
        description=halt.description,
        auto_recorded=halt.auto_recorded,
        halt_id=halt.id,
    )


def annotations_of(findings: tuple[Finding, ...]) -> ContextAnnotations | None:
    """Return the annotations of all findings, or None when there are none."""
    merged: dict[str, list[str]] = {}
    for found in findings:
        for name, values in found.annotations.items():
            merged.setdefault(name, []).extend(values)
    return ContextAnnotations(**merged) if merged else None


def guidance_of(message: Message) -> Guidance:
    """Return a message of the outbox as the agent gets it."""
    return Guidance.model_validate(dict(message.payload))


def event_of(halt: Halt) -> HaltEvent:
    """Return a halt as it is listed."""
    return HaltEvent(
        halt_id=halt.id,
        halt_type=halt.halt_type,
        severity=halt.severity,
        description=halt.description,
        triggered_at=utc_text(halt.triggered_at),
        acknowledged=halt.acknowledged,
        acknowledged_at=utc_text(halt.acknowledged_at) if halt.acknowledged_at else None,
        resolution=halt.resolution,
        session_id=halt.session_id,
        task_id=halt.task_id,
        condition_name=halt.reported_name,
        acknowledged_by=halt.acknowledged_by,
        resolution_notes=halt.resolution_notes,
        attempt_count=halt.attempt_count,
        previous_error=halt.previous_error,
        context=dict(halt.context) if halt.context is not None else None,
        escalate_at=utc_text(halt.escalate_at) if halt.escalate_at else None,
    )


def stored_values_of(row: ConditionRow) -> dict[str, Any]:
    """Return a stored row as it is, in JSON values, for rows that may not make sense."""
    values = {
        "condition_name": row.condition_name,
        "halt_type": row.halt_type,
        "enabled": row.enabled,
        "severity": row.severity,
        "threshold": row.threshold,
        "auto_escalate": row.auto_escalate,
        "escalate_after_minutes": row.escalate_after_minutes,
    }
    plain = (str, int, type(None))
    return {name: value if isinstance(value, plain) else repr(value) for name, value in values.items()}
