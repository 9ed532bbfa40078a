"""What a store keeps, as frozen dataclasses, and the set of changes that one transaction writes.

A store loads a `SessionView`, hands it to a pure transition, and persists the `Changes` that come back, all
in one transaction. So the rules of sessions, halts and strikes are written once, in `haltline.lifecycle`, and
are the same in memory, on SQLite and on PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from haltline.domain import CHECK_FAILED, HaltType, PrincipalKind, Resolution, SessionState, Severity

MAX_CONTEXT_BYTES = 64 * 1024
"""Most bytes that the context of a halt has as JSON, redacted (DESIGN §12)."""


@dataclass(frozen=True, slots=True)
class Session:
    """One run of one agent.

    Attributes:
        id: UUIDv7; the name that people and halts use for the session.
        token_hash: SHA-256 of the token (hexadecimal); the token itself is never stored.
        name: what an embedding program called the session; None when the token was issued by Haltline.
        agent_name: which agent runs in it.
        state: where it stands.
        created_at: when it was opened, in UTC.
        updated_at: when its state last changed, in UTC.
        closed_at: when it was closed, in UTC; None while it is open.
    """

    id: str
    token_hash: str
    name: str | None
    agent_name: str
    state: SessionState
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Halt:
    """A row of `halt_events`: the specification's columns and those that DESIGN §§6, 7 add.

    Attributes:
        condition_name: the condition that triggered; None for a halt recorded by hand without one.
        action_digest: the action it binds to; None for a halt recorded by hand.
        evidence_digest: what a settlement of it is remembered for; None when nothing can be.
        single_use: its waiver, if it is settled, holds once and expires.
        auto_recorded: a check recorded it.
        auto_escalate: the policy as it was when the halt was recorded.
        escalate_after_minutes: likewise.
        escalate_at: when a sweep claims it, by the database's clock; None when nothing is to escalate.
    """

    id: str
    session_id: str
    task_id: str | None
    halt_type: HaltType
    severity: Severity
    condition_name: str | None
    description: str
    context: Mapping[str, Any] | None
    triggered_at: datetime
    created_at: datetime
    updated_at: datetime
    acknowledged: bool = False
    acknowledged_at: datetime | None = None
    acknowledged_by: str | None = None
    resolution: Resolution | None = None
    resolution_notes: str | None = None
    attempt_count: int | None = None
    previous_error: str | None = None
    action_digest: str | None = None
    evidence_digest: str | None = None
    single_use: bool = False
    auto_recorded: bool = False
    auto_escalate: bool = False
    escalate_after_minutes: int | None = None
    escalate_at: datetime | None = None

    @property
    def requires_acknowledgment(self) -> bool:
        """Whether the session waits for a person because of it; a low row (a strike) never does."""
        return self.severity is not Severity.LOW

    @property
    def is_open(self) -> bool:
        """Whether it still stops the session: unanswered, timed out, or escalated to a human."""
        if not self.requires_acknowledgment:
            return False
        return not self.acknowledged or self.resolution is Resolution.ESCALATED

    @property
    def reported_name(self) -> str | None:
        """What it is reported as: its condition, or `check_failed` when it stands for no finding."""
        if self.condition_name is None and self.auto_recorded and "reason_code" in (self.context or {}):
            return CHECK_FAILED
        return self.condition_name

    def is_overdue_at(self, now: datetime) -> bool:
        """Whether its `escalate_at` has passed, and neither an answer nor a sweep came first."""
        if self.acknowledged or self.resolution is not None or self.escalate_at is None:
            return False
        return self.requires_acknowledgment and self.escalate_at <= now


@dataclass(frozen=True, slots=True)
class Waiver:
    """The remembered effect of a settled halt: this condition, with this evidence, does not halt again."""

    id: str
    session_id: str
    halt_id: str
    condition_name: str
    evidence_digest: str
    single_use: bool
    created_at: datetime
    created_by: str
    expires_at: datetime | None = None
    used_at: datetime | None = None

    def holds_at(self, now: datetime) -> bool:
        """Whether it is neither used up nor expired."""
        if self.single_use and self.used_at is not None:
            return False
        return self.expires_at is None or now < self.expires_at


class MessageKind(StrEnum):
    """What a row of the outbox is for."""

    NOTIFICATION = "notification"
    GUIDANCE = "guidance"


@dataclass(frozen=True, slots=True)
class Message:
    """A row of the outbox: something owed to people (`notification`) or to the agent (`guidance`).

    Attributes:
        dedup_key: at most one message exists for it.
        delivered_at: when it was handed over, in UTC; None while it is owed.
        cancelled_at: when it ceased to be owed (its halt was settled first), in UTC.
    """

    id: str
    kind: MessageKind
    dedup_key: str
    session_id: str
    halt_id: str
    payload: Mapping[str, Any]
    created_at: datetime
    delivered_at: datetime | None = None
    cancelled_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Strikes:
    """How often a task has failed since its last reset. `task_id` is "" for work without a task."""

    session_id: str
    task_id: str
    attempts: int
    updated_at: datetime
    reset_at: datetime | None = None
    reset_by: str | None = None


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file that was read in a session. Only adapters, which see the read happen, record it."""

    session_id: str
    path: str
    content_hash: str | None
    read_at: datetime


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """A row of `halt_conditions_config` as it is stored, before anybody has judged whether it makes sense."""

    id: str
    condition_name: str
    halt_type: str
    enabled: bool
    severity: str
    threshold: str | None
    auto_escalate: bool
    escalate_after_minutes: int | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A credential of a principal: only its hash is kept.

    Attributes:
        prefix: the first characters of the key, to tell keys apart in a list.
    """

    id: str
    kind: PrincipalKind
    name: str
    prefix: str
    key_hash: str
    created_at: datetime
    created_by: str
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """What happened, before the store gives it its place in the chain."""

    actor: str
    action: str
    subject: str
    session_id: str | None
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A link of the audit chain: `hash` is SHA-256 over `previous_hash` and the rest in canonical JSON."""

    sequence: int
    at: str
    actor: str
    action: str
    subject: str
    session_id: str | None
    payload: str
    previous_hash: str
    hash: str


@dataclass(frozen=True, slots=True)
class SessionLookup:
    """Which session is meant, and how much of it is needed.

    Exactly one of `token_hash` and `session_id` names the session. `halt_id` adds that halt to the view even
    when it is settled, `task_id` chooses the strikes.
    """

    token_hash: str | None = None
    session_id: str | None = None
    task_id: str | None = None
    halt_id: str | None = None
    with_reads: bool = False


@dataclass(frozen=True, slots=True)
class SessionView:
    """What a transition and the conditions may know of a session, read in one transaction.

    Attributes:
        session: None when there is no such session.
        open_halts: every halt that still stops the session, the oldest first.
        halt: the halt that the lookup named, if it belongs to this session.
        strikes: of the task that the lookup named; None before the first failure.
        recent_errors: errors of the task's latest ten strikes since its last reset, the oldest first.
        waivers: those that are not used up; whether they have expired is for the reader to judge.
        guidance: messages of kind `guidance` that the agent has not had yet, the oldest first.
        reads: files read, when the lookup asked for them.
    """

    session: Session | None
    open_halts: tuple[Halt, ...] = ()
    halt: Halt | None = None
    strikes: Strikes | None = None
    recent_errors: tuple[str, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    guidance: tuple[Message, ...] = ()
    reads: tuple[FileRead, ...] = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that one transaction writes. Empty fields write nothing.

    `session` is inserted when its id is new and its state replaced otherwise. `settled_halts` carry new
    acknowledgement columns, nothing else of them is written. `used_waivers` and `delivered_messages` are ids;
    a waiver or message that another transaction used up in the meantime makes the whole change fail with
    `Conflict`. `cancelled_messages_of` are halts whose undelivered notifications are owed no more.
    """

    session: Session | None = None
    new_halts: tuple[Halt, ...] = ()
    settled_halts: tuple[Halt, ...] = ()
    new_waivers: tuple[Waiver, ...] = ()
    used_waivers: tuple[str, ...] = ()
    new_messages: tuple[Message, ...] = ()
    delivered_messages: tuple[str, ...] = ()
    cancelled_messages_of: tuple[str, ...] = ()
    strikes: Strikes | None = None
    reads: tuple[FileRead, ...] = ()
    condition: ConditionRow | None = None
    new_key: ApiKey | None = None
    revoked_key: str | None = None
    audit: tuple[AuditEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class HaltQuery:
    """Which halts to list: the newest first, `limit` from `offset`.

    `open_only` lists the halts that still stop their session, escalated ones among them and strikes not;
    `include_acknowledged` has no meaning then.
    """

    session_id: str | None = None
    halt_type: HaltType | None = None
    severity: Severity | None = None
    include_acknowledged: bool = False
    open_only: bool = False
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True)
class HaltPage:
    """A page of halts.

    Attributes:
        total_count: how many match the query in all.
        unacknowledged_count: how many halts of that session wait for an answer, whatever the filters.
    """

    halts: tuple[Halt, ...]
    total_count: int
    unacknowledged_count: int


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """What `haltline doctor` shows of a store: facts by name, and what is weak in words."""

    facts: Mapping[str, str]
    warnings: tuple[str, ...] = ()
