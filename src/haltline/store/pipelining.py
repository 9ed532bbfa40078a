"""Statements that need not wait for one another's results, sent to PostgreSQL together.

psycopg's pipeline mode takes one round trip for all of them; each still sees what those before it did, and a
lock makes those after it wait. SQLAlchemy compiles the statements, and owns connection and transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.util import await_

from haltline.errors import Conflict
from haltline.store import audit, statements

if TYPE_CHECKING:
    from sqlalchemy.sql.compiler import SQLCompiler

    from haltline.store.writing import Write

AUDIT_LOCK = 0x48414C54
"""Advisory lock that orders the writers of the audit chain ("HALT" in ASCII)."""

_Sent = tuple[str, Mapping[str, Any]]
_LOCK_AUDIT: _Sent = (f"SELECT pg_advisory_xact_lock({AUDIT_LOCK})", {})


def send(connection: sa.Connection, writes: Sequence[Write], *, with_head: bool) -> audit.AuditHead | None:
    """Run statements; with the head, take the audit chain's lock after them and return where the chain ends.

    Raises:
        Conflict: a statement that had to change something did not.
        sqlalchemy.exc.DBAPIError: the database refused one, and so all of them.
    """
    sent = [_sent(connection, each.statement, row) for each in writes for row in each.rows]
    # The lock is a statement of its own: one that waited for it would still see the head of before the wait.
    tail = [_LOCK_AUDIT, _sent(connection, statements.audit_head, {})] if with_head else []
    cursors = _together(connection, [*sent, *tail])
    conflicts = [each.conflict for each in writes for _ in each.rows]
    for cursor, conflict in zip(cursors, conflicts, strict=False):
        if conflict is not None and cursor.rowcount != 1:
            raise Conflict(conflict)
    if not with_head:
        return None
    found = await_(cursors[-1].fetchone())
    return audit.GENESIS if found is None else audit.AuditHead(*found)


def lock_session(connection: sa.Connection, by: str, key: str) -> bool:
    """Begin the transaction and lock the session, in one round trip; says whether there is one."""
    (cursor,) = _together(connection, [_sent(connection, statements.lock_session(by), {"key": key})])
    return cursor.rowcount == 1


def _together(connection: sa.Connection, sent: Sequence[_Sent]) -> list[psycopg.AsyncCursor[Any]]:
    """Send statements in one go. A wait that is cut short or a server that is gone costs the connection."""
    if not sent:
        return []
    driver: Any = connection.connection.driver_connection
    try:
        return await_(_pipelined(driver, sent))
    except psycopg.Error as error:
        if driver.closed:
            connection.invalidate(error)
        raise sa.exc.DBAPIError("a pipeline", None, error, connection_invalidated=driver.closed) from error
    except BaseException:
        connection.invalidate()
        raise


async def _pipelined(
    driver: psycopg.AsyncConnection[Any], sent: Iterable[_Sent]
) -> list[psycopg.AsyncCursor[Any]]:
    async with driver.pipeline():
        return [await driver.execute(text, row) for text, row in sent]


def _sent(connection: sa.Connection, statement: sa.Executable, row: Mapping[str, Any]) -> _Sent:
    compiled = _compiled(statement, tuple(row), connection.dialect)
    values = compiled.construct_params(dict(row))
    plain = {name: value.value if isinstance(value, Enum) else value for name, value in values.items()}
    return compiled.string, plain


@cache
def _compiled(statement: Any, columns: tuple[str, ...], dialect: sa.Dialect) -> SQLCompiler:
    compiled: SQLCompiler = statement.compile(dialect=dialect, column_keys=list(columns))
    return compiled
