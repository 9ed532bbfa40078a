"""Process settings: what a guardrail is told when it is opened. Conditions are configured in the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from haltline.domain import Severity
from haltline.errors import ConfigurationError
from haltline.verdict import VerdictRules

_MOST = {
    "deadline_seconds": 60,
    "operation_deadline_seconds": 3600,
    "medium_findings_to_halt": 100,
}
"""A deadline or a limit beyond these would be none."""

_MOST_CONFIGURATION_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Settings:
    """How a guardrail behaves. There is no setting that lets a failure pass.

    Attributes:
        deadline_seconds: how long a check may take; after it the answer is a halt.
        operation_deadline_seconds: the same for every other operation; after it `StoreUnavailable` is raised.
        unknown_sessions: `open` accepts any session name and opens it at first sight (embedded use), `reject`
            halts on a token that was not issued (served use).
        allow_reads_while_halted: whether commands that provably only read pass in a halted session.
        medium_findings_to_halt: how many medium findings together halt.
        auto_record_high: whether a check records findings of high severity as halts.
        agents_may_settle: severities of halts that agents may settle; none unless somebody decides otherwise.
        configuration_seconds: how long the configuration is cached.
        shell_rules: files and folders with rules of your own for the shell analysis (`docs/shell.md`), read
            when a guardrail is opened; one that does not hold keeps it from being opened.
    """

    deadline_seconds: float = 0.8
    operation_deadline_seconds: float = 10.0
    unknown_sessions: Literal["open", "reject"] = "open"
    allow_reads_while_halted: bool = True
    medium_findings_to_halt: int = 2
    auto_record_high: bool = True
    agents_may_settle: frozenset[Severity] = field(default_factory=frozenset)
    configuration_seconds: float = 60.0
    shell_rules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse values that make no sense.

        Raises:
            ConfigurationError: a number is not positive or too great, `unknown_sessions` is not known, or
                `shell_rules` is no tuple of paths.
        """
        for name, most in _MOST.items():
            if not 0 < getattr(self, name) <= most:
                raise ConfigurationError(
                    f"{name}: expected a number above 0, at most {most}, got {getattr(self, name)}"
                )
        if not 0 <= self.configuration_seconds <= _MOST_CONFIGURATION_SECONDS:
            raise ConfigurationError(
                f"configuration_seconds: expected 0 to {_MOST_CONFIGURATION_SECONDS}, "
                f"got {self.configuration_seconds}"
            )
        if self.unknown_sessions not in {"open", "reject"}:
            raise ConfigurationError(
                f"unknown_sessions: expected open or reject, got {self.unknown_sessions}"
            )
        given: object = self.shell_rules  # a caller without a type checker may pass a text, which has letters
        if not isinstance(given, tuple) or not all(map(_is_path, given)):
            raise ConfigurationError(
                f"shell_rules: expected a tuple of paths of files or folders, got {given!r}"
            )

    @property
    def verdict_rules(self) -> VerdictRules:
        """The part that decides verdicts."""
        return VerdictRules(self.medium_findings_to_halt, self.auto_record_high)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Settings:
        """Return the settings that a configuration file holds.

        Raises:
            ConfigurationError: a name is not known, or a value has the wrong type.
        """
        known = {item.name: item for item in fields(cls)}
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ConfigurationError(
                f"settings: {', '.join(unknown)} not known; known are {', '.join(known)}"
            )
        checked: dict[str, Any] = {}
        for name, value in values.items():
            checked[name] = _checked(name, value)
        return cls(**checked)


def _is_path(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def _checked(name: str, value: Any) -> Any:
    default = getattr(Settings(), name)
    if name == "agents_may_settle":
        if not isinstance(value, list) or not all(item in list(Severity) for item in value):
            raise ConfigurationError(f"{name}: expected a list of {', '.join(Severity)}")
        return frozenset(Severity(item) for item in value)
    if name == "shell_rules":
        if not isinstance(value, list) or not all(map(_is_path, value)):
            raise ConfigurationError(f"{name}: expected a list of paths of files or folders")
        return tuple(value)
    if isinstance(default, bool) is not isinstance(value, bool):
        raise ConfigurationError(f"{name}: expected {type(default).__name__}, got {type(value).__name__}")
    if isinstance(default, float) and isinstance(value, int):
        return float(value)
    if not isinstance(value, type(default)):
        raise ConfigurationError(f"{name}: expected {type(default).__name__}, got {type(value).__name__}")
    return value
