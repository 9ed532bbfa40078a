"""The vocabulary of Haltline: enums and frozen dataclasses that every other module speaks in.

Nothing here does I/O and nothing here imports from the rest of the package. Times are timezone-aware UTC
`datetime`s; identifiers are UUIDv7 text; digests are SHA-256 in lower-case hexadecimal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

JsonObject = Mapping[str, Any]


class HaltType(StrEnum):
    """Category of a halt condition (specification, enum `halt_type`)."""

    CODE_SAFETY = "code_safety"
    SCOPE = "scope"
    ENVIRONMENT = "environment"
    EXECUTION = "execution"
    SECURITY = "security"
    UNCERTAINTY = "uncertainty"


class Severity(StrEnum):
    """Impact of a finding or halt (specification, enum `severity_level`); `rank` orders them."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for low up to 3 for critical."""
        return _SEVERITY_RANK[self]


_SEVERITY_RANK = {severity: rank for rank, severity in enumerate(Severity)}


class Resolution(StrEnum):
    """How a halt was settled, or that nobody answered (specification, enum `halt_resolution`)."""

    RESOLVED = "resolved"
    ESCALATED = "escalated"
    DISMISSED = "dismissed"
    TIMEOUT = "timeout"


class SessionState(StrEnum):
    """Where a session stands; `closed` is final."""

    ACTIVE = "active"
    HALTED = "halted"
    PAUSED = "paused"
    CLOSED = "closed"


class Decision(StrEnum):
    """What a verdict tells the agent, from the mildest to the strictest."""

    PROCEED = "proceed"
    CAUTION = "caution"
    ASK = "ask"
    HALT = "halt"


class ReasonCode(StrEnum):
    """Why a check could not be made; every one of them is a critical halt (DESIGN §2.1)."""

    BAD_REQUEST = "bad_request"
    INVALID_SESSION = "invalid_session"
    DATABASE_UNAVAILABLE = "db_unavailable"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    CHECK_FAILED = "check_failed"
    CONFIGURATION_UNREADABLE = "config_unreadable"


CHECK_FAILED = "check_failed"
"""The name under which a check that could not be made reports itself, in the place of a condition's."""


class PrincipalKind(StrEnum):
    """What kind of caller a credential belongs to."""

    AGENT = "agent"
    HUMAN = "human"
    ADMIN = "admin"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is calling: a kind and a name, both from a credential and never from a request body."""

    kind: PrincipalKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def canonical_json(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, non-ASCII kept.

    Raises:
        ValueError: the value holds NaN or an infinity, for which JSON has no text.
        TypeError: the value holds something that JSON cannot express.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of a value."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def utc_text(moment: datetime) -> str:
    """Return a moment as ISO 8601 in UTC with microseconds, which sorts as text."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_utc(text: str) -> datetime:
    """Return the moment that `utc_text` wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Finding:
    """A condition that triggered.

    Attributes:
        condition_name: the condition's name in the catalogue.
        halt_type: its category.
        severity: how serious this occurrence is.
        description: one sentence for a person, already redacted.
        evidence: what was judged, in JSON values, already redacted; a settlement binds to its digest.
        waivable: false when a remembered settlement must not silence it (a recorded count, a failed check).
        reason_code: set when this finding says that a check could not be made.
        annotations: parts for `context_annotations` of the check's output.
        causes: what it is about, one text for each thing; two findings with the same causes are two views of
            one problem. Neither shown nor stored.
    """

    condition_name: str
    halt_type: HaltType
    severity: Severity
    description: str
    evidence: JsonObject = field(default_factory=dict)
    waivable: bool = True
    reason_code: ReasonCode | None = None
    annotations: Mapping[str, Sequence[str]] = field(default_factory=dict)
    causes: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def evidence_digest(self) -> str:
        """The digest that halts, waivers and repeats of this finding are recognised by."""
        return digest({"condition": self.condition_name, "evidence": self.evidence})
