"""`haltline.blocking.Guardrail`: the same guardrail for synchronous code.

The asynchronous guardrail runs in an event loop of its own, in a daemon thread. A check waits for its
deadline and not longer: should that thread be stuck, or gone, the answer is a halt as well, and its event is
in the spool.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from haltline.conditions.configuration import Configuration
from haltline.domain import Principal, PrincipalKind, ReasonCode, SessionState
from haltline.errors import Halted, StoreUnavailable
from haltline.records import ApiKey, AuditEntry, Halt, HaltPage, HaltQuery, Session, StoreHealth, Strikes
from haltline.service.auditing import AuditReport
from haltline.service.guardrail import AGENT
from haltline.service.guardrail import Guardrail as AsyncGuardrail
from haltline.service.loop_thread import LoopThread
from haltline.settings import Settings
from haltline.wire import (
    AcknowledgeHaltInput,
    AcknowledgeHaltOutput,
    CheckHaltConditionsInput,
    CheckHaltConditionsOutput,
    GetSessionHaltsInput,
    GetSessionHaltsOutput,
    OpenSessionOutput,
    RecordAttemptInput,
    RecordAttemptOutput,
    RecordHaltInput,
    RecordHaltOutput,
    UpdateHaltConfigInput,
    UpdateHaltConfigOutput,
)

T = TypeVar("T")

_GRACE_SECONDS = 0.03
"""What a check may take beyond its deadline before its event loop is asked whether it is stuck."""

_PING_SECONDS = 0.02
"""How long an event loop that is not stuck may take to say so."""

_LATEST_SECONDS = 0.17
"""What a check may take beyond its deadline before it is answered here."""

_SPOOLING_SECONDS = 0.05
"""The part of that which is kept for writing the event to the spool here."""

_ANSWERING_SECONDS = 1.0
"""How long the event loop may take to say that it is not stuck, while an operation takes long."""

_CLOSING_SECONDS = 2.0


class Guardrail:
    """The halt-condition service for synchronous code; `haltline.Guardrail` documents the operations."""

    def __init__(self, guardrail: AsyncGuardrail, thread: LoopThread, settings: Settings) -> None:
        self._guardrail = guardrail
        self._thread = thread
        self._settings = settings

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        principal: Principal = AGENT,
        workspace: str | Path | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> Guardrail:
        """Return a guardrail over a database; see `haltline.Guardrail.open`."""
        chosen = settings or Settings()
        guardrail = AsyncGuardrail.open(
            url, settings=chosen, principal=principal, workspace=workspace, clock=clock
        )
        return cls(guardrail, LoopThread(), chosen)

    @property
    def principal(self) -> Principal:
        """Who calls."""
        return self._guardrail.principal

    def acting_as(self, principal: Principal) -> Guardrail:
        """Return the same guardrail for another principal."""
        return Guardrail(self._guardrail.acting_as(principal), self._thread, self._settings)

    def authenticate(self, key: str) -> Guardrail:
        """Return the same guardrail for the principal of a key."""
        return Guardrail(self._run(self._guardrail.authenticate(key)), self._thread, self._settings)

    def __enter__(self) -> Self:
        self.prepare()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database and end the thread; harmless when repeated."""
        if self._thread.problem is not None:
            return
        try:
            self._thread.submit(self._guardrail.aclose()).result(_CLOSING_SECONDS)
        except FutureTimeoutError as error:
            raise StoreUnavailable(f"not closed within {_CLOSING_SECONDS:g} s; it is left behind") from error
        finally:
            self._thread.stop()

    def prepare(self) -> None:
        """Bring the database up, and load what the first check would load, outside of its deadline."""
        self._run(self._guardrail.prepare())

    def check_halt_conditions(
        self, request: CheckHaltConditionsInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> CheckHaltConditionsOutput:
        """Check every condition for what is about to be done; never raises, always answers in time."""
        return self._answer(self._guardrail.check_halt_conditions(request, **fields), request, fields)

    def refuse_check(
        self, reason: ReasonCode, problem: str, session_token: object = None
    ) -> CheckHaltConditionsOutput:
        """Answer a check of which a face could not even make out the request: a critical halt, recorded."""
        work = self._guardrail.refuse_check(reason, problem, session_token)
        return self._answer(work, None, {"session_token": session_token})

    def enforce_halt_conditions(
        self, request: CheckHaltConditionsInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> CheckHaltConditionsOutput:
        """Check, and raise `Halted` when the result says halt."""
        result = self.check_halt_conditions(request, **fields)
        if result.should_halt:
            raise Halted(result)
        return result

    def record_halt(
        self, request: RecordHaltInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> RecordHaltOutput:
        """Record a halt and stop the session (specification, guardrail_record_halt)."""
        return self._run(self._guardrail.record_halt(request, **fields))

    def acknowledge_halt(
        self, request: AcknowledgeHaltInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> AcknowledgeHaltOutput:
        """Settle a halt (specification, guardrail_acknowledge_halt); only people and services may."""
        return self._run(self._guardrail.acknowledge_halt(request, **fields))

    def get_session_halts(
        self, request: GetSessionHaltsInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> GetSessionHaltsOutput:
        """List a session's halts, the newest first (specification, guardrail_get_session_halts)."""
        return self._run(self._guardrail.get_session_halts(request, **fields))

    def update_halt_config(
        self, request: UpdateHaltConfigInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> UpdateHaltConfigOutput:
        """Change what a condition does (specification, guardrail_update_halt_config); agents may not."""
        return self._run(self._guardrail.update_halt_config(request, **fields))

    def open_session(self, agent_name: str = "agent") -> OpenSessionOutput:
        """Open a session and return its token, which is shown once and stored as a hash."""
        return self._run(self._guardrail.open_session(agent_name))

    def close_session(self, session_token: str) -> None:
        """Close a session for good; an agent may close its own only while no halt is open."""
        self._run(self._guardrail.close_session(session_token))

    def record_attempt(
        self, request: RecordAttemptInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> RecordAttemptOutput:
        """Count a failed attempt at a task: the answer is `retry`, then `try_alternative`, then a halt."""
        return self._run(self._guardrail.record_attempt(request, **fields))

    def reset_attempts(self, session_token: str, task_id: str | None = None) -> None:
        """Start a task's count of failures again, because a person said so."""
        self._run(self._guardrail.reset_attempts(session_token, task_id))

    def record_reads(self, session_token: str, reads: Mapping[str, str | None]) -> None:
        """Enter files that were seen to be read, with their content's hash, into the session's ledger."""
        self._run(self._guardrail.record_reads(session_token, reads))

    def find_halt(self, halt_id: str) -> Halt:
        """Return one halt, the archive included; for people and services."""
        return self._run(self._guardrail.find_halt(halt_id))

    def list_halts(self, query: HaltQuery) -> HaltPage:
        """List halts of all sessions, for people and services."""
        return self._run(self._guardrail.list_halts(query))

    def list_sessions(
        self, states: frozenset[SessionState] = frozenset(SessionState), limit: int = 50, offset: int = 0
    ) -> tuple[tuple[Session, ...], int]:
        """List sessions, the newest first, and how many there are in all; for people and services."""
        return self._run(self._guardrail.list_sessions(states, limit, offset))

    def list_strikes(self, session_token: str) -> tuple[Strikes, ...]:
        """List the failures of a session by task."""
        return self._run(self._guardrail.list_strikes(session_token))

    def configuration(self) -> Configuration:
        """Return what every condition does, read afresh."""
        return self._run(self._guardrail.configuration())

    def escalate(self, batch: int = 100) -> int:
        """Run one sweep: time out overdue halts and pause their sessions. It never approves."""
        return self._run(self._guardrail.escalate(batch))

    def archive(self, older_than: timedelta = timedelta(days=90), batch: int = 500) -> int:
        """Move settled halts that are older than a time to the archive; an open halt stays."""
        return self._run(self._guardrail.archive(older_than, batch))

    def verify_audit(self) -> AuditReport:
        """Check the audit chain and that every halt still reads as it was recorded."""
        return self._run(self._guardrail.verify_audit())

    def create_key(self, kind: PrincipalKind, name: str) -> tuple[str, ApiKey]:
        """Make a credential; the key is returned here and never again. Only people make keys."""
        return self._run(self._guardrail.create_key(kind, name))

    def revoke_key(self, key_id: str) -> None:
        """Make a credential worthless. Only people revoke keys."""
        self._run(self._guardrail.revoke_key(key_id))

    def list_keys(self) -> tuple[ApiKey, ...]:
        """List the credentials, the oldest first; their secrets are not stored."""
        return self._run(self._guardrail.list_keys())

    def replay_spool(self) -> int:
        """Hand what waits in the spool to the database, and return how many halts that were."""
        return self._run(self._guardrail.replay_spool())

    def health(self) -> StoreHealth:
        """Return facts about the database and what is weak, for `haltline doctor`."""
        return self._run(self._guardrail.health())

    def audit_entries(self) -> list[AuditEntry]:
        """Return the audit chain, in order."""

        async def collect() -> list[AuditEntry]:
            return [entry async for entry in self._guardrail.audit_entries()]

        return self._run(collect())

    def _answer(
        self, work: Coroutine[Any, Any, CheckHaltConditionsOutput], request: Any, fields: Mapping[str, Any]
    ) -> CheckHaltConditionsOutput:
        """Wait for a check's answer, and give one when the event loop itself does not."""
        ends = time.monotonic() + self._settings.deadline_seconds + _LATEST_SECONDS
        try:
            future = self._thread.submit(work)
            try:
                return self._patiently(future, ends - _SPOOLING_SECONDS)
            except BaseException:
                future.cancel()
                raise
        except FutureTimeoutError:
            milliseconds = self._settings.deadline_seconds * 1000
            reason, problem = ReasonCode.DEADLINE_EXCEEDED, f"no answer within {milliseconds:.0f} ms"
        except Exception as error:  # noqa: BLE001 - whatever became of the loop, the answer is a halt
            reason, problem = ReasonCode.CHECK_FAILED, str(error) or "this guardrail was closed meanwhile"
        seconds = max(_SPOOLING_SECONDS, ends - time.monotonic())
        return self._guardrail.refuse_stranded_check(reason, problem, request, fields, seconds)

    def _patiently(self, future: Future[CheckHaltConditionsOutput], ends: float) -> CheckHaltConditionsOutput:
        """Wait a little longer for a loop that is not stuck: it may be storing its answer's event.

        Raises:
            FutureTimeoutError: there is no answer.
        """
        try:
            return future.result(self._settings.deadline_seconds + _GRACE_SECONDS)
        except FutureTimeoutError:
            if not self._thread.answers(_PING_SECONDS):
                raise
        return future.result(max(0.0, ends - time.monotonic()))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for an operation. Its parts have deadlines; the wait here is for a stuck event loop.

        Raises:
            StoreUnavailable: the event loop itself did not answer.
        """
        future = self._thread.submit(work)
        seconds = self._settings.operation_deadline_seconds + _GRACE_SECONDS
        try:
            while True:
                try:
                    return future.result(seconds)
                except FutureTimeoutError:
                    if not self._thread.answers(_ANSWERING_SECONDS):
                        raise StoreUnavailable(f"no answer within {seconds:g} s; try again") from None
        except CancelledError as error:
            raise StoreUnavailable("this guardrail was closed meanwhile; open another one") from error
        except BaseException:
            future.cancel()
            raise
