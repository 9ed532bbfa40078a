"""The check: one deadline, facts, findings, verdict, record. It always answers, and a failure is a halt."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import anyio

from haltline import lifecycle, verdict
from haltline.conditions.evaluate import broken_configuration
from haltline.conditions.facts import Action, Facts
from haltline.domain import Finding, Principal, ReasonCode, SessionState
from haltline.errors import (
    ConfigurationError,
    Conflict,
    HaltlineError,
    InvalidInput,
    NotFound,
    StoreError,
    StoreUnavailable,
    text_of,
)
from haltline.lifecycle import NewHalt
from haltline.plain import plain
from haltline.records import MAX_CONTEXT_BYTES, Changes, Session, SessionLookup, SessionView
from haltline.secrets import redact
from haltline.service.answers import Judged, answer, failure, unanswered, unrecorded
from haltline.service.context import ServiceContext, Stored
from haltline.service.running import run_conditions
from haltline.service.translation import facts_of
from haltline.wire import (
    MAX_DESCRIPTION,
    MAX_NAME,
    CheckHaltConditionsInput,
    CheckHaltConditionsOutput,
    parse,
)

logger = logging.getLogger(__name__)

_ACTION_FIELDS = {"operation", "target_files", "commands", "environment", "tool_arguments"}

_TRIES = 5
"""How often a check is begun again because the session changed under it."""

CONDITIONS_SHARE = 0.6
"""The part of the time left that the conditions may take; the rest is for recording what they find."""


async def check(
    context: ServiceContext,
    principal: Principal,
    request: CheckHaltConditionsInput | Mapping[str, Any] | None,
    fields: Mapping[str, Any],
) -> CheckHaltConditionsOutput:
    """Answer a check within the deadline; every failure is a critical halt that says which one it was."""
    deadline = anyio.current_time() + context.settings.deadline_seconds
    try:
        return await _answer(context, principal, request, fields, deadline)
    except Exception as error:  # noqa: BLE001 - the last resort: even the failure could not be reported
        problem = _told(error)
        logger.critical("halt could not be stored anywhere: %s", problem)
        return unanswered(ReasonCode.CHECK_FAILED, problem)


def _told(error: Exception) -> str:
    """Return what to say of an error where nothing may fail any more, the redaction included."""
    try:
        return str(redact(text_of(error)))
    except Exception:  # noqa: BLE001 - its text cannot be redacted, so its kind has to do
        return type(error).__name__


async def _answer(
    context: ServiceContext,
    principal: Principal,
    request: CheckHaltConditionsInput | Mapping[str, Any] | None,
    fields: Mapping[str, Any],
    deadline: float,
) -> CheckHaltConditionsOutput:
    try:
        parsed = parse(CheckHaltConditionsInput, request, fields)
        _require_size(parsed)
    except BaseException as error:  # noqa: BLE001 - nothing waits here: whatever it is, the request raised it
        known = isinstance(error, InvalidInput)
        problem = str(error) if known else f"the request could not be read ({type(error).__name__})"
        token, task_id = named(request, fields, "session_token"), named(request, fields, "task_id")
        return await _failure(context, principal, ReasonCode.BAD_REQUEST, problem, token, task_id, deadline)
    try:
        return await _check(context, principal, parsed, deadline)
    except Exception as error:  # noqa: BLE001 - a check that cannot be made is a halt, whatever happened
        reason, problem = _reason_of(error, context)
        return await _failure(
            context, principal, reason, problem, parsed.session_token, parsed.task_id, deadline
        )


async def prepare(context: ServiceContext) -> None:
    """Do beforehand what the first check would otherwise do within its deadline: open, read, import.

    Never raises: what fails here is tried again by the check, which answers for it.
    """
    action = Action(operation="prepare", target_files=("file",), commands=("true",))
    facts = Facts(
        action=action,
        errors=("one error", "another error"),
        instructions=("Prepare.",),
        rules=context.rules,
    )
    try:
        with context.operation_deadline():
            await context.start()
            configuration = await context.configuration.get()
            conditions = tuple(configuration.conditions.values())
            seconds = context.settings.operation_deadline_seconds
            await run_conditions(context.lanes, facts, conditions, seconds)
    except Exception as error:  # noqa: BLE001 - nothing is decided here; the check fails by itself
        problem = redact(text_of(error))
        logger.warning("not ready, so every check will halt until this is mended: %s", problem)


async def refuse(
    context: ServiceContext, principal: Principal, reason: ReasonCode, problem: str, session_token: Any
) -> CheckHaltConditionsOutput:
    """Answer a check whose request a face could not make out, within the deadline."""
    deadline = anyio.current_time() + context.settings.deadline_seconds
    token = named({"session_token": session_token}, {}, "session_token")
    return await _failure(context, principal, reason, problem, token, None, deadline)


def _reason_of(error: Exception, context: ServiceContext) -> tuple[ReasonCode, str]:
    """Return which failure an exception is, and what to say of it."""
    if isinstance(error, TimeoutError):
        milliseconds = context.settings.deadline_seconds * 1000
        return ReasonCode.DATABASE_UNAVAILABLE, f"the database did not answer within {milliseconds:.0f} ms"
    if isinstance(error, ConfigurationError):
        return ReasonCode.CONFIGURATION_UNREADABLE, str(error)
    if isinstance(error, NotFound | Conflict):
        return ReasonCode.INVALID_SESSION, str(error)
    if isinstance(error, StoreError):
        return ReasonCode.DATABASE_UNAVAILABLE, str(error)
    if isinstance(error, HaltlineError):
        return ReasonCode.CHECK_FAILED, str(error)
    problem = text_of(error)
    logger.error("check failed: %s", redact(problem))
    return ReasonCode.CHECK_FAILED, problem


async def _check(
    context: ServiceContext, principal: Principal, request: CheckHaltConditionsInput, deadline: float
) -> CheckHaltConditionsOutput:
    for _ in range(_TRIES):
        judged = await _judge(context, principal, request, deadline)
        try:
            return await _record(context, principal, request, judged, deadline)
        except Conflict:
            # A waiver was used up, or the session halted, meanwhile: judge again on what holds now.
            continue
    raise StoreUnavailable(f"others changed the session {_TRIES} times while it was checked")


async def _judge(
    context: ServiceContext, principal: Principal, request: CheckHaltConditionsInput, deadline: float
) -> Judged:
    lookup = SessionLookup(
        token_hash=context.token_hash(request.session_token),
        task_id=redact(request.task_id),
        with_reads=bool(request.current_context.target_files or request.current_context.commands)
        or request.proposed_changes is not None,
    )
    with anyio.fail_after(max(0.0, deadline - anyio.current_time())):
        view = await context.view(lookup)
        configuration = await context.configuration.get()
    open_as = context.session_to_open(view, request.session_token, principal)
    declared = facts_of(request, view, context.workspace, context.rules)
    budget = max(0.0, deadline - anyio.current_time()) * CONDITIONS_SHARE
    configs = tuple(configuration.conditions.values())
    facts, found = await run_conditions(context.lanes, declared, configs, budget)
    findings = (*broken_configuration(configuration), *found)
    kept, waived, used = _apply_waivers(findings, view, context.clock())
    decided = verdict.decide(kept, context.settings.verdict_rules, _failures(facts))
    return Judged(lookup, view, open_as, facts, kept, waived, used, decided, configuration)


def _failures(facts: Facts) -> int:
    """Return the failures of the task so far; a first attempt that no error says has failed is none."""
    if facts.attempts == 1 and not facts.recorded_attempts and not facts.errors:
        return 0
    return facts.attempts


def _apply_waivers(
    findings: tuple[Finding, ...], view: SessionView, now: datetime
) -> tuple[tuple[Finding, ...], tuple[Finding, ...], tuple[str, ...]]:
    """Split findings into those that count and those that a person has settled, with the waivers used."""
    kept: list[Finding] = []
    waived: list[Finding] = []
    used: list[str] = []
    for found in findings:
        waiver = next(
            (
                w
                for w in view.waivers
                if found.waivable
                and w.condition_name == found.condition_name
                and w.evidence_digest == found.evidence_digest
                and w.holds_at(now)
            ),
            None,
        )
        if waiver is None:
            kept.append(found)
            continue
        waived.append(found)
        if waiver.single_use:
            used.append(waiver.id)
    return tuple(kept), tuple(waived), tuple(used)


async def _record(
    context: ServiceContext,
    principal: Principal,
    request: CheckHaltConditionsInput,
    judged: Judged,
    deadline: float,
) -> CheckHaltConditionsOutput:
    """Write what has to be written, and answer. Halts that the database cannot take go to the spool."""
    standing = _standing(context, judged)
    halting = judged.verdict.should_halt or standing
    halts = _halts_to_record(context, request, judged)
    guidance = judged.view.guidance
    used = () if halting else judged.used_waivers
    if not (halts or used or guidance or judged.open_as):
        return answer(judged, standing, {}, None, ())
    record = lifecycle.record_halts(
        halts,
        principal,
        new_id=context.new_id,
        used_waivers=used,
        hand_over=frozenset(message.id for message in guidance),
        open_as=judged.open_as,
    )
    transition = record if halting else _unless_halted_meanwhile(record, judged)
    try:
        with anyio.fail_after(max(0.0, deadline - anyio.current_time())):
            changes = await context.store.change(judged.lookup, transition)
    except (StoreError, TimeoutError) as error:
        reason, problem = _reason_of(error, context)
        if not halts:
            raise
        stored = await context.spool_halts(halts, judged.lookup.token_hash, judged.open_as, deadline)
        return unrecorded(judged, halts, reason, problem, stored)
    ids = _halt_ids(judged, halts, changes)
    return answer(judged, standing, ids, changes, halts)


def _unless_halted_meanwhile(record: lifecycle.Transition, judged: Judged) -> lifecycle.Transition:
    """Return the transition for a check that is about to let the action pass, on what it has looked at."""
    known = {halt.id for halt in judged.view.open_halts}

    def transition(view: SessionView, now: datetime) -> Changes:
        if any(halt.id not in known for halt in view.open_halts):
            raise Conflict("the session was halted while it was checked")
        if any(w.id in judged.used_waivers and not w.holds_at(now) for w in view.waivers):
            raise Conflict("a waiver has expired by the database's clock")
        return record(view, now)

    return transition


def _standing(context: ServiceContext, judged: Judged) -> bool:
    """Whether the session's open halts stop this action; provable reads may pass."""
    session = judged.view.session
    if session is None or (session.state is SessionState.ACTIVE and not judged.view.open_halts):
        return False
    return not (context.settings.allow_reads_while_halted and _only_reads(judged.facts))


def _only_reads(facts: Facts) -> bool:
    """Whether the shell analysis proves that the action only reads; an agent's word does not.

    An analysis that has not ended in the time of the conditions is not waited for: it proves nothing.
    """
    action = facts.action
    if not action.commands or action.tool_arguments is not None or facts.outputs:
        return False
    if action.paths or action.changes is not None:  # files that the agent itself says it modifies
        return False
    return facts.is_analysed and facts.only_reads


def _halts_to_record(
    context: ServiceContext, request: CheckHaltConditionsInput, judged: Judged
) -> tuple[NewHalt, ...]:
    if not judged.verdict.to_record:
        return ()
    action = judged.facts.action.summary
    task_id = redact(request.task_id)
    return tuple(
        lifecycle.halt_from_finding(
            context.new_id(),
            found,
            judged.configuration.conditions.get(found.condition_name),
            task_id=task_id,
            action=action,
            action_digest=judged.facts.action.digest,
            attempts=judged.facts.attempts,
        )
        for found in judged.verdict.to_record
    )


def _halt_ids(judged: Judged, halts: tuple[NewHalt, ...], changes: Changes) -> dict[str, str]:
    """Return the halt that stands for each recorded finding: a new one, or the one that was open already."""
    new = {halt.id for halt in changes.new_halts}
    ids: dict[str, str] = {}
    for halt, found in zip(halts, judged.verdict.to_record, strict=True):
        if halt.id in new:
            ids[found.evidence_digest] = halt.id
            continue
        known = next((k for k in judged.view.open_halts if lifecycle.is_same(k, halt)), None)
        ids[found.evidence_digest] = known.id if known else halt.id
    return ids


async def _failure(
    context: ServiceContext,
    principal: Principal,
    reason: ReasonCode,
    problem: str,
    token: str | None,
    task_id: str | None,
    deadline: float,
) -> CheckHaltConditionsOutput:
    """Answer a check that could not be made: critical, with its reason, the event stored if possible."""
    description = redact(f"Halt check failed: {problem}")[:MAX_DESCRIPTION]
    halt = lifecycle.failed_check_halt(context.new_id(), reason, description, task_id=redact(task_id))
    stored: Stored = "nowhere"
    session: Session | None = None
    if reason not in {ReasonCode.DATABASE_UNAVAILABLE, ReasonCode.DEADLINE_EXCEEDED}:
        stored, session, halt_id = await context.store_failure(halt, token, principal, deadline)
    else:
        halt_id = halt.id
    if stored == "nowhere":
        token_hash = context.token_hash(token) if token else None
        stored = await context.spool_halts((halt,), token_hash, context.named(token, principal), deadline)
    return failure(halt, reason, session.state if session else None, stored, halt_id)


def named(request: Any, fields: Mapping[str, Any], name: str) -> str | None:
    """Return the session or task that a request names, malformed or not, if it can be made out and stored."""
    try:
        if name in fields:
            value = plain(fields[name])
        elif isinstance(request, CheckHaltConditionsInput):
            value = plain(getattr(request, name))
        else:
            value = plain(request[name])
    except BaseException:  # noqa: BLE001 - nothing waits here: whatever it is, the request raised it
        return None
    return value if isinstance(value, str) and 0 < len(value) <= MAX_NAME else None


def _require_size(request: CheckHaltConditionsInput) -> None:
    """Refuse an action that cannot be shown whole to the person who has to judge it.

    Raises:
        InvalidInput: the action is larger than the context of a halt may be.
    """
    context, changes = request.current_context, request.proposed_changes
    size = len(context.model_dump_json(include=_ACTION_FIELDS).encode())
    if changes is not None:
        size += sum(len(path.encode()) for path in (*changes.files_to_modify, *(changes.contents or ())))
    if size > MAX_CONTEXT_BYTES:
        raise InvalidInput(
            f"current_context: the action has {size} bytes as JSON, at most {MAX_CONTEXT_BYTES}"
        )
