"""From a driver's errors to Haltline's, by the databases' own codes."""

from __future__ import annotations

import sqlalchemy as sa

from haltline.errors import (
    Conflict,
    HaltlineError,
    ImmutableRecord,
    InvalidInput,
    StoreCorrupt,
    StoreUnavailable,
)

IMMUTABLE = "haltline immutable: "
"""How the messages of our triggers begin."""

_SQLITE_UNAVAILABLE = {
    5: "the database is locked by another process; find out which, and end it",
    6: "the database is locked by this process",
    8: "the database is read-only; make the file and its directory writable",
    10: "the disk reported an input or output error",
    13: "the disk is full; free space on it",
    14: "the database file cannot be opened; it is missing or may not be read",
}
_SQLITE_CORRUPT = {
    1: "the schema is not ours",
    11: "the database file is damaged",
    26: "the file is no database",
}
_SQLITE_CONSTRAINT = 19
_NO_TEXT = "Could not decode to UTF-8"
"""How the driver itself, without a code of SQLite, begins what it says of text that is none."""

_POSTGRES_KEY_EXISTS = "23505"
_POSTGRES_TRY_AGAIN = frozenset({"40001", "40P01"})
_POSTGRES_CORRUPT = ("42", "XX")
_IMMUTABLE_KEYS = frozenset({"halt_events_pkey", "halt_events_archive_pkey", "audit_log_pkey"})
_RECORDS = ("halt_events", "halt_events_archive", "audit_log")


class TryAgain(Conflict):
    """Another process was faster, and the same transaction on a fresh look will tell."""


def sqlite_failure(error: BaseException) -> HaltlineError:
    """Return what an error of the SQLite driver means."""
    # pysqlite3 tells only the primary code, the lowest byte; the standard library the extended one.
    primary = getattr(error, "sqlite_errorcode", 0) & 0xFF
    text = str(error)
    if primary == _SQLITE_CONSTRAINT:
        return _constraint_failure(text)
    if text.startswith(_NO_TEXT):
        return StoreCorrupt(f"SQLite: {text}")
    if primary in _SQLITE_CORRUPT:
        return StoreCorrupt(f"SQLite: {_SQLITE_CORRUPT[primary]} ({text}); restore it from a backup")
    if primary in _SQLITE_UNAVAILABLE:
        return StoreUnavailable(f"SQLite: {_SQLITE_UNAVAILABLE[primary]} ({text})")
    return StoreUnavailable(f"SQLite: {text}")


def _constraint_failure(text: str) -> HaltlineError:
    if text.startswith(IMMUTABLE):
        return ImmutableRecord(text.removeprefix(IMMUTABLE))
    if not text.startswith("UNIQUE"):
        return InvalidInput(f"The schema does not allow this: {text}")
    if any(f"{table}." in text for table in _RECORDS):
        return ImmutableRecord(text)
    return Conflict(f"Somebody stored this first: {text}")


def postgres_failure(error: BaseException) -> HaltlineError:
    """Return what an error of the PostgreSQL driver means."""
    state = getattr(error, "sqlstate", None) or ""
    diagnosis = getattr(error, "diag", None)
    # A refused connection has a text of several lines; what is made of it is one sentence.
    text = " ".join(str(getattr(diagnosis, "message_primary", None) or error).split())
    constraint = getattr(diagnosis, "constraint_name", None)
    if state == "HL001" or constraint in _IMMUTABLE_KEYS:
        return ImmutableRecord(text.removeprefix(IMMUTABLE))
    if constraint == "sessions_token_hash_key" or state in _POSTGRES_TRY_AGAIN:
        return TryAgain(f"Another process was faster ({text}); try again")
    if state == _POSTGRES_KEY_EXISTS:
        return Conflict(f"Somebody stored this first: {text}")
    if state.startswith(("22", "23")):
        return InvalidInput(f"The schema does not allow this: {text}")
    if state.startswith(_POSTGRES_CORRUPT):
        return StoreCorrupt(f"PostgreSQL: {text} ({state}); the schema is not ours or the data is damaged")
    return StoreUnavailable(f"PostgreSQL: {text}" + (f" ({state})" if state else ""))


def failure(error: sa.exc.SQLAlchemyError, dialect: str) -> HaltlineError:
    """Return what an error that SQLAlchemy raised means."""
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else None
    if cause is None:
        return StoreUnavailable(str(error))
    return postgres_failure(cause) if dialect == "postgresql" else sqlite_failure(cause)
