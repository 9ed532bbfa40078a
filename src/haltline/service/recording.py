"""Record a halt by hand, or from another guardrail (specification, guardrail_record_halt)."""

from __future__ import annotations

from datetime import datetime

import anyio

from haltline import lifecycle
from haltline.conditions.catalogue import CATALOGUE, DEFAULT_ESCALATION_MINUTES
from haltline.conditions.condition import ConditionConfig
from haltline.domain import HaltType, Principal, Severity, canonical_json, digest, utc_text
from haltline.errors import InvalidInput, StoreError
from haltline.lifecycle import NewHalt
from haltline.records import MAX_CONTEXT_BYTES, SessionLookup
from haltline.secrets import redact
from haltline.service.context import ServiceContext
from haltline.wire import RecordHaltInput, RecordHaltOutput


async def record(context: ServiceContext, principal: Principal, request: RecordHaltInput) -> RecordHaltOutput:
    """Store a halt and stop the session; what the database cannot take goes to the spool.

    Raises:
        InvalidInput: the context is too large, or the condition belongs to another halt type.
        NotFound: there is no such session.
        Conflict: the session is closed.
        StoreUnavailable: neither the database nor the spool took it.
    """
    _require_matching_type(request)
    lookup = SessionLookup(token_hash=context.token_hash(request.session_token))
    deadline = anyio.current_time() + context.settings.operation_deadline_seconds
    halt = _halt(context.new_id(), request, None)
    try:
        with context.operation_deadline():
            view = await context.view(lookup)
            open_as = context.session_to_open(view, request.session_token, principal)
            configuration = await context.configuration.get()
            halt = _halt(halt.id, request, configuration.conditions.get(request.condition_name or ""))
            transition = lifecycle.record_halts((halt,), principal, new_id=context.new_id, open_as=open_as)
            changes = await context.store.change(lookup, transition)
    except StoreError:
        named = context.named(request.session_token, principal)
        stored = await context.spool_halts((halt,), lookup.token_hash, named, deadline)
        if stored != "spool":
            raise
        return _output(halt, context.clock(), stored)
    return _output(halt, changes.new_halts[0].triggered_at, "database")


def _output(halt: NewHalt, at: datetime, stored: str) -> RecordHaltOutput:
    requires_acknowledgment = halt.severity is not Severity.LOW
    return RecordHaltOutput(
        halt_id=halt.id,
        recorded_at=utc_text(at),
        requires_acknowledgment=requires_acknowledgment,
        escalation_triggered=halt.severity is Severity.CRITICAL or halt.auto_escalate,
        event_stored="spool" if stored == "spool" else "database",
    )


def _halt(halt_id: str, request: RecordHaltInput, config: ConditionConfig | None) -> NewHalt:
    severity = Severity(request.severity)
    context = redact(request.context.model_dump(exclude_none=True)) if request.context else None
    if context is not None and len(canonical_json(context).encode()) > MAX_CONTEXT_BYTES:
        raise InvalidInput(f"context: more than {MAX_CONTEXT_BYTES} bytes as JSON after redaction")
    description = redact(request.description)
    return NewHalt(
        id=halt_id,
        halt_type=HaltType(request.halt_type),
        severity=severity,
        description=description,
        condition_name=redact(request.condition_name),
        task_id=redact(request.task_id),
        context=context,
        attempt_count=request.attempt_count,
        previous_error=redact(request.previous_error),
        evidence_digest=digest({"description": description, "context": context}),
        auto_escalate=bool(request.auto_escalate) or (config is not None and config.auto_escalate),
        escalate_after_minutes=_escalation_minutes(severity, config),
    )


def _escalation_minutes(severity: Severity, config: ConditionConfig | None) -> int | None:
    if config is not None and config.escalate_after_minutes is not None:
        return config.escalate_after_minutes
    return DEFAULT_ESCALATION_MINUTES.get(severity)


def _require_matching_type(request: RecordHaltInput) -> None:
    condition = CATALOGUE.get(request.condition_name or "")
    if condition is not None and condition.halt_type != request.halt_type:
        raise InvalidInput(
            f"halt_type: {request.condition_name} belongs to {condition.halt_type}, got {request.halt_type}"
        )
