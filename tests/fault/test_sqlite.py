"""SQLite under faults: every check that cannot be made or recorded halts, in time, and nothing is lost."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from tests.fault import faults

from haltline import Guardrail, Settings
from haltline.domain import ReasonCode
from haltline.errors import StoreUnavailable
from haltline.store.sqlite_file import QUICK_CHECK_LIMIT, library
from haltline.wire import CheckHaltConditionsOutput

pytestmark = pytest.mark.anyio

Open = Callable[..., Guardrail]
UNAVAILABLE = ReasonCode.DATABASE_UNAVAILABLE
NOBODY = 65534
TOKENS = ("s", "t")


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that other users can reach, unlike pytest's own."""
    directory = Path(tempfile.mkdtemp(prefix="haltline-fault-"))
    directory.chmod(0o777)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
async def database(place: Path) -> Path:
    """A database file with the current schema and two open sessions, which nobody has open."""
    path = place / "haltline.db"
    async with Guardrail.open(f"sqlite:///{path}") as guardrail:
        await guardrail.acting_as(
            faults.HUMAN
        ).health()  # bringing up a database may take longer than a check
        for token in TOKENS:
            result = await guardrail.check_halt_conditions(session_token=token, current_context=faults.QUIET)
            assert result.should_halt is False
    return path


def spool_of(database: Path) -> Path:
    return database.with_name(f"{database.name}.spool")


@contextmanager
def raw(database: Path) -> Iterator[sa.Connection]:
    """Connect past Haltline."""
    engine = sa.create_engine(f"sqlite:///{database}", module=library(), isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


# Faults. Each is a context: the fault holds inside, and is repaired at the end.


@contextmanager
def deleted(database: Path) -> Iterator[None]:
    kept = database.with_name("kept")
    os.link(database, kept)
    database.unlink()
    yield
    kept.rename(database)


@contextmanager
def replaced_by_an_empty_one(database: Path) -> Iterator[None]:
    kept = database.with_name("kept")
    database.rename(kept)
    database.touch()
    yield
    kept.rename(database)


@contextmanager
def truncated(database: Path) -> Iterator[None]:
    content = database.read_bytes()
    os.truncate(database, 4096)
    yield
    database.write_bytes(content)


@contextmanager
def read_only(database: Path) -> Iterator[None]:
    """Somebody else's file, which we may only read, in a directory in which we may write."""
    if os.geteuid() != 0:
        database.chmod(0o444)
        yield
        database.chmod(0o600)
        return
    database.chmod(0o644)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def unreadable(database: Path) -> Iterator[None]:
    if os.geteuid() != 0:
        database.chmod(0)
        yield
        database.chmod(0o600)
        return
    database.chmod(0o600)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def overwritten(database: Path, start: int, content: bytes) -> Iterator[None]:
    sound = database.read_bytes()
    with database.open("r+b") as file:
        file.seek(start)
        file.write(content)
    yield
    database.write_bytes(sound)


@contextmanager
def corrupt_header(database: Path) -> Iterator[None]:
    with overwritten(database, 0, b"\xa5" * 100):
        yield


@contextmanager
def corrupt_pages_in_the_middle(database: Path) -> Iterator[None]:
    with overwritten(database, 4096 * 3, b"\xa5" * 4096 * 10):
        yield


@contextmanager
def corrupt_pages_of_a_large_file(database: Path) -> Iterator[None]:
    """A file that is too large to be checked whole at every start; the damage lies where a check looks."""
    with raw(database) as connection:
        connection.exec_driver_sql("CREATE TABLE filler (junk BLOB)")
        connection.exec_driver_sql("INSERT INTO filler VALUES (zeroblob(?))", (QUICK_CHECK_LIMIT + 1,))
        page = connection.exec_driver_sql(
            "SELECT rootpage FROM sqlite_master WHERE name = 'sessions'"
        ).scalar_one()
    with overwritten(database, 4096 * (page - 1), b"\xa5" * 4096):
        yield


@contextmanager
def no_database_at_all(database: Path) -> Iterator[None]:
    with overwritten(database, 0, b"Dear diary, today I was not a database.\n" * 1000):
        yield


@contextmanager
def newer_than_the_code(database: Path) -> Iterator[None]:
    with raw(database) as connection:
        connection.exec_driver_sql("UPDATE haltline_schema_version SET version_num = '9999'")
    yield
    with raw(database) as connection:
        connection.exec_driver_sql("UPDATE haltline_schema_version SET version_num = '0001'")


_HOLDER = """
import sys
from haltline.store.sqlite_file import library
connection = library().connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    connection.execute(statement)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_by_another_process(database: Path, *statements: str) -> Iterator[None]:
    command = [sys.executable, "-c", _HOLDER, str(database), *statements]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        try:
            assert holder.stdout.readline() == b"held\n"
            yield
        finally:
            holder.stdin.close()


@contextmanager
def locked_against_writers(database: Path) -> Iterator[None]:
    with held_by_another_process(database, "BEGIN EXCLUSIVE"):
        yield


@contextmanager
def locked_against_everybody(database: Path) -> Iterator[None]:
    with held_by_another_process(
        database, "PRAGMA locking_mode=EXCLUSIVE", "BEGIN EXCLUSIVE", "CREATE TABLE mine (n)", "COMMIT"
    ):
        yield
    with raw(database) as connection:
        connection.exec_driver_sql("DROP TABLE IF EXISTS mine")


Fault = Callable[[Path], AbstractContextManager[None]]


@pytest.mark.parametrize("fault", [deleted, replaced_by_an_empty_one, truncated, locked_against_writers])
async def test_open_guardrail_halts_and_goes_on_when_the_fault_is_over(
    database: Path, opened: Open, answer: faults.Answer, fault: Fault
) -> None:
    guardrail = opened(f"sqlite:///{database}")
    await guardrail.check_halt_conditions(session_token="s", current_context=faults.QUIET)
    with fault(database):
        told = {
            token: await answer.failed(
                guardrail, UNAVAILABLE, session_token=token, current_context=faults.LOUD
            )
            for token in TOKENS
        }
        assert faults.spooled_ids(spool_of(database)) == [
            halt for answer in told.values() for halt in faults.told_ids(answer)
        ]
    await faults.assert_recovered(guardrail, told)


@pytest.mark.parametrize("fault", [deleted, replaced_by_an_empty_one, truncated])
async def test_open_guardrail_halts_even_for_a_check_that_finds_nothing(
    database: Path, opened: Open, answer: faults.Answer, fault: Fault
) -> None:
    guardrail = opened(f"sqlite:///{database}")
    await guardrail.check_halt_conditions(session_token="s", current_context=faults.QUIET)
    with fault(database):
        told = {"s": await answer.failed(guardrail, UNAVAILABLE)}
    await faults.assert_recovered(guardrail, told)


async def test_lock_of_another_writer_lets_readers_pass_and_halts_a_session_that_must_be_opened(
    database: Path, opened: Open, answer: faults.Answer
) -> None:
    guardrail = opened(f"sqlite:///{database}")
    await guardrail.check_halt_conditions(session_token="s", current_context=faults.QUIET)
    with locked_against_writers(database):
        passed = await answer(guardrail, session_token="s", current_context=faults.QUIET)
        assert (passed.should_halt, passed.reason_code) == (False, None)
        told = {"new": await answer.failed(guardrail, UNAVAILABLE, session_token="new")}
    await faults.assert_recovered(guardrail, told)


@pytest.mark.parametrize(
    "fault",
    [
        unreadable,
        corrupt_header,
        corrupt_pages_in_the_middle,
        corrupt_pages_of_a_large_file,
        no_database_at_all,
        newer_than_the_code,
        locked_against_everybody,
    ],
)
async def test_guardrail_that_finds_the_fault_halts_and_goes_on_when_it_is_over(
    database: Path, opened: Open, answer: faults.Answer, fault: Fault
) -> None:
    guardrail = opened(f"sqlite:///{database}")
    with fault(database):
        told = {token: await answer.failed(guardrail, UNAVAILABLE, session_token=token) for token in TOKENS}
        assert len(faults.spooled_ids(spool_of(database))) == 2
    await faults.assert_recovered(guardrail, told)


async def test_read_only_file_halts_what_must_be_recorded(
    database: Path, opened: Open, answer: faults.Answer
) -> None:
    guardrail = opened(f"sqlite:///{database}")
    with read_only(database):
        told = {
            token: await answer.failed(
                guardrail, UNAVAILABLE, session_token=token, current_context=faults.LOUD
            )
            for token in TOKENS
        }
        assert sorted(faults.spooled_ids(spool_of(database))) == sorted(
            halt for answer in told.values() for halt in faults.told_ids(answer)
        )
        await guardrail.aclose()  # whoever restores the file restarts what had it open
    for left in database.parent.glob("haltline.db-*"):
        left.unlink()
    await faults.assert_recovered(opened(f"sqlite:///{database}"), told)


async def test_deleted_database_is_not_made_anew_while_its_journal_is_there(
    database: Path, opened: Open, answer: faults.Answer
) -> None:
    running = opened(f"sqlite:///{database}")
    await running.check_halt_conditions(session_token="s", current_context=faults.LOUD)
    database.unlink()
    await answer.failed(opened(f"sqlite:///{database}"), UNAVAILABLE)
    assert not database.exists()


# Where even the spool cannot be written.


@contextmanager
def directory_gone(database: Path) -> Iterator[None]:
    """The directory is away, and a file in its place keeps everybody from making it anew."""
    kept = database.parent.with_name(f"{database.parent.name}-kept")
    database.parent.rename(kept)
    database.parent.touch()
    yield
    database.parent.unlink()
    kept.rename(database.parent)


@contextmanager
def directory_forbidden(database: Path) -> Iterator[None]:
    if os.geteuid() != 0:
        database.parent.chmod(0)
        yield
        database.parent.chmod(0o777)
        return
    database.parent.chmod(0o700)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        database.parent.chmod(0o777)


@pytest.mark.parametrize("fault", [directory_gone, directory_forbidden])
@pytest.mark.parametrize("started", [True, False], ids=["open", "opening"])
async def test_halt_that_can_be_stored_nowhere_is_told_logged_and_remembered(
    database: Path,
    opened: Open,
    answer: faults.Answer,
    caplog: pytest.LogCaptureFixture,
    fault: Fault,
    started: bool,
) -> None:
    guardrail = opened(f"sqlite:///{database}")
    if started:
        await guardrail.check_halt_conditions(session_token="s", current_context=faults.QUIET)
    with fault(database):
        told = {
            token: await answer.failed(
                guardrail,
                UNAVAILABLE,
                stored="nowhere",
                session_token=token,
                current_context=faults.LOUD,
            )
            for token in TOKENS
        }
        critical = [r.getMessage() for r in caplog.records if r.levelno == logging.CRITICAL]
        assert len(critical) == 2
        assert all("could not be stored anywhere" in message for message in critical)
    await faults.assert_recovered(guardrail, told)


async def test_directory_that_cannot_be_made_halts(place: Path, opened: Open, answer: faults.Answer) -> None:
    (place / "file").touch()
    guardrail = opened(f"sqlite:///{place / 'file' / 'haltline.db'}")
    await answer.failed(guardrail, UNAVAILABLE, stored="nowhere")


# Full disks.


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[None]:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small file system cannot be mounted here; a limited file size is tested all the same")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def fill_disk(place: Path) -> Path:
    """Write until the disk is full; returns the file to delete."""
    junk = place / "junk"
    with junk.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1024))
    return junk


async def test_full_disk_halts_and_the_halt_counts_once_there_is_space(
    place: Path, answer: faults.Answer
) -> None:
    with small_disk(place, "1536k"):
        database = place / "haltline.db"
        async with Guardrail.open(f"sqlite:///{database}") as guardrail:
            await guardrail.acting_as(faults.HUMAN).health()
            for token in TOKENS:
                await guardrail.check_halt_conditions(session_token=token, current_context=faults.QUIET)
            junk = fill_disk(place)
            context = {**faults.LOUD, "operation": "delete the old branches " * 150}
            told = {
                token: await answer.failed(
                    guardrail,
                    UNAVAILABLE,
                    stored={"spool", "nowhere"},
                    session_token=token,
                    current_context=context,
                )
                for token in TOKENS
            }
            junk.unlink()
            await faults.assert_recovered(guardrail, told)


_LIMITED = """
import json, resource, sys
from pathlib import Path
import anyio
from haltline import Guardrail

async def main(path):
    quiet, loud = json.loads(sys.argv[2]), json.loads(sys.argv[3])
    async with Guardrail.open(f"sqlite:///{path}") as guardrail:
        warm = await guardrail.check_halt_conditions(session_token="warm", current_context=loud)
        assert warm.event_stored == "database", warm
        grown = Path(f"{path}-wal").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (grown, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        for token in ("s", "t"):
            began = anyio.current_time()
            with anyio.fail_after(float(sys.argv[4])):
                result = await guardrail.check_halt_conditions(session_token=token, current_context=loud)
            seconds = anyio.current_time() - began
            print(json.dumps([token, seconds, result.model_dump(mode="json")]), flush=True)

anyio.run(main, sys.argv[1])
"""


async def test_file_that_may_not_grow_halts_and_the_halt_waits_in_the_spool(
    database: Path, opened: Open
) -> None:
    arguments = [str(database), json.dumps(faults.QUIET), json.dumps(faults.LOUD)]
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, *arguments, str(faults.DEADLINE + faults.GRACE)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = {}
    for line in done.stdout.splitlines():
        token, seconds, result = json.loads(line)
        assert seconds <= faults.DEADLINE + faults.GRACE
        told[token] = CheckHaltConditionsOutput.model_validate(result)
        faults.assert_failed(told[token], UNAVAILABLE, "spool")
    assert set(told) == set(TOKENS)
    await faults.assert_recovered(opened(f"sqlite:///{database}"), told)


# The spool itself.


async def test_record_halt_uses_the_spool_as_well(database: Path, opened: Open) -> None:
    guardrail = opened(f"sqlite:///{database}", settings=Settings(operation_deadline_seconds=0.5))
    await guardrail.check_halt_conditions(session_token="s", current_context=faults.QUIET)
    with locked_against_writers(database):
        recorded = await guardrail.record_halt(
            session_token="s", halt_type="scope", severity="high", description="out of bounds"
        )
        assert recorded.event_stored == "spool"
        assert faults.spooled_ids(spool_of(database)) == [recorded.halt_id]
        with pytest.raises(StoreUnavailable):
            await guardrail.acting_as(faults.HUMAN).acknowledge_halt(
                session_token="s", halt_id=recorded.halt_id, resolution="resolved"
            )
    await guardrail.acting_as(faults.HUMAN).replay_spool()
    await faults.assert_stored(guardrail, {"s": [recorded.halt_id]})


async def test_closing_does_not_wait_for_what_is_stuck(database: Path, answer: faults.Answer) -> None:
    guardrail = Guardrail.open(f"sqlite:///{database}")
    await guardrail.check_halt_conditions(session_token="s", current_context=faults.QUIET)
    with locked_against_writers(database):

        async def check(token: str) -> None:
            await answer.failed(guardrail, UNAVAILABLE, session_token=token)

        async with anyio.create_task_group() as group:
            for token in "abcdefgh":
                group.start_soon(check, token)
        began = anyio.current_time()
        await guardrail.aclose()
        assert anyio.current_time() - began <= 2
