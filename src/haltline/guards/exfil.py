"""The exfiltration guard: secrets in the arguments of a tool call, before the tool runs.

Source: `exfil_guard` of the ADK long-horizon guardrails. It catches what a model read from the environment or
from a tool's result and pastes into an outbound call. Arguments are blocked or flagged, never rewritten.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from haltline.secrets import KnownValues, SecretFinding, scan
from haltline.secrets.known import secret_values

if TYPE_CHECKING:
    from collections.abc import Mapping

STRICT_VARIABLE = "EXFIL_GUARD_STRICT"
WARNING_STATE_KEY = "exfil_warning"
_LAX = frozenset({"0", "false", "no"})
_SHOWN = 5


class Exfiltration(NamedTuple):
    """Secrets that a tool call would take along.

    Attributes:
        message: what was found and what to do, for the agent and for whoever reads the log; never a secret.
        findings: each secret, as `haltline.secrets.scan` reports it.
        blocks: whether one of them is sure enough to stop the call.
    """

    message: str
    findings: tuple[SecretFinding, ...]
    blocks: bool


def is_strict(environment: Mapping[str, str]) -> bool:
    """Return whether calls with secrets are blocked: unless the variable says `0`, `false` or `no`."""
    return environment.get(STRICT_VARIABLE, "1").strip().lower() not in _LAX


def check_arguments(
    tool: str, arguments: Any, environment: Mapping[str, str] | None = None
) -> Exfiltration | None:
    """Return the secrets in a tool call's arguments, their names included, or None when there are none.

    Args:
        tool: the tool's name.
        arguments: what it would be called with: any nested value.
        environment: the variables of this process, whose secrets are recognised in any form; usually
            `os.environ`.
    """
    findings = scan(arguments, known=_known(environment) if environment else None)
    if not findings:
        return None
    blocks = any(finding.blocks for finding in findings)
    places = [f"{finding.rule} in {_place(finding)}" for finding in findings[:_SHOWN]]
    if len(findings) > _SHOWN:
        places.append(f"{len(findings) - _SHOWN} more")
    message = (
        f"{_plain(tool)} was given what looks like a secret ({'; '.join(places)}). "
        "Do not send it. Let the tool take it from its own settings, by a variable's name, or ask a person."
    )
    return Exfiltration(message, findings, blocks)


def _known(environment: Mapping[str, str]) -> KnownValues:
    return _known_values(tuple(sorted(set(secret_values(environment)))))


@lru_cache(maxsize=2)
def _known_values(values: tuple[str, ...]) -> KnownValues:
    return KnownValues(values)


def _place(finding: SecretFinding) -> str:
    return ".".join(str(part) for part in finding.path) or "the arguments"


def _plain(tool: str) -> str:
    """Return a tool's name as it may be printed: a model may have made it up, with a secret in it."""
    from haltline.secrets import redact  # noqa: PLC0415  needed only where something was found

    return str(redact(tool))
