"""The store on SQLite: one file, any number of processes on one machine.

Blocking calls run in lanes (`worker`), each with its own connection, so that a locked or frozen database
never blocks the event loop. Inside one process writers queue on a lock, which hands over faster than SQLite's
busy handler polls.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from haltline.domain import SessionState
from haltline.errors import StoreCorrupt, StoreUnavailable
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
from haltline.store.failures import failure, sqlite_failure
from haltline.store.port import ConditionTransition, KeyTransition, Transition
from haltline.store.sqlite_file import BUSY_TIMEOUT, DatabaseFile, journal_mode, library
from haltline.store.transactions import Clock
from haltline.store.worker import Lanes

T = TypeVar("T")

LANES = 8
"""Most threads, and so connections, of one store."""

_CLOSING_SECONDS = 1.0

_log = logging.getLogger(__name__)


class SqliteStore:
    """A database file.

    Args:
        path: the file; it and its directory are made when they do not exist.
        clock: tells the time, for tests; this machine's clock when None.
    """

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        self._clock = clock
        self._file = DatabaseFile(path)
        self._engine = sa.create_engine(
            "sqlite://",
            module=library(),
            creator=self._file.connect,
            poolclass=NullPool,
            # Transactions are begun and ended by statements of our own, because BEGIN must be IMMEDIATE.
            isolation_level="AUTOCOMMIT",
        )
        self._lanes: Lanes | None = None
        self._of_thread = threading.local()
        self._write_lock = threading.Lock()

    async def start(self) -> None:
        """Make or open the file, check it, and bring its schema up to date."""
        if self._lanes is not None:
            return
        lanes = Lanes("haltline-sqlite", LANES, on_exit=self._disconnect)
        try:
            await lanes.run_abandonable(self._open)
        except BaseException:
            lanes.close(timeout=0)
            raise
        self._lanes = lanes

    async def close(self) -> None:
        """End the threads and their connections."""
        lanes, self._lanes = self._lanes, None
        if lanes is not None:
            lanes.close(_CLOSING_SECONDS)

    async def view(self, lookup: SessionLookup) -> SessionView:
        """Read what a check needs of a session."""
        return await self._run(lambda: self._view(lookup))

    async def change(self, lookup: SessionLookup, transition: Transition) -> Changes:
        """Lock the database, load the session, run the transition and write what it returns."""
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
        """Run the transition on a row of the configuration and write what it returns."""
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
        """Return facts and weaknesses, after a check of the whole file."""
        return await self._run(lambda: self._guarded(self._health))

    async def _run(self, function: Callable[[], T]) -> T:
        if self._lanes is None:
            raise StoreUnavailable("The store is not started; call start() first")
        return await self._lanes.run_abandonable(function)

    async def _read(self, function: Callable[[sa.Connection], T]) -> T:
        return await self._run(
            lambda: self._guarded(lambda connection: self._in_snapshot(connection, function))
        )

    async def _write(self, function: Callable[[sa.Connection], T]) -> T:
        return await self._run(lambda: self._guarded(lambda connection: self._in_turn(connection, function)))

    # From here on, everything runs in a lane.

    def _view(self, lookup: SessionLookup) -> SessionView:
        def look(connection: sa.Connection) -> SessionView:
            quiet = transactions.view_if_quiet(connection, lookup)
            if quiet is not None:
                return quiet
            return self._in_snapshot(connection, lambda inside: transactions.view(inside, lookup))

        return self._guarded(look)

    def _guarded(self, function: Callable[[sa.Connection], T]) -> T:
        """Run with this thread's connection; drop the connection when the database fails."""
        self._file.check()
        try:
            return function(self._connection())
        except sa.exc.SQLAlchemyError as error:
            self._disconnect()
            raise failure(error, "sqlite") from error
        except library().Error as error:
            self._disconnect()
            raise sqlite_failure(error) from error

    def _in_snapshot(self, connection: sa.Connection, function: Callable[[sa.Connection], T]) -> T:
        connection.exec_driver_sql("BEGIN")
        try:
            return function(connection)
        finally:
            self._end(connection, "ROLLBACK")

    def _in_turn(self, connection: sa.Connection, function: Callable[[sa.Connection], T]) -> T:
        if not self._write_lock.acquire(timeout=BUSY_TIMEOUT):
            raise StoreUnavailable("SQLite: another call of this process holds the database for too long")
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                result = function(connection)
                connection.exec_driver_sql("COMMIT")
            except BaseException:
                self._end(connection, "ROLLBACK")
                raise
        finally:
            self._write_lock.release()
        self._file.check()  # a file deleted before the commit has taken the change with it
        return result

    @staticmethod
    def _end(connection: sa.Connection, how: str) -> None:
        """End a transaction, unless SQLite has ended it already, as it does after some errors."""
        if connection.connection.dbapi_connection.in_transaction:  # type: ignore[union-attr]  # it is connected
            connection.exec_driver_sql(how)

    def _connection(self) -> sa.Connection:
        connection: sa.Connection | None = getattr(self._of_thread, "connection", None)
        if connection is None:
            connection = self._of_thread.connection = self._engine.connect()
        return connection

    def _disconnect(self) -> None:
        connection: sa.Connection | None = getattr(self._of_thread, "connection", None)
        self._of_thread.connection = None
        if connection is not None:
            connection.close()

    def _open(self) -> None:
        self._file.prepare()
        self._guarded(self._bring_up)

    def _bring_up(self, connection: sa.Connection) -> None:
        version = library().sqlite_version
        if journal_mode(library().sqlite_version_info) != "wal":
            _log.warning(
                "SQLite %s can corrupt databases in WAL mode; using journal_mode=TRUNCATE, which is slower. "
                "Install pysqlite3 for a newer SQLite.",
                version,
            )
        if self._file.is_small():
            self._refuse_damage(connection)
        if migrations.is_current(connection):
            return
        connection.exec_driver_sql("BEGIN EXCLUSIVE")
        try:
            if not migrations.is_current(connection):  # another process may have been first
                migrations.upgrade(connection)
            connection.exec_driver_sql("COMMIT")
        except BaseException:
            self._end(connection, "ROLLBACK")
            raise

    def _refuse_damage(self, connection: sa.Connection) -> None:
        damage = self._file.damage(connection)
        if damage is not None:
            raise StoreCorrupt(f"SQLite: {self._file.path} is damaged: {damage}; restore it from a backup")

    def _health(self, connection: sa.Connection) -> StoreHealth:
        facts = {
            "store": "sqlite",
            "path": str(self._file.path),
            "sqlite": f"{library().sqlite_version} ({library().__name__.partition('.')[0]})",
            "schema": migrations.revision_of(connection) or "none",
        }
        for pragma in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout"):
            facts[pragma] = str(connection.exec_driver_sql(f"PRAGMA {pragma}").scalar_one())
        warnings: list[str] = []
        damage = self._file.damage(connection)
        facts["quick_check"] = damage or "ok"
        if damage is not None:
            warnings.append(f"The file is damaged: {damage}. Restore it from a backup.")
        if journal_mode(library().sqlite_version_info) != "wal":
            warnings.append(
                f"SQLite {library().sqlite_version} can corrupt databases in WAL mode, so a slower one is "
                "used. Install pysqlite3."
            )
        if self._file.exposed():
            warnings.append(f"Others may read {self._file.path}: chmod 600 it.")
        return StoreHealth(facts, tuple(warnings))
