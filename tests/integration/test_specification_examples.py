"""The usage examples of the specification, literally, on every store."""

import pytest

from haltline import Guardrail, Principal, PrincipalKind

pytestmark = pytest.mark.anyio

HUMAN = Principal(PrincipalKind.HUMAN, "maria")

EXAMPLE_1 = {
    "session_token": "sess_abc123",
    "current_context": {
        "operation": "modify authentication logic",
        "target_files": ["src/auth.js"],
        "files_read": ["src/app.js"],
        "attempt_number": 1,
    },
    "proposed_changes": {
        "files_to_modify": ["src/auth.js"],
        "has_tests": False,
        "has_rollback_plan": False,
    },
}

EXAMPLE_2 = {
    "session_token": "sess_abc123",
    "task_id": "task_fix_bug_42",
    "current_context": {
        "operation": "fix null pointer exception",
        "attempt_number": 3,
        "previous_errors": [
            "TypeError: Cannot read property 'x' of null",
            "TypeError: Cannot read property 'x' of undefined",
        ],
    },
}


async def test_example_1_code_safety_check(guardrail: Guardrail) -> None:
    result = await guardrail.check_halt_conditions(EXAMPLE_1)
    assert result.should_halt is True
    reasons = [
        (reason.halt_type, reason.condition_name, reason.severity, reason.description)
        for reason in result.halt_reasons
    ]
    assert reasons == [
        (
            "code_safety",
            "modifying_unread_code",
            "critical",
            "Attempting to modify src/auth.js which has not been read",
        ),
        ("code_safety", "no_rollback_plan", "high", "No rollback plan provided for changes"),
    ]
    assert result.highest_severity == "critical"
    assert result.context_annotations is not None
    assert result.context_annotations.files_not_read == ["src/auth.js"]


async def test_example_2_three_strikes(guardrail: Guardrail) -> None:
    result = await guardrail.check_halt_conditions(EXAMPLE_2)
    assert result.should_halt is True
    reasons = [
        (reason.halt_type, reason.condition_name, reason.severity, reason.description)
        for reason in result.halt_reasons
    ]
    assert reasons == [
        (
            "execution",
            "three_strikes",
            "high",
            "Task has failed 3 times. Context may be contaminated.",
        ),
        (
            "execution",
            "repeated_errors",
            "medium",
            "Similar errors across attempts suggest fundamental misunderstanding",
        ),
    ]
    assert result.recommended_action == "HALT and escalate to user. Recommend fresh session."


async def test_example_3_acknowledgment(guardrail: Guardrail) -> None:
    halt = await guardrail.record_halt(
        session_token="sess_abc123",
        halt_type="code_safety",
        condition_name="modifying_unread_code",
        severity="critical",
        description="Attempting to modify src/auth.js which has not been read",
    )
    result = await guardrail.acting_as(HUMAN).acknowledge_halt(
        session_token="sess_abc123",
        halt_id=halt.halt_id,
        resolution="resolved",
        resolution_notes="User confirmed they read the file in another session",
    )
    assert result.confirmed is True
    assert result.session_can_resume is True


async def test_the_same_check_passes_after_every_halt_of_it_was_resolved(guardrail: Guardrail) -> None:
    first = await guardrail.check_halt_conditions(EXAMPLE_1)
    person = guardrail.acting_as(HUMAN)
    for reason in first.halt_reasons:
        assert reason.halt_id is not None
        await person.acknowledge_halt(
            session_token="sess_abc123",
            halt_id=reason.halt_id,
            resolution="resolved",
            resolution_notes=f"about {reason.condition_name}",
        )
    second = await guardrail.check_halt_conditions(EXAMPLE_1)
    assert second.should_halt is False
    assert [guidance.text for guidance in second.guidance] == [
        "about modifying_unread_code",
        "about no_rollback_plan",
    ]
    third = await guardrail.check_halt_conditions(EXAMPLE_1)
    assert third.guidance == []
    assert third.should_halt is True, "the settlement of a critical finding holds once"


async def test_another_action_is_not_covered_by_the_answer(guardrail: Guardrail) -> None:
    first = await guardrail.check_halt_conditions(EXAMPLE_1)
    person = guardrail.acting_as(HUMAN)
    for reason in first.halt_reasons:
        await person.acknowledge_halt(
            session_token="sess_abc123", halt_id=str(reason.halt_id), resolution="resolved"
        )
    context = {**EXAMPLE_1["current_context"], "operation": "delete authentication logic"}  # type: ignore[dict-item]
    other = await guardrail.check_halt_conditions({**EXAMPLE_1, "current_context": context})
    assert other.should_halt is True
