"""Scope: outside the boundary, unclear or contradictory instructions, production without approval."""

from __future__ import annotations

from haltline.conditions.condition import Condition, ConditionConfig, finding, listed
from haltline.conditions.facts import Facts
from haltline.domain import Finding, HaltType, Severity
from haltline.text import conflicts, environment_of, missing_slots, outside

PRODUCTION = "production"

_CHANGING_EFFECTS = frozenset(
    {
        "delete",
        "overwrite",
        "write",
        "execute",
        "network_out",
        "privilege",
        "history_rewrite",
        "remote_change",
    }
)
_REMOTE_EFFECTS = frozenset({"network_in", "network_out", "remote_change"})


def changes_something(facts: Facts) -> bool:
    """Whether the action changes anything; an action without commands changes the files that it names.

    A command whose effects are not known is taken to change something.
    """
    if facts.action.paths or facts.action.changes is not None:
        return True
    if not facts.action.commands:
        return True
    return not all(analysis.only_reads for analysis in facts.analyses)


def out_of_scope(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find paths, hosts and verbs of the action that lie outside the declared boundary."""
    boundary = facts.scope_boundary
    if boundary is None:
        return None
    effects = [effect for analysis in facts.analyses for effect in analysis.effects]
    touched = [e.target for e in effects if e.target and e.kind in {"delete", "overwrite", "write"}]
    hosts = [e.target for e in effects if e.target and e.kind in _REMOTE_EFFECTS]
    verbs = [str(e.kind) for e in effects if e.kind in _CHANGING_EFFECTS]
    result = outside(
        boundary,
        paths=tuple(dict.fromkeys((*facts.action.paths, *touched))),
        hosts=tuple(dict.fromkeys(hosts)),
        verbs=tuple(dict.fromkeys((facts.action.operation, *verbs))),
    )
    strays = (*result.paths, *result.hosts, *result.verbs)
    if not strays:
        return None
    return finding(
        config,
        f"Outside the scope boundary: {listed(strays)}",
        {"outside": sorted(strays), "boundary": boundary, "action": facts.action.digest},
    )


def ambiguous_requirements(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find instructions that leave out what they need to say."""
    for instruction in facts.instructions:
        missing = missing_slots(instruction)
        if missing:
            return finding(
                config,
                f'The instruction "{instruction}" does not say: {", ".join(missing)}',
                {"instruction": instruction, "missing": list(missing)},
            )
    return None


def conflicting_instructions(facts: Facts, config: ConditionConfig) -> Finding | None:
    """Find two instructions that cannot both be followed; the description quotes them side by side."""
    found = conflicts(facts.instructions)
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
        f"{effect.kind} {effect.target or ''}".strip()
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
        {"production": list(evidence), "action": facts.action.digest},
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
