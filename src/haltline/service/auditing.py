"""Verify the audit chain, and that every halt still reads as it was recorded and settled."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from haltline import lifecycle
from haltline.domain import canonical_json, digest
from haltline.records import AuditEntry, Halt
from haltline.service.context import ServiceContext
from haltline.store import audit

_BATCH = 1_000
_LOOKS = 5
"""How often a halt that differs is looked at again: others may be changing it at this moment."""


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What a verification found.

    Attributes:
        entries: how many links of the chain hold.
        halts: how many halts were compared with what was recorded of them.
        head: the hash of the last link that holds; note it elsewhere to prove later that nothing was cut off.
        problems: what does not hold, in words; empty when everything does.
    """

    entries: int
    halts: int
    head: str
    problems: tuple[str, ...]


async def entries(context: ServiceContext, after: int = 0) -> AsyncIterator[AuditEntry]:
    """Yield the chain after a sequence, in order, a batch at a time."""
    while True:
        with context.operation_deadline():
            await context.start()
            batch = await context.store.audit_entries(after, _BATCH)
        for entry in batch:
            yield entry
            after = entry.sequence
        if len(batch) < _BATCH:
            return


class _Trail:
    """What the chain says of every halt, as far as it was read."""

    def __init__(self) -> None:
        self.head = audit.GENESIS
        self.recorded: dict[str, str] = {}
        self.settled: dict[str, tuple[Any, ...]] = {}

    async def read_on(self, context: ServiceContext) -> str | None:
        """Read what was added; returns what is wrong with it, or None."""
        async for entry in entries(context, self.head.sequence):
            verdict = audit.verify((entry,), self.head)
            if verdict.broken is not None:
                return f"entry {verdict.broken.sequence}: {verdict.broken.problem}"
            self.head = verdict.head
            if entry.action == "halt.recorded":
                self.recorded[entry.subject] = digest(json.loads(entry.payload))
            if entry.action in {"halt.acknowledged", "halt.timeout"}:
                self.settled[entry.subject] = _settlement(json.loads(entry.payload), entry.action)
        return None

    def problem_of(self, halt: Halt) -> str | None:
        """Return what of a halt is not as the chain says, or None."""
        return _difference(halt, self.recorded.get(halt.id), self.settled.get(halt.id))


async def verify(context: ServiceContext) -> AuditReport:
    """Check every link, then every halt, the archive included, against the links that recorded it.

    Others may write meanwhile: a halt that is not as the chain says is compared again with what was added.

    Raises:
        StoreError: the database failed.
    """
    trail = _Trail()
    broken = await trail.read_on(context)
    if broken is not None:
        return AuditReport(trail.head.sequence, 0, trail.head.hash, (broken,))
    known = tuple(trail.recorded)
    doubtful, seen = await _compare_halts(context, trail)
    missing = [f"halt {halt_id}: was recorded and is gone" for halt_id in known if halt_id not in seen]
    for _ in range(_LOOKS):
        if not doubtful or broken is not None:
            break
        broken = await trail.read_on(context)
        doubtful = await _compare_again(context, trail, doubtful)
    problems = [f"halt {halt_id}: {problem}" for halt_id, problem in doubtful.items()]
    told = [*problems, *missing, *([broken] if broken else [])]
    return AuditReport(trail.head.sequence, len(seen), trail.head.hash, tuple(told))


def _settlement(payload: dict[str, Any], action: str) -> tuple[Any, ...]:
    if action == "halt.timeout":
        return ("timeout", None)
    return (payload["resolution"], payload["acknowledged_by"])


async def _compare_halts(context: ServiceContext, trail: _Trail) -> tuple[dict[str, str], set[str]]:
    """Return what is wrong with which halts, and every halt that there is."""
    doubtful: dict[str, str] = {}
    seen: set[str] = set()
    after = ""
    while True:
        with context.operation_deadline():
            batch = await context.store.all_halts(after, _BATCH)
        for halt in batch:
            seen.add(halt.id)
            problem = trail.problem_of(halt)
            if problem is not None:
                doubtful[halt.id] = problem
            after = halt.id
        if len(batch) < _BATCH:
            return doubtful, seen


async def _compare_again(
    context: ServiceContext, trail: _Trail, doubtful: Mapping[str, str]
) -> dict[str, str]:
    still: dict[str, str] = {}
    for halt_id in doubtful:
        with context.operation_deadline():
            halt = await context.store.find_halt(halt_id)
        problem = "was there and is gone" if halt is None else trail.problem_of(halt)
        if problem is not None:
            still[halt_id] = problem
    return still


def _difference(halt: Halt, recorded: str | None, settled: tuple[Any, ...] | None) -> str | None:
    if recorded is None:
        return "nothing in the audit log recorded it"
    if digest(json.loads(canonical_json(lifecycle.immutable_columns(halt)))) != recorded:
        return "does not read as it was recorded"
    if (halt.resolution, halt.acknowledged_by) != (settled or (None, None)):
        return "its settlement is not the one in the audit log"
    return None
