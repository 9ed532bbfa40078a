"""Reads of the store that no transition needs: lists, pages, configuration, credentials, the audit chain."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

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
    Strikes,
)
from haltline.store import statements
from haltline.store.port import ConditionTransition, KeyTransition
from haltline.store.rows import canonical_id, field_names
from haltline.store.transactions import Clock, now_of, reading
from haltline.store.writing import write

if TYPE_CHECKING:
    import sqlalchemy as sa

_BEFORE_ALL_IDS = "00000000-0000-0000-0000-000000000000"


def list_halts(connection: sa.Connection, query: HaltQuery) -> HaltPage:
    """Return a page of halts."""
    values: dict[str, Any] = {}
    if query.session_id is not None:
        session_id = canonical_id(query.session_id)
        if session_id is None:
            return HaltPage((), 0, 0)
        values["session_id"] = session_id
    if query.halt_type is not None:
        values["halt_type"] = query.halt_type
    if query.severity is not None:
        values["severity"] = query.severity
    page, count = statements.list_halts(frozenset(values) | _state_filter(query))
    of_session = {name: value for name, value in values.items() if name == "session_id"}
    unanswered = statements.count_unanswered(of_session=bool(of_session))
    with reading():
        rows = connection.execute(page, {**values, "limit": query.limit, "offset": query.offset}).all()
        return HaltPage(
            halts=tuple(Halt(*row) for row in rows),
            total_count=connection.execute(count, values).scalar_one(),
            unacknowledged_count=connection.execute(unanswered, of_session).scalar_one(),
        )


def _state_filter(query: HaltQuery) -> frozenset[str]:
    if query.open_only:
        return frozenset({"open"})
    return frozenset() if query.include_acknowledged else frozenset({"unacknowledged"})


def list_sessions(
    connection: sa.Connection, states: frozenset[SessionState], limit: int, offset: int
) -> tuple[tuple[Session, ...], int]:
    """Return sessions in these states, the newest first, and their number."""
    wanted = {"states": sorted(states)}
    with reading():
        rows = connection.execute(
            statements.list_sessions, {**wanted, "limit": limit, "offset": offset}
        ).all()
        return tuple(Session(*row) for row in rows), connection.execute(
            statements.count_sessions, wanted
        ).scalar_one()


def list_strikes(connection: sa.Connection, session_id: str) -> tuple[Strikes, ...]:
    """Return the strikes of every task of a session."""
    known = canonical_id(session_id)
    if known is None:
        return ()
    with reading():
        rows = connection.execute(statements.strikes_of_session, {"session_id": known}).all()
        return tuple(Strikes(*row) for row in rows)


def condition_rows(connection: sa.Connection) -> tuple[ConditionRow, ...]:
    """Return the configuration as it is stored."""
    return tuple(_condition(row) for row in connection.execute(statements.condition_rows))


def _condition(row: sa.Row[Any]) -> ConditionRow:
    """Return a row of the configuration; what makes no sense in it stays, for its reader to say so."""
    values = dict(zip(field_names(ConditionRow), row, strict=True))
    for name in ("enabled", "auto_escalate"):
        if isinstance(values[name], int) and values[name] in {0, 1}:
            values[name] = bool(values[name])
    for name in ("created_at", "updated_at"):
        values[name] = _moment(values[name])
    return ConditionRow(**values)


def _moment(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    with suppress(TypeError, ValueError):
        return datetime.fromisoformat(value)
    return value


def change_condition(
    connection: sa.Connection, condition_name: str, transition: ConditionTransition, clock: Clock | None
) -> Changes:
    """Lock a row of the configuration, run the transition and write what it returns."""
    row = connection.execute(statements.condition_row, {"condition_name": condition_name}).one_or_none()
    found = None if row is None else _condition(row)
    now = now_of(connection, clock)
    changes = transition(found, now)
    write(connection, changes, None, now)
    return changes


def audit_entries(connection: sa.Connection, after: int, limit: int) -> tuple[AuditEntry, ...]:
    """Return links of the chain, in order."""
    found = connection.execute(statements.audit_entries, {"after": after, "limit": limit})
    return tuple(AuditEntry(*row) for row in found)


def all_halts(connection: sa.Connection, after: str, limit: int) -> tuple[Halt, ...]:
    """Return halts by id, the archive's among them."""
    start = canonical_id(after) if after else _BEFORE_ALL_IDS
    if start is None:
        return ()
    with reading():
        found = connection.execute(statements.all_halts, {"after": start, "limit": limit})
        return tuple(Halt(*row) for row in found)


def find_key(connection: sa.Connection, key_hash: str) -> ApiKey | None:
    """Return the credential with this hash."""
    with reading():
        row = connection.execute(statements.key_by_hash, {"key_hash": key_hash}).one_or_none()
        return None if row is None else ApiKey(*row)


def list_keys(connection: sa.Connection) -> tuple[ApiKey, ...]:
    """Return every credential."""
    with reading():
        return tuple(ApiKey(*row) for row in connection.execute(statements.keys))


def change_key(
    connection: sa.Connection, key_id: str | None, transition: KeyTransition, clock: Clock | None
) -> Changes:
    """Run the transition on a credential and write what it returns."""
    known = canonical_id(key_id) if key_id is not None else None
    found: ApiKey | None = None
    if known is not None:
        with reading():
            row = connection.execute(statements.key_by_id, {"key_id": known}).one_or_none()
            found = None if row is None else ApiKey(*row)
    now = now_of(connection, clock)
    changes = transition(found, now)
    write(connection, changes, None, now)
    return changes


def note(connection: sa.Connection, events: tuple[AuditEvent, ...], clock: Clock | None) -> None:
    """Write audit entries that belong to no change."""
    now = now_of(connection, clock)
    write(connection, Changes(audit=events), None, now)
