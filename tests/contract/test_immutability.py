"""Attacks on what must not change, past Haltline, by somebody who can send SQL to the database."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from haltline.domain import Resolution
from haltline.errors import ImmutableRecord, StoreCorrupt
from haltline.store import Store, audit, new_uuid
from haltline.store.failures import failure
from haltline.store.rows import SETTLEMENT
from haltline.store.schema import halt_events

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.conftest import Database, MakeDatabase, Maker

    from haltline.records import Halt, Session

pytestmark = pytest.mark.anyio

TABLES = ("halt_events", "halt_events_archive", "audit_log")


@dataclass(frozen=True)
class Scene:
    """A database with a halt of each kind, and what its immutable tables hold."""

    database: Database
    store: Store
    session: Session
    halts: dict[str, Halt]

    def contents(self) -> list[list[tuple[Any, ...]]]:
        with self.database.raw() as connection:
            return [
                sorted((tuple(row) for row in connection.exec_driver_sql(f"SELECT * FROM {table}")), key=str)  # noqa: S608 - names of ours
                for table in TABLES
            ]

    def execute(self, *statements: str) -> None:
        """Run statements with the ids of the halts filled in."""
        ids = {name: halt.id for name, halt in self.halts.items()}
        with self.database.raw() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement.format(**ids, session=self.session.id, new=new_uuid()))

    def refuses(self, *statements: str) -> None:
        before = self.contents()
        with pytest.raises(sa.exc.DBAPIError) as caught:
            self.execute(*statements)
        assert isinstance(failure(caught.value, self.database.kind), ImmutableRecord)
        assert self.contents() == before


async def make_scene(database: Database, make: Maker) -> Scene:
    store = await database.store()
    session = await make.opened(store)
    names = ("open", "resolved", "escalated", "timeout", "archived")
    old = make.at - timedelta(days=100)
    halts = {
        name: make.halt(
            session,
            attempt_count=1,
            previous_error="boom",
            action_digest="a" * 64,
            evidence_digest="b" * 64,
            escalate_after_minutes=30,
            escalate_at=make.at,
            triggered_at=old if name == "archived" else make.at,
        )
        for name in names
    }
    await make.write(store, new_halts=tuple(halts.values()), audit=tuple(make.event(n) for n in names))
    halts |= {
        "resolved": make.settled(halts["resolved"], Resolution.RESOLVED),
        "escalated": make.settled(halts["escalated"], Resolution.ESCALATED),
        "timeout": replace(halts["timeout"], resolution=Resolution.TIMEOUT),
        "archived": make.settled(halts["archived"], Resolution.RESOLVED),
    }
    await make.write(store, settled_halts=tuple(halt for name, halt in halts.items() if name != "open"))
    assert await store.archive(make.at - timedelta(days=90), 10, "service:cron") == 1
    return Scene(database, store, session, halts)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
async def scene(
    request: pytest.FixtureRequest,
    make_database: MakeDatabase,
    make: Maker,
    tmp_path_factory: pytest.TempPathFactory,
    anyio_backend: str,
) -> AsyncIterator[Scene]:
    """One scene for all attacks on a database, because each of them leaves it as it was, or fails."""
    database = make_database(request.param, tmp_path_factory.mktemp("scene"))
    yield await make_scene(database, make)
    await database.close()


@pytest.fixture
async def own_scene(durable: Database, make: Maker) -> Scene:
    """A scene for one test, which may spoil it."""
    return await make_scene(durable, make)


OTHER_VALUES = {
    "id": "'{new}'",
    "session_id": "'{new}'",
    "halt_type": "'scope'",
    "severity": "'low'",
    "context": "'{{}}'",
    "attempt_count": "9",
    "single_use": "TRUE",
    "auto_recorded": "TRUE",
    "auto_escalate": "TRUE",
    "escalate_after_minutes": "NULL",
    "escalate_at": "'2099-01-01T00:00:00.000000Z'",
    "triggered_at": "'2020-01-01T00:00:00.000000Z'",
    "created_at": "'2020-01-01T00:00:00.000000Z'",
}
IMMUTABLE_COLUMNS = [column.name for column in halt_events.columns if column.name not in SETTLEMENT]


async def test_no_other_column_changes_with_a_settlement_or_without(scene: Scene) -> None:
    settling = (
        "acknowledged = TRUE, acknowledged_by = 'mallory', resolution = 'resolved',"
        " acknowledged_at = '2026-03-01T12:00:00.000000Z'"
    )
    for column in IMMUTABLE_COLUMNS:
        value = OTHER_VALUES.get(column, "'forged'")
        change = f"UPDATE halt_events SET {column} = {value}"  # noqa: S608 - a column of ours
        scene.refuses(f"{change}, {settling} WHERE id = '{{open}}'")
        scene.refuses(f"{change} WHERE id = '{{open}}'")


FORGERIES = {
    "settled halt is reopened": (
        "UPDATE halt_events SET acknowledged = FALSE, acknowledged_at = NULL, acknowledged_by = NULL,"
        " resolution = NULL WHERE id = '{resolved}'"
    ),
    "settled halt gets another resolution": (
        "UPDATE halt_events SET resolution = 'dismissed' WHERE id = '{resolved}'"
    ),
    "settled halt gets another person": (
        "UPDATE halt_events SET acknowledged_by = 'mallory' WHERE id = '{resolved}'"
    ),
    "settled halt gets another note": (
        "UPDATE halt_events SET resolution_notes = 'forged' WHERE id = '{resolved}'"
    ),
    "escalated halt gets another person": (
        "UPDATE halt_events SET acknowledged_by = 'mallory' WHERE id = '{escalated}'"
    ),
    "escalated halt is reopened": (
        "UPDATE halt_events SET acknowledged = FALSE, acknowledged_at = NULL, acknowledged_by = NULL,"
        " resolution = NULL WHERE id = '{escalated}'"
    ),
    "timeout is undone": "UPDATE halt_events SET resolution = NULL WHERE id = '{timeout}'",
    "timeout becomes an approval of nobody": (
        "UPDATE halt_events SET resolution = 'resolved' WHERE id = '{timeout}'"
    ),
    "open halt gets a note": "UPDATE halt_events SET resolution_notes = 'forged' WHERE id = '{open}'",
    "everything is settled at once": (
        "UPDATE halt_events SET acknowledged = TRUE, acknowledged_by = 'mallory', acknowledged_at ="
        " '2026-03-01T12:00:00.000000Z', resolution = 'resolved'"
    ),
    "open halt is deleted": "DELETE FROM halt_events WHERE id = '{open}'",
    "settled halt is deleted": "DELETE FROM halt_events WHERE id = '{resolved}'",
    "everything is deleted": "DELETE FROM halt_events",
    "open halt is archived": (
        "INSERT INTO halt_events_archive SELECT * FROM halt_events WHERE id = '{open}'"
    ),
    "escalated halt is archived": (
        "INSERT INTO halt_events_archive SELECT * FROM halt_events WHERE id = '{escalated}'"
    ),
    "timed out halt is archived": (
        "INSERT INTO halt_events_archive SELECT * FROM halt_events WHERE id = '{timeout}'"
    ),
    "archived halt is recorded again": "INSERT INTO halt_events SELECT * FROM halt_events_archive",
    "archived halt is archived again": ("INSERT INTO halt_events_archive SELECT * FROM halt_events_archive"),
    "archive is changed": "UPDATE halt_events_archive SET description = 'forged'",
    "archive is rewritten as it is": "UPDATE halt_events_archive SET description = description",
    "archive is emptied": "DELETE FROM halt_events_archive",
    "audit entry is changed": "UPDATE audit_log SET actor = 'mallory' WHERE sequence = 2",
    "audit entry is rewritten as it is": "UPDATE audit_log SET actor = actor",
    "last audit entry is deleted": (
        "DELETE FROM audit_log WHERE sequence = (SELECT max(sequence) FROM audit_log)"
    ),
    "audit log is emptied": "DELETE FROM audit_log",
    "audit entry is inserted over another": (
        "INSERT INTO audit_log SELECT 2, at, actor, action, subject, session_id, payload,"
        " previous_hash, hash FROM audit_log WHERE sequence = 1"
    ),
    "audit entry leaves a gap": (
        "INSERT INTO audit_log SELECT sequence + 2, at, actor, action, subject, session_id, payload,"
        " hash, hash FROM audit_log ORDER BY sequence DESC LIMIT 1"
    ),
    "audit entry does not continue the chain": (
        "INSERT INTO audit_log SELECT sequence + 1, at, actor, action, subject, session_id, payload,"
        " previous_hash, previous_hash FROM audit_log ORDER BY sequence DESC LIMIT 1"
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
async def test_forgery_is_refused_on_both_databases(scene: Scene, forgery: str) -> None:
    scene.refuses(FORGERIES[forgery])


async def test_altered_copy_in_the_archive_frees_no_halt(scene: Scene) -> None:
    columns = [column.name for column in halt_events.columns]
    for name in columns:
        value = OTHER_VALUES.get(name, "'2020-01-01T00:00:00.000000Z'")
        if name in {"acknowledged", "resolution"}:
            continue  # an open copy is refused for being open
        altered = ", ".join(value if column == name else column for column in columns)
        scene.refuses(
            f"INSERT INTO halt_events_archive SELECT {altered} FROM halt_events WHERE id = '{{resolved}}'"  # noqa: S608 - columns of ours
        )


SQLITE_FORGERIES = {
    "INSERT OR REPLACE of the same id": [
        (
            "INSERT OR REPLACE INTO halt_events (id, session_id, halt_type, severity, description)"
            " VALUES ('{open}', '{session}', 'scope', 'low', 'forged')"
        ),
    ],
    "REPLACE of a settled halt": [
        "REPLACE INTO halt_events SELECT * FROM halt_events WHERE id = '{resolved}'",
    ],
    "REPLACE of another row's rowid": [
        (
            "INSERT OR REPLACE INTO halt_events (rowid, id, session_id, halt_type, severity,"
            " description) SELECT rowid, '{new}', session_id, 'scope', 'low', 'forged' FROM"
            " halt_events WHERE id = '{open}'"
        ),
    ],
    "ON CONFLICT DO UPDATE": [
        (
            "INSERT INTO halt_events (id, session_id, halt_type, severity, description) VALUES"
            " ('{open}', '{session}', 'scope', 'low', 'forged') ON CONFLICT (id) DO UPDATE SET"
            " description = 'forged'"
        ),
    ],
    "INSERT OR IGNORE": [
        (
            "INSERT OR IGNORE INTO halt_events (id, session_id, halt_type, severity, description)"
            " VALUES ('{open}', '{session}', 'scope', 'low', 'forged')"
        ),
    ],
    "UPDATE OR REPLACE of another row's rowid": [
        (
            "UPDATE OR REPLACE halt_events SET rowid = (SELECT rowid FROM halt_events WHERE id ="
            " '{open}'), acknowledged = TRUE, acknowledged_by = 'mallory', acknowledged_at = 'now',"
            " resolution = 'resolved' WHERE id = '{timeout}'"
        ),
    ],
    "UPDATE OR IGNORE": [
        "UPDATE OR IGNORE halt_events SET description = 'forged'",
    ],
    "triggers told not to recurse": [
        "PRAGMA recursive_triggers = OFF",
        "PRAGMA ignore_check_constraints = ON",
        "PRAGMA foreign_keys = OFF",
        (
            "REPLACE INTO halt_events (id, session_id, halt_type, severity, description) VALUES"
            " ('{open}', '{session}', 'scope', 'low', 'forged')"
        ),
    ],
    "temporary table in the archive's place": [
        "CREATE TEMP TABLE halt_events_archive AS SELECT * FROM main.halt_events",
        "DELETE FROM main.halt_events WHERE id = '{resolved}'",
    ],
    "REPLACE in the archive": [
        (
            "INSERT OR REPLACE INTO halt_events_archive (rowid, id, session_id, halt_type, severity,"
            " description, triggered_at, created_at, updated_at, acknowledged, single_use,"
            " auto_recorded, auto_escalate) SELECT rowid, id, session_id, halt_type, severity,"
            " 'forged', triggered_at, created_at, updated_at, acknowledged, single_use, auto_recorded,"
            " auto_escalate FROM halt_events_archive"
        ),
    ],
    "settled halt over an archived one's rowid": [
        (
            "INSERT OR REPLACE INTO halt_events_archive SELECT * FROM halt_events WHERE id ="
            " '{resolved}' AND (SELECT max(rowid) FROM halt_events_archive) IS NULL"
        ),
        "REPLACE INTO halt_events_archive SELECT * FROM halt_events_archive",
    ],
    "REPLACE of an audit entry": [
        (
            "REPLACE INTO audit_log SELECT sequence, at, 'mallory', action, subject, session_id,"
            " payload, previous_hash, hash FROM audit_log WHERE sequence = 2"
        ),
    ],
    "audit entry without a number": [
        (
            "INSERT INTO audit_log (at, actor, action, subject, payload, previous_hash, hash) SELECT"
            " at, actor, action, subject, payload, hash, hash FROM audit_log ORDER BY sequence DESC"
            " LIMIT 1"
        ),
    ],
}


@pytest.mark.parametrize("scene", ["sqlite"], indirect=True)
@pytest.mark.parametrize("forgery", SQLITE_FORGERIES)
async def test_forgery_is_refused_on_sqlite(scene: Scene, forgery: str) -> None:
    scene.refuses(*SQLITE_FORGERIES[forgery])


POSTGRES_FORGERIES = {
    "TRUNCATE": [
        "TRUNCATE halt_events",
    ],
    "TRUNCATE of the archive": [
        "TRUNCATE halt_events_archive",
    ],
    "TRUNCATE of the audit log": [
        "TRUNCATE audit_log",
    ],
    "TRUNCATE by way of the sessions": [
        "TRUNCATE sessions CASCADE",
    ],
    "ON CONFLICT DO UPDATE": [
        (
            "INSERT INTO halt_events (id, session_id, halt_type, severity, description) VALUES"
            " ('{open}', '{session}', 'scope', 'low', 'forged') ON CONFLICT (id) DO UPDATE SET"
            " description = 'forged'"
        ),
    ],
    "MERGE": [
        (
            "MERGE INTO halt_events USING (SELECT 1) AS one ON halt_events.id = '{open}' WHEN MATCHED"
            " THEN UPDATE SET description = 'forged'"
        ),
    ],
    "same id": [
        (
            "INSERT INTO halt_events (id, session_id, halt_type, severity, description) VALUES"
            " ('{open}', '{session}', 'scope', 'low', 'forged')"
        ),
    ],
    "temporary table in the archive's place": [
        "CREATE TEMP TABLE halt_events_archive AS SELECT * FROM halt_events",
        "DELETE FROM halt_events WHERE id = '{resolved}'",
    ],
    "schema in the archive's place": [
        "CREATE SCHEMA mallory",
        "CREATE TABLE mallory.halt_events_archive AS SELECT * FROM halt_events",
        "SET search_path = mallory, public",
        "DELETE FROM halt_events WHERE id = '{resolved}'",
    ],
}


@pytest.mark.parametrize("scene", ["postgresql"], indirect=True)
@pytest.mark.parametrize("forgery", POSTGRES_FORGERIES)
async def test_forgery_is_refused_on_postgresql(scene: Scene, forgery: str) -> None:
    scene.refuses(*POSTGRES_FORGERIES[forgery])


async def test_changed_byte_in_the_middle_of_the_audit_log_shows(own_scene: Scene) -> None:
    trigger = (
        "audit_log_not_changed ON audit_log"
        if own_scene.database.kind == "postgresql"
        else "audit_log_not_updated"
    )
    own_scene.execute(
        f"DROP TRIGGER {trigger}",
        "UPDATE audit_log SET payload = replace(payload, '1', '2') WHERE sequence = 3",
    )
    verdict = audit.verify(await own_scene.store.audit_entries(0, 100))
    assert verdict.broken is not None
    assert verdict.broken.sequence == 3


@pytest.mark.parametrize(
    ("durable", "removal"),
    [
        ("sqlite", "DROP TRIGGER audit_log_not_updated"),
        ("postgresql", "DROP TRIGGER audit_log_not_changed ON audit_log"),
        ("postgresql", "ALTER TABLE audit_log DISABLE TRIGGER audit_log_not_changed"),
    ],
    indirect=["durable"],
)
async def test_store_does_not_start_without_its_triggers(own_scene: Scene, removal: str) -> None:
    own_scene.execute(removal)
    with pytest.raises(StoreCorrupt, match="audit_log_not_"):
        await own_scene.database.store()
