"""SQLite files that are missing, replaced, read-only, locked, damaged or on a full disk."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from haltline.errors import StoreCorrupt, StoreUnavailable
from haltline.records import Changes, SessionLookup
from haltline.store import open_store, sqlite_file
from haltline.store.sqlite import SqliteStore
from haltline.store.sqlite_file import file_system_of, journal_mode, library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Maker

pytestmark = pytest.mark.anyio

BOUND = 20.0
"""Longest wait, in seconds."""


@pytest.fixture
def path(tmp_path: Path, sqlite_template: Path) -> Path:
    path = tmp_path / "haltline.db"
    shutil.copy(sqlite_template, path)
    return path


@pytest.fixture
async def store(path: Path, anyio_backend: str) -> Any:
    store = SqliteStore(path)
    await store.start()
    yield store
    await store.close()


async def look(store: SqliteStore) -> object:
    return await store.view(SessionLookup(token_hash="x"))


async def test_new_database_and_its_directory_are_the_owners_alone(tmp_path: Path, make: Maker) -> None:
    path = tmp_path / "some" / "where" / "haltline.db"
    store = SqliteStore(path)
    await store.start()
    await make.opened(store)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(found.stat().st_mode) for found in path.parent.iterdir()} == {0o600}
    assert (await store.health()).warnings == ()
    path.chmod(0o644)
    assert any("chmod 600" in warning for warning in (await store.health()).warnings)
    await store.close()


async def test_settings_of_a_connection(store: SqliteStore) -> None:
    def settings() -> dict[str, object]:
        connection = store._connection()
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "trusted_schema")
        more = ("cell_size_check", "recursive_triggers", "mmap_size")
        return {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names + more}

    assert await store._run(settings) == {
        "journal_mode": journal_mode(library().sqlite_version_info),
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 5000,
        "trusted_schema": 0,
        "cell_size_check": 1,
        "recursive_triggers": 1,
        "mmap_size": 0,
    }


@pytest.mark.parametrize(
    ("version", "mode"),
    [
        ((3, 6, 23), "wal"),
        ((3, 7, 0), "truncate"),
        ((3, 40, 1), "truncate"),
        ((3, 51, 2), "truncate"),
        ((3, 51, 3), "wal"),
        ((3, 53, 4), "wal"),
    ],
)
def test_versions_with_the_wal_reset_bug_do_without_wal(version: tuple[int, ...], mode: str) -> None:
    assert journal_mode(version) == mode


async def test_old_library_falls_back_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, make: Maker
) -> None:
    monkeypatch.setattr(library(), "sqlite_version_info", (3, 40, 1))
    store = SqliteStore(tmp_path / "haltline.db")
    await store.start()
    await make.opened(store)
    health = await store.health()
    assert health.facts["journal_mode"] == "truncate"
    assert any("WAL" in warning for warning in health.warnings)
    assert "journal_mode=TRUNCATE" in caplog.text
    await store.close()


async def test_old_library_does_not_share_a_wal_database(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert journal_mode(library().sqlite_version_info) == "wal"
    monkeypatch.setattr(sqlite_file, "BUSY_TIMEOUT", 0.01)
    monkeypatch.setattr(library(), "sqlite_version_info", (3, 40, 1))
    with pytest.raises(StoreUnavailable, match=r"WAL mode|locked"):
        await SqliteStore(path).start()


@pytest.mark.parametrize("leftovers", [True, False])
async def test_deleted_file_is_unavailable_and_not_made_anew(
    store: SqliteStore, path: Path, make: Maker, leftovers: bool
) -> None:
    await make.opened(store)
    path.unlink()
    if not leftovers:
        for found in path.parent.glob("haltline.db-*"):
            found.unlink()
    with pytest.raises(StoreUnavailable, match="is gone"):
        await look(store)
    with pytest.raises(StoreUnavailable, match="is gone"):
        await make.opened(store)
    assert not path.exists()


async def test_file_that_is_deleted_before_the_commit_is_unavailable(
    store: SqliteStore, path: Path, make: Maker
) -> None:
    def vanish(_view: object, _now: object) -> Changes:
        path.unlink()
        return Changes(audit=(make.event(),))

    with pytest.raises(StoreUnavailable, match="is gone"):
        await store.change(SessionLookup(token_hash="x"), vanish)


async def test_database_whose_journal_outlived_it_is_not_made_anew(store: SqliteStore, path: Path) -> None:
    await store.close()
    path.unlink()
    Path(f"{path}-wal").write_bytes(b"something")
    with pytest.raises(StoreUnavailable, match="is gone, but"):
        await SqliteStore(path).start()
    assert not path.exists()


async def test_replaced_file_is_unavailable(store: SqliteStore, path: Path, sqlite_template: Path) -> None:
    path.rename(path.with_suffix(".old"))
    shutil.copy(sqlite_template, path)
    with pytest.raises(StoreUnavailable, match="another file"):
        await look(store)


def _as_nobody(path: Path) -> None:
    """Start the store as a user who may read the file and not write it."""
    script = """
import anyio, os, sys
from pathlib import Path
from haltline.store import open_store
from haltline.errors import StoreUnavailable
from haltline.records import Changes, SessionLookup
open_store("sqlite:////x"); import haltline.store.migrations
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
async def main():
    store = open_store("sqlite:///" + sys.argv[1])
    try:
        await store.start()
        await store.change(SessionLookup(token_hash="x"), lambda view, now: Changes())
    except StoreUnavailable as error:
        print(error)
anyio.run(main)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True,
        timeout=BOUND,
        check=True,
        text=True,
    )
    assert "SQLite: " in done.stdout
    assert str(path) in done.stdout or "read-only" in done.stdout


@pytest.fixture
def shared_directory(tmp_path: Path) -> Iterator[Path]:
    """A directory that every user may enter."""
    made = Path("/tmp") / f"haltline-{os.getpid()}-{tmp_path.name}"  # noqa: S108 - pytest's own is private
    made.mkdir()
    made.chmod(0o755)
    yield made
    made.chmod(0o755)
    shutil.rmtree(made)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX permissions")
def test_read_only_database_is_unavailable(shared_directory: Path, sqlite_template: Path) -> None:
    path = shared_directory / "haltline.db"
    shutil.copy(sqlite_template, path)
    path.chmod(0o444)
    shared_directory.chmod(0o555)
    _as_nobody(path)


async def test_locked_database_holds_no_caller_beyond_its_deadline(
    store: SqliteStore, path: Path, make: Maker
) -> None:
    session = await make.opened(store)
    other = library().connect(str(path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    begin = anyio.current_time()
    for _ in range(3):
        with pytest.raises(TimeoutError):
            with anyio.fail_after(0.05):
                await make.opened(store)
    with anyio.fail_after(BOUND):  # readers do not wait for the writer
        assert (await store.view(SessionLookup(session_id=session.id))).session == session
    assert anyio.current_time() - begin < sqlite_file.BUSY_TIMEOUT
    other.execute("ROLLBACK")
    other.close()
    with anyio.fail_after(BOUND):
        await make.opened(store)


async def test_database_that_stays_locked_is_unavailable(
    path: Path, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "_PRAGMAS", ("busy_timeout=1", *sqlite_file._PRAGMAS[1:]))
    store = SqliteStore(path)
    await store.start()
    other = library().connect(str(path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked by another process"):
        await make.opened(store)
    other.close()
    await make.opened(store)
    await store.close()


async def test_abandoned_change_is_written_whole_or_not_at_all(
    store: SqliteStore, path: Path, make: Maker
) -> None:
    session = await make.opened(store)
    release, begun = threading.Event(), threading.Event()
    halt = make.halt(session)

    def slow(_view: object, _now: object) -> Changes:
        begun.set()
        release.wait(BOUND)
        return Changes(new_halts=(halt,), audit=(make.event(),))

    with anyio.move_on_after(0.05):
        await store.change(SessionLookup(session_id=session.id), slow)
    assert begun.is_set()
    release.set()
    with anyio.fail_after(BOUND):
        await make.opened(store)  # waits for the abandoned one's turn to end
    written = (await store.find_halt(halt.id) is not None, len(await store.audit_entries(0, 10)))
    assert written in {(True, 1), (False, 0)}


def _overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: _overwrite(path, 0, b"this is not a database"),
        lambda path: _overwrite(path, 4096, b"\xff" * 8192),
        lambda path: os.truncate(path, 5000),
        lambda path: path.write_bytes(b"garbage" * 1000),
    ],
    ids=["header", "pages", "truncated", "no database"],
)
async def test_damaged_database_does_not_start(path: Path, damage: Any) -> None:
    damage(path)
    with pytest.raises(StoreCorrupt):
        await SqliteStore(path).start()


async def test_damage_after_the_start_is_corrupt(path: Path, make: Maker) -> None:
    store = SqliteStore(path)
    await store.start()
    session = await make.opened(store)
    await store._run(lambda: store._connection().exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)"))
    await store._run(store._disconnect)
    _overwrite(path, 4096, b"\xff" * (path.stat().st_size - 4096))
    with pytest.raises(StoreCorrupt):
        await store.view(SessionLookup(session_id=session.id))
    await store.close()


BAD_VALUES = {
    "time": "UPDATE sessions SET created_at = 'yesterday'",
    "state": "UPDATE sessions SET state = 'merry'",
    "message": "UPDATE outbox SET payload = '{'",
}


@pytest.mark.parametrize("what", BAD_VALUES)
async def test_value_that_haltline_never_wrote_is_corrupt(
    store: SqliteStore, path: Path, make: Maker, what: str
) -> None:
    session = await make.opened(store)
    await make.write(store, new_messages=(make.message(session),))
    forger = library().connect(str(path), isolation_level=None)
    forger.execute("PRAGMA ignore_check_constraints = ON")
    forger.execute(BAD_VALUES[what])
    forger.close()
    with pytest.raises(StoreCorrupt):
        await store.view(SessionLookup(session_id=session.id))


async def test_condition_row_that_makes_no_sense_still_reaches_its_reader(
    store: SqliteStore, path: Path
) -> None:
    forger = library().connect(str(path), isolation_level=None)
    forger.execute("PRAGMA ignore_check_constraints = ON")
    forger.execute(
        "UPDATE halt_conditions_config SET threshold = '{', severity = 'odd'"
        " WHERE condition_name = 'out_of_scope'"
    )
    forger.close()
    row = next(row for row in await store.condition_rows() if row.condition_name == "out_of_scope")
    assert (row.threshold, row.severity) == ("{", "odd")


async def test_full_disk_is_unavailable_and_writes_nothing(
    path: Path, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = path.stat().st_size // 4096
    monkeypatch.setattr(sqlite_file, "_PRAGMAS", (*sqlite_file._PRAGMAS, f"max_page_count={pages + 2}"))
    store = SqliteStore(path)
    await store.start()
    session = await make.opened(store)
    halt = make.halt(session, context={"much": "x" * 50_000})
    with pytest.raises(StoreUnavailable, match="disk is full"):
        await make.write(store, new_halts=(halt,), audit=(make.event(),))
    assert await store.find_halt(halt.id) is None
    assert await store.audit_entries(0, 10) == ()
    await store.close()


MOUNTS = """\
/dev/vda / ext4 rw 0 0
proc /proc proc rw 0 0
server:/export /mnt/share\\040one nfs4 rw 0 0
/dev/vdb /mnt/share\\040one/local xfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/a/haltline.db", "ext4"),
        ("/mnt/share one/haltline.db", "nfs4"),
        ("/mnt/share one/local/haltline.db", "xfs"),
        ("/mnt/share one two/haltline.db", "ext4"),
    ],
)
def test_file_system_is_found_by_the_longest_mount(tmp_path: Path, path: str, kind: str) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    assert file_system_of(Path(path), mounts) == kind
    assert file_system_of(Path(path), tmp_path / "none") is None


async def test_network_file_system_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "file_system_of", lambda _path: "nfs4")
    with pytest.raises(StoreUnavailable, match="network file system"):
        await SqliteStore(path).start()


async def test_store_that_was_not_started_says_so(path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="start"):
        await open_store(f"sqlite:///{path}").condition_rows()
