"""Whatever happens in whatever order, an agent frees itself of nothing and every halt is answered once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.unit.lifecycle.world import AGENT, BEN, MARIA, ROBOT, ROOT, World, new_halt

from haltline import lifecycle
from haltline.domain import HaltType, Principal, PrincipalKind, Resolution, SessionState, Severity
from haltline.errors import AlreadySettled, Conflict, InvalidInput, NotPermitted
from haltline.records import Halt, Strikes

PEOPLE = (MARIA, BEN, ROOT)
FINAL = frozenset({Resolution.RESOLVED, Resolution.DISMISSED})

tasks = st.sampled_from([None, "one", "two"])
severities = st.sampled_from(Severity)
digests = st.sampled_from(["d1", "d2", "d3"])


class AnySequence(RuleBasedStateMachine):
    """Random operations of an agent, of people and of the sweep on one session."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.answers: dict[str, list[Resolution]] = {}

    @property
    def closed(self) -> bool:
        return self.world.state is SessionState.CLOSED

    def refused_when_closed(self, operation: Any, *arguments: Any, **options: Any) -> None:
        if not self.closed:
            operation(*arguments, **options)
            return
        with pytest.raises(Conflict):
            operation(*arguments, **options)

    # What an agent can do: none of it makes an open halt disappear or a count smaller.

    def as_agent(self, operation: Any, *arguments: Any, **options: Any) -> None:
        open_before = {halt.id for halt in self.world.open_halts}
        strikes_before = dict(self.world.strikes)
        self.refused_when_closed(operation, *arguments, **options)
        assert {halt.id for halt in self.world.open_halts} >= open_before
        for task, strikes in strikes_before.items():
            assert self.world.strikes[task].attempts >= strikes.attempts

    @rule(
        severity=severities,
        evidence=digests,
        task=tasks,
        by_check=st.booleans(),
        execution=st.booleans(),
        minutes=st.sampled_from([None, 1, 10]),
    )
    def record(
        self,
        severity: Severity,
        evidence: str,
        task: str | None,
        by_check: bool,
        execution: bool,
        minutes: int | None,
    ) -> None:
        halt = new_halt(
            severity=severity,
            evidence_digest=evidence,
            task_id=task,
            auto_recorded=by_check,
            halt_type=HaltType.EXECUTION if execution else HaltType.SECURITY,
            condition_name="repeated_errors" if execution else "secrets_exposure",
            single_use=severity is Severity.CRITICAL,
            escalate_after_minutes=minutes,
        )
        self.as_agent(self.world.record, halt)
        if not self.closed and severity is not Severity.LOW:
            assert any(
                known.condition_name == halt.condition_name and known.severity is severity
                for known in self.world.open_halts
            )

    @rule(task=tasks, declared=st.none() | st.integers(0, 6))
    def strike(self, task: str | None, declared: int | None) -> None:
        before = self.count(task)
        self.as_agent(self.world.strike, task_id=task, declared=declared)
        if not self.closed:
            assert self.count(task) == max(before + 1, declared or 0)

    @rule()
    def close_as_agent(self) -> None:
        if self.closed or not self.world.open_halts:
            self.world.close(AGENT)
            return
        with pytest.raises(NotPermitted):
            self.world.close(AGENT)

    @rule()
    @precondition(lambda self: self.world.view().guidance)
    def receive_guidance(self) -> None:
        owed = frozenset(message.id for message in self.world.view().guidance)
        self.as_agent(self.world.record, hand_over=owed)

    @rule(data=st.data())
    @precondition(lambda self: self.world.view().waivers)
    def use_a_waiver(self, data: st.DataObject) -> None:
        waiver = data.draw(st.sampled_from(self.world.view().waivers))
        if waiver.single_use:
            self.as_agent(self.world.record, used_waivers=(waiver.id,))

    # What people, services and the sweep can do.

    @rule(
        data=st.data(),
        resolution=st.sampled_from([Resolution.RESOLVED, Resolution.DISMISSED, Resolution.ESCALATED]),
        actor=st.sampled_from([*PEOPLE, ROBOT]),
        notes=st.sampled_from([None, "Looked at it"]),
        caution=st.booleans(),
    )
    @precondition(lambda self: self.world.halts)
    def settle(
        self,
        data: st.DataObject,
        resolution: Resolution,
        actor: Principal,
        notes: str | None,
        caution: bool,
    ) -> None:
        halt = data.draw(st.sampled_from(list(self.world.halts.values())))
        refusal = self.refusal(halt, resolution, actor, careful=caution and bool(notes))
        if refusal is not None:
            with pytest.raises(refusal):
                self.world.settle(halt, resolution, actor, notes=notes, caution=caution)
            assert self.world.halts[halt.id] == halt
            return
        self.world.settle(halt, resolution, actor, notes=notes, caution=caution)
        self.answers.setdefault(halt.id, []).append(resolution)

    @staticmethod
    def refusal(
        halt: Halt, resolution: Resolution, actor: Principal, *, careful: bool
    ) -> type[Exception] | None:
        """Return what a settlement must be refused with, or None when it must be taken."""
        if halt.severity is Severity.LOW:
            return Conflict
        if halt.resolution in FINAL:
            return AlreadySettled
        if halt.resolution is not None:
            if resolution is Resolution.ESCALATED:
                return AlreadySettled
            if actor not in PEOPLE:
                return NotPermitted
        if resolution is Resolution.DISMISSED and halt.severity is Severity.CRITICAL and not careful:
            return InvalidInput
        return None

    @rule(minutes=st.sampled_from([0, 1, 5]))
    def sweep(self, minutes: int) -> None:
        self.world.wait(minutes=minutes)
        waiting = {halt.id for halt in self.world.open_halts}
        waivers = len(self.world.waivers)
        self.world.sweep()
        assert {halt.id for halt in self.world.open_halts} == waiting
        assert len(self.world.waivers) == waivers

    @rule(task=tasks, actor=st.sampled_from(PEOPLE))
    def reset(self, task: str | None, actor: Principal) -> None:
        self.refused_when_closed(self.world.reset, task, actor)
        if not self.closed:
            assert self.count(task) == 0

    @rule(reads=st.dictionaries(st.sampled_from(["a", "b"]), st.none(), min_size=1))
    def read(self, reads: dict[str, None]) -> None:
        transition = lifecycle.record_reads(reads, open_as=None, actor=ROBOT)
        self.refused_when_closed(self.world.run, transition)

    @rule(actor=st.sampled_from(PEOPLE), really=st.sampled_from([True] + [False] * 9))
    def close(self, actor: Principal, really: bool) -> None:
        if really:
            self.world.close(actor)
            assert self.closed

    def count(self, task: str | None) -> int:
        strikes: Strikes | None = self.world.strikes.get(task or "")
        return strikes.attempts if strikes else 0

    # What holds at every moment.

    @invariant()
    def the_state_says_what_the_open_halts_say(self) -> None:
        session = self.world.session
        assert session is not None
        assert (session.state is SessionState.CLOSED) == (session.closed_at is not None)
        if session.state is SessionState.CLOSED:
            return
        resolutions = {halt.resolution for halt in self.world.open_halts}
        if resolutions & {Resolution.ESCALATED, Resolution.TIMEOUT}:
            assert session.state is SessionState.PAUSED
        else:
            assert session.state is (SessionState.HALTED if resolutions else SessionState.ACTIVE)

    @invariant()
    def a_closed_session_was_closed_once_and_stays_closed(self) -> None:
        assert len(self.world.events("session.closed")) == (1 if self.closed else 0)

    @invariant()
    def each_halt_is_answered_once_with_the_one_exception(self) -> None:
        for halt_id, answers in self.answers.items():
            assert sum(answer in FINAL for answer in answers) <= 1
            assert answers.count(Resolution.ESCALATED) <= 1
            assert answers[-1] is self.world.halts[halt_id].resolution
        for halt in self.world.halts.values():
            timed_out = halt.resolution is Resolution.TIMEOUT
            assert halt.acknowledged == (halt.resolution is not None and not timed_out)
            assert halt.acknowledged == (halt.acknowledged_by is not None)
            assert halt.acknowledged == bool(self.answers.get(halt.id))

    @invariant()
    def the_audit_log_has_every_change(self) -> None:
        world = self.world
        assert {event.subject for event in world.events("halt.recorded")} == set(world.halts)
        settled = [
            (event.subject, event.payload["resolution"]) for event in world.events("halt.acknowledged")
        ]
        expected = [(halt_id, answer) for halt_id, answers in self.answers.items() for answer in answers]
        assert sorted(settled) == sorted(expected)
        used = {waiver.id for waiver in world.waivers.values() if waiver.used_at}
        assert {event.subject for event in world.events("waiver.used")} == used
        assert all(PrincipalKind(event.actor.split(":")[0]) for event in world.audit)

    @invariant()
    def a_waiver_stands_for_a_final_settlement(self) -> None:
        for waiver in self.world.waivers.values():
            halt = self.world.halts[waiver.halt_id]
            assert halt.resolution in FINAL
            assert halt.acknowledged_by == waiver.created_by
            assert (waiver.expires_at is not None) == (halt.severity is Severity.CRITICAL)


TestAnySequence = AnySequence.TestCase
TestAnySequence.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)
