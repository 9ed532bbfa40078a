"""Strikes: a failed attempt is counted, the third one halts (specification, Three Strikes Integration)."""

from __future__ import annotations

from haltline import lifecycle, verdict
from haltline.conditions.configuration import Configuration
from haltline.conditions.evaluate import broken_configuration, evaluate
from haltline.conditions.facts import Action, Facts
from haltline.domain import Finding, HaltType, Principal, SessionState, Severity
from haltline.lifecycle import NewHalt
from haltline.records import Halt, SessionLookup
from haltline.secrets import redact
from haltline.service.context import ServiceContext
from haltline.wire import RecordAttemptInput, RecordAttemptOutput

THREE_STRIKES = "three_strikes"


async def record_attempt(
    context: ServiceContext, principal: Principal, request: RecordAttemptInput
) -> RecordAttemptOutput:
    """Count a failed attempt and say what to do next.

    Raises:
        NotFound: there is no such session.
        Conflict: the session is closed.
        StoreUnavailable: the database failed; nothing was counted.
    """
    task_id = redact(request.task_id)
    lookup = SessionLookup(token_hash=context.token_hash(request.session_token), task_id=task_id)
    halt_id, strike_id = context.new_id(), context.new_id()
    with context.operation_deadline():
        view = await context.view(lookup)
        configuration = await context.configuration.get()
        strike = NewHalt(
            id=strike_id,
            halt_type=HaltType.EXECUTION,
            severity=Severity.LOW,
            description="Failed attempt",
            condition_name=THREE_STRIKES,
            task_id=task_id,
            previous_error=redact(request.error),
        )
        transition = lifecycle.record_strike(
            strike,
            lambda count: _halt(halt_id, configuration, task_id, count),
            principal,
            declared_attempt=request.attempt_number,
            new_id=context.new_id,
            open_as=context.session_to_open(view, request.session_token, principal),
        )
        changes = await context.store.change(lookup, transition)
    count = changes.strikes.attempts if changes.strikes else 0
    found = _too_many(configuration, task_id, count)
    state = changes.session.state if changes.session else SessionState.ACTIVE
    if found is None and state is not SessionState.ACTIVE:
        return _standing(count, state, view.open_halts)
    if found is None:
        return RecordAttemptOutput(
            attempt_count=count,
            should_halt=False,
            severity="low",
            recommended_action=verdict.RETRY if count == 1 else verdict.TRY_ALTERNATIVE,
        )
    recorded = any(halt.id == halt_id for halt in changes.new_halts)
    standing = next((halt.id for halt in view.open_halts if halt.condition_name == THREE_STRIKES), None)
    return RecordAttemptOutput(
        attempt_count=count,
        should_halt=True,
        severity=found.severity.value,
        recommended_action=verdict.HALT_AND_ESCALATE,
        halt_id=halt_id if recorded else standing,
    )


def _standing(count: int, state: SessionState, open_halts: tuple[Halt, ...]) -> RecordAttemptOutput:
    """Return the answer in a session that waits for a person: the failure counts, and nothing is retried."""
    worst = max(open_halts, key=lambda halt: halt.severity.rank, default=None)
    return RecordAttemptOutput(
        attempt_count=count,
        should_halt=True,
        severity=(worst.severity if worst else Severity.CRITICAL).value,
        recommended_action=verdict.standing_halt(state),
        halt_id=worst.id if worst else None,
    )


def _too_many(configuration: Configuration, task_id: str | None, attempts: int) -> Finding | None:
    """Return the finding for a count of recorded attempts, or None below the limit.

    A row of the configuration that cannot be read halts at the first failure: it does not lift the limit.
    """
    config = configuration.conditions.get(THREE_STRIKES)
    if config is None:
        broken = broken_configuration(configuration)
        return next(found for found in broken if found.condition_name == THREE_STRIKES)
    if not config.enabled:
        return None
    action = Action(operation="record a failed attempt")
    return evaluate(Facts(action=action, task_id=task_id, recorded_attempts=attempts), config)


def _halt(halt_id: str, configuration: Configuration, task_id: str | None, attempts: int) -> NewHalt | None:
    found = _too_many(configuration, task_id, attempts)
    if found is None:
        return None
    action = Action(operation="record a failed attempt")
    return lifecycle.halt_from_finding(
        halt_id,
        found,
        configuration.conditions.get(THREE_STRIKES),
        task_id=task_id,
        action=action.summary,
        action_digest=action.digest,
        attempts=attempts,
    )
