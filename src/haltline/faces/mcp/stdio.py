"""The stdio transport: one JSON message a line, and no tool call without an answer that says what to do.

It stands in the place of the package's own, for four reasons. A line that cannot be read gets an answer.
An error of the protocol for a tool call, which carries no structured content, is replaced by a halt. What a
client has asked before it hangs up is carried to its end. And lines are bounded.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolResult,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from haltline.faces.mcp.lines import CALL, Lines, Refusal, understood
from haltline.store.worker import Lanes

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.server import Server

logger = logging.getLogger(__name__)

Refuse = Callable[[Refusal], Awaitable[CallToolResult]]
"""Answers a tool call that could not be served; never raises."""

_CHUNK_BYTES = 64 * 1024


async def serve_stdio(server: Server, refuse: Refuse, grace: float) -> None:
    """Serve a server over standard input and output until the client closes the input.

    Args:
        server: what answers the requests.
        refuse: what answers the tool calls that do not reach it, or that it answers with a mere error.
        grace: how long calls that have begun may take after the client has closed the input, in seconds.
    """
    with claimed_streams() as (incoming, outgoing):
        await _Connection(incoming, outgoing, refuse, grace).serve(server)


@contextmanager
def claimed_streams() -> Iterator[tuple[int, int]]:
    """Take standard input and output for the protocol, and give them back afterwards.

    Meanwhile whatever else prints goes to standard error, and whatever else reads finds the end of the input.
    """
    sys.stdout.flush()
    incoming, outgoing, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield incoming, outgoing
    finally:  # the duplicates stay open: a thread may still wait for the client's next line
        sys.stdout.flush()
        os.dup2(incoming, 0)
        os.dup2(outgoing, 1)


class _Connection:
    """One client, from its first line to its last."""

    def __init__(self, incoming: int, outgoing: int, refuse: Refuse, grace: float) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._refuse = refuse
        self._grace = grace
        self._reading = Lanes("haltline-mcp-in", limit=1)
        self._writing = Lanes("haltline-mcp-out", limit=1)
        self._to_client, self._answers = anyio.create_memory_object_stream[SessionMessage](0)
        self._calls: dict[RequestId, str] = {}
        self._refusals = 0
        self._settled = anyio.Event()
        self._client_is_gone = False

    async def serve(self, server: Server) -> None:
        """Serve until the client has closed the input and has its answers."""
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        async with anyio.create_task_group() as tasks, self._to_client:
            tasks.start_soon(self._write, tasks)
            tasks.start_soon(self._read, tasks, to_server)
            await server.run(requests, self._to_client.clone(), server.create_initialization_options())
            await self._all_settled()

    async def _read(
        self, tasks: TaskGroup, to_server: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        lines = Lines()
        async with to_server:
            while True:
                chunk = await self._reading.run_abandonable(self._read_chunk)
                for line in lines.feed(chunk) if chunk else lines.end():
                    message = understood(line)
                    if isinstance(message, Refusal):
                        self._begin_refusal(tasks, message)
                    else:
                        self._note(message)
                        await to_server.send(SessionMessage(message))
                if not chunk:
                    break
            await self._all_settled()

    def _read_chunk(self) -> bytes:
        try:
            return os.read(self._incoming, _CHUNK_BYTES)
        except OSError as error:
            logger.warning("the client can no longer be read: %s", error)
            return b""

    def _note(self, message: JSONRPCMessage) -> None:
        """Remember a call until it is answered, or until the client cancels it: then nobody answers it."""
        params = getattr(message, "params", None) or {}
        if isinstance(message, JSONRPCRequest) and message.method == CALL:
            self._calls[message.id] = params["name"]
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._forget(params.get("requestId"))

    async def _write(self, tasks: TaskGroup) -> None:
        async with self._answers:
            async for item in self._answers:
                message = item.message
                refusal = self._refusal_instead(message)
                if refusal is not None:
                    self._begin_refusal(tasks, refusal)
                else:
                    await self._send(message)
                if isinstance(message, JSONRPCError | JSONRPCResponse):
                    self._forget(message.id)

    def _refusal_instead(self, message: JSONRPCMessage) -> Refusal | None:
        """Return what a tool call gets instead of an error of the protocol.

        The error about versions stays: clients choose another version by it, and repeat the call.
        """
        if not isinstance(message, JSONRPCError) or message.error.code == UNSUPPORTED_PROTOCOL_VERSION:
            return None
        tool = None if message.id is None else self._calls.get(message.id)
        if tool is None:
            return None
        return Refusal(
            f"the request was refused: {message.error.message}", message.id, is_call=True, tool=tool
        )

    def _begin_refusal(self, tasks: TaskGroup, refusal: Refusal) -> None:
        self._refusals += 1
        tasks.start_soon(self._answer, refusal)

    async def _answer(self, refusal: Refusal) -> None:
        try:
            await self._to_client.send(SessionMessage(await self._refused(refusal)))
        finally:
            self._refusals -= 1
            self._look_again()

    async def _refused(self, refusal: Refusal) -> JSONRPCResponse | JSONRPCError:
        if refusal.is_call and refusal.request_id is not None:
            result = await self._refuse(refusal)
            content = result.model_dump(by_alias=True, mode="json", exclude_none=True)
            return JSONRPCResponse(jsonrpc="2.0", id=refusal.request_id, result=content)
        error = ErrorData(code=INVALID_REQUEST, message=refusal.problem)
        return JSONRPCError(jsonrpc="2.0", id=refusal.request_id, error=error)

    def _forget(self, request_id: object) -> None:
        """Expect no answer to a call any more."""
        if isinstance(request_id, str | int):
            self._calls.pop(request_id, None)
        self._look_again()

    def _look_again(self) -> None:
        """Wake whoever waits for the last answer."""
        self._settled.set()
        self._settled = anyio.Event()

    async def _all_settled(self) -> None:
        """Wait until every call has its answer, for as long as the grace lasts."""
        with anyio.move_on_after(self._grace):
            while self._calls or self._refusals:
                await self._settled.wait()

    async def _send(self, message: JSONRPCMessage) -> None:
        """Write a message; to a client that no longer reads, nothing."""
        if self._client_is_gone:
            return
        line = json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode() + b"\n"
        try:
            await self._writing.run_abandonable(lambda: self._write_all(line))
        except OSError as error:
            self._client_is_gone = True
            logger.warning("the client no longer reads: %s", error)

    def _write_all(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._outgoing, rest) :]
