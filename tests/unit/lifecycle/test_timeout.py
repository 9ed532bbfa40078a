"""Escalation by time: halts that nobody answers time out, pause the session, and are never approved."""

from __future__ import annotations

import pytest
from tests.unit.lifecycle.world import MARIA, World, new_halt

from haltline.domain import Resolution, SessionState, Severity, utc_text
from haltline.records import Changes, MessageKind

RESOLVED, ESCALATED, DISMISSED, TIMEOUT = Resolution


def test_an_overdue_halt_times_out_and_pauses_the_session(world: World) -> None:
    halt = world.timed_out()
    assert halt.resolution is TIMEOUT
    assert halt.updated_at == world.now
    assert world.state is SessionState.PAUSED


def test_a_timeout_approves_nothing(world: World) -> None:
    halt = world.timed_out()
    assert (halt.acknowledged, halt.acknowledged_at, halt.acknowledged_by) == (False, None, None)
    assert halt.is_open
    assert world.waivers == {}
    assert world.view().guidance == ()


@pytest.mark.parametrize(("seconds", "claimed"), [(59.999999, 0), (60, 1), (61, 1)])
def test_a_halt_is_overdue_from_its_moment_on(world: World, seconds: float, claimed: int) -> None:
    world.halt(escalate_after_minutes=1)
    world.wait(seconds=seconds)
    assert len(world.sweep().settled_halts) == claimed


def test_a_halt_times_out_once(world: World) -> None:
    world.timed_out()
    world.wait(days=1)
    assert world.sweep() == Changes()


def test_a_halt_that_is_not_to_escalate_waits_for_ever(world: World) -> None:
    world.halt(escalate_after_minutes=None)
    world.wait(days=100)
    assert world.sweep() == Changes()
    assert world.state is SessionState.HALTED


@pytest.mark.parametrize("resolution", [RESOLVED, ESCALATED, DISMISSED])
def test_an_answer_wins_over_the_sweep(world: World, resolution: Resolution) -> None:
    halt = world.halt(escalate_after_minutes=1)
    answered = world.settle(halt, resolution)
    world.wait(minutes=5)
    assert world.sweep() == Changes()
    assert world.halts[halt.id] == answered


def test_a_low_row_never_times_out(world: World) -> None:
    world.halt(severity=Severity.LOW, escalate_after_minutes=1)
    world.wait(minutes=5)
    assert world.sweep() == Changes()


def test_only_overdue_halts_time_out(world: World) -> None:
    late = world.halt(evidence_digest="1", escalate_after_minutes=1)
    early = world.halt(evidence_digest="2", escalate_after_minutes=10)
    world.wait(minutes=1)
    world.sweep()
    assert world.halts[late.id].resolution is TIMEOUT
    assert world.halts[early.id] == early


def test_a_timeout_owes_people_a_message(world: World) -> None:
    halt = world.timed_out()
    (message,) = world.messages.values()
    assert (message.kind, message.dedup_key, message.payload["why"]) == (
        MessageKind.NOTIFICATION,
        f"timeout:{halt.id}",
        "timeout",
    )


def test_a_timeout_is_in_the_audit_log_with_the_moment_that_was_promised(world: World) -> None:
    halt = world.timed_out()
    (event,) = world.events("halt.timeout")
    assert halt.escalate_at is not None
    assert (event.actor, event.subject, event.payload) == (
        "service:robot",
        halt.id,
        {"escalate_at": utc_text(halt.escalate_at)},
    )


def test_the_same_finding_is_not_recorded_again_after_a_timeout(world: World) -> None:
    world.timed_out()
    assert world.record(new_halt()) == ()


def test_a_human_settles_what_timed_out_and_the_session_resumes(world: World) -> None:
    world.settle(world.timed_out(), RESOLVED, MARIA, notes="Back from lunch")
    assert world.state is SessionState.ACTIVE
    assert [message.payload["text"] for message in world.view().guidance] == ["Back from lunch"]
