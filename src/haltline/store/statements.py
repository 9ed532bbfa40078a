"""The statements, written once for both databases; SQLAlchemy compiles each once per dialect and caches it.

A select of a record lists the columns in the order of the record's fields, so that `record(*row)` is the
record. Conditions that must match a partial index are the texts of `schema`, word for word.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from haltline.records import (
    ApiKey,
    AuditEntry,
    ConditionRow,
    FileRead,
    Halt,
    Message,
    Session,
    Strikes,
    Waiver,
)
from haltline.store import schema
from haltline.store.rows import RECENT_ERRORS, field_names


def columns_of(table: sa.Table, kind: type[Any]) -> list[sa.ColumnElement[Any]]:
    """Return a table's columns in the order of a record's fields."""
    return [table.c[name] for name in field_names(kind)]


_halt_columns = columns_of(schema.halt_events, Halt)
_archived_columns = columns_of(schema.halt_events_archive, Halt)
_session_columns = columns_of(schema.sessions, Session)
_strikes_columns = columns_of(schema.strikes, Strikes)
_message_columns = columns_of(schema.outbox, Message)
_waiver_columns = columns_of(schema.waivers, Waiver)
_key_columns = columns_of(schema.principals, ApiKey)

SESSION_WIDTH = len(_session_columns)
STRIKES_WIDTH = len(_strikes_columns)

_of_session: sa.BindParameter[str] = sa.bindparam("session_id")


def _exists(table: sa.Table, *conditions: str) -> sa.ColumnElement[bool]:
    clauses = (sa.text(condition) for condition in conditions)
    return sa.exists(
        sa.select(sa.literal_column("1")).where(table.c.session_id == schema.sessions.c.id, *clauses)
    )


@cache
def look(by: str, *, with_clock: bool) -> sa.Select[Any]:
    """Return the one statement that answers for a session that has nothing open.

    Its row is the session, the strikes of the task (null without any), whether there are open halts, waivers,
    guidance and reads to load, and, when asked for, the database's time.

    Args:
        by: `token_hash` or `id`.
        with_clock: whether the database tells the time (PostgreSQL).
    """
    on_task = sa.and_(
        schema.strikes.c.session_id == schema.sessions.c.id,
        schema.strikes.c.task_id == sa.bindparam("task_id"),
    )
    flags = [
        _exists(schema.halt_events, schema.OPEN),
        _exists(schema.waivers, schema.NOT_USED_UP),
        _exists(schema.outbox, "outbox.kind = 'guidance'", schema.OWED),
        _exists(schema.file_reads),
    ]
    clock = [sa.func.clock_timestamp(type_=schema.Moment)] if with_clock else []
    return (
        sa.select(*_session_columns, *_strikes_columns, *flags, *clock)
        .select_from(schema.sessions.outerjoin(schema.strikes, on_task))
        .where(schema.sessions.c[by] == sa.bindparam("key"))
    )


@cache
def lock_session(by: str) -> sa.Select[Any]:
    """Return the statement that makes other writers of the same session wait (PostgreSQL)."""
    return (
        sa.select(schema.sessions.c.id).where(schema.sessions.c[by] == sa.bindparam("key")).with_for_update()
    )


clock = sa.select(sa.func.clock_timestamp(type_=schema.Moment))

open_halts = (
    sa.select(*_halt_columns)
    .where(schema.halt_events.c.session_id == _of_session, sa.text(schema.OPEN))
    .order_by(schema.halt_events.c.triggered_at, schema.halt_events.c.id)
)
recent_errors = (
    sa.select(schema.halt_events.c.previous_error)
    .where(
        schema.halt_events.c.session_id == _of_session,
        sa.func.coalesce(schema.halt_events.c.task_id, sa.literal_column("''")) == sa.bindparam("task_id"),
        schema.halt_events.c.triggered_at > sa.bindparam("since", type_=schema.Moment),
        sa.text(schema.STRIKE),
        schema.halt_events.c.evidence_digest.is_(None),  # a note by hand has one, and hides no attempt
    )
    .order_by(schema.halt_events.c.triggered_at.desc(), schema.halt_events.c.id.desc())
    .limit(RECENT_ERRORS)
)
waivers = (
    sa.select(*_waiver_columns)
    .where(schema.waivers.c.session_id == _of_session, sa.text(schema.NOT_USED_UP))
    .order_by(schema.waivers.c.created_at, schema.waivers.c.id)
)
guidance = (
    sa.select(*_message_columns)
    .where(
        schema.outbox.c.session_id == _of_session, sa.text("outbox.kind = 'guidance'"), sa.text(schema.OWED)
    )
    .order_by(schema.outbox.c.created_at, schema.outbox.c.id)
)
reads = (
    sa.select(*columns_of(schema.file_reads, FileRead))
    .where(schema.file_reads.c.session_id == _of_session)
    .order_by(schema.file_reads.c.path)
)
strikes_of_session = (
    sa.select(*_strikes_columns)
    .where(schema.strikes.c.session_id == _of_session)
    .order_by(schema.strikes.c.task_id)
)
halt = sa.select(*_halt_columns).where(schema.halt_events.c.id == sa.bindparam("halt_id"))
archived_halt = sa.select(*_archived_columns).where(
    schema.halt_events_archive.c.id == sa.bindparam("halt_id")
)

# Each side is cut to the limit before they are merged, so that neither table is read to its end.
_after: sa.BindParameter[str] = sa.bindparam("after")
_limit = sa.bindparam("limit", type_=sa.Integer)
_live_page = (
    sa.select(*_halt_columns)
    .where(schema.halt_events.c.id > _after)
    .order_by(schema.halt_events.c.id)
    .limit(_limit)
    .subquery()
)
_archived_page = (
    sa.select(*_archived_columns)
    .where(schema.halt_events_archive.c.id > _after)
    .order_by(schema.halt_events_archive.c.id)
    .limit(_limit)
    .subquery()
)
_all_halts = sa.union_all(sa.select(_live_page), sa.select(_archived_page)).subquery()
all_halts = sa.select(_all_halts).order_by(_all_halts.c.id).limit(_limit)


def _as_stored(column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    """Return a column as the driver reads it, because a row that somebody spoilt must reach its reader."""
    if isinstance(column.type, sa.Enum):
        return sa.type_coerce(column, sa.Text)
    if isinstance(column.type, sa.Boolean | schema.Moment):
        return sa.type_coerce(column, sa.types.NULLTYPE)
    return column


_condition_columns = [_as_stored(schema.conditions.c[name]) for name in field_names(ConditionRow)]
condition_rows = sa.select(*_condition_columns).order_by(schema.conditions.c.condition_name)
condition_row = (
    sa.select(*_condition_columns)
    .where(schema.conditions.c.condition_name == sa.bindparam("condition_name"))
    .with_for_update()
)

key_by_hash = sa.select(*_key_columns).where(schema.principals.c.key_hash == sa.bindparam("key_hash"))
key_by_id = sa.select(*_key_columns).where(schema.principals.c.id == sa.bindparam("key_id")).with_for_update()
keys = sa.select(*_key_columns).order_by(schema.principals.c.created_at, schema.principals.c.id)

audit_head = (
    sa.select(schema.audit_log.c.sequence, schema.audit_log.c.hash)
    .order_by(schema.audit_log.c.sequence.desc())
    .limit(1)
)
audit_entries = (
    sa.select(*(schema.audit_log.c[name] for name in AuditEntry.__dataclass_fields__))
    .where(schema.audit_log.c.sequence > sa.bindparam("after", type_=sa.BigInteger))
    .order_by(schema.audit_log.c.sequence)
    .limit(_limit)
)

overdue_sessions = (
    sa.select(schema.halt_events.c.session_id)
    .where(schema.halt_events.c.escalate_at <= sa.bindparam("now", type_=schema.Moment))
    .where(sa.text(schema.OVERDUE_CANDIDATE))
    .group_by(schema.halt_events.c.session_id)
    .order_by(sa.func.min(schema.halt_events.c.escalate_at))
    .limit(_limit)
)
free_sessions = (
    sa.select(schema.sessions.c.id)
    .where(schema.sessions.c.id.in_(sa.bindparam("session_ids", expanding=True)))
    .with_for_update(skip_locked=True)
)

archivable = (
    sa.select(schema.halt_events.c.id)
    .where(schema.halt_events.c.triggered_at < sa.bindparam("before", type_=schema.Moment))
    .where(sa.text(f"NOT ({schema.OPEN})"))
    .order_by(schema.halt_events.c.triggered_at)
    .limit(_limit)
    .with_for_update(skip_locked=True)
)
_moved: sa.BindParameter[list[str]] = sa.bindparam("halt_ids", expanding=True)
copy_to_archive = schema.halt_events_archive.insert().from_select(
    [column.name for column in _halt_columns],
    sa.select(*_halt_columns).where(schema.halt_events.c.id.in_(_moved)),
)
delete_archived = schema.halt_events.delete().where(schema.halt_events.c.id.in_(_moved))

insert_session = schema.sessions.insert()
insert_halts = schema.halt_events.insert()
insert_waivers = schema.waivers.insert()
insert_key = schema.principals.insert()
insert_audit = schema.audit_log.insert()

_now = sa.bindparam("now", type_=schema.Moment)
update_session = schema.sessions.update().where(schema.sessions.c.id == sa.bindparam("session_id"))
settle_halt = schema.halt_events.update().where(schema.halt_events.c.id == sa.bindparam("halt_id"))
use_waiver = (
    schema.waivers.update()
    .where(schema.waivers.c.id == sa.bindparam("waiver_id"), sa.text(schema.NOT_USED_UP))
    .values(used_at=_now)
)
deliver_message = (
    schema.outbox.update()
    .where(schema.outbox.c.id == sa.bindparam("message_id"), sa.text(schema.OWED))
    .values(delivered_at=_now)
)
cancel_messages = (
    schema.outbox.update()
    .where(
        schema.outbox.c.halt_id == sa.bindparam("of_halt"),
        sa.text("outbox.kind = 'notification'"),
        sa.text(schema.OWED),
    )
    .values(cancelled_at=_now)
)
revoke_key = (
    schema.principals.update()
    .where(schema.principals.c.id == sa.bindparam("key_id"), schema.principals.c.revoked_at.is_(None))
    .values(revoked_at=_now)
)


@cache
def upsert(table: sa.Table, dialect: str) -> sa.Insert:
    """Return an insert that replaces every other column when the primary key exists."""
    insert = postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
    key = [column.name for column in table.primary_key]
    replaced = {
        column.name: insert.excluded[column.name] for column in table.columns if column.name not in key
    }
    return insert.on_conflict_do_update(index_elements=key, set_=replaced)


@cache
def insert_messages(dialect: str) -> sa.Insert:
    """Return an insert that leaves a message be that exists under its `dedup_key`."""
    insert = postgresql.insert(schema.outbox) if dialect == "postgresql" else sqlite.insert(schema.outbox)
    return insert.on_conflict_do_nothing(index_elements=["dedup_key"])


@cache
def list_halts(filters: frozenset[str]) -> tuple[sa.Select[Any], sa.Select[Any]]:
    """Return the statements for a page of halts and for how many match in all.

    Args:
        filters: any of `session_id`, `halt_type`, `severity`, and `open` or `unacknowledged`.
    """
    conditions: list[sa.ColumnElement[bool] | sa.TextClause] = [
        schema.halt_events.c[name] == sa.bindparam(name, type_=schema.halt_events.c[name].type)
        for name in ("session_id", "halt_type", "severity")
        if name in filters
    ]
    if "unacknowledged" in filters:
        conditions.append(sa.text("NOT halt_events.acknowledged"))
    if "open" in filters:
        conditions.append(sa.text(schema.OPEN))
    page = (
        sa.select(*_halt_columns)
        .where(*conditions)
        .order_by(schema.halt_events.c.triggered_at.desc(), schema.halt_events.c.id.desc())
        .limit(_limit)
        .offset(sa.bindparam("offset", type_=sa.Integer))
    )
    return page, sa.select(sa.func.count()).select_from(schema.halt_events).where(*conditions)


@cache
def count_unanswered(*, of_session: bool) -> sa.Select[Any]:
    """Return the statement that counts the halts that wait for an answer."""
    conditions = [schema.halt_events.c.session_id == _of_session] if of_session else []
    return (
        sa.select(sa.func.count())
        .select_from(schema.halt_events)
        .where(*conditions, sa.text(schema.UNANSWERED))
    )


_in_states = schema.sessions.c.state.in_(sa.bindparam("states", expanding=True))
list_sessions = (
    sa.select(*_session_columns)
    .where(_in_states)
    .order_by(schema.sessions.c.created_at.desc(), schema.sessions.c.id.desc())
    .limit(_limit)
    .offset(sa.bindparam("offset", type_=sa.Integer))
)
count_sessions = sa.select(sa.func.count()).select_from(schema.sessions).where(_in_states)
