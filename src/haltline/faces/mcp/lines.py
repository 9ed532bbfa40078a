"""From the bytes of a client to messages; what is none becomes a refusal that can still be answered.

The protocol package drops a line that it cannot read, and its client waits for an answer for ever. Here every
line that names its request gets one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mcp.types import (
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

CALL = "tools/call"

MAX_LINE_BYTES = 16 * 1024 * 1024
"""How long a message may be; of a longer one only its ends are kept, where its id stands."""

_ENDS_BYTES = 4096

_SCALAR_ID = rb'(-?[0-9]{1,15}|"[ !#-\[\]-~]{0,128}")'
_OTHERS = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,128}"'
_ID_FIRST = re.compile(rb"\s*\{\s*(?:" + _OTHERS + rb'\s*,\s*)*"id"\s*:\s*' + _SCALAR_ID + rb"\s*[,}]")
_ID_LAST = re.compile(rb'[,{]\s*"id"\s*:\s*' + _SCALAR_ID + rb"\s*(?:,\s*" + _OTHERS + rb"\s*)*\}\s*\Z")
_IS_CALL = re.compile(rb'"method"\s*:\s*"tools/call"')


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a client: whole, or when it was too long its two ends."""

    head: bytes
    tail: bytes | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A message that cannot be served.

    Attributes:
        problem: what is wrong with it; never repeats what came.
        request_id: whom to answer; None when the message does not say.
        is_call: whether it calls a tool.
        tool: which one, as far as the message says.
        session_token: of which session, likewise; whatever type came.
    """

    problem: str
    request_id: RequestId | None = None
    is_call: bool = False
    tool: str | None = None
    session_token: object = None


class Lines:
    """Cuts a stream of bytes into lines, in bounded memory."""

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._head: bytes | None = None

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """Take a chunk and return the lines that it completes."""
        *complete, rest = chunk.split(b"\n")
        for piece in complete:
            self._keep(piece)
            yield from self.end()
        self._keep(rest)

    def end(self) -> Iterator[Line]:
        """Return what is there as the last line, if anything is."""
        kept, head = bytes(self._kept), self._head
        self._kept.clear()
        self._head = None
        if head is not None:
            yield Line(head, kept)
        elif kept.strip():
            yield Line(kept)

    def _keep(self, piece: bytes) -> None:
        self._kept += piece
        if self._head is None and len(self._kept) > self._limit:
            self._head = bytes(self._kept[:_ENDS_BYTES])
        if self._head is not None:
            del self._kept[:-_ENDS_BYTES]


def understood(line: Line) -> JSONRPCMessage | Refusal:
    """Return the message of a line, or why it cannot be served."""
    if line.tail is not None:
        return _refused_by_its_ends(f"the request has more than {MAX_LINE_BYTES} bytes", line.head, line.tail)
    try:
        message = jsonrpc_message_adapter.validate_json(line.head, by_name=False)
    except ValidationError as error:
        return _refused(_problem(error), line.head)
    if isinstance(message, JSONRPCRequest) and message.method == CALL:
        return _call_refused(message) or message
    if isinstance(message, JSONRPCNotification) and message.method == CALL:
        return Refusal("id: expected a whole number or text, so that the call can be answered", is_call=True)
    return message


def _call_refused(request: JSONRPCRequest) -> Refusal | None:
    """Return why a tool call cannot be served, before the package refuses it without naming the tool."""
    params = request.params or {}
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        problem = f"name: expected the name of a tool, got {type(name).__name__}"
        return Refusal(problem, request.id, is_call=True)
    if arguments is not None and not isinstance(arguments, dict):
        problem = f"arguments: expected an object, got {type(arguments).__name__}"
        return Refusal(problem, request.id, is_call=True, tool=name)
    return None


def _problem(error: ValidationError) -> str:
    """Return what is wrong with a line, from complaints that do not repeat it."""
    complaints = error.errors(include_input=False, include_url=False)
    if complaints[0]["type"] == "json_invalid":
        return f"the request cannot be read: {complaints[0]['msg']}"
    told = [
        f"{'.'.join(str(part) for part in item['loc'][1:]) or 'request'}: {item['msg']}"
        for item in complaints
        if item["loc"][:1] == (JSONRPCRequest.__name__,)
    ]
    return f"this is no JSON-RPC request: {'; '.join(told) or 'expected an object'}"


def _refused(problem: str, line: bytes) -> Refusal:
    """Return the refusal of a line that another, more lenient parser may still make out."""
    try:
        value = json.loads(line.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return _refused_by_its_ends(problem, line[:_ENDS_BYTES], line[-_ENDS_BYTES:])
    if not isinstance(value, dict):
        return Refusal(problem)
    params = _object(value.get("params"))
    name = params.get("name")
    return Refusal(
        problem,
        _request_id(value.get("id")),
        is_call=value.get("method") == CALL,
        tool=name if isinstance(name, str) else None,
        session_token=_object(params.get("arguments")).get("session_token"),
    )


def _refused_by_its_ends(problem: str, head: bytes, tail: bytes) -> Refusal:
    """Return the refusal of a line that no parser takes; clients write the id first or last."""
    found = _ID_FIRST.match(head) or _ID_LAST.search(tail)
    is_call = bool(_IS_CALL.search(head) or _IS_CALL.search(tail))
    return Refusal(problem, json.loads(found[1]) if found else None, is_call=is_call)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _request_id(value: Any) -> RequestId | None:
    if isinstance(value, str):
        return value if value.isprintable() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
