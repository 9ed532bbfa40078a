"""What lasts, and what happens when the database does not: killed servers, broken files, several servers."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from haltline import Guardrail
from haltline.faces.mcp.server import answer

if TYPE_CHECKING:
    from mcp import Client

pytestmark = pytest.mark.anyio

Connect = Callable[..., AbstractAsyncContextManager["Client"]]
Start = Callable[..., AbstractAsyncContextManager[Any]]

CHECK = "guardrail_check_halt_conditions"


def check(session: str, **context: Any) -> dict[str, Any]:
    return {"session_token": session, "current_context": {"operation": "look around", **context}}


def call(request_id: int, arguments: dict[str, Any], tool: str = CHECK) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


@pytest.fixture
def own_url(tmp_path: Path) -> str:
    """A database of the test's own, to break."""
    return f"sqlite:///{tmp_path / 'haltline.db'}"


async def test_a_killed_server_leaves_the_session_halted(start: Start, own_url: str, session: str) -> None:
    async with start(own_url) as raw:
        await raw.shake_hands()
        await raw.send(call(1, check(session, target_files=["a.py"], files_read=[])))
        answer = (await raw.receive())["result"]["structuredContent"]
        raw.process.send_signal(signal.SIGKILL)
        assert await raw.process.wait() == -signal.SIGKILL
    async with start(own_url) as raw:
        await raw.shake_hands()
        await raw.send(call(1, check(session)))
        again = (await raw.receive())["result"]["structuredContent"]
    assert (again["should_halt"], again["session_state"]) == (True, "halted")
    assert again["halt_reasons"][0]["halt_id"] == answer["halt_reasons"][0]["halt_id"]


async def test_strikes_are_counted_across_a_killed_server(start: Start, own_url: str, session: str) -> None:
    failure = {"session_token": session, "task_id": "task", "error": "TypeError: x is null"}
    actions = []
    for _ in range(3):
        async with start(own_url) as raw:
            await raw.shake_hands()
            await raw.send(call(1, failure, "guardrail_record_attempt"))
            actions.append((await raw.receive())["result"]["structuredContent"]["recommended_action"])
            raw.process.send_signal(signal.SIGKILL)
            await raw.process.wait()
    assert actions[:2] == ["retry", "try_alternative"]
    assert actions[2].startswith("HALT")


async def test_a_halt_found_through_one_server_stops_the_session_at_another(
    start: Start, own_url: str, session: str
) -> None:
    async with start(own_url) as one, start(own_url) as other:
        for server in (one, other):
            await server.shake_hands()
        await one.send(call(1, check(session, target_files=["a.py"], files_read=[])))
        await one.receive()
        await other.send(call(1, check(session)))
        answer = (await other.receive())["result"]["structuredContent"]
    assert (answer["should_halt"], answer["session_state"]) == (True, "halted")


async def test_two_servers_count_the_strikes_of_one_task_together(
    start: Start, own_url: str, session: str
) -> None:
    failure = {"session_token": session, "task_id": "task", "error": "TypeError: x is null"}
    async with start(own_url) as one, start(own_url) as other:
        for server in (one, other):
            await server.shake_hands()
            await server.send(*(call(n, failure, "guardrail_record_attempt") for n in range(4)))
        answers = [await server.receive() for server in (one, other) for _ in range(4)]
    counts = [answer["result"]["structuredContent"]["attempt_count"] for answer in answers]
    assert sorted(counts) == [1, 2, 3, 4, 5, 6, 7, 8]


async def test_without_a_database_a_check_halts_and_the_other_tools_say_so(
    connect: Connect, tmp_path: Path, session: str
) -> None:
    (tmp_path / "haltline.db").write_bytes(b"this is no database" * 1_000)
    async with connect(f"sqlite:///{tmp_path / 'haltline.db'}") as client:
        with anyio.fail_after(60):
            checked = (await client.call_tool(CHECK, check(session))).structured_content
            opened = await client.call_tool("guardrail_open_session")
            attempt = await client.call_tool("guardrail_record_attempt", {"session_token": session})
    assert (checked["should_halt"], checked["highest_severity"]) == (True, "critical")
    assert (checked["reason_code"], checked["event_stored"]) == ("db_unavailable", "spool")
    for result in (opened, attempt):
        assert result.is_error is True
        assert (result.structured_content["should_halt"], result.structured_content["reason_code"]) == (
            True,
            "db_unavailable",
        )


async def test_a_database_that_goes_away_while_the_server_runs_halts_every_check(
    connect: Connect, tmp_path: Path, own_url: str, session: str
) -> None:
    async with connect(own_url) as client:
        with anyio.fail_after(60):
            before = (await client.call_tool(CHECK, check(session))).structured_content
            for name in ("haltline.db", "haltline.db-wal", "haltline.db-shm"):
                (tmp_path / name).unlink(missing_ok=True)
            after = (await client.call_tool(CHECK, check(session))).structured_content
    assert before["verdict"] == "proceed"
    assert (after["should_halt"], after["reason_code"]) == (True, "db_unavailable")


async def test_an_operation_that_raises_is_answered_with_a_halt_and_without_its_text(
    own_url: str, session: str
) -> None:
    class Broken(Guardrail):
        async def check_halt_conditions(self, *_: Any, **__: Any) -> Any:
            raise ZeroDivisionError(session)

        record_attempt = check_halt_conditions

    async with Broken.open(own_url) as guardrail:
        checked = await answer(guardrail, CHECK, check(session))
        attempt = await answer(guardrail, "guardrail_record_attempt", {"session_token": session})
    content = checked.structured_content
    assert (content["should_halt"], content["reason_code"]) == (True, "check_failed")
    assert (attempt.is_error, attempt.structured_content["should_halt"]) == (True, True)
    assert session not in checked.model_dump_json() + attempt.model_dump_json()


async def test_a_url_that_is_none_is_refused_before_anything_is_served() -> None:
    program = "from haltline.faces.mcp import main; main('mysql://host/db')"
    with anyio.fail_after(60):
        done = await anyio.run_process([sys.executable, "-c", program], check=False)
    assert done.returncode == 1
    assert b"database URL" in done.stderr
    assert done.stdout == b""
