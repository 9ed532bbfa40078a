"""Strikes: counted per task, only ever raised by the agent, and reset by people alone."""

from __future__ import annotations

import pytest
from tests.unit.lifecycle.world import MARIA, ROBOT, ROOT, World

from haltline.domain import HaltType, Principal, Resolution, SessionState, Severity
from haltline.errors import NotFound


def counts(world: World, *declared: int | None, limit: int = 1000) -> list[int | None]:
    """Record failed attempts, each with what the agent says of its number, and return the counts."""
    strikes = [world.strike(declared=number, limit=limit).strikes for number in declared]
    return [strike.attempts if strike else None for strike in strikes]


@pytest.mark.parametrize(
    ("declared", "counted"),
    [
        pytest.param((None, None, None), [1, 2, 3], id="nothing declared"),
        pytest.param((1, 2, 3), [1, 2, 3], id="declared as it is"),
        pytest.param((1, 1, 1), [1, 2, 3], id="an agent that always says it is the first attempt"),
        pytest.param((0, 0, 0), [1, 2, 3], id="an agent that says it never tried"),
        pytest.param((5, None), [5, 6], id="an agent that says more is believed"),
        pytest.param((5, 1), [5, 6], id="and cannot take it back"),
        pytest.param((1, 7, 2), [1, 7, 8], id="raised in the middle"),
    ],
)
def test_the_count_is_the_greater_of_what_is_declared_and_what_was_seen(
    world: World, declared: tuple[int | None, ...], counted: list[int]
) -> None:
    assert counts(world, *declared) == counted


def test_a_failed_attempt_is_a_low_execution_row_with_its_count_and_error(world: World) -> None:
    world.strike(error="first")
    world.strike(error="second")
    rows = [
        (row.halt_type, row.severity, row.task_id, row.attempt_count, row.previous_error)
        for row in world.halts.values()
    ]
    assert rows == [
        (HaltType.EXECUTION, Severity.LOW, "task", 1, "first"),
        (HaltType.EXECUTION, Severity.LOW, "task", 2, "second"),
    ]


def test_failures_below_the_limit_do_not_halt(world: World) -> None:
    world.strike()
    world.strike()
    assert world.state is SessionState.ACTIVE
    assert world.open_halts == ()


def test_the_third_failure_halts(world: World) -> None:
    changes = [world.strike() for _ in range(3)][-1]
    (halt,) = world.open_halts
    assert (halt.condition_name, halt.task_id, halt.attempt_count) == ("three_strikes", "task", 3)
    assert [row.severity for row in changes.new_halts] == [Severity.LOW, Severity.HIGH]
    assert world.state is SessionState.HALTED


def test_an_agent_that_declares_the_limit_is_halted_at_once(world: World) -> None:
    world.strike(declared=3)
    assert world.state is SessionState.HALTED


def test_failures_after_the_halt_count_on_and_halt_once(world: World) -> None:
    for _ in range(5):
        world.strike()
    assert len(world.open_halts) == 1
    assert world.strikes["task"].attempts == 5


def test_each_task_has_its_own_count(world: World) -> None:
    for task_id in ("one", "two", None, "one"):
        world.strike(task_id=task_id)
    attempts = {task_id: strikes.attempts for task_id, strikes in world.strikes.items()}
    assert attempts == {"one": 2, "two": 1, "": 1}


def test_each_task_has_its_own_halt(world: World) -> None:
    for task_id in ("one", "two", None):
        for _ in range(3):
            world.strike(task_id=task_id)
    assert [halt.task_id for halt in world.open_halts] == ["one", "two", None]


def test_every_failure_is_in_the_audit_log(world: World) -> None:
    world.strike()
    world.strike(declared=9, limit=10)
    events = [(event.actor, event.payload["attempt_count"]) for event in world.events("halt.recorded")]
    assert events == [("agent:bot", 1), ("agent:bot", 9)]


def test_a_strike_has_the_databases_time(world: World) -> None:
    world.strike()
    world.wait(minutes=2)
    world.strike()
    assert world.strikes["task"].updated_at == world.now
    assert world.strikes["task"].session_id == "session-1"


def test_a_strike_opens_a_session_at_first_sight(world: World) -> None:
    fresh, world.session = world.session, None
    world.strike(open_as=fresh)
    assert world.state is SessionState.ACTIVE
    assert world.strikes["task"].attempts == 1


def test_a_strike_in_a_session_that_does_not_exist_is_refused(world: World) -> None:
    world.session = None
    with pytest.raises(NotFound):
        world.strike()
    with pytest.raises(NotFound):
        world.reset()
    assert world.strikes == {}


@pytest.mark.parametrize("actor", [MARIA, ROOT, ROBOT], ids=str)
def test_a_reset_starts_the_count_again_and_says_who_and_when(world: World, actor: Principal) -> None:
    world.strike()
    world.strike()
    world.wait(minutes=1)
    world.reset(actor=actor)
    strikes = world.strikes["task"]
    assert (strikes.attempts, strikes.reset_at, strikes.reset_by) == (0, world.now, str(actor))
    (event,) = world.events("strikes.reset")
    assert (event.actor, event.subject, event.payload) == (str(actor), "task", {"attempts": 2})


def test_a_reset_keeps_other_tasks(world: World) -> None:
    world.strike(task_id="one")
    world.strike(task_id=None)
    world.reset("one")
    assert {task: strikes.attempts for task, strikes in world.strikes.items()} == {"one": 0, "": 1}


def test_a_reset_leaves_an_open_halt_open(world: World) -> None:
    for _ in range(3):
        world.strike()
    world.reset()
    assert world.state is SessionState.HALTED
    assert len(world.open_halts) == 1


def test_the_first_failure_after_a_reset_is_the_first(world: World) -> None:
    world.strike()
    world.reset()
    assert counts(world, None, None) == [1, 2]
    assert world.strikes["task"].reset_by == "human:maria"


def test_a_reset_of_a_task_that_never_failed_is_harmless(world: World) -> None:
    world.reset("new")
    assert world.strikes["new"].attempts == 0


def test_after_a_settled_halt_three_more_failures_halt_again(world: World) -> None:
    for _ in range(3):
        world.strike()
    world.settle(world.open_halts[0])
    for _ in range(2):
        world.strike()
        assert world.state is SessionState.ACTIVE
    world.strike()
    assert world.state is SessionState.HALTED


def test_an_escalated_three_strikes_halt_is_reset_when_a_human_settles_it(world: World) -> None:
    for _ in range(3):
        world.strike()
    halt = world.settle(world.open_halts[0], Resolution.ESCALATED, ROBOT)
    world.settle(halt, Resolution.RESOLVED, MARIA)
    assert world.strikes["task"].attempts == 0
