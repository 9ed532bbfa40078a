"""A halted session may read, where settings allow it and the analysis proves it; it is told so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from haltline import Guardrail, Settings

if TYPE_CHECKING:
    from tests.conftest import Database

pytestmark = pytest.mark.anyio

READ = {"session_token": "s", "current_context": {"operation": "look around", "commands": ["ls -la"]}}
WRITE = {"session_token": "s", "current_context": {"operation": "note it", "commands": ["echo x > a.txt"]}}


async def halt(guardrail: Guardrail) -> None:
    await guardrail.record_halt(session_token="s", halt_type="scope", severity="high", description="Stop")


async def test_a_proved_read_passes_and_does_not_read_as_a_settled_halt(guardrail: Guardrail) -> None:
    await halt(guardrail)
    result = await guardrail.check_halt_conditions(READ)
    assert (result.should_halt, result.verdict, result.session_state) == (False, "proceed", "halted")
    assert "the session is halted" in result.recommended_action


async def test_an_action_that_writes_does_not_pass(guardrail: Guardrail) -> None:
    await halt(guardrail)
    assert (await guardrail.check_halt_conditions(WRITE)).should_halt is True


async def test_no_read_passes_where_settings_do_not_allow_it(database: Database) -> None:
    async with Guardrail.open(database.url, settings=Settings(allow_reads_while_halted=False)) as guardrail:
        await halt(guardrail)
        assert (await guardrail.check_halt_conditions(READ)).should_halt is True
