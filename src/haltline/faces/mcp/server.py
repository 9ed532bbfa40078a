"""The server: tool calls to the service, as the agent on the other side, and back."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import Any

import anyio
from mcp import types
from mcp.server import Server, ServerRequestContext

from haltline import __version__
from haltline.domain import Principal, PrincipalKind, ReasonCode
from haltline.errors import HaltlineError, InvalidInput
from haltline.faces.mcp.answers import answered, failed, unchecked, unknown_tool
from haltline.faces.mcp.lines import Refusal
from haltline.faces.mcp.stdio import serve_stdio
from haltline.faces.mcp.tools import CHECK, INSTRUCTIONS, TOOLS
from haltline.secrets import redact
from haltline.service import Guardrail
from haltline.settings import Settings
from haltline.wire import Output

logger = logging.getLogger(__name__)

_CLIENT_NAME_LENGTH = 64

_GRACE_SECONDS = 1.0
"""What a call may take beyond its operation's deadline before a closed connection no longer waits for it."""


def main(
    url: str | None = None, settings: Settings | None = None, workspace: str | Path | None = None
) -> None:
    """Serve a database over standard input and output until the client closes the input (`haltline mcp`).

    Args:
        url: the database, as for `Guardrail.open`.
        settings: how the guardrail behaves.
        workspace: the directory that relative paths start from.

    Raises:
        InvalidInput: the URL is of no known form; nothing was served.
    """
    _log_to_standard_error()
    guardrail = Guardrail.open(url, settings=settings, workspace=workspace)
    with contextlib.suppress(KeyboardInterrupt):
        anyio.run(_serve_and_close, guardrail, (settings or Settings()).operation_deadline_seconds)


async def _serve_and_close(guardrail: Guardrail, operation_seconds: float) -> None:
    async with guardrail:
        await serve(guardrail, grace=operation_seconds + _GRACE_SECONDS)


async def serve(guardrail: Guardrail, *, grace: float = 11.0) -> None:
    """Serve a guardrail over standard input and output until the client closes the input.

    Whoever the guardrail acts as, the calls are made as the agent on the other side.

    Args:
        guardrail: the guardrail; it stays open.
        grace: how long calls that have begun may take after the client has closed the input, in seconds.
    """

    async def refuse(refusal: Refusal) -> types.CallToolResult:
        return await refused(guardrail.acting_as(agent_named(None)), refusal)

    await serve_stdio(build_server(guardrail), refuse, grace)


def build_server(guardrail: Guardrail) -> Server:
    """Return the server of a guardrail, for a transport of the caller's choice.

    Over other transports, what the protocol package refuses by itself gets its own errors.
    """

    async def list_tools(
        _context: ServerRequestContext, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.listed() for tool in TOOLS.values()])

    async def call_tool(
        context: ServerRequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        client = context.session.client_params
        agent = agent_named(client.client_info.name if client is not None else None)
        arguments = {} if params.arguments is None else params.arguments
        return await answer(guardrail.acting_as(agent), params.name, arguments)

    return Server(
        "haltline",
        version=__version__,
        title="Haltline",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def agent_named(client_name: str | None) -> Principal:
    """Return the principal of a client: always an agent, under a name that is safe to print."""
    printable = "".join(character for character in client_name or "" if character.isprintable())
    name = str(redact(printable[:_CLIENT_NAME_LENGTH].strip()))[:_CLIENT_NAME_LENGTH]
    return Principal(PrincipalKind.AGENT, f"mcp:{name or 'unknown'}")


async def answer(guardrail: Guardrail, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
    """Answer a tool call, whatever happens.

    A client that cancels the call or hangs up does not undo it: a halt that was found is recorded.
    """
    tool = TOOLS.get(name)
    if tool is None:
        return unknown_tool()
    try:
        return answered(await _to_its_end(tool.call(guardrail, arguments)))
    except Exception as error:  # noqa: BLE001 - whatever happened, the agent must be told to stop
        return _not_done(name, error, arguments)


async def refused(guardrail: Guardrail, refusal: Refusal) -> types.CallToolResult:
    """Answer a tool call that could not be served as it came; one that may have been the check is a halt."""
    if refusal.tool is not None and refusal.tool not in TOOLS:
        return unknown_tool()
    if refusal.tool not in {None, CHECK}:
        return failed(refusal.tool, InvalidInput(refusal.problem))
    try:
        reason = ReasonCode.BAD_REQUEST
        check = guardrail.refuse_check(reason, refusal.problem, refusal.session_token)
        return answered(await _to_its_end(check))
    except Exception as error:  # noqa: BLE001 - likewise
        return _not_done(CHECK, error, {})


async def _to_its_end(operation: Awaitable[Output]) -> Output:
    """Wait for an operation and let nobody cut it short; each has a deadline of its own."""
    with anyio.CancelScope(shield=True):
        return await operation
    raise RuntimeError("an operation that nobody may interrupt was interrupted")


def _not_done(name: str, error: Exception, arguments: Mapping[str, Any]) -> types.CallToolResult:
    if not isinstance(error, HaltlineError):
        logger.error("%s failed", name, exc_info=error)
    if name == CHECK:
        problem = f"the check raised {type(error).__name__}; the server's log says more"
        return answered(unchecked(ReasonCode.CHECK_FAILED, problem))
    return failed(name, error, arguments)


class _RedactingFormatter(logging.Formatter):
    """Logs end up in files of the client; secrets do not."""

    def format(self, record: logging.LogRecord) -> str:
        return str(redact(super().format(record)))


def _log_to_standard_error() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_RedactingFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
