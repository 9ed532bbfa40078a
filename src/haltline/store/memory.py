"""The store in memory: for tests, for trying things out, and for programs that need nothing after their end.

The same behaviour as the databases, by the contract suite. One lock, held only while pure code runs, makes
every call atomic among tasks and threads; changes are checked whole before the first is applied.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from uuid_utils.compat import uuid7

from haltline.domain import Resolution, SessionState
from haltline.errors import Conflict, ImmutableRecord
from haltline.records import (
    ApiKey,
    AuditEntry,
    AuditEvent,
    Changes,
    ConditionRow,
    FileRead,
    Halt,
    HaltPage,
    HaltQuery,
    Message,
    MessageKind,
    Session,
    SessionLookup,
    SessionView,
    StoreHealth,
    Strikes,
    Waiver,
)
from haltline.store import audit
from haltline.store.defaults import DEFAULT_CONDITIONS
from haltline.store.port import ConditionTransition, KeyTransition, Transition
from haltline.store.rows import RECENT_ERRORS, SETTLEMENT, canonical_id, check_storable, json_text

_log = logging.getLogger(__name__)


def may_become(old: Halt, new: Halt) -> bool:
    """Whether a halt may be settled so: the rule that the databases' triggers hold (DESIGN §7)."""
    if old.resolution in (Resolution.ESCALATED, Resolution.TIMEOUT):
        return new.acknowledged and new.resolution in (Resolution.RESOLVED, Resolution.DISMISSED)
    if old.acknowledged:
        return False
    if not new.acknowledged:
        return new.resolution is Resolution.TIMEOUT
    return new.resolution in (Resolution.RESOLVED, Resolution.ESCALATED, Resolution.DISMISSED)


class MemoryStore:
    """Sessions, halts and the rest in dictionaries.

    Args:
        clock: tells the time; this machine's clock when None.
    """

    def __init__(self, clock: Callable[[], datetime] | None = None) -> None:
        self._clock = clock or _utc_now
        self._lock = threading.Lock()
        self._sessions: dict[str, Session] = {}
        self._by_token: dict[str, str] = {}
        self._halts: dict[str, Halt] = {}
        self._halts_of: dict[str, dict[str, None]] = {}
        self._archive: dict[str, Halt] = {}
        self._waivers: dict[str, Waiver] = {}
        self._messages: dict[str, Message] = {}
        self._dedup_keys: set[str] = set()
        self._strikes: dict[tuple[str, str], Strikes] = {}
        self._reads: dict[tuple[str, str], FileRead] = {}
        self._keys: dict[str, ApiKey] = {}
        self._audit: list[AuditEntry] = []
        now = self._clock()
        self._conditions = {row.condition_name: row for row in _default_rows(now)}

    async def start(self) -> None:
        """Do nothing: there is nothing to open."""

    async def close(self) -> None:
        """Do nothing: the contents live as long as the object."""

    async def view(self, lookup: SessionLookup) -> SessionView:
        """Read what a check needs of a session."""
        with self._lock:
            return self._view(lookup)

    async def change(self, lookup: SessionLookup, transition: Transition) -> Changes:
        """Look at the session, run the transition and apply what it returns."""
        with self._lock:
            seen = self._view(lookup)
            now = self._clock()
            changes = transition(seen, now)
            self._write(changes, now)
            return changes

    async def note(self, events: tuple[AuditEvent, ...]) -> None:
        """Write audit entries that belong to no change."""
        with self._lock:
            self._write(Changes(audit=events), self._clock())

    async def find_halt(self, halt_id: str) -> Halt | None:
        """Return a halt wherever it lies."""
        with self._lock:
            return self._find_halt(halt_id)

    async def list_halts(self, query: HaltQuery) -> HaltPage:
        """Return a page of halts, the newest first."""
        session_id = None if query.session_id is None else canonical_id(query.session_id)
        with self._lock:
            of_session = [
                halt
                for halt in self._halts.values()
                if query.session_id is None or halt.session_id == session_id
            ]
        matching = [halt for halt in of_session if _matches(halt, query)]
        matching.sort(key=lambda halt: (halt.triggered_at, halt.id), reverse=True)
        return HaltPage(
            halts=tuple(matching[query.offset : query.offset + query.limit]),
            total_count=len(matching),
            unacknowledged_count=sum(
                halt.requires_acknowledgment and not halt.acknowledged for halt in of_session
            ),
        )

    async def list_sessions(
        self, states: frozenset[SessionState], limit: int, offset: int
    ) -> tuple[tuple[Session, ...], int]:
        """Return sessions in these states, the newest first, and their number."""
        with self._lock:
            matching = [session for session in self._sessions.values() if session.state in states]
        matching.sort(key=lambda session: (session.created_at, session.id), reverse=True)
        return tuple(matching[offset : offset + limit]), len(matching)

    async def list_strikes(self, session_id: str) -> tuple[Strikes, ...]:
        """Return the strikes of every task of a session."""
        known = canonical_id(session_id)
        with self._lock:
            found = [strikes for strikes in self._strikes.values() if strikes.session_id == known]
        return tuple(sorted(found, key=lambda strikes: strikes.task_id))

    async def condition_rows(self) -> tuple[ConditionRow, ...]:
        """Return the configuration."""
        with self._lock:
            return tuple(self._conditions[name] for name in sorted(self._conditions))

    async def change_condition(self, condition_name: str, transition: ConditionTransition) -> Changes:
        """Run the transition on a row of the configuration and apply what it returns."""
        with self._lock:
            now = self._clock()
            changes = transition(self._conditions.get(condition_name), now)
            self._write(changes, now)
            return changes

    async def claim_overdue(self, transition: Transition, limit: int) -> tuple[Changes, ...]:
        """Run the transition for sessions that have an overdue halt, the longest overdue first."""
        with self._lock:
            now = self._clock()
            overdue = sorted(
                (halt for halt in self._halts.values() if halt.is_overdue_at(now)),
                key=lambda halt: (halt.escalate_at, halt.id),
            )
            session_ids = list(dict.fromkeys(halt.session_id for halt in overdue))[:limit]
            written: list[Changes] = []
            failed: Exception | None = None
            for session_id in session_ids:
                try:
                    changes = transition(self._view(SessionLookup(session_id=session_id)), now)
                    self._write(changes, now)
                except Exception as error:  # noqa: BLE001 - one session must not keep the others from escalating
                    _log.exception("The overdue halts of session %s could not be claimed", session_id)
                    failed = error
                    continue
                written.append(changes)
            if failed is not None and not written:
                raise failed
            return tuple(written)

    async def archive(self, settled_before: datetime, limit: int, actor: str) -> int:
        """Move halts that are not open to the archive."""
        with self._lock:
            old = sorted(
                (h for h in self._halts.values() if h.triggered_at < settled_before and not h.is_open),
                key=lambda halt: halt.triggered_at,
            )[:limit]
            for halt in old:
                self._archive[halt.id] = self._halts.pop(halt.id)
                del self._halts_of[halt.session_id][halt.id]
            if old:
                event = audit.archive_event([halt.id for halt in old], settled_before, actor)
                self._append_audit((event,), self._clock())
            return len(old)

    async def audit_entries(self, after: int, limit: int) -> tuple[AuditEntry, ...]:
        """Return links of the chain, in order."""
        with self._lock:
            return tuple(self._audit[max(after, 0) : max(after, 0) + limit])

    async def all_halts(self, after: str, limit: int) -> tuple[Halt, ...]:
        """Return halts by id, the archive's among them."""
        with self._lock:
            ids = sorted(halt_id for halt_id in (*self._halts, *self._archive) if halt_id > after)
            return tuple(self._halts.get(halt_id) or self._archive[halt_id] for halt_id in ids[:limit])

    async def find_key(self, key_hash: str) -> ApiKey | None:
        """Return the credential with this hash."""
        with self._lock:
            return next((key for key in self._keys.values() if key.key_hash == key_hash), None)

    async def list_keys(self) -> tuple[ApiKey, ...]:
        """Return every credential, the oldest first."""
        with self._lock:
            return tuple(sorted(self._keys.values(), key=lambda key: (key.created_at, key.id)))

    async def change_key(self, key_id: str | None, transition: KeyTransition) -> Changes:
        """Run the transition on a credential and apply what it returns."""
        with self._lock:
            now = self._clock()
            changes = transition(self._keys.get(key_id) if key_id else None, now)
            self._write(changes, now)
            return changes

    async def health(self) -> StoreHealth:
        """Say that nothing lasts."""
        facts = {"store": "memory", "sessions": str(len(self._sessions)), "halts": str(len(self._halts))}
        return StoreHealth(facts, ("Everything is forgotten when the process ends, halts included.",))

    def _session(self, lookup: SessionLookup) -> Session | None:
        if lookup.token_hash is not None:
            return self._sessions.get(self._by_token.get(lookup.token_hash, ""))
        return self._sessions.get(canonical_id(lookup.session_id or "") or "")

    def _find_halt(self, halt_id: str) -> Halt | None:
        known = canonical_id(halt_id) or ""
        return self._halts.get(known) or self._archive.get(known)

    def _view(self, lookup: SessionLookup) -> SessionView:
        session = self._session(lookup)
        if session is None:
            return SessionView(None)
        halts = sorted(
            (self._halts[halt_id] for halt_id in self._halts_of.get(session.id, ())),
            key=lambda halt: (halt.triggered_at, halt.id),
        )
        halt = self._find_halt(lookup.halt_id) if lookup.halt_id is not None else None
        strikes = self._strikes.get((session.id, lookup.task_id or ""))
        return SessionView(
            session=session,
            open_halts=tuple(halt for halt in halts if halt.is_open),
            halt=halt if halt is not None and halt.session_id == session.id else None,
            strikes=strikes,
            recent_errors=_recent_errors(halts, strikes),
            waivers=_by_age(
                w for w in self._waivers.values() if w.session_id == session.id and not _used_up(w)
            ),
            guidance=_by_age(
                message
                for message in self._messages.values()
                if message.session_id == session.id
                and message.kind is MessageKind.GUIDANCE
                and _owed(message)
            ),
            reads=self._reads_of(session.id) if lookup.with_reads else (),
        )

    def _reads_of(self, session_id: str) -> tuple[FileRead, ...]:
        found = [read for read in self._reads.values() if read.session_id == session_id]
        return tuple(sorted(found, key=lambda read: read.path))

    def _write(self, changes: Changes, now: datetime) -> None:
        check_storable(changes)
        self._check(changes)
        self._apply(changes, now)
        self._append_audit(changes.audit, now)

    def _check(self, changes: Changes) -> None:
        """Raise what a database would raise, before anything is applied."""
        for halt in changes.new_halts:
            if halt.id in self._halts or halt.id in self._archive:
                raise ImmutableRecord(f"A halt with the id {halt.id} exists")
        for halt in changes.settled_halts:
            old = self._halts.get(halt.id)
            if old is None:
                raise Conflict(f"Halt {halt.id} is no longer among the live halts; it cannot be settled")
            settled = _settled(old, halt)
            if not may_become(old, settled):
                raise ImmutableRecord("A halt changes only when it is settled, and is settled once")
        for waiver_id in changes.used_waivers:
            waiver = self._waivers.get(waiver_id)
            if waiver is None or _used_up(waiver):
                raise Conflict(f"Waiver {waiver_id} does not exist or was used up by somebody else first")
        for message_id in changes.delivered_messages:
            message = self._messages.get(message_id)
            if message is None or not _owed(message):
                raise Conflict(f"Message {message_id} does not exist or was delivered by somebody else first")
        self._check_keys(changes)

    def _check_keys(self, changes: Changes) -> None:
        new = changes.new_key
        if new is not None and any(new.id == k.id or new.key_hash == k.key_hash for k in self._keys.values()):
            raise Conflict("Somebody stored this key first")
        if changes.revoked_key is not None:
            key = self._keys.get(changes.revoked_key)
            if key is None or key.revoked_at is not None:
                raise Conflict(
                    f"Key {changes.revoked_key} does not exist or was revoked by somebody else first"
                )

    def _apply(self, changes: Changes, now: datetime) -> None:
        if changes.session is not None:
            self._apply_session(changes.session)
        for halt in changes.new_halts:
            self._halts[halt.id] = replace(halt, context=_json_copy("context", halt.context))
            self._halts_of.setdefault(halt.session_id, {})[halt.id] = None
        for halt in changes.settled_halts:
            self._halts[halt.id] = _settled(self._halts[halt.id], halt)
        for waiver in changes.new_waivers:
            self._waivers[waiver.id] = waiver
        for waiver_id in changes.used_waivers:
            self._waivers[waiver_id] = replace(self._waivers[waiver_id], used_at=now)
        self._apply_messages(changes, now)
        if changes.strikes is not None:
            self._strikes[changes.strikes.session_id, changes.strikes.task_id] = changes.strikes
        for read in changes.reads:
            self._reads[read.session_id, read.path] = read
        self._apply_configuration(changes, now)

    def _apply_configuration(self, changes: Changes, now: datetime) -> None:
        if changes.condition is not None:
            self._conditions[changes.condition.condition_name] = changes.condition
        if changes.new_key is not None:
            self._keys[changes.new_key.id] = changes.new_key
        if changes.revoked_key is not None:
            self._keys[changes.revoked_key] = replace(self._keys[changes.revoked_key], revoked_at=now)

    def _apply_session(self, session: Session) -> None:
        old = self._sessions.get(session.id)
        if old is not None:  # only its state changes
            session = replace(
                old, state=session.state, updated_at=session.updated_at, closed_at=session.closed_at
            )
        self._sessions[session.id] = session
        self._by_token[session.token_hash] = session.id

    def _apply_messages(self, changes: Changes, now: datetime) -> None:
        for message in changes.new_messages:
            if message.dedup_key not in self._dedup_keys:
                self._dedup_keys.add(message.dedup_key)
                self._messages[message.id] = replace(message, payload=_json_copy("payload", message.payload))
        for message_id in changes.delivered_messages:
            self._messages[message_id] = replace(self._messages[message_id], delivered_at=now)
        for message in tuple(self._messages.values()):
            if (
                message.halt_id in changes.cancelled_messages_of
                and message.kind is MessageKind.NOTIFICATION
                and _owed(message)
            ):
                self._messages[message.id] = replace(message, cancelled_at=now)

    def _append_audit(self, events: tuple[AuditEvent, ...], now: datetime) -> None:
        last = self._audit[-1] if self._audit else None
        head = audit.GENESIS if last is None else audit.AuditHead(last.sequence, last.hash)
        self._audit.extend(audit.append(head, events, now))


def _utc_now() -> datetime:
    return datetime.now(UTC)


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


def _matches(halt: Halt, query: HaltQuery) -> bool:
    return (
        (query.halt_type is None or halt.halt_type is query.halt_type)
        and (query.severity is None or halt.severity is query.severity)
        and (halt.is_open if query.open_only else query.include_acknowledged or not halt.acknowledged)
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
