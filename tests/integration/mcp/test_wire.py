"""The wire itself: what no well-behaved client sends is answered too, and the server outlives it."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest

from haltline import Guardrail

pytestmark = pytest.mark.anyio

Exchange = Callable[..., Awaitable[dict[str, Any]]]
Start = Callable[..., AbstractAsyncContextManager[Any]]

CHECK = "guardrail_check_halt_conditions"


def call(request_id: int | str, arguments: Any, tool: Any = CHECK, **params: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments, **params}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def check(session: str, **context: Any) -> dict[str, Any]:
    return {"session_token": session, "current_context": {"operation": "look around", **context}}


def modern(arguments: dict[str, Any], **changes: Any) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
        **changes,
    }
    return call(3, arguments, _meta={key: value for key, value in meta.items() if value is not None})


def deep(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


def unreadable(session: str) -> dict[str, bytes]:
    good = json.dumps(call(3, check(session, commands=["HERE"]))).encode()
    here = b'"HERE"'
    return {
        "a lone surrogate": good.replace(here, b'"\\ud800"'),
        "bytes that are no UTF-8": good.replace(b"HERE", b"\xff\xfe"),
        "nested three hundred deep": good.replace(here, deep(300)),
        "nested a hundred thousand deep": good.replace(here, deep(100_000)),
        "a number of five thousand digits": good.replace(here, b"9" * 5_000),
        "more than the limit": good.replace(b"HERE", b"x" * (17 * 1024 * 1024)),
        "cut off": good[:-2],
        "arguments that are a list": json.dumps(call(3, [1])).encode(),
        "arguments that are text": json.dumps(call(3, "rm -rf /")).encode(),
        "a name that is a number": json.dumps(call(3, {}, tool=5)).encode(),
        "parameters that are a list": b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":[1]}',
        "no parameters": b'{"jsonrpc":"2.0","id":3,"method":"tools/call"}',
        "an older protocol": b'{"jsonrpc":"1.0","id":3,"method":"tools/call","params":{}}',
        "metadata that is text": json.dumps(call(3, check(session), _meta="x")).encode(),
        "a progress token that is a list": json.dumps(
            call(3, check(session), _meta={"progressToken": []})
        ).encode(),
        "a task that is text": json.dumps(call(3, check(session), task="x")).encode(),
        "an infinite score": good.replace(b'"commands"', b'"uncertainty_score": Infinity, "commands"'),
    }


UNREADABLE = sorted(unreadable(""))


def assert_halts(message: dict[str, Any]) -> dict[str, Any]:
    assert message["id"] == 3
    content: dict[str, Any] = message["result"]["structuredContent"]
    assert (content["should_halt"], content["highest_severity"]) == (True, "critical")
    assert (content["verdict"], content["reason_code"]) == ("halt", "bad_request")
    return content


@pytest.mark.parametrize("name", UNREADABLE)
async def test_an_unreadable_call_is_answered_with_a_halt_and_survived(
    exchange: Exchange, session: str, name: str
) -> None:
    assert_halts(await exchange(unreadable(session)[name]))
    after = await exchange(call("after", check(f"{session}-2")))
    assert (after["id"], after["result"]["structuredContent"]["verdict"]) == ("after", "proceed")


async def test_a_check_that_only_a_lenient_parser_takes_halts_its_session(
    exchange: Exchange, session: str, person: Guardrail
) -> None:
    content = assert_halts(await exchange(unreadable(session)["a lone surrogate"]))
    assert (content["session_state"], content["event_stored"]) == ("halted", "database")
    with anyio.fail_after(60):
        halts = await person.get_session_halts(session_token=session)
    assert [halt.halt_id for halt in halts.halts] == [content["halt_reasons"][0]["halt_id"]]


async def test_an_unreadable_call_of_another_tool_is_an_error_that_says_halt(exchange: Exchange) -> None:
    message = await exchange(call(3, ["x"], tool="guardrail_record_halt"))
    result = message["result"]
    assert result["isError"] is True
    assert result["structuredContent"]["should_halt"] is True
    assert result["structuredContent"]["problems"] == ["arguments: expected an object, got list"]


async def test_metadata_that_makes_no_sense_does_not_spoil_a_check(exchange: Exchange, session: str) -> None:
    message = await exchange(call(3, check(session), _meta={"traceparent": 5}))
    assert message["result"]["structuredContent"]["verdict"] == "proceed"


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"\x00\x01\xff",
        b"[]",
        b'"text"',
        b"7",
        b'[{"jsonrpc":"2.0","id":3,"method":"tools/call"}]',
        b'{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{}}',
        b'{"jsonrpc":"2.0","method":"tools/call","params":{}}',
        b"{" * 1_000,
    ],
)
async def test_a_line_that_names_no_request_is_an_error_of_the_protocol(
    exchange: Exchange, line: bytes
) -> None:
    message = await exchange(line)
    assert (message["id"], message["error"]["code"]) == (None, -32600)
    assert await exchange({"jsonrpc": "2.0", "id": 4, "method": "ping"}) == {
        "jsonrpc": "2.0",
        "id": 4,
        "result": {},
    }


async def test_a_call_before_the_handshake_is_a_halt(start: Start, url: str, session: str) -> None:
    async with start(url) as raw:
        await raw.send(call(3, check(session)))
        assert_halts(await raw.receive())


@pytest.mark.parametrize(
    "changes",
    [
        {"io.modelcontextprotocol/clientCapabilities": None},
        {"io.modelcontextprotocol/protocolVersion": 5},
        {"io.modelcontextprotocol/clientCapabilities": "x"},
    ],
)
async def test_a_bad_envelope_of_the_modern_protocol_is_a_halt(
    start: Start, url: str, session: str, changes: dict[str, Any]
) -> None:
    async with start(url) as raw:
        await raw.send(modern(check(session), **changes))
        assert_halts(await raw.receive())


async def test_a_version_that_is_not_served_is_negotiated_and_not_answered(
    start: Start, url: str, session: str
) -> None:
    async with start(url) as raw:
        await raw.send(modern(check(session), **{"io.modelcontextprotocol/protocolVersion": "2099-01-01"}))
        message = await raw.receive()
        assert message["error"]["data"]["supported"] == ["2026-07-28"]


async def test_a_modern_call_without_client_information_is_checked(
    start: Start, url: str, session: str
) -> None:
    async with start(url) as raw:
        await raw.send(modern(check(session), **{"io.modelcontextprotocol/clientInfo": None}))
        result = (await raw.receive())["result"]
        assert (result["resultType"], result["structuredContent"]["verdict"]) == ("complete", "proceed")


async def test_another_method_that_is_not_served_keeps_its_error(exchange: Exchange) -> None:
    message = await exchange({"jsonrpc": "2.0", "id": 3, "method": "prompts/list"})
    assert message["error"]["code"] == -32601


async def test_many_calls_at_once_are_each_answered_once(start: Start, url: str, session: str) -> None:
    async with start(url) as raw:
        await raw.shake_hands()
        await raw.send(*(call(number, check(f"{session}-{number}")) for number in range(50)))
        answers = [await raw.receive() for _ in range(50)]
    assert sorted(answer["id"] for answer in answers) == list(range(50))
    assert {answer["result"]["structuredContent"]["verdict"] for answer in answers} == {"proceed"}


async def test_what_was_asked_before_the_client_hung_up_is_answered_and_recorded(
    start: Start, url: str, session: str, person: Guardrail
) -> None:
    halting = check(session, target_files=["a.py"], files_read=[])
    async with start(url) as raw:
        await raw.shake_hands()
        await raw.send(call(3, halting), b"not json", call(4, check(f"{session}-2")))
        messages = {message["id"]: message for message in await raw.hang_up()}
    assert messages[3]["result"]["structuredContent"]["should_halt"] is True
    assert messages[4]["result"]["structuredContent"]["verdict"] == "proceed"
    assert messages[None]["error"]["code"] == -32600
    with anyio.fail_after(60):
        assert (await person.get_session_halts(session_token=session)).unacknowledged_count == 1


async def test_a_cancelled_check_is_recorded_all_the_same(
    start: Start, url: str, session: str, person: Guardrail
) -> None:
    halting = check(session, target_files=["a.py"], files_read=[])
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}
    async with start(url) as raw:
        await raw.shake_hands()
        await raw.send(call(3, halting), cancel, call(4, check(f"{session}-2")))
        answers = [await raw.receive()]
        answers += await raw.hang_up()
    assert {answer["id"] for answer in answers} <= {3, 4}
    with anyio.fail_after(60):
        assert (await person.get_session_halts(session_token=session)).unacknowledged_count == 1


async def test_nothing_but_the_protocol_is_printed_to_the_output(
    tmp_path: Any, url: str, session: str
) -> None:
    program = (
        "import os, subprocess, sys, anyio\n"
        "from haltline import Guardrail\n"
        "from haltline.faces.mcp import serve\n"
        "class Loud(Guardrail):\n"
        "    async def check_halt_conditions(self, request=None, /, **fields):\n"
        "        print('printed'); sys.stdout.flush(); os.write(1, b'written\\n')\n"
        "        subprocess.run(['echo', 'from a child'])\n"
        "        assert os.read(0, 10) == b''\n"
        "        return await super().check_halt_conditions(request, **fields)\n"
        "    def acting_as(self, principal):\n"
        "        return Loud(self._context, principal)\n"
        "async def main():\n"
        f"    async with Loud.open({url!r}) as guardrail:\n"
        "        await serve(guardrail)\n"
        "anyio.run(main)\n"
        "print('after')\n"
    )
    lines = [call(3, check(session)), {"jsonrpc": "2.0", "id": 4, "method": "ping"}]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "r", "version": "1"}}
    first = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    data = "".join(json.dumps(line) + "\n" for line in [first, *lines]).encode()
    with anyio.fail_after(60):
        done = await anyio.run_process([sys.executable, "-c", program], input=data, check=True)
    *messages, after = done.stdout.splitlines()
    assert sorted(json.loads(line)["id"] for line in messages) == [0, 3, 4]
    assert after == b"after"
    for noise in (b"printed", b"written", b"from a child"):
        assert noise in done.stderr
