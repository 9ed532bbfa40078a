"""Events that the database could not take: written to the local spool, and replayed when it is back."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import anyio

from haltline import lifecycle
from haltline.conditions.configuration import MAX_ESCALATION_MINUTES
from haltline.domain import HaltType, Principal, PrincipalKind, SessionState, Severity
from haltline.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from haltline.lifecycle import NewHalt
from haltline.records import AuditEvent, Session, SessionLookup

if TYPE_CHECKING:
    from haltline.service.context import ServiceContext
    from haltline.store.spool import Claim, Spool

logger = logging.getLogger(__name__)

_ROUNDS = 2
"""One claim takes what a process that ended left behind, the next one what was spooled since."""

_POLL_SECONDS = 0.01

REPLAYER = Principal(PrincipalKind.SERVICE, "spool")


def event_of(
    halts: tuple[NewHalt, ...], token_hash: str | None, open_as: Session | None, at: str
) -> dict[str, Any]:
    """Return the spool's line for halts that could not be stored. Their texts are redacted already.

    Args:
        halts: what to record.
        token_hash: the session; None when the request named none.
        open_as: the session to open when it is not there yet.
        at: when it happened, as UTC text.
    """
    session = None
    if open_as is not None:
        session = {"id": open_as.id, "name": open_as.name, "agent_name": open_as.agent_name}
    return {"at": at, "token_hash": token_hash, "session": session, "halts": [asdict(halt) for halt in halts]}


async def replay(context: ServiceContext) -> int:
    """Hand every halt that waits to the database, by id: replaying the same one twice changes nothing.

    Halts that are spooled meanwhile may wait for the next time. When somebody else hands over, this waits
    for them: what waits has to count before anything is decided. Returns how many were handed over here. A
    halt of no session goes to the audit log. When the time is up, what was handed over so far is forgotten,
    and the next one goes on from there.

    Raises:
        StoreError: the database failed, or the spool cannot be read; the spool keeps what it has.
    """
    count = rounds = 0
    while rounds < _ROUNDS and (pending := [s for s in (context.unstored, context.spool) if _waits_in(s)]):
        outcomes = [await _replay(context, spool) for spool in pending]
        count += sum(outcome or 0 for outcome in outcomes)
        if None not in outcomes:
            rounds += 1
            continue
        await anyio.sleep(_POLL_SECONDS)
    if count:
        logger.warning("halts replayed from the spool: %d", count)
    return count


def _waits_in(spool: Spool) -> bool:
    try:
        return spool.pending()
    except OSError as error:
        raise _unreadable(error) from error


async def _replay(context: ServiceContext, spool: Spool) -> int | None:
    """Hand over what can be claimed; returns how many halts that were, or None when others have it."""
    manager = spool.claim()
    try:
        # In a thread, because a disk may hang, and a lock. If the time is up meanwhile, nobody refers to the
        # manager once that thread is done: the claim ends with it.
        claim = await context.spool_lanes.run_abandonable(manager.__enter__)
    except OSError as error:
        raise _unreadable(error) from error
    if not (claim.files or claim.events):
        manager.__exit__(None, None, None)
        return None
    left = [dict(event) for event in claim.events]
    count = 0
    try:
        while left:
            count += await _replay_first(context, left)
    finally:
        _finish(spool, claim, left)
        manager.__exit__(None, None, None)
    return count


def _finish(spool: Spool, claim: Claim, left: list[dict[str, Any]]) -> None:
    if len(left) == len(claim.events) and left and left[0] == claim.events[0]:
        return  # nothing was handed over
    try:
        spool.finish(claim, left)
    except OSError as error:  # they are handed over once more, by their ids
        logger.warning("the spool cannot be cut down: %s", error)


def _unreadable(error: OSError) -> StoreUnavailable:
    return StoreUnavailable(f"the spool cannot be read ({error}), and what waits there must count first")


async def _replay_first(context: ServiceContext, left: list[dict[str, Any]]) -> int:
    """Hand over the first halt that is left and take it away; returns how many were recorded.

    An event that cannot be recorded as it is, is kept whole in the audit log.
    """
    event = left[0]
    try:
        if not event["halts"]:
            del left[0]
            return 0
        open_as, halt = _session_of(context, event), _halt_of(event["halts"][0], event["at"])
        await _replay_halt(context, event["token_hash"], open_as, halt)
        event["halts"] = event["halts"][1:]
    except (AttributeError, InvalidInput, KeyError, TypeError, ValueError) as error:
        logger.warning("an event of the spool makes no sense (%s): see the audit log", type(error).__name__)
        unread = AuditEvent(str(REPLAYER), "spool.unreadable", "", None, {"event": json.dumps(event)})
        await context.store.note((unread,))
        del left[0]
        return 0
    return 1


async def _replay_halt(
    context: ServiceContext, token_hash: str | None, open_as: Session | None, halt: NewHalt
) -> None:
    if token_hash is None:
        await note(context, halt, REPLAYER)
        return
    known = await context.store.find_halt(halt.id)
    if known is not None:  # handed over before; or the line is forged, and must not stand in the others' way
        if known.description != halt.description:
            await note(context, halt, REPLAYER)
        return
    lookup = SessionLookup(token_hash=token_hash, halt_id=halt.id)
    transition = lifecycle.record_halts((halt,), REPLAYER, new_id=context.new_id, open_as=open_as)
    try:
        await context.store.change(lookup, transition)
    except (NotFound, Conflict):
        await note(context, halt, REPLAYER)


async def note(context: ServiceContext, halt: NewHalt, actor: Principal) -> None:
    """Write a halt that belongs to no open session to the audit log."""
    payload = {"description": halt.description, "context": dict(halt.context or {})}
    await context.store.note((AuditEvent(str(actor), "check.failed", halt.id, None, payload),))


def _session_of(context: ServiceContext, event: Mapping[str, Any]) -> Session | None:
    session = event["session"]
    if session is None:
        return None
    now = context.clock()
    return Session(
        id=session["id"],
        token_hash=event["token_hash"],
        name=session["name"],
        agent_name=session["agent_name"],
        state=SessionState.ACTIVE,
        created_at=now,
        updated_at=now,
    )


def _halt_of(values: Mapping[str, Any], at: str) -> NewHalt:
    """Return a spooled halt, with the time at which it happened in its context."""
    halt_type, severity = HaltType(values["halt_type"]), Severity(values["severity"])
    spooled = {**(values["context"] or {}), "spooled_at": at}
    for name in ("single_use", "auto_recorded", "auto_escalate"):
        if not isinstance(values[name], bool):
            raise TypeError(f"{name} is neither true nor false")
    minutes = values["escalate_after_minutes"]
    if minutes is not None and not (type(minutes) is int and 1 <= minutes <= MAX_ESCALATION_MINUTES):
        raise ValueError("escalate_after_minutes is out of its bounds")
    return NewHalt(**{**values, "halt_type": halt_type, "severity": severity, "context": spooled})
