"""Requests that make no sense: each is a critical halt, in time, and its event is stored."""

from __future__ import annotations

import decimal
import enum
import json
import logging
import uuid
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fault import faults

from haltline import Guardrail
from haltline.domain import Decision, ReasonCode
from haltline.plain import MAX_NESTING
from haltline.records import MAX_CONTEXT_BYTES
from haltline.wire import (
    MAX_COMMAND,
    MAX_CONTENT_BYTES,
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_PATHS,
    CheckHaltConditionsInput,
    CurrentContext,
    RecordHaltInput,
)

pytestmark = [
    pytest.mark.anyio,
    # An analysis that takes too long is interrupted, perhaps in a callback of the garbage collector.
    pytest.mark.filterwarnings("ignore:Exception ignored:pytest.PytestUnraisableExceptionWarning"),
]

BAD = ReasonCode.BAD_REQUEST
MIB = 2**20


@pytest.fixture
async def guardrail(tmp_path: Path, opened: Callable[..., Guardrail]) -> Guardrail:
    made = opened(f"sqlite:///{tmp_path / 'haltline.db'}")
    await made.acting_as(faults.HUMAN).health()
    return made


def nested(depth: int) -> Any:
    value: Any = "bottom"
    for _ in range(depth):
        value = [value]
    return value


def shared(depth: int) -> Any:
    """A list that holds one list twice, which holds one list twice, and so on: 2 ** depth leaves."""
    value: Any = ["leaf"]
    for _ in range(depth):
        value = [value, value]
    return value


def inside_itself() -> Any:
    knot: dict[str, Any] = {}
    knot["self"] = knot
    return knot


class Raising(Mapping[str, Any]):
    """A mapping that raises wherever it is touched."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __getitem__(self, key: str) -> Any:
        raise self.error

    def __iter__(self) -> Iterator[str]:
        raise self.error

    def __len__(self) -> int:
        raise self.error


class HalfRaising(Raising):
    """A mapping that lists its keys and raises when one is read."""

    def __iter__(self) -> Iterator[str]:
        return iter(("session_token", "current_context"))

    def __len__(self) -> int:
        return 2


class Endless(Mapping[str, Any]):
    """A mapping whose keys never end."""

    def __getitem__(self, key: str) -> Any:
        return "s"

    def __iter__(self) -> Iterator[str]:
        number = 0
        while True:
            number += 1
            yield f"key-{number}"

    def __len__(self) -> int:
        return 1


class LyingText(str):
    """A text that says of itself what it is not."""

    __slots__ = ()

    def isascii(self) -> bool:
        return True

    def isprintable(self) -> bool:
        raise RuntimeError("hands off")

    def __contains__(self, key: object) -> bool:
        return False

    def __len__(self) -> int:
        return 1

    def __hash__(self) -> int:
        raise RuntimeError("hands off")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("hands off")

    def encode(self, *_: object, **__: object) -> bytes:
        raise RuntimeError("hands off")

    def startswith(self, *_: object) -> bool:
        raise RuntimeError("hands off")


class Unreadable:
    """An object that raises whatever is asked of it."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("hands off")

    def __repr__(self) -> str:
        raise RuntimeError("hands off")


class Colour(enum.Enum):
    RED = "red"


def context(**fields: Any) -> dict[str, Any]:
    return {"session_token": "s", "current_context": {"operation": "look around", **fields}}


def changes(**fields: Any) -> dict[str, Any]:
    given = {"files_to_modify": [], "has_tests": True, "has_rollback_plan": True}
    return {**context(), "proposed_changes": {**given, **fields}}


NAMELESS: dict[str, Any] = {
    "nothing": None,
    "empty": {},
    "text": "check this",
    "bytes": b"{}",
    "number": 7,
    "list": [["session_token", "s"]],
    "another model": RecordHaltInput(session_token="s", halt_type="scope", description="d", severity="high"),
    "class": CheckHaltConditionsInput,
    "no session": {"current_context": {"operation": "x"}},
    "session that is nothing": {**context(), "session_token": None},
    "session that is empty": {**context(), "session_token": ""},
    "session that is a number": {**context(), "session_token": 5},
    "session that is too long": {**context(), "session_token": "s" * (MAX_NAME + 1)},
    "session with NUL": {**context(), "session_token": "s\x00"},
    "session with a lone surrogate": {**context(), "session_token": "s\ud800"},
    "mapping that raises": Raising(RuntimeError("hands off")),
    "mapping that raises an exit": Raising(SystemExit(0)),
    "mapping that raises its own": Raising(type("Own", (BaseException,), {})("out")),
    "mapping that raises when read": HalfRaising(KeyError("session_token")),
    "unreadable object": Unreadable(),
    "keys that are no text": {5: "s", None: "t"},
    "text that lies": {**context(), "session_token": LyingText("\ud800")},
    "unvalidated model": CheckHaltConditionsInput.model_construct(session_token=None),
}

NAMED: dict[str, Any] = {
    "mapping without an end": Endless(),
    "only a session": {"session_token": "s"},
    "no operation": {"session_token": "s", "current_context": {}},
    "context that is nothing": {"session_token": "s", "current_context": None},
    "context that is a text": {"session_token": "s", "current_context": json.dumps({"operation": "x"})},
    "context that raises": {"session_token": "s", "current_context": Raising(RuntimeError("hands off"))},
    "context without an end": {"session_token": "s", "current_context": Endless()},
    "operation that is empty": context(operation=""),
    "operation that is a number": context(operation=5),
    "unknown field": {**context(), "comands": ["rm -rf /"]},
    "unknown field inside": context(comands=["rm -rf /"]),
    "commands that are a text": context(commands="rm -rf /"),
    "commands that are nothing": context(commands=[None]),
    "commands that are bytes": context(commands=[b"rm -rf /"]),
    "attempts that are a text": context(attempt_number="3"),
    "attempts that are true": context(attempt_number=True),
    "attempts below nothing": context(attempt_number=-1),
    "attempts beyond use": context(attempt_number=10**400),
    "attempts beyond text": context(attempt_number=10**5000),
    "score that is not a number": context(uncertainty_score=float("nan")),
    "score that is infinite": context(uncertainty_score=float("inf")),
    "score beyond ten": context(uncertainty_score=11),
    "score beyond use": context(uncertainty_score=10**400),
    "score that is a decimal": context(uncertainty_score=decimal.Decimal(5)),
    "task that is empty": {**context(), "task_id": ""},
    "task that is too long": {**context(), "task_id": "t" * (MAX_NAME + 1)},
    "NUL in the operation": context(operation="look\x00around"),
    "NUL in a command": context(commands=["ls\x00"]),
    "NUL in a key": context(tool_arguments={"a\x00": 1}),
    "lone surrogate in the operation": context(operation="\udc80"),
    "lone surrogate in a path": context(target_files=["a\ud800b"]),
    "lone surrogate in a key": context(tool_arguments={"\ud800": 1}),
    "lone surrogate in an argument": context(tool_arguments={"a": ["\udfff"]}),
    "text that lies": context(operation=LyingText("\x00")),
    "argument that lies": context(tool_arguments={"a": LyingText("\ud800")}),
    "argument that is not a number": context(tool_arguments={"a": float("nan")}),
    "argument that is infinite": context(tool_arguments=[float("-inf")]),
    "argument beyond text": context(tool_arguments=10**5000),
    "argument that is a set": context(tool_arguments={"a"}),
    "argument that is bytes": context(tool_arguments=b"a"),
    "argument that is a date": context(tool_arguments=datetime(2026, 1, 1, tzinfo=UTC)),
    "argument that is an identifier": context(tool_arguments=uuid.UUID(int=1)),
    "argument that is a member": context(tool_arguments=Colour.RED),
    "argument that is complex": context(tool_arguments=1j),
    "argument that is a function": context(tool_arguments=print),
    "argument that is an object": context(tool_arguments=object()),
    "argument that cannot be read": context(tool_arguments=Unreadable()),
    "argument that raises": context(tool_arguments=Raising(RuntimeError("hands off"))),
    "argument that raises an exit": context(tool_arguments=Raising(SystemExit(0))),
    "argument without an end": context(tool_arguments=Endless()),
    "argument with keys that are no text": context(tool_arguments={1: "a"}),
    "argument inside itself": context(tool_arguments=inside_itself()),
    "nested too deep": context(tool_arguments=nested(MAX_NESTING)),
    "nested 100,000 deep": context(tool_arguments=nested(100_000)),
    "model nested 100,000 deep": CheckHaltConditionsInput.model_construct(
        session_token="s",
        current_context=CurrentContext.model_construct(operation="x", tool_arguments=nested(100_000)),
    ),
    "shared 2 ** 28 times": context(tool_arguments=shared(28)),
    "operation that is too long": context(operation="x" * (MAX_DESCRIPTION + 1)),
    "command that is too long": context(commands=["x" * (MAX_COMMAND + 1)]),
    "commands that are too long together": context(commands=["x" * (MAX_COMMAND // 2)] * 3),
    "too many commands": context(commands=["x"] * (MAX_PATHS + 1)),
    "too many paths": context(target_files=["x"] * (MAX_PATHS + 1)),
    "path that is too long": context(target_files=["x" * 4097]),
    "paths that are too long together": changes(files_to_modify=["x" * 4096] * MAX_PATHS),
    "error that is too long": context(previous_errors=["x" * (MAX_CONTEXT_BYTES + 1)]),
    "too many errors": context(previous_errors=["x"] * (MAX_PATHS + 1)),
    "arguments that are too large": context(tool_arguments=["x" * MAX_CONTEXT_BYTES]),
    "many arguments": context(tool_arguments=[0] * 3_000_000),
    "many unknown fields": {**context(), **{f"field {n}": n for n in range(1_000_000)}},
    "many errors in the form": {**context(), "current_context": {"operation": "x", "commands": [0] * 900}},
    "contents that are too large": changes(contents={"a": "x" * (MAX_CONTENT_BYTES + 1)}),
    "contents of 64 MiB": changes(contents={"a": "x" * 64 * MIB}),
    "too many contents": changes(contents={f"{n}": "" for n in range(MAX_PATHS + 1)}),
    "change without its fields": {**context(), "proposed_changes": {"files_to_modify": []}},
    "call without its fields": context(recent_calls=[{"tool": "x"}]),
    "services that are a list": context(services=["a"]),
}


@pytest.mark.parametrize("name", NAMED)
async def test_bad_request_that_names_its_session_halts_that_session(
    guardrail: Guardrail, answer: faults.Answer, name: str
) -> None:
    result = await answer(guardrail, NAMED[name])
    faults.assert_failed(result, BAD, "database")
    assert result.session_state == "halted"
    await faults.assert_stored(guardrail, {"s": faults.told_ids(result)})


async def test_bad_request_keeps_its_name_when_it_is_listed_and_reported_again(guardrail: Guardrail) -> None:
    await guardrail.check_halt_conditions(session_token="s")
    again = await guardrail.check_halt_conditions(session_token="s", current_context={"operation": "go on"})
    listed = await guardrail.get_session_halts(session_token="s")
    assert [reason.condition_name for reason in again.halt_reasons] == ["check_failed"]
    assert [halt.condition_name for halt in listed.halts] == ["check_failed"]


@pytest.mark.parametrize("name", NAMELESS)
async def test_bad_request_that_names_no_session_is_in_the_audit_log(
    guardrail: Guardrail, answer: faults.Answer, name: str
) -> None:
    result = await answer(guardrail, NAMELESS[name])
    faults.assert_failed(result, BAD, "database")
    human = guardrail.acting_as(faults.HUMAN)
    notes = [entry async for entry in human.audit_entries() if entry.action == "check.failed"]
    assert [json.loads(note.payload)["description"] for note in notes] == [result.halt_reasons[0].description]
    assert (await human.verify_audit()).problems == ()


async def test_bad_request_says_what_is_wrong_and_repeats_no_value(
    guardrail: Guardrail, answer: faults.Answer
) -> None:
    secret = "hunter" + "2" * 20
    result = await answer(guardrail, context(commands=secret))
    assert "commands" in result.halt_reasons[0].description
    assert secret not in result.model_dump_json()


async def test_the_same_bad_request_names_the_halt_that_is_open_already(
    guardrail: Guardrail, answer: faults.Answer
) -> None:
    first = await answer(guardrail, {"session_token": "s"})
    second = await answer(guardrail, {"session_token": "s"})
    assert faults.told_ids(second) == faults.told_ids(first)
    await faults.assert_stored(guardrail, {"s": faults.told_ids(first)})


LARGEST: dict[str, Any] = {
    "errors": context(previous_errors=["e: " + "x " * (MAX_CONTEXT_BYTES // 2 - 10)] * MAX_PATHS),
    "outputs": context(outputs=["key = " + "Ab1" * (MAX_CONTEXT_BYTES // 3 - 10)] * MAX_PATHS),
    "responses": context(recent_responses=["x " * (MAX_CONTEXT_BYTES // 2)] * MAX_PATHS),
    "instructions": context(user_instructions=["do not touch a.py " * 3000] * MAX_PATHS),
    # Four times as much is allowed; scanning it takes half a second of a processor that nobody else uses.
    "contents": changes(contents={"a.py": "password = 'Ab1'\n" * (MAX_CONTENT_BYTES // 4 // 17)}),
    "command": context(commands=["echo " + "$(a " * 10_000]),
    "pipes": context(commands=["a|" * (MAX_COMMAND // 2 - 100)]),
    "boundary": context(scope_boundary="!a/** " * 10_000, target_files=["a/" * 1000] * 30),
    "arguments": context(tool_arguments=nested(MAX_NESTING - 2)),
    "names": context(credentials=["x" * MAX_NAME] * MAX_PATHS),
    "services": context(services={f"env {n}": ["host:1"] * MAX_PATHS for n in range(90)}),
}


@pytest.mark.parametrize("name", LARGEST)
async def test_largest_request_is_answered_in_time(
    guardrail: Guardrail, answer: faults.Answer, name: str
) -> None:
    result = await answer(guardrail, LARGEST[name])
    assert result.should_halt or result.reason_code is None


async def test_identifiers_that_cannot_be_made_halt_all_the_same(
    tmp_path: Path,
    opened: Callable[..., Guardrail],
    answer: faults.Answer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nothing is left to record the failure with: it is still a halt, and in the log."""

    def broken() -> str:
        raise OSError("no randomness left")

    guardrail = opened(f"sqlite:///{tmp_path / 'haltline.db'}", new_id=broken)
    result = await answer.failed(
        guardrail, ReasonCode.CHECK_FAILED, stored="nowhere", current_context=faults.LOUD
    )
    assert "no randomness left" in result.halt_reasons[0].description
    assert [record.levelno for record in caplog.records if record.levelno >= logging.CRITICAL]


def test_a_model_and_its_mapping_are_judged_alike() -> None:
    async def check() -> list[bool]:
        async with Guardrail.open("memory:") as guardrail:
            model = CheckHaltConditionsInput(session_token="s", current_context=CurrentContext(operation="x"))
            results = [
                await guardrail.check_halt_conditions(model),
                await guardrail.check_halt_conditions(model.model_dump(exclude_none=True)),
            ]
            return [result.should_halt for result in results]

    assert anyio.run(check) == [False, False]


garbage = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=True)
    | st.text(st.characters())
    | st.binary()
    | st.builds(LyingText, st.text())
    | st.builds(Unreadable)
    | st.builds(Raising, st.builds(ValueError))
    | st.sampled_from([Colour.RED, 1j, object]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers(), inner, max_size=4),
    max_leaves=12,
)
FIELDS = [*CheckHaltConditionsInput.model_fields, *CurrentContext.model_fields, "unknown"]
requests = garbage | st.dictionaries(st.sampled_from(FIELDS), garbage, max_size=6)


@given(request=requests)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_garbage_never_passes_and_never_raises(request: Any) -> None:
    async def check() -> None:
        async with Guardrail.open("memory:") as guardrail:
            result = await guardrail.check_halt_conditions(request)
            assert (result.should_halt, result.verdict) == (True, Decision.HALT)
            assert (result.highest_severity, result.reason_code) == ("critical", BAD)
            assert result.event_stored == "database"

    anyio.run(check)


@given(values=st.dictionaries(st.sampled_from(sorted(CurrentContext.model_fields)), garbage, max_size=6))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_garbage_in_the_context_never_raises_and_passes_only_when_the_form_holds(
    values: dict[str, Any],
) -> None:
    async def check() -> None:
        async with Guardrail.open("memory:") as guardrail:
            request = {"session_token": "s", "current_context": values}
            result = await guardrail.check_halt_conditions(request)
            assert (result.reason_code is BAD) is not holds(request)
            assert result.should_halt or holds(request)

    anyio.run(check)


def holds(request: dict[str, Any]) -> bool:
    """Whether a request is what JSON can tell, and has the stated form."""
    try:
        json.dumps(request, allow_nan=False, ensure_ascii=False).encode()
        CheckHaltConditionsInput.model_validate(request)
    except Exception:  # noqa: BLE001 - whatever it is, the form does not hold
        return False
    return "\\u0000" not in json.dumps(request)
