"""What the store in memory keeps, and the checks that a database makes before it writes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from uuid_utils.compat import uuid7

from haltline.domain import Resolution
from haltline.errors import Conflict, ImmutableRecord
from haltline.records import (
    ApiKey,
    AuditEntry,
    AuditEvent,
    Changes,
    ConditionRow,
    FileRead,
    Halt,
    Message,
    MessageKind,
    Session,
    SessionLookup,
    SessionView,
    Strikes,
    Waiver,
)
from haltline.store import audit
from haltline.store.defaults import DEFAULT_CONDITIONS
from haltline.store.rows import RECENT_ERRORS, SETTLEMENT, canonical_id, check_storable, json_text


def may_become(old: Halt, new: Halt) -> bool:
    """Whether a halt may be settled so: the rule that the databases' triggers hold (DESIGN §7)."""
    if old.resolution in (Resolution.ESCALATED, Resolution.TIMEOUT):
        return new.acknowledged and new.resolution in (Resolution.RESOLVED, Resolution.DISMISSED)
    if old.acknowledged:
        return False
    if not new.acknowledged:
        return new.resolution is Resolution.TIMEOUT
    return new.resolution in (Resolution.RESOLVED, Resolution.ESCALATED, Resolution.DISMISSED)


class Contents:
    """Sessions, halts and the rest in dictionaries; whoever uses them holds a lock.

    Args:
        now: when the default configuration was made.
    """

    def __init__(self, now: datetime) -> None:
        self.sessions: dict[str, Session] = {}
        self.by_token: dict[str, str] = {}
        self.halts: dict[str, Halt] = {}
        self.halts_of: dict[str, dict[str, None]] = {}
        self.archive: dict[str, Halt] = {}
        self.waivers: dict[str, Waiver] = {}
        self.messages: dict[str, Message] = {}
        self.dedup_keys: set[str] = set()
        self.strikes: dict[tuple[str, str], Strikes] = {}
        self.reads: dict[tuple[str, str], FileRead] = {}
        self.keys: dict[str, ApiKey] = {}
        self.audit: list[AuditEntry] = []
        self.conditions = {row.condition_name: row for row in _default_rows(now)}

    def session(self, lookup: SessionLookup) -> Session | None:
        """Return the session that is meant."""
        if lookup.token_hash is not None:
            return self.sessions.get(self.by_token.get(lookup.token_hash, ""))
        return self.sessions.get(canonical_id(lookup.session_id or "") or "")

    def find_halt(self, halt_id: str) -> Halt | None:
        """Return a halt wherever it lies."""
        known = canonical_id(halt_id) or ""
        return self.halts.get(known) or self.archive.get(known)

    def view(self, lookup: SessionLookup) -> SessionView:
        """Return what a transition may know of a session."""
        session = self.session(lookup)
        if session is None:
            return SessionView(None)
        halts = sorted(
            (self.halts[halt_id] for halt_id in self.halts_of.get(session.id, ())),
            key=lambda halt: (halt.triggered_at, halt.id),
        )
        halt = self.find_halt(lookup.halt_id) if lookup.halt_id is not None else None
        strikes = self.strikes.get((session.id, lookup.task_id or ""))
        return SessionView(
            session=session,
            open_halts=tuple(halt for halt in halts if halt.is_open),
            halt=halt if halt is not None and halt.session_id == session.id else None,
            strikes=strikes,
            recent_errors=_recent_errors(halts, strikes),
            waivers=_by_age(
                w for w in self.waivers.values() if w.session_id == session.id and not _used_up(w)
            ),
            guidance=_by_age(
                message
                for message in self.messages.values()
                if message.session_id == session.id
                and message.kind is MessageKind.GUIDANCE
                and _owed(message)
            ),
            reads=self._reads_of(session.id) if lookup.with_reads else (),
        )

    def _reads_of(self, session_id: str) -> tuple[FileRead, ...]:
        found = [read for read in self.reads.values() if read.session_id == session_id]
        return tuple(sorted(found, key=lambda read: read.path))

    def write(self, changes: Changes, now: datetime) -> None:
        """Check changes whole, then apply them with their audit entries."""
        check_storable(changes)
        self._check(changes)
        self._apply(changes, now)
        self.append_audit(changes.audit, now)

    def _check(self, changes: Changes) -> None:
        """Raise what a database would raise, before anything is applied."""
        for halt in changes.new_halts:
            if halt.id in self.halts or halt.id in self.archive:
                raise ImmutableRecord(f"A halt with the id {halt.id} exists")
        for halt in changes.settled_halts:
            old = self.halts.get(halt.id)
            if old is None:
                raise Conflict(f"Halt {halt.id} is no longer among the live halts; it cannot be settled")
            settled = _settled(old, halt)
            if not may_become(old, settled):
                raise ImmutableRecord("A halt changes only when it is settled, and is settled once")
        for waiver_id in changes.used_waivers:
            waiver = self.waivers.get(waiver_id)
            if waiver is None or _used_up(waiver):
                raise Conflict(f"Waiver {waiver_id} does not exist or was used up by somebody else first")
        for message_id in changes.delivered_messages:
            message = self.messages.get(message_id)
            if message is None or not _owed(message):
                raise Conflict(f"Message {message_id} does not exist or was delivered by somebody else first")
        self._check_keys(changes)

    def _check_keys(self, changes: Changes) -> None:
        new = changes.new_key
        if new is not None and any(new.id == k.id or new.key_hash == k.key_hash for k in self.keys.values()):
            raise Conflict("Somebody stored this key first")
        if changes.revoked_key is not None:
            key = self.keys.get(changes.revoked_key)
            if key is None or key.revoked_at is not None:
                raise Conflict(
                    f"Key {changes.revoked_key} does not exist or was revoked by somebody else first"
                )

    def _apply(self, changes: Changes, now: datetime) -> None:
        if changes.session is not None:
            self._apply_session(changes.session)
        for halt in changes.new_halts:
            self.halts[halt.id] = replace(halt, context=_json_copy("context", halt.context))
            self.halts_of.setdefault(halt.session_id, {})[halt.id] = None
        for halt in changes.settled_halts:
            self.halts[halt.id] = _settled(self.halts[halt.id], halt)
        for waiver in changes.new_waivers:
            self.waivers[waiver.id] = waiver
        for waiver_id in changes.used_waivers:
            self.waivers[waiver_id] = replace(self.waivers[waiver_id], used_at=now)
        self._apply_messages(changes, now)
        if changes.strikes is not None:
            self.strikes[changes.strikes.session_id, changes.strikes.task_id] = changes.strikes
        for read in changes.reads:
            self.reads[read.session_id, read.path] = read
        self._apply_configuration(changes, now)

    def _apply_configuration(self, changes: Changes, now: datetime) -> None:
        if changes.condition is not None:
            self.conditions[changes.condition.condition_name] = changes.condition
        if changes.new_key is not None:
            self.keys[changes.new_key.id] = changes.new_key
        if changes.revoked_key is not None:
            self.keys[changes.revoked_key] = replace(self.keys[changes.revoked_key], revoked_at=now)

    def _apply_session(self, session: Session) -> None:
        old = self.sessions.get(session.id)
        if old is not None:  # only its state changes
            session = replace(
                old, state=session.state, updated_at=session.updated_at, closed_at=session.closed_at
            )
        self.sessions[session.id] = session
        self.by_token[session.token_hash] = session.id

    def _apply_messages(self, changes: Changes, now: datetime) -> None:
        for message in changes.new_messages:
            if message.dedup_key not in self.dedup_keys:
                self.dedup_keys.add(message.dedup_key)
                self.messages[message.id] = replace(message, payload=_json_copy("payload", message.payload))
        for message_id in changes.delivered_messages:
            self.messages[message_id] = replace(self.messages[message_id], delivered_at=now)
        for message in tuple(self.messages.values()):
            if (
                message.halt_id in changes.cancelled_messages_of
                and message.kind is MessageKind.NOTIFICATION
                and _owed(message)
            ):
                self.messages[message.id] = replace(message, cancelled_at=now)

    def append_audit(self, events: tuple[AuditEvent, ...], now: datetime) -> None:
        """Continue the audit chain."""
        last = self.audit[-1] if self.audit else None
        head = audit.GENESIS if last is None else audit.AuditHead(last.sequence, last.hash)
        self.audit.extend(audit.append(head, events, now))


def _default_rows(now: datetime) -> Iterable[ConditionRow]:
    for default in DEFAULT_CONDITIONS:
        yield ConditionRow(
            id=str(uuid7()),
            condition_name=default.condition_name,
            halt_type=default.halt_type,
            enabled=True,
            severity=default.severity,
            threshold=default.threshold,
            auto_escalate=False,
            escalate_after_minutes=default.escalate_after_minutes,
            created_at=now,
            updated_at=now,
        )


def _recent_errors(halts: list[Halt], strikes: Strikes | None) -> tuple[str, ...]:
    if strikes is None:
        return ()
    errors = [
        halt.previous_error
        for halt in halts
        if (halt.task_id or "") == strikes.task_id
        and halt.attempt_count is not None
        and halt.previous_error is not None
        and halt.evidence_digest is None  # a note by hand has one, and hides no attempt
        and (strikes.reset_at is None or halt.triggered_at > strikes.reset_at)
    ]
    return tuple(errors[-RECENT_ERRORS:])


def _settled(old: Halt, new: Halt) -> Halt:
    return replace(old, **{name: getattr(new, name) for name in SETTLEMENT})


def _used_up(waiver: Waiver) -> bool:
    return waiver.single_use and waiver.used_at is not None


def _owed(message: Message) -> bool:
    return message.delivered_at is None and message.cancelled_at is None


Aged = TypeVar("Aged", Waiver, Message)


def _by_age(records: Iterable[Aged]) -> tuple[Aged, ...]:
    return tuple(sorted(records, key=lambda record: (record.created_at, record.id)))


def _json_copy(name: str, value: Any) -> Any:
    """Return a JSON value as a database would give it back, out of the reach of whoever passed it in."""
    return None if value is None else json.loads(json_text(name, value))
