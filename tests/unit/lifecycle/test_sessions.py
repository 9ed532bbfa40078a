"""Sessions: which state their halts put them in, and that a closed one is closed for good."""

from __future__ import annotations

from itertools import product

import pytest
from tests.unit.lifecycle.world import AGENT, BEN, MARIA, ROBOT, ROOT, START, World, new_halt, new_id

from haltline import lifecycle
from haltline.domain import Principal, Resolution, SessionState, Severity
from haltline.errors import Conflict, NotFound, NotPermitted
from haltline.records import Session

ACTIVE, HALTED, PAUSED, CLOSED = SessionState


def fresh(name: str = "nightly") -> Session:
    return Session(new_id(), "1" * 64, name, "bot", ACTIVE, START, START)


def put(world: World, kind: str, number: int) -> None:
    """Bring a halt of its own into one of the forms a halt can have."""
    fields = {"evidence_digest": f"{kind}-{number}"}
    if kind == "timeout":
        world.timed_out(**fields)
        return
    halt = world.halt(**fields)
    if kind != "open":
        world.settle(halt, Resolution(kind))


@pytest.mark.parametrize(
    "kinds",
    [
        tuple(
            kind
            for kind, there in zip(
                ("open", "resolved", "dismissed", "escalated", "timeout"), which, strict=True
            )
            if there
        )
        for which in product((False, True), repeat=5)
    ],
    ids=lambda kinds: "+".join(kinds) or "none",
)
@pytest.mark.parametrize("backwards", [False, True], ids=["in order", "backwards"])
def test_the_state_follows_from_the_halts(world: World, kinds: tuple[str, ...], backwards: bool) -> None:
    for number, kind in enumerate(reversed(kinds) if backwards else kinds):
        put(world, kind, number)
    waiting = "escalated" in kinds or "timeout" in kinds
    assert world.state is (PAUSED if waiting else HALTED if "open" in kinds else ACTIVE)


def test_a_recorded_halt_halts_the_session(world: World) -> None:
    world.halt()
    assert world.state is HALTED


@pytest.mark.parametrize("resolution", [Resolution.RESOLVED, Resolution.DISMISSED])
def test_the_last_settlement_resumes_the_session(world: World, resolution: Resolution) -> None:
    first, second = world.halt(evidence_digest="1"), world.halt(evidence_digest="2")
    world.settle(first, resolution)
    assert world.state is HALTED
    world.settle(second, resolution)
    assert world.state is ACTIVE


def test_a_paused_session_resumes_when_a_human_settles_everything_that_was_escalated(world: World) -> None:
    escalated = world.settle(world.halt(evidence_digest="1"), Resolution.ESCALATED)
    late = world.timed_out(evidence_digest="2")
    assert world.state is PAUSED
    world.settle(escalated)
    assert world.state is PAUSED
    world.settle(late)
    assert world.state is ACTIVE


def test_a_paused_session_with_another_open_halt_is_halted_after_the_human_settled(world: World) -> None:
    escalated = world.settle(world.halt(evidence_digest="1"), Resolution.ESCALATED)
    world.halt(evidence_digest="2")
    assert world.state is PAUSED
    world.settle(escalated)
    assert world.state is HALTED


def test_a_new_halt_does_not_wake_a_paused_session(world: World) -> None:
    world.settle(world.halt(evidence_digest="1"), Resolution.ESCALATED)
    world.halt(evidence_digest="2")
    assert world.state is PAUSED


def test_a_low_row_leaves_the_session_active(world: World) -> None:
    row = world.halt(severity=Severity.LOW)
    assert not row.is_open
    assert world.state is ACTIVE


def test_a_change_of_state_says_when(world: World) -> None:
    world.wait(minutes=5)
    world.halt()
    assert world.session is not None
    assert world.session.updated_at == world.now


def test_a_session_is_opened_at_first_sight_with_the_databases_time(world: World) -> None:
    world.session = None
    world.wait(hours=1)
    changes = world.run(lifecycle.record_halts((), AGENT, new_id=new_id, open_as=fresh()))
    assert changes.session is not None
    assert (changes.session.created_at, changes.session.updated_at) == (world.now, world.now)
    assert [event.action for event in changes.audit] == ["session.opened"]


def test_nothing_is_recorded_in_a_session_that_does_not_exist(world: World) -> None:
    world.session = None
    with pytest.raises(NotFound):
        world.record(new_halt())
    with pytest.raises(NotFound):
        world.run(lifecycle.record_reads({"a": None}, open_as=None, actor=ROBOT))


def test_opening_a_session_writes_it_down_with_who_opened_it(world: World) -> None:
    world.session = None
    world.run(lifecycle.open_session(fresh(), ROOT))
    assert [(event.actor, event.action) for event in world.audit] == [("admin:root", "session.opened")]


def test_opening_a_session_twice_leaves_the_first(world: World) -> None:
    first = world.session
    changes = world.run(lifecycle.open_session(fresh(), MARIA))
    assert changes.session == first
    assert changes.audit == ()


@pytest.mark.parametrize("actor", [AGENT, MARIA, ROOT, ROBOT], ids=str)
def test_anybody_closes_a_session_without_open_halts(world: World, actor: Principal) -> None:
    world.settle(world.halt())
    world.close(actor)
    assert world.state is CLOSED
    assert world.session is not None
    assert world.session.closed_at == world.now
    assert [event.actor for event in world.events("session.closed")] == [str(actor)]


@pytest.mark.parametrize("kind", ["open", "escalated", "timeout"])
def test_an_agent_cannot_close_a_session_that_waits_for_a_person(world: World, kind: str) -> None:
    put(world, kind, 1)
    before = world.state
    with pytest.raises(NotPermitted, match="has 1 open halt; an agent cannot close it"):
        world.close(AGENT)
    assert world.state is before


def test_the_refusal_counts_the_open_halts(world: World) -> None:
    put(world, "open", 1)
    put(world, "open", 2)
    with pytest.raises(NotPermitted, match="has 2 open halts; an agent"):
        world.close(AGENT)


def test_a_person_closes_a_session_with_open_halts_which_stay(world: World) -> None:
    halt = world.halt()
    world.close(MARIA)
    assert world.state is CLOSED
    assert world.open_halts == (halt,)


def test_closing_twice_changes_nothing(world: World) -> None:
    world.close(MARIA)
    closed = world.session
    world.wait(hours=1)
    world.close(BEN)
    assert world.session == closed
    assert len(world.events("session.closed")) == 1


def test_a_closed_session_records_nothing_more(world: World) -> None:
    world.close()
    audit = len(world.audit)
    with pytest.raises(Conflict, match="closed"):
        world.record(new_halt())
    with pytest.raises(Conflict, match="closed"):
        world.strike()
    with pytest.raises(Conflict, match="closed"):
        world.reset()
    with pytest.raises(Conflict, match="closed"):
        world.run(lifecycle.record_reads({"a.py": None}, open_as=None, actor=ROBOT))
    assert (world.halts, world.strikes, world.reads, len(world.audit)) == ({}, {}, {}, audit)


def test_settling_a_halt_of_a_closed_session_leaves_it_closed(world: World) -> None:
    halt = world.halt()
    world.close()
    world.settle(halt)
    assert world.state is CLOSED
    assert world.open_halts == ()


def test_a_halt_of_a_closed_session_times_out_and_leaves_it_closed(world: World) -> None:
    halt = world.halt(escalate_after_minutes=1)
    world.close()
    world.wait(minutes=1)
    world.sweep()
    assert world.state is CLOSED
    assert world.halts[halt.id].resolution is Resolution.TIMEOUT


def test_reads_are_entered_with_their_hash_and_time(world: World) -> None:
    world.run(lifecycle.record_reads({"a.py": "f" * 64, "b.py": None}, open_as=None, actor=ROBOT))
    assert {path: (read.content_hash, read.read_at) for path, read in world.reads.items()} == {
        "a.py": ("f" * 64, world.now),
        "b.py": (None, world.now),
    }
    (event,) = world.events("reads.recorded")
    assert (event.actor, event.payload) == ("service:robot", {"reads": {"a.py": "f" * 64, "b.py": None}})
