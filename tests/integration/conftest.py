"""A guardrail for each kind of store."""

import pathlib
from collections.abc import AsyncIterator

import pytest

from haltline import Guardrail


@pytest.fixture(params=["memory", "sqlite"])
async def guardrail(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> AsyncIterator[Guardrail]:
    url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'haltline.db'}"
    async with Guardrail.open(url) as opened:
        yield opened
