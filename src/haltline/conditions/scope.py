"""Scope: outside the boundary, unclear or contradictory instructions, production without approval."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from haltline.conditions.commands import file_effects
from haltline.conditions.condition import Condition, ConditionConfig, finding, listed, quoted, told
from haltline.conditions.facts import Facts
from haltline.domain import Finding, HaltType, Severity
from haltline.secrets import redact
from haltline.shell.options import Grammar, parse
from haltline.text.environments import environment_of
from haltline.text.instructions import conflicts
from haltline.text.requirements import missing_slots
from haltline.text.scope import outside

if TYPE_CHECKING:
    from haltline.shell import Analysis, Effect

PRODUCTION = "production"

_VERB_OF_EFFECT = {
    "read": "read",
    "write": "write",
    "overwrite": "write",
    "delete": "delete",
    "execute": "execute",
    "network_in": "network",
    "network_out": "network",
    "remote_change": "network",
    "history_rewrite": "write",
}
"""The boundary's verbs (`haltline.text.scope`) by the shell analysis's effects."""

_HOST = re.compile(r"(?:[^\s@/]{0,500}@)?(\[[0-9A-Fa-f:.%]{2,80}\]|[A-Za-z0-9_.*\-]{1,253})(?=[:/?#]|\Z)")


_MAY_REACH = frozenset({"execute", "network_in", "network_out", "remote_change"})
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{0,30}://|[\w.\-]{1,60}@[\w.\-]{1,250}:")
_REMOTE_SHELLS = frozenset({"ssh", "autossh", "mosh", "sftp"})
_REMOTE_SHELL_OPTIONS = Grammar(
    "-B -b -c -D -E -e -F -I -i -J -L -l -M -m -O -o -P -p -Q -R -S -W -w", flags="--"
)
"""Options of `ssh` that take a value (its manual, OpenSSH 10)."""


def changes_something(facts: Facts) -> bool:
    """Whether the action changes anything; an action without commands changes the files that it names.

    A command whose effects are not known is taken to change something.
    """
    return bool(facts.action.paths) or facts.action.changes is not None or not facts.only_reads


def out_of_scope(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find paths, hosts and verbs of the action that lie outside the declared boundary."""
    boundary = facts.scope_boundary
    if boundary is None:
        return None
    effects = [effect for analysis in facts.analyses for effect in analysis.effects]
    result = outside(
        boundary,
        paths=_paths(facts),
        hosts=_hosts(facts.analyses),
        verbs=_verbs(facts, effects),
        root=facts.workspace or "",
    )
    strays = (*result.paths, *result.hosts, *result.verbs)
    if strays:
        evidence = {"boundary": boundary, "outside": sorted(strays), **facts.binding}
        return finding(config, f"Outside the scope boundary: {listed(strays)}", evidence)
    if not result.comparable and changes_something(facts):
        text = "The scope boundary names nothing that this action could be compared with"
        evidence = {"boundary": boundary, "action": facts.action.digest}
        return finding(config, text, evidence, severity=Severity.LOW)
    return None


def _hosts(analyses: tuple[Analysis, ...]) -> tuple[str, ...]:
    """Return the hosts that commands reach: those of their effects, of remote shells, and of addresses.

    An address among the words of a command that only prints or reads files is no host that it reaches.
    """
    hosts: list[str] = []
    for analysis in analyses:
        for effect in analysis.effects:
            if effect.target and _VERB_OF_EFFECT.get(effect.kind) == "network":
                hosts.append(_host(effect.target))
            if effect.kind in _MAY_REACH or _writes_unsaid(effect):
                hosts += [_host(word) for word in effect.command[1:] if _ADDRESS.match(word)]
        for command in analysis.commands:
            if command.argv and posixpath.basename(command.argv[0]) in _REMOTE_SHELLS:
                hosts += [_host(word) for word in parse(list(command.argv), _REMOTE_SHELL_OPTIONS).words[:1]]
    return tuple(dict.fromkeys(hosts))


def _writes_unsaid(effect: Effect) -> bool:
    return effect.kind == "write" and effect.target is None


def _host(target: str) -> str:
    """Return the host that an address names: a URL, `user@host:path`, or a host with a port or path."""
    bare = target.rpartition("://")[2] if "://" in target else target
    match = _HOST.match(bare)
    return match[1] if match else target


def _paths(facts: Facts) -> tuple[str, ...]:
    """Return the paths that the action changes; what it only reads is inside any boundary."""
    changed = (effect.path for effect in file_effects(facts.analyses) if effect.path)
    return tuple(dict.fromkeys((*facts.action.paths, *changed)))


def _verbs(facts: Facts, effects: list[Effect]) -> tuple[str, ...]:
    verbs = [_VERB_OF_EFFECT[e.kind] for e in effects if e.kind in _VERB_OF_EFFECT]
    if facts.action.paths:
        verbs.append("write")
    return tuple(dict.fromkeys(verbs))


def ambiguous_requirements(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find that the first instruction leaves out what it needs to say; later ones may point back at it."""
    if not facts.instructions:
        return None
    instruction = facts.instructions[0]
    missing = missing_slots(instruction)
    if not missing:
        return None
    return finding(
        config,
        f'The instruction "{quoted(instruction)}" does not say: {", ".join(missing)}',
        {"instruction": instruction, "missing": list(missing)},
    )


def conflicting_instructions(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find two instructions that cannot both be followed; the description quotes them side by side."""
    if len(facts.instructions) < 2:  # noqa: PLR2004 - one contradicts nothing, and most checks carry none
        return None
    found = conflicts(redact(facts.instructions))  # it quotes in part, and half a secret would pass for none
    if not found:
        return None
    pairs = tuple(f'"{conflict.earlier}" against "{conflict.later}"' for conflict in found)
    return finding(
        config,
        f"Instructions contradict each other: {listed(pairs, most=3)}",
        {"conflicts": [[conflict.earlier, conflict.later] for conflict in found]},
        annotations={"conflicting_instructions": pairs},
    )


def production_evidence(facts: Facts) -> tuple[str, ...]:
    """Return what says that the action touches production: the declared environment and commands' effects."""
    evidence = []
    if facts.action.environment is not None and environment_of(facts.action.environment) == PRODUCTION:
        evidence.append(f"environment {facts.action.environment}")
    evidence += [
        f"{' '.join(filter(None, [effect.kind, effect.target]))} by {told(effect.command, effect.via)}"
        for analysis in facts.analyses
        for effect in analysis.effects
        if effect.environment == PRODUCTION and effect.kind != "read"
    ]
    return tuple(dict.fromkeys(evidence))


def unauthorized_production(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find changes to production; a person who settles the halt approves exactly this action."""
    evidence = production_evidence(facts)
    if not evidence or not changes_something(facts):
        return None
    return finding(
        config,
        f"Changes production without approval: {listed(evidence)}",
        {"production": list(evidence), **facts.binding},
    )


CONDITIONS = (
    Condition(
        name="out_of_scope",
        halt_type=HaltType.SCOPE,
        severity=Severity.HIGH,
        summary="A path, host or verb of the action lies outside the scope boundary.",
        advice="Stay inside the boundary, or ask a person to widen it.",
        check=out_of_scope,
    ),
    Condition(
        name="ambiguous_requirements",
        halt_type=HaltType.SCOPE,
        severity=Severity.MEDIUM,
        summary="An instruction leaves out what, where, or when it is done.",
        advice="Ask the user for what is missing before acting.",
        check=ambiguous_requirements,
    ),
    Condition(
        name="conflicting_instructions",
        halt_type=HaltType.SCOPE,
        severity=Severity.HIGH,
        summary="Two of the user's instructions cannot both be followed.",
        advice="Show the user both sentences and ask which one holds.",
        check=conflicting_instructions,
    ),
    Condition(
        name="unauthorized_production",
        halt_type=HaltType.SCOPE,
        severity=Severity.CRITICAL,
        summary="The action changes production and nobody has approved exactly this action.",
        advice="A person approves it by settling the halt; use another environment otherwise.",
        check=unauthorized_production,
    ),
)
