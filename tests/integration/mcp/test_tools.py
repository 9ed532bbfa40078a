"""The tools over MCP: what is published, the examples of the specification, strikes, sessions."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
import pytest
from mcp.types import CallToolResult

from haltline import Guardrail, wire

if TYPE_CHECKING:
    from mcp import Client

pytestmark = pytest.mark.anyio

Call = Callable[..., Awaitable[CallToolResult]]

MODELS: dict[str, tuple[type[wire.Input], type[wire.Output]]] = {
    "guardrail_check_halt_conditions": (wire.CheckHaltConditionsInput, wire.CheckHaltConditionsOutput),
    "guardrail_record_halt": (wire.RecordHaltInput, wire.RecordHaltOutput),
    "guardrail_acknowledge_halt": (wire.AcknowledgeHaltInput, wire.AcknowledgeHaltOutput),
    "guardrail_get_session_halts": (wire.GetSessionHaltsInput, wire.GetSessionHaltsOutput),
    "guardrail_update_halt_config": (wire.UpdateHaltConfigInput, wire.UpdateHaltConfigOutput),
    "guardrail_open_session": (wire.OpenSessionInput, wire.OpenSessionOutput),
    "guardrail_close_session": (wire.CloseSessionInput, wire.CloseSessionOutput),
    "guardrail_record_attempt": (wire.RecordAttemptInput, wire.RecordAttemptOutput),
}

EXAMPLE_1 = {
    "current_context": {
        "operation": "modify authentication logic",
        "target_files": ["src/auth.js"],
        "files_read": ["src/app.js"],
        "attempt_number": 1,
    },
    "proposed_changes": {
        "files_to_modify": ["src/auth.js"],
        "has_tests": False,
        "has_rollback_plan": False,
    },
}

EXAMPLE_2 = {
    "task_id": "task_fix_bug_42",
    "current_context": {
        "operation": "fix null pointer exception",
        "attempt_number": 3,
        "previous_errors": [
            "TypeError: Cannot read property 'x' of null",
            "TypeError: Cannot read property 'x' of undefined",
        ],
    },
}


async def test_the_published_schemas_are_those_of_the_wire_models(client: Client) -> None:
    with anyio.fail_after(60):
        listed = await client.list_tools()
    assert {tool.name: (tool.input_schema, tool.output_schema) for tool in listed.tools} == {
        name: (
            accepts.model_json_schema(mode="validation"),
            returns.model_json_schema(mode="serialization"),
        )
        for name, (accepts, returns) in MODELS.items()
    }


async def test_every_field_that_the_specification_names_is_published(client: Client) -> None:
    with anyio.fail_after(60):
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    check = listed["guardrail_check_halt_conditions"]
    assert set(check.input_schema["properties"]) == {
        "session_token",
        "task_id",
        "current_context",
        "proposed_changes",
    }
    assert check.input_schema["required"] == ["session_token", "current_context"]
    assert check.input_schema["additionalProperties"] is False
    assert {"should_halt", "halt_reasons", "highest_severity", "recommended_action"} <= set(
        (check.output_schema or {})["required"]
    )


async def test_the_server_and_its_tools_teach_the_agent_to_stop(client: Client) -> None:
    with anyio.fail_after(60):
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert "should_halt" in (client.instructions or "")
    assert "haltline ack HALT_ID --resolution resolved" in (client.instructions or "")
    assert "another way" in (listed["guardrail_check_halt_conditions"].description or "")
    assert "person's decision" in (listed["guardrail_acknowledge_halt"].description or "")


async def test_example_1_code_safety_check(call: Call, session: str) -> None:
    result = await call("guardrail_check_halt_conditions", {"session_token": session, **EXAMPLE_1})
    content = result.structured_content
    assert content["should_halt"] is True
    assert [
        {key: reason[key] for key in ("halt_type", "condition_name", "severity", "description")}
        for reason in content["halt_reasons"]
    ] == [
        {
            "halt_type": "code_safety",
            "condition_name": "modifying_unread_code",
            "severity": "critical",
            "description": "Attempting to modify src/auth.js which has not been read",
        },
        {
            "halt_type": "code_safety",
            "condition_name": "no_rollback_plan",
            "severity": "high",
            "description": "No rollback plan provided for changes",
        },
    ]


async def test_example_2_three_strikes(call: Call, session: str) -> None:
    result = await call("guardrail_check_halt_conditions", {"session_token": session, **EXAMPLE_2})
    content = result.structured_content
    assert content["should_halt"] is True
    assert [(reason["condition_name"], reason["severity"]) for reason in content["halt_reasons"]] == [
        ("three_strikes", "high"),
        ("repeated_errors", "medium"),
    ]
    assert content["recommended_action"] == "HALT and escalate to user. Recommend fresh session."


async def test_the_text_is_the_structured_content(call: Call, session: str) -> None:
    result = await call("guardrail_check_halt_conditions", {"session_token": session, **EXAMPLE_1})
    (block,) = result.content
    assert block.type == "text"
    assert json.loads(block.text) == result.structured_content


async def test_strikes_answer_retry_then_try_alternative_then_halt(call: Call, session: str) -> None:
    failure = {"session_token": session, "task_id": "task", "error": "TypeError: x is null"}
    answers = [(await call("guardrail_record_attempt", failure)).structured_content for _ in range(3)]
    assert [(answer["attempt_count"], answer["should_halt"]) for answer in answers] == [
        (1, False),
        (2, False),
        (3, True),
    ]
    assert [answer["recommended_action"] for answer in answers[:2]] == ["retry", "try_alternative"]
    check = {"session_token": session, "current_context": {"operation": "something else"}}
    after = (await call("guardrail_check_halt_conditions", check)).structured_content
    assert (after["should_halt"], after["session_state"]) == (True, "halted")


async def test_a_session_is_opened_used_and_closed(call: Call) -> None:
    opened = (await call("guardrail_open_session")).structured_content
    assert opened["agent_name"] == "mcp:tester"
    token = opened["session_token"]
    check = {"session_token": token, "current_context": {"operation": "look around"}}
    assert (await call("guardrail_check_halt_conditions", check)).structured_content["verdict"] == "proceed"
    assert (await call("guardrail_close_session", {"session_token": token})).structured_content == {
        "closed": True
    }
    after = (await call("guardrail_check_halt_conditions", check)).structured_content
    assert (after["should_halt"], after["reason_code"]) == (True, "invalid_session")


async def test_a_session_with_an_open_halt_is_not_closed_by_its_agent(call: Call, session: str) -> None:
    await call("guardrail_check_halt_conditions", {"session_token": session, **EXAMPLE_1})
    result = await call("guardrail_close_session", {"session_token": session})
    assert result.is_error is True
    assert result.structured_content["reason_code"] == "not_permitted"
    assert result.structured_content["should_halt"] is True


async def test_a_recorded_halt_is_listed_and_stops_the_session(call: Call, session: str) -> None:
    halt = {
        "session_token": session,
        "halt_type": "uncertainty",
        "severity": "high",
        "description": "The request contradicts the ticket",
    }
    recorded = (await call("guardrail_record_halt", halt)).structured_content
    assert recorded["requires_acknowledgment"] is True
    listed = (await call("guardrail_get_session_halts", {"session_token": session})).structured_content
    assert [(entry["halt_id"], entry["description"]) for entry in listed["halts"]] == [
        (recorded["halt_id"], "The request contradicts the ticket")
    ]
    assert (listed["total_count"], listed["unacknowledged_count"]) == (1, 1)


async def test_the_caller_is_an_agent_under_the_name_of_its_client(
    call: Call, session: str, person: Guardrail
) -> None:
    await call("guardrail_check_halt_conditions", {"session_token": session, **EXAMPLE_1})
    with anyio.fail_after(60):
        log = [entry async for entry in person.audit_entries()]
    assert {entry.actor for entry in log if entry.action == "halt.recorded"} == {"agent:mcp:tester"}
