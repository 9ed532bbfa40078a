"""The rules of sessions, halts, strikes and settlements: from what is stored, and an event, to changes.

Every function here is pure. A store runs it inside one transaction on a fresh view, so the rules hold
whatever else happens at the same time, and they are the same on every database (DESIGN §§5, 6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from haltline.conditions.catalogue import CATALOGUE, DEFAULT_ESCALATION_MINUTES
from haltline.conditions.condition import ConditionConfig
from haltline.domain import (
    Finding,
    HaltType,
    Principal,
    PrincipalKind,
    ReasonCode,
    Resolution,
    SessionState,
    Severity,
    digest,
    utc_text,
)
from haltline.errors import AlreadySettled, Conflict, InvalidInput, NotFound, NotPermitted
from haltline.records import (
    AuditEvent,
    Changes,
    FileRead,
    Halt,
    Message,
    MessageKind,
    Session,
    SessionView,
    Strikes,
    Waiver,
)
from haltline.secrets import redact

Transition = Callable[[SessionView, datetime], Changes]

CRITICAL_WAIVER_LIFETIME = timedelta(hours=1)
"""How long a settlement of a critical finding is remembered (DESIGN §6)."""

_SETTLING_AGAIN = frozenset({Resolution.ESCALATED, Resolution.TIMEOUT})


@dataclass(frozen=True, slots=True)
class NewHalt:
    """A halt that is about to be recorded: everything but what the database decides (time, session).

    Build it with `halt_from_finding` or `halt_by_hand`, which redact every text.
    """

    id: str
    halt_type: HaltType
    severity: Severity
    description: str
    condition_name: str | None = None
    task_id: str | None = None
    context: Mapping[str, Any] | None = None
    attempt_count: int | None = None
    previous_error: str | None = None
    action_digest: str | None = None
    evidence_digest: str | None = None
    single_use: bool = False
    auto_recorded: bool = False
    auto_escalate: bool = False
    escalate_after_minutes: int | None = None


def halt_from_finding(
    halt_id: str,
    found: Finding,
    config: ConditionConfig | None,
    *,
    task_id: str | None,
    action: Mapping[str, Any],
    action_digest: str,
    attempts: int,
) -> NewHalt:
    """Return the halt that a check records for a finding; the action is kept whole, redacted."""
    condition = CATALOGUE.get(found.condition_name)
    context: dict[str, Any] = {**action, "evidence": dict(found.evidence)}
    if found.reason_code is not None:
        context["reason_code"] = found.reason_code
    return NewHalt(
        id=halt_id,
        halt_type=found.halt_type,
        severity=found.severity,
        description=redact(found.description),
        condition_name=found.condition_name,
        task_id=task_id,
        context=redact(context),
        attempt_count=attempts or None,
        action_digest=action_digest,
        evidence_digest=found.evidence_digest,
        single_use=found.severity is Severity.CRITICAL
        or (condition is not None and condition.single_use_waiver),
        auto_recorded=True,
        auto_escalate=config.auto_escalate if config else False,
        escalate_after_minutes=(
            config.escalate_after_minutes if config else DEFAULT_ESCALATION_MINUTES.get(found.severity)
        ),
    )


def session_state(open_halts: tuple[Halt, ...]) -> SessionState:
    """Return the state that a session's open halts put it in."""
    if any(halt.resolution in _SETTLING_AGAIN for halt in open_halts):
        return SessionState.PAUSED
    return SessionState.HALTED if open_halts else SessionState.ACTIVE


def open_session(session: Session, actor: Principal | str) -> Transition:
    """Return the transition that opens a session, or leaves it be when somebody opened it meanwhile."""

    def transition(view: SessionView, now: datetime) -> Changes:
        if view.session is not None:
            return Changes(session=view.session)
        opened = replace(session, created_at=now, updated_at=now)
        return Changes(session=opened, audit=(_opened(opened, str(actor)),))

    return transition


def close_session(actor: Principal) -> Transition:
    """Return the transition that closes a session for good; an agent only when no halt is open."""

    def transition(view: SessionView, now: datetime) -> Changes:
        session = _existing(view)
        if session.state is SessionState.CLOSED:
            return Changes(session=session)
        if view.open_halts and actor.kind is PrincipalKind.AGENT:
            count = len(view.open_halts)
            raise NotPermitted(
                f"Session {session.id} has {count} open {'halt' if count == 1 else 'halts'}; "
                "an agent cannot close it. A person settles what is open first."
            )
        closed = replace(session, state=SessionState.CLOSED, updated_at=now, closed_at=now)
        return Changes(
            session=closed, audit=(AuditEvent(str(actor), "session.closed", session.id, session.id, {}),)
        )

    return transition


def record_halts(
    halts: tuple[NewHalt, ...],
    actor: Principal,
    *,
    new_id: Callable[[], str],
    used_waivers: tuple[str, ...] = (),
    hand_over: frozenset[str] = frozenset(),
    open_as: Session | None = None,
) -> Transition:
    """Return the transition that records halts, uses waivers up and hands guidance over.

    A halt that is open already (the same condition and evidence, or for execution halts the same task) is not
    recorded again, nor is one whose id is stored already (a replayed one). `hand_over` names the guidance
    that the caller is about to give to the agent; `open_as` is the session to open at first sight.
    """

    def transition(view: SessionView, now: datetime) -> Changes:
        session = view.session
        audit: list[AuditEvent] = []
        if session is None:
            if open_as is None:
                raise NotFound("There is no such session. Open one with open_session.")
            session = replace(open_as, created_at=now, updated_at=now)
            audit.append(_opened(session, str(actor)))
        _open(session)
        new = tuple(_recorded(halt, session.id, now) for halt in halts if not _already_open(halt, view))
        delivered = tuple(message for message in view.guidance if message.id in hand_over)
        audit += [_halt_recorded(halt, actor) for halt in new]
        audit += [AuditEvent(str(actor), "waiver.used", used, session.id, {}) for used in used_waivers]
        audit += [_guidance_delivered(message, actor) for message in delivered]
        stopping = tuple(halt for halt in new if halt.is_open)
        state = session_state((*view.open_halts, *stopping))
        if state is not session.state:
            session = replace(session, state=state, updated_at=now)
        return Changes(
            session=session,
            new_halts=new,
            new_messages=tuple(
                _notification(new_id(), halt, "recorded", now) for halt in new if _escalates_at_once(halt)
            ),
            used_waivers=used_waivers,
            delivered_messages=tuple(message.id for message in delivered),
            audit=tuple(audit),
        )

    return transition


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
        session = _existing(view)
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
                _guidance(new_id(), settled, redact(notes), now)
                if final
                else (_notification(new_id(), settled, "escalated", now),)
            ),
            cancelled_messages_of=(halt.id,) if final else (),
            strikes=strikes,
            audit=(
                _halt_settled(settled, actor),
                *((_strikes_reset(strikes, actor, {"halt_id": halt.id}),) if strikes else ()),
            ),
        )

    return transition


def time_out(actor: Principal, new_id: Callable[[], str]) -> Transition:
    """Return the transition for a session with overdue halts: it pauses, and never approves."""

    def transition(view: SessionView, now: datetime) -> Changes:
        session = _existing(view)
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
            new_messages=tuple(_notification(new_id(), halt, "timeout", now) for halt in overdue),
            audit=tuple(
                AuditEvent(
                    str(actor),
                    "halt.timeout",
                    halt.id,
                    halt.session_id,
                    {"escalate_at": _text(halt.escalate_at)},
                )
                for halt in overdue
            ),
        )

    return transition


def record_strike(
    strike: NewHalt,
    three_strikes: Callable[[int], NewHalt | None],
    actor: Principal,
    *,
    declared_attempt: int | None,
    new_id: Callable[[], str],
    open_as: Session | None = None,
) -> Transition:
    """Return the transition that counts a failed attempt, and records a halt when it was one too many.

    The count is the greater of what is stored and what the agent says; the agent can only raise it.
    `three_strikes` gives the halt for a count, or None below the limit.
    """

    def transition(view: SessionView, now: datetime) -> Changes:
        counted = view.strikes.attempts if view.strikes else 0
        attempts = max(counted + 1, declared_attempt or 0)
        halt = three_strikes(attempts)
        row = replace(strike, attempt_count=attempts)
        halts = (row,) if halt is None else (row, halt)
        changes = record_halts(halts, actor, new_id=new_id, open_as=open_as)(view, now)
        session_id = _existing(replace(view, session=changes.session)).id
        previous = view.strikes or Strikes(session_id, strike.task_id or "", 0, now)
        return replace(changes, strikes=replace(previous, attempts=attempts, updated_at=now))

    return transition


def reset_strikes(task_id: str | None, actor: Principal) -> Transition:
    """Return the transition that starts a task's count again; the caller has checked who may."""

    def transition(view: SessionView, now: datetime) -> Changes:
        session = _open(_existing(view))
        strikes = Strikes(session.id, task_id or "", 0, now, reset_at=now, reset_by=str(actor))
        why = {"attempts": view.strikes.attempts if view.strikes else 0}
        return Changes(strikes=strikes, audit=(_strikes_reset(strikes, actor, why),))

    return transition


def record_reads(paths: Mapping[str, str | None], *, open_as: Session | None, actor: Principal) -> Transition:
    """Return the transition that enters files, with their content's hash, into the read ledger."""

    def transition(view: SessionView, now: datetime) -> Changes:
        session = view.session
        audit: list[AuditEvent] = []
        if session is None:
            if open_as is None:
                raise NotFound("There is no such session. Open one with open_session.")
            session = replace(open_as, created_at=now, updated_at=now)
            audit.append(_opened(session, str(actor)))
        _open(session)
        audit.append(AuditEvent(str(actor), "reads.recorded", session.id, session.id, {"reads": dict(paths)}))
        reads = tuple(FileRead(session.id, path, content_hash, now) for path, content_hash in paths.items())
        return Changes(session=session, reads=reads, audit=tuple(audit))

    return transition


def _existing(view: SessionView) -> Session:
    if view.session is None:
        raise NotFound("There is no such session.")
    return view.session


def _open(session: Session) -> Session:
    if session.state is SessionState.CLOSED:
        raise Conflict(f"Session {session.id} is closed; a closed session records nothing more.")
    return session


def _recorded(halt: NewHalt, session_id: str, now: datetime) -> Halt:
    minutes = halt.escalate_after_minutes
    low = halt.severity is Severity.LOW
    return Halt(
        id=halt.id,
        session_id=session_id,
        task_id=halt.task_id,
        halt_type=halt.halt_type,
        severity=halt.severity,
        condition_name=halt.condition_name,
        description=halt.description,
        context=halt.context,
        triggered_at=now,
        created_at=now,
        updated_at=now,
        attempt_count=halt.attempt_count,
        previous_error=halt.previous_error,
        action_digest=halt.action_digest,
        evidence_digest=halt.evidence_digest,
        single_use=halt.single_use,
        auto_recorded=halt.auto_recorded,
        auto_escalate=halt.auto_escalate,
        escalate_after_minutes=minutes,
        escalate_at=None if low or minutes is None else now + timedelta(minutes=minutes),
    )


def _already_open(halt: NewHalt, view: SessionView) -> bool:
    """Whether the same halt waits for an answer already: the same id, or the same condition and evidence."""
    if view.halt is not None and view.halt.id == halt.id:
        return True
    return any(is_same(known, halt) for known in view.open_halts)


def is_same(known: Halt, halt: NewHalt) -> bool:
    """Whether a halt would say again what an open one says.

    Execution conditions judge a task, so one open halt each is enough for it. A halt recorded by hand is the
    caller's own decision: it is recorded as often as it is made, and hides nothing that a check finds.
    """
    if known.id == halt.id:
        return True
    if not (known.auto_recorded and halt.auto_recorded):
        return False
    if known.condition_name != halt.condition_name or known.severity != halt.severity:
        return False
    if halt.halt_type is HaltType.EXECUTION and halt.condition_name is not None:
        return known.task_id == halt.task_id
    return known.evidence_digest == halt.evidence_digest


def _escalates_at_once(halt: Halt) -> bool:
    return halt.severity is Severity.CRITICAL or halt.auto_escalate


def _refuse_second_settlement(halt: Halt, resolution: Resolution, actor: Principal) -> None:
    if not halt.requires_acknowledgment:
        raise Conflict(f"Halt {halt.id} is of low severity: it stops nothing and needs no acknowledgement.")
    if halt.resolution not in _SETTLING_AGAIN:
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


def _guidance(message_id: str, halt: Halt, text: str | None, now: datetime) -> tuple[Message, ...]:
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


def _notification(message_id: str, halt: Halt, why: str, now: datetime) -> Message:
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


def _reset_by_settling(halt: Halt, actor: Principal, now: datetime) -> Strikes | None:
    """Return the task's count started again, when a person settles that it has failed too often.

    An agent resets nothing, even where it may settle halts. A three-strikes check that failed says nothing
    about the task.
    """
    if halt.condition_name != "three_strikes" or actor.kind is PrincipalKind.AGENT:
        return None
    if "reason_code" in (halt.context or {}):
        return None
    return Strikes(halt.session_id, halt.task_id or "", 0, now, reset_at=now, reset_by=str(actor))


def _strikes_reset(strikes: Strikes, actor: Principal, why: Mapping[str, Any]) -> AuditEvent:
    return AuditEvent(str(actor), "strikes.reset", strikes.task_id, strikes.session_id, why)


def _opened(session: Session, actor: str) -> AuditEvent:
    return AuditEvent(actor, "session.opened", session.id, session.id, {"agent_name": session.agent_name})


def failed_check_halt(halt_id: str, reason: ReasonCode, description: str, *, task_id: str | None) -> NewHalt:
    """Return the halt for a check that could not be made at all (DESIGN §2.1); `description` is redacted."""
    return NewHalt(
        id=halt_id,
        halt_type=HaltType.EXECUTION,
        severity=Severity.CRITICAL,
        description=description,
        condition_name=None,
        task_id=task_id,
        context={"reason_code": reason},
        evidence_digest=digest({"reason_code": reason, "description": description}),
        auto_recorded=True,
        escalate_after_minutes=DEFAULT_ESCALATION_MINUTES[Severity.CRITICAL],
    )


def _halt_recorded(halt: Halt, actor: Principal) -> AuditEvent:
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
        "escalate_at": _text(halt.escalate_at),
    }


def _guidance_delivered(message: Message, actor: Principal) -> AuditEvent:
    payload = {"halt_id": message.halt_id}
    return AuditEvent(str(actor), "guidance.delivered", message.id, message.session_id, payload)


def _halt_settled(halt: Halt, actor: Principal) -> AuditEvent:
    payload = {
        "resolution": halt.resolution,
        "resolution_notes": halt.resolution_notes,
        "acknowledged_by": halt.acknowledged_by,
        "acknowledged_at": _text(halt.acknowledged_at),
    }
    return AuditEvent(str(actor), "halt.acknowledged", halt.id, halt.session_id, payload)


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else utc_text(moment)
