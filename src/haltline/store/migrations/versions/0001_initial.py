"""The first schema, its immutability triggers, and the specification's configuration rows.

Revision ID: 0001
Revises:
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from alembic import op
from uuid_utils.compat import uuid7

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Frozen: what a database that was made at this revision has got. Minutes: critical 30, high 240.
_ROWS = (
    ("modifying_unread_code", "code_safety", "critical", '{"requires_read": true}', 30),
    ("breaking_changes", "code_safety", "high", '{"requires_tests_pass": true}', 240),
    ("no_rollback_plan", "code_safety", "high", "{}", 240),
    ("unknown_dependencies", "code_safety", "medium", "{}", None),
    ("out_of_scope", "scope", "high", "{}", 240),
    ("ambiguous_requirements", "scope", "medium", "{}", None),
    ("conflicting_instructions", "scope", "high", "{}", 240),
    ("unauthorized_production", "scope", "critical", "{}", 30),
    ("test_production_mix", "environment", "critical", "{}", 30),
    ("credential_confusion", "environment", "high", "{}", 240),
    ("shared_instances", "environment", "medium", "{}", None),
    ("production_test_data", "environment", "high", "{}", 240),
    ("three_strikes", "execution", "high", '{"max_attempts": 3}', 240),
    ("repeated_errors", "execution", "medium", '{"similarity_threshold": 0.8}', None),
    ("cascading_failures", "execution", "high", '{"max_chain_length": 3}', 240),
    ("unknown_errors", "execution", "medium", "{}", None),
    ("no_progress", "execution", "high", '{"window": 5}', 240),
    ("repeated_failure", "execution", "high", '{"threshold": 3, "stale_after_minutes": 10}', 240),
    ("secrets_exposure", "security", "critical", "{}", 30),
    ("privilege_escalation", "security", "critical", "{}", 30),
    ("data_exposure", "security", "high", "{}", 240),
    ("unknown_commands", "security", "medium", "{}", None),
    ("destructive_command", "security", "critical", "{}", 30),
    ("uncertainty_scale", "uncertainty", "high", '{"threshold": 7}', 240),
)

_INSERT = (
    "INSERT INTO halt_conditions_config"
    " (id, condition_name, halt_type, severity, threshold, escalate_after_minutes)"
    " VALUES ('{}', '{}', '{}', '{}', '{}', {})"
)


def upgrade() -> None:
    """Create everything."""
    connection = op.get_bind().execution_options(no_parameters=True)  # the DDL holds percent signs and colons
    folder = Path(__file__).parent
    if connection.dialect.name == "postgresql":
        schema = connection.exec_driver_sql("SELECT quote_ident(current_schema())").scalar_one()
        ddl = (folder / "0001_postgresql.sql").read_text(encoding="utf-8")
        connection.exec_driver_sql(ddl.replace("@schema@", schema))
    else:
        for statement in _statements((folder / "0001_sqlite.sql").read_text(encoding="utf-8")):
            connection.exec_driver_sql(statement)
    for name, halt_type, severity, threshold, minutes in _ROWS:
        connection.exec_driver_sql(
            _INSERT.format(uuid7(), name, halt_type, severity, threshold, minutes or "NULL")
        )


def _statements(script: str) -> Iterator[str]:
    """Split a script as SQLite does, which knows that a trigger's body holds semicolons."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
