"""Threads for blocking calls that their caller may abandon.

anyio's own worker threads are not daemons: one that hangs in a frozen disk keeps the interpreter from
exiting. These are. A call whose caller was cancelled runs on unheeded in its thread, or is interrupted, and
the next call takes another one. Works under anyio on asyncio and on trio, from any number of event loops.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import anyio

from haltline.errors import Interrupted

_STEPS_UNTIL_INTERRUPTED = 100  # it comes at the first step backwards in a loop

T = TypeVar("T")


class _Call(Generic[T]):
    """One call: what to run, whom to wake, and what came of it.

    `thread` is where it runs, while it does. `interrupted` says that this thread will end.
    """

    __slots__ = ("abandoned", "error", "function", "interrupted", "result", "thread", "wake")

    def __init__(self, function: Callable[[], T], wake: Callable[[], object]) -> None:
        self.function = function
        self.wake = wake
        self.abandoned = False
        self.interrupted = False
        self.thread: threading.Thread | None = None
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
        interrupt: raise `Interrupted` in a function that was abandoned, at its next step in Python, and end
            its thread. For functions that hold nothing: one that computes for ever takes the interpreter from
            everybody else, and a few of those together make every answer late.
    """

    def __init__(
        self,
        name: str,
        limit: int,
        on_exit: Callable[[], None] | None = None,
        *,
        interrupt: bool = False,
    ) -> None:
        self._name = name
        self._limit = limit
        self._on_exit = on_exit
        self._interrupts = interrupt
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[_Call[Any] | None] = queue.SimpleQueue()
        self._outstanding = 0
        self._threads: list[threading.Thread] = []
        self._interrupted: set[_Call[Any]] = set()

    async def run_abandonable(self, function: Callable[[], T]) -> T:
        """Run a function in a thread and return what it returns.

        Cancelling the caller returns at once; the function, if it has begun, runs to its end unheeded unless
        these lanes interrupt, and if it has not, never begins.

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
            if self._interrupts:
                self._interrupt(call)
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
            self._interrupt_again()
            if len(self._threads) < min(self._outstanding + 1, self._limit):
                self._start_thread()
            self._outstanding += 1
            self._queue.put(call)

    def _start_thread(self) -> None:
        name = f"{self._name}-{len(self._threads)}"
        thread = threading.Thread(target=self._serve, args=(self._queue,), name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _serve(self, calls: queue.SimpleQueue[_Call[Any] | None]) -> None:
        working = True
        try:
            while True:
                try:
                    if working:
                        working = False
                        self._work(calls)
                    self._retire()
                except Interrupted:  # it may come anywhere, and again, until this thread has retired
                    continue
                return
        finally:
            if self._on_exit is not None:
                self._on_exit()

    def _work(self, calls: queue.SimpleQueue[_Call[Any] | None]) -> None:
        """Run calls until there are no more, or one was interrupted."""
        while (call := calls.get()) is not None:
            with self._lock:
                call.thread = threading.current_thread()
            call.run()
            with self._lock:  # before the caller wakes: its next call shall find this thread free
                if call.interrupted:
                    return
                call.thread = None
                self._outstanding -= 1
            call.tell()
            del call  # results must not live on in an idle thread

    def _retire(self) -> None:
        """Forget this thread; after the first step, nothing more can interrupt it."""
        me = threading.current_thread()
        with self._lock:
            _raise_in(threading.get_ident(), None)
            ended = {call for call in self._interrupted if call.thread is me}
            self._interrupted -= ended
            self._outstanding -= len(ended)
            if me in self._threads:
                self._threads.remove(me)
        _settle()

    def _interrupt(self, call: _Call[Any]) -> None:
        """Interrupt a call, unless it has ended or not begun."""
        with self._lock:
            if call.thread is not None:
                call.interrupted = True
                self._interrupted.add(call)
                self._interrupt_again()

    def _interrupt_again(self) -> None:
        """Interrupt whatever is to end and has not: Python drops what arrives while it collects garbage."""
        for call in self._interrupted:
            if call.thread is not None and call.thread.ident is not None:
                _raise_in(call.thread.ident, Interrupted)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Have a thread raise an exception at its next step in Python, or take that back."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), None if error is None else ctypes.py_object(error)
    )


def _settle() -> None:
    """Take one more interruption in this thread.

    Until Python 3.12 an exception that is withdrawn leaves the interpreter believing that one is pending.
    Then every step looks for it, and a process that traces its lines (a debugger, a measurement of coverage)
    stands still. Only taking one resets that.
    """
    with contextlib.suppress(Interrupted):
        _raise_in(threading.get_ident(), Interrupted)
        for _ in range(_STEPS_UNTIL_INTERRUPTED):
            pass


def _scheduler() -> Callable[[Callable[[], None]], object]:
    """Return what wakes the running event loop from another thread."""
    try:
        return asyncio.get_running_loop().call_soon_threadsafe
    except RuntimeError:
        import trio  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - the caller runs on it

        schedule: Callable[[Callable[[], None]], object] = trio.lowlevel.current_trio_token().run_sync_soon
        return schedule
