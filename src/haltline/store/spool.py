"""The local spool: events that the database could not take, one JSON line each, synced to the disk.

`append` adds a line. `claim` takes everything that waits, under a lock, so that of several processes one
replays it; `finish` deletes what was claimed. A process that ends in between leaves its claim behind, and the
next one takes it up again: events carry ids, so handing one over twice changes nothing. A line that cannot be
read is never dropped: it is kept in a `.damaged` file beside the spool.

Two locks keep events from falling between: one on the spool file, held for as long as a line takes to write
or the file to be renamed, and one on a lock file, held for a whole claim.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

if sys.platform != "win32":  # without fcntl one process at a time may replay: the rename alone decides which
    import fcntl

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Claim:
    """Events that were taken from the spool, and the files to delete when all are handed over."""

    events: tuple[Mapping[str, Any], ...]
    files: tuple[Path, ...] = ()


class Spool(Protocol):
    """Where events wait for the database."""

    def append(self, event: Mapping[str, Any]) -> None:
        """Add an event; it is on the disk when this returns."""

    def pending(self) -> bool:
        """Whether anything waits; cheap enough to ask before every check."""

    def claim(self) -> contextlib.AbstractContextManager[Claim]:
        """Take what waits, alone; what is not finished inside is there again afterwards."""

    def finish(self, claim: Claim, left: Sequence[Mapping[str, Any]] = ()) -> None:
        """Forget claimed events: they were handed over, except for what is left of them."""


class FileSpool:
    """A spool in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._claimed = path.with_name(path.name + ".claimed")
        self._damaged = path.with_name(path.name + ".damaged")
        self._lock_file = path.with_name(path.name + ".lock")

    def append(self, event: Mapping[str, Any]) -> None:
        """Add an event; it is on the disk when this returns.

        Raises:
            OSError: the disk did not take it.
        """
        line = _line(event)
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._open_locked() as descriptor:
            if not _ends_a_line(
                descriptor
            ):  # somebody was cut off while writing: do not write on in their line
                line = b"\n" + line
            written = os.write(descriptor, line)
            if written != len(line):
                raise OSError(f"only {written} of {len(line)} bytes were written to {self.path}")
            os.fsync(descriptor)
        _sync_directory(self.path.parent)

    def pending(self) -> bool:
        """Whether anything waits, a claim that somebody left behind included."""
        return self.path.exists() or self._claimed.exists()

    @contextlib.contextmanager
    def claim(self) -> Iterator[Claim]:
        """Take what waits; others get an empty claim meanwhile."""
        with self._exclusive() as mine:
            if not mine:
                yield Claim(())
                return
            if not self._claimed.exists() and self.path.exists():
                with self._open_locked():
                    self.path.replace(self._claimed)
            yield self._read()

    def finish(self, claim: Claim, left: Sequence[Mapping[str, Any]] = ()) -> None:
        """Delete what was claimed, or keep what is left of it in its place.

        Raises:
            OSError: the disk did not take what is left; everything is still claimed.
        """
        for file in claim.files:
            if left:
                _rewrite(file, b"".join(map(_line, left)))
            else:
                file.unlink(missing_ok=True)

    def _read(self) -> Claim:
        if not self._claimed.exists():
            return Claim(())
        events: list[Mapping[str, Any]] = []
        damaged: list[bytes] = []
        for line in self._claimed.read_bytes().splitlines():
            event = _parsed(line)
            if event is None:
                damaged.append(line)
            else:
                events.append(event)
        if damaged:
            self._keep(damaged)
        return Claim(tuple(events), (self._claimed,))

    def _keep(self, lines: list[bytes]) -> None:
        known = set(self._damaged.read_bytes().splitlines()) if self._damaged.exists() else set()
        with open(self._damaged, "ab", opener=_for_owner) as file:
            file.writelines(line + b"\n" for line in lines if line not in known)
            file.flush()
            os.fsync(file.fileno())
        logger.error("%d lines of the spool cannot be read; they are kept in %s", len(lines), self._damaged)

    @contextlib.contextmanager
    def _open_locked(self) -> Iterator[int]:
        """Open the spool file with its lock held, the file that is there now and not one just claimed."""
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                _lock(descriptor, wait=True)
                if _is_same_file(descriptor, self.path):
                    yield descriptor
                    return
            finally:
                os.close(descriptor)

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[bool]:
        """Hold the claim's lock, or say that somebody else does."""
        descriptor = os.open(self._lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            yield _lock(descriptor, wait=False)
        finally:
            os.close(descriptor)


class MemorySpool:
    """A spool that lasts as long as the process: beside the in-memory store, and for what no disk takes."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._claiming = threading.Lock()

    def append(self, event: Mapping[str, Any]) -> None:
        """Add an event."""
        self._lines.append(_line(event))

    def pending(self) -> bool:
        """Whether anything waits."""
        return bool(self._lines)

    @contextlib.contextmanager
    def claim(self) -> Iterator[Claim]:
        """Take what waits; others get an empty claim meanwhile."""
        if not self._claiming.acquire(blocking=False):
            yield Claim(())
            return
        try:
            yield Claim(tuple(json.loads(line) for line in self._lines))
        finally:
            self._claiming.release()

    def finish(self, claim: Claim, left: Sequence[Mapping[str, Any]] = ()) -> None:
        """Forget what was claimed, and keep what is left of it in its place."""
        self._lines[: len(claim.events)] = map(_line, left)


def _line(event: Mapping[str, Any]) -> bytes:
    """Return an event as a line of ASCII; whatever it holds, it has one: there is no second chance."""
    return json.dumps(event, sort_keys=True, separators=(",", ":"), default=str).encode("ascii") + b"\n"


def _parsed(line: bytes) -> Mapping[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _ends_a_line(descriptor: int) -> bool:
    if os.fstat(descriptor).st_size == 0:
        return True
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) == b"\n"


def _rewrite(path: Path, content: bytes) -> None:
    """Put other content in a file's place, so that a crash leaves the one or the other."""
    draft = path.with_name(f"{path.name}.draft")
    with open(draft, "wb", opener=_for_owner) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _is_same_file(descriptor: int, path: Path) -> bool:
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    opened = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == (opened.st_dev, opened.st_ino)


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Take a lock that ends with the descriptor; returns false when somebody else has it, unless we wait."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sync_directory(path: Path) -> None:
    """Make a new file's name last, where directories can be synced."""
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
