"""What happens inside one transaction, on a synchronous SQLAlchemy `Connection` of either database.

SQLite runs these in a thread, PostgreSQL through `AsyncConnection.run_sync`. Beginning, committing and
rolling back are the caller's. A transition runs between the look and the writing; whatever it raises leaves
nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, cast

import sqlalchemy as sa

from haltline.errors import Conflict, StoreCorrupt
from haltline.records import (
    AuditEvent,
    Changes,
    FileRead,
    Halt,
    Message,
    Session,
    SessionLookup,
    SessionView,
    Strikes,
    Waiver,
)
from haltline.store import audit, schema, statements
from haltline.store.port import Transition
from haltline.store.rows import SETTLEMENT, canonical_id, check_storable, row_of

Clock = Callable[[], datetime]

AUDIT_LOCK = 0x48414C54
"""Advisory lock that orders the writers of the audit chain on PostgreSQL ("HALT" in ASCII)."""

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@contextmanager
def reading() -> Iterator[None]:
    """Report values that no column of ours can hold as corruption."""
    try:
        yield
    except (ValueError, LookupError, TypeError) as error:
        raise StoreCorrupt(
            f"The database holds a value that Haltline cannot have written: {error}"
        ) from error


def is_postgres(connection: sa.Connection) -> bool:
    """Tell the databases apart where they differ."""
    return connection.dialect.name == "postgresql"


def now_of(connection: sa.Connection, clock: Clock | None) -> datetime:
    """Return the time: the injected clock's, else the database's (SQLite's is this machine's)."""
    if clock is not None:
        return clock()
    if is_postgres(connection):
        return connection.execute(statements.clock).scalar_one()
    return datetime.now(UTC)


def _key_of(lookup: SessionLookup) -> tuple[str, str | None]:
    if lookup.token_hash is not None:
        return "token_hash", lookup.token_hash
    return "id", canonical_id(lookup.session_id or "")


def _look(connection: sa.Connection, lookup: SessionLookup, *, with_clock: bool) -> sa.Row[Any] | None:
    by, key = _key_of(lookup)
    if key is None:
        return None
    statement = statements.look(by, with_clock=with_clock)
    return connection.execute(statement, {"key": key, "task_id": lookup.task_id or ""}).one_or_none()


def view_if_quiet(connection: sa.Connection, lookup: SessionLookup) -> SessionView | None:
    """Return the view when one statement suffices, else None: then `view` must run in a transaction."""
    with reading():
        row = _look(connection, lookup, with_clock=False)
        if row is None:
            return SessionView(None)
        strikes = _strikes(row)
        has_open, has_waivers, has_guidance, has_reads = _flags(row)
        to_load = has_open or has_waivers or has_guidance or (has_reads and lookup.with_reads)
        if to_load or lookup.halt_id is not None or strikes is not None:
            return None
        return SessionView(Session(*row[: statements.SESSION_WIDTH]))


def view(connection: sa.Connection, lookup: SessionLookup) -> SessionView:
    """Read what a transition may know of a session."""
    with reading():
        return _view(connection, lookup, _look(connection, lookup, with_clock=False))


def _flags(row: sa.Row[Any]) -> tuple[bool, bool, bool, bool]:
    start = statements.SESSION_WIDTH + statements.STRIKES_WIDTH
    return bool(row[start]), bool(row[start + 1]), bool(row[start + 2]), bool(row[start + 3])


def _strikes(row: sa.Row[Any]) -> Strikes | None:
    start = statements.SESSION_WIDTH
    if row[start] is None:
        return None
    return Strikes(*row[start : start + statements.STRIKES_WIDTH])


def _view(connection: sa.Connection, lookup: SessionLookup, row: sa.Row[Any] | None) -> SessionView:
    if row is None:
        return SessionView(None)
    session = Session(*row[: statements.SESSION_WIDTH])
    of_session = {"session_id": session.id}
    has_open, has_waivers, has_guidance, has_reads = _flags(row)
    strikes = _strikes(row)

    def load(kind: Callable[..., Any], statement: sa.Select[Any], wanted: object) -> tuple[Any, ...]:
        return tuple(kind(*found) for found in connection.execute(statement, of_session)) if wanted else ()

    return SessionView(
        session=session,
        open_halts=load(Halt, statements.open_halts, has_open),
        halt=_halt_of(connection, session.id, lookup.halt_id),
        strikes=strikes,
        recent_errors=() if strikes is None else _recent_errors(connection, strikes),
        waivers=load(Waiver, statements.waivers, has_waivers),
        guidance=load(Message, statements.guidance, has_guidance),
        reads=load(FileRead, statements.reads, has_reads and lookup.with_reads),
    )


def _recent_errors(connection: sa.Connection, strikes: Strikes) -> tuple[str, ...]:
    parameters = {
        "session_id": strikes.session_id,
        "task_id": strikes.task_id,
        "since": strikes.reset_at or _BEGINNING,
    }
    newest_first = connection.execute(statements.recent_errors, parameters).scalars().all()
    return tuple(reversed(newest_first))


def _halt_of(connection: sa.Connection, session_id: str, halt_id: str | None) -> Halt | None:
    found = find_halt(connection, halt_id) if halt_id is not None else None
    return found if found is not None and found.session_id == session_id else None


def find_halt(connection: sa.Connection, halt_id: str) -> Halt | None:
    """Return a halt wherever it lies."""
    known = canonical_id(halt_id)
    if known is None:
        return None
    with reading():
        for statement in (statements.halt, statements.archived_halt):
            row = connection.execute(statement, {"halt_id": known}).one_or_none()
            if row is not None:
                return Halt(*row)
    return None


def change(
    connection: sa.Connection, lookup: SessionLookup, transition: Transition, clock: Clock | None
) -> Changes:
    """Lock the session, look at it, run the transition and write what it returns."""
    told = clock is None and is_postgres(connection)
    by, key = _key_of(lookup)
    row: sa.Row[Any] | None = None
    # The lock is a statement of its own: one that waited for it would still see the rows of before the wait.
    if key is not None and (
        not is_postgres(connection)
        or connection.execute(statements.lock_session(by), {"key": key}).one_or_none() is not None
    ):
        with reading():
            row = _look(connection, lookup, with_clock=told)
    now = cast("datetime", row[-1]) if told and row is not None else now_of(connection, clock)
    with reading():
        seen = _view(connection, lookup, row)
    changes = transition(seen, now)
    write(connection, changes, seen.session, now)
    return changes


def write(connection: sa.Connection, changes: Changes, known: Session | None, now: datetime) -> None:
    """Write changes and their audit entries.

    Args:
        connection: inside the transaction.
        changes: what to write.
        known: the session that exists already, if any.
        now: the time of this transaction.

    Raises:
        InvalidInput: a value cannot be stored.
        Conflict: a waiver, message, halt or key is not as the changes assume.
    """
    check_storable(changes)
    write_records(connection, changes, known, now)
    append_audit(connection, changes.audit, now)


def write_records(connection: sa.Connection, changes: Changes, known: Session | None, now: datetime) -> None:
    """Write everything but the audit entries."""
    dialect = connection.dialect.name
    _write_session(connection, changes.session, known)
    _insert(connection, statements.insert_halts, changes.new_halts)
    for halt in changes.settled_halts:
        _settle(connection, halt)
    _insert(connection, statements.insert_waivers, changes.new_waivers)
    for waiver_id in changes.used_waivers:
        _once(connection, statements.use_waiver, {"waiver_id": waiver_id, "now": now}, f"Waiver {waiver_id}")
    _insert(connection, statements.insert_messages(dialect), changes.new_messages)
    for message_id in changes.delivered_messages:
        _once(
            connection,
            statements.deliver_message,
            {"message_id": message_id, "now": now},
            f"Message {message_id}",
        )
    for halt_id in changes.cancelled_messages_of:
        connection.execute(statements.cancel_messages, {"of_halt": halt_id, "now": now})
    if changes.strikes is not None:
        _insert(connection, statements.upsert(schema.strikes, dialect), (changes.strikes,))
    _insert(connection, statements.upsert(schema.file_reads, dialect), changes.reads)
    _write_configuration(connection, changes, now)


def _write_session(connection: sa.Connection, session: Session | None, known: Session | None) -> None:
    if session is None:
        return
    if known is None or known.id != session.id:
        _insert(connection, statements.insert_session, (session,))
        return
    connection.execute(
        statements.update_session,
        {
            "session_id": session.id,
            "state": session.state,
            "updated_at": session.updated_at,
            "closed_at": session.closed_at,
        },
    )


def _write_configuration(connection: sa.Connection, changes: Changes, now: datetime) -> None:
    if changes.condition is not None:
        row = row_of(changes.condition)
        condition_id = row.pop("id")
        updated = connection.execute(statements.update_condition, {**row, "condition_id": condition_id})
        if updated.rowcount == 0:
            connection.execute(statements.insert_condition, {**row, "id": condition_id})
    if changes.new_key is not None:
        _insert(connection, statements.insert_key, (changes.new_key,))
    if changes.revoked_key is not None:
        key = changes.revoked_key
        _once(connection, statements.revoke_key, {"key_id": key, "now": now}, f"Key {key}")


def _insert(connection: sa.Connection, statement: sa.Insert, records: Sequence[Any]) -> None:
    rows = [row_of(record) for record in records]
    if len(rows) == 1:
        connection.execute(statement, rows[0])
    elif rows:
        connection.execute(statement, rows)


def _settle(connection: sa.Connection, halt: Halt) -> None:
    columns = {name: getattr(halt, name) for name in SETTLEMENT}
    settled = connection.execute(statements.settle_halt, {"halt_id": halt.id, **columns})
    if settled.rowcount != 1:
        raise Conflict(f"Halt {halt.id} is no longer among the live halts; it cannot be settled")


def _once(connection: sa.Connection, statement: sa.Update, parameters: dict[str, Any], what: str) -> None:
    if connection.execute(statement, parameters).rowcount != 1:
        raise Conflict(
            f"{what} does not exist or was used up by somebody else first; look again and decide anew"
        )


def append_audit(connection: sa.Connection, events: Sequence[AuditEvent], now: datetime) -> None:
    """Continue the audit chain. Last before the commit, because on PostgreSQL it makes other writers wait."""
    if not events:
        return
    if is_postgres(connection):
        # Its own statement: the head must be read after the wait.
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(AUDIT_LOCK)))
    found = connection.execute(statements.audit_head).one_or_none()
    head = audit.GENESIS if found is None else audit.AuditHead(*found)
    rows = [
        {name: getattr(entry, name) for name in type(entry).__dataclass_fields__}
        for entry in audit.append(head, events, now)
    ]
    connection.execute(statements.insert_audit, rows if len(rows) > 1 else rows[0])
