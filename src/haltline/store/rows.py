"""From records to rows, with the limits that every store holds to.

Values that one database would take and another refuse are refused here, before anything is written, so that
the three stores behave alike: NUL characters (PostgreSQL has no text with them), lone surrogates (UTF-8 has
none), numbers beyond 32 bits, JSON without a text, keys longer than an index entry.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

from haltline.domain import canonical_json
from haltline.errors import InvalidInput
from haltline.records import (
    ApiKey,
    AuditEvent,
    Changes,
    ConditionRow,
    FileRead,
    Halt,
    Message,
    Session,
    Strikes,
    Waiver,
)

Record = Session | Halt | Waiver | Message | Strikes | FileRead | ConditionRow | ApiKey

MAX_KEY_BYTES = 2000
"""Longest text that an index holds; PostgreSQL's index entries end at 2,704 bytes, the rest is for the other
columns."""

RECENT_ERRORS = 10
"""How many of a task's latest errors a view carries."""

SETTLEMENT = (
    "acknowledged",
    "acknowledged_at",
    "acknowledged_by",
    "resolution",
    "resolution_notes",
    "updated_at",
)
"""The columns of a halt that may change."""

_KEYS = frozenset({"task_id", "path", "dedup_key", "condition_name", "token_hash", "key_hash"})
_INTEGER_LIMIT = 2**31
_ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


_FIELD_NAMES: dict[type[Any], tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind)) for kind in get_args(Record)
}


def field_names(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of a record class's fields, which are the names of its columns, in order."""
    return _FIELD_NAMES[kind]


def row_of(record: Record) -> dict[str, Any]:
    """Return a record as the values of its columns, JSON as text.

    Raises:
        InvalidInput: a value cannot be stored; the message names the column.
    """
    row: dict[str, Any] = {}
    for name in field_names(type(record)):
        row[name] = _storable(name, getattr(record, name))
    return row


def check_storable(changes: Changes) -> None:
    """Refuse changes with a value that cannot be stored, before anything is written.

    Raises:
        InvalidInput: the message names the column and what is wrong with it.
    """
    for record in _records(changes):
        row_of(record)
    for event in changes.audit:
        for name in ("actor", "action", "subject", "session_id"):
            _storable(name, getattr(event, name))
        audit_payload(event)


def audit_payload(event: AuditEvent) -> str:
    """Return the payload of an audit event as the text that is hashed and stored."""
    return json_text("payload", event.payload)


def json_text(name: str, value: Any) -> str:
    """Return a JSON value as its canonical text.

    Raises:
        InvalidInput: it has none, or one that PostgreSQL cannot keep.
    """
    try:
        text = canonical_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{name}: expected a JSON value, got one that JSON cannot express ({error})"
        ) from error
    if _ESCAPED_NUL.search(text):
        raise InvalidInput(f"{name}: holds a NUL character, which PostgreSQL cannot store; replace it first")
    return _text(name, text)


def canonical_id(text: str) -> str | None:
    """Return an identifier as it is stored, or None when it can be no identifier of ours."""
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return None


def _records(changes: Changes) -> tuple[Record, ...]:
    single = (changes.session, changes.strikes, changes.condition, changes.new_key)
    return (
        *(record for record in single if record is not None),
        *changes.new_halts,
        *changes.settled_halts,
        *changes.new_waivers,
        *changes.new_messages,
        *changes.reads,
    )


def _storable(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return _text(name, value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -_INTEGER_LIMIT <= value < _INTEGER_LIMIT:
            raise InvalidInput(f"{name}: expected a 32-bit number, got one with {value.bit_length()} bits")
        return value
    if isinstance(value, Mapping):
        return json_text(name, value)
    return value


def _text(name: str, value: str) -> str:
    if "\x00" in value:
        raise InvalidInput(f"{name}: holds a NUL character, which PostgreSQL cannot store; replace it first")
    if value.isascii() and not (name in _KEYS and len(value) > MAX_KEY_BYTES):
        return value
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{name}: expected Unicode text, got a lone surrogate at {error.start}") from error
    if name in _KEYS and size > MAX_KEY_BYTES:
        raise InvalidInput(f"{name}: expected at most {MAX_KEY_BYTES} bytes of UTF-8, got {size}")
    return value
