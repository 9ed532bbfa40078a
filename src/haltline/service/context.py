"""What every operation of the service shares: store, spool, settings, clock, identifiers."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import anyio

from haltline import lifecycle
from haltline.domain import Principal, PrincipalKind, SessionState, utc_text
from haltline.errors import Conflict, NotFound, StoreUnavailable
from haltline.lifecycle import NewHalt
from haltline.records import Session, SessionLookup, SessionView
from haltline.secrets import configure_fingerprint_key, redact
from haltline.service import spooling
from haltline.service.configuration import ConfigurationCache
from haltline.settings import Settings
from haltline.store.installation import fingerprint_key
from haltline.store.port import Store
from haltline.store.spool import Spool
from haltline.store.worker import Lanes

if TYPE_CHECKING:
    from haltline.shell.book import Book

logger = logging.getLogger(__name__)

TOKEN_PREFIX = "hls_"  # noqa: S105 - the beginning of every token, not one
"""What a token that Haltline issued begins with. A name that begins so is never opened at first sight."""

SESSION_ID_PREFIX = "id:"
"""How people and services name a session whose token they do not have. No session is called so."""

SPOOL_SECONDS = 0.15
"""How long an answer waits for its event to reach the spool, at most, beyond the deadline of a check."""

_RESERVED = (TOKEN_PREFIX, SESSION_ID_PREFIX)

Stored = Literal["database", "spool", "nowhere"]


@dataclass(slots=True)
class ServiceContext:
    """What the operations work with: one for each opened guardrail, whichever principals act through it."""

    store: Store
    spool: Spool
    settings: Settings
    configuration: ConfigurationCache
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    workspace: str | None
    lanes: Lanes
    spool_lanes: Lanes
    unstored: Spool
    starting: anyio.Lock
    durable: bool
    rules: Book | None = None
    started: bool = False

    async def start(self) -> None:
        """Bring the database up once; a failure is tried again at the next operation."""
        if not self.started:
            await self._start()

    async def _start(self) -> None:
        async with self.starting:
            if self.started:  # somebody else did it while this call waited
                return
            if self.durable:
                await self.spool_lanes.run_abandonable(_configure_fingerprints)
            await self.store.start()
            self.started = True

    @staticmethod
    def token_hash(token: str) -> str:
        """Return what is stored of a session token."""
        return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()

    def lookup(
        self,
        session_token: str,
        principal: Principal,
        *,
        task_id: str | None = None,
        halt_id: str | None = None,
    ) -> SessionLookup:
        """Return how to find a session: by its token, or for people and services as `id:<session id>`."""
        if principal.kind is not PrincipalKind.AGENT and session_token.startswith(SESSION_ID_PREFIX):
            session_id = session_token.removeprefix(SESSION_ID_PREFIX)
            return SessionLookup(session_id=session_id, task_id=task_id, halt_id=halt_id)
        return SessionLookup(token_hash=self.token_hash(session_token), task_id=task_id, halt_id=halt_id)

    async def view(self, lookup: SessionLookup) -> SessionView:
        """Read a session, after handing over what waits in the spool: those halts count.

        Raises:
            StoreUnavailable: the database cannot be read.
        """
        await self.start()
        await spooling.replay(self)
        return await self.store.view(lookup)

    def session_to_open(self, view: SessionView, token: str, principal: Principal) -> Session | None:
        """Return the session to open at first sight, or None when it is open already.

        Raises:
            NotFound: there is no such session, and none may be opened.
            Conflict: the session is closed.
        """
        if view.session is not None:
            if view.session.state is SessionState.CLOSED:
                raise Conflict(f"session {view.session.id} is closed; open a new one")
            return None
        session = self.named(token, principal)
        if session is None:
            raise NotFound("the session token is not known; open a session first")
        return session

    def named(self, token: str | None, principal: Principal) -> Session | None:
        """Return the session that a name opens, or None when names open nothing."""
        if token is None or self.settings.unknown_sessions == "reject" or token.startswith(_RESERVED):
            return None
        now = self.clock()
        return Session(
            id=self.new_id(),
            token_hash=self.token_hash(token),
            name=redact(token),
            agent_name=principal.name,
            state=SessionState.ACTIVE,
            created_at=now,
            updated_at=now,
        )

    async def spool_halts(
        self, halts: tuple[NewHalt, ...], token_hash: str | None, open_as: Session | None, deadline: float
    ) -> Stored:
        """Write halts to the spool within the time that is left, and a little on top.

        What not even the spool takes is kept in memory, so that it counts as soon as the database is back.
        """
        event = spooling.event_of(halts, token_hash, open_as, utc_text(self.clock()))
        seconds = max(SPOOL_SECONDS, deadline - anyio.current_time())
        try:
            with anyio.fail_after(seconds):
                await self.spool_lanes.run_abandonable(lambda: self.spool.append(event))
        except Exception as error:  # noqa: BLE001 - whatever it was, the halt must not be forgotten
            logger.critical("halt could not be stored anywhere: %s (%s)", event, type(error).__name__)
            self.unstored.append(event)
            return "nowhere"
        return "spool"

    async def store_failure(
        self, halt: NewHalt, token: str | None, principal: Principal, deadline: float
    ) -> tuple[Stored, Session | None, str | None]:
        """Record the halt of a failed check in its session, or in the audit log when there is none."""
        try:
            with anyio.fail_after(max(0.0, deadline - anyio.current_time())):
                await self.start()
                if token is None:
                    await spooling.note(self, halt, principal)
                    return "database", None, None
                lookup = SessionLookup(token_hash=self.token_hash(token))
                transition = lifecycle.record_halts(
                    (halt,), principal, new_id=self.new_id, open_as=self.named(token, principal)
                )
                try:
                    changes = await self.store.change(lookup, transition)
                except (NotFound, Conflict):
                    await spooling.note(self, halt, principal)
                    return "database", None, None
                stands = halt.id
                if not changes.new_halts:  # the same one is open already
                    view = await self.store.view(lookup)
                    stands = next((h.id for h in view.open_halts if lifecycle.is_same(h, halt)), halt.id)
        except Exception as error:  # noqa: BLE001 - the spool takes what the database does not, whatever it was
            logger.warning("failed check not recorded in the database: %s", type(error).__name__)
            return "nowhere", None, halt.id
        return "database", changes.session, stands

    @contextlib.contextmanager
    def operation_deadline(self) -> Iterator[None]:
        """Bound an operation other than a check.

        Raises:
            StoreUnavailable: the time is up.
        """
        seconds = self.settings.operation_deadline_seconds
        try:
            with anyio.fail_after(seconds):
                yield
        except TimeoutError as error:
            raise StoreUnavailable(f"the database did not answer within {seconds:g} s; try again") from error


def _configure_fingerprints() -> None:
    """Use the user's key for masks. Without it masks differ after a restart, and more is asked again."""
    try:
        configure_fingerprint_key(fingerprint_key())
    except OSError as error:
        logger.warning("masks of secrets will not be comparable after a restart: %s", error)
