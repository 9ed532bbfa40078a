"""The audit chain: each entry carries the SHA-256 of the one before, so that a changed past shows.

Pure functions. An entry's hash is over the canonical JSON of all its other fields, the previous hash among
them. Whoever keeps a head (`sequence` and `hash`) somewhere else can prove later that nothing up to it has
changed; without one, a chain that somebody has rewritten from a point to its end still verifies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from haltline.domain import canonical_json, digest, utc_text
from haltline.records import AuditEntry, AuditEvent


@dataclass(frozen=True, slots=True)
class AuditHead:
    """Where a chain ends: the sequence and the hash of its last entry."""

    sequence: int
    hash: str


GENESIS = AuditHead(0, "0" * 64)
"""The head of the empty chain."""


@dataclass(frozen=True, slots=True)
class AuditBreak:
    """Where a chain does not hold.

    Attributes:
        sequence: the entry at which it shows.
        problem: what is wrong, for a person.
    """

    sequence: int
    problem: str


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """What verifying a stretch of the chain found.

    Attributes:
        head: the last entry that held; continue from it, or compare it with one that was kept elsewhere.
        broken: the first break; None when everything holds.
    """

    head: AuditHead
    broken: AuditBreak | None = None


def entry_hash(entry: AuditEntry) -> str:
    """Return the hash that an entry must carry."""
    return digest(
        {
            "sequence": entry.sequence,
            "at": entry.at,
            "actor": entry.actor,
            "action": entry.action,
            "subject": entry.subject,
            "session_id": entry.session_id,
            "payload": entry.payload,
            "previous_hash": entry.previous_hash,
        }
    )


def archive_event(halt_ids: Sequence[str], before: datetime, actor: str) -> AuditEvent:
    """Return the event of moving halts to the archive, which the stores themselves do."""
    return AuditEvent(
        actor=actor,
        action="halts_archived",
        subject=f"{len(halt_ids)} halts",
        session_id=None,
        payload={"halt_ids": list(halt_ids), "triggered_before": utc_text(before)},
    )


def append(head: AuditHead, events: Sequence[AuditEvent], now: datetime) -> tuple[AuditEntry, ...]:
    """Return the entries that continue a chain.

    Args:
        head: where the chain ends.
        events: what happened, in order.
        now: when, in UTC.
    """
    entries: list[AuditEntry] = []
    sequence, previous = head.sequence, head.hash
    for event in events:
        sequence += 1
        unsigned = AuditEntry(
            sequence=sequence,
            at=utc_text(now),
            actor=event.actor,
            action=event.action,
            subject=event.subject,
            session_id=event.session_id,
            payload=canonical_json(event.payload),
            previous_hash=previous,
            hash="",
        )
        previous = entry_hash(unsigned)
        entries.append(_with_hash(unsigned, previous))
    return tuple(entries)


def _with_hash(entry: AuditEntry, value: str) -> AuditEntry:
    return AuditEntry(
        entry.sequence,
        entry.at,
        entry.actor,
        entry.action,
        entry.subject,
        entry.session_id,
        entry.payload,
        entry.previous_hash,
        value,
    )


def verify(entries: Iterable[AuditEntry], head: AuditHead = GENESIS) -> AuditVerdict:
    """Check that entries continue a chain, each with the right place, predecessor and hash.

    Args:
        entries: the stretch to check, in order.
        head: where the chain stood before it.
    """
    for entry in entries:
        problem = _problem(entry, head)
        if problem is not None:
            return AuditVerdict(head, AuditBreak(entry.sequence, problem))
        head = AuditHead(entry.sequence, entry.hash)
    return AuditVerdict(head)


def _problem(entry: AuditEntry, head: AuditHead) -> str | None:
    if entry.sequence != head.sequence + 1:
        return (
            f"expected entry {head.sequence + 1}, found {entry.sequence}: entries are missing or out of order"
        )
    if entry.previous_hash != head.hash:
        return (
            f"its previous hash is not the hash of entry {head.sequence}: the past was rewritten or cut out"
        )
    if entry.hash != entry_hash(entry):
        return "its hash does not match its contents: the entry was changed after it was written"
    return None
