"""The local spool: events that the database could not take, one JSON line each, synced to the disk.

`append` adds a line. `claim` takes everything that waits, under a lock, so that of several processes one replays
it; `finish` deletes what was claimed. A process that ends in between leaves its claim behind, and the next one
takes it up again: events carry ids, so handing one over twice changes nothing. A line that cannot be read is never
dropped: it is kept in a `.damaged` file beside the spool.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from haltline.domain import canonical_json

try:
    import fcntl
except ImportError:  # Windows has no fcntl: there one process replays at a time by the rename alone
    fcntl = None  # type: ignore[assignment]

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

    def finish(self, claim: Claim) -> None:
        """Forget claimed events: every one of them was handed over."""


class FileSpool:
    """A spool in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._claimed = path.with_name(path.name + ".claimed")
        self._damaged = path.with_name(path.name + ".damaged")
        self._lock = path.with_name(path.name + ".lock")

    def append(self, event: Mapping[str, Any]) -> None:
        """Add an event.

        Raises:
            OSError: the disk did not take it.
        """
        line = canonical_json(event).encode("utf-8") + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            written = os.write(descriptor, line)
            if written != len(line):
                raise OSError(f"only {written} of {len(line)} bytes were written to {self.path}")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

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
                self.path.replace(self._claimed)
            yield self._read()

    def finish(self, claim: Claim) -> None:
        """Delete what was claimed."""
        for file in claim.files:
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
        with self._damaged.open("ab") as file:
            file.writelines(line + b"\n" for line in lines if line not in known)
            file.flush()
            os.fsync(file.fileno())
        logger.error("%d lines of the spool cannot be read; they are kept in %s", len(lines), self._damaged)

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[bool]:
        """Hold the spool's lock, or say that somebody else does."""
        if fcntl is None:
            yield True
            return
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(descriptor)


class MemorySpool:
    """A spool that lasts as long as the process, beside the in-memory store."""

    def __init__(self) -> None:
        self._events: list[Mapping[str, Any]] = []

    def append(self, event: Mapping[str, Any]) -> None:
        """Add an event."""
        self._events.append(json.loads(canonical_json(event)))

    def pending(self) -> bool:
        """Whether anything waits."""
        return bool(self._events)

    @contextlib.contextmanager
    def claim(self) -> Iterator[Claim]:
        """Take what waits."""
        yield Claim(tuple(self._events))

    def finish(self, claim: Claim) -> None:
        """Forget what was claimed."""
        del self._events[: len(claim.events)]


def _parsed(line: bytes) -> Mapping[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None
