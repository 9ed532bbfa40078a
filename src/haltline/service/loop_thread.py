"""An event loop in a daemon thread, for callers that have none."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from haltline.errors import StoreUnavailable

T = TypeVar("T")

_STOPPING_SECONDS = 1.0


class LoopThread:
    """Runs coroutines for any number of threads of the process that made it."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._submitting = threading.Lock()
        self._stopped = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="haltline-blocking", daemon=True)
        self._thread.start()

    @property
    def problem(self) -> str | None:
        """Why nothing can be run here any more, or None."""
        if os.getpid() != self._pid:  # threads do not survive a fork
            return "this guardrail was opened by the process that forked this one; open another one here"
        if self._stopped:
            return "this guardrail is closed; open another one"
        return None

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin a coroutine.

        Raises:
            StoreUnavailable: the loop is stopped, or belongs to another process.
        """
        if os.getpid() == self._pid:  # else nobody is left who could let go of the lock
            with self._submitting:
                if not self._stopped:
                    return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        raise StoreUnavailable(f"{self.problem}")

    def answers(self, seconds: float) -> bool:
        """Whether the loop still does what it is asked, within a time."""
        answered = threading.Event()
        try:
            self._loop.call_soon_threadsafe(answered.set)
        except RuntimeError:  # it is closed
            return False
        return answered.wait(seconds)

    def stop(self) -> None:
        """End the loop and what runs in it; harmless when repeated, and in another process."""
        if os.getpid() != self._pid:
            return
        with self._submitting:
            if self._stopped:
                return
            self._stopped = True
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOPPING_SECONDS)

    def _serve(self) -> None:
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._cancel_all())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    async def _cancel_all(self) -> None:
        await asyncio.sleep(0)  # what was submitted last begins, so that it can be cancelled
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
