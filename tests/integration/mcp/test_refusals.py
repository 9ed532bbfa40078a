"""What is wrong with a call: every answer can only be read as a halt, and none repeats a secret."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult

pytestmark = pytest.mark.anyio

Call = Callable[..., Awaitable[CallToolResult]]
Connect = Callable[..., AbstractAsyncContextManager[Client]]

CHECK = "guardrail_check_halt_conditions"
CONTEXT: dict[str, Any] = {"operation": "look around"}
TOKEN = "SESSION"

HALT = {
    "session_token": TOKEN,
    "halt_type": "scope",
    "severity": "high",
    "description": "out of scope",
}

MALFORMED_CHECKS = {
    "no arguments": (None, "session_token"),
    "empty arguments": ({}, "session_token"),
    "no context": ({"session_token": TOKEN}, "current_context"),
    "no session": ({"current_context": CONTEXT}, "session_token"),
    "empty session": ({"session_token": "", "current_context": CONTEXT}, "session_token"),
    "null context": ({"session_token": TOKEN, "current_context": None}, "current_context"),
    "context is text": ({"session_token": TOKEN, "current_context": "look"}, "current_context"),
    "command is text": (
        {"session_token": TOKEN, "current_context": {**CONTEXT, "commands": "ls"}},
        "current_context.commands",
    ),
    "misspelt field": (
        {"session_token": TOKEN, "current_context": {**CONTEXT, "comands": ["rm -rf /"]}},
        "current_context.comands",
    ),
    "unknown field": ({"session_token": TOKEN, "current_context": CONTEXT, "force": True}, "force"),
    "score is text": (
        {"session_token": TOKEN, "current_context": {**CONTEXT, "uncertainty_score": "9"}},
        "uncertainty_score",
    ),
    "score is above ten": (
        {"session_token": TOKEN, "current_context": {**CONTEXT, "uncertainty_score": 11}},
        "uncertainty_score",
    ),
    "NUL character": (
        {"session_token": TOKEN, "current_context": {"operation": "a\x00b"}},
        "NUL",
    ),
    "nested too deep": (
        {"session_token": TOKEN, "current_context": {**CONTEXT, "tool_arguments": "DEEP"}},
        "nested deeper than 32",
    ),
    "command too long": (
        {"session_token": TOKEN, "current_context": {**CONTEXT, "commands": ["x" * 70_000]}},
        "commands",
    ),
}


def filled(arguments: dict[str, Any] | None, session: str) -> dict[str, Any] | None:
    """Return the arguments with a session of the test's own, and really deep nesting where it is wanted."""
    deep = '{"a":' * 60 + "1" + "}" * 60
    text = json.dumps(arguments).replace(json.dumps(TOKEN), json.dumps(session)).replace('"DEEP"', deep)
    replaced: dict[str, Any] | None = json.loads(text)
    return replaced


@pytest.mark.parametrize(("arguments", "named"), MALFORMED_CHECKS.values(), ids=MALFORMED_CHECKS.keys())
async def test_a_malformed_check_is_a_critical_halt_that_names_the_field(
    call: Call, session: str, arguments: dict[str, Any] | None, named: str
) -> None:
    result = await call(CHECK, filled(arguments, session))
    content = result.structured_content
    assert (content["should_halt"], content["highest_severity"]) == (True, "critical")
    assert (content["verdict"], content["reason_code"]) == ("halt", "bad_request")
    assert named in content["halt_reasons"][0]["description"]
    assert content["event_stored"] == "database"


@pytest.mark.parametrize(
    "name",
    [
        "guardrail_check",
        "check_halt_conditions",
        "Guardrail_Check_Halt_Conditions",
        "",
        "a\x00b",
        "x" * 5_000,
    ],
)
async def test_an_unknown_tool_is_a_halt(call: Call, session: str, name: str) -> None:
    result = await call(name, {"session_token": session, "current_context": CONTEXT})
    content = result.structured_content
    assert result.is_error is True
    assert (content["should_halt"], content["verdict"]) == (True, "halt")
    assert (content["highest_severity"], content["reason_code"]) == ("critical", "bad_request")
    assert CHECK in content["halt_reasons"][0]["description"]


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("guardrail_record_halt", {"session_token": TOKEN}, "halt_type"),
        ("guardrail_record_halt", {**HALT, "severity": "huge"}, "severity"),
        ("guardrail_record_halt", {**HALT, "description": "x" * 4_001}, "description"),
        ("guardrail_record_halt", {**HALT, "colour": "red"}, "colour"),
        ("guardrail_record_attempt", {"session_token": TOKEN, "attempt_number": "2"}, "attempt_number"),
        ("guardrail_get_session_halts", {"session_token": TOKEN, "limit": 0}, "limit"),
        ("guardrail_get_session_halts", None, "session_token"),
        ("guardrail_open_session", {"agent_name": 3}, "agent_name"),
        ("guardrail_close_session", {}, "session_token"),
        ("guardrail_acknowledge_halt", {"session_token": TOKEN, "resolution": "resolved"}, "halt_id"),
        (
            "guardrail_acknowledge_halt",
            {"session_token": TOKEN, "halt_id": "h", "resolution": "timeout"},
            "resolution",
        ),
    ],
)
async def test_the_other_tools_name_the_field_that_is_wrong(
    call: Call, session: str, tool: str, arguments: dict[str, Any] | None, named: str
) -> None:
    result = await call(tool, filled(arguments, session))
    content = result.structured_content
    assert result.is_error is True
    assert (content["should_halt"], content["reason_code"]) == (True, "bad_request")
    assert any(problem.startswith(named) for problem in content["problems"])


async def test_a_malformed_acknowledgement_is_not_confirmed(call: Call, session: str) -> None:
    content = (await call("guardrail_acknowledge_halt", {"session_token": session})).structured_content
    assert (content["confirmed"], content["session_can_resume"]) == (False, False)


async def test_an_unknown_session_is_an_error_that_no_one_reads_as_allowed(call: Call, session: str) -> None:
    result = await call("guardrail_get_session_halts", {"session_token": session})
    assert result.is_error is True
    assert result.structured_content["reason_code"] == "not_found"
    assert result.structured_content["should_halt"] is True


async def test_a_served_database_rejects_tokens_that_it_did_not_issue(
    connect: Connect, url: str, session: str
) -> None:
    check = {"session_token": session, "current_context": CONTEXT}
    async with connect(url, settings={"unknown_sessions": "reject"}) as client:
        with anyio.fail_after(60):
            content = (await client.call_tool(CHECK, check)).structured_content
    assert (content["should_halt"], content["reason_code"]) == (True, "invalid_session")


def secret() -> str:
    """Return a token of a known form that never was one."""
    return "".join(("gh", "p_", "x7Kq2mZ9" * 4, "Ab3d"))


def calls_with(token: str, session: str) -> list[tuple[str, dict[str, Any]]]:
    context = {
        "operation": f"use {token}",
        "target_files": [f"src/{token}.py"],
        "commands": [f"curl -H 'Authorization: token {token}' https://api.github.com"],
        "previous_errors": [f"401 for {token}"],
        "user_instructions": [f"use {token}"],
        "tool_arguments": {token: {"password": token}},
        "scope_boundary": f"src/** !{token}",
        "environment": token,
    }
    return [
        (CHECK, {"session_token": session, "task_id": token, "current_context": context}),
        (CHECK, {"session_token": session, "current_context": {**CONTEXT, token: 1}}),
        (CHECK, {"session_token": session, token: token}),
        (CHECK, {"session_token": session, "current_context": {**CONTEXT, "commands": token}}),
        (
            "guardrail_record_halt",
            {**HALT, "session_token": session, "description": token, "severity": "low"},
        ),
        ("guardrail_record_halt", {**HALT, "session_token": session, "severity": token}),
        ("guardrail_record_halt", {**HALT, "session_token": session, token: 1}),
        ("guardrail_record_attempt", {"session_token": session, "task_id": token, "error": token}),
        (
            "guardrail_acknowledge_halt",
            {"session_token": session, "halt_id": token, "resolution": "resolved"},
        ),
        ("guardrail_acknowledge_halt", {"session_token": session, "halt_id": "h", "acknowledged_by": token}),
        ("guardrail_update_halt_config", {"condition_name": token, "enabled": False}),
        ("guardrail_open_session", {"agent_name": token}),
        (token, {token: token}),
        ("guardrail_get_session_halts", {"session_token": session, "include_acknowledged": True}),
    ]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_secret_in_the_arguments_never_comes_back(
    connect: Connect, url: str, session: str, tmp_path: Path, mode: str
) -> None:
    token, log = secret(), tmp_path / "stderr"
    async with connect(url, mode=mode, name=f"client {token}", log=log) as client:
        with anyio.fail_after(60):
            answers = [
                await client.call_tool(name, arguments) for name, arguments in calls_with(token, session)
            ]
    assert token not in "".join(answer.model_dump_json() for answer in answers)
    assert token not in log.read_text()


async def test_hostile_client_names_are_made_printable_and_short(connect: Connect, url: str) -> None:
    async with connect(url, name="\x1b[2Jevil\u202e\n" + "x" * 10_000) as client:
        with anyio.fail_after(60):
            opened = (await client.call_tool("guardrail_open_session")).structured_content
    assert opened["agent_name"] == "mcp:" + ("[2Jevil" + "x" * 100)[:64]
