"""The blocking facade under faults: a stuck loop, a closed guardrail, a forked process, many threads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.fault import faults

from haltline import Guardrail as AsyncGuardrail
from haltline import Settings
from haltline.blocking import Guardrail
from haltline.domain import ReasonCode
from haltline.errors import Halted, StoreUnavailable
from haltline.wire import CheckHaltConditionsOutput

DEADLINE, GRACE = faults.DEADLINE, faults.GRACE


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'haltline.db'}"


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "haltline.db.spool"


@pytest.fixture
def guardrail(url: str) -> Iterator[Guardrail]:
    with Guardrail.open(url) as opened:
        opened.acting_as(faults.HUMAN).health()
        yield opened


@pytest.fixture
def stuck(guardrail: Guardrail) -> Iterator[threading.Event]:
    """Something keeps the guardrail's event loop busy until the event is set."""
    released, begun = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        released.wait(60)

    guardrail._thread._loop.call_soon_threadsafe(hold)
    assert begun.wait(10)
    yield released
    released.set()


def answer(guardrail: Guardrail, request: Any = None, **fields: Any) -> CheckHaltConditionsOutput:
    began = time.monotonic()
    result = guardrail.check_halt_conditions(request, **fields)
    assert time.monotonic() - began <= DEADLINE + GRACE  # the deadline is what is tested
    return result


def assert_recovered(url: str, told: dict[str, CheckHaltConditionsOutput]) -> None:
    async def check() -> None:
        async with AsyncGuardrail.open(url) as guardrail:
            await guardrail.acting_as(faults.HUMAN).health()
            await faults.assert_recovered(guardrail, told)

    anyio.run(check)


def test_stuck_loop_is_a_halt_in_time_and_its_event_is_in_the_spool(
    guardrail: Guardrail, stuck: threading.Event, spool: Path, url: str
) -> None:
    told = {
        token: answer(guardrail, session_token=token, current_context=faults.QUIET) for token in ("s", "t")
    }
    for result in told.values():
        faults.assert_failed(result, ReasonCode.DEADLINE_EXCEEDED, "spool")
    assert faults.spooled_ids(spool) == [halt for r in told.values() for halt in faults.told_ids(r)]
    stuck.set()
    assert_recovered(url, told)


def test_guardrail_goes_on_when_its_loop_does(guardrail: Guardrail, stuck: threading.Event) -> None:
    answer(guardrail, session_token="s", current_context=faults.QUIET)
    stuck.set()
    result = answer(guardrail, session_token="s", current_context=faults.QUIET)
    assert (result.reason_code, result.should_halt, result.session_state) == (None, True, "halted")


@pytest.mark.parametrize("request_", [None, {}, {"session_token": 5}, {"session_token": "s\ud800"}, "text"])
def test_stuck_loop_and_a_request_that_makes_no_sense(
    guardrail: Guardrail, stuck: threading.Event, request_: Any
) -> None:
    faults.assert_failed(answer(guardrail, request_), ReasonCode.DEADLINE_EXCEEDED, "spool")


def test_stuck_loop_makes_enforce_raise_and_refuse_answer(
    guardrail: Guardrail, stuck: threading.Event
) -> None:
    with pytest.raises(Halted) as halted:
        guardrail.enforce_halt_conditions(session_token="s", current_context=faults.QUIET)
    faults.assert_failed(halted.value.result, ReasonCode.DEADLINE_EXCEEDED, "spool")
    refused = guardrail.refuse_check(ReasonCode.BAD_REQUEST, "no JSON", "s")
    faults.assert_failed(refused, ReasonCode.DEADLINE_EXCEEDED, "spool")


def test_stuck_loop_fails_other_operations_in_time(url: str) -> None:
    with Guardrail.open(url, settings=Settings(operation_deadline_seconds=0.3)) as guardrail:
        guardrail.acting_as(faults.HUMAN).health()
        released = threading.Event()
        guardrail._thread._loop.call_soon_threadsafe(released.wait, 60)
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match="no answer within"):
            guardrail.open_session()
        assert time.monotonic() - began <= 2
        released.set()


def test_operation_that_takes_longer_than_one_deadline_is_waited_for(url: str) -> None:
    """A sweep or a verification is many transactions, each with a deadline of its own."""
    settings = Settings(operation_deadline_seconds=0.05)
    with Guardrail.open(url, settings=settings) as guardrail:

        async def long() -> str:
            await anyio.sleep(0.3)
            return "done"

        assert guardrail._run(long()) == "done"


def test_stuck_loop_and_a_spool_that_cannot_be_written(
    guardrail: Guardrail, stuck: threading.Event, spool: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spool.mkdir()
    result = answer(guardrail, session_token="s", current_context=faults.QUIET)
    faults.assert_failed(result, ReasonCode.DEADLINE_EXCEEDED, "nowhere")
    assert "halt could not be stored anywhere" in caplog.text
    spool.rmdir()
    stuck.set()
    again = answer(guardrail, session_token="s", current_context=faults.QUIET)
    assert (again.should_halt, again.session_state) == (True, "halted")
    assert faults.told_ids(again) == faults.told_ids(result)


def test_closed_guardrail_halts_at_once(url: str, spool: Path) -> None:
    guardrail = Guardrail.open(url)
    guardrail.acting_as(faults.HUMAN).health()
    guardrail.close()
    guardrail.close()
    told = {"s": answer(guardrail, session_token="s", current_context=faults.QUIET)}
    faults.assert_failed(told["s"], ReasonCode.CHECK_FAILED, "spool")
    assert "closed" in told["s"].halt_reasons[0].description
    with pytest.raises(StoreUnavailable, match="closed"):
        guardrail.open_session()
    with pytest.raises(Halted):
        guardrail.enforce_halt_conditions(session_token="s", current_context=faults.QUIET)
    assert_recovered(url, told)


def test_guardrail_that_is_closed_under_waiting_checks_halts_them(url: str) -> None:
    guardrail = Guardrail.open(url)
    guardrail.acting_as(faults.HUMAN).health()
    released, begun = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        released.wait(60)

    guardrail._thread._loop.call_soon_threadsafe(hold)
    assert begun.wait(10)
    with ThreadPoolExecutor(4) as pool:
        asked = [
            pool.submit(answer, guardrail, session_token=f"s{number}", current_context=faults.QUIET)
            for number in range(4)
        ]
        closing = threading.Thread(target=guardrail._thread.stop)
        closing.start()
        released.set()
        results = [future.result(10) for future in asked]
        closing.join(10)
    assert all(result.should_halt for result in results)
    assert {result.reason_code for result in results} <= {
        ReasonCode.CHECK_FAILED,
        ReasonCode.DEADLINE_EXCEEDED,
        None,
    }


def test_many_threads_share_one_guardrail(guardrail: Guardrail) -> None:
    def work(number: int) -> list[str]:
        loud = {**faults.LOUD, "operation": f"delete branch {number}"}
        token = f"s{number % 4}"
        guardrail.check_halt_conditions(session_token=f"quiet{number}", current_context=faults.QUIET)
        return faults.told_ids(guardrail.check_halt_conditions(session_token=token, current_context=loud))

    with ThreadPoolExecutor(16) as pool:
        told = [halt for halts in pool.map(work, range(48)) for halt in halts]
    human = guardrail.acting_as(faults.HUMAN)
    listed = [
        halt.halt_id
        for number in range(4)
        for halt in human.get_session_halts(session_token=f"s{number}", limit=1_000).halts
    ]
    assert sorted(set(listed)) == sorted(listed)
    assert set(told) == set(listed)
    assert human.verify_audit().problems == ()


FORKED = """
import json, os, sys, time
import anyio
from haltline import Guardrail as AsyncGuardrail
from haltline.blocking import Guardrail

url, kind = sys.argv[1:]
request = {"session_token": "child", "current_context": {"operation": "look around"}}

def asynchronous():
    guardrail = AsyncGuardrail.open(url)
    async def warm():
        await guardrail.prepare()
        await guardrail.check_halt_conditions({**request, "session_token": "parent"})
    async def check():
        return await guardrail.check_halt_conditions(request)
    anyio.run(warm)
    return check, lambda function: anyio.run(function)

def blocking():
    guardrail = Guardrail.open(url)
    guardrail.prepare()
    guardrail.check_halt_conditions({**request, "session_token": "parent"})
    return (lambda: guardrail.check_halt_conditions(request)), lambda function: function()

function, run = {"async": asynchronous, "blocking": blocking}[kind]()
pid = os.fork()
who = "parent" if pid else "child"
answers = []
for _ in range(20):  # both at the same time
    began = time.monotonic()
    result = run(function)
    answers.append([who, time.monotonic() - began, result.model_dump(mode="json")])
if pid:
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
for answer in answers:
    sys.stdout.write(json.dumps(answer) + "\\n")
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.parametrize("kind", ["async", "blocking"])
def test_forked_child_halts_or_works_and_never_hangs(durable_url: str, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, durable_url, kind],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers: dict[str, list[CheckHaltConditionsOutput]] = {"child": [], "parent": []}
    for line in done.stdout.splitlines():
        who, seconds, result = json.loads(line)
        assert seconds <= DEADLINE + GRACE
        answers[who].append(CheckHaltConditionsOutput.model_validate(result))
    assert [len(told) for told in answers.values()] == [20, 20]
    # The parent hands the child's halts over before it decides, and finds its own session in order.
    assert [result for result in answers["parent"] if result.reason_code] == []
    for result in answers["child"]:
        if kind == "async":
            assert result.reason_code is None
            continue
        faults.assert_failed(result, ReasonCode.CHECK_FAILED, "spool")
        assert "forked" in result.halt_reasons[0].description


@pytest.fixture(params=["sqlite", "postgresql"])
def durable_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'haltline.db'}"
    server = request.getfixturevalue("postgres_server")
    url: str = server.create_database(request.getfixturevalue("postgres_template"))
    return url


def test_one_guardrail_serves_one_event_loop_after_another(durable_url: str) -> None:
    guardrail = AsyncGuardrail.open(durable_url)

    async def check() -> CheckHaltConditionsOutput:
        return await guardrail.check_halt_conditions(session_token="s", current_context=faults.QUIET)

    anyio.run(guardrail.acting_as(faults.HUMAN).health)
    results = [anyio.run(check) for _ in range(3)]
    anyio.run(guardrail.aclose)
    assert [result.reason_code for result in results] == [None, None, None]


def test_interrupt_of_a_person_reaches_the_caller(guardrail: Guardrail, stuck: threading.Event) -> None:
    """The wait for an answer must not swallow Ctrl-C."""
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        guardrail.check_halt_conditions(session_token="s", current_context=faults.QUIET)
