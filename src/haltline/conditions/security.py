"""Security: destruction, secrets and personal data leaving, more rights, commands nobody understands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from haltline.conditions.condition import Condition, ConditionConfig, finding, listed, quoted
from haltline.conditions.facts import UNDECIDED, Facts
from haltline.domain import Finding, HaltType, Severity
from haltline.secrets import scan
from haltline.secrets.fingerprints import fingerprint
from haltline.text.personal_data import find_personal_data

_WRITING_EFFECTS = frozenset({"overwrite", "write"})


def destructive_command(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find commands that the shell analysis denies (at the row's severity) or asks about (medium)."""
    verdicts = [verdict for analysis in facts.analyses for verdict in analysis.verdicts]
    if not verdicts:
        return None
    denied = [verdict for verdict in verdicts if verdict.decision == "deny"]
    decisive = (denied or verdicts)[0]
    return finding(
        config,
        f"{quoted(decisive.reason)}. {quoted(decisive.advice)}",
        {
            "action": facts.action.digest,
            "rules": sorted({verdict.rule_id for verdict in verdicts}),
            "via": list(decisive.via),
        },
        severity=None
        if denied
        else min(config.severity, Severity.MEDIUM, key=lambda severity: severity.rank),
    )


def _places_to_scan(facts: Facts) -> dict[str, Any]:
    """Return everything that would leave the agent with this action, by what it is."""
    changes = facts.action.changes
    return {
        "commands": facts.action.commands,
        "tool arguments": facts.action.tool_arguments,
        "proposed content": dict(changes.contents) if changes else None,
        "output": facts.outputs,
        "operation": facts.action.operation,
    }


def secrets_exposure(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find secrets in commands, outputs, tool arguments and proposed content; the value is never repeated."""
    found: dict[str, set[str]] = {}
    for place, value in _places_to_scan(facts).items():
        if not value:
            continue
        for secret in scan(value):
            if secret.blocks:
                found.setdefault(place, set()).add(f"{secret.rule}:{secret.fingerprint}")
    if not found:
        return None
    where = tuple(f"{place} ({listed(tuple(sorted(kinds)))})" for place, kinds in found.items())
    return finding(
        config,
        f"A secret would be exposed in {listed(where)}",
        {"secrets": {place: sorted(kinds) for place, kinds in found.items()}, "action": facts.action.digest},
    )


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a nested value, keys and whole numbers included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def data_exposure(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find personal data with a valid checksum; its severity follows where it goes."""
    found: dict[str, set[tuple[str, str]]] = {}
    for place, value in _places_to_scan(facts).items():
        data = {
            (str(item.kind), fingerprint(text[item.start : item.end]))
            for text in _texts(value)
            for item in find_personal_data(text)
        }
        if data:
            found[place] = data
    if not found:
        return None
    kinds = tuple(sorted({kind for data in found.values() for kind, _ in data}))
    marks = {place: sorted(f"{kind}:{mark}" for kind, mark in data) for place, data in found.items()}
    local = set(found) == {"proposed content"}
    return finding(
        config,
        f"Personal data ({listed(kinds)}) in {listed(tuple(found))}",
        {"data": marks, "action": facts.action.digest},
        severity=Severity.LOW if local else None,
    )


def privilege_escalation(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find commands that gain rights."""
    gains = tuple(
        dict.fromkeys(
            effect.target or analysis.text
            for analysis in facts.analyses
            for effect in analysis.effects
            if effect.kind == "privilege"
        )
    )
    if not gains:
        return None
    return finding(
        config,
        f"Needs elevated permissions: {listed(gains)}",
        {"action": facts.action.digest, "gains": list(gains)},
    )


def _unknown_parts(facts: Facts) -> Iterator[str]:
    """Yield what the analysis does not know, and which files would be written without the text saying which.

    A command that a rule has judged already is not asked about twice.
    """
    for analysis in facts.analyses:
        yield from (part.what for part in analysis.unknown)
        judged = {verdict.span for verdict in analysis.verdicts}
        for effect in analysis.effects:
            undecided = effect.path is not None and UNDECIDED in effect.path
            if effect.kind in _WRITING_EFFECTS and undecided and effect.span not in judged:
                yield f"{effect.kind} of {effect.path}"


def unknown_commands(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find commands whose effects could not be determined."""
    unknown = tuple(dict.fromkeys(_unknown_parts(facts)))
    if not unknown:
        return None
    return finding(
        config,
        f"It is not clear what the command does: {listed(unknown, most=3)}",
        {"action": facts.action.digest, "unknown": list(unknown)},
    )


CONDITIONS = (
    Condition(
        name="destructive_command",
        halt_type=HaltType.SECURITY,
        severity=Severity.CRITICAL,
        summary="A command would destroy something: critical where analysis denies, medium where it asks.",
        advice="Use the narrower command that the finding names, or let a person settle the halt.",
        check=destructive_command,
    ),
    Condition(
        name="secrets_exposure",
        halt_type=HaltType.SECURITY,
        severity=Severity.CRITICAL,
        summary="A secret stands in a command, an output, a tool's arguments or proposed content.",
        advice="Pass a reference (a variable, a path in a secret store) instead, and rotate the secret.",
        check=secrets_exposure,
    ),
    Condition(
        name="privilege_escalation",
        halt_type=HaltType.SECURITY,
        severity=Severity.CRITICAL,
        summary="The action gains rights: sudo, su, setuid, capabilities, privileged containers, IAM grants.",
        advice="Do it without elevated rights, or let a person do it.",
        check=privilege_escalation,
    ),
    Condition(
        name="data_exposure",
        halt_type=HaltType.SECURITY,
        severity=Severity.HIGH,
        summary="Personal data with a valid checksum would be shown, sent or written.",
        advice="Use made-up data, or let a person decide that this data may go there.",
        check=data_exposure,
    ),
    Condition(
        name="unknown_commands",
        halt_type=HaltType.SECURITY,
        severity=Severity.MEDIUM,
        summary="The effects of a command could not be determined.",
        advice="Write the command out: no variable that nobody assigned, no script that nobody can read.",
        check=unknown_commands,
    ),
)
