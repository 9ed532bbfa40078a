"""Settling halts: once, by one principal, and what is remembered of it; timing them out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from haltline.domain import (
    Principal,
    PrincipalKind,
    Resolution,
    SessionState,
    Severity,
)
from haltline.errors import AlreadySettled, Conflict, InvalidInput, NotFound, NotPermitted
from haltline.lifecycle.messages import guidance, notification
from haltline.lifecycle.sessions import SETTLED_AGAIN, existing, session_state
from haltline.lifecycle.trail import halt_settled, strikes_reset, text_of
from haltline.lifecycle.transition import Transition
from haltline.records import (
    AuditEvent,
    Changes,
    Halt,
    SessionView,
    Strikes,
    Waiver,
)
from haltline.secrets import redact

CRITICAL_WAIVER_LIFETIME = timedelta(hours=1)
"""How long a settlement of a critical finding is remembered (DESIGN §6)."""


def acknowledge(
    halt_id: str,
    resolution: Resolution,
    actor: Principal,
    *,
    notes: str | None,
    continue_with_caution: bool,
    new_id: Callable[[], str],
) -> Transition:
    """Return the transition that settles a halt: once, by one principal (DESIGN §6)."""

    def transition(view: SessionView, now: datetime) -> Changes:
        session = existing(view)
        halt = view.halt
        if halt is None:
            raise NotFound(
                f"Session {session.id} has no halt {halt_id}. List its halts with get_session_halts."
            )
        _refuse_second_settlement(halt, resolution, actor)
        _require_caution(halt, resolution, notes, continue_with_caution=continue_with_caution)
        settled = replace(
            halt,
            acknowledged=True,
            acknowledged_at=now,
            acknowledged_by=str(actor),
            resolution=resolution,
            resolution_notes=redact(notes) if notes else halt.resolution_notes,
            updated_at=now,
        )
        remaining = tuple(h for h in view.open_halts if h.id != halt.id) + (
            (settled,) if settled.is_open else ()
        )
        state = session_state(remaining) if session.state is not SessionState.CLOSED else SessionState.CLOSED
        final = resolution is not Resolution.ESCALATED
        strikes = _reset_by_settling(settled, actor, now) if final else None
        return Changes(
            session=replace(session, state=state, updated_at=now),
            settled_halts=(settled,),
            new_waivers=_waiver(new_id(), settled, now) if final else (),
            new_messages=(
                guidance(new_id(), settled, redact(notes), now)
                if final
                else (notification(new_id(), settled, "escalated", now),)
            ),
            cancelled_messages_of=(halt.id,) if final else (),
            strikes=strikes,
            audit=(
                halt_settled(settled, actor),
                *((strikes_reset(strikes, actor, {"halt_id": halt.id}),) if strikes else ()),
            ),
        )

    return transition


def time_out(actor: Principal, new_id: Callable[[], str]) -> Transition:
    """Return the transition for a session with overdue halts: it pauses, and never approves."""

    def transition(view: SessionView, now: datetime) -> Changes:
        session = existing(view)
        overdue = tuple(
            replace(halt, resolution=Resolution.TIMEOUT, updated_at=now)
            for halt in view.open_halts
            if halt.is_overdue_at(now)
        )
        if not overdue:
            return Changes()
        state = SessionState.CLOSED if session.state is SessionState.CLOSED else SessionState.PAUSED
        return Changes(
            session=replace(session, state=state, updated_at=now),
            settled_halts=overdue,
            new_messages=tuple(notification(new_id(), halt, "timeout", now) for halt in overdue),
            audit=tuple(
                AuditEvent(
                    str(actor),
                    "halt.timeout",
                    halt.id,
                    halt.session_id,
                    {"escalate_at": text_of(halt.escalate_at)},
                )
                for halt in overdue
            ),
        )

    return transition


def _refuse_second_settlement(halt: Halt, resolution: Resolution, actor: Principal) -> None:
    if not halt.requires_acknowledgment:
        raise Conflict(f"Halt {halt.id} is of low severity: it stops nothing and needs no acknowledgement.")
    if halt.resolution not in SETTLED_AGAIN:
        if halt.acknowledged:
            raise _already_settled(halt)
        return
    if resolution is Resolution.ESCALATED:
        raise _already_settled(halt)
    if actor.kind not in {PrincipalKind.HUMAN, PrincipalKind.ADMIN}:
        raise NotPermitted(
            f"Halt {halt.id} is {halt.resolution}: only a human settles it now, and {actor} is {actor.kind}."
        )


def _already_settled(halt: Halt) -> AlreadySettled:
    return AlreadySettled(
        halt.id,
        halt.acknowledged_by or "nobody (it timed out)",
        halt.acknowledged_at or halt.updated_at,
        halt.resolution or Resolution.RESOLVED,
    )


def _require_caution(
    halt: Halt, resolution: Resolution, notes: str | None, *, continue_with_caution: bool
) -> None:
    if resolution is not Resolution.DISMISSED or halt.severity is not Severity.CRITICAL:
        return
    if continue_with_caution and notes and notes.strip():
        return
    raise InvalidInput(
        "Dismissing a critical halt needs continue_with_caution: true, and resolution_notes that say why the "
        "risk is taken; nothing was changed."
    )


def _waiver(waiver_id: str, halt: Halt, now: datetime) -> tuple[Waiver, ...]:
    if halt.condition_name is None or halt.evidence_digest is None:
        return ()
    expires = now + CRITICAL_WAIVER_LIFETIME if halt.severity is Severity.CRITICAL else None
    return (
        Waiver(
            id=waiver_id,
            session_id=halt.session_id,
            halt_id=halt.id,
            condition_name=halt.condition_name,
            evidence_digest=halt.evidence_digest,
            single_use=halt.single_use,
            created_at=now,
            created_by=halt.acknowledged_by or "",
            expires_at=expires,
        ),
    )


def _reset_by_settling(halt: Halt, actor: Principal, now: datetime) -> Strikes | None:
    """Return the task's count started again, when a person settles that it has failed too often.

    An agent resets nothing, even where it may settle halts. A three-strikes check that failed says nothing
    about the task, and neither does a halt by hand: its words are those of whoever recorded it.
    """
    if halt.condition_name != "three_strikes" or actor.kind is PrincipalKind.AGENT or not halt.auto_recorded:
        return None
    if "reason_code" in (halt.context or {}):
        return None
    return Strikes(halt.session_id, halt.task_id or "", 0, now, reset_at=now, reset_by=str(actor))
