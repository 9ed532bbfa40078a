"""Sessions: opened, closed, their state, and the ledger of what was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from haltline.domain import (
    Principal,
    PrincipalKind,
    Resolution,
    SessionState,
)
from haltline.errors import Conflict, NotFound, NotPermitted
from haltline.lifecycle.trail import session_opened
from haltline.lifecycle.transition import Transition
from haltline.records import (
    AuditEvent,
    Changes,
    FileRead,
    Halt,
    Session,
    SessionView,
)
from haltline.secrets import redact

SETTLED_AGAIN = frozenset({Resolution.ESCALATED, Resolution.TIMEOUT})
"""Resolutions that leave a halt open: a human settles it once more."""


def session_state(open_halts: tuple[Halt, ...]) -> SessionState:
    """Return the state that a session's open halts put it in."""
    if any(halt.resolution in SETTLED_AGAIN for halt in open_halts):
        return SessionState.PAUSED
    return SessionState.HALTED if open_halts else SessionState.ACTIVE


def open_session(session: Session, actor: Principal | str) -> Transition:
    """Return the transition that opens a session, or leaves it be when somebody opened it meanwhile."""

    def transition(view: SessionView, now: datetime) -> Changes:
        if view.session is not None:
            return Changes(session=view.session)
        opened = replace(session, created_at=now, updated_at=now)
        return Changes(session=opened, audit=(session_opened(opened, str(actor)),))

    return transition


def close_session(actor: Principal) -> Transition:
    """Return the transition that closes a session for good; an agent only when no halt is open."""

    def transition(view: SessionView, now: datetime) -> Changes:
        session = existing(view)
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


def record_reads(paths: Mapping[str, str | None], *, open_as: Session | None, actor: Principal) -> Transition:
    """Return the transition that enters files, with their content's hash, into the read ledger."""
    shown: dict[str, str | None] = redact(dict(paths))

    def transition(view: SessionView, now: datetime) -> Changes:
        session = view.session
        audit: list[AuditEvent] = []
        if session is None:
            if open_as is None:
                raise NotFound("There is no such session. Open one with open_session.")
            session = replace(open_as, created_at=now, updated_at=now)
            audit.append(session_opened(session, str(actor)))
        require_open(session)
        audit.append(AuditEvent(str(actor), "reads.recorded", session.id, session.id, {"reads": shown}))
        reads = tuple(FileRead(session.id, path, content_hash, now) for path, content_hash in shown.items())
        return Changes(session=session, reads=reads, audit=tuple(audit))

    return transition


def existing(view: SessionView) -> Session:
    """Return the session of a view, or raise NotFound."""
    if view.session is None:
        raise NotFound("There is no such session.")
    return view.session


def require_open(session: Session) -> Session:
    """Return a session, or raise Conflict when it is closed."""
    if session.state is SessionState.CLOSED:
        raise Conflict(f"Session {session.id} is closed; a closed session records nothing more.")
    return session
