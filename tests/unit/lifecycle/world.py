"""A tiny store: keeps one session's records in dictionaries and applies `Changes` to them, and nothing else.

It has no rules of its own, so what the tests see are the rules of `haltline.lifecycle`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from haltline import lifecycle
from haltline.domain import HaltType, Principal, PrincipalKind, Resolution, SessionState, Severity
from haltline.lifecycle import NewHalt, Transition
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

AGENT = Principal(PrincipalKind.AGENT, "bot")
MARIA = Principal(PrincipalKind.HUMAN, "maria")
BEN = Principal(PrincipalKind.HUMAN, "ben")
ROOT = Principal(PrincipalKind.ADMIN, "root")
ROBOT = Principal(PrincipalKind.SERVICE, "robot")
START = datetime(2026, 3, 1, 12, tzinfo=UTC)

_numbers = count(1)


def new_id() -> str:
    """Return the next identifier; later ones sort later, as UUIDv7 do."""
    return f"id-{next(_numbers):06}"


def new_halt(**fields: Any) -> NewHalt:
    """Return a halt as a check records it, of high severity unless told otherwise."""
    given: dict[str, Any] = {
        "id": new_id(),
        "halt_type": HaltType.SECURITY,
        "severity": Severity.HIGH,
        "description": "Something is wrong",
        "condition_name": "secrets_exposure",
        "context": {"operation": "deploy"},
        "action_digest": "a" * 64,
        "evidence_digest": "e" * 64,
        "auto_recorded": True,
    }
    return NewHalt(**{**given, **fields})


class World:
    """One session and everything recorded in it."""

    def __init__(self) -> None:
        self.now = START
        self.session: Session | None = Session(
            id="session-1",
            token_hash="0" * 64,
            name="nightly",
            agent_name="bot",
            state=SessionState.ACTIVE,
            created_at=START,
            updated_at=START,
        )
        self.halts: dict[str, Halt] = {}
        self.waivers: dict[str, Waiver] = {}
        self.messages: dict[str, Message] = {}
        self.strikes: dict[str, Strikes] = {}
        self.reads: dict[str, FileRead] = {}
        self.audit: list[AuditEvent] = []

    @property
    def state(self) -> SessionState:
        assert self.session is not None
        return self.session.state

    @property
    def open_halts(self) -> tuple[Halt, ...]:
        return tuple(halt for halt in self.halts.values() if halt.is_open)

    def wait(self, **time: float) -> None:
        self.now += timedelta(**time)

    def view(self, *, task_id: str | None = None, halt_id: str | None = None) -> SessionView:
        return SessionView(
            session=self.session,
            open_halts=self.open_halts,
            halt=self.halts.get(halt_id or ""),
            strikes=self.strikes.get(task_id or ""),
            waivers=tuple(w for w in self.waivers.values() if not (w.single_use and w.used_at)),
            guidance=tuple(
                m for m in self.messages.values() if m.kind is MessageKind.GUIDANCE and m.delivered_at is None
            ),
        )

    def run(
        self, transition: Transition, *, task_id: str | None = None, halt_id: str | None = None
    ) -> Changes:
        """Run a transition on what is stored and store what it returns."""
        changes = transition(self.view(task_id=task_id, halt_id=halt_id), self.now)
        self.apply(changes)
        return changes

    def apply(self, changes: Changes) -> None:
        self.session = changes.session or self.session
        for halt in changes.new_halts:
            assert halt.id not in self.halts
            self.halts[halt.id] = halt
        for halt in changes.settled_halts:
            assert halt.id in self.halts
            self.halts[halt.id] = halt
        for waiver in changes.new_waivers:
            self.waivers[waiver.id] = waiver
        for waiver_id in changes.used_waivers:
            assert self.waivers[waiver_id].used_at is None
            self.waivers[waiver_id] = replace(self.waivers[waiver_id], used_at=self.now)
        for message in changes.new_messages:
            assert message.dedup_key not in {known.dedup_key for known in self.messages.values()}
            self.messages[message.id] = message
        for message_id in changes.delivered_messages:
            assert self.messages[message_id].delivered_at is None
            self.messages[message_id] = replace(self.messages[message_id], delivered_at=self.now)
        for message in tuple(self.messages.values()):
            undelivered = message.kind is MessageKind.NOTIFICATION and message.delivered_at is None
            if undelivered and message.halt_id in changes.cancelled_messages_of:
                self.messages[message.id] = replace(message, cancelled_at=self.now)
        if changes.strikes is not None:
            self.strikes[changes.strikes.task_id] = changes.strikes
        self.reads.update({read.path: read for read in changes.reads})
        self.audit += changes.audit

    def record(self, *halts: NewHalt, actor: Principal = AGENT, **options: Any) -> tuple[Halt, ...]:
        """Record halts and return those that are new."""
        return self.run(lifecycle.record_halts(halts, actor, new_id=new_id, **options)).new_halts

    def halt(self, **fields: Any) -> Halt:
        """Record one halt and return it."""
        (recorded,) = self.record(new_halt(**fields))
        return recorded

    def settle(
        self,
        halt: Halt,
        resolution: Resolution = Resolution.RESOLVED,
        actor: Principal = MARIA,
        *,
        notes: str | None = None,
        caution: bool = False,
    ) -> Halt:
        """Settle a halt and return it as it is then."""
        transition = lifecycle.acknowledge(
            halt.id, resolution, actor, notes=notes, continue_with_caution=caution, new_id=new_id
        )
        self.run(transition, halt_id=halt.id)
        return self.halts[halt.id]

    def sweep(self) -> Changes:
        return self.run(lifecycle.time_out(ROBOT, new_id))

    def timed_out(self, **fields: Any) -> Halt:
        """Record a halt, let its time pass, sweep, and return it."""
        recorded = self.halt(escalate_after_minutes=1, **fields)
        self.wait(minutes=1)
        self.sweep()
        return self.halts[recorded.id]

    def strike(
        self,
        *,
        task_id: str | None = "task",
        declared: int | None = None,
        limit: int = 3,
        error: str = "boom",
        actor: Principal = AGENT,
        **options: Any,
    ) -> Changes:
        """Record a failed attempt; `limit` of them halt."""
        row = NewHalt(
            id=new_id(),
            halt_type=HaltType.EXECUTION,
            severity=Severity.LOW,
            description="Failed attempt",
            condition_name="three_strikes",
            task_id=task_id,
            previous_error=error,
        )
        transition = lifecycle.record_strike(
            row,
            three_strikes(task_id, limit),
            actor,
            declared_attempt=declared,
            new_id=new_id,
            **options,
        )
        return self.run(transition, task_id=task_id)

    def reset(self, task_id: str | None = "task", actor: Principal = MARIA) -> None:
        self.run(lifecycle.reset_strikes(task_id, actor), task_id=task_id)

    def close(self, actor: Principal = MARIA) -> None:
        self.run(lifecycle.close_session(actor))

    def events(self, action: str) -> list[AuditEvent]:
        return [event for event in self.audit if event.action == action]


def three_strikes(task_id: str | None, limit: int = 3) -> Callable[[int], NewHalt | None]:
    """Return what gives the halt for a count of failures, or None below the limit."""

    def halt(count: int) -> NewHalt | None:
        if count < limit:
            return None
        return new_halt(
            halt_type=HaltType.EXECUTION,
            condition_name="three_strikes",
            task_id=task_id,
            description=f"Task has failed {count} times. Context may be contaminated.",
            evidence_digest=f"strikes-{count}",
            single_use=True,
            attempt_count=count,
        )

    return halt
