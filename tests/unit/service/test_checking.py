"""The check over a store in memory: reads in a halted session, waivers, guidance, limits, lying agents."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from haltline import Guardrail, Principal, PrincipalKind, Settings
from haltline.conditions.catalogue import CATALOGUE
from haltline.errors import NotPermitted
from haltline.records import MAX_CONTEXT_BYTES, HaltQuery
from haltline.wire import CheckHaltConditionsOutput

pytestmark = pytest.mark.anyio

MARIA = Principal(PrincipalKind.HUMAN, "maria")
ROBOT = Principal(PrincipalKind.SERVICE, "robot")


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def agent(clock: Clock) -> AsyncIterator[Guardrail]:
    async with Guardrail.open("memory:", clock=clock) as guardrail:
        yield guardrail


async def check(agent: Guardrail, *commands: str, **context: Any) -> CheckHaltConditionsOutput:
    changes = context.pop("proposed_changes", None)
    token, task_id = context.pop("session_token", "s"), context.pop("task_id", None)
    given = {"operation": "work", **({"commands": list(commands)} if commands else {}), **context}
    return await agent.check_halt_conditions(
        {"session_token": token, "task_id": task_id, "current_context": given, "proposed_changes": changes}
    )


async def settle(agent: Guardrail, result: CheckHaltConditionsOutput, **how: Any) -> None:
    """Settle every halt of a result, as a person."""
    person = agent.acting_as(MARIA)
    for reason in result.halt_reasons:
        if reason.halt_id:
            given = {"session_token": "s", "halt_id": reason.halt_id, "resolution": "resolved", **how}
            await person.acknowledge_halt(given)


def names(result: CheckHaltConditionsOutput) -> list[str]:
    return [reason.condition_name for reason in result.halt_reasons]


async def halt(agent: Guardrail) -> None:
    await agent.record_halt(session_token="s", halt_type="scope", description="Stop", severity="high")


@pytest.mark.parametrize(
    ("commands", "context"),
    [
        pytest.param(("ls",), {}, id="a read"),
        pytest.param(("ls", "cat a.py | grep x"), {}, id="several reads"),
        pytest.param(
            ("cat a.py && grep -r x src",), {"operation": "delete everything"}, id="whatever it is called"
        ),
    ],
)
async def test_a_provable_read_passes_in_a_halted_session(
    agent: Guardrail, commands: tuple[str, ...], context: dict[str, Any]
) -> None:
    await halt(agent)
    result = await check(agent, *commands, **context)
    assert (result.should_halt, result.session_state) == (False, "halted")


@pytest.mark.parametrize(
    ("commands", "context"),
    [
        pytest.param((), {"operation": "just read a file"}, id="the agent's word"),
        pytest.param(("",), {}, id="a blank command"),
        pytest.param(("ls", "  "), {}, id="a blank one among reads"),
        pytest.param(("# nothing",), {}, id="a comment"),
        pytest.param(("touch a",), {}, id="a write"),
        pytest.param(("ls", "touch a"), {}, id="a write among reads"),
        pytest.param(("ls > a",), {}, id="a read into a file"),
        pytest.param(("mystery",), {}, id="nobody knows"),
        pytest.param(("ls $(",), {}, id="nobody can read it"),
        pytest.param(("ls",), {"target_files": ["a"], "files_read": ["a"]}, id="files to modify"),
        pytest.param(("ls",), {"tool_arguments": {"path": "a"}}, id="a tool beside it"),
        pytest.param(("ls",), {"outputs": ["text to send"]}, id="text to send"),
        pytest.param(
            ("ls",),
            {"proposed_changes": {"files_to_modify": [], "has_tests": True, "has_rollback_plan": True}},
            id="changes beside it",
        ),
    ],
)
async def test_nothing_else_passes_in_a_halted_session(
    agent: Guardrail, commands: tuple[str, ...], context: dict[str, Any]
) -> None:
    await halt(agent)
    assert (await check(agent, *commands, **context)).should_halt


async def test_reads_may_be_stopped_as_well(clock: Clock) -> None:
    settings = Settings(allow_reads_while_halted=False)
    async with Guardrail.open("memory:", clock=clock, settings=settings) as agent:
        await halt(agent)
        assert (await check(agent, "ls")).should_halt


UNREAD = {"target_files": ["a.py"]}
NO_PLAN = {"proposed_changes": {"files_to_modify": [], "has_tests": True, "has_rollback_plan": False}}


async def test_a_settled_high_finding_lets_exactly_that_action_pass_again_and_again(agent: Guardrail) -> None:
    await settle(agent, await check(agent, **NO_PLAN))
    for _ in range(3):
        result = await check(agent, **NO_PLAN)
        assert (result.should_halt, result.waived) == (False, ["no_rollback_plan"])
    assert (await check(agent, operation="another", **NO_PLAN)).should_halt


async def test_a_settled_critical_finding_lets_the_action_pass_once(agent: Guardrail) -> None:
    await settle(agent, await check(agent, **UNREAD))
    assert not (await check(agent, **UNREAD)).should_halt
    assert names(await check(agent, **UNREAD)) == ["modifying_unread_code"]


@pytest.mark.parametrize(("minutes", "passes"), [(59.9, True), (60, False)])
async def test_a_settled_critical_finding_lets_the_action_pass_for_an_hour(
    agent: Guardrail, clock: Clock, minutes: float, passes: bool
) -> None:
    await settle(agent, await check(agent, **UNREAD))
    clock.move(minutes=minutes)
    assert (await check(agent, **UNREAD)).should_halt is not passes


async def test_what_is_settled_in_one_session_holds_in_no_other(agent: Guardrail) -> None:
    await settle(agent, await check(agent, **NO_PLAN))
    assert (await check(agent, session_token="other", **NO_PLAN)).should_halt


async def test_a_waiver_is_not_used_up_by_a_check_that_halts_anyway(agent: Guardrail) -> None:
    await settle(agent, await check(agent, **UNREAD))
    first = await check(agent, **UNREAD, uncertainty_score=9)
    assert (first.should_halt, first.waived) == (True, ["modifying_unread_code"])
    await settle(agent, first)
    assert not (await check(agent, **UNREAD)).should_halt


async def test_a_failed_condition_halts_again_although_somebody_settled_its_failure(
    agent: Guardrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raising(*_: object) -> None:
        raise ValueError("broken")

    monkeypatch.setitem(CATALOGUE, "no_progress", replace(CATALOGUE["no_progress"], check=raising))
    for _ in range(2):
        result = await check(agent)
        assert (names(result), result.reason_code, result.waived) == (["no_progress"], "check_failed", [])
        await settle(agent, result)


async def test_escalating_waives_nothing(agent: Guardrail) -> None:
    first = await check(agent, **NO_PLAN)
    await settle(agent, first, resolution="escalated")
    assert (await check(agent, **NO_PLAN)).should_halt


async def test_the_same_halt_is_not_recorded_twice(agent: Guardrail) -> None:
    first = await check(agent, **NO_PLAN)
    second = await check(agent, **NO_PLAN)
    assert [reason.halt_id for reason in second.halt_reasons] == [
        reason.halt_id for reason in first.halt_reasons
    ]
    assert (await agent.get_session_halts(session_token="s")).total_count == 1


async def test_guidance_is_handed_over_once(agent: Guardrail) -> None:
    await settle(agent, await check(agent, **NO_PLAN), resolution_notes="Revert with git")
    first, second = await check(agent), await check(agent)
    assert [(item.text, item.by, item.resolution) for item in first.guidance] == [
        ("Revert with git", "human:maria", "resolved")
    ]
    assert second.guidance == []


async def test_guidance_reaches_an_agent_that_is_still_halted(agent: Guardrail) -> None:
    first = await check(agent, **NO_PLAN)
    await halt(agent)
    await settle(agent, first, resolution_notes="Wait for the other")
    result = await check(agent)
    assert result.should_halt
    assert [item.text for item in result.guidance] == ["Wait for the other"]


async def failed(agent: Guardrail, times: int, **fields: Any) -> None:
    for _ in range(times):
        await agent.record_attempt(session_token="s", task_id="t", **fields)


async def test_an_agent_that_says_it_is_its_first_attempt_is_not_believed(agent: Guardrail) -> None:
    await failed(agent, 2, attempt_number=1)
    result = await check(agent, task_id="t", attempt_number=1)
    assert result.recommended_action == "try_alternative"
    await failed(agent, 1, attempt_number=0)
    assert "three_strikes" in names(await check(agent, task_id="t", attempt_number=0))


async def test_a_declared_count_is_waived_once_and_a_recorded_one_never(agent: Guardrail) -> None:
    await settle(agent, await check(agent, task_id="t", attempt_number=3))
    assert not (await check(agent, task_id="t", attempt_number=3)).should_halt
    assert (await check(agent, task_id="t", attempt_number=3)).should_halt


async def test_declared_errors_hide_no_recorded_ones(agent: Guardrail) -> None:
    await failed(agent, 2, error="TypeError: cannot read property 'x' of null")
    junk = [f"{word * 9}: {word * 7}" for word in "abcdefghijklmnop"]
    result = await check(agent, task_id="t", previous_errors=junk)
    assert "repeated_errors" in names(result)


@pytest.mark.parametrize(
    ("attempt", "errors", "action"),
    [
        (None, None, "Proceed."),
        (1, None, "Proceed."),
        (1, ["TypeError: x is null"], "retry"),
        (2, ["TypeError: x is null"], "try_alternative"),
    ],
)
async def test_a_first_attempt_is_a_failure_only_when_an_error_says_so(
    agent: Guardrail, attempt: int | None, errors: list[str] | None, action: str
) -> None:
    result = await check(agent, attempt_number=attempt, previous_errors=errors)
    assert result.recommended_action == action


async def test_a_ledger_of_reads_outweighs_what_the_agent_declares(agent: Guardrail) -> None:
    await agent.acting_as(ROBOT).record_reads("s", {"b.py": None})
    result = await check(agent, target_files=["a.py"], files_read=["a.py"])
    assert names(result) == ["modifying_unread_code"]
    assert not (await check(agent, session_token="t", target_files=["a.py"], files_read=["a.py"])).should_halt


def commands_of(size: int, character: str) -> tuple[str, str]:
    """Return two commands that make an action of exactly so many bytes as JSON."""
    action = {"operation": "work", "target_files": None, "environment": None, "tool_arguments": None}
    left = size - len(json.dumps({**action, "commands": ["echo ", "echo "]}, separators=(",", ":")))
    count = left // 2 // len(character.encode())
    return "echo " + character * count, "echo " + "x" * (left - count * len(character.encode()))


@pytest.mark.parametrize("character", ["x", "é", "🛑"])
async def test_an_action_that_cannot_be_shown_whole_is_refused(agent: Guardrail, character: str) -> None:
    fits = await check(agent, *commands_of(MAX_CONTEXT_BYTES, character))
    over = await check(agent, *commands_of(MAX_CONTEXT_BYTES + 1, character))
    assert fits.reason_code is None
    assert (over.should_halt, over.reason_code) == (True, "bad_request")
    assert over.halt_reasons[0].description.endswith("the action has 65537 bytes as JSON, at most 65536")


async def test_files_to_modify_count_towards_the_size_of_an_action(agent: Guardrail) -> None:
    changes = {
        "files_to_modify": [f"{number}{'p' * 100}" for number in range(1000)],
        "has_tests": True,
        "has_rollback_plan": True,
    }
    assert (await check(agent, proposed_changes=changes)).reason_code == "bad_request"


@pytest.mark.parametrize("granted", [frozenset(), frozenset({"medium", "high"})])
async def test_an_agent_settles_only_what_it_was_granted(clock: Clock, granted: frozenset[Any]) -> None:
    async with Guardrail.open("memory:", clock=clock, settings=Settings(agents_may_settle=granted)) as agent:
        first = await check(agent, **NO_PLAN)
        settle_it = {"session_token": "s", "halt_id": first.halt_reasons[0].halt_id, "resolution": "resolved"}
        if not granted:
            with pytest.raises(NotPermitted):
                await agent.acknowledge_halt(settle_it)
            return
        assert (await agent.acknowledge_halt(settle_it)).session_can_resume


async def test_an_agent_that_may_settle_resets_no_strikes_by_a_halt_of_its_own(clock: Clock) -> None:
    settings = Settings(agents_may_settle=frozenset({"medium"}))  # type: ignore[arg-type]  # as a file gives it
    async with Guardrail.open("memory:", clock=clock, settings=settings) as agent:
        await failed(agent, 2)
        own = await agent.record_halt(
            session_token="s",
            task_id="t",
            halt_type="execution",
            condition_name="three_strikes",
            severity="medium",
            description="One more try",
        )
        await agent.acknowledge_halt(session_token="s", halt_id=own.halt_id, resolution="resolved")
        third = await agent.record_attempt(session_token="s", task_id="t")
        assert (third.attempt_count, third.should_halt) == (3, True)


AS_AGENT = {
    "reset strikes": lambda agent: agent.reset_attempts("s", "t"),
    "configure": lambda agent: agent.update_halt_config(condition_name="three_strikes", enabled=False),
    "enter reads": lambda agent: agent.record_reads("s", {"a": None}),
    "read any halt": lambda agent: agent.find_halt("h"),
    "list halts of all": lambda agent: agent.list_halts(HaltQuery()),
    "list sessions": lambda agent: agent.list_sessions(),
    "sweep": lambda agent: agent.escalate(),
    "archive": lambda agent: agent.archive(),
    "verify the audit log": lambda agent: agent.verify_audit(),
    "make keys": lambda agent: agent.create_key(PrincipalKind.HUMAN, "me"),
    "revoke keys": lambda agent: agent.revoke_key("k"),
    "list keys": lambda agent: agent.list_keys(),
}


@pytest.mark.parametrize("operation", AS_AGENT.values(), ids=AS_AGENT)
async def test_an_agent_may_not(agent: Guardrail, operation: Any) -> None:
    with pytest.raises(NotPermitted):
        await operation(agent)
