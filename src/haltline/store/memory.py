"""The store in memory: for tests, for trying things out, and for programs that need nothing after their end.

The same behaviour as the databases, by the contract suite. One lock, held only while pure code runs, makes
every call atomic among tasks and threads; changes are checked whole before the first is applied.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from haltline.domain import SessionState
from haltline.records import (
    ApiKey,
    AuditEntry,
    AuditEvent,
    Changes,
    ConditionRow,
    Halt,
    HaltPage,
    HaltQuery,
    Session,
    SessionLookup,
    SessionView,
    StoreHealth,
    Strikes,
)
from haltline.store import audit
from haltline.store.memory_contents import Contents
from haltline.store.port import ConditionTransition, KeyTransition, Transition
from haltline.store.rows import canonical_id

_log = logging.getLogger(__name__)


class MemoryStore:
    """Sessions, halts and the rest in dictionaries.

    Args:
        clock: tells the time; this machine's clock when None.
    """

    def __init__(self, clock: Callable[[], datetime] | None = None) -> None:
        self._clock = clock or _utc_now
        self._lock = threading.Lock()
        self._contents = Contents(self._clock())

    async def start(self) -> None:
        """Do nothing: there is nothing to open."""

    async def close(self) -> None:
        """Do nothing: the contents live as long as the object."""

    async def view(self, lookup: SessionLookup) -> SessionView:
        """Read what a check needs of a session."""
        with self._lock:
            return self._contents.view(lookup)

    async def change(self, lookup: SessionLookup, transition: Transition) -> Changes:
        """Look at the session, run the transition and apply what it returns."""
        with self._lock:
            seen = self._contents.view(lookup)
            now = self._clock()
            changes = transition(seen, now)
            self._contents.write(changes, now)
            return changes

    async def note(self, events: tuple[AuditEvent, ...]) -> None:
        """Write audit entries that belong to no change."""
        with self._lock:
            self._contents.write(Changes(audit=events), self._clock())

    async def find_halt(self, halt_id: str) -> Halt | None:
        """Return a halt wherever it lies."""
        with self._lock:
            return self._contents.find_halt(halt_id)

    async def list_halts(self, query: HaltQuery) -> HaltPage:
        """Return a page of halts, the newest first."""
        session_id = None if query.session_id is None else canonical_id(query.session_id)
        with self._lock:
            of_session = [
                halt
                for halt in self._contents.halts.values()
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
            matching = [session for session in self._contents.sessions.values() if session.state in states]
        matching.sort(key=lambda session: (session.created_at, session.id), reverse=True)
        return tuple(matching[offset : offset + limit]), len(matching)

    async def list_strikes(self, session_id: str) -> tuple[Strikes, ...]:
        """Return the strikes of every task of a session."""
        known = canonical_id(session_id)
        with self._lock:
            found = [strikes for strikes in self._contents.strikes.values() if strikes.session_id == known]
        return tuple(sorted(found, key=lambda strikes: strikes.task_id))

    async def condition_rows(self) -> tuple[ConditionRow, ...]:
        """Return the configuration."""
        with self._lock:
            return tuple(self._contents.conditions[name] for name in sorted(self._contents.conditions))

    async def change_condition(self, condition_name: str, transition: ConditionTransition) -> Changes:
        """Run the transition on a row of the configuration and apply what it returns."""
        with self._lock:
            now = self._clock()
            changes = transition(self._contents.conditions.get(condition_name), now)
            self._contents.write(changes, now)
            return changes

    async def claim_overdue(self, transition: Transition, limit: int) -> tuple[Changes, ...]:
        """Run the transition for sessions that have an overdue halt, the longest overdue first."""
        with self._lock:
            now = self._clock()
            overdue = sorted(
                (halt for halt in self._contents.halts.values() if halt.is_overdue_at(now)),
                key=lambda halt: (halt.escalate_at, halt.id),
            )
            session_ids = list(dict.fromkeys(halt.session_id for halt in overdue))[:limit]
            written: list[Changes] = []
            failed: Exception | None = None
            for session_id in session_ids:
                try:
                    changes = transition(self._contents.view(SessionLookup(session_id=session_id)), now)
                    self._contents.write(changes, now)
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
                (
                    h
                    for h in self._contents.halts.values()
                    if h.triggered_at < settled_before and not h.is_open
                ),
                key=lambda halt: halt.triggered_at,
            )[:limit]
            for halt in old:
                self._contents.archive[halt.id] = self._contents.halts.pop(halt.id)
                del self._contents.halts_of[halt.session_id][halt.id]
            if old:
                event = audit.archive_event([halt.id for halt in old], settled_before, actor)
                self._contents.append_audit((event,), self._clock())
            return len(old)

    async def audit_entries(self, after: int, limit: int) -> tuple[AuditEntry, ...]:
        """Return links of the chain, in order."""
        with self._lock:
            return tuple(self._contents.audit[max(after, 0) : max(after, 0) + limit])

    async def all_halts(self, after: str, limit: int) -> tuple[Halt, ...]:
        """Return halts by id, the archive's among them."""
        with self._lock:
            ids = sorted(
                halt_id for halt_id in (*self._contents.halts, *self._contents.archive) if halt_id > after
            )
            return tuple(
                self._contents.halts.get(halt_id) or self._contents.archive[halt_id]
                for halt_id in ids[:limit]
            )

    async def find_key(self, key_hash: str) -> ApiKey | None:
        """Return the credential with this hash."""
        with self._lock:
            return next((key for key in self._contents.keys.values() if key.key_hash == key_hash), None)

    async def list_keys(self) -> tuple[ApiKey, ...]:
        """Return every credential, the oldest first."""
        with self._lock:
            return tuple(sorted(self._contents.keys.values(), key=lambda key: (key.created_at, key.id)))

    async def change_key(self, key_id: str | None, transition: KeyTransition) -> Changes:
        """Run the transition on a credential and apply what it returns."""
        with self._lock:
            now = self._clock()
            changes = transition(self._contents.keys.get(key_id) if key_id else None, now)
            self._contents.write(changes, now)
            return changes

    async def health(self) -> StoreHealth:
        """Say that nothing lasts."""
        facts = {
            "store": "memory",
            "sessions": str(len(self._contents.sessions)),
            "halts": str(len(self._contents.halts)),
        }
        return StoreHealth(facts, ("Everything is forgotten when the process ends, halts included.",))


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _matches(halt: Halt, query: HaltQuery) -> bool:
    return (
        (query.halt_type is None or halt.halt_type is query.halt_type)
        and (query.severity is None or halt.severity is query.severity)
        and (halt.is_open if query.open_only else query.include_acknowledged or not halt.acknowledged)
    )
