"""Who settles: a person does, the agent does not, and the agent then goes on with what the person wrote."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult

from haltline import Guardrail, PrincipalKind

pytestmark = pytest.mark.anyio

Call = Callable[..., Awaitable[CallToolResult]]
Connect = Callable[..., AbstractAsyncContextManager[Client]]

CHECK = "guardrail_check_halt_conditions"
ACKNOWLEDGE = "guardrail_acknowledge_halt"
UPDATE = "guardrail_update_halt_config"

ACTION = {
    "current_context": {"operation": "change the login", "target_files": ["src/auth.js"], "files_read": []},
    "proposed_changes": {"files_to_modify": ["src/auth.js"], "has_tests": True, "has_rollback_plan": True},
}


async def test_an_agent_settles_nothing_and_is_told_what_the_person_has_to_do(
    call: Call, session: str
) -> None:
    check = {"session_token": session, **ACTION}
    (reason,) = (await call(CHECK, check)).structured_content["halt_reasons"]
    halt_id = reason["halt_id"]
    result = await call(ACKNOWLEDGE, {"session_token": session, "halt_id": halt_id, "resolution": "resolved"})
    answer = result.structured_content
    assert result.is_error is False
    assert (answer["confirmed"], answer["halt_id"], answer["session_can_resume"]) == (False, halt_id, False)
    assert answer["acknowledged_at"] == ""
    assert any(f"haltline ack {halt_id} --resolution resolved" in warning for warning in answer["warnings"])
    assert (await call(CHECK, check)).structured_content["session_state"] == "halted"


@pytest.mark.parametrize("name", ["maria", "human:maria"])
async def test_an_agent_cannot_borrow_the_name_of_a_person(call: Call, session: str, name: str) -> None:
    (reason,) = (await call(CHECK, {"session_token": session, **ACTION})).structured_content["halt_reasons"]
    claim = {"session_token": session, "halt_id": reason["halt_id"], "resolution": "resolved"}
    answer = (await call(ACKNOWLEDGE, {**claim, "acknowledged_by": name})).structured_content
    assert answer["confirmed"] is False


@pytest.mark.parametrize("halt_id", ["x; rm -rf ~", "$(reboot)", "--help", "a\nb", "\x1b[2Jx", "a" * 200])
async def test_nothing_but_a_plain_id_gets_into_the_command_for_the_person(
    call: Call, session: str, halt_id: str
) -> None:
    claim = {"session_token": session, "halt_id": halt_id, "resolution": "resolved"}
    answer = (await call(ACKNOWLEDGE, claim)).structured_content
    assert answer["halt_id"] == ""
    assert halt_id not in " ".join(answer["warnings"])
    assert any("haltline ack HALT_ID --resolution resolved" in warning for warning in answer["warnings"])


async def test_a_person_settles_and_the_agents_next_check_goes_on_with_their_guidance(
    call: Call, session: str, person: Guardrail
) -> None:
    check = {"session_token": session, **ACTION}
    (reason,) = (await call(CHECK, check)).structured_content["halt_reasons"]
    with anyio.fail_after(60):
        settled = await person.acknowledge_halt(
            session_token=session,
            halt_id=reason["halt_id"],
            resolution="resolved",
            resolution_notes="I read it with you; keep the token check.",
        )
    assert settled.confirmed is True
    after = (await call(CHECK, check)).structured_content
    assert (after["should_halt"], after["session_state"]) == (False, "active")
    assert [(note["text"], note["by"]) for note in after["guidance"]] == [
        ("I read it with you; keep the token check.", "human:maria")
    ]


async def test_an_agent_changes_no_configuration(call: Call, person: Guardrail) -> None:
    change = {"condition_name": "three_strikes", "enabled": False}
    result = await call(UPDATE, change)
    answer = result.structured_content
    assert result.is_error is False
    assert (answer["updated"], answer["previous_values"], answer["current_values"]) == (False, {}, {})
    assert "haltline config set" in " ".join(answer["warnings"])
    with anyio.fail_after(60):
        assert (await person.configuration()).conditions["three_strikes"].enabled is True


@pytest.mark.parametrize(
    ("granted", "severity", "confirmed"),
    [(["high"], "high", True), (["high"], "critical", False), ([], "high", False)],
)
async def test_configuration_may_grant_agents_a_severity(
    connect: Connect, url: str, session: str, granted: list[str], severity: str, confirmed: bool
) -> None:
    halt: dict[str, Any] = {
        "session_token": session,
        "halt_type": "uncertainty",
        "severity": severity,
        "description": "unsure",
    }
    async with connect(url, settings={"agents_may_settle": granted}) as client:
        with anyio.fail_after(60):
            recorded = (await client.call_tool("guardrail_record_halt", halt)).structured_content
            claim = {"session_token": session, "halt_id": recorded["halt_id"], "resolution": "resolved"}
            answer = (await client.call_tool(ACKNOWLEDGE, claim)).structured_content
    assert (answer["confirmed"], answer["session_can_resume"]) == (confirmed, confirmed)


async def test_the_command_serves_and_the_person_settles_at_the_command_line(
    url: str, session: str, tmp_path: Path, person: Guardrail
) -> None:
    haltline = [sys.executable, "-m", "haltline"]
    environment = {**os.environ, "HALTLINE_DATABASE": url, "HOME": str(tmp_path)}
    server = StdioServerParameters(command=haltline[0], args=[*haltline[1:], "mcp"], env=environment)
    key, _ = await person.create_key(PrincipalKind.HUMAN, "maria")
    check = {"session_token": session, **ACTION}
    async with Client(stdio_client(server), read_timeout_seconds=60) as client:
        with anyio.fail_after(60):
            (reason,) = (await client.call_tool(CHECK, check)).structured_content["halt_reasons"]
            claim = {"session_token": session, "halt_id": reason["halt_id"], "resolution": "resolved"}
            refusal = (await client.call_tool(ACKNOWLEDGE, claim)).structured_content
            told = re.search(r"`haltline (ack [^`]+)`", " ".join(refusal["warnings"]))
            assert told is not None
            settle = [*haltline, *told[1].split(), "--notes", "go on"]
            await anyio.run_process(settle, env={**environment, "HALTLINE_KEY": key})
            after = (await client.call_tool(CHECK, check)).structured_content
    assert after["should_halt"] is False
    assert [(note["text"], note["by"]) for note in after["guidance"]] == [("go on", "human:maria")]
