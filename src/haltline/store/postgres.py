"""The store on PostgreSQL: asynchronous psycopg, so that a frozen server freezes nobody.

A synchronous driver hangs for as long as a stopped server holds its socket, whatever its timeouts say; every
wait here ends when the caller's deadline does. A connection whose wait was cut short is not used again.
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from haltline.domain import SessionState
from haltline.errors import InvalidInput, StoreUnavailable
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
from haltline.store import migrations, queries, sweeping, transactions
from haltline.store.failures import TryAgain, failure
from haltline.store.port import ConditionTransition, KeyTransition, Transition
from haltline.store.transactions import Clock

T = TypeVar("T")

MIGRATION_LOCK = 0x48414C55
"""Advisory lock that lets one process migrate at a time; next to the audit chain's."""

POOL_SIZE = 5
POOL_OVERFLOW = 10

_CONNECT_SECONDS = 5
_TRIES = 5
_SERVER_SETTINGS = (
    # A statement that takes so long has lost its caller; a transaction left open would hold its locks.
    "-c statement_timeout=5000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=10000"
    " -c timezone=UTC"
)


class _ConnectionLost(StoreUnavailable):
    """The connection broke before anything was committed."""


@dataclass(frozen=True, slots=True)
class _Engines:
    """One pool of connections, and three ways to use them; made once, because making one takes 0.1 ms."""

    write: AsyncEngine
    snapshot: AsyncEngine
    autocommit: AsyncEngine

    @classmethod
    def over(cls, engine: AsyncEngine) -> _Engines:
        snapshot = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        return cls(engine, snapshot, engine.execution_options(isolation_level="AUTOCOMMIT"))


class PostgresStore:
    """A PostgreSQL database.

    Args:
        url: `postgresql://user:password@host/database`, with libpq's parameters after a question mark.
        clock: tells the time, for tests; the server's `clock_timestamp()` when None.

    Raises:
        InvalidInput: the URL is malformed, or psycopg is not installed.
    """

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        self._url = _parsed(url)
        self._clock = clock
        self._engines: _Engines | None = None
        self._owner: tuple[int, asyncio.AbstractEventLoop] | None = None

    async def start(self) -> None:
        """Connect, and bring the schema up to date."""
        if self._engines is not None:
            return
        engine = self._new_engine()
        try:
            if not await self._transact(engine, migrations.is_current):
                await self._transact(engine, _migrate)
        except BaseException:
            await engine.dispose()
            raise
        self._engines, self._owner = _Engines.over(engine), _owner()

    async def close(self) -> None:
        """Close every connection of this process."""
        engines, self._engines = self._engines, None
        if engines is not None:
            await self._let_go(engines)

    async def view(self, lookup: SessionLookup) -> SessionView:
        """Read what a check needs of a session."""
        quiet = await self._transact(
            (await self._started()).autocommit,
            lambda connection: transactions.view_if_quiet(connection, lookup),
        )
        if quiet is not None:
            return quiet
        return await self._read(lambda connection: transactions.view(connection, lookup))

    async def change(self, lookup: SessionLookup, transition: Transition) -> Changes:
        """Lock the session, load it, run the transition and write what it returns."""
        return await self._write(
            lambda connection: transactions.change(connection, lookup, transition, self._clock)
        )

    async def note(self, events: tuple[AuditEvent, ...]) -> None:
        """Write audit entries that belong to no change."""
        await self._write(lambda connection: queries.note(connection, events, self._clock))

    async def find_halt(self, halt_id: str) -> Halt | None:
        """Return a halt wherever it lies."""
        return await self._read(lambda connection: transactions.find_halt(connection, halt_id))

    async def list_halts(self, query: HaltQuery) -> HaltPage:
        """Return a page of halts, the newest first."""
        return await self._read(lambda connection: queries.list_halts(connection, query))

    async def list_sessions(
        self, states: frozenset[SessionState], limit: int, offset: int
    ) -> tuple[tuple[Session, ...], int]:
        """Return sessions in these states, the newest first, and their number."""
        return await self._read(lambda connection: queries.list_sessions(connection, states, limit, offset))

    async def list_strikes(self, session_id: str) -> tuple[Strikes, ...]:
        """Return the strikes of every task of a session."""
        return await self._read(lambda connection: queries.list_strikes(connection, session_id))

    async def condition_rows(self) -> tuple[ConditionRow, ...]:
        """Return the configuration as it is stored."""
        return await self._read(queries.condition_rows)

    async def change_condition(self, condition_name: str, transition: ConditionTransition) -> Changes:
        """Lock a row of the configuration, run the transition and write what it returns."""
        return await self._write(
            lambda connection: queries.change_condition(connection, condition_name, transition, self._clock)
        )

    async def claim_overdue(self, transition: Transition, limit: int) -> tuple[Changes, ...]:
        """Run the transition for sessions that have an overdue halt."""
        return await sweeping.sweep(self._read, self._write, transition, self._clock, limit)

    async def archive(self, settled_before: datetime, limit: int, actor: str) -> int:
        """Move halts that are not open to the archive."""
        return await self._write(
            lambda connection: sweeping.archive(connection, settled_before, limit, actor, self._clock)
        )

    async def audit_entries(self, after: int, limit: int) -> tuple[AuditEntry, ...]:
        """Return links of the chain, in order."""
        return await self._read(lambda connection: queries.audit_entries(connection, after, limit))

    async def all_halts(self, after: str, limit: int) -> tuple[Halt, ...]:
        """Return halts by id, the archive's among them."""
        return await self._read(lambda connection: queries.all_halts(connection, after, limit))

    async def find_key(self, key_hash: str) -> ApiKey | None:
        """Return the credential with this hash."""
        return await self._read(lambda connection: queries.find_key(connection, key_hash))

    async def list_keys(self) -> tuple[ApiKey, ...]:
        """Return every credential, the oldest first."""
        return await self._read(queries.list_keys)

    async def change_key(self, key_id: str | None, transition: KeyTransition) -> Changes:
        """Run the transition on a credential and write what it returns."""
        return await self._write(
            lambda connection: queries.change_key(connection, key_id, transition, self._clock)
        )

    async def health(self) -> StoreHealth:
        """Return facts and weaknesses."""
        return await self._read(self._health)

    def _new_engine(self) -> AsyncEngine:
        try:
            asyncio.get_running_loop()
        except RuntimeError as error:
            raise StoreUnavailable("PostgreSQL needs asyncio; psycopg does not run on trio") from error
        engine = create_async_engine(
            self._url,
            isolation_level="READ COMMITTED",
            pool_size=POOL_SIZE,
            max_overflow=POOL_OVERFLOW,
            connect_args=_connect_arguments(self._url),
        )
        sa.event.listen(engine.sync_engine, "connect", _leave_json_as_text)
        sa.event.listen(engine.sync_engine, "checkout", _notice_hang_up)
        return engine

    async def _started(self) -> _Engines:
        """Return the engines; new ones in another process or event loop than before.

        Two processes that use one connection get each other's answers, and an event loop cannot wait for a
        connection of another one.
        """
        if self._engines is None:
            raise StoreUnavailable("The store is not started; call start() first")
        engines = self._engines
        if self._owner != _owner():
            self._engines = _Engines.over(self._new_engine())
            await self._let_go(engines)
        return self._engines

    async def _let_go(self, engines: _Engines) -> None:
        """Close connections; those of another process are left to it, since closing would end them there."""
        of_process = self._owner[0] if self._owner else None
        self._owner = _owner()
        await engines.write.dispose(close=of_process == os.getpid())

    async def _read(self, function: Callable[[sa.Connection], T]) -> T:
        """Run in one snapshot, so that what several statements read fits together."""
        return await self._transact((await self._started()).snapshot, function)

    async def _write(self, function: Callable[[sa.Connection], T]) -> T:
        """Run in a transaction, and again when PostgreSQL or another process's session says so."""
        for _ in range(_TRIES - 1):
            try:
                return await self._transact((await self._started()).write, function)
            except TryAgain:
                continue
        try:
            return await self._transact((await self._started()).write, function)
        except TryAgain as error:
            raise StoreUnavailable(f"PostgreSQL: {error}") from error

    async def _transact(self, engine: AsyncEngine, function: Callable[[sa.Connection], T]) -> T:
        """Run in a transaction; once more when the connection was one from before a restart of the server."""
        try:
            return await _run(engine, function)
        except _ConnectionLost:
            return await _run(engine, function)

    def _health(self, connection: sa.Connection) -> StoreHealth:
        facts = {
            "store": "postgresql",
            "url": self._url.render_as_string(hide_password=True),
            "schema": migrations.revision_of(connection) or "none",
        }
        for setting in ("server_version", "fsync", "synchronous_commit", "full_page_writes"):
            facts[setting] = str(connection.exec_driver_sql(f"SHOW {setting}").scalar_one())
        weak = [name for name in ("fsync", "synchronous_commit", "full_page_writes") if facts[name] == "off"]
        warnings = tuple(
            f"{name} is off: the last commits may be lost in a crash, halts included" for name in weak
        )
        return StoreHealth(facts, warnings)


def _owner() -> tuple[int, asyncio.AbstractEventLoop]:
    """Return whom connections belong to: this process and this event loop."""
    return os.getpid(), asyncio.get_running_loop()


async def _run(engine: AsyncEngine, function: Callable[[sa.Connection], T]) -> T:
    """Run in a transaction. SQLAlchemy gives up a connection that broke or whose wait was cut short."""
    committing = False
    try:
        async with engine.begin() as connection:
            result = await connection.run_sync(function)
            committing = True
    except sa.exc.SQLAlchemyError as error:
        if isinstance(error, sa.exc.DBAPIError) and error.connection_invalidated and not committing:
            raise _ConnectionLost(f"PostgreSQL: the connection broke ({error.orig})") from error
        raise failure(error, "postgresql") from error
    except OSError as error:
        raise StoreUnavailable(f"PostgreSQL: {error}") from error
    return result


def _migrate(connection: sa.Connection) -> None:
    connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
    if not migrations.is_current(connection):  # another process may have been first
        migrations.upgrade(connection)


def _parsed(url: str) -> sa.URL:
    try:
        import psycopg  # noqa: F401, PLC0415 - an extra: say so, instead of failing at the first query
    except ImportError as error:
        raise InvalidInput("database URL: PostgreSQL needs psycopg; install haltline[postgres]") from error
    try:
        parsed = sa.make_url(url.replace("postgres://", "postgresql://", 1))
    except (sa.exc.ArgumentError, ValueError) as error:
        raise InvalidInput("database URL: expected postgresql://user:password@host:port/database") from error
    return parsed.set(drivername="postgresql+psycopg")


def _connect_arguments(url: sa.URL) -> dict[str, Any]:
    """Return what the URL does not say itself."""
    arguments = {
        "connect_timeout": _CONNECT_SECONDS,
        "options": _SERVER_SETTINGS,
        "application_name": "haltline",
    }
    return {name: value for name, value in arguments.items() if name not in url.query}


def _leave_json_as_text(connection: Any, _record: object) -> None:
    from psycopg.types.string import TextLoader  # noqa: PLC0415 - see _parsed

    connection.adapters.register_loader("jsonb", TextLoader)


def _notice_hang_up(connection: Any, _record: object, _proxy: object) -> None:
    """Take no connection from the pool whose server has gone; costs microseconds, a ping a round trip.

    Nothing arrives unasked on an idle connection, except the end of it.
    """
    if _is_readable(connection.driver_connection.pgconn.socket):
        raise sa.exc.InvalidatePoolError("the server has closed this connection")


def _is_readable(descriptor: int) -> bool:
    if sys.platform == "win32":
        return bool(select.select([descriptor], [], [], 0)[0])
    waiting = select.poll()  # select() itself takes no descriptor beyond 1,023
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(0))
