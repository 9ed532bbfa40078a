"""What a tool call gets: the operation's output, or an answer that cannot be read as permission.

Every answer carries structured content, errors too: the protocol package's own errors have none, and an agent
that looks for `should_halt` and finds nothing could go on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mcp import types

from haltline.domain import ReasonCode
from haltline.errors import (
    AlreadySettled,
    Conflict,
    InvalidInput,
    NotFound,
    NotPermitted,
    StoreError,
)
from haltline.faces.mcp.tools import ACKNOWLEDGE, CHECK, TOOLS, UPDATE_CONFIGURATION
from haltline.secrets import redact
from haltline.service.answers import unanswered
from haltline.service.settling import plain_id, settling_command
from haltline.wire import (
    AcknowledgeHaltOutput,
    CheckHaltConditionsOutput,
    Output,
    UpdateHaltConfigOutput,
)

_CORRECT = "Correct what `problems` names and call again. Until it succeeds, do not act."
_UNCERTAIN = "HALT. Nothing is known to be stored or allowed. Do not act; tell the user."

_FAILURES: tuple[tuple[type[Exception], str, str], ...] = (
    (InvalidInput, ReasonCode.BAD_REQUEST.value, _CORRECT),
    (NotPermitted, "not_permitted", "Wait for a person; do not try another way."),
    (NotFound, "not_found", "Check the session_token and the ids. Until it succeeds, do not act."),
    (AlreadySettled, "already_settled", f"Call {CHECK} and do what it says."),
    (Conflict, "conflict", f"Call {CHECK} and do what it says."),
    (StoreError, ReasonCode.DATABASE_UNAVAILABLE.value, _UNCERTAIN),
)
"""What an error is called, and what the agent does about it; the first row that fits counts."""


def answered(output: Output) -> types.CallToolResult:
    """Return an operation's output, whole: as structured content, and as the same JSON in text."""
    return _result(output.model_dump(mode="json"))


def unchecked(reason: ReasonCode, problem: str) -> CheckHaltConditionsOutput:
    """Return a halt for a call that never reached the service; nothing of it is stored."""
    return unanswered(reason, redact(problem))


def unknown_tool() -> types.CallToolResult:
    """Return the answer to a tool that does not exist: a halt, because it may be the check, misspelt."""
    problem = f"there is no such tool, and nothing was checked; the tools are {', '.join(TOOLS)}"
    return _result(unchecked(ReasonCode.BAD_REQUEST, problem).model_dump(mode="json"), is_error=True)


def failed(tool: str, error: Exception, arguments: Any = None) -> types.CallToolResult:
    """Return the answer of a tool, other than the check, that could not do what it was asked.

    A refusal for want of rights is an answer in the shape of the tool's output. Everything else is an error.
    """
    failure = _failure(error)
    shape = _shape(tool, arguments, failure)
    if isinstance(error, NotPermitted) and shape:
        return _result(shape)
    return _result({**shape, **failure}, is_error=True)


def _failure(error: Exception) -> dict[str, Any]:
    """Return what is told of an error; of one that nobody raised on purpose, only its kind."""
    known = next((row for row in _FAILURES if isinstance(error, row[0])), None)
    if known is None:
        code, action = "operation_failed", _UNCERTAIN
        message = f"the operation failed ({type(error).__name__}); the server's log says more"
    else:
        _, code, action = known
        message = str(redact(str(error)))
    problems = error.problems if isinstance(error, InvalidInput) else (message,)
    return {
        "should_halt": True,
        "reason_code": code,
        "message": message,
        "problems": [str(redact(problem)) for problem in problems],
        "recommended_action": action,
    }


def _shape(tool: str, arguments: Any, failure: Mapping[str, Any]) -> dict[str, Any]:
    """Return the output of a tool that people alone may use, saying no; nothing for the other tools."""
    if tool == ACKNOWLEDGE:
        halt_id = arguments.get("halt_id") if isinstance(arguments, Mapping) else None
        return AcknowledgeHaltOutput(
            confirmed=False,
            halt_id=plain_id(halt_id) or "",
            acknowledged_at="",
            session_can_resume=False,
            warnings=[
                failure["message"],
                f"Tell the user: only a person settles a halt, in a terminal: `{settling_command(halt_id)}`",
                f"Wait until they have, then call {CHECK} again: it brings their guidance.",
            ],
        ).model_dump(mode="json")
    if tool == UPDATE_CONFIGURATION:
        return UpdateHaltConfigOutput(
            updated=False,
            previous_values={},
            current_values={},
            warnings=[
                failure["message"],
                "Tell the user: only a person changes that, in a terminal: `haltline config set`",
            ],
        ).model_dump(mode="json")
    return {}


def _result(content: dict[str, Any], *, is_error: bool = False) -> types.CallToolResult:
    text = types.TextContent(type="text", text=json.dumps(content, ensure_ascii=False))
    return types.CallToolResult(content=[text], structured_content=content, is_error=is_error)
