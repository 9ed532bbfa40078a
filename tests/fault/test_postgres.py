"""PostgreSQL under faults: killed, frozen, locked, full, unreachable; every check halts in time."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import anyio
import psycopg
import pytest
import sqlalchemy as sa
from tests.fault import faults

from haltline import Guardrail
from haltline.domain import ReasonCode
from haltline.wire import CheckHaltConditionsOutput

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("tormented server")]

Open = Callable[..., Guardrail]
UNAVAILABLE = ReasonCode.DATABASE_UNAVAILABLE
TOKENS = ("s", "t")


@pytest.fixture(autouse=True)
def _own_spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def url(server: faults.Server) -> str:
    return server.create_database()


@pytest.fixture
async def guardrail(url: str, opened: Open) -> Guardrail:
    """An open guardrail over a database of its own, with two open sessions."""
    made = opened(url)
    await made.acting_as(faults.HUMAN).health()  # bringing up a database may take longer than a check
    for token in TOKENS:
        result = await made.check_halt_conditions(session_token=token, current_context=faults.QUIET)
        assert result.should_halt is False
    return made


def spool_of(guardrail: Guardrail) -> Path:
    path: Path = guardrail._context.spool.path  # type: ignore[attr-defined]  # it is a file
    return path


@contextmanager
def connected(url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(url) as connection:
        yield connection


Checks = dict[str, CheckHaltConditionsOutput]


@pytest.mark.parametrize("context", [faults.QUIET, faults.LOUD], ids=["quiet", "loud"])
@pytest.mark.parametrize("fault", ["killed", "frozen"])
async def test_open_guardrail_halts_and_goes_on_when_the_fault_is_over(
    server: faults.Server,
    guardrail: Guardrail,
    answer: faults.Answer,
    fault: str,
    context: dict[str, object],
) -> None:
    during: AbstractContextManager[None] = getattr(server, fault)()
    with during:
        told = {
            token: await answer.failed(guardrail, UNAVAILABLE, session_token=token, current_context=context)
            for token in TOKENS
        }
        assert faults.spooled_ids(spool_of(guardrail)) == [
            halt for result in told.values() for halt in faults.told_ids(result)
        ]
    await faults.assert_recovered(guardrail, told)


@pytest.mark.parametrize("fault", ["killed", "frozen"])
async def test_guardrail_that_finds_the_fault_halts_and_goes_on_when_it_is_over(
    server: faults.Server, guardrail: Guardrail, opened: Open, url: str, answer: faults.Answer, fault: str
) -> None:
    opening = opened(url)
    during: AbstractContextManager[None] = getattr(server, fault)()
    with during:
        told = {token: await answer.failed(opening, UNAVAILABLE, session_token=token) for token in TOKENS}
    await faults.assert_recovered(opening, told)


async def test_server_that_freezes_under_many_checks_halts_them_all(
    server: faults.Server, guardrail: Guardrail, answer: faults.Answer
) -> None:
    told: Checks = {}

    async def check(token: str) -> None:
        told[token] = await answer.failed(guardrail, UNAVAILABLE, session_token=token)

    with server.frozen():
        async with anyio.create_task_group() as group:
            for number in range(24):
                group.start_soon(check, f"many-{number}")
    assert len(told) == 24
    await guardrail.acting_as(
        faults.HUMAN
    ).replay_spool()  # so many may take longer than one check has; checks halt until it is done
    await faults.assert_recovered(guardrail, told)


async def test_server_that_is_restarted_between_checks_costs_no_check(
    server: faults.Server, guardrail: Guardrail, answer: faults.Answer
) -> None:
    server.restart()
    for token in TOKENS:
        result = await answer(guardrail, session_token=token, current_context=faults.QUIET)
        assert (result.reason_code, result.should_halt) == (None, False)
    loud = await answer(guardrail, session_token="s", current_context=faults.LOUD)
    assert loud.event_stored == "database"


@contextmanager
def session_row_locked(url: str) -> Iterator[None]:
    with connected(url) as other:
        other.execute("SELECT id FROM sessions FOR UPDATE")
        yield
        other.rollback()


@contextmanager
def audit_chain_locked(url: str) -> Iterator[None]:
    with connected(url) as other:
        other.execute("LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


@contextmanager
def halts_locked(url: str) -> Iterator[None]:
    with connected(url) as other:
        other.execute("LOCK TABLE halt_events IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


@contextmanager
def table_gone(url: str) -> Iterator[None]:
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("ALTER TABLE halt_events RENAME TO elsewhere")
        yield
        other.execute("ALTER TABLE elsewhere RENAME TO halt_events")


@contextmanager
def no_connection_left(url: str) -> Iterator[None]:
    disconnect_all(url)
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(psycopg.OperationalError):
            while True:
                stack.enter_context(psycopg.connect(url))
        yield


def disconnect_all(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as other:
        others = other.execute(
            "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchone()
    assert others is not None


@pytest.mark.parametrize(
    "fault", [session_row_locked, audit_chain_locked, halts_locked, table_gone, no_connection_left]
)
async def test_database_that_cannot_take_a_halt_stops_the_agent_all_the_same(
    guardrail: Guardrail,
    url: str,
    answer: faults.Answer,
    fault: Callable[[str], AbstractContextManager[None]],
) -> None:
    with fault(url):
        told = {
            token: await answer.failed(
                guardrail, UNAVAILABLE, session_token=token, current_context=faults.LOUD
            )
            for token in TOKENS
        }
        assert len(faults.spooled_ids(spool_of(guardrail))) == 2
    await faults.assert_recovered(guardrail, told)


async def test_role_that_may_only_read_stops_the_agent_all_the_same(
    server: faults.Server, guardrail: Guardrail, url: str, opened: Open, answer: faults.Answer
) -> None:
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS reader")
        owner.execute("CREATE ROLE reader LOGIN")
        owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        reading = opened(sa.make_url(url).set(username="reader").render_as_string(hide_password=False))
        await reading.acting_as(faults.HUMAN).health()
        told = {
            token: await answer.failed(reading, UNAVAILABLE, session_token=token, current_context=faults.LOUD)
            for token in TOKENS
        }
        owner.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO reader")
        await faults.assert_recovered(reading, told)
        await reading.aclose()
        owner.execute("DROP OWNED BY reader")
        owner.execute("DROP ROLE reader")


async def test_locked_row_lets_a_check_pass_that_only_reads(
    guardrail: Guardrail, url: str, answer: faults.Answer
) -> None:
    with session_row_locked(url):
        passed = await answer(guardrail, session_token="s", current_context=faults.QUIET)
        assert (passed.should_halt, passed.reason_code) == (False, None)


async def test_write_that_was_given_up_holds_no_lock_afterwards(
    guardrail: Guardrail, url: str, answer: faults.Answer
) -> None:
    with session_row_locked(url):
        await answer.failed(guardrail, UNAVAILABLE, current_context=faults.LOUD)
    with connected(url) as other:
        other.execute("SET lock_timeout = '1s'")
        other.execute("SELECT id FROM sessions FOR UPDATE")


@pytest.fixture
async def silent_server() -> AsyncIterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        yield port


@pytest.mark.parametrize(
    "change",
    [
        {"database": "no_such_database"},
        {"username": "nobody_we_know"},
        {"username": "guarded", "password": "wrong" + "password"},
        {"host": "127.0.0.1", "port": 1, "query": {}},
        {"query": {"host": "/nowhere/at/all"}},
    ],
    ids=["unknown database", "unknown user", "wrong password", "refused port", "no socket"],
)
async def test_server_that_lets_nobody_in_halts(
    server: faults.Server, opened: Open, answer: faults.Answer, change: dict[str, object]
) -> None:
    if change.get("username") == "guarded":
        guard_role(server, "right" + "password")
    url = sa.make_url(server.url).set(**change).render_as_string(hide_password=False)  # type: ignore[arg-type]
    refused = opened(url)
    result = await answer.failed(refused, UNAVAILABLE)
    assert "wrongpassword" not in result.model_dump_json()
    assert faults.spooled_ids(spool_of(refused)) == faults.told_ids(result)


def guard_role(server: faults.Server, password: str) -> None:
    """Make a role that has to show a password."""
    server.execute("SET password_encryption = 'scram-sha-256'")
    server.execute("DROP ROLE IF EXISTS guarded")
    server.execute(f"CREATE ROLE guarded LOGIN PASSWORD '{password}'")
    rules = Path(server.setting("hba_file"))
    rules.write_text(f"local all guarded scram-sha-256\n{rules.read_text()}")
    server.execute("SELECT pg_reload_conf()")


async def test_server_that_never_answers_halts(
    silent_server: int, opened: Open, answer: faults.Answer
) -> None:
    silent = opened(f"postgresql://somebody@127.0.0.1:{silent_server}/haltline")
    result = await answer.failed(silent, UNAVAILABLE)
    assert faults.spooled_ids(spool_of(silent)) == faults.told_ids(result)


async def test_databases_do_not_share_a_spool(
    server: faults.Server, guardrail: Guardrail, opened: Open, answer: faults.Answer
) -> None:
    other = opened(server.create_database())
    await other.acting_as(faults.HUMAN).health()
    await other.check_halt_conditions(session_token="s", current_context=faults.QUIET)
    with server.killed():
        told = {"s": await answer.failed(guardrail, UNAVAILABLE)}
    untouched = await other.check_halt_conditions(session_token="s", current_context=faults.QUIET)
    assert untouched.should_halt is False
    await faults.assert_recovered(guardrail, told)
