"""Security: destruction, secrets and personal data leaving, more rights, commands nobody understands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from haltline.conditions.commands import UNDECIDED, file_effects, program_of
from haltline.conditions.condition import Condition, ConditionConfig, finding, listed, quoted, told
from haltline.conditions.facts import Facts
from haltline.domain import Finding, HaltType, Severity
from haltline.secrets import scan
from haltline.secrets.fingerprints import fingerprint
from haltline.text.personal_data import find_personal_data

if TYPE_CHECKING:
    from haltline.shell import Analysis, Effect, RuleVerdict, Unknown

_LOSES = frozenset({"delete", "overwrite", "history_rewrite", "remote_change"})

_MOST_VERDICTS = 50
"""How many verdicts the evidence spells out; the rules are all named."""

_WRITES_WHAT_ITS_INPUT_NAMES = frozenset({"patch", "git-apply", "git-am"})

_GRANTING_FILES = ("/etc/sudoers", "/etc/doas.conf", "/etc/polkit-1/", "/etc/pam.d/", "/etc/group")
"""Where it is written who may do what on the machine: whoever changes these gives rights."""

_UNKNOWN_AS = {
    "program": "nobody knows the program {}",
    "script": "it runs what cannot be read, or may change before it runs: {}",
    "subcommand": "nobody knows the subcommand {}",
    "variable": "a variable is not decided: {}",
    "syntax": "the text cannot be read: {}",
}
"""What an unknown part is, in words; the other kinds say so themselves."""


def destructive_command(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find commands that the shell analysis denies (at the row's severity) or asks about (medium)."""
    verdicts = [verdict for analysis in facts.analyses for verdict in analysis.verdicts]
    if not verdicts:
        return None
    denied = [verdict for verdict in verdicts if verdict.decision == "deny"]
    decisive = (denied or verdicts)[0]
    others = tuple(
        dict.fromkeys(
            f"{told(verdict.command, verdict.via, 100)} [{verdict.rule_id}]"
            for verdict in (*denied, *verdicts)
            if _key(verdict) != _key(decisive)
        )
    )
    lost = _irreversible(facts.analyses)
    description = " ".join(
        [
            f"{told(decisive.command, decisive.via)}: {quoted(decisive.reason)} [{decisive.rule_id}].",
            *(["This cannot be undone."] if _key(decisive) in lost else []),
            quoted(decisive.advice),
            *([f"Also: {listed(others, most=3)}"] if others else []),
        ]
    )
    evidence = {
        **facts.binding,
        "rules": sorted({verdict.rule_id for verdict in verdicts}),
        "via": list(decisive.via),
        "verdicts": list({str(v): v for v in map(_evidence_of, verdicts[:_MOST_VERDICTS])}.values()),
    }
    mild = min(config.severity, Severity.MEDIUM, key=lambda severity: severity.rank)
    return finding(
        config,
        description,
        evidence,
        severity=None if denied else mild,
        causes=(_cause(verdict) for verdict in verdicts),
    )


def _evidence_of(verdict: RuleVerdict) -> dict[str, Any]:
    return {
        "rule": verdict.rule_id,
        "decision": verdict.decision,
        "command": told(verdict.command, verdict.via),
        "span": list(verdict.span),
    }


def _key(found: RuleVerdict | Effect) -> tuple[str | None, tuple[str, ...], tuple[str, ...]]:
    return found.rule_id, found.command, found.via


def _irreversible(analyses: tuple[Analysis, ...]) -> set[tuple[str | None, tuple[str, ...], tuple[str, ...]]]:
    return {
        _key(e) for analysis in analyses for e in analysis.effects if e.kind in _LOSES and not e.reversible
    }


def _cause(found: RuleVerdict | Unknown | Effect) -> str:
    """Return what stands for one command among the causes of a finding."""
    return repr((found.via, found.command))


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
    """Find commands that gain rights, or give them to somebody."""
    gains = tuple(dict.fromkeys(told(effect.command, effect.via) for effect in _gains(facts)))
    if not gains:
        return None
    return finding(
        config, f"Needs elevated permissions: {listed(gains)}", {**facts.binding, "gains": list(gains)}
    )


def _gains(facts: Facts) -> Iterator[Effect]:
    for analysis in facts.analyses:
        yield from (effect for effect in analysis.effects if effect.kind == "privilege")
    for effect in file_effects(facts.analyses):
        if facts.path_key(effect.path or "").startswith(_GRANTING_FILES):
            yield effect


def _unknown_parts(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield what the analysis does not know, and what would be written without the text saying where.

    Each with what stands for its command. Of a command that a built-in rule has judged, what it writes is not
    asked about twice; a user's rule only adds, and may lead to a milder finding than this one.
    """
    from haltline.shell.book import built_in  # noqa: PLC0415  loaded only where a command is looked at

    built_in_rules = built_in().rules
    for analysis in facts.analyses:
        for part in analysis.unknown:
            text = _UNKNOWN_AS.get(part.kind, "{}").format(part.what)
            yield f"{told(part.command, part.via)}: {text}" if part.kind != "syntax" else text, _cause(part)
        judged = {_cause(verdict) for verdict in analysis.verdicts if verdict.rule_id in built_in_rules}
        for effect in analysis.effects:
            undecided = _undecided(effect)
            if undecided is not None and _cause(effect) not in judged:
                yield undecided, _cause(effect)


def _undecided(effect: Effect) -> str | None:
    """Return what is open about a write, or None where its target is decided or nobody expects one."""
    if effect.kind not in {"overwrite", "write"} or effect.rule_id is not None:
        return None
    if effect.path is not None and UNDECIDED in effect.path:
        return f"{effect.kind} of {effect.path} by {told(effect.command, effect.via)}"
    if effect.path is None and program_of(effect) in _WRITES_WHAT_ITS_INPUT_NAMES:
        return f"{told(effect.command, effect.via)} changes the files that its input names"
    return None


def unknown_commands(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find commands whose effects could not be determined."""
    parts = dict(_unknown_parts(facts))
    if not parts:
        return None
    return finding(
        config,
        f"It is not clear what the command does: {listed(tuple(parts), most=3)}",
        {**facts.binding, "unknown": list(parts)},
        causes=parts.values(),
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
