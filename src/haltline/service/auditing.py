"""Verify the audit chain, and that every halt still reads as it was recorded and settled."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from haltline import lifecycle
from haltline.domain import canonical_json, digest
from haltline.records import AuditEntry, Halt
from haltline.service.context import ServiceContext
from haltline.store import audit

_BATCH = 1_000


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


async def entries(context: ServiceContext) -> AsyncIterator[AuditEntry]:
    """Yield the whole chain, in order, a batch at a time."""
    after = 0
    while True:
        with context.operation_deadline():
            await context.start()
            batch = await context.store.audit_entries(after, _BATCH)
        for entry in batch:
            yield entry
            after = entry.sequence
        if len(batch) < _BATCH:
            return


async def verify(context: ServiceContext) -> AuditReport:
    """Check every link, then every halt, the archive included, against the links that recorded it.

    Raises:
        StoreError: the database failed.
    """
    head = audit.GENESIS
    recorded: dict[str, str] = {}
    settled: dict[str, tuple[Any, ...]] = {}
    async for entry in entries(context):
        verdict = audit.verify((entry,), head)
        if verdict.broken is not None:
            problem = f"entry {verdict.broken.sequence}: {verdict.broken.problem}"
            return AuditReport(head.sequence, 0, head.hash, (problem,))
        head = verdict.head
        if entry.action == "halt.recorded":
            recorded[entry.subject] = digest(json.loads(entry.payload))
        if entry.action in {"halt.acknowledged", "halt.timeout"}:
            settled[entry.subject] = _settlement(json.loads(entry.payload), entry.action)
    problems, count = await _compare_halts(context, recorded, settled)
    return AuditReport(head.sequence, count, head.hash, problems)


def _settlement(payload: dict[str, Any], action: str) -> tuple[Any, ...]:
    if action == "halt.timeout":
        return ("timeout", None)
    return (payload["resolution"], payload["acknowledged_by"])


async def _compare_halts(
    context: ServiceContext, recorded: dict[str, str], settled: dict[str, tuple[Any, ...]]
) -> tuple[tuple[str, ...], int]:
    problems: list[str] = []
    seen: set[str] = set()
    after = ""
    while True:
        with context.operation_deadline():
            batch = await context.store.all_halts(after, _BATCH)
        for halt in batch:
            seen.add(halt.id)
            problem = _difference(halt, recorded.get(halt.id), settled.get(halt.id))
            if problem is not None:
                problems.append(f"halt {halt.id}: {problem}")
            after = halt.id
        if len(batch) < _BATCH:
            break
    problems += [f"halt {halt_id}: was recorded and is gone" for halt_id in recorded if halt_id not in seen]
    return tuple(problems), len(seen)


def _difference(halt: Halt, recorded: str | None, settled: tuple[Any, ...] | None) -> str | None:
    if recorded is None:
        return "nothing in the audit log recorded it"
    if digest(json.loads(canonical_json(lifecycle.immutable_columns(halt)))) != recorded:
        return "does not read as it was recorded"
    if (halt.resolution, halt.acknowledged_by) != (settled or (None, None)):
        return "its settlement is not the one in the audit log"
    return None
