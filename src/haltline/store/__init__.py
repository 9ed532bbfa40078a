"""The port to the database and its three bodies."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from haltline.domain import digest
from haltline.errors import InvalidInput
from haltline.store.port import Store

if TYPE_CHECKING:
    from haltline.store.spool import Spool

__all__ = ["Store", "default_url", "new_uuid", "open_store", "spool_beside"]

ENVIRONMENT_VARIABLE = "HALTLINE_DATABASE"

_EXPECTED = 'expected "memory:", "sqlite:///relative/path", "sqlite:////absolute/path" or "postgresql://…"'
_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://", "postgresql+psycopg://")


def new_uuid() -> str:
    """Return a new UUIDv7 as text."""
    from uuid_utils.compat import uuid7  # noqa: PLC0415 - a compiled module that a mere import need not load

    return str(uuid7())


def default_url() -> str:
    """Return the database that is used when none is named.

    It is the one in HALTLINE_DATABASE, else a file in the platform's user data directory.
    """
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    return named or f"{_SQLITE}{_user_data() / 'haltline.db'}"


def open_store(url: str | None = None, *, clock: Callable[[], datetime] | None = None) -> Store:
    """Return the store that a URL names; nothing is opened before `start`.

    Args:
        url: which database; without one, `default_url`.
        clock: tells the time in UTC, for tests; without one, the database's own time.

    Raises:
        InvalidInput: the URL is of no known form.
    """
    chosen = default_url() if url is None else url
    if chosen == "memory:":
        from haltline.store.memory import MemoryStore  # noqa: PLC0415 - each body loads only what it needs

        return MemoryStore(clock)
    if chosen.startswith(_SQLITE) and len(chosen) > len(_SQLITE):
        from haltline.store.sqlite import SqliteStore  # noqa: PLC0415 - likewise; SQLAlchemy takes 150 ms

        return SqliteStore(_sqlite_path(chosen), clock)
    if chosen.startswith(_POSTGRES):
        from haltline.store.postgres import PostgresStore  # noqa: PLC0415 - likewise

        return PostgresStore(chosen, clock)
    raise InvalidInput(f"database URL: {_EXPECTED}, got {_without_password(chosen)!r}")


def spool_beside(url: str | None = None) -> Spool:
    """Return the spool for a database: a file beside a SQLite database, else in the user data directory.

    Each database on PostgreSQL has its own, whoever connects to it: what one could not take is handed to that
    one, and halts nothing in another.
    """
    from haltline.store.spool import FileSpool, MemorySpool  # noqa: PLC0415 - see open_store

    chosen = default_url() if url is None else url
    if chosen == "memory:":
        return MemorySpool()
    if chosen.startswith(_SQLITE):
        return FileSpool(Path(f"{_sqlite_path(chosen)}.spool"))
    return FileSpool(_user_data() / f"{_postgres_name(chosen)}.spool")


def _sqlite_path(url: str) -> Path:
    return Path(url.removeprefix(_SQLITE)).absolute()


def _postgres_name(url: str) -> str:
    """Return a file name for a database on PostgreSQL, made of where it lies."""
    import sqlalchemy as sa  # noqa: PLC0415 - see open_store

    parsed = sa.make_url(url.replace("postgres://", "postgresql://", 1))
    place = [
        parsed.host,
        parsed.port,
        parsed.database,
        *(parsed.query.get(name) for name in ("host", "port")),
    ]
    return f"postgresql-{digest(place)[:16]}"


def _user_data() -> Path:
    from platformdirs import user_data_path  # noqa: PLC0415 - only when no database was named

    return user_data_path("haltline", appauthor=False)


def _without_password(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}…@{rest.rpartition('@')[2]}" if "@" in rest else url
