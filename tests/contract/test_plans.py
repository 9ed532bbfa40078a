"""Every statement of the operations finds its rows by an index, on both databases."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from haltline.store import new_uuid, statements

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import MakeDatabase

ID = new_uuid()
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SESSION = {"session_id": ID}
KEY = {"key": ID, "task_id": ""}
PAGE = {"limit": 10, "offset": 0}

BIG_TABLES = ("halt_events", "halt_events_archive", "sessions", "waivers", "outbox", "strikes", "file_reads")


@dataclass(frozen=True)
class Case:
    """A statement, and the indexes by which SQLite and PostgreSQL find its rows."""

    statement: sa.Executable
    parameters: dict[str, Any]
    sqlite: str
    postgresql: str


def _page(*filters: str) -> tuple[sa.Executable, dict[str, Any]]:
    values = {**SESSION, "halt_type": "scope", "severity": "high"}
    used = {name: value for name, value in values.items() if name in filters}
    return statements.list_halts(frozenset(filters))[0], {**used, **PAGE}


def _count(*filters: str) -> tuple[sa.Executable, dict[str, Any]]:
    values = {**SESSION, "halt_type": "scope", "severity": "high"}
    return statements.list_halts(frozenset(filters))[1], {n: v for n, v in values.items() if n in filters}


HISTORY = "idx_halt_events_history"
CASES = {
    "look by token": Case(
        statements.look("token_hash", with_clock=False),
        KEY,
        "sqlite_autoindex_sessions_2",
        "sessions_token_hash_key",
    ),
    "look by id": Case(
        statements.look("id", with_clock=False), KEY, "sqlite_autoindex_sessions_1", "sessions_pkey"
    ),
    "look for open halts": Case(statements.look("id", with_clock=False), KEY, *["idx_halt_events_open"] * 2),
    "look for waivers": Case(statements.look("id", with_clock=False), KEY, *["idx_waivers_session"] * 2),
    "look for guidance": Case(statements.look("id", with_clock=False), KEY, *["idx_outbox_guidance"] * 2),
    "look for strikes": Case(
        statements.look("id", with_clock=False), KEY, "sqlite_autoindex_strikes_1", "strikes_pkey"
    ),
    "open halts": Case(statements.open_halts, SESSION, *["idx_halt_events_open"] * 2),
    "recent errors": Case(
        statements.recent_errors, {**SESSION, "task_id": "", "since": NOW}, *["idx_halt_events_strikes"] * 2
    ),
    "waivers": Case(statements.waivers, SESSION, *["idx_waivers_session"] * 2),
    "guidance": Case(statements.guidance, SESSION, *["idx_outbox_guidance"] * 2),
    "reads": Case(statements.reads, SESSION, "sqlite_autoindex_file_reads_1", "file_reads_pkey"),
    "strikes": Case(statements.strikes_of_session, SESSION, "sqlite_autoindex_strikes_1", "strikes_pkey"),
    "halt": Case(statements.halt, {"halt_id": ID}, "sqlite_autoindex_halt_events_1", "halt_events_pkey"),
    "archived halt": Case(
        statements.archived_halt,
        {"halt_id": ID},
        "sqlite_autoindex_halt_events_archive_1",
        "halt_events_archive_pkey",
    ),
    "all halts": Case(
        statements.all_halts,
        {"after": ID, "limit": 10},
        "sqlite_autoindex_halt_events_archive_1",
        "halt_events_archive_pkey",
    ),
    "key by hash": Case(
        statements.key_by_hash, {"key_hash": ""}, "sqlite_autoindex_principals_2", "principals_key_hash_key"
    ),
    "key by id": Case(
        statements.key_by_id, {"key_id": ID}, "sqlite_autoindex_principals_1", "principals_pkey"
    ),
    "condition": Case(
        statements.condition_row,
        {"condition_name": ""},
        "sqlite_autoindex_halt_conditions_config_2",
        "halt_conditions_config_condition_name_key",
    ),
    "audit head": Case(statements.audit_head, {}, "SCAN audit_log", "audit_log_pkey"),
    "audit entries": Case(
        statements.audit_entries, {"after": 1, "limit": 10}, "INTEGER PRIMARY KEY", "audit_log_pkey"
    ),
    "overdue": Case(statements.overdue_sessions, {"now": NOW, "limit": 10}, *["idx_halt_events_overdue"] * 2),
    "free sessions": Case(
        statements.free_sessions, {"session_ids": [ID]}, "sqlite_autoindex_sessions_1", "sessions_pkey"
    ),
    "archivable": Case(
        statements.archivable, {"before": NOW, "limit": 10}, *["idx_halt_events_triggered"] * 2
    ),
    "copy to archive": Case(
        statements.copy_to_archive, {"halt_ids": [ID]}, "sqlite_autoindex_halt_events_1", "halt_events_pkey"
    ),
    "delete archived": Case(
        statements.delete_archived, {"halt_ids": [ID]}, "sqlite_autoindex_halt_events_1", "halt_events_pkey"
    ),
    "update session": Case(
        statements.update_session,
        {**SESSION, "state": "closed"},
        "sqlite_autoindex_sessions_1",
        "sessions_pkey",
    ),
    "settle": Case(
        statements.settle_halt,
        {"halt_id": ID, "acknowledged": True},
        "sqlite_autoindex_halt_events_1",
        "halt_events_pkey",
    ),
    "use waiver": Case(
        statements.use_waiver,
        {"waiver_id": ID, "now": NOW},
        "sqlite_autoindex_waivers_1",
        "idx_waivers_session|waivers_pkey",
    ),
    "deliver message": Case(
        statements.deliver_message,
        {"message_id": ID, "now": NOW},
        "sqlite_autoindex_outbox_1",
        "outbox_pkey",
    ),
    "cancel messages": Case(
        statements.cancel_messages, {"of_halt": ID, "now": NOW}, *["idx_outbox_halt"] * 2
    ),
    "sessions": Case(
        statements.list_sessions, {"states": ["active", "halted"], **PAGE}, *["idx_sessions_state"] * 2
    ),
    "number of sessions": Case(
        statements.count_sessions, {"states": ["active"]}, *["idx_sessions_state"] * 2
    ),
    "unanswered of a session": Case(
        statements.count_unanswered(of_session=True),
        SESSION,
        "idx_halt_events_session_unack",
        "idx_halt_events_open|idx_halt_events_session_unack",
    ),
    "unanswered": Case(
        statements.count_unanswered(of_session=False),
        {},
        "idx_halt_events_acknowledged",
        "idx_halt_events_open|idx_halt_events_unanswered",
    ),
    "history": Case(*_page("session_id"), HISTORY, HISTORY),
    "history of what is unanswered": Case(*_page("session_id", "unacknowledged"), HISTORY, HISTORY),
    "history of a type": Case(*_page("session_id", "halt_type"), HISTORY, HISTORY),
    "number in a session": Case(*_count("session_id"), "idx_halt_events_session", HISTORY),
    "number of a type in a session": Case(
        *_count("session_id", "halt_type"),
        "idx_halt_events_session_type",
        f"{HISTORY}|idx_halt_events_session_type",
    ),
    "unanswered of all sessions": Case(*_page("unacknowledged"), *["idx_halt_events_unanswered"] * 2),
    "open in a session": Case(*_page("session_id", "open"), *["idx_halt_events_open"] * 2),
    "open in all sessions": Case(*_page("open"), *["idx_halt_events_open"] * 2),
    "everything": Case(*_page(), *["idx_halt_events_triggered"] * 2),
    "of a type": Case(*_page("halt_type"), *["idx_halt_events_type"] * 2),
    "of a severity": Case(*_page("severity"), *["idx_halt_events_severity"] * 2),
}


class _NotExecuted(Exception):
    """The statement's text is known; it need not run."""


def compiled(connection: sa.Connection, case: Case) -> tuple[str, Any]:
    """Return what the driver would get."""
    sent: list[tuple[str, Any]] = []

    def intercept(
        _c: object, _cursor: object, text: str, parameters: Any, _ctx: object, _many: object
    ) -> None:
        sent.append((text, parameters))
        raise _NotExecuted

    sa.event.listen(connection, "before_cursor_execute", intercept)
    with suppress(_NotExecuted):
        connection.execute(case.statement, case.parameters)
    sa.event.remove(connection, "before_cursor_execute", intercept)
    return sent[0]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def connection(
    request: pytest.FixtureRequest, make_database: MakeDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[sa.Connection]:
    directory: Path = tmp_path_factory.mktemp("plans")
    with make_database(request.param, directory).raw() as made:
        if request.param == "postgresql":
            made.exec_driver_sql("SET enable_seqscan = off")  # the tables are empty: nothing else is cheaper
        yield made


@pytest.mark.parametrize("name", CASES)
def test_rows_are_found_by_an_index(connection: sa.Connection, name: str) -> None:
    case = CASES[name]
    on_postgres = connection.dialect.name == "postgresql"
    text, parameters = compiled(connection, case)
    explain = "EXPLAIN (COSTS OFF) " if on_postgres else "EXPLAIN QUERY PLAN "
    plan = "\n".join(str(row[-1]) for row in connection.exec_driver_sql(explain + text, parameters))
    assert re.search(case.postgresql if on_postgres else case.sqlite, plan), plan
    assert "Seq Scan" not in plan
    for table in BIG_TABLES:
        assert not re.search(rf"SCAN {table}$", plan, re.MULTILINE), plan
