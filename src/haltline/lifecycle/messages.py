"""The outbox: what is owed to people and to the agent."""

from __future__ import annotations

from datetime import datetime

from haltline.records import (
    Halt,
    Message,
    MessageKind,
)


def guidance(message_id: str, halt: Halt, text: str | None, now: datetime) -> tuple[Message, ...]:
    """Return what the agent is owed: the words of who settles the halt, not those of who escalated it."""
    if not text:
        return ()
    payload = {
        "halt_id": halt.id,
        "condition_name": halt.condition_name,
        "resolution": halt.resolution,
        "text": text,
        "by": halt.acknowledged_by,
    }
    key = f"guidance:{halt.id}"
    return (Message(message_id, MessageKind.GUIDANCE, key, halt.session_id, halt.id, payload, now),)


def notification(message_id: str, halt: Halt, why: str, now: datetime) -> Message:
    """Return the message owed to people; its key keeps it from being owed twice for one reason."""
    payload = {
        "why": why,
        "halt_id": halt.id,
        "severity": halt.severity,
        "condition_name": halt.condition_name,
        "description": halt.description,
    }
    key = f"{why}:{halt.id}"
    return Message(message_id, MessageKind.NOTIFICATION, key, halt.session_id, halt.id, payload, now)
