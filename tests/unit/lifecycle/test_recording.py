"""Recording halts: what is kept, what is the same halt again, what is owed to people and written down."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.lifecycle.world import AGENT, BEN, MARIA, World, new_halt, new_id

from haltline import lifecycle
from haltline.conditions.condition import ConditionConfig
from haltline.domain import Finding, HaltType, ReasonCode, Resolution, SessionState, Severity, utc_text
from haltline.lifecycle import NewHalt, failed_check_halt, halt_from_finding
from haltline.records import MessageKind

LOW, MEDIUM, HIGH, CRITICAL = Severity


def execution(**fields: Any) -> NewHalt:
    given = {"halt_type": HaltType.EXECUTION, "condition_name": "repeated_errors", "task_id": "task"}
    return new_halt(**{**given, **fields})


def test_a_halt_is_kept_as_it_was_given_at_the_databases_time(world: World) -> None:
    world.wait(seconds=7)
    given = new_halt(
        task_id="task",
        attempt_count=2,
        previous_error="boom",
        single_use=True,
        auto_escalate=True,
        escalate_after_minutes=30,
    )
    (halt,) = world.record(given)
    for name in NewHalt.__slots__:
        assert getattr(halt, name) == getattr(given, name)
    assert halt.session_id == "session-1"
    assert halt.triggered_at == halt.created_at == halt.updated_at == world.now
    assert (halt.acknowledged, halt.acknowledged_at, halt.acknowledged_by, halt.resolution) == (
        False,
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("severity", "minutes", "after"),
    [
        (CRITICAL, 30, timedelta(minutes=30)),
        (HIGH, 240, timedelta(minutes=240)),
        (MEDIUM, 1, timedelta(minutes=1)),
        (HIGH, None, None),
        (LOW, 30, None),
    ],
)
def test_a_halt_carries_when_it_escalates(
    world: World, severity: Severity, minutes: int | None, after: timedelta | None
) -> None:
    world.wait(seconds=3)
    halt = world.halt(severity=severity, escalate_after_minutes=minutes)
    assert halt.escalate_at == (None if after is None else world.now + after)


@pytest.mark.parametrize(
    ("change", "recorded"),
    [
        pytest.param({}, 0, id="the same condition and evidence"),
        pytest.param({"action_digest": "b" * 64}, 0, id="another action, the same evidence"),
        pytest.param({"description": "Other words"}, 0, id="other words"),
        pytest.param({"task_id": "other"}, 0, id="another task, the same evidence"),
        pytest.param({"evidence_digest": "f" * 64}, 1, id="other evidence"),
        pytest.param({"condition_name": "data_exposure"}, 1, id="another condition"),
        pytest.param({"severity": CRITICAL}, 1, id="another severity"),
        pytest.param({"auto_recorded": False}, 1, id="recorded by hand"),
    ],
)
def test_an_open_halt_is_not_recorded_again(world: World, change: dict[str, Any], recorded: int) -> None:
    world.halt()
    assert len(world.record(new_halt(**change))) == recorded


@pytest.mark.parametrize(
    ("change", "recorded"),
    [
        pytest.param({"evidence_digest": "f" * 64}, 0, id="other evidence of the same task"),
        pytest.param({"task_id": "other"}, 1, id="another task"),
        pytest.param({"task_id": None}, 1, id="no task"),
        pytest.param({"condition_name": "cascading_failures"}, 1, id="another condition"),
        pytest.param({"severity": CRITICAL}, 1, id="another severity"),
        pytest.param({"condition_name": None}, 1, id="no condition"),
    ],
)
def test_an_execution_halt_is_open_once_for_a_task(
    world: World, change: dict[str, Any], recorded: int
) -> None:
    world.record(execution())
    assert len(world.record(execution(**change))) == recorded


def test_a_halt_recorded_by_hand_does_not_hide_one_that_a_check_finds(world: World) -> None:
    by_hand = execution(condition_name="three_strikes", auto_recorded=False, description="Just a test")
    world.record(by_hand)
    found = execution(condition_name="three_strikes", description="Task has failed 3 times.")
    (recorded,) = world.record(found)
    assert recorded.description == "Task has failed 3 times."


def test_two_different_halts_recorded_by_hand_are_both_kept(world: World) -> None:
    assert len(world.record(new_halt(auto_recorded=False), new_halt(auto_recorded=False))) == 2


@pytest.mark.parametrize("resolution", [Resolution.RESOLVED, Resolution.DISMISSED])
def test_a_settled_halt_may_be_raised_again(world: World, resolution: Resolution) -> None:
    world.settle(world.halt(), resolution)
    assert len(world.record(new_halt())) == 1


def test_an_escalated_or_timed_out_halt_is_still_open_and_not_raised_again(world: World) -> None:
    world.settle(world.halt(evidence_digest="1"), Resolution.ESCALATED)
    world.timed_out(evidence_digest="2")
    assert world.record(new_halt(evidence_digest="1"), new_halt(evidence_digest="2")) == ()


def test_a_replayed_halt_is_recognised_by_its_id_even_when_it_is_settled(world: World) -> None:
    spooled = new_halt(auto_recorded=False)
    (first,) = world.record(spooled)
    transition = lifecycle.record_halts((spooled,), AGENT, new_id=new_id)
    assert world.run(transition, halt_id=spooled.id).new_halts == ()
    settled = world.settle(first)
    assert world.run(transition, halt_id=spooled.id).new_halts == ()
    assert world.halts == {first.id: settled}
    assert world.state is SessionState.ACTIVE


@pytest.mark.parametrize(
    ("fields", "owed"),
    [
        ({"severity": CRITICAL}, True),
        ({"severity": HIGH}, False),
        ({"severity": HIGH, "auto_escalate": True}, True),
        ({"severity": MEDIUM, "auto_escalate": True}, True),
        ({"severity": MEDIUM}, False),
    ],
)
def test_people_are_owed_a_message_at_once(world: World, fields: dict[str, Any], owed: bool) -> None:
    halt = world.halt(**fields)
    messages = [(m.kind, m.dedup_key, m.halt_id, m.payload["why"]) for m in world.messages.values()]
    expected = [(MessageKind.NOTIFICATION, f"recorded:{halt.id}", halt.id, "recorded")]
    assert messages == (expected if owed else [])


def test_a_recorded_halt_is_in_the_audit_log_with_every_column_that_never_changes(world: World) -> None:
    halt = world.halt(task_id="task", escalate_after_minutes=30, attempt_count=2, previous_error="boom")
    (event,) = world.events("halt.recorded")
    assert (event.actor, event.subject, event.session_id) == ("agent:bot", halt.id, "session-1")
    assert event.payload == {
        "task_id": "task",
        "halt_type": "security",
        "severity": "high",
        "condition_name": "secrets_exposure",
        "description": "Something is wrong",
        "context": {"operation": "deploy"},
        "triggered_at": utc_text(halt.triggered_at),
        "attempt_count": 2,
        "previous_error": "boom",
        "action_digest": "a" * 64,
        "evidence_digest": "e" * 64,
        "auto_recorded": True,
        "auto_escalate": False,
        "escalate_at": utc_text(halt.triggered_at + timedelta(minutes=30)),
    }


def test_a_waiver_that_is_used_up_is_in_the_audit_log(world: World) -> None:
    world.settle(world.halt(single_use=True))
    (waiver,) = world.waivers.values()
    world.record(used_waivers=(waiver.id,))
    assert world.waivers[waiver.id].used_at == world.now
    (event,) = world.events("waiver.used")
    assert (event.actor, event.subject, event.session_id) == ("agent:bot", waiver.id, "session-1")


def test_guidance_is_handed_over_once_and_that_is_in_the_audit_log(world: World) -> None:
    halt = world.settle(world.halt(), notes="Use the staging key")
    (message,) = world.view().guidance
    changes = world.run(
        lifecycle.record_halts((), AGENT, new_id=new_id, hand_over=frozenset({message.id, "unknown"}))
    )
    assert changes.delivered_messages == (message.id,)
    assert world.view().guidance == ()
    (event,) = world.events("guidance.delivered")
    assert (event.actor, event.subject, event.payload) == ("agent:bot", message.id, {"halt_id": halt.id})


def test_guidance_that_nobody_hands_over_stays_owed(world: World) -> None:
    world.settle(world.halt(), notes="Use the staging key")
    changes = world.run(lifecycle.record_halts((), AGENT, new_id=new_id))
    assert changes.delivered_messages == ()
    assert len(world.view().guidance) == 1


def a_finding(**fields: Any) -> Finding:
    given: dict[str, Any] = {
        "condition_name": "destructive_command",
        "halt_type": HaltType.SECURITY,
        "severity": HIGH,
        "description": "Deletes everything",
        "evidence": {"rules": ["rm-root"]},
    }
    return Finding(**{**given, **fields})


def from_finding(found: Finding, config: ConditionConfig | None = None, **fields: Any) -> NewHalt:
    given: dict[str, Any] = {
        "task_id": "task",
        "action": {"operation": "clean up", "commands": ["rm -rf /"]},
        "action_digest": "a" * 64,
        "attempts": 0,
    }
    return halt_from_finding("halt-1", found, config, **{**given, **fields})


def a_config(**fields: Any) -> ConditionConfig:
    given: dict[str, Any] = {
        "condition_name": "destructive_command",
        "halt_type": HaltType.SECURITY,
        "severity": HIGH,
        "threshold": {},
    }
    return ConditionConfig(**{**given, **fields})


def test_the_halt_of_a_finding_shows_the_action_whole_with_the_evidence() -> None:
    found = a_finding()
    halt = from_finding(found)
    assert halt.context == {
        "operation": "clean up",
        "commands": ["rm -rf /"],
        "evidence": {"rules": ["rm-root"]},
    }
    assert (halt.id, halt.condition_name, halt.halt_type, halt.severity) == (
        "halt-1",
        "destructive_command",
        "security",
        "high",
    )
    assert (halt.task_id, halt.action_digest, halt.evidence_digest) == (
        "task",
        "a" * 64,
        found.evidence_digest,
    )
    assert halt.auto_recorded


@pytest.mark.parametrize(("attempts", "kept"), [(0, None), (2, 2)])
def test_the_halt_of_a_finding_keeps_the_count_of_failures_if_there_are_any(
    attempts: int, kept: int | None
) -> None:
    assert from_finding(a_finding(), attempts=attempts).attempt_count == kept


def test_the_halt_of_a_failed_condition_says_why_it_failed() -> None:
    halt = from_finding(a_finding(reason_code=ReasonCode.CHECK_FAILED))
    assert halt.context is not None
    assert halt.context["reason_code"] == "check_failed"


def test_a_secret_is_redacted_in_the_halt_of_a_finding() -> None:
    secret = "ghp" + "_" + "A" * 26 + "b1C2d3" + "0000"
    redacted = f"token={secret}x"
    halt = from_finding(
        a_finding(description=f"password={secret!r} leaks", evidence={"text": redacted}),
        action={"operation": "push", "commands": [f"export PASSWORD='{secret}'"]},
    )
    assert secret not in str(halt)


@pytest.mark.parametrize(
    ("name", "severity", "single_use"),
    [
        ("destructive_command", CRITICAL, True),
        ("destructive_command", HIGH, False),
        ("repeated_errors", MEDIUM, False),
        ("three_strikes", HIGH, True),
        ("three_strikes", MEDIUM, True),
    ],
)
def test_the_settlement_of_a_critical_finding_or_of_strikes_holds_once(
    name: str, severity: Severity, single_use: bool
) -> None:
    assert from_finding(a_finding(condition_name=name, severity=severity)).single_use is single_use


def test_a_halt_carries_the_escalation_policy_of_its_row() -> None:
    halt = from_finding(a_finding(), a_config(auto_escalate=True, escalate_after_minutes=7))
    assert (halt.auto_escalate, halt.escalate_after_minutes) == (True, 7)


def test_a_row_may_say_that_a_halt_never_escalates_by_time() -> None:
    assert from_finding(a_finding(), a_config()).escalate_after_minutes is None


@pytest.mark.parametrize(("severity", "minutes"), [(CRITICAL, 30), (HIGH, 240), (MEDIUM, None)])
def test_a_halt_without_a_row_escalates_as_its_severity_does(severity: Severity, minutes: int | None) -> None:
    assert from_finding(a_finding(severity=severity)).escalate_after_minutes == minutes


@pytest.mark.parametrize("reason", ReasonCode)
def test_a_check_that_could_not_be_made_is_a_critical_halt_that_escalates(
    world: World, reason: ReasonCode
) -> None:
    (halt,) = world.record(failed_check_halt(new_id(), reason, "Halt check failed: why", task_id="task"))
    assert (halt.severity, halt.halt_type, halt.condition_name) == (CRITICAL, "execution", None)
    assert halt.context == {"reason_code": reason}
    assert halt.escalate_at == world.now + timedelta(minutes=30)
    assert halt.auto_recorded


def test_the_same_failure_is_open_once_and_another_one_besides(world: World) -> None:
    def failed(reason: ReasonCode, text: str) -> NewHalt:
        return failed_check_halt(new_id(), reason, text, task_id=None)

    world.record(failed(ReasonCode.DATABASE_UNAVAILABLE, "down"))
    assert world.record(failed(ReasonCode.DATABASE_UNAVAILABLE, "down")) == ()
    assert len(world.record(failed(ReasonCode.DATABASE_UNAVAILABLE, "frozen"))) == 1
    assert len(world.record(failed(ReasonCode.CHECK_FAILED, "down"))) == 1


def test_a_failed_check_leaves_no_waiver_when_it_is_settled(world: World) -> None:
    (halt,) = world.record(failed_check_halt(new_id(), ReasonCode.CHECK_FAILED, "why", task_id=None))
    world.settle(halt, actor=BEN)
    assert world.waivers == {}


def test_who_recorded_a_halt_is_the_principal(world: World) -> None:
    world.record(new_halt(), actor=MARIA)
    assert [event.actor for event in world.events("halt.recorded")] == ["human:maria"]
