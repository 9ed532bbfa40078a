"""Bringing a database's schema up to date: Alembic, imported only when there is work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa

from haltline.errors import StoreCorrupt

HEAD = "0001"
"""The revision that this code works with."""

RELEASED = ("0001",)
"""Every revision that a database may be at, the oldest first."""

VERSION_TABLE = "haltline_schema_version"
"""Where the revision is noted; not Alembic's default name, which a shared database may hold already."""


_TRIGGERS = {
    "sqlite": frozenset(
        {
            "halt_events_settled_once",
            "halt_events_not_overwritten",
            "halt_events_only_archived_deleted",
            "halt_events_archive_only_settled",
            "halt_events_archive_not_updated",
            "halt_events_archive_not_deleted",
            "audit_log_appended",
            "audit_log_not_updated",
            "audit_log_not_deleted",
        }
    ),
    "postgresql": frozenset(
        {
            "halt_events_settled_once",
            "halt_events_not_overwritten",
            "halt_events_only_archived_deleted",
            "halt_events_not_truncated",
            "halt_events_archive_only_settled",
            "halt_events_archive_not_changed",
            "halt_events_archive_not_truncated",
            "audit_log_appended",
            "audit_log_not_changed",
            "audit_log_not_truncated",
        }
    ),
}
_ACTIVE_TRIGGERS = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": (
        "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
        " WHERE relnamespace = current_schema()::regnamespace AND tgenabled IN ('O', 'A')"
    ),
}


def revision_of(connection: sa.Connection) -> str | None:
    """Return the revision that a database is at, or None when it has no schema of ours.

    Raises:
        StoreCorrupt: it is one that this code does not know.
    """
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    statement: sa.Select[Any] = sa.select(sa.column("version_num")).select_from(sa.table(VERSION_TABLE))
    revision: str | None = connection.execute(statement).scalar_one_or_none()
    if revision is not None and revision not in RELEASED:
        raise StoreCorrupt(
            f"The database's schema is at revision {revision}, which this version of Haltline (up to {HEAD}) "
            "does not know. Use the newer Haltline that made it, or restore a backup from before the upgrade."
        )
    return revision


def is_current(connection: sa.Connection) -> bool:
    """Whether there is nothing to migrate, and the triggers that keep records immutable are all there.

    Raises:
        StoreCorrupt: the revision is unknown, or somebody has removed or disabled a trigger.
    """
    if revision_of(connection) != HEAD:
        return False
    missing = _TRIGGERS[connection.dialect.name] - set(
        connection.exec_driver_sql(_ACTIVE_TRIGGERS[connection.dialect.name]).scalars()
    )
    if missing:
        raise StoreCorrupt(
            f"The triggers that keep halts and the audit log from being changed are missing: "
            f"{sorted(missing)}. Somebody has removed them; verify the audit log, and restore a backup."
        )
    return True


def upgrade(connection: sa.Connection, target: str = HEAD) -> None:
    """Bring a database up to a revision. The caller holds the lock, and the transaction."""
    from alembic import command  # noqa: PLC0415 - takes 100 ms, and an up-to-date database does without
    from alembic.config import Config  # noqa: PLC0415 - likewise

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, target)
