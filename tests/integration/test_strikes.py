"""The three strikes of the specification: retry, try_alternative, halt; across restarts, and against lies."""

import pathlib

import pytest

from haltline import Guardrail, Principal, PrincipalKind

pytestmark = pytest.mark.anyio

HUMAN = Principal(PrincipalKind.HUMAN, "maria")
ERROR = "TypeError: Cannot read property 'x' of null"
TASK = {"session_token": "s", "task_id": "task_fix_bug_42"}


async def test_attempts_answer_retry_then_try_alternative_then_halt(guardrail: Guardrail) -> None:
    first = await guardrail.record_attempt(**TASK, error=ERROR)
    assert (first.attempt_count, first.should_halt, first.recommended_action) == (1, False, "retry")
    second = await guardrail.record_attempt(**TASK, error=ERROR)
    assert (second.attempt_count, second.should_halt, second.recommended_action) == (
        2,
        False,
        "try_alternative",
    )
    third = await guardrail.record_attempt(**TASK, error=ERROR)
    assert (third.attempt_count, third.should_halt, third.severity) == (3, True, "high")
    halts = await guardrail.get_session_halts(session_token="s", severity="high")
    assert [(h.halt_id, h.halt_type, h.condition_name) for h in halts.halts] == [
        (third.halt_id, "execution", "three_strikes")
    ]


async def test_attempts_are_rows_with_their_count_and_error(guardrail: Guardrail) -> None:
    for _ in range(2):
        await guardrail.record_attempt(**TASK, error=ERROR)
    rows = await guardrail.get_session_halts(session_token="s", include_acknowledged=True, severity="low")
    assert [(row.attempt_count, row.previous_error) for row in rows.halts] == [(2, ERROR), (1, ERROR)]
    assert rows.unacknowledged_count == 0


async def test_a_check_after_a_failure_says_retry_and_after_two_try_alternative(guardrail: Guardrail) -> None:
    context = {"operation": "fix null pointer exception"}
    await guardrail.record_attempt(**TASK, error="ENOENT: no such file or directory, open 'a.json'")
    assert (
        await guardrail.check_halt_conditions(**TASK, current_context=context)
    ).recommended_action == "retry"
    await guardrail.record_attempt(**TASK, error="TypeError: x is not a function")
    result = await guardrail.check_halt_conditions(**TASK, current_context=context)
    assert (result.should_halt, result.recommended_action) == (False, "try_alternative")


async def test_the_recorded_count_wins_over_an_agent_that_says_less(guardrail: Guardrail) -> None:
    for _ in range(2):
        await guardrail.record_attempt(**TASK, error=ERROR, attempt_number=1)
    third = await guardrail.record_attempt(**TASK, error=ERROR, attempt_number=1)
    assert third.should_halt is True
    result = await guardrail.check_halt_conditions(
        **TASK, current_context={"operation": "fix it", "attempt_number": 1}
    )
    assert result.should_halt is True


async def test_an_agent_that_says_more_is_believed(guardrail: Guardrail) -> None:
    result = await guardrail.record_attempt(**TASK, error=ERROR, attempt_number=3)
    assert (result.attempt_count, result.should_halt) == (3, True)


async def test_another_task_has_its_own_count(guardrail: Guardrail) -> None:
    for _ in range(2):
        await guardrail.record_attempt(**TASK, error=ERROR)
    other = await guardrail.record_attempt(session_token="s", task_id="another", error=ERROR)
    assert other.recommended_action == "retry"


async def test_settling_the_halt_starts_the_count_again(guardrail: Guardrail) -> None:
    halt_id = ""
    for _ in range(3):
        halt_id = (await guardrail.record_attempt(**TASK, error=ERROR)).halt_id or ""
    await guardrail.acting_as(HUMAN).acknowledge_halt(
        session_token="s", halt_id=halt_id, resolution="resolved"
    )
    assert (await guardrail.record_attempt(**TASK, error=ERROR)).recommended_action == "retry"
    await guardrail.record_attempt(**TASK, error=ERROR)
    assert (await guardrail.record_attempt(**TASK, error=ERROR)).should_halt is True


async def test_a_fourth_failure_does_not_open_a_second_halt(guardrail: Guardrail) -> None:
    results = [await guardrail.record_attempt(**TASK, error=ERROR) for _ in range(4)]
    assert results[3].should_halt is True
    assert results[3].halt_id == results[2].halt_id
    assert (await guardrail.get_session_halts(session_token="s")).unacknowledged_count == 1


async def test_the_settled_check_passes_when_the_agent_repeats_it(guardrail: Guardrail) -> None:
    request = {**TASK, "current_context": {"operation": "fix", "attempt_number": 3}}
    halted = await guardrail.check_halt_conditions(request)
    await guardrail.acting_as(HUMAN).acknowledge_halt(
        session_token="s", halt_id=str(halted.halt_reasons[0].halt_id), resolution="resolved"
    )
    assert (await guardrail.check_halt_conditions(request)).should_halt is False


async def test_only_people_and_services_reset(guardrail: Guardrail) -> None:
    from haltline.errors import NotPermitted

    await guardrail.record_attempt(**TASK, error=ERROR)
    with pytest.raises(NotPermitted, match="may not reset strikes"):
        await guardrail.reset_attempts("s", "task_fix_bug_42")
    await guardrail.acting_as(HUMAN).reset_attempts("s", "task_fix_bug_42")
    assert (await guardrail.record_attempt(**TASK, error=ERROR)).attempt_count == 1


async def test_the_count_outlives_the_process(tmp_path: pathlib.Path) -> None:
    url = f"sqlite:///{tmp_path / 'haltline.db'}"
    for expected in ("retry", "try_alternative"):
        async with Guardrail.open(url) as guardrail:
            result = await guardrail.record_attempt(**TASK, error=ERROR, attempt_number=1)
            assert result.recommended_action == expected
    async with Guardrail.open(url) as guardrail:
        assert (await guardrail.record_attempt(**TASK, error=ERROR, attempt_number=1)).should_halt is True


async def test_a_failure_in_a_halted_session_counts_and_is_not_retried(guardrail: Guardrail) -> None:
    halt = await guardrail.record_halt(
        session_token="s", halt_type="security", description="Found a key", severity="critical"
    )
    result = await guardrail.record_attempt(**TASK, error=ERROR)
    assert (result.attempt_count, result.should_halt, result.severity) == (1, True, "critical")
    assert result.halt_id == halt.halt_id
    assert result.recommended_action.startswith("HALT.")


async def test_notes_by_hand_hide_no_recorded_error(guardrail: Guardrail) -> None:
    """An agent cannot push its failures out of the latest ten with low halts of its own."""
    for missing in ("null", "undefined"):
        await guardrail.record_attempt(**TASK, error=f"TypeError: Cannot read property 'x' of {missing}")
    for number in range(10):
        await guardrail.record_halt(
            **TASK,
            halt_type="execution",
            condition_name="three_strikes",
            description="a note",
            severity="low",
            attempt_count=0,
            previous_error="ECONNREFUSED" if number else "ENOENT: no such file or directory, open 'a.json'",
        )
    result = await guardrail.check_halt_conditions(**TASK, current_context={"operation": "fix it"})
    assert [reason.condition_name for reason in result.halt_reasons] == ["repeated_errors"]
    assert result.context_annotations is not None
    assert result.context_annotations.similar_previous_errors == [
        "TypeError: Cannot read property 'x' of null",
        "TypeError: Cannot read property 'x' of undefined",
    ]
