"""Escalation: what is recorded for it, when it comes, and that it never approves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from haltline import Guardrail, Principal, PrincipalKind
from haltline.domain import Resolution, SessionState
from haltline.errors import AlreadySettled, NotPermitted

if TYPE_CHECKING:
    from tests.conftest import Clock, Database

pytestmark = pytest.mark.anyio

HUMAN = Principal(PrincipalKind.HUMAN, "ada")
SERVICE = Principal(PrincipalKind.SERVICE, "timer")
QUIET = {"operation": "look around"}
LOUD = {"operation": "delete the old branches", "uncertainty_score": 9}


@pytest.fixture
def clock(database: Database) -> Clock:
    return database.clock


@pytest.fixture
async def timed(database: Database, clock: Clock) -> AsyncIterator[Guardrail]:
    """A guardrail whose database's clock stands still until it is moved."""
    async with Guardrail.open(database.url, clock=clock) as guardrail:
        yield guardrail


async def halted(guardrail: Guardrail, severity: str = "critical", **fields: Any) -> str:
    recorded = await guardrail.record_halt(
        session_token="s", halt_type="scope", severity=severity, description="out of bounds", **fields
    )
    return recorded.halt_id


async def outbox(database: Database) -> list[tuple[str, str, bool, bool]]:
    """Return the outbox, read past Haltline: kind, key, delivered, cancelled."""
    with database.raw() as connection:
        rows = connection.exec_driver_sql(
            "SELECT kind, dedup_key, delivered_at IS NOT NULL, cancelled_at IS NOT NULL"
            " FROM outbox ORDER BY id"
        ).all()
    return [(str(row[0]), str(row[1]), bool(row[2]), bool(row[3])) for row in rows]


@pytest.mark.parametrize(
    ("severity", "minutes"), [("critical", 30), ("high", 240), ("medium", None), ("low", None)]
)
async def test_halt_carries_the_time_at_which_it_escalates(
    timed: Guardrail, clock: Clock, severity: str, minutes: int | None
) -> None:
    halt = await timed.acting_as(HUMAN).find_halt(await halted(timed, severity))
    expected = None if minutes is None else clock.now + timedelta(minutes=minutes)
    assert halt.escalate_at == expected


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
async def test_time_comes_from_the_database_and_not_from_this_machine(database: Database) -> None:
    async with Guardrail.open(database.url) as guardrail:
        guardrail._context.clock = lambda: datetime(2001, 1, 1, tzinfo=UTC)
        with database.raw() as connection:
            before = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
            told = await guardrail.check_halt_conditions(session_token="s", current_context=LOUD)
            after = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        halt = await guardrail.acting_as(HUMAN).find_halt(str(told.halt_reasons[0].halt_id))
        assert before <= halt.triggered_at <= after
        assert halt.escalate_at is not None
        assert halt.escalate_at - halt.triggered_at == timedelta(minutes=halt.escalate_after_minutes or 0)


@pytest.mark.parametrize(
    ("fields", "triggered"),
    [
        ({"severity": "critical"}, True),
        ({"severity": "high"}, False),
        ({"severity": "high", "auto_escalate": True}, True),
        ({"severity": "medium", "auto_escalate": True}, True),
    ],
)
async def test_critical_and_auto_escalated_halts_are_told_to_people_at_once(
    durable: Database, fields: dict[str, Any], triggered: bool
) -> None:
    async with Guardrail.open(durable.url) as guardrail:
        recorded = await guardrail.record_halt(
            session_token="s", halt_type="scope", description="out of bounds", **fields
        )
    assert recorded.escalation_triggered is triggered
    expected = [("notification", f"recorded:{recorded.halt_id}", False, False)] if triggered else []
    assert await outbox(durable) == expected


async def test_policy_is_the_one_of_when_the_halt_was_recorded(timed: Guardrail, clock: Clock) -> None:
    human = timed.acting_as(HUMAN)
    await human.update_halt_config(condition_name="uncertainty_scale", escalate_after_minutes=10)
    told = await timed.check_halt_conditions(session_token="s", current_context=LOUD)
    halt_id = str(told.halt_reasons[0].halt_id)
    await human.update_halt_config(
        condition_name="uncertainty_scale", escalate_after_minutes=10_000, auto_escalate=True
    )
    halt = await human.find_halt(halt_id)
    assert (halt.escalate_after_minutes, halt.auto_escalate) == (10, False)
    clock.move(minutes=9, seconds=59)
    assert await human.escalate() == 0
    clock.move(seconds=1)
    assert await human.escalate() == 1
    assert (await human.find_halt(halt_id)).resolution is Resolution.TIMEOUT


async def test_halt_that_is_not_recorded_leaves_nothing_in_the_outbox(durable: Database) -> None:
    """The halt and what is owed for it are written in one transaction, or neither is."""
    async with Guardrail.open(durable.url) as guardrail:
        await guardrail.acting_as(HUMAN).health()
        with durable.raw() as connection:
            connection.exec_driver_sql("ALTER TABLE audit_log RENAME TO elsewhere")
            connection.commit()
        told = await guardrail.check_halt_conditions(session_token="s", current_context=LOUD)
        assert (told.should_halt, told.event_stored) == (True, "spool")
        assert await outbox(durable) == []
        with durable.raw() as connection:
            connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO audit_log")
            connection.commit()
        await guardrail.acting_as(HUMAN).replay_spool()
        assert len(await outbox(durable)) == 1


async def test_settling_cancels_what_people_were_owed(durable: Database) -> None:
    async with Guardrail.open(durable.url) as guardrail:
        halt_id = await halted(guardrail)
        await guardrail.acting_as(HUMAN).acknowledge_halt(
            session_token="s", halt_id=halt_id, resolution="resolved"
        )
    assert await outbox(durable) == [("notification", f"recorded:{halt_id}", False, True)]


async def test_escalating_owes_people_more_and_cancels_nothing(durable: Database) -> None:
    async with Guardrail.open(durable.url) as guardrail:
        halt_id = await halted(guardrail)
        await guardrail.acting_as(HUMAN).acknowledge_halt(
            session_token="s", halt_id=halt_id, resolution="escalated"
        )
    assert await outbox(durable) == [
        ("notification", f"recorded:{halt_id}", False, False),
        ("notification", f"escalated:{halt_id}", False, False),
    ]


async def test_timeout_pauses_and_never_approves(timed: Guardrail, clock: Clock) -> None:
    halt_id = await halted(timed)
    clock.move(minutes=30)
    service = timed.acting_as(SERVICE)
    assert await service.escalate() == 1
    halt = await timed.acting_as(HUMAN).find_halt(halt_id)
    assert (halt.resolution, halt.acknowledged, halt.acknowledged_by) == (Resolution.TIMEOUT, False, None)
    result = await timed.check_halt_conditions(session_token="s", current_context=QUIET)
    assert (result.should_halt, result.session_state) == (True, SessionState.PAUSED)
    assert "Silence is not consent" in result.recommended_action
    assert await service.escalate() == 0


async def test_human_settles_afterwards_and_the_session_resumes(timed: Guardrail, clock: Clock) -> None:
    halt_id = await halted(timed)
    clock.move(days=1)
    await timed.acting_as(SERVICE).escalate()
    settled = await timed.acting_as(HUMAN).acknowledge_halt(
        session_token="s", halt_id=halt_id, resolution="resolved", resolution_notes="go on"
    )
    assert (settled.session_can_resume, settled.session_state) == (True, SessionState.ACTIVE)
    result = await timed.check_halt_conditions(session_token="s", current_context=QUIET)
    assert (result.should_halt, [guidance.text for guidance in result.guidance]) == (False, ["go on"])
    with pytest.raises(AlreadySettled):
        await timed.acting_as(HUMAN).acknowledge_halt(
            session_token="s", halt_id=halt_id, resolution="dismissed"
        )
    assert (await timed.acting_as(HUMAN).verify_audit()).problems == ()


async def test_session_stays_paused_until_every_timed_out_halt_is_settled(
    timed: Guardrail, clock: Clock
) -> None:
    first, second = await halted(timed), await halted(timed)
    clock.move(days=1)
    assert await timed.acting_as(SERVICE).escalate() == 2
    human = timed.acting_as(HUMAN)
    half = await human.acknowledge_halt(session_token="s", halt_id=first, resolution="resolved")
    assert (half.session_can_resume, half.session_state) == (False, SessionState.PAUSED)
    whole = await human.acknowledge_halt(session_token="s", halt_id=second, resolution="resolved")
    assert whole.session_can_resume is True


@pytest.mark.parametrize("kind", [PrincipalKind.SERVICE, PrincipalKind.AGENT])
async def test_nobody_but_a_human_settles_what_timed_out(
    timed: Guardrail, clock: Clock, kind: PrincipalKind
) -> None:
    halt_id = await halted(timed)
    clock.move(days=1)
    await timed.acting_as(SERVICE).escalate()
    with pytest.raises(NotPermitted):
        await timed.acting_as(Principal(kind, "robot")).acknowledge_halt(
            session_token="s", halt_id=halt_id, resolution="resolved"
        )


async def test_settled_and_low_halts_are_never_swept(timed: Guardrail, clock: Clock) -> None:
    halt_id = await halted(timed)
    await halted(timed, "low")
    await timed.record_attempt(session_token="s", error="boom")
    await timed.acting_as(HUMAN).acknowledge_halt(session_token="s", halt_id=halt_id, resolution="resolved")
    clock.move(days=1_000)
    assert await timed.acting_as(SERVICE).escalate() == 0
