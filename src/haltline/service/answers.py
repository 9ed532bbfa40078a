"""From what a check has found out to what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from haltline import verdict
from haltline.conditions.configuration import Configuration
from haltline.conditions.facts import Facts
from haltline.domain import CHECK_FAILED, Decision, Finding, ReasonCode, SessionState, Severity
from haltline.lifecycle import NewHalt, session_state
from haltline.records import Changes, Halt, Session, SessionLookup, SessionView
from haltline.secrets import redact
from haltline.service.context import Stored
from haltline.service.translation import annotations_of, guidance_of, reason_of, reason_of_halt
from haltline.verdict import Verdict
from haltline.wire import MAX_DESCRIPTION, CheckHaltConditionsOutput, HaltReason


@dataclass(frozen=True, slots=True)
class Judged:
    """What a check has found out before anything is recorded."""

    lookup: SessionLookup
    view: SessionView
    open_as: Session | None
    facts: Facts
    findings: tuple[Finding, ...]
    waived: tuple[Finding, ...]
    used_waivers: tuple[str, ...]
    verdict: Verdict
    configuration: Configuration


def answer(
    judged: Judged,
    standing: bool,
    ids: Mapping[str, str],
    changes: Changes | None,
    halts: tuple[NewHalt, ...],
) -> CheckHaltConditionsOutput:
    """Return the answer of a check that worked; `standing` says that open halts stop the action anyway."""
    session = changes.session if changes and changes.session else judged.view.session
    reasons = [reason_of(found, ids.get(found.evidence_digest)) for found in judged.findings]
    listed = {reason.halt_id for reason in reasons}
    if standing:
        reasons += [reason_of_halt(halt) for halt in judged.view.open_halts if halt.id not in listed]
    delivered = set(changes.delivered_messages) if changes else set()
    decided = judged.verdict
    state = session.state if session else SessionState.ACTIVE
    before = judged.view.session.state if judged.view.session else SessionState.ACTIVE
    if standing and before is SessionState.ACTIVE:  # open halts count, whatever the session's row says
        before = state = session_state(judged.view.open_halts)
    return CheckHaltConditionsOutput(
        should_halt=decided.should_halt or standing,
        halt_reasons=reasons,
        highest_severity=_highest(judged.view.open_halts if standing else (), decided).value,
        recommended_action=_recommended_action(decided, before, standing=standing),
        context_annotations=annotations_of(judged.findings),
        verdict=Decision.HALT if standing else decided.decision,
        reason_code=decided.reason_code,
        guidance=[guidance_of(message) for message in judged.view.guidance if message.id in delivered],
        session_state=state,
        waived=[found.condition_name for found in judged.waived],
        event_stored="database" if halts else None,
    )


def _recommended_action(decided: Verdict, before: SessionState, *, standing: bool) -> str:
    """Return what the agent is told; `before` is the session's state when it asked."""
    if decided.reason_code is not None:
        return decided.recommended_action
    if standing:
        return verdict.standing_halt(before)
    if decided.decision is Decision.PROCEED and before in (SessionState.HALTED, SessionState.PAUSED):
        return verdict.permitted_read(before)
    return decided.recommended_action


def _highest(open_halts: tuple[Halt, ...], decided: Verdict) -> Severity:
    severities = (decided.highest_severity, *(halt.severity for halt in open_halts))
    return max(severities, key=lambda severity: severity.rank)


def unrecorded(
    judged: Judged, halts: tuple[NewHalt, ...], reason: ReasonCode, problem: str, stored: Stored
) -> CheckHaltConditionsOutput:
    """Return the answer when the halts were found but the database could not take them."""
    ids = dict(zip((f.evidence_digest for f in judged.verdict.to_record), (h.id for h in halts), strict=True))
    failure = HaltReason(
        halt_type="execution",
        condition_name=CHECK_FAILED,
        severity="critical",
        description=redact(f"Halt check failed: {problem}"),
        auto_recorded=False,
    )
    return CheckHaltConditionsOutput(
        should_halt=True,
        halt_reasons=[
            *(reason_of(found, ids.get(found.evidence_digest)) for found in judged.findings),
            failure,
        ],
        highest_severity="critical",
        recommended_action=verdict.failure_action(reason),
        context_annotations=annotations_of(judged.findings),
        verdict=Decision.HALT,
        reason_code=reason,
        session_state=judged.view.session.state if judged.view.session else None,
        event_stored=stored,
    )


def failure(
    halt: NewHalt, reason: ReasonCode, state: SessionState | None, stored: Stored, halt_id: str | None
) -> CheckHaltConditionsOutput:
    """Return the answer when no check could be made."""
    return CheckHaltConditionsOutput(
        should_halt=True,
        halt_reasons=[
            HaltReason(
                halt_type=halt.halt_type,
                condition_name=CHECK_FAILED,
                severity=halt.severity,
                description=halt.description,
                auto_recorded=stored != "nowhere",
                halt_id=halt_id,
            )
        ],
        highest_severity="critical",
        recommended_action=verdict.failure_action(reason),
        verdict=Decision.HALT,
        reason_code=reason,
        session_state=state,
        event_stored=stored,
    )


def unanswered(reason: ReasonCode, problem: str) -> CheckHaltConditionsOutput:
    """Return the answer when nothing is left to record a failure with; `problem` is redacted."""
    return CheckHaltConditionsOutput(
        should_halt=True,
        halt_reasons=[
            HaltReason(
                halt_type="execution",
                condition_name=CHECK_FAILED,
                severity="critical",
                description=f"Halt check failed: {problem}"[:MAX_DESCRIPTION],
                auto_recorded=False,
            )
        ],
        highest_severity="critical",
        recommended_action=verdict.failure_action(reason),
        verdict=Decision.HALT,
        reason_code=reason,
        event_stored="nowhere",
    )
