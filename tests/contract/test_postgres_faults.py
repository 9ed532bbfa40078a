"""PostgreSQL that is frozen, killed or unreachable: calls end at their deadline, and the store comes back."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import anyio
import pytest

from haltline.errors import InvalidInput, StoreCorrupt, StoreUnavailable
from haltline.records import Changes, SessionLookup
from haltline.store import Store, audit, open_store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.conftest import Maker, OwnPostgresServer, PostgresServer

pytestmark = pytest.mark.anyio

PATIENCE = 0.3
"""The callers' deadline, in seconds."""

BOUND = 20.0
"""When a call that should work has failed, in seconds."""


async def gives_up(call: Callable[[], Awaitable[object]]) -> None:
    """Check that a call ends with its caller's deadline, or fails at once."""
    begin = anyio.current_time()
    with pytest.raises((TimeoutError, StoreUnavailable)):
        with anyio.fail_after(PATIENCE):
            await call()
    assert anyio.current_time() - begin < PATIENCE * 3


async def works(store: Store, make: Maker) -> None:
    with anyio.fail_after(BOUND):
        session = await make.opened(store)
        await make.write(store, audit=(make.event(),))
        assert (await store.view(SessionLookup(session_id=session.id))).session == session
        assert audit.verify(await store.audit_entries(0, 100)).broken is None


async def test_frozen_server_freezes_no_caller_and_is_used_again_when_it_thaws(
    own_postgres: OwnPostgresServer, make: Maker
) -> None:
    store = open_store(own_postgres.create_database())
    await store.start()
    await works(store, make)
    own_postgres.signal(signal.SIGSTOP)
    try:
        for _ in range(3):
            await gives_up(lambda: store.view(SessionLookup(token_hash="x")))
            await gives_up(lambda: make.write(store, audit=(make.event(),)))
        async with anyio.create_task_group() as group:
            for _ in range(20):  # more than the pool holds
                group.start_soon(gives_up, lambda: store.view(SessionLookup(token_hash="x")))
    finally:
        own_postgres.signal(signal.SIGCONT)
    await works(store, make)
    await store.close()


async def test_killed_server_is_unavailable_and_is_used_again_when_it_is_back(
    own_postgres: OwnPostgresServer, make: Maker
) -> None:
    store = open_store(own_postgres.create_database())
    await store.start()
    async with anyio.create_task_group() as group:
        for _ in range(4):  # more than one connection lies in the pool
            group.start_soon(works, store, make)
    own_postgres.kill()
    for _ in range(3):
        await gives_up(lambda: store.view(SessionLookup(token_hash="x")))
    own_postgres.restart()
    await works(store, make)
    own_postgres.kill()
    own_postgres.restart()
    await works(store, make)  # although no call has noticed
    await store.close()


async def test_server_that_dies_inside_a_transaction_leaves_nothing(
    own_postgres: OwnPostgresServer, make: Maker
) -> None:
    store = open_store(own_postgres.create_database())
    await store.start()
    session = await make.opened(store)
    halt = make.halt(session)

    def die(_view: object, _now: object) -> Changes:
        own_postgres.kill()
        return Changes(new_halts=(halt,), audit=(make.event(),))

    with anyio.fail_after(BOUND):
        with pytest.raises(StoreUnavailable):
            await store.change(SessionLookup(session_id=session.id), die)
    own_postgres.restart()
    with anyio.fail_after(BOUND):
        assert await store.find_halt(halt.id) is None
    await store.close()


async def test_frozen_server_cannot_be_started_and_can_later(
    own_postgres: OwnPostgresServer, make: Maker
) -> None:
    store = open_store(own_postgres.create_database())
    own_postgres.signal(signal.SIGSTOP)
    try:
        await gives_up(store.start)
    finally:
        own_postgres.signal(signal.SIGCONT)
    with anyio.fail_after(BOUND):
        await store.start()
    await works(store, make)
    await store.close()


async def test_nobody_listens(tmp_path: object) -> None:
    store = open_store(f"postgresql://postgres@/haltline?host={tmp_path}")
    with anyio.fail_after(BOUND):
        with pytest.raises(StoreUnavailable):
            await store.start()


async def test_database_that_does_not_exist(postgres_server: PostgresServer) -> None:
    store = open_store(postgres_server.database_url("haltline_no_such"))
    with pytest.raises(StoreUnavailable, match="haltline_no_such"):
        await store.start()


async def test_store_that_was_not_started_says_so(postgres_server: PostgresServer) -> None:
    store = open_store(postgres_server.url)
    with pytest.raises(StoreUnavailable, match="start"):
        await store.condition_rows()


def test_malformed_url_is_refused() -> None:
    with pytest.raises(InvalidInput, match="expected postgresql://"):
        open_store("postgresql://host:port/x")


async def test_schema_that_is_gone_is_corrupt(
    postgres_server: PostgresServer, postgres_template: str
) -> None:
    store = open_store(postgres_server.create_database(postgres_template))
    await store.start()
    await store.close()
    store = open_store(postgres_server.create_database(postgres_template))
    await store.start()
    await store._write(lambda c: c.exec_driver_sql("DROP TABLE outbox"))  # type: ignore[attr-defined]  # past the port
    with pytest.raises(StoreCorrupt, match="outbox"):
        await store.view(SessionLookup(token_hash="x"))
    await store.close()
