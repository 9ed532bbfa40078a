"""What a condition is: a name, a row of defaults, documentation, and a pure check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from haltline.conditions.facts import Facts
from haltline.domain import Finding, HaltType, Severity
from haltline.secrets import redact

MAX_QUOTE = 600
"""Longest text that a description quotes, in characters: five of them fit the 4,000 of a description."""

_MOST_WAY = 150
"""Longest way through wrappers that is told, in characters: a wrapper may be called as anybody likes."""


@dataclass(frozen=True, slots=True)
class ThresholdField:
    """One value of a condition's threshold: its type, bounds and default.

    Attributes:
        default: the value when a row does not name it; its type is the type that is expected.
        minimum: the least value allowed, for numbers.
        maximum: the greatest value allowed, for numbers.
        meaning: what the value does, in words, with its unit.
    """

    default: bool | int | float
    meaning: str
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class ConditionConfig:
    """A row of the configuration that makes sense."""

    condition_name: str
    halt_type: HaltType
    severity: Severity
    threshold: Mapping[str, Any]
    enabled: bool = True
    auto_escalate: bool = False
    escalate_after_minutes: int | None = None


Check = Callable[[Facts, ConditionConfig], Finding | None]


@dataclass(frozen=True, slots=True)
class Condition:
    """A named check.

    Attributes:
        name: as in `halt_conditions_config`.
        halt_type: its category.
        severity: its default severity.
        summary: what triggers it, in one sentence.
        advice: what the agent or the person does then.
        check: from facts and configuration to a finding, or None.
        threshold: the fields of its threshold, by name.
        single_use_waiver: a settlement of it is remembered for one check only, whatever its severity.
    """

    name: str
    halt_type: HaltType
    severity: Severity
    summary: str
    advice: str
    check: Check
    threshold: Mapping[str, ThresholdField] = field(default_factory=dict)
    single_use_waiver: bool = False


def finding(
    config: ConditionConfig,
    description: str,
    evidence: Mapping[str, Any],
    *,
    severity: Severity | None = None,
    waivable: bool = True,
    annotations: Mapping[str, tuple[str, ...]] | None = None,
    causes: Iterable[str] = (),
) -> Finding:
    """Return a finding of the configured condition, at its configured severity unless another is given."""
    return Finding(
        condition_name=config.condition_name,
        halt_type=config.halt_type,
        severity=severity or config.severity,
        description=description,
        evidence=evidence,
        waivable=waivable,
        annotations=annotations or {},
        causes=frozenset(causes),
    )


def quoted(text: str, most: int = MAX_QUOTE) -> str:
    """Return a text as a description quotes it: a very long one in part, saying so.

    It is redacted before it is cut, for half a secret is not recognised as one.
    """
    if len(text) <= most:
        return text
    return f"{redact(text)[:most]}… ({len(text):,} characters)"


def told(command: tuple[str, ...], via: tuple[str, ...] = (), most: int = 400) -> str:
    """Return a command as a person would read it, with what runs it: `rm -rf /` (through sudo)."""
    words = list(command)
    if words and words[0].startswith("git-"):  # the analysis's name of a verb
        words[:1] = ["git", words[0].removeprefix("git-")]
    text = " ".join(f"'{word}'" if not word or " " in word or "\n" in word else word for word in words)
    through = f" (through {quoted(', '.join(via), _MOST_WAY)})" if via else ""
    return f"`{quoted(text, most)}`{through}"


def times(count: int) -> str:
    """Return how often something happened, in words."""
    return "1 time" if count == 1 else f"{count} times"


def listed(items: tuple[str, ...], most: int = 5) -> str:
    """Return items as a person would list them, the number of the remaining ones in words."""
    shown = ", ".join(quoted(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
