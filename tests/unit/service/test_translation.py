"""From requests and records to facts, from findings and records to answers: nothing is lost or made up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from haltline.conditions.facts import ToolCall
from haltline.domain import Finding, HaltType, Resolution, SessionState, Severity
from haltline.records import (
    ConditionRow,
    FileRead,
    Halt,
    Message,
    MessageKind,
    Session,
    SessionView,
    Strikes,
)
from haltline.service.translation import (
    annotations_of,
    event_of,
    facts_of,
    guidance_of,
    reason_of,
    reason_of_halt,
    stored_values_of,
)
from haltline.wire import CheckHaltConditionsInput, parse

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SESSION = Session("s-1", "0" * 64, "nightly", "bot", SessionState.ACTIVE, NOW, NOW)
EMPTY = SessionView(SESSION)


def request(changes: dict[str, Any] | None = None, **context: Any) -> CheckHaltConditionsInput:
    given = {"session_token": "s", "task_id": "t", "current_context": {"operation": "edit", **context}}
    return parse(CheckHaltConditionsInput, given | ({"proposed_changes": changes} if changes else {}), {})


def test_every_declared_field_is_a_fact() -> None:
    facts = facts_of(
        request(
            changes={
                "files_to_modify": ["b"],
                "has_tests": False,
                "has_rollback_plan": False,
                "tests_pass": True,
                "contents": {"b": "x"},
                "dependents": {"b": ["c"]},
            },
            target_files=["a"],
            files_read=["r"],
            attempt_number=2,
            previous_errors=["e"],
            uncertainty_score=3,
            environment="dev",
            commands=["ls"],
            scope_boundary="src/**",
            user_instructions=["Fix src/a.py"],
            tool_arguments={"k": 1},
            outputs=["o"],
            credentials=["KEY"],
            services={"dev": ["db"]},
            recent_responses=["hello"],
            recent_calls=[{"tool": "t", "arguments": [1], "failed": True}],
        ),
        EMPTY,
        "/work",
    )
    action = facts.action
    assert (
        action.operation,
        action.target_files,
        action.commands,
        action.environment,
        action.tool_arguments,
    ) == (
        "edit",
        ("a",),
        ("ls",),
        "dev",
        {"k": 1},
    )
    assert action.changes is not None
    assert (
        action.changes.files_to_modify,
        action.changes.has_tests,
        action.changes.has_rollback_plan,
        action.changes.tests_pass,
        action.changes.contents,
        action.changes.dependents,
    ) == (("b",), False, False, True, {"b": "x"}, {"b": ("c",)})
    assert (facts.task_id, facts.files_read, facts.declared_attempts, facts.errors) == (
        "t",
        ("r",),
        2,
        ("e",),
    )
    assert (facts.uncertainty, facts.scope_boundary, facts.instructions) == (3, "src/**", ("Fix src/a.py",))
    assert (facts.outputs, facts.credentials, facts.services) == (("o",), ("KEY",), {"dev": ("db",)})
    assert (facts.recent_responses, facts.recent_calls) == (("hello",), (ToolCall("t", [1], True),))
    assert facts.workspace == "/work"


def test_what_is_not_declared_is_empty_or_unknown() -> None:
    facts = facts_of(request(), EMPTY, None)
    assert facts.action.changes is None
    assert (facts.action.environment, facts.uncertainty, facts.declared_attempts, facts.scope_boundary) == (
        None,
        None,
        None,
        None,
    )
    assert (facts.files_read, facts.errors, facts.action.commands, facts.action.paths) == ((), (), (), ())


@pytest.mark.parametrize(
    ("ledger", "declared", "counted"),
    [
        pytest.param((), ["a"], ("a",), id="nobody keeps a ledger"),
        pytest.param(("b",), ["a"], ("b",), id="the ledger wins over what is declared"),
        pytest.param(("b",), None, ("b",), id="nothing is declared"),
    ],
)
def test_what_was_seen_to_be_read_outweighs_what_is_declared(
    ledger: tuple[str, ...], declared: list[str] | None, counted: tuple[str, ...]
) -> None:
    view = SessionView(SESSION, reads=tuple(FileRead("s-1", path, None, NOW) for path in ledger))
    assert facts_of(request(files_read=declared), view, None).files_read == counted


@pytest.mark.parametrize(
    ("declared", "recorded", "attempts"), [(None, None, 0), (1, None, 1), (None, 2, 2), (1, 2, 2), (5, 2, 5)]
)
def test_the_recorded_count_of_the_task_counts(
    declared: int | None, recorded: int | None, attempts: int
) -> None:
    strikes = None if recorded is None else Strikes("s-1", "t", recorded, NOW)
    facts = facts_of(request(attempt_number=declared), SessionView(SESSION, strikes=strikes), None)
    assert facts.attempts == attempts
    assert facts.recorded_attempts == (recorded or 0)


@pytest.mark.parametrize(
    ("recorded", "declared", "errors"),
    [
        ((), [], ()),
        (("a",), [], ("a",)),
        ((), ["a"], ("a",)),
        (("a",), ["a"], ("a",)),
        (("a",), ["b"], ("a", "b")),
        (("a", "b"), ["b", "c"], ("a", "b", "c")),
        (("a",), ["a", "a"], ("a", "a")),
        (("a", "a"), ["a"], ("a", "a")),
    ],
)
def test_an_error_that_is_recorded_and_declared_is_one(
    recorded: tuple[str, ...], declared: list[str], errors: tuple[str, ...]
) -> None:
    facts = facts_of(request(previous_errors=declared), SessionView(SESSION, recent_errors=recorded), None)
    assert facts.errors == errors
    assert facts.recorded_errors == recorded


def a_finding(**fields: Any) -> Finding:
    given: dict[str, Any] = {
        "condition_name": "out_of_scope",
        "halt_type": HaltType.SCOPE,
        "severity": Severity.HIGH,
        "description": "Outside",
    }
    return Finding(**{**given, **fields})


@pytest.mark.parametrize(("halt_id", "recorded"), [(None, False), ("h-1", True)])
def test_a_finding_is_reported_with_the_halt_that_stands_for_it(halt_id: str | None, recorded: bool) -> None:
    reason = reason_of(a_finding(), halt_id)
    assert reason.model_dump() == {
        "halt_type": "scope",
        "condition_name": "out_of_scope",
        "severity": "high",
        "description": "Outside",
        "auto_recorded": recorded,
        "halt_id": halt_id,
    }


def test_annotations_of_several_findings_are_put_together() -> None:
    annotations = annotations_of(
        (
            a_finding(annotations={"files_not_read": ["a"]}),
            a_finding(annotations={"files_not_read": ["b"], "conflicting_instructions": ["c"]}),
            a_finding(),
        )
    )
    assert annotations is not None
    assert annotations.model_dump(exclude_none=True) == {
        "files_not_read": ["a", "b"],
        "conflicting_instructions": ["c"],
    }


def test_without_annotations_there_are_none() -> None:
    assert annotations_of((a_finding(), a_finding())) is None
    assert annotations_of(()) is None


HALT = Halt(
    id="h-1",
    session_id="s-1",
    task_id="t",
    halt_type=HaltType.SCOPE,
    severity=Severity.HIGH,
    condition_name="out_of_scope",
    description="Outside",
    context={"operation": "edit"},
    triggered_at=NOW,
    created_at=NOW,
    updated_at=NOW,
    attempt_count=2,
    previous_error="e",
    escalate_at=NOW,
)


def test_an_open_halt_is_listed_as_it_is() -> None:
    assert event_of(HALT).model_dump() == {
        "halt_id": "h-1",
        "halt_type": "scope",
        "severity": "high",
        "description": "Outside",
        "triggered_at": "2026-03-01T12:00:00.000000Z",
        "acknowledged": False,
        "acknowledged_at": None,
        "resolution": None,
        "session_id": "s-1",
        "task_id": "t",
        "condition_name": "out_of_scope",
        "acknowledged_by": None,
        "resolution_notes": None,
        "attempt_count": 2,
        "previous_error": "e",
        "context": {"operation": "edit"},
        "escalate_at": "2026-03-01T12:00:00.000000Z",
    }


def test_a_settled_halt_is_listed_with_who_settled_it_how_and_when() -> None:
    settled = replace(
        HALT,
        acknowledged=True,
        acknowledged_at=NOW,
        acknowledged_by="human:maria",
        resolution=Resolution.DISMISSED,
        resolution_notes="Known",
        context=None,
        escalate_at=None,
    )
    event = event_of(settled)
    assert (event.acknowledged, event.acknowledged_at, event.acknowledged_by) == (
        True,
        "2026-03-01T12:00:00.000000Z",
        "human:maria",
    )
    assert (event.resolution, event.resolution_notes, event.context, event.escalate_at) == (
        "dismissed",
        "Known",
        None,
        None,
    )


def test_a_listed_context_is_a_copy() -> None:
    context = {"operation": "edit"}
    event = event_of(replace(HALT, context=context))
    context["operation"] = "changed"
    assert event.context == {"operation": "edit"}


@pytest.mark.parametrize(("condition", "shown"), [("out_of_scope", "out_of_scope"), (None, "scope")])
def test_an_open_halt_is_reported_under_its_condition_or_else_its_type(
    condition: str | None, shown: str
) -> None:
    reason = reason_of_halt(replace(HALT, condition_name=condition, auto_recorded=True))
    assert (reason.condition_name, reason.halt_id, reason.auto_recorded) == (shown, "h-1", True)


def test_guidance_is_handed_on_as_it_was_written() -> None:
    payload = {
        "halt_id": "h",
        "condition_name": None,
        "resolution": "resolved",
        "text": "Go",
        "by": "human:m",
    }
    message = Message("m", MessageKind.GUIDANCE, "k", "s-1", "h", payload, NOW)
    assert guidance_of(message).model_dump() == payload


def test_a_stored_row_is_shown_as_it_is_however_senseless() -> None:
    row = ConditionRow("1", "x", "y", True, "z", "{", False, -1, NOW, NOW)
    assert stored_values_of(row) == {
        "condition_name": "x",
        "halt_type": "y",
        "enabled": True,
        "severity": "z",
        "threshold": "{",
        "auto_escalate": False,
        "escalate_after_minutes": -1,
    }
