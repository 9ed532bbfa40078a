"""Bringing databases up to date: from nothing, from every release, by several processes at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory

from haltline.errors import StoreCorrupt
from haltline.records import SessionLookup
from haltline.store import migrations, open_store, schema
from haltline.store.sqlite_file import library

if TYPE_CHECKING:
    from tests.conftest import Database, Maker, PostgresServer

pytestmark = pytest.mark.anyio

BOUND = 60.0


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database in which there is nothing yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'haltline.db'}"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.create_database()


def raw(url: str) -> sa.Engine:
    module = {"module": library()} if url.startswith("sqlite") else {}
    return sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"), **module)


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    return ScriptDirectory.from_config(config)


def test_head_and_releases_are_the_revisions_that_there_are() -> None:
    assert scripts().get_current_head() == migrations.HEAD
    revisions = [script.revision for script in scripts().walk_revisions()]
    assert tuple(reversed(revisions)) == migrations.RELEASED


async def test_empty_database_becomes_a_working_one(empty_url: str, make: Maker) -> None:
    store = open_store(empty_url)
    await store.start()
    session = await make.opened(store)
    assert (await store.view(SessionLookup(session_id=session.id))).session == session
    assert (await store.health()).facts["schema"] == migrations.HEAD
    await store.close()


@pytest.mark.parametrize("release", migrations.RELEASED)
async def test_database_of_each_release_is_brought_up_to_date(
    empty_url: str, release: str, make: Maker
) -> None:
    engine = raw(empty_url)
    with engine.begin() as connection:
        migrations.upgrade(connection, release)
        assert migrations.revision_of(connection) == release
    engine.dispose()
    store = open_store(empty_url)
    await store.start()
    await make.opened(store)
    assert (await store.health()).facts["schema"] == migrations.HEAD
    await store.close()


STARTING = """
import sys, anyio
from haltline.store import open_store
store = open_store(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
anyio.run(store.start)
"""


def test_processes_that_migrate_at_once_do_not_disturb_one_another(empty_url: str) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", STARTING, empty_url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        _, errors = process.communicate("go\n", timeout=BOUND)
        assert process.returncode == 0, errors
    engine = raw(empty_url)
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM halt_conditions_config")).scalar() == 24
    engine.dispose()


async def test_stores_that_start_at_once_in_one_process(empty_url: str) -> None:
    stores = [open_store(empty_url) for _ in range(4)]
    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as group:
            for store in stores:
                group.start_soon(store.start)
    for store in stores:
        assert len(await store.condition_rows()) == 24
        await store.close()


async def test_newer_schema_is_refused_with_advice(durable: Database) -> None:
    with durable.raw() as connection:
        version = sa.table(migrations.VERSION_TABLE, sa.column("version_num"))
        connection.execute(version.update().values(version_num="9999"))
    with pytest.raises(StoreCorrupt, match=r"9999.*newer Haltline"):
        await durable.store()


async def test_migration_that_fails_leaves_nothing(empty_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade = migrations.upgrade

    def failing(connection: sa.Connection, target: str = migrations.HEAD) -> None:
        upgrade(connection, target)
        raise ZeroDivisionError

    monkeypatch.setattr(migrations, "upgrade", failing)
    with pytest.raises(ZeroDivisionError):
        await open_store(empty_url).start()
    engine = raw(empty_url)
    assert sa.inspect(engine).get_table_names() == []
    engine.dispose()


def test_up_to_date_database_starts_without_alembic(tmp_path: Path) -> None:
    script = """
import sys, anyio
from haltline.store import open_store
async def main():
    store = open_store(sys.argv[1])
    await store.start()
    await store.close()
anyio.run(main)
print("alembic" in sys.modules)
"""
    command = [sys.executable, "-c", script, f"sqlite:///{tmp_path / 'haltline.db'}"]
    first, second = (
        subprocess.run(command, capture_output=True, check=True, timeout=BOUND).stdout.split()
        for _ in range(2)
    )
    assert (first, second) == ([b"True"], [b"False"])


def test_memory_store_needs_no_sqlalchemy() -> None:
    script = """
import sys
from haltline.store import open_store
open_store("memory:")
print("sqlalchemy" in sys.modules)
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, check=True, timeout=BOUND)
    assert done.stdout.split() == [b"False"]


async def test_schema_of_the_statements_is_the_schema_of_the_database(durable: Database) -> None:
    with durable.raw() as connection:
        inspector = sa.inspect(connection)
        tables = set(inspector.get_table_names())
        assert tables == {*schema.metadata.tables, migrations.VERSION_TABLE}
        for name, table in schema.metadata.tables.items():
            found = {column["name"]: column for column in inspector.get_columns(name)}
            assert list(found) == [column.name for column in table.columns], name
            for column in table.columns:
                assert found[column.name]["nullable"] == column.nullable, f"{name}.{column.name}"


SPECIFIED_INDEXES = {
    "idx_halt_events_session": "(session_id)",
    "idx_halt_events_task": "(task_id)",
    "idx_halt_events_type": "(halt_type)",
    "idx_halt_events_severity": "(severity)",
    "idx_halt_events_triggered": "(triggered_at)",
    "idx_halt_events_acknowledged": "(acknowledged) where acknowledged = false",
    "idx_halt_events_session_unack": "(session_id, acknowledged) where acknowledged = false",
    "idx_halt_events_session_type": "(session_id, halt_type)",
}
LIST_INDEXES = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'halt_events'",
    "postgresql": "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'halt_events'",
}


async def test_indexes_of_the_specification_are_there(durable: Database) -> None:
    with durable.raw() as connection:
        rows = connection.exec_driver_sql(LIST_INDEXES[durable.kind]).all()
    definitions = {
        name: str(definition).lower().replace("(acknowledged = false)", "acknowledged = false")
        for name, definition in rows
    }
    for name, definition in SPECIFIED_INDEXES.items():
        assert definitions[name].endswith(definition)


@pytest.mark.parametrize("durable", ["postgresql"], indirect=True)
async def test_postgresql_has_real_types(durable: Database) -> None:
    types = {
        "halt_type": ("code_safety", "scope", "environment", "execution", "security", "uncertainty"),
        "severity_level": ("low", "medium", "high", "critical"),
        "halt_resolution": ("resolved", "escalated", "dismissed", "timeout"),
    }
    with durable.raw() as connection:
        for name, values in types.items():
            found = connection.execute(sa.text(f"SELECT unnest(enum_range(NULL::{name}))::text")).scalars()
            assert tuple(found) == values
        columns = {c["name"]: str(c["type"]) for c in sa.inspect(connection).get_columns("halt_events")}
    assert (columns["id"], columns["context"], columns["triggered_at"]) == ("UUID", "JSONB", "TIMESTAMP")


async def test_row_of_the_specification_alone_gets_its_defaults(durable: Database, make: Maker) -> None:
    store = await durable.store()
    session = await make.opened(store)
    identifier = make.halt(session).id
    insert = sa.text(
        "INSERT INTO halt_events (id, session_id, halt_type, severity, description)"
        " VALUES (:id, :session_id, 'scope', 'high', 'by hand')"
    )
    with durable.raw() as connection:
        connection.execute(insert, {"id": identifier, "session_id": session.id})
    found = await store.find_halt(identifier)
    assert found is not None
    assert (found.acknowledged, found.resolution, found.context) == (False, None, None)
    assert found.triggered_at == found.created_at == found.updated_at
