"""Settling halts: once, by somebody who may, with caution where it is due, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from tests.unit.lifecycle.world import AGENT, BEN, MARIA, ROBOT, ROOT, World, new_id

from haltline import lifecycle
from haltline.domain import HaltType, Principal, Resolution, SessionState, Severity, utc_text
from haltline.errors import AlreadySettled, Conflict, InvalidInput, NotFound, NotPermitted
from haltline.records import Halt, MessageKind

LOW, MEDIUM, HIGH, CRITICAL = Severity
RESOLVED, ESCALATED, DISMISSED, TIMEOUT = Resolution
FINAL = (RESOLVED, DISMISSED)


@pytest.mark.parametrize("resolution", [RESOLVED, ESCALATED, DISMISSED])
def test_a_settlement_says_how_by_whom_when_and_why(world: World, resolution: Resolution) -> None:
    recorded = world.halt()
    world.wait(minutes=4)
    halt = world.settle(recorded, resolution, MARIA, notes="I looked at it")
    assert halt.acknowledged is True
    assert halt.acknowledged_at == halt.updated_at == world.now
    assert halt.acknowledged_by == "human:maria"
    assert halt.resolution is resolution
    assert halt.resolution_notes == "I looked at it"


def test_a_settlement_changes_nothing_else_of_a_halt(world: World) -> None:
    recorded = world.halt(task_id="task", escalate_after_minutes=5, previous_error="boom")
    settled = world.settle(recorded)
    assert lifecycle.immutable_columns(settled) == lifecycle.immutable_columns(recorded)
    assert (settled.id, settled.session_id, settled.created_at) == (
        recorded.id,
        recorded.session_id,
        recorded.created_at,
    )


def test_a_settlement_is_in_the_audit_log(world: World) -> None:
    halt = world.settle(world.halt(), DISMISSED, ROOT, notes="Known")
    (event,) = world.events("halt.acknowledged")
    assert (event.actor, event.subject, event.session_id) == ("admin:root", halt.id, "session-1")
    assert event.payload == {
        "resolution": "dismissed",
        "resolution_notes": "Known",
        "acknowledged_by": "admin:root",
        "acknowledged_at": utc_text(world.now),
    }


def test_notes_are_redacted(world: World) -> None:
    secret = "ghp" + "_" + "A" * 26 + "b1C2d3" + "0000"
    world.settle(world.halt(), notes=f"password='{secret}'")
    stored = (*world.halts.values(), *world.messages.values(), *world.audit)
    assert secret not in str(stored)


@pytest.mark.parametrize("first", FINAL)
@pytest.mark.parametrize("second", [RESOLVED, ESCALATED, DISMISSED])
@pytest.mark.parametrize("actor", [MARIA, BEN, ROOT, ROBOT, AGENT], ids=str)
def test_a_settled_halt_refuses_a_second_settlement_and_says_who_won_and_when(
    world: World, first: Resolution, second: Resolution, actor: Principal
) -> None:
    halt = world.settle(world.halt(), first, MARIA)
    won_at = world.now
    world.wait(minutes=1)
    audit = len(world.audit)
    with pytest.raises(AlreadySettled) as refused:
        world.settle(halt, second, actor, notes="late", caution=True)
    error = refused.value
    assert (error.halt_id, error.settled_by, error.settled_at, error.resolution) == (
        halt.id,
        "human:maria",
        won_at,
        first,
    )
    assert "human:maria" in str(error)
    assert won_at.isoformat() in str(error)
    assert world.halts[halt.id] == halt
    assert len(world.audit) == audit


def escalated(world: World, severity: Severity = HIGH) -> Halt:
    return world.settle(world.halt(severity=severity), ESCALATED, ROBOT, notes="Maria must look")


def timed_out(world: World, severity: Severity = HIGH) -> Halt:
    return world.timed_out(severity=severity)


WAITING = pytest.mark.parametrize("waiting", [escalated, timed_out])


@WAITING
@pytest.mark.parametrize("resolution", FINAL)
@pytest.mark.parametrize("actor", [MARIA, ROOT], ids=str)
def test_a_waiting_halt_is_settled_once_more_by_a_human(
    world: World, waiting: Callable[..., Halt], resolution: Resolution, actor: Principal
) -> None:
    halt = world.settle(waiting(world), resolution, actor, notes="Looked")
    assert (halt.resolution, halt.acknowledged_by) == (resolution, str(actor))
    assert world.state is SessionState.ACTIVE
    with pytest.raises(AlreadySettled, match=f"settled as {resolution} by {actor}"):
        world.settle(halt, RESOLVED, BEN)


@WAITING
@pytest.mark.parametrize("actor", [AGENT, ROBOT], ids=str)
@pytest.mark.parametrize("resolution", FINAL)
def test_nobody_but_a_human_settles_a_waiting_halt(
    world: World, waiting: Callable[..., Halt], actor: Principal, resolution: Resolution
) -> None:
    halt = waiting(world)
    with pytest.raises(NotPermitted, match="only a human"):
        world.settle(halt, resolution, actor, notes="Please", caution=True)
    assert world.halts[halt.id] == halt
    assert world.state is SessionState.PAUSED


@WAITING
@pytest.mark.parametrize("actor", [MARIA, ROOT, ROBOT, AGENT], ids=str)
def test_a_waiting_halt_is_not_escalated_again(
    world: World, waiting: Callable[..., Halt], actor: Principal
) -> None:
    halt = waiting(world)
    with pytest.raises(AlreadySettled):
        world.settle(halt, ESCALATED, actor)
    assert world.halts[halt.id] == halt


def test_the_refusal_of_a_timed_out_halt_says_that_nobody_answered(world: World) -> None:
    halt = timed_out(world)
    with pytest.raises(AlreadySettled, match=r"as timeout by nobody \(it timed out\)"):
        world.settle(halt, ESCALATED)


@WAITING
def test_a_waiting_critical_halt_needs_caution_too(world: World, waiting: Callable[..., Halt]) -> None:
    halt = waiting(world, CRITICAL)
    with pytest.raises(InvalidInput):
        world.settle(halt, DISMISSED, MARIA)
    assert world.halts[halt.id] == halt


@pytest.mark.parametrize(
    ("severity", "notes", "caution", "allowed"),
    [
        (CRITICAL, "The risk is known", True, True),
        (CRITICAL, "The risk is known", False, False),
        (CRITICAL, None, True, False),
        (CRITICAL, "", True, False),
        (CRITICAL, " \n\t", True, False),
        (CRITICAL, None, False, False),
        (HIGH, None, False, True),
        (MEDIUM, None, False, True),
    ],
)
def test_dismissing_a_critical_halt_needs_caution_and_a_note(
    world: World, severity: Severity, notes: str | None, caution: bool, allowed: bool
) -> None:
    halt = world.halt(severity=severity)
    if allowed:
        assert world.settle(halt, DISMISSED, notes=notes, caution=caution).resolution is DISMISSED
        return
    with pytest.raises(InvalidInput, match="continue_with_caution: true, and resolution_notes"):
        world.settle(halt, DISMISSED, notes=notes, caution=caution)
    assert world.halts[halt.id] == halt
    assert world.waivers == {}


@pytest.mark.parametrize("resolution", [RESOLVED, ESCALATED])
def test_a_critical_halt_is_resolved_or_escalated_without_ceremony(
    world: World, resolution: Resolution
) -> None:
    assert world.settle(world.halt(severity=CRITICAL), resolution).resolution is resolution


@pytest.mark.parametrize("resolution", [RESOLVED, ESCALATED, DISMISSED])
def test_a_low_row_needs_no_settlement_and_takes_none(world: World, resolution: Resolution) -> None:
    row = world.halt(severity=LOW)
    with pytest.raises(Conflict, match="low severity"):
        world.settle(row, resolution)
    assert world.halts[row.id] == row


def test_a_halt_that_the_session_does_not_have_is_not_found(world: World) -> None:
    acknowledge = lifecycle.acknowledge(
        "elsewhere", RESOLVED, MARIA, notes=None, continue_with_caution=False, new_id=new_id
    )
    with pytest.raises(NotFound, match="has no halt elsewhere"):
        world.run(acknowledge, halt_id="elsewhere")


def test_nothing_is_settled_in_a_session_that_does_not_exist(world: World) -> None:
    halt = world.halt()
    world.session = None
    with pytest.raises(NotFound):
        world.settle(halt)


@pytest.mark.parametrize("resolution", FINAL)
def test_a_settlement_is_remembered_as_a_waiver_for_exactly_what_was_settled(
    world: World, resolution: Resolution
) -> None:
    halt = world.settle(world.halt(evidence_digest="d" * 64), resolution, notes="Fine", caution=True)
    (waiver,) = world.waivers.values()
    assert (waiver.session_id, waiver.halt_id, waiver.condition_name, waiver.evidence_digest) == (
        "session-1",
        halt.id,
        "secrets_exposure",
        "d" * 64,
    )
    assert (waiver.created_at, waiver.created_by) == (world.now, "human:maria")


def test_an_escalation_waives_nothing(world: World) -> None:
    world.settle(world.halt(), ESCALATED)
    assert world.waivers == {}


@pytest.mark.parametrize("fields", [{"condition_name": None}, {"evidence_digest": None}])
def test_a_halt_without_condition_or_evidence_waives_nothing(world: World, fields: dict[str, None]) -> None:
    world.settle(world.halt(**fields))
    assert world.waivers == {}


def test_the_waiver_of_a_critical_halt_expires_after_an_hour(world: World) -> None:
    world.settle(world.halt(severity=CRITICAL, single_use=True))
    (waiver,) = world.waivers.values()
    assert waiver.expires_at == world.now + timedelta(hours=1)
    assert waiver.holds_at(world.now + timedelta(hours=1, microseconds=-1))
    assert not waiver.holds_at(world.now + timedelta(hours=1))


@pytest.mark.parametrize("severity", [MEDIUM, HIGH])
def test_the_waiver_of_a_lesser_halt_lasts_as_long_as_the_session(world: World, severity: Severity) -> None:
    world.settle(world.halt(severity=severity))
    (waiver,) = world.waivers.values()
    assert waiver.expires_at is None
    assert waiver.holds_at(world.now + timedelta(days=365))


@pytest.mark.parametrize(("single_use", "holds"), [(True, False), (False, True)])
def test_a_single_use_waiver_holds_once(world: World, single_use: bool, holds: bool) -> None:
    world.settle(world.halt(single_use=single_use))
    (waiver,) = world.waivers.values()
    assert waiver.single_use is single_use
    assert waiver.holds_at(world.now)
    world.record(used_waivers=(waiver.id,))
    assert world.waivers[waiver.id].holds_at(world.now) is holds


@pytest.mark.parametrize("resolution", FINAL)
def test_what_the_person_wrote_is_owed_to_the_agent(world: World, resolution: Resolution) -> None:
    halt = world.settle(world.halt(), resolution, BEN, notes="Use the staging key")
    (message,) = world.view().guidance
    assert (message.kind, message.halt_id, message.dedup_key) == (
        MessageKind.GUIDANCE,
        halt.id,
        f"guidance:{halt.id}",
    )
    assert message.payload == {
        "halt_id": halt.id,
        "condition_name": "secrets_exposure",
        "resolution": resolution,
        "text": "Use the staging key",
        "by": "human:ben",
    }


@pytest.mark.parametrize("notes", [None, ""])
def test_a_settlement_without_notes_owes_the_agent_nothing(world: World, notes: str | None) -> None:
    world.settle(world.halt(), notes=notes)
    assert world.view().guidance == ()


def test_an_escalation_owes_people_a_message_and_the_agent_nothing(world: World) -> None:
    halt = world.settle(world.halt(), ESCALATED, notes="Maria must look")
    assert world.view().guidance == ()
    (message,) = world.messages.values()
    assert (message.kind, message.dedup_key) == (MessageKind.NOTIFICATION, f"escalated:{halt.id}")


def test_the_note_of_an_escalation_is_not_handed_to_the_agent_as_the_words_of_who_settles_it(
    world: World,
) -> None:
    halt = world.settle(escalated(world), RESOLVED, MARIA)
    assert world.view().guidance == ()
    assert halt.resolution_notes == "Maria must look"


def test_who_settles_an_escalated_halt_may_write_other_notes(world: World) -> None:
    halt = world.settle(escalated(world), RESOLVED, MARIA, notes="Looked, fine")
    assert halt.resolution_notes == "Looked, fine"
    assert [message.payload["text"] for message in world.view().guidance] == ["Looked, fine"]


@pytest.mark.parametrize("resolution", FINAL)
def test_a_settlement_cancels_what_people_are_still_owed(world: World, resolution: Resolution) -> None:
    halt = world.halt(severity=CRITICAL)
    world.settle(halt, resolution, notes="Seen", caution=True)
    notification = next(m for m in world.messages.values() if m.kind is MessageKind.NOTIFICATION)
    assert notification.cancelled_at == world.now


def test_an_escalation_cancels_nothing(world: World) -> None:
    world.settle(world.halt(severity=CRITICAL), ESCALATED)
    assert [message.cancelled_at for message in world.messages.values()] == [None, None]


@pytest.mark.parametrize("resolution", FINAL)
@pytest.mark.parametrize("actor", [MARIA, ROOT, ROBOT], ids=str)
def test_settling_a_three_strikes_halt_resets_the_count(
    world: World, resolution: Resolution, actor: Principal
) -> None:
    for _ in range(3):
        world.strike()
    (halt,) = world.open_halts
    world.settle(halt, resolution, actor)
    strikes = world.strikes["task"]
    assert (strikes.attempts, strikes.reset_at, strikes.reset_by) == (0, world.now, str(actor))
    (event,) = world.events("strikes.reset")
    assert (event.actor, event.subject, event.payload) == (str(actor), "task", {"halt_id": halt.id})


def test_escalating_a_three_strikes_halt_resets_nothing(world: World) -> None:
    for _ in range(3):
        world.strike()
    world.settle(world.open_halts[0], ESCALATED)
    assert world.strikes["task"].attempts == 3


def test_settling_a_halt_of_another_condition_resets_nothing(world: World) -> None:
    world.strike()
    world.settle(world.halt(task_id="task"))
    assert world.strikes["task"].attempts == 1


def test_an_agent_that_may_settle_halts_still_resets_no_strikes(world: World) -> None:
    for _ in range(3):
        world.strike()
    world.settle(world.open_halts[0], RESOLVED, AGENT)
    assert world.strikes["task"].attempts == 3


def test_settling_the_failure_of_the_three_strikes_check_resets_nothing(world: World) -> None:
    world.strike()
    failed = world.halt(
        condition_name="three_strikes",
        halt_type=HaltType.EXECUTION,
        task_id="task",
        severity=CRITICAL,
        context={"reason_code": "deadline_exceeded"},
    )
    world.settle(failed)
    assert world.strikes["task"].attempts == 1


def test_settling_a_three_strikes_halt_that_was_recorded_by_hand_resets_nothing(world: World) -> None:
    """An agent writes one with words of its own, and a person who settles those has not seen the failures."""
    for _ in range(2):
        world.strike()
    by_hand = world.halt(
        condition_name="three_strikes",
        halt_type=HaltType.EXECUTION,
        task_id="task",
        auto_recorded=False,
        description="Please confirm the plan",
    )
    world.settle(by_hand)
    assert world.strikes["task"].attempts == 2
