"""Lanes: calls in threads that may be abandoned, on asyncio and on trio."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading

import anyio
import pytest

from haltline.store.worker import Lanes

BOUND = 20.0
"""Longest wait, in seconds; every test ends long before."""

NO_TRIO = pytest.mark.skipif(importlib.util.find_spec("trio") is None, reason="trio is not installed")

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", pytest.param("trio", marks=NO_TRIO)])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


async def test_result_and_error_come_back() -> None:
    lanes = Lanes("test", limit=2)
    assert await lanes.run_abandonable(lambda: threading.current_thread().daemon) is True
    with pytest.raises(ZeroDivisionError):
        await lanes.run_abandonable(lambda: 1 // 0)
    assert await lanes.run_abandonable(lambda: 7) == 7
    lanes.close(BOUND)


async def test_one_call_after_another_stays_in_one_thread() -> None:
    lanes = Lanes("test", limit=8)
    seen = {await lanes.run_abandonable(threading.get_ident) for _ in range(50)}
    assert len(seen) == 1
    lanes.close(BOUND)


async def test_abandoned_call_frees_its_caller_and_the_next_takes_another_lane() -> None:
    lanes, release, ended = Lanes("test", limit=2), threading.Event(), threading.Event()
    begun = threading.Event()

    def stuck() -> None:
        begun.set()
        release.wait(BOUND)
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(lanes.run_abandonable, stuck)
        with anyio.fail_after(BOUND):
            while not begun.is_set():
                await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    with anyio.fail_after(BOUND):
        assert await lanes.run_abandonable(lambda: "other lane") == "other lane"
    assert not ended.is_set()
    release.set()
    assert ended.wait(BOUND)
    lanes.close(BOUND)


async def test_abandoned_computation_is_interrupted_and_its_thread_ends() -> None:
    lanes, begun, ended = Lanes("test", limit=1, interrupt=True), threading.Event(), threading.Event()

    def endless() -> None:
        try:
            while True:
                begun.set()
        finally:
            ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(lanes.run_abandonable, endless)
        while not begun.is_set():
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert ended.wait(BOUND)
    with anyio.fail_after(BOUND):
        assert await lanes.run_abandonable(lambda: "free again") == "free again"
    lanes.close(BOUND)


async def test_interruption_that_comes_too_late_hits_no_other_call() -> None:
    lanes = Lanes("test", limit=2, interrupt=True)
    results: list[int] = []

    async def call(number: int) -> None:
        with anyio.move_on_after(0):  # gives up at its first wait, while the function runs or is done already
            await lanes.run_abandonable(lambda: sum(range(number)))
        results.append(await lanes.run_abandonable(lambda: number))

    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as group:
            for number in range(300):
                group.start_soon(call, number)
    assert sorted(results) == list(range(300))
    lanes.close(BOUND)


async def test_there_are_no_more_threads_than_the_limit() -> None:
    lanes, release = Lanes("test", limit=2), threading.Event()
    begun = [threading.Event() for _ in range(2)]
    ran: list[str] = []

    def stuck(event: threading.Event) -> None:
        event.set()
        release.wait(BOUND)

    async with anyio.create_task_group() as group:
        for event in begun:
            group.start_soon(lanes.run_abandonable, lambda event=event: stuck(event))
        with anyio.fail_after(BOUND):
            while not all(event.is_set() for event in begun):
                await anyio.lowlevel.checkpoint()
        with anyio.move_on_after(0.01) as scope:
            await lanes.run_abandonable(lambda: ran.append("abandoned before it began"))
        assert scope.cancelled_caught
        release.set()
    await lanes.run_abandonable(lambda: ran.append("later"))
    lanes.close(BOUND)
    assert ran == ["later"]


async def test_each_thread_lets_go_when_it_ends() -> None:
    let_go: list[int] = []
    lanes = Lanes("test", limit=1, on_exit=lambda: let_go.append(threading.get_ident()))
    thread = await lanes.run_abandonable(threading.get_ident)
    lanes.close(BOUND)
    assert let_go == [thread]


async def test_many_callers_each_get_their_own_result() -> None:
    lanes = Lanes("test", limit=4)
    results: dict[int, int] = {}

    async def call(n: int) -> None:
        results[n] = await lanes.run_abandonable(lambda: n * n)

    async with anyio.create_task_group() as group:
        for n in range(200):
            group.start_soon(call, n)
    assert results == {n: n * n for n in range(200)}
    lanes.close(BOUND)


def test_fork_starts_with_threads_of_its_own() -> None:
    script = """
import os, anyio
from haltline.store.worker import Lanes
lanes = Lanes("test", limit=1)
assert anyio.run(lanes.run_abandonable, lambda: "parent") == "parent"
child = os.fork()
if child == 0:
    os._exit(anyio.run(lanes.run_abandonable, lambda: 42))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=BOUND, check=True)
    assert done.stdout.split() == [b"42"]


def test_stuck_call_does_not_keep_the_interpreter_from_exiting() -> None:
    script = """
import anyio, threading
from haltline.store.worker import Lanes
lanes = Lanes("test", limit=1)
async def main():
    with anyio.move_on_after(0.01):
        await lanes.run_abandonable(threading.Event().wait)
anyio.run(main)
print("done")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=BOUND, check=True)
    assert done.stdout.split() == [b"done"]


TRACED_AFTER_AN_INTERRUPTION = """
import sys, threading, anyio
from haltline.store.worker import Lanes

lanes, begun, ended = Lanes("test", limit=1, interrupt=True), threading.Event(), threading.Event()

def endless():
    begun.set()
    try:
        while True:
            pass
    finally:
        ended.set()

async def abandon():
    async with anyio.create_task_group() as group:
        group.start_soon(lanes.run_abandonable, endless)
        while not begun.is_set():
            await anyio.sleep(0.001)
        group.cancel_scope.cancel()
    await anyio.to_thread.run_sync(ended.wait)

anyio.run(abandon)
for thread in threading.enumerate():
    if thread.name.startswith("test-"):
        thread.join()

lines = []
def trace(frame, event, argument):
    lines.append(frame.f_lineno)
    return trace

def traced():
    return 1

sys.settrace(trace)
traced()
sys.settrace(None)
print(len(lines))
"""


def test_a_process_can_be_traced_after_an_interruption() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TRACED_AFTER_AN_INTERRUPTION],
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=True,
    )
    assert int(done.stdout) > 0
