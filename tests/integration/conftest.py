"""A guardrail over each kind of database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

from haltline import Guardrail

if TYPE_CHECKING:
    from tests.conftest import Database


@pytest.fixture
async def guardrail(database: Database) -> AsyncIterator[Guardrail]:
    async with Guardrail.open(database.url) as opened:
        yield opened
