"""The tables, as SQLAlchemy Core sees them: what the statements are written against.

The DDL itself (types, checks, indexes, triggers) stands in `migrations/versions/*.sql`, because released
migrations must never change; a test compares the two. Column order is the field order of the record that a
row becomes, so that a row is a record's arguments.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import TypeDecorator, TypeEngine

from haltline.domain import HaltType, PrincipalKind, Resolution, SessionState, Severity, utc_text
from haltline.records import MessageKind

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect

OPEN = (
    "halt_events.severity <> 'low'"
    " AND (halt_events.acknowledged = FALSE OR halt_events.resolution = 'escalated')"
)
"""A halt that still stops its session: `Halt.is_open` in SQL, word for word as in the partial index."""

UNANSWERED = "halt_events.acknowledged = FALSE AND halt_events.severity <> 'low'"
"""A halt that waits for an answer."""

OVERDUE_CANDIDATE = (
    "halt_events.resolution IS NULL AND halt_events.escalate_at IS NOT NULL AND halt_events.severity <> 'low'"
)
"""A halt that a sweep may claim once its `escalate_at` has passed: without a resolution, unacknowledged."""

STRIKE = "halt_events.attempt_count IS NOT NULL AND halt_events.previous_error IS NOT NULL"
"""A row that remembers the error of a failed attempt."""

NOT_USED_UP = "(waivers.single_use = FALSE OR waivers.used_at IS NULL)"
"""A waiver that can still hold."""

OWED = "outbox.delivered_at IS NULL AND outbox.cancelled_at IS NULL"
"""A message that is neither delivered nor cancelled."""


class Moment(TypeDecorator[datetime]):
    """A time in UTC: `timestamptz` on PostgreSQL, ISO 8601 text with microseconds on SQLite."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the column type."""
        if dialect.name == "postgresql":
            return dialect.type_descriptor(sa.TIMESTAMP(timezone=True))
        return dialect.type_descriptor(sa.Text())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Write a moment."""
        if value is None or dialect.name == "postgresql":
            return value
        return utc_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Read a moment; text that is none is a ValueError, which the store reports as corruption."""
        if value is None:
            return None
        if dialect.name == "postgresql":
            moment: datetime = value.astimezone(UTC)
            return moment
        return datetime.fromisoformat(value)


class _PostgresJson(sa.types.UserDefinedType[str]):
    """`jsonb` that takes and gives text; `postgres` registers the loader that leaves it as text."""

    cache_ok = True
    render_bind_cast = True

    def get_col_spec(self, **_: Any) -> str:
        """Return the name in DDL and casts."""
        return "JSONB"


class JsonText(TypeDecorator[Any]):
    """JSON as its text: `jsonb` on PostgreSQL, text on SQLite, where it may turn out to be no JSON at all."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the column type."""
        if dialect.name == "postgresql":
            return dialect.type_descriptor(_PostgresJson())
        return dialect.type_descriptor(sa.Text())


class JsonObject(JsonText):
    """The same, read as a mapping; text that is no JSON is a ValueError, which is reported as corruption."""

    cache_ok = True

    def process_result_value(self, value: str | None, dialect: Dialect) -> Mapping[str, Any] | None:
        """Read the JSON."""
        del dialect
        if value is None:
            return None
        loaded: Mapping[str, Any] = json.loads(value)
        return loaded


def _enum(kind: type[StrEnum], name: str) -> sa.Enum:
    """Return the column type of an enum by its values."""
    return sa.Enum(kind, name=name, values_callable=lambda members: [member.value for member in members])


Identifier = sa.Text().with_variant(postgresql.UUID(as_uuid=False), "postgresql")
"""A UUID: `uuid` on PostgreSQL, its lower-case text on SQLite."""

metadata = sa.MetaData()

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", Identifier, primary_key=True),
    sa.Column("token_hash", sa.Text, nullable=False, unique=True),
    sa.Column("name", sa.Text),
    sa.Column("agent_name", sa.Text, nullable=False),
    sa.Column("state", _enum(SessionState, "session_state"), nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.Column("closed_at", Moment),
)


def _halt_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("id", Identifier, primary_key=True),
        sa.Column("session_id", Identifier, nullable=False),
        sa.Column("task_id", sa.Text),
        sa.Column("halt_type", _enum(HaltType, "halt_type"), nullable=False),
        sa.Column("severity", _enum(Severity, "severity_level"), nullable=False),
        sa.Column("condition_name", sa.Text),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("context", JsonObject),
        sa.Column("triggered_at", Moment, nullable=False),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("updated_at", Moment, nullable=False),
        sa.Column("acknowledged", sa.Boolean, nullable=False),
        sa.Column("acknowledged_at", Moment),
        sa.Column("acknowledged_by", sa.Text),
        sa.Column("resolution", _enum(Resolution, "halt_resolution")),
        sa.Column("resolution_notes", sa.Text),
        sa.Column("attempt_count", sa.Integer),
        sa.Column("previous_error", sa.Text),
        sa.Column("action_digest", sa.Text),
        sa.Column("evidence_digest", sa.Text),
        sa.Column("single_use", sa.Boolean, nullable=False),
        sa.Column("auto_recorded", sa.Boolean, nullable=False),
        sa.Column("auto_escalate", sa.Boolean, nullable=False),
        sa.Column("escalate_after_minutes", sa.Integer),
        sa.Column("escalate_at", Moment),
    ]


halt_events = sa.Table("halt_events", metadata, *_halt_columns())
halt_events_archive = sa.Table("halt_events_archive", metadata, *_halt_columns())

waivers = sa.Table(
    "waivers",
    metadata,
    sa.Column("id", Identifier, primary_key=True),
    sa.Column("session_id", Identifier, nullable=False),
    sa.Column("halt_id", Identifier, nullable=False),
    sa.Column("condition_name", sa.Text, nullable=False),
    sa.Column("evidence_digest", sa.Text, nullable=False),
    sa.Column("single_use", sa.Boolean, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("created_by", sa.Text, nullable=False),
    sa.Column("expires_at", Moment),
    sa.Column("used_at", Moment),
)

outbox = sa.Table(
    "outbox",
    metadata,
    sa.Column("id", Identifier, primary_key=True),
    sa.Column("kind", _enum(MessageKind, "message_kind"), nullable=False),
    sa.Column("dedup_key", sa.Text, nullable=False, unique=True),
    sa.Column("session_id", Identifier, nullable=False),
    sa.Column("halt_id", Identifier, nullable=False),
    sa.Column("payload", JsonObject, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("delivered_at", Moment),
    sa.Column("cancelled_at", Moment),
)

strikes = sa.Table(
    "strikes",
    metadata,
    sa.Column("session_id", Identifier, primary_key=True),
    sa.Column("task_id", sa.Text, primary_key=True),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.Column("reset_at", Moment),
    sa.Column("reset_by", sa.Text),
)

file_reads = sa.Table(
    "file_reads",
    metadata,
    sa.Column("session_id", Identifier, primary_key=True),
    sa.Column("path", sa.Text, primary_key=True),
    sa.Column("content_hash", sa.Text),
    sa.Column("read_at", Moment, nullable=False),
)

conditions = sa.Table(
    "halt_conditions_config",
    metadata,
    sa.Column("id", Identifier, primary_key=True),
    sa.Column("condition_name", sa.Text, nullable=False, unique=True),
    sa.Column("halt_type", _enum(HaltType, "halt_type"), nullable=False),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("severity", _enum(Severity, "severity_level"), nullable=False),
    sa.Column("threshold", JsonText),
    sa.Column("auto_escalate", sa.Boolean, nullable=False),
    sa.Column("escalate_after_minutes", sa.Integer),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
)

principals = sa.Table(
    "principals",
    metadata,
    sa.Column("id", Identifier, primary_key=True),
    sa.Column("kind", _enum(PrincipalKind, "principal_kind"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("prefix", sa.Text, nullable=False),
    sa.Column("key_hash", sa.Text, nullable=False, unique=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("created_by", sa.Text, nullable=False),
    sa.Column("revoked_at", Moment),
)

audit_log = sa.Table(
    "audit_log",
    metadata,
    sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("session_id", sa.Text),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("previous_hash", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
)
