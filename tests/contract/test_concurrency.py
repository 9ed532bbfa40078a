"""Many at once: nothing is lost, nothing is doubled, and whoever loses is told."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import anyio
import pytest

from haltline.domain import Resolution, SessionState
from haltline.errors import AlreadySettled, Conflict
from haltline.records import Changes, HaltQuery, SessionLookup, SessionView, Strikes
from haltline.store import Store, audit

if TYPE_CHECKING:
    from datetime import datetime

    from tests.conftest import Database, Maker

    from haltline.records import Halt, Session

pytestmark = pytest.mark.anyio

WRITERS = 16
BOUND = 60.0


async def assert_chain_holds(store: Store, length: int) -> None:
    entries = await store.audit_entries(0, length + 1)
    verdict = audit.verify(entries)
    assert verdict.broken is None
    assert verdict.head.sequence == length


async def stores(database: Database, number: int) -> list[Store]:
    """Return several stores on one database, as several processes would have."""
    return [await database.store() for _ in range(number)]


async def test_of_two_acknowledgements_one_wins_and_the_other_is_told(
    database: Database, make: Maker
) -> None:
    opened = await stores(database, 2)
    session = await make.opened(opened[0])
    halt = await make.halted(opened[0], session)
    told: list[AlreadySettled] = []

    async def acknowledge(store: Store, name: str) -> None:
        def transition(view: SessionView, now: datetime) -> Changes:
            found = view.halt
            assert found is not None
            if found.acknowledged:
                assert found.acknowledged_by is not None
                assert found.acknowledged_at is not None
                raise AlreadySettled(found.id, found.acknowledged_by, found.acknowledged_at, "resolved")
            settled = make.settled(found, Resolution.RESOLVED, acknowledged_by=name, acknowledged_at=now)
            return Changes(settled_halts=(settled,), audit=(make.event(name),))

        try:
            await store.change(SessionLookup(session_id=session.id, halt_id=halt.id), transition)
        except AlreadySettled as error:
            told.append(error)

    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as group:
            group.start_soon(acknowledge, opened[0], "human:ada")
            group.start_soon(acknowledge, opened[-1], "human:bob")
    settled = await opened[0].find_halt(halt.id)
    assert settled is not None
    assert [error.settled_by for error in told] == [settled.acknowledged_by]
    await assert_chain_holds(opened[0], 2)


async def test_one_waiver_lets_one_action_through(database: Database, make: Maker) -> None:
    opened = await stores(database, 4)
    session = await make.opened(opened[0])
    waiver = make.waiver(session)
    await make.write(opened[0], new_waivers=(waiver,))
    outcomes: list[str] = []

    async def use(store: Store) -> None:
        lookup = SessionLookup(session_id=session.id)
        seen = await store.view(lookup)
        await anyio.lowlevel.checkpoint()
        used = tuple(found.id for found in seen.waivers)
        try:
            await store.change(lookup, lambda _v, _n: Changes(used_waivers=used or (waiver.id,)))
        except Conflict:
            outcomes.append("refused")
        else:
            outcomes.append("passed")

    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as group:
            for n in range(8):
                group.start_soon(use, opened[n % len(opened)])
    assert Counter(outcomes) == {"passed": 1, "refused": 7}


async def test_one_session_is_opened_however_many_try(database: Database, make: Maker) -> None:
    opened = await stores(database, 4)

    def open_or_take(view: SessionView, now: datetime) -> Changes:
        if view.session is not None:
            return Changes(session=view.session)
        return Changes(
            session=make.session(token_hash="same", created_at=now, updated_at=now), audit=(make.event(),)
        )

    sessions: list[Session | None] = []

    async def open_session(store: Store) -> None:
        changes = await store.change(SessionLookup(token_hash="same"), open_or_take)
        sessions.append(changes.session)

    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as group:
            for n in range(WRITERS):
                group.start_soon(open_session, opened[n % len(opened)])
    assert len(sessions) == WRITERS
    assert len(set(sessions)) == 1
    await assert_chain_holds(opened[0], 1)


async def test_sixteen_writers_count_every_strike(database: Database, make: Maker) -> None:
    opened = await stores(database, 4)
    session = await make.opened(opened[0])

    def strike(view: SessionView, now: datetime) -> Changes:
        attempts = (view.strikes.attempts if view.strikes else 0) + 1
        row = make.strike(session, attempts, "boom", triggered_at=now)
        return Changes(
            strikes=Strikes(session.id, "task", attempts, now), new_halts=(row,), audit=(make.event(row.id),)
        )

    async def write(store: Store) -> None:
        for _ in range(5):
            await store.change(SessionLookup(session_id=session.id, task_id="task"), strike)

    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as group:
            for n in range(WRITERS):
                group.start_soon(write, opened[n % len(opened)])
    (strikes,) = await opened[0].list_strikes(session.id)
    assert strikes.attempts == WRITERS * 5
    page = await opened[0].list_halts(HaltQuery(session_id=session.id, limit=200))
    assert sorted(halt.attempt_count or 0 for halt in page.halts) == list(range(1, WRITERS * 5 + 1))
    await assert_chain_holds(opened[0], WRITERS * 5)


PROCESSES = """
import json, os, sys
import anyio
from haltline.domain import HaltType, Severity
from haltline.errors import StoreUnavailable
from haltline.records import AuditEvent, Changes, Halt, SessionLookup, Strikes
from haltline.store import new_uuid, open_store

url, session_id, writers, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

def record(view, now):
    attempts = (view.strikes.attempts if view.strikes else 0) + 1
    columns = (HaltType.SECURITY, Severity.HIGH, "c", "d", {}, now, now, now)
    halt = Halt(new_uuid(), session_id, "task", *columns)
    return Changes(
        strikes=Strikes(session_id, "task", attempts, now),
        new_halts=(halt,),
        audit=(AuditEvent("agent", "halt.recorded", halt.id, session_id, {}),),
    )

async def write(start):
    store = open_store(url)
    await store.start()
    os.read(start, 1)  # ends when the parent lets go of the other end
    lookup = SessionLookup(session_id=session_id, task_id="task")
    left = rounds
    while left:
        try:
            changes = await store.change(lookup, record)
        except StoreUnavailable:  # a busy machine may starve a writer; it wrote nothing
            continue
        os.write(1, changes.new_halts[0].id.encode() + b"\\n")
        left -= 1
    await store.close()

open_store(url)  # imports what the children need, once
start, go = os.pipe()
children = []
for _ in range(writers):
    child = os.fork()
    if child == 0:
        os.close(go)
        anyio.run(write, start)
        os._exit(0)
    children.append(child)
os.close(go)
failed = [child for child in children if os.waitpid(child, 0)[1] != 0]
sys.exit(len(failed))
"""


async def test_sixteen_processes_lose_and_double_nothing(durable: Database, make: Maker) -> None:
    store = await durable.store()
    session = await make.opened(store)
    rounds = 4
    command = [sys.executable, "-c", PROCESSES, durable.url, session.id, str(WRITERS), str(rounds)]
    with anyio.fail_after(BOUND):
        done = await anyio.run_process(command, check=False)
    assert done.returncode == 0, done.stderr.decode()
    recorded = done.stdout.decode().split()
    page = await store.list_halts(HaltQuery(session_id=session.id, limit=500))
    assert sorted(halt.id for halt in page.halts) == sorted(recorded)
    assert page.total_count == WRITERS * rounds
    (strikes,) = await store.list_strikes(session.id)
    assert strikes.attempts == WRITERS * rounds
    await assert_chain_holds(store, WRITERS * rounds)


async def test_four_sweeps_claim_each_of_two_thousand_halts_once(database: Database, make: Maker) -> None:
    opened = await stores(database, 4)
    overdue: list[Halt] = []
    for _ in range(100):
        session = make.session()
        halts = tuple(make.halt(session, escalate_at=make.at) for _ in range(20))
        overdue += halts
        await make.write(opened[0], session=session, new_halts=halts)
    database.clock.move(hours=1)
    claimed: list[str] = []

    def time_out(view: SessionView, now: datetime) -> Changes:
        assert view.session is not None
        due = tuple(halt for halt in view.open_halts if halt.is_overdue_at(now))
        assert due
        return Changes(
            session=replace(view.session, state=SessionState.PAUSED, updated_at=now),
            settled_halts=tuple(replace(h, resolution=Resolution.TIMEOUT, updated_at=now) for h in due),
            audit=tuple(make.event(halt.id) for halt in due),
        )

    async def sweep(store: Store) -> None:
        while changes := await store.claim_overdue(time_out, 60):
            claimed.extend(halt.id for change in changes for halt in change.settled_halts)

    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as group:
            for n in range(4):
                group.start_soon(sweep, opened[n % len(opened)])
    await sweep(opened[0])  # what lay in the batch of another when the last one looked
    assert len(claimed) == 2000
    assert set(claimed) == {halt.id for halt in overdue}
    paused, number = await opened[0].list_sessions(frozenset({SessionState.PAUSED}), 1, 0)
    assert (len(paused), number) == (1, 100)
    await assert_chain_holds(opened[0], 2000)


async def test_acknowledgement_wins_over_a_sweep(database: Database, make: Maker) -> None:
    opened = await stores(database, 2)
    halts = []
    for _ in range(20):
        session = await make.opened(opened[0])
        halts.append(await make.halted(opened[0], session, escalate_at=make.at))
    database.clock.move(hours=1)

    def time_out(view: SessionView, now: datetime) -> Changes:
        due = tuple(halt for halt in view.open_halts if halt.is_overdue_at(now))
        return Changes(settled_halts=tuple(replace(halt, resolution=Resolution.TIMEOUT) for halt in due))

    async def acknowledge(halt: Halt) -> None:
        def transition(view: SessionView, _now: datetime) -> Changes:
            assert view.halt is not None
            return Changes(settled_halts=(make.settled(view.halt, Resolution.RESOLVED),))

        await opened[0].change(SessionLookup(session_id=halt.session_id, halt_id=halt.id), transition)

    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as group:
            group.start_soon(opened[-1].claim_overdue, time_out, 100)
            for halt in halts:
                group.start_soon(acknowledge, halt)
    found = [await opened[0].find_halt(halt.id) for halt in halts]
    assert [halt.resolution for halt in found if halt] == [Resolution.RESOLVED] * 20


async def test_archiving_beside_writing_loses_nothing(database: Database, make: Maker) -> None:
    opened = await stores(database, 3)
    session = await make.opened(opened[0])
    old = make.at - timedelta(days=100)
    strikes = [make.strike(session, n, "boom", triggered_at=old) for n in range(60)]
    for start in range(0, 60, 20):
        await make.write(opened[0], new_halts=tuple(strikes[start : start + 20]))
    moved: list[int] = []

    async def archive(store: Store) -> None:
        before = make.at - timedelta(days=90)
        moved.extend([await store.archive(before, 10, "service:cron") for _ in range(6)])

    async def record(store: Store) -> None:
        for _ in range(10):
            await make.halted(store, session)

    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as group:
            group.start_soon(archive, opened[0])
            group.start_soon(archive, opened[-1])
            group.start_soon(record, opened[1 % len(opened)])
    assert sum(moved) == 60
    assert len(await opened[0].all_halts("", 100)) == 70
    entries = await opened[0].audit_entries(0, 100)
    assert audit.verify(entries).broken is None
    archived = [json.loads(e.payload)["halt_ids"] for e in entries if e.action == "halts_archived"]
    assert sorted(i for ids in archived for i in ids) == sorted(strike.id for strike in strikes)


async def test_threads_share_one_memory_store(make: Maker) -> None:
    from haltline.store.memory import MemoryStore

    store = MemoryStore()
    session = make.session()
    await make.write(store, session=session)

    def strike(view: SessionView, now: datetime) -> Changes:
        attempts = (view.strikes.attempts if view.strikes else 0) + 1
        return Changes(strikes=Strikes(session.id, "", attempts, now), audit=(make.event(),))

    def work() -> None:
        async def many() -> None:
            for _ in range(50):
                await store.change(SessionLookup(session_id=session.id), strike)

        anyio.run(many)

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(anyio.to_thread.run_sync, work)
    (strikes,) = await store.list_strikes(session.id)
    assert strikes.attempts == 400
    await assert_chain_holds(store, 400)
