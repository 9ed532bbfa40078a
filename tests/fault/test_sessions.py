"""Sessions that are not there: unknown, closed, never issued. A check of one is a critical halt."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import pytest
from tests.fault import faults

from haltline import Guardrail, Settings
from haltline.domain import ReasonCode, SessionState
from haltline.errors import Conflict, NotFound

if TYPE_CHECKING:
    from tests.conftest import Database

pytestmark = pytest.mark.anyio

Open = Callable[..., Guardrail]
INVALID = ReasonCode.INVALID_SESSION
SERVED = Settings(unknown_sessions="reject")


async def noted(guardrail: Guardrail) -> list[str]:
    """Return the descriptions of failed checks in the audit log."""
    human = guardrail.acting_as(faults.HUMAN)
    entries = [entry async for entry in human.audit_entries() if entry.action == "check.failed"]
    assert (await human.verify_audit()).problems == ()
    return [json.loads(entry.payload)["description"] for entry in entries]


@pytest.mark.parametrize(
    ("settings", "token"),
    [
        (SERVED, "a name of the agent's own"),
        (SERVED, "hls_" + "A" * 43),
        (Settings(), "hls_" + "A" * 43),
        (Settings(), "hls_"),
        (Settings(), "id:00000000-0000-7000-8000-000000000000"),
    ],
    ids=["rejected name", "rejected token", "token never issued", "beginning of a token", "identifier"],
)
async def test_unknown_session_halts_and_is_in_the_audit_log(
    database: Database, opened: Open, answer: faults.Answer, settings: Settings, token: str
) -> None:
    guardrail = opened(database.url, settings=settings)
    await guardrail.acting_as(faults.HUMAN).health()
    result = await answer.failed(
        guardrail, INVALID, stored="database", session_token=token, current_context=faults.LOUD
    )
    assert result.session_state is None
    assert token not in result.model_dump_json()
    assert await noted(guardrail) == [result.halt_reasons[0].description]
    sessions, _ = await guardrail.acting_as(faults.HUMAN).list_sessions()
    assert sessions == ()


async def test_unknown_session_is_refused_by_every_other_operation(database: Database, opened: Open) -> None:
    guardrail = opened(database.url, settings=SERVED)
    human = guardrail.acting_as(faults.HUMAN)
    with pytest.raises(NotFound):
        await guardrail.record_halt(
            session_token="nobody", halt_type="scope", severity="high", description="out of bounds"
        )
    with pytest.raises(NotFound):
        await guardrail.record_attempt(session_token="nobody")
    with pytest.raises(NotFound):
        await guardrail.get_session_halts(session_token="nobody")
    with pytest.raises(NotFound):
        await guardrail.close_session("nobody")
    with pytest.raises(NotFound):
        await human.reset_attempts("nobody")
    with pytest.raises(NotFound):
        await human.record_reads("nobody", {"a.py": None})
    with pytest.raises(NotFound):
        await human.acknowledge_halt(session_token="nobody", halt_id="x", resolution="resolved")


async def test_issued_token_works_where_names_do_not(
    database: Database, opened: Open, answer: faults.Answer
) -> None:
    guardrail = opened(database.url, settings=SERVED)
    token = (await guardrail.open_session("coder")).session_token
    result = await answer(guardrail, session_token=token, current_context=faults.QUIET)
    assert (result.should_halt, result.reason_code) == (False, None)


async def test_closed_session_halts_for_good(database: Database, opened: Open, answer: faults.Answer) -> None:
    guardrail = opened(database.url)
    token = (await guardrail.open_session()).session_token
    await guardrail.close_session(token)
    for context in (faults.QUIET, faults.LOUD):
        await answer.failed(
            guardrail, INVALID, stored="database", session_token=token, current_context=context
        )
    assert len(await noted(guardrail)) == 2
    with pytest.raises(Conflict):
        await guardrail.record_halt(
            session_token=token, halt_type="scope", severity="high", description="out of bounds"
        )
    with pytest.raises(Conflict):
        await guardrail.record_attempt(session_token=token)


async def test_session_that_is_closed_with_open_halts_stays_closed_when_they_are_settled(
    database: Database, opened: Open, answer: faults.Answer
) -> None:
    guardrail = opened(database.url)
    human = guardrail.acting_as(faults.HUMAN)
    told = await guardrail.check_halt_conditions(session_token="s", current_context=faults.LOUD)
    await human.close_session("s")
    settled = await human.acknowledge_halt(
        session_token="s", halt_id=faults.told_ids(told)[0], resolution="resolved"
    )
    assert (settled.session_can_resume, settled.session_state) == (False, SessionState.CLOSED)
    await answer.failed(guardrail, INVALID, stored="database")


async def test_session_row_that_somebody_made_active_frees_no_halted_session(
    durable: Database, opened: Open, answer: faults.Answer
) -> None:
    guardrail = opened(durable.url)
    told = await guardrail.check_halt_conditions(session_token="s", current_context=faults.LOUD)
    with durable.raw() as connection:
        connection.exec_driver_sql("UPDATE sessions SET state = 'active'")
        connection.commit()
    result = await answer(guardrail, session_token="s", current_context=faults.QUIET)
    assert (result.should_halt, result.session_state) == (True, "halted")
    assert faults.told_ids(result) == faults.told_ids(told)
    assert result.highest_severity == "critical"


async def test_session_that_is_halted_while_a_check_looks_away_halts_that_check(
    durable: Database, opened: Open, spoil_condition: Callable[[str, faults.Check], None]
) -> None:
    """The check has something to write (it opens the session), so it sees the halt in its transaction."""
    guardrail, other = opened(durable.url), opened(durable.url)
    await guardrail.acting_as(faults.HUMAN).health()
    await other.acting_as(faults.HUMAN).health()
    judging, go_on = threading.Event(), threading.Event()

    def slow(*_: object) -> None:
        judging.set()
        go_on.wait(0.2)

    spoil_condition("ambiguous_requirements", slow)
    results = []

    async def check() -> None:
        results.append(await guardrail.check_halt_conditions(session_token="s", current_context=faults.QUIET))

    async with anyio.create_task_group() as group:
        group.start_soon(check)
        assert await anyio.to_thread.run_sync(judging.wait, 10)
        told = await other.record_halt(
            session_token="s", halt_type="scope", severity="high", description="stop"
        )
        go_on.set()
    (result,) = results
    assert (result.should_halt, result.reason_code, result.session_state) == (True, None, "halted")
    assert faults.told_ids(result) == [told.halt_id]
