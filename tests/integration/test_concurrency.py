"""Many at once: one wins and the others are told, nothing is lost, nothing is doubled, the chain verifies."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest
from tests.integration import processes

from haltline import Guardrail, Principal, PrincipalKind
from haltline.domain import Resolution, SessionState
from haltline.errors import AlreadySettled, NotPermitted
from haltline.lifecycle.trail import halt_recorded
from haltline.records import HaltQuery
from haltline.wire import CheckHaltConditionsOutput

if TYPE_CHECKING:
    from tests.conftest import Database, Maker

pytestmark = pytest.mark.anyio

ADA, BEN = processes.person("ada"), processes.person("ben")
SERVICE = Principal(PrincipalKind.SERVICE, "console")
SCRIPT = Path(processes.__file__)

Opening = Callable[..., Guardrail]


@pytest.fixture
async def opened(database: Database) -> AsyncIterator[Opening]:
    """Open guardrails over the test's database: in memory always the same one."""
    guardrails: list[Guardrail] = []

    def open_one(**settings: Any) -> Guardrail:
        if database.kind == "memory" and guardrails:
            return guardrails[0]
        chosen = {"settings": processes.SETTINGS, **settings}
        guardrails.append(Guardrail.open(database.url, **chosen))
        return guardrails[-1]

    yield open_one
    for guardrail in guardrails:
        await guardrail.aclose()


async def at_once(*functions: Callable[[], Awaitable[Any]]) -> list[Any]:
    """Run functions at the same time; return what they return, or the errors of Haltline that they raise."""
    results: list[Any] = [None] * len(functions)

    async def keep(number: int) -> None:
        try:
            results[number] = await functions[number]()
        except (AlreadySettled, NotPermitted) as error:
            results[number] = error

    async with anyio.create_task_group() as group:
        for number in range(len(functions)):
            group.start_soon(keep, number)
    return results


async def in_processes(job: str, database: Database, count: int, arguments: Any = None) -> list[Any]:
    """Do a job of `processes` in several processes; return what each returns."""
    command = [sys.executable, str(SCRIPT), job, database.url, str(count), json.dumps(arguments or {})]

    def wait() -> str:
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return [json.loads(line) for line in (await anyio.to_thread.run_sync(wait)).splitlines()]


async def halted(guardrail: Guardrail, token: str = "s", **fields: Any) -> str:
    """Record a halt; return its id."""
    given = {"halt_type": "scope", "severity": "high", "description": "out of bounds"}
    return (await guardrail.record_halt(session_token=token, **{**given, **fields})).halt_id


async def assert_sound(guardrail: Guardrail) -> None:
    assert (await guardrail.acting_as(ADA).verify_audit()).problems == ()


async def audited(guardrail: Guardrail, action: str) -> list[str]:
    """Return the subjects of an action in the audit log."""
    entries = guardrail.acting_as(ADA).audit_entries()
    return [entry.subject async for entry in entries if entry.action == action]


async def test_of_two_people_who_acknowledge_at_once_one_wins_and_the_other_is_told(opened: Opening) -> None:
    guardrails = [opened(), opened()]
    for _ in range(5):
        halt_id = await halted(guardrails[0])
        request = {"session_token": "s", "halt_id": halt_id, "resolution": "resolved"}
        people = [guardrails[0].acting_as(ADA), guardrails[1].acting_as(BEN)]
        results = await at_once(*(partial(person.acknowledge_halt, request) for person in people))
        (won,) = [result for result in results if not isinstance(result, Exception)]
        (lost,) = [result for result in results if isinstance(result, AlreadySettled)]
        winner = (ADA, BEN)[results.index(won)]
        assert (lost.settled_by, lost.resolution) == (str(winner), Resolution.RESOLVED)
        assert (
            lost.settled_at.isoformat(timespec="microseconds").replace("+00:00", "Z") == won.acknowledged_at
        )
        halt = await guardrails[0].acting_as(ADA).find_halt(halt_id)
        assert halt.acknowledged_by == str(winner)
    assert len(await audited(guardrails[0], "halt.acknowledged")) == 5
    await assert_sound(guardrails[0])


@pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
async def test_of_processes_that_acknowledge_at_once_one_wins_and_the_others_are_told(
    database: Database, opened: Opening
) -> None:
    guardrail = opened()
    halt_id = await halted(guardrail)
    results = await in_processes("acknowledge", database, 4, {"session_token": "s", "halt_id": halt_id})
    (won,) = [result for result in results if "won" in result]
    lost = [result for result in results if "won" not in result]
    assert lost == [{"lost_to": won["won"], "at": won["at"], "resolution": "resolved"}] * 3
    assert await audited(guardrail, "halt.acknowledged") == [halt_id]
    await assert_sound(guardrail)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
async def test_two_processes_that_record_at_once_lose_and_double_nothing(
    database: Database, opened: Opening
) -> None:
    guardrail = opened()
    await guardrail.acting_as(SERVICE).health()
    told = await in_processes("record", database, 2, {"turns": 25})
    listed = await guardrail.get_session_halts(session_token="s", limit=1_000)
    assert sorted(halt.halt_id for halt in listed.halts) == sorted(told[0] + told[1])
    assert max(Counter(halt.description for halt in listed.halts).values()) == 1
    assert listed.unacknowledged_count == 50
    await assert_sound(guardrail)


async def assert_written(guardrail: Guardrail, written: list[dict[str, Any]], sessions: int) -> None:
    """Require that what the writers were told is there, once, and that every state follows from it."""
    await guardrail.acting_as(SERVICE).replay_spool()
    settled = [halt for writer in written for halt in writer["settled"]]
    assert sorted(await audited(guardrail, "halt.acknowledged")) == sorted(settled)
    human = guardrail.acting_as(ADA)
    for number in range(sessions):
        token = f"s{number}"
        told = {halt for writer in written for halt in writer["told"].get(token, [])}
        attempts = sum(writer["attempts"].get(token, 0) for writer in written)
        listed = await human.get_session_halts(session_token=token, include_acknowledged=True, limit=1_000)
        rows = [halt for halt in listed.halts if halt.severity != "low"]
        assert {halt.halt_id for halt in rows} == told
        by_hand = [halt.description for halt in rows if halt.halt_type == "scope"]
        assert max(Counter(by_hand).values()) == 1
        assert len([halt for halt in listed.halts if halt.severity == "low"]) == attempts
        assert [strikes.attempts for strikes in await human.list_strikes(token)] == [attempts]
    states, _ = await human.list_sessions(limit=1_000)
    assert {session.state for session in states} == {SessionState.HALTED}
    await assert_sound(guardrail)


async def test_sixteen_tasks_that_write_lose_and_double_nothing(database: Database, opened: Opening) -> None:
    guardrails = [opened() for _ in range(4)]
    for guardrail in guardrails:
        await guardrail.acting_as(SERVICE).health()
    arguments = {"turns": 3, "sessions": 5}

    writers = [partial(processes.write, guardrails[number % 4], number, arguments) for number in range(16)]
    written = await at_once(*writers)
    await assert_written(guardrails[0], written, 5)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
async def test_sixteen_processes_that_write_lose_and_double_nothing(
    database: Database, opened: Opening
) -> None:
    guardrail = opened()
    await guardrail.acting_as(SERVICE).health()
    written = await in_processes("write", database, 16, {"turns": 2, "sessions": 5})
    assert [writer for writer in written if "error" in writer] == []
    await assert_written(guardrail, written, 5)


async def test_verification_while_others_write_raises_no_false_alarm(
    database: Database, opened: Opening
) -> None:
    guardrails = [opened() for _ in range(3)]
    for guardrail in guardrails:
        await guardrail.acting_as(SERVICE).health()
    reports: list[Any] = []
    async with anyio.create_task_group() as writing:
        for number in range(2):
            writing.start_soon(processes.write, guardrails[number], number, {"turns": 12, "sessions": 2})
        reports.extend([await guardrails[2].acting_as(ADA).verify_audit() for _ in range(8)])
    assert [report.problems for report in reports] == [()] * 8
    await assert_sound(guardrails[0])


async def test_single_use_waiver_lets_exactly_one_of_many_checks_pass(opened: Opening) -> None:
    guardrails = [opened() for _ in range(4)]
    request = {"session_token": "s", "current_context": processes.loud("delete the old branches")}
    told = await guardrails[0].check_halt_conditions(request)
    await (
        guardrails[0]
        .acting_as(ADA)
        .acknowledge_halt(session_token="s", halt_id=str(told.halt_reasons[0].halt_id), resolution="resolved")
    )
    checks = [guardrails[number % 4].check_halt_conditions for number in range(8)]
    results: list[CheckHaltConditionsOutput] = await at_once(*(partial(check, request) for check in checks))
    passed = [result for result in results if not result.should_halt]
    assert [result.waived for result in passed] == [["uncertainty_scale"]]
    assert {result.reason_code for result in results} == {None}
    await assert_sound(guardrails[0])


async def test_guidance_is_handed_to_exactly_one_of_many_checks(opened: Opening) -> None:
    guardrails = [opened() for _ in range(4)]
    halt_id = await halted(guardrails[0])
    await (
        guardrails[0]
        .acting_as(ADA)
        .acknowledge_halt(
            session_token="s", halt_id=halt_id, resolution="resolved", resolution_notes="use the staging key"
        )
    )
    request = {"session_token": "s", "current_context": processes.QUIET}
    checks = [guardrails[number % 4].check_halt_conditions for number in range(8)]
    results: list[CheckHaltConditionsOutput] = await at_once(*(partial(check, request) for check in checks))
    assert [guidance.text for result in results for guidance in result.guidance] == ["use the staging key"]
    assert {result.should_halt for result in results} == {False}
    await assert_sound(guardrails[0])


async def test_acknowledgement_or_one_of_four_sweeps_wins_and_never_both(
    database: Database, opened: Opening
) -> None:
    guardrails = [opened(clock=database.clock) for _ in range(5)]
    outcomes = Counter[str]()
    for number in range(8):
        token = f"s{number}"
        halt_id = await halted(guardrails[0], token, severity="critical")
        database.clock.move(hours=1)
        request = {"session_token": token, "halt_id": halt_id, "resolution": "resolved"}
        settle = partial(guardrails[4].acting_as(SERVICE).acknowledge_halt, request)
        sweeps = [partial(guardrail.acting_as(SERVICE).escalate) for guardrail in guardrails[:4]]
        everybody: list[Callable[[], Awaitable[Any]]] = [*sweeps, settle]
        if number % 2:  # who is asked first changes, because in memory nothing else decides
            everybody.reverse()
        results = await at_once(*everybody)
        claimed = sum(result for result in results if isinstance(result, int))
        (answer,) = [result for result in results if not isinstance(result, int)]
        halt = await guardrails[0].acting_as(ADA).find_halt(halt_id)
        sessions, _ = await guardrails[0].acting_as(ADA).list_sessions(limit=1)
        if isinstance(answer, NotPermitted):
            outcomes["sweep"] += 1
            assert (claimed, halt.resolution, halt.acknowledged) == (1, Resolution.TIMEOUT, False)
            assert sessions[0].state is SessionState.PAUSED
        else:
            outcomes["acknowledgement"] += 1
            assert (claimed, halt.resolution, halt.acknowledged) == (0, Resolution.RESOLVED, True)
            assert sessions[0].state is SessionState.ACTIVE
    assert outcomes.total() == 8
    await assert_sound(guardrails[0])


@pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
async def test_four_sweeps_at_once_claim_each_of_two_thousand_overdue_halts_once(
    database: Database, opened: Opening, make: Maker
) -> None:
    store = await database.store()
    for _ in range(200):
        session = make.session(state=SessionState.HALTED)
        overdue = tuple(make.halt(session, escalate_at=make.at + timedelta(minutes=1)) for _ in range(10))
        audit = tuple(halt_recorded(halt, ADA) for halt in overdue)
        await make.write(store, session=session, new_halts=overdue, audit=audit)
    claimed = await in_processes("sweep", database, 4)
    assert sum(claimed) == 2_000
    guardrail = opened()
    swept = await audited(guardrail, "halt.timeout")
    assert (len(swept), len(set(swept))) == (2_000, 2_000)
    human = guardrail.acting_as(ADA)
    page = await human.list_halts(HaltQuery(limit=1_000))
    assert page.total_count == 2_000
    assert {(halt.resolution, halt.acknowledged) for halt in page.halts} == {(Resolution.TIMEOUT, False)}
    sessions, _ = await human.list_sessions(limit=1_000)
    assert {session.state for session in sessions} == {SessionState.PAUSED}
    await assert_sound(guardrail)
    assert await human.escalate() == 0
