"""Threads for blocking calls that their caller may abandon.

anyio's own worker threads are not daemons: one that hangs in a frozen disk keeps the interpreter from
exiting. These are. A call whose caller was cancelled runs on unheeded in its thread, and the next call takes
another one. Works under anyio on asyncio and on trio, from any number of event loops.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import anyio

T = TypeVar("T")


class _Call(Generic[T]):
    """One call: what to run, whom to wake, and what came of it."""

    __slots__ = ("abandoned", "error", "function", "result", "wake")

    def __init__(self, function: Callable[[], T], wake: Callable[[], object]) -> None:
        self.function = function
        self.wake = wake
        self.abandoned = False
        self.result: T | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Run in a lane, unless nobody waits any more."""
        if self.abandoned:
            return
        try:
            self.result = self.function()
        except BaseException as error:  # noqa: BLE001 - it is raised again where somebody waits for it
            self.error = error

    def tell(self) -> None:
        """Wake the caller, if its event loop still runs."""
        with contextlib.suppress(RuntimeError):
            self.wake()


class Lanes:
    """A bounded set of daemon threads that take calls from one queue.

    Args:
        name: what the threads are called.
        limit: how many threads there may be, stuck ones included. When all are busy, calls wait.
        on_exit: run in each thread before it ends, to let go of what the thread holds.
    """

    def __init__(self, name: str, limit: int, on_exit: Callable[[], None] | None = None) -> None:
        self._name = name
        self._limit = limit
        self._on_exit = on_exit
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[_Call[Any] | None] = queue.SimpleQueue()
        self._outstanding = 0
        self._threads: list[threading.Thread] = []

    async def run_abandonable(self, function: Callable[[], T]) -> T:
        """Run a function in a thread and return what it returns.

        Cancelling the caller returns at once; the function, if it has begun, runs to its end unheeded, and if
        it has not, never begins.

        Raises:
            BaseException: whatever the function raised.
        """
        done = anyio.Event()
        schedule = _scheduler()
        call = _Call(function, lambda: schedule(done.set))
        self._submit(call)
        try:
            await done.wait()
        except BaseException:
            call.abandoned = True
            raise
        if call.error is not None:
            raise call.error
        return call.result  # type: ignore[return-value]  # set, because there was no error

    def close(self, timeout: float) -> None:
        """End the threads that are free, and wait for them; those that are stuck end with their call.

        Args:
            timeout: how long to wait for them all, in seconds.
        """
        ends = time.monotonic() + timeout
        with self._lock:
            threads, self._threads = self._threads, []
        for _ in threads:
            self._queue.put(None)
        for thread in threads:
            thread.join(max(0.0, ends - time.monotonic()))

    def _submit(self, call: _Call[Any]) -> None:
        if os.getpid() != self._pid:  # threads do not survive a fork
            self._reset()
        with self._lock:
            self._outstanding += 1
            if len(self._threads) < min(self._outstanding, self._limit):
                self._start_thread()
            self._queue.put(call)

    def _start_thread(self) -> None:
        name = f"{self._name}-{len(self._threads)}"
        thread = threading.Thread(target=self._serve, args=(self._queue,), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self, calls: queue.SimpleQueue[_Call[Any] | None]) -> None:
        try:
            while (call := calls.get()) is not None:
                call.run()
                with self._lock:  # before the caller wakes: its next call shall find this thread free
                    self._outstanding -= 1
                call.tell()
                del call  # results must not live on in an idle thread
        finally:
            if self._on_exit is not None:
                self._on_exit()


def _scheduler() -> Callable[[Callable[[], None]], object]:
    """Return what wakes the running event loop from another thread."""
    try:
        return asyncio.get_running_loop().call_soon_threadsafe
    except RuntimeError:
        import trio  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - the caller runs on it

        schedule: Callable[[Callable[[], None]], object] = trio.lowlevel.current_trio_token().run_sync_soon
        return schedule
