"""Alembic's environment: it migrates the connection that `upgrade` hands over, in that transaction."""

from __future__ import annotations

from alembic import context

from haltline.store.migrations import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    version_table=VERSION_TABLE,
    transactional_ddl=False,
    transaction_per_migration=False,
)
context.run_migrations()
