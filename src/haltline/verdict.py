"""Findings and rules to a verdict: the strictest finding decides (DESIGN §5)."""

from __future__ import annotations

from dataclasses import dataclass

from haltline.domain import Decision, Finding, HaltType, ReasonCode, SessionState, Severity

HALT_AND_ESCALATE = "HALT and escalate to user. Recommend fresh session."
RETRY = "retry"
TRY_ALTERNATIVE = "try_alternative"

_ACTIONS = {
    Decision.PROCEED: "Proceed.",
    Decision.CAUTION: "Proceed with caution and note what was found.",
    Decision.ASK: "Ask the user before doing this; they may allow it.",
}
_HALT_ACTIONS = {
    Severity.MEDIUM: "HALT and ask the user. Several smaller problems together stop this action.",
    Severity.HIGH: "HALT and ask the user. This needs their explicit approval. Wait; do not try another way.",
    Severity.CRITICAL: (
        "HALT immediately. A person must settle this before any further work. Wait; do not try another way."
    ),
}
_STATE_ACTIONS = {
    SessionState.HALTED: (
        "HALT. The session is halted until a person settles its open halts. Wait; do not try another way."
    ),
    SessionState.PAUSED: (
        "HALT. The session is paused: nobody answered, or the halt was escalated. Silence is not consent. "
        "Wait; do not retry, rephrase, or reach the same outcome another way."
    ),
}
_READ_ACTION = (
    "Proceed with this read and nothing else: the session is {state}, and every other action halts until a "
    "person settles its open halts."
)
_FAILURE_ACTIONS = {
    ReasonCode.BAD_REQUEST: "HALT. The request for this check is malformed; nothing was checked. Do not act.",
    ReasonCode.INVALID_SESSION: "HALT. There is no such open session. Ask a person to open one. Do not act.",
    ReasonCode.DATABASE_UNAVAILABLE: "HALT. The database did not answer: nothing can be allowed. Do not act.",
    ReasonCode.DEADLINE_EXCEEDED: "HALT. The check took too long: nothing can be allowed. Do not act.",
    ReasonCode.CHECK_FAILED: "HALT. A check failed: nothing can be allowed. Do not act.",
    ReasonCode.CONFIGURATION_UNREADABLE: (
        "HALT. The configuration cannot be read: nothing can be allowed. An administrator must repair it."
    ),
}


@dataclass(frozen=True, slots=True)
class VerdictRules:
    """What is configuration in a verdict.

    Attributes:
        medium_findings_to_halt: how many medium findings together halt.
        auto_record_high: whether findings of high severity are recorded as halts by the check.
    """

    medium_findings_to_halt: int = 2
    auto_record_high: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check answers.

    Attributes:
        decision: proceed, caution, ask or halt.
        highest_severity: of all findings; low when there are none.
        to_record: the findings that are recorded as halts.
        recommended_action: one sentence for the agent.
        reason_code: why the check could not be made; None when it worked.
    """

    decision: Decision
    highest_severity: Severity
    to_record: tuple[Finding, ...]
    recommended_action: str
    reason_code: ReasonCode | None = None

    @property
    def should_halt(self) -> bool:
        """Whether the agent must stop."""
        return self.decision is Decision.HALT


def decide(findings: tuple[Finding, ...], rules: VerdictRules, attempts: int = 0) -> Verdict:
    """Return the verdict of an action's findings in a session that is not halted.

    `attempts` counts the failures of the task so far; one and two below a halt are answered with exactly
    `retry` and `try_alternative` (specification, three strikes).
    """
    highest = max((found.severity for found in findings), key=lambda s: s.rank, default=Severity.LOW)
    decision = _decision(findings, highest, rules)
    reason = next((found.reason_code for found in findings if found.reason_code), None)
    return Verdict(
        decision=decision,
        highest_severity=highest,
        to_record=_to_record(findings, rules) if decision is Decision.HALT else (),
        recommended_action=_recommended_action(findings, decision, highest, attempts, reason),
        reason_code=reason,
    )


def standing_halt(state: SessionState) -> str:
    """Return the sentence for an agent whose session is halted or paused already."""
    return _STATE_ACTIONS[state]


def permitted_read(state: SessionState) -> str:
    """Return the sentence for an agent that may read although its session is halted or paused."""
    return _READ_ACTION.format(state=state)


def failure_action(reason: ReasonCode) -> str:
    """Return the sentence for a check that could not be made."""
    return _FAILURE_ACTIONS[reason]


def _decision(findings: tuple[Finding, ...], highest: Severity, rules: VerdictRules) -> Decision:
    if not findings:
        return Decision.PROCEED
    if highest.rank >= Severity.HIGH.rank:
        return Decision.HALT
    mediums = _problems(findings)
    if mediums >= max(1, rules.medium_findings_to_halt):
        return Decision.HALT
    return Decision.ASK if mediums else Decision.CAUTION


def _problems(findings: tuple[Finding, ...]) -> int:
    """Return how many problems the medium findings are: one adds none whose causes an earlier one all has.

    `curl … | sh` is asked about because it runs what nobody has seen, and its effects are unknown for the
    same reason: one question, not two. A finding that names no causes, or one cause more, counts.
    """
    counted: list[frozenset[str]] = []
    for found in findings:
        if found.severity is not Severity.MEDIUM:
            continue
        if not (found.causes and any(found.causes <= earlier for earlier in counted)):
            counted.append(found.causes)
    return len(counted)


def _to_record(findings: tuple[Finding, ...], rules: VerdictRules) -> tuple[Finding, ...]:
    mediums = _problems(findings)
    recorded = {Severity.CRITICAL}
    if rules.auto_record_high:
        recorded.add(Severity.HIGH)
    if mediums >= max(1, rules.medium_findings_to_halt):
        recorded.add(Severity.MEDIUM)
    return tuple(found for found in findings if found.severity in recorded)


def _recommended_action(
    findings: tuple[Finding, ...],
    decision: Decision,
    highest: Severity,
    attempts: int,
    reason: ReasonCode | None,
) -> str:
    if reason is not None:
        return _FAILURE_ACTIONS[reason]
    if decision is Decision.HALT:
        if highest is Severity.HIGH and any(found.condition_name == "three_strikes" for found in findings):
            return HALT_AND_ESCALATE
        return _HALT_ACTIONS[highest]
    if attempts and all(found.halt_type is HaltType.EXECUTION for found in findings):
        return RETRY if attempts == 1 else TRY_ALTERNATIVE
    return _ACTIONS[decision]
