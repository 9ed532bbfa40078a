"""`Guardrail`: the specification's five operations and their supporting ones, for one principal."""

from __future__ import annotations

import secrets as randomness
import time
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import anyio

from haltline import lifecycle
from haltline.conditions.configuration import Configuration
from haltline.domain import HaltType, Principal, PrincipalKind, ReasonCode, SessionState, Severity
from haltline.errors import Halted, NotFound, NotPermitted
from haltline.records import (
    ApiKey,
    AuditEntry,
    Halt,
    HaltPage,
    HaltQuery,
    Session,
    SessionLookup,
    StoreHealth,
    Strikes,
)
from haltline.secrets import redact
from haltline.service import auditing, configuring, keys, spooling
from haltline.service.attempts import record_attempt
from haltline.service.checking import check, prepare, refuse
from haltline.service.configuration import ConfigurationCache
from haltline.service.context import TOKEN_PREFIX, ServiceContext
from haltline.service.recording import record
from haltline.service.settling import acknowledge
from haltline.service.stranded import answer_stranded
from haltline.service.translation import event_of
from haltline.settings import Settings
from haltline.store import new_uuid, open_store, spool_beside
from haltline.store.spool import MemorySpool
from haltline.store.worker import Lanes
from haltline.wire import (
    AcknowledgeHaltInput,
    AcknowledgeHaltOutput,
    CheckHaltConditionsInput,
    CheckHaltConditionsOutput,
    CloseSessionInput,
    GetSessionHaltsInput,
    GetSessionHaltsOutput,
    OpenSessionInput,
    OpenSessionOutput,
    RecordAttemptInput,
    RecordAttemptOutput,
    RecordHaltInput,
    RecordHaltOutput,
    UpdateHaltConfigInput,
    UpdateHaltConfigOutput,
    parse,
)

if TYPE_CHECKING:
    from haltline.shell.book import Book

AGENT = Principal(PrincipalKind.AGENT, "agent")
"""Who calls when nobody says otherwise: the principal with the fewest rights."""

_PRIVILEGED = frozenset({PrincipalKind.HUMAN, PrincipalKind.ADMIN, PrincipalKind.SERVICE})
_PEOPLE = frozenset({PrincipalKind.HUMAN, PrincipalKind.ADMIN})


class Guardrail:
    """The halt-condition service over one database, as one principal sees it.

    Open one with `Guardrail.open` and use it as an asynchronous context manager, or call `aclose` when done.
    The database is brought up at the first operation. Requests are the specification's: a mapping, a wire
    model, or the fields as keywords. `check_halt_conditions` never raises; the others raise errors of
    `haltline.errors`.
    """

    def __init__(self, context: ServiceContext, principal: Principal) -> None:
        self._context = context
        self.principal = principal

    @classmethod
    def open(
        cls,
        url: str | None = None,
        *,
        settings: Settings | None = None,
        principal: Principal = AGENT,
        workspace: str | Path | None = None,
        clock: Callable[[], datetime] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        new_id: Callable[[], str] = new_uuid,
    ) -> Guardrail:
        """Return a guardrail over a database; nothing of it is read or written yet.

        Args:
            url: `sqlite:///path`, `postgresql://…` or `memory:`; without one, the database that
                `HALTLINE_DATABASE` names, or else one in the user's data directory.
            settings: how it behaves; the defaults are the specification's.
            principal: who calls. An agent may check, record and read its own session, and nothing else.
            workspace: the directory that relative paths start from; without one, whether a file exists is not
                known and every file to be modified must have been read.
            clock: the time in UTC, for tests; without one the database's own time is used.
            monotonic: seconds for the configuration cache, for tests.
            new_id: identifiers, for tests.

        Raises:
            InvalidInput: the URL is of no known form.
            ConfigurationError: a file of `settings.shell_rules` does not hold; the message names file, rule
                and example.
        """
        chosen = settings or Settings()
        rules = _own_rules(chosen)
        store = open_store(url, clock=clock)
        context = ServiceContext(
            store=store,
            spool=spool_beside(url),
            settings=chosen,
            configuration=ConfigurationCache(store, chosen.configuration_seconds, monotonic),
            clock=clock or _utc_now,
            new_id=new_id,
            workspace=None if workspace is None else str(Path(workspace).resolve()),
            lanes=Lanes("haltline-check", limit=16, interrupt=True),
            spool_lanes=Lanes("haltline-spool", limit=32),  # its own: stuck conditions must not hold it up
            unstored=MemorySpool(),
            starting=anyio.Lock(),
            durable=url != "memory:",
            rules=rules,
        )
        return cls(context, principal)

    def acting_as(self, principal: Principal) -> Guardrail:
        """Return the same guardrail for another principal; the caller vouches for the credential."""
        return Guardrail(self._context, principal)

    async def authenticate(self, key: str) -> Guardrail:
        """Return the same guardrail for the principal of a key.

        Raises:
            NotPermitted: the key is unknown or revoked.
            StoreError: the database failed.
        """
        return self.acting_as(await keys.authenticate(self._context, key))

    async def __aenter__(self) -> Self:
        await self.prepare()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Let go of the database and of the threads."""
        await self._context.store.close()
        for lanes in (self._context.lanes, self._context.spool_lanes):
            lanes.close(timeout=0)

    async def prepare(self) -> None:
        """Bring the database up and load what checks need, so that the first one has its whole deadline.

        Entering the context manager does it. Never raises: a database that is down makes every check halt.
        """
        await prepare(self._context)

    async def check_halt_conditions(
        self, request: CheckHaltConditionsInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> CheckHaltConditionsOutput:
        """Check every condition for what is about to be done (specification, API Design 1).

        Answers within the deadline, whatever happens. Every failure is a critical halt with a `reason_code`.
        """
        return await check(self._context, self.principal, request, fields)

    async def refuse_check(
        self, reason: ReasonCode, problem: str, session_token: object = None
    ) -> CheckHaltConditionsOutput:
        """Answer a check of which a face could not even make out the request: a critical halt, recorded.

        Args:
            reason: which failure it is.
            problem: what is wrong with the request, for the agent and for the record.
            session_token: the session, as far as the request says; anything that is no name counts as none.
        """
        return await refuse(self._context, self.principal, reason, problem, session_token)

    def refuse_stranded_check(
        self, reason: ReasonCode, problem: str, request: Any, fields: Mapping[str, Any], seconds: float
    ) -> CheckHaltConditionsOutput:
        """Answer a check that no event loop answers: a critical halt, in the spool.

        Args:
            reason: which failure it is.
            problem: what is wrong, for the agent and for the record.
            request: the request, malformed or not.
            fields: the rest of the request.
            seconds: how long writing to the spool may take.
        """
        return answer_stranded(self._context, self.principal, reason, problem, request, fields, seconds)

    async def enforce_halt_conditions(
        self, request: CheckHaltConditionsInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> CheckHaltConditionsOutput:
        """Check, and return the result only when it does not say halt.

        Raises:
            Halted: the check says halt; the error carries its result.
        """
        result = await self.check_halt_conditions(request, **fields)
        if result.should_halt:
            raise Halted(result)
        return result

    async def record_halt(
        self, request: RecordHaltInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> RecordHaltOutput:
        """Record a halt and stop the session (specification, guardrail_record_halt).

        Raises:
            InvalidInput: a field is wrong; nothing was stored.
            NotFound: there is no such session.
            Conflict: the session is closed.
            StoreUnavailable: neither the database nor the spool took it.
        """
        return await record(self._context, self.principal, parse(RecordHaltInput, request, fields))

    async def acknowledge_halt(
        self, request: AcknowledgeHaltInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> AcknowledgeHaltOutput:
        """Settle a halt (specification, guardrail_acknowledge_halt); only people and services may.

        Raises:
            InvalidInput: a field is wrong, or caution is required and was not taken.
            NotPermitted: the principal may not settle it, or the body names another one.
            NotFound: there is no such session or halt.
            AlreadySettled: somebody else was first; says who and when.
            StoreError: the database failed; nothing was settled.
        """
        return await acknowledge(self._context, self.principal, parse(AcknowledgeHaltInput, request, fields))

    async def get_session_halts(
        self, request: GetSessionHaltsInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> GetSessionHaltsOutput:
        """List a session's halts, the newest first (specification, guardrail_get_session_halts).

        Raises:
            InvalidInput: a field is wrong.
            NotFound: there is no such session.
            StoreError: the database failed.
        """
        parsed = parse(GetSessionHaltsInput, request, fields)
        with self._context.operation_deadline():
            session = await self._session(parsed.session_token)
            page = await self._context.store.list_halts(
                HaltQuery(
                    session_id=session.id,
                    halt_type=HaltType(parsed.halt_type) if parsed.halt_type else None,
                    severity=Severity(parsed.severity) if parsed.severity else None,
                    include_acknowledged=parsed.include_acknowledged,
                    limit=parsed.limit,
                    offset=parsed.offset,
                )
            )
        return GetSessionHaltsOutput(
            total_count=page.total_count,
            halts=[event_of(halt) for halt in page.halts],
            unacknowledged_count=page.unacknowledged_count,
        )

    async def update_halt_config(
        self, request: UpdateHaltConfigInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> UpdateHaltConfigOutput:
        """Change what a condition does (specification, guardrail_update_halt_config); agents may not.

        Raises:
            InvalidInput: a field is wrong or does not fit the condition.
            NotPermitted: the principal is an agent.
            NotFound: there is no such condition.
            StoreError: the database failed.
        """
        self._require(_PRIVILEGED, "change the configuration")
        return await configuring.update(
            self._context, self.principal, parse(UpdateHaltConfigInput, request, fields)
        )

    async def open_session(self, agent_name: str = "agent") -> OpenSessionOutput:
        """Open a session and return its token, which is shown once and stored as a hash.

        Raises:
            InvalidInput: the name is empty, too long or no text.
            StoreError: the database failed.
        """
        parsed = parse(OpenSessionInput, None, {"agent_name": agent_name})
        token = TOKEN_PREFIX + randomness.token_urlsafe(32)
        now = self._context.clock()
        session = Session(
            id=self._context.new_id(),
            token_hash=self._context.token_hash(token),
            name=None,
            agent_name=redact(parsed.agent_name or "agent"),
            state=SessionState.ACTIVE,
            created_at=now,
            updated_at=now,
        )
        with self._context.operation_deadline():
            await self._context.start()
            transition = lifecycle.open_session(session, self.principal)
            await self._context.store.change(SessionLookup(token_hash=session.token_hash), transition)
        return OpenSessionOutput(session_token=token, session_id=session.id, agent_name=session.agent_name)

    async def close_session(self, session_token: str) -> None:
        """Close a session for good; an agent may close its own only while no halt is open.

        Raises:
            NotFound: there is no such session.
            NotPermitted: an agent's session has open halts.
            StoreError: the database failed.
        """
        parsed = parse(CloseSessionInput, None, {"session_token": session_token})
        await self._change(parsed.session_token, lifecycle.close_session(self.principal))

    async def record_attempt(
        self, request: RecordAttemptInput | Mapping[str, Any] | None = None, /, **fields: Any
    ) -> RecordAttemptOutput:
        """Count a failed attempt at a task: the answer is `retry`, then `try_alternative`, then a halt.

        Raises:
            InvalidInput: a field is wrong.
            NotFound: there is no such session.
            Conflict: the session is closed.
            StoreError: the database failed; nothing was counted.
        """
        return await record_attempt(self._context, self.principal, parse(RecordAttemptInput, request, fields))

    async def reset_attempts(self, session_token: str, task_id: str | None = None) -> None:
        """Start a task's count of failures again, because a person said so.

        Raises:
            NotPermitted: the principal is an agent.
            NotFound: there is no such session.
            StoreError: the database failed.
        """
        self._require(_PRIVILEGED, "reset strikes")
        await self._change(session_token, lifecycle.reset_strikes(redact(task_id), self.principal), task_id)

    async def record_reads(self, session_token: str, reads: Mapping[str, str | None]) -> None:
        """Enter files that were seen to be read, with their content's hash, into the session's ledger.

        Raises:
            NotPermitted: the principal is an agent: it declares `files_read` in its checks instead.
            NotFound: there is no such session.
            StoreError: the database failed.
        """
        self._require(_PRIVILEGED, "keep the ledger of reads")
        open_as = self._context.named(session_token, self.principal)
        await self._change(
            session_token, lifecycle.record_reads(reads, open_as=open_as, actor=self.principal)
        )

    async def find_halt(self, halt_id: str) -> Halt:
        """Return one halt, the archive included; for people and services.

        Raises:
            NotPermitted: the principal is an agent; it lists its own session's halts instead.
            NotFound: there is no such halt.
            StoreError: the database failed.
        """
        self._require(_PRIVILEGED, "read halts of any session")
        with self._context.operation_deadline():
            await self._context.start()
            halt = await self._context.store.find_halt(halt_id)
        if halt is None:
            raise NotFound(f"there is no halt {redact(halt_id)}; list them with `haltline halts`")
        return halt

    async def list_halts(self, query: HaltQuery) -> HaltPage:
        """List halts of all sessions, for people and services.

        Raises:
            NotPermitted: the principal is an agent.
            StoreError: the database failed.
        """
        self._require(_PRIVILEGED, "read halts of any session")
        with self._context.operation_deadline():
            await self._context.start()
            return await self._context.store.list_halts(query)

    async def list_sessions(
        self, states: frozenset[SessionState] = frozenset(SessionState), limit: int = 50, offset: int = 0
    ) -> tuple[tuple[Session, ...], int]:
        """List sessions, the newest first, and how many there are in all; for people and services.

        Raises:
            NotPermitted: the principal is an agent.
            StoreError: the database failed.
        """
        self._require(_PRIVILEGED, "list sessions")
        with self._context.operation_deadline():
            await self._context.start()
            return await self._context.store.list_sessions(states, limit, offset)

    async def list_strikes(self, session_token: str) -> tuple[Strikes, ...]:
        """List the failures of a session by task.

        Raises:
            NotFound: there is no such session.
            StoreError: the database failed.
        """
        with self._context.operation_deadline():
            session = await self._session(session_token)
            return await self._context.store.list_strikes(session.id)

    async def configuration(self) -> Configuration:
        """Return what every condition does, read afresh; for people and services.

        Raises:
            NotPermitted: the principal is an agent.
            StoreError: the database failed.
        """
        self._require(_PRIVILEGED, "read the configuration")
        self._context.configuration.forget()
        with self._context.operation_deadline():
            await self._context.start()
            return await self._context.configuration.get()

    async def escalate(self, batch: int = 100) -> int:
        """Run one sweep: time out overdue halts and pause their sessions. It never approves.

        Returns how many halts this sweep claimed; those that another one claimed first are not counted.

        Raises:
            NotPermitted: the principal is an agent.
            StoreError: the database failed.
        """
        self._require(_PRIVILEGED, "sweep overdue halts")
        transition = lifecycle.time_out(self.principal, self._context.new_id)
        claimed = 0
        while True:
            with self._context.operation_deadline():
                await self._context.start()
                changes = await self._context.store.claim_overdue(transition, batch)
            claimed += sum(len(change.settled_halts) for change in changes)
            if not changes:
                return claimed

    async def archive(self, older_than: timedelta = timedelta(days=90), batch: int = 500) -> int:
        """Move settled halts that are older than a time to the archive; an open halt stays.

        Raises:
            NotPermitted: the principal is an agent.
            StoreError: the database failed.
        """
        self._require(_PRIVILEGED, "archive halts")
        before = self._context.clock() - older_than
        moved = 0
        while True:
            with self._context.operation_deadline():
                await self._context.start()
                count = await self._context.store.archive(before, batch, str(self.principal))
            moved += count
            if count < batch:
                return moved

    def audit_entries(self) -> AsyncIterator[AuditEntry]:
        """Iterate over the audit chain, in order; for people and services.

        Raises:
            NotPermitted: the principal is an agent.
            StoreError: the database failed.
        """
        self._require(_PRIVILEGED, "read the audit log")
        return auditing.entries(self._context)

    async def verify_audit(self) -> auditing.AuditReport:
        """Check the audit chain and that every halt still reads as it was recorded.

        Raises:
            NotPermitted: the principal is an agent.
            StoreError: the database failed.
        """
        self._require(_PRIVILEGED, "verify the audit log")
        return await auditing.verify(self._context)

    async def create_key(self, kind: PrincipalKind, name: str) -> tuple[str, ApiKey]:
        """Make a credential; the key is returned here and never again. Only people make keys.

        Raises:
            NotPermitted: the principal is no person.
            InvalidInput: the name is not usable.
            StoreError: the database failed.
        """
        self._require(_PEOPLE, "make keys")
        return await keys.create(self._context, self.principal, kind, name)

    async def revoke_key(self, key_id: str) -> None:
        """Make a credential worthless. Only people revoke keys.

        Raises:
            NotPermitted: the principal is no person.
            NotFound: there is no such key.
            StoreError: the database failed.
        """
        self._require(_PEOPLE, "revoke keys")
        await keys.revoke(self._context, self.principal, key_id)

    async def list_keys(self) -> tuple[ApiKey, ...]:
        """List the credentials, the oldest first; their secrets are not stored.

        Raises:
            NotPermitted: the principal is no person.
            StoreError: the database failed.
        """
        self._require(_PEOPLE, "list keys")
        with self._context.operation_deadline():
            await self._context.start()
            return await self._context.store.list_keys()

    async def replay_spool(self) -> int:
        """Hand what waits in the spool to the database, and return how many halts that were.

        Every check does so by itself before it decides; this is for people and services.

        Raises:
            NotPermitted: the principal is an agent.
            StoreError: the database failed; the spool keeps what was not handed over.
        """
        self._require(_PRIVILEGED, "replay the spool")
        with self._context.operation_deadline():
            await self._context.start()
            return await spooling.replay(self._context)

    async def health(self) -> StoreHealth:
        """Return facts about the database and what is weak, for `haltline doctor`.

        Raises:
            NotPermitted: the principal is an agent.
            StoreError: the database failed.
        """
        self._require(_PRIVILEGED, "look at the database")
        with self._context.operation_deadline():
            await self._context.start()
            return await self._context.store.health()

    async def _session(self, session_token: str) -> Session:
        await self._context.start()
        lookup = self._context.lookup(session_token, self.principal)
        view = await self._context.store.view(lookup)
        if view.session is None:
            raise NotFound("there is no such session; open one first")
        return view.session

    async def _change(
        self, session_token: str, transition: lifecycle.Transition, task_id: str | None = None
    ) -> None:
        lookup = self._context.lookup(session_token, self.principal, task_id=redact(task_id))
        with self._context.operation_deadline():
            await self._context.start()
            await self._context.store.change(lookup, transition)

    def _require(self, kinds: frozenset[PrincipalKind], what: str) -> None:
        if self.principal.kind not in kinds:
            raise NotPermitted(
                f"{self.principal} may not {what}: that needs one of {', '.join(sorted(kinds))}. "
                "Wait for a person; do not try another way."
            )


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _own_rules(settings: Settings) -> Book | None:
    """Return the shell rules with those of the settings' files; None where the settings name no file."""
    if not settings.shell_rules:
        return None
    from haltline.shell import load_rules  # noqa: PLC0415 - only where there are such files

    return load_rules(*settings.shell_rules)
