"""The operations' inputs and outputs: the specification's fields, the limits, and errors without secrets."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltline import wire
from haltline.errors import InvalidInput
from haltline.wire import (
    AcknowledgeHaltInput,
    CheckHaltConditionsInput,
    CurrentContext,
    GetSessionHaltsInput,
    Input,
    ProposedChangesInput,
    RecordAttemptInput,
    RecordHaltInput,
    UpdateHaltConfigInput,
    parse,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

KIBI = 1024

SPECIFIED = {
    "CheckHaltConditionsInput": "session_token task_id? current_context proposed_changes?",
    "CurrentContext": (
        "operation target_files? files_read? attempt_number? previous_errors? uncertainty_score? "
        "environment? commands? scope_boundary? user_instructions?"
    ),
    "ProposedChangesInput": "files_to_modify has_tests has_rollback_plan",
    "CheckHaltConditionsOutput": (
        "should_halt halt_reasons highest_severity recommended_action context_annotations?"
    ),
    "ContextAnnotations": "files_not_read? conflicting_instructions? similar_previous_errors?",
    "HaltReason": "halt_type condition_name severity description auto_recorded halt_id?",
    "RecordHaltInput": (
        "session_token task_id? halt_type condition_name? description severity context? attempt_count? "
        "previous_error? auto_escalate?"
    ),
    "RecordHaltContext": "file_paths? commands? error_messages? uncertainty_score? attempt_number?",
    "RecordHaltOutput": "halt_id recorded_at requires_acknowledgment escalation_triggered?",
    "AcknowledgeHaltInput": (
        "session_token halt_id resolution resolution_notes? acknowledged_by? continue_with_caution?"
    ),
    "AcknowledgeHaltOutput": "confirmed halt_id acknowledged_at session_can_resume warnings?",
    "GetSessionHaltsInput": "session_token include_acknowledged? halt_type? severity? limit? offset?",
    "GetSessionHaltsOutput": "total_count halts unacknowledged_count",
    "HaltEvent": (
        "halt_id halt_type severity description triggered_at acknowledged acknowledged_at? resolution?"
    ),
    "UpdateHaltConfigInput": (
        "condition_name enabled? severity? threshold? auto_escalate? escalate_after_minutes?"
    ),
    "UpdateHaltConfigOutput": "updated previous_values current_values",
}
"""The specification's interfaces, field for field, in order; a question mark says that it is optional."""


@pytest.mark.parametrize(("name", "fields"), SPECIFIED.items(), ids=SPECIFIED)
def test_a_model_begins_with_the_fields_of_the_specification(name: str, fields: str) -> None:
    model: type[BaseModel] = getattr(wire, name)
    specified = fields.split()
    ours = [
        field if info.is_required() else f"{field}?"
        for field, info in list(model.model_fields.items())[: len(specified)]
    ]
    assert ours == specified


@pytest.mark.parametrize(("name", "fields"), SPECIFIED.items(), ids=SPECIFIED)
def test_what_a_model_has_besides_may_be_left_out(name: str, fields: str) -> None:
    model: type[BaseModel] = getattr(wire, name)
    added = list(model.model_fields.items())[len(fields.split()) :]
    answers_only = {"verdict"}
    assert [field for field, info in added if info.is_required() and field not in answers_only] == []


CHECK = {"session_token": "s", "current_context": {"operation": "edit"}}
RECORD = {"session_token": "s", "halt_type": "scope", "description": "Out", "severity": "high"}
ACKNOWLEDGE = {"session_token": "s", "halt_id": "h", "resolution": "resolved"}
CHANGES = {"files_to_modify": ["a"], "has_tests": True, "has_rollback_plan": True}


def context(**fields: Any) -> dict[str, Any]:
    return {"session_token": "s", "current_context": {"operation": "edit", **fields}}


def changes(**fields: Any) -> dict[str, Any]:
    return {**CHECK, "proposed_changes": {**CHANGES, **fields}}


def record(**fields: Any) -> dict[str, Any]:
    return {**RECORD, **fields}


def check(request: Any) -> CheckHaltConditionsInput:
    parsed: CheckHaltConditionsInput = parse(CheckHaltConditionsInput, request, {})
    return parsed


MINIMAL: list[tuple[type[Input], dict[str, Any]]] = [
    (CheckHaltConditionsInput, CHECK),
    (RecordHaltInput, RECORD),
    (AcknowledgeHaltInput, ACKNOWLEDGE),
    (GetSessionHaltsInput, {"session_token": "s"}),
    (UpdateHaltConfigInput, {"condition_name": "three_strikes"}),
    (RecordAttemptInput, {"session_token": "s"}),
]


@pytest.mark.parametrize(("model", "request_"), MINIMAL, ids=[model.__name__ for model, _ in MINIMAL])
class TestEveryInput:
    def test_is_read_with_its_required_fields_alone(
        self, model: type[Input], request_: dict[str, Any]
    ) -> None:
        assert parse(model, request_, {}).model_dump(exclude_unset=True) == request_

    def test_is_read_from_keywords(self, model: type[Input], request_: dict[str, Any]) -> None:
        assert parse(model, None, request_) == parse(model, request_, {})

    def test_is_read_from_its_model(self, model: type[Input], request_: dict[str, Any]) -> None:
        assert parse(model, parse(model, request_, {}), {}) == parse(model, request_, {})

    def test_needs_each_required_field(self, model: type[Input], request_: dict[str, Any]) -> None:
        for name in request_:
            with pytest.raises(InvalidInput, match=f"{name}: Field required"):
                parse(model, {k: v for k, v in request_.items() if k != name}, {})

    def test_refuses_a_field_that_it_does_not_know(
        self, model: type[Input], request_: dict[str, Any]
    ) -> None:
        with pytest.raises(InvalidInput, match="comands: Extra inputs are not permitted"):
            parse(model, {**request_, "comands": []}, {})

    def test_refuses_what_is_no_object(self, model: type[Input], request_: dict[str, Any]) -> None:
        for wrong in ([request_], "text", 7, True, object()):
            with pytest.raises(InvalidInput, match=f"{model.__name__}: expected an object, got"):
                parse(model, cast("Any", wrong), {})


@pytest.mark.parametrize("model", [model for model, _ in MINIMAL])
def test_an_empty_request_is_refused(model: type[Input]) -> None:
    requests: tuple[Any, ...] = (None, {})
    for empty in requests:
        with pytest.raises(InvalidInput, match="Field required"):
            parse(model, empty, {})


def test_keywords_complete_a_mapping_and_win_over_it() -> None:
    parsed = parse(CheckHaltConditionsInput, {**CHECK, "task_id": "a"}, {"task_id": "b"})
    assert parsed.task_id == "b"


def test_keywords_complete_a_model_and_win_over_it() -> None:
    parsed = parse(CheckHaltConditionsInput, check(CHECK), {"task_id": "b"})
    assert (parsed.session_token, parsed.task_id) == ("s", "b")


def test_a_request_may_hold_models() -> None:
    nested = {"session_token": "s", "current_context": CurrentContext(operation="edit", commands=["ls"])}
    assert check(nested).current_context.commands == ["ls"]


@pytest.mark.parametrize(
    ("request_", "place"),
    [
        pytest.param(context(comands=["rm"]), "current_context.comands", id="context"),
        pytest.param(changes(has_test=True), "proposed_changes.has_test", id="changes"),
        pytest.param(
            context(recent_calls=[{"tool": "t", "failed": True, "args": 1}]),
            "current_context.recent_calls.0.args",
            id="call",
        ),
    ],
)
def test_a_misspelt_field_inside_is_refused_with_its_place(request_: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidInput, match=f"{place}: Extra inputs are not permitted"):
        check(request_)


@pytest.mark.parametrize(
    ("request_", "place"),
    [
        (context(operation=1), "current_context.operation"),
        (context(operation=None), "current_context.operation"),
        (context(operation=b"edit"), "current_context.operation"),
        (context(commands="rm -rf /"), "current_context.commands"),
        (context(commands=[1]), "current_context.commands.0"),
        (context(commands=("ls",)), "current_context.commands"),
        (context(attempt_number="3"), "current_context.attempt_number"),
        (context(attempt_number=2.5), "current_context.attempt_number"),
        (context(attempt_number=True), "current_context.attempt_number"),
        (context(uncertainty_score="9"), "current_context.uncertainty_score"),
        (context(uncertainty_score=True), "current_context.uncertainty_score"),
        (context(services=[["test", "db"]]), "current_context.services"),
        (changes(has_tests="false"), "proposed_changes.has_tests"),
        (changes(has_rollback_plan=0), "proposed_changes.has_rollback_plan"),
        (changes(files_to_modify=None), "proposed_changes.files_to_modify"),
        ({**CHECK, "session_token": 5}, "session_token"),
        ({**CHECK, "current_context": []}, "current_context"),
    ],
)
def test_a_wrong_type_is_refused_and_not_converted(request_: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(request_)
    assert any(problem.startswith(f"{place}: ") for problem in refused.value.problems)


@pytest.mark.parametrize(
    ("model", "request_", "place"),
    [
        (RecordHaltInput, record(severity="severe"), "severity"),
        (RecordHaltInput, record(severity="HIGH"), "severity"),
        (RecordHaltInput, record(halt_type="Scope"), "halt_type"),
        (AcknowledgeHaltInput, {**ACKNOWLEDGE, "resolution": "timeout"}, "resolution"),
        (AcknowledgeHaltInput, {**ACKNOWLEDGE, "resolution": "approved"}, "resolution"),
        (GetSessionHaltsInput, {"session_token": "s", "severity": "none"}, "severity"),
        (UpdateHaltConfigInput, {"condition_name": "x", "severity": "off"}, "severity"),
    ],
)
def test_a_word_outside_the_vocabulary_is_refused(
    model: type[Input], request_: dict[str, Any], place: str
) -> None:
    with pytest.raises(InvalidInput, match=f"{place}: Input should be"):
        parse(model, request_, {})


def paths(count: int) -> list[str]:
    return [f"p{number}" for number in range(count)]


def nested(levels: int) -> Any:
    """Return an object with so many levels of lists inside."""
    value: Any = "leaf"
    for _ in range(levels):
        value = [value]
    return value


LIMITS: dict[str, tuple[type[Input], Callable[[int], dict[str, Any]], int]] = {
    "description": (RecordHaltInput, lambda n: record(description="x" * n), 4000),
    "description in any script": (RecordHaltInput, lambda n: record(description="🛑" * n), 4000),
    "operation": (CheckHaltConditionsInput, lambda n: context(operation="x" * n), 4000),
    "resolution notes": (
        AcknowledgeHaltInput,
        lambda n: {**ACKNOWLEDGE, "resolution_notes": "x" * n},
        4000,
    ),
    "command": (CheckHaltConditionsInput, lambda n: context(commands=["x" * n]), 64 * KIBI),
    "command of a halt": (
        RecordHaltInput,
        lambda n: record(context={"commands": ["x" * n]}),
        64 * KIBI,
    ),
    "target files": (CheckHaltConditionsInput, lambda n: context(target_files=paths(n)), 1000),
    "files read": (CheckHaltConditionsInput, lambda n: context(files_read=paths(n)), 1000),
    "files to modify": (CheckHaltConditionsInput, lambda n: changes(files_to_modify=paths(n)), 1000),
    "file paths of a halt": (
        RecordHaltInput,
        lambda n: record(context={"file_paths": paths(n)}),
        1000,
    ),
    "dependents of a file": (
        CheckHaltConditionsInput,
        lambda n: changes(dependents={"a": paths(n)}),
        1000,
    ),
    "files with dependents": (
        CheckHaltConditionsInput,
        lambda n: changes(dependents={path: [] for path in paths(n)}),
        1000,
    ),
    "files with content": (
        CheckHaltConditionsInput,
        lambda n: changes(contents=dict.fromkeys(paths(n), "")),
        1000,
    ),
    "content": (CheckHaltConditionsInput, lambda n: changes(contents={"a": "x" * n}), KIBI * KIBI),
    "contents together": (
        CheckHaltConditionsInput,
        lambda n: changes(contents={"a": "x" * (n // 2), "b": "x" * (n - n // 2)}),
        KIBI * KIBI,
    ),
    "content in bytes": (
        CheckHaltConditionsInput,
        lambda n: changes(contents={"a": "é" * (n // 2) + "x" * (n % 2)}),
        KIBI * KIBI,
    ),
    "services of an environment": (
        CheckHaltConditionsInput,
        lambda n: context(services={"test": paths(n)}),
        1000,
    ),
    "environments with services": (
        CheckHaltConditionsInput,
        lambda n: context(services={path: [] for path in paths(n)}),
        1000,
    ),
    "session token": (CheckHaltConditionsInput, lambda n: {**CHECK, "session_token": "x" * n}, 500),
    "task": (CheckHaltConditionsInput, lambda n: {**CHECK, "task_id": "🛑" * n}, 500),
    "path": (CheckHaltConditionsInput, lambda n: context(target_files=["x" * n]), 4096),
    "page": (GetSessionHaltsInput, lambda n: {"session_token": "s", "limit": n}, 1000),
    "uncertainty": (CheckHaltConditionsInput, lambda n: context(uncertainty_score=n), 10),
    "nesting of a list": (
        CheckHaltConditionsInput,
        lambda n: context(tool_arguments=nested(n - 2)),
        32,
    ),
    "nesting of an object": (
        CheckHaltConditionsInput,
        lambda n: context(tool_arguments=json.loads('{"a":' * (n - 2) + "1" + "}" * (n - 2))),
        32,
    ),
}


@pytest.mark.parametrize(("model", "make", "limit"), LIMITS.values(), ids=LIMITS)
def test_a_limit_is_reached_and_not_passed(
    model: type[Input], make: Callable[[int], dict[str, Any]], limit: int
) -> None:
    parse(model, make(limit), {})
    with pytest.raises(InvalidInput):
        parse(model, make(limit + 1), {})


@pytest.mark.parametrize(
    ("model", "request_"),
    [
        (CheckHaltConditionsInput, {**CHECK, "session_token": ""}),
        (CheckHaltConditionsInput, {**CHECK, "task_id": ""}),
        (CheckHaltConditionsInput, context(operation="")),
        (CheckHaltConditionsInput, context(target_files=[""])),
        (CheckHaltConditionsInput, context(attempt_number=-1)),
        (CheckHaltConditionsInput, context(uncertainty_score=-0.5)),
        (CheckHaltConditionsInput, context(uncertainty_score=10.5)),
        (RecordHaltInput, record(description="")),
        (RecordHaltInput, record(attempt_count=-1)),
        (GetSessionHaltsInput, {"session_token": "s", "limit": 0}),
        (GetSessionHaltsInput, {"session_token": "s", "offset": -1}),
        (UpdateHaltConfigInput, {"condition_name": "x", "escalate_after_minutes": 0}),
    ],
)
def test_what_is_empty_or_below_its_least_value_is_refused(
    model: type[Input], request_: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput):
        parse(model, request_, {})


HOSTILE: dict[str, Any] = {
    "NUL": "a\x00b",
    "a lone high surrogate": "a\ud800b",
    "a lone low surrogate": "\udfff",
    "NaN": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "bytes": b"text",
    "a date": datetime(2026, 3, 1, tzinfo=UTC),
    "a set": {"a"},
    "an object": object(),
    "a huge number": 10**400,
}

PLACES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "current_context.operation": lambda value: context(operation=value),
    "current_context.commands.1": lambda value: context(commands=["ls", value]),
    "current_context.tool_arguments": lambda value: context(tool_arguments=value),
    "current_context.tool_arguments.deep.0.key": lambda value: context(
        tool_arguments={"deep": [{"key": value}]}
    ),
    "current_context.recent_calls.0.arguments": lambda value: context(
        recent_calls=[{"tool": "t", "failed": True, "arguments": value}]
    ),
    "session_token": lambda value: {**CHECK, "session_token": value},
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(("place", "make"), PLACES.items(), ids=PLACES)
def test_a_value_that_cannot_be_stored_is_refused_with_its_place(
    place: str, make: Callable[[Any], dict[str, Any]], value: Any
) -> None:
    with pytest.raises(InvalidInput, match=f"^{place}: "):
        check(make(value))


def test_a_hostile_text_inside_a_model_is_refused() -> None:
    hostile = CurrentContext(operation="a\x00b")
    with pytest.raises(InvalidInput, match=r"current_context\.operation"):
        check({"session_token": "s", "current_context": hostile})
    with pytest.raises(InvalidInput, match=r"current_context\.operation"):
        check(CheckHaltConditionsInput(session_token="s", current_context=hostile))


def test_a_model_that_was_made_without_validation_is_validated() -> None:
    unchecked = CheckHaltConditionsInput.model_construct(
        session_token="s", current_context=CurrentContext.model_construct(operation="x" * 4001)
    )
    with pytest.raises(InvalidInput, match=r"current_context\.operation"):
        check(unchecked)


@pytest.mark.parametrize("key", ["a\x00b", "a\ud800b", 7, None, ("a",)])
def test_a_key_that_cannot_be_stored_is_refused(key: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^current_context\.tool_arguments: "):
        check(context(tool_arguments={key: 1}))


def test_an_object_inside_itself_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(InvalidInput, match="nested deeper than 32 levels"):
        check(context(tool_arguments=circle))


@pytest.mark.parametrize("text", ["naïve", "日本語", "🛑", "a\tb\nc", "\u200b", "\x1b[31m"])
def test_any_other_text_comes_through_unchanged(text: str) -> None:
    parsed = check(context(operation=text, tool_arguments={text: [text]}))
    assert parsed.current_context.operation == text
    assert parsed.current_context.tool_arguments == {text: [text]}


SECRET = "sk" + "_live_" + "4eC39HqLyjWDarjtT1zdp7dc"


@pytest.mark.parametrize(
    ("model", "request_", "place"),
    [
        (CheckHaltConditionsInput, context(operation=[SECRET]), "current_context.operation"),
        (CheckHaltConditionsInput, context(commands=SECRET), "current_context.commands"),
        (CheckHaltConditionsInput, context(commands=[SECRET * 4000]), "current_context.commands.0"),
        (CheckHaltConditionsInput, context(attempt_number=SECRET), "current_context.attempt_number"),
        (CheckHaltConditionsInput, context(secret=SECRET), "current_context.secret"),
        (CheckHaltConditionsInput, context(operation=SECRET + "\x00"), "current_context.operation"),
        (CheckHaltConditionsInput, context(operation=SECRET + "\ud800"), "current_context.operation"),
        (CheckHaltConditionsInput, context(tool_arguments={SECRET: b""}), "current_context.tool_arguments"),
        (CheckHaltConditionsInput, context(**{SECRET: 1}), "current_context"),
        (CheckHaltConditionsInput, {**CHECK, "current_context": SECRET}, "current_context"),
        (CheckHaltConditionsInput, changes(contents={SECRET: 1}), "proposed_changes.contents"),
        (RecordHaltInput, record(severity=SECRET), "severity"),
        (RecordHaltInput, record(description=SECRET * 200), "description"),
        (AcknowledgeHaltInput, {**ACKNOWLEDGE, "resolution": SECRET}, "resolution"),
    ],
)
def test_an_error_names_the_field_and_never_repeats_the_value(
    model: type[Input], request_: dict[str, Any], place: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(model, request_, {})
    error = refused.value
    assert place in str(error)
    assert all(place in problem for problem in error.problems)
    assert SECRET not in str(error) + str(error.problems)
    assert SECRET not in str(error.__cause__) + str(
        error.__context__ if not error.__suppress_context__ else ""
    )


def test_every_problem_is_told_and_the_message_stays_short() -> None:
    wrong = {f"unknown_{number}": 1 for number in range(50)}
    with pytest.raises(InvalidInput) as refused:
        check({**CHECK, **wrong})
    assert len(refused.value.problems) == 50
    assert len(str(refused.value)) < 1000


def test_a_request_is_not_changed_and_the_parsed_one_cannot_be() -> None:
    request = context(commands=["ls"], tool_arguments={"a": [1]})
    before = json.dumps(request)
    parsed = check(request)
    assert json.dumps(request) == before
    with pytest.raises(ValueError, match="frozen"):
        parsed.task_id = "other"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
field_names = st.sampled_from(
    [*CheckHaltConditionsInput.model_fields, *CurrentContext.model_fields, *ProposedChangesInput.model_fields]
)


@given(
    st.dictionaries(field_names | st.text(), json_values)
    | st.builds(lambda inner: {"session_token": "s", "current_context": inner}, json_values)
    | st.builds(lambda extra: context(**extra), st.dictionaries(field_names, json_values))
)
def test_any_object_is_read_or_refused_and_nothing_else(request: dict[str, Any]) -> None:
    try:
        parsed = check(request)
    except InvalidInput:
        return
    json.dumps(parsed.model_dump(), allow_nan=False).encode()
