"""Strikes: failed attempts are counted, and reset by people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from haltline.domain import (
    Principal,
)
from haltline.lifecycle.recording import NewHalt, record_halts
from haltline.lifecycle.sessions import existing, require_open
from haltline.lifecycle.trail import strikes_reset
from haltline.lifecycle.transition import Transition
from haltline.records import (
    Changes,
    Session,
    SessionView,
    Strikes,
)


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
        session_id = existing(replace(view, session=changes.session)).id
        previous = view.strikes or Strikes(session_id, strike.task_id or "", 0, now)
        return replace(changes, strikes=replace(previous, attempts=attempts, updated_at=now))

    return transition


def reset_strikes(task_id: str | None, actor: Principal) -> Transition:
    """Return the transition that starts a task's count again; the caller has checked who may."""

    def transition(view: SessionView, now: datetime) -> Changes:
        session = require_open(existing(view))
        strikes = Strikes(session.id, task_id or "", 0, now, reset_at=now, reset_by=str(actor))
        why = {"attempts": view.strikes.attempts if view.strikes else 0}
        return Changes(strikes=strikes, audit=(strikes_reset(strikes, actor, why),))

    return transition
