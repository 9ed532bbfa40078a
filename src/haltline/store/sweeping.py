"""Work on many sessions at once: claiming overdue halts, moving settled ones to the archive."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from haltline.errors import StoreUnavailable
from haltline.records import Changes, Session, SessionLookup
from haltline.store import statements
from haltline.store.audit import archive_event
from haltline.store.port import Transition
from haltline.store.transactions import Clock, now_of, view
from haltline.store.writing import is_postgres, write, write_all

if TYPE_CHECKING:
    import sqlalchemy as sa

BATCH = 50
"""Sessions in one transaction: writers of SQLite wait for no more than that."""

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Run(Protocol):
    """How a store runs a function in a transaction of its own."""

    def __call__(self, function: Callable[[sa.Connection], T]) -> Awaitable[T]:
        """Begin, run, and commit or roll back."""


async def sweep(
    read: Run, write: Run, transition: Transition, clock: Clock | None, limit: int
) -> tuple[Changes, ...]:
    """Claim the overdue halts of up to `limit` sessions, in batches.

    One session that cannot be written must not keep the others from escalating: its batch is done again one
    by one, and it is logged and left. What it raised is raised here only when nothing at all was written.
    """
    overdue = await read(lambda connection: _overdue(connection, clock, limit))
    batches = [overdue[start : start + BATCH] for start in range(0, len(overdue), BATCH)]
    written: list[Changes] = []
    failed: Exception | None = None
    while batches:
        batch = batches.pop(0)
        try:
            written += await write(partial(claim, batch, transition, clock))
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - a transition may raise anything, and is told on below
            if len(batch) > 1:
                batches[:0] = [[session_id] for session_id in batch]
                continue
            _log.exception("The overdue halts of session %s could not be claimed", batch[0])
            failed = error
    if failed is not None and not written:
        raise failed
    return tuple(written)


def _overdue(connection: sa.Connection, clock: Clock | None, limit: int) -> list[str]:
    parameters = {"now": now_of(connection, clock), "limit": limit}
    return list(connection.execute(statements.overdue_sessions, parameters).scalars())


def claim(
    session_ids: list[str], transition: Transition, clock: Clock | None, connection: sa.Connection
) -> list[Changes]:
    """Run the transition for those of the sessions that are free and still have an overdue halt."""
    free = _free(connection, session_ids)
    now = now_of(connection, clock)
    parts: list[tuple[Changes, Session | None]] = []
    for session_id in free:
        seen = view(connection, SessionLookup(session_id=session_id))
        if any(halt.is_overdue_at(now) for halt in seen.open_halts):  # no other sweep or answer came first
            parts.append((transition(seen, now), seen.session))
    write_all(connection, parts, now)
    return [changes for changes, _ in parts]


def _free(connection: sa.Connection, session_ids: list[str]) -> list[str]:
    if not is_postgres(connection):
        return session_ids  # BEGIN IMMEDIATE keeps everybody else out
    free = set(connection.execute(statements.free_sessions, {"session_ids": session_ids}).scalars())
    return [session_id for session_id in session_ids if session_id in free]


def archive(connection: sa.Connection, before: datetime, limit: int, actor: str, clock: Clock | None) -> int:
    """Move up to `limit` halts that are not open to the archive; returns how many."""
    halt_ids = list(connection.execute(statements.archivable, {"before": before, "limit": limit}).scalars())
    if not halt_ids:
        return 0
    connection.execute(statements.copy_to_archive, {"halt_ids": halt_ids})
    connection.execute(statements.delete_archived, {"halt_ids": halt_ids})
    moved = Changes(audit=(archive_event(halt_ids, before, actor),))
    write(connection, moved, None, now_of(connection, clock))
    return len(halt_ids)
