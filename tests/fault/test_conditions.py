"""Conditions that fail: each is a critical halt that says so, and the others still report."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.fault import faults

from haltline import Guardrail
from haltline.conditions.catalogue import CATALOGUE
from haltline.domain import Finding, HaltType, ReasonCode, Severity
from haltline.wire import CheckHaltConditionsOutput

pytestmark = [
    pytest.mark.anyio,
    # A condition that never returns is interrupted, perhaps in a callback of the garbage collector.
    pytest.mark.filterwarnings("ignore:Exception ignored:pytest.PytestUnraisableExceptionWarning"),
]

Spoil = Callable[[str, faults.Check], None]
SPOILT = "ambiguous_requirements"


@pytest.fixture
async def guardrail(tmp_path: Path, opened: Callable[..., Guardrail]) -> Guardrail:
    made = opened(f"sqlite:///{tmp_path / 'haltline.db'}")
    await made.acting_as(faults.HUMAN).health()
    return made


def raising(error: Callable[[], BaseException]) -> faults.Check:
    def check(*_: object) -> NoReturn:
        raise error()

    return check


def endless(released: list[bool]) -> faults.Check:
    def check(*_: object) -> None:
        while not released:
            pass

    return check


class Custom(BaseException):
    """Not an Exception: a handler for those does not see it."""


class Unprintable(Exception):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no text for you")


def recursing(*_: object) -> None:
    recursing()


def finding(**fields: Any) -> Finding:
    given: dict[str, Any] = {
        "condition_name": SPOILT,
        "halt_type": HaltType.SCOPE,
        "severity": Severity.LOW,
        "description": "something",
    }
    return Finding(**{**given, **fields})


FAILING: dict[str, faults.Check] = {
    "exception": raising(lambda: ValueError("boom")),
    "unprintable": raising(Unprintable),
    "surrogate in the text": raising(lambda: ValueError("\ud800\x00")),
    "base exception": raising(lambda: Custom("out")),
    "exit": raising(lambda: SystemExit(0)),
    "interrupt": raising(KeyboardInterrupt),
    "cancelled": raising(asyncio.CancelledError),
    "generator exit": raising(GeneratorExit),
    "stop iteration": raising(StopIteration),
    "out of memory": raising(MemoryError),
    "recursion": recursing,
    "text": lambda *_: "all good",
    "number": lambda *_: 1,
    "false": lambda *_: False,
    "class": lambda *_: Finding,
    "dictionary": lambda *_: {"severity": "low"},
    "coroutine function's result": lambda *_: iter(()),
    "severity that is a text": lambda *_: finding(severity="low"),
    "severity that is nothing": lambda *_: finding(severity=None),
    "halt type that is a text": lambda *_: finding(halt_type="nonsense"),
    "description that is no text": lambda *_: finding(description=None),
    "evidence with a set": lambda *_: finding(evidence={"files": {"a", "b"}}),
    "evidence with an object": lambda *_: finding(evidence={"it": object()}),
    "evidence with a function": lambda *_: finding(evidence={"it": print}),
    "evidence with NaN": lambda *_: finding(evidence={"score": float("nan")}),
    "evidence with a huge number": lambda *_: finding(evidence={"score": 10**5000}),
    "evidence that is no mapping": lambda *_: finding(evidence=["a"]),
    "annotations that are no mapping": lambda *_: finding(annotations=7),
    "unknown annotations": lambda *_: finding(annotations={"nonsense": 5}),
}


@pytest.mark.parametrize("check", FAILING.values(), ids=FAILING)
async def test_condition_that_fails_halts_and_the_others_still_report(
    guardrail: Guardrail, answer: faults.Answer, spoil_condition: Spoil, check: faults.Check
) -> None:
    spoil_condition(SPOILT, check)
    result = await answer.failed(
        guardrail, ReasonCode.CHECK_FAILED, stored="database", current_context=faults.LOUD
    )
    found = {reason.condition_name: reason for reason in result.halt_reasons}
    assert set(found) == {SPOILT, "uncertainty_scale"}
    assert found[SPOILT].severity == "critical"
    await faults.assert_stored(guardrail, {"s": faults.told_ids(result)})


async def test_first_and_last_condition_may_fail_as_well(
    guardrail: Guardrail, answer: faults.Answer, spoil_condition: Spoil
) -> None:
    for name in CATALOGUE:
        spoil_condition(name, raising(lambda: Custom("out")))
    result = await answer.failed(guardrail, ReasonCode.CHECK_FAILED, stored="database")
    assert [reason.condition_name for reason in result.halt_reasons] == list(CATALOGUE)
    await faults.assert_stored(guardrail, {"s": faults.told_ids(result)})


async def test_failed_check_cannot_be_waived(
    guardrail: Guardrail, answer: faults.Answer, spoil_condition: Spoil
) -> None:
    spoil_condition(SPOILT, raising(lambda: ValueError("boom")))
    result = await answer.failed(guardrail, ReasonCode.CHECK_FAILED, stored="database")
    await guardrail.acting_as(faults.HUMAN).acknowledge_halt(
        session_token="s", halt_id=faults.told_ids(result)[0], resolution="resolved"
    )
    await answer.failed(guardrail, ReasonCode.CHECK_FAILED, stored="database")


@pytest.mark.parametrize("names", [(SPOILT,), ("modifying_unread_code",), ("uncertainty_scale",)])
async def test_condition_that_never_returns_halts_and_the_others_still_report(
    guardrail: Guardrail,
    answer: faults.Answer,
    spoil_condition: Spoil,
    released: list[bool],
    names: tuple[str, ...],
) -> None:
    for name in names:
        spoil_condition(name, endless(released))
    context = {**faults.LOUD, "environment": "staging", "previous_errors": ["a: b", "a: b"]}
    result = await answer.failed(
        guardrail,
        ReasonCode.DEADLINE_EXCEEDED,
        stored={"database", "spool"},
        current_context=context,
    )
    found = {
        reason.condition_name for reason in result.halt_reasons if "did not answer" in reason.description
    }
    assert found == set(names)
    others = {reason.condition_name for reason in result.halt_reasons} - found
    assert others >= {"uncertainty_scale", "repeated_errors"} - found
    released.append(True)
    await guardrail.check_halt_conditions(session_token="other", current_context=faults.QUIET)
    await faults.assert_stored(guardrail, {"s": faults.told_ids(result)})


async def test_several_conditions_that_never_return_halt(
    guardrail: Guardrail, answer: faults.Answer, spoil_condition: Spoil, released: list[bool]
) -> None:
    stuck = list(CATALOGUE)[::5]
    for name in stuck:
        spoil_condition(name, endless(released))
    told = await answer.failed(guardrail, ReasonCode.DEADLINE_EXCEEDED, stored={"database", "spool"})
    late = [reason for reason in told.halt_reasons if "did not answer" in reason.description]
    assert late[0].condition_name == stuck[0]
    assert {reason.condition_name for reason in late} <= set(CATALOGUE)
    released.append(True)
    await guardrail.check_halt_conditions(session_token="other", current_context=faults.QUIET)
    await faults.assert_stored(guardrail, {"s": faults.told_ids(told)})


def stubborn(released: list[bool]) -> faults.Check:
    def check(*_: object) -> None:
        while not released:
            with contextlib.suppress(BaseException):
                endless(released)()

    return check


def asleep(_: list[bool]) -> faults.Check:
    return lambda *_: ASLEEP.wait(600)


ASLEEP = threading.Event()


@pytest.fixture
def _awake() -> Iterator[None]:
    ASLEEP.clear()
    yield
    ASLEEP.set()


@pytest.mark.usefixtures("_awake")
@pytest.mark.parametrize(("stuck", "checks"), [(endless, 20), (stubborn, 1), (asleep, 20)])
async def test_condition_that_never_returns_does_not_wear_the_guardrail_out(
    guardrail: Guardrail,
    answer: faults.Answer,
    spoil_condition: Spoil,
    released: list[bool],
    stuck: Callable[[list[bool]], faults.Check],
    checks: int,
) -> None:
    """After more of them than there may be threads, a check still halts in time, and its event is stored."""
    spoil_condition(SPOILT, stuck(released))
    told = {
        f"s{number}": await answer.failed(
            guardrail,
            ReasonCode.DEADLINE_EXCEEDED,
            stored={"database", "spool"},
            session_token=f"s{number}",
        )
        for number in range(checks)
    }
    released.append(True)
    await guardrail.acting_as(faults.HUMAN).replay_spool()
    await faults.assert_stored(guardrail, {token: faults.told_ids(result) for token, result in told.items()})


THREADLESS = """
import json, resource, sys, threading
import anyio
from haltline import Guardrail

LOUD = json.loads(sys.argv[2])

async def main(url):
    guardrail = Guardrail.open(url)
    async with Guardrail.open("memory:") as warm:
        await warm.check_halt_conditions(session_token="warm", current_context=LOUD)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    threading.stack_size(64 * 2**20)  # more than what the threads that have ended leave behind
    resource.setrlimit(resource.RLIMIT_AS, (used + 32 * 2**20, limits[1]))
    began = anyio.current_time()
    result = await guardrail.check_halt_conditions(session_token="s", current_context=LOUD)
    seconds = anyio.current_time() - began
    resource.setrlimit(resource.RLIMIT_AS, limits)
    threading.stack_size(0)
    again = await guardrail.check_halt_conditions(session_token="s", current_context={"operation": "look"})
    await guardrail.aclose()
    print(json.dumps([seconds, result.model_dump(mode="json"), again.model_dump(mode="json")]))

anyio.run(main, sys.argv[1])
"""


async def test_process_that_can_start_no_thread_halts_and_the_halt_counts_afterwards(
    tmp_path: Path, opened: Callable[..., Guardrail]
) -> None:
    url = f"sqlite:///{tmp_path / 'haltline.db'}"
    await opened(url).acting_as(faults.HUMAN).health()
    done = subprocess.run(
        [sys.executable, "-c", THREADLESS, url, json.dumps(faults.LOUD)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seconds, *results = json.loads(done.stdout)
    assert seconds <= faults.DEADLINE + faults.GRACE
    result, again = (CheckHaltConditionsOutput.model_validate(told) for told in results)
    faults.assert_failed(result, ReasonCode.CHECK_FAILED, "nowhere")
    assert "thread" in result.halt_reasons[0].description
    assert (again.should_halt, again.session_state) == (True, "halted")
    assert faults.told_ids(again) == faults.told_ids(result)
