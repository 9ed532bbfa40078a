"""The port: what Haltline needs of a database.

Three bodies implement it (`memory`, `sqlite`, `postgres`) and one contract suite runs against them all. Every
method may raise `StoreUnavailable`; callers put a deadline around each call, so a method must be safe to
abandon: it has either committed everything or nothing. Every change writes its audit entries in the same
transaction.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol, TypeAlias

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

Transition: TypeAlias = Callable[[SessionView, datetime], Changes]
"""A pure function from what the database holds, and its time, to what is to be written. It may raise to
refuse."""

ConditionTransition: TypeAlias = Callable[[ConditionRow | None, datetime], Changes]
"""The same for a row of the configuration."""

KeyTransition: TypeAlias = Callable[[ApiKey | None, datetime], Changes]
"""The same for a credential."""


class Store(Protocol):
    """Where sessions, halts, configuration and the audit chain live."""

    async def start(self) -> None:
        """Open the database and bring its schema up to date; harmless when repeated.

        Raises:
            StoreUnavailable: it cannot be reached or written.
            StoreCorrupt: it is damaged, or newer than this version of Haltline.
        """

    async def close(self) -> None:
        """Let go of the database; harmless when repeated."""

    async def view(self, lookup: SessionLookup) -> SessionView:
        """Read what a check needs of a session; `view.session` is None when there is no such session."""

    async def change(self, lookup: SessionLookup, transition: Transition) -> Changes:
        """Lock the session, load it, run the transition and write what it returns, in one transaction.

        The transition runs again, on a fresh view, when another process opened the same session meanwhile.

        Raises:
            HaltlineError: whatever the transition raised; nothing was written.
            Conflict: a waiver or a message in the changes was used up by somebody else; nothing was written.
        """

    async def note(self, events: tuple[AuditEvent, ...]) -> None:
        """Write audit entries that belong to no change."""

    async def find_halt(self, halt_id: str) -> Halt | None:
        """Return a halt wherever it lies, the archive included."""

    async def list_halts(self, query: HaltQuery) -> HaltPage:
        """Return a page of halts, the newest first."""

    async def list_sessions(
        self, states: frozenset[SessionState], limit: int, offset: int
    ) -> tuple[tuple[Session, ...], int]:
        """Return sessions in these states, the newest first, and how many there are in all."""

    async def list_strikes(self, session_id: str) -> tuple[Strikes, ...]:
        """Return the strikes of every task of a session."""

    async def condition_rows(self) -> tuple[ConditionRow, ...]:
        """Return the configuration as it is stored, sensible or not."""

    async def change_condition(self, condition_name: str, transition: ConditionTransition) -> Changes:
        """Lock a row of the configuration, run the transition and write what it returns."""

    async def claim_overdue(self, transition: Transition, limit: int) -> tuple[Changes, ...]:
        """Run the transition for up to `limit` sessions that have a halt past its `escalate_at`, unanswered.

        Sessions that somebody else is changing at this moment are left for the next sweep, so an
        acknowledgement always wins. Returns what was written; empty when nothing is overdue.
        """

    async def archive(self, settled_before: datetime, limit: int, actor: str) -> int:
        """Move up to `limit` halts that are not open and were triggered before a moment to the archive.

        Returns how many were moved. An open halt is never moved, however old it is.
        """

    async def audit_entries(self, after: int, limit: int) -> tuple[AuditEntry, ...]:
        """Return up to `limit` links of the chain whose sequence is greater than `after`, in order."""

    async def all_halts(self, after: str, limit: int) -> tuple[Halt, ...]:
        """Return up to `limit` halts with an id after `after`, in order, those in the archive included."""

    async def find_key(self, key_hash: str) -> ApiKey | None:
        """Return the credential with this hash, revoked or not."""

    async def list_keys(self) -> tuple[ApiKey, ...]:
        """Return every credential, the oldest first."""

    async def change_key(self, key_id: str | None, transition: KeyTransition) -> Changes:
        """Run the transition on a credential, or on None to make one, and write what it returns."""

    async def health(self) -> StoreHealth:
        """Return facts and weaknesses for `haltline doctor`."""
