"""What the audit log says of each change."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from haltline.domain import (
    Principal,
    utc_text,
)
from haltline.records import (
    AuditEvent,
    Halt,
    Message,
    Session,
    Strikes,
)


def session_opened(session: Session, actor: str) -> AuditEvent:
    """Say that a session was opened."""
    return AuditEvent(actor, "session.opened", session.id, session.id, {"agent_name": session.agent_name})


def halt_recorded(halt: Halt, actor: Principal) -> AuditEvent:
    """Return the audit event that carries every column of a halt that never changes."""
    return AuditEvent(str(actor), "halt.recorded", halt.id, halt.session_id, immutable_columns(halt))


def immutable_columns(halt: Halt) -> dict[str, Any]:
    """Return the columns of a halt that nobody may change after it was recorded, in JSON values."""
    return {
        "task_id": halt.task_id,
        "halt_type": halt.halt_type,
        "severity": halt.severity,
        "condition_name": halt.condition_name,
        "description": halt.description,
        "context": halt.context,
        "triggered_at": utc_text(halt.triggered_at),
        "attempt_count": halt.attempt_count,
        "previous_error": halt.previous_error,
        "action_digest": halt.action_digest,
        "evidence_digest": halt.evidence_digest,
        "auto_recorded": halt.auto_recorded,
        "auto_escalate": halt.auto_escalate,
        "escalate_at": text_of(halt.escalate_at),
    }


def guidance_delivered(message: Message, actor: Principal) -> AuditEvent:
    """Say that an agent was given its guidance."""
    payload = {"halt_id": message.halt_id}
    return AuditEvent(str(actor), "guidance.delivered", message.id, message.session_id, payload)


def halt_settled(halt: Halt, actor: Principal) -> AuditEvent:
    """Say how a halt was settled, and by whom."""
    payload = {
        "resolution": halt.resolution,
        "resolution_notes": halt.resolution_notes,
        "acknowledged_by": halt.acknowledged_by,
        "acknowledged_at": text_of(halt.acknowledged_at),
    }
    return AuditEvent(str(actor), "halt.acknowledged", halt.id, halt.session_id, payload)


def strikes_reset(strikes: Strikes, actor: Principal, why: Mapping[str, Any]) -> AuditEvent:
    """Say that a count of failures began again."""
    return AuditEvent(str(actor), "strikes.reset", strikes.task_id, strikes.session_id, why)


def text_of(moment: datetime | None) -> str | None:
    """Return a moment as text, or None."""
    return None if moment is None else utc_text(moment)
