"""What a check answers: standing halts, delivered guidance, failures."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from haltline.conditions.configuration import parse_rows
from haltline.conditions.facts import Action, Facts
from haltline.domain import Finding, HaltType, ReasonCode, Resolution, SessionState, Severity
from haltline.lifecycle import failed_check_halt, halt_from_finding
from haltline.records import Changes, Halt, Message, MessageKind, Session, SessionLookup, SessionView
from haltline.service.answers import Judged, answer, failure, unanswered, unrecorded
from haltline.verdict import VerdictRules, decide, failure_action, standing_halt

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SESSION = Session("s-1", "0" * 64, "nightly", "bot", SessionState.ACTIVE, NOW, NOW)
HALTED = replace(SESSION, state=SessionState.HALTED)
PAUSED = replace(SESSION, state=SessionState.PAUSED)


def found(severity: Severity, name: str = "out_of_scope", **fields: Any) -> Finding:
    return Finding(name, HaltType.SCOPE, severity, f"{name} found", {"of": name}, **fields)


def an_open_halt(halt_id: str = "h-1", severity: Severity = Severity.HIGH, **fields: Any) -> Halt:
    given: dict[str, Any] = {
        "id": halt_id,
        "session_id": "s-1",
        "task_id": None,
        "halt_type": HaltType.SECURITY,
        "severity": severity,
        "condition_name": "secrets_exposure",
        "description": "A secret",
        "context": None,
        "triggered_at": NOW,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Halt(**{**given, **fields})


def judged(
    *findings: Finding,
    session: Session | None = SESSION,
    open_halts: tuple[Halt, ...] = (),
    guidance: tuple[Message, ...] = (),
    waived: tuple[Finding, ...] = (),
) -> Judged:
    return Judged(
        lookup=SessionLookup(session_id="s-1"),
        view=SessionView(session, open_halts=open_halts, guidance=guidance),
        open_as=None,
        facts=Facts(Action("edit")),
        findings=findings,
        waived=waived,
        used_waivers=(),
        verdict=decide(findings, VerdictRules()),
        configuration=parse_rows(()),
    )


def new_halt(of: Finding, halt_id: str = "new") -> Any:
    return halt_from_finding(
        halt_id, of, None, task_id=None, action={"operation": "edit"}, action_digest="a" * 64, attempts=0
    )


def test_nothing_found_proceeds() -> None:
    result = answer(judged(), False, {}, None, ())
    assert result.model_dump(exclude_none=True) == {
        "should_halt": False,
        "halt_reasons": [],
        "highest_severity": "low",
        "recommended_action": "Proceed.",
        "verdict": "proceed",
        "guidance": [],
        "session_state": "active",
        "waived": [],
    }


def test_a_session_that_is_not_open_yet_counts_as_active() -> None:
    assert answer(judged(session=None), False, {}, None, ()).session_state is SessionState.ACTIVE


def test_a_finding_is_reported_with_the_halt_that_was_recorded_for_it() -> None:
    critical, low = found(Severity.CRITICAL), found(Severity.LOW, "data_exposure")
    changes = Changes(session=HALTED)
    result = answer(
        judged(critical, low), False, {critical.evidence_digest: "new"}, changes, (new_halt(critical),)
    )
    assert [(r.condition_name, r.auto_recorded, r.halt_id) for r in result.halt_reasons] == [
        ("out_of_scope", True, "new"),
        ("data_exposure", False, None),
    ]
    assert (result.should_halt, result.highest_severity, result.session_state) == (True, "critical", "halted")
    assert result.event_stored == "database"


@pytest.mark.parametrize(("session", "state"), [(HALTED, SessionState.HALTED), (PAUSED, SessionState.PAUSED)])
def test_standing_halts_halt_whatever_was_found(session: Session, state: SessionState) -> None:
    result = answer(judged(session=session, open_halts=(an_open_halt(),)), True, {}, None, ())
    assert (result.should_halt, result.verdict, result.highest_severity) == (True, "halt", "high")
    assert [(r.condition_name, r.halt_id) for r in result.halt_reasons] == [("secrets_exposure", "h-1")]
    assert result.recommended_action == standing_halt(state)
    assert result.session_state is state


def test_an_open_halt_that_was_found_again_is_listed_once() -> None:
    again = found(Severity.HIGH)
    result = answer(
        judged(again, session=HALTED, open_halts=(an_open_halt(), an_open_halt("h-2"))),
        True,
        {again.evidence_digest: "h-1"},
        Changes(session=HALTED),
        (new_halt(again),),
    )
    assert [reason.halt_id for reason in result.halt_reasons] == ["h-1", "h-2"]


def test_the_severest_of_found_and_standing_is_the_highest() -> None:
    standing = (an_open_halt(severity=Severity.CRITICAL),)
    result = answer(judged(found(Severity.LOW), session=HALTED, open_halts=standing), True, {}, None, ())
    assert result.highest_severity == "critical"


def test_open_halts_count_although_the_sessions_row_says_active() -> None:
    escalated = an_open_halt(acknowledged=True, resolution=Resolution.ESCALATED)
    for halts, state in (((an_open_halt(),), SessionState.HALTED), ((escalated,), SessionState.PAUSED)):
        result = answer(judged(session=SESSION, open_halts=halts), True, {}, None, ())
        assert result.session_state is state
        assert result.recommended_action == standing_halt(state)


def test_a_read_that_passes_in_a_halted_session_lists_no_open_halts() -> None:
    result = answer(judged(session=HALTED, open_halts=(an_open_halt(),)), False, {}, None, ())
    assert (result.should_halt, result.halt_reasons, result.session_state) == (False, [], "halted")


def test_a_failed_check_says_so_even_in_a_halted_session() -> None:
    failed = found(Severity.CRITICAL, reason_code=ReasonCode.CHECK_FAILED)
    result = answer(judged(failed, session=HALTED, open_halts=(an_open_halt(),)), True, {}, None, ())
    assert result.reason_code is ReasonCode.CHECK_FAILED
    assert result.recommended_action == failure_action(ReasonCode.CHECK_FAILED)


def message(number: str) -> Message:
    payload = {
        "halt_id": "h",
        "condition_name": None,
        "resolution": "resolved",
        "text": number,
        "by": "human:m",
    }
    return Message(number, MessageKind.GUIDANCE, number, "s-1", "h", payload, NOW)


def test_guidance_is_shown_only_when_it_was_delivered() -> None:
    of = judged(guidance=(message("1"), message("2")))
    assert answer(of, False, {}, None, ()).guidance == []
    changes = Changes(session=SESSION, delivered_messages=("2",))
    assert [item.text for item in answer(of, False, {}, changes, ()).guidance] == ["2"]


def test_what_a_person_has_settled_before_is_named() -> None:
    result = answer(judged(waived=(found(Severity.HIGH),)), False, {}, None, ())
    assert (result.should_halt, result.waived) == (False, ["out_of_scope"])


def test_halts_that_the_database_could_not_take_halt_and_name_the_failure() -> None:
    high, low = found(Severity.HIGH), found(Severity.LOW, "data_exposure")
    result = unrecorded(
        judged(high, low), (new_halt(high),), ReasonCode.DATABASE_UNAVAILABLE, "no answer", "spool"
    )
    assert (result.should_halt, result.highest_severity, result.verdict) == (True, "critical", "halt")
    assert [(r.condition_name, r.halt_id, r.auto_recorded) for r in result.halt_reasons] == [
        ("out_of_scope", "new", True),
        ("data_exposure", None, False),
        ("check_failed", None, False),
    ]
    assert result.halt_reasons[-1].description == "Halt check failed: no answer"
    assert (result.reason_code, result.event_stored) == (ReasonCode.DATABASE_UNAVAILABLE, "spool")
    assert result.recommended_action == failure_action(ReasonCode.DATABASE_UNAVAILABLE)


@pytest.mark.parametrize("reason", ReasonCode)
@pytest.mark.parametrize(("stored", "recorded"), [("database", True), ("spool", True), ("nowhere", False)])
def test_a_check_that_could_not_be_made_is_a_critical_halt(
    reason: ReasonCode, stored: Any, recorded: bool
) -> None:
    halt = failed_check_halt("new", reason, "Halt check failed: why", task_id=None)
    result = failure(halt, reason, SessionState.HALTED, stored, "new")
    assert (result.should_halt, result.highest_severity, result.verdict) == (True, "critical", "halt")
    (told,) = result.halt_reasons
    assert (told.condition_name, told.severity, told.description) == (
        "check_failed",
        "critical",
        "Halt check failed: why",
    )
    assert (told.auto_recorded, told.halt_id) == (recorded, "new")
    assert (result.reason_code, result.event_stored, result.session_state) == (reason, stored, "halted")
    assert result.recommended_action == failure_action(reason)


@pytest.mark.parametrize("reason", ReasonCode)
def test_the_last_resort_halts_too(reason: ReasonCode) -> None:
    result = unanswered(reason, "x" * 10_000)
    assert (result.should_halt, result.highest_severity, result.verdict) == (True, "critical", "halt")
    assert (result.reason_code, result.event_stored) == (reason, "nowhere")
    assert len(result.halt_reasons[0].description) == 4000
