"""What every store does, whatever it keeps its rows in."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from haltline.domain import HaltType, Resolution, SessionState, Severity
from haltline.errors import Conflict, ImmutableRecord, InvalidInput, NotPermitted
from haltline.records import (
    Changes,
    ConditionRow,
    FileRead,
    Halt,
    HaltQuery,
    MessageKind,
    SessionLookup,
    SessionView,
    Strikes,
)
from haltline.store import Store, audit, new_uuid
from haltline.store.defaults import DEFAULT_CONDITIONS

if TYPE_CHECKING:
    from datetime import datetime

    from tests.conftest import Database, Maker

pytestmark = pytest.mark.anyio


async def test_unknown_session_has_no_view(store: Store) -> None:
    assert await store.view(SessionLookup(token_hash="nobody")) == SessionView(None)
    assert await store.view(SessionLookup(session_id=new_uuid())) == SessionView(None)
    assert await store.view(SessionLookup(session_id="not an identifier")) == SessionView(None)


async def test_session_is_found_by_token_and_by_id(store: Store, make: Maker) -> None:
    session = await make.opened(store, name="build", agent_name="coder")
    assert (await store.view(SessionLookup(token_hash=session.token_hash))).session == session
    assert (await store.view(SessionLookup(session_id=session.id))).session == session
    assert (await store.view(SessionLookup(session_id=session.id.upper()))).session == session


async def test_transition_sees_the_session_and_the_time(database: Database, make: Maker) -> None:
    store = await database.store()
    session = await make.opened(store)
    seen: list[tuple[SessionView, datetime]] = []

    def transition(view: SessionView, now: datetime) -> Changes:
        seen.append((view, now))
        return Changes()

    await store.change(SessionLookup(token_hash=session.token_hash), transition)
    assert seen == [(SessionView(session), database.clock.now)]


async def test_change_replaces_the_state_of_a_known_session_only(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    later = make.at + timedelta(minutes=1)
    closed = replace(session, state=SessionState.CLOSED, updated_at=later, closed_at=later)
    await store.change(
        SessionLookup(session_id=session.id),
        lambda _v, _n: Changes(session=replace(closed, agent_name="other")),
    )
    assert (await store.view(SessionLookup(session_id=session.id))).session == closed


async def test_every_column_of_a_halt_comes_back(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    full = make.halt(
        session,
        attempt_count=3,
        previous_error="boom ✗",
        action_digest="a" * 64,
        evidence_digest="b" * 64,
        single_use=True,
        auto_recorded=True,
        auto_escalate=True,
        escalate_after_minutes=30,
        escalate_at=make.at + timedelta(minutes=30, microseconds=7),
    )
    sparse = make.halt(session, task_id=None, condition_name=None, context=None, severity=Severity.LOW)
    await make.write(store, new_halts=(full, sparse))
    assert await store.find_halt(full.id) == full
    assert await store.find_halt(sparse.id) == sparse
    assert await store.find_halt(full.id.upper()) == full


@pytest.mark.parametrize("halt_id", ["halt_789xyz", "", "00000000-0000-0000-0000-000000000000"])
async def test_unknown_halt_is_none(store: Store, halt_id: str) -> None:
    assert await store.find_halt(halt_id) is None


async def test_context_is_out_of_the_callers_reach(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    context = {"commands": ["ls"]}
    halt = await make.halted(store, session, context=context)
    context["commands"].append("rm")
    found = await store.find_halt(halt.id)
    assert found is not None
    assert found.context == {"commands": ["ls"]}


@pytest.mark.parametrize(
    ("columns", "is_open"),
    [
        ({}, True),
        ({"severity": Severity.MEDIUM}, True),
        ({"severity": Severity.LOW}, False),
    ],
)
async def test_view_carries_open_halts(
    store: Store, make: Maker, columns: dict[str, object], is_open: bool
) -> None:
    session = await make.opened(store)
    halt = await make.halted(store, session, **columns)
    view = await store.view(SessionLookup(session_id=session.id))
    assert view.open_halts == ((halt,) if is_open else ())


@pytest.mark.parametrize(
    ("resolution", "is_open"),
    [(Resolution.RESOLVED, False), (Resolution.DISMISSED, False), (Resolution.ESCALATED, True)],
)
async def test_settled_halts_are_open_only_when_escalated(
    store: Store, make: Maker, resolution: Resolution, is_open: bool
) -> None:
    session = await make.opened(store)
    halt = await make.halted(store, session)
    settled = make.settled(halt, resolution, resolution_notes="seen")
    await make.write(store, settled_halts=(settled,))
    view = await store.view(SessionLookup(session_id=session.id, halt_id=halt.id))
    assert view.open_halts == ((settled,) if is_open else ())
    assert view.halt == settled


async def test_timed_out_halt_stays_open(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    halt = await make.halted(store, session)
    timed_out = replace(halt, resolution=Resolution.TIMEOUT)
    await make.write(store, settled_halts=(timed_out,))
    assert (await store.view(SessionLookup(session_id=session.id))).open_halts == (timed_out,)


async def test_open_halts_come_oldest_first(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    late = make.halt(session, triggered_at=make.at + timedelta(seconds=1))
    early = make.halt(session)
    await make.write(store, new_halts=(late, early))
    assert (await store.view(SessionLookup(session_id=session.id))).open_halts == (early, late)


async def test_view_names_a_halt_of_its_own_session_only(store: Store, make: Maker) -> None:
    mine, other = await make.opened(store), await make.opened(store)
    halt = await make.halted(store, other)
    assert (await store.view(SessionLookup(session_id=mine.id, halt_id=halt.id))).halt is None
    assert (await store.view(SessionLookup(session_id=other.id, halt_id=halt.id))).halt == halt


LEGAL = [
    ((Resolution.RESOLVED,), True),
    ((Resolution.DISMISSED,), True),
    ((Resolution.ESCALATED,), True),
    ((Resolution.TIMEOUT,), True),
    ((Resolution.ESCALATED, Resolution.RESOLVED), True),
    ((Resolution.ESCALATED, Resolution.DISMISSED), True),
    ((Resolution.TIMEOUT, Resolution.RESOLVED), True),
    ((Resolution.TIMEOUT, Resolution.DISMISSED), True),
    ((Resolution.TIMEOUT, Resolution.ESCALATED), False),
    ((Resolution.TIMEOUT, Resolution.TIMEOUT), False),
    ((Resolution.ESCALATED, Resolution.ESCALATED), False),
    ((Resolution.ESCALATED, Resolution.TIMEOUT), False),
    ((Resolution.RESOLVED, Resolution.DISMISSED), False),
    ((Resolution.RESOLVED, Resolution.RESOLVED), False),
    ((Resolution.DISMISSED, Resolution.RESOLVED), False),
    ((Resolution.ESCALATED, Resolution.RESOLVED, Resolution.DISMISSED), False),
    ((Resolution.TIMEOUT, Resolution.DISMISSED, Resolution.RESOLVED), False),
]


@pytest.mark.parametrize(("steps", "allowed"), LEGAL)
async def test_halt_is_settled_once_and_an_escalated_one_once_more(
    store: Store, make: Maker, steps: tuple[Resolution, ...], allowed: bool
) -> None:
    session = await make.opened(store)
    halt = await make.halted(store, session)

    def step(resolution: Resolution) -> Halt:
        if resolution is Resolution.TIMEOUT:
            return replace(halt, resolution=resolution)
        return make.settled(halt, resolution)

    for resolution in steps[:-1]:
        await make.write(store, settled_halts=(step(resolution),))
    before = await store.find_halt(halt.id)
    if allowed:
        await make.write(store, settled_halts=(step(steps[-1]),))
        assert await store.find_halt(halt.id) == step(steps[-1])
        return
    with pytest.raises(ImmutableRecord):
        await make.write(store, settled_halts=(step(steps[-1]),))
    assert await store.find_halt(halt.id) == before


async def test_unknown_halt_cannot_be_settled(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    with pytest.raises(Conflict):
        await make.write(store, settled_halts=(make.settled(make.halt(session), Resolution.RESOLVED),))


async def test_same_halt_is_not_recorded_twice(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    halt = await make.halted(store, session)
    with pytest.raises(ImmutableRecord):
        await make.write(store, new_halts=(replace(halt, description="harmless"),))
    assert await store.find_halt(halt.id) == halt


async def test_strikes_are_counted_for_each_task(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    one = Strikes(session.id, "one", 1, make.at)
    none = Strikes(session.id, "", 2, make.at)
    again = Strikes(
        session.id, "one", 2, make.at + timedelta(seconds=1), reset_at=make.at, reset_by="human:ada"
    )
    for strikes in (one, none, again):
        await make.write(store, strikes=strikes)
    assert await store.list_strikes(session.id) == (none, again)
    assert (await store.view(SessionLookup(session_id=session.id, task_id="one"))).strikes == again
    assert (await store.view(SessionLookup(session_id=session.id))).strikes == none
    assert (await store.view(SessionLookup(session_id=session.id, task_id="two"))).strikes is None
    assert await store.list_strikes("not an identifier") == ()


async def test_recent_errors_are_the_tasks_latest_ten_since_its_reset(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    second = timedelta(seconds=1)
    strikes = tuple(
        make.strike(session, n, f"error {n}", triggered_at=make.at + n * second) for n in range(1, 14)
    )
    other = make.strike(session, 1, "of another task", task_id=None, triggered_at=make.at + 20 * second)
    without_error = make.halt(session, attempt_count=3, triggered_at=make.at + 21 * second)
    await make.write(store, new_halts=(*strikes, other, without_error))
    await make.write(store, strikes=Strikes(session.id, "task", 13, make.at))
    lookup = SessionLookup(session_id=session.id, task_id="task")
    assert (await store.view(lookup)).recent_errors == tuple(f"error {n}" for n in range(4, 14))
    await make.write(store, strikes=Strikes(session.id, "task", 2, make.at, reset_at=make.at + 11 * second))
    assert (await store.view(lookup)).recent_errors == ("error 12", "error 13")


async def test_recent_errors_of_work_without_a_task(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    strike = make.strike(session, 1, "boom", task_id=None)
    await make.write(store, new_halts=(strike,), strikes=Strikes(session.id, "", 1, make.at))
    assert (await store.view(SessionLookup(session_id=session.id))).recent_errors == ("boom",)


async def test_view_carries_waivers_that_are_not_used_up(database: Database, make: Maker) -> None:
    store = await database.store()
    session = await make.opened(store)
    lasting = make.waiver(session, single_use=False)
    expired = make.waiver(session, expires_at=make.at - timedelta(hours=1), created_at=make.at + timedelta(1))
    used = make.waiver(session)
    await make.write(store, new_waivers=(used, expired, lasting))
    await make.write(store, used_waivers=(used.id,))
    assert (await store.view(SessionLookup(session_id=session.id))).waivers == (lasting, expired)
    await make.write(store, used_waivers=(lasting.id,))
    seen = (await store.view(SessionLookup(session_id=session.id))).waivers
    assert seen == (replace(lasting, used_at=database.clock.now), expired)


@pytest.mark.parametrize("what", ["used", "unknown"])
async def test_waiver_that_cannot_be_used_fails_the_whole_change(
    store: Store, make: Maker, what: str
) -> None:
    session = await make.opened(store)
    waiver = make.waiver(session)
    if what == "used":
        await make.write(store, new_waivers=(waiver,))
        await make.write(store, used_waivers=(waiver.id,))
    halt = make.halt(session)
    with pytest.raises(Conflict):
        await make.write(store, new_halts=(halt,), used_waivers=(waiver.id,), audit=(make.event(),))
    assert await store.find_halt(halt.id) is None
    assert await store.audit_entries(0, 10) == ()


async def test_guidance_is_seen_until_it_is_delivered(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    first = make.message(session)
    second = make.message(session, created_at=make.at + timedelta(seconds=1))
    notification = make.message(session, kind=MessageKind.NOTIFICATION)
    await make.write(store, new_messages=(second, first, notification))
    lookup = SessionLookup(session_id=session.id)
    assert (await store.view(lookup)).guidance == (first, second)
    await make.write(store, delivered_messages=(first.id,))
    assert (await store.view(lookup)).guidance == (second,)
    with pytest.raises(Conflict):
        await make.write(store, delivered_messages=(first.id,))


async def test_message_is_owed_once_for_its_key(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    first = make.message(session, dedup_key="same")
    await make.write(store, new_messages=(first,))
    await make.write(store, new_messages=(make.message(session, dedup_key="same"),))
    assert (await store.view(SessionLookup(session_id=session.id))).guidance == (first,)


async def test_cancelled_notification_is_owed_no_more(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    halt = await make.halted(store, session)
    notification = make.message(session, kind=MessageKind.NOTIFICATION, halt_id=halt.id)
    guidance = make.message(session, halt_id=halt.id)
    other = make.message(session, kind=MessageKind.NOTIFICATION)
    await make.write(store, new_messages=(notification, guidance, other))
    await make.write(store, cancelled_messages_of=(halt.id,))
    with pytest.raises(Conflict):
        await make.write(store, delivered_messages=(notification.id,))
    await make.write(store, delivered_messages=(other.id, guidance.id))


async def test_reads_are_loaded_when_asked_for(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    read = FileRead(session.id, "/src/a.py", "h1", make.at)
    again = replace(read, content_hash="h2", read_at=make.at + timedelta(seconds=1))
    other = FileRead(session.id, "/src/b.py", None, make.at)
    await make.write(store, reads=(read, other))
    await make.write(store, reads=(again,))
    assert (await store.view(SessionLookup(session_id=session.id))).reads == ()
    assert (await store.view(SessionLookup(session_id=session.id, with_reads=True))).reads == (again, other)


async def test_transition_that_raises_writes_nothing(store: Store, make: Maker) -> None:
    session = await make.opened(store)

    def refuse(_view: SessionView, _now: datetime) -> Changes:
        raise NotPermitted("no")

    with pytest.raises(NotPermitted, match="no"):
        await store.change(SessionLookup(session_id=session.id), refuse)
    assert (await store.view(SessionLookup(session_id=session.id))).session == session
    assert await store.audit_entries(0, 10) == ()


UNSTORABLE = [
    ({"description": "a\x00b"}, "description"),
    ({"description": "a\ud800b"}, "description"),
    ({"context": {"a": "\x00"}}, "context"),
    ({"context": {"a": "\udfff"}}, "context"),
    ({"context": {"a": float("nan")}}, "context"),
    ({"context": {"a": object()}}, "context"),
    ({"attempt_count": 2**31}, "attempt_count"),
    ({"task_id": "t" * 2001}, "task_id"),
    ({"task_id": "ä" * 1001}, "task_id"),
]


@pytest.mark.parametrize(("columns", "name"), UNSTORABLE)
async def test_what_no_database_can_hold_is_refused_by_name(
    store: Store, make: Maker, columns: dict[str, object], name: str
) -> None:
    session = await make.opened(store)
    halt = make.halt(session, **columns)
    with pytest.raises(InvalidInput, match=f"^{name}: "):
        await make.write(store, new_halts=(halt,))
    assert await store.find_halt(halt.id) is None


@pytest.mark.parametrize(
    "text", ["\\u0000", "\\\\u0000", "ä✗😀", "%s %(x)s :name ?", "'; DROP TABLE sessions; --"]
)
async def test_odd_text_comes_back_as_it_went_in(store: Store, make: Maker, text: str) -> None:
    session = await make.opened(store)
    halt = await make.halted(store, session, description=text, context={text: [text]})
    assert await store.find_halt(halt.id) == halt


async def test_list_halts_pages_from_the_newest(store: Store, make: Maker) -> None:
    session, other = await make.opened(store), await make.opened(store)
    halts = [make.halt(session, triggered_at=make.at + timedelta(seconds=n)) for n in range(5)]
    await make.write(store, new_halts=(*halts, make.halt(other)))
    page = await store.list_halts(HaltQuery(session_id=session.id, limit=2, offset=1))
    assert page.halts == (halts[3], halts[2])
    assert (page.total_count, page.unacknowledged_count) == (5, 5)
    everywhere = await store.list_halts(HaltQuery())
    assert (everywhere.total_count, everywhere.unacknowledged_count) == (6, 6)


async def test_list_halts_filters(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    scope = make.halt(session, halt_type=HaltType.SCOPE, severity=Severity.HIGH)
    strike = make.strike(session, 1, "boom")
    settled = make.halt(session)
    await make.write(store, new_halts=(scope, strike, settled))
    await make.write(store, settled_halts=(make.settled(settled, Resolution.RESOLVED),))

    async def ids(**filters: object) -> set[str]:
        page = await store.list_halts(HaltQuery(session_id=session.id, **filters))  # type: ignore[arg-type]
        assert page.total_count == len(page.halts)
        assert page.unacknowledged_count == 1
        return {halt.id for halt in page.halts}

    assert await ids() == {scope.id, strike.id}
    assert await ids(include_acknowledged=True) == {scope.id, strike.id, settled.id}
    assert await ids(halt_type=HaltType.SCOPE) == {scope.id}
    assert await ids(severity=Severity.LOW) == {strike.id}
    assert await ids(severity=Severity.LOW, halt_type=HaltType.SCOPE) == set()


async def test_list_halts_that_are_open(store: Store, make: Maker) -> None:
    session, other = await make.opened(store), await make.opened(store)
    waiting, escalated, resolved = make.halt(session), make.halt(session), make.halt(session)
    elsewhere = make.halt(other)
    await make.write(
        store, new_halts=(waiting, escalated, resolved, elsewhere, make.strike(session, 1, "boom"))
    )
    settled = make.settled(escalated, Resolution.ESCALATED), make.settled(resolved, Resolution.RESOLVED)
    await make.write(store, settled_halts=settled)
    of_session = await store.list_halts(HaltQuery(session_id=session.id, open_only=True))
    assert {halt.id for halt in of_session.halts} == {waiting.id, escalated.id}
    assert (of_session.total_count, of_session.unacknowledged_count) == (2, 1)
    everywhere = await store.list_halts(HaltQuery(open_only=True))
    assert {halt.id for halt in everywhere.halts} == {waiting.id, escalated.id, elsewhere.id}


async def test_list_halts_of_no_session_is_empty(store: Store, make: Maker) -> None:
    await make.halted(store, await make.opened(store))
    page = await store.list_halts(HaltQuery(session_id="not an identifier"))
    assert (page.halts, page.total_count, page.unacknowledged_count) == ((), 0, 0)


async def test_list_sessions_by_state(store: Store, make: Maker) -> None:
    old = await make.opened(store)
    new = await make.opened(store, created_at=make.at + timedelta(1), state=SessionState.HALTED)
    await make.opened(store, state=SessionState.CLOSED)
    wanted = frozenset({SessionState.ACTIVE, SessionState.HALTED})
    assert await store.list_sessions(wanted, 10, 0) == ((new, old), 2)
    assert await store.list_sessions(wanted, 1, 1) == ((old,), 2)
    assert await store.list_sessions(frozenset(), 10, 0) == ((), 0)


async def test_new_database_has_the_default_configuration(store: Store) -> None:
    rows = await store.condition_rows()
    assert [row.condition_name for row in rows] == sorted(row.condition_name for row in DEFAULT_CONDITIONS)
    by_name = {row.condition_name: row for row in rows}
    for default in DEFAULT_CONDITIONS:
        row = by_name[default.condition_name]
        assert (row.halt_type, row.severity) == (default.halt_type, default.severity)
        assert json.loads(row.threshold or "") == json.loads(default.threshold)
        assert (row.enabled, row.auto_escalate) == (True, False)
        assert row.escalate_after_minutes == default.escalate_after_minutes


async def test_change_condition(store: Store, make: Maker) -> None:
    def transition(row: ConditionRow | None, now: datetime) -> Changes:
        assert row is not None
        return Changes(
            condition=replace(
                row, enabled=False, severity="low", threshold='{"max_attempts":5}', updated_at=now
            ),
            audit=(make.event("three_strikes"),),
        )

    changed = (await store.change_condition("three_strikes", transition)).condition
    assert changed is not None
    found = {row.condition_name: row for row in await store.condition_rows()}["three_strikes"]
    assert json.loads(found.threshold or "") == {"max_attempts": 5}
    assert replace(found, threshold=changed.threshold) == changed
    assert len(await store.audit_entries(0, 10)) == 1


async def test_condition_that_is_not_there_is_none_and_can_be_made(store: Store, make: Maker) -> None:
    template = (await store.condition_rows())[0]
    custom = replace(template, id=new_uuid(), condition_name="custom", threshold=None)
    seen: list[object] = []

    def transition(row: object, _now: datetime) -> Changes:
        seen.append(row)
        return Changes(condition=custom)

    await store.change_condition("custom", transition)
    assert seen == [None]
    assert custom in await store.condition_rows()


async def test_keys_are_made_found_and_revoked_once(database: Database, make: Maker) -> None:
    store = await database.store()
    key = make.key()
    await store.change_key(None, lambda found, _n: Changes(new_key=key) if found is None else Changes())
    other = make.key(created_at=make.at + timedelta(1))
    await store.change_key(None, lambda _f, _n: Changes(new_key=other))
    assert await store.find_key(key.key_hash) == key
    assert await store.find_key("unknown") is None
    assert await store.list_keys() == (key, other)
    seen: list[object] = []

    def revoke(found: object, _now: datetime) -> Changes:
        seen.append(found)
        return Changes(revoked_key=key.id)

    await store.change_key(key.id, revoke)
    assert seen == [key]
    assert await store.find_key(key.key_hash) == replace(key, revoked_at=database.clock.now)
    with pytest.raises(Conflict):
        await store.change_key(key.id, revoke)
    with pytest.raises(Conflict):
        await store.change_key(
            None, lambda _f, _n: Changes(new_key=replace(make.key(), key_hash=key.key_hash))
        )


async def test_audit_entries_continue_one_chain(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    await make.write(store, audit=(make.event("one"), make.event("two", session_id=session.id)))
    await make.write(store, audit=(make.event("three", payload={"ä": ["✗", None, 1.5]}),))
    entries = await store.audit_entries(0, 10)
    assert [entry.subject for entry in entries] == ["one", "two", "three"]
    verdict = audit.verify(entries)
    assert verdict == audit.AuditVerdict(audit.AuditHead(3, entries[-1].hash))
    assert await store.audit_entries(1, 1) == entries[1:2]
    assert await store.audit_entries(3, 10) == ()


async def test_claim_overdue_hands_over_sessions_with_an_overdue_halt(
    database: Database, make: Maker
) -> None:
    store = await database.store()
    session, quiet = await make.opened(store), await make.opened(store)
    due = await make.halted(store, session, escalate_at=make.at + timedelta(minutes=30))
    await make.halted(store, quiet, escalate_at=make.at + timedelta(minutes=31))
    await make.halted(store, quiet, escalate_at=None)

    def time_out(view: SessionView, now: datetime) -> Changes:
        overdue = tuple(halt for halt in view.open_halts if halt.is_overdue_at(now))
        return Changes(
            settled_halts=tuple(
                replace(halt, resolution=Resolution.TIMEOUT, updated_at=now) for halt in overdue
            ),
            audit=tuple(make.event(halt.id) for halt in overdue),
        )

    database.clock.move(minutes=30, microseconds=-1)
    assert await store.claim_overdue(time_out, 10) == ()
    database.clock.move(microseconds=1)
    claimed = await store.claim_overdue(time_out, 10)
    assert [halt.id for changes in claimed for halt in changes.settled_halts] == [due.id]
    assert await store.claim_overdue(time_out, 10) == ()
    database.clock.move(days=1)
    assert len(await store.claim_overdue(time_out, 10)) == 1


@pytest.mark.parametrize(
    "resolution", [Resolution.RESOLVED, Resolution.DISMISSED, Resolution.ESCALATED, Resolution.TIMEOUT]
)
async def test_answered_halt_is_not_claimed(database: Database, make: Maker, resolution: Resolution) -> None:
    store = await database.store()
    session = await make.opened(store)
    halt = await make.halted(store, session, escalate_at=make.at)
    timeout = resolution is Resolution.TIMEOUT
    settled = replace(halt, resolution=resolution) if timeout else make.settled(halt, resolution)
    await make.write(store, settled_halts=(settled,))
    database.clock.move(days=1)
    assert await store.claim_overdue(lambda _v, _n: Changes(), 10) == ()


async def test_claim_overdue_takes_the_longest_overdue_up_to_its_limit(
    database: Database, make: Maker
) -> None:
    store = await database.store()
    halts = []
    for minutes in (3, 1, 2):
        session = await make.opened(store)
        halts.append(await make.halted(store, session, escalate_at=make.at + timedelta(minutes=minutes)))
    database.clock.move(hours=1)
    seen: list[str] = []

    def note(view: SessionView, _now: datetime) -> Changes:
        seen.extend(halt.id for halt in view.open_halts)
        return Changes()

    await store.claim_overdue(note, 2)
    assert seen == [halts[1].id, halts[2].id]


async def test_session_that_cannot_be_claimed_does_not_keep_the_others_waiting(
    database: Database, make: Maker
) -> None:
    store = await database.store()
    sessions = [await make.opened(store) for _ in range(3)]
    for n, session in enumerate(sessions):
        await make.halted(store, session, escalate_at=make.at + timedelta(minutes=n))
    database.clock.move(hours=1)

    def poisoned(view: SessionView, _now: datetime) -> Changes:
        if view.session == sessions[0]:
            raise ZeroDivisionError
        return Changes(
            settled_halts=tuple(replace(h, resolution=Resolution.TIMEOUT) for h in view.open_halts)
        )

    assert len(await store.claim_overdue(poisoned, 10)) == 2
    with pytest.raises(ZeroDivisionError):
        await store.claim_overdue(poisoned, 10)


async def test_archive_moves_settled_and_low_halts_only(database: Database, make: Maker) -> None:
    store = await database.store()
    session = await make.opened(store)
    old = make.at - timedelta(days=100)
    still_open = make.halt(session, triggered_at=old)
    escalated = make.halt(session, triggered_at=old)
    resolved = make.halt(session, triggered_at=old)
    strike = make.strike(session, 1, "boom", triggered_at=old)
    recent = make.halt(session)
    await make.write(store, new_halts=(still_open, escalated, resolved, strike, recent))
    done = tuple(make.settled(halt, Resolution.RESOLVED) for halt in (resolved, recent))
    await make.write(store, settled_halts=(*done, make.settled(escalated, Resolution.ESCALATED)))
    assert await store.archive(make.at - timedelta(days=90), 10, "service:cron") == 2
    assert await store.archive(make.at - timedelta(days=90), 10, "service:cron") == 0
    live = await store.list_halts(HaltQuery(session_id=session.id, include_acknowledged=True))
    assert {halt.id for halt in live.halts} == {still_open.id, escalated.id, recent.id}
    assert await store.find_halt(resolved.id) == done[0]
    assert (await store.view(SessionLookup(session_id=session.id, halt_id=strike.id))).halt == strike
    (entry,) = await store.audit_entries(0, 10)
    assert (entry.actor, entry.action) == ("service:cron", "halts_archived")
    assert set(json.loads(entry.payload)["halt_ids"]) == {resolved.id, strike.id}


async def test_archive_takes_the_oldest_up_to_its_limit(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    strikes = [make.strike(session, 1, "boom", triggered_at=make.at - timedelta(days=n)) for n in (1, 3, 2)]
    await make.write(store, new_halts=tuple(strikes))
    assert await store.archive(make.at, 2, "service:cron") == 2
    live = await store.list_halts(HaltQuery(session_id=session.id))
    assert [halt.id for halt in live.halts] == [strikes[0].id]


async def test_archived_halt_is_not_recorded_again(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    strike = make.strike(session, 1, "boom", triggered_at=make.at - timedelta(days=100))
    await make.write(store, new_halts=(strike,))
    await store.archive(make.at, 10, "service:cron")
    with pytest.raises(ImmutableRecord):
        await make.write(store, new_halts=(strike,))


async def test_all_halts_merges_the_archive_in_order(store: Store, make: Maker) -> None:
    session = await make.opened(store)
    halts = [
        make.strike(session, 1, "boom", triggered_at=make.at - timedelta(days=100 * (n % 2)))
        for n in range(6)
    ]
    await make.write(store, new_halts=tuple(halts))
    assert await store.archive(make.at - timedelta(days=90), 10, "service:cron") == 3
    in_order = sorted(halts, key=lambda halt: halt.id)
    assert await store.all_halts("", 100) == tuple(in_order)
    assert await store.all_halts(in_order[1].id, 3) == tuple(in_order[2:5])
    assert await store.all_halts(in_order[-1].id, 3) == ()


async def test_health_says_which_store_it_is(database: Database) -> None:
    health = await (await database.store()).health()
    assert health.facts["store"] == database.kind


async def test_start_and_close_are_harmless_when_repeated(database: Database, make: Maker) -> None:
    store = await database.store()
    session = await make.opened(store)
    await store.start()
    assert (await store.view(SessionLookup(session_id=session.id))).session == session
    await store.close()
    await store.close()


async def test_what_one_store_writes_another_one_reads(durable: Database, make: Maker) -> None:
    first, second = await durable.store(), await durable.store()
    session = await make.opened(first)
    await first.close()
    assert (await second.view(SessionLookup(token_hash=session.token_hash))).session == session
