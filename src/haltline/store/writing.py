"""From changes to the statements that write them, and their execution on either database.

SQLite runs them one by one. On PostgreSQL they go out together (`pipelining`): a round trip and SQLAlchemy's
own work for each would take most of the time of recording a halt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from haltline.errors import Conflict
from haltline.records import AuditEvent, Changes, Halt, Session
from haltline.store import audit, schema, statements
from haltline.store.rows import SETTLEMENT, check_storable, row_of

if TYPE_CHECKING:
    import sqlalchemy as sa


@dataclass(frozen=True, slots=True)
class Write:
    """A statement and the rows to run it for.

    Attributes:
        conflict: what to say when it changes nothing; None when that is in order.
    """

    statement: sa.Executable
    rows: tuple[dict[str, Any], ...]
    conflict: str | None = None


def is_postgres(connection: sa.Connection) -> bool:
    """Tell the databases apart where they differ."""
    return connection.dialect.name == "postgresql"


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
    write_all(connection, ((changes, known),), now)


def write_all(
    connection: sa.Connection, parts: Sequence[tuple[Changes, Session | None]], now: datetime
) -> None:
    """Write the changes of several sessions, and the audit entries of them all."""
    dialect = connection.dialect.name
    writes: list[Write] = []
    events: list[AuditEvent] = []
    for changes, known in parts:
        check_storable(changes)
        writes += _writes_of(changes, known, now, dialect)
        events += changes.audit
    # The audit chain comes last before the commit, because on PostgreSQL its lock makes other writers wait.
    head = _execute(connection, writes, with_head=bool(events))
    if head is not None:
        entries = audit.append(head, events, now)
        rows = tuple(
            {name: getattr(entry, name) for name in type(entry).__dataclass_fields__} for entry in entries
        )
        _execute(connection, (Write(statements.insert_audit, rows),), with_head=False)


def _execute(
    connection: sa.Connection, writes: Sequence[Write], *, with_head: bool
) -> audit.AuditHead | None:
    """Run the statements, and return where the audit chain ends when that is asked for."""
    if is_postgres(connection):
        from haltline.store import pipelining  # noqa: PLC0415 - psycopg is an extra

        return pipelining.send(connection, writes, with_head=with_head)
    for each in writes:
        done = connection.execute(each.statement, list(each.rows) if len(each.rows) > 1 else each.rows[0])
        if each.conflict is not None and done.rowcount != 1:
            raise Conflict(each.conflict)
    if not with_head:
        return None
    found = connection.execute(statements.audit_head).one_or_none()
    return audit.GENESIS if found is None else audit.AuditHead(*found)


def _writes_of(changes: Changes, known: Session | None, now: datetime, dialect: str) -> Iterator[Write]:
    if changes.session is not None:
        yield _session(changes.session, known)
    yield from _inserts(statements.insert_halts, changes.new_halts)
    for halt in changes.settled_halts:
        yield _settlement(halt)
    yield from _inserts(statements.insert_waivers, changes.new_waivers)
    for waiver_id in changes.used_waivers:
        row = {"waiver_id": waiver_id, "now": now}
        yield Write(statements.use_waiver, (row,), _used_up(f"Waiver {waiver_id}"))
    yield from _inserts(statements.insert_messages(dialect), changes.new_messages)
    for message_id in changes.delivered_messages:
        row = {"message_id": message_id, "now": now}
        yield Write(statements.deliver_message, (row,), _used_up(f"Message {message_id}"))
    for halt_id in changes.cancelled_messages_of:
        yield Write(statements.cancel_messages, ({"of_halt": halt_id, "now": now},))
    if changes.strikes is not None:
        yield from _inserts(statements.upsert(schema.strikes, dialect), (changes.strikes,))
    yield from _inserts(statements.upsert(schema.file_reads, dialect), changes.reads)
    yield from _configuration(changes, now, dialect)


def _configuration(changes: Changes, now: datetime, dialect: str) -> Iterator[Write]:
    if changes.condition is not None:
        yield from _inserts(statements.upsert(schema.conditions, dialect), (changes.condition,))
    if changes.new_key is not None:
        yield from _inserts(statements.insert_key, (changes.new_key,))
    if changes.revoked_key is not None:
        row = {"key_id": changes.revoked_key, "now": now}
        yield Write(statements.revoke_key, (row,), _used_up(f"Key {changes.revoked_key}"))


def _session(session: Session, known: Session | None) -> Write:
    if known is None or known.id != session.id:
        return Write(statements.insert_session, (row_of(session),))
    row = {name: getattr(session, name) for name in ("state", "updated_at", "closed_at")}
    return Write(statements.update_session, ({"session_id": session.id, **row},))


def _inserts(statement: sa.Executable, records: Sequence[Any]) -> Iterator[Write]:
    if records:
        yield Write(statement, tuple(row_of(record) for record in records))


def _settlement(halt: Halt) -> Write:
    row = {"halt_id": halt.id, **{name: getattr(halt, name) for name in SETTLEMENT}}
    conflict = f"Halt {halt.id} is no longer among the live halts; it cannot be settled"
    return Write(statements.settle_halt, (row,), conflict)


def _used_up(what: str) -> str:
    return f"{what} does not exist or was used up by somebody else first; look again and decide anew"
