"""Recording halts: what a halt is built from, what is not recorded twice, what escalates at once."""

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
    ReasonCode,
    Severity,
    canonical_json,
    digest,
)
from haltline.errors import NotFound
from haltline.lifecycle.messages import notification
from haltline.lifecycle.sessions import require_open, session_state
from haltline.lifecycle.trail import guidance_delivered, halt_recorded, session_opened
from haltline.lifecycle.transition import Transition
from haltline.records import (
    MAX_CONTEXT_BYTES,
    AuditEvent,
    Changes,
    Halt,
    Session,
    SessionView,
)
from haltline.secrets import redact


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
    """Return the halt that a check records for a finding; the action is kept whole, redacted.

    Evidence that does not fit into a context beside it is left out; its digest is kept, and the description.
    """
    condition = CATALOGUE.get(found.condition_name)
    context: dict[str, Any] = redact({**action, "evidence": dict(found.evidence)})
    if found.reason_code is not None:
        context["reason_code"] = found.reason_code
    if (
        len(canonical_json(context).encode()) > MAX_CONTEXT_BYTES
    ):  # the action must be whole; its digest is kept
        context["evidence"] = {"omitted": "larger than a context may be", "digest": found.evidence_digest}
    return NewHalt(
        id=halt_id,
        halt_type=found.halt_type,
        severity=found.severity,
        description=redact(found.description),
        condition_name=found.condition_name,
        task_id=task_id,
        context=context,
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
            audit.append(session_opened(session, str(actor)))
        require_open(session)
        new = tuple(_recorded(halt, session.id, now) for halt in halts if not _already_open(halt, view))
        delivered = tuple(message for message in view.guidance if message.id in hand_over)
        audit += [halt_recorded(halt, actor) for halt in new]
        audit += [AuditEvent(str(actor), "waiver.used", used, session.id, {}) for used in used_waivers]
        audit += [guidance_delivered(message, actor) for message in delivered]
        stopping = tuple(halt for halt in new if halt.is_open)
        state = session_state((*view.open_halts, *stopping))
        if state is not session.state:
            session = replace(session, state=state, updated_at=now)
        return Changes(
            session=session,
            new_halts=new,
            new_messages=tuple(
                notification(new_id(), halt, "recorded", now) for halt in new if _escalates_at_once(halt)
            ),
            used_waivers=used_waivers,
            delivered_messages=tuple(message.id for message in delivered),
            audit=tuple(audit),
        )

    return transition


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
