"""The file of a SQLite store: making it, opening connections to it, and noticing when it is gone.

SQLite 3.7.0 to 3.51.2 can corrupt a database in WAL mode (the "WAL-reset" bug, fixed in 3.51.3), so the
library is chosen first: `pysqlite3` where it is installed, else the standard library's. An old one runs with
`journal_mode=TRUNCATE`, which is slower and not affected.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import stat
import time
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

from haltline.errors import StoreUnavailable

BUSY_TIMEOUT = 5.0
"""How long SQLite waits for another process's lock, in seconds."""

QUICK_CHECK_LIMIT = 16 * 2**20
"""Files up to this size, in bytes, are checked for damage at every start; larger ones by `health`."""

_WAL_SAFE = (3, 51, 3)
_FIRST_WAL = (3, 7, 0)
_NETWORK_FILE_SYSTEMS = frozenset(
    {
        "afs",
        "ceph",
        "cifs",
        "fuse.glusterfs",
        "fuse.s3fs",
        "fuse.sshfs",
        "gfs2",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "smb3",
        "smbfs",
    }
)

_SOUND = frozenset({"ok", "CHECK constraint failed in halt_conditions_config"})

_PRAGMAS = (
    f"busy_timeout={BUSY_TIMEOUT * 1000:.0f}",
    "synchronous=FULL",
    "foreign_keys=ON",
    "recursive_triggers=ON",
    "trusted_schema=OFF",
    "cell_size_check=ON",
    "mmap_size=0",
)


@cache
def library() -> ModuleType:
    """Return the DB-API module to use."""
    for name in ("pysqlite3.dbapi2", "sqlite3"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    raise StoreUnavailable("This Python has no SQLite; install the package pysqlite3")


def journal_mode(version: tuple[int, ...]) -> str:
    """Return the journal mode that is safe with a version of SQLite."""
    return "truncate" if _FIRST_WAL <= version < _WAL_SAFE else "wal"


class DatabaseFile:
    """Where a database lies, and which file it was when it was opened.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._identity: tuple[int, int] | None = None
        self._size = 0
        self._never_shrinks = False

    def prepare(self) -> None:
        """Make the directory and the file, for their owner alone, unless they exist.

        Raises:
            StoreUnavailable: they cannot be made, the file system is a network's, or the database is gone and
                has left its journal behind.
        """
        try:
            self._refuse_network()
            self._make()
            found = self._look()
        except OSError as error:
            raise StoreUnavailable(f"SQLite: {self.path} cannot be made or read: {error}") from error
        self._identity = (found.st_dev, found.st_ino)
        # Without WAL, a transaction that is taken back may leave the file smaller than it was meanwhile.
        self._never_shrinks = journal_mode(library().sqlite_version_info) == "wal"
        self._size = found.st_size if self._never_shrinks else 0

    def check(self) -> None:
        """Notice that the file was deleted, replaced or cut off since it was opened.

        SQLite itself goes on writing to such a file, and what it writes is lost.

        Raises:
            StoreUnavailable: it was.
        """
        known_size = self._size  # before the look: other threads see the file grow meanwhile
        try:
            found = self._look()
        except OSError as error:
            raise StoreUnavailable(
                f"SQLite: {self.path} is gone or cannot be read ({error.strerror}). Restore it: it is not "
                "made anew, because an empty database would have forgotten every halt."
            ) from error
        if (found.st_dev, found.st_ino) != self._identity:
            raise StoreUnavailable(
                f"SQLite: {self.path} is another file than the one that was opened. Restart this process if "
                "it was replaced on purpose."
            )
        if found.st_size < known_size:
            raise StoreUnavailable(
                f"SQLite: {self.path} was cut off: it had {known_size} bytes and has {found.st_size}. "
                "Restore it, or restart this process if it was made smaller on purpose."
            )
        if self._never_shrinks:
            self._size = found.st_size

    def connect(self) -> Any:
        """Return a connection with every setting made.

        Raises:
            StoreUnavailable: the database is in a journal mode that is not safe with this SQLite.
        """
        driver = library()
        uri = f"file:{quote(str(self.path))}?mode=rw"
        connection = driver.connect(
            uri, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_TIMEOUT
        )
        try:
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
            self._set_journal(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def damage(self, connection: Any) -> str | None:
        """Return what SQLite's own quick check finds wrong, or None.

        A senseless row of the configuration is no damage: its reader says what is wrong with it.
        """
        found = connection.exec_driver_sql("PRAGMA quick_check").scalars()
        return next((str(problem) for problem in found if problem not in _SOUND), None)

    def is_small(self) -> bool:
        """Whether the file is checked for damage at every start."""
        return self.path.stat().st_size <= QUICK_CHECK_LIMIT

    def exposed(self) -> bool:
        """Whether others than the owner may read or write the file."""
        return bool(stat.S_IMODE(self.path.stat().st_mode) & 0o077)

    def _set_journal(self, connection: Any) -> None:
        wanted = journal_mode(library().sqlite_version_info)
        if _journal_of(connection, "") == wanted:
            return
        got = self._switch_journal(connection, wanted)
        if got == "wal" and wanted != "wal":
            raise StoreUnavailable(
                f"SQLite: {self.path} is in WAL mode, which SQLite {library().sqlite_version} can corrupt, "
                "and another process holds it. Install pysqlite3, or end the other process."
            )

    @staticmethod
    def _switch_journal(connection: Any, wanted: str) -> str:
        """Switch, and try again while another process does the same: SQLite does not wait for that lock."""
        ends = time.monotonic() + BUSY_TIMEOUT
        while True:
            try:
                return _journal_of(connection, f"={wanted}")
            except library().OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > ends:
                    raise
                time.sleep(0.005)

    def _refuse_network(self) -> None:
        kind = file_system_of(self.path)
        if kind in _NETWORK_FILE_SYSTEMS:
            raise StoreUnavailable(
                f"SQLite: {self.path} lies on a network file system ({kind}), whose locks do not hold. "
                "Put it on a local disk, or use PostgreSQL."
            )

    def _make(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.path.exists() and Path(f"{self.path}-wal").exists():
            raise StoreUnavailable(
                f"SQLite: {self.path} is gone, but {self.path}-wal is still there. Restore the database: it "
                "is not made anew, because an empty one would have forgotten every halt."
            )
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    def _look(self) -> os.stat_result:
        return os.stat(self.path)  # noqa: PTH116 - before every transaction; Path.stat takes three times as long


def file_system_of(path: Path, mounts: Path = Path("/proc/mounts")) -> str | None:
    """Return the type of the file system that a path lies on, or None where that cannot be told."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    target = path.absolute()
    best, kind = -1, None
    for line in lines:
        _, point, found, *_ = line.split(" ")
        point = point.replace("\\040", " ")
        if target.is_relative_to(point) and len(point) > best:
            best, kind = len(point), found
    return kind


def _journal_of(connection: Any, change: str) -> str:
    return str(connection.execute(f"PRAGMA journal_mode{change}").fetchone()[0]).lower()
